//! Shells and file tools of MCP servers, and inputs that a hook replaced, in the real logs, where they lie beside the repository: each row is
//! held against what another reader finds in the records. Nothing of the logs is kept but totals; `--nocapture` prints the rows.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(clippy::print_stdout)] // says what was read

use serde_json::Value;
use std::path::PathBuf;
use tooltrail_formats::changes::SessionChanges;
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_formats::{find, load};
use tooltrail_model::event::InputFrom;
use tooltrail_model::row::CallRow;
use tooltrail_model::{At, Kind, Now, Status, Time};

/// A record as JSON.
fn record(disk: &Disk, file: &str, at: At) -> Value {
    serde_json::from_slice(&disk.bytes(file, at.span).unwrap()).unwrap()
}

/// The block of a message with a field of this value.
fn block<'v>(record: &'v Value, key: &str, value: &str) -> &'v Value {
    record["message"]["content"].as_array().unwrap().iter().find(|block| block[key] == value).unwrap()
}

/// The exit code that the ACP server states, by another method than the reader's.
fn stated(text: &str) -> Option<i64> {
    let (_, rest) = text.lines().next()?.split_once("Exited with code ")?;
    rest.split('.').next()?.parse().ok()
}

fn words(content: &Value) -> String {
    let text = |block: &Value| block["text"].as_str().unwrap_or_default().to_owned();
    content.as_str().map(str::to_owned).unwrap_or_else(|| content.as_array().into_iter().flatten().map(text).collect())
}

/// Holds a call of a server against its records.
fn hold(row: &CallRow<'_>, input: &Value, text: &str) {
    let name = row.tool.rsplit("__").next().unwrap();
    match name {
        "Bash" => {
            assert_eq!((row.kind, row.exit_code), (Kind::Shell, stated(text)), "{}", row.r#ref);
            assert!(stated(text).is_none_or(|code| (code == 0) == (row.status == Status::Succeeded)), "{}", row.r#ref);
        }
        "start_process" => {
            assert_eq!((row.kind, row.exit_code), (Kind::Shell, None), "{}", row.r#ref);
            let task = row.background.as_ref().and_then(|task| task.id).unwrap();
            assert!(text.starts_with(&format!("Process started with PID {task} ")), "{}", row.r#ref);
        }
        "Read" | "read_file" => assert_eq!(row.kind, Kind::Read),
        "Edit" | "edit_block" => assert_eq!(row.kind, Kind::Edit),
        "write_file" => assert_eq!(row.kind, Kind::Write),
        "list_directory" => assert_eq!(row.kind, Kind::List),
        "search_code" => assert_eq!(row.kind, Kind::Search),
        _ => {}
    }
    let about = row.about.clone().unwrap_or_default();
    let subject = ["command", "file_path", "path"].iter().find_map(|key| input[*key].as_str());
    let last = subject.map(|subject| subject.lines().next().unwrap_or_default().rsplit('/').next().unwrap_or_default());
    let known = row.kind != Kind::Mcp && row.kind != Kind::Search;
    assert!(!known || last.is_none_or(|last| last.len() > 100 || about.contains(last)), "{about} {input}");
}

#[test]
fn rows_of_servers_say_what_their_records_say() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real/claude");
    if !root.is_dir() {
        println!("no real logs at {}: nothing read", root.display());
        return;
    }
    let search = find::in_paths(&[root]);
    let (linker, _) = scan::scan(&search.files, &Options::default(), &Progress::default());
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let disk = Disk::default();
    let (mut held, mut plain, mut replaced, mut edited) = (0, 0, 0, Vec::new());
    for call in linked.calls.iter().filter(|call| call.copy_of.is_none()) {
        let own = linked.record(call.id);
        let mut row = linked.call_row(call, &now, false);
        if row.server.is_none() && row.input_from == InputFrom::Request {
            continue;
        }
        load::complete_at(&disk, &mut row, own).unwrap();
        let request = record(&disk, row.request.file, own.at);
        let input = &block(&request, "id", row.call)["input"];
        if row.server.is_some_and(|server| server == "acp" || server.contains("commander")) {
            let (_, at) = linked.result_spot(call).unwrap();
            let result = record(&disk, row.result.unwrap().file, at);
            let text = words(&block(&result, "tool_use_id", row.call)["content"]);
            println!(
                "{} {} {} {} {:?} exit={:?} of={:?} masked={:?} {:?} task={:?}\n  {:?}\n  {:?}",
                row.r#ref,
                row.tool,
                row.kind.word(),
                row.status.word(),
                row.reason,
                row.exit_code,
                row.exit_of,
                row.masked,
                row.purpose,
                row.background.as_ref().map(|task| (task.id, task.state)),
                row.about,
                text.chars().take(120).collect::<String>()
            );
            if row.status != Status::Rejected {
                hold(&row, input, &text);
            }
            if matches!(row.kind, Kind::Edit | Kind::Write) && row.status == Status::Succeeded {
                edited.push((call.session, input["file_path"].as_str().or(input["path"].as_str()).unwrap().to_owned()));
            }
            held += 1;
        } else if row.server.is_some() {
            plain += usize::from(row.kind == Kind::Mcp);
        }
        if let Some(at) = row.replacement {
            let hook = record(&disk, row.request.file, at);
            let said: Value = serde_json::from_str(hook["attachment"]["stdout"].as_str().unwrap()).unwrap();
            let ran = said["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap();
            println!(
                "{} {} of={:?} masked={:?} {:?}\n  asked {:?}\n  ran   {:?}\n  about {:?}",
                row.r#ref,
                row.status.word(),
                row.exit_of,
                row.masked,
                row.purpose,
                input["command"],
                ran,
                row.about
            );
            assert_eq!(row.input_from, InputFrom::Hook);
            assert_ne!(input["command"], ran);
            let about = row.about.clone().unwrap();
            let start: String = ran.lines().next().unwrap().chars().take(60).collect();
            assert!(about.starts_with(start.trim_end()) || ran.starts_with("cd "), "{about}\n{ran}");
            assert!(!ran.contains("git commit") || row.purpose == Some("commit"), "{ran}");
            replaced += 1;
        }
    }
    let mut missing = Vec::new();
    for (session, path) in &edited {
        let book = SessionBook::read(&linked, &[*session], &now, &disk, None);
        let changes = SessionChanges::read(&book);
        let found = changes.steps().flatten().any(|step| format!("{step:?}").contains(path.as_str()));
        if !found {
            missing.push(path);
        }
    }
    println!("held {held}, plain {plain}, replaced {replaced}, edited {}", edited.len());
    assert!(missing.is_empty(), "{missing:?}");
    assert!(held >= 60 && replaced >= 20 && edited.len() >= 8, "{held} {replaced} {}", edited.len());
}
