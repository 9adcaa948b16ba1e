//! The reason for a call's status in a sentence, and what it does not prove.

use crate::head::{no_result, why, why_of};
use crate::pieces::notice;
use crate::{Block, Class, Line, cut};
use tooltrail_model::command::CommandLine;
use tooltrail_model::detail::{Detail, Shell};
use tooltrail_model::digest;
use tooltrail_model::failure_hint::failure_hint;
use tooltrail_model::reported::ReportedOutcome;
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::{Level, Story};
use tooltrail_model::{Kind, Reason, Status};

/// Status of a call in words, with any doubt: `succeeded, but the success is tail’s`.
pub fn verdict(call: &Story<'_>) -> Line {
    let row = &call.row;
    let word = crate::head::look_of(row).word;
    let line = match (row.status, row.reason, row.exit_code) {
        // The code itself says more than the words for its reason.
        (_, Some(Reason::ExitCode), Some(code)) => Line::from(format!("{word}, exit {code}")),
        (Status::Succeeded | Status::Answered, _, _) | (_, None, _) => Line::from(word),
        (_, Some(reason), _) => {
            let why = why_of(row).unwrap_or(why(reason));
            Line::from(if why.starts_with("by ") { format!("{word} {why}") } else { format!("{word}: {why}") })
        }
    };
    let line = match doubt(call) {
        // A masked success may hide a failure; a failure is one, whichever command it came from.
        Some(doubt) if row.status == Status::Succeeded => line.with(Class::Plain, ", but ").with(Class::Plain, &doubt),
        _ => line,
    };
    match digest::reported(call) {
        Some(reported) => line.with(Class::Plain, "; ").with(Class::Dim, &output_says(&cut::short(&reported.text, QUOTED))),
        None => line,
    }
}

/// The most characters of a line of the output that a verdict quotes.
const QUOTED: usize = 80;

/// Words for an outcome that only the output reports: evidence that is weaker than an exit code.
pub(crate) fn output_says(text: &str) -> String {
    format!("output says “{text}”")
}

/// Remark on the outcome that the output of a test, a build or a linter reports, where no exit code of it was recorded.
pub(crate) fn reported(call: &Story<'_>) -> Option<Block> {
    let reported = digest::reported(call)?;
    Some(notice(Level::Info, Line::of(Class::Dim, &output_says(&reported.text))))
}

/// Doubt about a success, in a few words.
fn doubt(call: &Story<'_>) -> Option<String> {
    let (_, line) = masking(call)?;
    let runs = line.masked_runs();
    let first = runs.first()?;
    Some(match (&call.row.exit_of, recorded(call)) {
        (Some(command), Some(outcome)) => format!("{outcome} came from {}", program(command)),
        _ => format!("the outcome of {} is unknown", first.text),
    })
}

/// Whether a success is not that of the test, build or the like in the command.
pub fn is_doubtful(call: &Story<'_>) -> bool {
    masking(call).is_some_and(|(_, line)| line.masks_success(&call.row))
}

/// The command of a call that masks an exit code.
fn masking<'s>(call: &'s Story<'_>) -> Option<(&'s Shell, &'s CommandLine)> {
    let Detail::Shell(shell) = &call.told.detail else { return None };
    let line = call.command.as_ref().filter(|_| !call.row.masked.is_empty())?;
    Some((shell, line))
}

/// The outcome that was recorded, in words: `exit 0` only where the log has the code.
fn recorded(call: &Story<'_>) -> Option<String> {
    match call.row.exit_code {
        Some(code) => Some(format!("exit {code}")),
        None => (call.row.status == Status::Succeeded).then(|| "the success".to_owned()),
    }
}

/// The program of a simple command: `tail` of `tail -5`.
fn program(command: &str) -> &str {
    command.split_whitespace().next().unwrap_or(command)
}

/// Remark whose exit code was recorded, where that of a test, a build or the like was not; and a hint from the output,
/// which proves nothing.
pub(crate) fn hidden(call: &Story<'_>) -> Vec<Block> {
    let Some((shell, command)) = masking(call) else { return Vec::new() };
    let runs = command.masked_runs();
    let Some((first, rest)) = runs.split_first() else { return Vec::new() };
    let (codes, were) = if rest.is_empty() { ("code", "is") } else { ("codes", "are") };
    let mut line = match (&call.row.exit_of, recorded(call)) {
        (Some(command), Some(outcome)) => Line::from(format!("{outcome} came from ")).with(Class::Strong, command).with(Class::Plain, "; "),
        (Some(command), None) => Line::from("The exit code came from ").with(Class::Strong, command).with(Class::Plain, "; "),
        (None, _) => Line::default(),
    };
    line.push(Class::Plain, &if call.row.exit_of.is_some() { format!("the exit {codes} of ") } else { format!("The exit {codes} of ") });
    line.push(Class::Strong, &first.text);
    rest.iter().for_each(|command| {
        line.push(Class::Plain, ", ");
        line.push(Class::Strong, &command.text);
    });
    let printed = [&shell.stdout, &shell.stderr];
    let reported = digest::reported(call);
    // The line that sums up a failed run says more than a hint.
    let told = reported.as_ref().is_some_and(|reported| reported.outcome == ReportedOutcome::Failed);
    let said = printed.into_iter().flatten().filter(|_| !told).find_map(|text| failure_hint(text));
    let hint =
        said.map(|said| notice(Level::Info, Line::from("hint: the output says “").with(Class::Strong, &said).with(Class::Plain, "”")));
    std::iter::once(notice(Level::Warning, line.with(Class::Plain, &format!(" {were} unknown")))).chain(hint).collect()
}

