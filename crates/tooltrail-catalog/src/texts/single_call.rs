//! Text search in the records of one call, for questions about a few calls of large logs.
//!
//! Records are read and resolved as in a search, so the verdict is the same; only the scan for them is left out, because linked logs
//! know where the records of a call are.

use super::group::LogGroup;
use super::read::LogSearcher;
use super::{TextSearch, resolve};
use tooltrail_formats::FORMATS;
use tooltrail_model::At;
use tooltrail_model::link::{Linked, LinkedCall};

/// The texts of a query that a call has, a bit for each.
pub(crate) fn terms(search: &TextSearch<'_>, linked: &Linked<'_>, group: &LogGroup, call: &LinkedCall) -> u64 {
    let places = places(linked, call);
    let hasher = foldhash::fast::RandomState::default();
    let read = |&source: &usize| {
        let here: Vec<At> = places.iter().filter(|(place, _)| *place == source).map(|(_, at)| *at).collect();
        let Some(source) = linked.sources.get(source).filter(|_| !here.is_empty()) else { return Vec::new() };
        let format = FORMATS.iter().find(|format| Some(format.agent()) == source.summary.agent);
        format.map(|format| LogSearcher::new(search, &source.path, &hasher).read_at(*format, &here)).unwrap_or_default()
    };
    // Sources without a record of the call get an empty list, because `resolve` pairs the lists with the sources by order.
    let said = group.sources.iter().map(read).collect();
    let units = resolve::resolve(linked, group, search.query, said);
    let own = units.calls.iter().find(|(place, _)| linked.calls.get(**place).is_some_and(|other| other.id == call.id));
    own.map_or(0, |(_, finds)| resolve::terms(finds))
}

/// The records of a call's input and results, each with its source.
fn places(linked: &Linked<'_>, call: &LinkedCall) -> Vec<(usize, At)> {
    let (own, record) = (call.id.source(), linked.record(call.id));
    let mut places = vec![(own, record.at)];
    places.extend(linked.result_spot(call));
    places.extend(record.rare().others.iter().map(|result| (own, result.at)));
    places.extend(record.rare().ends.iter().map(|&at| (own, at)));
    // Another log may hold results whose calls it does not know.
    let id = linked.id(call.id);
    for (source, log) in linked.sources.iter().enumerate() {
        let orphans = log.summary.orphans.iter().filter(|orphan| *orphan.call == *id);
        places.extend(orphans.map(|orphan| (source, orphan.result.at)));
    }
    // One record may hold several of them, as an end that is also the result. It must not be searched twice.
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{self, MatchContext};
    use crate::texts::Query;
    use crate::texts::query::tests::parsed;
    use std::path::Path;
    use tooltrail_formats::disk::Disk;
    use tooltrail_formats::{find, scan};
    use tooltrail_model::Time;
    use tooltrail_model::filter::Spelling;
    use tooltrail_model::link::{CallId, Now};

    #[test]
    fn a_call_alone_is_judged_as_among_all() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests");
        let logs = find::in_paths(&[fixtures]);
        let (linker, _) = scan::scan(&logs.files, &scan::Options::default(), &scan::Progress::default());
        let (linked, disk, now) = (linker.link(), Disk::default(), Now::at(Time::UNIX_EPOCH));
        let asked = MatchContext { linked: &linked, disk: &disk, now: &now, threads: 2, keep: None };
        for text in ["e", "not:a", "error", "test not:ok", "tool:Bash cargo", "exit", "re:^[0-9]", "output", "status:failed 1"] {
            let query = Query::unseen(parsed(text, Spelling::default()));
            let all: Vec<CallId> = matching::calls(&asked, query.filter(), false).into_iter().map(|call| call.id).collect();
            let group = LogGroup::whole(&linked);
            let calls = linked.calls.iter().filter(|call| call.copy_of.is_none());
            let alone: Vec<CallId> = calls.filter(|call| matching::takes_text(&asked, &group, &query, call)).map(|call| call.id).collect();
            let named = |ids: &[CallId], others: &[CallId]| -> Vec<String> {
                let only = ids.iter().filter(|id| !others.contains(id));
                only.map(|&id| format!("{} in {}", linked.id(id), linked.sources[id.source()].path)).collect()
            };
            assert!(!all.is_empty(), "`{text}` takes nothing");
            assert_eq!(named(&all, &alone), named(&alone, &all), "`{text}`: only among all, and only alone");
        }
    }
}
