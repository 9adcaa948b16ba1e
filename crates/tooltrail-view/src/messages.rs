//! Messages: prompts, answers, thoughts and injected texts, as a head and blocks.

use crate::block::Terminal;
use crate::line::{Class, lines};
use crate::pieces::{markdown, notice, terminal};
use crate::texts::{code, content, gist, sniffed};
use crate::{Block, Limits, Line, hooks, json};
use serde::Serialize;
use tooltrail_model::content::Content;
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{HookStory, Level, Part};

/// Characters of a thought that its head is made from.
const HEAD: usize = 400;

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MessageView {
    /// Speaker.
    pub who: MessageAuthor,
    /// Label above it: `You`, `thinking`, `system reminder`.
    pub label: Line,
    /// Whether it is folded until the reader opens it.
    pub folded: bool,
    /// Beginning, for a folded message.
    pub gist: Line,
    /// Full content.
    pub body: Vec<Block>,
}

/// Speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageAuthor {
    /// A person.
    Person,
    /// Another agent.
    Agent,
    /// The model, to the reader.
    Model,
    /// The model, to itself.
    Thought,
    /// The program, to the model.
    Program,
    /// An event without a speaker.
    Event,
    /// An event that is a problem.
    Trouble,
}

/// A message as a view.
pub fn message(part: &Part, limits: &Limits) -> MessageView {
    match part {
        Part::Prompt { origin, text } => prompt(*origin, text, limits),
        Part::Command { line, output } => command(line, output.as_deref(), limits),
        Part::Text(text) => open(MessageAuthor::Model, "Model", text, vec![markdown(text, limits)]),
        Part::Thinking(text) => thinking(text, limits),
        Part::Media(piece) => media(piece, limits),
        Part::Call(id) => by_id("call", id),
        Part::Result(id) => by_id("result", id),
        Part::End(id) => by_id("end of a call", id),
        Part::Folded { label, text } => folded(MessageAuthor::Program, label, text, vec![sniffed(text, limits)]),
        Part::Notice { level, title, text } => happened(*level, title, text.as_deref(), limits),
        Part::Boundary { title, facts } => boundary(title, facts),
        Part::Hook(hook) => of_hook(hook, limits),
        Part::Unknown { name, value } => {
            let keys = value.as_object().map(|map| map.keys().map(String::as_str).collect::<Vec<_>>().join(", ")).unwrap_or_default();
            // The keys alone hint at what an unknown record is about.
            folded(MessageAuthor::Event, &format!("unknown record: {name}"), &keys, vec![json::block(value, limits)])
        }
    }
}

fn open(who: MessageAuthor, label: &str, text: &str, body: Vec<Block>) -> MessageView {
    MessageView { who, label: label.into(), folded: false, gist: gist(text).into(), body }
}

fn folded(who: MessageAuthor, label: &str, text: &str, body: Vec<Block>) -> MessageView {
    MessageView { folded: true, ..open(who, label, text, body) }
}

fn prompt(origin: Origin, text: &str, limits: &Limits) -> MessageView {
    let (who, label) = match origin {
        Origin::Human | Origin::Command | Origin::Local => (MessageAuthor::Person, "You"),
        Origin::Queued => (MessageAuthor::Person, "You, while it was working"),
        Origin::Agent => (MessageAuthor::Agent, "another agent"),
        Origin::Program => (MessageAuthor::Program, "the agent"),
    };
    open(who, label, text, vec![markdown(text, limits)])
}

fn command(line: &str, output: Option<&str>, limits: &Limits) -> MessageView {
    let printed = terminal(output.unwrap_or_default(), limits);
    // `!ls` goes to a shell and gets its prompt; `/clear` goes to the agent.
    let body = match line.strip_prefix('!') {
        Some(shell) => vec![Block::Terminal(Terminal { command: lines(Class::Plain, shell.trim_start()), ..printed })],
        None if line.is_empty() && printed.lines.is_empty() => Vec::new(),
        None if line.is_empty() => vec![Block::Terminal(printed)],
        None if printed.lines.is_empty() => vec![code(line, limits)],
        None => vec![code(line, limits), Block::Terminal(printed)],
    };
    open(MessageAuthor::Person, "command", line, body)
}

fn thinking(text: &str, limits: &Limits) -> MessageView {
    if text.trim().is_empty() {
        return folded(
            MessageAuthor::Thought,
            "thinking, withheld",
            "",
            vec![notice(Level::Info, "The log does not contain this thinking.")],
        );
    }
    // Some models put headings into their thoughts; the plain line omits the asterisks.
    let head: String = text.trim_start().chars().take(HEAD).collect();
    folded(MessageAuthor::Thought, "thinking", &head.replace("**", ""), vec![markdown(text, limits)])
}

fn media(piece: &Content, limits: &Limits) -> MessageView {
    let (label, text) = match piece {
        Content::Image(_) => ("image", ""),
        Content::Document { title, .. } => ("document", title.as_deref().unwrap_or_default()),
        Content::Tool { name } => ("tool", name.as_str()),
        Content::Text { text } => ("text", text.as_str()),
        Content::Other { .. } => ("content", ""),
    };
    open(MessageAuthor::Event, label, text, content(std::slice::from_ref(piece), limits))
}