/// Reason for a call's status: what the log says, what that leaves open, and how it could have been recorded.
pub fn lines(call: &Story<'_>) -> Vec<Line> {
    let mut lines = vec![said(call)];
    lines.extend(hidden(call).into_iter().chain(reported(call)).filter_map(|block| match block {
        Block::Notice { text, .. } => Some(text),
        _ => None,
    }));
    lines.extend(remedy(call));
    lines
}

/// Content of the record that proves a status.
fn said(call: &Story<'_>) -> Line {
    let row = &call.row;
    match (row.status, row.reason) {
        (Status::Succeeded, _) => worked(call),
        (Status::Failed, Some(Reason::ExitCode)) if row.kind == Kind::Script => in_script(row),
        (Status::Failed, Some(Reason::ExitCode)) => {
            let code = row.exit_code.map_or("an exit code other than 0".to_owned(), |code| format!("exit code {code}"));
            of(call, &format!("It ended with {code}"))
        }
        (Status::Answered, _) => {
            // Whether the script itself ended is another question: it may go on, or have thrown.
            if row.kind == Kind::Script {
                return Line::from("The outcome of the calls in the script is unknown: its output does not prove it.");
            }
            if (row.unwrapped.is_some() || row.is_inner()) && matches!(row.kind, Kind::Shell | Kind::Task) {
                return Line::from("The outcome of this call is unknown: the script did not print its exit code.");
            }
            if row.unwrapped.is_some() || row.is_inner() {
                return Line::from("The outcome of this call is unknown: the script's output does not prove it.");
            }
            Line::from("There is a result, but the log has no exit code and no word of success or failure.")
        }
        (Status::Rejected, Some(Reason::User)) => Line::from("You declined it."),
        (Status::Rejected, Some(Reason::UserFeedback)) => Line::from("You declined it with a reason."),
        (Status::Blocked, _) => crate::outcome::who_blocked(call),
        (Status::Interrupted, Some(Reason::User)) => Line::from("You interrupted it while it ran."),
        (Status::Interrupted, Some(Reason::Handover)) => Line::from("The session was handed over while it ran."),
        (Status::TimedOut, _) => Line::from("It reached its time limit."),
        (_, reason) => {
            let sentence = no_result(row).map(str::to_owned);
            let short = || reason.map(|reason| crate::outcome::sentence(why(reason)));
            Line::from(sentence.or_else(short).unwrap_or_else(|| "The log does not say why.".to_owned()))
        }
    }
}

/// Basis of a success.
fn worked(call: &Story<'_>) -> Line {
    let row = &call.row;
    if row.background.is_some() {
        return Line::from("The result only says that the command started in the background; its outcome is below.");
    }
    match row.exit_code {
        // Whose exit code it is, is said next.
        None if is_doubtful(call) => Line::from("The result is not marked as an error."),
        Some(code) => of(call, &format!("It ended with exit code {code}")),
        None if row.kind == Kind::Script && row.inner.is_some_and(|inner| inner.calls == 0) => {
            Line::from("The script finished without calls.")
        }
        None if row.kind == Kind::Script => Line::from("The log shows that every call in the script succeeded."),
        // A script that went on proves that a call in it did not throw, and nothing about an exit code.
        None if row.unwrapped.is_some() || row.is_inner() => Line::from("The script continued after this call, so it did not fail."),
        None if row.kind == Kind::Shell && row.server.is_none() => {
            Line::from("The result is not marked as an error, so the command did not fail.")
        }
        None => Line::from("The result is not marked as an error."),
    }
}

/// Sentence about a script in which a command failed.
fn in_script(row: &CallRow<'_>) -> Line {
    let code = row.exit_code.map_or("an exit code other than 0".to_owned(), |code| format!("exit code {code}"));
    match &row.exit_of {
        Some(command) => Line::from("A command in the script ended with ")
            .with(Class::Plain, &code)
            .with(Class::Plain, ": ")
            .with(Class::Strong, command),
        None => Line::from(format!("A command in the script ended with {code}.")),
    }
}

