//! The files of the review: a heading each, and the hunks of those that fit on the page.

use super::tree::{kind, mark_class};
use super::{MUCH, ReviewPage};
use crate::open_sessions::IndexedFile;
use maud::{Markup, html};
use tooltrail_model::book::Book;
use tooltrail_view::Limits;
use tooltrail_view::head::{count, counted};
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::review::{self, ReviewLinks, fill_name};
use tooltrail_view::review::{FileReview, ReviewOptions, UnchangedLines, unchanged};

/// Limits of a file among others, and of one that is shown alone.
const SHORT: Limits = Limits { lines: 300, bytes: 24 * 1024, head: 300, highlight: true };
const ALONE: Limits = Limits { lines: 900, bytes: 48 * 1024, head: 900, highlight: true };
/// The most unchanged lines that are filled in at a time.
const FILLED: u32 = 500;
/// Limits on the calls and the turns that are named beside a file.
const CALLS: usize = 12;
const TURNS: usize = 6;

impl ReviewPage<'_, '_> {
    /// The sections of files. `drawn`: size of what stands on the page already.
    pub(super) fn sections(&self, files: &[(usize, &IndexedFile)], drawn: usize) -> Markup {
        let headings: Vec<Markup> = files.iter().map(|(_, file)| self.heading(file)).collect();
        // 400 bytes for what stands around a heading: its section, the checkbox and the links.
        let mut size = drawn + headings.iter().map(|heading| heading.0.len() + 400).sum::<usize>();
        let mut content = |(number, file): &(usize, &IndexedFile)| {
            // A file that is shown alone is what the reader asked for, and has limits of its own.
            let fits = size < MUCH || self.only.is_some();
            let content = fits.then(|| self.content(*number, file, self.from));
            size += content.as_ref().map_or(0, |content| content.0.len());
            content
        };
        let contents: Vec<Option<Markup>> = files.iter().map(&mut content).collect();
        html! {
            @for (((number, file), heading), content) in files.iter().zip(headings).zip(contents) {
                section.filed id={ "file-" (number) } data-file=(number) data-path=(neutral(file.facts.last_path())) data-hash=(format!("{:016x}", file.hash)) data-print=(self.print(file)) {
                    details.sec open {
                        (heading)
                        @match content {
                            Some(content) => div.body { (content) },
                            None => div.body.away { a href=(self.address(&[("file", number.to_string())])) { "Show the changes" } },
                        }
                    }
                    div.acts {
                        label.tick.viewed { input type="checkbox" data-viewed=(number) autocomplete="off"; span { "Viewed" } }
                        @if self.only.is_none() { a href=(self.address(&[("file", number.to_string())])) title="Only this file" { "Alone" } }
                    }
                }
            }
        }
    }

    /// What an open page compares: a file that is as it was stays as it is.
    fn print(&self, file: &IndexedFile) -> String {
        format!("{:x}.{}.{}", file.hash, file.facts.calls.len(), u8::from(self.hide_spaces))
    }

    fn heading(&self, file: &IndexedFile) -> Markup {
        let facts = &file.facts;
        let (sign, word) = kind(facts.kind);
        let calls = &self.reader.book().transcript().calls;
        let mut turns: Vec<usize> = facts.calls.iter().filter_map(|call| calls.get(*call)?.turn).collect();
        turns.sort_unstable();
        turns.dedup();
        html! {
            summary {
                span class={ "mark " (mark_class(facts.kind)) } title=(word) aria-hidden="true" { (sign) }
                span.p {
                    @if let Some(to) = &facts.to { (neutral(&facts.path)) " → " (neutral(to)) } @else { (neutral(&facts.path)) }
                }
                span.vh { ", " (word) ", " }
                span.n { span.ok { "+" (count(facts.counts.added)) } " " span.no { "−" (count(facts.counts.removed)) } }
                span.di {
                    "edited ×" (count(facts.calls.len() as u64))
                    @if !turns.is_empty() {
                        (if turns.len() == 1 { " · turn " } else { " · turns " })
                        (turns.iter().take(TURNS).map(|turn| (turn + 1).to_string()).collect::<Vec<_>>().join(", "))
                        @if turns.len() > TURNS { " …" }
                    }
                    @if let Some(label) = facts.strength.and_then(|strength| strength.label()) { " · " (label) }
                    @if facts.gap { " · ~ diff incomplete" }
                }
            }
        }
    }

