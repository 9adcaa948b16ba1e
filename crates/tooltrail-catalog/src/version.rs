//! Versions of sessions: a number that changes with what is shown of a session, and with nothing else.
//!
//! A page may be drawn from the catalogue, and its parts be requested when a watcher is already running (or the other way round). Both therefore number a session by this one function, from facts that both have: the stamps of its logs, how much of them was
//! read, its short name, its project and its signs of life. Numbers of the catalogue's own (row ids, the order of rows) must not enter.

use crate::store::FileStamp;
use std::hash::{BuildHasher, Hash};
use tooltrail_model::Time;
use tooltrail_model::link::Pulse;

/// The fingerprint of one log; `bytes` is how much of it was read, which may be more than its stamp says while it grows.
pub(crate) fn of_log(path: &str, modified: Option<Time>, stamp: Option<FileStamp>, bytes: u64) -> u64 {
    // The time in a stamp is left out: the catalogue stores another one for a log that was just written, so as to read it again.
    fingerprint(&(path, modified, stamp.map(|stamp| (stamp.size, stamp.identity)), bytes))
}

/// The version of a session, by the sum of the fingerprints of the logs that it is linked with.
pub(crate) fn of_session(logs: u64, short: &str, project: Option<&str>, pulse: Pulse) -> u64 {
    fingerprint(&(logs, short, project, pulse.decisive()))
}

/// Adds the fingerprint of a log to those of others, in any order.
pub(crate) fn sum(logs: impl IntoIterator<Item = u64>) -> u64 {
    logs.into_iter().fold(0, u64::wrapping_add)
}

fn fingerprint(facts: &impl Hash) -> u64 {
    // A fixed seed: two readers of the same logs must agree.
    foldhash::quality::FixedState::with_seed(0x7665).hash_one(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::refresh;
    use crate::store::{Catalogue, SessionListing};
    use crate::watch::{LogLocations, SubscribeOptions, WatchOptions, Watcher};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use tooltrail_formats::find;
    use tooltrail_formats::scan::{self, Progress};
    use tooltrail_model::link::{Live, Now};

    /// The logs of all fixtures, some of which are linked with each other, or have files beside them.
    fn fixtures() -> Vec<PathBuf> {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/fixtures");
        let agents = std::fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
        agents.filter(|path| path.is_dir()).collect()
    }

    fn listing(catalogue: &mut Catalogue, paths: &[PathBuf], now: &Now) -> SessionListing {
        let search = find::in_paths(paths);
        refresh(catalogue, &search, &scan::Options::default(), now.time, &Progress::default()).unwrap();
        catalogue.list(now).unwrap()
    }

    #[test]
    fn a_session_has_one_version_stored_or_watched() {
        let paths = fixtures();
        let written = find::in_paths(&paths).files[0].written().unwrap();
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("catalogue.sqlite");
        let mut catalogue = Catalogue::open(&file).unwrap();
        // Long ago, when all are quiet; and now, when files were written lately.
        for time in [Time::UNIX_EPOCH, written] {
            let now = Now::at(time);
            let listing = listing(&mut catalogue, &paths, &now);
            let rows = listing.rows();
            assert!(rows.len() > 20, "{} sessions", rows.len());
            for seed in [None, Some(file.clone())] {
                let clock = now.clone();
                let options = WatchOptions { seed: seed.clone(), events: false, ..WatchOptions::default() };
                let watcher = Watcher::start(LogLocations::Paths(paths.clone()), options, Arc::new(move || clock.clone())).unwrap();
                let _subscriber = watcher.subscribe(SubscribeOptions::default());
                for (place, row) in rows.iter().enumerate() {
                    let held = watcher.session(row.agent, row.session).unwrap();
                    assert_eq!(held.version, listing.version(place), "{} {}, seeded: {}", row.agent, row.session, seed.is_some());
                }
            }
        }
    }

    #[test]
    fn a_version_changes_with_what_is_shown_alone() {
        let line = |session: &str| {
            format!("{{\"type\":\"user\",\"uuid\":\"{session}\",\"sessionId\":\"{session}\",\"message\":{{\"content\":\"go\"}}}}\n")
        };
        let place = tempfile::tempdir().unwrap();
        let (logs, own, other) = (place.path().join("logs"), "aaaa-own", "bbbb-other");
        std::fs::create_dir(&logs).unwrap();
        let log = |session: &str| logs.join(format!("{session}.jsonl"));
        std::fs::write(log(own), line(own)).unwrap();
        let mut catalogue = Catalogue::open(&place.path().join("catalogue.sqlite")).unwrap();
        let written = find::in_paths(std::slice::from_ref(&logs)).files[0].written().unwrap();
        let later = Time::from_microsecond(written.as_microsecond() + 3_600_000_000).unwrap();
        let mut version = |now: &Now| {
            let listing = listing(&mut catalogue, std::slice::from_ref(&logs), now);
            let place = listing.rows().iter().position(|row| row.session == own).unwrap();
            listing.version(place)
        };
        let listed = |time: Time, live: Live| Now { live: [(Box::from(own), live)].into_iter().collect(), ..Now::at(time) };
        let alive = version(&Now::at(written));
        assert_ne!(alive, version(&Now::at(later)), "it has ended, which is shown");
        // As long as its agent lists it as running, time alone changes nothing.
        assert_eq!(version(&listed(written, Live::Running)), version(&listed(later, Live::Running)));
        // Another session is none of its business, nor is the number that the catalogue has for its log.
        std::fs::write(log(other), line(other)).unwrap();
        assert_eq!(version(&Now::at(written)), alive);
        std::fs::remove_file(log(other)).unwrap();
        assert_eq!(version(&Now::at(written)), alive);
        std::fs::write(log(own), line(own) + "{}\n").unwrap();
        assert_ne!(version(&Now::at(written)), alive);
    }
}
