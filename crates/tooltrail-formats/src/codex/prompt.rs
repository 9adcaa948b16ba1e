//! The author of texts in the person's name: the person, or the program. [`read`] alone decides, for the turns of a scan and for the parts
//! of a transcript.

use crate::value::Payloads;
use std::borrow::Cow;
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::Part;

/// The tags at the beginning of texts of the program. They are matched whole or before a space, so that a person may write `<div>`.
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

/// The line at which an editor's context ends and the person's words begin.
const REQUEST: &str = "## My request for Codex:";

/// The author of a text, and how the person's part of it begins.
pub(super) fn read(head: Cow<'_, str>) -> (Origin, Cow<'_, str>) {
    let text = head.trim_start();
    if text.starts_with("# AGENTS.md instructions") || tag(text).is_some_and(|tag| TAGS.contains(&tag)) {
        return (Origin::Program, head);
    }
    // An editor puts its context in front of the words; without the line between them, all of it counts as the person's.
    let context = text.starts_with("# Context from my IDE setup:") || text.starts_with(REQUEST);
    if context && let Some((_, words)) = head.split_once(REQUEST) {
        return (Origin::Human, Cow::Owned(words.trim_start().to_owned()));
    }
    (Origin::Human, head)
}

/// Whether the person wrote a text, from its beginning.
pub(super) fn is_persons(head: &str) -> bool {
    read(Cow::Borrowed(head)).0 == Origin::Human && !is_image_tag(head)
}

/// The name of the tag that a text begins with.
fn tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    rest.find(['>', ' ', '\n']).map(|end| &rest[..end])
}

/// A whole text as parts: the person's words, a text of the program, a command run by hand, or an editor's context and the words behind it.
/// The author is recognised in the original text; only the parts are redacted.
pub(super) fn parts(text: &str, payloads: Payloads<'_>) -> Vec<Part> {
    if let Some(command) = by_hand(text, payloads) {
        return vec![command];
    }
    let open = |text: &str| payloads.decoded(text.to_owned());
    match read(Cow::Borrowed(text)) {
        (Origin::Program, _) => {
            let label = label(text).unwrap_or_else(|| "context".to_owned());
            vec![Part::Folded { label: payloads.decoded(label), text: open(text) }]
        }
        (origin, Cow::Owned(words)) => {
            let context = text.split_once(REQUEST).map_or("", |(before, _)| before.trim());
            let context = (!context.is_empty()).then(|| Part::Folded { label: "editor context".to_owned(), text: open(context) });
            context.into_iter().chain([Part::Prompt { origin, text: payloads.decoded(words) }]).collect()
        }
        (origin, Cow::Borrowed(_)) => vec![Part::Prompt { origin, text: open(text) }],
    }
}

/// The label for a text of the program: its tag in words, or the file it comes from.
pub(super) fn label(text: &str) -> Option<String> {
    let text = text.trim_start();
    if text.starts_with("# AGENTS.md instructions") {
        return Some("AGENTS.md".to_owned());
    }
    // Only a plain tag makes a label.
    let tag = tag(text).filter(|tag| !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))?;
    Some(tag.replace(['_', '-'], " ").to_lowercase())
}

/// Whether a text is only the tag before or behind a picture.
pub(super) fn is_image_tag(text: &str) -> bool {
    let text = text.trim();
    text == "</image>" || (tag(text) == Some("image") && text.find('>') == Some(text.len() - 1))
}

/// `<user_shell_command><command>ls</command><result>…</result></user_shell_command>`: the person ran a command by hand.
fn by_hand(text: &str, payloads: Payloads<'_>) -> Option<Part> {
    let inner = text.trim_start().strip_prefix("<user_shell_command>")?;
    let (_, rest) = inner.split_once("<command>")?;
    let (line, rest) = rest.split_once("</command>")?;
    // The output may contain the closing tag; the last one counts.
    let result = rest.split_once("<result>").map(|(_, rest)| rest.rsplit_once("</result>").map_or(rest, |(result, _)| result));
    let output = result.map(|result| result.trim_matches('\n').to_owned()).filter(|result| !result.is_empty());
    let output = output.map(|output| payloads.decoded(output));
    Some(Part::Command { line: payloads.decoded(format!("!{}", line.trim())), output })
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
    fn a_whole_text_is_taken_apart() {
        let prompt = |text: &str| Part::Prompt { origin: Origin::Human, text: text.to_owned() };
        let folded = |label: &str, text: &str| Part::Folded { label: label.to_owned(), text: text.to_owned() };
        let editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(
            parts(editor, Payloads::default()),
            [folded("editor context", "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs"), prompt("fix it\n")]
        );
        assert_eq!(parts("<environment_context>x", Payloads::default()), [folded("environment context", "<environment_context>x")]);
        let command =
            "<user_shell_command>\n<command>\ngit status\n</command>\n<result>\nExit code: 0\nclean\n</result>\n</user_shell_command>";
        let expected = Part::Command { line: "!git status".into(), output: Some("Exit code: 0\nclean".into()) };
        assert_eq!(parts(command, Payloads::default()), [expected]);
        assert!(is_image_tag("<image name=[Image #1]>") && is_image_tag("</image>") && !is_image_tag("<image> or not"));
    }

    #[test]
    fn an_editors_context_is_taken_off() {
        let (origin, head) = read("# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n".into());
        assert_eq!((origin, &*head), (Origin::Human, "fix it\n"));
    }
}
