//! Calls looked at closely: an invented session for every kind of tool, and what is told of each of its calls kept as a snapshot.
//!
//! A case is a folder of `tools/`, named after the view that shows its calls; `messages` is about everything that is said instead. To add
//! a case, add a folder, run this test with `INSTA_UPDATE=always`, and read the snapshot: it is what the case claims.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::fmt::{Debug, Write};
use std::fs;
use std::path::{Path, PathBuf};
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::value::Payloads;
use tooltrail_formats::{DetailRequest, FORMATS, Format, Record, TypedRecord, find, value};
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::{HookStory, Part};
use tooltrail_model::{At, Kind, Now, Status, Time};

/// The agents whose sessions lie in the folders, as files of the same name.
const AGENTS: &[&str] = &["claude"];

fn cases(agent: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools")).unwrap();
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path().join(format!("{agent}.jsonl"))).collect();
    cases.retain(|path| path.is_file());
    cases.sort();
    cases
}

fn format(agent: &str) -> &'static dyn Format {
    *FORMATS.iter().find(|format| format.agent() == agent).unwrap()
}

fn records(path: &Path) -> Vec<Vec<u8>> {
    fs::read(path).unwrap().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// A record, by its number.
fn opened<'r>(format: &'r dyn Format, records: &'r [Vec<u8>], line: u64) -> Box<dyn TypedRecord + 'r> {
    let bytes = &records[usize::try_from(line).unwrap() - 1];
    format.open(Record { at: At { line, ..At::default() }, bytes }).unwrap()
}

/// A value to be read by people: without what is empty, pictures left out, and what is short on one line.
fn brief(value: &impl Debug) -> String {
    let empty = [": None,", ": [],", ": {},", ": false,", ": \"\","];
    let text = format!("{value:#?}");
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !empty.iter().any(|end| line.ends_with(end))) {
        let own = line.trim_start();
        let picture = own.starts_with("\"iVBO") || own.starts_with("\"JVBE");
        lines.push(if picture { "<base64>,".to_owned() } else { line.to_owned() });
        if !own.starts_with([')', ']']) {
            continue;
        }
        let Some(open) = lines.iter().rposition(|line| line.ends_with(['(', '['])) else { continue };
        let inner: Vec<&str> = lines[open + 1..lines.len() - 1].iter().map(|line| line.trim().trim_end_matches(',')).collect();
        let leaves = inner.iter().all(|line| !line.starts_with(['}', ')', ']']) && !line.ends_with('{'));
        let joined = format!("{}{}{own}", lines[open], inner.join(", "));
        if leaves && (inner.len() == 1 || joined.len() < 120) {
            lines.truncate(open);
            lines.push(joined);
        }
    }
    lines.iter().fold(String::new(), |out, line| out + line + "\n")
}

/// Everything that is told of a call.
fn told(format: &dyn Format, records: &[Vec<u8>], row: &CallRow<'_>) -> String {
    let record = |line: u64| opened(format, records, line);
    let asked = record(row.request.line).request(row.call, Payloads::default()).unwrap();
    let answered = row.result.map(|place| record(place.line).result(row.call, Payloads::default()).unwrap());
    let ask = DetailRequest {
        tool: row.tool,
        server: row.server,
        kind: row.kind,
        status: row.status,
        input: &asked.input,
        seen: answered.as_ref().map(|answered| answered.seen.as_slice()).unwrap_or_default(),
        produced: answered.as_ref().and_then(|answered| answered.produced.as_ref()),
        answered: answered.is_some(),
    };
    let detailed = format.detail(&ask);
    let reason = row.reason.map_or("-", |reason| reason.word());
    let mut out = format!("== {} {} {reason}\n{}", row.tool, row.status.word(), brief(&detailed.detail));
    let mut add = |name: &str, text: Option<String>| {
        if let Some(text) = text {
            writeln!(out, "{name}: {text}").unwrap();
        }
    };
    let rest = |map: serde_json::Map<String, Value>| (!map.is_empty()).then(|| Value::Object(map).to_string());
    add("rest of the input", rest(detailed.rest_input));
    add("rest of what it produced", rest(detailed.rest_produced));
    add("error", detailed.error.map(|text| format!("{text:?}")));
    add("saved", detailed.saved.map(|saved| format!("{saved:?}")));
    add("feedback", answered.and_then(|answered| answered.feedback).map(|text| format!("{text:?}")));
    out
}

