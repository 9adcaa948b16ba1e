//! `failures`: the demo's failures counted again from its calls; filters, numbers and unresolved ones; named logs and an empty machine.

#![allow(clippy::unwrap_used)] // a panic is the report

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TZ", "UTC").current_dir(home).stdin(Stdio::null());
    command.output().unwrap()
}

fn rows(home: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = run(home, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sum(rows: &[Value], field: &str) -> u64 {
    rows.iter().map(|row| row[field].as_u64().unwrap()).sum()
}

const FAILURES: [&str; 4] = ["failed", "timed_out", "blocked", "rejected"];

#[test]
fn the_demo_has_as_many_failures_as_its_calls_say() {
    let home = tempfile::tempdir().unwrap();
    let told = rows(home.path(), &["failures", "--demo", "--json"]);
    let calls = rows(home.path(), &["calls", "--demo", "--json"]);
    let failed = |call: &&Value| FAILURES.contains(&call["status"].as_str().unwrap());
    // A script whose inner call failed is told by that call.
    let told_within =
        |call: &Value| calls.iter().any(|inner| inner["parent_call"] == call["call"] && inner["origin"] == "script" && failed(&inner));
    let counted: Vec<&Value> = calls.iter().filter(failed).filter(|call| !(call["kind"] == "script" && told_within(call))).collect();
    // `grep`, `diff` and the like are not among the commands of the demo that decided over a failure.
    let answers = |call: &&&Value| {
        call["exit_code"] == 1 && call["exit_of"].as_str().is_some_and(|of| ["grep", "rg", "diff"].iter().any(|name| of.starts_with(name)))
    };
    let counted = counted.len() - counted.iter().filter(answers).count();
    assert_eq!(sum(&told, "calls"), counted as u64, "{told:#?}");
    assert!(told.len() > 10 && told.windows(2).all(|pair| pair[0]["calls"].as_u64() >= pair[1]["calls"].as_u64()));
    for row in &told {
        let parts = |field: &str| row[field].as_object().unwrap().values().map(|number| number.as_u64().unwrap()).sum::<u64>();
        for field in ["by_status", "by_tool", "by_day", "by_follow_up"] {
            assert_eq!(parts(field), row["calls"].as_u64().unwrap(), "{field} of {row}");
        }
        let resolved = row["by_follow_up"]["resolved"].as_u64().unwrap_or_default();
        assert_eq!(row["unresolved"].as_u64().unwrap() + resolved, row["calls"].as_u64().unwrap());
        let example = row["example"].as_str().unwrap();
        assert!(calls.iter().any(|call| call["ref"] == example && failed(&call)), "{row}");
    }
    let unresolved = rows(home.path(), &["failures", "--demo", "--json", "--unresolved"]);
    assert_eq!(sum(&unresolved, "calls"), sum(&told, "unresolved"));
    let blocked = rows(home.path(), &["failures", "--demo", "--json", "status:blocked"]);
    assert!(!blocked.is_empty() && blocked.iter().all(|row| row["by_status"].as_object().unwrap().keys().eq(["blocked"])));
    let today = rows(home.path(), &["failures", "--demo", "--json", "--since", "2026-03-03"]);
    assert!(sum(&today, "calls") < sum(&told, "calls") && !today.is_empty());
    assert_eq!(rows(home.path(), &["failures", "--demo", "--json", "-n", "2"]), told[..2]);
}

#[test]
fn a_table_says_how_many_there_are() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &["failures", "--demo", "-n", "3"]);
    let (table, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let heads: Vec<&str> = table.lines().next().unwrap().split("  ").map(str::trim).filter(|head| !head.is_empty()).collect();
    assert_eq!(heads, ["CALLS", "SESSIONS", "TOOLS", "FIRST", "LAST", "REF", "WHAT CAME NEXT", "MESSAGE"]);
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(
        notes.contains(" failures in ") && notes.contains(" unresolved") && notes.contains("the 3 most frequent; -n 0 shows all"),
        "{notes}"
    );
    let none = run(home.path(), &["failures", "--demo", "status:succeeded"]);
    assert!(none.status.success() && none.stdout.is_empty() && String::from_utf8_lossy(&none.stderr).contains("no failures"));
}

#[test]
fn logs_can_be_named_and_a_machine_without_any_says_where_it_looked() {
    let home = tempfile::tempdir().unwrap();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/projects/-srv-shop");
    let named = rows(home.path(), &["failures", "--json", demo.to_str().unwrap()]);
    assert!(!named.is_empty() && named.iter().all(|row| row["sessions"] == 1 || row["sessions"] == 2), "{named:?}");
    let empty = run(home.path(), &["failures"]);
    assert_eq!(empty.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&empty.stderr).contains("looked in"));
    // The index is used where there is one, and gives the same.
    std::fs::create_dir_all(home.path().join(".claude/projects/-srv-shop")).unwrap();
    for entry in std::fs::read_dir(&demo).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let target = home.path().join(".claude/projects/-srv-shop").join(entry.file_name().unwrap());
        std::fs::copy(&entry, &target).unwrap();
        // Written long ago, or the sessions would be live.
        std::fs::File::options().append(true).open(&target).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    }
    for arguments in [&["failures", "--json"][..], &["failures", "--json"], &["failures", "--json", "--no-cache"]] {
        let stored = rows(home.path(), arguments);
        let plain = |rows: &[Value]| {
            rows.iter().map(|row| (row["failure"].clone(), row["calls"].clone(), row["by_follow_up"].clone())).collect::<Vec<_>>()
        };
        assert_eq!(plain(&stored), plain(&named), "{arguments:?}");
    }
    // Tables of calls have the first line of the error, once it is stored.
    let calls = String::from_utf8(run(home.path(), &["calls", "status:failed,blocked"]).stdout).unwrap();
    assert!(calls.lines().next().unwrap().contains("ERROR"), "{calls}");
}
