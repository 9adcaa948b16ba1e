//! The author of texts in the person's name: the person, or the program. [`read`] alone decides, for the turns of a scan and for the parts
//! of a transcript.

use super::content::Element;
use super::fields::PayloadFields;
use crate::value::Payloads;
use std::borrow::Cow;
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::Part;
use tooltrail_skim::Raw;

/// How much of a prompt is kept.
pub(super) const HEAD: usize = 400;

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
    "realtime_delegation",
    "user_agent_task",
    "codex_delegation",
    "heartbeat",
    "app-context",
    "multi_agent_mode",
    "guardian_tool_descriptions",
];

/// The beginning of tags of an app around the agent: `<external_codex_git_state>`.
const EXTERNAL: &str = "external_";

/// Other beginnings of texts of the program, with a label for each.
const BEGINNINGS: &[(&str, &str)] = &[
    ("# AGENTS.md instructions", "AGENTS.md"),
    ("Warning: apply_patch was requested via ", "warning"),
    ("Warning: The maximum number of unified exec processes ", "warning"),
    ("Warning: Your account was flagged ", "warning"),
    (REVIEW, "review of an action"),
    ("The Codex agent has requested the following ", "review of an action"),
    ("Assess the exact planned action below", "review of an action"),
    (">>> TRANSCRIPT ", "review of an action"),
    (">>> APPROVAL REQUEST ", "review of an action"),
];

/// The beginning of a message that asks a model to review an action of the agent. All texts of such a message belong to it.
const REVIEW: &str = "The following is the Codex agent history";

/// The line at which an editor's or an app's context ends and the person's words begin.
const REQUEST: &str = "## My request for Codex:";

/// The same line in newer versions. People write it, too, so it counts only behind one of [`CONTEXTS`].
const SHORT_REQUEST: &str = "## My request:";

/// Beginnings of a context in front of the person's words.
const CONTEXTS: &[&str] = &["# Context from my IDE setup:", "# Files mentioned by the user:", "<in-app-browser-context"];

/// The author of a text, as far as its record names one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StatedAuthor {
    /// The record does not say; the text has to.
    #[default]
    Unstated,
    Person,
    Program,
}

impl StatedAuthor {
    /// The author that a word of `content_item_kinds` stands for. Items of older versions are `unknown`, also those of the program.
    fn of(kind: &str) -> Self {
        match kind {
            "" | "unknown" => StatedAuthor::Unstated,
            _ if kind == "user" || kind.starts_with("user.") => StatedAuthor::Person,
            // Placeholders stand for pictures and sound, which only a person sends.
            _ if kind.contains("placeholder") || ["media", "image", "audio"].iter().any(|media| kind.starts_with(media)) => {
                StatedAuthor::Unstated
            }
            _ => StatedAuthor::Program,
        }
    }
}

/// The authors of the elements of a message in the person's name, as far as its record names them.
pub(super) fn stated(item: &PayloadFields<'_>, content: &[Element<'_>]) -> Vec<StatedAuthor> {
    let first = content.iter().find_map(Element::raw_text);
    if first.is_some_and(|text| text.head(REVIEW.len() + 8).trim_start().starts_with(REVIEW)) {
        return vec![StatedAuthor::Program; content.len()];
    }
    let mut kinds = Vec::new();
    let _ = item.skim(item.metadata_passthrough).object(|key, value| {
        if key.as_bytes() == b"content_item_kinds" {
            value.array(|kind| {
                kinds.push(StatedAuthor::of(&kind.string().map(Raw::text).unwrap_or_default()));
                Ok(())
            })?;
        }
        Ok(())
    });
    let all_program = !kinds.is_empty() && kinds.iter().all(|kind| *kind == StatedAuthor::Program);
    // Words that do not fit the elements one by one prove something only together.
    if kinds.len() != content.len() {
        kinds = vec![if all_program { StatedAuthor::Program } else { StatedAuthor::Unstated }; content.len()];
    }
    kinds
}

