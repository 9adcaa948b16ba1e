//! Names of threads, which Codex keeps outside of their logs: in `session_index.jsonl` (until mid 2026) and in `state_5.sqlite`, in its home
//! or in `sqlite/` below it.
//!
//! A name is what the person sees in the list of threads, so it is the title. The database also has a `title` for every thread, which is the
//! beginning of the first prompt unless the person changed it; only a changed one is a name. What is claimed here rests on the agent's
//! open source. Nothing else is read: not `auth.json`, which lies beside these files.

use crate::SessionTitle;
use crate::database::{connect, has_tables};
use crate::find::read_small;
use rusqlite::{Connection, Row};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tooltrail_model::event::TitleBy;
use tooltrail_skim::{Raw, Skim};
use tracing::warn;

/// The largest index that is read. It has one short line for each time that a thread was named.
const LARGEST: u64 = 16 << 20;
/// Versions of the database that are looked for, the newest first. Each has a file of its own.
const VERSIONS: [u32; 5] = [9, 8, 7, 6, 5];
/// How long a database may take to tell its names.
const PATIENCE: Duration = Duration::from_secs(3);
/// How many threads are asked for.
const THREADS: u32 = 100_000;

/// The directory that a log lies in, below `sessions` or `archived_sessions`.
pub(super) fn home(path: &Path) -> Option<PathBuf> {
    // Asked about the logs of all agents, so the quickest question comes first.
    path.file_name()?.to_str().filter(|name| name.starts_with("rollout-"))?;
    let above =
        path.ancestors().skip(1).find(|above| above.file_name().is_some_and(|name| name == "sessions" || name == "archived_sessions"));
    above?.parent().map(Path::to_owned)
}

/// The files that may have names.
pub(super) fn files(home: &Path) -> Vec<PathBuf> {
    let mut files = vec![home.join("session_index.jsonl")];
    files.extend(directories(home).iter().flat_map(|place| databases(place)));
    files
}

/// The directories of the database, the one that is used now last.
fn directories(home: &Path) -> [PathBuf; 2] {
    [home.to_owned(), home.join("sqlite")]
}

fn databases(place: &Path) -> Vec<PathBuf> {
    VERSIONS.iter().map(|version| place.join(format!("state_{version}.sqlite"))).collect()
}

/// The names of all threads.
pub(super) fn read(home: &Path) -> HashMap<String, SessionTitle> {
    let mut names = read_small(&home.join("session_index.jsonl"), LARGEST).map(|index| indexed(&index)).unwrap_or_default();
    for place in directories(home) {
        // Of several versions only the newest is kept up to date. Links are not followed.
        let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
        let Some(path) = databases(&place).into_iter().find(is_file) else { continue };
        match stored(&path) {
            Ok(stored) => merge(&mut names, stored),
            Err(error) => warn!(?path, %error, "cannot read the names of threads"),
        }
    }
    let title = |(id, name): (String, String)| (id, SessionTitle { by: TitleBy::Person, title: name });
    names.into_iter().map(title).collect()
}

/// `{"id":…,"thread_name":…,"updated_at":…}`, one a line. The last name of a thread counts; an empty one takes the name away.
fn indexed(index: &[u8]) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for line in index.split(|&byte| byte == b'\n') {
        let (mut id, mut name) = (None, None);
        let _ = Skim::new(line).object(|key, value| {
            match key.as_bytes() {
                b"id" => id = value.string().map(Raw::text),
                b"thread_name" => name = value.string().map(Raw::text),
                _ => {}
            }
            Ok(())
        });
        if let (Some(id), Some(name)) = (id, name) {
            names.insert(id.into_owned(), name.trim().to_owned());
        }
    }
    names.retain(|_, name| !name.is_empty());
    names
}

/// A thread as the database has it.
struct StoredThread {
    id: String,
    name: Option<String>,
    title: Option<String>,
    /// The first prompt, and how the agent shows it in lists.
    first: Vec<String>,
}

/// Adds the names of a database: a name counts before that of the index, a changed title only where there is no name.
fn merge(names: &mut HashMap<String, String>, threads: Vec<StoredThread>) {
    for thread in threads {
        let changed = thread.title.filter(|title| !thread.first.iter().any(|first| is_beginning(title, first)));
        match (thread.name, changed) {
            (Some(name), _) => drop(names.insert(thread.id, name)),
            (None, Some(title)) => drop(names.entry(thread.id).or_insert(title)),
            (None, None) => {}
        }
    }
}

