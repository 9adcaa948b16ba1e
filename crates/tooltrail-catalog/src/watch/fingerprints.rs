//! Fingerprints of rows, and the differences between two states of a bundle.

use crate::Map;
use std::hash::{BuildHasher, Hash};
use tooltrail_model::link::{Linked, LinkedCall, Now, Pulse};
use tooltrail_model::{Status, Time};

/// The fingerprints of all rows of a bundle.
#[derive(Clone, Debug, Default)]
pub(super) struct RowFingerprints {
    sessions: Map<(Box<str>, Box<str>), SessionFingerprints>,
}

/// The fingerprints of a session and its calls.
#[derive(Clone, Debug, Default)]
struct SessionFingerprints {
    /// The fingerprint of its row; `None` for calls that belong to no session.
    row: Option<u64>,
    calls: Map<(Box<str>, u32), CallFingerprint>,
    /// The signs of life of its sources, and the pulse that followed from them when the rows were made.
    signs: Vec<(Option<Time>, Option<Time>)>,
    pulse: Pulse,
}

/// The fingerprint of a call's row, and its status.
#[derive(Clone, Copy, Debug)]
struct CallFingerprint {
    row: u64,
    status: Status,
}

/// A difference between two states of a bundle.
#[derive(Debug)]
pub(super) enum RowDifference<'l> {
    /// A new call, and how many of its session had its id before it.
    Requested(&'l LinkedCall, u32),
    /// A call whose row has changed, how many calls of its session had its id before it, and its status before.
    Updated(&'l LinkedCall, u32, Status),
    /// A call that no longer exists: agent, session, id, and how many calls had the id before it.
    Lost(Box<str>, Box<str>, Box<str>, u32),
    /// A session that is new or has another row, by its place.
    Session(usize),
    /// A session that no longer exists: agent, id.
    Gone(Box<str>, Box<str>),
}

impl RowFingerprints {
    /// The fingerprints of linked logs at a moment.
    pub(super) fn of(linked: &Linked<'_>, now: &Now) -> Self {
        RowFingerprints::default().renew(linked, now).0
    }

    /// The fingerprints of linked logs now, and the differences from these ones.
    pub(super) fn renew<'l>(mut self, linked: &'l Linked<'_>, now: &Now) -> (Self, Vec<RowDifference<'l>>) {
        let mut new = RowFingerprints::default();
        let mut differences = Vec::new();
        for (index, own) in linked.sessions.iter().enumerate() {
            let key = (Box::from(own.agent), own.id.clone());
            let mut before = self.sessions.remove(&key).unwrap_or_default();
            let signs = own.sources.iter().filter_map(|&source| linked.sources.get(source));
            let mut session = SessionFingerprints {
                row: linked.session_row(index, now).map(|row| print(&row)),
                calls: Map::default(),
                signs: signs.map(|source| (source.modified, source.summary.last)).collect(),
                pulse: linked.pulse(index, now),
            };
            session.take(linked, linked.calls_of(index), now, &mut before, &mut differences);
            // After its calls, whose changes are the usual reason why the row of a session changes.
            if before.row != session.row {
                differences.push(RowDifference::Session(index));
            }
            before.lose(&key, &mut differences);
            new.sessions.insert(key, session);
        }
        // Calls that belong to no session come last.
        let strays = linked.calls.partition_point(|call| call.session < linked.sessions.len());
        if let Some(strays) = linked.calls.get(strays..).filter(|strays| !strays.is_empty()) {
            let key = <(Box<str>, Box<str>)>::default();
            let mut before = self.sessions.remove(&key).unwrap_or_default();
            let mut session = SessionFingerprints::default();
            session.take(linked, strays, now, &mut before, &mut differences);
            before.lose(&key, &mut differences);
            new.sessions.insert(key, session);
        }
        for (key, mut gone) in self.sessions {
            let was_session = gone.row.is_some();
            gone.lose(&key, &mut differences);
            if was_session {
                differences.push(RowDifference::Gone(key.0, key.1));
            }
        }
        (new, differences)
    }

    /// Adds the fingerprints of another bundle, when two are joined.
    pub(super) fn join(&mut self, other: RowFingerprints) {
        for (key, session) in other.sessions {
            match self.sessions.get_mut(&key) {
                // A session was split over both bundles. Its row and pulse are renewed with the next comparison anyway.
                Some(own) => own.calls.extend(session.calls),
                None => drop(self.sessions.insert(key, session)),
            }
        }
    }

    /// The signs of life of a session at a moment.
    pub(super) fn pulse(&self, agent: &str, session: &str, now: &Now) -> Pulse {
        let own = self.sessions.get(&(agent.into(), session.into()));
        own.map_or_else(Pulse::default, |own| now.pulse(session, own.signs.iter().copied()))
    }

    /// Whether the pulse of any session has changed since the rows were made.
    pub(super) fn is_stale(&self, now: &Now) -> bool {
        self.sessions.iter().any(|((_, id), session)| now.pulse(id, session.signs.iter().copied()) != session.pulse)
    }

    /// Whether any session shows signs of life.
    pub(super) fn is_alive(&self) -> bool {
        self.sessions.values().any(|session| session.pulse != Pulse::default())
    }
}

impl SessionFingerprints {
    /// Adds the calls of a session, and reports those that are new or changed.
    fn take<'l>(
        &mut self,
        linked: &'l Linked<'_>,
        calls: &'l [LinkedCall],
        now: &Now,
        before: &mut SessionFingerprints,
        differences: &mut Vec<RowDifference<'l>>,
    ) {
        self.calls.reserve(calls.len());
        for call in calls.iter().filter(|call| call.copy_of.is_none()) {
            let row = linked.call_row(call, now, false);
            let new = CallFingerprint { row: print(&row), status: row.status };
            // An id may have been used for several calls.
            let mut key = (Box::from(row.call), 0);
            // Counting in the order of the log gives the same numbers every time, so each call finds its own old fingerprint.
            while self.calls.contains_key(&key) {
                key.1 += 1;
            }
            match before.calls.remove(&key) {
                None => differences.push(RowDifference::Requested(call, key.1)),
                Some(old) if old.row != new.row => differences.push(RowDifference::Updated(call, key.1, old.status)),
                Some(_) => {}
            }
            self.calls.insert(key, new);
        }
    }

    /// Reports the calls that remain here: those that `take` found again were removed.
    fn lose(&mut self, (agent, session): &(Box<str>, Box<str>), differences: &mut Vec<RowDifference<'_>>) {
        let lost = std::mem::take(&mut self.calls).into_keys();
        differences.extend(lost.map(|(call, again)| RowDifference::Lost(agent.clone(), session.clone(), call, again)));
    }
}

fn print(row: &impl Hash) -> u64 {
    // A fixed seed, because fingerprints of different moments are compared.
    foldhash::quality::FixedState::with_seed(0x7072).hash_one(row)
}
