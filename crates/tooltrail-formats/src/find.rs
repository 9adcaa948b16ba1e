//! Finding logs: in the agents' own places, or wherever the user points.
//!
//! A log that was deleted is found among the kept copies. While it is in its own place, its copy is only listed.

use crate::database::{self, PrivateCopy, SessionPart};
use crate::disk::first_bytes;
use crate::listing::Listing;
use crate::{FORMATS, Places, Registered, mirror, titles};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use tooltrail_model::visible::neutral_path;
use tooltrail_model::{Summary, Time};
use tracing::{debug, warn};

/// A source that may be a log: a file, or one session of a database.
#[derive(Clone, Debug, Eq)]
pub struct FoundSource {
    /// Its address: the path, as the user gave it or absolute, followed by the session where the file is a database
    /// ([`tooltrail_model::position::part_address`]). Everything else takes it as it is; only opening takes it apart.
    pub path: PathBuf,
    /// Its size; for a session of a database that of its data.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    /// A number that differs once a source was replaced, or written to and given its old time; zero where nothing can show that.
    pub identity: u64,
    /// Whether a listing of the directories showed that no small file beside it says more about it.
    pub alone: bool,
}

/// Whether both are the same file, written at the same time. What is known of its neighbours is no part of that.
impl PartialEq for FoundSource {
    fn eq(&self, other: &Self) -> bool {
        let file = |found: &FoundSource| (found.size, found.modified, found.identity);
        self.path == other.path && file(self) == file(other)
    }
}

impl FoundSource {
    /// When it was last written, as the model has it.
    pub fn written(&self) -> Option<Time> {
        self.modified.and_then(|time| jiff::Timestamp::try_from(time).ok()).map(Time::from)
    }
}

/// A kept copy of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCopy {
    /// The copy. It has the time of the log.
    pub copy: FoundSource,
    /// The path of the log, whether or not it still exists.
    pub original: PathBuf,
}

/// The outcome of a search: files that may be logs, and problems on the way.
#[derive(Debug, Default)]
pub struct Search {
    /// Files that may be logs, by path, each once. Of logs that are gone these are the kept copies.
    pub files: Vec<FoundSource>,
    /// The kept copies of logs, whether or not these are gone.
    pub kept: Vec<KeptCopy>,
    /// Directories and files that could not be read.
    pub problems: Vec<Problem>,
    /// The directories that were looked into.
    pub looked: Vec<PathBuf>,
    /// Private copies of databases that cannot be read where they are, kept for as long as what was found may be read.
    pub copies: Vec<Arc<PrivateCopy>>,
    /// What else is in the directories.
    pub listing: Listing,
}

/// Something that could not be read. The rest was.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`", neutral_path(path))]
pub struct Problem {
    /// The file or directory.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub error: std::io::Error,
}

/// A log that was read up to a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` {text}")]
pub struct LimitedLog {
    /// Its address.
    pub path: String,
    /// What it has more of than is read, and which option says so.
    pub text: String,
}

impl LimitedLog {
    /// The log, if it was read up to a limit.
    pub fn of(path: &str, summary: &Summary) -> Option<Self> {
        summary.limit().map(|text| LimitedLog { path: path.to_owned(), text: text.to_owned() })
    }
}

/// Looks into the agents' own places.
pub fn in_places(places: &[Places]) -> Search {
    let mut search = Search::default();
    for places in places {
        for format in FORMATS {
            for root in format.roots(places) {
                match fs::metadata(&root) {
                    Ok(meta) if meta.is_dir() => search.walk(&root, format.is_deep()),
                    // A place may be one file, such as a database that a variable names.
                    Ok(meta) => search.file(root.clone(), &meta),
                    // Most people use one agent, so a place that does not exist is no problem to report.
                    Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                    Err(error) => search.problems.push(Problem { path: root.clone(), error }),
                }
                // Two agents, or two homes, may name the same root.
                if !search.looked.contains(&root) {
                    if let Some(kept) = &places.kept {
                        search.walk_kept(kept, &root, format.is_deep());
                    }
                    search.looked.push(root);
                }
            }
        }
    }
    search.tidy()
}

