//! The traits that a format implements, and the types that they exchange.
//!
//! A [`Format`] is one agent's way of writing logs, in three small pieces: [`Decode`] recognises a log and decodes its records for a
//! scan, [`LogFiles`] knows where logs lie and what belongs to them, [`OpenRecords`] opens single records for a reader. A new agent has to
//! write the first and `roots`; everything else has a default that leaves a session readable.

use crate::FORMATS;
use crate::changes::Backup;
use crate::database::Queries;
use crate::value::Payloads;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tooltrail_model::assemble::SourceOrigin;
use tooltrail_model::content::Content;
use tooltrail_model::detail::Detailed;
use tooltrail_model::event::TitleBy;
use tooltrail_model::link::Live;
use tooltrail_model::transcript::{HookStory, LoggedRequest, LoggedResult, Parts, ProgressStory};
use tooltrail_model::{At, Event, Fact, Kind, Span, Status};
use tooltrail_skim::Torn;

/// The directories that everything starts from. The caller looks them up; nothing here reads the environment.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The person's home directory.
    pub home: Option<PathBuf>,
    /// The variables of [`Places::variables`] that are set, with their values.
    pub environment: BTreeMap<&'static str, OsString>,
    /// The directory in which copies of logs are kept, laid out as described in [`crate::mirror`].
    pub kept: Option<PathBuf>,
}

impl Places {
    /// The environment variables with which people move an agent's directory.
    pub fn variables() -> BTreeSet<&'static str> {
        FORMATS.iter().flat_map(|format| format.variables()).copied().collect()
    }

    /// The value of a variable, unless it is empty.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Directories that a variable puts elsewhere than below the home, each with its usual name there.
    pub fn moved(&self) -> Vec<(PathBuf, &'static str)> {
        FORMATS.iter().flat_map(|format| format.moved(self)).collect()
    }
}

/// One record of a source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record<'r> {
    /// The position.
    pub at: At,
    /// Its bytes.
    pub bytes: &'r [u8],
}

impl Record<'_> {
    /// The span in the source of a span of this record.
    pub fn span(&self, inner: Range<usize>) -> Span {
        Span { start: self.at.span.start + inner.start as u64, end: self.at.span.start + inner.end as u64 }
    }
}

/// Takes the events of a record.
pub type Sink<'s> = dyn FnMut(Event<'_>) + 's;

/// A session that its agent lists as running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The session.
    pub session: String,
    /// The process.
    pub pid: Option<u32>,
    /// The state that the agent reports.
    pub live: Live,
}

/// A title that an agent keeps outside of the session's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTitle {
    /// Its weight.
    pub by: TitleBy,
    /// The title.
    pub title: String,
}

