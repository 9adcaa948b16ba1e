//! Layout of a page, settled before anything is loaded: which conversation is shown in which call, which rows make a
//! chunk, and which anchors links use.
//!
//! Every thread has exactly one place, so nothing is shown twice and subagents that start each other cannot loop for ever.
//! The place is the call that started it, or, where that is too deep or missing, the end of the page under its own heading.
//! Every call has one place too, even a call that no thread names.

use super::call::bad;
use super::name::encoded;
use std::collections::{HashMap, HashSet, VecDeque};
use tooltrail_model::Status;
use tooltrail_model::book::Selection;
use tooltrail_model::transcript::{CallEntry, Entry, EntryKind, Transcript};

/// Rows in a chunk: the unit that is packed, and that a browser lays out at a time.
const ROWS: usize = 100;
/// The most levels of conversations inside conversations.
const DEEPEST: usize = 4;

/// Layout of a page.
pub(super) struct PagePlan {
    /// The chunks, in the order they are written; those of a nested conversation come after the one that holds its call.
    pub(super) chunks: Vec<Chunk>,
    /// Place of each thread.
    pub(super) homes: Vec<ThreadHome>,
    /// The chunks of each thread.
    pub(super) of_thread: Vec<Vec<usize>>,
    /// Anchor of each call: its id, unless another call has that already.
    pub(super) anchors: Vec<String>,
    /// Whether a subagent of each call had problems.
    pub(super) bad_inside: Vec<bool>,
    /// Whether each call is on the page.
    pub(super) placed: Vec<bool>,
}

/// Place of a thread on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadHome {
    /// Nowhere: it is not part of what is written.
    Nowhere,
    /// On the page itself: the main conversation.
    Main,
    /// In a call.
    Call(usize),
    /// At the end.
    Tail,
}

/// Rows that are written together.
#[derive(Debug)]
pub(super) struct Chunk {
    /// The thread; `None` for calls that stand in none.
    pub(super) thread: Option<usize>,
    /// The call that shows it, for a nested one.
    pub(super) inside: Option<usize>,
    /// Whether it begins a part at the end of the page.
    pub(super) heads: bool,
    /// Rows of the chunk.
    pub(super) rows: Vec<PlanRow>,
    /// Number of its rows that are problems, or contain some.
    pub(super) bad: usize,
    /// About how high it is, in pixels.
    pub(super) height: u32,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlanRow {
    /// An entry, and the turn that it begins.
    Entry {
        /// Its place in the thread.
        entry: usize,
        /// The turn that it begins.
        begins: Option<usize>,
        /// The call that it is.
        call: Option<usize>,
    },
    /// A call that no thread names.
    Call(usize),
}

impl PlanRow {
    /// The call that it is.
    pub(super) fn call(&self) -> Option<usize> {
        match self {
            PlanRow::Call(call) => Some(*call),
            PlanRow::Entry { call, .. } => *call,
        }
    }
}

impl PagePlan {
    /// The plan for a part of a session.
    pub(super) fn new(transcript: &Transcript<'_>, selection: &Selection) -> Self {
        let mut planner = Planner::new(transcript, selection);
        // The main conversation first, so that it claims the calls that a subagent's log repeats.
        planner.thread(0, ThreadHome::Main, 0);
        loop {
            // Threads put off because of their depth come before unclaimed ones: placing them may claim more.
            if let Some(deep) = planner.later.pop_front() {
                planner.thread(deep, ThreadHome::Tail, 0);
            } else if let Some(alone) = planner.seen.iter().position(|seen| !seen) {
                planner.thread(alone, ThreadHome::Tail, 0);
            } else {
                break;
            }
        }
        planner.loose();
        planner.finish()
    }

    /// A link to a call, if it is on the page.
    pub(super) fn link(&self, call: usize) -> Option<String> {
        let anchor = self.anchors.get(call).filter(|_| self.placed.get(call) == Some(&true))?;
        Some(format!("#{}", encoded(anchor)))
    }

