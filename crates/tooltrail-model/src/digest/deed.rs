//! Deeds: what each call of a session amounts to, without its payload.

use super::Cited;
use crate::book::{Book, Loaded, Selection};
use crate::command::{CommandLine, CommandOutcome, Purpose, SimpleCommand};
use crate::content::words;
use crate::detail::{Detail, Detailed, Edit, Shell, Write};
use crate::event::{HookOutcome, TaskState};
use crate::failure_hint::failure_hint;
use crate::patch::{FileChange, FilePatch, Hunk, PatchLine};
use crate::row::CallRow;
use crate::text::headline;
use crate::transcript::{CallEntry, Story};
use crate::{Kind, Reason, Status};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The longest text of a call that is kept.
const TEXT: usize = 240;

/// What a call amounts to.
#[derive(Debug)]
pub(super) struct Deed {
    pub(super) cited: Cited,
    pub(super) status: Status,
    pub(super) reason: Option<Reason>,
    pub(super) exit_code: Option<i64>,
    pub(super) tool: String,
    /// What it is about.
    pub(super) what: String,
    /// The hook that refused it.
    pub(super) by: Option<String>,
    /// Why it did not go through, in somebody's words.
    pub(super) why: Option<String>,
    /// What makes another call the same one.
    pub(super) same: Same,
    /// Files that it changed, if it succeeded: lines that came and went, where that is known.
    pub(super) changes: Vec<(String, Option<(u64, u64)>)>,
    /// What it ran.
    pub(super) ran: Option<Ran>,
    /// It ran a script of the agent's own, whose commands nobody looks at.
    pub(super) scripted: bool,
}

/// What makes two calls the same.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Same {
    /// The same commands, whatever stands around them.
    Commands(Vec<String>),
    /// A change of the same file.
    Change(String),
    /// The same tool with the same input.
    Input(String, u64),
}

/// A command that ran.
#[derive(Debug)]
pub(super) struct Ran {
    /// The command as it is understood; `None` where it is not.
    pub(super) line: Option<CommandLine>,
    /// The outcome of each of its commands, as far as it is known.
    pub(super) outcomes: Vec<CommandOutcome>,
    /// Whose exit code was recorded.
    pub(super) exit_of: Option<String>,
    /// Words of the output that speak of a failure.
    pub(super) hint: Option<String>,
    /// Commits, pull requests: what, and which.
    pub(super) shipped: Vec<(String, String)>,
}

/// What each call amounts to, in the order of their requests.
pub(super) fn deeds(book: &dyn Book, selection: &Selection) -> Vec<Deed> {
    let calls = &book.transcript().calls;
    // What a fork was given of another session's history is that session's.
    let own = |call: &CallEntry<'_>| call.row.copy_of.is_none() && selection.takes_turn(call.turn);
    let mut order: Vec<usize> = (0..calls.len()).filter(|&index| own(&calls[index])).collect();
    // Numbers follow the requests, but only within a session.
    let one = calls.windows(2).all(|pair| pair[0].row.session == pair[1].row.session);
    order.sort_by_key(|&index| (calls[index].time.filter(|_| !one), calls[index].number));
    let failed: HashSet<&str> = calls.iter().filter(|call| went_wrong(call.row.status)).map(|call| call.row.tool).collect();
    let tells = |row: &CallRow<'_>| changes_things(row.kind) || went_wrong(row.status) || failed.contains(row.tool);
    order.into_iter().filter(|&index| tells(&calls[index].row)).map(|index| deed(book, index, &calls[index])).collect()
}

/// Whether a kind of call may change files.
fn changes_things(kind: Kind) -> bool {
    matches!(kind, Kind::Shell | Kind::Edit | Kind::Write)
}

fn went_wrong(status: Status) -> bool {
    !matches!(status, Status::Succeeded | Status::Answered)
}

fn deed(book: &dyn Book, index: usize, entry: &CallEntry<'_>) -> Deed {
    let row = &entry.row;
    let story = match book.call(index) {
        Loaded::Call(story) => Some(story),
        _ => None,
    };
    let cited = Cited {
        r#ref: row.r#ref.clone(),
        call: row.call.to_owned(),
        number: entry.number,
        index,
        file: row.evidence.file.to_owned(),
        line: row.evidence.line,
    };
    let mut deed = Deed {
        cited,
        status: row.status,
        reason: row.reason,
        exit_code: row.exit_code,
        tool: row.tool.to_owned(),
        what: String::new(),
        by: None,
        why: None,
        same: Same::Input(row.tool.to_owned(), 0),
        changes: Vec::new(),
        ran: None,
        scripted: false,
    };
    let Some(story) = story else { return deed };
    deed.ran = ran(&story);
    deed.scripted = row.kind == Kind::Shell && matches!(story.told.detail, Detail::Other);
    deed.same = same(&story, deed.ran.as_ref());
    deed.what = headline(&about(&story.told.detail), TEXT);
    deed.by = refused_by(&story);
    deed.why = why(&story).map(|text| headline(&text, TEXT)).filter(|text| !text.is_empty());
    if story.row.status == Status::Succeeded {
        deed.changes = changes(&story.told, row.cwd);
    }
    deed
}

