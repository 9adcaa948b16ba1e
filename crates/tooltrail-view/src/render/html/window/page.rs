//! The parts around the rows: title and state, digest, the bar with views, chips and find, the outline, and
//! placeholders for sections that are not loaded.

use super::super::about::{about, ending, title};
use super::super::name::encoded;
use super::super::plan::PlanRow;
use super::super::rows::tail;
use super::super::{help, outline};
use super::chips::{self, ChipCounts, ChipSet};
use super::quiet;
use super::{HIGHEST, MANY, SessionPageRequest, Window};
use crate::digest::state_words;
use crate::head::{ago, count, counted, look};
use crate::line::neutral;
use crate::render::outputs::OUTPUTS;
use maud::{Markup, PreEscaped, html};
use tooltrail_model::Time;
use tooltrail_model::book::Book;
use tooltrail_model::row::SessionRow;
use tooltrail_model::transcript::{EntryKind, Transcript};

/// Turns in a group of a long outline; an outline is long if it has more than twice as many.
const TURNS: usize = 50;
/// The most characters of a prompt in the outline.
const HEAD: usize = 100;

/// The views of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// The conversation with all calls.
    Transcript,
    /// Calls on a time axis.
    Waterfall,
    /// Changes to files.
    Changes,
    /// The records of its logs.
    Raw,
}

/// Each view, its name and what it adds to the address.
const TABS: &[(Tab, &str, &str)] = &[
    (Tab::Transcript, "Transcript", ""),
    (Tab::Waterfall, "Waterfall", "/waterfall"),
    (Tab::Changes, "Changes", "/changes"),
    (Tab::Raw, "Raw", "/raw"),
];

/// Keys that only this page has.
const KEYS: &[(&str, &str)] = &[
    ("m", "copy the call as Markdown"),
    (".", "menu of the row"),
    ("f", "filters"),
    ("i", "important rows only"),
    ("w", "waterfall, at the same call"),
    ("[ ]", "previous, next session"),
    ("Ctrl K", "go to a turn, file, session or command"),
    ("g h", "home"),
    ("g l", "running sessions"),
    ("g s", "sessions"),
    ("g c", "calls"),
    ("g f", "failed calls"),
    ("?", "this help"),
];

/// A session's page.
pub(super) fn transcript(window: &Window, book: &dyn Book, at: &SessionPageRequest<'_>) -> Markup {
    let transcript = book.transcript();
    html! {
        main.session #main {
            (top(transcript, at))
            (digest(window, book, at))
            (bar(window, transcript, at, Tab::Transcript))
            div.page {
                (outline(window, transcript, at))
                div.flow {
                    (copied(transcript, at))
                    (rows(window, book, at))
                    (end(transcript, at))
                }
                // Only for the eye: the outline says the same to others.
                div.minimap aria-hidden="true" { canvas #tt-map {} }
            }
            (help::dialog(KEYS, &html! { p { a href={ (at.root) "/help" } { "More help: filter syntax, status icons, log locations" } } }))
            (menu())
            // Empty and hidden: the script fills these in when new rows arrive, and announces them to screen readers.
            button #tt-new type="button" hidden {}
            p #tt-told.vh role="status" {}
        }
    }
}

/// Remark that a session begins with records copied from another session, and that its figures exclude them.
fn copied(transcript: &Transcript<'_>, at: &SessionPageRequest<'_>) -> Markup {
    // Counted from rows, because a session's own figures leave copies out.
    let copies = || transcript.calls.iter().filter_map(|call| call.row.copy_of.as_ref());
    let Some(first) = copies().next() else { return html! {} };
    let name = transcript.copied_from.as_deref().unwrap_or_else(|| last_part(first.file));
    html! {
        p.copied.di {
            (counted(copies().count() as u64, "call")) ", with the messages around them, copied from "
            a href={ (at.root) "/s/" (encoded(name)) } title=(neutral(first.file)) { (neutral(name)) }
            ": this session continues that one. The turns, calls and tokens above count only this session."
        }
    }
}

/// Footer below the last row.
pub(super) fn end(transcript: &Transcript<'_>, at: &SessionPageRequest<'_>) -> Markup {
    let session = &transcript.session;
    html! {
        footer #tt-end { p { (ending(session)) @if let Some(last) = session.last_at { " · " time datetime=(last) title=[at.clock().title(last)] { (at.clock().said(last)) } } } }
    }
}

