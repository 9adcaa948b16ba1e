//! The records of one source, one after the other, without assembling anything: for a second, closer reading.
//!
//! What counts as a record is decided as in a [`scan`], damaged lines included, so that positions are the same.

use crate::lines::{Buffer, LinePosition, Lines, Turns};
use crate::{FORMATS, Format, Record, TypedRecord, mend, scan};
use std::io::Read;
use tooltrail_model::{At, Span};
use tracing::warn;

/// The longest line that is looked at closely.
pub const LONGEST: usize = 32 << 20;

/// Passes on each record of a source. Returns the position behind the last finished line; the beginning for a source without lines.
pub fn each(input: impl Read, take: impl FnMut(&'static dyn Format, Record<'_>, &dyn TypedRecord)) -> LinePosition {
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    each_likely(input, &mut buffer, &turns, |_| true, take)
}

/// Passes on each record behind a position between two lines of a source, at which `input` begins. Returns the position behind the last
/// finished line.
pub fn each_after(
    mark: LinePosition,
    format: &'static dyn Format,
    input: impl Read,
    mut take: impl FnMut(Record<'_>, &dyn TypedRecord),
) -> LinePosition {
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    let lines = Lines::after(mark, input, &mut buffer, &turns, LONGEST);
    each_line(mark, lines, Some(format), |_| true, |format, record| opens(format, record, |typed| take(record, typed)))
}

/// Passes on the records of a source that may be of interest, each read once: `likely` looks at a line before it is parsed. The buffer
/// outlives the source, for callers that read many.
pub fn each_likely(
    input: impl Read,
    buffer: &mut Buffer,
    turns: &Turns,
    likely: impl Fn(&[u8]) -> bool,
    mut take: impl FnMut(&'static dyn Format, Record<'_>, &dyn TypedRecord),
) -> LinePosition {
    let mut take_whole = |format: &'static dyn Format, record: Record<'_>| opens(format, record, |typed| take(format, record, typed));
    let mut lines = Lines::new(input, buffer, turns, LONGEST);
    let head = lines.peek();
    if let Some(format) = FORMATS.iter().copied().find(|format| format.is_document(head)) {
        if let Some(bytes) = lines.whole() {
            let records = (1..).zip(format.document(bytes).0);
            for (line, range) in records.filter(|(_, range)| likely(&bytes[range.clone()])) {
                let span = Span { start: range.start as u64, end: range.end as u64 };
                take_whole(format, Record { at: At { line, span }, bytes: &bytes[range] });
            }
        }
        // A document does not grow by lines, so there is no position to continue from.
        return LinePosition::default();
    }
    let format = scan::sniff(head);
    each_line(LinePosition::default(), lines, format, likely, take_whole)
}

/// Passes on the records of lines, from a position on; `take_whole` returns whether one was whole. Returns the position behind the last
/// finished line.
fn each_line(
    mut mark: LinePosition,
    mut lines: Lines<'_, impl Read>,
    mut format: Option<&'static dyn Format>,
    likely: impl Fn(&[u8]) -> bool,
    mut take_whole: impl FnMut(&'static dyn Format, Record<'_>) -> bool,
) -> LinePosition {
    // A log that cannot be read to its end is read as far as it goes.
    while let Some(line) = lines.next_line().unwrap_or_else(|error| {
        warn!(line = mark.lines, %error, "a log cannot be read to its end");
        None
    }) {
        // An unfinished line does not move the mark, so that the next reading begins with it.
        if line.ended {
            mark = LinePosition { offset: line.start + line.length + 1, lines: line.number };
        }
        // A scan reports oversized lines and does not decode them; positions have to agree with it.
        if line.oversized() {
            continue;
        }
        // A byte order mark is no part of the first record; spans begin behind it, as in a scan.
        let start_mark: &[u8] = if line.number == 1 && line.bytes.starts_with(b"\xef\xbb\xbf") { &line.bytes[..3] } else { &[] };
        let bytes = &line.bytes[start_mark.len()..];
        format = format.or_else(|| scan::sniff(bytes));
        // Filtered after the sniffing: a line without interest may still show which agent wrote the log.
        let Some(format) = format.filter(|_| likely(bytes)) else { continue };
        let start = line.start + start_mark.len() as u64;
        let record = |range: std::ops::Range<usize>| {
            let span = Span { start: start + range.start as u64, end: start + range.end as u64 };
            Record { at: At { line: line.number, span }, bytes: &bytes[range] }
        };
        let whole = Record { at: At { line: line.number, span: Span { start, end: line.start + line.length } }, bytes };
        if take_whole(format, whole) {
            continue;
        }
        // The same recovery as in a scan, or a record that it counted could not be opened.
        for range in mend::whole_records(bytes, |record| format.is_whole_record(record)) {
            take_whole(format, record(range));
        }
    }
    mark
}

/// Reads a record and hands it on, if it is whole; says whether it was.
fn opens(format: &'static dyn Format, record: Record<'_>, take: impl FnOnce(&dyn TypedRecord)) -> bool {
    format.open(record).map(|typed| take(&*typed)).is_ok()
}
