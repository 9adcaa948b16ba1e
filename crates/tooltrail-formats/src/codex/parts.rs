//! The parts of a record for a reader: words, thoughts, calls, and events beside them.
//!
//! The items of the conversation say everything once. Events and completed items mostly repeat it (`echo`), or add how a call ended; only a
//! few have content of their own.

use super::content::{Element, elements, image, lines};
use super::fields::{FieldSpan, PayloadFields};
use super::prompt::{self, StatedAuthor};
use super::record::{CodexRecord, RecordClass};
use super::tools::shell;
use super::{items, settings};
use crate::payloads::spaced;
use crate::value::{self, Payloads};
use std::borrow::Cow;
use tooltrail_model::content::Content;
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{Level, Part, Parts};
use tooltrail_skim::{Raw, Type};

/// The parts of a record, in order.
pub(super) fn of(record: &CodexRecord<'_>, payloads: Payloads<'_>) -> Parts {
    let reader = PartsReader { record, body: record.body(), payloads };
    let (echo, parts) = match record.class {
        RecordClass::Item => reader.item(),
        RecordClass::Event => reader.event(),
        RecordClass::Completed => reader.completed(),
        RecordClass::Compacted => (false, reader.compacted()),
        RecordClass::Letter => (true, reader.letter()),
        RecordClass::Session | RecordClass::Context | RecordClass::Usage | RecordClass::Silent => (false, Vec::new()),
        RecordClass::Unknown => (false, vec![reader.unknown()]),
    };
    let (version, permission) = settings::of(record);
    Parts { time: record.time, version, permission, echo, voice: Some(voice(record)), parts, ..Parts::default() }
}

