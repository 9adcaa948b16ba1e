//! Filters as people meet them: which words are paths, what `calls`, `list` and `stats` take, what a mistake looks like; and on real logs
//! the same calls that a naive look at the unfiltered rows finds.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home.path()).env("TZ", "UTC").current_dir(home.path()).stdin(Stdio::null());
    command.output().unwrap()
}

fn text(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The rows that a command prints as JSON.
fn rows(arguments: &[&str]) -> Vec<Value> {
    let (code, out, err) = text(&run(&[arguments, &["--json"]].concat()));
    assert_eq!(code, Some(0), "{arguments:?}: {err}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn column(rows: &[Value], key: &str) -> Vec<String> {
    rows.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

fn demo(arguments: &[&str]) -> Vec<String> {
    column(&rows(&[&["--demo"], arguments].concat()), "ref")
}

#[test]
fn words_that_are_no_paths_are_a_filter() {
    assert_eq!(demo(&["calls", "reason:mcp_error,unknown_tool"]), ["7c10:1", "7c10:15"]);
    assert_eq!(demo(&["calls", "status:failed", "command:cargo check"]), demo(&["calls", "status:failed command:cargo check"]));
    // A term is no path, whatever it ends in.
    for term in ["file:package.json", "not:file:a.jsonl", "\"x.zst\"", "-file:a.json"] {
        assert_eq!(text(&run(&["--demo", "calls", "--", term])).0, Some(0), "{term}");
    }
    // What the shell hands over in one piece is a phrase, unless a term is in it.
    assert_eq!(demo(&["calls", "cargo check"]), demo(&["calls", "\"cargo check\""]));
    assert!(demo(&["calls", "check cargo"]).is_empty() && !demo(&["calls", "check", "cargo"]).is_empty());
    // A file that is there is a path, whatever its name.
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("status"), "{}\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    let output = command.args(["calls", "status"]).env_clear().env("HOME", home.path()).current_dir(home.path()).output().unwrap();
    let (code, _, err) = text(&output);
    assert!(code == Some(2) && err.contains("no agent's logs found"), "{err}");
}

#[test]
fn options_are_terms() {
    for (option, term) in [(["--since", "1d"], "since:1d"), (["--until", "2026-03-02"], "until:2026-03-02")] {
        let (by_option, by_term) = (demo(&[&["calls"], &option[..]].concat()), demo(&["calls", term]));
        assert!(!by_term.is_empty() && by_option == by_term, "{term}");
    }
    assert!(demo(&["calls", "since:1d", "until:1d"]).is_empty());
    // The clock of the demo stands in 2026, and days are counted from there.
    let (today, later) = (demo(&["calls", "since:today"]), demo(&["--now", "2026-03-05T00:00:00Z", "calls", "since:today"]));
    assert!(!today.is_empty() && later.is_empty());
}

#[test]
fn a_mistake_is_pointed_at_before_anything_is_read() {
    for command in ["calls", "list", "stats", "search"] {
        let (code, out, err) = text(&run(&[command, "stauts:failed", "tool:Bash"]));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{command}");
        assert_eq!(err, "error: unknown filter `stauts:`; did you mean `status:`?\n  stauts:failed tool:Bash\n  ^^^^^^^\n");
    }
}

#[test]
fn arguments_and_alternatives_are_read_as_they_are_written() {
    let demo = |arguments: &[&str]| demo(arguments);
    let pushes = demo(&["calls", "command:git push"]);
    assert!(!pushes.is_empty());
    assert_eq!(pushes, demo(&["calls", "command:\"git push\""]));
    assert_eq!(demo(&["calls", "command:git push kind:shell"]), pushes);
    assert_eq!(demo(&["calls", "status:failed", "OR", "status:blocked"]), demo(&["calls", "status:failed,blocked"]));
    // One argument with a term in it is a query; without one it is a phrase.
    assert_eq!(demo(&["calls", "status:failed OR status:blocked"]), demo(&["calls", "status:failed,blocked"]));
    assert_eq!(text(&run(&["--demo", "list", "--within", "session", "status:failed", "status:blocked"])).0, Some(0));
    let (code, _, said) = text(&run(&["--demo", "calls", "status:failed", "status:blocked"]));
    assert!(code == Some(2) && said.contains("can never both hold"), "{said}");
}

#[test]
fn nothing_found_is_no_failure() {
    // What is no row goes to standard error: a program that reads rows gets none.
    let (code, out, said) = text(&run(&["--demo", "calls", "tool:Nothing"]));
    assert!(code == Some(0) && out.is_empty() && said.starts_with("no such tool calls in "), "{out}{said}");
    let (code, out, said) = text(&run(&["--demo", "list", "tool:Nothing"]));
    assert!(code == Some(0) && out.is_empty() && said.starts_with("no matching sessions among "), "{out}{said}");
    assert!(rows(&["--demo", "calls", "tool:Nothing"]).is_empty());
}

#[test]
fn orders_end_with_the_most() {
    let took = |rows: &[Value]| rows.iter().map(|row| row["duration_ms"].as_u64()).collect::<Vec<_>>();
    let all = rows(&["--demo", "calls", "--sort", "took"]);
    assert!(took(&all).is_sorted() && all.len() == rows(&["--demo", "calls"]).len());
    assert_eq!(took(&rows(&["--demo", "calls", "--sort", "took", "-n", "3"])), took(&all)[all.len() - 3..]);
    assert!(column(&rows(&["--demo", "calls", "since:2026", "--sort", "time"]), "requested_at").is_sorted());
    for (sort, key) in [("calls", "/calls"), ("failed", "/by_status/failed"), ("last", "/last_at")] {
        let list = rows(&["--demo", "list", "--sort", sort]);
        let keys: Vec<_> = list.iter().map(|row| row.pointer(key).map(|value| (value.as_u64(), value.as_str()))).collect();
        assert!(keys.is_sorted(), "{sort}: {keys:?}");
    }
    assert_eq!(rows(&["--demo", "list", "is:failed", "-n", "2"]).len(), 2);
}

#[test]
fn within_a_session_terms_may_hold_apart() {
    let list = |arguments: &[&str]| column(&rows(&[&["--demo", "list"], arguments].concat()), "session");
    assert!(list(&["status:failed", "tool:Edit"]).len() < list(&["--within", "session", "status:failed", "tool:Edit"]).len());
    let (failed, all) = (list(&["is:failed"]), list(&[]));
    let fine = list(&["--within", "session", "not:is:failed"]);
    assert!(!fine.is_empty() && fine.len() + failed.len() == all.len());
    assert!(list(&["--within", "session", "not:cargo"]).iter().all(|session| !list(&["cargo"]).contains(session)));
}

#[test]
fn totals_are_those_of_what_is_taken() {
    let stats = |query: &str| rows(&["--demo", "stats", query]).remove(0);
    let (all, failed) = (rows(&["--demo", "stats"]).remove(0), stats("status:failed"));
    // Totals count the calls that a log has, and those in scripts apart.
    let (own, inner): (Vec<_>, Vec<_>) = rows(&["--demo", "calls", "status:failed"]).into_iter().partition(|row| row["origin"] == "log");
    assert!(!inner.is_empty(), "the demo has a script with a failed call");
    assert_eq!((&failed["calls"], &failed["inner_calls"]), (&own.len().into(), &inner.len().into()));
    assert_eq!(failed["sessions"], rows(&["--demo", "list", "status:failed"]).len());
    assert_eq!(failed["by_status"], serde_json::json!({"failed": failed["calls"]}));
    assert_eq!(stats("since:2020"), all);
    let calls = |agent: &str| stats(&format!("agent:{agent}"))["calls"].as_u64().unwrap();
    assert!(calls("codex") > 0 && calls("codex") + calls("claude") == all["calls"].as_u64().unwrap());
    assert!(stats("agent:codex")["usage"].as_object().unwrap().len() < all["usage"].as_object().unwrap().len());
}

/// Queries with terms on calls, on sessions and on texts.
const QUERIES: &[&str] = &[
    "status:failed",
    "kind:shell not:status:succeeded",
    "purpose:test,build",
    "has:masked status:succeeded",
    "file:src/**",
    "command:git",
    "has:image",
    "error",
    "re:^error",
    "\"not found\" kind:shell",
    "took>1m",
    "not:tool:Bash hello",
    "agent:codex exit:nonzero",
    "model:opus since:2025-10",
    "is:failed",
];

/// What `list` shows are the sessions of the calls that `calls` shows; further ones only for what was said, or is true of a session.
#[track_caller]
fn lists_agree(logs: &str, queries: &[&str]) {
    for query in queries {
        let of_calls: BTreeSet<String> = column(&rows(&["calls", logs, query]), "session").into_iter().collect();
        let listed: BTreeSet<String> = column(&rows(&["list", logs, query]), "session").into_iter().collect();
        assert!(of_calls.is_subset(&listed), "{query}");
        let may_be_more = ["error", "re:", "\"", "hello", "since:"].iter().any(|text| query.contains(text));
        assert!(may_be_more || of_calls == listed, "{query}");
    }
}

#[test]
fn lists_and_calls_agree_on_the_demo() {
    lists_agree("--demo", QUERIES);
}

/// A naive look at an unfiltered row.
type Naive = fn(&Value, &Value) -> bool;

/// The tool of a row, and the one that ran where it is a script that only calls that.
fn tools(row: &Value) -> impl Iterator<Item = &str> {
    [&row["tool"], &row["unwrapped"]].into_iter().filter_map(Value::as_str)
}

/// Queries that rows alone answer, and the same asked of their JSON.
const NAIVE: &[(&str, Naive)] = &[
    ("status:failed", |row, _| row["status"] == "failed"),
    ("status:failed,rejected not:kind:shell", |row, _| {
        (row["status"] == "failed" || row["status"] == "rejected") && row["kind"] != "shell"
    }),
    ("tool:bash", |row, _| tools(row).any(|tool| tool.eq_ignore_ascii_case("bash"))),
    ("tool:mcp__*", |row, _| tools(row).any(|tool| tool.starts_with("mcp__"))),
    ("tool:exec_command", |row, _| tools(row).any(|tool| tool == "exec_command")),
    ("not:tool:*e*", |row, _| tools(row).all(|tool| !tool.to_lowercase().contains('e'))),
    ("reason:exit_code exit>1", |row, _| row["reason"] == "exit_code" && row["exit_code"].as_i64().is_some_and(|code| code > 1)),
    ("exit:nonzero", |row, _| row["exit_code"].as_i64().is_some_and(|code| code != 0)),
    ("exit:0", |row, _| row["exit_code"] == 0),
    ("took:10s..", |row, _| row["duration_ms"].as_u64().is_some_and(|took| took >= 10_000)),
    ("took<100ms kind:read", |row, _| row["duration_ms"].as_u64().is_some_and(|took| took < 100) && row["kind"] == "read"),
    ("took:1s..5s", |row, _| row["duration_ms"].as_u64().is_some_and(|took| (1000..=5000).contains(&took))),
    ("agent:codex", |row, _| row["agent"] == "codex"),
    ("model:sonnet", |row, _| row["model"].as_str().is_some_and(|model| model.contains("sonnet"))),
    ("purpose:test", |row, _| row["purpose"] == "test"),
    ("purpose:test,lint has:masked", |row, _| {
        (row["purpose"] == "test" || row["purpose"] == "lint") && !row["masked"].as_array().unwrap().is_empty()
    }),
    ("has:masked", |row, _| !row["masked"].as_array().unwrap().is_empty()),
    ("has:subagent", |row, _| !row["child_session"].is_null()),
    ("has:background", |row, _| !row["background"].is_null()),
    ("has:hooks", |row, _| !row["hooks"].as_array().unwrap().is_empty()),
    ("since:2025-12", |row, _| row["requested_at"].as_str().is_some_and(|time| time >= "2025-12-01")),
    ("until:2025-12-24", |row, _| row["requested_at"].as_str().is_some_and(|time| time < "2025-12-25")),
    ("not:since:2025-12", |row, _| row["requested_at"].as_str().is_none_or(|time| time < "2025-12-01")),
    ("branch:main", |_, session| session["branch"] == "main"),
    ("project:/home", |_, session| session["project"].as_str().is_some_and(|project| project == "/home" || project.starts_with("/home/"))),
    ("is:live", |_, session| session["state"] != "ended"),
    ("session:0 kind:edit", |row, _| row["session"].as_str().unwrap().starts_with('0') && row["kind"] == "edit"),
];

fn corpus() -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return None;
    }
    Some(root.to_str().unwrap().to_owned())
}

#[test]
fn real_calls_are_those_that_a_naive_look_finds() {
    let Some(corpus) = corpus() else { return };
    let all = rows(&["calls", &corpus]);
    let sessions: BTreeMap<String, Value> =
        rows(&["list", &corpus]).into_iter().map(|row| (row["session"].as_str().unwrap().to_owned(), row)).collect();
    let mut found_any = 0;
    for (query, naive) in NAIVE {
        let session = |row: &Value| sessions.get(row["session"].as_str().unwrap()).unwrap_or(&Value::Null);
        let expected: Vec<&Value> = all.iter().filter(|row| naive(row, session(row))).collect();
        let found = rows(&["calls", &corpus, query]);
        assert_eq!(column(&found, "ref"), expected.iter().map(|row| row["ref"].as_str().unwrap()).collect::<Vec<_>>(), "{query}");
        assert!(found.iter().eq(expected), "{query}: rows differ");
        found_any += usize::from(!found.is_empty());
        println!("{query}: {} of {}", found.len(), all.len());
    }
    assert!(found_any > NAIVE.len() / 2, "the logs have hardly any of what is asked for");
}

#[test]
fn real_texts_are_there_or_not() {
    let Some(corpus) = corpus() else { return };
    lists_agree(&corpus, &["has:masked status:succeeded", "command:git", "\"not found\"", "agent:codex exit:nonzero"]);
    let calls = |query: &str| {
        rows(&["calls", &corpus, query]).iter().map(|row| row["request"].to_string() + &row["call"].to_string()).collect::<BTreeSet<_>>()
    };
    let all = calls("");
    for text in ["re:^error", "file:src", "has:image"] {
        let (with, without) = (calls(text), calls(&format!("not:{text}")));
        assert!(!with.is_empty() && with.is_disjoint(&without), "{text}");
        assert_eq!(with.union(&without).cloned().collect::<BTreeSet<_>>(), all, "{text}");
    }
    let error = calls("error");
    assert_eq!(calls("ERROR not:zzzzzz warning"), error.intersection(&calls("warning")).cloned().collect::<BTreeSet<_>>());
    assert!(calls("re:^error").is_subset(&error));
}
