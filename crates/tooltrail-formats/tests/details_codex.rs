//! Calls and messages of Codex as they are read for a view, from invented logs: `tools/<view>/codex.jsonl`.
//!
//! To add a case, add its records to the log of its view, run this test with `INSTA_UPDATE=always`, and read the snapshot. It is the
//! readable form of what was read, without the fields that hold nothing.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tooltrail_formats::scan::{Options, Progress, scan};
use tooltrail_formats::value::Payloads;
use tooltrail_formats::{DetailRequest, FORMATS, Format, Record, TypedRecord, find, value};
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::{LoggedResult, Part};
use tooltrail_model::{At, Kind, Now, Span, Status, Time};

fn codex() -> &'static dyn Format {
    *FORMATS.iter().find(|format| format.agent() == "codex").unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools")
}

/// The views that have a log, by name.
fn views() -> Vec<String> {
    let folders = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = folders
        .filter(|path| path.join("codex.jsonl").is_file())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn records(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn opened(records: &[String], line: u64) -> Box<dyn TypedRecord + '_> {
    open(&records[line as usize - 1], line).unwrap()
}

/// A record, unless it breaks off.
fn open(record: &str, line: u64) -> Option<Box<dyn TypedRecord + '_>> {
    let at = At { line, span: Span { start: 0, end: record.len() as u64 } };
    codex().open(Record { at, bytes: record.as_bytes() }).ok()
}

/// Everything that the records say about the result of a call, the result's own record first.
fn answer(records: &[String], row: &CallRow<'_>) -> Option<LoggedResult> {
    let first = opened(records, row.result.as_ref()?.line).result(row.call, Payloads::default())?;
    let ends = (1..=records.len() as u64).map(|line| opened(records, line)).filter(|record| {
        let parts = record.parts(Payloads::default()).parts;
        parts.contains(&Part::End(row.call.to_owned()))
    });
    Some(ends.fold(first, |mut known, record| {
        known.join(record.result(row.call, Payloads::default()).unwrap_or_default());
        known
    }))
}

fn told(records: &[String], row: &CallRow<'_>) -> String {
    let asked = opened(records, row.request.line).request(row.call, Payloads::default()).unwrap();
    let mut answer = answer(records, row);
    // Of a script that is one call, and of a call in a script: what the script printed about it.
    if let (Some(program), Some(answer)) = (&asked.program, &mut answer) {
        let number = row.call.rsplit_once('/').and_then(|(_, number)| number.parse().ok()).unwrap_or(1);
        answer.seen = codex().printed_by(program, number, &answer.seen).unwrap_or_default();
    }
    let ask = DetailRequest {
        tool: row.ran(),
        server: row.server,
        kind: row.kind,
        status: row.status,
        input: &asked.input,
        seen: answer.as_ref().map_or(&[][..], |answer| &answer.seen),
        produced: answer.as_ref().and_then(|answer| answer.produced.as_ref()),
        answered: answer.is_some(),
    };
    let mut out = format!("## {} {}, {}\n", row.call, row.tool, row.status.word());
    writeln!(out, "input: {}", asked.input).unwrap();
    writeln!(out, "{}", short(&format!("{:#?}", codex().detail(&ask)))).unwrap();
    for hook in row.result.iter().flat_map(|result| opened(records, result.line).hooks(Payloads::default())) {
        writeln!(out, "{}", short(&format!("{hook:#?}"))).unwrap();
    }
    writeln!(out, "seen: {:?}", answer.as_ref().map(|answer| &answer.seen)).unwrap();
    out
}

/// A debug text without the fields that hold nothing.
fn short(text: &str) -> String {
    let empty = ["None,", "[],", "{},", "false,", "\"\","];
    let kept = text.lines().filter(|line| !line.split_once(": ").is_some_and(|(_, value)| empty.contains(&value)));
    kept.collect::<Vec<_>>().join("\n")
}

/// The calls of a log, in order.
fn calls(path: &Path) -> String {
    let search = find::in_paths(&[path.to_owned()]);
    let (linker, problems) = scan(&search.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let mut rows: Vec<CallRow<'_>> = linked.call_rows(&now, true).collect();
    rows.sort_by_key(|row| row.request.line);
    let records = records(path);
    rows.iter().map(|row| told(&records, row)).collect::<Vec<_>>().join("\n")
}

/// The parts of a log, record by record.
fn messages(path: &Path) -> String {
    let mut out = String::new();
    let records = records(path);
    for line in 1..=records.len() as u64 {
        let parts = opened(&records, line).parts(Payloads::default());
        let time = parts.time.map(|time| time.to_string()).unwrap_or_default();
        writeln!(out, "{line} {time}{}", if parts.echo { " echo" } else { "" }).unwrap();
        parts.parts.iter().for_each(|part| writeln!(out, "    {part:?}").unwrap());
    }
    out
}

fn compare(view: &str) {
    let path = folder().join(view).join("codex.jsonl");
    let text = || if view == "messages" { messages(&path) } else { calls(&path) };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/details_codex");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(view, text()));
}

#[test]
fn every_log_reads_as_its_snapshot_says() {
    let views = views();
    assert!(views.len() >= 15, "{views:?}");
    // Go on after a difference, so that one run shows all of them.
    let differs = |view: &&String| std::panic::catch_unwind(|| compare(view)).is_err();
    let wrong: Vec<&String> = views.iter().filter(differs).collect();
    assert!(wrong.is_empty(), "look at these views: {wrong:?}");
}

#[test]
fn torn_and_twisted_records_end_nothing() {
    let twist = |line: &str| [line.replace("\":\"", "\":[\""), line.replace("\":{", "\":7,\"x\":{"), line.replace("\":[", "\":{\"x\":[")];
    for view in views() {
        let text = fs::read_to_string(folder().join(view).join("codex.jsonl")).unwrap();
        for line in text.lines() {
            let cuts = (0..line.len()).step_by(7).filter_map(|at| line.get(..at)).map(str::to_owned);
            cuts.chain(twist(line)).for_each(|text| look(&text));
        }
    }
}

/// Asks a record everything that can be asked.
fn look(record: &str) {
    // What breaks off is no record; closed where it breaks off, it is one.
    let mended = value::read(record.as_bytes()).to_string();
    let Some(opened) = open(record, 3).or_else(|| open(&mended, 3)) else { return };
    let record = value::read(record.as_bytes());
    opened.parts(Payloads::default());
    opened.hooks(Payloads::default());
    let payload = &record["payload"];
    let call = payload["call_id"].as_str().or(payload["item"]["id"].as_str()).unwrap_or("line-3");
    let (asked, answered) = (opened.request(call, Payloads::default()), opened.result(call, Payloads::default()));
    let (asked, answered) = (asked.unwrap_or_default(), answered.unwrap_or_default());
    for tool in ["shell", "apply_patch", "wait", "update_plan", "view_image", "request_user_input", "web_search", "mcp__a__b", "list_dir"] {
        for status in [Status::Succeeded, Status::Failed] {
            let ask = DetailRequest {
                tool,
                server: None,
                kind: Kind::Other,
                status,
                input: &asked.input,
                seen: &answered.seen,
                produced: answered.produced.as_ref(),
                answered: true,
            };
            codex().detail(&ask);
        }
    }
}
