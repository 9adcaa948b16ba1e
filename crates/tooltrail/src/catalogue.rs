//! The catalogue of this machine: the path of its file, how a command opens and refreshes it, and the parts of it that commands use.

use crate::cli::LogArgs;
use crate::machine::DemoMachine;
use crate::{directories, keeping, logs, out, progress};
use anyhow::{Context, bail};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::refresh::refresh;
use tooltrail_catalog::store::{Catalogue, SessionListing, file_name};
use tooltrail_formats::Places;
use tooltrail_formats::find::{self, MAX_LOGS};
use tooltrail_formats::scan::Progress;
use tooltrail_model::link::Now;
use tooltrail_model::row::SessionRow;
use tooltrail_server::Machine;
use tracing::warn;

/// An open catalogue that is up to date with the logs.
pub(crate) struct Ready {
    pub(crate) library: StoredLibrary,
    /// The current time, with the sessions that run.
    pub(crate) now: Now,
    /// Directories that were searched for logs.
    pub(crate) looked: Vec<PathBuf>,
    /// Duration of opening and refreshing.
    pub(crate) took: Duration,
    pub(crate) threads: usize,
    /// Whether a log could not be read.
    pub(crate) unread: bool,
}

/// The refreshed catalogue, unless the arguments exclude it. If it cannot be used, a remark says so and the caller reads the logs.
pub(crate) fn if_wanted(args: &LogArgs) -> anyhow::Result<Option<Ready>> {
    // Stored rows were read with the default limit; another limit may decode or skip other lines, so the logs have to be read.
    if args.demo || args.no_cache || !args.reads_as_stored() {
        return Ok(None);
    }
    // Wrong arguments are an error in both cases, so they are reported before the fallback can hide them.
    logs::places(args)?;
    match ready(args) {
        Ok(ready) => Ok(Some(ready)),
        Err(error) => {
            warn!(error = %format_args!("{error:#}"), "cannot use the index; reading the logs instead");
            out::remark(&format!("{error:#}; reading the logs instead (--no-cache always does)"));
            Ok(None)
        }
    }
}

/// Opens the catalogue of the places that the arguments name, and refreshes it.
pub(crate) fn ready(args: &LogArgs) -> anyhow::Result<Ready> {
    ready_with(args, &Progress::default())
}

/// Opens and refreshes the catalogue like [`ready`], and counts the bytes read in `progress`.
pub(crate) fn ready_with(args: &LogArgs, progress: &Progress) -> anyhow::Result<Ready> {
    if args.demo {
        bail!("the demo has no index; leave out --demo, or use `tooltrail calls --demo`");
    }
    if args.no_cache {
        bail!("this command reads the index; leave out --no-cache, or use `tooltrail calls --no-cache --json`");
    }
    let start = Instant::now();
    let places = logs::places(args)?;
    let search = find::in_places(&places).limit(MAX_LOGS);
    let mut catalogue = Catalogue::open(&file(args)?)?;
    let total = search.files.iter().map(|found| found.size).sum();
    let options = args.stored_options();
    let clock = jiff::Timestamp::now().into();
    let outcome = progress::with_bar(total, progress, || refresh(&mut catalogue, &search, &options, clock, progress))?;
    if let Some(recovery) = catalogue.take_recovery() {
        out::remark(&recovery);
    }
    // Unreadable logs are reported, but the catalogue of all others is still good.
    for problem in search.problems.iter().chain(&outcome.problems) {
        out::complain_of(problem);
    }
    for log in &outcome.limited {
        out::complain(log);
    }
    keeping::after_refresh(args, &search);
    let unread = !search.problems.is_empty() || !outcome.problems.is_empty() || !outcome.limited.is_empty();
    Ok(Ready {
        library: StoredLibrary::new(catalogue, keeping::keep(args)),
        now: logs::now_in(args, &places),
        looked: search.looked,
        took: start.elapsed(),
        threads: options.threads,
        unread,
    })
}

/// A catalogue of the demo, of named logs, or of everything where the stored one is not wanted. It is deleted with its directory.
pub(crate) fn temporary(args: &LogArgs, paths: &[PathBuf]) -> anyhow::Result<(Ready, TempDir)> {
    let start = Instant::now();
    args.refuse_both(paths)?;
    let place = tempfile::tempdir().context("cannot create a directory for a temporary index; set TMPDIR to another one")?;
    let (search, now) = if args.demo {
        let machine = DemoMachine::lay(&place.path().join("demo"), args).context("cannot create the demo")?;
        (machine.search(), machine.now())
    } else {
        let places = logs::places(args)?;
        let search = if paths.is_empty() { find::in_places(&places) } else { find::in_paths(&logs::expanded(paths)) };
        (search.limit(args.max_logs), logs::now_in(args, &places))
    };
    let mut catalogue = Catalogue::open(&place.path().join("index.db"))?;
    let (options, progress) = (args.options(false), Progress::default());
    let total = search.files.iter().map(|found| found.size).sum();
    let outcome = progress::with_bar(total, &progress, || refresh(&mut catalogue, &search, &options, now.time, &progress))?;
    search.problems.iter().chain(&outcome.problems).for_each(|problem| out::complain_of(problem));
    outcome.limited.iter().for_each(|log| out::complain(log));
    let unread = !search.problems.is_empty() || !outcome.problems.is_empty() || !outcome.limited.is_empty();
    let library = StoredLibrary::new(catalogue, None);
    let ready = Ready { library, now, looked: search.looked, took: start.elapsed(), threads: options.threads, unread };
    Ok((ready, place))
}

/// Path of the catalogue for the places that the arguments name, whether or not the file exists.
pub(crate) fn file(args: &LogArgs) -> anyhow::Result<PathBuf> {
    Ok(directories::cache()?.join(file_name(&whose(args))))
}

/// Directories that identify a catalogue: the roots or moved places of the logs; none for the agents' default places.
pub(crate) fn whose(args: &LogArgs) -> Vec<PathBuf> {
    if !args.root.is_empty() {
        return args.root.clone();
    }
    let elsewhere = Places::variables().into_iter().chain(["XDG_CACHE_HOME", "TOOLTRAIL_CACHE"]);
    let named: Vec<PathBuf> = elsewhere.filter_map(directories::variable).collect();
    // With moved directories the home matters too: one cache directory may hold the catalogues of several homes.
    if named.is_empty() { named } else { named.into_iter().chain(directories::home()).collect() }
}

impl Ready {
    /// Exit status of a command that has listed what is in the catalogue.
    pub(crate) fn exit(&self) -> ExitCode {
        out::exit(self.unread)
    }

    /// The sessions as of the current time.
    pub(crate) fn list(&self) -> anyhow::Result<SessionListing> {
        Ok(self.library.catalogue().list(&self.now)?)
    }

    /// Context for queries about these sessions.
    pub(crate) fn asked<'a>(&'a self, listing: &'a SessionListing, rows: &'a [SessionRow<'a>]) -> CatalogueQuery<'a> {
        CatalogueQuery { library: &self.library, listing, rows, now: &self.now, threads: self.threads }
    }
}
