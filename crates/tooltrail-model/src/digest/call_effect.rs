//! The effect of each call of a session, without its payload: its outcome, the commands it ran, the files it changed.
//!
//! `file_effect` computes the changed files; `fold` combines the effects of all calls into a digest.

use super::Cited;
use super::file_effect::changes;
use super::polls::{self, PolledOutput};
use super::shipped::{self, ShippedItem};
use super::{Shipped, served_request};
use crate::book::{Book, Loaded, Selection};
use crate::changes::{ChangedPath, is_scratch};
use crate::command::{CommandLine, CommandOutcome, Purpose};
use crate::content::words;
use crate::detail::{Detail, Edit, Write};
use crate::event::{HookOutcome, TaskState};
use crate::failure_hint::failure_hint;
use crate::polls::PollIndex;
use crate::reported::{self, Reported};
use crate::row::CallRow;
use crate::text::headline;
use crate::transcript::{CallEntry, HookStory, Story};
use crate::{Kind, Reason, Status, Time};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The longest text of a call that is kept.
const TEXT: usize = 240;

/// A call reduced to what a digest needs.
#[derive(Debug)]
pub(super) struct CallEffect {
    pub(super) cited: Cited,
    pub(super) status: Status,
    pub(super) reason: Option<Reason>,
    pub(super) exit_code: Option<i64>,
    /// When it was requested.
    pub(super) at: Option<Time>,
    pub(super) tool: String,
    /// Subject: the command, the file, the query.
    pub(super) what: String,
    /// The hook that refused it.
    pub(super) by: Option<String>,
    /// Explanation of a failure or refusal, in the words of the tool or the person.
    pub(super) why: Option<String>,
    /// Key that is equal for a repetition of the call.
    pub(super) repeat_key: RepeatKey,
    /// Files that it changed, if it succeeded.
    pub(super) changes: Vec<ChangedPath>,
    /// The files of these whose change makes a check before it stale. Temporary files do not, unless the work is done among them.
    pub(super) edits: Vec<String>,
    /// True if it failed only by answering no: `grep` found nothing.
    pub(super) answers_no: bool,
    /// The shell command that it ran.
    pub(super) ran: Option<RanCommand>,
    /// Commits, pushes and pull requests.
    pub(super) shipped: Vec<Shipped>,
    /// True if it ran a script with a tool of the agent's own, whose commands are not parsed.
    pub(super) scripted: bool,
    /// True if it ran a script whose calls are not all known.
    pub(super) incomplete: bool,
}

/// Key by which a repetition of a call is recognised: a failure is resolved once a call with the same key succeeds.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum RepeatKey {
    /// The essential commands of a command line, without `cd`, `echo` and filters.
    Commands(Vec<String>),
    /// A change of this file, whatever the change.
    Change(String),
    /// A tool and the hash of its input.
    Input(String, u64),
}

/// A command that ran.
#[derive(Debug)]
pub(super) struct RanCommand {
    /// The parsed command line; `None` where it cannot be parsed.
    pub(super) line: Option<CommandLine>,
    /// The outcome of each of its commands, as far as it is known.
    pub(super) outcomes: Vec<CommandOutcome>,
    /// The command whose exit code was recorded.
    pub(super) exit_of: Option<String>,
    /// Words of the output that indicate a failure.
    pub(super) hint: Option<String>,
    /// Outcomes that the output reports of checks whose exit code was not recorded, by their purpose.
    pub(super) reported: Vec<(Purpose, Reported)>,
    /// Whether all files that it may have changed are known.
    pub(super) accounted: bool,
}

/// Effects of the calls that matter to a digest, in the order of their requests.
pub(super) fn of_calls(book: &dyn Book, selection: &Selection) -> Vec<CallEffect> {
    let calls = &book.transcript().calls;
    // A forked session starts with a copy of the history of another; those calls belong to the other one.
    let own = |call: &CallEntry<'_>| call.row.copy_of.is_none() && selection.takes_turn(call.turn);
    let mut order: Vec<usize> = (0..calls.len()).filter(|&index| own(&calls[index])).collect();
    // Numbers follow the requests, but only within a session.
    let one = calls.windows(2).all(|pair| pair[0].row.session == pair[1].row.session);
    order.sort_by_key(|&index| (calls[index].time.filter(|_| !one), calls[index].number));
    // Loading a call reads its log, so calls without influence on the digest are skipped: they change nothing, did not fail, and no
    // other call of their tool failed that they could resolve.
    let failed: HashSet<&str> = calls.iter().filter(|call| went_wrong(call.row.status)).map(|call| call.row.ran()).collect();
    let tells = |row: &CallRow<'_>| {
        changes_things(row.kind) || went_wrong(row.status) || failed.contains(row.ran()) || served_request::may_open(row)
    };
    // A script and its calls share an outcome: it is told by the call that it comes from.
    let told_twice = |row: &CallRow<'_>| match row.is_inner() {
        true => !matches!(row.status, Status::Succeeded | Status::Answered | Status::Failed),
        false => row.failed_by.is_some(),
    };
    let tells = |row: &CallRow<'_>| tells(row) && !told_twice(row);
    let polls = PollIndex::of(calls);
    order.into_iter().filter(|&index| tells(&calls[index].row)).map(|index| of_call(book, &polls, index, &calls[index])).collect()
}

