//! Attachments that say something about tasks and calls: tasks listed again after a compaction, results that the model saw only in part.
//!
//! They rest on published schemas and peers' test logs (`task_status`, `read_truncation_notice`); other attachments matter to readers alone.

use super::facts::FactEmitter;
use super::outcome::task_state;
use super::record::ClaudeRecord;
use tooltrail_model::Fact;
use tooltrail_model::event::TaskNews;
use tooltrail_skim::{Raw, Skim};

/// Emits the facts of an attachment of one of these kinds. `false` if it is of another kind.
pub(super) fn facts<'r>(record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) -> bool {
    let Some(inner) = record.attachment.clone() else { return false };
    let bytes = record.slice(&inner);
    match kind(bytes).map(Raw::text).as_deref() {
        Some("task_status") => task(bytes, emit),
        Some("read_truncation_notice") => cut(bytes, record, emit),
        _ => return false,
    }
    true
}

/// The kind of an attachment, which nearly always comes first.
fn kind(bytes: &[u8]) -> Option<Raw<'_>> {
    let mut kind = None;
    // Reading stops at the kind: an attachment may be megabytes, and another reader goes through all of it.
    let _ = Skim::new(bytes).object(|key, value| {
        if key.as_bytes() != b"type" {
            return Ok(());
        }
        kind = value.string();
        Err(tooltrail_skim::Torn { at: value.position() })
    });
    kind
}

fn task<'r>(bytes: &'r [u8], emit: &mut FactEmitter<'_, 'r>) {
    let (mut id, mut status) = (None, None);
    let _ = Skim::new(bytes).object(|key, value| {
        match key.as_bytes() {
            b"taskId" => id = value.string(),
            b"status" => status = value.string(),
            _ => {}
        }
        Ok(())
    });
    if let (Some(id), Some(status)) = (id, status) {
        let state = task_state(&status.text());
        emit.fact(Fact::Restated(TaskNews { id: Some(id.text()), call: None, poll: None, state, exit_code: None }));
    }
}

fn cut<'r>(bytes: &'r [u8], record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) {
    let mut call = record.tool_use;
    let _ = Skim::new(bytes).object(|key, value| {
        if key.as_bytes() == b"toolUseID" {
            call = value.string().or(call);
        }
        Ok(())
    });
    if let Some(call) = call {
        emit.fact(Fact::SeenInPart(call.text()));
    }
}
