//! Invented logs, one folder a case, and everything that is read from them kept as a snapshot.
//!
//! A case is a folder of `fixtures/<agent>/`, laid out like the agent's own directory. Beside the logs lie `about.md`, one line
//! that says what the case shows, and sometimes `now`, the moment of asking. To add a case, add a folder, run this test with
//! `INSTA_UPDATE=always`, and read the snapshot: it is what the case claims.
//!
//! A case with a `wrong.md` is known to read wrongly: its snapshot is what should come out, the file says what does instead. Once
//! it reads as it should, the test asks for the file to be removed.
//!
//! Rows are the JSON contracts, shortened without losing anything: what is null or empty, one call alone in its message and
//! `sidechain: false`, `origin: log`, `input_from: request` and `inner_calls: 0` are left out, a position is `file:line`, and `:line` where the file is the request's own.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tooltrail_formats::scan::{Options, Progress, scan};
use tooltrail_formats::{Places, find};
use tooltrail_model::link::{Linked, Source};
use tooltrail_model::{Linker, Now, Time};

/// When a case is looked at, unless it says otherwise: long after everything in it.
const NOW: &str = "2026-03-05T00:00:00Z";

/// The folders of `fixtures/`, each with the variable that moves its agent's directory: every case is such a directory.
const AGENTS: &[(&str, &str)] = &[("claude_code", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME"), ("opencode", "XDG_DATA_HOME")];

fn folder(name: &str, agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name).join(agent)
}

fn cases_of(agent: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder("fixtures", agent)).unwrap();
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    cases
}

fn cases() -> Vec<PathBuf> {
    AGENTS.iter().flat_map(|(agent, _)| cases_of(agent)).collect()
}

fn agent(case: &Path) -> &str {
    case.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap()
}

