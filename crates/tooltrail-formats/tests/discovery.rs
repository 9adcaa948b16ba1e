//! Where logs are found, in which form, and what is never opened.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use std::fs;
use std::path::{Path, PathBuf};
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::scan::{Options, Progress, scan};
use tooltrail_formats::{Places, find, load};
use tooltrail_model::{Linker, Now, Time};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Where logs are looked for if a variable names a directory.
fn placed(variable: &'static str, directory: &Path) -> Places {
    Places { environment: [(variable, directory.into())].into(), ..Places::default() }
}

/// The only log below a directory.
fn only_log(directory: &Path) -> PathBuf {
    let mut found = find::in_paths(&[directory.to_owned()]).files;
    assert_eq!(found.len(), 1);
    found.remove(0).path
}

fn read(places: &Places) -> (Linker, Vec<PathBuf>) {
    let search = find::in_places(std::slice::from_ref(places));
    assert!(search.problems.is_empty(), "{:?}", search.problems);
    let (linker, problems) = scan(&search.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    (linker, search.files.into_iter().map(|found| found.path).collect())
}

fn now() -> Now {
    Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap())
}

/// The rows of all calls, without the names of files.
fn calls(linker: &Linker) -> Vec<String> {
    let linked = linker.link();
    let now = now();
    let rows = linked.call_rows(&now, false).map(|row| {
        let mut row = serde_json::json!(row);
        for key in ["request", "result", "evidence", "background"] {
            row[key] = row[key]["line"].clone();
        }
        row.to_string()
    });
    rows.collect()
}

#[test]
fn a_compressed_log_reads_like_a_plain_one_and_yields_to_it() {
    let home = tempfile::tempdir().unwrap();
    let places = placed("CODEX_HOME", home.path());
    let original = only_log(&fixture("codex/ends"));
    let text = fs::read(&original).unwrap();
    let day = home.path().join("sessions/2026/03/04");
    fs::create_dir_all(&day).unwrap();
    let plain = day.join(original.file_name().unwrap());
    let packed = PathBuf::from(format!("{}.zst", plain.display()));
    fs::write(&packed, zstd::encode_all(&text[..], 3).unwrap()).unwrap();
    fs::write(day.join("rollout-x.jsonl.tmp"), b"{").unwrap();

    let (compressed, files) = read(&places);
    assert_eq!(files, std::slice::from_ref(&packed));
    assert_eq!(compressed.sources().next().unwrap().summary.tally.bytes, text.len() as u64);
    fs::write(&plain, &text).unwrap();
    let (uncompressed, files) = read(&places);
    assert_eq!(files, [plain]);
    assert_eq!(calls(&compressed), calls(&uncompressed));
    assert!(calls(&compressed).len() > 10);

    // A record is found again in either.
    let linked = compressed.link();
    let call = linked.calls.iter().find(|call| linked.id(call.id) == "call_exec").unwrap();
    let at = linked.record(call.id).at;
    let bytes = Disk::default().bytes(packed.to_str().unwrap(), at.span).unwrap();
    assert_eq!(
        load::about(load::InputRecords { request: &bytes, line: at.line, replacement: None }, &linked.call_row(call, &now(), false))
            .as_deref(),
        Some("ls")
    );
}

#[test]
fn a_torn_compressed_log_is_read_as_far_as_it_goes() {
    let home = tempfile::tempdir().unwrap();
    // Many records of many blocks, so that some of them come before the cut.
    let line = |n: u64| format!("{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"x{}\"}}}}\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let text: String = (0..20_000).map(line).collect();
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let path = home.path().join("rollout-2026-03-04T10-00-00-a.jsonl.zst");
    fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let search = find::in_paths(&[path]);
    let (linker, problems) = scan(&search.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    let linked = linker.link();
    let now = now();
    let rows = linked.check_rows(&now);
    assert!(rows[0].issues.iter().any(|issue| issue.code.word() == "read_error"), "{:?}", rows[0].issues.last());
    assert!(rows[0].lines > 1000);
}

#[test]
fn a_document_over_the_limit_is_reported_not_read() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("rollout-2025-05-01-a.json");
    let filler = "x".repeat(200_000);
    fs::write(&path, format!(r#"{{"session":{{"id":"a","instructions":""}},"items":[{{"type":"message","text":"{filler}"}}]}}"#)).unwrap();
    let search = find::in_paths(&[home.path().to_owned()]);
    let options = Options { max_line: 100_000, ..Options::default() };
    let (linker, _) = scan(&search.files, &options, &Progress::default());
    let linked = linker.link();
    let now = now();
    let rows = linked.check_rows(&now);
    assert_eq!(rows[0].agent, Some("codex"));
    assert_eq!(rows[0].bytes, fs::metadata(&path).unwrap().len());
    assert_eq!(rows[0].issues[0].code.word(), "oversized_line");
}

#[test]
fn keys_are_never_opened() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("auth.json");
    fs::write(&path, b"{}").unwrap();
    assert!(find::in_paths(&[home.path().to_owned()]).files.is_empty());
    let named = find::in_paths(&[path]);
    assert!(named.files.is_empty());
    assert!(ErrorChain(&named.problems[0]).to_string().contains("never opened"), "{}", named.problems[0]);
}

#[test]
fn a_home_of_both_agents_is_one_set_of_calls() {
    let claude = placed("CLAUDE_CONFIG_DIR", &fixture("claude_code/exit-codes"));
    let codex = placed("CODEX_HOME", &fixture("codex/ends"));
    let mut both = claude.clone();
    both.environment.extend(codex.environment.clone());
    let count = |places: &Places| read(places).0.link().stats(&now()).calls;
    assert!(count(&claude) > 0 && count(&codex) > 0);
    assert_eq!(count(&both), count(&claude) + count(&codex));
}

#[test]
fn a_backup_of_a_log_changes_no_total() {
    for case in ["codex/rollback", "codex/usage", "codex/prompts", "codex/subagent-v2", "codex/ends"] {
        let backup = tempfile::tempdir().unwrap();
        let originals = find::in_paths(&[fixture(case)]).files;
        for found in &originals {
            fs::copy(&found.path, backup.path().join(found.path.file_name().unwrap())).unwrap();
        }
        let mut both = originals.clone();
        both.extend(find::in_paths(&[backup.path().to_owned()]).files);
        let stats = |files: &[find::FoundSource]| {
            let (linker, _) = scan(files, &Options::default(), &Progress::default());
            let stats = linker.link().stats(&now());
            let (by_status, usage) = (serde_json::json!(stats.by_status), serde_json::json!(stats.usage));
            (stats.sessions, stats.turns, stats.calls, by_status, usage)
        };
        assert_eq!(stats(&both), stats(&originals), "{case}");
    }
}