    /// The changes of a file, from one of its lines on.
    pub(super) fn content(&self, number: usize, file: &IndexedFile, from: usize) -> Markup {
        let options = ReviewOptions { limits: if self.only.is_some() { ALONE } else { SHORT }, skip: from, ignore_space: self.hide_spaces };
        let unchanged =
            |lines: UnchangedLines| format!("{}#file-{number}", self.address(&[("file", number.to_string()), ("fill", fill_name(lines))]));
        let filled = |lines: UnchangedLines| {
            let wanted = self.fill.as_deref().filter(|wanted| **wanted == fill_name(lines))?;
            Some(self.filled(file, wanted))
        };
        let links = ReviewLinks { call: &|call| self.call(call), unchanged: &unchanged, filled: &filled };
        let review = self.index.show(self.reader.book(), file, |listed, steps, names| FileReview::of(listed, steps, names, &options));
        let Some(review) = review else { return html! { p.di { "The logs of this file have changed. Reload the page." } } };
        let elided = review.elided;
        html! {
            (self.makers(file))
            (review::file(&review, &links))
            @if let Some(elided) = elided { (self.pieces(number, from, elided.shown, elided.total)) }
        }
    }

    /// Links to what is not shown of a long file.
    fn pieces(&self, number: usize, from: usize, shown: u64, total: u64) -> Markup {
        let to = |from: usize| self.address(&[("file", number.to_string()), ("from", from.to_string())]);
        let next = from.saturating_add(usize::try_from(shown).unwrap_or(usize::MAX));
        if self.only.is_none() {
            return html! { p { a.all href=(to(0)) { "Show all lines of this file" } } };
        }
        html! {
            nav.pages aria-label="More lines" {
                @if from > 0 { a rel="prev" href=(to(from.saturating_sub(ALONE.lines))) { "← earlier lines" } }
                span.di { "lines " (count(from as u64 + 1)) "–" (count(next as u64)) " of " (counted(total, "line")) " of hunks" }
                @if shown > 0 && (next as u64) < total { a rel="next" href=(to(next)) { "later lines →" } }
            }
        }
    }

    /// Unchanged lines between two hunks, as `part.old.new.count`.
    pub(super) fn filled(&self, file: &IndexedFile, wanted: &str) -> Markup {
        let numbers: Vec<u32> = wanted.split('.').filter_map(|number| number.parse().ok()).collect();
        let [part, old, new, total] = *numbers else { return html! { p.di { "No such lines." } } };
        // These numbers come from the address, so they must not decide how much is drawn.
        let lines = UnchangedLines { part: part as usize, old, new, count: total.min(FILLED), known_from: None };
        let lines = self.index.show(self.reader.book(), file, |listed, _, _| unchanged(listed, lines)).unwrap_or_default();
        review::filled(&lines, old, total)
    }

    /// The calls that changed a file, as links to their rows.
    fn makers(&self, file: &IndexedFile) -> Markup {
        let calls = &file.facts.calls;
        html! {
            p.by {
                span.di { "Changed by " }
                @for (name, address) in calls.iter().take(CALLS).filter_map(|call| self.call(*call)) { a href=(address) { (name) } " " }
                @if calls.len() > CALLS { span.di { "and " (count((calls.len() - CALLS) as u64)) " more" } }
            }
        }
    }

    /// The name of a call, and the address of its row.
    fn call(&self, call: usize) -> Option<(String, String)> {
        let transcript = self.reader.book().transcript();
        let name = format!("#{}", transcript.calls.get(call)?.number);
        Some((name, self.reader.window().row_address(call, self.at)?))
    }
}
