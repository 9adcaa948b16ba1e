//! From arguments to linked logs: which logs to read, from the catalogue or from disk, and the current time.

use crate::catalogue::{self, Ready};
use crate::cli::LogArgs;
use crate::refs::Reference;
use crate::{demo, directories, keeping, out, progress};
use anyhow::{Context, bail};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::library::{Library, StoredLibrary};
use tooltrail_catalog::matching::MatchContext;
use tooltrail_catalog::parts::ScannedParts;
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::find::{self, LimitedLog, Problem, Search};
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::{Places, Registered, load};
use tooltrail_model::Time;
use tooltrail_model::link::{Linked, Linker, Now};
use tooltrail_model::row::CallRow;
use tooltrail_model::summary::CallRecord;
use tooltrail_model::visible::neutral_path;
use tracing::debug;

/// Logs that have been read.
pub(crate) struct Logs {
    /// Their content. Never dropped: the process ends right after printing, and freeing all of it would only cost time.
    pub(crate) linker: ManuallyDrop<Linker>,
    /// The current time, with the sessions that run.
    pub(crate) now: Now,
    /// Directories that were searched.
    pub(crate) looked: Vec<PathBuf>,
    /// Duration of reading.
    pub(crate) took: std::time::Duration,
    /// Whether they come from the catalogue.
    pub(crate) is_stored: bool,
    disk: Box<dyn ReadLogs>,
    threads: usize,
    keep: Option<Keep>,
    /// Whether a log could not be read.
    unread: bool,
}

/// Opens the logs that the arguments name: from the catalogue, or from disk if paths are named.
pub(crate) fn open(args: &LogArgs, paths: &[PathBuf]) -> anyhow::Result<Logs> {
    match if_stored(args, paths)? {
        Some(ready) => {
            let linker = ready.library.whole()?;
            Ok(Logs::stored(ready, linker))
        }
        None => read(args, paths, false),
    }
}

/// Opens the logs that a REF needs.
pub(crate) fn open_for(args: &LogArgs, wanted: &Reference) -> anyhow::Result<Logs> {
    let Some(ready) = if_stored(args, &wanted.paths())? else {
        return read(args, &wanted.paths(), false);
    };
    // The catalogue knows which bundle of logs a name is in. Only an unknown name needs all logs, for an error that is certain.
    let linker = match wanted.bundle(&ready)? {
        Some(bundle) => Arc::unwrap_or_clone(ready.library.open(bundle)?),
        None => ready.library.whole()?,
    };
    Ok(Logs::stored(ready, linker))
}

/// The catalogue, unless paths are named: it covers only the agents' own places.
pub(crate) fn if_stored(args: &LogArgs, paths: &[PathBuf]) -> anyhow::Result<Option<Ready>> {
    if paths.is_empty() { catalogue::if_wanted(args) } else { Ok(None) }
}

/// Reads the logs that the arguments name.
pub(crate) fn read(args: &LogArgs, paths: &[PathBuf], check_utf8: bool) -> anyhow::Result<Logs> {
    let start = std::time::Instant::now();
    let time = asked_at(args);
    let options = args.options(check_utf8);
    args.refuse_both(paths)?;
    if args.demo {
        let (linker, live) = demo::read(&options);
        let now = now(args, time, live);
        return Ok(Logs {
            linker: ManuallyDrop::new(linker),
            now,
            looked: Vec::new(),
            took: start.elapsed(),
            is_stored: false,
            disk: Box::new(demo::DemoLogs),
            threads: options.threads,
            keep: None,
            unread: false,
        });
    }
    let places = places(args)?;
    let (linker, looked, unread) = scan_files(find_logs(args, paths, &places), &options);
    Ok(Logs {
        linker: ManuallyDrop::new(linker),
        now: now(args, time, registered(&places)),
        looked,
        took: start.elapsed(),
        is_stored: false,
        disk: Box::new(Disk::default()),
        threads: options.threads,
        keep: keeping::keep(args),
        unread,
    })
}

/// The logs that the arguments name.
fn find_logs(args: &LogArgs, paths: &[PathBuf], places: &[Places]) -> Search {
    let search = if paths.is_empty() { find::in_places(places) } else { find::in_paths(&expanded(paths)) };
    search.limit(args.max_logs)
}

/// Logs that are linked one part after the other, for sums over all of them.
pub(crate) struct PartedLogs {
    /// Everything but their content.
    pub(crate) logs: Logs,
    content: PartedContent,
}

/// The content of logs that are linked in parts.
enum PartedContent {
    Stored(Box<StoredLibrary>),
    Read(ScannedParts),
}

