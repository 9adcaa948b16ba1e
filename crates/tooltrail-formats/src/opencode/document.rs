//! Exports: one JSON document a session, `{"info":{…},"messages":[{"info":{…},"parts":[…]}]}`, printed over many lines.
//!
//! Its records are the session, then each message followed by its parts.

use std::ops::Range;
use tooltrail_skim::{Skim, Torn, Type};

/// Whether a file begins like an export.
pub(super) fn sniff(head: &[u8]) -> bool {
    let mut skim = Skim::new(head);
    if skim.peek() != Some(Type::Object) {
        return false;
    }
    let (mut session, mut message) = (false, false);
    // The head may break off anywhere; the fields before that decide.
    let _ = skim.object(|key, value| {
        match key.as_bytes() {
            b"info" => session = has(value, b"id", &[b"directory", b"slug", b"projectID"])?,
            b"messages" if value.peek() == Some(Type::Array) => value.array(|item| {
                item.object(|key, value| {
                    message |= key.as_bytes() == b"info" && has(value, b"sessionID", &[b"role"])?;
                    Ok(())
                })
            })?,
            _ => {}
        }
        Ok(())
    });
    // Either is enough: in a short head the messages may not have begun.
    session || message
}

/// Whether an object has a field and one of some others.
fn has(value: &mut Skim<'_>, field: &[u8], others: &[&[u8]]) -> Result<bool, Torn> {
    let (mut own, mut other) = (false, false);
    if value.peek() == Some(Type::Object) {
        value.object(|key, _| {
            own |= key.as_bytes() == field;
            other |= others.contains(&key.as_bytes());
            Ok(())
        })?;
    }
    Ok(own && other)
}

/// The ranges of an export's records. The second value says whether the document is whole.
pub(super) fn records(bytes: &[u8]) -> (Vec<Range<usize>>, bool) {
    let (mut session, mut rest) = (None, Vec::new());
    let mut skim = Skim::new(bytes);
    let read: Result<(), Torn> = skim.object(|key, value| {
        match key.as_bytes() {
            b"info" => session = Some(value.skip()?),
            b"messages" if value.peek() == Some(Type::Array) => value.array(|item| message(item, &mut rest))?,
            _ => {}
        }
        Ok(())
    });
    let whole = read.is_ok() && skim.finished();
    (session.into_iter().chain(rest).collect(), whole)
}

/// Adds a message and its parts. The message comes first, wherever it is in the object.
fn message(item: &mut Skim<'_>, out: &mut Vec<Range<usize>>) -> Result<(), Torn> {
    let first = out.len();
    item.object(|key, value| {
        match key.as_bytes() {
            // Inserted in front of parts that were read before it: facts of a message apply to its parts.
            b"info" => out.insert(first, value.skip()?),
            b"parts" if value.peek() == Some(Type::Array) => value.array(|part| {
                out.push(part.skip()?);
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORT: &str = r#"{"info":{"id":"ses_1","slug":"a","directory":"/srv"},"messages":[{"info":{"id":"msg_1","sessionID":"ses_1",
        "role":"user"},"parts":[{"id":"prt_1","type":"text"}]},{"parts":[{"id":"prt_2"}],"info":{"id":"msg_2"}}]}"#;

    #[test]
    fn exports_are_told_from_other_documents() {
        assert!(sniff(EXPORT.as_bytes()));
        assert!(sniff(&EXPORT.as_bytes()[..80]));
        assert!(!sniff(br#"{"session":{"id":"a"},"items":[]}"#));
        assert!(!sniff(br#"{"info":{"id":"a"},"data":[]}"#));
        assert!(!sniff(b"[1]"));
    }

    #[test]
    fn a_message_comes_before_its_parts_and_a_torn_document_keeps_what_is_whole() {
        let names = |text: &str| {
            let (ranges, whole) = records(text.as_bytes());
            let id = |range: Range<usize>| text[range].split('"').nth(3).unwrap_or_default().to_owned();
            (ranges.into_iter().map(id).collect::<Vec<_>>().join(" "), whole)
        };
        assert_eq!(names(EXPORT), ("ses_1 msg_1 prt_1 msg_2 prt_2".to_owned(), true));
        let cut = EXPORT.find("msg_2").unwrap_or_default();
        assert_eq!(names(&EXPORT[..cut]), ("ses_1 msg_1 prt_1 prt_2".to_owned(), false));
    }
}
