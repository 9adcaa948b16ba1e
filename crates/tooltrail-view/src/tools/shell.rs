//! A command.
//!
//! ```text
//! $ Bash   cargo test -p parser              42 lines   1.9 s  ✗ exit 101
//!   description   Run parser tests
//!   $ cargo test -p parser
//!   test a ... ok
//!   ▾ stderr
//! ```

use super::{ToolView, title};
use crate::block::Terminal;
use crate::head::{counted, took};
use crate::limits::ElidedUnit;
use crate::line::{Class, Line};
use crate::pieces::{FieldList, changes, code, image, notice, section, task_state, terminal, words};
use crate::{Block, Head, Limits, outcome, place, why};
use tooltrail_model::Status;
use tooltrail_model::changes::unified;
use tooltrail_model::detail::{Detail, Shell};
use tooltrail_model::event::TaskState;
use tooltrail_model::patch::{FileChange, FilePatch};
use tooltrail_model::transcript::{Level, Story};

/// View of commands.
pub(super) struct ShellView;

impl ToolView for ShellView {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Shell(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Shell(shell) = &call.told.detail else { return Head::default() };
        Head { icon: "$", name: call.row.tool.into(), title: title(call), facts: facts(call, shell) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Shell(shell) = &call.told.detail else { return Vec::new() };
        // Order: how it was run, what it printed, then remarks about the outcome.
        let mut out = Vec::new();
        out.extend(settings(call, shell).block());
        out.extend(output(shell, limits));
        out.extend(shell.image.as_ref().map(|picture| image(picture, "image printed by the command")));
        out.extend(why::hidden(call));
        out.extend(why::reported(call));
        out.extend(observed(call, shell, limits));
        out.extend(shell.note.as_deref().map(|note| words(note, limits)));
        // For an interrupted or timed-out call the frame says so already.
        let stopped = shell.interrupted && !matches!(call.row.status, Status::Interrupted | Status::TimedOut);
        out.extend(stopped.then(|| notice(Level::Warning, "It was stopped before it ended.")));
        out.extend(outcome::went_on(call));
        let mut git = FieldList::default();
        shell.git.iter().for_each(|(what, which)| git.add(what, which));
        out.extend(git.block());
        out
    }
}

fn facts(call: &Story<'_>, shell: &Shell) -> Vec<Line> {
    let mut facts: Vec<Line> = Vec::new();
    let printed = [&shell.stdout, &shell.stderr].into_iter().flatten().map(|text| text.lines().count() as u64).sum();
    // Of a running or rejected command, no output proves nothing.
    let ended = matches!(call.row.status, Status::Succeeded | Status::Failed | Status::Answered);
    match (printed, &shell.stdout) {
        (0, Some(_)) if ended && shell.image.is_none() && shell.task.is_none() => facts.push("no output".into()),
        (0, _) => {}
        (printed, _) => facts.push(counted(printed, "line").into()),
    }
    let task = shell.task.as_deref().or(call.row.background.as_ref().and_then(|task| task.id));
    match (task, shell.background) {
        (Some(task), _) => facts.push(format!("background {task}").into()),
        (None, true) => facts.push("background".into()),
        (None, false) => {}
    }
    let state = call.row.background.as_ref().map(|task| task.state).filter(|state| *state != TaskState::Unknown);
    facts.extend(state.map(|state| task_state(state).into()));
    facts
}

/// Changes to files that the agent saw while the command ran.
fn observed(call: &Story<'_>, shell: &Shell, limits: &Limits) -> Vec<Block> {
    let Some(observed) = &shell.observed else { return Vec::new() };
    let label = |path: &str, how: &str| Line::of(Class::Path, unified::shown(path, call.row.cwd)).with(Class::Dim, &format!(" · {how}"));
    let file = |file: &FilePatch| {
        let how = match file.change {
            FileChange::Add => "created while the command ran",
            FileChange::Delete => "deleted while the command ran",
            FileChange::Update => "changed while the command ran",
        };
        Block::Section { label: label(&file.path, how), open: true, body: vec![changes(&file.path, &file.hunks, limits)] }
    };
    let mut out: Vec<Block> = observed.files.iter().map(file).collect();
    let other =
        |path: &String| Block::Section { label: label(path, "changed while the command ran, text unknown"), open: false, body: Vec::new() };
    out.extend(observed.others.iter().map(other));
    let unnamed = observed.more.saturating_sub(observed.others.len() as u64);
    out.extend(
        (unnamed > 0)
            .then(|| notice(Level::Info, format!("{} also changed while the command ran.", counted(unnamed, "more file")).as_str())),
    );
    let why = observed.unavailable.as_deref();
    out.extend(
        why.map(|why| notice(Level::Info, format!("The agent could not compare files before and after the command: {why}").as_str())),
    );
    out
}

/// Settings of the command as requested: directory, timeout, sandbox.
fn settings(call: &Story<'_>, shell: &Shell) -> FieldList {
    let mut fields = FieldList::default();
    fields.add_some("description", shell.description.as_deref());
    // The session's own directory is not worth a line.
    let elsewhere = shell.cwd.as_deref().filter(|cwd| Some(*cwd) != call.row.cwd);
    fields.0.extend(elsewhere.map(|cwd| ("directory".into(), place::line(call, cwd))));
    fields.add_some("timeout", shell.timeout_ms.map(took).as_deref());
    fields.add_some("outside the sandbox", shell.unsandboxed.as_deref());
    fields
}

/// The command and its output.
fn output(shell: &Shell, limits: &Limits) -> Vec<Block> {
    let command = code("bash", None, &shell.command, limits);
    let mut out = terminal(shell.stdout.as_deref().unwrap_or_default(), limits);
    let mut blocks = Vec::new();
    // A cut command cannot stand behind a prompt: the remark about the cut would look like output.
    match command.elided {
        None => out.command = command.lines,
        // Too long for a prompt: it stands on its own, with a remark on how much was left out.
        Some(elided) => {
            let unit = if elided.unit == ElidedUnit::Lines { "line" } else { "byte" };
            blocks.push(section(format!("command, {}", counted(elided.total, unit)), true, vec![Block::Code(command)]));
        }
    }
    blocks.push(Block::Terminal(out));
    let errors = shell.stderr.as_deref().filter(|text| !text.trim().is_empty());
    blocks.extend(errors.map(|text| section("stderr", true, vec![Block::Terminal(terminal(text, limits))])));
    // A command that printed nothing and stands in its own section leaves an empty block.
    blocks.retain(|block| !matches!(block, Block::Terminal(Terminal { command, lines, .. }) if command.is_empty() && lines.is_empty()));
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::Kind;
    use tooltrail_model::changes::ObservedFiles;
    use tooltrail_model::patch::{Hunk, PatchLine};
    use tooltrail_model::row::{Background, Place};

    fn call(status: Status, shell: Shell) -> Story<'static> {
        story("Bash", Kind::Shell, status, Detail::Shell(shell))
    }

