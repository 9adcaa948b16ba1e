//! In which order calls are shown.

use crate::request::PageRequest;
use crate::words;
use std::cmp::Reverse;
use std::collections::HashMap;
use tooltrail_catalog::store::{CallKey, CallKeys, Figure, ListedCall};
use tooltrail_model::Status;
use tooltrail_model::row::SessionRow;

/// By what calls are sorted, and which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) by: By,
    /// The most first.
    pub(super) desc: bool,
}

/// What calls can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Figure(Figure),
    /// What its tool did not take of the time that it took.
    Waited,
    Tool,
    Status,
    Project,
}

/// What calls can be sorted by, as an address has it.
const NAMES: &[(&str, By)] = &[
    ("time", By::Figure(Figure::Order)),
    ("took", By::Figure(Figure::Took)),
    ("ran", By::Figure(Figure::Ran)),
    ("waited", By::Waited),
    ("exit", By::Figure(Figure::Exit)),
    ("input", By::Figure(Figure::Input)),
    ("result", By::Figure(Figure::Result)),
    ("tool", By::Tool),
    ("status", By::Status),
    ("project", By::Project),
];

/// The newest first.
pub(super) const NEWEST: Order = Order { by: By::Figure(Figure::Order), desc: true };

impl Order {
    /// As it is asked for; the newest first where it is not.
    pub(super) fn of_request(request: &PageRequest) -> Self {
        let named = request.word("sort").and_then(|word| NAMES.iter().find(|(name, _)| *name == word));
        named.map_or(NEWEST, |(_, by)| Order { by: *by, desc: request.word("desc").is_some_and(|word| word != "0") })
    }

    /// As an address has it: the name and the direction; nothing for what is so anyway.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        if self == NEWEST {
            return ("", "");
        }
        let name = NAMES.iter().find(|(_, by)| *by == self.by).map_or("", |(name, _)| name);
        (name, if self.desc { "1" } else { "" })
    }

    /// What the head of a column leads to: its more telling end first, then the other.
    pub(super) fn next(self, by: By) -> Self {
        let most_first = !matches!(by, By::Tool | By::Status | By::Project);
        Order { by, desc: if self.by == by { !self.desc } else { most_first } }
    }

    /// Whether calls of a day stand together.
    pub(super) fn is_by_day(self) -> bool {
        self.by == NEWEST.by
    }

    /// Sorts calls. What does not have it comes last; equals stand as they were made, the newest first.
    pub(super) fn sort(self, calls: &mut [ListedCall], keys: &CallKeys, rows: &[SessionRow<'_>]) {
        if self != NEWEST {
            calls.sort_unstable_by_key(|call| Reverse((call.order, *call)));
        }
        let ranks = Ranks::new(self.by, keys, rows);
        let value = |call: &ListedCall| keys.of(*call).and_then(|key| ranks.value(self.by, call, key, keys));
        match self {
            NEWEST => calls.sort_unstable_by_key(|call| Reverse((call.order, *call))),
            Order { desc: true, .. } => {
                calls.sort_by_cached_key(|call| value(call).map_or((true, Reverse(0)), |value| (false, Reverse(value))))
            }
            Order { desc: false, .. } => calls.sort_by_cached_key(|call| value(call).map_or((true, 0), |value| (false, value))),
        }
    }
}

/// Names as numbers, in their order.
struct Ranks {
    /// By tool, or by session.
    ranks: Vec<i64>,
}

impl Ranks {
    fn new(by: By, keys: &CallKeys, rows: &[SessionRow<'_>]) -> Self {
        let ranks = match by {
            By::Tool => ranked(keys.tools().iter().map(|name| Some(name.to_lowercase()))),
            By::Project => ranked(rows.iter().map(|row| row.project.map(|path| words::last_part(path).to_lowercase()))),
            _ => Vec::new(),
        };
        Ranks { ranks }
    }

    fn value(&self, by: By, call: &ListedCall, key: &CallKey, keys: &CallKeys) -> Option<i64> {
        match by {
            By::Figure(figure) => key.figure(figure),
            By::Waited => Some((key.figure(Figure::Took)? - key.figure(Figure::Ran)?).max(0)),
            By::Tool => self.ranks.get(keys.tool(key)).copied(),
            By::Project => self.ranks.get(call.session).copied().filter(|rank| *rank >= 0),
            By::Status => Status::ALL.iter().position(|status| *status == key.status).and_then(|place| i64::try_from(place).ok()),
        }
    }
}

/// The places of names in their order; what has none is before all.
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

    fn request(query: &[(&str, &str)]) -> Order {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Order::of_request(&PageRequest { query, ..PageRequest::default() })
    }

    #[test]
    fn an_order_is_what_its_address_says() {
        assert_eq!(request(&[]), NEWEST);
        assert_eq!(request(&[("sort", "nonsense"), ("desc", "1")]), NEWEST);
        for (name, by) in NAMES {
            for desc in ["", "1"] {
                let order = request(&[("sort", name), ("desc", desc)]);
                assert_eq!(order, Order { by: *by, desc: desc == "1" });
                let (name, desc) = order.words();
                assert_eq!(request(&[("sort", name), ("desc", desc)]), order);
            }
        }
    }

    #[test]
    fn a_head_shows_the_telling_end_first() {
        let took = NEWEST.next(By::Figure(Figure::Took));
        assert_eq!((took.desc, took.next(took.by).desc), (true, false));
        assert_eq!((NEWEST.next(By::Tool).desc, NEWEST.next(NEWEST.by).desc), (false, false));
    }
}
