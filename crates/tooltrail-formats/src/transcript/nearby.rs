//! The surroundings of a call: the messages before and after it, and any line of its log. Read from the bytes around its records, so that a
//! call can be shown without reading its session.

use super::{SessionBook, format_of, record_index};
use crate::value::Payloads;
use crate::{Format, Record};
use memchr::memchr_iter;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::transcript::{CallEntry, Entry, EntryKind, Part, Parts, Spot};
use tooltrail_model::{At, Span, Time};

/// How much is read at a time, until something is found: most messages are close by.
const BLOCKS: [u64; 3] = [64 << 10, 1 << 20, 8 << 20];
/// How far a line is looked for.
const FAR: u64 = 64 << 20;

/// The messages around a call, in its own conversation.
#[derive(Clone, Debug, Default)]
pub struct NearbyEntries {
    /// Before its request, in order: the last words to or from the model, and the last thought since.
    pub before: Vec<Entry>,
    /// After its result, in order: the first thought, and the next words.
    pub after: Vec<Entry>,
}

impl SessionBook<'_> {
    /// The messages around a call, by its place in `Transcript::calls`.
    pub fn around(&self, index: usize) -> NearbyEntries {
        // What was said around a call in a script was said around the script.
        let script = self.transcript.calls.get(index).and_then(|call| self.script_of(call));
        let index = script.unwrap_or(index);
        let Some(call) = self.transcript.calls.get(index) else { return NearbyEntries::default() };
        // Only records of the same log can be compared by position; a background task may end in another one.
        let last = call.ends.iter().chain(&call.result).filter(|end| end.source == call.request.source).max();
        let last = *last.unwrap_or(&call.request);
        if let Some(around) = self.in_thread(index, last) {
            return around;
        }
        let Some(own) = self.record_parts(call.request).filter(|own| self.is_of(call, own)) else { return NearbyEntries::default() };
        let mut before = self.search(call.request, &own, Direction::Back);
        before.reverse();
        NearbyEntries { before, after: self.search(last, &own, Direction::On) }
    }

    /// The script that a call stands in, by its place in `Transcript::calls`.
    fn script_of(&self, call: &CallEntry<'_>) -> Option<usize> {
        let script = call.row.parent_call.filter(|_| call.row.is_inner())?;
        self.transcript.calls.iter().position(|other| other.request == call.request && other.row.call == script)
    }

    /// Whether the record that requests a call is in the call's own conversation: a parent's log may report calls of a subagent.
    fn is_of(&self, call: &CallEntry<'_>, own: &Parts) -> bool {
        let summary = self.linked.sources.get(call.request.source).map(|source| &source.summary);
        let whole = summary.is_some_and(|summary| summary.agents.iter().any(|agent| agent.whole));
        !call.row.sidechain || own.sidechain || own.agent.is_some() || whole
    }

    /// The time that a record gives itself.
    pub fn time(&self, spot: Spot) -> Option<Time> {
        self.record_parts(spot)?.time
    }

    /// The record on a line of the same source, if it is not before this record, nor very far behind.
    pub fn line(&self, from: Spot, line: u64) -> Option<Spot> {
        let (mut at, mut number) = (from.at.span.start, from.at.line);
        let end = at.saturating_add(FAR);
        while number <= line && at < end {
            let bytes = self.bytes_from(from.source, at, BLOCKS[1])?;
            let mut rest = 0;
            for found in memchr_iter(b'\n', &bytes) {
                if number == line {
                    let span = Span { start: at + rest as u64, end: at + found as u64 };
                    return Some(Spot { source: from.source, at: At { line, span } });
                }
                (rest, number) = (found + 1, number + 1);
            }
            if (bytes.len() as u64) < BLOCKS[1] {
                // The last line of a log need not end with a line feed.
                let span = Span { start: at + rest as u64, end: at + bytes.len() as u64 };
                return (number == line && !span.is_empty()).then_some(Spot { source: from.source, at: At { line, span } });
            }
            // A line longer than a block is too long to be shown.
            at = if rest == 0 { return None } else { at + rest as u64 };
        }
        None
    }

    /// The messages around a call, from the index of a session that was read whole. Those after it begin behind the record `last`.
    fn in_thread(&self, index: usize, last: Spot) -> Option<NearbyEntries> {
        let place = |entries: &[Entry]| entries.iter().position(|entry| entry.what == EntryKind::Call(index));
        let (entries, at) = self.transcript.threads.iter().find_map(|thread| Some((&thread.entries, place(&thread.entries)?)))?;
        // Parallel calls answer in between; their words came before this call's result.
        let meanwhile = |entry: &&Entry| entry.spot.source == last.source && entry.spot <= last;
        let mut before = self.nearest(entries.get(..at)?.iter().rev());
        before.reverse();
        Some(NearbyEntries { before, after: self.nearest(entries.get(at..)?.iter().filter(|entry| !meanwhile(entry))) })
    }

    /// The nearest message, and the nearest thought on the way to it.
    fn nearest<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> Vec<Entry> {
        let mut found: Vec<Entry> = Vec::new();
        for entry in entries {
            // Opened, because an entry may turn out to be empty, such as a thought that is only there encrypted.
            let speaks = || matches!(self.open(entry), Loaded::Part(part) if says(&part).is_some());
            match entry.what {
                EntryKind::Prompt | EntryKind::Text if speaks() => {
                    found.push(entry.clone());
                    break;
                }
                EntryKind::Thinking if found.is_empty() && speaks() => found.push(entry.clone()),
                _ => {}
            }
        }
        found
    }

    /// The content of a record for a reader.
    fn record_parts(&self, spot: Spot) -> Option<Parts> {
        let (format, bytes) = self.record(spot).ok()?;
        Some(format.open(Record { at: spot.at, bytes: &bytes }).ok()?.parts(Payloads::default()))
    }

    /// Searches for messages, from a record on.
    fn search(&self, from: Spot, own: &Parts, way: Direction) -> Vec<Entry> {
        let mut found = NearbySearch::default();
        for block in BLOCKS {
            // A larger block is searched from the start again: it contains the smaller one, and searching is cheap beside reading.
            found = NearbySearch::default();
            if self.search_block(from, own, way, block, &mut found).is_none() || found.spoken {
                break;
            }
        }
        if found.entries.is_empty() { found.echoes } else { found.entries }
    }

    /// Searches a block; `None` where there is no more to read.
    fn search_block(&self, from: Spot, own: &Parts, way: Direction, block: u64, found: &mut NearbySearch) -> Option<()> {
        let source = self.linked.sources.get(from.source)?;
        let format = format_of(source.summary.agent?)?;
        let span = from.at.span;
        let start = if way == Direction::Back { span.start.saturating_sub(block) } else { span.end };
        let bytes = match way {
            Direction::Back => self.disk.bytes(&source.path, Span { start, end: span.start })?,
            Direction::On => self.bytes_from(from.source, start, block)?,
        };
        let whole = if way == Direction::Back { start == 0 } else { (bytes.len() as u64) < block };
        let retracted = &source.summary.retracted;
        for (number, range) in lines(&bytes, from.at.line, way, whole) {
            // A retracted message is no part of the conversation.
            let Some(line) = bytes.get(range.clone()).filter(|_| !retracted.contains(&number)) else { continue };
            let span = Span { start: start + range.start as u64, end: start + range.end as u64 };
            found.take(format, Spot { source: from.source, at: At { line: number, span } }, line, own, way);
            if found.spoken {
                break;
            }
        }
        (!whole).then_some(())
    }

    /// The bytes from a position on, up to a number.
    fn bytes_from(&self, source: usize, start: u64, most: u64) -> Option<Vec<u8>> {
        let source = self.linked.sources.get(source)?;
        let end = start.saturating_add(most).min(source.summary.tally.bytes).max(start);
        self.disk.bytes(&source.path, Span { start, end })
    }
}

