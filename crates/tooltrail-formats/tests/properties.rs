//! What holds for every log, however damaged: no panic, every line accounted for, every call listed where it stands, and
//! every position inside the file it names.
//!
//! Logs are put together from arbitrary bytes, from pieces of records, and from whole records in any order, cut and glued.
//! What to expect of them is counted here with serde_json, not with the program's own reader.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};
use tooltrail_formats::lines::{Buffer, Lines, Turns};
use tooltrail_formats::scan::{self, Options};
use tooltrail_model::link::{Linked, Source};
use tooltrail_model::row::StatsRow;
use tooltrail_model::{Linker, Now, Summary, Time};
use tooltrail_testkit::readers::{Breaking, ChunkedReader};
use tooltrail_testkit::shapes;

const PATH: &str = "/nowhere/.claude/projects/p/s1.jsonl";

fn read_with(input: impl std::io::Read, max_line: usize) -> Summary {
    let options = Options { threads: 1, check_utf8: true, max_line, ..Options::default() };
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    scan::read(Path::new(PATH), input, &options, &mut buffer, &turns)
}

fn read(input: impl std::io::Read) -> Summary {
    read_with(input, 32 << 20)
}

fn source(path: &str, summary: Summary) -> Source {
    Source { path: path.into(), modified: None, summary }
}

/// The lines of a log, counted without the program.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    if let Some(first) = lines.first_mut() {
        *first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    }
    lines
}

/// A line as serde_json reads it, where it does.
fn parse(line: &[u8]) -> Option<Value> {
    serde_json::from_str(&String::from_utf8_lossy(line)).ok()
}

/// Every line is counted once, and those that serde_json understands are counted as what they are.
fn lines_add_up(bytes: &[u8], summary: &Summary) {
    let tally = &summary.tally;
    let lines = lines(bytes);
    let records: u64 = tally.records.values().sum();
    assert_eq!(tally.lines, lines.len() as u64, "lines");
    assert_eq!(tally.lines, tally.blank + records + tally.unparsed, "{tally:?}");
    assert_eq!(tally.bytes, bytes.len() as u64, "bytes");
    let blank = |line: &&&[u8]| line.iter().all(|byte| b" \t\r".contains(byte));
    assert_eq!(tally.blank, lines.iter().filter(blank).count() as u64, "blank lines");
    let (mut sure, mut others) = (BTreeMap::<String, u64>::new(), 0);
    for value in lines.iter().filter_map(|line| parse(line)) {
        if value.is_object() {
            let name = value["type"].as_str().unwrap_or("?");
            *sure.entry(name.to_owned()).or_default() += 1;
        } else {
            others += 1;
        }
    }
    assert!(tally.unparsed >= others, "{others} lines are no objects: {tally:?}");
    for (name, count) in sure {
        let counted = tally.records.get(&*name).copied().unwrap_or(0);
        assert!(counted >= count, "{count} records of type {name}: {tally:?}");
    }
}

/// The ids of the calls that a whole record makes.
fn calls_of(record: &Value) -> Vec<String> {
    let blocks = record["message"]["content"].as_array().filter(|_| record["type"] == "assistant");
    let ids = blocks.into_iter().flatten().filter_map(|block| {
        let kind = block["type"].as_str()?;
        let call = kind == "tool_use" || kind.ends_with("_tool_use");
        block["id"].as_str().filter(|_| call).map(str::to_owned)
    });
    ids.collect()
}

/// Calls that must be listed, by line, and the lines that may list more: those that hold whole records and damage.
fn expected(bytes: &[u8]) -> (Vec<(u64, String)>, Vec<u64>) {
    let (mut calls, mut doubtful) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(lines(bytes)) {
        match parse(line) {
            Some(record) => calls.extend(calls_of(&record).into_iter().map(|id| (number, id))),
            None => doubtful.push(number),
        }
    }
    calls.sort();
    (calls, doubtful)
}

fn rows(linked: &Linked<'_>, now: &Now, copies: bool) -> Vec<Value> {
    linked.call_rows(now, copies).map(|row| json!(row)).collect()
}

