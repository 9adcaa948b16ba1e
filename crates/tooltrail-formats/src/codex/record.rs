//! One record of Codex: an envelope of timestamp, type and payload; before September 2025 the payload alone.
//!
//! [`CodexRecord`] is filled in one pass over the bytes, by the skimming reader. Everything that is claimed about a record (the facts of a
//! scan, the parts for a reader, the request or the result of a call) takes its class, time and ids from here, so that no two readers can
//! disagree. Payloads stay where they are in the bytes until they are opened.

use super::fields::{FieldSpan, PayloadFields};
use super::{ends, events, extension, items};
use crate::{Record, time};
use std::borrow::Cow;
use tooltrail_model::{At, Span, Time};
use tooltrail_skim::{Skim, Torn, Type};

/// The types of records that are known.
pub(super) const KNOWN: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
    "token_usage_record",
    "retained_context",
    "realtime_item",
    "agent_response_observation",
];

/// A family of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RecordClass {
    /// The beginning of a session: `session_meta`, or the first line of an old log.
    Session,
    /// The settings of a turn.
    Context,
    /// An item of the conversation.
    Item,
    /// Something beside the conversation.
    Event,
    /// A completed item of a paginated log.
    Completed,
    /// The history was summed up.
    Compacted,
    /// A message between agents.
    Letter,
    /// The tokens of one response.
    Usage,
    /// A record of the program's own state, with nothing to read.
    Silent,
    /// An unknown record.
    #[default]
    Unknown,
}

/// A record, read in one pass.
pub(super) struct CodexRecord<'r> {
    /// The place of the record in its source. A call without a name is named after its line.
    pub(super) at: At,
    /// When it was written.
    pub(super) time: Option<Time>,
    /// How deep it nests.
    pub(super) depth: usize,
    /// The place where it breaks off.
    pub(super) torn: Option<Torn>,
    /// The fields beside the payload.
    outer: PayloadFields<'r>,
    payload: Option<PayloadFields<'r>>,
    /// The item that an event carries.
    item: Option<PayloadFields<'r>>,
    /// The type in the envelope; empty if there is none.
    pub(super) name: Cow<'r, str>,
    /// The type of the body.
    pub(super) kind: Cow<'r, str>,
    /// The family that it belongs to.
    pub(super) class: RecordClass,
}

impl<'r> CodexRecord<'r> {
    /// Reads a record. One that breaks off keeps what was read so far, and says where.
    pub(super) fn read(record: Record<'r>) -> Self {
        #[cfg(test)]
        crate::reads::note(record.bytes);
        Self::glance(record)
    }

    /// Reads a line to find out whether it is a record at all.
    pub(super) fn glance(record: Record<'r>) -> Self {
        let bytes = record.bytes;
        let mut all = CodexRecord {
            at: record.at,
            time: None,
            depth: 0,
            torn: None,
            outer: PayloadFields::of(bytes, 0..bytes.len()),
            payload: None,
            item: None,
            name: Cow::Borrowed(""),
            kind: Cow::Borrowed(""),
            class: RecordClass::Unknown,
        };
        let mut skim = Skim::new(bytes);
        let is_object = skim.peek() == Some(Type::Object);
        let read = all.take(&mut skim, bytes);
        let whole = is_object && skim.finished();
        // Text behind the object counts as damage as well: two records glued together.
        all.torn = read.err().or_else(|| (!whole).then(|| Torn { at: skim.position() }));
        all.depth = skim.deepest();
        if is_object {
            all.classify();
        } else {
            // A line that is no object is no record.
            all.class = RecordClass::Silent;
        }
        all
    }

    fn take(&mut self, skim: &mut Skim<'r>, bytes: &'r [u8]) -> Result<(), Torn> {
        skim.object(|key, value| {
            match key.as_bytes() {
                // A number, or a text in one of several spellings; anything else is no time.
                b"timestamp" => self.time = time::read(value),
                b"payload" if value.peek() == Some(Type::Object) => {
                    let start = value.position();
                    let payload = self.payload.insert(PayloadFields::of(bytes, start..bytes.len()));
                    value.object(|key, value| payload.take(key.as_bytes(), value))?;
                    payload.end(value.position());
                }
                key => self.outer.take(key, value)?,
            }
            Ok(())
        })
    }

