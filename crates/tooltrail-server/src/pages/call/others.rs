//! Surroundings of a call: messages before and after it, parallel calls, its subagent's calls, copies in other logs.

use super::head::tone;
use super::{CallPage, base};
use crate::words;
use maud::{Markup, html};
use tooltrail_formats::load::{self, InputRecords};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::transcript::{CallEntry, Entry, Part};
use tooltrail_model::{Kind, Status};
use tooltrail_view::head::{counted, look_of, outcome, took};
use tooltrail_view::line::neutral;
use tooltrail_view::messages::{MessageAuthor, message};
use tooltrail_view::render::html::block;

/// Limit on the calls of a list.
const SHOWN: usize = 60;
/// Letters of a message that are shown before it is opened.
const SAID: usize = 280;
/// The longest argument in a list.
const ARGUMENT: usize = 160;

/// The calls of the subagents that a call started, by their places.
pub(super) fn children(book: &SessionBook<'_>, index: usize) -> Vec<usize> {
    let calls = &book.transcript().calls;
    let Some(own) = calls.get(index) else { return Vec::new() };
    let is_child = |call: &CallEntry<'_>| {
        // Agents link subagents in one of two ways: by the id of the subagent, or by the id of the call.
        let named = own.row.child_session.is_some() && call.row.agent_id == own.row.child_session;
        named || (call.row.parent_call == Some(own.row.call) && !own.row.call.is_empty())
    };
    let mut found: Vec<usize> = calls.iter().enumerate().filter(|(at, call)| *at != index && is_child(call)).map(|(at, _)| at).collect();
    // Calls of a subagent stand in their own log, so positions are not in order of time.
    found.sort_by_key(|at| calls.get(*at).map(|call| call.number));
    found
}

/// Number of calls, and of those that failed.
pub(super) fn counts(book: &SessionBook<'_>, calls: &[usize]) -> (u64, u64) {
    let failed = calls.iter().filter_map(|at| book.transcript().calls.get(*at)).filter(|call| call.row.status == Status::Failed).count();
    (calls.len() as u64, failed as u64)
}

