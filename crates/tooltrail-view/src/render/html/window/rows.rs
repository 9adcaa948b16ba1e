//! The rows of a section: a line for each call, messages in full as far as they are not too long, and the bodies of opened
//! rows.

use super::super::blocks::{body, notice};
use super::super::call::{RowFrame, body_of, classes, inside, summary};
use super::super::message::{self, MessageFrame};
use super::super::plan::{Chunk, PlanRow};
use super::super::rows::{NestedThread, heading, nest};
use super::chips::ChipSet;
use super::quiet::{self, QuietRun};
use super::{SessionPageRequest, Window, is_important, way};
use crate::head::size;
use crate::line::neutral;
use crate::{Block, Book, Limits, Loaded, call, messages};
use maud::{Markup, PreEscaped, html};
use tooltrail_model::transcript::{Entry, Level, Part, Story};

/// Limits of a message before the reader asks for more.
const MESSAGE: Limits = Limits { lines: 80, bytes: 12 * 1024, head: 80, highlight: true };
/// Limits of a message in a section that is already large.
const SHORT: Limits = Limits { lines: 12, bytes: 800, head: 12, highlight: false };
/// Limits of a call that is open from the start.
const OPENED: Limits = Limits { lines: 40, bytes: 8 * 1024, head: 8, highlight: true };
/// Limits of complete content: only as much as a browser can take.
const WHOLE: Limits = Limits { lines: 20_000, bytes: 4 << 20, head: 10_000, highlight: true };
/// Bytes from which a section counts as large.
const MUCH: usize = 55_000;
/// A folded message whose body takes more bytes than this is sent without it.
const FOLDED: usize = 1_200;
/// A message whose body takes more bytes than this is sent without it, even if it is not folded.
const LARGE: usize = 60_000;

/// Draws the rows of a section for the server's page.
pub(super) struct SectionRenderer<'a> {
    pub(super) window: &'a Window,
    pub(super) book: &'a dyn Book,
    pub(super) at: &'a SessionPageRequest<'a>,
}

/// A row being drawn.
#[derive(Clone, Copy)]
struct RowContext<'a> {
    section: usize,
    row: usize,
    thread: usize,
    entry: Option<&'a Entry>,
    begins: bool,
    /// Whether the section is already large.
    much: bool,
    /// The line that stands for it, if it is part of a run that is folded.
    quiet: Option<&'a str>,
}