#[test]
fn calls_are_told_in_neutral_form() {
    for agent in AGENTS {
        for case in cases(agent) {
            let files = find::in_paths(std::slice::from_ref(&case)).files;
            let (linker, problems) = scan::scan(&files, &Options::default(), &Progress::default());
            assert!(problems.is_empty(), "{problems:?}");
            let linked = linker.link();
            let now = Now::at("2026-03-05T00:00:00Z".parse::<Time>().unwrap());
            let records = records(&case);
            let rows: Vec<CallRow<'_>> = linked.call_rows(&now, true).collect();
            assert!(!rows.is_empty(), "no calls in {}", case.display());
            let calls: Vec<String> = rows.iter().map(|row| told(format(agent), &records, row)).collect();
            snapshot(agent, &case, "details", &calls.join("\n"));
        }
    }
}

#[test]
fn messages_are_told_in_order() {
    for agent in AGENTS {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/messages").join(format!("{agent}.jsonl"));
        let mut out = String::new();
        let records = records(&case);
        for (line, value) in (1..).zip(records.iter().map(|line| value::read(line))).filter(|(_, value)| !value.is_null()) {
            let record = opened(format(agent), &records, line);
            let parts = record.parts(Payloads::default());
            let name = |value: &Option<String>| value.as_deref().map_or("-", |id| &id[id.len().saturating_sub(2)..]).to_owned();
            write!(out, "== {line} {} {} after {}", value["type"].as_str().unwrap_or("?"), name(&parts.id), name(&parts.parent)).unwrap();
            let marks = [(parts.sidechain, " aside"), (parts.echo, " echo"), (parts.time.is_none(), " timeless")];
            out.extend(marks.iter().filter(|(set, _)| *set).map(|(_, mark)| *mark));
            out.extend(parts.agent.iter().map(|agent| format!(" of {agent}")));
            out.push('\n');
            for part in &parts.parts {
                out.push_str(&brief(part));
            }
            let hooks: Vec<HookStory> = record.hooks(Payloads::default());
            let shown = parts.parts.iter().filter(|part| matches!(part, Part::Hook(_))).count();
            // The result of a refused call names the hook, and is shown in its call.
            let told = if value["type"] == "user" { 0 } else { hooks.len() };
            assert_eq!(told, shown, "line {line} shows its hooks");
        }
        snapshot(agent, &case, "parts", &out);
    }
}

/// Every tool gets what belongs to every other one, and records break off anywhere: nothing may panic.
#[test]
fn odd_values_are_told_without_a_panic() {
    for agent in AGENTS {
        let format = format(agent);
        let lines: Vec<Vec<u8>> = cases(agent)
            .iter()
            .flat_map(|case| fs::read(case).unwrap().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
            .collect();
        let (mut asks, mut answers, mut tools) = (Vec::new(), Vec::new(), std::collections::BTreeSet::new());
        for line in &lines {
            for cut in (0..line.len()).step_by(97).chain([line.len()]) {
                // A record that breaks off is none; what is left of it closes early and is read as far as it goes.
                let mended = value::read(&line[..cut]).to_string().into_bytes();
                let bytes = if cut == line.len() { line } else { &mended };
                let Ok(record) = format.open(Record { at: At { line: 1, ..At::default() }, bytes }) else { continue };
                let parts = record.parts(Payloads::default());
                record.hooks(Payloads::default());
                record.backups();
                for part in &parts.parts {
                    match part {
                        Part::Call(id) => asks.extend(record.request(id, Payloads::default()).filter(|_| cut == line.len())),
                        Part::Result(id) => answers.extend(record.result(id, Payloads::default()).filter(|_| cut == line.len())),
                        _ => {}
                    }
                }
            }
            let value = value::read(line);
            let blocks = value["message"]["content"].as_array().into_iter().flatten();
            tools.extend(blocks.filter_map(|block| block["name"].as_str().map(str::to_owned)));
        }
        assert!(asks.len() > 100 && answers.len() > 80 && tools.len() > 30, "{} {} {}", asks.len(), answers.len(), tools.len());
        for tool in &tools {
            for (asked, answered) in asks.iter().zip(answers.iter().cycle()) {
                for (status, answered_at_all) in [(Status::Succeeded, true), (Status::Failed, true), (Status::Unanswered, false)] {
                    format.detail(&DetailRequest {
                        tool,
                        server: None,
                        kind: Kind::Other,
                        status,
                        input: &asked.input,
                        seen: &answered.seen,
                        produced: answered.produced.as_ref(),
                        answered: answered_at_all,
                    });
                }
            }
        }
    }
}

fn snapshot(agent: &str, case: &Path, what: &str, text: &str) {
    let folder = case.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("snapshots/{what}/{agent}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(folder, text));
}