/// Looks at paths that the user named: files, and directories to any depth.
pub fn in_paths(paths: &[PathBuf]) -> Search {
    let mut search = Search::default();
    for path in paths {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => search.walk(path, true),
            // Named by hand or not, a key file is never opened: its text would end up in an index.
            Ok(_) if is_secret(path) => {
                let error = std::io::Error::other("it holds keys and is never opened");
                search.problems.push(Problem { path: path.clone(), error });
            }
            Ok(meta) => {
                search.file(path.clone(), &meta);
                // A log brings what lies beside it: its subagents.
                for side in FORMATS.iter().filter_map(|format| format.side_directory(path)) {
                    if fs::symlink_metadata(&side).is_ok_and(|meta| meta.is_dir()) {
                        search.walk(&side, true);
                    }
                }
            }
            // Only where no file has this name: a path may contain the separator of an address itself.
            Err(_) if database::part_of(path).is_some() => match database::session(path) {
                Ok(part) => search.files.push(part.into()),
                Err(error) => search.problems.push(Problem { path: path.clone(), error }),
            },
            Err(error) => search.problems.push(Problem { path: path.clone(), error }),
        }
        search.looked.push(path.clone());
    }
    // One path may reach into another, or spell the same file in another way.
    if paths.len() > 1 {
        // Canonicalised only here: for the agents' own roots it would cost a system call per log and find nothing.
        let mut seen = BTreeSet::new();
        search.files.retain(|found| fs::canonicalize(&found.path).map_or(true, |real| seen.insert(real)));
    }
    search.tidy()
}

/// The most logs that are read: more than anybody has, and what each of them takes fits into memory.
pub const MAX_LOGS: usize = 50_000;

impl Search {
    /// Keeps the newest logs, if there are too many, and says where the others are. What is already known of these stays known.
    pub fn limit(mut self, most: usize) -> Self {
        if self.files.len() <= most {
            return self;
        }
        let all = self.files.len();
        self.files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
        let left = self.files.split_off(most);
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        for root in &self.looked {
            let count = left.iter().filter(|found| found.path.starts_with(root)).count();
            if count > 0 {
                let text = format!("only the newest {most} of {all} logs are read, without {count} here (--max-logs)");
                self.problems.push(Problem { path: root.clone(), error: std::io::Error::other(text) });
            }
        }
        self
    }

    fn tidy(mut self) -> Self {
        // Copies of deleted logs come first, so that the steps below treat them like logs.
        let gone = self.gone();
        self.files.extend(gone);
        // Paths are compared part by part. Each is split once, because there are many more comparisons than files.
        self.files.sort_by_cached_key(|found| parts(&found.path));
        self.files.dedup_by(|a, b| a.path == b.path);
        self.drop_twins();
        titles::mark(&mut self.files);
        let listing = std::mem::take(&mut self.listing);
        for found in &mut self.files {
            let places = || FORMATS.iter().flat_map(|format| format.sidecar_places(&found.path));
            found.alone = found.alone || places().all(|path| listing.lacks(&path));
        }
        for problem in &self.problems {
            warn!(path = ?problem.path, error = %problem.error, "cannot look here for logs");
        }
        debug!(files = self.files.len(), kept = self.kept.len(), looked = self.looked.len(), "found logs");
        self
    }

    /// The copies of logs that are not there any more, in no form.
    fn gone(&self) -> Vec<FoundSource> {
        // Spelled alike where they are the same, so the letters are compared, which is quicker than the parts of the paths.
        let there: HashSet<&OsStr> = self.files.iter().map(|found| found.path.as_os_str()).collect();
        let mut gone: Vec<&KeptCopy> = self.kept.iter().filter(|kept| !there.contains(kept.original.as_os_str())).collect();
        if !gone.is_empty() {
            // Looked up only if something is missing: `twin` builds a path for every file.
            let forms: BTreeSet<PathBuf> = self.files.iter().filter_map(|found| twin(&found.path)).map(|(form, _)| form).collect();
            gone.retain(|kept| twin(&kept.original).is_none_or(|(form, _)| !forms.contains(&form)));
        }
        gone.into_iter().map(|kept| kept.copy.clone()).collect()
    }

