//! What reaches the model in the person's name: their words, or text that the program puts in.

use std::borrow::Cow;
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::Part;

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

/// A whole text as parts: the person's words, what the program put in, a command run by hand, or an editor's context and the words
/// behind it.
pub(super) fn parts(text: String) -> Vec<Part> {
    if let Some(command) = by_hand(&text) {
        return vec![command];
    }
    let (origin, words) = read(Cow::Borrowed(&text));
    if origin == Origin::Program {
        return vec![Part::Folded { label: label(&text).unwrap_or_else(|| "context".to_owned()), text }];
    }
    if let Cow::Owned(words) = words {
        let context = text.split_once(REQUEST).map_or("", |(before, _)| before.trim());
        let context = (!context.is_empty()).then(|| Part::Folded { label: "editor context".to_owned(), text: context.to_owned() });
        return context.into_iter().chain([Part::Prompt { origin, text: words }]).collect();
    }
    vec![Part::Prompt { origin, text }]
}

/// What a text calls itself that the program put in: its tag in words, or the file it comes from.
pub(super) fn label(text: &str) -> Option<String> {
    let text = text.trim_start();
    if text.starts_with("# AGENTS.md instructions") {
        return Some("AGENTS.md".to_owned());
    }
    let tag = tag(text).filter(|tag| !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))?;
    Some(tag.replace(['_', '-'], " ").to_lowercase())
}

/// Whether a text is only the tag before or behind a picture.
pub(super) fn is_image_tag(text: &str) -> bool {
    let text = text.trim();
    text == "</image>" || (tag(text) == Some("image") && text.find('>') == Some(text.len() - 1))
}

/// `<user_shell_command><command>ls</command><result>…</result></user_shell_command>`: the person ran a command by hand.
fn by_hand(text: &str) -> Option<Part> {
    let inner = text.trim_start().strip_prefix("<user_shell_command>")?;
    let (_, rest) = inner.split_once("<command>")?;
    let (line, rest) = rest.split_once("</command>")?;
    let result = rest.split_once("<result>").map(|(_, rest)| rest.rsplit_once("</result>").map_or(rest, |(result, _)| result));
    let output = result.map(|result| result.trim_matches('\n').to_owned()).filter(|result| !result.is_empty());
    Some(Part::Command { line: format!("!{}", line.trim()), output })
}
