//! The page around the rows: policy, style and script, the bar with filters, the outline, what the session is.
//!
//! Filters and themes are boxes that the style looks at, so they work without a script. The script finds its controls by ids that
//! begin with `tt-`; they stand before the rows, so no id from a log can take their place.

use super::Options;
use super::call::bad;
use super::plan::{Chunk, Plan};
use crate::digest::Row;
use crate::head::{count, counted, look, took};
use crate::line::neutral;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;
use tooltrail_model::row::{CallRow, SessionRow};
use tooltrail_model::transcript::{CallEntry, Transcript};

/// The one script.
const SCRIPT: &str = include_str!("assets/export.js");
/// The one style.
static STYLE: LazyLock<String> = LazyLock::new(|| format!("{}\n{}", include_str!("assets/export.css"), super::palette::css()));

/// The style of rows and blocks, for pages that show them too.
pub fn style() -> &'static str {
    &STYLE
}

/// The most problems that the outline lists.
const LISTED: usize = 200;

/// A page about to be written.
pub(super) struct Page<'a> {
    /// What is on it.
    pub(super) transcript: &'a Transcript<'a>,
    /// What stands where.
    pub(super) plan: &'a Plan,
    /// What it amounts to.
    pub(super) digest: &'a [Row],
    /// How it is written.
    pub(super) options: &'a Options,
}

impl Page<'_> {
    /// Everything before the rows.
    pub(super) fn head(&self) -> String {
        let script = !self.options.plain;
        let opened = html! {
            (DOCTYPE)
            (PreEscaped("<html lang=\"en\">"))
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content="tooltrail";
                title { (self.title()) }
                style { (PreEscaped(STYLE.as_str())) }
                @if script { script { (PreEscaped(SCRIPT)) } }
            }
            (PreEscaped("<body>"))
            a.skip href="#tt-rows" { "Skip to the transcript" }
            a.skip href="#tt-outline" { "Skip to the outline" }
            (self.bar())
            @if script { (help()) }
            (PreEscaped("<div class=\"page\">"))
            (self.outline())
            (PreEscaped("<main id=\"tt-main\">"))
            (self.top())
            (super::digest::block(self.digest, self.plan))
            (PreEscaped("<div id=\"tt-rows\" class=\"transcript\" tabindex=\"-1\">"))
            @if self.plan.chunks.is_empty() { p.di { "There is nothing to show." } }
        };
        opened.into_string()
    }

    /// Everything after the rows.
    pub(super) fn foot(&self) -> String {
        let closed = html! {
            (PreEscaped("</div>"))
            footer {
                p { "End of the session" @if let Some(last) = &self.transcript.session.last_at { " · " time datetime=(last) { (moment(last)) " UTC" } } }
                @if let Some(note) = &self.options.note { p { (neutral(note)) } }
                p.di { "Written by tooltrail. This file fetches nothing." }
            }
            (PreEscaped("</main></div></body></html>\n"))
        };
        closed.into_string()
    }

    /// What stands above a part at the end of the page.
    pub(super) fn heading(&self, chunk: &Chunk) -> Markup {
        if !chunk.heads {
            return html! {};
        }
        let Some(index) = chunk.thread else {
            return html! { h2.tail id="tt-loose" { "Calls that stand in no conversation" } };
        };
        let thread = self.transcript.threads.get(index);
        let started = thread.and_then(|thread| thread.started_by).and_then(|call| self.plan.anchors.get(call));
        html! {
            h2.tail id={ "thread-" (index) } tabindex="-1" {
                "Conversation of a subagent "
                @if let Some(agent) = thread.and_then(|thread| thread.agent.as_deref()) { code { (neutral(agent)) } " " }
                @if let Some(anchor) = started { a href={ "#" (encoded(anchor)) } { "the call that started it" } }
                @else { span.di { "the log does not say which call started it" } }
            }
        }
    }

    fn title(&self) -> String {
        let session = &self.transcript.session;
        let first = self.transcript.turns.iter().map(|turn| turn.head.as_str()).find(|head| !head.is_empty());
        let title = session.title.or(first).map(|title| neutral(title).chars().take(160).collect::<String>());
        title.unwrap_or_else(|| format!("Session {}", neutral(session.short)))
    }

    /// Who, where, when, how much.
    fn top(&self) -> Markup {
        let session = &self.transcript.session;
        html! {
            header.top {
                h1 { (self.title()) }
                ul.about { @for (name, value) in about(session) { li { span.di { (name) } " " (neutral(&value)) } } }
                ul.counts {
                    @for (status, number) in session.by_status.iter().filter(|(_, number)| **number > 0) {
                        @let look = look(*status);
                        li class={ "s-" (status.word()) } { span.sign aria-hidden="true" { (look.glyph) } (count(*number)) " " (look.word) }
                    }
                }
            }
        }
    }

    /// The bar: what is shown, and, with a script, finding and moving.
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
                    label title="As the system" { input #tt-auto type="radio" name="tt-theme" value="auto" checked autocomplete="off"; span { "Auto" } }
                    label title="Light" { input #tt-light type="radio" name="tt-theme" value="light" autocomplete="off"; span { "Light" } }
                    label title="Dark" { input #tt-dark type="radio" name="tt-theme" value="dark" autocomplete="off"; span { "Dark" } }
                }
                @if !self.options.plain { button #tt-help-open type="button" title="Keys (?)" aria-label="Keys and help" { "?" } }
            }
        }
    }

    fn filters(&self) -> Markup {
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, call) in self.calls() {
            *kinds.entry(call.row.kind.word()).or_default() += 1;
        }
        html! {
            fieldset.filters #tt-filters {
                legend.vh { "What is shown" }
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

    /// How many calls are problems.
    fn bad(&self) -> u64 {
        self.calls().filter(|(_, call)| bad(call.row.status)).count() as u64
    }

    /// The turns, and the problems.
    fn outline(&self) -> Markup {
        let mut counts = vec![(0u64, 0u64); self.transcript.turns.len()];
        for call in &self.transcript.calls {
            if let Some((calls, wrong)) = call.turn.and_then(|turn| counts.get_mut(turn)) {
                *calls += 1;
                *wrong += u64::from(bad(call.row.status));
            }
        }
        let shown = |turn: usize| self.options.selection.turns.is_none_or(|(first, last)| (first..=last).contains(&(turn + 1)));
        let turns = self.transcript.turns.iter().zip(counts).enumerate().filter(|(index, _)| shown(*index));
        html! {
            nav.outline #tt-outline aria-label="Outline" tabindex="-1" {
                ol.turns {
                    @for (index, (turn, (calls, wrong))) in turns {
                        li.gone[turn.abandoned] {
                            a href={ "#turn-" (index + 1) } {
                                span.n { (index + 1) }
                                span.p { @if turn.head.trim().is_empty() { "…" } @else { (neutral(&turn.head)) } }
                                span.c {
                                    @if calls > 0 { (counted(calls, "call")) }
                                    @if wrong > 0 { span.no { "✗ " (count(wrong)) } }
                                    @if turn.abandoned { span.tag { "abandoned" } }
                                }
                            }
                        }
                    }
                }
                (self.problems())
            }
        }
    }

    fn problems(&self) -> Markup {
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

/// What there is to say about a session: a name and a value each.
fn about(session: &SessionRow<'_>) -> Vec<(&'static str, String)> {
    let mut about = vec![("agent", session.agent.to_owned())];
    let mut say = |name, value: Option<String>| about.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)));
    say("project", session.project.map(str::to_owned));
    say("branch", session.branch.map(str::to_owned));
    say(if session.models.len() == 1 { "model" } else { "models" }, Some(session.models.join(", ")));
    say("started", session.started_at.as_deref().map(|time| format!("{} UTC", moment(time))));
    say("lasted", lasted(session));
    say("state", session.state.map(str::to_owned));
    say("turns", Some(count(session.turns)));
    say("calls", Some(count(session.calls)));
    let usage = &session.usage;
    say("tokens", Some(format!("{} in · {} out", short(usage.input), short(usage.output))).filter(|_| usage.input + usage.output > 0));
    let cache = usage.cache_write_5m.saturating_add(usage.cache_write_1h);
    say("cache", Some(format!("{} read · {} written", short(usage.cache_read), short(cache))).filter(|_| usage.cache_read + cache > 0));
    say("session", Some(session.session.to_owned()));
    about
}

