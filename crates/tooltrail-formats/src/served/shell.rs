//! Commands, and the processes that go on: started, asked for their output, sent input, stopped.

use super::ServedCall;
use super::words;
use serde_json::Value;
use tooltrail_model::detail::{Detail, Shell, TaskOutput, TaskStop};

/// Names of the field that has the command.
pub(super) const COMMAND: &[&str] = &["command", "cmd", "command_line", "commandLine"];

/// Names of the field that has the process.
pub(super) const PROCESS: &[&str] = &["pid", "id", "task_id", "bash_id", "shell_id"];

/// A command that is run, or started.
pub(super) fn command(call: &mut ServedCall<'_>) -> Detail {
    let line = call.text(COMMAND).or_else(|| Some(joined(&call.texts(COMMAND)?)));
    // Some servers take the words behind the program apart.
    let words = call.texts(&["args", "arguments"]).map(|words| format!(" {}", joined(&words))).unwrap_or_default();
    let mut shell = Shell {
        command: line.unwrap_or_default() + &words,
        description: call.text(&["description"]),
        cwd: call.text(&["cwd", "workdir", "working_directory", "workingDirectory", "working_dir", "workingDir", "directory"]),
        background: call.flag(&["run_in_background", "background", "is_background"]),
        timeout_ms: call.number(&["timeout_ms", "timeoutMs"]),
        ..Shell::default()
    };
    // The command may have run, whatever the status says about it.
    if !call.answer.answered || !call.answer.ran {
        return Detail::Shell(shell);
    }
    call.printed = true;
    match object(call.answer.text) {
        Some((stdout, stderr)) => (shell.stdout, shell.stderr) = (stdout, stderr),
        None => {
            shell.task = words::task(call.answer.text).map(str::to_owned);
            shell.stdout = Some(words::output(call.answer.text).to_owned());
        }
    }
    Detail::Shell(shell)
}

/// The output of a process that goes on, or input that is sent to it.
pub(super) fn output(call: &mut ServedCall<'_>) -> Detail {
    let mut out = TaskOutput { task: call.id(PROCESS), sent: call.text(&["input"]), ..TaskOutput::default() };
    if let Some(text) = call.told() {
        let said = words::said(&text, &text);
        out.exit_code = said.exit;
        out.state = said.exit.map(super::state);
        out.stdout = Some(words::output(&text).to_owned());
    }
    Detail::TaskOutput(out)
}

/// A process that is stopped.
pub(super) fn stop(call: &mut ServedCall<'_>) -> Detail {
    let message = call.told().map(|text| text.into_owned());
    Detail::TaskStop(TaskStop { task: call.id(PROCESS), command: None, message })
}

/// What a command printed, where the result is an object with its streams.
fn object(text: &str) -> Option<(Option<String>, Option<String>)> {
    let value: Value = serde_json::from_str(text.trim()).ok().filter(|_| text.trim_start().starts_with('{'))?;
    let field = |names: &[&str]| names.iter().find_map(|name| value.get(*name)?.as_str().map(str::to_owned));
    let (stdout, stderr) = (field(&["stdout", "output"]), field(&["stderr"]).filter(|text| !text.is_empty()));
    (stdout.is_some() || stderr.is_some()).then_some((stdout, stderr))
}

/// Words as a command line. A word that a shell would split or expand is quoted.
pub(super) fn joined(words: &[String]) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./:=@%+,".contains(letter);
    let word = |word: &String| match word.is_empty() || !word.chars().all(plain) {
        true => format!("'{}'", word.replace('\'', r"'\''")),
        false => word.clone(),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}
