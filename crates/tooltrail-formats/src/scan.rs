//! The scan: every source read once, on all cores, into summaries.

use crate::database::{part_of, row_of};
use crate::find::{FoundSource, Problem, small};
use crate::lines::{Buffer, Lines, LogLine, Turns};
use crate::open::{Input, is_compressed, open};
use crate::{FORMATS, Format, Record, SessionTitle, Sink, mend, titles};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use tooltrail_model::assemble::SourceOrigin;
use tooltrail_model::event::{Broken, Meta};
use tooltrail_model::issue::IssueCode;
use tooltrail_model::link::{Linker, Source};
use tooltrail_model::{Assembler, At, Event, Fact, Scope, Span, Summary};
use tooltrail_skim::{Skim, Torn, Type};
use tracing::{debug, trace, warn};

/// The depth above which nesting is reported. No agent writes such a record; it is read all the same.
const DEEP: usize = 512;

/// The largest file beside a log that is read.
pub(crate) const SIDECAR: u64 = 256 * 1024;

/// The most that is read of one log, uncompressed: real ones have a few gigabytes, and a megabyte can unpack to a hundred of them.
pub const MAX_LOG: u64 = 8 << 30;
/// The most that is kept of one log while it is read, about: hundreds of thousands of calls.
pub const MAX_KEPT: usize = 128 << 20;

/// Held while a source is read of which very much is kept: several at a time would take several times the memory.
static LARGE: Mutex<()> = Mutex::new(());

/// Whether a source may unpack to far more than its file has: nobody knows how much before it is read.
pub fn may_unpack(source: &FoundSource) -> bool {
    part_of(&source.path).is_none() && is_compressed(&source.path)
}

/// How to scan.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many threads read.
    pub threads: usize,
    /// The longest line that is decoded.
    pub max_line: usize,
    /// Whether to look for bytes that are not UTF-8.
    pub check_utf8: bool,
    /// The most that is read of one log, uncompressed.
    pub max_log: u64,
    /// The most that is kept in memory of one log, about.
    pub max_kept: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Options { threads, max_line: 32 << 20, check_utf8: false, max_log: MAX_LOG, max_kept: MAX_KEPT }
    }
}

/// How far a scan is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read so far.
    pub bytes: AtomicU64,
    /// Sources read so far.
    pub sources: AtomicUsize,
}

/// Everything that was read of some files.
#[derive(Default)]
pub struct ScanOutcome {
    /// The summaries.
    pub linker: Linker,
    /// Files that could not be read.
    pub problems: Vec<Problem>,
    /// Sources of which the system let only a part be read, by their path as text. Their summaries are worth having, and not worth keeping.
    pub incomplete: Vec<String>,
    /// Sources that were left unread, because what was kept of the others is much already. Only [`scan_some`] leaves any.
    pub left: Vec<FoundSource>,
}

/// Reads all files. Those that cannot be read are reported; the others are not affected.
pub fn scan(files: &[FoundSource], options: &Options, progress: &Progress) -> (Linker, Vec<Problem>) {
    let ScanOutcome { linker, problems, .. } = scan_all(files, options, progress);
    (linker, problems)
}

/// Reads all files, and says which were read only in part.
pub fn scan_all(files: &[FoundSource], options: &Options, progress: &Progress) -> ScanOutcome {
    scan_some(files, options, progress, usize::MAX)
}

/// Reads files until about so many bytes are kept of them, but at least one.
pub fn scan_some(files: &[FoundSource], options: &Options, progress: &Progress, most: usize) -> ScanOutcome {
    let linker = Mutex::new(Linker::default());
    let lock = || linker.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let outcome = scan_until(files, options, progress, most, &|source| lock().put(source));
    ScanOutcome { linker: linker.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner), ..outcome }
}

/// Reads all files, and passes on each source when it has been read, in no particular order and from several threads. The outcome has the rest.
pub fn scan_each(files: &[FoundSource], options: &Options, progress: &Progress, take: &(dyn Fn(Source) + Sync)) -> ScanOutcome {
    scan_until(files, options, progress, usize::MAX, take)
}

