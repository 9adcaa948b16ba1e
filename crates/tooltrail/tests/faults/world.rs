//! Logs, a catalogue that knows more than they do, and what has to be known in the end.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use tooltrail_catalog::store::file_name;

/// Long after every log.
pub(crate) const LATER: [&str; 2] = ["--now", "2040-01-01T00:00:00Z"];

/// What the catalogue says of logs that are there, and of sessions that are gone.
const QUERIES: [&str; 6] = [
    "SELECT * FROM calls",
    "SELECT * FROM sessions",
    "SELECT * FROM turns",
    "SELECT * FROM usage",
    "SELECT file, size, calls FROM sources WHERE NOT gone",
    "SELECT s.session, c.number, c.call, c.tool, c.status, c.about, q.path, c.request_line, e.path, r.path, c.result_line
     FROM call_rows c JOIN session_rows s ON s.id = c.id >> 32 JOIN source_rows q ON q.id = c.source
       JOIN source_rows e ON e.id = c.evidence_source LEFT JOIN source_rows r ON r.id = c.result_source WHERE s.gone",
];

/// Homes with logs, and caches with catalogues of them.
pub(crate) struct World {
    directory: TempDir,
}

impl World {
    /// Logs, a catalogue in `stale` that knows a session that is gone and not what was written since, and nothing else.
    pub(crate) fn new() -> Self {
        let world = World { directory: tempfile::tempdir().unwrap() };
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo");
        copy(&demo.join("projects"), &world.home().join(".claude/projects"));
        copy(&demo.join("codex"), &world.home().join(".codex"));
        let logs = world.logs();
        // Small files that say more about logs: a title, and what a subagent is for.
        for log in &logs {
            let about = if log.to_string_lossy().contains("subagents") { "{\"description\":\"d\"}" } else { "{\"customTitle\":\"t\"}" };
            fs::write(log.with_extension("meta.json"), about).unwrap();
        }
        let thread = "{\"id\":\"019cb4dd-5728-73c1-9b0e-5d2f84a6c7e1\",\"thread_name\":\"a name\"}\n";
        fs::write(world.home().join(".codex/session_index.jsonl"), thread).unwrap();
        world.ask(&world.cache("stale"), &["list", "--json"]);
        // A session of one log: of one with subagents something would be left.
        let alone = |log: &&PathBuf| !log.to_string_lossy().contains("subagents") && !log.with_extension("").exists();
        fs::remove_file(logs.iter().find(alone).unwrap()).unwrap();
        world.ask(&world.cache("stale"), &["list", "--json"]);
        let prompt = |number: usize| {
            format!("{{\"type\":\"user\",\"uuid\":\"x{number}\",\"message\":{{\"role\":\"user\",\"content\":\"more\"}}}}\n")
        };
        for (number, log) in world.logs().iter().enumerate().step_by(3) {
            let text = fs::read_to_string(log).unwrap() + &prompt(number);
            fs::write(log, text).unwrap();
        }
        // A file that was written a moment ago is read again by the next refresh, so there would always be something to write.
        for log in world.logs() {
            let time = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
            fs::File::options().append(true).open(log).unwrap().set_modified(time).unwrap();
        }
        world
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub(crate) fn cache(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The catalogue in a cache directory, whose name depends on that directory.
    pub(crate) fn catalogue(&self, cache: &Path) -> PathBuf {
        cache.join(file_name(&[cache.to_owned(), self.home()]))
    }

    /// Copies a cache to another directory, under the name that its catalogue has there.
    pub(crate) fn copy_cache(&self, from: &Path, to: &Path) {
        copy(from, to);
        let (old, new) = (to.join(self.catalogue(from).file_name().unwrap()), self.catalogue(to));
        for path in files(to) {
            let renamed = path.to_str().unwrap().replace(hash(&old), hash(&new));
            fs::rename(&path, renamed).unwrap();
        }
    }

    pub(crate) fn logs(&self) -> Vec<PathBuf> {
        let logs = files(&self.home().join(".claude"));
        logs.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect()
    }

    pub(crate) fn command(&self, cache: &Path, arguments: &[&str]) -> Command {
        self.command_with(cache, &self.data(), arguments)
    }

    pub(crate) fn command_with(&self, cache: &Path, data: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(arguments).args(LATER).env_clear().env("HOME", self.home()).env("TOOLTRAIL_CACHE", cache);
        command.env("TOOLTRAIL_DATA", data).current_dir(self.home()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, cache: &Path, arguments: &[&str]) -> Output {
        self.command(cache, arguments).output().unwrap()
    }

    /// What a command prints that must succeed.
    pub(crate) fn ask(&self, cache: &Path, arguments: &[&str]) -> String {
        let output = self.run(cache, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// All files below a directory.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![root.to_owned()], Vec::new());
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.path().is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found.sort();
    found
}

/// Copies the files of a directory, with their times.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in files(from) {
        let target = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&path, &target).unwrap();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::File::options().append(true).open(target).unwrap().set_modified(time).unwrap();
    }
}

/// The part of a catalogue's name that depends on where logs are read.
fn hash(catalogue: &Path) -> &str {
    catalogue.file_stem().unwrap().to_str().unwrap().rsplit('-').next().unwrap()
}

/// Everything that a catalogue says, but for numbers of its own.
pub(crate) fn dump(catalogue: &Path) -> Vec<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(catalogue, flags).unwrap();
    let sound: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let mut lines = Vec::new();
    for query in QUERIES {
        let mut statement = connection.prepare(query).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let start = lines.len();
        while let Some(row) = rows.next().unwrap() {
            lines.push((0..columns).map(|column| cell(row.get_ref(column).unwrap())).collect::<Vec<_>>().join(" | "));
        }
        lines[start..].sort();
        lines.push("--".to_owned());
    }
    lines
}

fn cell(value: ValueRef<'_>) -> String {
    value.as_str().map_or_else(|_| format!("{value:?}"), str::to_owned)
}