    fn classify(&mut self) {
        self.name = self.outer.name_of_type();
        let Some(payload) = &self.payload else {
            self.kind = self.name.clone();
            self.class = self.bare_class();
            return;
        };
        self.kind = payload.name_of_type();
        self.class = match &*self.name {
            "response_item" => RecordClass::Item,
            "event_msg" => match &*self.kind {
                "item_completed" | "item_started" => {
                    let item = payload.inside(payload.item);
                    let is_completed = self.kind == "item_completed";
                    // The record of a completed item is read as the item; a started one is an event like others.
                    if is_completed {
                        self.kind = item.name_of_type();
                        // Those of extensions have a type of their own inside it.
                        if self.kind == extension::TYPE {
                            self.kind = extension::kind(&item).unwrap_or(Cow::Borrowed(extension::TYPE));
                        }
                    }
                    self.item = Some(item);
                    if is_completed { RecordClass::Completed } else { RecordClass::Event }
                }
                _ => RecordClass::Event,
            },
            "session_meta" => RecordClass::Session,
            "turn_context" => RecordClass::Context,
            "compacted" => RecordClass::Compacted,
            "inter_agent_communication" => RecordClass::Letter,
            "token_usage_record" => RecordClass::Usage,
            name if KNOWN.contains(&name) => RecordClass::Silent,
            _ => {
                self.kind = self.name.clone();
                RecordClass::Unknown
            }
        };
    }

    /// The class of a record from before there were payloads: the line that begins a log has no type and names the session, others are
    /// items or the program's own state.
    fn bare_class(&self) -> RecordClass {
        let is_item = || items::KNOWN.contains(&&*self.name) || items::is_new_call(&self.name, &self.outer);
        if self.is_bare_begin() {
            RecordClass::Session
        } else if is_item() || items::is_new_output(&self.name, &self.outer) {
            RecordClass::Item
        } else if self.name.is_empty() && self.outer.record_type.is_some() {
            RecordClass::Silent
        } else {
            RecordClass::Unknown
        }
    }

    fn is_bare_begin(&self) -> bool {
        let outer = &self.outer;
        !outer.r#type.is_some() && outer.id.is_some() && (outer.instructions.is_some() || outer.git.is_some())
    }

    /// Whether the record has a payload.
    pub(super) fn has_payload(&self) -> bool {
        self.payload.is_some()
    }

    /// Whether a record without a payload is certainly from before there were payloads.
    pub(super) fn is_bare(&self) -> bool {
        self.payload.is_none() && (self.outer.record_type.is_some() || self.is_bare_begin() || items::is_bare(&self.outer))
    }

    /// Whether the record is known, and its content. An unknown one is counted, and shown as it is.
    pub(super) fn is_known(&self) -> bool {
        let Some(payload) = &self.payload else { return self.is_bare() };
        match &*self.name {
            "response_item" => items::KNOWN.contains(&&*self.kind),
            "event_msg" => match &self.item {
                Some(item) => events::is_known_item(item),
                None => events::is_known(&self.kind, payload),
            },
            name => KNOWN.contains(&name),
        }
    }