impl CallPage<'_> {
    /// Messages before and after.
    pub(super) fn said(&self) -> Markup {
        let around = self.book.around(self.index);
        html! {
            @if !around.before.is_empty() { (self.part("Before", "before", &self.messages(&around.before))) }
            @if !around.after.is_empty() { (self.part("After", "after", &self.messages(&around.after))) }
        }
    }

    fn messages(&self, entries: &[Entry]) -> Markup {
        html! { @for entry in entries { (self.message(entry)) } }
    }

    /// A message: its beginning, and all of it when it is opened.
    fn message(&self, entry: &Entry) -> Markup {
        let Loaded::Part(part) = self.book.open(entry) else { return html! {} };
        // Other parts, such as notices, are no conversation.
        let (Part::Prompt { text, .. } | Part::Text(text) | Part::Thinking(text)) = &part else { return html! {} };
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let message = message(&part, &self.limits);
        let label = if message.who == MessageAuthor::Model { "the model".to_owned() } else { message.label.text() };
        let begins = html! {
            span.who { (label) @if let Some(far) = self.distance(entry) { ", " (far) } }
            span.gist { (words::cut(&words, SAID)) }
        };
        html! {
            @if words.chars().count() > SAID { details.said { summary { (begins) } @for piece in &message.body { (block(piece)) } } }
            @else { p.said { (begins) } }
        }
    }

    /// Number of other calls between a message and this call.
    fn distance(&self, entry: &Entry) -> Option<String> {
        let (own, there) = (self.entry.request, entry.spot);
        let (first, last) = (own.min(there), own.max(there));
        // Positions are only comparable within a log.
        let between = |call: &&CallEntry<'_>| call.request.source == own.source && call.request > first && call.request < last;
        let count = self.book.transcript().calls.iter().filter(between).filter(|call| call.row.agent_id == self.entry.row.agent_id).count();
        let word = if there < own { "earlier" } else { "later" };
        (count > 0 && own.source == there.source).then(|| format!("{} {word}", counted(count as u64, "call")))
    }

    /// Related calls.
    pub(super) fn related(&self) -> Markup {
        let row = &self.story.row;
        let calls = &self.book.transcript().calls;
        let beside = |(at, call): &(usize, &CallEntry<'_>)| *at != self.index && row.is_together_with(&call.row);
        let siblings: Vec<usize> = calls.iter().enumerate().filter(beside).map(|(at, _)| at).collect();
        let parent = row.parent_call.and_then(|id| calls.iter().position(|call| call.row.call == id));
        let (made, failed) = counts(self.book, &self.children);
        html! {
            @if let Some(script) = parent.filter(|_| row.is_inner()) { (self.part("Script", "script", &html! { p.di { "called by this script:" } (self.list(&[script])) })) }
            @else if let Some(parent) = parent { (self.part("Agent", "agent", &html! { p.di { "called by the subagent of this call:" } (self.list(&[parent])) })) }
            @if !siblings.is_empty() { (self.part("Parallel", "together", &html! { p.di { "In parallel with " (counted(siblings.len() as u64, "other call")) } (self.list(&siblings)) })) }
            @if made > 0 && row.kind == Kind::Script { (self.part("Calls in this script", "inner", &html! {
                p.di { (counted(made, "call")) @if failed > 0 { ", " (failed) " failed" } }
                (self.list(&self.children))
            })) }
            @else if made > 0 { (self.part("Subagent", "subagent", &html! {
                p.di { (counted(made, "call")) @if failed > 0 { ", " (failed) " failed" } }
                (self.list(&self.children))
            })) }
            @if let Some(words) = self.missing_log { (self.part("Subagent", "subagent", &html! { p { (words) } })) }
            (self.copies())
        }
    }

    /// A list of calls, one line each.
    fn list(&self, places: &[usize]) -> Markup {
        let calls = &self.book.transcript().calls;
        let shown = places.iter().take(SHOWN).filter_map(|at| Some((*at, calls.get(*at)?)));
        html! {
            ul.calls {
                @for (at, call) in shown {
                    @let row = &call.row;
                    li { a href=(self.to(at)) {
                        span class={ "sign " (tone(row.status)) } aria-hidden="true" { (look_of(row).glyph) }
                        span.vh { (row.status.word()) " " }
                        span.n { "#" (call.number) }
                        span.tool { (neutral(row.ran())) }
                        span.arg { (neutral(&self.argument(call))) }
                        span.di { (outcome(row)) @if let Some(all) = row.duration_ms { " " (took(all)) } }
                    } }
                }
                @if places.len() > SHOWN { li.di { "… and " (places.len() - SHOWN) " more" } }
            }
        }
    }

    /// Main argument of another call.
    fn argument(&self, call: &CallEntry<'_>) -> String {
        // A list must stay quick, so huge requests are not read for it.
        let read = || {
            let (request, replacement) = (self.book.raw(call.request).ok()?, self.book.replacement(call));
            let records = InputRecords { request: &request, line: call.request.at.line, replacement: replacement.as_deref() };
            load::about(records, &call.row)
        };
        let text = if call.request.at.span.len() > load::LONGEST { None } else { read() }.unwrap_or_default();
        text.chars().take(ARGUMENT).collect()
    }

    /// Copies of the call in other logs: forks, resumes and backups write it again.
    fn copies(&self) -> Markup {
        let row = &self.story.row;
        // Ids first, because making the row of every call would be slow.
        let own = |call: &&tooltrail_model::link::LinkedCall| self.linked.id(call.id) == row.call;
        let copies: Vec<_> = self
            .linked
            .calls
            .iter()
            .filter(own)
            .map(|call| (call, self.linked.call_row(call, self.now, true)))
            .filter(|(_, copy)| copy.agent == row.agent && copy.request != row.request)
            .take(SHOWN)
            .collect();
        if copies.is_empty() {
            return html! {};
        }
        let body = html! {
            ul.copies {
                @for (call, copy) in &copies {
                    li {
                        @if let Some(session) = self.linked.sessions.get(call.session) {
                            @let name = format!("{}:{}", session.id, call.number);
                            // A copy in a log of the same session may have the number of this call.
                            @let here = *session.id == *row.session && call.number == self.entry.number;
                            @if here { span { (neutral(&session.short)) ":" (call.number) } " " }
                            @else { a href=(self.context.to.call(&name)) { (neutral(&session.short)) ":" (call.number) } " " }
                        }
                        @if copy.copy_of.is_none() { "the original, " } @else { "a copy, " }
                        span.place title=(neutral(&copy.request.to_string())) { (base(copy.request.path())) ":" (copy.request.mark()) }
                    }
                }
            }
        };
        self.part("Copies", "copies", &body)
    }
}
