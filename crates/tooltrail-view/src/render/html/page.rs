//! The page around the rows: policy, style and script, the bar with filters, the outline, the session's title and facts.
//!
//! Filters and themes are boxes that the style looks at, so they work without a script. The script finds its controls by ids that
//! begin with `tt-`; they stand before the rows, so no id from a log can take their place.

use super::about::{PageClock, about, title};
use super::assets::{EXPORT_SCRIPT, export_style};
use super::call::bad;
use super::name::encoded;
use super::outline::{self, TurnOutline};
use super::plan::PagePlan;
use super::{HtmlOptions, help};
use crate::digest::DigestRow;
use crate::head::{count, look};
use crate::line::neutral;
use crate::verdict::VerdictStrip;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::{CallEntry, Transcript};

/// The most problems that the outline lists.
const LISTED: usize = 200;

/// A page about to be written.
pub(super) struct ExportPage<'a> {
    /// The session on the page.
    pub(super) transcript: &'a Transcript<'a>,
    /// Layout of the page: chunks, threads, anchors.
    pub(super) plan: &'a PagePlan,
    /// Verdict on the session.
    pub(super) verdict: &'a VerdictStrip,
    /// Summary of the session.
    pub(super) digest: &'a [DigestRow],
    /// Options of the export.
    pub(super) options: &'a HtmlOptions,
}

