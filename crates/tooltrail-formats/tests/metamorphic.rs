//! Changes that must change nothing: the order of sources, the number of threads, the size of reads, restarts, how JSON is
//! spelled. Rows before and after are compared byte for byte.
//!
//! What is read: a generated corpus, every fixture that is there, a log of every shape of record, and where the real logs are at
//! hand (`shared/corpus` beside the repository) the small ones among them.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use tooltrail_formats::find::FoundSource;
use tooltrail_formats::lines::{Buffer, Lines, Turns};
use tooltrail_formats::scan::{self, LogReader, Options, Progress};
use tooltrail_model::link::Source;
use tooltrail_model::row::CallRow;
use tooltrail_model::{Linker, Now, Summary, Time};
use tooltrail_testkit::corpus::{CorpusPlan, generate};
use tooltrail_testkit::mutate::{escape_all, permute_keys};
use tooltrail_testkit::readers::ChunkedReader;
use tooltrail_testkit::rng::Rng;
use tooltrail_testkit::shapes;

/// Real logs up to this size are read, and so many of them.
const SMALL: u64 = 40_000;
const SAMPLE: usize = 120;

struct Log {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// Logs that are read together.
struct Home {
    name: String,
    logs: Vec<Log>,
}

fn jsonl_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            jsonl_below(&path, found);
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
}

fn home(name: &str, paths: Vec<PathBuf>) -> Home {
    let logs = paths.into_iter().map(|path| Log { bytes: fs::read(&path).unwrap(), path });
    Home { name: name.to_owned(), logs: logs.collect() }
}

fn generated() -> Home {
    let directory = tempfile::tempdir().unwrap();
    generate(directory.path(), &CorpusPlan { bytes: 2_000_000, seed: 11 }).unwrap();
    let mut paths = Vec::new();
    jsonl_below(directory.path(), &mut paths);
    home("generated", paths)
}

fn shapes() -> Home {
    let log = |name: &str, bytes| Log { path: Path::new("/nowhere/.claude/projects/p").join(name), bytes };
    let mut half = shapes::CLAUDE.to_vec();
    half.truncate(20);
    // A fork: the same calls again, some of them without their results.
    let logs = vec![
        log("s1.jsonl", shapes::log(shapes::CLAUDE)),
        log("fork.jsonl", shapes::log(&half)),
        log("odd.jsonl", [shapes::log(shapes::ODD), shapes::log(&shapes::CLAUDE[20..])].concat()),
        log("rollout-2026-07-02T09-00-00-0197-a.jsonl", shapes::log(shapes::CODEX)),
    ];
    Home { name: "shapes".to_owned(), logs }
}

/// Two logs that share nothing but a record for which one of them has a title.
fn titled() -> Home {
    let log = |name: &str, text: &str| Log { path: Path::new("/nowhere/.claude/projects/p").join(name), bytes: text.as_bytes().to_vec() };
    let record = |session: &str| {
        format!(
            "{{\"type\":\"system\",\"subtype\":\"informational\",\"uuid\":\"shared\",\"sessionId\":\"{session}\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"content\":\"x\"}}\n"
        )
    };
    let title = "{\"type\":\"summary\",\"summary\":\"A title\",\"leafUuid\":\"shared\"}\n";
    let logs = vec![log("aaaa.jsonl", &format!("{title}{}", record("aaaa"))), log("bbbb.jsonl", &record("bbbb"))];
    Home { name: "titled".to_owned(), logs }
}

fn real() -> Home {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let mut paths = Vec::new();
    jsonl_below(&directory, &mut paths);
    paths.retain(|path| fs::metadata(path).is_ok_and(|meta| meta.len() <= SMALL));
    let step = paths.len().div_ceil(SAMPLE).max(1);
    home("real", paths.into_iter().step_by(step).collect())
}

