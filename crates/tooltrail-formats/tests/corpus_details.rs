//! Real logs looked at closely: every call has an input and every result a content, known tools are told in neutral form, and no word of
//! a message is lost. Where the logs are not at hand the tests say so and pass; nothing of them is kept here.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::value::Payloads;
use tooltrail_formats::{DetailRequest, FORMATS, Format, Record, TypedRecord, find, value};
use tooltrail_model::detail::{Detail, Detailed};
use tooltrail_model::transcript::Part;
use tooltrail_model::{At, Kind, Now, Time};

/// Claude Code's part of the corpus, if it is here.
fn corpus() -> Option<Vec<PathBuf>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return None;
    }
    Some(["real/claude", "fixtures/claude"].iter().map(|part| root.join(part)).filter(|path| path.is_dir()).collect())
}

fn claude() -> &'static dyn Format {
    *FORMATS.iter().find(|format| format.agent() == "claude").unwrap()
}

/// The lines of a log, by number. Lines that are no single record are left out.
fn lines(file: &str) -> HashMap<u64, Vec<u8>> {
    let bytes = fs::read(file).unwrap();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let whole = |line: &&[u8]| serde_json::from_slice::<Value>(line).is_ok();
    (1..).zip(bytes.split(|byte| *byte == b'\n')).filter(|(_, line)| whole(line)).map(|(at, line)| (at, line.to_vec())).collect()
}

/// A record of the log.
fn opened(line: u64, bytes: &[u8]) -> Box<dyn TypedRecord + '_> {
    claude().open(Record { at: At { line, ..At::default() }, bytes }).unwrap()
}

/// The variant of a detail, by its name.
fn name(detail: &Detail) -> String {
    let text = format!("{detail:?}");
    text.split(['(', ' ']).next().unwrap_or_default().to_owned()
}

#[test]
fn every_call_can_be_looked_at() {
    let Some(paths) = corpus() else { return };
    let (linker, _) = scan::scan(&find::in_paths(&paths).files, &Options::default(), &Progress::default());
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let mut logs: HashMap<String, HashMap<u64, Vec<u8>>> = HashMap::new();
    let mut told: BTreeMap<(String, String), u64> = BTreeMap::new();
    let (mut calls, mut answers, mut skipped) = (0, 0, 0);
    for row in linked.call_rows(&now, true).filter(|row| row.agent == "claude") {
        for file in [Some(row.request.file), row.result.map(|place| place.file)].into_iter().flatten() {
            logs.entry(file.to_owned()).or_insert_with(|| lines(file));
        }
        let Some(request) = logs[row.request.file].get(&row.request.line) else {
            skipped += 1;
            continue;
        };
        calls += 1;
        let asked = opened(row.request.line, request).request(row.call, Payloads::default());
        let asked = asked.unwrap_or_else(|| panic!("no request of {} at {:?}", row.call, row.request));
        let result = row.result.and_then(|place| Some((place, logs[place.file].get(&place.line)?)));
        let answered = result.map(|(place, bytes)| {
            answers += 1;
            let answered = opened(place.line, bytes).result(row.call, Payloads::default());
            answered.unwrap_or_else(|| panic!("no result of {} at {place:?}", row.call))
        });
        let seen = answered.as_ref().map(|answered| answered.seen.as_slice()).unwrap_or_default();
        let produced = answered.as_ref().and_then(|answered| answered.produced.as_ref());
        let ask = DetailRequest {
            tool: row.tool,
            server: row.server,
            kind: row.kind,
            status: row.status,
            input: &asked.input,
            seen,
            produced,
            answered: answered.is_some(),
        };
        let detailed: Detailed = claude().detail(&ask);
        let known = row.kind != Kind::Other && row.kind != Kind::Mcp && !row.tool.contains("Mcp");
        assert!(!known || !matches!(detailed.detail, Detail::Other), "{} at {:?} has no detail", row.tool, row.request);
        let tool = if row.kind == Kind::Mcp { "mcp" } else { row.tool };
        *told.entry((tool.to_owned(), name(&detailed.detail))).or_default() += 1;
    }
    println!("{calls} calls, {answers} results, {skipped} on lines that are no single record\n{told:#?}");
    assert!(calls > 0 && skipped * 100 < calls);
}

/// All words that a part shows.
fn words(part: &Part) -> Vec<String> {
    match part {
        Part::Prompt { text, .. } | Part::Text(text) | Part::Folded { text, .. } => vec![text.clone()],
        Part::Command { line, output } => vec![line.clone(), output.clone().unwrap_or_default()],
        Part::Notice { title, text, .. } => vec![title.clone(), text.clone().unwrap_or_default()],
        _ => Vec::new(),
    }
}

/// A text without tags and white space: what must be left of it somewhere.
fn gist(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let end = tail.find('>').filter(|end| tail[..*end].chars().all(|c| c.is_ascii_alphanumeric() || "-_/".contains(c)));
        rest = end.map_or(tail, |end| &tail[end + 1..]);
    }
    out.push_str(rest);
    out.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn no_word_of_a_message_is_lost() {
    let Some(paths) = corpus() else { return };
    let (mut texts, mut unknown) = (0, BTreeMap::<String, u64>::new());
    for file in find::in_paths(&paths).files {
        for (line, bytes) in lines(&file.path.to_string_lossy()) {
            let record = value::read(&bytes);
            let kind = record["type"].as_str().unwrap_or_default().to_owned();
            let Ok(typed) = claude().open(Record { at: At { line, ..At::default() }, bytes: &bytes }) else { continue };
            let parts = typed.parts(Payloads::default());
            for part in &parts.parts {
                if let Part::Unknown { name, .. } = part {
                    *unknown.entry(name.clone()).or_default() += 1;
                }
            }
            if kind != "user" && kind != "assistant" {
                continue;
            }
            let shown: String = parts.parts.iter().flat_map(words).map(|text| gist(&text)).collect();
            let content = &record["message"]["content"];
            let blocks = content.as_array().into_iter().flatten().filter(|block| block["type"] == "text").map(|block| &block["text"]);
            for text in blocks.chain(Some(content)).filter_map(Value::as_str) {
                texts += 1;
                let interrupt = text.trim().starts_with("[Request interrupted") || text.trim() == "Continue from where you left off.";
                let command = text.contains("<command-name>");
                assert!(
                    interrupt || command || shown.contains(&gist(text)),
                    "{}:{line} loses words\n{}\n---\n{}",
                    file.path.display(),
                    text.chars().take(600).collect::<String>(),
                    shown.chars().take(600).collect::<String>()
                );
            }
        }
    }
    println!("{texts} texts; not known: {unknown:?}");
    assert!(texts > 0);
}