/// The voice that repeats a message. Each voice says a message once, so that a second time means a second message.
fn voice(record: &CodexRecord<'_>) -> &'static str {
    match record.class {
        RecordClass::Event if matches!(&*record.kind, "task_complete" | "turn_complete") => "end of a turn",
        RecordClass::Event => "event",
        RecordClass::Completed => "completed item",
        RecordClass::Letter => "letter",
        _ => "item",
    }
}

/// Reads the parts of one record.
struct PartsReader<'a, 'r> {
    record: &'a CodexRecord<'r>,
    body: &'a PayloadFields<'r>,
    payloads: Payloads<'a>,
}

impl<'r> PartsReader<'_, 'r> {
    /// A field that is text and not empty, redacted if asked for.
    fn text(&self, place: FieldSpan) -> Option<String> {
        self.body.string(place).filter(|text| !text.is_empty()).map(|text| self.payloads.text(text))
    }

    /// Some fields that are text, one below the other.
    fn texts(&self, places: &[FieldSpan]) -> Option<String> {
        // Joined before redaction, so that a secret over several lines is found.
        let texts: Vec<Cow<'_, str>> = places.iter().filter_map(|place| self.body.text(*place)).collect();
        (!texts.is_empty()).then(|| self.payloads.decoded(texts.join("\n")))
    }

    /// The elements of a field that is a list of content, or a single text.
    fn content(&self, place: FieldSpan) -> Vec<Element<'r>> {
        self.body.some(place).map(elements).unwrap_or_default()
    }

    /// A part for each text of a field.
    fn each(&self, place: FieldSpan, part: fn(String) -> Part) -> Vec<Part> {
        self.text(place).map(part).into_iter().collect()
    }

    fn id(&self) -> String {
        self.record.call_id().into_owned()
    }

    fn unknown(&self) -> Part {
        let name = if self.record.kind.is_empty() { "?" } else { &self.record.kind };
        Part::Unknown { name: name.to_owned(), value: self.payloads.value(self.body.own()) }
    }

    /// An item of the conversation. Only a summed-up history is repeated elsewhere.
    fn item(&self) -> (bool, Vec<Part>) {
        let parts = match &*self.record.kind {
            "message" => self.message(),
            "reasoning" => vec![Part::Thinking(self.thoughts(&[self.body.summary, self.body.content]))],
            "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "tool_search_call"
            | "web_search_call"
            | "image_generation_call" => vec![Part::Call(self.id())],
            "function_call_output" | "function_call_result" | "custom_tool_call_output" | "local_shell_call_output" => {
                self.record.named().map(|id| Part::Result(id.into_owned())).into_iter().collect()
            }
            "tool_search_output" => vec![Part::Result(self.id())],
            "agent_message" => self.letter(),
            "compaction" | "compaction_summary" | "context_compaction" => return (true, vec![boundary(Vec::new())]),
            "ghost_snapshot" => Vec::new(),
            kind if items::is_new_call(kind, self.body) => vec![Part::Call(self.id())],
            kind if items::is_new_output(kind, self.body) => vec![Part::Result(self.id())],
            _ => vec![self.unknown()],
        };
        (false, parts)
    }

    fn message(&self) -> Vec<Part> {
        let content = self.content(self.body.content);
        match self.body.text(self.body.role).as_deref() {
            Some("user") => self.said(&content),
            Some("assistant") => content.iter().map(|one| self.words_or(one, |text| Part::Text(self.opened(text)))).collect(),
            role => {
                let role = role.unwrap_or("message");
                let label = |text: &str| prompt::label(text).unwrap_or_else(|| role.to_owned());
                let folded = |text: &str| Part::Folded { label: self.payloads.decoded(label(text)), text: self.opened(text) };
                content.iter().map(|one| self.words_or(one, folded)).collect()
            }
        }
    }

    /// A decoded text, redacted if asked for.
    fn opened(&self, text: &str) -> String {
        self.payloads.decoded(text.to_owned())
    }

    /// Words as one part, anything else as it is.
    fn words_or(&self, element: &Element<'_>, part: impl Fn(&str) -> Part) -> Part {
        element.text().map_or_else(|| Part::Media(element.open(self.payloads)), |text| part(&text))
    }

    /// The parts of a message to the model in the person's name.
    fn said(&self, content: &[Element<'_>]) -> Vec<Part> {
        let mut parts = Vec::new();
        for (one, stated) in content.iter().zip(prompt::stated(self.body, content)) {
            match one.text() {
                // The tags around a picture only name it.
                Some(text) if prompt::is_image_tag(&text) => {}
                Some(text) => parts.extend(prompt::parts(&text, stated, self.payloads)),
                None => parts.push(Part::Media(one.open(self.payloads))),
            }
        }
        parts
    }

    /// Thoughts in several lists of texts, one below the other. Empty where they are only there encrypted.
    fn thoughts(&self, places: &[FieldSpan]) -> String {
        let all = places.iter().flat_map(|place| self.content(*place));
        let texts: Vec<Cow<'_, str>> = all.filter_map(|one| one.text()).filter(|text| !text.is_empty()).collect();
        self.payloads.decoded(texts.join("\n\n"))
    }

    /// A message from one agent to another.
    fn letter(&self) -> Vec<Part> {
        let (words, other): (Vec<_>, Vec<_>) = self.content(self.body.content).into_iter().partition(|one| one.text().is_some());
        let words: Vec<Cow<'_, str>> = words.iter().filter_map(Element::text).collect();
        let text = lines(words.iter().map(|text| &**text));
        let words = (!text.is_empty()).then(|| Part::Prompt { origin: Origin::Agent, text: self.payloads.decoded(text) });
        // Encrypted content is nothing to read.
        let other = other.into_iter().filter(|one| !one.is_encrypted()).map(|one| Part::Media(one.open(self.payloads)));
        words.into_iter().chain(other).collect()
    }

    /// The parts of a summed-up history. The items that replace the old ones are no news; only the summary is to be read.
    fn compacted(&self) -> Vec<Part> {
        let mut items = None;
        let _ = self.body.skim(self.body.replacement_history).array(|_| {
            *items.get_or_insert(0) += 1;
            Ok(())
        });
        // An empty list is a fact, too; a missing one is not.
        if self.body.kind_of(self.body.replacement_history) == Some(Type::Array) {
            items.get_or_insert(0);
        }
        let kept = items.map(|items: usize| ("kept items", items.to_string()));
        let window = self.body.some(self.body.window_number).map(|window| ("window", self.payloads.value(window).to_string()));
        let facts = window.into_iter().chain(kept).map(|(name, value)| (name.to_owned(), value)).collect();
        let summary = self.text(self.body.message).map(|text| Part::Folded { label: "summary".to_owned(), text });
        std::iter::once(boundary(facts)).chain(summary).collect()
    }

    /// The parts of an event beside the conversation.
    fn event(&self) -> (bool, Vec<Part>) {
        let body = self.body;
        let echo = |parts: Vec<Part>| (true, parts);
        match &*self.record.kind {
            "user_message" => echo(self.shown()),
            "agent_message" => echo(self.each(body.message, Part::Text)),
            "agent_reasoning" | "agent_reasoning_raw_content" => echo(self.each(body.text, Part::Thinking)),
            "task_complete" | "turn_complete" => echo(self.each(body.last_agent_message, Part::Text)),
            "context_compacted" => echo(vec![boundary(Vec::new())]),
            // Numbers, settings, and events that other records report better.
            "token_count"
            | "task_started"
            | "turn_started"
            | "thread_settings_applied"
            | "sub_agent_activity"
            | "dynamic_tool_call_request"
            | "thread_name_updated"
            | "session_configured" => (false, Vec::new()),
            _ => match self.notice() {
                Some(notice) => (false, vec![notice]),
                // A command run by hand has the kind of an end, but `is_end` excludes it.
                None if self.record.is_end() => (false, vec![Part::End(self.id())]),
                None if self.record.is_by_hand() => echo(self.by_hand()),
                None => (false, vec![self.unknown()]),
            },
        }
    }

    /// An event that is shown as a notice.
    fn notice(&self) -> Option<Part> {
        let body = self.body;
        let (level, title, text) = match &*self.record.kind {
            "turn_aborted" => return Some(self.aborted()),
            "thread_rolled_back" => return Some(self.rolled_back()),
            "error" => (Level::Error, "Error", self.texts(&[body.message])),
            "stream_error" => (Level::Warning, "Stream error", self.texts(&[body.message, body.additional_details])),
            "warning" | "guardian_warning" => (Level::Warning, "Warning", self.texts(&[body.message])),
            "deprecation_notice" => (Level::Warning, "Deprecated", self.texts(&[body.summary, body.details])),
            "background_event" => (Level::Info, "In the background", self.texts(&[body.message])),
            "model_reroute" => (Level::Info, "Another model", self.texts(&[body.from_model, body.to_model, body.reason])),
            "guardian_assessment" => (Level::Info, "Automatic review", self.texts(&[body.status, body.risk_level, body.rationale])),
            "undo_completed" => (Level::Info, "Undone", self.texts(&[body.message])),
            "thread_goal_updated" => (Level::Info, "Goal", self.goal()),
            "entered_review_mode" => (Level::Info, "Review begins", self.texts(&[body.user_facing_hint])),
            "exited_review_mode" => (Level::Info, "Review ends", self.review()),
            _ => return None,
        };
        Some(notice(level, title, text))
    }

    /// The person's message as it was shown to them.
    fn shown(&self) -> Vec<Part> {
        let message = self.body.text(self.body.message);
        let mut parts = message.map(|text| prompt::parts(&text, StatedAuthor::Unstated, self.payloads)).unwrap_or_default();
        for place in [self.body.images, self.body.local_images] {
            let _ = self.body.skim(place).array(|address| {
                let picture = |address: Raw<'_>| Part::Media(Content::Image(image(&address.text(), self.payloads)));
                parts.extend(address.string().map(picture));
                Ok(())
            });
        }
        parts
    }

    fn aborted(&self) -> Part {
        let reason = self.body.text(self.body.reason).filter(|reason| reason != "interrupted");
        let title = if reason.is_some() { "Turn ended" } else { "Interrupted" };
        notice(Level::Warning, title, reason.map(|reason| self.payloads.decoded(spaced(&reason))))
    }

    fn rolled_back(&self) -> Part {
        let turns = self.body.int(self.body.num_turns).filter(|turns| *turns >= 0).unwrap_or(1);
        let title = if turns == 1 { "Took back the last turn".to_owned() } else { format!("Took back the last {turns} turns") };
        notice(Level::Info, &title, None)
    }

    fn goal(&self) -> Option<String> {
        let goal = self.body.goal;
        self.body.some(goal)?;
        let texts: Vec<Cow<'_, str>> = ["objective", "status"].iter().filter_map(|name| self.body.text_inside(goal, name)).collect();
        Some(self.payloads.decoded(texts.join("\n")))
    }

    /// The findings of a review: in the words that were shown, or in its own.
    fn review(&self) -> Option<String> {
        let found = self.body.text_inside(self.body.review_output, "overall_explanation");
        found.or_else(|| self.body.text(self.body.review)).map(|text| self.payloads.decoded(text.into_owned()))
    }

    /// A command that the person ran by hand.
    fn by_hand(&self) -> Vec<Part> {
        // The words are read from the log as they are; the line is redacted as one text.
        let line = self.body.some(self.body.command).map(|raw| shell::line(&value::read(raw))).unwrap_or_default();
        let output = self.text(self.body.aggregated_output).or_else(|| self.text(self.body.stdout));
        vec![Part::Command { line: self.payloads.decoded(format!("!{line}")), output }]
    }

    /// A completed item of a paginated log. Most repeat an item of the conversation.
    fn completed(&self) -> (bool, Vec<Part>) {
        let body = self.body;
        let content = || self.content(body.first(&[body.content, body.text]));
        let parts = match &*self.record.kind {
            "UserMessage" => self.said(&content()),
            "AgentMessage" => content().iter().map(|one| self.words_or(one, |text| Part::Text(self.opened(text)))).collect(),
            "Plan" => self.each(body.text, Part::Text),
            "Reasoning" => {
                let text = self.thoughts(&[body.summary_text, body.summary, body.raw_content, body.content]);
                (!text.is_empty()).then_some(Part::Thinking(text)).into_iter().collect()
            }
            "HookPrompt" => self.hook_prompt(),
            "ContextCompaction" => vec![boundary(Vec::new())],
            "EnteredReviewMode" => vec![notice(Level::Info, "Review begins", self.texts(&[body.review]))],
            "ExitedReviewMode" => vec![notice(Level::Info, "Review ends", self.review())],
            "SubAgentActivity" => Vec::new(),
            _ if self.record.is_by_hand() => self.by_hand(),
            _ if self.record.is_end() => return (false, vec![Part::End(self.id())]),
            _ => return (false, vec![self.unknown()]),
        };
        (true, parts)
    }

    /// The requests of a hook to the model, in the person's name.
    fn hook_prompt(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let _ = self.body.skim(self.body.fragments).array(|fragment| {
            let mut text = None;
            fragment.object(|key, value| {
                if key.as_bytes() == b"text" {
                    text = value.string().filter(|text| !text.is_empty());
                }
                Ok(())
            })?;
            parts.extend(text.map(|text| Part::Folded { label: "hook prompt".to_owned(), text: self.payloads.text(text) }));
            Ok(())
        });
        parts
    }
}

fn notice(level: Level, title: &str, text: Option<String>) -> Part {
    Part::Notice { level, title: title.to_owned(), text }
}

fn boundary(facts: Vec<(String, String)>) -> Part {
    Part::Boundary { title: "History summed up".to_owned(), facts }
}