/// Whether a title is only the beginning of a prompt, or of the words in it that the person wrote.
fn is_beginning(title: &str, first: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = plain(title);
    // A long one is cut, with a mark.
    plain(first).contains(title.trim_end_matches(['…', '.']).trim_end())
}

fn stored(path: &Path) -> rusqlite::Result<Vec<StoredThread>> {
    // A private copy is dropped with the connection.
    let (mut connection, _copy) = connect(path).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let until = Instant::now() + PATIENCE;
    connection.progress_handler(10_000, Some(move || Instant::now() > until))?;
    if !has_tables(&connection, &["threads"])? {
        return Ok(Vec::new());
    }
    let columns = columns(&connection)?;
    // Which columns there are depends on the version.
    let column = |name: &str| if columns.contains(name) { format!("substr({name}, 1, 2000)") } else { "NULL".to_owned() };
    let wanted = ["name", "title", "first_user_message", "preview"].map(column).join(", ");
    let mut statement = connection.prepare(&format!("SELECT id, {wanted} FROM threads LIMIT {THREADS}"))?;
    let threads = statement.query_map([], thread)?;
    // A row that cannot be read is one thread without a name.
    Ok(threads.filter_map(Result::ok).collect())
}

fn columns(connection: &Connection) -> rusqlite::Result<HashSet<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('threads')")?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

fn thread(row: &Row<'_>) -> rusqlite::Result<StoredThread> {
    let text = |column: usize| {
        let text: Option<String> = row.get(column).unwrap_or_default();
        text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let first = [text(3), text(4)].into_iter().flatten().collect();
    Ok(StoredThread { id: row.get(0)?, name: text(1), title: text(2), first })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_counts() {
        let index = b"{\"id\":\"a\",\"thread_name\":\"first\"}\nbroken\n{\"id\":\"a\",\"thread_name\":\"second\"}\n{\"id\":\"b\",\"thread_name\":\"x\"}\n{\"id\":\"b\",\"thread_name\":\"\"}\n{\"thread_name\":\"lost\"}";
        assert_eq!(indexed(index), HashMap::from([("a".to_owned(), "second".to_owned())]));
    }

    #[test]
    fn only_a_changed_title_is_a_name() {
        let thread = |name: Option<&str>, title: &str, first: &str| StoredThread {
            id: "a".to_owned(),
            name: name.map(str::to_owned),
            title: Some(title.to_owned()),
            first: vec![first.to_owned()],
        };
        let named = |thread: StoredThread, before: &str| {
            let mut names: HashMap<String, String> = HashMap::new();
            if !before.is_empty() {
                names.insert("a".to_owned(), before.to_owned());
            }
            merge(&mut names, vec![thread]);
            names.remove("a")
        };
        let table = [
            (thread(None, "fix the parser", "fix  the\nparser, please"), "", None),
            (thread(None, "fix the…", "fix the parser"), "", None),
            (thread(None, "fix it", "# Files mentioned\n## My request for Codex:\nfix it"), "", None),
            (thread(None, "Parser work", "fix the parser"), "", Some("Parser work")),
            (thread(None, "Parser work", "fix the parser"), "by the index", Some("by the index")),
            (thread(Some("by name"), "Parser work", "fix the parser"), "by the index", Some("by name")),
        ];
        for (thread, before, expected) in table {
            let title = thread.title.clone();
            assert_eq!(named(thread, before).as_deref(), expected, "{title:?}");
        }
    }

    #[test]
    fn homes_are_found_above_the_logs() {
        let home = |path: &str| home(Path::new(path)).map(|home| home.to_string_lossy().into_owned());
        assert_eq!(home("/h/.codex/sessions/2026/03/04/rollout-a.jsonl").as_deref(), Some("/h/.codex"));
        assert_eq!(home("/h/.codex/archived_sessions/rollout-a.jsonl.zst").as_deref(), Some("/h/.codex"));
        assert_eq!(home("/h/.codex/sessions/notes.jsonl"), None);
        assert_eq!(home("/h/rollout-a.jsonl"), None);
    }
}
