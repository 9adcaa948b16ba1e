//! `apply_patch` in all its carriers: a tool of its own, a word of a command, a heredoc in a script. The changes in an end are preferred:
//! they have line numbers.

use super::{CodexCall, shell};
use crate::codex::patch::{BEGIN, of_changes, parse};
use serde_json::Value;
use tooltrail_model::detail::{Detail, Patch};
use tooltrail_model::patch::FilePatch;
use tooltrail_skim::Skim;

/// How a patch ends.
const END: &str = "*** End Patch";

pub(super) fn detail(call: &mut CodexCall<'_>) -> Detail {
    let given = call.input.text(&["input", "patch"]);
    let command = if given.is_none() { call.input.take("command").as_ref().map(shell::line) } else { None };
    let text = given.or(command).or_else(|| call.script.take().map(str::to_owned));
    Detail::Patch(apply(call, text))
}

/// A command, which is a patch where it does nothing but apply one.
pub(super) fn or_command(call: &mut CodexCall<'_>) -> Detail {
    in_shell(call).unwrap_or_else(|| shell::detail(call))
}

/// A command that does nothing but apply a patch.
fn in_shell(call: &mut CodexCall<'_>) -> Option<Detail> {
    let key = if call.input.has("cmd") { "cmd" } else { "command" };
    let (before, patch) = carried(call.input.peek(key)?)?;
    let patch = Some(patch.to_owned());
    // The directory in which it is applied is not recorded elsewhere.
    let before = before.strip_suffix("apply_patch").unwrap_or(&before).trim().to_owned();
    call.input.drop(&[key, "type"]);
    if !before.is_empty() {
        call.input.put(key, before);
    }
    call.produced.drop(&["command", "cwd", "parsed_cmd", "aggregated_output", "formatted_output", "source"]);
    Some(Detail::Patch(apply(call, patch)))
}

fn apply(call: &mut CodexCall<'_>, text: Option<String>) -> Patch {
    let mut files = [call.produced.take("changes"), call.input.take("changes")].iter().flatten().map(changes).next().unwrap_or_default();
    if files.is_empty() {
        files = text.as_deref().map(parse).unwrap_or_default();
    }
    // A patch that cannot be read is shown as text.
    let unread = text.filter(|_| files.is_empty());
    let stdout = call.produced.text(&["stdout"]);
    let stderr = call.produced.text(&["stderr"]);
    let body = Some(call.header.body.to_owned()).filter(|body| !body.trim().is_empty());
    // A message is shown as such, and not once more.
    let output = body.or(stdout).or(stderr).filter(|output| call.error.as_deref() != Some(output.trim()));
    Patch { files, unread, output }
}

fn changes(value: &Value) -> Vec<FilePatch> {
    of_changes(Skim::new(value.to_string().as_bytes()))
}

/// The text before a patch in a command, and the patch; `None` if the command does more than apply it.
fn carried(command: &Value) -> Option<(String, String)> {
    if let [program, patch] = command.as_array().map(Vec::as_slice).unwrap_or_default()
        && let (Some("apply_patch" | "applypatch"), Some(patch)) = (program.as_str(), patch.as_str())
    {
        return Some((String::new(), patch.to_owned()));
    }
    let script = shell::line(command);
    let (before, rest) = script.split_once(BEGIN)?;
    let (inner, after) = rest.split_once(END)?;
    let before = heredoc(before, after.trim())?.to_owned();
    Some((before, format!("{BEGIN}{inner}{END}\n")))
}

/// The command before `<<'EOF'`, or before a quote, if the same word or quote ends the script.
fn heredoc<'t>(before: &'t str, after: &str) -> Option<&'t str> {
    let before = before.trim_end();
    let command = match before.rsplit_once("<<") {
        Some((command, word)) => {
            let word = word.trim_start_matches('-').trim().trim_matches(['\'', '"']);
            (after == word && !word.is_empty()).then_some(command)?
        }
        None => {
            let quote = before.chars().last().filter(|quote| matches!(quote, '\'' | '"'))?;
            (after == quote.to_string()).then(|| before.trim_end_matches(quote))?
        }
    };
    let command = command.trim();
    (command == "apply_patch" || command.ends_with(" apply_patch")).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_command_that_does_nothing_else_is_a_patch() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
        let before = |command: Value| carried(&command).map(|(before, _)| before);
        assert_eq!(before(json!(["apply_patch", patch])).as_deref(), Some(""));
        assert_eq!(before(json!(["bash", "-lc", format!("apply_patch <<'EOF'\n{patch}EOF\n")])).as_deref(), Some("apply_patch"));
        assert_eq!(before(json!(format!("cd web && apply_patch <<\"E\"\n{patch}E"))).as_deref(), Some("cd web && apply_patch"));
        assert_eq!(before(json!(format!("apply_patch '{}'", patch.trim()))).as_deref(), Some("apply_patch"));
        assert_eq!(before(json!(format!("apply_patch <<'EOF'\n{patch}EOF\ncargo test"))), None);
        assert_eq!(before(json!(format!("cat > p <<'EOF'\n{patch}EOF"))), None);
        assert_eq!(before(json!("ls")), None);
    }
}