/// A record that its format has read in one pass: envelope and blocks, with payloads left where they stand. The facts of a scan and
/// what a reader sees are both taken from it alone, so that they cannot disagree.
pub trait TypedRecord {
    /// Emits the events of a scan, beginning with [`Fact::Record`].
    fn facts(&self, out: &mut Sink<'_>);

    /// The content for a reader, in order.
    fn parts(&self, payloads: Payloads<'_>) -> Parts;

    /// The request of a call, as far as the record has it.
    fn request(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedRequest> {
        let _ = (call, payloads);
        None
    }

    /// The result of a call, as far as the record has it. Several records may each know a part of it.
    fn result(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
        let _ = (call, payloads);
        None
    }

    /// The hooks that the record reports.
    fn hooks(&self, payloads: Payloads<'_>) -> Vec<HookStory> {
        let _ = payloads;
        Vec::new()
    }

    /// The state of a call, where the record reports its progress.
    fn progress(&self, payloads: Payloads<'_>) -> Option<ProgressStory> {
        let _ = payloads;
        None
    }

    /// The copies of files that the agent kept, as the record reports them.
    fn backups(&self) -> Vec<Backup> {
        Vec::new()
    }

    /// The ids of the calls in the text of a script that a call of this record runs; none where the script is nothing but one call.
    fn inner_calls(&self, call: &str) -> Vec<String> {
        let _ = call;
        Vec::new()
    }

    /// The ids of the calls that the record requests or answers, each once.
    fn calls(&self) -> Vec<String> {
        let mut calls: Vec<String> = Vec::new();
        self.facts(&mut |event| {
            let id = match event.fact {
                Fact::Call(call) => call.id,
                Fact::Result(result) => result.call,
                Fact::End(end) => end.call.id,
                _ => return,
            };
            // A record may both request and answer a call. It names few, so that searching the list is enough.
            if !calls.iter().any(|known| *known == id) {
                calls.push(id.into_owned());
            }
        });
        calls
    }
}

/// A call whose detail is asked for: everything that its records say about it.
#[derive(Clone, Copy, Debug)]
pub struct DetailRequest<'v> {
    /// The tool that ran, as logged or as a script spells it.
    pub tool: &'v str,
    /// The MCP server.
    pub server: Option<&'v str>,
    /// Its family.
    pub kind: Kind,
    /// The outcome.
    pub status: Status,
    /// The input.
    pub input: &'v Value,
    /// The text and images that the model saw; empty where there is no result.
    pub seen: &'v [Content],
    /// The tool's own output, where the log keeps it.
    pub produced: Option<&'v Value>,
    /// Whether there is a result.
    pub answered: bool,
}

/// One agent's way of writing logs.
pub trait Format: Decode + LogFiles + OpenRecords {}

impl<T: Decode + LogFiles + OpenRecords> Format for T {}

/// Recognising a log and decoding its records, without any history: what a scan needs.
pub trait Decode: Sync {
    /// The agent's name in output and in filters.
    fn agent(&self) -> &'static str;

    /// The agent's name as people write it.
    fn display_name(&self) -> &'static str {
        self.agent()
    }

    /// A model's name without the prefix that all models of this agent share.
    fn short_model<'m>(&self, model: &'m str) -> &'m str {
        model
    }

    /// Whether a line is a record of this agent: `Some` once that is certain either way.
    fn sniff(&self, line: &[u8]) -> Option<bool>;

    /// Whether an object found behind damage is a record, rather than a piece of the damaged one.
    fn is_whole_record(&self, line: &[u8]) -> bool {
        self.sniff(line) == Some(true)
    }

    /// Decodes a record into events, beginning with [`tooltrail_model::Fact::Record`]. A record that breaks off gives none.
    /// Returns how deep it nests.
    fn decode(&self, record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn>;

    /// Whether a file that begins like this is one JSON document rather than lines.
    fn is_document(&self, head: &[u8]) -> bool {
        let _ = head;
        false
    }

    /// The ranges of a document's records, in order, and whether the document is whole. Fields outside a list of records, such as a header,
    /// are a record of their own.
    fn document(&self, bytes: &[u8]) -> (Vec<Range<usize>>, bool) {
        let _ = bytes;
        (Vec::new(), false)
    }

    /// How the agent's database is read, for an agent that keeps sessions in one.
    fn database(&self) -> Option<&'static Queries> {
        None
    }

    /// Calls whose result a damaged line seems to hold.
    fn mentions<'r>(&self, damaged: &'r [u8]) -> Vec<Cow<'r, str>> {
        let _ = damaged;
        Vec::new()
    }
}

/// Files and places: where logs lie, what their paths say, and what lies beside them.
pub trait LogFiles: Sync {
    /// The directories in which its logs lie, whether or not they exist; or single files.
    fn roots(&self, places: &Places) -> Vec<PathBuf>;

    /// The variables of the environment that [`LogFiles::roots`] looks up in [`Places`].
    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Directories that one of these variables puts elsewhere than below the home, each with its usual name there.
    fn moved(&self, places: &Places) -> Vec<(PathBuf, &'static str)> {
        let _ = places;
        Vec::new()
    }

    /// Whether logs lie also in the directories below its roots.
    fn is_deep(&self) -> bool {
        true
    }

    /// Whether a file may be a log by its name, besides `.jsonl` and `.jsonl.zst`. It is asked about files of all agents, so the ending
    /// `.json` alone is not enough: where the names of logs have nothing of their own, ask for the directory too, as in `sessions/*.json`.
    fn is_log_name(&self, path: &Path) -> bool {
        let _ = path;
        false
    }

    /// Whether a directory or file below its roots is neither a log nor leads to one, whatever its name.
    fn is_foreign(&self, path: &Path) -> bool {
        let _ = path;
        false
    }

