//! User records: a person's words, commands typed to the agent itself, results, and texts of the program in their place.

use super::super::author::{self, Author, Passage, RecordSpeaker, TextFlags, author};
use super::super::content::content;
use super::super::record::ClaudeRecord;
use super::super::tasks::tag;
use super::super::{commands, conversation};
use super::folded;
use crate::value;
use tooltrail_model::event::{Notice, Origin};
use tooltrail_model::transcript::{Level, Part};
use tooltrail_skim::Raw;

/// The parts of a user record.
pub(super) fn user(record: &ClaudeRecord<'_>) -> Vec<Part> {
    let message = &record.message;
    let speaker = record.speaker();
    let beside_result = message.content.results() > 0;
    let mut out = Vec::new();
    // A prompt may be nothing but a picture; it is a prompt all the same.
    if message.content.wordless_media().is_some() && !speaker.flags.injected {
        let origin = if speaker.flags.sidechain { Origin::Agent } else { Origin::Human };
        out.push(Part::Prompt { origin, text: String::new() });
    }
    if let Some((text, _)) = message.content.text {
        say(text, speaker, beside_result, &mut out);
    }
    for block in message.content.blocks() {
        if let Some(id) = message.result_id(block, record.record.at.line) {
            out.push(Part::Result(id.into_owned()));
        } else if let Some(text) = block.text {
            say(text, speaker, beside_result, &mut out);
        } else {
            let value = value::read(record.slice(&block.span));
            let name = || block.kind.map(Raw::text).unwrap_or_default().into_owned();
            out.push(if block.is_media() { Part::Media(content(&value)) } else { Part::Unknown { name: name(), value } });
        }
    }
    out
}

/// Adds the parts of a text of a user record.
fn say(text: Raw<'_>, speaker: RecordSpeaker, beside_result: bool, out: &mut Vec<Part>) {
    let whole = text.text();
    match author(text, speaker.flags).author {
        Author::Words(Origin::Program) => program(&whole, speaker.label, out),
        // Reminders travel with results; a prompt does not.
        Author::Words(Origin::Human | Origin::Command | Origin::Local) if beside_result => {
            passages(&whole, out, |own| vec![folded("said beside a result", own)]);
        }
        author => speak(author, &whole, out),
    }
}

/// Adds a text that is not known to be the program's.
fn speak(author: Author, text: &str, out: &mut Vec<Part>) {
    match author {
        Author::Sign(notice) => out.push(sign(notice, text)),
        Author::Words(Origin::Command | Origin::Local) => passages(text, out, command),
        Author::Words(Origin::Program) => program(text, None, out),
        Author::Words(origin) => spoken(text, origin, out),
    }
}

/// Adds the words of a person or an agent.
fn spoken(text: &str, origin: Origin, out: &mut Vec<Part>) {
    if let Some(words) = conversation::last_words(text).filter(|_| origin != Origin::Agent) {
        out.extend([folded("conversation as JSON", text), Part::Prompt { origin, text: words }]);
        return;
    }
    passages(text, out, |own| vec![Part::Prompt { origin, text: own.to_owned() }]);
}

/// Adds a text without a record of its own: typed while the model was at work, or sent by the program.
pub(super) fn queued(text: Raw<'_>, flags: TextFlags, out: &mut Vec<Part>) {
    let whole = text.text();
    match author(text, flags).author {
        Author::Words(Origin::Human) => spoken(&whole, Origin::Queued, out),
        author => speak(author, &whole, out),
    }
}

/// Adds a command typed to the agent itself, or what it printed.
pub(super) fn local(text: Raw<'_>, out: &mut Vec<Part>) {
    match author(text, TextFlags::default()).author {
        Author::Words(Origin::Command | Origin::Local) => out.extend(command(text.text().trim())),
        _ => program(text.text().trim(), None, out),
    }
}

/// Adds own words as `own` makes them, and the program's blocks among them.
fn passages(text: &str, out: &mut Vec<Part>, own: impl Fn(&str) -> Vec<Part>) {
    for passage in author::passages(text) {
        match passage {
            Passage::Own(text) => out.extend(own(text)),
            Passage::Aside(label, text) => out.push(folded(label, text)),
        }
    }
}

