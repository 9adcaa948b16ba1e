//! Search: the calls and messages of a whole library that a filter with texts selects, without an index.
//!
//! The bundles in which something happened last come first. `texts` looks through their logs, raw bytes first; a bundle is opened and
//! linked only if something was found in it. `matching` decides what is selected, and `hits` makes the output. docs/search.md says
//! what is searched and what counts as one hit.

mod hits;

pub use crate::texts::{Query, prefilter};
pub use hits::{Hit, HitOwner, HitSession, HitTotals};
pub use tooltrail_model::filter::texts::Field;

use crate::library::{Bundle, Library};
use crate::matching::{self, MatchContext};
use crate::store::CatalogueError;
use crate::texts::group::LogGroup;
use crate::texts::{self, BundleTexts, resolve};
use std::ops::ControlFlow;
use tooltrail_model::link::Now;

/// Finds all matches of a query, which has at least one text. Hits are passed on bundle by bundle as they are found, in an order that does
/// not depend on the number of threads: the most recent bundle first, each session in the order of time. `found` is called for bundles
/// without hits too, and may end the search; the totals count the hits until then.
pub fn search(
    library: &dyn Library,
    query: &Query,
    now: &Now,
    threads: usize,
    mut found: impl FnMut(Vec<Hit>) -> ControlFlow<()>,
) -> Result<HitTotals, CatalogueError> {
    let bundles = library.likely(query.filter(), now, threads)?;
    let files: Vec<Vec<&str>> = bundles.iter().map(|bundle| bundle.files.iter().map(|file| &**file).collect()).collect();
    let mut outcome = Ok(HitTotals::default());
    let search = texts::TextSearch { query, disk: library.disk(), threads };
    let settle = |number: usize, said: BundleTexts| hits_of(library, &bundles[number], query, now, said);
    texts::each_bundle(&search, &files, settle, |_, hits| match (hits, &mut outcome) {
        (Ok(hits), Ok(totals)) => {
            totals.add(&hits);
            found(hits)
        }
        (Err(error), _) => {
            outcome = Err(error);
            ControlFlow::Break(())
        }
        (_, Err(_)) => ControlFlow::Break(()),
    });
    outcome
}

/// The hits of a bundle, from the matches in its logs.
fn hits_of(library: &dyn Library, bundle: &Bundle, query: &Query, now: &Now, said: BundleTexts) -> Result<Vec<Hit>, CatalogueError> {
    // Opening and linking a bundle costs far more than searching it, and most bundles have no match.
    if said.iter().all(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let linker = library.open(bundle.id)?;
    let linked = linker.link();
    let group = LogGroup::whole(&linked);
    // A log may have been deleted since the bundle was listed, so lists are paired by path and not by position.
    let mut said: Vec<(&str, Vec<_>)> = bundle.files.iter().map(|file| &**file).zip(said).collect();
    let sayings = group.sources.iter().map(|&source| {
        let place = said.iter().position(|(file, _)| *file == &*linked.sources[source].path);
        place.map(|place| said.swap_remove(place).1).unwrap_or_default()
    });
    let sayings: BundleTexts = sayings.collect();
    let units = resolve::resolve(&linked, &group, query, sayings);
    let asked = MatchContext { linked: &linked, disk: library.disk(), now, threads: 1, keep: library.keep() };
    let taken = matching::judge(&asked, query, &group, units);
    Ok(hits::hits(&linked, &group, taken))
}
