//! A session as a page on a server: the exported page, windowed. Rows come in sections when somebody comes near, bodies when a row is
//! opened, so what is sent hardly grows with the session.
//!
//! A [`Window`] is what a page needs to know of a session, settled once and owned, so that it can be kept beside an open book. `page`
//! draws what stands around the rows, `live` tells a page that is open what has changed, `rows` the rows of a section and what is in them, `chips` knows what can be shown alone, `way` where
//! things are. All of it can be read without a script: what is not here is a link.

mod chips;
mod live;
mod order;
mod page;
mod rows;
mod way;

pub use live::{Known, Live};
pub use order::Placed;
pub use page::Tab;
pub use way::{Found, Step};

use super::about::Clock;
use super::digest::block;
use super::name;
use super::plan::{Chunk, Plan, Row};
use crate::digest::Row as Fact;
use chips::{Counts, Set};
use jiff::tz::TimeZone;
use maud::{Markup, PreEscaped, html};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use tooltrail_model::Time;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::transcript::{CallEntry, Transcript, What};

pub(super) use chips::style as chip_style;

/// A session with more calls than this is shown before it is known what it amounts to: finding that out opens them all.
const MANY: usize = 3_000;
/// Browsers do not scroll through more pixels than some 17 millions.
const HIGHEST: u64 = 15_000_000;

/// What a session's page needs to know.
pub struct Window {
    plan: Plan,
    /// The section and the row of each call.
    places: Vec<Option<(usize, usize)>>,
    /// The section in which each turn begins.
    turns: Vec<Option<usize>>,
    /// What each section has for chips: how many rows stay when one is chosen, those that hold such rows included.
    counts: Vec<Counts>,
    /// How many rows of the session each chip stands for.
    total: Counts,
    /// What became of the calls that each call's subagents made.
    inside: Vec<Set>,
    /// What the rows of each turn answer to.
    has: Vec<Set>,
    /// Calls whose id another call has too.
    shared: HashSet<usize>,
    /// What it amounts to, once somebody asked.
    told: OnceLock<Told>,
}

/// What a session amounts to.
struct Told {
    rows: Vec<Fact>,
    /// Calls that failed and did not succeed later.
    open: HashSet<usize>,
}

/// Where and how a page is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct At<'a> {
    /// What all addresses begin with: nothing, or a directory such as `/demo`.
    pub root: &'a str,
    /// The address of the session's page, spelled as addresses are.
    pub base: &'a str,
    /// The version of the session; it goes into addresses of what does not change within one.
    pub version: u64,
    /// The section that comes with the page.
    pub section: usize,
    /// What is shown alone: words of chips, with commas between them.
    pub show: &'a str,
    /// What is looked for.
    pub find: &'a str,
    /// Whether what the session amounts to has to come with the page.
    pub digest: bool,
    /// Whether the page follows its session: then what it amounts to is not found out for every version.
    pub live: bool,
    /// The moment of asking.
    pub now: Option<Time>,
    /// The clock of whoever reads; without it times are those of UTC.
    pub zone: Option<&'a TimeZone>,
    /// The command by which the session is resumed.
    pub resume: Option<&'a str>,
    /// The address of the session that began before it, and of the one after it.
    pub neighbours: [Option<&'a str>; 2],
    /// The address of its calls as a table.
    pub calls: Option<&'a str>,
    /// The address of the sessions of its project.
    pub project: Option<&'a str>,
}

