//! A book: a transcript and the means to open its entries. Outputs read sessions through it, so that only what is shown is
//! loaded.

use crate::changes::net::FileSize;
use crate::transcript::{Entry, Part, Spot, Story, Transcript};

/// A session that can be read.
pub trait Book: Sync {
    /// The index of the session.
    fn transcript(&self) -> &Transcript<'_>;

    /// Loads an entry.
    fn open(&self, entry: &Entry) -> Loaded<'_>;

    /// Loads a call, by its place in [`Transcript::calls`].
    fn call(&self, index: usize) -> Loaded<'_>;

    /// The file of a source, by its index in `Linked::sources`; usually found through a call of the transcript.
    fn file(&self, source: usize) -> Option<&str> {
        let transcript = self.transcript();
        let call = transcript.calls.iter().find(|call| call.request.source == source);
        let only = (transcript.session.files.len() == 1).then(|| transcript.session.files.first().copied()).flatten();
        call.map(|call| call.row.request.file).or(only)
    }

    /// What a call printed that waited for a script, of the output of the script's one call; `None` where that is not known.
    fn printed_by(&self, wait: &Story<'_>, program: &str) -> Option<String> {
        let _ = (wait, program);
        None
    }

    /// The sizes of the net changes that the selected turns made to files; `None` where files are not replayed.
    fn net_sizes(&self, selection: &Selection) -> Option<Vec<FileSize>> {
        let _ = selection;
        None
    }

    /// The row that a record is, in a source that is a part of a database.
    fn row(&self, spot: Spot) -> Option<&str> {
        let _ = spot;
        None
    }
}

/// An entry, loaded.
#[derive(Clone, Debug)]
pub enum Loaded<'a> {
    /// A call with its whole life.
    Call(Box<Story<'a>>),
    /// Anything else.
    Part(Part),
    /// A record that cannot be read any more, and why.
    Gone(String),
}

/// Part of a session.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The first and the last turn, counted from 1; all where `None`.
    pub turns: Option<(usize, usize)>,
}

impl Selection {
    /// Whether an entry is part of it. Entries before the first turn belong to that turn.
    pub fn takes(&self, entry: &Entry) -> bool {
        self.takes_turn(entry.turn)
    }

    /// Whether a turn is part of it, by its index in [`Transcript::turns`].
    pub fn takes_turn(&self, turn: Option<usize>) -> bool {
        self.turns.is_none_or(|(first, last)| (first..=last).contains(&turn.unwrap_or(0).saturating_add(1)))
    }
}
