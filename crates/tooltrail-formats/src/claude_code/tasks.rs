//! Notifications that a background task has ended, in any record that carries them.

use super::outcome::task_state;
use std::borrow::Cow;
use tooltrail_model::event::TaskNews;
use tooltrail_skim::Skim;

/// The text of the first `<name>…</name>` in a text.
pub(super) fn tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let open = text.find(&format!("<{name}>"))? + name.len() + 2;
    let length = text[open..].find(&format!("</{name}>"))?;
    Some(text[open..open + length].trim())
}

/// Whether a text is a notification: version 2.0 has tags of their own for shells and agents.
pub(super) fn is_notification(text: &str) -> bool {
    let text = text.trim_start();
    ["<task-notification>", "<bash-notification>", "<agent-notification>"].iter().any(|tag| text.starts_with(tag))
}

/// A task of the program that begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BegunTask {
    pub(super) id: String,
    /// The call that it belongs to; the earliest versions do not say.
    pub(super) call: Option<String>,
}

/// Reads a task from the JSON that early versions of 2.1 put into the queue when a command or an agent became one:
/// `{"task_id":"b1","tool_use_id":"toolu_1","description":"make","task_type":"local_bash"}`.
pub(super) fn begun(text: &str) -> Option<BegunTask> {
    let text = text.trim();
    let mut skim = Some(Skim::new(text.as_bytes())).filter(|_| text.starts_with('{'))?;
    let (mut id, mut call, mut kind) = (None, None, None);
    skim.object(|key, value| {
        let slot = match key.as_bytes() {
            b"task_id" => &mut id,
            b"tool_use_id" => &mut call,
            b"task_type" => &mut kind,
            _ => return Ok(()),
        };
        *slot = value.string().map(|text| text.text().into_owned());
        Ok(())
    })
    .ok()?;
    // A person may type JSON as well; only these keys together, with nothing behind them, are a task.
    (skim.finished() && kind.is_some()).then_some(BegunTask { id: id?, call })
}

/// Reads a notification, which must stand at the start of the text.
pub(super) fn notification<'t>(text: &'t str) -> Option<TaskNews<'t>> {
    let text = text.trim_start();
    if !is_notification(text) {
        return None;
    }
    // The agent's own words come later in the text and may quote such tags.
    let head = text.split("<result>").next().unwrap_or(text);
    let state = task_state(tag(head, "status")?);
    Some(TaskNews {
        id: ["task-id", "shell-id", "agent-id"].iter().find_map(|name| tag(head, name)).map(Cow::Borrowed),
        call: tag(head, "tool-use-id").map(Cow::Borrowed),
        poll: None,
        state,
        exit_code: tag(head, "summary").and_then(exit_code),
    })
}

/// The background shells in a reminder of 2.0, which must be at the start of the text:
/// `Background Bash b1 (command: make) (status: completed) (exit code: 2) Has new output available.`
pub(super) fn reminded(text: &str) -> impl Iterator<Item = TaskNews<'_>> {
    let inner = text.trim_start().strip_prefix("<system-reminder>").and_then(|inner| inner.split("</system-reminder>").next());
    let first = inner.and_then(|inner| inner.trim_start().strip_prefix(SHELL));
    first.into_iter().flat_map(|first| first.split("\nBackground Bash ")).filter_map(shell)
}

/// The beginning of the line about a shell.
const SHELL: &str = "Background Bash ";

/// One shell, from its id on.
fn shell(told: &str) -> Option<TaskNews<'_>> {
    let id = told.split_whitespace().next()?;
    // The command comes before the state and may contain anything, so the last match counts.
    let (_, said) = told.rsplit_once("(status: ")?;
    let (status, rest) = said.split_once(')')?;
    let code = rest.trim_start().strip_prefix("(exit code: ").and_then(|rest| rest.split(')').next());
    Some(TaskNews {
        id: Some(Cow::Borrowed(id)),
        call: None,
        poll: None,
        state: task_state(status),
        exit_code: code.and_then(|code| code.trim().parse().ok()),
    })
}

/// The code in `… (exit code 0)` or `… failed with exit code 1`.
fn exit_code(summary: &str) -> Option<i64> {
    let at = summary.rfind("exit code ")?;
    let rest = &summary[at + "exit code ".len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tooltrail_model::event::TaskState;

    #[test]
    fn notifications_are_read() {
        let text = "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<status>failed</status>\n<summary>Background command \"x\" failed with exit code 3</summary>\n</task-notification>";
        let news = notification(text).unwrap();
        assert_eq!((news.id.as_deref(), news.call.as_deref()), (Some("b1"), Some("toolu_1")));
        assert_eq!((news.state, news.exit_code), (TaskState::Failed, Some(3)));
        assert!(notification("he quoted <task-notification><status>failed</status>").is_none());
        assert!(notification("<task-notification><event>line</event></task-notification>").is_none());
    }

    #[test]
    fn notifications_of_older_versions_are_read() {
        let text = "<bash-notification>\n<shell-id>b1</shell-id>\n<status>completed</status>\n<summary>Background command \"x\" completed (exit code 0).</summary>\n</bash-notification>";
        let news = notification(text).unwrap();
        assert_eq!((news.id.as_deref(), news.state, news.exit_code), (Some("b1"), TaskState::Completed, Some(0)));
    }

    #[test]
    fn tasks_that_begin_are_read() {
        let task = |text: &str| begun(text).map(|task| (task.id, task.call));
        let text = r#"{"task_id":"b1","tool_use_id":"toolu_1","description":"make","task_type":"local_bash"}"#;
        assert_eq!(task(text), Some(("b1".into(), Some("toolu_1".into()))));
        assert_eq!(task(r#"{"task_id":"b1","description":"make","task_type":"local_agent"}"#), Some(("b1".into(), None)));
        for words in [&format!("{text} why?"), r#"{"task_id":"b1"}"#, "{", "make it a task"] {
            assert_eq!(task(words), None, "{words}");
        }
    }

    #[test]
    fn reminders_of_shells_are_read() {
        let text = "<system-reminder>\nBackground Bash b1 (command: f() { (status: x) }\nf) (status: completed) (exit code: 4) Has new output available.\n\
            Background Bash b2 (command: make) (status: running) Has new output available.\n</system-reminder>\nBackground Bash b3 (status: killed)";
        let news: Vec<_> = reminded(text).map(|news| (news.id.unwrap_or_default(), news.state, news.exit_code)).collect();
        assert_eq!(news, [("b1".into(), TaskState::Completed, Some(4)), ("b2".into(), TaskState::Running, None)]);
        assert_eq!(reminded("he said <system-reminder>\nBackground Bash b1 (status: completed)").count(), 0);
    }
}
