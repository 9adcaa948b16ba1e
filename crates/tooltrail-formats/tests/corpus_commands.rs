//! Every command of the real logs, where they lie beside the repository: none makes the reader of commands fall over, and few cannot
//! be read. Nothing of the logs is kept but totals.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(clippy::print_stdout)] // says what was read

use std::path::PathBuf;
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::{find, load};
use tooltrail_model::{Kind, Now, Status, Time};

#[derive(Debug, Default)]
struct Totals {
    calls: usize,
    commands: usize,
    unread: usize,
    purposes: usize,
    masked: usize,
    hidden: usize,
    writing: usize,
}

#[test]
fn every_command_is_read_or_said_not_to_be() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing read", root.display());
        return;
    }
    let search = find::in_paths(&[root]);
    let (linker, _) = scan::scan(&search.files, &Options::default(), &Progress::default());
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let disk = Disk::default();
    let mut told = Totals::default();
    for call in linked.calls.iter().filter(|call| call.copy_of.is_none()) {
        let mut row = linked.call_row(call, &now, false);
        if row.kind != Kind::Shell {
            continue;
        }
        told.calls += 1;
        let at = linked.record(call.id).at;
        let bytes = disk.bytes(row.request.file, at.span).unwrap();
        let command = load::command(&bytes, at.line, &row);
        let Some(command) = command else { continue };
        told.commands += 1;
        let Some(script) = tooltrail_shell::annotate(&mut row, &command) else {
            told.unread += 1;
            assert_eq!((row.exit_of, row.masked.len(), row.purpose), (None, 0, None));
            continue;
        };
        let has = |text: &str| script.commands.iter().any(|command| command.text == text);
        // What a row names is among the commands, and the one that decided a pipe or a list is not among the hidden of it.
        assert!(row.exit_of.as_deref().is_none_or(has), "{command}");
        assert!(row.masked.iter().all(|masked| has(masked)), "{command}");
        assert!(script.masked.len() <= script.commands.len() && script.essence.len() <= script.commands.len());
        assert!(row.exit_of.is_none() || matches!(row.status, Status::Succeeded | Status::Failed));
        told.purposes += usize::from(row.purpose.is_some());
        told.masked += usize::from(!row.masked.is_empty());
        told.writing += usize::from(script.may_change_files);
        told.hidden += usize::from(!row.masked.is_empty() && !script.masked_runs().is_empty());
    }
    println!("{told:?}");
    assert!(told.commands > 2_000, "{told:?}");
    // docs/commands.md states the share.
    assert!(told.unread * 200 <= told.commands, "{told:?}");
    assert!(told.purposes > 100 && told.hidden > 50 && told.masked > 500, "{told:?}");
}
