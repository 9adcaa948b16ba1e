//! Transcripts: the records of a session read again, in the order of the conversation, and opened one by one.
//!
//! `build` makes a light index from the `record_index` of each record, without repetitions (`echoes`) and with commands put together (`halves`);
//! `reading` knows what stands around a record in its log, `shared_records` has the index of logs that many sessions share. `story` loads
//! one call with everything its records say; `nearby` finds what was said around it; `private` redacts rows. A loaded transcript never
//! changes.

mod build;
mod echoes;
mod halves;
mod nearby;
mod private;
mod reading;
mod record_index;
mod settings;
mod shared_records;
mod story;

pub use nearby::NearbyEntries;
pub use private::Private;
pub use record_index::RecordIndexCache;
pub use shared_records::SharedRecords;

use crate::changes::report::{CallSelection, groups};
use crate::disk::ReadLogs;
use crate::error::{ErrorChain, ReadError};
use crate::value::Payloads;
use crate::{Format, Record, format_of};
use build::RecordsFrom;
use std::collections::HashMap;
use std::sync::OnceLock;
use tooltrail_model::book::{Book, Loaded, Selection};
use tooltrail_model::changes::net::{FileSize, sizes};
use tooltrail_model::content::words;
use tooltrail_model::link::{Linked, Now};
use tooltrail_model::polls::PollIndex;
use tooltrail_model::transcript::{CallEntry, CallPolls, Entry, EntryKind, Part, Spot, Story, Transcript};

/// A session that can be read.
pub struct SessionBook<'a> {
    linked: &'a Linked<'a>,
    disk: &'a dyn ReadLogs,
    payloads: Payloads<'a>,
    transcript: Transcript<'a>,
    files: HashMap<usize, &'a str>,
    outputs: HashMap<build::PartPlace, build::PartPlace>,
    /// Made when the first call is opened.
    polls: OnceLock<PollIndex>,
}

impl std::fmt::Debug for SessionBook<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionBook").field("transcript", &self.transcript).finish_non_exhaustive()
    }
}

impl<'a> SessionBook<'a> {
    /// Reads sessions, by their places in `Linked::sessions`, as one transcript: usually one, all of them where a file that holds
    /// several was asked for. The first one gives the title.
    pub fn read(linked: &'a Linked<'a>, sessions: &[usize], now: &'a Now, disk: &'a dyn ReadLogs, private: Option<Private<'a>>) -> Self {
        let build::BuiltTranscript { transcript, files, outputs } =
            build::transcript(linked, sessions, now, disk, private, RecordsFrom::Logs);
        let payloads = private.map(|private| Payloads::changed(private.change)).unwrap_or_default();
        SessionBook { linked, disk, payloads, transcript, files, outputs, polls: OnceLock::new() }
    }

    /// Reads a session again that has grown: of the logs in the notes, only new records are read.
    pub fn read_on(linked: &'a Linked<'a>, session: usize, now: &'a Now, disk: &'a dyn ReadLogs, notes: &RecordIndexCache) -> Self {
        let build::BuiltTranscript { transcript, files, outputs } =
            build::transcript(linked, &[session], now, disk, None, RecordsFrom::Cache(notes));
        SessionBook { linked, disk, payloads: Payloads::default(), transcript, files, outputs, polls: OnceLock::new() }
    }

    /// Reads one of several sessions of the same logs: a log that has many of them is read only for the first one.
    pub fn read_shared(shared: &SharedRecords<'a>, session: usize, now: &'a Now, disk: &'a dyn ReadLogs) -> Self {
        let (linked, from) = (shared.linked, RecordsFrom::Shared(shared));
        let build::BuiltTranscript { transcript, files, outputs } = build::transcript(linked, &[session], now, disk, None, from);
        SessionBook { linked, disk, payloads: Payloads::default(), transcript, files, outputs, polls: OnceLock::new() }
    }

    /// The calls of sessions, ready to be opened, without the conversation around them.
    pub fn outline(linked: &'a Linked<'a>, sessions: &[usize], now: &'a Now, disk: &'a dyn ReadLogs) -> Self {
        let build::BuiltTranscript { transcript, files, outputs } = build::outline(linked, sessions, now);
        SessionBook { linked, disk, payloads: Payloads::default(), transcript, files, outputs, polls: OnceLock::new() }
    }

    /// The records behind an entry, in order.
    pub fn spots(&self, entry: &Entry) -> Vec<Spot> {
        let mut spots = vec![entry.spot];
        if let EntryKind::Call(index) = entry.what {
            spots.extend(self.spots_of_call(index));
        }
        spots.extend(self.outputs.get(&(entry.spot, entry.part)).map(|(spot, _)| *spot));
        spots.sort_unstable();
        spots.dedup();
        spots
    }