fn fixtures() -> Vec<Home> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut homes = Vec::new();
    for agent in fs::read_dir(&directory).into_iter().flatten().flatten() {
        for case in fs::read_dir(agent.path()).into_iter().flatten().flatten() {
            let mut paths = Vec::new();
            jsonl_below(&case.path(), &mut paths);
            homes.push(home(&case.file_name().to_string_lossy(), paths));
        }
    }
    homes.retain(|home| !home.logs.is_empty());
    homes
}

/// Everything there is to read, and the rows that a plain reading of it gives.
fn homes() -> &'static [(Home, String)] {
    static ALL: OnceLock<Vec<(Home, String)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut homes = vec![generated(), shapes(), titled(), real()];
        homes.extend(fixtures());
        let read = |home: Home| {
            let rows = rows(&linker(sources(&home)));
            (home, rows)
        };
        homes.into_iter().map(read).collect()
    })
}

fn options() -> Options {
    Options { threads: 1, check_utf8: true, ..Options::default() }
}

fn read(path: &Path, input: impl std::io::Read) -> Summary {
    scan::read(path, input, &options(), &mut Buffer::default(), &Turns::default())
}

fn source(path: &Path, summary: Summary) -> Source {
    Source { path: path.to_string_lossy().into(), modified: summary.last, summary }
}

fn sources(home: &Home) -> Vec<Source> {
    home.logs.iter().map(|log| source(&log.path, read(&log.path, &*log.bytes))).collect()
}

fn linker(sources: impl IntoIterator<Item = Source>) -> Linker {
    let mut linker = Linker::default();
    sources.into_iter().for_each(|source| linker.put(source));
    linker
}

/// The moments of asking: just after the last record, when the last session still runs, and long after everything.
fn moments(linker: &Linker) -> [Now; 2] {
    let last = linker.sources().filter_map(|source| source.summary.last).filter(|time| *time < Time::MAX).max();
    let millis = last.map_or(0, Time::as_millisecond);
    [60_000, 400_000_000].map(|later| Now::at(Time::from_millisecond(millis.saturating_add(later)).unwrap_or(Time::MAX)))
}

/// Everything the commands print, as text.
fn rows(linker: &Linker) -> String {
    rows_on(1, linker)
}

/// The same, linked on so many threads.
fn rows_on(threads: usize, linker: &Linker) -> String {
    let mut out = String::new();
    let linked = linker.link_on(threads);
    for now in moments(linker) {
        for row in linked.call_rows(&now, false).chain(linked.call_rows(&now, true)) {
            line(&mut out, serde_json::to_string(&row));
        }
        for row in linked.session_rows(&now) {
            line(&mut out, serde_json::to_string(&row));
        }
        for row in linked.check_rows(&now) {
            line(&mut out, serde_json::to_string(&row));
        }
        line(&mut out, serde_json::to_string(&linked.stats(&now)));
    }
    out
}

fn line(out: &mut String, row: serde_json::Result<String>) {
    out.push_str(&row.unwrap());
    out.push('\n');
}

/// The rows without the lengths of raw values, which depend on how these are spelled.
fn without_lengths(rows: &str) -> String {
    let mut out = String::new();
    for text in rows.lines() {
        let mut row: Value = serde_json::from_str(text).unwrap();
        let fields = row.as_object_mut().unwrap();
        for length in ["input_bytes", "result_bytes", "bytes"] {
            fields.shift_remove(length);
        }
        line(&mut out, serde_json::to_string(&row));
    }
    out
}

/// Fails with the first row that differs.
fn assert_same(name: &str, change: &str, before: &str, after: &str) {
    if before == after {
        return;
    }
    let mut pairs = before.lines().zip(after.lines());
    match pairs.find(|(before, after)| before != after) {
        Some((before, after)) => {
            panic!("{name}: {change} changes a row\n before {before}\n after  {after}")
        }
        None => panic!("{name}: {change} changes the number of rows: {} and {}", before.lines().count(), after.lines().count()),
    }
}

fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for left in (1..items.len()).rev() {
        items.swap(left, rng.below(left + 1));
    }
}