fn same(story: &Story<'_>, ran: Option<&Ran>) -> Same {
    let input = || {
        let mut hasher = DefaultHasher::new();
        story.input.to_string().hash(&mut hasher);
        Same::Input(story.row.tool.to_owned(), hasher.finish())
    };
    if let Some(line) = ran.and_then(|ran| ran.line.as_ref()) {
        return Same::Commands(line.essence_texts().into_iter().map(str::to_owned).collect());
    }
    match &story.told.detail {
        Detail::Write(Write { path, .. }) | Detail::Edit(Edit { path, .. }) if !path.is_empty() => Same::Change(path.clone()),
        Detail::Patch(patch) if !patch.files.is_empty() => Same::Change(about(&story.told.detail)),
        _ => input(),
    }
}

/// What a call is about, in a few words.
fn about(detail: &Detail) -> String {
    match detail {
        Detail::Shell(shell) => telling_line(&shell.command).to_owned(),
        Detail::TaskOutput(task) => task.description.clone().or_else(|| task.task.clone()).unwrap_or_default(),
        Detail::TaskStop(task) => task.command.clone().or_else(|| task.task.clone()).unwrap_or_default(),
        Detail::Read(read) => read.path.clone(),
        Detail::Write(write) => write.path.clone(),
        Detail::Edit(edit) => edit.path.clone(),
        Detail::Notebook(notebook) => notebook.path.clone(),
        Detail::Patch(patch) => patch.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(", "),
        Detail::Agent(agent) => {
            agent.description.clone().or_else(|| agent.prompt.clone()).or_else(|| agent.name.clone()).unwrap_or_default()
        }
        Detail::Glob(glob) => glob.pattern.clone(),
        Detail::Grep(grep) => grep.pattern.clone(),
        Detail::List(list) => list.path.clone(),
        Detail::WebSearch(search) => search.query.clone(),
        Detail::WebFetch(fetch) => fetch.url.clone(),
        Detail::Question(asked) => asked.questions.first().map(|question| question.text.clone()).unwrap_or_default(),
        Detail::Skill(skill) => skill.name.clone(),
        Detail::ToolSearch(search) => search.query.clone(),
        Detail::Lsp(lsp) => lsp.operation.clone(),
        Detail::Mcp(mcp) => format!("{} {}", mcp.server, mcp.tool),
        Detail::Picture(picture) => picture.path.clone().or_else(|| picture.prompt.clone()).unwrap_or_default(),
        Detail::Todo(_) | Detail::Tasks(_) | Detail::Plan(_) | Detail::Other => String::new(),
    }
}

/// The first line of a command that does more than go somewhere.
fn telling_line(command: &str) -> &str {
    let mut lines = command.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let goes = |line: &str| line.starts_with("cd ") && !line.contains(['&', ';', '|']);
    lines.find(|line| !goes(line)).unwrap_or(command)
}

/// Why a call did not go through, in the words of whoever said so.
fn why(story: &Story<'_>) -> Option<String> {
    match story.row.status {
        Status::Rejected => story.answer.as_ref().and_then(|answer| answer.feedback.clone()),
        Status::Blocked | Status::Failed | Status::TimedOut => story.told.error.clone(),
        _ => None,
    }
}

/// The hook that refused a call.
fn refused_by(story: &Story<'_>) -> Option<String> {
    let refused = story.hooks.iter().find(|hook| hook.outcome == Some(HookOutcome::Blocked));
    let hook = refused.filter(|_| story.row.status == Status::Blocked)?;
    hook.command.as_deref().or(hook.name.as_deref()).map(|name| headline(name, TEXT))
}

fn ran(story: &Story<'_>) -> Option<Ran> {
    let Detail::Shell(shell) = &story.told.detail else { return None };
    let row = &story.row;
    let output = output(story, shell);
    let line = story.command.clone();
    let outcomes = line.as_ref().map(|line| outcomes(line, worked(row), &output)).unwrap_or_default();
    Some(Ran {
        exit_of: row.exit_of.clone(),
        hint: if outcomes.contains(&CommandOutcome::Masked) { failure_hint(&output) } else { None },
        shipped: shipped(story, shell, line.as_ref(), &output),
        outcomes,
        line,
    })
}

