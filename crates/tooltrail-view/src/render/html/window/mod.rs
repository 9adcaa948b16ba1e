//! A session as a page on a server: the exported page, windowed. Rows come in sections when the reader scrolls near, bodies
//! when a row is
//! opened, so what is sent hardly grows with the session.
//!
//! A [`Window`] is the layout of a session's page, settled once and owned, so that it can be kept beside an open book.
//! `page` draws the parts around the rows, `live` the update for an open page, `rows` the rows of a section and their
//! bodies; `chips` filters rows, `way` finds things. All of it can be read without a script: whatever is not loaded is a
//! link.

mod chips;
mod live;
mod map;
mod order;
mod page;
mod quiet;
mod rows;
mod way;

pub use live::{PageState, PageUpdate};
pub use order::OrderedLine;
pub use page::Tab;
pub use way::{FoundRow, PathStep};

use super::about::PageClock;
use super::call::is_check;
use super::digest::block;
use super::name;
use super::plan::{Chunk, PagePlan, PlanRow};
use super::verdict;
use crate::digest::DigestRow;
use crate::head::is_problem;
use crate::verdict::VerdictStrip;
use chips::{ChipCounts, ChipSet};
use jiff::tz::TimeZone;
use maud::{Markup, PreEscaped, html};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::row::CallRow;
use tooltrail_model::session_verdict::SessionVerdict;
use tooltrail_model::transcript::{CallEntry, EntryKind, Transcript};
use tooltrail_model::{Kind, Status, Time};

pub(super) use chips::style as chip_style;

/// A session with more calls than this is shown before its digest is ready, because the digest opens all calls.
const MANY: usize = 3_000;
/// Browsers do not scroll through more pixels than some 17 millions.
const HIGHEST: u64 = 15_000_000;

/// Layout of a session's page.
pub struct Window {
    plan: PagePlan,
    /// The section and the row of each call.
    places: Vec<Option<(usize, usize)>>,
    /// The section in which each turn begins.
    turns: Vec<Option<usize>>,
    /// Counts for chips of each section: rows that stay visible when a chip is selected, including rows that hold such
    /// rows.
    counts: Vec<ChipCounts>,
    /// Number of rows of the session for each chip.
    total: ChipCounts,
    /// Outcomes of the calls that each call's subagents made.
    inside: Vec<ChipSet>,
    /// Chips that the rows of each turn match.
    has: Vec<ChipSet>,
    /// Calls whose id another call has too.
    shared: HashSet<usize>,
    /// Digest of the session, computed on first use.
    told: OnceLock<SessionDigest>,
}

/// Verdict and digest of a session, and the failures that stand open.
struct SessionDigest {
    verdict: VerdictStrip,
    /// The first and the last prompt, which stand above the other rows.
    prompts: Vec<DigestRow>,
    rows: Vec<DigestRow>,
    /// Calls that failed and did not succeed later.
    open: HashSet<usize>,
}

/// Request for a page: addresses, version, position, filters and clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionPageRequest<'a> {
    /// Prefix of all addresses: empty, or a directory such as `/demo`.
    pub root: &'a str,
    /// The address of the session's page, spelled as addresses are.
    pub base: &'a str,
    /// The version of the session; it goes into addresses of what does not change within one.
    pub version: u64,
    /// The section that comes with the page.
    pub section: usize,
    /// Selected chips: words separated by commas.
    pub show: &'a str,
    /// Text to find.
    pub find: &'a str,
    /// Whether the page must include the digest, however long that takes.
    pub digest: bool,
    /// Whether the page follows its session; then the digest is not computed for every version.
    pub live: bool,
    /// Time of the request.
    pub now: Option<Time>,
    /// Time zone of the reader; without it times are in UTC.
    pub zone: Option<&'a TimeZone>,
    /// The command by which the session is resumed.
    pub resume: Option<&'a str>,
    /// The address of the session that began before it, and of the one after it.
    pub neighbours: [Option<&'a str>; 2],
    /// The address of its calls as a table.
    pub calls: Option<&'a str>,
    /// The address of its project.
    pub project: Option<&'a str>,
}

