//! What `list --digest` says of every real session, held to what `calls --json` says of its calls.
//!
//! The logs lie in `shared/corpus` beside the repository; where they are not at hand the demo's are all there is. Nothing here
//! shares code with the program: facts are counted again from the JSON that other programs get.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::process::Command;

fn json(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_tooltrail")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A session with its calls, by number.
struct Case {
    digest: Value,
    calls: Vec<Value>,
    name: String,
    project: Value,
}

fn cases(place: &[&str]) -> Vec<Case> {
    let mut calls: HashMap<(String, String), Vec<Value>> = HashMap::new();
    let key = |row: &Value| (row["agent"].as_str().unwrap().to_owned(), row["session"].as_str().unwrap().to_owned());
    for row in json(&[&["calls", "--json"], place].concat()) {
        calls.entry(key(&row)).or_default().push(row);
    }
    let sessions = json(&[&["list", "--json", "--digest"], place].concat());
    let case = |session: Value| {
        let mut calls = calls.remove(&key(&session)).unwrap_or_default();
        calls.sort_by_key(number);
        Case {
            name: format!("{} {}", session["agent"], session["session"]),
            digest: session["digest"].clone(),
            project: session["project"].clone(),
            calls,
        }
    };
    sessions.into_iter().map(case).collect()
}

/// The number of a call in its session, and of a call in a script also its number in that.
type Number = (u64, u64);

fn number(row: &Value) -> Number {
    let text = row["ref"].as_str().unwrap().rsplit_once(':').unwrap().1;
    let (call, inner) = text.split_once('.').unwrap_or((text, "0"));
    (call.parse().unwrap(), inner.parse().unwrap())
}

fn is(row: &Value, field: &str, words: &[&str]) -> bool {
    row[field].as_str().is_some_and(|word| words.contains(&word))
}

impl Case {
    /// The call that a fact cites; it must be told as `calls` tells it.
    fn cited(&self, fact: &Value) -> &Value {
        let row = self.calls.iter().find(|row| row["ref"] == fact["ref"]);
        let row = row.unwrap_or_else(|| panic!("{}: no call for {fact}", self.name));
        assert_eq!(row["call"], fact["call"], "{}", self.name);
        assert_eq!(row["evidence"]["file"], fact["file"], "{}", self.name);
        assert_eq!(row["evidence"]["line"], fact["line"], "{}", self.name);
        row
    }

    fn facts<'c>(&'c self, name: &str) -> Vec<(&'c Value, &'c Value)> {
        self.digest[name].as_array().unwrap().iter().map(|fact| (fact, self.cited(fact))).collect()
    }

    fn refs(&self, name: &str) -> BTreeSet<Number> {
        self.facts(name).iter().map(|(_, row)| number(row)).collect()
    }

    fn with(&self, wanted: impl Fn(&Value) -> bool) -> BTreeSet<Number> {
        self.calls.iter().filter(|row| wanted(row)).map(number).collect()
    }

    /// Calls by which files were changed, according to the digest.
    fn changes(&self) -> BTreeSet<Number> {
        let files = self.digest["changed"]["files"].as_array().unwrap();
        files.iter().flat_map(|file| file["calls"].as_array().unwrap()).map(|fact| number(self.cited(fact))).collect()
    }

    fn edits(&self) -> BTreeSet<Number> {
        self.with(|row| is(row, "kind", &["edit", "write"]) && is(row, "status", &["succeeded"]))
    }
}

/// Whether a call got as far as doing something.
fn started(row: &Value) -> bool {
    let refused = is(row, "status", &["rejected", "blocked", "cancelled", "unanswered"]);
    !refused && !is(row, "reason", &["invalid_input", "unknown_tool", "precondition"])
}

fn found_nothing(row: &Value) -> bool {
    let program = row["exit_of"].as_str().and_then(|command| command.split_whitespace().next());
    row["exit_code"] == 1 && program.is_some_and(|program| ["grep", "rg", "diff", "test", "[", "pgrep"].contains(&program))
}

