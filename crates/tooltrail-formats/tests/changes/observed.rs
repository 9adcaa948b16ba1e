//! What the agent saw change while commands ran, beside what the commands say themselves.

use super::world::Memory;
use std::collections::BTreeMap;
use tooltrail_formats::changes::{FileLookup, SessionChanges, find};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::changes::{FileText, Step};
use tooltrail_model::digest;
use tooltrail_model::{Now, Time};

const LOG: &str = include_str!("../fixtures/claude_code/shell-edits/projects/-srv-app/00000041-0000-4000-8000-000000000000.jsonl");

/// A step in short: the call, the file, the strength, and the texts.
fn told(step: &Step) -> String {
    let text = |known: &FileText| match known {
        FileText::Unknown => "?".to_owned(),
        FileText::Absent => "-".to_owned(),
        FileText::Text(text) => format!("{text:?}"),
    };
    let name = step.path.strip_prefix("/srv/app/").unwrap_or(&step.path);
    let sign = if step.changes { step.strength.word() } else { "saw" };
    let outside = if step.outside { " outside" } else { "" };
    format!("{} {name} {sign} {} -> {}{outside}", step.by + 1, text(&step.before), text(&step.after))
}

#[test]
fn the_words_of_a_command_and_what_was_seen_are_one_change() {
    let path = "/home/me/.claude/projects/-srv-app/00000041-0000-4000-8000-000000000000.jsonl";
    let disk = Memory(BTreeMap::from([(path.to_owned(), LOG.as_bytes().to_vec())]), BTreeMap::new());
    let linker = disk.linker();
    let linked = linker.link();
    let now = Now::at("2026-10-01T00:00:00Z".parse::<Time>().unwrap());
    let book = SessionBook::read(&linked, &[0], &now, &disk, None);
    let mut steps: Vec<String> = SessionChanges::read(&book).steps().flatten().map(|step| told(&step)).collect();
    steps.sort();
    let (wide, narrow) =
        (r#""pub fn cents(euros: u64) -> u64 {\n    euros * 100\n}\n""#, r#""pub fn cents(euros: u32) -> u32 {\n    euros * 100\n}\n""#);
    let mut expected = vec![
        format!("1 src/price.rs written - -> {wide}"),
        "2 Cargo.lock observed ? -> ?".to_owned(),
        format!("2 src/price.rs observed {wide} -> {narrow}"),
        format!("3 src/price.rs touched {narrow} -> ?"),
        r#"5 docs/notes.md observed - -> "remember the cents\n""#.to_owned(),
        r#"5 notes.txt observed "remember the cents\n" -> -"#.to_owned(),
        r#"5 src/old.rs observed "mod old;\n" -> -"#.to_owned(),
        "6 log.txt observed ? -> ?".to_owned(),
        "7 log.txt written ? -> ?".to_owned(),
        "8 log.txt touched ? -> ?".to_owned(),
    ];
    expected.sort();
    assert_eq!(steps, expected);
    let files = digest::of(&book, &Default::default()).changed.files;
    let files: Vec<String> = files.iter().map(|file| format!("{} {} {}", file.path, file.strength.word(), file.calls.len())).collect();
    let expected = [
        "/srv/app/src/price.rs touched 3",
        "/srv/app/Cargo.lock observed 1",
        "/srv/app/docs/notes.md observed 1",
        "/srv/app/src/old.rs observed 1",
        "/srv/app/log.txt touched 3",
    ];
    assert_eq!(files, expected);
    // Only the agent names it.
    assert_eq!(find(&linked, &now, &disk, "Cargo.lock", None), FileLookup::One("/srv/app/Cargo.lock".to_owned()));
}
