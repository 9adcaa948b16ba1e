//! What a record holds for a reader, in order: prompts, answers, calls, and what the program put in between.
//!
//! A scan takes `facts` of every record; this takes everything of one. Both take it from one typed record, and ask `author` who wrote a
//! text, so that what a scan counts as a prompt is shown as one. Metadata has no parts; a record that nobody knows is shown whole.
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

use super::facts;
use super::record::ClaudeRecord;
use crate::value::{self, Payloads};
use std::borrow::Cow;
use tooltrail_model::transcript::{Part, Parts};
use tooltrail_skim::Raw;

/// What a record holds for a reader.
pub(super) fn parts(record: &ClaudeRecord<'_>, payloads: Payloads<'_>) -> Parts {
    let own = |text: Option<Raw<'_>>| text.map(|text| text.text().into_owned());
    let kind = record.kind.map_or(Cow::Borrowed("?"), Raw::text);
    let mut parts = match &*kind {
        "user" => spoken::user(record),
        "assistant" => answers::assistant(record),
        "system" => system::system(record),
        "attachment" => attached::attachment(record),
        "queue-operation" => attached::queue(record),
        "progress" => hooks::told(record).into_iter().filter(|hook| !ends_turn(hook.event.as_deref())).map(Part::Hook).collect(),
        kind if facts::is_known(kind) => Vec::new(),
        kind => vec![Part::Unknown { name: kind.to_owned(), value: value::read(record.record.bytes) }],
    };
    // What they are was told by the record as the log has it; only now may anything be taken out of them.
    parts.iter_mut().for_each(|part| payloads.part(part));
    Parts {
        id: own(record.uuid),
        parent: own(record.parent.or_else(|| record.rare()?.logical_parent)),
        time: record.time,
        session: own(record.session),
        sidechain: record.sidechain,
        agent: own(record.agent),
        echo: kind == "queue-operation",
        voice: None,
        parts,
    }
}

/// Hooks at the end of a turn are told again, and better, in a summary.
fn ends_turn(event: Option<&str>) -> bool {
    matches!(event, Some("Stop" | "SubagentStop"))
}

/// Text that the program put in.
fn folded(label: impl Into<String>, text: impl Into<String>) -> Part {
    Part::Folded { label: label.into(), text: text.into() }
}