/// As much of a text as its author is recognised by: its beginning, or all of it where the person's words come behind a context.
pub(super) fn beginning(text: Raw<'_>) -> Cow<'_, str> {
    // Searched in the raw text: a long prompt is decoded only for the sake of these words, or where they may be spelled in escapes.
    let has = |words: &[u8]| memchr::memmem::find(text.bytes(), words).is_some();
    let behind = text.bytes().len() > HEAD && (has(b"## My request") || has(b"\\u00"));
    if behind { text.text() } else { text.head(HEAD) }
}

/// The author of a text, and the person's part of it.
pub(super) fn read(text: &str, stated: StatedAuthor) -> (Origin, &str) {
    let own = text.trim_start();
    let program = match stated {
        StatedAuthor::Program => true,
        StatedAuthor::Person => false,
        StatedAuthor::Unstated => {
            BEGINNINGS.iter().any(|(beginning, _)| own.starts_with(beginning))
                || tag(own).is_some_and(|tag| TAGS.contains(&tag) || tag.starts_with(EXTERNAL))
        }
    };
    if program {
        return (Origin::Program, text);
    }
    match request(text) {
        Some((_, words)) => (Origin::Human, words),
        // A context without a request has no words of the person. In an editor's, all of it counts as theirs.
        None if own.starts_with("<in-app-browser-context") => (Origin::Program, text),
        None => (Origin::Human, text),
    }
}

/// The words of a prompt that the person typed. Spec Kit's prompts begin with them, in a block of its own.
pub(super) fn named_after(words: &str) -> &str {
    let typed = words.trim_start().strip_prefix("## User Input").and_then(|rest| rest.trim_start().strip_prefix("```text"));
    let typed = typed.and_then(|rest| rest.split("```").next()).map(str::trim);
    typed.filter(|typed| !typed.is_empty()).unwrap_or(words)
}

/// The context in front of the person's words, and the words.
fn request(text: &str) -> Option<(&str, &str)> {
    let context = CONTEXTS.iter().any(|beginning| text.trim_start().starts_with(beginning));
    let lines = if context { &[REQUEST, SHORT_REQUEST][..] } else { &[REQUEST][..] };
    let found = lines.iter().filter_map(|line| {
        let mut places = text.match_indices(line);
        // Only a line of its own; people quote it in a sentence.
        let (at, line) = places.find(|(at, _)| *at == 0 || text[..*at].ends_with('\n'))?;
        Some((at, at + line.len()))
    });
    let (at, end) = found.min()?;
    Some((text[..at].trim(), text[end..].trim_start()))
}

/// Whether the person wrote a text, from its beginning.
pub(super) fn is_persons(head: &str, stated: StatedAuthor) -> bool {
    read(head, stated).0 == Origin::Human && !is_image_tag(head)
}

/// The name of the tag that a text begins with.
fn tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    rest.find(['>', ' ', '\n']).map(|end| &rest[..end])
}

/// A whole text as parts: the person's words, a text of the program, a command run by hand, or an editor's context and the words behind it.
/// The author is recognised in the original text; only the parts are redacted.
pub(super) fn parts(text: &str, stated: StatedAuthor, payloads: Payloads<'_>) -> Vec<Part> {
    if let Some(command) = by_hand(text, payloads) {
        return vec![command];
    }
    let open = |text: &str| payloads.decoded(text.to_owned());
    match read(text, stated) {
        (Origin::Program, _) => {
            let label = label(text).unwrap_or_else(|| "context".to_owned());
            vec![Part::Folded { label: payloads.decoded(label), text: open(text) }]
        }
        (origin, words) => {
            let context = request(text).map_or("", |(context, _)| context);
            let context = (!context.is_empty()).then(|| Part::Folded { label: context_label(context).to_owned(), text: open(context) });
            let typed = named_after(words);
            // A prompt of Spec Kit is mostly its template.
            let template = (typed.len() < words.len()).then(|| Part::Folded { label: "prompt template".to_owned(), text: open(words) });
            context.into_iter().chain(template).chain([Part::Prompt { origin, text: open(typed) }]).collect()
        }
    }
}

/// The label for a context in front of the person's words.
fn context_label(context: &str) -> &'static str {
    if context.starts_with(CONTEXTS[0]) { "editor context" } else { "context" }
}