impl SectionRenderer<'_> {
    /// The rows of a section.
    pub(super) fn section(&self, section: usize) -> Markup {
        let Some(chunk) = self.window.plan.chunks.get(section) else { return html! {} };
        let thread = chunk.thread.and_then(|thread| self.book.transcript().threads.get(thread));
        let mut out = String::new();
        // Measured as it grows: how large a section gets depends on its messages, which are only known once opened.
        let runs = quiet::runs(self.book.transcript(), chunk);
        let names: Vec<String> = runs.iter().map(|run| self.run_name(chunk, run)).collect();
        for (row, what) in chunk.rows.iter().enumerate() {
            let much = out.len() > MUCH;
            let run = runs.iter().zip(&names).find(|(run, _)| run.rows.contains(&row));
            if let Some((run, name)) = run.filter(|(run, _)| run.rows.first() == Some(&row)) {
                out.push_str(&quiet::line(run, name).0);
            }
            let quiet = run.map(|(_, name)| name.as_str());
            let drawn = RowContext { section, row, thread: chunk.thread.unwrap_or(0), entry: None, begins: false, much, quiet };
            match *what {
                PlanRow::Call(call) => out.push_str(&self.loaded(self.book.call(call), Some(call), drawn).0),
                PlanRow::Entry { entry, begins, call } => {
                    // The plan is of the same transcript, so an entry can only be missing if the two were mixed up.
                    let Some(entry) = thread.and_then(|thread| thread.entries.get(entry)) else { continue };
                    if let Some(turn) = begins {
                        let has = self.window.has.get(turn).and_then(|has| has.words());
                        out.push_str(&heading(self.book, turn, entry, has.as_deref(), self.at.clock()).0);
                    }
                    let drawn = RowContext { entry: Some(entry), begins: begins.is_some(), ..drawn };
                    out.push_str(&self.loaded(self.book.open(entry), call, drawn).0);
                }
            }
        }
        PreEscaped(out)
    }

    /// The name of a quiet run: that of its first row, which stays the same when the log grows.
    fn run_name(&self, chunk: &Chunk, run: &QuietRun) -> String {
        let Some(first) = run.rows.first().and_then(|at| chunk.rows.get(*at)) else { return String::new() };
        if let Some(anchor) = first.call().and_then(|call| self.window.anchor(call)) {
            return format!("tt-q-{anchor}");
        }
        let thread = chunk.thread.unwrap_or(0);
        let entries = self.book.transcript().threads.get(thread).map_or(&[][..], |thread| &thread.entries);
        let entry = if let PlanRow::Entry { entry, .. } = first { entries.get(*entry) } else { None };
        entry.map(|entry| format!("tt-q-{}", way::message(thread, entry))).unwrap_or_default()
    }

    fn loaded(&self, loaded: Loaded<'_>, call: Option<usize>, drawn: RowContext<'_>) -> Markup {
        match loaded {
            Loaded::Call(story) => self.call(&story, call.unwrap_or(usize::MAX), drawn),
            Loaded::Part(part) => self.message(&part, drawn),
            Loaded::Gone(why) => {
                let anchor = call.and_then(|call| self.window.anchor(call));
                // The anchor stays, so that links to the call still arrive.
                html! { div.row.msg.m-trouble.bad id=[anchor] tabindex="-1" { (gone(&why)) } }
            }
        }
    }

    /// A call: its number, which leads to its page, and its line. What is in it comes when it is opened.
    fn call(&self, story: &Story<'_>, index: usize, drawn: RowContext<'_>) -> Markup {
        let window = self.window;
        let entry = self.book.transcript().calls.get(index);
        let page = entry.map(|call| window.page_of(call, index, self.at)).unwrap_or_default();
        let progress = entry.and_then(|call| call.progress).map(|spot| spot.at.line);
        let within = window.inside.get(index).copied().unwrap_or_default();
        let nest = |thread, calls, failed| self.nest(index, thread, calls, failed);
        let frame = RowFrame {
            anchor: window.anchor(index).unwrap_or(story.row.call),
            abandoned: drawn.entry.is_some_and(|entry| entry.abandoned),
            limits: &OPENED,
            nest: &nest,
            bad_inside: !within.is_empty(),
        };
        // In a large section failures stay closed too; the digest lists them anyway.
        // What a filter looks for may be inside of a call, which is then open.
        let through = !within.within(ChipSet::read(self.at.show)).is_empty();
        let open = (window.opens(index) || story.progress.is_some() || through) && !drawn.much;
        let important = if is_important(&story.row) { " imp" } else { "" };
        let quiet = if drawn.quiet.is_some() { " q" } else { "" };
        html! {
            a class={ "nr" (quiet) } data-q=[drawn.quiet] href=(page) aria-label={ "Page of call " (story.number) } { (story.number) }
            details class={ (classes(&story.row, &frame)) (important) (quiet) } id=(frame.anchor) data-body={ "body/" (index) } data-in=[within.words()] data-progress=[progress] data-q=[drawn.quiet]
                open[open] data-self[open] data-filled[open] {
                (summary(&call::head(story), &story.row, &frame, self.at.clock()))
                // `data-filled` tells the script that nothing has to be fetched when the row is opened.
                @if open { div.body { (self.inside(story, &OPENED, &nest, &page)) } }
                @else { a.body.more href=(page) { "Open the page of the call" } }
            }
        }
    }

    /// The inside of a call, and how to get the rest of it.
    fn inside(&self, story: &Story<'_>, limits: &Limits, nest: &dyn Fn(usize, u64, u64) -> Markup, page: &str) -> Markup {
        let blocks = body_of(story, limits);
        html! {
            (inside(&blocks, &call::life(story), nest))
            @if cut(&blocks) { p { a.all href=(page) { "Show all" } } }
        }
    }

    /// Body of a call, fetched when its row is opened.
    pub(super) fn body(&self, index: usize, whole: bool) -> Markup {
        let calls = &self.book.transcript().calls;
        // A number beyond the list means an old page; a missing record means a changed log. The message says which.
        match (self.book.call(index), calls.get(index)) {
            (Loaded::Call(story), Some(call)) => {
                let nest = |thread, calls, failed| self.nest(index, thread, calls, failed);
                let limits = if whole { WHOLE } else { Limits::PAGE };
                self.inside(&story, &limits, &nest, &self.window.page_of(call, index, self.at))
            }
            (Loaded::Gone(why), Some(_)) => gone(&why),
            _ => notice(Level::Error, &html! { "No such call." }),
        }
    }

    /// A message. A long one says how it begins; one that is folded and not short comes without its body.
    fn message(&self, part: &Part, drawn: RowContext<'_>) -> Markup {
        let told = messages::message(part, if drawn.much { &SHORT } else { &MESSAGE });
        let mut markup = body(&told.body, &super::super::rows::placeless);
        let path = format!("text/{}/{}", drawn.section, drawn.row);
        // The script asks for the part itself; a link leads to a page.
        let whole = format!("{}&page=1", self.at.part(&path));
        // A folded message is rarely opened, so a long body is fetched only then.
        let rest = if told.folded && markup.0.len() > FOLDED {
            markup = html! { a.more href=(whole) { "Show" } };
            Some(path.as_str())
        } else if cut(&told.body) {
            markup = html! { (markup) p { a.all href=(whole) { "Show all" } } };
            Some(path.as_str())
        } else if markup.0.len() > LARGE {
            // Mostly a picture, which would weigh more than all other rows.
            let bytes = size(markup.0.len() as u64);
            markup = html! { p { a.all href=(whole) { "Show it (" (bytes) ")" } } };
            Some(path.as_str())
        } else {
            None
        };
        let id = drawn.entry.map(|entry| way::message(drawn.thread, entry));
        let time = drawn.entry.and_then(|entry| entry.time).map(|time| self.at.clock().full(time));
        let headed = drawn.begins && matches!(part, Part::Prompt { .. });
        let abandoned = drawn.entry.is_some_and(|entry| entry.abandoned);
        message::drawn(
            &told,
            &MessageFrame { id: id.as_deref(), time: time.as_deref(), headed, abandoned, rest, quiet: drawn.quiet },
            &markup,
        )
    }

    /// All of a message.
    pub(super) fn text(&self, section: usize, row: usize) -> Markup {
        let missing = || notice(Level::Error, &html! { "No such message." });
        let Some(chunk) = self.window.plan.chunks.get(section) else { return missing() };
        let thread = chunk.thread.and_then(|thread| self.book.transcript().threads.get(thread));
        // Only messages have texts of their own; calls are fetched through `body`.
        let Some(PlanRow::Entry { entry, call: None, .. }) = chunk.rows.get(row) else { return missing() };
        let Some(entry) = thread.and_then(|thread| thread.entries.get(*entry)) else { return missing() };
        match self.book.open(entry) {
            Loaded::Part(part) => body(&messages::message(&part, &WHOLE).body, &super::super::rows::placeless),
            Loaded::Gone(why) => gone(&why),
            Loaded::Call(_) => missing(),
        }
    }

    /// A subagent's conversation: places for its sections.
    fn nest(&self, call: usize, thread: usize, calls: u64, failed: u64) -> Markup {
        let sections = self.window.plan.of_thread.get(thread).map_or(&[][..], |sections| sections);
        let rows = html! { @for section in sections { (self.window.place(self.book.transcript(), *section, self.at, 1.0)) } };
        nest(self.book, &self.window.plan, &NestedThread { call, thread, calls, failed }, &rows)
    }
}

/// Remark for a record that is not where it was.
fn gone(why: &str) -> Markup {
    notice(Level::Error, &html! { "Cannot show this: " (neutral(why)) })
}

/// Whether content was left out that the log still has, so that fetching more makes sense.
fn cut(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| {
        let elided = match block {
            Block::Code(code) => &code.elided,
            Block::Diff(diff) => &diff.elided,
            Block::Terminal(output) => &output.elided,
            Block::Markdown { elided, .. } | Block::Table { elided, .. } | Block::Files { elided, .. } | Block::Json { elided, .. } => {
                elided
            }
            Block::Section { body, .. } => return cut(body),
            // The other blocks are never cut.
            _ => return false,
        };
        elided.as_ref().is_some_and(|elided| elided.kept)
    })
}