/// Whether a command line ended well, where that is known. What goes on in the background ends later than its call.
fn worked(row: &CallRow<'_>) -> Option<bool> {
    if let Some(task) = &row.background {
        return match (task.state, task.exit_code) {
            (_, Some(code)) => Some(code == 0),
            (TaskState::Completed, None) => Some(true),
            (TaskState::Failed, None) => Some(false),
            _ => None,
        };
    }
    match (row.status, row.exit_code) {
        (Status::Succeeded | Status::Failed | Status::Answered, Some(code)) => Some(code == 0),
        (Status::Succeeded, None) => Some(true),
        (Status::Failed, None) => Some(false),
        _ => None,
    }
}

/// The outcome of each command. Where a line failed of which only one command does the work, that one did, unless the output says that
/// `cd` failed.
fn outcomes(line: &CommandLine, worked: Option<bool>, output: &str) -> Vec<CommandOutcome> {
    let mut outcomes = line.outcomes(worked);
    let essence = line.essence_texts();
    if worked == Some(false) && essence.len() == 1 && !output.contains("cd:") {
        for (outcome, command) in outcomes.iter_mut().zip(&line.commands) {
            if *outcome == CommandOutcome::Unknown && essence.contains(&command.text.as_str()) {
                *outcome = CommandOutcome::Failed;
            }
        }
    }
    outcomes
}

/// What a command printed.
fn output(story: &Story<'_>, shell: &Shell) -> String {
    let printed: Vec<&str> = shell.stdout.iter().chain(&shell.stderr).map(String::as_str).collect();
    if printed.is_empty() { story.answer.as_ref().map(|answer| words(&answer.seen)).unwrap_or_default() } else { printed.join("\n") }
}

/// Commits and pull requests that a command made: as the agent noted them, else as the programs say in their output.
fn shipped(story: &Story<'_>, shell: &Shell, line: Option<&CommandLine>, output: &str) -> Vec<(String, String)> {
    if !matches!(story.row.status, Status::Succeeded | Status::Answered) {
        return Vec::new();
    }
    if !shell.git.is_empty() {
        return shell.git.iter().map(|(what, words)| (if what == "pr" { "pull_request" } else { what }.to_owned(), which(words))).collect();
    }
    let commands = line.map(|line| line.commands.as_slice()).unwrap_or_default();
    let mut found = Vec::new();
    let commits = |command: &&SimpleCommand| command.purpose == Some(Purpose::Commit) && !command.text.contains("--dry-run");
    if let Some(made) = commands.iter().find(commits) {
        let hashes: Vec<&str> = output.lines().filter_map(commit).collect();
        // A quiet commit has no hash, but an outcome of its own.
        let proven = story.row.status == Status::Succeeded && !story.row.masked.contains(&made.text);
        found.extend(hashes.iter().map(|hash| ("commit".to_owned(), (*hash).to_owned())));
        found.extend((hashes.is_empty() && proven).then(|| ("commit".to_owned(), String::new())));
    }
    if commands.iter().any(|command| command.text.contains("pr create")) {
        let address = output.lines().map(str::trim).find(|line| line.starts_with("https://") && line.contains("/pull/"));
        found.extend(address.map(|address| ("pull_request".to_owned(), headline(address, TEXT))));
    }
    found
}

/// Which one it is, of the words that an agent noted: an address, a hash, else the last of them.
fn which(words: &str) -> String {
    let all = || words.split_whitespace();
    let address = all().find(|word| word.starts_with("https://"));
    address.or_else(|| all().find(|word| is_hash(word))).or_else(|| all().last()).unwrap_or_default().to_owned()
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The hash in `[main 9f3c2ab] words`, which git prints of a commit.
fn commit(line: &str) -> Option<&str> {
    let (head, _) = line.trim().strip_prefix('[')?.split_once(']')?;
    let hash = head.rsplit(' ').next()?;
    let branch = head.contains(' ');
    (branch && is_hash(hash)).then_some(hash)
}

/// The files that a call changed, with the lines that came and went.
fn changes(told: &Detailed, cwd: Option<&str>) -> Vec<(String, Option<(u64, u64)>)> {
    let found: Vec<(&str, Option<(u64, u64)>)> = match &told.detail {
        Detail::Write(write) => vec![(&write.path, written(write))],
        Detail::Edit(edit) => vec![(&edit.path, edited(edit))],
        Detail::Notebook(notebook) => vec![(&notebook.path, None)],
        Detail::Patch(patch) => patch.files.iter().map(patched).collect(),
        _ => Vec::new(),
    };
    found.into_iter().filter(|(path, _)| !path.is_empty()).map(|(path, lines)| (absolute(path, cwd), lines)).collect()
}

/// A path from the root, where that can be told.
fn absolute(path: &str, cwd: Option<&str>) -> String {
    let rooted = path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':');
    match cwd.filter(|_| !rooted) {
        Some(cwd) => format!("{}/{}", cwd.trim_end_matches('/'), path.trim_start_matches("./")),
        None => path.to_owned(),
    }
}