/// How long a session lasted.
fn lasted(session: &SessionRow<'_>) -> Option<String> {
    let time = |text: &Option<String>| text.as_deref()?.parse::<tooltrail_model::Time>().ok();
    let micros = time(&session.started_at)?.micros_until(time(&session.last_at)?);
    u64::try_from(micros / 1000).ok().filter(|millis| *millis > 0).map(took)
}

/// A number in three digits or so.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// A time of the contracts, to the second: `2026-03-04 10:00:09`.
pub(super) fn moment(time: &str) -> String {
    time.get(..19).unwrap_or(time).replace('T', " ")
}

/// An anchor as an address spells it.
pub(super) fn encoded(anchor: &str) -> String {
    let mut out = String::with_capacity(anchor.len());
    for byte in anchor.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}

/// What the page may do: show pictures that it holds, use its one style and its one script. Nothing else, and nothing from elsewhere.
fn policy(script: bool) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let script = if script { hash(SCRIPT) } else { "'none'".to_owned() };
    let style = hash(&STYLE);
    format!("default-src 'none'; img-src data:; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'")
}

/// The keys.
const KEYS: &[(&str, &str)] = &[
    ("j k", "next, previous row"),
    ("J K", "next, previous prompt"),
    ("Enter o", "open or close"),
    ("O", "open or close all in the turn"),
    ("e E", "next, previous problem"),
    ("d", "next edit"),
    ("g g  G", "start, end"),
    ("/", "find"),
    ("n N", "next, previous match"),
    ("c", "copy the command, path or change"),
    ("y", "copy a link to the row"),
    ("t", "theme"),
    ("Esc", "close, leave"),
];

fn help() -> Markup {
    html! {
        dialog #tt-help aria-labelledby="tt-help-title" {
            header { h2 id="tt-help-title" { "Keys" } button #tt-help-close type="button" aria-label="Close" { "✕" } }
            dl { @for (keys, what) in KEYS { div { dt { @for key in keys.split_whitespace() { kbd { (key) } } } dd { (what) } } } }
            label.tick { input #tt-keys type="checkbox" checked autocomplete="off"; span { "Single keys do something" } }
            p { button #tt-open-all type="button" { "Open all calls" } " " button #tt-print type="button" { "Print" } }
        }
    }
}