    #[test]
    fn changes_that_the_agent_saw() {
        let hunk = Hunk { old_start: Some(1), new_start: Some(1), lines: vec![PatchLine::Added("x".into())], ..Hunk::default() };
        let file = FilePatch { path: "/srv/app/a.rs".into(), moved_to: None, change: FileChange::Add, hunks: vec![hunk], content: None };
        let (others, unavailable) = (vec!["/srv/app/b.rs".into()], Some("timed out".into()));
        let seen = ObservedFiles { files: vec![file], others, more: 3, unavailable };
        let shell = Shell { command: "make".into(), observed: Some(seen), ..Shell::default() };
        let told = body(&call(Status::Succeeded, shell));
        for words in [
            "a.rs · created while the command ran",
            "b.rs · changed while the command ran, text unknown",
            "2 more files also changed",
            "timed out",
        ] {
            assert!(told.contains(words), "{words}: {told}");
        }
    }

    #[test]
    fn a_command_and_what_it_printed() {
        let call = call(
            Status::Failed,
            Shell {
                command: "cargo test\necho done".into(),
                description: Some("Run tests".into()),
                cwd: Some("/srv/app/core".into()),
                timeout_ms: Some(120_000),
                stdout: Some("  0%\r100%\n\u{1b}[31mFAILED\u{1b}[0m\n".into()),
                stderr: Some("error: x\n".into()),
                ..Shell::default()
            },
        );
        assert_eq!(head(&call), "$ | Bash | cargo test … | 3 lines");
        assert_eq!(
            body(&call),
            "description: Run tests\ndirectory: core\ntimeout: 2 m 00 s\nterminal\n$ cargo test\n$ echo done\n| 100%\n| FAILED\nsection stderr\n  terminal\n  | error: x\n"
        );
    }