    /// Keeps one of several forms of the same log.
    fn drop_twins(&mut self) {
        let forms: Vec<Option<(PathBuf, u8)>> = self.files.iter().map(|found| twin(&found.path)).collect();
        // The letters are compared here as well.
        let mut best: HashMap<&OsStr, u8> = HashMap::new();
        for (key, rank) in forms.iter().flatten() {
            let held = best.entry(key.as_os_str()).or_insert(*rank);
            *held = (*held).min(*rank);
        }
        // `retain` asks about the files in their order.
        let mut forms = forms.iter();
        self.files.retain(|_| forms.next().and_then(Option::as_ref).is_none_or(|(key, rank)| best.get(key.as_os_str()) == Some(rank)));
    }

    fn file(&mut self, path: PathBuf, meta: &fs::Metadata) {
        if meta.is_file() && database::is_database_name(&path) {
            self.database(path);
        } else if meta.is_file() {
            self.files.push(FoundSource { path, size: meta.len(), modified: meta.modified().ok(), identity: identity(meta), alone: false });
        }
    }

    /// Adds the sessions of a database. One that no agent wrote holds none.
    fn database(&mut self, path: PathBuf) {
        match database::sessions(&path) {
            Ok(Some(list)) => {
                self.files.extend(list.parts.into_iter().map(FoundSource::from));
                self.copies.extend(list.copy);
            }
            Ok(None) => {}
            Err(error) => self.problems.push(Problem { path, error }),
        }
    }

    /// Walks the kept copies of a directory's logs.
    fn walk_kept(&mut self, kept: &Path, root: &Path, deep: bool) {
        // Nothing is kept of this root yet.
        let Some(place) = mirror::place(kept, root).filter(|place| place.is_dir()) else { return };
        let own = self.files.len();
        self.walk(&place, deep);
        // The walk put the copies among the logs; they are moved to the list of copies, from which only those of deleted logs come back.
        for copy in self.files.split_off(own) {
            if let Ok(path) = copy.path.strip_prefix(&place) {
                let original = mirror::source(&root.join(path));
                self.kept.push(KeptCopy { copy, original });
            }
        }
    }

    /// Walks a directory, and if it is deep also what is below it, hidden directories too. Links are not followed.
    fn walk(&mut self, root: &Path, deep: bool) {
        // A list instead of recursion: a hostile tree may be deeper than the stack.
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            let entries = match fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) => {
                    self.problems.push(Problem { path: directory, error });
                    continue;
                }
            };
            let mut whole = true;
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    // What else is there cannot be told.
                    Err(error) => {
                        self.problems.push(Problem { path: directory.clone(), error });
                        whole = false;
                        break;
                    }
                };
                let path = entry.path();
                // The type comes from the directory entry, so links are neither followed nor opened.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => {
                        self.listing.other(&path, true);
                        if deep && !is_foreign(&path) {
                            open.push(path);
                        }
                    }
                    Ok(kind) if kind.is_file() && is_log_name(&path) && !is_foreign(&path) => {
                        // A file beside a log may have the name of one.
                        self.listing.other(&path, false);
                        match entry.metadata() {
                            Ok(meta) => self.file(path, &meta),
                            Err(error) => self.problems.push(Problem { path, error }),
                        }
                    }
                    _ => self.listing.other(&path, false),
                }
            }
            if whole {
                self.listing.whole(directory);
            }
        }
    }
}

impl From<SessionPart> for FoundSource {
    fn from(part: SessionPart) -> Self {
        FoundSource { path: part.address, size: part.size, modified: part.modified, identity: part.identity, alone: true }
    }
}

/// The sources at a path as they are now: one for a file, one for each session of a database. SQLite's write-ahead log stands for its
/// database, and an address for the source that it names. Empty if nothing is there.
pub fn at(path: &Path) -> Vec<FoundSource> {
    if database::part_of(path).is_some() && !path.exists() {
        return database::session(path).ok().map(FoundSource::from).into_iter().collect();
    }
    // SQLite reports writes to `x.db-wal`; the source is `x.db`.
    let path = path.to_str().and_then(|path| path.strip_suffix("-wal")).map_or(path, Path::new);
    let mut search = Search::default();
    if let Ok(meta) = fs::symlink_metadata(path) {
        search.file(path.to_owned(), &meta);
    }
    titles::mark(&mut search.files);
    search.files
}

/// The file that a source is read from. All sessions of a database share it, so one check of the file covers them.
pub fn file_of(address: &Path) -> PathBuf {
    database::part_of(address).map_or_else(|| address.to_owned(), |(file, _)| file)
}