/// True for kinds of calls that may change files.
fn changes_things(kind: Kind) -> bool {
    matches!(kind, Kind::Shell | Kind::Edit | Kind::Write | Kind::Script)
}

fn went_wrong(status: Status) -> bool {
    !matches!(status, Status::Succeeded | Status::Answered)
}

/// Effect of one call.
fn of_call(book: &dyn Book, polls: &PollIndex, index: usize, entry: &CallEntry<'_>) -> CallEffect {
    let row = &entry.row;
    let story = match book.call(index) {
        Loaded::Call(story) => Some(story),
        _ => None,
    };
    let cited = Cited { r#ref: row.r#ref.clone(), call: row.call.to_owned(), number: entry.number, index, ..Cited::default() };
    let cited = cited.at(&row.evidence);
    let mut effect = CallEffect {
        cited,
        status: row.status,
        reason: row.reason,
        exit_code: row.exit_code,
        at: row.requested_at,
        tool: row.tool.to_owned(),
        what: String::new(),
        by: None,
        why: None,
        repeat_key: RepeatKey::Input(row.tool.to_owned(), 0),
        changes: Vec::new(),
        edits: Vec::new(),
        answers_no: false,
        ran: None,
        shipped: Vec::new(),
        scripted: row.inner.is_some_and(|inner| !inner.complete),
        incomplete: row.inner.is_some_and(|inner| !inner.complete),
    };
    // The log may have changed or gone since it was indexed; the row alone still gives status and evidence.
    let Some(story) = story else { return effect };
    let mut output = PolledOutput::new(output(&story));
    // Polls are read only where their output may tell something.
    let tells = |line: &CommandLine| shipped::may_ship(line) || line.commands.iter().any(|command| command.purpose.is_some());
    if polls.is_polled(index) && story.command.as_ref().is_some_and(tells) {
        polls::add(polls, book, index, &story, &mut output);
    }
    effect.ran = ran(&story, output.text(), polls.is_polled(index));
    effect.answers_no = super::is_negative_answer(&story);
    effect.shipped = cite(shipped(&story, effect.ran.as_ref(), &output), &effect.cited, book);
    effect.scripted |= row.kind == Kind::Shell && matches!(story.told.detail, Detail::Other);
    effect.repeat_key = repeat_key(&story, effect.ran.as_ref());
    effect.what = headline(&polled(book, polls, index, row.status).unwrap_or_else(|| about(&story)), TEXT);
    effect.by = refused_by(&story);
    effect.why = why(&story).map(|text| headline(&text, TEXT)).filter(|text| !text.is_empty());
    if story.row.status == Status::Succeeded {
        effect.changes = changes(&story.told, row.cwd);
        let homes = [row.cwd, book.transcript().session.project];
        let counts = |change: &&ChangedPath| !change.only_known && makes_stale(&change.path, &homes);
        effect.edits = effect.changes.iter().filter(counts).map(|change| change.path.clone()).collect();
    }
    effect
}

/// Whether a change of a file makes the outcome of a check before it stale: not in temporary or hidden directories outside of those that the
/// session works in. There agents keep plans and notes.
fn makes_stale(path: &str, homes: &[Option<&str>]) -> bool {
    let within = |home: &str| path.strip_prefix(home.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
    homes.iter().flatten().any(|home| within(home)) || !(is_scratch(path) || path.contains("/."))
}

/// What a call shipped.
fn shipped(story: &Story<'_>, ran: Option<&RanCommand>, output: &PolledOutput) -> Vec<ShippedItem> {
    let Detail::Shell(shell) = &story.told.detail else {
        return served_request::opened(story).map(|which| ShippedItem::new("pull_request", &which)).into_iter().collect();
    };
    let line = ran.and_then(|ran| Some((ran.line.as_ref()?, ran.outcomes.as_slice())));
    shipped::of_command(&story.row, shell, line, output)
}

/// Items that a call shipped, each with the record that says so.
fn cite(items: Vec<ShippedItem>, own: &Cited, book: &dyn Book) -> Vec<Shipped> {
    let calls = &book.transcript().calls;
    let cited = items.into_iter().map(|ShippedItem { what, which, poll }| {
        let poll = poll.and_then(|poll| calls.get(poll)).map(|poll| poll.row.result.unwrap_or(poll.row.evidence));
        let cited = poll.map_or_else(|| own.clone(), |place| own.clone().at(&place));
        Shipped { what: what.to_owned(), which, cited }
    });
    cited.collect()
}

/// Subject of the command that a failed poll asks about: the name of a background task says nothing to a reader.
fn polled(book: &dyn Book, polls: &PollIndex, index: usize, status: Status) -> Option<String> {
    let command = polls.command(index).filter(|_| went_wrong(status))?;
    let Loaded::Call(story) = book.call(command) else { return None };
    Some(about(&story)).filter(|what| !what.trim().is_empty())
}

/// Repeat key of a call.
fn repeat_key(story: &Story<'_>, ran: Option<&RanCommand>) -> RepeatKey {
    let input = || {
        let mut hasher = DefaultHasher::new();
        story.input.to_string().hash(&mut hasher);
        RepeatKey::Input(story.row.ran().to_owned(), hasher.finish())
    };
    if let Some(line) = ran.and_then(|ran| ran.line.as_ref()) {
        return RepeatKey::Commands(line.essence_texts().into_iter().map(str::to_owned).collect());
    }
    match &story.told.detail {
        // An edit that failed is rarely repeated word for word: any later success on the same file counts.
        Detail::Write(Write { path, .. }) | Detail::Edit(Edit { path, .. }) if !path.is_empty() => RepeatKey::Change(path.clone()),
        Detail::Patch(patch) if !patch.files.is_empty() => RepeatKey::Change(about(story)),
        _ => input(),
    }
}

/// Subject of a call in a few words: the title of its row, except where a digest needs other words, such as whole paths.
fn about(story: &Story<'_>) -> String {
    match &story.told.detail {
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
        Detail::Question(asked) => asked.questions.first().map(|question| question.text.clone()).unwrap_or_default(),
        Detail::Skill(skill) => skill.name.clone(),
        Detail::Lsp(lsp) => lsp.operation.clone(),
        Detail::Mcp(mcp) => format!("{} {}", mcp.server, mcp.tool),
        Detail::Picture(picture) => picture.path.clone().or_else(|| picture.prompt.clone()).unwrap_or_default(),
        Detail::Todo(_) | Detail::Tasks(_) | Detail::Plan(_) | Detail::Other => String::new(),
        _ => story.row.about.clone().unwrap_or_default(),
    }
}

/// The first line of a command that does more than change the directory.
fn telling_line(command: &str) -> &str {
    let mut lines = command.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let goes = |line: &str| line.starts_with("cd ") && !line.contains(['&', ';', '|']);
    lines.find(|line| !goes(line)).unwrap_or(command)
}

/// Explanation of a refusal or failure, in the words of the person or the tool.
pub(super) fn why(story: &Story<'_>) -> Option<String> {
    match story.row.status {
        Status::Rejected => story.answer.as_ref().and_then(|answer| answer.feedback.clone()),
        Status::Blocked => story.told.error.clone().or_else(|| refused(story).and_then(|hook| hook.reason.clone())),
        Status::Failed | Status::TimedOut => story.told.error.clone(),
        _ => None,
    }
}

/// The hook that refused a call, or objected to its result.
fn refused<'s>(story: &'s Story<'_>) -> Option<&'s HookStory> {
    story.hooks.iter().find(|hook| hook.outcome == Some(HookOutcome::Blocked))
}

/// Command or name of the hook that refused a call.
fn refused_by(story: &Story<'_>) -> Option<String> {
    // Other hooks may have run on the same call; only a blocking one of a blocked call is the reason.
    let hook = refused(story).filter(|_| story.row.status == Status::Blocked)?;
    hook.command.as_deref().or(hook.name.as_deref()).map(|name| headline(name, TEXT))
}

/// The shell command of a call with its output; `None` for other tools.
fn ran(story: &Story<'_>, output: &str, is_polled: bool) -> Option<RanCommand> {
    let Detail::Shell(shell) = &story.told.detail else { return None };
    let row = &story.row;
    let line = story.command.clone();
    let mut outcomes = line.as_ref().map(|line| outcomes(line, worked(row), output)).unwrap_or_default();
    // A line that was stopped or goes on recorded no exit code at all, so no command's is hidden behind another's.
    if !has_ended(row) {
        outcomes.iter_mut().filter(|outcome| **outcome == CommandOutcome::Masked).for_each(|outcome| *outcome = CommandOutcome::Unknown);
    }
    Some(RanCommand {
        exit_of: row.exit_of.clone(),
        // Where the exit code is the command's own, words in the output prove nothing that the code does not.
        hint: if outcomes.contains(&CommandOutcome::Masked) { failure_hint(output) } else { None },
        reported: line
            .as_ref()
            .filter(|_| may_report(row, is_polled))
            .map(|line| reported::of_checks(line, &outcomes, output))
            .unwrap_or_default(),
        outcomes,
        line,
        accounted: shell.accounted,
    })
}

/// The outcome that the output of a call reports of its first check whose own is not recorded.
pub(super) fn reported_of(story: &Story<'_>) -> Option<Reported> {
    ran(story, &output(story), false)?.reported.into_iter().next().map(|(_, reported)| reported)
}

/// Success of a command line, where the log records it. A background task ends later than its call, so its own end counts.
fn worked(row: &CallRow<'_>) -> Option<bool> {
    if let Some(task) = &row.background {
        return match (task.state, task.exit_code) {
            (_, Some(code)) => Some(code == 0),
            // A script that completes has not said how the command in it ended.
            (TaskState::Completed, None) => row.unwrapped.is_none().then_some(true),
            (TaskState::Failed, None) => Some(false),
            _ => None,
        };
    }
    match (row.status, row.exit_code) {
        (Status::Succeeded | Status::Failed | Status::Answered, Some(code)) => Some(code == 0),
        // A server that answers has not said how the command ended, unless it states a code.
        (Status::Succeeded, None) => row.server.is_none().then_some(true),
        (Status::Failed, None) => Some(false),
        _ => None,
    }
}

/// True if a command line ran to its end, according to the log.
fn has_ended(row: &CallRow<'_>) -> bool {
    let over = row.background.as_ref().is_none_or(|task| task.state == TaskState::Completed);
    worked(row).is_some() || (row.status == Status::Answered && over)
}

/// True if the output of a command line may sum up its checks. A server's shell need not say that a process has ended, and scripts need
/// not print that of a command in the background; then the output that there is counts, unless the command is known to go on.
fn may_report(row: &CallRow<'_>, is_polled: bool) -> bool {
    let over = row.background.as_ref().is_none_or(|task| matches!(task.state, TaskState::Completed | TaskState::Unknown));
    let served = row.server.is_some() && row.status == Status::Succeeded;
    let polled = is_polled && matches!(row.status, Status::Succeeded | Status::Answered);
    has_ended(row) || over && (served || polled)
}

/// The outcome of each command.
fn outcomes(line: &CommandLine, worked: Option<bool>, output: &str) -> Vec<CommandOutcome> {
    let mut outcomes = line.outcomes(worked);
    let essence = line.essence_texts();
    // If a line fails and only one of its commands does real work, that command failed; unless the output says that `cd` did.
    if worked == Some(false) && essence.len() == 1 && !output.contains("cd:") {
        for (outcome, command) in outcomes.iter_mut().zip(&line.commands) {
            if *outcome == CommandOutcome::Unknown && essence.contains(&command.text.as_str()) {
                *outcome = CommandOutcome::Failed;
            }
        }
    }
    outcomes
}

/// Output of a command: as the tool recorded it, else as the model saw it. Empty for other tools.
pub(super) fn output(story: &Story<'_>) -> String {
    let Detail::Shell(shell) = &story.told.detail else { return String::new() };
    let printed: Vec<&str> = shell.stdout.iter().chain(&shell.stderr).map(String::as_str).collect();
    if printed.is_empty() { story.answer.as_ref().map(|answer| words(&answer.seen)).unwrap_or_default() } else { printed.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_described_by_its_first_real_line() {
        assert_eq!(telling_line("cd /srv/app\n# first\nmake all\nmake test"), "make all");
        assert_eq!(telling_line("cd /srv && make"), "cd /srv && make");
        assert_eq!(telling_line("cd /srv"), "cd /srv");
    }
}
