//! The reader of records as trees of values that came before [`super::record`], kept only to hold the new one to it.

mod answered;
mod asked;
mod content;
mod opened;
mod parts;
mod prompt;

use super::record::CodexRecord;
use crate::{Record, TypedRecord, value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tooltrail_model::At;
use tooltrail_model::transcript::{HookStory, Part};

/// A record, and the tree of values that was read from it.
#[derive(Clone, Copy)]
struct Opened<'v> {
    line: u64,
    bytes: &'v [u8],
    payloads: crate::value::Payloads<'v>,
    value: &'v serde_json::Value,
}

impl<'v> Opened<'v> {
    fn new(record: crate::Record<'v>, value: &'v serde_json::Value) -> Self {
        Opened { line: record.at.line, bytes: record.bytes, payloads: crate::value::Payloads::default(), value }
    }
}

fn logs(under: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(under) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            logs(&path, out);
        } else if path.extension().is_some_and(|end| end == "jsonl" || end == "json" || end == "zst") {
            out.push(path);
        }
    }
}

/// Both readings of a record, as text.
fn readings(opened: Opened<'_>, records: &mut usize) -> Vec<(&'static str, String, String)> {
    *records += 1;
    let codex = CodexRecord::read(Record { at: At { line: opened.line, ..At::default() }, bytes: opened.bytes });
    let plain = value::Payloads::default();
    let (new, old) = (codex.parts(plain), parts::read(opened));
    let mut out = vec![("parts", format!("{new:?}"), format!("{old:?}"))];
    let mut ids: Vec<String> = new
        .parts
        .iter()
        .chain(&old.parts)
        .filter_map(|part| match part {
            Part::Call(id) | Part::Result(id) | Part::End(id) => Some(id.clone()),
            _ => None,
        })
        .collect();
    ids.extend(["other".to_owned(), format!("line-{}", opened.line)]);
    for id in &ids {
        out.push(("request", format!("{:?}", codex.request(id, plain)), format!("{:?}", asked::read(opened, id))));
        out.push(("result", format!("{:?}", codex.result(id, plain)), format!("{:?}", answered::read(opened, id))));
    }
    // Redaction by the new reader, against the same change made to what the old one gives.
    let change = |text: String| text.replace("src", "#¶#").replace("test", "@§@");
    let changed = value::Payloads::changed(&change);
    let text = |part: &dyn std::fmt::Debug| change(format!("{part:?}"));
    out.push(("redacted parts", format!("{:?}", codex.parts(changed)), text(&parts::read(opened))));
    for id in &ids {
        out.push(("redacted request", format!("{:?}", codex.request(id, changed)), text(&asked::read(opened, id))));
        out.push(("redacted result", format!("{:?}", codex.result(id, changed)), text(&answered::read(opened, id))));
    }
    let hooks: Vec<HookStory> = answered::hook(opened).into_iter().collect();
    out.push(("hooks", format!("{:?}", codex.hooks(plain)), format!("{hooks:?}")));
    out
}

#[test]
fn both_readers_agree() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["tests/fixtures", "tests/tools", "../../../shared/corpus"] {
        logs(&here.join(folder), &mut paths);
    }
    let (mut records, mut differ) = (0, BTreeMap::<&str, Vec<String>>::new());
    let mut files = 0;
    for path in &paths {
        let Ok(file) = crate::open::open(path, |file| file) else { continue };
        let mut any = false;
        crate::records::each(file, |format, record: Record<'_>, _| {
            if format.agent() != "codex" {
                return;
            }
            any = true;
            let value = value::read(record.bytes);
            for (what, new, old) in readings(Opened::new(record, &value), &mut records) {
                if new != old {
                    let cut = |text: &str| text.chars().take(1500).collect::<String>();
                    differ.entry(what).or_default().push(format!(
                        "{}:{}\n new {}\n old {}",
                        path.display(),
                        record.at.line,
                        cut(&new),
                        cut(&old)
                    ));
                }
            }
        });
        files += usize::from(any);
    }
    println!("{files} logs, {records} records");
    for (what, all) in &differ {
        println!("{what}: {} differ", all.len());
        all.iter().take(6).for_each(|one| println!("{one}"));
    }
    assert!(differ.is_empty());
}