impl SessionPageRequest<'_> {
    /// Query parameters that a link within the page keeps: chips and the text to find.
    fn kept(&self) -> String {
        let pairs = [("show", self.show), ("find", self.find)].into_iter().filter(|(_, value)| !value.is_empty());
        pairs.map(|(name, value)| format!("&{name}={}", name::encoded(value))).collect()
    }

    fn clock(&self) -> PageClock<'_> {
        PageClock(self.zone)
    }

    /// The address of a part of the page.
    fn part(&self, path: &str) -> String {
        format!("{}/{path}?v={:x}", self.base, self.version)
    }
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Window").field("sections", &self.plan.chunks.len()).finish_non_exhaustive()
    }
}

impl Window {
    /// Settles what stands where.
    pub fn new(transcript: &Transcript<'_>) -> Self {
        let plan = PagePlan::new(transcript, &Selection::default());
        let calls = transcript.calls.len();
        let mut window = Window {
            places: vec![None; calls],
            turns: vec![None; transcript.turns.len()],
            counts: vec![ChipCounts::default(); plan.chunks.len()],
            total: ChipCounts::default(),
            inside: vec![ChipSet::default(); calls],
            has: vec![ChipSet::default(); transcript.turns.len()],
            shared: shared(&transcript.calls),
            told: OnceLock::new(),
            plan,
        };
        // Sections of a nested conversation come after the section of its call, so going backwards they are counted before
        // it.
        for index in (0..window.plan.chunks.len()).rev() {
            window.count(transcript, index);
        }
        window
    }