/// The direction of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Back,
    On,
}

/// The findings of a search, in the order of searching.
#[derive(Default)]
struct NearbySearch {
    entries: Vec<Entry>,
    /// Entries that only repeat other records, for logs that have nothing else.
    echoes: Vec<Entry>,
    /// Whether a message was found, which ends the search.
    spoken: bool,
}

impl NearbySearch {
    fn take(&mut self, format: &dyn Format, spot: Spot, line: &[u8], own: &Parts, way: Direction) {
        // A line that is no whole record is in no transcript either.
        let Ok(record) = format.open(Record { at: spot.at, bytes: line }) else { return };
        let parts = record.parts(Payloads::default());
        if parts.session != own.session || parts.agent != own.agent || parts.sidechain != own.sidechain {
            return;
        }
        let mut said: Vec<(usize, EntryKind, &Part)> =
            parts.parts.iter().enumerate().filter_map(|(place, part)| Some((place, says(part)?, part))).collect();
        if way == Direction::Back {
            said.reverse();
        }
        for (part, what, said) in said {
            let entry = Entry { spot, part, time: parts.time, what, turn: None, abandoned: false, lines: record_index::lines(said) };
            if parts.echo {
                self.echoes.push(entry);
                // Of repetitions only the nearest counts; it is used if there is nothing else.
                self.echoes.truncate(1);
                continue;
            }
            self.spoken = what != EntryKind::Thinking;
            if self.spoken || self.entries.is_empty() {
                self.entries.push(entry);
            }
            if self.spoken {
                return;
            }
        }
    }
}

