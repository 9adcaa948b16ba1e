//! Lines that are not one record: two records glued together, a broken one with a whole one behind it, junk in front.
//!
//! A crash in the middle of a write leaves half a record without a line feed, and the next record follows on the same line.
//! What is whole is read; the line still counts as damaged.

use std::ops::Range;
use tooltrail_skim::Skim;

/// How often reading is tried anew on one line; a hostile line could offer as many starts as it has bytes.
const TRIES: usize = 16;

/// The whole objects on a damaged line: those that stand one behind the other at its start, or, where it starts damaged, those
/// that run exactly to its end. `known` says whether an object found behind damage is a record rather than a piece of one.
pub fn whole_records(line: &[u8], known: impl Fn(&[u8]) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..TRIES {
        let (records, end) = run(line, at);
        let reaches_end = end == line.len();
        if (at == 0 || reaches_end) && records.iter().all(|record| known(&line[record.clone()])) {
            found.extend(records);
        }
        if reaches_end {
            return found;
        }
        // The next place where a record could begin.
        let Some(next) = memchr::memmem::find(&line[end + 1..], b"{\"") else { return found };
        at = end + 1 + next;
    }
    found
}

/// Reads objects one behind the other from `start`; returns them and where reading stopped.
fn run(line: &[u8], start: usize) -> (Vec<Range<usize>>, usize) {
    let mut records = Vec::new();
    let mut at = start;
    loop {
        let mut skim = Skim::new(&line[at..]);
        let begins = skim.peek() == Some(tooltrail_skim::Type::Object);
        let from = at + skim.position();
        if !begins || skim.object(|_, _| Ok(())).is_err() {
            let stop = if skim.finished() && !begins { line.len() } else { from };
            return (records, stop);
        }
        records.push(from..at + skim.position());
        at += skim.position();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(line: &str) -> Vec<&str> {
        let known = |record: &[u8]| record.starts_with(b"{\"type\":");
        whole_records(line.as_bytes(), known).into_iter().map(|range| &line[range]).collect()
    }

    #[test]
    fn whole_records_are_found() {
        assert_eq!(mended(r#"{"type":1}{"type":2}"#), [r#"{"type":1}"#, r#"{"type":2}"#]);
        assert_eq!(mended(r#"{"type":1} {"type":2} {"typ"#), [r#"{"type":1}"#, r#"{"type":2}"#]);
        assert_eq!(mended(r#"{"type":"a","text":"bro{"type":2,"x":{"y":3}}"#), [r#"{"type":2,"x":{"y":3}}"#]);
        assert_eq!(mended("\0\0\0{\"type\":2}"), ["{\"type\":2}"]);
        assert_eq!(mended(r#"junk {"type":2}"#), [r#"{"type":2}"#]);
    }

    #[test]
    fn pieces_of_a_record_are_not_records() {
        assert!(mended(r#"{"type":"user","message":{"content":[{"kind":"text"}"#).is_empty());
        assert!(mended("not json").is_empty());
        assert!(mended("[1,2]").is_empty());
        assert!(mended(&"{\"".repeat(100_000)).is_empty());
        assert!(mended("").is_empty());
    }
}