    /// Records where the rows of a section are, and which chips they match.
    fn count(&mut self, transcript: &Transcript<'_>, index: usize) {
        let Some(chunk) = self.plan.chunks.get(index) else { return };
        let entries = chunk.thread.and_then(|thread| transcript.threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
        let (mut counts, mut all) = (ChipCounts::default(), ChipSet::default());
        for (place, row) in chunk.rows.iter().enumerate() {
            let entry = if let PlanRow::Entry { entry, .. } = row { entries.get(*entry) } else { None };
            let call = row.call();
            let mut set = own(transcript, chunk, row);
            // A row that holds a problem stays visible with it, but is not counted as a problem itself.
            self.total.add(set);
            if let Some(call) = call {
                set = set.and(self.inside.get(call).copied().unwrap_or_default());
                if let Some(known) = self.places.get_mut(call) {
                    *known = Some((index, place));
                }
            }
            counts.add(set);
            all = all.and(set);
            if let Some(turn) =
                // Turns are those of the main conversation; entries of subagents carry the turn they ran in.
                entry.and_then(|entry| entry.turn).filter(|_| chunk.thread == Some(0)).and_then(|turn| self.has.get_mut(turn))
            {
                *turn = turn.and(set);
            }
            if let PlanRow::Entry { begins: Some(turn), .. } = row
                && let Some(begins) = self.turns.get_mut(*turn)
            {
                *begins = Some(index);
            }
        }
        // Only outcomes are passed up: a subagent's edits must not make its call match "edits".
        if let Some(inside) = chunk.inside.and_then(|call| self.inside.get_mut(call)) {
            *inside = inside.and(all.statuses());
        }
        if let Some(own) = self.counts.get_mut(index) {
            *own = counts;
        }
    }

    /// Chips under which a row is visible, as words separated by spaces: it matches them, and so does every row that it is
    /// nested in.
    pub fn answers(&self, transcript: &Transcript<'_>, section: usize, row: usize) -> String {
        // Walks outwards from the row; a row is hidden as soon as one of its parents is.
        let (mut left, mut place) = (None, Some((section, row)));
        while let Some((section, row)) = place {
            let Some(chunk) = self.plan.chunks.get(section) else { break };
            let Some(row) = chunk.rows.get(row) else { break };
            let inside = row.call().and_then(|call| self.inside.get(call)).copied().unwrap_or_default();
            let set = own(transcript, chunk, row).and(inside);
            left = Some(left.map_or(set, |left: ChipSet| left.within(set)));
            place = chunk.inside.and_then(|call| self.places.get(call).copied().flatten());
        }
        left.and_then(ChipSet::words).unwrap_or_default()
    }

    /// Number of sections, those of subagents included.
    pub fn len(&self) -> usize {
        self.plan.chunks.len()
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.plan.chunks.is_empty()
    }

    /// The section on the page itself in which a call is shown, or the call whose subagent made it.
    pub fn section_of_call(&self, call: usize) -> Option<usize> {
        let (section, _) = self.places.get(call).copied().flatten()?;
        self.root_of(section)
    }

    /// The section in which a turn begins, by its place in `Transcript::turns`.
    pub fn section_of_turn(&self, turn: usize) -> Option<usize> {
        self.turns.get(turn).copied().flatten()
    }

    /// The page, without the frame that all pages have.
    pub fn page(&self, book: &dyn Book, at: &SessionPageRequest<'_>) -> Markup {
        page::transcript(self, book, at)
    }

    /// Another view of the session under the same title.
    pub fn tab(&self, book: &dyn Book, at: &SessionPageRequest<'_>, tab: Tab, content: &Markup) -> Markup {
        page::tab(self, book, at, tab, content)
    }

    /// The rows of a section.
    pub fn section(&self, book: &dyn Book, section: usize, at: &SessionPageRequest<'_>) -> Markup {
        // Rows that failed for good are drawn open, so the digest is needed before the rows, unless it would take too long.
        if book.transcript().calls.len() <= MANY && !at.live {
            self.told(book);
        }
        if section >= self.len() {
            return html! {};
        }
        // The script compares this print with the prints of later updates.
        let print = self.print(book.transcript(), section);
        html! { (PreEscaped(format!("<!--{print}-->"))) (rows::SectionRenderer { window: self, book, at }.section(section)) }
    }

    /// Body of a call, fetched when its row is opened; without limits if `whole`.
    pub fn body(&self, book: &dyn Book, call: usize, whole: bool, at: &SessionPageRequest<'_>) -> Markup {
        rows::SectionRenderer { window: self, book, at }.body(call, whole)
    }

    /// All of a message, by its section and its row.
    pub fn text(&self, book: &dyn Book, section: usize, row: usize, at: &SessionPageRequest<'_>) -> Markup {
        rows::SectionRenderer { window: self, book, at }.text(section, row)
    }

    /// A part of the outline.
    pub fn outline(&self, book: &dyn Book, group: usize, at: &SessionPageRequest<'_>) -> Markup {
        page::turns_of(self, book.transcript(), group, at)
    }

    /// Verdict and digest of the session. They are computed once, which takes a while for long sessions.
    pub fn digest(&self, book: &dyn Book, at: &SessionPageRequest<'_>) -> Markup {
        let told = self.told(book);
        let address = |call| Some(self.address(self.anchor(call)?));
        html! {
            (verdict::strip(&told.verdict, &address, Some(at.base), at.clock()))
            @if !told.prompts.is_empty() { dl.prompts { @for row in &told.prompts {
                div { dt { (row.label) } @for fact in &row.facts { dd title=(crate::line::neutral(&fact.text())) { (crate::line::neutral(&fact.text())) } } }
            } } }
            details.summary {
                summary { "Summary" span.di { (told.rows.iter().map(|row| row.label).collect::<Vec<_>>().join(" · ")) } }
                (page::facts(book.transcript(), at))
                (block(&told.rows, &address, Some(at.base)))
            }
        }
    }

    fn told(&self, book: &dyn Book) -> &SessionDigest {
        self.told.get_or_init(|| {
            let digest = tooltrail_model::digest::of(book, &Selection::default());
            let calls = &book.transcript().calls;
            let failed = digest.failures.iter().map(|open| open.cited.index);
            // A call in a script is only seen where the script is open too.
            let script = |index: usize| {
                let id = calls.get(index).filter(|call| call.row.is_inner())?.row.parent_call?;
                calls.iter().position(|call| call.row.call == id)
            };
            let open = failed.flat_map(|index| [Some(index), script(index)]).flatten().collect();
            let verdict = VerdictStrip::of(&SessionVerdict::of(&digest));
            // The state already stands beside the title.
            let rows = crate::digest::rows_by_path(&digest, book.transcript()).into_iter().filter(|row| row.label != "State");
            let (prompts, rows) = rows.partition(|row| row.label.to_lowercase().ends_with("prompt"));
            SessionDigest { verdict, prompts, rows, open }
        })
    }

    /// Whether a call is open from the start: the digest is known, and says that the call failed and did not succeed later.
    fn opens(&self, call: usize) -> bool {
        self.told.get().is_some_and(|told| told.open.contains(&call))
    }

    /// Anchor of a call, if it is on the page.
    fn anchor(&self, call: usize) -> Option<&str> {
        self.plan.anchors.get(call).filter(|_| self.plan.placed.get(call) == Some(&true)).map(String::as_str)
    }

    /// Address of an anchor on this page. `at` makes the server send the right section, the fragment makes the browser
    /// scroll.
    fn address(&self, anchor: &str) -> String {
        let anchor = name::encoded(anchor);
        format!("?at={anchor}#{anchor}")
    }

    /// The address of a call's own page.
    fn page_of(&self, call: &CallEntry<'_>, index: usize, at: &SessionPageRequest<'_>) -> String {
        format!("{}/c/{}", at.root, name::encoded(&name::name(call, self.shared.contains(&index))))
    }

    /// The section on the page itself that a section stands in.
    fn root_of(&self, section: usize) -> Option<usize> {
        self.way_to(section)?.first().map(|step| step.rows)
    }
}

/// The chips that a row itself answers to.
fn own(transcript: &Transcript<'_>, chunk: &Chunk, row: &PlanRow) -> ChipSet {
    let thread = chunk.thread.and_then(|thread| transcript.threads.get(thread));
    let entry = if let PlanRow::Entry { entry, .. } = row { thread.and_then(|thread| thread.entries.get(*entry)) } else { None };
    let what = entry.map_or(EntryKind::Call(0), |entry| entry.what);
    let call = row.call().and_then(|call| transcript.calls.get(call)).map(|call| (call.row.status, call.row.kind));
    // A subagent's prompt is not typed by a person, and not drawn like one.
    if what == EntryKind::Prompt && chunk.thread != Some(0) {
        return ChipSet::default();
    }
    let set = ChipSet::of(what, call);
    if row.call().and_then(|call| transcript.calls.get(call)).is_some_and(|call| is_important(&call.row)) {
        set.with_important()
    } else {
        set
    }
}

/// Whether a call is one that a reader in a hurry wants to see: a problem, a change, a check, a question, a subagent.
fn is_important(row: &CallRow<'_>) -> bool {
    let kind = matches!(row.kind, Kind::Edit | Kind::Write | Kind::Question | Kind::Plan | Kind::Subagent);
    kind || is_problem(row.status) || row.status == Status::Running || is_check(row)
}

/// Calls whose id another call has too.
fn shared(calls: &[CallEntry<'_>]) -> HashSet<usize> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut shared = HashSet::new();
    for (index, call) in calls.iter().enumerate() {
        // Both are marked when the second is met; the first could not know.
        if let Some(other) = first.insert(call.row.call, index) {
            shared.extend([other, index]);
        }
    }
    shared
}
