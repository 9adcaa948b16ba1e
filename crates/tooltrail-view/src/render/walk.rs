//! Shared by all outputs that walk through a session: which conversations were shown, the current depth, which calls are
//! opened.

use tooltrail_model::book::Selection;
use tooltrail_model::event::HookOutcome;
use tooltrail_model::transcript::{Entry, EntryKind, Story, Thread, Transcript};
use tooltrail_model::{Kind, Status};

/// Subagents of subagents deeper than this are not shown below their call any more, but at the end.
const DEEPEST: usize = 8;

/// A walk through a session. Each conversation is shown once, even where the log claims that subagents started each other.
pub(super) struct Walk<'b> {
    transcript: &'b Transcript<'b>,
    seen: Vec<bool>,
    depth: usize,
}

impl<'b> Walk<'b> {
    /// A walk at its beginning.
    pub(super) fn new(transcript: &'b Transcript<'b>) -> Self {
        Walk { transcript, seen: vec![false; transcript.threads.len()], depth: 0 }
    }

    /// Whether a conversation can be shown here.
    pub(super) fn can_enter(&self, thread: usize) -> bool {
        self.depth < DEEPEST && self.seen.get(thread) == Some(&false)
    }

    /// Begins a conversation, if it can be shown here.
    pub(super) fn enter(&mut self, thread: usize) -> Option<&'b Thread> {
        if !self.can_enter(thread) {
            return None;
        }
        *self.seen.get_mut(thread)? = true;
        self.depth += 1;
        self.transcript.threads.get(thread)
    }

    /// The end of a conversation.
    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Selected conversations that no shown call started.
    pub(super) fn left(&self, selection: &Selection) -> Vec<usize> {
        let threads = self.transcript.threads.iter().enumerate();
        let unseen = |index: usize, thread: &Thread| self.seen.get(index) == Some(&false) && asked(self.transcript, thread, selection);
        threads.filter(|(index, thread)| unseen(*index, thread)).map(|(index, _)| index).collect()
    }
}

/// Whether any entry of a conversation is selected. A subagent's entries go with the call that started it.
fn asked(transcript: &Transcript<'_>, thread: &Thread, selection: &Selection) -> bool {
    thread.entries.iter().any(|entry| takes(transcript, thread, entry, selection))
}

/// Whether an entry of a conversation is selected.
pub(super) fn takes(transcript: &Transcript<'_>, thread: &Thread, entry: &Entry, selection: &Selection) -> bool {
    // A subagent may run on while later turns begin, so its own entries' turns do not decide.
    match thread.started_by.and_then(|call| transcript.calls.get(call)) {
        Some(call) => selection.takes_turn(call.turn),
        None => selection.takes(entry),
    }
}

/// Whether something went wrong with a call.
pub(super) fn is_bad(status: Status) -> bool {
    matches!(status, Status::Failed | Status::TimedOut | Status::Rejected | Status::Blocked | Status::Interrupted)
}

/// Whether a call is opened in an overview: something went wrong with it, a hook objected to it, or it has only a part of its output; and
/// its body shows that.
pub(super) fn opens(story: &Story<'_>) -> bool {
    // The calls below a script say what went wrong.
    if story.row.kind == Kind::Script && !story.nested.threads.is_empty() {
        return false;
    }
    let objected = story.row.hooks.iter().any(|hook| hook.outcome == HookOutcome::Blocked);
    is_bad(story.row.status) || objected || story.progress.is_some()
}

/// Position of a call among the calls of one message, which ran in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// The only one.
    Alone,
    /// The first.
    First,
    /// One of the others.
    Middle,
    /// The last.
    Last,
}

impl Bracket {
    /// The signs beside its line, and beside what stands below that.
    pub(super) fn signs(self) -> (&'static str, &'static str) {
        match self {
            Bracket::Alone => ("  ", "  "),
            Bracket::First => ("┌ ", "│ "),
            Bracket::Middle => ("│ ", "│ "),
            Bracket::Last => ("└ ", "  "),
        }
    }
}

/// Position of an entry among the calls of its message; only direct neighbours count.
pub(super) fn bracket(transcript: &Transcript<'_>, entries: &[&Entry], place: usize) -> Bracket {
    let row = |place: Option<usize>| match entries.get(place?)?.what {
        EntryKind::Call(call) => transcript.calls.get(call).map(|call| &call.row),
        _ => None,
    };
    let own = row(Some(place));
    let same = |other: Option<usize>| own.zip(row(other)).is_some_and(|(own, other)| own.is_together_with(other));
    match (same(place.checked_sub(1)), same(place.checked_add(1))) {
        (false, false) => Bracket::Alone,
        (false, true) => Bracket::First,
        (true, true) => Bracket::Middle,
        (true, false) => Bracket::Last,
    }
}