/// The kind of entry for a message or a thought; `None` for anything else.
fn says(part: &Part) -> Option<EntryKind> {
    match part {
        Part::Prompt { .. } => Some(EntryKind::Prompt),
        Part::Text(text) if !text.trim().is_empty() => Some(EntryKind::Text),
        Part::Thinking(text) if !text.trim().is_empty() => Some(EntryKind::Thinking),
        _ => None,
    }
}

/// The whole lines of a block with their numbers, in the order of looking. `from` is the line that the block lies before or behind, `whole`
/// whether it goes to the beginning or the end of the log.
fn lines(bytes: &[u8], from: u64, way: Direction, whole: bool) -> Vec<(u64, std::ops::Range<usize>)> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for end in memchr_iter(b'\n', bytes) {
        ranges.push(start..end);
        start = end + 1;
    }
    match way {
        Direction::Back => {
            // The first line is cut, unless the block begins with the log.
            let cut = usize::from(!whole);
            (1..).map_while(|back| from.checked_sub(back)).zip(ranges.into_iter().skip(cut).rev()).collect()
        }
        Direction::On => {
            if whole && start < bytes.len() {
                ranges.push(start..bytes.len());
            }
            // The first range is the rest of the line itself.
            (from..).zip(ranges).skip(1).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let text = b"one\ntwo\nthree\n";
        let read = |way, from, whole| {
            let lines = lines(text, from, way, whole).into_iter();
            lines.map(|(number, range)| (number, String::from_utf8_lossy(&text[range]).into_owned())).collect::<Vec<_>>()
        };
        let told = |lines: &[(u64, &str)]| lines.iter().map(|(number, text)| (*number, (*text).to_owned())).collect::<Vec<_>>();
        assert_eq!(read(Direction::Back, 4, true), told(&[(3, "three"), (2, "two"), (1, "one")]));
        assert_eq!(read(Direction::Back, 9, false), told(&[(8, "three"), (7, "two")]));
        // Behind a record, the rest of its line comes first.
        assert_eq!(read(Direction::On, 4, false), told(&[(5, "two"), (6, "three")]));
    }
}
