//! The catalogue as processes use it: killed in the middle, two at a time, asked in SQL.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;
use tooltrail_testkit::corpus::{CorpusPlan, generate};
use tooltrail_testkit::rng::Rng;

/// What tells whether two catalogues are equal.
const QUERIES: &[&str] = &[
    "SELECT * FROM calls ORDER BY session, ref, request_line",
    "SELECT * FROM sessions WHERE NOT gone ORDER BY session",
    "SELECT * FROM turns ORDER BY session, turn",
    "SELECT * FROM usage ORDER BY session, model",
    "SELECT file, size, calls FROM sources WHERE NOT gone ORDER BY file",
];

fn command(home: &Path, cache: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TOOLTRAIL_CACHE", cache).current_dir(home);
    command
}

fn run(home: &Path, cache: &Path, arguments: &[&str]) -> Output {
    command(home, cache, arguments).output().unwrap()
}

fn ask(home: &Path, cache: &Path, sql: &str) -> String {
    let output = run(home, cache, &["sql", "--json", sql]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Everything that a catalogue says.
fn all(home: &Path, cache: &Path) -> Vec<String> {
    QUERIES.iter().map(|query| ask(home, cache, query)).collect()
}

/// Appends a prompt to a log, or cuts its end off.
fn edit(home: &Path, rng: &mut Rng) {
    let logs = logs(home);
    let path = &logs[rng.below(logs.len())];
    let mut file = fs::File::options().append(true).open(path).unwrap();
    if rng.below(2) == 0 {
        writeln!(file, "{{\"type\":\"user\",\"uuid\":\"x{}\",\"message\":{{\"role\":\"user\",\"content\":\"more\"}}}}", rng.below(1 << 40))
            .unwrap();
    } else {
        let length = file.metadata().unwrap().len();
        file.set_len(length * 9 / 10).unwrap();
    }
}

fn logs(home: &Path) -> Vec<std::path::PathBuf> {
    let (mut open, mut found) = (vec![home.join(".claude")], Vec::new());
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_refresh_that_is_killed_leaves_a_sound_catalogue() {
    let (home, cache, fresh) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    generate(home.path(), &CorpusPlan { bytes: 12_000_000, seed: 5 }).unwrap();
    // How long a whole refresh takes here and now.
    let start = Instant::now();
    ask(home.path(), fresh.path(), "SELECT 1");
    let whole = start.elapsed();
    let mut rng = Rng::new(11);
    for round in 0..10 {
        let mut child = command(home.path(), cache.path(), &["sql", "SELECT 1"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(rng.below(1000) as f64 / 800.0));
        child.kill().unwrap();
        child.wait().unwrap();
        for entry in fs::read_dir(cache.path()).unwrap().flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "db")) {
            let connection = rusqlite::Connection::open(entry.path()).unwrap();
            let sound: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
            assert_eq!(sound, "ok", "round {round}");
        }
        (0..3).for_each(|_| edit(home.path(), &mut rng));
    }
    let fresh = tempfile::tempdir().unwrap();
    assert_eq!(all(home.path(), cache.path()), all(home.path(), fresh.path()));
}

#[test]
fn processes_refresh_and_read_at_once() {
    let (home, cache, fresh) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    generate(home.path(), &CorpusPlan { bytes: 6_000_000, seed: 6 }).unwrap();
    let mut rng = Rng::new(12);
    for _ in 0..4 {
        let spawn = |query: &&str| {
            command(home.path(), cache.path(), &["sql", "--json", query]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = QUERIES[..4].iter().map(spawn).collect();
        let outputs: Vec<Output> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        for (query, output) in QUERIES.iter().zip(&outputs) {
            assert!(output.status.success() && output.stderr.is_empty(), "{query}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(String::from_utf8_lossy(&output.stdout), ask(home.path(), cache.path(), query));
        }
        (0..3).for_each(|_| edit(home.path(), &mut rng));
    }
    assert_eq!(all(home.path(), cache.path()), all(home.path(), fresh.path()));
}

/// A log that this person may not read is told of. The others are there, and so is it when it may be read.
#[cfg(unix)]
#[test]
fn a_log_that_may_not_be_read_is_told() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let allow = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let project = home.path().join(".claude/projects/-srv-app");
    fs::create_dir_all(&project).unwrap();
    for name in ["s1", "s2"] {
        let record = "\"message\":{\"role\":\"user\",\"content\":\"hi\"}";
        fs::write(
            project.join(format!("{name}.jsonl")),
            format!("{{\"type\":\"user\",\"uuid\":\"u-{name}\",\"sessionId\":\"{name}\",{record}}}\n"),
        )
        .unwrap();
    }
    // Nothing is hidden from root, so somebody else is asked then, who must be able to come here and to run the program.
    let is_root = fs::metadata(home.path()).unwrap().uid() == 0;
    let program = home.path().join("tooltrail");
    if is_root {
        // Copied by a process of its own: a file that this one has open to write would be passed on to what other tests start meanwhile,
        // and could not be run.
        assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_tooltrail")).arg(&program).status().unwrap().success());
        [home.path(), cache.path()].into_iter().for_each(|path| allow(path, 0o777));
    }
    let ask = || {
        let mut command = Command::new(if is_root { program.as_path() } else { Path::new(env!("CARGO_BIN_EXE_tooltrail")) });
        command.args(["sql", "--csv", "SELECT session FROM sessions WHERE NOT gone ORDER BY session"]);
        command.env_clear().env("HOME", home.path()).env("TOOLTRAIL_CACHE", cache.path()).current_dir(home.path());
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        assert!(output.status.success());
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let log = project.join("s1.jsonl");
    // At first the log is not known. Once it is, its session stays: a log that may not be read is not gone.
    for listed in ["session\ns2\n", "session\ns1\ns2\n"] {
        allow(&log, 0o000);
        let (found, told) = ask();
        assert_eq!(found, listed);
        assert!(told.contains(&format!("cannot read `{}`: Permission denied", log.display())) && told.lines().count() == 1, "{told}");
        allow(&log, 0o644);
        assert_eq!(ask(), ("session\ns1\ns2\n".to_owned(), String::new()));
    }
}

#[test]
fn answers_are_tables_values_or_objects_and_nothing_is_changed() {
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = home.path().join(".claude/projects/-srv-app/s1.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let record = "{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"s1\",\"timestamp\":\"2026-03-04T10:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"say \\\"hi\\\", now\"}}\n";
    fs::write(&log, record).unwrap();
    let sql = |arguments: &[&str]| {
        let output = run(home.path(), cache.path(), &[&["sql"], arguments].concat());
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap(), output.status.code())
    };
    let title = "SELECT session, title, branch, turns FROM sessions";
    assert_eq!(sql(&[title]).0, "session  title          branch  turns\ns1       say \"hi\", now    null      1\n");
    assert_eq!(sql(&["--csv", title]).0, "session,title,branch,turns\ns1,\"say \"\"hi\"\", now\",,1\n");
    assert_eq!(sql(&["--json", title]).0, "{\"session\":\"s1\",\"title\":\"say \\\"hi\\\", now\",\"branch\":null,\"turns\":1}\n");
    assert_eq!(sql(&["SELECT char(27) || '[31m' || char(10) AS \"a\u{7}b\""]).0, "a␇b\n␛[31m␊\n");
    for change in ["DELETE FROM call_rows", "DROP VIEW calls", "PRAGMA user_version = 5", "VACUUM", "CREATE TABLE x(a)"] {
        let (_, error, code) = sql(&[change]);
        assert!(error.contains("only read-only statements"), "{change}: {error}");
        assert_eq!(code, Some(2));
    }
    let (views, ..) = sql(&[]);
    for view in ["calls", "copies", "issues", "sessions", "sources", "turns", "usage"] {
        assert!(views.lines().any(|line| line.starts_with(&format!("{view} "))), "{view} in {views}");
    }
    assert!(sql(&["SELECT nothing FROM calls"]).1.contains("lists the views"));
    assert_eq!(sql(&["--demo", "SELECT 1"]).2, Some(2));
    // Another root has another catalogue.
    let other = tempfile::tempdir().unwrap();
    fs::create_dir_all(other.path().join(".claude/projects")).unwrap();
    assert_eq!(sql(&["--csv", "--root", other.path().to_str().unwrap(), "SELECT count(*) AS n FROM sessions"]).0, "n\n0\n");
    assert_eq!(sql(&["--csv", "SELECT count(*) AS n FROM sessions"]).0, "n\n1\n");
}