/// Checks every position that a row names, and its times.
fn row_holds(row: &Value, logs: &BTreeMap<String, Vec<u8>>) {
    let hooks = row["hooks"].as_array().unwrap().iter().map(|hook| &hook["evidence"]);
    let places = ["request", "result", "evidence", "copy_of"].map(|name| &row[name]);
    for place in hooks.chain(places).chain([&row["background"]["evidence"]]).filter(|place| !place.is_null()) {
        let count = lines(&logs[place["file"].as_str().unwrap()]).len() as u64;
        let line = place["line"].as_u64().unwrap();
        assert!((1..=count).contains(&line), "line {line} of {count}: {row}");
    }
    let line_of = |place: &Value| {
        let lines = lines(&logs[place["file"].as_str().unwrap()]).into_iter().map(String::from_utf8_lossy).collect::<Vec<_>>();
        lines[place["line"].as_u64().unwrap() as usize - 1].to_string()
    };
    let id = row["call"].as_str().unwrap();
    assert!(line_of(&row["request"]).contains(id), "the request does not name the call: {row}");
    if row["result"].is_null() {
        assert!(row["is_error"].is_null() && row["completed_at"].is_null() && row["status"] != "succeeded", "{row}");
    } else {
        assert!(line_of(&row["result"]).contains(id), "the result does not name the call: {row}");
    }
    let time = |name: &str| row[name].as_str().map(|text| text.parse::<Time>().unwrap());
    let took = time("requested_at").zip(time("completed_at")).map(|(start, end)| start.micros_until(end));
    let took = took.and_then(|micros| u64::try_from(micros).ok()).map(|micros| micros / 1000);
    // One record that tells both does not tell when the call was made; on one line may also stand two.
    let sole = row["request"] == row["result"] && row["requested_at"] == row["completed_at"];
    if row["duration_ms"].is_null() && took.is_some() && !sole {
        assert!(shares_its_time(row, &logs[row["result"]["file"].as_str().unwrap()]), "no duration for no reason: {row}");
    } else {
        assert_eq!(row["duration_ms"].as_u64(), took.filter(|_| !sole), "{row}");
    }
}

/// Whether another call's result, or the prompt and the call itself, have the time of a result: signs of a history that was written again.
fn shares_its_time(row: &Value, log: &[u8]) -> bool {
    let (id, time) = (row["call"].as_str().unwrap(), row["completed_at"].as_str().unwrap());
    let lines = lines(log);
    let mut texts = lines.iter().map(|line| String::from_utf8_lossy(line));
    row["requested_at"] == row["completed_at"]
        || texts.any(|text| text.contains("tool_result") && text.contains(time) && !text.contains(id))
}

/// Everything that must hold for a set of logs whose records are whole or not there at all.
fn logs_hold(logs: &BTreeMap<String, Vec<u8>>, linker: &Linker) {
    let linked = linker.link();
    for seconds in [1_772_618_460, 2_000_000_000] {
        let now = Now::at(Time::from_millisecond(seconds * 1000).unwrap());
        let every = rows(&linked, &now, true);
        every.iter().for_each(|row| row_holds(row, logs));
        let once = rows(&linked, &now, false);
        once.iter().for_each(|row| row_holds(row, logs));
        let stats = linked.stats(&now);
        assert_eq!(stats.calls, once.len() as u64);
        assert_eq!(stats.by_status.values().sum::<u64>(), stats.calls);
        sessions_hold(&linked, &now, &once, &stats);
        let mut in_logs = 0;
        for row in linked.check_rows(&now) {
            in_logs += row.calls;
            assert_eq!(row.calls, row.paired + row.unanswered, "{}", row.file);
            let count = lines(&logs[row.file]).len() as u64;
            let inside = row.issues.iter().all(|issue| (1..=count).contains(&issue.line));
            assert!(inside, "{:?}", row.issues);
        }
        // Calls that are only told of in another's log are listed, but stand in no log of their own.
        let told = every.iter().filter(|row| row["call"] == "toolu_n1" && row["agent_id"] == "a0123").count() as u64;
        assert_eq!(in_logs + told, every.len() as u64, "calls in logs");
    }
}

/// Sessions add up to the totals, and calls stand in the order of their sessions, each under a name of its own.
fn sessions_hold(linked: &Linked<'_>, now: &Now, once: &[Value], stats: &StatsRow) {
    let sessions = linked.session_rows(now);
    assert!(sessions.is_sorted_by_key(|row| row.started_at.unwrap_or(tooltrail_model::Time::MAX)));
    let calls: u64 = sessions.iter().map(|row| row.calls).sum();
    assert_eq!(calls, stats.calls, "calls in sessions");
    for row in &sessions {
        assert_eq!(row.by_status.values().sum::<u64>(), row.calls);
    }
    let output: u64 = sessions.iter().map(|row| row.usage.output).sum();
    let by_model = stats.usage.values().map(|usage| usage.tokens.output);
    assert_eq!(output, by_model.sum::<u64>(), "tokens in sessions");
    let place = |row: &Value| {
        let session = sessions.iter().position(|other| other.session == row["session"]);
        let time = row["requested_at"].as_str().unwrap_or("~").to_owned();
        (session.unwrap_or(usize::MAX), time)
    };
    assert!(once.iter().map(place).is_sorted(), "the order of calls");
    let names: BTreeSet<&str> = once.iter().map(|row| row["ref"].as_str().unwrap()).collect();
    assert_eq!(names.len(), once.len(), "two calls have one name");
}