/// Sentence about an exit code, with the command it belongs to where there are several.
fn of(call: &Story<'_>, sentence: &str) -> Line {
    let line = Line::from(sentence);
    let several = call.command.as_ref().is_some_and(|line| line.commands.len() > 1);
    match call.row.exit_of.as_deref() {
        Some(command) if several => line.with(Class::Plain, ": that of ").with(Class::Strong, command),
        _ => line.with(Class::Plain, "."),
    }
}

/// Shell setting that would have recorded the masked exit code.
fn remedy(call: &Story<'_>) -> Option<Line> {
    let (_, line) = masking(call)?;
    let setting = line.unmasked_by?;
    Some(Line::from("With ").with(Class::Strong, setting).with(Class::Plain, " it would have been recorded."))
}

/// Name of the record that proves a status.
pub fn evidence(call: &Story<'_>) -> &'static str {
    let row = &call.row;
    match row.reason {
        _ if row.result == Some(row.evidence) => "the result",
        _ if row.request == row.evidence => "the request",
        Some(Reason::LogEnds | Reason::AwaitingResult | Reason::AwaitingPermission) => "the log’s last record",
        _ => "the record that stands in for a result",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story};
    use tooltrail_model::row::CallRowOrigin;

    fn shell(command: &str, status: Status, code: Option<i64>) -> Story<'static> {
        let detail = Detail::Shell(Shell { command: command.into(), stdout: Some("x".into()), ..Shell::default() });
        let mut call = answered(story("Bash", Kind::Shell, status, detail), "x");
        call.row.reason = (status == Status::Failed).then_some(Reason::ExitCode);
        call.row.exit_code = code;
        call.command = tooltrail_shell::annotate(&mut call.row, command);
        call
    }

    fn told(call: &Story<'_>) -> Vec<String> {
        lines(call).iter().map(Line::text).collect()
    }

    #[test]
    fn a_success_that_is_another_commands() {
        let call = shell("cargo test 2>&1 | tail -5", Status::Succeeded, None);
        assert!(is_doubtful(&call));
        assert_eq!(verdict(&call).text(), "succeeded, but the success came from tail");
        assert_eq!(
            told(&call),
            [
                "The result is not marked as an error.",
                "the success came from tail -5; the exit code of cargo test is unknown",
                "With set -o pipefail it would have been recorded."
            ]
        );
        let call = shell("make test || true", Status::Succeeded, Some(0));
        assert_eq!(verdict(&call).text(), "succeeded, but the outcome of make test is unknown");
        assert_eq!(told(&call).len(), 2, "nothing would have told: {:?}", told(&call));
        let call = shell("make; make test; ls", Status::Succeeded, None);
        assert_eq!(told(&call).last().map(String::as_str), Some("With set -e it would have been recorded."));
    }

    #[test]
    fn what_is_plain_is_told_plainly() {
        let call = shell("cargo test", Status::Failed, Some(101));
        assert!(!is_doubtful(&call));
        assert_eq!(verdict(&call).text(), "failed, exit 101");
        assert_eq!(told(&call), ["It ended with exit code 101."]);
        let call = shell("cd api && cargo test", Status::Succeeded, Some(0));
        assert_eq!(told(&call), ["It ended with exit code 0: that of cargo test"]);
        let call = shell("ls | tail", Status::Succeeded, None);
        assert_eq!(verdict(&call).text(), "succeeded");
    }

    #[test]
    fn an_unknown_outcome_says_nothing_of_the_end_of_the_script() {
        let mut call = story("exec_command", Kind::Shell, Status::Answered, Detail::Other);
        call.row.origin = CallRowOrigin::Script;
        assert_eq!(told(&call), ["The outcome of this call is unknown: the script did not print its exit code."]);
        call.row.kind = Kind::Edit;
        assert_eq!(told(&call), ["The outcome of this call is unknown: the script's output does not prove it."]);
        call.row.status = Status::Succeeded;
        assert_eq!(told(&call), ["The script continued after this call, so it did not fail."]);
        let script = story("exec", Kind::Script, Status::Answered, Detail::Other);
        assert_eq!(told(&script), ["The outcome of the calls in the script is unknown: its output does not prove it."]);
    }

    #[test]
    fn every_status_and_reason_has_a_sentence() {
        for &status in Status::ALL {
            for reason in Reason::ALL.iter().copied().map(Some).chain([None]) {
                let mut call = story("Thing", Kind::Other, status, Detail::Other);
                call.row.reason = reason;
                let told = told(&call);
                assert!(told.iter().all(|line| !line.is_empty()) && !told.is_empty(), "{status:?} {reason:?}");
                assert!(!evidence(&call).is_empty());
            }
        }
    }
}