/// Placeholder for a record that is shown with its call: only its id.
fn by_id(what: &str, id: &str) -> MessageView {
    folded(MessageAuthor::Event, what, id, Vec::new())
}

fn happened(level: Level, title: &str, text: Option<&str>, limits: &Limits) -> MessageView {
    let text = text.filter(|text| !text.trim().is_empty());
    let who = if level == Level::Error { MessageAuthor::Trouble } else { MessageAuthor::Event };
    let body = text.map(|text| sniffed(text, limits)).into_iter().collect();
    // Only harmless notices with a text are folded; problems stay open.
    let folded = level == Level::Info && text.is_some();
    MessageView { folded, ..open(who, title, text.unwrap_or_default(), body) }
}

fn boundary(title: &str, facts: &[(String, String)]) -> MessageView {
    let told: Vec<String> = facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let fields = facts.iter().map(|(name, value)| (Line::of(Class::Dim, name), value.as_str().into())).collect::<Vec<_>>();
    let body = if fields.is_empty() { Vec::new() } else { vec![Block::Fields { fields }] };
    open(MessageAuthor::Event, title, &told.join(" · "), body)
}

fn of_hook(hook: &HookStory, limits: &Limits) -> MessageView {
    let trouble = hooks::level(hook) == Level::Error;
    let who = if trouble { MessageAuthor::Trouble } else { MessageAuthor::Event };
    let said = hooks::said(hook).or_else(|| hook.texts.first().map(|(_, text)| text.clone())).unwrap_or_default();
    let message = open(who, &format!("hook {}", hooks::name(hook)), &said, hooks::told(hook, None, limits));
    MessageView { folded: !trouble, ..message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::text_of;
    use serde_json::json;
    use tooltrail_model::content::Image;
    use tooltrail_model::event::HookOutcome;

    fn view(part: Part) -> MessageView {
        message(&part, &Limits::PAGE)
    }

    #[test]
    fn prompts_say_whose_they_are() {
        let prompt = |origin| view(Part::Prompt { origin, text: "fix **it**\u{1b}[2J".into() });
        assert_eq!(prompt(Origin::Human).who, MessageAuthor::Person);
        assert_eq!(prompt(Origin::Queued).label.text(), "You, while it was working");
        assert_eq!(prompt(Origin::Agent).who, MessageAuthor::Agent);
        assert_eq!(text_of(&prompt(Origin::Human).body), "fix **it**␛[2J\n");
    }

    #[test]
    fn thoughts_are_folded_and_withheld_ones_said() {
        let thought = view(Part::Thinking("first\nthen".into()));
        assert!(thought.folded && thought.gist.text() == "first …" && text_of(&thought.body).contains("then"));
        let withheld = view(Part::Thinking(String::new()));
        assert!(withheld.label.text().contains("withheld") && !withheld.body.is_empty());
    }

    #[test]
    fn program_text_is_folded_and_whole() {
        let message = view(Part::Folded { label: "system reminder".into(), text: "<b>one</b>\ntwo".into() });
        assert!(message.folded && message.who == MessageAuthor::Program);
        assert_eq!((message.label.text().as_str(), text_of(&message.body).as_str()), ("system reminder", "<b>one</b>\ntwo\n"));
    }

    #[test]
    fn commands_pictures_and_notices_are_shown() {
        let command = view(Part::Command { line: "!ls".into(), output: Some("a\nb".into()) });
        assert_eq!(text_of(&command.body), "ls\na\nb\n");
        let command = view(Part::Command { line: "/clear".into(), output: None });
        assert!(matches!(command.body.as_slice(), [Block::Code(_)]), "{command:?}");
        assert!(matches!(view(Part::Media(Content::Image(Image::default()))).body.as_slice(), [Block::Image { .. }]));
        let trouble = view(Part::Notice { level: Level::Error, title: "API error".into(), text: Some("overloaded".into()) });
        assert!(trouble.who == MessageAuthor::Trouble && !trouble.folded && text_of(&trouble.body) == "overloaded\n");
        let info = view(Part::Notice { level: Level::Info, title: "model changed".into(), text: None });
        assert!(!info.folded && info.body.is_empty());
    }

    #[test]
    fn boundaries_hooks_and_unknown_records_keep_their_facts() {
        let boundary = view(Part::Boundary { title: "compacted".into(), facts: vec![("tokens before".into(), "90,000".into())] });
        assert_eq!(boundary.gist.text(), "tokens before 90,000");
        let story = HookStory {
            event: Some("Stop".into()),
            outcome: Some(HookOutcome::Blocked),
            texts: vec![("stderr".into(), "not yet".into())],
            ..HookStory::default()
        };
        let hook = view(Part::Hook(story));
        assert!(hook.who == MessageAuthor::Trouble && !hook.folded && text_of(&hook.body).contains("not yet"));
        let unknown = view(Part::Unknown { name: "novel".into(), value: json!({"novel": "thing"}) });
        assert!(unknown.label.text().contains("novel") && text_of(&unknown.body).contains("thing"));
    }
}
