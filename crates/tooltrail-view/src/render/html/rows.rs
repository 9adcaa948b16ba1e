//! Rows: loads the entries of a chunk and draws them one after the other.
//!
//! Where a call holds another conversation, a mark is left in the text; [`fill`] puts there what belongs there. Everything that comes
//! from a log is escaped, so no log can write such a mark.

use super::about::Clock;
use super::blocks::notice;
use super::call::{Frame, call_row};
use super::message::message_row;
use super::name::encoded;
use super::plan::{Chunk, Home, Plan, Row};
use crate::head::{count, counted};
use crate::line::neutral;
use crate::{Book, Limits, Loaded, messages};
use maud::{Markup, PreEscaped, html};
use tooltrail_model::transcript::{Entry, Level, Part, Transcript, What};

/// How much of a body a page holds: nobody can ask it for more.
const LIMITS: Limits = Limits { lines: 1_000, bytes: 128 * 1024, head: 200, highlight: true };

/// Draws chunks.
pub(super) struct Rows<'a> {
    /// What is drawn.
    pub(super) book: &'a dyn Book,
    /// What stands where.
    pub(super) plan: &'a Plan,
}

impl Rows<'_> {
    /// A chunk, with marks where other conversations stand.
    pub(super) fn chunk(&self, index: usize) -> String {
        let Some(chunk) = self.plan.chunks.get(index) else { return String::new() };
        let threads = &self.book.transcript().threads;
        let entries = chunk.thread.and_then(|thread| threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
        let mut out = String::new();
        for row in &chunk.rows {
            let markup = match *row {
                Row::Call(call) => self.loaded(self.book.call(call), None, false, Some(call)),
                Row::Entry { entry, begins, call } => match entries.get(entry) {
                    Some(entry) => self.entry(entry, begins, call),
                    None => continue,
                },
            };
            out.push_str(&markup.0);
        }
        out
    }

    /// A chunk with everything in it.
    pub(super) fn whole(&self, index: usize) -> String {
        fill(&self.chunk(index), &mut |thread| {
            let chunks = self.plan.of_thread.get(thread).map_or(&[][..], |chunks| chunks);
            chunks.iter().map(|&chunk| section(&self.whole(chunk))).collect()
        })
    }

    fn entry(&self, entry: &Entry, begins: Option<usize>, call: Option<usize>) -> Markup {
        let row = self.loaded(self.book.open(entry), Some(entry), begins.is_some(), call);
        html! { @if let Some(turn) = begins { (heading(self.book, turn, entry, None, Clock(None))) } (row) }
    }

    fn loaded(&self, loaded: Loaded<'_>, entry: Option<&Entry>, begins: bool, call: Option<usize>) -> Markup {
        let abandoned = entry.is_some_and(|entry| entry.abandoned);
        match loaded {
            Loaded::Call(story) => {
                let call = call.unwrap_or(usize::MAX);
                let nest = |thread, calls, failed| self.nest(call, thread, calls, failed);
                let anchor = self.plan.anchors.get(call).map_or(story.row.call, |anchor| anchor);
                let bad_inside = self.plan.bad_inside.get(call).is_some_and(|bad| *bad);
                call_row(&story, &Frame { anchor, abandoned, limits: &LIMITS, nest: &nest, bad_inside })
            }
            Loaded::Part(part) => {
                let time = entry.and_then(|entry| entry.time).map(|time| Clock(None).moment(time));
                let headed = begins && matches!(part, Part::Prompt { .. });
                message_row(&messages::message(&part, &LIMITS), time.as_deref(), headed, abandoned)
            }
            Loaded::Gone(why) => {
                let anchor = call.and_then(|call| self.plan.anchors.get(call));
                html! { div.row.msg.m-trouble.bad id=[anchor] tabindex="-1" { (notice(Level::Error, &html! { (neutral(&why)) })) } }
            }
        }
    }

    /// Another conversation in a call: a mark where it belongs, or a word where it is.
    fn nest(&self, call: usize, thread: usize, calls: u64, failed: u64) -> Markup {
        nest(self.book, self.plan, &Nested { call, thread, calls, failed }, &PreEscaped(format!("<!--thread {thread}-->")))
    }
}

