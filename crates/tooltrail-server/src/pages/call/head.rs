//! Head of a call's page: title, outcome, links to neighbours, and buttons to copy.

use super::CallPage;
use crate::words;
use maud::{Markup, html};
use tooltrail_model::Status;
use tooltrail_model::book::Book;
use tooltrail_model::detail::Detail;
use tooltrail_view::head::{WAITS, look, look_of, took};
use tooltrail_view::line::{neutral, neutral_text};
use tooltrail_view::render::html::line;
use tooltrail_view::{call, why};

/// Longest text of a copy button; longer ones are copied from the page.
const LONGEST: usize = 16 * 1024;

impl CallPage<'_> {
    pub(super) fn head(&self) -> Markup {
        let (row, to) = (&self.story.row, &self.context.to);
        let head = call::head(self.story);
        html! {
            div.way {
                p.crumbs {
                    @if let Some(project) = &self.context.project { span { (neutral(project)) } " / " }
                    a href=(to.row(row.session, row.call)) { (neutral(&self.context.title)) }
                    " / " span.ref { "#" (self.entry.number) }
                }
                (self.neighbours())
            }
            h1 class={ "k-" (row.kind.word()) } {
                span.icon aria-hidden="true" { (head.icon) }
                " " span.name { (line(&head.name)) }
                " " span.title { (line(&head.title)) }
            }
            // A doubtful success gets the colour of a warning, so that it does not pass for a success at a glance.
            p.verdict.(if why::is_doubtful(self.story) { "t-denied" } else { words::class(look_of(row).tone) }) {
                span.sign aria-hidden="true" { (look_of(row).glyph) @if why::is_doubtful(self.story) { "?" } }
                b { (line(&why::verdict(self.story))) }
                @if let Some(all) = row.duration_ms { span title=[row.may_wait.then_some(WAITS)] { (took(all)) } }
                @else if let Some(since) = row.requested_at.filter(|_| row.status == Status::Running) { span { "for " (self.context.clock.since(since)) } }
                @for fact in &head.facts { span { (line(fact)) } }
            }
            (self.tools())
        }
    }

    /// The calls before and after it in the session.
    fn neighbours(&self) -> Markup {
        let calls = || self.book.transcript().calls.iter().enumerate();
        let own = self.entry.number;
        // By number, not by position: calls of subagents stand in logs of their own.
        let previous = calls().filter(|(_, call)| call.number < own).max_by_key(|(_, call)| call.number);
        let next = calls().filter(|(_, call)| call.number > own).min_by_key(|(_, call)| call.number);
        // Calls in scripts have the number of their script.
        let count = calls().map(|(_, call)| call.number.call).max().unwrap_or(0);
        html! {
            nav.step aria-label="Calls of this session" {
                @if let Some((index, call)) = previous { a rel="prev" href=(self.to(index)) title="Previous call ([)" { "‹ #" (call.number) } } @else { span.di { "‹" } }
                span.di { (own) " of " (count) }
                @if let Some((index, call)) = next { a rel="next" href=(self.to(index)) title="Next call (])" { "#" (call.number) " ›" } } @else { span.di { "›" } }
            }
        }
    }

    /// Copy buttons and links to other forms of the call. The links work without a script.
    fn tools(&self) -> Markup {
        let (row, to) = (&self.story.row, &self.context.to);
        html! {
            ul.take {
                // Copied text is neutralised too: terminals act on control characters when text is pasted.
                li { button.copy type="button" data-copy=(neutral(&row.r#ref)) title="Copy the REF of this call for `tooltrail show`" { (neutral(&row.r#ref)) } }
                @if let Some((word, text)) = self.main_text() { li { button.copy type="button" data-copy=(text) data-key="c" { "Copy " (word) } } }
                li { button.copy type="button" data-fetch=(to.form(self.name, "md")) data-key="m" title="Secrets are redacted on a best-effort basis" { "Copy Markdown" } }
                li { button.copy type="button" data-key="y" title="Copy the link to this page" { "Copy link" } }
                li { a href=(to.form(self.name, "json")) { "JSON" } }
                li { a href=(to.form(self.name, "jsonl")) title="The log records of this call" { "Raw" } }
                @if let Some(query) = self.elsewhere() { li { a href=(to.search(&query)) title="Same command or path in all sessions" { "Same elsewhere" } } }
                li { a rel="up" href=(to.row(row.session, row.call)) { "In the session" } }
            }
        }
    }

    /// Main argument to copy: its name, and the text.
    fn main_text(&self) -> Option<(&'static str, String)> {
        let (word, text) = match &self.story.told.detail {
            Detail::Shell(shell) => ("command", &shell.command),
            Detail::Read(read) => ("path", &read.path),
            Detail::Write(write) => ("path", &write.path),
            Detail::Edit(edit) => ("path", &edit.path),
            Detail::Notebook(cell) => ("path", &cell.path),
            Detail::WebFetch(page) => ("address", &page.url),
            Detail::Grep(grep) => ("pattern", &grep.pattern),
            Detail::Glob(glob) => ("pattern", &glob.pattern),
            _ => return None,
        };
        (!text.is_empty() && text.len() <= LONGEST).then(|| (word, neutral_text(text).into_owned()))
    }

    /// The page of another call of the session.
    pub(super) fn to(&self, index: usize) -> String {
        self.context.to.call(&super::name::of(self.book, index))
    }
}

/// The colour of a status, as a class.
pub(super) fn tone(status: Status) -> &'static str {
    words::class(look(status).tone)
}