/// The key that all forms of a log share, and the rank of this form; lower ranks win.
fn twin(path: &Path) -> Option<(PathBuf, u8)> {
    FORMATS.iter().find_map(|format| format.twin(path))
}

/// A key that orders paths as [`Path::cmp`] does.
fn parts(path: &Path) -> Vec<u8> {
    let mut key = Vec::with_capacity(path.as_os_str().len() + 8);
    for part in path.components() {
        let (rank, letters) = match part {
            // Drives are equal in either case.
            Component::Prefix(drive) => (1, drive.as_os_str().to_ascii_lowercase()),
            Component::RootDir => (2, OsString::new()),
            Component::CurDir => (3, OsString::new()),
            Component::ParentDir => (4, OsString::new()),
            Component::Normal(name) => {
                key.push(5);
                key.extend_from_slice(name.as_encoded_bytes());
                // No name contains it, and a name comes before those that it begins.
                key.push(0);
                continue;
            }
        };
        key.push(rank);
        key.extend_from_slice(letters.as_encoded_bytes());
    }
    key
}

/// A number for a file's place on the disk and the last change of anything about it.
pub fn identity(meta: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (device, number) = place(meta);
        let parts = [device, number, meta.ctime().cast_unsigned(), meta.ctime_nsec().cast_unsigned()];
        // Mixed, because the parts are small numbers that differ little.
        parts.into_iter().fold(1, |all: u64, part| (all ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
    }
    #[cfg(not(unix))]
    {
        // Without inodes only the time of creation is left to tell files apart.
        place(meta).1
    }
}

/// Device and inode (elsewhere the creation time): they stay while a file is written to and change when it is replaced.
pub(crate) fn place(meta: &fs::Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (meta.dev(), meta.ino())
    }
    #[cfg(not(unix))]
    {
        let since = meta.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        (0, since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// Whether a file in a directory may be a log, by its name.
pub fn is_log_name(path: &Path) -> bool {
    let Some(name) = path.file_name().map(OsStr::to_string_lossy) else { return false };
    name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") || FORMATS.iter().any(|format| format.is_log_name(path))
}

/// Whether a directory or file is known to hold no log, although its name would fit.
pub fn is_foreign(path: &Path) -> bool {
    FORMATS.iter().any(|format| format.is_foreign(path))
}

/// Whether an event on a file may concern a log, by its name. Writes to a database show in its write-ahead log first.
pub fn concerns_log(path: &Path) -> bool {
    (is_log_name(path) && !is_foreign(path))
        || path.to_str().and_then(|path| path.strip_suffix("-wal")).is_some_and(|path| is_log_name(Path::new(path)))
}

/// Files that lie beside logs and hold an agent's keys.
fn is_secret(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "auth.json")
}

/// The sessions that agents list as running.
pub fn registered(places: &[Places]) -> Vec<Registered> {
    let mut files = BTreeSet::new();
    let mut found = Vec::new();
    for places in places {
        for format in FORMATS {
            for path in format.registry(places) {
                // Several homes may share a registry; each entry is read once.
                if files.insert(path.clone()) {
                    found.extend(read_small(&path, 64 * 1024).and_then(|bytes| format.registered(&bytes)));
                }
            }
        }
    }
    found
}

/// The bytes of a small ordinary file; nothing if it is large, no file, or not there. Of a kept copy, those of the file itself.
pub fn read_small(path: &Path, limit: u64) -> Option<Vec<u8>> {
    small(path, limit).ok().flatten()
}

/// The bytes of a small file like [`read_small`], which takes an error for a file that is not there.
pub(crate) fn small(path: &Path, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    // `symlink_metadata`: a link may lead to a device or a pipe, which would never end.
    let Some(meta) = fs::symlink_metadata(path).ok().filter(|meta| meta.is_file() && meta.len() <= limit) else { return Ok(None) };
    let read = first_bytes(path, &meta, limit).inspect_err(|error| warn!(?path, %error, "cannot read a file beside the logs"));
    match read {
        Ok((bytes, size)) => Ok((size <= limit).then_some(bytes)),
        // Deleted a moment ago, or no kept copy, as at every other attempt.
        Err(error) if error.raw_os_error().is_none() || error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
