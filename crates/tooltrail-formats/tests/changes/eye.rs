//! temporary
use std::io::Write;
use std::path::PathBuf;
use tooltrail_formats::changes::SessionChanges;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::shelf::Disk;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::detail::Detail;
use tooltrail_model::{Kind, Now, Time};

#[test]
fn eye() {
    let Ok(to) = std::env::var("EYE") else { return };
    let mut out = std::fs::File::create(to).unwrap();
    let root = PathBuf::from("/work/shared/corpus/real");
    let (linker, _) = scan::scan(&find::in_paths(&[root]).files, &Options::default(), &Progress::default());
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let shelf = Disk::default();
    for index in 0..linked.sessions.len() {
        let book = SessionBook::read(&linked, &[index], &now, &shelf, None);
        let calls = &book.transcript().calls;
        let changes = SessionChanges::read(&book);
        let mut steps: std::collections::BTreeMap<usize, Vec<serde_json::Value>> = Default::default();
        for step in changes.steps().flatten() {
            let text = |known: &tooltrail_model::changes::FileText| match known {
                tooltrail_model::changes::FileText::Unknown => "?".to_owned(),
                tooltrail_model::changes::FileText::Absent => "-".to_owned(),
                tooltrail_model::changes::FileText::Text(text) => format!("TEXT {} {}", text.len(), text),
            };
            steps.entry(step.by).or_default().push(serde_json::json!({"path": step.path, "changes": step.changes, "strength": step.strength.word(), "how": step.how.word(), "outside": step.outside, "replayed": step.replayed, "before": text(&step.before), "after": text(&step.after)}));
        }
        for (place, call) in calls.iter().enumerate() {
            if call.row.kind != Kind::Shell || call.row.copy_of.is_some() {
                continue;
            }
            let Loaded::Call(story) = book.call(place) else { continue };
            let Detail::Shell(shell) = &story.told.detail else { continue };
            let may = story.command.as_ref().is_none_or(|line| line.may_change_files);
            let row = serde_json::json!({"agent": call.row.agent, "call": call.row.call, "file": call.row.request.file, "line": call.row.request.line, "result": call.row.result.map(|place| place.line), "cwd": call.row.cwd, "status": call.row.status.word(), "exit": call.row.exit_code, "command": shell.command, "stdout": shell.stdout.as_deref().map(|text| text.chars().take(1500).collect::<String>()), "stderr": shell.stderr, "may": may, "accounted": shell.accounted, "changed": shell.changed.iter().map(|one| format!("{} {:?} {:?}", one.path, one.lines, one.strength)).collect::<Vec<_>>(), "steps": steps.get(&place)});
            writeln!(out, "{row}").unwrap();
        }
    }
}