/// An event that the log reports as a text.
fn sign(notice: Notice, text: &str) -> Part {
    let (level, title) = match notice {
        Notice::Handover => (Level::Info, "the session was handed over"),
        _ if text.contains("for tool use") => (Level::Warning, "interrupted at a call"),
        _ => (Level::Warning, "interrupted"),
    };
    Part::Notice { level, title: title.to_owned(), text: None }
}

/// Adds a text of the program. The output of a command is shown as such; anything else is folded.
fn program(text: &str, label: Option<&'static str>, out: &mut Vec<Part>) {
    if text.trim().is_empty() {
        return;
    }
    if let Some(output) = printed(text) {
        return out.push(Part::Command { line: String::new(), output: Some(output) });
    }
    match label.or_else(|| author::label(text)) {
        Some(label) => out.push(folded(label, bare(text))),
        // One text may contain several blocks.
        None => passages(text, out, |own| vec![folded("injected by the agent", own)]),
    }
}

/// A command of the agent as it was typed: `/review src`, `!ls`.
fn command(text: &str) -> Vec<Part> {
    // What follows the command's own text is shown as it is.
    let Some(command) = commands::read(text) else { return vec![folded("contents of the command", bare(text))] };
    let mut out = vec![Part::Command { output: printed(text), line: command.line }];
    if text.starts_with("<bash-input>") || !text.starts_with('<') {
        return out;
    }
    // The text may hold a whole prompt behind the tags: the command's expansion.
    let tags = ["command-name", "command-message", "command-args", "local-command-stdout", "local-command-stderr"];
    let rest = tags.iter().fold(text.to_owned(), |rest, name| without(&rest, name));
    let rest = bare(&rest);
    if !rest.is_empty() {
        out.push(folded("contents of the command", rest));
    }
    out
}

/// The output of a command, from the tags that the program puts around it.
fn printed(text: &str) -> Option<String> {
    let found = ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"].iter().filter_map(|name| {
        let at = text.find(&format!("<{name}>"))?;
        Some((at, tag(text.get(at..)?, name)?))
    });
    let mut found: Vec<(usize, &str)> = found.collect();
    // In the order of the text: stderr may come first.
    found.sort_by_key(|(at, _)| *at);
    let texts: Vec<&str> = found.iter().map(|(_, text)| *text).filter(|text| !text.is_empty()).collect();
    (!found.is_empty()).then(|| texts.join("\n"))
}

/// A text without one of its tags.
fn without(text: &str, name: &str) -> String {
    let close = format!("</{name}>");
    let cut = text.split_once(&format!("<{name}>")).and_then(|(before, rest)| Some((before, rest.split_once(&close)?.1)));
    cut.map_or_else(|| text.to_owned(), |(before, after)| format!("{before}{after}"))
}

/// A text without one pair of tags that holds all of it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let Some((name, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else { return text };
    let close = format!("</{name}>");
    match rest.strip_suffix(&close) {
        // Tags that close twice hold more than one thing and are kept.
        Some(inner) if !inner.contains(&close) && !name.contains(char::is_whitespace) => inner.trim(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;
    use serde_json::json;
    use tooltrail_model::At;

    fn of(content: &str) -> Vec<Part> {
        let bytes = json!({"message": {"content": content}}).to_string().into_bytes();
        user(&ClaudeRecord::read(Record { at: At::default(), bytes: &bytes }).unwrap())
    }

    #[test]
    fn commands_are_shown_as_typed() {
        let line = |text: &str| match of(text).as_slice() {
            [Part::Command { line, output }] => (line.clone(), output.clone()),
            other => panic!("{other:?}"),
        };
        assert_eq!(line("<command-name>/x</command-name><command-message>x</command-message><command-args>a b</command-args>").0, "/x a b");
        assert_eq!(line("<bash-input>ls</bash-input>").0, "!ls");
        assert_eq!(line("<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>"), (String::new(), Some("a\nb".to_owned())));
        assert_eq!(line("<local-command-stdout></local-command-stdout>"), (String::new(), Some(String::new())));
    }

    #[test]
    fn nothing_of_a_text_is_lost() {
        let parts = of("<command-name>/x</command-name>\nmore words");
        assert_eq!(parts[1], folded("contents of the command", "more words"));
        let parts = of("<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>");
        assert_eq!(parts, [folded("system reminder", "a"), folded("system reminder", "b")]);
    }
}
