//! The logs of the first months: one JSON document a session, `{"session":{…},"items":[…]}`, printed over many lines.

use std::ops::Range;
use tooltrail_skim::{Skim, Torn, Type};

/// Whether a file begins like such a document.
pub(super) fn sniff(head: &[u8]) -> bool {
    let mut skim = Skim::new(head);
    if skim.peek() != Some(Type::Object) {
        return false;
    }
    let (mut keys, mut session, mut items) = (0, false, false);
    // The head may break off anywhere; the fields before that decide.
    let _ = skim.object(|key, value| {
        keys += 1;
        match key.as_bytes() {
            b"session" if value.peek() == Some(Type::Object) => {
                value.object(|key, _| {
                    session |= key.as_bytes() == b"id";
                    Ok(())
                })?;
            }
            b"items" => items = value.peek() == Some(Type::Array),
            _ => {}
        }
        Ok(())
    });
    // In a short head the items may not have begun; then the session has to be the only field.
    session && (items || keys == 1)
}

/// The ranges of its records: the session, then the items. The second value says whether the document is whole.
pub(super) fn records(bytes: &[u8]) -> (Vec<Range<usize>>, bool) {
    let (mut session, mut items) = (None, Vec::new());
    let mut skim = Skim::new(bytes);
    let read: Result<(), Torn> = skim.object(|key, value| {
        match key.as_bytes() {
            b"session" => session = Some(value.skip()?),
            b"items" => value.array(|item| {
                items.push(item.skip()?);
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    });
    let whole = read.is_ok() && skim.finished();
    (session.into_iter().chain(items).collect(), whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_from_lines() {
        assert!(sniff(b"{\n  \"session\": {\n    \"id\": \"a\"\n  },\n  \"items\": ["));
        assert!(sniff(br#"{"items":[],"session":{"timestamp":"x","id":"a"}}"#));
        assert!(sniff(br#"{"session":{"id":"a"},"items":[{"type":"mess"#));
        assert!(!sniff(br#"{"session":"a","items":[]}"#));
        assert!(!sniff(br#"{"type":"session_meta","payload":{"id":"a"}}"#));
        assert!(!sniff(b"[1]"));
    }

    #[test]
    fn what_is_whole_is_read_from_a_torn_document() {
        let text = br#"{"session":{"id":"a"},"items":[{"n":1},{"n":2},{"n":"#;
        let (found, whole) = records(text);
        let found: Vec<&[u8]> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, [&br#"{"id":"a"}"#[..], br#"{"n":1}"#, br#"{"n":2}"#]);
        assert!(!whole);
        assert!(records(br#"{"session":{},"items":[]}"#).1);
    }
}