fn scan_until(files: &[FoundSource], options: &Options, progress: &Progress, most: usize, take: &(dyn Fn(Source) + Sync)) -> ScanOutcome {
    // The largest first, so that no thread is left alone with a large one at the end.
    let mut order: Vec<&FoundSource> = files.iter().collect();
    order.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path)));
    let start = Instant::now();
    let next = AtomicUsize::new(0);
    let turns = Turns::default();
    let done = Mutex::new(ScanOutcome::default());
    let kept = AtomicUsize::new(0);
    let work = || {
        let mut buffer = Buffer::default();
        while let Some(found) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            if kept.load(Ordering::Relaxed) > most {
                done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).left.push((*found).clone());
                continue;
            }
            let read = source(found, options, &mut buffer, &turns, progress);
            progress.sources.fetch_add(1, Ordering::Relaxed);
            let done = || done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match read {
                Ok((source, whole, bytes)) => {
                    kept.fetch_add(bytes, Ordering::Relaxed);
                    if !whole {
                        warn!(path = ?found.path, "a log, or a file beside it, could be read only in part");
                        done().incomplete.push(source.path.to_string());
                    }
                    take(source);
                }
                Err(error) => {
                    warn!(path = ?found.path, %error, "cannot scan a log");
                    done().problems.push(Problem { path: found.path.clone(), error });
                }
            }
        }
    };
    std::thread::scope(|scope| {
        // One worker is this thread.
        for _ in 1..options.threads.clamp(1, order.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut outcome = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Threads finish in any order; the report has to be the same each time.
    outcome.problems.sort_by(|a, b| a.path.cmp(&b.path));
    let bytes = progress.bytes.load(Ordering::Relaxed);
    debug!(sources = order.len(), failed = outcome.problems.len(), bytes, took = ?start.elapsed(), "scanned logs");
    outcome
}

/// A source, whether nothing kept it from being read whole, and about how many bytes were kept of it.
fn source(
    found: &FoundSource,
    options: &Options,
    buffer: &mut Buffer,
    turns: &Turns,
    progress: &Progress,
) -> io::Result<(Source, bool, usize)> {
    let input = open(&found.path, |file| CountingReader { input: file, progress })?;
    // Rows do not pass through the counting reader, which counts bytes of files.
    if let Input::Rows(_) = input {
        progress.bytes.fetch_add(found.size, Ordering::Relaxed);
    }
    let mut reader = read_lines(&found.path, input, found.size, options, buffer, turns);
    if found.alone {
        reader.title(&found.path);
    } else {
        reader.sidecars(&found.path);
    }
    let (whole, kept) = (!reader.disturbed, reader.assembler.kept());
    let summary = reader.assembler.finish();
    // One event for a source, never for a line: the loop over lines is what a scan spends its time in.
    trace!(path = ?found.path, agent = summary.agent, bytes = found.size, issues = summary.issues.len(), "scanned a log");
    Ok((Source { path: spelled(&found.path).into(), modified: found.written(), summary }, whole, kept))
}

/// A path as text. What is no text is spelled out, so that two paths never look the same.
pub fn spelled(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    let mut out = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    out
}

/// Reads one source from anything; the path says what it is, nothing there is opened.
pub fn read(path: &Path, input: impl Read, options: &Options, buffer: &mut Buffer, turns: &Turns) -> Summary {
    read_lines(path, input, 0, options, buffer, turns).assembler.finish()
}

fn read_lines(path: &Path, input: impl Read, size: u64, options: &Options, buffer: &mut Buffer, turns: &Turns) -> LogReader {
    let mut lines = Lines::new(limited(input, options), buffer, turns, options.max_line);
    let (mut reader, document) = LogReader::begin(path, lines.peek(), options);
    reader.assembler.expect(size);
    if document {
        reader.whole(&mut lines, options);
        return reader;
    }
    let mut alone = None;
    loop {
        match lines.next_line() {
            Ok(Some(line)) => {
                if alone.is_none() && reader.assembler.is_large() {
                    // Released when the source is read. The others wait with what they have, which is little.
                    alone = Some(LARGE.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
                }
                if let Some(reached) = reader.limit_before(&line) {
                    reader.stopped(&reached);
                    reader.assembler.read(reached.start);
                    return reader;
                }
                reader.line(line);
            }
            Ok(None) => break,
            Err(error) => {
                reader.failed(&error);
                break;
            }
        }
    }
    reader.assembler.read(lines.bytes());
    reader
}

/// An input up to the limit on what is read of a log, and one byte more, which shows that there is more.
pub(crate) fn limited<R: Read>(input: R, options: &Options) -> io::Take<R> {
    input.take(options.max_log.saturating_add(1))
}

/// Which agent wrote a log, by its first lines.
pub fn sniff(head: &[u8]) -> Option<&'static dyn Format> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    for line in head.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        for format in FORMATS {
            if format.sniff(line) == Some(true) {
                return Some(*format);
            }
        }
    }
    None
}