/// The logs of a home with their bytes changed.
fn changed(home: &Home, change: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let sources = home.logs.iter().map(|log| source(&log.path, read(&log.path, &*change(&log.bytes))));
    rows(&linker(sources))
}

/// Changes every line that is text, without its line end.
fn each_line(bytes: &[u8], mut change: impl FnMut(&str) -> String) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        match std::str::from_utf8(line) {
            Ok(text) => out.extend_from_slice(change(text).as_bytes()),
            Err(_) => out.extend_from_slice(line),
        }
    }
    out
}

#[test]
fn there_is_something_to_compare() {
    for (home, rows) in homes() {
        let calls = rows.lines().filter(|row| row.contains("\"requested_at\"")).count();
        println!("{}: {} logs, {} rows, {calls} of calls", home.name, home.logs.len(), rows.lines().count());
        assert!(home.name == "real" || !rows.is_empty());
    }
    let (generated, _) = &homes()[0];
    let side = |log: &&Log| log.path.to_string_lossy().contains("/subagents/");
    assert!(generated.logs.iter().any(|log| side(&log)));
    for word in
        ["\"status\":\"running\"", "\"status\":\"unanswered\"", "\"copy_of\":{", "\"child_session\":\"", "\"hooks\":[{", "\"background\":{"]
    {
        assert!(homes().iter().any(|(_, rows)| rows.contains(word)), "no {word} anywhere");
    }
}

#[test]
fn linking_again_gives_the_same_rows() {
    for (home, before) in homes() {
        let linker = linker(sources(home));
        for _ in 0..5 {
            assert_same(&home.name, "linking again", before, &rows(&linker));
        }
    }
}

#[test]
fn the_number_of_threads_that_link_does_not_matter() {
    for (home, before) in homes() {
        let linker = linker(sources(home));
        for threads in [0, 2, 3, 8, 64] {
            assert_same(&home.name, &format!("linking on {threads} threads"), before, &rows_on(threads, &linker));
        }
    }
}

/// The rows of calls and sessions and the usage, whatever their order.
fn sorted_rows<'l>(linkers: impl Iterator<Item = &'l Linker>, nows: &[Now]) -> String {
    let mut lines = Vec::new();
    for linker in linkers {
        let linked = linker.link();
        for now in nows {
            let calls = linked.call_rows(now, false).chain(linked.call_rows(now, true));
            lines.extend(calls.map(|row| serde_json::to_string(&row).unwrap()));
            lines.extend(linked.session_rows(now).iter().map(|row| format!("{} {}", row.short, serde_json::to_string(row).unwrap())));
            lines.extend(linked.check_rows(now).iter().map(|row| serde_json::to_string(row).unwrap()));
        }
        lines.extend(linked.turns().iter().map(|turn| format!("{} {:?}", linked.sessions[turn.session].id, turn.record.at)));
    }
    lines.sort_unstable();
    lines.join("\n")
}

#[test]
fn bundles_linked_alone_give_the_rows_that_they_give_together() {
    let mut everything: Vec<Source> = Vec::new();
    for (home, _) in homes() {
        let whole = linker(sources(home));
        let nows = moments(&whole);
        let parts = whole.clone().split();
        assert_same(&home.name, "linking by bundles", &sorted_rows([&whole].into_iter(), &nows), &sorted_rows(parts.iter(), &nows));
        everything.extend(sources(home));
    }
    let whole = linker(everything);
    let (nows, parts) = (moments(&whole), whole.clone().split());
    let largest = parts.iter().map(|part| part.sources().count()).max().unwrap();
    println!("{} logs in {} bundles, the largest of {largest}", whole.sources().count(), parts.len());
    assert_same("all of them", "linking by bundles", &sorted_rows([&whole].into_iter(), &nows), &sorted_rows(parts.iter(), &nows));
    assert!(parts.len() > 50 && largest > 1, "nothing was told apart, or nothing belongs together");
}