    /// The fields of what the record is about: the completed item, the payload, or the record itself where it has none.
    pub(super) fn body(&self) -> &PayloadFields<'r> {
        // The payload of an unknown record has no known meaning, so the record is shown as a whole.
        let payload = self.payload.as_ref().filter(|_| self.class != RecordClass::Unknown);
        self.item.as_ref().filter(|_| self.class == RecordClass::Completed).or(payload).unwrap_or(&self.outer)
    }

    /// Whether it is the completed item of an extension's tool.
    pub(super) fn is_extension(&self) -> bool {
        // No other completed item has a dot in its type.
        self.class == RecordClass::Completed && self.kind.contains('.')
    }

    /// The fields of the event that carries a completed item.
    pub(super) fn event(&self) -> Option<&PayloadFields<'r>> {
        self.payload.as_ref().filter(|_| self.class == RecordClass::Completed)
    }

    /// The fields of the envelope.
    pub(super) fn outer(&self) -> &PayloadFields<'r> {
        &self.outer
    }

    /// The span in the source of a place in the record.
    pub(super) fn span(&self, place: FieldSpan) -> Span {
        let (start, range) = (self.at.span.start, place.range());
        Span { start: start + range.start as u64, end: start + range.end as u64 }
    }

    /// The id that the record has for a call; `None` if it has none.
    pub(super) fn named(&self) -> Option<Cow<'r, str>> {
        let body = self.body();
        body.text(body.call_id).or_else(|| body.text(body.call_id_camel)).or_else(|| body.text(body.id))
    }

    /// The id of a call; one without any is named after its line.
    pub(super) fn call_id(&self) -> Cow<'r, str> {
        self.named().unwrap_or_else(|| Cow::Owned(format!("line-{}", self.at.line)))
    }

    /// Whether the record is about a call. A call that is logged once it is over, without a name, may have got one from the record of its
    /// end.
    pub(super) fn is_about(&self, call: &str) -> bool {
        let by_end = || self.class == RecordClass::Item && matches!(&*self.kind, "web_search_call" | "image_generation_call");
        match (self.named(), call.strip_prefix("line-")) {
            (Some(name), _) => name == call,
            (None, Some(line)) => line == self.at.line.to_string(),
            (None, None) => by_end(),
        }
    }

    /// Whether a record ends a call: an end event, or a completed item.
    pub(super) fn is_end(&self) -> bool {
        ends::tool(self).is_some()
    }

    /// Whether it is a command that the person ran by hand, which is no call of the model.
    pub(super) fn is_by_hand(&self) -> bool {
        let body = self.body();
        matches!(&*self.kind, "exec_command_end" | "CommandExecution")
            && matches!(body.text(body.source).as_deref(), Some("user_shell" | "userShell"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A record of line 7.
    pub(in crate::codex) fn of_json(text: &str) -> CodexRecord<'_> {
        CodexRecord::read(Record { at: At { line: 7, span: Span { start: 0, end: text.len() as u64 } }, bytes: text.as_bytes() })
    }

    #[test]
    fn records_of_all_times_lose_their_envelope() {
        let table = [
            (json!({"type": "response_item", "payload": {"type": "message"}}), RecordClass::Item, "message"),
            (json!({"type": "event_msg", "payload": {"type": "error"}}), RecordClass::Event, "error"),
            (json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "Plan"}}}), RecordClass::Completed, "Plan"),
            (
                json!({"type": "event_msg", "payload": {"type": "item_started", "item": {"type": "Plan"}}}),
                RecordClass::Event,
                "item_started",
            ),
            (json!({"type": "message", "role": "user", "content": []}), RecordClass::Item, "message"),
            (json!({"type": "fly_call", "call_id": "c"}), RecordClass::Item, "fly_call"),
            (json!({"id": "a", "timestamp": "x", "instructions": null}), RecordClass::Session, ""),
            (json!({"record_type": "state"}), RecordClass::Silent, ""),
            (json!({"id": "a"}), RecordClass::Unknown, ""),
            (json!({"type": "something_new", "payload": {}}), RecordClass::Unknown, "something_new"),
            (json!([1]), RecordClass::Silent, ""),
        ];
        for (value, class, kind) in table {
            let text = value.to_string();
            let record = of_json(&text);
            assert_eq!((record.class, &*record.kind), (class, kind), "{value}");
        }
    }

    #[test]
    fn a_search_without_a_name_is_known_by_its_line_or_its_end() {
        let about = |payload: Value, call: &str| of_json(&json!({"type": "response_item", "payload": payload}).to_string()).is_about(call);
        let unnamed = json!({"type": "web_search_call", "status": "completed"});
        assert!(about(unnamed.clone(), "line-7") && about(unnamed.clone(), "ws_1") && !about(unnamed, "line-8"));
        assert!(!about(json!({"type": "web_search_call", "id": "ws_2"}), "ws_1"));
        assert!(!about(json!({"type": "local_shell_call"}), "ws_1"));
    }

    #[test]
    fn what_breaks_off_keeps_its_beginning() {
        let record = of_json(r#"{"type":"response_item","payload":{"type":"message","role":"us"#);
        assert!(record.torn.is_some());
        assert_eq!((record.class, &*record.kind), (RecordClass::Item, "message"));
    }
}