/// The limit up to which a source was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReachedLimit {
    limit: LimitKind,
    /// The first line that was not taken, and its offset.
    line: u64,
    pub(crate) start: u64,
}

/// A limit on sources, in bytes.
#[derive(Clone, Copy, Debug)]
enum LimitKind {
    /// On what is kept of one.
    Kept(usize),
    /// On the length.
    Length(u64),
}

/// Feeds lines to an assembler. Live reading is the same reader kept alive ([`crate::follow`]).
#[derive(Clone, Debug)]
pub struct LogReader {
    path: PathBuf,
    format: Option<&'static dyn Format>,
    assembler: Assembler,
    check_utf8: bool,
    /// Whether its lines are rows of a database.
    rows: bool,
    /// Whether the system kept a part of it from being read, so that reading it again may find more.
    disturbed: bool,
    /// The most that is read, and that is kept.
    max_log: u64,
    max_kept: usize,
}

impl std::fmt::Debug for dyn Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.agent())
    }
}

impl LogReader {
    /// A reader at the beginning of a source.
    pub fn new(format: Option<&'static dyn Format>, path: &Path) -> Self {
        let origin = format.map_or_else(SourceOrigin::default, |format| format.origin(path));
        LogReader {
            path: path.to_owned(),
            format,
            assembler: Assembler::new(origin),
            check_utf8: false,
            rows: part_of(path).is_some(),
            disturbed: false,
            max_log: u64::MAX,
            max_kept: usize::MAX,
        }
    }

    /// A reader for a source that begins like this, and whether that is one document.
    pub(crate) fn begin(path: &Path, head: &[u8], options: &Options) -> (Self, bool) {
        let document = FORMATS.iter().find(|format| format.is_document(head)).copied();
        let mut reader = LogReader::new(document.or_else(|| sniff(head)), path);
        reader.assembler.limit(options.max_kept);
        let Options { check_utf8, max_log, max_kept, .. } = *options;
        (LogReader { check_utf8, max_log, max_kept, ..reader }, document.is_some())
    }

    /// The limit that keeps a line and everything behind it from being read.
    pub(crate) fn limit_before(&self, line: &LogLine<'_>) -> Option<ReachedLimit> {
        let limit = if self.assembler.is_full() {
            LimitKind::Kept(self.max_kept)
        } else if line.start + line.length > self.max_log {
            LimitKind::Length(self.max_log)
        } else {
            return None;
        };
        Some(ReachedLimit { limit, line: line.number, start: line.start })
    }

    /// Reports that the source was read up to a limit.
    pub(crate) fn stopped(&mut self, ReachedLimit { limit, line, .. }: &ReachedLimit) {
        // A source that is one document has records in place of lines, and the one at which reading stopped is not known.
        let place = if *line > 0 { format!("line {line}") } else { "there".to_owned() };
        let text = match limit {
            LimitKind::Kept(most) => {
                format!("holds more than fits into {} MB of memory; read up to {place} (--max-kept)", most >> 20)
            }
            LimitKind::Length(most) => format!("is longer than {} MB; read up to {place} (--max-log)", most >> 20),
        };
        self.assembler.issue(IssueCode::LogLimit, *line, text);
    }

    /// Reads the small files beside the log that say more about it.
    pub fn sidecars(&mut self, path: &Path) {
        for path in self.format.map(|format| format.sidecars(path)).unwrap_or_default() {
            match small(&path, SIDECAR) {
                Ok(Some(bytes)) => self.sidecar(&path, &bytes),
                Ok(None) => {}
                Err(_) => self.disturbed = true,
            }
        }
        self.title(path);
    }