    #[test]
    fn a_command_that_went_on() {
        let mut call = call(
            Status::Succeeded,
            Shell { command: "serve".into(), background: true, task: Some("b1".into()), stdout: Some(String::new()), ..Shell::default() },
        );
        let evidence = Place { file: "log.jsonl", line: 9, row: None };
        call.row.background = Some(Background { id: Some("b1"), state: TaskState::Failed, exit_code: Some(2), ended_at: None, evidence });
        assert_eq!(head(&call), "$ | Bash | serve | background b1, failed");
        assert_eq!(body(&call), "terminal\n$ serve\nInfo Moved to the background as b1: failed, exit 2.\n");
    }

    #[test]
    fn a_run_whose_outcome_nobody_recorded() {
        let shown = |command: &str, printed: &str, code: Option<i64>| {
            let status = if code.is_none() { Status::Succeeded } else { Status::Failed };
            let mut call = call(status, Shell { command: command.into(), stdout: Some(printed.into()), ..Shell::default() });
            call.row.exit_code = code;
            call.row.reason = code.map(|_| tooltrail_model::Reason::ExitCode);
            call.command = tooltrail_shell::annotate(&mut call.row, command);
            body(&call)
                .lines()
                .filter(|line| line.starts_with("Warning") || line.starts_with("Info"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        // A pipeline's exit code is that of its last command.
        assert_eq!(
            shown("pnpm build | tail", "built", None),
            ["Warning the success came from tail; the exit code of pnpm build is unknown"]
        );
        assert_eq!(
            shown("pnpm build | tail", "ELIFECYCLE  Command failed with exit code 1.", None),
            [
                "Warning the success came from tail; the exit code of pnpm build is unknown",
                "Info output says “ELIFECYCLE  Command failed with exit code 1.”"
            ]
        );
        assert_eq!(
            shown("make; make test; ls x", "BUILD FAILED", Some(2)),
            ["Warning exit 2 came from ls x; the exit codes of make, make test are unknown", "Info output says “BUILD FAILED”"]
        );
        assert_eq!(
            shown("cargo test | tail", "test result: ok. 41 passed; 0 failed", None),
            [
                "Warning the success came from tail; the exit code of cargo test is unknown",
                "Info output says “test result: ok. 41 passed; 0 failed”"
            ]
        );
        assert_eq!(
            shown("cargo test | tail", "error: no such command", None),
            [
                "Warning the success came from tail; the exit code of cargo test is unknown",
                "Info hint: the output says “error: no such command”"
            ]
        );
        assert_eq!(shown("make test || true", "fine", None), ["Warning The exit code of make test is unknown"]);
        assert!(shown("ls | tail", "error: x", None).is_empty());
        assert!(shown("make test", "BUILD FAILED", None).is_empty());
    }

    #[test]
    fn a_command_that_never_ran() {
        let call = call(Status::Rejected, Shell { command: "rm -rf build".into(), ..Shell::default() });
        assert_eq!(head(&call), "$ | Bash | rm -rf build | ");
        assert_eq!(body(&call), "terminal\n$ rm -rf build\n");
    }

    #[test]
    fn remarks_about_a_command() {
        let shell = Shell {
            command: "git commit -m x".into(),
            stdout: Some(String::new()),
            note: Some("Nothing to commit".into()),
            interrupted: true,
            git: vec![("commit".into(), "1a2b3c4".into())],
            ..Shell::default()
        };
        let call = call(Status::Succeeded, shell);
        assert_eq!(head(&call), "$ | Bash | git commit -m x | no output");
        assert_eq!(
            body(&call),
            "terminal\n$ git commit -m x\nInfo Nothing to commit\nWarning It was stopped before it ended.\ncommit: 1a2b3c4\n"
        );
    }

    #[test]
    fn a_command_longer_than_the_page() {
        let call = call(Status::Succeeded, Shell { command: "echo\n".repeat(300), stdout: Some("x".into()), ..Shell::default() });
        assert!(body(&call).starts_with("section command, 300 lines\n  code bash -\n"));
        assert!(body(&call).ends_with("terminal\n| x\n"));
    }
}