#[test]
fn the_order_of_sources_does_not_matter() {
    let mut rng = Rng::new(1);
    for (home, before) in homes() {
        let mut all = sources(home);
        for _ in 0..4 {
            shuffle(&mut all, &mut rng);
            assert_same(&home.name, "another order of sources", before, &rows(&linker(all.clone())));
        }
    }
}

#[test]
fn stale_summaries_and_restarts_leave_nothing_behind() {
    let mut rng = Rng::new(2);
    for (home, before) in homes() {
        let all = sources(home);
        let mut linker = Linker::default();
        for log in &home.logs {
            let stale = &log.bytes[..rng.below(log.bytes.len() + 1)];
            linker.put(source(&log.path, read(&log.path, stale)));
        }
        for source in &all {
            let _ = rows(&linker).len();
            linker.put(source.clone());
            if all.len() > 20 {
                break;
            }
        }
        all.iter().cloned().for_each(|source| linker.put(source));
        assert_same(&home.name, "a stale version before the real one", before, &rows(&linker));
        for source in all.iter().filter(|_| rng.chance(0.5)) {
            linker.remove(&source.path);
        }
        let mut again = all.clone();
        shuffle(&mut again, &mut rng);
        again.into_iter().for_each(|source| linker.put(source));
        assert_same(&home.name, "removing and adding again", before, &rows(&linker));
    }
}

#[test]
fn with_copies_a_row_says_only_what_its_own_file_says() {
    // What other files are there decides which copy came first, who started whom, and the numbers of calls.
    let own = |row: &CallRow<'_>| {
        let mut row = serde_json::to_value(row).unwrap();
        let fields = row.as_object_mut().unwrap();
        for shared in ["ref", "copy_of", "parent_call", "child_session"] {
            fields.shift_remove(shared);
        }
        row.to_string()
    };
    for (home, _) in homes() {
        let all = linker(sources(home));
        let now = &moments(&all)[1];
        let linked = all.link();
        let rows: Vec<CallRow<'_>> = linked.call_rows(now, true).collect();
        for source in all.sources() {
            let alone = linker([source.clone()]);
            let alone = alone.link();
            let names = &source.summary.names;
            let told = |call: &CallRow<'_>| source.summary.nested.iter().any(|nested| names.text(nested.id) == call.call);
            let of = |rows: &mut dyn Iterator<Item = &CallRow<'_>>| {
                let mut rows: Vec<String> = rows.filter(|row| row.request.file == &*source.path && !told(row)).map(own).collect();
                rows.sort();
                rows.join("\n")
            };
            let before = of(&mut alone.call_rows(now, true).collect::<Vec<_>>().iter());
            assert_same(&home.name, "what lies beside it", &before, &of(&mut rows.iter()));
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let directory = tempfile::tempdir().unwrap();
    generate(directory.path(), &CorpusPlan { bytes: 2_000_000, seed: 12 }).unwrap();
    let mut paths = Vec::new();
    jsonl_below(directory.path(), &mut paths);
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_000_000);
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    let files: Vec<FoundSource> = paths
        .into_iter()
        .map(|path| FoundSource { size: size(&path), modified: Some(modified), identity: 0, alone: false, path })
        .collect();
    let scanned = |threads| {
        let (linker, problems) = scan::scan(&files, &Options { threads, ..Options::default() }, &Progress::default());
        assert!(problems.is_empty());
        rows_on(threads, &linker)
    };
    let before = scanned(1);
    for threads in [2, 5, 64] {
        assert_same("generated", &format!("{threads} threads"), &before, &scanned(threads));
    }
}

#[test]
fn the_size_of_reads_does_not_matter() {
    for (home, before) in homes() {
        for most in [1, 7, 4096, 65536, usize::MAX] {
            let read = |log: &Log| source(&log.path, read(&log.path, ChunkedReader { left: &log.bytes, most }));
            let after = rows(&linker(home.logs.iter().map(read)));
            assert_same(&home.name, &format!("reading {most} bytes at a time"), before, &after);
        }
    }
}