/// Where a case's logs are looked for: it is the agent's own directory.
fn places(case: &Path) -> Places {
    let (_, variable) = *AGENTS.iter().find(|(name, _)| *name == agent(case)).unwrap();
    Places { environment: [(variable, case.into())].into(), ..Places::default() }
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Reads a case. Results must not depend on where and when it was checked out: paths are made relative, and a file counts as
/// written when its last record says.
fn read(case: &Path) -> (Linker, Now) {
    let places = [places(case)];
    let found = find::in_places(&places);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let options = Options { threads: 1, check_utf8: true, ..Options::default() };
    let (scanned, problems) = scan(&found.files, &options, &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    let mut linker = Linker::default();
    for source in scanned.sources() {
        let path = Path::new(&*source.path).strip_prefix(case).unwrap();
        let path = path.to_string_lossy().replace('\\', "/").into();
        let summary = source.summary.clone();
        linker.put(Source { path, modified: summary.last, summary });
    }
    let time = fs::read_to_string(case.join("now")).unwrap_or_else(|_| NOW.to_owned());
    let mut now = Now::at(time.trim().parse::<Time>().unwrap());
    for entry in find::registered(&places) {
        now.live.insert(entry.session.into(), entry.live);
    }
    (linker, now)
}

/// A row as a line of JSON, shortened.
fn brief(mut row: Value) -> String {
    let own = row.pointer("/request/file").cloned();
    let fields = row.as_object_mut().unwrap();
    fields.shift_remove("v");
    if fields.get("parallel") == Some(&Value::from(1)) {
        fields.shift_remove("parallel");
    }
    let usual = [("sidechain", Value::from(false)), ("origin", "log".into()), ("input_from", "request".into()), ("inner_calls", 0.into())];
    for (name, usual) in usual {
        if fields.get(name) == Some(&usual) {
            fields.shift_remove(name);
        }
    }
    let request = fields.get_mut("request").map(|request| {
        shorten(request, None);
        request.take()
    });
    shorten(&mut row, own.as_ref());
    let fields = row.as_object_mut().unwrap();
    if let Some(request) = request {
        fields.insert("request".to_owned(), request);
    }
    let mut ordered = Map::new();
    for first in ["call", "tool", "status", "reason", "file"] {
        ordered.extend(fields.shift_remove_entry(first));
    }
    ordered.append(fields);
    Value::Object(ordered).to_string()
}

fn shorten(value: &mut Value, own: Option<&Value>) {
    match value {
        Value::Object(fields) => {
            if fields.len() == 2 && fields.contains_key("file") && fields.contains_key("line") {
                let file = fields.get("file").filter(|file| Some(*file) != own);
                let file = file.and_then(Value::as_str).unwrap_or_default();
                *value = format!("{file}:{}", fields["line"]).into();
                return;
            }
            for field in fields.values_mut() {
                shorten(field, own);
            }
            fields.retain(|_, field| !is_empty(field));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, own)),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Everything that is read from a case.
fn report(linker: &Linker, linked: &Linked<'_>, now: &Now) -> String {
    let calls: Vec<String> = linked.call_rows(now, false).map(|row| brief(json!(row))).collect();
    let copies: Vec<String> = linked.call_rows(now, true).map(|row| brief(json!(row))).collect();
    let same = copies == calls;
    let copies = if same { vec!["the same".to_owned()] } else { copies };
    let sections = [
        ("calls", calls),
        ("calls, each copy alone", copies),
        ("sessions", linked.session_rows(now).iter().map(|row| brief(json!(row))).collect()),
        ("check", linked.check_rows(now).iter().map(|row| brief(json!(row))).collect()),
        ("stats", vec![brief(json!(linked.stats(now)))]),
        ("hooks of no call", loose_hooks(linker)),
    ];
    let mut text = String::new();
    for (title, lines) in sections {
        if !lines.is_empty() {
            text.push_str(&format!("## {title}\n{}\n", lines.join("\n")));
        }
    }
    text
}

fn loose_hooks(linker: &Linker) -> Vec<String> {
    let mut lines = Vec::new();
    for source in linker.sources() {
        for loose in &source.summary.hooks {
            let (hook, names) = (&loose.hook, &source.summary.names);
            let line = json!({
                "event": names.opt(hook.event), "name": names.opt(hook.name), "command": names.opt(hook.command),
                "outcome": hook.outcome, "turn": loose.turn, "evidence": format!("{}:{}", source.path, hook.at.line),
            });
            lines.push(brief(line));
        }
    }
    lines
}

/// Compares a case with its snapshot.
fn compare(case: &Path) {
    let about = fs::read_to_string(case.join("about.md")).unwrap();
    assert_eq!(about.trim().lines().count(), 1, "{}", case.display());
    let text = || {
        let (linker, now) = read(case);
        report(&linker, &linker.link(), &now)
    };
    if case.join("wrong.md").exists() {
        let kept = fs::read_to_string(folder("snapshots", agent(case)).join(name(case) + ".snap")).unwrap();
        let (_, right) = kept[4..].split_once("\n---\n").unwrap();
        // Some wrong answers depend on chance; only one that is always right is right.
        let always = (0..16).all(|_| text().trim() == right.trim());
        assert!(!always, "{} reads as it should now: remove its wrong.md", name(case));
        return;
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder("snapshots", agent(case)));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(about.trim());
    settings.bind(|| insta::assert_snapshot!(name(case), text()));
}

#[test]
fn every_case_reads_as_its_snapshot_says() {
    // Go on after a difference, so that one run shows all of them.
    let differs = |case: &PathBuf| std::panic::catch_unwind(|| compare(case)).is_err();
    let wrong: Vec<String> = cases().iter().filter(|case| differs(case)).map(|case| name(case)).collect();
    assert!(wrong.is_empty(), "look at these cases: {wrong:?}");
}

#[test]
fn every_snapshot_has_its_case() {
    for (agent, _) in AGENTS {
        // A new agent has no snapshots until its first case is compared.
        let snapshots = fs::read_dir(folder("snapshots", agent)).into_iter().flatten();
        let snapshots = snapshots.map(|entry| entry.unwrap().path());
        let snapshots = snapshots.filter(|path| path.extension().is_some_and(|end| end == "snap"));
        let kept: BTreeSet<String> = snapshots.map(|path| name(&path)).collect();
        let cases: BTreeSet<String> = cases_of(agent).iter().map(|case| name(case)).collect();
        // A case without a snapshot fails when it is compared; here, what its case has left behind.
        let left: Vec<&String> = kept.difference(&cases).collect();
        assert!(left.is_empty(), "snapshots whose case is gone: {left:?}");
    }
}

#[test]
fn every_folder_is_listed() {
    let folders = fs::read_dir(folder("fixtures", "")).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let folders: BTreeSet<String> = folders.map(|path| name(&path)).collect();
    let listed: BTreeSet<String> = AGENTS.iter().map(|(agent, _)| (*agent).to_owned()).collect();
    assert_eq!(folders, listed, "folders of `fixtures/`, and `AGENTS`");
}

#[test]
fn every_line_of_every_case_is_accounted_for() {
    for case in cases() {
        let (linker, now) = read(&case);
        let linked = linker.link();
        assert!(linker.sources().next().is_some(), "no log is found in {}: look at `roots` and `is_log_name`", case.display());
        for row in linked.check_rows(&now) {
            let records: u64 = row.records.values().sum();
            let (file, whole) = (row.file, fs::read(case.join(row.file)).unwrap());
            assert_eq!(row.lines, row.blank + records + row.unparsed, "{file}");
            assert_eq!(row.bytes, whole.len() as u64, "{file}");
            // The records of a document are counted like lines, but do not lie on them.
            if !file.ends_with(".json") {
                let ends = whole.split_inclusive(|&byte| byte == b'\n').count();
                assert_eq!(row.lines, ends as u64, "{file}");
            }
            assert_eq!(row.calls, row.paired + row.unanswered, "{file}");
        }
        // Calls in the texts of scripts are counted apart.
        let listed = linked.call_rows(&now, false).filter(|row| !row.is_inner()).count() as u64;
        let inner = linked.call_rows(&now, false).filter(|row| row.is_inner()).count() as u64;
        assert_eq!(inner, linked.stats(&now).inner_calls, "calls in scripts of {}", case.display());
        let by_session: u64 = linked.session_rows(&now).iter().map(|row| row.calls).sum();
        assert_eq!(listed, linked.stats(&now).calls, "totals of {}", case.display());
        assert_eq!(listed, by_session, "sessions of {}", case.display());
    }
}

/// Every status and reason that the cases of an agent show.
fn outcomes(agent: &str) -> BTreeSet<(&'static str, &'static str)> {
    let mut shown = BTreeSet::new();
    for case in cases_of(agent) {
        let (linker, now) = read(&case);
        for row in linker.link().call_rows(&now, false) {
            shown.insert((row.status.word(), row.reason.map_or("-", |reason| reason.word())));
        }
    }
    shown
}

/// Every status and reason that a Claude log can show, each by at least one case.
#[test]
fn the_cases_show_every_outcome() {
    let expected = [
        ("succeeded", "-"),
        ("failed", "tool_error"),
        ("failed", "exit_code"),
        ("failed", "invalid_input"),
        ("failed", "unknown_tool"),
        ("failed", "precondition"),
        ("failed", "too_large"),
        ("failed", "mcp_error"),
        ("rejected", "user"),
        ("rejected", "user_feedback"),
        ("rejected", "after_rejection"),
        ("blocked", "hook"),
        ("blocked", "permission_rule"),
        ("blocked", "auto_mode"),
        ("blocked", "not_granted"),
        ("blocked", "sandbox"),
        ("cancelled", "sibling_failed"),
        ("cancelled", "stream_discarded"),
        ("interrupted", "user"),
        ("interrupted", "handover"),
        ("timed_out", "timeout"),
        ("running", "awaiting_result"),
        ("running", "awaiting_permission"),
        ("unanswered", "log_ends"),
        ("unanswered", "conversation_moved_on"),
        ("unanswered", "api_error"),
        ("unanswered", "log_truncated"),
    ];
    // `answered` is Codex's.
    assert_eq!(outcomes("claude_code"), expected.into_iter().collect());
}

/// The same for Codex.
#[test]
fn the_cases_show_every_outcome_of_codex() {
    let expected = [
        ("succeeded", "-"),
        ("failed", "tool_error"),
        ("failed", "exit_code"),
        ("failed", "invalid_input"),
        ("failed", "unknown_tool"),
        ("failed", "precondition"),
        ("failed", "mcp_error"),
        ("answered", "no_outcome_recorded"),
        ("rejected", "user"),
        ("blocked", "hook"),
        ("blocked", "permission_rule"),
        ("blocked", "auto_mode"),
        ("blocked", "sandbox"),
        ("interrupted", "user"),
        ("timed_out", "timeout"),
        ("running", "awaiting_result"),
        ("unanswered", "log_ends"),
        ("unanswered", "conversation_moved_on"),
        ("unanswered", "api_error"),
        ("unanswered", "log_truncated"),
    ];
    assert_eq!(outcomes("codex"), expected.into_iter().collect());
}

/// A case's calls without what its log is called and where on a line they stand.
fn bare_calls(case: &str) -> Vec<Value> {
    let (linker, now) = read(&folder("fixtures", "codex").join(case));
    let linked = linker.link();
    let rows = linked.call_rows(&now, false).map(|row| json!(row));
    let strip = |mut row: Value| {
        for key in ["session", "ref", "evidence", "request", "result"] {
            row.as_object_mut().unwrap().shift_remove(key);
        }
        row
    };
    rows.map(strip).collect()
}

#[test]
fn pages_change_nothing_about_the_calls() {
    let calls = bare_calls("paginated");
    assert_eq!(calls.len(), 4);
    assert_eq!(calls, bare_calls("paginated-as-legacy"));
}

/// A child that begins with its parent's records adds what it did itself, nothing else.
#[test]
fn a_replay_changes_no_total() {
    let case = folder("fixtures", "codex").join("subagent-replay");
    let (linker, now) = read(&case);
    let all = linker.link().stats(&now);
    let child = linker.sources().find(|source| source.path.contains("T10-00-04")).unwrap().path.clone();
    let mut alone = linker.clone();
    alone.remove(&child);
    let parent = alone.link().stats(&now);
    assert_eq!((all.calls, parent.calls), (3, 2));
    assert_eq!(all.turns, parent.turns);
    let messages = |stats: &tooltrail_model::row::StatsRow| stats.usage.values().map(|usage| usage.messages).sum::<u64>();
    assert_eq!((messages(&all), messages(&parent)), (3, 2));
}

/// Programs are built on these keys: all of them, always, in this order.
#[test]
fn rows_have_the_keys_of_the_contract() {
    let calls = "v agent session agent_id ref call tool server kind status reason evidence requested_at completed_at duration_ms \
                 run_ms exit_code exit_of masked purpose is_error input_bytes result_bytes model message parallel parent_call \
                 child_session background hooks request result cwd sidechain copy_of about unwrapped inner origin input_from";
    let sessions = "v agent session title project branch started_at last_at state state_reason turns calls by_status models \
                    usage files inner_calls";
    let check = "v agent file bytes lines blank records unparsed unknown_records calls paired unanswered orphan_results \
                 duplicate_results issues";
    let keys = |row: Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for case in cases() {
        let (linker, now) = read(&case);
        let linked = linker.link();
        for row in linked.call_rows(&now, true) {
            assert_eq!(keys(json!(row)), words(calls));
        }
        for row in linked.session_rows(&now) {
            assert_eq!(keys(json!(row)), words(sessions));
        }
        for row in linked.check_rows(&now) {
            assert_eq!(keys(json!(row)), words(check));
        }
    }
}
