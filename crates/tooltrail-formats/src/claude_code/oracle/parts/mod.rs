//! What a record holds for a reader, in order: prompts, answers, calls, and what the program put in between.
//!
//! Decoding (`records`) looks at every record and takes facts; this looks at one record and takes everything. Both classify texts with
//! `prompt`, so that what a scan counts as a prompt is shown as one. Metadata has no parts; a record that nobody knows is shown whole.
//!
//! | file | knows |
//! |---|---|
//! | `spoken` | user records: prompts, commands, and what the program says in them |
//! | `answers` | assistant records |
//! | `system` | system records |
//! | `attached` | attachments and the queue |
//! | `hooks` | hooks, told in full |

mod answers;
mod attached;
pub(super) mod hooks;
mod spoken;
mod system;

use super::super::facts as records;
use super::Opened;
use super::content::text;
use serde_json::Value;
use tooltrail_model::Time;
use tooltrail_model::transcript::{Part, Parts};

/// What a record holds for a reader.
pub(super) fn parts(record: Opened<'_>) -> Parts {
    let value = record.value;
    let own = |key: &str| text(value, key).map(str::to_owned);
    let kind = text(value, "type").unwrap_or("?");
    let mut out = Parts {
        id: own("uuid"),
        parent: own("parentUuid").or_else(|| own("logicalParentUuid")),
        time: value.get("timestamp").and_then(time),
        session: own("sessionId"),
        sidechain: flag(value, "isSidechain"),
        agent: own("agentId"),
        echo: kind == "queue-operation",
        voice: None,
        parts: Vec::new(),
    };
    out.parts = match kind {
        "user" => spoken::user(value, record.line),
        "assistant" => answers::assistant(value, record.line),
        "system" => system::system(value),
        "attachment" => attached::attachment(value),
        "queue-operation" => attached::queue(value),
        "progress" => hooks::hooks(record).into_iter().filter(|hook| !ends_turn(hook.event.as_deref())).map(Part::Hook).collect(),
        _ if records::is_known(kind) => Vec::new(),
        _ => vec![Part::Unknown { name: kind.to_owned(), value: value.clone() }],
    };
    out
}

/// Hooks at the end of a turn are told again, and better, in a summary.
fn ends_turn(event: Option<&str>) -> bool {
    matches!(event, Some("Stop" | "SubagentStop"))
}

/// Whether a flag of a record is set.
fn flag(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}

/// A timestamp: a text, or a number of seconds or milliseconds. The reader of timestamps wants it as it is written.
fn time(value: &Value) -> Option<Time> {
    crate::time::read(&mut tooltrail_skim::Skim::new(value.to_string().as_bytes()))
}

/// Text that the program put in.
fn folded(label: impl Into<String>, text: impl Into<String>) -> Part {
    Part::Folded { label: label.into(), text: text.into() }
}