fn check_open(case: &Case) {
    for status in ["rejected", "blocked", "unanswered"] {
        assert_eq!(case.refs(status), case.with(|row| is(row, "status", &[status])), "{}: {status}", case.name);
    }
    for (fact, row) in case.facts("failures") {
        assert!(is(row, "status", &["failed", "timed_out"]), "{}: {fact}", case.name);
        assert_eq!((&fact["status"], &fact["tool"]), (&row["status"], &row["tool"]), "{}", case.name);
    }
    // Whatever failed and is not told failed the same way again, or succeeded later, or only says that nothing was found.
    let told = case.refs("failures");
    let left_out = |row: &&Value| is(row, "status", &["failed", "timed_out"]) && !told.contains(&number(row)) && !found_nothing(row);
    for row in case.calls.iter().filter(left_out) {
        let later = |other: &&Value| number(other) > number(row) && is(other, "status", &["succeeded", "failed", "timed_out"]);
        assert!(case.calls.iter().any(|other| later(&other)), "{}: {} was left out", case.name, row["ref"]);
    }
}

fn check_changes(case: &Case) {
    // Commands change files, too, but only if they ran to a good end.
    let (edits, shells) = (case.edits(), case.with(|row| is(row, "kind", &["shell"]) && is(row, "status", &["succeeded"])));
    let cited = case.changes();
    assert!(edits.is_subset(&cited), "{}: edits {edits:?} of {cited:?}", case.name);
    assert!(cited.difference(&edits).all(|number| shells.contains(number)), "{}: {cited:?} by no edit or command", case.name);
    for command in case.digest["changed"]["commands"].as_array().unwrap() {
        let row = case.cited(command);
        assert!(is(row, "kind", &["shell"]) && started(row), "{}: {command}", case.name);
    }
}

/// A call shipped what its evidence says, or what a later poll of it printed.
fn check_shipped(case: &Case) {
    for fact in case.digest["shipped"].as_array().unwrap() {
        let row = case.calls.iter().find(|row| row["call"] == fact["call"] && row["ref"] == fact["ref"]).unwrap();
        let told =
            |row: &Value| [&row["result"], &row["evidence"]].iter().any(|at| at["file"] == fact["file"] && at["line"] == fact["line"]);
        let polled = |other: &Value| number(other) > number(row) && is(other, "kind", &["task"]) && told(other);
        assert!(told(row) || case.calls.iter().any(polled), "{}: {fact}", case.name);
        assert!(is(row, "status", &["succeeded", "answered"]), "{}: {fact}", case.name);
        assert_ne!(fact["which"], "", "{}: {fact}", case.name);
    }
}

/// The calls after another that changed files which need a check: not temporary files, and not plans that agents keep in hidden
/// directories, unless the session works there.
fn edits_after(case: &Case, run: Number) -> u64 {
    let within = |path: &str, home: &Value| home.as_str().is_some_and(|home| path.starts_with(&format!("{}/", home.trim_end_matches('/'))));
    let temporary = ["/tmp/", "/var/tmp/", "/private/tmp/"];
    let mut calls: BTreeSet<Number> = BTreeSet::new();
    for file in case.digest["changed"]["files"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        let aside = path.contains("/.") || temporary.iter().any(|place| path.starts_with(place));
        for fact in file["calls"].as_array().unwrap() {
            let row = case.cited(fact);
            if number(row) > run && (!aside || within(path, &row["cwd"]) || within(path, &case.project)) {
                calls.insert(number(row));
            }
        }
    }
    calls.len() as u64
}