impl ExportPage<'_> {
    /// Everything before the rows.
    pub(super) fn head(&self) -> String {
        let script = !self.options.plain;
        let opened = html! {
            (DOCTYPE)
            // `html`, `body` and `main` stay open here, because the rows are streamed between head and foot.
            (PreEscaped("<html lang=\"en\">"))
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content="tooltrail";
                title { (title(self.transcript)) }
                style { (PreEscaped(export_style())) }
                @if script { script { (PreEscaped(EXPORT_SCRIPT)) } }
            }
            (PreEscaped("<body>"))
            a.skip href="#tt-rows" { "Skip to the transcript" }
            a.skip href="#tt-outline" { "Skip to the outline" }
            // Before the rows on purpose: ids of controls must come first in the document, whatever ids a log contains.
            (self.bar())
            @if script { (help::dialog(&[], &html! { p { button #tt-open-all type="button" { "Expand all calls" } " " button #tt-print type="button" { "Print" } } })) }
            (PreEscaped("<div class=\"page\">"))
            (self.outline())
            (PreEscaped("<main id=\"tt-main\">"))
            (self.top())
            (super::verdict::strip(self.verdict, &|call| self.plan.link(call), None, PageClock(None)))
            (super::digest::block(self.digest, &|call| self.plan.link(call), None))
            (PreEscaped("<div id=\"tt-rows\" class=\"transcript\" tabindex=\"-1\">"))
            @if self.plan.chunks.is_empty() { p.di { "Nothing to show." } }
        };
        opened.into_string()
    }

    /// Everything after the rows.
    pub(super) fn foot(&self) -> String {
        let closed = html! {
            (PreEscaped("</div>"))
            footer {
                p { (super::about::ending(&self.transcript.session)) @if let Some(last) = self.transcript.session.last_at { " · " time datetime=(last) { (PageClock(None).said(last)) } } }
                @if let Some(note) = &self.options.note { p { (neutral(note)) } }
                p.di { "Written by tooltrail. This file fetches nothing." }
            }
            (PreEscaped("</main></div></body></html>\n"))
        };
        closed.into_string()
    }

    /// Title, facts and counts by status.
    fn top(&self) -> Markup {
        let session = &self.transcript.session;
        html! {
            header.top {
                h1 { (title(self.transcript)) }
                ul.about { @for (name, value) in about(self.transcript, PageClock(None)) { li { span.di { (name) } " " (neutral(&value)) } } }
                ul.counts {
                    @for (status, number) in session.by_status.iter().filter(|(_, number)| **number > 0) {
                        @let look = look(*status);
                        li class={ "s-" (status.word()) } { span.sign aria-hidden="true" { (look.glyph) } (count(*number)) " " (look.word) }
                    }
                }
            }
        }
    }

    /// The bar: filters, and, with a script, find and navigation.
    fn bar(&self) -> Markup {
        html! {
            div.bar {
                label.drawer title="Outline" { input #tt-drawer type="checkbox" autocomplete="off"; span aria-hidden="true" { "☰" } span.vh { "Show the outline" } }
                (self.filters())
                @if !self.options.plain {
                    search.find {
                        label.vh for="tt-find" { "Find in the session" }
                        input #tt-find type="search" placeholder="Find" autocomplete="off" spellcheck="false" aria-keyshortcuts="/";
                        span #tt-found role="status" {}
                        button #tt-find-prev type="button" title="Previous match (N)" aria-label="Previous match" { "↑" }
                        button #tt-find-next type="button" title="Next match (n)" aria-label="Next match" { "↓" }
                    }
                    div.jump {
                        button #tt-bad-prev type="button" disabled[self.bad() == 0] title="Previous problem (E)" aria-label="Previous problem" { "✗↑" }
                        button #tt-bad-next type="button" disabled[self.bad() == 0] title="Next problem (e)" aria-label="Next problem" { "✗↓" }
                    }
                }
                fieldset.theme {
                    legend.vh { "Theme" }
                    label title="Same as the system" { input #tt-auto type="radio" name="tt-theme" value="auto" checked autocomplete="off"; span { "Auto" } }
                    label title="Light" { input #tt-light type="radio" name="tt-theme" value="light" autocomplete="off"; span { "Light" } }
                    label title="Dark" { input #tt-dark type="radio" name="tt-theme" value="dark" autocomplete="off"; span { "Dark" } }
                }
                @if !self.options.plain { button #tt-help-open type="button" title="Keys (?)" aria-label="Keys and help" { "?" } }
            }
        }
    }

    fn filters(&self) -> Markup {
        // Sorted by name, so that the menu is the same for the same session.
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, call) in self.calls() {
            *kinds.entry(call.row.kind.word()).or_default() += 1;
        }
        html! {
            fieldset.filters #tt-filters {
                legend.vh { "Filters" }
                (tick("tt-f-text", "Text", true))
                (tick("tt-f-thought", "Thinking", true))
                (tick("tt-f-note", "Notes", true))
                @if !kinds.is_empty() {
                    details.menu {
                        summary { "Tools" }
                        div.pop { @for (kind, number) in &kinds { (tick(&format!("tt-k-{kind}"), &format!("{} {}", kind.replace('_', " "), count(*number)), true)) } }
                    }
                }
                @if self.transcript.threads.len() > 1 { (tick("tt-f-sub", "Subagents", true)) }
                (tick("tt-f-bad", &format!("✗ only {}", count(self.bad())), false))
            }
        }
    }

    /// The calls on the page and their places in the transcript.
    fn calls(&self) -> impl Iterator<Item = (usize, &CallEntry<'_>)> {
        self.transcript.calls.iter().enumerate().filter(|(index, _)| self.plan.placed.get(*index) == Some(&true))
    }

    /// Number of calls that are problems.
    fn bad(&self) -> u64 {
        self.calls().filter(|(_, call)| bad(call.row.status)).count() as u64
    }

    /// The turns, and the problems.
    fn outline(&self) -> Markup {
        let shown =
            |turn: &TurnOutline<'_>| self.options.selection.turns.is_none_or(|(first, last)| (first..=last).contains(&(turn.index + 1)));
        let turns = outline::turns(self.transcript).into_iter().filter(shown);
        html! {
            nav.outline #tt-outline aria-label="Outline" tabindex="-1" {
                ol.turns { @for turn in turns { (outline::item(&turn, &format!("#turn-{}", turn.index + 1), usize::MAX)) } }
                (self.problems())
            }
        }
    }

    fn problems(&self) -> Markup {
        // Listed in the order of the transcript; the list is capped because it is part of every page.
        let all: Vec<(usize, &CallRow<'_>)> =
            self.calls().map(|(index, call)| (index, &call.row)).filter(|(_, row)| bad(row.status)).collect();
        html! {
            @if !all.is_empty() {
                details.problems {
                    summary { "Problems " span.di { (count(all.len() as u64)) } }
                    ol {
                        @for (index, row) in all.iter().take(LISTED) {
                            @let anchor = self.plan.anchors.get(*index).map_or("", |anchor| anchor);
                            li { a class={ "s-" (row.status.word()) } href={ "#" (encoded(anchor)) } {
                                span.sign aria-hidden="true" { (look(row.status).glyph) } span { (neutral(row.tool)) } span.di { (crate::head::outcome(row)) }
                            } }
                        }
                    }
                    @if all.len() > LISTED { p.di { "and " (count((all.len() - LISTED) as u64)) " more" } }
                }
            }
        }
    }
}

/// A box to tick.
fn tick(id: &str, label: &str, on: bool) -> Markup {
    html! { label.tick { input id=(id) type="checkbox" checked[on] autocomplete="off"; span { (label) } } }
}

/// Content security policy of the page: it may show pictures that it holds and use its one style and its one script.
/// Nothing else, and nothing from elsewhere.
fn policy(script: bool) -> String {
    // Hashes instead of `unsafe-inline`, so that markup injected through a log could not run a script either.
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let script = if script { hash(EXPORT_SCRIPT) } else { "'none'".to_owned() };
    let style = hash(export_style());
    format!("default-src 'none'; img-src data:; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'")
}
