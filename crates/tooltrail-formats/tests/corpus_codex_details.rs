//! Real Codex logs, where they lie beside the repository, looked at closely: every call has its input, every result its answer, and
//! no words are lost. Held against a naive reading with serde_json; nothing of the logs is kept.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(clippy::print_stdout)] // says what was compared

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::value::Payloads;
use tooltrail_formats::{DetailRequest, FORMATS, Format, Record, TypedRecord, find, value};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::{LoggedResult, Part};
use tooltrail_model::{At, Kind, Linker, Now, Span, Time};

fn codex() -> &'static dyn Format {
    *FORMATS.iter().find(|format| format.agent() == "codex").unwrap()
}

fn scanned() -> Option<Linker> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return None;
    }
    let search = find::in_paths(&[root.join("real/codex"), root.join("fixtures/codex")]);
    let (linker, problems) = scan::scan(&search.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    Some(linker)
}

/// The records of a log by line.
fn records(path: &str) -> Vec<Vec<u8>> {
    fs::read(path).unwrap().split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// The record on a line; nothing if that is no whole record.
fn opened(records: &[Vec<u8>], line: u64) -> Option<Box<dyn TypedRecord + '_>> {
    let bytes = &records[usize::try_from(line).unwrap() - 1];
    let at = At { line, span: Span { start: 0, end: bytes.len() as u64 } };
    codex().open(Record { at, bytes }).ok()
}

/// The parts of the record on a line.
fn parts(records: &[Vec<u8>], line: u64) -> Vec<Part> {
    opened(records, line).map(|record| record.parts(Payloads::default()).parts).unwrap_or_default()
}

/// The records that tell the end of each call.
type Ends = BTreeMap<String, Vec<u64>>;

fn ends(records: &[Vec<u8>]) -> Ends {
    let mut ends = Ends::new();
    for line in 1..=records.len() as u64 {
        for part in parts(records, line) {
            if let Part::End(call) = part {
                ends.entry(call).or_default().push(line);
            }
        }
    }
    ends
}

#[test]
fn every_call_has_its_input_and_every_result_its_answer() {
    let Some(linker) = scanned() else { return };
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let mut logs: BTreeMap<String, (Vec<Vec<u8>>, Ends)> = BTreeMap::new();
    let mut families: BTreeMap<String, u64> = BTreeMap::new();
    let (mut calls, mut answers) = (0, 0);
    for row in linked.call_rows(&now, true).filter(|row| row.agent == "codex" && row.request.file.ends_with(".jsonl")) {
        let (records, ends) = logs.entry(row.request.file.to_owned()).or_insert_with_key(|file| {
            let records = records(file);
            let ends = ends(&records);
            (records, ends)
        });
        let place = format!("{} of {}:{}", row.call, row.request.file, row.request.line);
        let asked = opened(records, row.request.line).and_then(|record| record.request(row.call, Payloads::default()));
        let asked = asked.unwrap_or_else(|| panic!("no input: {place}"));
        let mut answer = row.result.as_ref().map(|result| {
            let answer = opened(records, result.line).and_then(|record| record.result(row.call, Payloads::default()));
            answer.unwrap_or_else(|| panic!("no answer: {place}"))
        });
        if let Some(answer) = &mut answer {
            let ends = ends.get(row.call).into_iter().flatten();
            ends.for_each(|&line| answer.join(opened(records, line).unwrap().result(row.call, Payloads::default()).unwrap()));
            answers += 1;
        }
        calls += 1;
        let family = told(row.tool, row.server, row.kind, row.status, &asked.input, answer.as_ref(), &place);
        *families.entry(family).or_default() += 1;
    }
    println!("{calls} calls, {answers} answers: {families:?}");
    assert!(calls > 1000 && answers > 1000);
}

/// The detail of a call, with what has to hold for it.
fn told(
    tool: &str,
    server: Option<&str>,
    kind: Kind,
    status: tooltrail_model::Status,
    input: &Value,
    answer: Option<&LoggedResult>,
    place: &str,
) -> String {
    let seen = answer.map_or(&[][..], |answer| &answer.seen);
    let produced = answer.and_then(|answer| answer.produced.as_ref());
    let told = codex().detail(&DetailRequest { tool, server, kind, status, input, seen, produced, answered: answer.is_some() });
    match &told.detail {
        Detail::Shell(shell) => {
            assert!(!shell.command.is_empty(), "no command: {place}");
            let head = shell.stdout.as_deref().unwrap_or_default();
            assert!(!head.starts_with("Chunk ID: ") && !head.starts_with("Exit code: "), "lines in front: {place}");
        }
        Detail::Patch(patch) => assert!(!patch.files.is_empty() || patch.unread.is_some(), "no patch: {place}"),
        Detail::Todo(todo) => assert!(!todo.new.is_empty(), "no steps: {place}"),
        Detail::TaskOutput(task) => assert!(task.task.is_some(), "no task: {place}"),
        _ => {}
    }
    let name = format!("{:?}", told.detail);
    name.split(['(', ' ']).next().unwrap_or_default().to_owned()
}

/// Every text that a part holds.
fn words(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Prompt { text, .. } | Part::Text(text) | Part::Thinking(text) | Part::Folded { text, .. } => text.clone(),
        Part::Command { line, output } => format!("{line}{}", output.as_deref().unwrap_or_default()),
        _ => String::new(),
    };
    parts.iter().map(text).collect()
}

/// The tags between which things stand are not words.
fn is_told(text: &str, words: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('<') && !line.starts_with("## My request"));
    lines.into_iter().all(|line| words.contains(line))
}

#[test]
fn no_words_are_lost() {
    let Some(linker) = scanned() else { return };
    let (mut texts, mut unknown) = (0, BTreeMap::<String, u64>::new());
    for source in linker.sources().filter(|source| source.summary.agent == Some("codex") && source.path.ends_with(".jsonl")) {
        let records = records(&source.path);
        for line in 1..=records.len() as u64 {
            let parts = parts(&records, line);
            let record = value::read(&records[usize::try_from(line).unwrap() - 1]);
            let said = words(&parts);
            let payload = if record["payload"].is_object() { &record["payload"] } else { &record };
            let lists = [&payload["content"], &payload["summary"]];
            let items = lists.into_iter().filter_map(Value::as_array).flatten().filter_map(|item| item["text"].as_str());
            let alone = ["message", "text", "last_agent_message"].iter().filter_map(|key| payload[key].as_str());
            // What the program settles with itself is not said to anybody.
            let told = matches!(record["type"].as_str(), Some("response_item" | "message"))
                || matches!(payload["type"].as_str(), Some("user_message" | "agent_message" | "agent_reasoning" | "task_complete"));
            for text in items.chain(alone).filter(|_| told) {
                assert!(is_told(text, &said), "lost words in {}:{line}", source.path);
                texts += 1;
            }
            for part in parts {
                if let Part::Unknown { name, .. } = part {
                    *unknown.entry(name).or_default() += 1;
                }
            }
        }
    }
    println!("{texts} texts; unknown: {unknown:?}");
    assert!(texts > 1500);
}