/// A file that is moved is told by its new name.
fn patched(file: &FilePatch) -> (&str, Option<(u64, u64)>) {
    // Of a file that goes the log may not keep the lines.
    let lines = (file.change != FileChange::Delete || !file.hunks.is_empty()).then(|| counted(&file.hunks));
    (file.moved_to.as_deref().unwrap_or(&file.path), lines)
}

fn written(write: &Write) -> Option<(u64, u64)> {
    match (write.new, write.hunks.is_empty()) {
        (Some(true), _) => Some((write.content.lines().count() as u64, 0)),
        (_, false) => Some(counted(&write.hunks)),
        (_, true) => write.original.as_deref().filter(|original| *original == write.content).map(|_| (0, 0)),
    }
}

fn edited(edit: &Edit) -> Option<(u64, u64)> {
    if !edit.hunks.is_empty() {
        return Some(counted(&edit.hunks));
    }
    // How often a text stood there is not known, nor what the person made of it.
    let exact = !edit.user_modified && edit.replacements.iter().all(|replacement| !replacement.all);
    exact.then(|| {
        let pairs = edit.replacements.iter().map(|replacement| between(&replacement.old, &replacement.new));
        pairs.fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1))
    })
}

/// Lines that come and lines that go from one text to another, without what they begin and end with alike.
fn between(old: &str, new: &str) -> (u64, u64) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    ((new.len() - end) as u64, (old.len() - end) as u64)
}

fn counted(hunks: &[Hunk]) -> (u64, u64) {
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    lines.fold((0, 0), |(came, went), line| match line {
        PatchLine::Added(_) => (came + 1, went),
        PatchLine::Removed(_) => (came, went + 1),
        PatchLine::Same(_) => (came, went),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_from_what_git_prints() {
        assert_eq!(commit("[main 9f3c2ab] fix the lexer"), Some("9f3c2ab"));
        assert_eq!(commit("[main (root-commit) 9f3c2ab] first"), Some("9f3c2ab"));
        assert_eq!(commit("[detached HEAD 9f3c2ab1] x"), Some("9f3c2ab1"));
        for other in ["[9f3c2ab] x", "[main fix] x", "[ok]", "main 9f3c2ab", "[2026-03-04 10:00:00] started"] {
            assert_eq!(commit(other), None, "{other}");
        }
    }

    #[test]
    fn a_command_is_told_by_what_it_does() {
        assert_eq!(telling_line("cd /srv/app\n# first\nmake all\nmake test"), "make all");
        assert_eq!(telling_line("cd /srv && make"), "cd /srv && make");
        assert_eq!(telling_line("cd /srv"), "cd /srv");
    }

    #[test]
    fn what_an_agent_noted_is_told_by_its_name() {
        assert_eq!(which("committed 4ce076c main"), "4ce076c");
        assert_eq!(which("created 236 https://example.org/o/r/pull/236"), "https://example.org/o/r/pull/236");
        assert_eq!(which("release/v1"), "release/v1");
        assert_eq!(which(""), "");
    }

    #[test]
    fn lines_that_stay_are_not_counted() {
        assert_eq!(between("a\nb\nc", "a\nx\ny\nc"), (2, 1));
        assert_eq!(between("a", "a"), (0, 0));
        assert_eq!(between("", "a\nb"), (2, 0));
        assert_eq!(between("a\na", "a"), (0, 1));
    }

    #[test]
    fn paths_are_told_from_the_root() {
        assert_eq!(absolute("src/a.rs", Some("/srv/app/")), "/srv/app/src/a.rs");
        assert_eq!(absolute("./a.rs", Some("/srv")), "/srv/a.rs");
        assert_eq!(absolute("/etc/a", Some("/srv")), "/etc/a");
        assert_eq!(absolute("C:\\a", Some("/srv")), "C:\\a");
        assert_eq!(absolute("a", None), "a");
    }
}
