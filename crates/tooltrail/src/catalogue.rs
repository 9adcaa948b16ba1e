//! The catalogue of this machine: where its file lies, and how a command comes to an up-to-date one.

use crate::cli::LogArgs;
use crate::{directories, keeping, logs, out, progress};
use anyhow::bail;
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
    let mut catalogue = Catalogue::open(&directories::cache()?.join(file_name(&args.root)))?;
    let total = search.files.iter().map(|found| found.size).sum();
    let progress = Progress::default();
    let (options, clock) = (logs::options(args, false), jiff::Timestamp::now().into());
    let outcome = progress::with_bar(total, &progress, || refresh(&mut catalogue, &search, &options, clock, &progress))?;
    for problem in search.problems.iter().chain(&outcome.problems) {
        out::complain(problem);
    }
    keeping::after_refresh(args, &search);
    Ok(Ready { catalogue, now: logs::now_in(args, &places) })
}
