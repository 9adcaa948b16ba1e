//! `stats --by`: whatever totals are told apart by, they add up to the totals.

#![allow(clippy::unwrap_used)] // a panic is the report

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What `stats` says of some logs, in a time zone.
fn stats(zone: &str, logs: &[&str], arguments: &[&str]) -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(["stats", "--json"]).args(logs).args(arguments).env_clear().env("HOME", home.path()).env("TZ", zone);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

const TOKENS: [&str; 6] = ["messages", "input", "output", "cache_write_5m", "cache_write_1h", "cache_read"];

fn adds_up(logs: &[&str], filter: &[&str]) {
    let whole = &stats("UTC", logs, filter)[0];
    for by in ["project", "day", "week", "month", "model", "tool", "agent", "branch", "session"] {
        let groups = stats("UTC", logs, &[filter, &["--by", by]].concat());
        let sum = |key: &str| groups.iter().map(|group| number(&group[key])).sum::<u64>();
        assert_eq!(sum("calls"), number(&whole["calls"]), "by {by}");
        let by_status = groups.iter().flat_map(|group| group["by_status"].as_object().unwrap().values()).map(number).sum::<u64>();
        assert_eq!(by_status, number(&whole["calls"]), "by {by}");
        if !matches!(by, "model" | "tool") {
            assert_eq!(sum("turns"), number(&whole["turns"]), "by {by}");
        }
        if by != "tool" {
            for key in TOKENS {
                let parts = groups.iter().map(|group| number(&group["usage"][key])).sum::<u64>();
                let all = whole["usage"].as_object().unwrap().values().map(|model| number(&model[key])).sum::<u64>();
                assert_eq!(parts, all, "{key} by {by}");
            }
        }
        let keys: Vec<&str> = groups.iter().filter_map(|group| group["key"].as_str()).collect();
        if matches!(by, "day" | "week" | "month") {
            assert!(keys.is_sorted(), "{keys:?}");
        }
        let distinct: std::collections::BTreeSet<&str> = keys.iter().copied().collect();
        assert_eq!(distinct.len(), keys.len());
    }
}

#[test]
fn groups_add_up_to_the_totals() {
    adds_up(&["--demo"], &[]);
    adds_up(&["--demo"], &["status:failed"]);
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
    if real.is_dir() {
        adds_up(&[real.to_str().unwrap()], &[]);
    }
}

#[test]
fn commands_are_counted_by_their_program() {
    let groups = stats("UTC", &["--demo"], &["--by", "command", "status:failed"]);
    let calls = |key: &str| groups.iter().find(|group| group["key"] == key).map(|group| number(&group["calls"]));
    assert!(calls("cargo test").is_some_and(|calls| calls > 0), "{groups:?}");
    // Calls that ran no command have no group, and neither turns nor tokens belong to a command.
    assert!(groups.iter().all(|group| group["key"].is_string() && group["turns"].is_null() && group["usage"].is_null()));
    let months = stats("UTC", &["--demo"], &["--by", "month"]);
    assert_eq!(months.iter().map(|group| group["key"].as_str().unwrap()).collect::<Vec<_>>(), ["2026-03"]);
}

#[test]
fn days_begin_where_the_person_is() {
    let days = |zone: &str| {
        let days = stats(zone, &["--demo"], &["--by", "day"]);
        days.iter().map(|day| (day["key"].as_str().unwrap().to_owned(), number(&day["calls"]))).collect::<Vec<_>>()
    };
    let (here, far) = (days("UTC"), days("Pacific/Kiritimati"));
    assert_ne!(here, far);
    assert_eq!(here.iter().map(|day| day.1).sum::<u64>(), far.iter().map(|day| day.1).sum::<u64>());
    assert!(far.iter().any(|(day, _)| !here.iter().any(|(other, _)| other == day)), "{far:?}");
}

#[test]
fn what_was_before_does_not_count() {
    let all = stats("UTC", &["--demo"], &["--by", "day"]);
    let last = all.last().unwrap();
    let since = format!("since:{}", last["key"].as_str().unwrap());
    let only = stats("UTC", &["--demo"], &["--by", "day", &since]);
    assert_eq!(only.len(), 1);
    assert_eq!(&only[0], last);
    let newest = stats("UTC", &["--demo"], &["--by", "day", "-n", "1"]);
    assert_eq!(newest, only);
}