impl At<'_> {
    /// What an address keeps of what is shown: chips, and what is looked for.
    fn kept(&self) -> String {
        let pairs = [("show", self.show), ("find", self.find)].into_iter().filter(|(_, value)| !value.is_empty());
        pairs.map(|(name, value)| format!("&{name}={}", name::encoded(value))).collect()
    }

    fn clock(&self) -> Clock<'_> {
        Clock(self.zone)
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
        let plan = Plan::new(transcript, &Selection::default());
        let calls = transcript.calls.len();
        let mut window = Window {
            places: vec![None; calls],
            turns: vec![None; transcript.turns.len()],
            counts: vec![Counts::default(); plan.chunks.len()],
            total: Counts::default(),
            inside: vec![Set::default(); calls],
            has: vec![Set::default(); transcript.turns.len()],
            shared: shared(&transcript.calls),
            told: OnceLock::new(),
            plan,
        };
        // Sections of a nested conversation come after the one of its call, so backwards they are known when that is reached.
        for index in (0..window.plan.chunks.len()).rev() {
            window.count(transcript, index);
        }
        window
    }

    /// Looks where the rows of a section lead, and what they answer to.
    fn count(&mut self, transcript: &Transcript<'_>, index: usize) {
        let Some(chunk) = self.plan.chunks.get(index) else { return };
        let entries = chunk.thread.and_then(|thread| transcript.threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
        let (mut counts, mut all) = (Counts::default(), Set::default());
        for (place, row) in chunk.rows.iter().enumerate() {
            let entry = if let Row::Entry { entry, .. } = row { entries.get(*entry) } else { None };
            let call = row.call();
            let mut set = own(transcript, chunk, row);
            // A row that holds a problem stays with it, and is none itself.
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
                entry.and_then(|entry| entry.turn).filter(|_| chunk.thread == Some(0)).and_then(|turn| self.has.get_mut(turn))
            {
                *turn = turn.and(set);
            }
            if let Row::Entry { begins: Some(turn), .. } = row
                && let Some(begins) = self.turns.get_mut(*turn)
            {
                *begins = Some(index);
            }
        }
        if let Some(inside) = chunk.inside.and_then(|call| self.inside.get_mut(call)) {
            *inside = inside.and(all.statuses());
        }
        if let Some(own) = self.counts.get_mut(index) {
            *own = counts;
        }
    }

    /// The words of the chips that leave a row to be seen, with spaces between them: it answers to them, and so does what it stands in.
    pub fn answers(&self, transcript: &Transcript<'_>, section: usize, row: usize) -> String {
        let (mut left, mut place) = (None, Some((section, row)));
        while let Some((section, row)) = place {
            let Some(chunk) = self.plan.chunks.get(section) else { break };
            let Some(row) = chunk.rows.get(row) else { break };
            let inside = row.call().and_then(|call| self.inside.get(call)).copied().unwrap_or_default();
            let set = own(transcript, chunk, row).and(inside);
            left = Some(left.map_or(set, |left: Set| left.within(set)));
            place = chunk.inside.and_then(|call| self.places.get(call).copied().flatten());
        }
        left.and_then(Set::words).unwrap_or_default()
    }

    /// How many sections there are, those of subagents included.
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
    pub fn page(&self, book: &dyn Book, at: &At<'_>) -> Markup {
        page::transcript(self, book, at)
    }

    /// Another view of the session under the same title.
    pub fn tab(&self, book: &dyn Book, at: &At<'_>, tab: Tab, content: &Markup) -> Markup {
        page::tab(self, book, at, tab, content)
    }

    /// The rows of a section.
    pub fn section(&self, book: &dyn Book, section: usize, at: &At<'_>) -> Markup {
        if book.transcript().calls.len() <= MANY && !at.live {
            self.told(book);
        }
        if section >= self.len() {
            return html! {};
        }
        // The script compares it with what comes later.
        let print = self.print(book.transcript(), section);
        html! { (PreEscaped(format!("<!--{print}-->"))) (rows::Rows { window: self, book, at }.section(section)) }
    }

    /// What a call shows when it is opened; all of it, if wanted.
    pub fn body(&self, book: &dyn Book, call: usize, whole: bool, at: &At<'_>) -> Markup {
        rows::Rows { window: self, book, at }.body(call, whole)
    }

    /// All of a message, by its section and its row.
    pub fn text(&self, book: &dyn Book, section: usize, row: usize, at: &At<'_>) -> Markup {
        rows::Rows { window: self, book, at }.text(section, row)
    }

    /// A part of the outline.
    pub fn outline(&self, book: &dyn Book, group: usize, at: &At<'_>) -> Markup {
        page::turns_of(self, book.transcript(), group, at)
    }

    /// What the session amounts to. It is found out once, which takes a while where it is long.
    pub fn digest(&self, book: &dyn Book, at: &At<'_>) -> Markup {
        let told = self.told(book);
        block(&told.rows, &|call| Some(self.address(self.anchor(call)?)), Some(at.base))
    }

    fn told(&self, book: &dyn Book) -> &Told {
        self.told.get_or_init(|| {
            let digest = tooltrail_model::digest::of(book, &Selection::default());
            let open = digest.failures.iter().map(|open| open.cited.index).collect();
            // The state stands beside the title.
            let rows = crate::digest::rows(&digest, book.transcript()).into_iter().filter(|row| row.label != "State").collect();
            Told { rows, open }
        })
    }

    /// Whether a call is open from the start: it failed, did not succeed later, and that is known.
    fn opens(&self, call: usize) -> bool {
        self.told.get().is_some_and(|told| told.open.contains(&call))
    }

    /// What links to a call lead to, if it is on the page.
    fn anchor(&self, call: usize) -> Option<&str> {
        self.plan.anchors.get(call).filter(|_| self.plan.placed.get(call) == Some(&true)).map(String::as_str)
    }

    /// The address of something on the page, seen from there.
    fn address(&self, anchor: &str) -> String {
        let anchor = name::encoded(anchor);
        format!("?at={anchor}#{anchor}")
    }

    /// The address of a call's own page.
    fn page_of(&self, call: &CallEntry<'_>, index: usize, at: &At<'_>) -> String {
        format!("{}/c/{}", at.root, name::encoded(&name::name(call, self.shared.contains(&index))))
    }

    /// The section on the page itself that a section stands in.
    fn root_of(&self, section: usize) -> Option<usize> {
        self.way_to(section)?.first().map(|step| step.rows)
    }
}

/// The chips that a row itself answers to.
fn own(transcript: &Transcript<'_>, chunk: &Chunk, row: &Row) -> Set {
    let thread = chunk.thread.and_then(|thread| transcript.threads.get(thread));
    let entry = if let Row::Entry { entry, .. } = row { thread.and_then(|thread| thread.entries.get(*entry)) } else { None };
    let what = entry.map_or(What::Call(0), |entry| entry.what);
    let call = row.call().and_then(|call| transcript.calls.get(call)).map(|call| (call.row.status, call.row.kind));
    // What a subagent is asked is no prompt of a person, and not drawn as one.
    if what == What::Prompt && chunk.thread != Some(0) { Set::default() } else { Set::of(what, call) }
}

/// Calls whose id another call has too.
fn shared(calls: &[CallEntry<'_>]) -> HashSet<usize> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut shared = HashSet::new();
    for (index, call) in calls.iter().enumerate() {
        if let Some(other) = first.insert(call.row.call, index) {
            shared.extend([other, index]);
        }
    }
    shared
}