/// Opens the logs that the arguments name, to be linked in parts.
pub(crate) fn open_parts(args: &LogArgs, paths: &[PathBuf]) -> anyhow::Result<PartedLogs> {
    if let Some(Ready { now, looked, took, threads, library, unread }) = if_stored(args, paths)? {
        let (disk, keep) = (Box::new(Disk::default()), library.keep().cloned());
        let linker = ManuallyDrop::new(Linker::default());
        let logs = Logs { linker, now, looked, took, is_stored: true, disk, threads, keep, unread };
        return Ok(PartedLogs { logs, content: PartedContent::Stored(Box::new(library)) });
    }
    args.refuse_both(paths)?;
    if args.demo {
        // Few logs.
        let mut logs = read(args, paths, false)?;
        let content = PartedContent::Read(ScannedParts::of(logs.take()));
        return Ok(PartedLogs { logs, content });
    }
    let (start, time, options) = (std::time::Instant::now(), asked_at(args), args.options(false));
    let places = places(args)?;
    let search = find_logs(args, paths, &places);
    let total = search.files.iter().map(|found| found.size).sum();
    let progress = Progress::default();
    let parts = progress::with_bar(total, &progress, || ScannedParts::scan(&search.files, &options, &progress));
    let unread = complain(&search, &parts.problems, &parts.limited);
    let logs = Logs {
        linker: ManuallyDrop::new(Linker::default()),
        now: now(args, time, registered(&places)),
        looked: search.looked,
        took: start.elapsed(),
        is_stored: false,
        disk: Box::new(Disk::default()),
        threads: options.threads,
        keep: keeping::keep(args),
        unread,
    };
    Ok(PartedLogs { logs, content: PartedContent::Read(parts) })
}

impl PartedLogs {
    /// Passes on all logs, linked one part after the other; returns whether any agent's log was among them. `named` says whether the names of
    /// sessions and the checkouts of worktrees matter.
    pub(crate) fn each(self, named: bool, mut take: impl FnMut(&Logs, &Linked<'_>)) -> anyhow::Result<(Logs, bool)> {
        let PartedLogs { logs, content } = self;
        let mut any = false;
        let mut part = |linked: &Linked<'_>| {
            any |= linked.sources.iter().any(|source| source.summary.agent.is_some());
            take(&logs, linked);
        };
        match content {
            PartedContent::Stored(library) => library.each_part(logs.threads, &mut part)?,
            PartedContent::Read(parts) => parts
                .each_part(logs.threads, named, &mut part)
                .map_err(|(path, error)| anyhow::Error::new(error).context(format!("cannot hold what was read of `{path}`")))?,
        }
        Ok((logs, any))
    }

    /// The catalogue, if the logs come from it.
    pub(crate) fn stored(&self) -> Option<&StoredLibrary> {
        match &self.content {
            PartedContent::Stored(library) => Some(library),
            PartedContent::Read(_) => None,
        }
    }
}

/// Places to search for logs according to the arguments.
pub(crate) fn places(args: &LogArgs) -> anyhow::Result<Vec<Places>> {
    let mut places = if args.root.is_empty() { vec![from_environment()] } else { rooted(&args.root)? };
    // Copies of deleted logs are read like the originals, so every place knows the directory of the keep.
    let kept = keeping::keep(args).map(|keep| keep.files());
    places.iter_mut().for_each(|places| places.kept.clone_from(&kept));
    Ok(places)
}

/// The current time, with the sessions that run in some places.
pub(crate) fn now_in(args: &LogArgs, places: &[Places]) -> Now {
    now(args, asked_at(args), registered(places))
}

/// The sessions that agents list as running, and whose process still exists.
fn registered(places: &[Places]) -> Vec<Registered> {
    find::registered(places).into_iter().filter(runs).collect()
}

impl Logs {
    fn stored(ready: Ready, linker: Linker) -> Self {
        let Ready { now, looked, took, threads, library, unread } = ready;
        let keep = library.keep().cloned();
        Logs {
            linker: ManuallyDrop::new(linker),
            now,
            looked,
            took,
            is_stored: true,
            disk: Box::new(Disk::default()),
            threads,
            keep,
            unread,
        }
    }

    /// Exit status of a command that has listed these logs.
    pub(crate) fn exit(&self) -> ExitCode {
        out::exit(self.unread)
    }

    /// The keep, with copies of deleted logs.
    pub(crate) fn keep(&self) -> Option<&Keep> {
        self.keep.as_ref()
    }