/// The label for a text of the program: its tag in words, or what it is about.
pub(super) fn label(text: &str) -> Option<String> {
    let text = text.trim_start();
    if let Some((_, label)) = BEGINNINGS.iter().find(|(beginning, _)| text.starts_with(beginning)) {
        return Some((*label).to_owned());
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
        let origin = |text: &'static str| read(text, StatedAuthor::Unstated).0;
        assert_eq!(origin("<environment_context>\n  <cwd>/srv</cwd>"), Origin::Program);
        assert_eq!(origin("# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>"), Origin::Program);
        assert_eq!(origin("<hook_prompt hook_run_id=\"1\">go on"), Origin::Program);
        assert_eq!(origin("<permissions instructions>…"), Origin::Program);
        assert_eq!(origin("<div> is not closed, please fix"), Origin::Human);
        assert_eq!(origin("why does <environment_context> show up?"), Origin::Human);
        for text in [
            "<external_codex_git_state>{}</external_codex_git_state>",
            "<realtime_delegation>\n<input>x</input>\n</realtime_delegation>",
            "<user_agent_task>review</user_agent_task>",
            "<heartbeat>\n<automation_id>a</automation_id>\n</heartbeat>",
            "<in-app-browser-context>\nopen tabs\n</in-app-browser-context>",
            "Warning: apply_patch was requested via shell. Use the apply_patch tool instead of exec_command.",
            "Warning: The maximum number of unified exec processes you can keep open is 60",
            "Warning: Your account was flagged for potentially high-risk cyber activity",
            "The following is the Codex agent history whose request action you are assessing.",
            "Assess the exact planned action below. Use read-only tool checks when local state matters.",
            ">>> TRANSCRIPT START\n",
        ] {
            assert_eq!(origin(text), Origin::Program, "{text}");
        }
        assert_eq!(origin("Warning: the build is red, please look"), Origin::Human);
        assert_eq!(origin("<external> is not a tag of mine"), Origin::Human);
    }

    #[test]
    fn the_record_decides_where_it_names_the_author() {
        assert_eq!(read("<skill> is what I want", StatedAuthor::of("user.text")).0, Origin::Human);
        assert_eq!(read("plain words", StatedAuthor::of("hooks.additional_context")).0, Origin::Program);
        assert_eq!(read("plain words", StatedAuthor::of("unknown")).0, Origin::Human);
        assert_eq!(read("plain words", StatedAuthor::of("")).0, Origin::Human);
        assert_eq!(read("plain words", StatedAuthor::of("media.placeholder")).0, Origin::Human);
        // Items of a log that an older version began are all `unknown`.
        assert_eq!(read("<environment_context>x", StatedAuthor::of("unknown")).0, Origin::Program);
        let injected = "# Context from my IDE setup:\n\n## My request for Codex:\nfix it";
        assert_eq!(read(injected, StatedAuthor::of("user.text")), (Origin::Human, "fix it"));
    }

    #[test]
    fn a_whole_text_is_taken_apart() {
        let prompt = |text: &str| Part::Prompt { origin: Origin::Human, text: text.to_owned() };
        let folded = |label: &str, text: &str| Part::Folded { label: label.to_owned(), text: text.to_owned() };
        let editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(
            parts(editor, StatedAuthor::Unstated, Payloads::default()),
            [folded("editor context", "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs"), prompt("fix it\n")]
        );
        assert_eq!(
            parts("<environment_context>x", StatedAuthor::Unstated, Payloads::default()),
            [folded("environment context", "<environment_context>x")]
        );
        let template = "## User Input\n\n```text\nmend the roof\n```\n\nYou **MUST** consider it";
        assert_eq!(
            parts(template, StatedAuthor::Unstated, Payloads::default()),
            [folded("prompt template", template), prompt("mend the roof")]
        );
        let command =
            "<user_shell_command>\n<command>\ngit status\n</command>\n<result>\nExit code: 0\nclean\n</result>\n</user_shell_command>";
        let expected = Part::Command { line: "!git status".into(), output: Some("Exit code: 0\nclean".into()) };
        assert_eq!(parts(command, StatedAuthor::Unstated, Payloads::default()), [expected]);
        assert!(is_image_tag("<image name=[Image #1]>") && is_image_tag("</image>") && !is_image_tag("<image> or not"));
    }

    #[test]
    fn words_behind_a_context_are_cut_off() {
        let words = |text: &'static str| read(text, StatedAuthor::Unstated);
        let fix = (Origin::Human, "fix it\n");
        assert_eq!(words("# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n"), fix);
        assert_eq!(words("# Files mentioned by the user:\n\n## a.png: /srv/a.png\n\n## My request for Codex:\nfix it\n"), fix);
        assert_eq!(words("# Anything new:\n\n## My request for Codex:\nfix it\n"), fix);
        assert_eq!(words("<in-app-browser-context>\nx\n</in-app-browser-context>\n\n## My request:\nfix it\n"), fix);
        assert_eq!(words("## My request for Codex:\nfix it\n"), fix);
        let quoted = "why is there a line `## My request for Codex:` in my log?";
        assert_eq!(words(quoted), (Origin::Human, quoted));
        assert_eq!(named_after("\n## User Input\n\n```text\nmend the roof\n```\n\nYou **MUST** consider it"), "mend the roof");
        assert_eq!(named_after("## User Input\n\n```text\n\n```\n"), "## User Input\n\n```text\n\n```\n");
        let own = "Notes\n## My request:\nfix it";
        assert_eq!(words(own), (Origin::Human, own));
    }
}