/// Every call of a log is listed once for each time it stands there.
fn calls_are_listed(bytes: &[u8], path: &str, linked: &Linked<'_>) {
    let (expected, doubtful) = expected(bytes);
    let now = Now::at(Time::from_millisecond(2_000_000_000_000).unwrap());
    let mut listed = Vec::new();
    for row in linked.call_rows(&now, true).filter(|row| row.request.file == path) {
        let record = parse(lines(bytes)[row.request.line as usize - 1]);
        let nested = record.as_ref().is_some_and(|record| record["type"] == "progress");
        if !nested && !doubtful.contains(&row.request.line) {
            listed.push((row.request.line, row.call.to_owned()));
        }
    }
    listed.sort();
    assert_eq!(listed, expected, "calls by line");
}

/// Pieces from which damaged logs are put together.
fn pieces() -> Vec<Vec<u8>> {
    let mut pieces: Vec<Vec<u8>> = [
        &b"\n"[..],
        b"\n",
        b"\n",
        b"\r\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"\\",
        b"\0\0",
        b"\xef\xbb\xbf",
        b"\xff",
        b" ",
        b"}{\"",
        b"null",
    ]
    .iter()
    .map(|piece| piece.to_vec())
    .collect();
    for record in shapes::all() {
        pieces.push(record[..record.len() / 2].to_vec());
        pieces.push(record[record.len() / 2..].to_vec());
        pieces.push(record);
    }
    pieces
}