/// The same path in a place where nothing lies beside it: a live reader is handed lines, and no sidecars.
fn elsewhere(path: &Path) -> PathBuf {
    Path::new("/nowhere").join(path.strip_prefix("/").unwrap_or(path))
}

fn read_lines(path: &Path, bytes: &[u8]) -> Source {
    let options = Options { check_utf8: false, ..options() };
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    source(path, scan::read(path, bytes, &options, &mut buffer, &turns))
}

#[test]
fn a_reader_asked_in_the_middle_goes_on_unharmed() {
    for (home, _) in homes() {
        let (mut live, mut fresh) = (Linker::default(), Linker::default());
        for (number, log) in home.logs.iter().enumerate() {
            let path = elsewhere(&log.path);
            let mut reader = LogReader::new(scan::sniff(&log.bytes), &path);
            let (mut buffer, turns) = (Buffer::default(), Turns::default());
            let mut lines = Lines::new(&*log.bytes, &mut buffer, &turns, 32 << 20);
            let ask = 1 + number as u64 % 7 * 5;
            while let Some(line) = lines.next_line().unwrap() {
                let end = (line.start + line.length) as usize + usize::from(line.ended);
                let asked = line.number == ask;
                reader.line(line);
                let so_far = || source(&path, reader.summary());
                let prefix = asked.then(|| read_lines(&path, &log.bytes[..end]));
                // Which agent wrote a log may show only behind its first lines.
                if let Some(prefix) = prefix.filter(|prefix| prefix.summary.agent == so_far().summary.agent) {
                    let [prefix, middle] = [prefix, so_far()].map(|source| without_lengths(&rows(&linker([source]))));
                    assert_same(&home.name, "asking in the middle", &prefix, &middle);
                }
            }
            live.put(source(&path, reader.summary()));
            fresh.put(read_lines(&path, &log.bytes));
        }
        let [fresh, live] = [fresh, live].map(|linker| without_lengths(&rows(&linker)));
        assert_same(&home.name, "having been asked in the middle", &fresh, &live);
    }
}

#[test]
fn the_order_of_keys_does_not_matter() {
    for (home, before) in homes() {
        let after = changed(home, |bytes| {
            let mut seed = 0;
            each_line(bytes, |line| {
                seed += 1;
                permute_keys(line, seed)
            })
        });
        assert_same(&home.name, "another order of keys", &without_lengths(before), &without_lengths(&after));
    }
}

#[test]
fn escapes_do_not_matter() {
    for (home, before) in homes() {
        let after = changed(home, |bytes| each_line(bytes, escape_all));
        assert_same(&home.name, "escaping every character", &without_lengths(before), &without_lengths(&after));
    }
}

#[test]
fn line_ends_do_not_matter() {
    for (home, before) in homes() {
        let before = without_lengths(before);
        let after = changed(home, |bytes| {
            let mut out = Vec::with_capacity(bytes.len());
            for &byte in bytes {
                out.extend_from_slice(if byte == b'\n' { b"\r\n" } else { std::slice::from_ref(&byte) });
            }
            out
        });
        assert_same(&home.name, "CRLF", &before, &without_lengths(&after));
        // A line that breaks off is one thing at the end of a log and another inside it, so only whole lines are ended.
        let whole = |bytes: &[u8]| {
            let last = bytes.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
            serde_json::from_slice::<Value>(last).is_ok_and(|record| record.is_object())
        };
        let after = changed(home, |bytes| [bytes, if whole(bytes) { &b"\n"[..] } else { b"" }].concat());
        assert_same(&home.name, "a line feed at the end", &before, &without_lengths(&after));
        let after = changed(home, |bytes| {
            let open = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            if whole(open) { open } else { bytes }.to_vec()
        });
        assert_same(&home.name, "no line feed at the end", &before, &without_lengths(&after));
    }
}

