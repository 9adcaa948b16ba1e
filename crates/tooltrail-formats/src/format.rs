//! The traits that a format implements, and the types that they exchange.
//!
//! A [`Format`] is one agent's way of writing logs, in three small pieces: [`Decode`] recognises a log and decodes its records for a
//! scan, [`LogFiles`] knows where logs lie and what belongs to them, [`OpenRecords`] opens single records for a reader. A new agent has to
//! write the first and `roots`; everything else has a default that leaves a session readable.

use crate::changes::Backup;
use crate::database::Queries;
use crate::value::Payloads;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tooltrail_model::assemble::Origin;
use tooltrail_model::content::Content;
use tooltrail_model::detail::Detailed;
use tooltrail_model::link::Live;
use tooltrail_model::patch::FilePatch;
use tooltrail_model::transcript::{Answered, Asked, HookStory, Parts};
use tooltrail_model::{At, Event, Kind, Span, Status};
use tooltrail_skim::Torn;

/// The directories that everything starts from. The caller looks them up; nothing here reads the environment.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The person's home directory.
    pub home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`: one directory, or several separated by commas.
    pub claude_config: Option<String>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub xdg_data: Option<PathBuf>,
    /// `OPENCODE_DB`.
    pub opencode_db: Option<PathBuf>,
    /// Where copies of logs are kept, laid out as [`crate::mirror`] says.
    pub kept: Option<PathBuf>,
}

/// One record of a source.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    /// Where it stands.
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
    /// What it does.
    pub live: Live,
}

/// A record opened for a reader.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'v> {
    /// The record's number.
    pub line: u64,
    /// The record's bytes, from which its format reads ids, times and flags.
    pub bytes: &'v [u8],
    /// How the payloads of the record become values and texts.
    pub payloads: Payloads<'v>,
    /// All of it as a tree of values.
    pub value: &'v Value,
}

impl<'v> Opened<'v> {
    /// A record and the tree of values that was read from it, with payloads as the log has them.
    pub fn new(record: Record<'v>, value: &'v Value) -> Self {
        Opened { line: record.at.line, bytes: record.bytes, payloads: Payloads::default(), value }
    }
}

/// A call whose detail is asked for: everything that its records say about it.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'v> {
    /// The tool, as logged.
    pub tool: &'v str,
    /// The MCP server.
    pub server: Option<&'v str>,
    /// Its family.
    pub kind: Kind,
    /// What became of it.
    pub status: Status,
    /// The input.
    pub input: &'v Value,
    /// What the model saw; nothing where there is no result.
    pub seen: &'v [Content],
    /// What the tool produced, where the log keeps it.
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

    /// Where the records of a document stand, in order, and whether the document is whole. Fields outside a list of records, such as a
    /// header, are a record of their own.
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

    /// Whether logs lie also in the directories below its roots.
    fn is_deep(&self) -> bool {
        true
    }

    /// Whether a file in a directory may be a log by its name, besides `.jsonl` and `.jsonl.zst`.
    fn is_log_name(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// What the path of a log says about it.
    fn origin(&self, path: &Path) -> Origin;

    /// For a log that may lie in several places or forms at once: what they share, and how much each is worth. Of those that share
    /// it, the one with the lowest number is read.
    fn twin(&self, path: &Path) -> Option<(PathBuf, u8)> {
        let _ = path;
        None
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

    /// How long after it was last written a log is deleted, by what the settings say or by default; nothing if it never is.
    fn lifetime(&self, settings: Option<&[u8]>) -> Option<Duration> {
        let _ = settings;
        None
    }

    /// The files in which the agent lists the sessions that run, and what such a file says.
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
pub trait OpenRecords: Sync {
    /// What a record holds for a reader, in order.
    fn parts(&self, record: Opened<'_>) -> Parts {
        let _ = record;
        Parts::default()
    }

    /// Words of which a record holds one if a text of it is put together from several of its strings by more than a line feed: by a
    /// space or an exclamation mark, and nothing else. Such a text stands nowhere in the record as it reads.
    fn composed(&self) -> &'static [&'static str] {
        &[]
    }

    /// What a record says about the request of a call.
    fn request(&self, record: Opened<'_>, call: &str) -> Option<Asked> {
        let _ = (record, call);
        None
    }

    /// The fields of a record on the way to the inputs of its calls, the one that holds them last: more than that need not be read for
    /// [`OpenRecords::request`] to find an input. None if it has to be the whole record.
    fn input_path(&self) -> &'static [&'static str] {
        &[]
    }

    /// What a record says about the result of a call. Several records may each know a part of it.
    fn result(&self, record: Opened<'_>, call: &str) -> Option<Answered> {
        let _ = (record, call);
        None
    }

    /// Where the whole of a result was saved, if the log has only a part of it.
    fn saved(&self, answered: &Answered) -> Option<String> {
        let _ = answered;
        None
    }

    /// Words of which a record holds one if [`OpenRecords::saved`] knows of an output.
    fn saved_marks(&self) -> &'static [&'static str] {
        &[]
    }

    /// The hooks that a record tells of.
    fn hooks(&self, record: Opened<'_>) -> Vec<HookStory> {
        let _ = record;
        Vec::new()
    }

    /// A call in neutral form.
    fn detail(&self, ask: &Ask<'_>) -> Detailed {
        let _ = ask;
        Detailed::default()
    }

    /// What a record changes in files, for a call that is looked at closely.
    fn patches(&self, record: &[u8]) -> Vec<FilePatch> {
        let _ = record;
        Vec::new()
    }

    /// Whether a record may tell of copies that the agent kept of files, before it is taken apart.
    fn may_hold_backups(&self, record: &[u8]) -> bool {
        let _ = record;
        false
    }

    /// The copies that the agent kept of files, as a record tells.
    fn backups(&self, record: Opened<'_>) -> Vec<Backup> {
        let _ = record;
        Vec::new()
    }
}
