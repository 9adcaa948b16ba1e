//! A world whose truth is known: files that sessions and others change, one step after the other, and the logs that are written of it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options};
use tooltrail_model::link::Source;
use tooltrail_model::{Linker, Span};
use tooltrail_testkit::rng::Rng;

/// The directory that everything happens in.
pub(crate) const PROJECT: &str = "/srv/app";

/// What a call truly did to a file, and what its log holds of it.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// The session.
    pub(crate) session: String,
    /// The text before and after; `None` where the file is not there.
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    /// The log has the text before.
    pub(crate) holds_before: bool,
    /// The log has the text after.
    pub(crate) holds_after: bool,
    /// The text after follows from the one before, if that is known.
    pub(crate) replayable: bool,
    /// It changed the file.
    pub(crate) changes: bool,
}

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) path: String,
    pub(crate) session: String,
    pub(crate) agent: Option<&'static str>,
    pub(crate) records: Vec<Value>,
    /// What was last seen of each file.
    pub(crate) seen: BTreeMap<String, Option<String>>,
    /// The last record's id.
    pub(crate) last: Option<String>,
}

/// Everything.
pub(crate) struct World {
    pub(crate) rng: Rng,
    clock: u64,
    count: u64,
    /// The true texts, now.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) logs: Vec<Log>,
    /// What calls truly did: by call and file.
    pub(crate) truths: BTreeMap<(String, String), Truth>,
    pub(crate) edits: usize,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let (files, logs, truths) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        World { rng: Rng::new(seed), clock: 0, count: 0, files, logs, truths, edits: 0 }
    }

    /// The next moment.
    pub(crate) fn time(&mut self) -> String {
        self.clock += 700;
        let (seconds, millis) = (self.clock / 1000, self.clock % 1000);
        format!("2026-03-04T{:02}:{:02}:{:02}.{millis:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    /// A number that nothing else has.
    pub(crate) fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// A line that is new; now and then one that is everywhere.
    pub(crate) fn line(&mut self) -> String {
        let number = self.next();
        match self.rng.below(12) {
            0 => "}".to_owned(),
            1 => format!("\tlet tab{number} = 1;"),
            2 => format!("  two spaces {number}"),
            3 => format!("ends with a return {number}é\r"),
            4 => format!("-- minus {number} \"quoted\" \\"),
            5 => format!("+++ b/{number}"),
            _ => format!("line {number} of all"),
        }
    }

    /// A text of a few lines, with or without its last line feed.
    pub(crate) fn text(&mut self) -> String {
        let lines = 3 + self.rng.below(12);
        let mut text: String = (0..lines).map(|_| self.line() + "\n").collect();
        match self.rng.below(10) {
            0 | 1 => drop(text.pop()),
            // An empty line at the end.
            2 => text.push('\n'),
            _ => {}
        }
        text
    }

    /// A file that is there.
    pub(crate) fn file(&mut self) -> Option<String> {
        let count = self.files.len();
        if count == 0 {
            return None;
        }
        let place = self.rng.below(count);
        self.files.keys().nth(place).cloned()
    }

    /// Somebody else changes, deletes or makes a file, and no log says so.
    pub(crate) fn outside(&mut self) {
        let Some(path) = self.file() else { return };
        match self.rng.below(6) {
            0 => drop(self.files.remove(&path)),
            1 => {
                let text = self.text();
                self.files.insert(path, text);
            }
            _ => {
                let line = self.line();
                let text = self.files.get_mut(&path).unwrap();
                let at = text.find('\n').map_or(0, |at| at + 1);
                text.insert_str(at, &format!("{line}\n"));
            }
        }
    }

    /// Notes what a call truly did, and does it.
    pub(crate) fn note(&mut self, call: &str, path: &str, truth: Truth) {
        match truth.after.clone() {
            Some(text) => drop(self.files.insert(path.to_owned(), text)),
            None => drop(self.files.remove(path)),
        }
        self.edits += usize::from(truth.changes);
        self.truths.insert((call.to_owned(), path.to_owned()), truth);
    }

    /// The logs, as they lie on the disk.
    pub(crate) fn disk(&self) -> Memory {
        let text = |log: &Log| log.records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes();
        Memory(self.logs.iter().map(|log| (log.path.clone(), text(log))).collect(), BTreeMap::new())
    }
}

/// Logs and copies in memory.
#[derive(Default)]
pub(crate) struct Memory(pub(crate) BTreeMap<String, Vec<u8>>, pub(crate) BTreeMap<String, String>);

impl Memory {
    /// The logs, read.
    pub(crate) fn linker(&self) -> Linker {
        let mut linker = Linker::default();
        for (path, bytes) in &self.0 {
            let options = Options { threads: 1, ..Options::default() };
            let summary = scan::read(Path::new(path), &bytes[..], &options, &mut Buffer::default(), &Turns::default());
            linker.put(Source { path: path.as_str().into(), modified: summary.last, summary });
        }
        linker
    }
}

impl ReadLogs for Memory {
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        let bytes = self.0.get(file).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(&bytes[..]))
    }

    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>> {
        Some(self.0.get(file)?.get(span.start as usize..span.end as usize)?.to_vec())
    }

    fn beside(&self, _: &str, _: &str, _: u64) -> io::Result<(Vec<u8>, u64)> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn backup(&self, _: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        let text = self.1.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok((text.bytes().take(limit as usize).collect(), text.len() as u64))
    }
}

/// One place that changed: the number of its first line, and its lines with their signs. Each line keeps its line feed.
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) lines: Vec<(char, String)>,
}

impl Place {
    /// How many lines it has, without those of a sign.
    pub(crate) fn count(&self, skip: char) -> usize {
        self.lines.iter().filter(|(sign, _)| *sign != skip).count()
    }
}

/// What changed between two texts, as one place: the lines that differ, with `context` lines around them.
pub(crate) fn one_place(before: &str, after: &str, context: usize) -> Option<Place> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    if head == old.len() && head == new.len() {
        return None;
    }
    let start = head.saturating_sub(context);
    let end = (old.len() - tail + context).min(old.len());
    let signed = |sign: char, lines: &[&str]| lines.iter().map(|line| (sign, (*line).to_owned())).collect::<Vec<_>>();
    let lines = [
        signed(' ', &old[start..head]),
        signed('-', &old[head..old.len() - tail]),
        signed('+', &new[head..new.len() - tail]),
        signed(' ', &old[old.len() - tail..end]),
    ];
    Some(Place { start: start + 1, lines: lines.concat() })
}
