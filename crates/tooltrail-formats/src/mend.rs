//! Lines that are not one record: two records glued together, a broken one with a whole one behind it, junk in front.
//!
//! A crash in the middle of a write leaves half a record without a line feed, and the next record follows on the same line.
//! Whole records are read; the line still counts as damaged.

use std::ops::Range;
use tooltrail_skim::Skim;

/// How often reading is tried anew on one line; a hostile line could offer as many starts as it has bytes.
const TRIES: usize = 16;

/// The whole objects on a damaged line: those that stand one behind the other at its start, and those that run exactly to its
/// end. `stands_alone` says whether an object found behind damage is a record rather than a piece of one.
pub fn whole_records(line: &[u8], stands_alone: impl Fn(&[u8]) -> bool) -> Vec<Range<usize>> {
    let (mut found, stop) = run(line, 0);
    if stop >= line.len() {
        return found;
    }
    // Whole objects with junk behind them may be the end of a record whose beginning is lost.
    if line[stop] != b'{' {
        found.retain(|record| stands_alone(&line[record.clone()]));
    }
    // A record that follows a torn one usually begins in the middle of a word; an object inside a record never does.
    let starts = |inner: bool| {
        // Behind the stop only: the object that begins there is the one that failed.
        let all = memchr::memmem::find_iter(&line[stop..], b"{\"").map(move |at| at + stop).filter(move |&at| at > stop);
        all.filter(move |&at| matches!(line[at - 1], b':' | b',' | b'[') == inner).take(TRIES)
    };
    for at in starts(false).chain(starts(true)) {
        let (records, end) = run(line, at);
        // Only a run to the very end of the line is believed: an object inside a record has the rest of that record behind it.
        if end == line.len() && !records.is_empty() {
            found.extend(records.into_iter().filter(|record| stands_alone(&line[record.clone()])));
            return found;
        }
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
            // Only white space left means that everything was read.
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
