//! OpenCode: sessions in a database, `opencode.db` in its data directory, and documents that `opencode export` prints.
//!
//! Both hold the same: a session, its messages, and the parts of each message. Each is a record here. A call and its result are one part,
//! which OpenCode rewrites whenever the state of the call changes. The claims here rest on the agent's open source (to August 2026) and on
//! published exports and databases.
//!
//! `record` reads a record once; `facts` takes its facts for a scan, `parts` and `calls` its content for a reader, `tools` puts calls into
//! neutral form. `document` finds the records of an export, `store` those of a database.

mod calls;
mod document;
mod facts;
mod markers;
mod parts;
mod record;
mod store;
mod tools;

use crate::value::Payloads;
use crate::{Decode, DetailRequest, LogFiles, OpenRecords, Places, Queries, Record, Sink, TypedRecord};
use record::{OpenCodeRecord, RecordKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tooltrail_model::assemble::SourceOrigin;
use tooltrail_model::detail::Detailed;
use tooltrail_model::position::split_address;
use tooltrail_model::transcript::{LoggedRequest, LoggedResult, Parts};
use tooltrail_skim::Torn;

/// OpenCode.
pub(crate) struct OpenCode;

const AGENT: &str = "opencode";

/// The variable that moves the directory above the agent's own.
const DATA: &str = "XDG_DATA_HOME";

/// The variable that names another database.
const DATABASE: &str = "OPENCODE_DB";

impl Decode for OpenCode {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn sniff(&self, line: &[u8]) -> Option<bool> {
        let item = OpenCodeRecord::look_at(Record { bytes: line, ..Record::default() }).ok()?;
        let is_named = item.row.is_some_and(|row| row.head(64).split_once(':').is_some_and(|(table, _)| store::TABLES.contains(&table)));
        // No other agent spells these ids like this.
        let is_part = item.session.is_some() && matches!(item.kind, RecordKind::Part | RecordKind::Message);
        (item.id.is_some() && (is_named || is_part)).then_some(true)
    }

    fn decode(&self, record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn> {
        let item = OpenCodeRecord::read(record)?;
        item.facts(out);
        Ok(item.depth)
    }

    fn is_document(&self, head: &[u8]) -> bool {
        document::sniff(head)
    }

    fn document(&self, bytes: &[u8]) -> (Vec<Range<usize>>, bool) {
        document::records(bytes)
    }

    fn database(&self) -> Option<&'static Queries> {
        Some(&store::QUERIES)
    }
}

impl LogFiles for OpenCode {
    fn variables(&self) -> &'static [&'static str] {
        &[DATA, DATABASE]
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        let data = places.variable(DATA).map(PathBuf::from).or_else(|| places.home.as_ref().map(|home| home.join(".local/share")));
        let directory = data.map(|data| data.join("opencode"));
        // The variable holds a whole path, or a name in the directory; joining covers both.
        let named = places.variable(DATABASE).map(|name| directory.as_ref().map_or_else(|| PathBuf::from(name), |data| data.join(name)));
        // A database with a usual name is found by walking the directory.
        directory.into_iter().chain(named.filter(|path| !is_database_name(path))).collect()
    }

    fn is_deep(&self) -> bool {
        // Below it lie snapshots of repositories: thousands of files, none of them a log.
        false
    }

    fn is_log_name(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        // Exports are often saved under the id of their session.
        is_database_name(path) || (name.starts_with("ses_") && name.ends_with(".json"))
    }

    fn origin(&self, path: &Path) -> SourceOrigin {
        let address = path.to_string_lossy();
        let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        SourceOrigin { agent: Some(AGENT), session: split_address(&address).1.unwrap_or_else(stem), ..SourceOrigin::default() }
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["opencode", "--session", session].map(str::to_owned).to_vec())
    }
}

impl OpenRecords for OpenCode {
    fn open<'r>(&'r self, record: Record<'r>) -> Result<Box<dyn TypedRecord + 'r>, Torn> {
        Ok(Box::new(OpenCodeRecord::read(record)?))
    }

    fn detail(&self, ask: &DetailRequest<'_>) -> Detailed {
        tools::detail(ask)
    }
}

impl TypedRecord for OpenCodeRecord<'_> {
    fn facts(&self, out: &mut Sink<'_>) {
        facts::emit(self, out);
    }

    fn parts(&self, payloads: Payloads<'_>) -> Parts {
        parts::of(self, payloads)
    }

    fn request(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedRequest> {
        calls::request(self, call, payloads)
    }

    fn result(&self, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
        calls::result(self, call, payloads)
    }
}

/// Whether a file is a database of OpenCode by its name: `opencode.db`, and `opencode-<channel>.db` for channels of development.
fn is_database_name(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name == "opencode.db" || (name.starts_with("opencode-") && name.ends_with(".db"))
}
