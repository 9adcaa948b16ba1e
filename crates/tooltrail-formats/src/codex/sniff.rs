//! Recognising a record of Codex by one line, before anything else is known about a file.

use super::record::{CodexRecord, KNOWN};
use crate::Record;
use tooltrail_model::{At, Span};
use tooltrail_skim::Skim;

/// Reads a line on its own, without its place in a file.
fn read(line: &[u8]) -> Option<CodexRecord<'_>> {
    let at = At { line: 0, span: Span { start: 0, end: line.len() as u64 } };
    Some(CodexRecord::glance(Record { at, bytes: line })).filter(|record| record.torn.is_none())
}

/// Whether a line is a record of Codex.
pub(super) fn line(line: &[u8]) -> bool {
    let Some(record) = read(line) else { return false };
    if record.has_payload() {
        return KNOWN.contains(&&*record.name);
    }
    // Thoughts look the same with every agent that speaks to the same service, so they prove nothing.
    if record.kind == "reasoning" {
        return false;
    }
    // Other programs log bare items as well, with fields of their own around them.
    record.is_bare() && !record.outer().session_id.is_some() && !has_foreign_keys(line)
}

/// Whether a line is a record with an envelope: a payload alone could pass for an old record.
pub(super) fn envelope(line: &[u8]) -> bool {
    read(line).is_some_and(|record| record.has_payload() && KNOWN.contains(&&*record.name))
}

fn has_foreign_keys(line: &[u8]) -> bool {
    let mut foreign = false;
    let _ = Skim::new(line).object(|key, _| {
        foreign |= matches!(key.as_bytes(), b"sessionId" | b"providerData" | b"uuid" | b"parentId" | b"parentUuid");
        Ok(())
    });
    foreign
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_alone_tell_only_where_nobody_else_writes_them() {
        assert!(line(br#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#));
        assert!(line(br#"{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"}"#));
        assert!(line(br#"{"id":"a","timestamp":"x","instructions":null}"#));
        assert!(!line(br#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}"#));
        assert!(!line(br#"{"type":"function_call","call_id":"c","sessionId":"s"}"#));
        assert!(line(br#"{"type":"response_item","payload":{"type":"reasoning","summary":[]}}"#));
    }
}
