//! What reaches the model in the person's name: their words, or text that the program puts in.

use std::borrow::Cow;
use tooltrail_model::event::Origin;

/// How text begins that the program puts in. Tags are matched whole or before a space, so that a person may write `<div>`.
const TAGS: &[&str] = &[
    "user_instructions",
    "environment_context",
    "turn_aborted",
    "subagent_notification",
    "user_shell_command",
    "skill",
    "codex_internal_context",
    "goal_context",
    "recommended_plugins",
    "hook_prompt",
    "send_user_message_question_reply",
    "image",
    "permissions",
    "collaboration_mode",
    "personality_spec",
    "model_switch",
    "skills_instructions",
    "apps_instructions",
    "plugins_instructions",
    "INSTRUCTIONS",
];

/// Where an editor's context ends and the person's words begin.
const REQUEST: &str = "## My request for Codex:";

/// Who wrote a text, and how the person's part of it begins.
pub(super) fn read(head: Cow<'_, str>) -> (Origin, Cow<'_, str>) {
    let text = head.trim_start();
    if text.starts_with("# AGENTS.md instructions") || tag(text).is_some_and(|tag| TAGS.contains(&tag)) {
        return (Origin::Program, head);
    }
    let context = text.starts_with("# Context from my IDE setup:") || text.starts_with(REQUEST);
    if context && let Some((_, words)) = head.split_once(REQUEST) {
        return (Origin::Human, Cow::Owned(words.trim_start().to_owned()));
    }
    (Origin::Human, head)
}

/// The name of the tag that a text begins with.
fn tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    rest.find(['>', ' ', '\n']).map(|end| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_puts_in_is_not_the_persons() {
        let origin = |text: &'static str| read(text.into()).0;
        assert_eq!(origin("<environment_context>\n  <cwd>/srv</cwd>"), Origin::Program);
        assert_eq!(origin("# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>"), Origin::Program);
        assert_eq!(origin("<hook_prompt hook_run_id=\"1\">go on"), Origin::Program);
        assert_eq!(origin("<permissions instructions>…"), Origin::Program);
        assert_eq!(origin("<div> is not closed, please fix"), Origin::Human);
        assert_eq!(origin("why does <environment_context> show up?"), Origin::Human);
    }

    #[test]
    fn an_editors_context_is_taken_off() {
        let (origin, head) = read("# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n".into());
        assert_eq!((origin, &*head), (Origin::Human, "fix it\n"));
    }
}
