//! Commands: `shell`, `shell_command`, `exec_command`, `local_shell`, `container.exec`.
//!
//! The command is a line or a list of words; `bash -lc X` is shown as X. The output is text behind a few lines in front, or an end
//! event keeps the two streams apart.

use super::CodexCall;
use super::bag::Bag;
use crate::codex::markers::{self, Meaning};
use serde_json::Value;
use tooltrail_model::Status;
use tooltrail_model::detail::{Detail, Shell};
use tooltrail_model::verdict::Marker;

/// Programs that run a script given in a word of their own.
const SHELLS: &[&str] = &["bash", "zsh", "sh", "dash", "ksh", "fish", "pwsh", "powershell"];
/// Fields of an end that repeat the request, or each other.
const REPEATED: &[&str] = &["command", "cwd", "parsed_cmd", "parsedCmd", "formatted_output", "aggregated_output", "stdout", "stderr"];

pub(super) fn detail(call: &mut CodexCall<'_>) -> Detail {
    let input = &mut call.input;
    let command = input.take("cmd").or_else(|| input.take("command"));
    let command = command.as_ref().map(line).or_else(|| call.script.take().map(str::to_owned)).unwrap_or_default();
    let cwd = input.text(&["workdir", "working_directory", "cwd"]).map(directory);
    let timeout_ms = input.number(&["timeout_ms", "timeout"]);
    let unsandboxed = escape(input);
    // `exec` says nothing; another type is left over, to be shown.
    if input.peek("type").and_then(Value::as_str) == Some("exec") {
        input.drop(&["type"]);
    }
    let (stdout, stderr) = streams(call);
    call.produced.drop(REPEATED);
    if call.produced.peek("source").and_then(Value::as_str) == Some("agent") {
        call.produced.drop(&["source"]);
    }
    let task = call.header.running.map(str::to_owned);
    let interrupted = call.ask.status == Status::Interrupted;
    Detail::Shell(Shell { command, cwd, timeout_ms, unsandboxed, stdout, stderr, task, interrupted, ..Shell::default() })
}

/// The reason for leaving the sandbox, or the agent's word that it asks for it.
fn escape(input: &mut Bag) -> Option<String> {
    // A reason says more than a flag.
    let why = input.text(&["justification"]);
    let asks = input.flag("with_escalated_permissions").filter(|asks| *asks).map(|_| "with escalated permissions".to_owned());
    let word = input.text(&["sandbox_permissions"]).filter(|word| word != "use_default").map(|word| word.replace('_', " "));
    why.or(word).or(asks)
}

/// The streams of a command: apart where an end has them, otherwise the text that the model saw without the lines in front.
fn streams(call: &mut CodexCall<'_>) -> (Option<String>, Option<String>) {
    let (out, err) = (call.produced.text(&["stdout"]), call.produced.text(&["stderr"]));
    // Without stderr the combined output is as good, and keeps the order.
    if err.is_some() {
        return (out, err);
    }
    let all = call.produced.text(&["aggregated_output"]).or(out);
    let ended = call.header.exit_code.is_some() || call.produced.has("exit_code");
    let printed = all.or_else(|| said(call.header.body, ended));
    match printed.as_deref().and_then(sandboxed) {
        Some((out, err)) => (filled(out), filled(err)),
        None => (printed, None),
    }
}

/// The output of the command in a text, without the agent's words about it.
fn said(body: &str, ended: bool) -> Option<String> {
    let text = match markers::of(body) {
        Some(Meaning::Known(Marker::Timeout)) => body.trim_start().split_once('\n').map_or("", |(_, printed)| printed),
        Some(Meaning::Known(Marker::Sandbox)) => body,
        // A marker behind an exit code is the command's own output.
        Some(Meaning::Known(_) | Meaning::Error) if !ended => "",
        _ => body,
    };
    filled(text)
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The streams in `sandbox denied exec error, exit code: 1, stdout: …, stderr: …`.
fn sandboxed(text: &str) -> Option<(&str, &str)> {
    let begins = ["failed in sandbox ", "sandbox denied exec error"].iter().any(|start| text.trim_start().starts_with(start));
    let (_, rest) = text.split_once(", stdout: ").filter(|_| begins)?;
    Some(rest.rsplit_once(", stderr: ").unwrap_or((rest, "")))
}

/// A directory, which some records write as `file://`.
fn directory(path: String) -> String {
    path.strip_prefix("file://").map(str::to_owned).unwrap_or(path)
}

/// A command as one line: a text as it is, words quoted where a shell would need it, and the script alone where a shell runs one.
pub(in crate::codex) fn line(command: &Value) -> String {
    let words: Vec<&str> = match command {
        Value::String(text) => return text.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => return String::new(),
    };
    if let [program, option, script] = words[..]
        && is_shell(program)
        // Only with exactly these words: any other argument would be lost.
        && matches!(option, "-c" | "-lc" | "-cl" | "-ic" | "-lic" | "-ilc" | "-Command" | "-command")
    {
        return script.to_owned();
    }
    let quoted: Vec<String> = words.into_iter().map(quoted).collect();
    quoted.join(" ")
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    SHELLS.contains(&name.strip_suffix(".exe").unwrap_or(name))
}

/// A word as it would be typed.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=,@%+^".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_read_as_they_would_be_typed() {
        let table = [
            (json!("ls -l"), "ls -l"),
            (json!(["bash", "-lc", "cd x && ls"]), "cd x && ls"),
            (json!(["/bin/zsh", "-c", "ls"]), "ls"),
            (json!(["powershell.exe", "-Command", "dir"]), "dir"),
            (json!(["bash", "run.sh"]), "bash run.sh"),
            (json!(["git", "commit", "-m", "it's done", ""]), r"git commit -m 'it'\''s done' ''"),
            (json!([]), ""),
            (json!(1), ""),
        ];
        for (command, expected) in table {
            assert_eq!(line(&command), expected);
        }
    }

    #[test]
    fn the_agents_own_words_are_no_output() {
        assert_eq!(said("exec command rejected by user", false), None);
        assert_eq!(said("aborted by user", true).as_deref(), Some("aborted by user"));
        assert_eq!(said("command timed out after 9 milliseconds\npartial", true).as_deref(), Some("partial"));
        assert_eq!(sandboxed("sandbox denied exec error, exit code: 1, stdout: a, stderr: b"), Some(("a", "b")));
        assert_eq!(sandboxed("x, stdout: a, stderr: b"), None);
    }
}