    /// Chunks that stand on the page itself.
    pub(super) fn roots(&self) -> Vec<usize> {
        (0..self.chunks.len()).filter(|&chunk| self.chunks.get(chunk).is_some_and(|chunk| chunk.inside.is_none())).collect()
    }
}

struct Planner<'a> {
    transcript: &'a Transcript<'a>,
    selection: &'a Selection,
    chunks: Vec<Chunk>,
    homes: Vec<ThreadHome>,
    of_thread: Vec<Vec<usize>>,
    seen: Vec<bool>,
    placed: Vec<bool>,
    begun: HashSet<usize>,
    later: VecDeque<usize>,
}

impl<'a> Planner<'a> {
    fn new(transcript: &'a Transcript<'a>, selection: &'a Selection) -> Self {
        let threads = transcript.threads.len();
        Planner {
            transcript,
            selection,
            chunks: Vec::new(),
            homes: vec![ThreadHome::Nowhere; threads],
            of_thread: vec![Vec::new(); threads],
            seen: vec![false; threads],
            placed: vec![false; transcript.calls.len()],
            begun: HashSet::new(),
            later: VecDeque::new(),
        }
    }

    /// Places a thread and what its calls started.
    fn thread(&mut self, index: usize, home: ThreadHome, depth: usize) {
        let Some(thread) = self.transcript.threads.get(index) else { return };
        // Marked before its rows are placed, so that a subagent that starts its own thread cannot recurse.
        mark(&mut self.seen, index);
        // What a selected call started is selected with it.
        let whole = matches!(home, ThreadHome::Call(_));
        let mut rows = Vec::new();
        for (place, entry) in thread.entries.iter().enumerate() {
            if (whole || self.selection.takes(entry)) && self.place(entry) {
                // Only the main conversation has headings of turns; `begun` keeps one heading per turn where records
                // repeat.
                let begins = entry.turn.filter(|turn| index == 0 && self.begun.insert(*turn));
                rows.push(PlanRow::Entry { entry: place, begins, call: call_of(entry) });
            }
        }
        // A thread without rows gets no place: a link to it would lead nowhere.
        if rows.is_empty() {
            return;
        }
        if let Some(place) = self.homes.get_mut(index) {
            *place = home;
        }
        for (number, rows) in rows.chunks(ROWS).enumerate() {
            let inside = if let ThreadHome::Call(call) = home { Some(call) } else { None };
            self.push(Chunk {
                thread: Some(index),
                inside,
                heads: number == 0 && home == ThreadHome::Tail,
                rows: rows.to_vec(),
                bad: 0,
                height: 0,
            });
            // Right after the chunk, so that a nested chunk always has a higher number than the chunk of its call.
            self.nested(rows, depth + 1);
        }
    }

    /// Whether an entry has a row of its own: a call has one only.
    fn place(&mut self, entry: &Entry) -> bool {
        call_of(entry).is_none_or(|call| mark(&mut self.placed, call))
    }

    /// Places the threads that the calls of these rows started.
    fn nested(&mut self, rows: &[PlanRow], depth: usize) {
        for call in rows.iter().filter_map(PlanRow::call) {
            for &started in self.transcript.calls.get(call).map_or(&[][..], |call| &call.threads) {
                // Thread 0 is the main conversation, which no call may hold.
                if started == 0 || !mark(&mut self.seen, started) {
                    continue;
                }
                // Queued instead of placed here, which bounds both the recursion and the indentation.
                if depth > DEEPEST {
                    self.later.push_back(started);
                } else {
                    self.thread(started, ThreadHome::Call(call), depth);
                }
            }
        }
    }

