//! Transcripts: the records of a session read again, in the order of the conversation, and opened one by one.
//!
//! `build` makes the light index, `story` loads one call with everything its records say. What is loaded here never changes again.

mod build;
mod private;
mod story;

pub use private::Private;

use crate::shelf::Shelf;
use crate::value::Change;
use crate::{FORMATS, Format, Opened, value};
use serde_json::Value;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::link::{Linked, Now};
use tooltrail_model::transcript::{Entry, Spot, Transcript, What};

/// A session that can be read.
pub struct SessionBook<'a> {
    linked: &'a Linked<'a>,
    shelf: &'a dyn Shelf,
    change: Option<&'a Change<'a>>,
    transcript: Transcript<'a>,
}

impl std::fmt::Debug for SessionBook<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionBook").field("transcript", &self.transcript).finish_non_exhaustive()
    }
}

impl<'a> SessionBook<'a> {
    /// Reads sessions, by their places in `Linked::sessions`, as one transcript: usually one, all of them where a file that holds
    /// several was asked for. The first one gives the title.
    pub fn read(linked: &'a Linked<'a>, sessions: &[usize], now: &'a Now, shelf: &'a dyn Shelf, private: Option<Private<'a>>) -> Self {
        let transcript = build::transcript(linked, sessions, now, shelf, private);
        SessionBook { linked, shelf, change: private.map(|private| private.change), transcript }
    }

    /// The bytes of a record, as the log has them.
    pub fn raw(&self, spot: Spot) -> Option<Vec<u8>> {
        self.shelf.bytes(&self.linked.sources.get(spot.source)?.path, spot.at.span)
    }

    /// A record, and the format it is in.
    fn record(&self, spot: Spot) -> Option<(&'static dyn Format, Value)> {
        let source = self.linked.sources.get(spot.source)?;
        let format = format_of(source.summary.agent?)?;
        let bytes = self.shelf.bytes(&source.path, spot.at.span)?;
        let value = match self.change {
            Some(change) => value::read_with(&bytes, change),
            None => value::read(&bytes),
        };
        Some((format, value))
    }
}

impl Book for SessionBook<'_> {
    fn transcript(&self) -> &Transcript<'_> {
        &self.transcript
    }

    fn open(&self, entry: &Entry) -> Loaded<'_> {
        if let What::Call(index) = entry.what {
            return self.call(index);
        }
        let Some((format, value)) = self.record(entry.spot) else { return gone() };
        let mut parts = format.parts(Opened { line: entry.spot.at.line, value: &value }).parts;
        if entry.part < parts.len() { Loaded::Part(parts.swap_remove(entry.part)) } else { gone() }
    }

    fn call(&self, index: usize) -> Loaded<'_> {
        match story::load(self, index) {
            Some(story) => Loaded::Call(Box::new(story)),
            None => gone(),
        }
    }
}

fn gone() -> Loaded<'static> {
    Loaded::Gone("the log has changed since it was read; run the command again".to_owned())
}

/// The format of an agent.
fn format_of(agent: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.agent() == agent)
}
