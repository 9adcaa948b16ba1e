//! Polls: calls that ask what a command in the background, or a script that goes on, has printed since.

use crate::transcript::CallEntry;
use std::collections::HashMap;

/// Most polls of polls: a script that polls may go on itself, and is waited for.
const DEEPEST: usize = 4;

/// The polls of a session: which call each asks about, by their places in `Transcript::calls`.
#[derive(Debug, Default)]
pub struct PollIndex {
    polls: HashMap<usize, Vec<usize>>,
    polled: HashMap<usize, usize>,
}

impl PollIndex {
    /// The polls among these calls.
    pub fn of(calls: &[CallEntry<'_>]) -> Self {
        let mut index = PollIndex::default();
        if calls.iter().all(|call| call.row.polls.is_none()) {
            return index;
        }
        // Ids may be used again; a poll asks about the last call before it.
        let mut latest: HashMap<(&str, &str), usize> = HashMap::new();
        for (place, call) in calls.iter().enumerate() {
            if let Some(&polled) = call.row.polls.and_then(|id| latest.get(&(call.row.session, id))) {
                index.polls.entry(polled).or_default().push(place);
                index.polled.insert(place, polled);
            }
            latest.insert((call.row.session, call.row.call), place);
        }
        index
    }

    /// The command that a poll asks about in the end; `None` for a call that is no poll.
    pub fn command(&self, poll: usize) -> Option<usize> {
        let mut found = *self.polled.get(&poll)?;
        for _ in 0..DEEPEST {
            match self.polled.get(&found) {
                Some(&next) => found = next,
                None => break,
            }
        }
        Some(found)
    }

    /// Whether a call is polled.
    pub fn is_polled(&self, call: usize) -> bool {
        self.polls.contains_key(&call)
    }

    /// Polls of a call, and of those polls, each with the call that it asks about, in the order of their requests.
    pub fn all(&self, call: usize) -> Vec<(usize, usize)> {
        let (mut found, mut open): (Vec<(usize, usize)>, Vec<usize>) = (Vec::new(), vec![call]);
        for _ in 0..DEEPEST {
            let next = open.iter().flat_map(|polled| self.polls.get(polled).into_iter().flatten().map(move |poll| (*poll, *polled)));
            let next: Vec<(usize, usize)> = next.collect();
            open = next.iter().map(|(poll, _)| *poll).collect();
            found.extend(next);
        }
        found.sort_unstable();
        found
    }
}
