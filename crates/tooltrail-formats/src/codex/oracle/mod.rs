//! The reader of records as trees of values that came before [`super::record`], kept only to hold the new one to it.

mod answered;
mod asked;
mod content;
mod opened;
mod parts;
mod prompt;

use crate::{Opened, Record, TypedRecord, value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tooltrail_model::transcript::{HookStory, Part};

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
fn readings(record: Record<'_>, typed: &dyn TypedRecord) -> Vec<(&'static str, String, String)> {
    let value = value::read(record.bytes);
    let opened = Opened::new(record, &value);
    let old = parts::read(opened);
    let as_logged = value::Payloads::default();
    let new = typed.parts(as_logged);
    let mut out = vec![("parts", format!("{new:?}"), format!("{old:?}"))];
    let named = new.parts.iter().chain(&old.parts).filter_map(|part| match part {
        Part::Call(id) | Part::Result(id) | Part::End(id) => Some(id.clone()),
        _ => None,
    });
    let ids: Vec<String> = named.chain(["other".to_owned(), format!("line-{}", opened.line)]).collect();
    // Redaction by the new reader, against the same change made to what the old one gives.
    let change = |text: String| text.replace("src", "#¶#").replace("test", "@§@");
    let redacted = value::Payloads::changed(&change);
    let text = |part: &dyn std::fmt::Debug| change(format!("{part:?}"));
    out.push(("redacted parts", format!("{:?}", typed.parts(redacted)), text(&old)));
    for id in &ids {
        let (request, result) = (asked::read(opened, id), answered::read(opened, id));
        out.push(("request", format!("{:?}", typed.request(id, as_logged)), format!("{request:?}")));
        out.push(("result", format!("{:?}", typed.result(id, as_logged)), format!("{result:?}")));
        out.push(("redacted request", format!("{:?}", typed.request(id, redacted)), text(&request)));
        out.push(("redacted result", format!("{:?}", typed.result(id, redacted)), text(&result)));
    }
    let hooks: Vec<HookStory> = answered::hook(opened).into_iter().collect();
    out.push(("hooks", format!("{:?}", typed.hooks(as_logged)), format!("{hooks:?}")));
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
        crate::records::each(file, |format, record: Record<'_>, typed| {
            if format.agent() != "codex" {
                return;
            }
            any = true;
            records += 1;
            for (what, new, old) in readings(record, typed) {
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