    /// Places the calls that no thread names.
    fn loose(&mut self) {
        // A call outside of all turns counts as part of the first.
        let within =
            |call: &CallEntry<'_>| self.selection.turns.is_none_or(|(first, last)| (first..=last).contains(&(call.turn.unwrap_or(0) + 1)));
        let calls = self.transcript.calls.iter().enumerate();
        let loose = calls.filter(|(index, call)| self.placed.get(*index) == Some(&false) && within(call));
        let rows: Vec<PlanRow> = loose.map(|(index, _)| PlanRow::Call(index)).collect();
        for (number, rows) in rows.chunks(ROWS).enumerate() {
            self.push(Chunk { thread: None, inside: None, heads: number == 0, rows: rows.to_vec(), bad: 0, height: 0 });
        }
    }

    fn push(&mut self, chunk: Chunk) {
        if let Some(chunks) = chunk.thread.and_then(|thread| self.of_thread.get_mut(thread)) {
            chunks.push(self.chunks.len());
        }
        self.chunks.push(chunk);
    }

    /// Counts problems from the inside out, and estimates heights.
    fn finish(self) -> PagePlan {
        let calls = &self.transcript.calls;
        let mut plan = PagePlan {
            chunks: self.chunks,
            homes: self.homes,
            of_thread: self.of_thread,
            anchors: anchors(calls),
            bad_inside: vec![false; calls.len()],
            placed: vec![false; calls.len()],
        };
        for chunk in plan.chunks.iter_mut().rev() {
            let entries = chunk.thread.and_then(|thread| self.transcript.threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
            for row in &chunk.rows {
                let call = row.call();
                // Filled again from the chunks, because the planner's marks lack the calls that no thread names.
                _ = call.is_some_and(|call| mark(&mut plan.placed, call));
                let status = call.and_then(|call| calls.get(call)).map(|call| call.row.status);
                let inside = call.and_then(|call| plan.bad_inside.get(call)).is_some_and(|inside| *inside);
                chunk.bad += usize::from(inside || status.is_some_and(bad));
                chunk.height = chunk.height.saturating_add(height(entries, row, status));
            }
            // Chunks of a nested thread come after the chunk of its call, so this is known when that is reached.
            if let Some(inside) = chunk.inside.filter(|_| chunk.bad > 0).and_then(|call| plan.bad_inside.get_mut(call)) {
                *inside = true;
            }
        }
        plan
    }
}

/// The call that an entry is.
fn call_of(entry: &Entry) -> Option<usize> {
    if let EntryKind::Call(call) = entry.what { Some(call) } else { None }
}

/// Marks something; false where it was marked already, or does not exist.
fn mark(marks: &mut [bool], index: usize) -> bool {
    marks.get_mut(index).is_some_and(|mark| !std::mem::replace(mark, true))
}

/// Estimated height of a row in pixels, on a screen of usual width.
fn height(entries: &[Entry], row: &PlanRow, status: Option<Status>) -> u32 {
    let PlanRow::Entry { entry, begins, .. } = row else { return 30 };
    let Some(entry) = entries.get(*entry) else { return 30 };
    // A cap, so that one huge message cannot stretch the scroll bar out of proportion.
    let lines = entry.lines.clamp(1, 2_000);
    // An estimate is enough: it only keeps the scroll bar from jumping until the rows are drawn.
    let own = match entry.what {
        EntryKind::Call(_) if status == Some(Status::Failed) => 70 + lines.min(24) * 18,
        EntryKind::Prompt | EntryKind::Text | EntryKind::Media => 18 + lines * 21,
        _ => 30,
    };
    own + if begins.is_some() { 56 } else { 0 }
}

/// Anchor of each call.
fn anchors(calls: &[CallEntry<'_>]) -> Vec<String> {
    // All ids first, so that a name made here cannot take that of a later call.
    let ids: HashSet<&str> = calls.iter().map(|call| call.row.call).collect();
    let mut used: HashMap<&str, u32> = HashMap::new();
    let mut made: HashSet<String> = HashSet::new();
    let mut free = |id| {
        let number = used.entry(id).or_default();
        loop {
            // Counts on until a name is free: ids come from a log and may themselves end in `~2`.
            *number += 1;
            let own = *number == 1 && !taken(id);
            let name = if own { id.to_owned() } else { format!("{id}~{number}") };
            if own || (!ids.contains(name.as_str()) && made.insert(name.clone())) {
                return name;
            }
        }
    };
    calls.iter().map(|call| free(call.row.call)).collect()
}

/// Whether the page itself may have something of this name: its controls, a turn, a conversation, a message.
fn taken(id: &str) -> bool {
    let message = id.strip_prefix('m').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    id.is_empty() || id == "main" || message || ["tt-", "turn-", "thread-", "file-"].iter().any(|own| id.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::super::sheet::{call, entry, session};
    use super::*;
    use std::collections::BTreeMap;
    use tooltrail_model::Kind;
    use tooltrail_model::transcript::{Spot, Thread};

    /// A session in which each thread holds one call, and the call of thread `n` starts `starts[n]`.
    fn plan(ids: &[String], starts: &[&[usize]]) -> PagePlan {
        // Failed calls, so that the test can see problems counted through nested threads.
        let calls = ids.iter().zip(starts).zip(1..).map(|((id, starts), number)| {
            let call = entry(call(id, "Task", Kind::Subagent, Status::Failed, None), number);
            CallEntry { threads: starts.to_vec(), ..call }
        });
        let what = |index| Entry {
            spot: Spot::default(),
            part: 0,
            time: None,
            what: EntryKind::Call(index),
            turn: Some(0),
            abandoned: false,
            lines: 1,
        };
        let threads = (0..starts.len()).map(|index| Thread { entries: vec![what(index)], ..Thread::default() }).collect();
        let transcript = Transcript {
            session: session("t", BTreeMap::new()),
            calls: calls.collect(),
            turns: Vec::new(),
            threads,
            hooks: Vec::new(),
            copied_from: None,
            settings: Default::default(),
            objections: Vec::new(),
        };
        PagePlan::new(&transcript, &Selection::default())
    }

    fn ids(number: usize) -> Vec<String> {
        (0..number).map(|number| format!("c{number}")).collect()
    }

    #[test]
    fn every_thread_has_one_place_however_they_start_each_other() {
        // 1 and 2 start each other, 3 starts itself, 4 is started twice, the main one is started by a subagent.
        let plan = plan(&ids(6), &[&[4], &[2], &[1], &[3], &[0, 4, 5], &[]]);
        assert_eq!(
            plan.homes,
            [ThreadHome::Main, ThreadHome::Tail, ThreadHome::Call(1), ThreadHome::Tail, ThreadHome::Call(0), ThreadHome::Call(4)]
        );
        assert_eq!(plan.chunks.len(), 6);
        assert!(plan.chunks.iter().all(|chunk| chunk.rows.len() == 1));
    }

    #[test]
    fn what_is_too_deep_stands_at_the_end() {
        let plan = plan(&ids(8), &[&[1], &[2], &[3], &[4], &[5], &[6], &[7], &[]]);
        assert_eq!(plan.homes.get(4), Some(&ThreadHome::Call(3)));
        assert_eq!(plan.homes.get(5), Some(&ThreadHome::Tail));
        assert_eq!(plan.homes.get(6), Some(&ThreadHome::Call(5)));
        assert_eq!(plan.roots().len(), 2);
        assert_eq!(plan.bad_inside.first(), Some(&true));
    }

    #[test]
    fn anchors_are_ids_where_they_can_be() {
        let same = ["a", "a", "a~2", "a"].map(str::to_owned);
        assert_eq!(plan(&same, &[&[], &[], &[], &[]]).anchors, ["a", "a~3", "a~2", "a~4"]);
        // What the page itself has names for keeps them.
        let own = ["tt-menu", "turn-1", "m0-1-0", "main", "mcp"].map(str::to_owned);
        assert_eq!(plan(&own, &[&[], &[], &[], &[], &[]]).anchors, ["tt-menu~1", "turn-1~1", "m0-1-0~1", "main~1", "mcp"]);
    }
}