/// What stands above a part at the end of the page.
pub(super) fn tail(transcript: &Transcript<'_>, plan: &Plan, chunk: &Chunk) -> Markup {
    if !chunk.heads {
        return html! {};
    }
    let Some(index) = chunk.thread else {
        return html! { h2.tail id="tt-loose" { "Calls that stand in no conversation" } };
    };
    let thread = transcript.threads.get(index);
    let started = thread.and_then(|thread| thread.started_by).and_then(|call| plan.anchors.get(call));
    html! {
        h2.tail id={ "thread-" (index) } tabindex="-1" {
            "Conversation of a subagent "
            @if let Some(agent) = thread.and_then(|thread| thread.agent.as_deref()) { code { (neutral(agent)) } " " }
            @if let Some(anchor) = started { a href={ "#" (encoded(anchor)) } { "the call that started it" } }
            @else { span.di { "the log does not say which call started it" } }
        }
    }
}

/// What stands above a turn. `has`: which chips its rows answer to.
pub(super) fn heading(book: &dyn Book, turn: usize, entry: &Entry, has: Option<&str>, clock: Clock<'_>) -> Markup {
    let told = book.transcript().turns.get(turn);
    let time = told.and_then(|turn| turn.time).or(entry.time);
    // A prompt that follows says it itself.
    let spoken = matches!(entry.what, What::Prompt);
    html! {
        h2.turn id={ "turn-" (turn + 1) } data-has=[has] tabindex="-1" {
            span.n { span.vh { "Turn " } (turn + 1) }
            @if spoken { span.who { "You" } }
            @if let Some(time) = time { time datetime=(time) title=[clock.title(time)] { (clock.moment(time)) } }
            @if told.is_some_and(|turn| turn.abandoned) { span.tag { "abandoned" } }
            @if let Some(turn) = told { span.head.vh[spoken] { (neutral(&turn.head)) } }
        }
    }
}

/// A conversation that a call shows.
pub(super) struct Nested {
    /// The call.
    pub(super) call: usize,
    /// The thread.
    pub(super) thread: usize,
    /// How many calls it made.
    pub(super) calls: u64,
    /// How many of them failed.
    pub(super) failed: u64,
}

/// Another conversation in a call: its rows here, or a word where it is.
pub(super) fn nest(book: &dyn Book, plan: &Plan, told: &Nested, rows: &Markup) -> Markup {
    match plan.homes.get(told.thread) {
        Some(Home::Call(home)) if *home == told.call => {
            let agent = book.transcript().threads.get(told.thread).and_then(|thread| thread.agent.as_deref());
            nested(told.thread, agent, told.calls, told.failed, rows)
        }
        Some(Home::Call(home)) => {
            let anchor = plan.anchors.get(*home).map_or("", |anchor| anchor);
            let remark = html! { "This conversation is shown in the " a href={ "#" (encoded(anchor)) } { "call that started it" } "." };
            notice(Level::Info, &remark)
        }
        Some(Home::Tail) => {
            let remark =
                html! { "Too deep to be shown here: this conversation stands " a href={ "#thread-" (told.thread) } { "at the end" } "." };
            notice(Level::Info, &remark)
        }
        Some(Home::Main | Home::Nowhere) | None => notice(Level::Info, &html! { "This conversation is not part of the page." }),
    }
}

/// A conversation in a call, folded.
fn nested(thread: usize, agent: Option<&str>, calls: u64, failed: u64, rows: &Markup) -> Markup {
    html! {
        details.sub data-thread=(thread) {
            summary {
                span.icon aria-hidden="true" { "⎇" } "Conversation of the subagent"
                @if let Some(agent) = agent { code { (neutral(agent)) } }
                span.di { (counted(calls, "call")) }
                @if failed > 0 { span.no { "✗ " (count(failed)) " failed" } }
            }
            (rows)
        }
    }
}

/// A conversation outside of a page: only that it is there.
pub(super) fn placeless(thread: usize, calls: u64, failed: u64) -> Markup {
    nested(thread, None, calls, failed, &html! {})
}

/// A chunk that is not packed.
pub(super) fn section(rows: &str) -> String {
    format!("<section class=\"rows\">{rows}</section>")
}

/// Puts conversations where their marks stand.
pub(super) fn fill(rows: &str, with: &mut dyn FnMut(usize) -> String) -> String {
    let mut out = String::with_capacity(rows.len());
    let mut rest = rows;
    while let Some((before, after)) = rest.split_once("<!--thread ") {
        out.push_str(before);
        let (number, after) = after.split_once("-->").unwrap_or((after, ""));
        if let Ok(thread) = number.parse() {
            out.push_str(&with(thread));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