/// The rows of one log, as it is and in other spellings.
fn spellings(lines: &[String]) -> Vec<String> {
    let path = Path::new("/nowhere/.claude/projects/p/s1.jsonl");
    let of = |change: &dyn Fn(&str) -> String| {
        let lines: Vec<String> = lines.iter().map(|line| change(line)).collect();
        let summary = read(path, &*shapes::log(&lines));
        without_lengths(&rows(&linker([source(path, summary)])))
    };
    let mut all = vec![of(&str::to_owned), of(&escape_all)];
    all.extend((0..8).map(|seed| of(&|line| permute_keys(line, seed))));
    all
}

fn assert_spelling_does_not_matter(name: &str, lines: &[String]) {
    let all = spellings(lines);
    for after in &all {
        assert_same(name, "another spelling", &all[0], after);
    }
}

#[test]
fn a_title_is_cut_at_the_same_character_however_it_is_spelled() {
    for ascii in 0..8 {
        let prompt = "x".repeat(ascii) + &"🚢".repeat(130);
        let line = format!(
            r#"{{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-03-04T10:00:00.000Z","message":{{"role":"user","content":"{prompt}"}}}}"#
        );
        assert_spelling_does_not_matter(&format!("{ascii} letters and ships"), &[line]);
    }
}

#[test]
fn the_end_of_an_answer_is_as_long_however_it_is_spelled() {
    let call = r#"{"type":"assistant","uuid":"a1","sessionId":"s1","timestamp":"2026-03-04T10:00:00.000Z","message":{"id":"m1","content":[{"type":"tool_use","id":"toolu_1","name":"Task","input":{"prompt":"look"}}]}}"#;
    for between in [100, 500, 700, 1500, 3000, 5000] {
        for end in [r"caf\u00e9", "café", "cafe"] {
            let answer = format!("agentId: abc {} {end}", "x".repeat(between));
            let result = format!(
                r#"{{"type":"user","uuid":"u1","parentUuid":"a1","sessionId":"s1","timestamp":"2026-03-04T10:00:09.000Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":"{answer}"}}]}}}}"#
            );
            assert_spelling_does_not_matter(&format!("{between} bytes before {end}"), &[call.to_owned(), result]);
        }
    }
}

#[test]
fn a_session_without_a_name_in_one_spelling_has_it_in_the_other() {
    let call = r#"{"type":"assistant","uuid":"a1","sessionId":null,"session_id":"s2","timestamp":"2026-03-04T10:00:00.000Z","message":{"id":"m1","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]}}"#;
    assert_spelling_does_not_matter("session_id beside a null", &[call.to_owned()]);
}

#[test]
fn a_call_with_two_claims_has_the_same_child_every_time() {
    let lines = [
        r#"{"type":"assistant","uuid":"a1","sessionId":"s1","timestamp":"2026-03-04T10:00:00.000Z","message":{"id":"m1","content":[{"type":"tool_use","id":"toolu_1","name":"Task","input":{"prompt":"look"}}]}}"#,
        r#"{"type":"progress","uuid":"q1","parentUuid":"a1","parentToolUseID":"toolu_1","sessionId":"s1","timestamp":"2026-03-04T10:00:01.000Z","data":{"type":"agent_progress","agentId":"a01"}}"#,
        r#"{"type":"progress","uuid":"q2","parentUuid":"a1","parentToolUseID":"toolu_1","sessionId":"s1","timestamp":"2026-03-04T10:00:02.000Z","data":{"type":"agent_progress","agentId":"a02"}}"#,
        r#"{"type":"progress","uuid":"q3","parentUuid":"a1","parentToolUseID":"toolu_1","sessionId":"s1","timestamp":"2026-03-04T10:00:03.000Z","data":{"type":"agent_progress","agentId":"a03"}}"#,
    ];
    let path = Path::new("/nowhere/.claude/projects/p/s1.jsonl");
    let linker = linker([source(path, read(path, &*shapes::log(&lines)))]);
    let before = rows(&linker);
    for _ in 0..20 {
        assert_same("three agents, one call", "linking again", &before, &rows(&linker));
    }
}