fn check_run(case: &Case, purpose: &str) {
    let run = &case.digest[purpose];
    let runs = case.with(|row| is(row, "purpose", &[purpose]) && started(row));
    if run.is_null() {
        assert!(runs.is_empty(), "{}: {purpose} {runs:?}", case.name);
        return;
    }
    let row = case.cited(run);
    assert!(is(row, "kind", &["shell"]), "{}", case.name);
    // A call is for the first of its purposes; others may stand behind it.
    assert!(runs.last().is_none_or(|last| *last <= number(row)), "{}: {purpose} {runs:?} after {}", case.name, row["ref"]);
    let masked = row["masked"].as_array().unwrap().contains(&run["command"]);
    let ended_well = row["background"]["exit_code"] == 0 || is(&row["background"], "state", &["completed"]);
    match run["outcome"].as_str().unwrap() {
        "masked" => assert!(masked, "{}: {run}", case.name),
        "passed" => assert!(!masked && (is(row, "status", &["succeeded"]) || ended_well), "{}: {run}", case.name),
        "failed" => assert!(!masked && (is(row, "status", &["failed"]) || !row["background"].is_null()), "{}: {run}", case.name),
        // Of a line whose exit code is one command's own, that command's outcome is known.
        "unknown" => assert!(!masked && row["exit_of"] != run["command"], "{}: {run}", case.name),
        other => panic!("{other}"),
    }
    assert_eq!(run["edits_after"], edits_after(case, number(row)), "{}: {run}", case.name);
}

fn check_time(case: &Case) {
    let time = &case.digest["time"];
    let part = |name: &str| time[name].as_u64().unwrap();
    let parts = ["model_ms", "tools_ms", "hooks_ms", "person_ms", "unknown_ms"];
    assert_eq!(parts.iter().map(|name| part(name)).sum::<u64>(), part("wall_ms"), "{}", case.name);
    // What tools took, counted again: the union of their calls.
    let mut spans: Vec<(i64, i64)> = Vec::new();
    for row in case.calls.iter().filter(|row| !is(row, "kind", &["question", "plan"])) {
        let start = row["requested_at"].as_str().and_then(|time| time.parse::<jiff::Timestamp>().ok());
        if let (Some(start), Some(took)) = (start, row["duration_ms"].as_i64()) {
            spans.push((start.as_millisecond(), start.as_millisecond() + took));
        }
    }
    spans.sort_unstable();
    let (mut union, mut end) = (0, i64::MIN);
    for (from, to) in spans {
        union += (to - from.max(end)).max(0);
        end = end.max(to);
    }
    let union = u64::try_from(union).unwrap();
    assert!(part("tools_ms") <= union && union <= part("tools_ms") + part("hooks_ms"), "{}: {union} {time}", case.name);
}

fn check(place: &[&str]) -> usize {
    let cases = cases(place);
    for case in &cases {
        check_open(case);
        check_changes(case);
        check_shipped(case);
        ["test", "build", "lint"].iter().for_each(|purpose| check_run(case, purpose));
        check_time(case);
    }
    cases.len()
}

#[test]
fn digests_say_what_the_calls_say() {
    assert_eq!(check(&["--demo"]), 12);
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
    if !corpus.is_dir() {
        println!("no real logs at {}: only the demo was compared", corpus.display());
        return;
    }
    assert!(check(&[&corpus.to_string_lossy()]) > 200);
}

#[test]
fn the_demo_shows_what_green_may_mean() {
    let cases = cases(&["--demo"]);
    let of = |id: &str| cases.iter().find(|case| case.name.contains(id)).unwrap().digest["test"].clone();
    let piped = of("6ab3");
    assert_eq!((piped["outcome"].as_str(), piped["exit_of"].as_str()), (Some("masked"), Some("tail -6")));
    assert!(piped["hint"].as_str().unwrap().contains("FAILED"));
    assert_eq!(piped["reported"]["outcome"], "failed", "{piped}");
    let edited = of("e41c");
    assert_eq!((edited["outcome"].as_str(), edited["edits_after"].as_u64()), (Some("passed"), Some(2)));
}