    /// The records of a call.
    pub fn spots_of_call(&self, index: usize) -> Vec<Spot> {
        let calls = self.transcript.calls.get(index).into_iter();
        let beside = |call: &CallEntry<'_>| -> Vec<Spot> {
            call.hooks.iter().chain(&call.result).chain(&call.ends).chain(&call.progress).copied().collect()
        };
        calls.flat_map(|call| [call.request].into_iter().chain(beside(call))).collect()
    }

    /// The bytes of the record with the input that replaced the requested one, where a hook did that.
    pub fn replacement(&self, call: &CallEntry<'_>) -> Option<Vec<u8>> {
        self.raw(Spot { at: call.row.replacement?, ..call.request }).ok()
    }

    /// The calls that ask about a call, and the one that it asks about.
    fn polls(&self, index: usize) -> CallPolls {
        let calls = &self.transcript.calls;
        let polls = self.polls.get_or_init(|| PollIndex::of(calls));
        let number = |call: usize| calls.get(call).map(|call| call.number);
        CallPolls {
            of: polls.command(index).and_then(number),
            later: polls.all(index).into_iter().filter_map(|(poll, _)| number(poll)).collect(),
        }
    }

    /// The bytes of a record, as the log has them.
    pub fn raw(&self, spot: Spot) -> Result<Vec<u8>, ReadError> {
        let source = self.linked.sources.get(spot.source).ok_or(ReadError::Changed)?;
        self.disk.read_span(&source.path, spot.at.span)
    }

    /// The bytes of a record, and the format it is in.
    fn record(&self, spot: Spot) -> Result<(&'static dyn Format, Vec<u8>), ReadError> {
        let source = self.linked.sources.get(spot.source).ok_or(ReadError::Changed)?;
        let format = source.summary.agent.and_then(format_of).ok_or(ReadError::Changed)?;
        Ok((format, self.disk.read_span(&source.path, spot.at.span)?))
    }

    /// A part of a record, redacted if asked for.
    fn part(&self, (spot, part): build::PartPlace) -> Result<Part, ReadError> {
        let (format, bytes) = self.record(spot)?;
        let record = format.open(Record { at: spot.at, bytes: &bytes }).map_err(|_| ReadError::Changed)?;
        let mut parts = record.parts(self.payloads).parts;
        // The record has fewer parts than when it was indexed, so it was rewritten.
        let part = if part < parts.len() { parts.swap_remove(part) } else { return Err(ReadError::Changed) };
        // A result has an entry of its own only where it belongs to no call, or to one that has another.
        let Part::Result(id) = part else { return Ok(part) };
        // Its pieces are joined before redaction, so that a secret across two of them is found.
        let seen = record.result(&id, Payloads::default()).map(|answer| words(&answer.seen)).unwrap_or_default();
        let known = self.transcript.calls.iter().any(|call| call.row.call == id);
        let label = if known { "another result of the same call" } else { "result without its call" };
        Ok(Part::Folded { label: label.to_owned(), text: self.payloads.decoded(seen) })
    }
}

impl Book for SessionBook<'_> {
    fn transcript(&self) -> &Transcript<'_> {
        &self.transcript
    }

    fn open(&self, entry: &Entry) -> Loaded<'_> {
        if let EntryKind::Call(index) = entry.what {
            return self.call(index);
        }
        let place = (entry.spot, entry.part);
        let mut part = match self.part(place) {
            Ok(part) => part,
            Err(error) => return gone(&error),
        };
        if let Part::Command { output, .. } = &mut part
            && let Some(Part::Command { output: printed, .. }) = self.outputs.get(&place).and_then(|place| self.part(*place).ok())
        {
            // The halves of a command were joined in the index; here their texts are.
            *output = output.take().or(printed);
        }
        Loaded::Part(part)
    }

    fn call(&self, index: usize) -> Loaded<'_> {
        match story::load(self, index) {
            Ok(story) => Loaded::Call(Box::new(story)),
            Err(error) => gone(&error),
        }
    }

    fn file(&self, source: usize) -> Option<&str> {
        self.files.get(&source).copied()
    }

    fn printed_by(&self, wait: &Story<'_>, program: &str) -> Option<String> {
        let seen = &wait.answer.as_ref()?.seen;
        // What a script printed itself was taken out of its output when it was loaded.
        let own = format_of(wait.row.agent).filter(|_| wait.program.is_none())?.printed_by(program, 1, seen)?;
        Some(words(&own))
    }

    fn net_sizes(&self, selection: &Selection) -> Option<Vec<FileSize>> {
        let which = CallSelection { selection: selection.clone(), call: None };
        Some(groups(self, &which, None, |groups| groups.flat_map(|group| sizes(&group)).collect()))
    }

    fn row(&self, spot: Spot) -> Option<&str> {
        self.linked.sources.get(spot.source)?.summary.rows.get(spot.at.line)
    }
}

/// The placeholder for an entry that cannot be read, with the reason.
fn gone(error: &ReadError) -> Loaded<'static> {
    Loaded::Gone(ErrorChain(error).to_string())
}
