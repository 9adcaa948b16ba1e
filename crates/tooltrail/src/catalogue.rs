//! The catalogue of this machine: where its file lies, and how a command comes to an up-to-date one.

use crate::cli::LogArgs;
use crate::{logs, out, progress};
use anyhow::{Context, bail};
use std::path::PathBuf;
use tooltrail_catalog::refresh::refresh;
use tooltrail_catalog::store::{Catalogue, file_name};
use tooltrail_formats::find;
use tooltrail_formats::scan::Progress;
use tooltrail_model::link::Now;

/// A catalogue that says what the logs say.
pub(crate) struct Ready {
    pub(crate) catalogue: Catalogue,
    /// The moment of asking.
    pub(crate) now: Now,
}

/// Opens the catalogue of the places that the arguments name, and refreshes it.
pub(crate) fn ready(args: &LogArgs) -> anyhow::Result<Ready> {
    if args.demo {
        bail!("the demo has no catalogue; leave out --demo, or use `tooltrail calls --demo`");
    }
    let places = logs::places(args)?;
    let search = find::in_places(&places);
    let mut catalogue = Catalogue::open(&directory()?.join(file_name(&args.root)))?;
    let total = search.files.iter().map(|found| found.size).sum();
    let progress = Progress::default();
    let (options, clock) = (logs::options(args, false), jiff::Timestamp::now().into());
    let outcome = progress::with_bar(total, &progress, || refresh(&mut catalogue, &search, &options, clock, &progress))?;
    for problem in search.problems.iter().chain(&outcome.problems) {
        out::complain(problem);
    }
    Ok(Ready { catalogue, now: logs::now_in(args, &places) })
}

/// The directory for what can be made again: `TOOLTRAIL_CACHE`, or where the system wants it.
fn directory() -> anyhow::Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(own) = variable("TOOLTRAIL_CACHE") {
        return Ok(own);
    }
    let home = || std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let system = if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        // A relative path is to be ignored, says the specification.
        variable("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| home().map(|home| home.join(".cache")))
    };
    Ok(system.context("no home directory; say where the catalogue may be kept with TOOLTRAIL_CACHE")?.join("tooltrail"))
}
