//! Positions in a log. Every fact has one, because every answer must be provable.

use serde::{Deserialize, Serialize};

/// Byte offsets in the logical (uncompressed) source, end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl Span {
    /// Number of bytes.
    pub fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A record of a source: its number (for line files the line, counted from 1) and its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct At {
    /// Number of the record, counted from 1. Zero stands for a file beside the source.
    pub line: u64,
    /// The record's bytes.
    pub span: Span,
}

/// The rows that the records of a database are, by record number: `part:prt_1`, the table and the key. Empty for a source of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowKeys {
    /// All names, one after the other: sessions have thousands of rows, and a text of its own for each would take three times the space.
    text: String,
    /// Where each name ends.
    ends: Vec<u32>,
}

impl RowKeys {
    /// Adds the name of the next record's row.
    pub fn push(&mut self, row: &str) {
        // A table of more than 4 GB of names is nobody's; its last rows stay without one.
        if let Ok(end) = u32::try_from(self.text.len() + row.len()) {
            self.text.push_str(row);
            self.ends.push(end);
        }
    }

    /// About how many bytes they take.
    pub(crate) fn kept(&self) -> usize {
        self.text.len() + 4 * self.ends.len()
    }

    /// The row of a record, by its number.
    pub fn get(&self, record: u64) -> Option<&str> {
        let index = usize::try_from(record.checked_sub(1)?).ok()?;
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start as usize..end as usize)
    }

    /// The record of a row.
    pub fn find(&self, row: &str) -> Option<u64> {
        (1..=self.ends.len() as u64).find(|record| self.get(*record) == Some(row))
    }

    /// Whether there are none: the source has lines.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// What stands between the file and the part in the address of a source that is a part of a database.
const PART: &str = "#session=";

/// The address of a part of a database. A part's name is spelled with letters, digits, `-` and `_` alone, so that an address can be
/// taken apart again, and is never taken for a file with an ending.
pub fn part_address(file: &str, part: &str) -> String {
    let mut address = format!("{file}{PART}");
    for byte in part.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => address.push(char::from(byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// The file that the source of an address is read from, and the part of it; no part where the source is the whole file.
pub fn split_address(address: &str) -> (&str, Option<String>) {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'%');
    match address.rsplit_once(PART) {
        Some((file, part)) if !file.is_empty() && !part.is_empty() && part.bytes().all(is_name) => match unescaped(part) {
            Some(part) => (file, Some(part)),
            None => (address, None),
        },
        _ => (address, None),
    }
}

/// The file that the source of an address is read from.
pub fn file_of(address: &str) -> &str {
    split_address(address).0
}

/// The file and the record of a position as it is printed: `FILE:LINE`, or `FILE:TABLE:KEY` for a row of a database.
pub fn split_record(position: &str) -> Option<(&str, &str)> {
    let (file, last) = position.rsplit_once(':')?;
    if !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) && !is_table(file) {
        return Some((file, last));
    }
    let (file, table) = file.rsplit_once(':')?;
    let is_row = !last.is_empty() && !table.is_empty() && table.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_row.then(|| (file, &position[file.len() + 1..]))
}

/// Whether what stands before a number is a file and a table: keys may be numbers as well.
fn is_table(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(file, table)| file.ends_with(".db") && table.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// The name of a part as its agent spells it.
fn unescaped(part: &str) -> Option<String> {
    let mut pieces = part.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(piece.get(..2)?, 16).ok()?);
        bytes.extend(piece.get(2..)?.bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_a_record_is_found_by_its_number_and_back() {
        let mut rows = RowKeys::default();
        ["session:a", "message:b", "part:c"].into_iter().for_each(|row| rows.push(row));
        assert_eq!([0, 1, 2, 3, 4].map(|record| rows.get(record)), [None, Some("session:a"), Some("message:b"), Some("part:c"), None]);
        assert_eq!((rows.find("part:c"), rows.find("part:")), (Some(3), None));
    }

    #[test]
    fn positions_are_taken_apart_as_they_are_printed() {
        for (position, expected) in [
            ("/a/b.jsonl:42", Some(("/a/b.jsonl", "42"))),
            ("C:\\a.jsonl:7", Some(("C:\\a.jsonl", "7"))),
            ("/a/opencode.db:part:prt_1", Some(("/a/opencode.db", "part:prt_1"))),
            ("/a/crush.db:messages:12", Some(("/a/crush.db", "messages:12"))),
            ("3f2a:41", Some(("3f2a", "41"))),
            ("last:failed", None),
            ("/a/b.jsonl", None),
        ] {
            assert_eq!(split_record(position), expected, "{position}");
        }
    }

    #[test]
    fn an_address_is_taken_apart_as_it_was_put_together() {
        for part in ["ses_1", "a b/c#d", "ä%41", "x.jsonl"] {
            let address = part_address("/x/a.db", part);
            assert_eq!(split_address(&address), ("/x/a.db", Some(part.to_owned())), "{address}");
        }
        for file in ["/x/a.jsonl", "/x/a#b.jsonl", "/x/a.db#session=ses_1.jsonl", "/x/a.db#session=b/c.jsonl", "#session=a", "a#session="] {
            assert_eq!(split_address(file), (file, None));
        }
    }
}
