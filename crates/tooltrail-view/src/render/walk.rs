//! What all outputs share when they walk through a session: which conversations were shown, how deep one is, what is opened.

use tooltrail_model::Status;
use tooltrail_model::book::Selection;
use tooltrail_model::transcript::{Entry, Thread, Transcript, What};

/// Subagents of subagents deeper than this are not shown below their call any more, but at the end.
const DEEPEST: usize = 8;

/// The way through a session. Each conversation is shown once, whatever the log says about who started whom.
pub(super) struct Walk<'b> {
    transcript: &'b Transcript<'b>,
    seen: Vec<bool>,
    depth: usize,
}

impl<'b> Walk<'b> {
    /// At the beginning.
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

    /// Conversations that hang on no call that was shown, as far as they are asked for.
    pub(super) fn left(&self, selection: &Selection) -> Vec<usize> {
        let threads = self.transcript.threads.iter().enumerate();
        let unseen = |index: usize, thread: &Thread| self.seen.get(index) == Some(&false) && asked(self.transcript, thread, selection);
        threads.filter(|(index, thread)| unseen(*index, thread)).map(|(index, _)| index).collect()
    }
}

/// Whether any of a conversation is asked for. What a subagent did goes with the call that started it.
fn asked(transcript: &Transcript<'_>, thread: &Thread, selection: &Selection) -> bool {
    thread.entries.iter().any(|entry| takes(transcript, thread, entry, selection))
}

/// Whether an entry of a conversation is asked for.
pub(super) fn takes(transcript: &Transcript<'_>, thread: &Thread, entry: &Entry, selection: &Selection) -> bool {
    match thread.started_by.and_then(|call| transcript.calls.get(call)) {
        Some(call) => selection.takes_turn(call.turn),
        None => selection.takes(entry),
    }
}

/// Whether a call is opened where not all are: something went wrong with it, and its body says what.
pub(super) fn opens(status: Status) -> bool {
    matches!(status, Status::Failed | Status::TimedOut | Status::Rejected | Status::Blocked | Status::Interrupted)
}

/// Where a call stands among those that its message made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// It is the only one.
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

/// Where an entry stands among those that its message made; only what follows directly counts.
pub(super) fn bracket(transcript: &Transcript<'_>, entries: &[&Entry], place: usize) -> Bracket {
    let message = |place: Option<usize>| match entries.get(place?)?.what {
        What::Call(call) => transcript.calls.get(call)?.row.message,
        _ => None,
    };
    let own = message(Some(place));
    let same = |other: Option<usize>| own.is_some() && message(other) == own;
    match (same(place.checked_sub(1)), same(place.checked_add(1))) {
        (false, false) => Bracket::Alone,
        (false, true) => Bracket::First,
        (true, true) => Bracket::Middle,
        (true, false) => Bracket::Last,
    }
}
