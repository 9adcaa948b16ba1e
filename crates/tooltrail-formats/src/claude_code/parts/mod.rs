//! The content of a record for a reader, in order: prompts, answers, calls, and insertions of the program.
//!
//! A scan takes `facts` of every record; this takes everything of one. Both use one typed record, and ask `author` who wrote a text, so
//! that a prompt in a scan is a prompt on a page. Metadata has no parts; an unknown record is shown whole.
//!
//! | file | knows |
//! |---|---|
//! | `user` | user records: prompts, commands, and what the program says in them |
//! | `answers` | assistant records |
//! | `system` | system records |
//! | `attachments` | attachments and the queue |
//! | `hooks` | hooks in full |
//! | `progress` | the state of a call at work |

mod answers;
mod attachments;
pub(super) mod hooks;
pub(super) mod progress;
mod system;
mod user;

use super::record::ClaudeRecord;
use super::{facts, settings};
use crate::value::{self, Payloads};
use std::borrow::Cow;
use tooltrail_model::transcript::{Part, Parts};
use tooltrail_skim::Raw;

/// The content of a record for a reader.
pub(super) fn parts(record: &ClaudeRecord<'_>, payloads: Payloads<'_>) -> Parts {
    let own = |text: Option<Raw<'_>>| text.map(|text| text.text().into_owned());
    let kind = record.kind.map_or(Cow::Borrowed("?"), Raw::text);
    let mut parts = match &*kind {
        "user" => user::user(record),
        "assistant" => answers::assistant(record),
        "system" => system::system(record),
        "attachment" => attachments::attachment(record),
        "queue-operation" => attachments::queue(record),
        // Without this a page would show each of them twice.
        "progress" => hooks::reported(record).into_iter().filter(|hook| !ends_turn(hook.event.as_deref())).map(Part::Hook).collect(),
        _ if record.hook_input().is_some() => hooks::reported(record).into_iter().map(Part::Hook).collect(),
        kind if facts::is_known(kind) => Vec::new(),
        kind => vec![Part::Unknown { name: kind.to_owned(), value: value::read(record.record.bytes) }],
    };
    // The kinds of parts were decided on the original record; only now may texts be redacted.
    parts.iter_mut().for_each(|part| payloads.part(part));
    Parts {
        id: own(record.uuid),
        parent: own(record.parent.or_else(|| record.rare()?.logical_parent)),
        time: record.time,
        session: own(record.own_session()),
        sidechain: record.sidechain,
        agent: own(record.agent),
        version: own(record.version),
        permission: settings::permission(record),
        stopped: settings::stopped(&record.message).map(|_| record.message.id.map_or(record.record.at.line, Raw::digest)),
        echo: kind == "queue-operation",
        voice: None,
        parts,
    }
}

/// Whether hooks of an event run at the end of a turn: a summary reports them again, and better.
fn ends_turn(event: Option<&str>) -> bool {
    matches!(event, Some("Stop" | "SubagentStop"))
}

/// Text that the program put in.
fn folded(label: impl Into<String>, text: impl Into<String>) -> Part {
    Part::Folded { label: label.into(), text: text.into() }
}