    /// Links the logs, on as many threads as they were read on.
    pub(crate) fn link(&self) -> Linked<'_> {
        let start = std::time::Instant::now();
        let linked = self.linker.link_on(self.threads);
        debug!(sources = linked.sources.len(), sessions = linked.sessions.len(), took = ?start.elapsed(), "linked logs");
        linked
    }

    /// Moves the content out, for code that works on one bundle at a time.
    pub(crate) fn take(&mut self) -> Linker {
        ManuallyDrop::into_inner(std::mem::replace(&mut self.linker, ManuallyDrop::new(Linker::default())))
    }

    /// True if any agent's log was read.
    pub(crate) fn any(&self) -> bool {
        self.linker.sources().any(|source| source.summary.agent.is_some())
    }

    /// Fails if nothing was read, with the list of searched directories.
    pub(crate) fn require_any(&self) -> anyhow::Result<()> {
        if self.any() { Ok(()) } else { self.none_found() }
    }

    /// Fails with the list of searched directories.
    pub(crate) fn none_found(&self) -> anyhow::Result<()> {
        bail!("no agent's logs found\n{}", where_to_look(&self.looked));
    }

    /// Completes a row from the record of its request.
    pub(crate) fn complete(&self, row: &mut CallRow<'_>, call: &CallRecord) {
        // A log that was rewritten since leaves the row without a title.
        let _ = load::complete_at(&*self.disk, row, call);
    }

    /// Number of threads to use.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Context for queries about the linked logs.
    pub(crate) fn asked<'a>(&'a self, linked: &'a Linked<'a>) -> MatchContext<'a> {
        MatchContext { linked, disk: self.disk(), now: &self.now, threads: self.threads, keep: self.keep() }
    }

    /// Source from which records are read again.
    pub(crate) fn disk(&self) -> &dyn ReadLogs {
        &*self.disk
    }
}

/// Searched directories, and advice, for the case that no logs were found.
pub(crate) fn where_to_look(looked: &[PathBuf]) -> String {
    let mut text = String::from("looked in:\n");
    for path in looked {
        text.push_str(&format!("  {}\n", neutral_path(path)));
    }
    text.push_str("name a log or a directory of logs, or use --root DIR with a directory laid out like a home directory;\n");
    text.push_str("`tooltrail --demo` shows sample sessions");
    text
}

/// The current time: the clock, `--now`, or the fixed time of the demo.
pub(crate) fn asked_at(args: &LogArgs) -> Time {
    args.now.unwrap_or_else(|| if args.demo { demo::now() } else { jiff::Timestamp::now().into() })
}

/// Reads logs; says of each that cannot be read why, and whether there was any.
fn scan_files(search: Search, options: &Options) -> (Linker, Vec<PathBuf>, bool) {
    let total = search.files.iter().map(|found| found.size).sum();
    let progress = Progress::default();
    let (linker, problems) = progress::with_bar(total, &progress, || scan::scan(&search.files, options, &progress));
    let limited: Vec<LimitedLog> = linker.sources().filter_map(|source| LimitedLog::of(&source.path, &source.summary)).collect();
    let unread = complain(&search, &problems, &limited);
    (linker, search.looked, unread)
}

/// Says of each log that could not be read, or not to its end, why; and whether there was any. After the progress bar is gone, which would
/// overwrite this.
fn complain(search: &Search, problems: &[Problem], limited: &[LimitedLog]) -> bool {
    for problem in search.problems.iter().chain(problems) {
        out::complain_of(problem);
    }
    for log in limited {
        out::complain(log);
    }
    !search.problems.is_empty() || !problems.is_empty() || !limited.is_empty()
}

fn now(args: &LogArgs, time: Time, live: Vec<Registered>) -> Now {
    let mut now = Now::at(time);
    now.patience = args.alive;
    for entry in live {
        now.live.insert(entry.session.into(), entry.live);
    }
    now
}

/// True if the process of a registered session exists; an entry outlives a crash.
fn runs(entry: &Registered) -> bool {
    let Some(pid) = entry.pid else { return true };
    // Without `/proc`, as on macOS, a process cannot be looked up this way, and the entry is believed.
    let processes = Path::new("/proc/self");
    !processes.exists() || Path::new(&format!("/proc/{pid}")).exists()
}

fn from_environment() -> Places {
    Places {
        home: directories::home(),
        environment: Places::variables().into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect(),
        kept: None,
    }
}

fn rooted(roots: &[PathBuf]) -> anyhow::Result<Vec<Places>> {
    // A typo in `--root` would otherwise look like a home without logs.
    for root in roots {
        let meta = std::fs::metadata(root).with_context(|| format!("cannot read `{}`", neutral_path(root)))?;
        if !meta.is_dir() {
            bail!("`{}` is not a directory; --root takes a directory laid out like a home directory", neutral_path(root));
        }
    }
    Ok(roots.iter().map(|root| Places { home: Some(root.clone()), ..Places::default() }).collect())
}

/// The paths with `~` expanded. The shell leaves it in quoted words, and in `FILE:LINE` evidence.
pub(crate) fn expanded(paths: &[PathBuf]) -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let expand = |path: &PathBuf| match (path.strip_prefix("~"), &home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.clone(),
    };
    paths.iter().map(expand).collect()
}