    /// Takes the title that the agent keeps elsewhere for the session of this log.
    pub(crate) fn title(&mut self, path: &Path) {
        let Some((session, SessionTitle { by, title })) = self.format.and_then(|format| titles::of(format, path)) else { return };
        let fact = Fact::Meta(Meta::SessionTitle { session: session.into(), by, title: title.into() });
        self.assembler.push(Event { at: At::default(), time: None, scope: &Scope::default(), fact });
    }

    /// Takes what a small file beside the log says.
    pub(crate) fn sidecar(&mut self, path: &Path, bytes: &[u8]) {
        let assembler = &mut self.assembler;
        if let Some(format) = self.format {
            format.decode_sidecar(path, bytes, &mut |event| assembler.push(event));
        }
    }

    /// The summary of the source so far.
    pub fn summary(&self) -> Summary {
        self.assembler.summary()
    }

    /// The summary once the source has been read to its end, after this many bytes.
    pub(crate) fn finish(mut self, bytes: u64) -> Summary {
        self.assembler.read(bytes);
        self.assembler.finish()
    }

    /// The format of the log, as far as it is known.
    pub fn format(&self) -> Option<&'static dyn Format> {
        self.format
    }

    /// Reports that the source could not be read to its end.
    pub(crate) fn failed(&mut self, error: &io::Error) {
        // Any other error is one of the content, such as a torn compressed file, which is the same at every attempt.
        self.disturbed |= self.rows || error.raw_os_error().is_some();
        self.assembler.issue(IssueCode::ReadError, 0, format!("could not be read to its end: {error}"));
    }

    /// Takes all of a source that is one document.
    pub(crate) fn whole(&mut self, lines: &mut Lines<'_, impl Read>, options: &Options) {
        match (self.format, lines.whole()) {
            (Some(format), Some(bytes)) => self.document(format, bytes),
            _ => {
                let text = format!("a document of more than {} bytes; not read", options.max_line);
                self.assembler.issue(IssueCode::OversizedLine, 1, text);
            }
        }
        if self.assembler.is_full() {
            self.stopped(&ReachedLimit { limit: LimitKind::Kept(self.max_kept), line: 0, start: 0 });
        }
        // The rest is read past, to know how much there was.
        loop {
            match lines.next_line() {
                Ok(Some(line)) if line.start + line.length > self.max_log => {
                    self.stopped(&ReachedLimit { limit: LimitKind::Length(self.max_log), line: 0, start: 0 });
                    break;
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    self.failed(&error);
                    break;
                }
            }
        }
        self.assembler.read(lines.bytes());
    }

    /// Takes a source that is one document. Its records are counted like lines.
    fn document(&mut self, format: &dyn Format, bytes: &[u8]) {
        let (records, whole) = format.document(bytes);
        let count = records.len() as u64;
        let at = |number: u64, range: &std::ops::Range<usize>| At {
            line: number,
            span: Span { start: range.start as u64, end: range.end as u64 },
        };
        for (number, range) in (1..).zip(records) {
            let at = at(number, &range);
            if self.record(Record { at, bytes: &bytes[range] }).is_err() {
                self.broken(at, IssueCode::UnparsedLine, 0);
            }
            if self.assembler.is_full() {
                return;
            }
        }
        if !whole {
            self.broken(at(count + 1, &(bytes.len()..bytes.len())), IssueCode::TornTail, 0);
        }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: LogLine<'_>) {
        // Before anything can fail: the row of a damaged line has to be known as well, to name it.
        if self.rows {
            self.assembler.row(&row_of(line.bytes));
        }
        let at = At { line: line.number, span: Span { start: line.start, end: line.start + line.length } };
        if line.oversized() {
            self.broken(at, IssueCode::OversizedLine, 0);
            // The part that was read may still name the call whose result is lost.
            return self.damaged(at, line.bytes);
        }
        let mut bytes = line.bytes;
        let mut start = line.start;
        if line.number == 1
            && let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf")
        {
            (bytes, start) = (rest, start + 3);
            self.assembler.issue(IssueCode::ByteOrderMark, 1, "the file begins with a byte order mark");
        }
        if bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            // `\r` alone is an empty line of a file with Windows line ends.
            return self.assembler.blank();
        }
        if self.format.is_none() {
            self.recognise(bytes);
        }
        if self.check_utf8 && std::str::from_utf8(bytes).is_err() {
            self.assembler.issue(IssueCode::InvalidUtf8, line.number, "bytes that are not UTF-8; they read as U+FFFD");
        }
        let at = At { line: line.number, span: Span { start, end: line.start + line.length } };
        match self.record(Record { at, bytes }) {
            Ok(depth) if depth > DEEP => {
                self.assembler.issue(IssueCode::DeepNesting, line.number, format!("nested more than {DEEP} deep"));
            }
            Ok(_) => {}
            Err(_) => self.mend(at, bytes, line.ended),
        }
    }

    /// Recognises a log whose first lines were not enough, or too long, by a later line.
    fn recognise(&mut self, line: &[u8]) {
        if let Some(format) = sniff(line) {
            self.format = Some(format);
            self.assembler.recognised(format.origin(&self.path));
        }
    }

    fn record(&mut self, record: Record<'_>) -> Result<usize, Torn> {
        let assembler = &mut self.assembler;
        match self.format {
            Some(format) => format.decode(record, &mut |event| assembler.push(event)),
            None => foreign(record, &mut |event| assembler.push(event)),
        }
    }

    fn decodes(&self, record: Record<'_>) -> bool {
        match self.format {
            Some(format) => format.decode(record, &mut |_| {}).is_ok(),
            None => foreign(record, &mut |_| {}).is_ok(),
        }
    }

    /// Takes what can be taken from a line that is not one record.
    fn mend(&mut self, at: At, bytes: &[u8], ended: bool) {
        let stands_alone = |record: &[u8]| self.format.is_none_or(|format| format.is_whole_record(record));
        let mut records = mend::whole_records(bytes, stands_alone);
        // Checked before they are counted: a whole object that the format refuses was not recovered.
        records.retain(|range| self.decodes(Record { at, bytes: &bytes[range.clone()] }));
        let code = if !records.is_empty() {
            IssueCode::GluedRecords
        } else if bytes.iter().all(|byte| matches!(byte, 0 | b' ' | b'\t' | b'\r')) {
            IssueCode::NulLine
        } else if !ended {
            IssueCode::TornTail
        } else {
            IssueCode::UnparsedLine
        };
        self.broken(at, code, records.len());
        for range in records {
            let start = at.span.start + range.start as u64;
            let at = At { line: at.line, span: Span { start, end: start + range.len() as u64 } };
            // They have been decoded once already, so this cannot fail.
            let _ = self.record(Record { at, bytes: &bytes[range] });
        }
        // The call may stand on the same line as the damage.
        self.damaged(at, bytes);
    }

    fn broken(&mut self, at: At, why: IssueCode, recovered: usize) {
        let fact = Fact::Broken(Broken { why, recovered: u32::try_from(recovered).unwrap_or(u32::MAX) });
        self.assembler.push(Event { at, time: None, scope: &Scope::default(), fact });
    }

    /// Reports the calls whose results a damaged line seems to hold.
    fn damaged(&mut self, at: At, bytes: &[u8]) {
        for call in self.format.map(|format| format.mentions(bytes)).unwrap_or_default() {
            self.assembler.push(Event { at, time: None, scope: &Scope::default(), fact: Fact::Damaged(call) });
        }
    }
}

/// A line of a file that is no agent's log: counted by its type, nothing more.
fn foreign(record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn> {
    let mut skim = Skim::new(record.bytes);
    if skim.peek() != Some(Type::Object) {
        return Err(Torn { at: skim.position() });
    }
    let mut name = None;
    skim.object(|key, value| {
        if key.as_bytes() == b"type" {
            name = value.string().map(|raw| raw.text());
        }
        Ok(())
    })?;
    if !skim.finished() {
        // Text behind the object: two records glued together, which `mend` takes apart.
        return Err(Torn { at: skim.position() });
    }
    let name = name.unwrap_or(std::borrow::Cow::Borrowed("?"));
    out(Event { at: record.at, time: None, scope: &Scope::default(), fact: Fact::Record { name, known: true } });
    Ok(skim.deepest())
}

/// Counts what is read.
struct CountingReader<'p, R> {
    input: R,
    progress: &'p Progress,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(out)?;
        self.progress.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
