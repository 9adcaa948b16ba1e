//! Inputs that a careless reader would hold in memory: one line of any size, and logs with very large results.
//!
//! Nothing here holds them in memory either: the long parts are repeated from a few bytes.

use std::fs::File;
use std::io::{self, BufWriter, Cursor, Read, Write};
use std::path::Path;

use crate::corpus::WrittenAmounts;
use crate::json::{quoted, text_of};

/// Repeated to fill a long string: quotes, breaks and a character of several bytes, so that no shortcut works.
const FILLER: &str = r#"depth 12 \"ok\"\n\tgauge → 7\\ "#;
const CALL: &str = "toolu_hostile";

/// A Claude log of three lines: a shell call, its result as one record of `bytes` bytes, and a prompt.
///
/// The long record is valid JSON. A size below the record's own frame (about 500 bytes) gives the frame alone.
pub fn huge_line_reader(bytes: u64) -> impl Read {
    let (before, after) = result_around(0);
    // The size includes the frame, so the line has exactly the requested length.
    let frame = (before.len() + after.len()) as u64;
    Cursor::new(call_line(0) + &before).chain(filler(bytes.saturating_sub(frame))).chain(Cursor::new(format!("{after}\n{}", prompt_line())))
}

/// Writes a Claude log of `count` shell calls to the file `out`, each with a result of `bytes_each` bytes.
///
/// The structured side of the result is small; the text for the model is large, in a line just over `bytes_each`.
pub fn log_of_big_results(out: &Path, count: usize, bytes_each: u64) -> io::Result<WrittenAmounts> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(out)?);
    let mut written = WrittenAmounts { files: 1, ..WrittenAmounts::default() };
    let prompt = prompt_line();
    file.write_all(prompt.as_bytes())?;
    written.bytes += prompt.len() as u64;
    for number in 0..count {
        let (before, after) = result_around(number);
        let record = Cursor::new(call_line(number) + &before).chain(filler(bytes_each)).chain(Cursor::new(after + "\n"));
        written.bytes += io::copy(&mut { record }, &mut file)?;
    }
    written.lines = 1 + 2 * count as u64;
    file.flush()?;
    Ok(written)
}

/// `bytes` bytes of the inside of a JSON string.
fn filler(bytes: u64) -> impl Read {
    let length = FILLER.len() as u64;
    // The filler is never cut, since a cut could split an escape: plain letters make up the rest.
    let whole = Cycle { at: 0 }.take(bytes / length * length);
    whole.chain(io::repeat(b'x').take(bytes % length))
}

/// The filler, repeated without end.
struct Cycle {
    at: usize,
}

impl Read for Cycle {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            let part = &FILLER.as_bytes()[self.at..];
            let count = part.len().min(into.len() - done);
            into[done..done + count].copy_from_slice(&part[..count]);
            done += count;
            self.at = (self.at + count) % FILLER.len();
        }
        Ok(done)
    }
}

fn call_line(number: usize) -> String {
    let input = text_of(|o| {
        o.text("command", "cat everything.log");
    });
    let block = text_of(|o| {
        o.text("type", "tool_use").text("id", &format!("{CALL}_{number}")).text("name", "Bash").raw("input", &input);
    });
    record(number, "assistant", |o| {
        o.object("message", |o| {
            o.text("id", &format!("msg_hostile_{number}"))
                .text("type", "message")
                .text("role", "assistant")
                .text("model", "claude-opus-4-5-20251101")
                .raw("content", &format!("[{block}]"))
                .raw("usage", r#"{"input_tokens":3,"output_tokens":9}"#);
        });
    }) + "\n"
}

/// A result's record in two parts, to be written around its long text.
fn result_around(number: usize) -> (String, String) {
    // The record is built whole and then split at this mark, so that both halves stay valid together.
    const PLACE: &str = "(text)";
    let block = text_of(|o| {
        o.text("tool_use_id", &format!("{CALL}_{number}")).text("type", "tool_result").text("content", PLACE).flag("is_error", false);
    });
    // Each result names its own call, so that pairing is tested as well.
    let whole = record(number, "user", |o| {
        o.object("message", |o| {
            o.text("role", "user").raw("content", &format!("[{block}]"));
        })
        .object("toolUseResult", |o| {
            o.text("stdout", "").text("stderr", "").flag("interrupted", false);
        });
    });
    match whole.split_once(PLACE) {
        Some((before, after)) => (before.to_owned(), after.to_owned()),
        None => (whole, String::new()),
    }
}

fn prompt_line() -> String {
    record(0, "user", |o| {
        o.raw("message", &format!(r#"{{"role":"user","content":{}}}"#, quoted("what does it say?")));
    }) + "\n"
}

fn record(number: usize, kind: &str, fill: impl FnOnce(&mut crate::json::Object<'_>)) -> String {
    // Times within one hour, whatever the number of records.
    let seconds = number % 3600;
    text_of(|o| {
        o.text("type", kind)
            .text("uuid", &format!("{kind}-{number}"))
            .raw("parentUuid", "null")
            .text("sessionId", "00000000-0000-4000-a000-000000000001")
            .text("timestamp", &format!("2026-02-03T04:{:02}:{:02}.000Z", seconds / 60, seconds % 60))
            .text("cwd", "/home/sam/src/basin")
            .flag("isSidechain", false);
        fill(o);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_long_line_has_its_size_and_is_json() {
        for size in [1000, 1001, 1017, 50_000] {
            let mut text = String::new();
            huge_line_reader(size).read_to_string(&mut text).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 3);
            assert_eq!(lines[1].len() as u64, size);
            let kinds: Vec<Value> = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
            assert_eq!(kinds, ["assistant", "user", "user"]);
        }
    }

    #[test]
    fn small_reads_give_the_same_bytes() {
        let mut whole = Vec::new();
        huge_line_reader(3000).read_to_end(&mut whole).unwrap();
        let mut reader = huge_line_reader(3000);
        let (mut pieces, mut piece) = (Vec::new(), [0; 7]);
        loop {
            match reader.read(&mut piece).unwrap() {
                0 => break,
                count => pieces.extend_from_slice(&piece[..count]),
            }
        }
        assert_eq!(whole, pieces);
    }

    #[test]
    fn big_results_are_counted_and_paired() {
        // The process id keeps parallel test runs apart.
        let path = std::env::temp_dir().join(format!("tooltrail-testkit-{}.jsonl", std::process::id()));
        let written = log_of_big_results(&path, 3, 10_000).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(written.bytes, text.len() as u64);
        assert_eq!(written.lines, text.lines().count() as u64);
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let block = &last["message"]["content"][0];
        assert_eq!(block["tool_use_id"], "toolu_hostile_2");
        assert!(block["content"].as_str().unwrap().len() > 8000);
    }
}
