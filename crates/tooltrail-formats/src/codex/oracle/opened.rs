//! A record as a tree of values: what it is, without its envelope. The same distinctions as `records`, which reads bytes.

use super::Opened;
use crate::{time, value};
use serde_json::Value;
use tooltrail_model::Time;
use tooltrail_skim::Skim;

/// A record without its envelope.
pub(super) struct Entry<'v> {
    /// What sort of record it is.
    pub(super) sort: Sort,
    /// What the payload calls itself.
    pub(super) kind: &'v str,
    /// The payload; for a completed item, the item.
    pub(super) body: &'v Value,
    /// When.
    pub(super) time: Option<Time>,
    /// The record's number, which names a call without a name.
    line: u64,
}

/// What sort of record it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// An item of the conversation.
    Item,
    /// Something beside it.
    Event,
    /// A completed item of a paginated log.
    Completed,
    /// The history was summed up.
    Compacted,
    /// A message between agents.
    Letter,
    /// It holds nothing to read.
    Silent,
    /// Nobody knows it.
    Unknown,
}

impl<'v> Entry<'v> {
    /// Takes a record out of its envelope.
    pub(super) fn of(record: Opened<'v>) -> Self {
        let outer = record.value;
        let stamp = outer.get("timestamp").map(Value::to_string);
        let time = stamp.and_then(|stamp| time::read(&mut Skim::new(stamp.as_bytes())));
        let name = str_of(outer, "type").unwrap_or_default();
        let body = outer.get("payload").filter(|payload| payload.is_object());
        let (sort, body) = match (name, body) {
            ("response_item", Some(body)) => (Sort::Item, body),
            ("event_msg", Some(body)) if str_of(body, "type") == Some("item_completed") => {
                (Sort::Completed, body.get("item").unwrap_or(&Value::Null))
            }
            ("event_msg", Some(body)) => (Sort::Event, body),
            ("compacted", Some(body)) => (Sort::Compacted, body),
            ("inter_agent_communication", Some(body)) => (Sort::Letter, body),
            (
                "session_meta" | "turn_context" | "world_state" | "inter_agent_communication_metadata" | "security_risk_score",
                Some(body),
            ) => (Sort::Silent, body),
            // Before there were envelopes: the first line names the session, others are items or the program's own state.
            ("", None) if outer.get("id").is_some() || outer.get("record_type").is_some() => (Sort::Silent, outer),
            // A line that is no object is no record.
            _ if !outer.is_object() => (Sort::Silent, outer),
            (_, None) if crate::codex::items::KNOWN.contains(&name) => (Sort::Item, outer),
            _ => (Sort::Unknown, outer),
        };
        Entry { sort, kind: str_of(body, "type").unwrap_or_default(), body, time, line: record.line }
    }

    /// A field that is text, and not empty.
    pub(super) fn text(&self, key: &str) -> Option<&'v str> {
        str_of(self.body, key)
    }

    /// A field that is there and not null.
    pub(super) fn field(&self, key: &str) -> Option<&'v Value> {
        self.body.get(key).filter(|value| !value.is_null())
    }

    /// The call that the record is about, by the name it gives; `None` if it gives none.
    pub(super) fn named(&self) -> Option<&'v str> {
        self.text("call_id").or_else(|| self.text("callId")).or_else(|| self.text("id"))
    }

    /// The same; a call without a name is named after its line.
    pub(super) fn id(&self) -> String {
        self.named().map_or_else(|| format!("line-{}", self.line), str::to_owned)
    }

    /// Whether it is about a call. One that is logged once it is over, without a name, may have got one from the record of its end.
    pub(super) fn is_about(&self, call: &str) -> bool {
        let by_end = || self.sort == Sort::Item && matches!(self.kind, "web_search_call" | "image_generation_call");
        match (self.named(), call.strip_prefix("line-")) {
            (Some(name), _) => name == call,
            (None, Some(line)) => line == self.line.to_string(),
            (None, None) => by_end(),
        }
    }

    /// Whether it is a call of a kind that nobody knows yet.
    pub(super) fn is_new_call(&self) -> bool {
        self.sort == Sort::Item && self.kind.len() > "_call".len() && self.kind.ends_with("_call") && self.text("call_id").is_some()
    }

    /// Whether it is the output of such a call.
    pub(super) fn is_new_output(&self) -> bool {
        self.sort == Sort::Item && self.kind.ends_with("_output") && self.text("call_id").is_some()
    }

    /// Whether the record tells how a call ended: an end event, or a completed item.
    pub(super) fn is_end(&self) -> bool {
        if !matches!(self.sort, Sort::Event | Sort::Completed) || self.is_by_hand() {
            return false;
        }
        match self.kind {
            "exec_command_end" | "CommandExecution" | "patch_apply_end" | "FileChange" | "web_search_end" | "WebSearch" => true,
            "image_generation_end" | "ImageGeneration" | "view_image_tool_call" | "ImageView" => true,
            "mcp_tool_call_end" => self.field("invocation").is_some_and(names_tool),
            "McpToolCall" => names_tool(self.body),
            "dynamic_tool_call_response" | "DynamicToolCall" | "CollabAgentToolCall" => self.text("tool").is_some(),
            kind => kind.starts_with("collab_") && kind.ends_with("_end"),
        }
    }

    /// Whether it is a command that the person ran by hand, which is no call of the model.
    pub(super) fn is_by_hand(&self) -> bool {
        matches!(self.kind, "exec_command_end" | "CommandExecution") && matches!(self.text("source"), Some("user_shell" | "userShell"))
    }
}

fn names_tool(value: &Value) -> bool {
    str_of(value, "server").is_some() && str_of(value, "tool").is_some()
}

/// A field that is text, and not empty.
pub(super) fn str_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// JSON in a string: an object or a list, and nothing behind it.
pub(super) fn json(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut skim = Skim::new(text.as_bytes());
    skim.skip().ok()?;
    skim.finished().then(|| value::read(text.as_bytes()))
}