/// Another view of the session.
pub(super) fn tab(window: &Window, book: &dyn Book, at: &SessionPageRequest<'_>, tab: Tab, content: &Markup) -> Markup {
    let transcript = book.transcript();
    html! { main.session #main { (top(transcript, at)) (bar(window, transcript, at, tab)) div.view { (content) } } }
}

/// Title, state and actions of the session. The line of the title stays in sight, so it stands on its own.
fn top(transcript: &Transcript<'_>, at: &SessionPageRequest<'_>) -> Markup {
    let session = &transcript.session;
    let [earlier, later] = at.neighbours;
    let title = title(transcript);
    html! {
        header.top {
            div.line {
                @if let Some(project) = session.project { (project_name(project, at.project)) span.di aria-hidden="true" { "/" } }
                h1 title=(title) { (title) }
                (state(session, at.now))
                span.do {
                    @if let Some(address) = earlier { a.step rel="prev" href=(address) title="Previous session ([)" aria-label="Previous session" { "‹" } }
                    @if let Some(address) = later { a.step rel="next" href=(address) title="Next session (])" aria-label="Next session" { "›" } }
                    @if let Some(command) = at.resume { (resume(command)) }
                    details.menu { summary { "Export" } div.pop {
                        @for output in OUTPUTS { a href={ (at.base) "/export." (output.name) } { (output.label) } }
                        p.di { "Secrets are redacted on a best-effort basis." br; "Read the file before you share it." }
                    } }
                }
            }
            (about_list(transcript, at))
        }
    }
}

/// Facts that stand in the summary: they say where the session is, not what became of it.
const FOLDED: &[&str] = &["project", "permission mode", "cache", "by the API", "session"];

/// Facts about the session as a whole.
pub(super) fn about_list(transcript: &Transcript<'_>, at: &SessionPageRequest<'_>) -> Markup {
    listed(transcript, at, false)
}

/// The other facts, for the summary.
pub(super) fn facts(transcript: &Transcript<'_>, at: &SessionPageRequest<'_>) -> Markup {
    listed(transcript, at, true)
}

fn listed(transcript: &Transcript<'_>, at: &SessionPageRequest<'_>, folded: bool) -> Markup {
    // The state stands beside the title already, where it is updated.
    let facts = about(transcript, at.clock()).into_iter().filter(|(name, _)| *name != "state" && FOLDED.contains(name) == folded);
    let address = |name: &str| at.calls.filter(|_| name == "calls");
    html! { ul class=(if folded { "about rest" } else { "about" }) { @for (name, value) in facts { li {
        span.di { (name) } " "
        @match address(name) { Some(address) => a href=(address) title="All as a table" { (neutral(&value)) }, None => (neutral(&value)) }
    } } } }
}

/// The name of the project, which leads to its page.
fn project_name(project: &str, address: Option<&str>) -> Markup {
    let (path, name) = (neutral(project), neutral(last_part(project)));
    html! { @match address { Some(address) => a.project href=(address) title={ "Project " (path) } { (name) }, None => span.project title=(path) { (name) } } }
}

fn resume(command: &str) -> Markup {
    html! {
        details.menu { summary { "Resume" } div.pop.command {
            code #tt-resume { (neutral(command)) }
            button type="button" data-copy="tt-resume" { "Copy" }
        } }
    }
}

/// State of the session, and since when.
pub(super) fn state(session: &SessionRow<'_>, now: Option<Time>) -> Markup {
    let Some((word, why)) = state_words(session.state, session.state_reason) else { return html! {} };
    let class = match session.state {
        // Everything that is neither working nor ended waits for the person.
        Some("working") => "working",
        Some("ended") | None => "ended",
        _ => "yours",
    };
    let glyph = match session.state {
        Some("working") => "●",
        Some("asks" | "waiting") => "◆",
        Some("your_turn") => "◇",
        _ => "○",
    };
    // The clock of the log's machine may be ahead of ours; `ago` copes with that.
    let since = session.last_at.zip(now);
    html! {
        span class={ "state " (class) } title=[why.filter(|_| class == "ended")] {
            span aria-hidden="true" { (glyph) " " } (word)
            @if let Some(why) = why.filter(|_| class != "ended") { ": " (why) }
            @if let Some((then, now)) = since {
                @if class == "ended" { " " } @else { " · last write " }
                span.since data-since=[(class != "ended").then(|| then.as_millisecond())] { (ago(then, now)) } " ago"
            }
        }
    }
}

/// The last part of a path, whichever system it comes from.
fn last_part(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().filter(|part| !part.is_empty()).unwrap_or(path)
}

/// The digest, or a placeholder where it takes long to compute.
fn digest(window: &Window, book: &dyn Book, at: &SessionPageRequest<'_>) -> Markup {
    html! {
        @if book.transcript().calls.len() <= MANY || at.digest { div #tt-digest { (window.digest(book, at)) } }
        @else { div #tt-digest aria-busy="true" { p.digest.di { "Computing the summary … " a.more href={ (at.base) "?digest=1" } { "wait for it" } } } }
    }
}

/// The bar: views of the session, chips, find.
fn bar(window: &Window, transcript: &Transcript<'_>, at: &SessionPageRequest<'_>, tab: Tab) -> Markup {
    let main = tab == Tab::Transcript;
    html! {
        div.bar {
            @if main { label.drawer title="Outline" { input #tt-drawer type="checkbox" autocomplete="off"; span aria-hidden="true" { "☰" } span.vh { "Show the outline" } } }
            nav.tabs aria-label="Views of the session" {
                @for (each, name, path) in TABS { a href={ (at.base) (path) } aria-current=[(*each == tab).then_some("page")] { (name) } }
            }
            @if main {
                (chips::bar(&window.total, ChipSet::read(at.show)))
                form.find role="search" method="get" action=(at.base) {
                    @if !at.show.is_empty() { input type="hidden" name="show" value=(at.show); }
                    label.vh for="tt-find" { "Find in the session" }
                    input #tt-find type="search" name="find" value=(at.find) placeholder="Find  /" autocomplete="off" spellcheck="false" aria-keyshortcuts="/";
                    span #tt-found role="status" {}
                    button #tt-find-prev type="button" title="Previous match (N)" aria-label="Previous match" { "↑" }
                    button #tt-find-next type="button" title="Next match (n)" aria-label="Next match" { "↓" }
                }
                div.jump {
                    @let none = transcript.calls.iter().all(|call| !super::super::call::bad(call.row.status));
                    button #tt-bad-prev type="button" disabled[none] title="Previous problem (E)" aria-label="Previous problem" { (look(tooltrail_model::Status::Failed).glyph) "↑" }
                    button #tt-bad-next type="button" disabled[none] title="Next problem (e)" aria-label="Next problem" { (look(tooltrail_model::Status::Failed).glyph) "↓" }
                }
            }
        }
    }
}

/// The sections: the requested one with its rows, placeholders for the others.
fn rows(window: &Window, book: &dyn Book, at: &SessionPageRequest<'_>) -> Markup {
    let transcript = book.transcript();
    let roots = window.plan.roots();
    // A section of a subagent or of an older version may be asked for; the first section is always right.
    let inlined = roots.iter().copied().find(|root| *root == at.section).or(roots.first().copied());
    let total: u64 = roots.iter().map(|&root| u64::from(window.height(transcript, root))).sum();
    // Beyond a browser's limit the end could not be scrolled to, so placeholders shrink in proportion.
    let scale = if total > HIGHEST { HIGHEST as f64 / total as f64 } else { 1.0 };
    let only = ChipSet::read(at.show);
    html! {
        // The version is part of every address the script fetches, so answers can be cached for ever.
        div #tt-rows.transcript tabindex="-1" data-base=(at.base) data-calls=(transcript.calls.len()) data-v={ (PreEscaped(format!("{:x}", at.version))) } data-show=[only.words()] {
            @if window.is_empty() { p.di { "Nothing to show." } }
            @for root in roots {
                @if let Some(chunk) = window.plan.chunks.get(root) { (tail(transcript, &window.plan, chunk)) }
                @if Some(root) == inlined {
                    section.rows data-s=(root) data-k=[window.said_key(transcript, root)] data-c=[window.plan.chunks.get(root).map(|chunk| chunk.rows.len())] data-n=[window.counts.get(root).map(ChipCounts::code)] data-turn=[window.turn_at(transcript, root)] data-m=[window.marks(transcript, root)] {
                        (window.section(book, root, at))
                    }
                } @else { (window.place(transcript, root, at, scale)) }
            }
        }
    }
}

impl Window {
    /// Placeholder for a section that is not loaded: about as high, with its counts for chips, and a link that loads it.
    pub(super) fn place(&self, transcript: &Transcript<'_>, section: usize, at: &SessionPageRequest<'_>, scale: f64) -> Markup {
        let number = self.plan.chunks.get(section).map_or(0, |chunk| chunk.rows.len());
        let height = (f64::from(self.height(transcript, section)) * scale) as u32;
        let only = ChipSet::read(at.show);
        // Hidden if no row would stay visible, so that the reader does not scroll through empty space.
        let hidden = !only.is_empty() && self.counts.get(section).is_some_and(|counts| counts.of(only) == 0);
        html! {
            section.rows.away data-s=(section) data-k=[self.said_key(transcript, section)] data-h=(height) data-c=(number) data-n=[self.counts.get(section).map(ChipCounts::code)] data-turn=[self.turn_at(transcript, section)] data-m=[self.marks(transcript, section)]
                hidden[hidden] {
                a href={ "?rows=" (section) (at.kept()) } { (counted(number as u64, "row")) }
            }
        }
    }

    /// The turn that a section begins in, counted from 1.
    pub(super) fn turn_at(&self, transcript: &Transcript<'_>, section: usize) -> Option<usize> {
        let chunk = self.plan.chunks.get(section).filter(|chunk| chunk.thread == Some(0))?;
        let Some(PlanRow::Entry { entry, .. }) = chunk.rows.first() else { return None };
        transcript.threads.first()?.entries.get(*entry)?.turn.map(|turn| turn + 1)
    }

    /// Estimated height of a section in pixels, on a screen of usual width.
    pub(super) fn height(&self, transcript: &Transcript<'_>, section: usize) -> u32 {
        let Some(chunk) = self.plan.chunks.get(section) else { return 0 };
        let entries = chunk.thread.and_then(|thread| transcript.threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
        let height = |row: &PlanRow| {
            // Same measures as in the plan, but bodies here are cut earlier and most calls are closed.
            let PlanRow::Entry { entry, begins, .. } = row else { return 30 };
            let Some(entry) = entries.get(*entry) else { return 30 };
            let own = match entry.what {
                EntryKind::Call(call) if self.opens(call) => 90 + entry.lines.clamp(1, 40) * 18,
                EntryKind::Prompt | EntryKind::Text | EntryKind::Media => 18 + entry.lines.clamp(1, 80) * 21,
                _ => 30,
            };
            own + if begins.is_some() { 56 } else { 0 }
        };
        // Of a quiet run only its line is seen.
        let runs = quiet::runs(transcript, chunk);
        let seen =
            chunk.rows.iter().enumerate().filter(|(at, _)| !runs.iter().any(|run| run.rows.contains(at) && run.rows.first() != Some(at)));
        seen.map(|(_, row)| height(row)).sum()
    }
}

/// Outline of the turns. A long outline comes in groups, and only the group that the reader is in comes with the page.
pub(super) fn outline(window: &Window, transcript: &Transcript<'_>, at: &SessionPageRequest<'_>) -> Markup {
    let turns = outline::turns(transcript);
    let long = turns.len() > 2 * TURNS;
    // `turn_at` counts from 1; a section of a subagent has no turn, and then the first group is open.
    let here = window.turn_at(transcript, at.section).unwrap_or(1) - 1;
    html! {
        nav.outline.long[turns.len() > 999] #tt-outline aria-label="Outline" tabindex="-1" {
            @if !long { ol.turns { @for turn in &turns { (outline::item(turn, &turn_address(turn.index), HEAD)) } } }
            @else {
                @for (group, turns) in turns.chunks(TURNS).enumerate() {
                    @let (first, last) = (group * TURNS + 1, group * TURNS + turns.len());
                    @let open = here / TURNS == group;
                    // `data-t` is the group to fetch; a group that is already here has none.
                    details.span data-first=(first) data-last=(last) data-t=[(!open).then_some(group)] open[open] {
                        summary { "Turns " (count(first as u64)) "–" (count(last as u64)) }
                        @if open { (turns_of(window, transcript, group, at)) }
                        @else { a.more href=(turn_address(first - 1)) { "Show" } }
                    }
                }
            }
        }
    }
}

/// A part of a long outline.
pub(super) fn turns_of(_: &Window, transcript: &Transcript<'_>, group: usize, _: &SessionPageRequest<'_>) -> Markup {
    let turns = outline::turns(transcript);
    html! { ol.turns { @for turn in turns.iter().skip(group.saturating_mul(TURNS)).take(TURNS) { (outline::item(turn, &turn_address(turn.index), HEAD)) } } }
}

fn turn_address(turn: usize) -> String {
    format!("?at=turn-{0}#turn-{0}", turn + 1)
}

/// The menu of a row. The script puts it beside the row, and fills in the addresses.
fn menu() -> Markup {
    html! {
        div.pop #tt-menu popover role="menu" aria-label="This row" {
            button type="button" role="menuitem" data-act="link" { "Copy link" kbd { "y" } }
            button type="button" role="menuitem" data-act="text" { "Copy command, path or text" kbd { "c" } }
            button type="button" role="menuitem" data-act="markdown" { "Copy as Markdown" kbd { "m" } }
            a role="menuitem" data-page="" { "Page of the call" }
            a role="menuitem" data-page=".jsonl" { "Raw JSON" }
        }
    }
}
