//! Calls and results that the log gives no ids. One call and one result that follow each other belong together; of several, nobody can
//! tell which, and they stay apart.

use super::ThreadIndex;
use crate::Map;

/// Calls and results without ids, by conversation and in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Nameless {
    groups: Map<ThreadIndex, Vec<NamelessGroup>>,
}

/// Calls, and the results that came before the next call.
#[derive(Clone, Debug, Default)]
struct NamelessGroup {
    calls: Vec<usize>,
    results: Vec<Box<str>>,
}

impl Nameless {
    /// Notes a call by its index.
    pub(super) fn call(&mut self, within: ThreadIndex, index: usize) {
        let groups = self.groups.entry(within).or_default();
        match groups.last_mut().filter(|group| group.results.is_empty()) {
            Some(group) => group.calls.push(index),
            None => groups.push(NamelessGroup { calls: vec![index], results: Vec::new() }),
        }
    }

    /// Notes a result by the name it was given.
    pub(super) fn result(&mut self, within: ThreadIndex, id: &str) {
        // A result before any call belongs to none.
        if let Some(group) = self.groups.get_mut(&within).and_then(|groups| groups.last_mut()) {
            group.results.push(id.into());
        }
    }

    /// The calls with the one result that can only be theirs.
    pub(super) fn pairs(self) -> impl Iterator<Item = (usize, Box<str>)> {
        self.groups.into_values().flatten().filter_map(|group| match (&*group.calls, group.results.len()) {
            (&[index], 1) => Some((index, group.results.into_iter().next()?)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of a sequence of calls (`c`) and results (`r`), by their places in it.
    fn pairs(sequence: &str) -> Vec<(usize, String)> {
        let mut nameless = Nameless::default();
        for (at, item) in sequence.chars().enumerate() {
            match item {
                'c' => nameless.call(None, at),
                _ => nameless.result(None, &at.to_string()),
            }
        }
        let mut pairs: Vec<_> = nameless.pairs().map(|(call, result)| (call, result.into_string())).collect();
        pairs.sort();
        pairs
    }

    #[test]
    fn only_one_call_and_one_result_are_a_pair() {
        let pair = |call: usize, result: usize| (call, result.to_string());
        assert_eq!(pairs("cr"), [pair(0, 1)]);
        assert_eq!(pairs("crcr"), [pair(0, 1), pair(2, 3)]);
        assert_eq!(pairs("crcrr"), [pair(0, 1)]);
        for apart in ["", "c", "r", "rc", "ccr", "crr", "ccrr"] {
            assert!(pairs(apart).is_empty(), "{apart}");
        }
    }
}
