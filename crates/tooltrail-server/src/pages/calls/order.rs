//! Order of the calls in the table.

use crate::request::PageRequest;
use tooltrail_catalog::queries::CallSortKey;
use tooltrail_catalog::store::Figure;

/// Sort key and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallOrder {
    pub(super) by: CallSortKey,
    /// Whether the highest come first.
    pub(super) desc: bool,
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
