//! The catalogue of this machine: where its file lies, how a command comes to an up-to-date one, and what of it a command needs.

use crate::cli::LogArgs;
use crate::{directories, keeping, logs, out, progress};
use anyhow::bail;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::refresh::refresh;
use tooltrail_catalog::store::{Catalogue, SessionListing, file_name};
use tooltrail_formats::Places;
use tooltrail_formats::find;
use tooltrail_formats::scan::{Options, Progress};
use tooltrail_model::link::Now;
use tooltrail_model::row::SessionRow;
use tracing::warn;

/// A catalogue that says what the logs say.
pub(crate) struct Ready {
    pub(crate) library: StoredLibrary,
    /// The moment of asking.
    pub(crate) now: Now,
    /// Where logs were looked for.
    pub(crate) looked: Vec<PathBuf>,
    /// How long it took.
    pub(crate) took: Duration,
    pub(crate) threads: usize,
}

/// The catalogue, refreshed, if the arguments want one. Where it cannot be used that is told, and the logs are read themselves.
pub(crate) fn if_wanted(args: &LogArgs) -> anyhow::Result<Option<Ready>> {
    let as_stored = args.max_line.saturating_mul(1 << 20) == Options::default().max_line;
    if args.demo || args.no_cache || !as_stored {
        return Ok(None);
    }
    // What is wrong with the arguments is wrong without a catalogue too.
    logs::places(args)?;
    match ready(args) {
        Ok(ready) => Ok(Some(ready)),
        Err(error) => {
            warn!(error = %format_args!("{error:#}"), "cannot use the catalogue; reading the logs instead");
            out::remark(&format!("{error:#}; reading the logs instead (--no-cache does so without asking)"));
            Ok(None)
        }
    }
}

/// Opens the catalogue of the places that the arguments name, and refreshes it.
pub(crate) fn ready(args: &LogArgs) -> anyhow::Result<Ready> {
    ready_with(args, &Progress::default())
}

/// The same, for those who want to see how far it is.
pub(crate) fn ready_with(args: &LogArgs, progress: &Progress) -> anyhow::Result<Ready> {
    if args.demo {
        bail!("the demo has no catalogue; leave out --demo, or use `tooltrail calls --demo`");
    }
    if args.no_cache {
        bail!("this asks the catalogue; leave out --no-cache, or use `tooltrail calls --no-cache --json`");
    }
    let start = Instant::now();
    let places = logs::places(args)?;
    let search = find::in_places(&places);
    let mut catalogue = Catalogue::open(&file(args)?)?;
    let total = search.files.iter().map(|found| found.size).sum();
    // What is stored does not depend on how one command wants logs to be read.
    let options = Options { max_line: Options::default().max_line, ..logs::options(args, false) };
    let clock = jiff::Timestamp::now().into();
    let outcome = progress::with_bar(total, progress, || refresh(&mut catalogue, &search, &options, clock, progress))?;
    for problem in search.problems.iter().chain(&outcome.problems) {
        out::complain_of(problem);
    }
    keeping::after_refresh(args, &search);
    Ok(Ready {
        library: StoredLibrary::new(catalogue, keeping::keep(args)),
        now: logs::now_in(args, &places),
        looked: search.looked,
        took: start.elapsed(),
        threads: options.threads,
    })
}

/// The file of the catalogue of the places that the arguments name, whether or not it is there.
pub(crate) fn file(args: &LogArgs) -> anyhow::Result<PathBuf> {
    Ok(directories::cache()?.join(file_name(&whose(args))))
}

/// The directories by which a catalogue is told from others; none for the agents' own places where nothing says that they are elsewhere.
pub(crate) fn whose(args: &LogArgs) -> Vec<PathBuf> {
    if !args.root.is_empty() {
        return args.root.clone();
    }
    let elsewhere = Places::variables().into_iter().chain(["XDG_CACHE_HOME", "TOOLTRAIL_CACHE"]);
    let named: Vec<PathBuf> = elsewhere.filter_map(directories::variable).collect();
    // One directory may hold the catalogues of several homes.
    if named.is_empty() { named } else { named.into_iter().chain(directories::home()).collect() }
}

impl Ready {
    /// The sessions at the moment of asking.
    pub(crate) fn list(&self) -> anyhow::Result<SessionListing> {
        Ok(self.library.catalogue().list(&self.now)?)
    }

    /// What it takes to ask about them.
    pub(crate) fn asked<'a>(&'a self, listing: &'a SessionListing, rows: &'a [SessionRow<'a>]) -> CatalogueQuery<'a> {
        CatalogueQuery { library: &self.library, listing, rows, now: &self.now, threads: self.threads }
    }
}
