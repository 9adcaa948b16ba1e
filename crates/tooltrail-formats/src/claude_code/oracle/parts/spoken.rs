//! User records: a person's words, commands typed to the agent itself, results, and everything that the program says in their place.

use super::super::super::tasks::tag;
use super::super::content::{blocks, content, is_result, kind, result_id, text, words};
use super::super::prompt::{self, Flags, Piece, Said};
use super::{flag, folded};
use serde_json::Value;
use tooltrail_model::event::{Notice, Origin};
use tooltrail_model::transcript::{Level, Part};

/// The parts of a user record.
pub(super) fn user(value: &Value, line: u64) -> Vec<Part> {
    let Some(message) = value.get("message") else { return Vec::new() };
    let speaker = Speaker::of(value);
    let beside_result = blocks(message).iter().any(|block| is_result(kind(block)));
    let mut out = Vec::new();
    // A prompt may be nothing but a picture; it is a prompt all the same.
    let wordless = !beside_result && blocks(message).iter().all(|block| words(block).is_none());
    if wordless && !speaker.flags.injected && blocks(message).iter().any(is_media) {
        let origin = if speaker.flags.sidechain { Origin::Agent } else { Origin::Human };
        out.push(Part::Prompt { origin, text: String::new() });
    }
    for block in blocks(message) {
        if let Some(id) = result_id(block, message, line) {
            out.push(Part::Result(id.into_owned()));
        } else if let Some(text) = words(block) {
            speaker.say(text, beside_result, &mut out);
        } else {
            let unknown = || Part::Unknown { name: kind(block).to_owned(), value: block.clone() };
            out.push(if is_media(block) { Part::Media(content(block)) } else { unknown() });
        }
    }
    out
}

/// Whether a block is a picture or a document.
fn is_media(block: &Value) -> bool {
    matches!(kind(block), "image" | "document")
}

/// What the flags of a record say about who speaks in it.
struct Speaker {
    flags: Flags,
    /// What a text of the program's is called, where the record says so itself.
    label: Option<&'static str>,
}

impl Speaker {
    /// Reads the flags.
    fn of(value: &Value) -> Self {
        let origin = value.get("origin").and_then(|origin| text(origin, "kind"));
        let summary = flag(value, "isCompactSummary");
        let caused = text(value, "sourceToolUseID").is_some() && flag(value, "isMeta");
        let foreign = origin.is_some_and(|origin| origin != "human");
        let meta = flag(value, "isMeta") || flag(value, "isVisibleInTranscriptOnly");
        let injected = meta || summary || foreign || text(value, "teamName").is_some();
        let label = match origin {
            _ if summary => Some("summary of the conversation so far"),
            _ if caused => Some("skill instructions"),
            Some("task-notification") => Some("task notification"),
            Some("peer") => Some("message of another session"),
            _ => None,
        };
        Speaker { flags: Flags { injected, sidechain: flag(value, "isSidechain") }, label }
    }

    /// Adds what a text says.
    fn say(&self, text: &str, beside_result: bool, out: &mut Vec<Part>) {
        let (said, _) = prompt::classify(text, self.flags);
        match said {
            Said::Words(Origin::Program) => program(text, self.label, out),
            // Reminders travel with results; a prompt does not.
            Said::Words(Origin::Human | Origin::Command) if beside_result => pieces(text, out, |own| folded("said beside a result", own)),
            said => speak(said, text, out),
        }
    }
}

/// Adds a text that is not the program's, or not known to be.
fn speak(said: Said, text: &str, out: &mut Vec<Part>) {
    match said {
        Said::Sign(notice) => out.push(sign(notice, text)),
        Said::Words(Origin::Command) => command(text, out),
        Said::Words(Origin::Program) => program(text, None, out),
        Said::Words(origin) => pieces(text, out, |own| Part::Prompt { origin, text: own.to_owned() }),
    }
}

/// Adds a text that came without a record of its own: typed while the model was at work, or told by the program.
pub(super) fn queued(text: &str, human: bool, out: &mut Vec<Part>) {
    let flags = Flags { injected: !human, sidechain: false };
    match prompt::classify(text, flags).0 {
        Said::Words(Origin::Human) => pieces(text, out, |own| Part::Prompt { origin: Origin::Queued, text: own.to_owned() }),
        said => speak(said, text, out),
    }
}

/// Adds own words as `own` makes them, and what the program put among them.
fn pieces(text: &str, out: &mut Vec<Part>, own: impl Fn(&str) -> Part) {
    out.extend(prompt::pieces(text).into_iter().map(|piece| match piece {
        Piece::Own(text) => own(text),
        Piece::Aside(label, text) => folded(label, text),
    }));
}

/// Something that happened, told as a text.
fn sign(notice: Notice, text: &str) -> Part {
    let (level, title) = match notice {
        Notice::Handover => (Level::Info, "the session was handed over"),
        _ if text.contains("for tool use") => (Level::Warning, "interrupted at a call"),
        _ => (Level::Warning, "interrupted"),
    };
    Part::Notice { level, title: title.to_owned(), text: None }
}

/// Adds a text of the program's. What a command printed is its output; anything else is folded.
pub(super) fn program(text: &str, label: Option<&'static str>, out: &mut Vec<Part>) {
    if text.trim().is_empty() {
        return;
    }
    if let Some(output) = printed(text) {
        return out.push(Part::Command { line: String::new(), output: Some(output) });
    }
    match label.or_else(|| prompt::label(text)) {
        Some(label) => out.push(folded(label, bare(text))),
        // Several asides may stand in one text.
        None => pieces(text, out, |own| folded("put in by the program", own)),
    }
}

/// Adds a command of the agent as it was typed: `/review src`, `!ls`.
pub(super) fn command(text: &str, out: &mut Vec<Part>) {
    if let Some(line) = tag(text, "bash-input") {
        return out.push(Part::Command { line: format!("!{line}"), output: printed(text) });
    }
    let line = prompt::command(text).or_else(|| tag(text, "command-message").map(str::to_owned)).unwrap_or_default();
    out.push(Part::Command { line, output: printed(text) });
    let tags = ["command-name", "command-message", "command-args", "local-command-stdout", "local-command-stderr"];
    let rest = tags.iter().fold(text.to_owned(), |rest, name| without(&rest, name));
    let rest = bare(&rest);
    if !rest.is_empty() {
        out.push(folded("contents of the command", rest));
    }
}

/// What a command printed, in the tags that the program puts around it.
fn printed(text: &str) -> Option<String> {
    let found = ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"].iter().filter_map(|name| {
        let at = text.find(&format!("<{name}>"))?;
        Some((at, tag(text.get(at..)?, name)?))
    });
    let mut found: Vec<(usize, &str)> = found.collect();
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
        Some(inner) if !inner.contains(&close) && !name.contains(char::is_whitespace) => inner.trim(),
        _ => text,
    }
}