    /// The session and the subagent that a log belongs to, as far as its path says.
    fn origin(&self, path: &Path) -> SourceOrigin;

    /// For a log that may exist in several places or forms at once: a key that all of them share, and a rank. The form with the lowest rank
    /// is read.
    fn twin(&self, path: &Path) -> Option<(PathBuf, u8)> {
        let _ = path;
        None
    }

    /// Paths beside a log. Where nothing is at any of them, there are no [`LogFiles::sidecars`].
    fn sidecar_places(&self, path: &Path) -> Vec<PathBuf> {
        self.sidecars(path)
    }

    /// Small files beside a log that say more about it.
    fn sidecars(&self, path: &Path) -> Vec<PathBuf> {
        let _ = path;
        Vec::new()
    }

    /// Decodes a file beside a log.
    fn decode_sidecar(&self, path: &Path, bytes: &[u8], out: &mut Sink<'_>) {
        let _ = (path, bytes, out);
    }

    /// The directory in which the agent keeps files about many logs, this one among them.
    fn home(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// The files in such a directory that have titles of sessions, whether or not they exist.
    fn title_files(&self, home: &Path) -> Vec<PathBuf> {
        let _ = home;
        Vec::new()
    }

    /// The titles in these files, by session.
    fn titles(&self, home: &Path) -> HashMap<String, SessionTitle> {
        let _ = home;
        HashMap::new()
    }

    /// The directory beside a log that belongs to it.
    fn side_directory(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// The directory in which the agent keeps copies of the files that a log's session changed.
    fn backup_directory(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// The file that says how long the agent leaves logs lying in one of its [`LogFiles::roots`].
    fn settings(&self, root: &Path) -> Option<PathBuf> {
        let _ = root;
        None
    }

    /// The time between the last write to a log and its deletion, by the settings or by default; `None` if logs are never deleted.
    fn lifetime(&self, settings: Option<&[u8]>) -> Option<Duration> {
        let _ = settings;
        None
    }

    /// The files in which the agent lists its running sessions.
    fn registry(&self, places: &Places) -> Vec<PathBuf> {
        let _ = places;
        Vec::new()
    }

    /// Reads an entry of the registry.
    fn registered(&self, bytes: &[u8]) -> Option<Registered> {
        let _ = bytes;
        None
    }

    /// The words of the command that resumes a session, typed in the directory it began in.
    fn resume(&self, session: &str) -> Option<Vec<String>> {
        let _ = session;
        None
    }
}

/// Opening single records for a reader: messages, requests, results, hooks, and calls in neutral form.
pub trait OpenRecords: Decode {
    /// Reads a record, once, for every question that a reader may have about it.
    fn open<'r>(&'r self, record: Record<'r>) -> Result<Box<dyn TypedRecord + 'r>, Torn>;

    /// Marker words. A record contains at least one of them if a text of it is put together from several strings by more than a line feed:
    /// by a space or an exclamation mark. Such a text appears nowhere in the record as it reads, so a search has to decode the record.
    fn composed(&self) -> &'static [&'static str] {
        &[]
    }

    /// The path under which the whole of a result was saved, if the log has only a part of it.
    fn saved(&self, answered: &LoggedResult) -> Option<String> {
        let _ = answered;
        None
    }

    /// Marker words. A record contains at least one of them if [`OpenRecords::saved`] finds a saved output in it.
    fn saved_marks(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the span of a call's input holds it as plain JSON. Such an input is read for a row without the rest of its record.
    fn has_plain_inputs(&self) -> bool {
        false
    }

    /// A call in neutral form.
    fn detail(&self, ask: &DetailRequest<'_>) -> Detailed {
        let _ = ask;
        Detailed::default()
    }

    /// Of what a script printed, the part about one of its calls, by its number; `None` where that is not known.
    fn printed_by(&self, program: &str, number: usize, seen: &[Content]) -> Option<Vec<Content>> {
        let _ = (program, number, seen);
        None
    }

    /// Whether a record may report copies of files. A quick check, before the record is parsed.
    fn may_hold_backups(&self, record: &[u8]) -> bool {
        let _ = record;
        false
    }

    /// Whether a result may name files that changed while a command ran. A quick check, before the record is parsed.
    fn may_hold_observed(&self, record: &[u8]) -> bool {
        let _ = record;
        false
    }
}
