//! Logs on a disk, read as the program reads them, for tests of views.

#![allow(dead_code, clippy::unwrap_used)] // each test uses its part; a panic is the report

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Book;
use tooltrail_model::changes::{ChangeReader, ChangeSource, PathStyle};
use tooltrail_model::link::{Linked, Linker};
use tooltrail_model::{Now, Span, Time};
use tooltrail_view::render::outputs::{Export, ExportOptions, Output};

/// Logs that were scanned.
pub(crate) struct Logs {
    /// What is in them.
    pub(crate) linker: Linker,
    /// The moment of asking.
    pub(crate) now: Now,
    /// The disk, with a count of how often it was read.
    pub(crate) disk: Counting,
}

/// Reads logs, long after they were written.
pub(crate) fn read(paths: &[PathBuf]) -> Logs {
    read_at(paths, "2040-01-01T00:00:00Z")
}

/// The same at another time.
pub(crate) fn read_at(paths: &[PathBuf], time: &str) -> Logs {
    let search = find::in_paths(paths);
    assert!(search.problems.is_empty() && !search.files.is_empty(), "{search:?}");
    let (linker, problems) = scan::scan(&search.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    Logs { linker, now: Now::at(time.parse::<Time>().unwrap()), disk: Counting::default() }
}

impl Logs {
    /// Everything in these logs as one transcript.
    pub(crate) fn with_book<T>(&self, test: impl FnOnce(&Linked<'_>, &SessionBook<'_>) -> T) -> T {
        let linked = self.linker.link();
        let sessions: Vec<usize> = (0..linked.sessions.len()).collect();
        let book = SessionBook::read(&linked, &sessions, &self.now, &self.disk, None);
        test(&linked, &book)
    }
}

/// The disk, counted.
#[derive(Default)]
pub(crate) struct Counting {
    disk: Disk,
    reads: AtomicUsize,
}

impl Counting {
    /// How often something was read so far.
    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }
}

impl ReadLogs for Counting {
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.disk.log(file)
    }

    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.disk.bytes(file, span)
    }

    fn beside(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.disk.beside(file, name, limit)
    }
}

/// Writes a session to an output, by its name in `OUTPUTS`. It has no changes of files to tell of.
pub(crate) fn export(name: &str, book: &dyn Book, options: &ExportOptions, out: &mut dyn Write) -> io::Result<()> {
    (Output::named(name).unwrap().write)(&Export { book, changes: &NoChanges, options }, out)
}

/// A session that changed no files.
struct NoChanges;

impl ChangeSource for NoChanges {
    fn read(&self, _: PathStyle, _: &mut ChangeReader<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// Writes lines as a log and reads it.
pub(crate) fn log(folder: &Path, lines: &[serde_json::Value]) -> Logs {
    let path = folder.join("session.jsonl");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    read(&[path])
}
