//! Order of the calls in the table.

use crate::request::PageRequest;
use crate::words;
use std::cmp::Reverse;
use std::collections::HashMap;
use tooltrail_catalog::store::{CallKey, CallKeys, Figure, ListedCall};
use tooltrail_model::Status;
use tooltrail_model::row::SessionRow;

/// Sort key and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallOrder {
    pub(super) by: CallSortKey,
    /// Whether the highest come first.
    pub(super) desc: bool,
}

/// Sort keys of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallSortKey {
    Figure(Figure),
    /// Duration without the tool's own run time.
    Waited,
    Tool,
    Status,
    Project,
}

/// Sort keys, as addresses name them.
const NAMES: &[(&str, CallSortKey)] = &[
    ("time", CallSortKey::Figure(Figure::Order)),
    ("took", CallSortKey::Figure(Figure::Took)),
    ("ran", CallSortKey::Figure(Figure::Ran)),
    ("waited", CallSortKey::Waited),
    ("exit", CallSortKey::Figure(Figure::Exit)),
    ("input", CallSortKey::Figure(Figure::Input)),
    ("result", CallSortKey::Figure(Figure::Result)),
    ("tool", CallSortKey::Tool),
    ("status", CallSortKey::Status),
    ("project", CallSortKey::Project),
];

/// The default order: the newest first.
pub(super) const NEWEST: CallOrder = CallOrder { by: CallSortKey::Figure(Figure::Order), desc: true };

impl CallOrder {
    /// The order that a request names; the newest first by default.
    pub(super) fn of_request(request: &PageRequest) -> Self {
        // Unknown names fall back to the default instead of failing, so that old links still work.
        let named = request.word("sort").and_then(|word| NAMES.iter().find(|(name, _)| *name == word));
        // Without a known key the direction is ignored too: it belongs to the key.
        named.map_or(NEWEST, |(_, by)| CallOrder { by: *by, desc: request.word("desc").is_some_and(|word| word != "0") })
    }

    /// Name and direction as addresses have them; empty for the default.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        if self == NEWEST {
            return ("", "");
        }
        let name = NAMES.iter().find(|(_, by)| *by == self.by).map_or("", |(name, _)| name);
        (name, if self.desc { "1" } else { "" })
    }

    /// Order that a heading leads to: first the more interesting end, then the other.
    pub(super) fn next(self, by: CallSortKey) -> Self {
        // Large numbers are interesting, names are read from A to Z.
        let most_first = !matches!(by, CallSortKey::Tool | CallSortKey::Status | CallSortKey::Project);
        CallOrder { by, desc: if self.by == by { !self.desc } else { most_first } }
    }

    /// Whether rows are grouped by day.
    pub(super) fn is_by_day(self) -> bool {
        self.by == NEWEST.by
    }

    /// Sorts calls. Calls without a value come last; equal ones stand with the newest first.
    pub(super) fn sort(self, calls: &mut [ListedCall], keys: &CallKeys, rows: &[SessionRow<'_>]) {
        // The sorts below are stable and keep this order among equal calls.
        if self != NEWEST {
            calls.sort_unstable_by_key(|call| Reverse((call.order, *call)));
        }
        let ranks = Ranks::new(self.by, keys, rows);
        let value = |call: &ListedCall| keys.of(*call).and_then(|key| ranks.value(self.by, call, key, keys));
        match self {
            NEWEST => calls.sort_unstable_by_key(|call| Reverse((call.order, *call))),
            // Missing values come last in either direction, so the flag is not reversed.
            CallOrder { desc: true, .. } => {
                calls.sort_by_cached_key(|call| value(call).map_or((true, Reverse(0)), |value| (false, Reverse(value))))
            }
            CallOrder { desc: false, .. } => calls.sort_by_cached_key(|call| value(call).map_or((true, 0), |value| (false, value))),
        }
    }
}

/// Ranks of names, so that calls are sorted by numbers.
struct Ranks {
    /// By tool, or by session.
    ranks: Vec<i64>,
}

impl Ranks {
    fn new(by: CallSortKey, keys: &CallKeys, rows: &[SessionRow<'_>]) -> Self {
        let ranks = match by {
            CallSortKey::Tool => ranked(keys.tools().iter().map(|name| Some(name.to_lowercase()))),
            CallSortKey::Project => ranked(rows.iter().map(|row| row.project.map(|path| words::last_part(path).to_lowercase()))),
            _ => Vec::new(),
        };
        Ranks { ranks }
    }

    fn value(&self, by: CallSortKey, call: &ListedCall, key: &CallKey, keys: &CallKeys) -> Option<i64> {
        match by {
            CallSortKey::Figure(figure) => key.figure(figure),
            CallSortKey::Waited => Some((key.figure(Figure::Took)? - key.figure(Figure::Ran)?).max(0)),
            CallSortKey::Tool => self.ranks.get(keys.tool(key)).copied(),
            CallSortKey::Project => self.ranks.get(call.session).copied().filter(|rank| *rank >= 0),
            CallSortKey::Status => Status::ALL.iter().position(|status| *status == key.status).and_then(|place| i64::try_from(place).ok()),
        }
    }
}

/// Rank of each name among all; -1 for a missing one.
fn ranked(names: impl Iterator<Item = Option<String>>) -> Vec<i64> {
    let names: Vec<Option<String>> = names.collect();
    let mut sorted: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let places: HashMap<&str, i64> = sorted.into_iter().zip(0..).collect();
    names.iter().map(|name| name.as_deref().and_then(|name| places.get(name)).copied().unwrap_or(-1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(query: &[(&str, &str)]) -> CallOrder {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        CallOrder::of_request(&PageRequest { query, ..PageRequest::default() })
    }

    #[test]
    fn an_order_is_what_its_address_says() {
        assert_eq!(request(&[]), NEWEST);
        assert_eq!(request(&[("sort", "nonsense"), ("desc", "1")]), NEWEST);
        for (name, by) in NAMES {
            for desc in ["", "1"] {
                let order = request(&[("sort", name), ("desc", desc)]);
                assert_eq!(order, CallOrder { by: *by, desc: desc == "1" });
                let (name, desc) = order.words();
                assert_eq!(request(&[("sort", name), ("desc", desc)]), order);
            }
        }
    }

    #[test]
    fn a_head_shows_the_telling_end_first() {
        let took = NEWEST.next(CallSortKey::Figure(Figure::Took));
        assert_eq!((took.desc, took.next(took.by).desc), (true, false));
        assert_eq!((NEWEST.next(CallSortKey::Tool).desc, NEWEST.next(NEWEST.by).desc), (false, false));
    }
}