/// A log of records in any order, each perhaps cut short, perhaps glued to the next.
fn shuffled() -> impl Strategy<Value = Vec<u8>> {
    let record =
        (prop::sample::select(shapes::CLAUDE), prop::option::weighted(0.1, any::<prop::sample::Index>()), prop::bool::weighted(0.9));
    prop::collection::vec(record, 0..50).prop_map(|records| {
        let mut log = Vec::new();
        for (line, cut, ended) in records {
            let end = cut.map_or(line.len(), |cut| cut.index(line.len()));
            log.extend_from_slice(&line.as_bytes()[..end]);
            log.extend(ended.then_some(b'\n'));
        }
        log
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_accounted_for(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        lines_add_up(&bytes, &read(&*bytes));
    }

    #[test]
    fn pieces_of_records_are_accounted_for(picked in prop::collection::vec(prop::sample::select(pieces()), 0..40)) {
        let bytes = picked.concat();
        lines_add_up(&bytes, &read(&*bytes));
    }

    #[test]
    fn records_in_any_order_are_all_found(bytes in shuffled()) {
        let summary = read(&*bytes);
        lines_add_up(&bytes, &summary);
        let recognised = lines(&bytes).iter().filter_map(|line| parse(line)).any(|record| record["type"] == "assistant" && record["sessionId"].is_string());
        prop_assert!(!recognised || summary.agent == Some("claude"));
        if summary.agent.is_some() {
            let mut linker = Linker::default();
            linker.put(source(PATH, summary));
            logs_hold(&BTreeMap::from([(PATH.to_owned(), bytes.clone())]), &linker);
            calls_are_listed(&bytes, PATH, &linker.link());
        }
    }

    #[test]
    fn records_spread_over_logs_are_all_found(logs in prop::collection::vec(shuffled(), 1..4)) {
        let logs: BTreeMap<String, Vec<u8>> = logs.into_iter().enumerate().map(|(number, bytes)| (format!("/nowhere/p/s{number}.jsonl"), bytes)).collect();
        let mut linker = Linker::default();
        for (path, bytes) in &logs {
            linker.put(source(path, read(&**bytes)));
        }
        logs_hold(&logs, &linker);
        for (path, bytes) in &logs {
            if linker.sources().any(|source| *source.path == **path && source.summary.agent.is_some()) {
                calls_are_listed(bytes, path, &linker.link());
            }
        }
    }
}

/// A summary as far as it can be compared.
fn told(summary: &Summary) -> String {
    format!("{:?} {:?} {:?} {:?} {:?}", summary.agent, summary.tally, summary.calls, summary.issues, summary.end)
}

#[test]
fn a_line_over_the_limit_is_oversized_however_it_is_read() {
    const LIMIT: usize = 100_000;
    for length in [LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 50_000, 300_000, 1_000_000, 1_100_000] {
        let frame = r#"{"type":"user","sessionId":"s1","text":""}"#;
        let long = frame.replace("\"\"}", &format!("\"{}\"}}", "x".repeat(length - frame.len())));
        assert_eq!(long.len(), length);
        let bytes = shapes::log(&[shapes::CLAUDE[3], &long, shapes::CLAUDE[6]]);
        for most in [usize::MAX, 1_000_000, 65_536, 4096, 777] {
            let summary = read_with(ChunkedReader { left: &bytes, most }, LIMIT);
            let issues: Vec<_> = summary.issues.iter().map(|issue| (issue.code.word(), issue.line)).collect();
            let expected: &[_] = if length > LIMIT { &[("oversized_line", 2)] } else { &[] };
            assert_eq!(issues, expected, "a line of {length} bytes, {most} at a time, limit {LIMIT}");
            assert_eq!(summary.calls.len(), 1);
            assert!(summary.calls[0].result.is_some());
        }
    }
}

#[test]
fn a_log_is_recognised_behind_a_long_first_line() {
    let text = "x".repeat(3_000_000);
    let first = [
        format!(r#"{{"parentUuid":null,"sessionId":"s1","message":{{"role":"user","content":"{text}"}},"uuid":"u1","type":"user"}}"#),
        format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"u1","sessionId":"s1"}}"#),
        format!(r#"{{"note":"{text}"}}"#),
        format!("{text} is no record"),
        " ".repeat(3_000_000),
        "\n".repeat(300_000),
    ];
    for first in &first {
        let bytes = shapes::log(&[first, shapes::CLAUDE[3], shapes::CLAUDE[6]]);
        for most in [usize::MAX, 4096] {
            for limit in [1 << 20, 32 << 20] {
                let summary = read_with(ChunkedReader { left: &bytes, most }, limit);
                let head: String = first.chars().take(60).collect();
                assert_eq!(summary.agent, Some("claude"), "{most} bytes at a time, limit {limit}, behind {head:?}…");
                assert_eq!(summary.calls.len(), 1);
            }
        }
    }
}

#[test]
fn reading_in_pieces_is_reading_whole() {
    let text = "y".repeat(200_000);
    let long = format!(r#"{{"type":"user","sessionId":"s1","message":{{"content":"{text}"}}}}"#);
    let records: Vec<String> =
        (0..12).map(|number| if number % 3 == 0 { long.clone() } else { shapes::CLAUDE[number].to_owned() }).collect();
    let bytes = shapes::log(&records);
    let whole = told(&read(&*bytes));
    for most in [1, 7, 4096, 65_536, 262_144, 1_000_000] {
        assert_eq!(told(&read(ChunkedReader { left: &bytes, most })), whole, "{most} bytes at a time");
    }
}

#[test]
fn an_error_in_the_middle_is_told_and_what_came_before_is_kept() {
    let bytes = shapes::log(&[shapes::CLAUDE[3], shapes::CLAUDE[6]]);
    for padding in [0, 100, 400_000, 3_000_000] {
        let mut bytes = bytes.clone();
        bytes.extend(std::iter::repeat_n(b"{\"type\":\"mode\",\"sessionId\":\"s1\"}\n", padding / 32).flatten());
        let summary = read(Breaking { left: &bytes });
        let codes: Vec<_> = summary.issues.iter().map(|issue| issue.code.word()).collect();
        assert_eq!(summary.agent, Some("claude"), "an error after {} bytes", bytes.len());
        assert_eq!(codes, ["read_error"], "an error after {} bytes", bytes.len());
        assert_eq!(summary.calls.len(), 1);
        assert_eq!(summary.tally.lines, lines(&bytes).len() as u64);
    }
}

#[test]
fn a_glued_record_is_read_whatever_stands_beside_it() {
    for other in [r#"{"type":"marble","sessionId":"s1"}"#, r#"{"uuid":"z1"}"#, "{}", r#"{"type":"user","mess"#, "junk"] {
        for line in [format!("{}{other}", shapes::CLAUDE[3]), format!("{other}{}", shapes::CLAUDE[3])] {
            let bytes = shapes::log(&[shapes::CLAUDE[2], &line, shapes::CLAUDE[6]]);
            let summary = read(&*bytes);
            assert_eq!(summary.tally.unparsed, 1, "{line}");
            assert_eq!(summary.calls.len(), 1, "the call is lost beside {other}");
            assert!(summary.calls[0].result.is_some());
        }
    }
}

#[test]
fn a_piece_of_a_record_is_no_record() {
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    let options = Options { threads: 1, ..Options::default() };
    let whole = shapes::log(&[shapes::CLAUDE[2]]);
    let mut wrong = Vec::new();
    for record in shapes::CLAUDE.iter().map(|record| record.as_bytes()) {
        for at in 1..record.len() {
            for piece in [&record[..at], &record[at..]] {
                let log = [&whole, piece].concat();
                let summary = scan::read(Path::new(PATH), &*log, &options, &mut buffer, &turns);
                if !(summary.calls.is_empty() && summary.orphans.is_empty()) {
                    wrong.push(String::from_utf8_lossy(piece).into_owned());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "taken for whole records: {wrong:#?}");
}

#[test]
fn a_record_that_cannot_be_read_is_not_said_to_be_read() {
    let broken = r#"{"type":"user","sessionId":"s1","message":{"content":[1 2]}}"#;
    let summary = read(&*shapes::log(&[shapes::CLAUDE[2], broken]));
    let codes: Vec<_> = summary.issues.iter().map(|issue| issue.code.word()).collect();
    assert_eq!(codes, ["unparsed_line"]);
}

#[test]
fn calls_before_the_first_named_session_belong_to_a_session() {
    let call = shapes::CLAUDE[3].replace(r#""sessionId":"s1","#, "").replace(r#""uuid":"a1","parentUuid":"u1","#, "");
    assert!(!call.contains("sessionId") && !call.contains("uuid"));
    let bytes = shapes::log(&[&call, shapes::CLAUDE[2], shapes::CLAUDE[6]]);
    let mut linker = Linker::default();
    linker.put(source("/nowhere/p/stem.jsonl", {
        let options = Options { threads: 1, ..Options::default() };
        scan::read(Path::new("/nowhere/p/stem.jsonl"), &*bytes, &options, &mut Buffer::default(), &Turns::default())
    }));
    logs_hold(&BTreeMap::from([("/nowhere/p/stem.jsonl".to_owned(), bytes)]), &linker);
    let linked = linker.link();
    let now = Now::at(Time::from_millisecond(2_000_000_000_000).unwrap());
    let row = rows(&linked, &now, false).remove(0);
    assert!(!row["ref"].as_str().unwrap().starts_with(':'), "a call that no session lists: {row}");
}

#[test]
fn the_evidence_of_a_background_task_is_in_the_file_that_it_names() {
    let (call, result) = (shapes::CLAUDE[17], shapes::CLAUDE[18]);
    assert!(call.contains("toolu_5") && result.contains("backgroundTaskId"));
    let padded: Vec<&str> = shapes::CLAUDE[2..9].iter().copied().chain([result]).collect();
    let logs =
        BTreeMap::from([("/nowhere/p/a.jsonl".to_owned(), shapes::log(&[call])), ("/nowhere/p/b.jsonl".to_owned(), shapes::log(&padded))]);
    let mut linker = Linker::default();
    logs.iter().for_each(|(path, bytes)| linker.put(source(path, read(&**bytes))));
    let now = Now::at(Time::from_millisecond(2_000_000_000_000).unwrap());
    let linked = linker.link();
    let rows = rows(&linked, &now, false);
    let row = rows.iter().find(|row| row["call"] == "toolu_5").unwrap();
    assert_eq!(row["result"]["file"], "/nowhere/p/b.jsonl");
    assert_eq!(row["background"]["evidence"], row["result"], "{row}");
    logs_hold(&logs, &linker);
}

#[test]
fn a_time_that_is_no_time_is_none() {
    for time in ["NaN", "Infinity", "-Infinity", "1e300", "true", "null", "\"\"", "\"soon\"", "[]", "{}"] {
        let call = shapes::CLAUDE[3].replace("\"2026-03-04T10:00:03.000Z\"", time);
        assert_ne!(call, shapes::CLAUDE[3]);
        let summary = read(&*shapes::log(&[&call]));
        assert_eq!(summary.calls.len(), 1, "{time}");
        assert_eq!(summary.calls[0].time, None, "{time}");
    }
}

/// Logs that make a careless program take time in the square of their length.
fn hostile_logs(count: usize) -> Vec<(&'static str, Vec<u8>)> {
    let call = |message: usize, id: usize| {
        format!(
            r#"{{"type":"assistant","sessionId":"s1","uuid":"a{id}","message":{{"id":"m{message}","content":[{{"type":"tool_use","id":"toolu_{id}","name":"Bash","input":{{}}}}]}}}}"#
        )
    };
    let result = |id: usize, node: usize| {
        format!(
            r#"{{"type":"user","sessionId":"s1","uuid":"r{node}","message":{{"content":[{{"type":"tool_result","tool_use_id":"toolu_{id}","content":"x"}}]}}}}"#
        )
    };
    let hook = |number: usize| {
        format!(
            r#"{{"type":"attachment","sessionId":"s1","attachment":{{"type":"hook_success","hookEvent":"PreToolUse","hookName":"PreToolUse:Bash","toolUseID":"toolu_0","command":"hook-{number}","exitCode":0}}}}"#
        )
    };
    let node = |number: usize, parent: usize| {
        format!(r#"{{"type":"user","sessionId":"s1","uuid":"n{number}","parentUuid":"n{parent}","message":{{"content":"go {number}"}}}}"#)
    };
    let log = |lines: Vec<String>| shapes::log(&lines);
    vec![
        ("calls of one message", log((0..count).map(|id| call(0, id)).collect())),
        ("calls with one id", log((0..count).map(|number| call(number, 0)).collect())),
        ("calls and results with one id", log((0..count).flat_map(|number| [call(number, 0), result(0, number)]).collect())),
        ("results of one call", log(std::iter::once(call(0, 0)).chain((0..count).map(|number| result(0, number))).collect())),
        ("results without a call", log((0..count).map(|number| result(0, number)).chain([call(0, 0)]).collect())),
        ("hooks of one call", log(std::iter::once(call(0, 0)).chain((0..count).map(hook)).collect())),
        ("a chain", log((1..count).map(|number| node(number, number - 1)).collect())),
        ("a chain backwards", log((1..count).rev().map(|number| node(number, number - 1)).collect())),
        ("prompts beside each other", log((1..count).map(|number| node(number, 0)).collect())),
        ("a circle", log((0..count).map(|number| node(number, (number + 1) % count)).collect())),
        ("starts of records on one line", [shapes::log(&[call(0, 0)]), b"{\"".repeat(count * 100)].concat()),
        ("glued records", [shapes::log(&[call(0, 0)]), log(vec![(0..count).map(|id| call(0, id)).collect::<String>()])].concat()),
    ]
}

/// Reads, links and prints one log.
fn work(bytes: &[u8]) -> Duration {
    let start = Instant::now();
    let mut linker = Linker::default();
    linker.put(source(PATH, read(bytes)));
    let linked = linker.link();
    let now = Now::at(Time::from_millisecond(2_000_000_000_000).unwrap());
    assert!(linked.call_rows(&now, true).count() <= 80_000);
    linked.session_rows(&now);
    linked.check_rows(&now);
    start.elapsed()
}

/// Four times the log may take four times as long, not sixteen times. What is measured is growth, and only a log that is slow
/// every time counts, so that a busy machine does not matter.
#[test]
fn no_log_takes_time_in_the_square_of_its_length() {
    let mut slow = Vec::new();
    for ((name, small), (_, large)) in hostile_logs(10_000).into_iter().zip(hostile_logs(40_000)) {
        let grows = || (work(&small), work(&large));
        let measured: Vec<_> =
            std::iter::repeat_with(grows).take(4).take_while(|(small, large)| *large > *small * 9 + Duration::from_millis(250)).collect();
        if measured.len() == 4 {
            slow.push((name, measured));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

#[test]
fn lines_are_numbered_from_one_without_gaps() {
    let bytes = shapes::log(&shapes::all());
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    let mut reader = Lines::new(ChunkedReader { left: &bytes, most: 13 }, &mut buffer, &turns, 1 << 20);
    let (mut number, mut start) = (0, 0);
    while let Some(line) = reader.next_line().unwrap() {
        number += 1;
        assert_eq!((line.number, line.start), (number, start));
        assert_eq!(line.bytes, &bytes[start as usize..][..line.length as usize]);
        start += line.length + u64::from(line.ended);
    }
    assert_eq!(start, bytes.len() as u64);
}
