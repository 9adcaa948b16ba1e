//! Transcripts: the records of one session read again, in the order of a conversation, and opened one by one.

use crate::value::Change;
use crate::{FORMATS, Format};
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::link::{Linked, Now};
use tooltrail_model::transcript::{Entry, Transcript};

/// Gives the bytes of logs and of what lies beside them.
pub trait Shelf: Sync {
    /// A part of a log; nothing if it is not there any more.
    fn bytes(&self, file: &str, span: tooltrail_model::Span) -> Option<Vec<u8>>;
}

/// A session that can be read.
pub struct SessionBook<'a> {
    transcript: Transcript<'a>,
    shelf: &'a dyn Shelf,
    change: Option<&'a Change<'a>>,
}

impl<'a> SessionBook<'a> {
    /// Reads a session, by its place in `Linked::sessions`.
    pub fn read(linked: &'a Linked<'a>, session: usize, now: &'a Now, shelf: &'a dyn Shelf, change: Option<&'a Change<'a>>) -> Self {
        let _: &[&dyn Format] = FORMATS;
        let session = linked.session_rows(now).swap_remove(session);
        SessionBook { transcript: Transcript { session, calls: Vec::new(), turns: Vec::new(), threads: Vec::new() }, shelf, change }
    }
}

impl Book for SessionBook<'_> {
    fn transcript(&self) -> &Transcript<'_> {
        &self.transcript
    }

    fn open(&self, entry: &Entry) -> Loaded<'_> {
        let _ = (entry, self.shelf, self.change.is_some());
        Loaded::Gone("not there yet".to_owned())
    }

    fn call(&self, index: usize) -> Loaded<'_> {
        let _ = index;
        Loaded::Gone("not there yet".to_owned())
    }
}
