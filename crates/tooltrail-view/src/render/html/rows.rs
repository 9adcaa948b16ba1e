//! Rows: loads the entries of a chunk and draws them one after the other.
//!
//! Where a call holds another conversation, a mark is left in the text, and [`fill`] replaces it with that conversation.
//! Everything that comes from a log is escaped, so no log can write such a mark.

use super::about::PageClock;
use super::blocks::notice;
use super::call::{RowFrame, call_row};
use super::message::message_row;
use super::name::encoded;
use super::plan::{Chunk, PagePlan, PlanRow, ThreadHome};
use crate::head::{count, counted};
use crate::line::neutral;
use crate::{Book, Limits, Loaded, messages};
use maud::{Markup, PreEscaped, html};
use tooltrail_model::Kind;
use tooltrail_model::transcript::{Entry, EntryKind, Level, Part, Transcript};

/// Limits of a body in an exported file, which cannot fetch more later.
const LIMITS: Limits = Limits { lines: 1_000, bytes: 128 * 1024, head: 200, highlight: true };

/// Draws the chunks of an exported page.
pub(super) struct ChunkRenderer<'a> {
    /// The session to draw.
    pub(super) book: &'a dyn Book,
    /// Layout of the page.
    pub(super) plan: &'a PagePlan,
}

impl ChunkRenderer<'_> {
    /// A chunk, with marks where other conversations stand.
    pub(super) fn chunk(&self, index: usize) -> String {
        let Some(chunk) = self.plan.chunks.get(index) else { return String::new() };
        let threads = &self.book.transcript().threads;
        let entries = chunk.thread.and_then(|thread| threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
        let mut out = String::new();
        for row in &chunk.rows {
            let markup = match *row {
                PlanRow::Call(call) => self.loaded(self.book.call(call), None, false, Some(call)),
                PlanRow::Entry { entry, begins, call } => match entries.get(entry) {
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
        html! { @if let Some(turn) = begins { (heading(self.book, turn, entry, None, PageClock(None))) } (row) }
    }

    fn loaded(&self, loaded: Loaded<'_>, entry: Option<&Entry>, begins: bool, call: Option<usize>) -> Markup {
        let abandoned = entry.is_some_and(|entry| entry.abandoned);
        match loaded {
            Loaded::Call(story) => {
                // A call that the plan does not know has no anchor of its own and nests nothing.
                let call = call.unwrap_or(usize::MAX);
                let nest = |thread, calls, failed| self.nest(call, thread, calls, failed);
                let anchor = self.plan.anchors.get(call).map_or(story.row.call, |anchor| anchor);
                let bad_inside = self.plan.bad_inside.get(call).is_some_and(|bad| *bad);
                call_row(&story, &RowFrame { anchor, abandoned, limits: &LIMITS, nest: &nest, bad_inside })
            }
            Loaded::Part(part) => {
                // The heading already says "You", so the prompt below it has no label.
                let time = entry.and_then(|entry| entry.time).map(|time| PageClock(None).moment(time));
                let headed = begins && matches!(part, Part::Prompt { .. });
                message_row(&messages::message(&part, &LIMITS), time.as_deref(), headed, abandoned)
            }
            Loaded::Gone(why) => {
                // The row keeps its anchor, so links to a call whose record is gone still arrive.
                let anchor = call.and_then(|call| self.plan.anchors.get(call));
                html! { div.row.msg.m-trouble.bad id=[anchor] tabindex="-1" { (notice(Level::Error, &html! { (neutral(&why)) })) } }
            }
        }
    }

    /// Another conversation in a call: a mark to be filled, or a remark on where the conversation is shown.
    fn nest(&self, call: usize, thread: usize, calls: u64, failed: u64) -> Markup {
        nest(self.book, self.plan, &NestedThread { call, thread, calls, failed }, &PreEscaped(format!("<!--thread {thread}-->")))
    }
}

/// Heading of a part at the end of the page.
pub(super) fn tail(transcript: &Transcript<'_>, plan: &PagePlan, chunk: &Chunk) -> Markup {
    if !chunk.heads {
        return html! {};
    }
    let Some(index) = chunk.thread else {
        // Not `thread-…`: an id of the page's own, which no call may take.
        return html! { h2.tail id="tt-loose" { "Calls outside of conversations" } };
    };
    let thread = transcript.threads.get(index);
    let started = thread.and_then(|thread| thread.started_by).and_then(|call| plan.anchors.get(call));
    html! {
        h2.tail id={ "thread-" (index) } tabindex="-1" {
            @if is_script(transcript, index) { "Calls in a script " } @else { "Conversation of a subagent " }
            @if let Some(agent) = thread.and_then(|thread| thread.agent.as_deref()) { code { (neutral(agent)) } " " }
            @if let Some(anchor) = started { a href={ "#" (encoded(anchor)) } { "the call that started it" } }
            @else { span.di { "the log does not say which call started it" } }
        }
    }
}

/// Heading of a turn. `has` lists the chips that its rows match.
pub(super) fn heading(book: &dyn Book, turn: usize, entry: &Entry, has: Option<&str>, clock: PageClock<'_>) -> Markup {
    let told = book.transcript().turns.get(turn);
    let time = told.and_then(|turn| turn.time).or(entry.time);
    // The prompt that follows shows its own text, so the heading repeats it for screen readers only.
    let spoken = matches!(entry.what, EntryKind::Prompt);
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

/// A subagent's conversation to be shown in a call.
pub(super) struct NestedThread {
    /// The call.
    pub(super) call: usize,
    /// The thread.
    pub(super) thread: usize,
    /// Number of calls it made.
    pub(super) calls: u64,
    /// Number of failed calls among them.
    pub(super) failed: u64,
}

/// Another conversation in a call: its rows, or a remark on where it is shown.
pub(super) fn nest(book: &dyn Book, plan: &PagePlan, told: &NestedThread, rows: &Markup) -> Markup {
    // Two calls may claim one thread (a resumed subagent); only its home shows the rows, the others link there.
    match plan.homes.get(told.thread) {
        Some(ThreadHome::Call(home)) if *home == told.call => {
            let thread = book.transcript().threads.get(told.thread);
            if is_script(book.transcript(), told.thread) {
                return in_script(told, rows);
            }
            nested(told.thread, thread.and_then(|thread| thread.agent.as_deref()), told.calls, told.failed, rows)
        }
        Some(ThreadHome::Call(home)) => {
            let anchor = plan.anchors.get(*home).map_or("", |anchor| anchor);
            let remark = html! { "This conversation is shown in the " a href={ "#" (encoded(anchor)) } { "call that started it" } "." };
            notice(Level::Info, &remark)
        }
        Some(ThreadHome::Tail) => {
            let remark =
                html! { "Nested too deeply to show here: this conversation is " a href={ "#thread-" (told.thread) } { "at the end" } "." };
            notice(Level::Info, &remark)
        }
        Some(ThreadHome::Main | ThreadHome::Nowhere) | None => notice(Level::Info, &html! { "This conversation is not on this page." }),
    }
}

/// Whether a thread is no conversation, but the calls in the text of a script.
fn is_script(transcript: &Transcript<'_>, thread: usize) -> bool {
    let starter = transcript.threads.get(thread).and_then(|thread| thread.started_by);
    starter.and_then(|call| transcript.calls.get(call)).is_some_and(|call| call.row.kind == Kind::Script)
}

/// The calls in a script, open: they are what the script is for.
fn in_script(told: &NestedThread, rows: &Markup) -> Markup {
    html! {
        details.sub data-thread=(told.thread) open {
            summary {
                span.icon aria-hidden="true" { "ƒ" } "Calls in this script"
                span.di { (counted(told.calls, "call")) }
                @if told.failed > 0 { span.no { "✗ " (count(told.failed)) " failed" } }
            }
            (rows)
        }
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

/// A conversation outside of a page, of which only the summary line is shown.
pub(super) fn placeless(thread: usize, calls: u64, failed: u64) -> Markup {
    nested(thread, None, calls, failed, &html! {})
}

/// A chunk that is not packed.
pub(super) fn section(rows: &str) -> String {
    format!("<section class=\"rows\">{rows}</section>")
}

/// Replaces marks with their conversations.
pub(super) fn fill(rows: &str, with: &mut dyn FnMut(usize) -> String) -> String {
    let mut out = String::with_capacity(rows.len());
    let mut rest = rows;
    while let Some((before, after)) = rest.split_once("<!--thread ") {
        out.push_str(before);
        // A mark without an end cannot occur in our own markup; the rest is dropped rather than shown as a comment.
        let (number, after) = after.split_once("-->").unwrap_or((after, ""));
        if let Ok(thread) = number.parse() {
            out.push_str(&with(thread));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
