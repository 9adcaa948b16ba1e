//! The vocabulary of the corpus: frequent words, invented rare ones, names for things in code.

use crate::rng::Rng;

/// Frequent words, the most frequent first.
const FREQUENT: &[&str] = &[
    "a", "so", "we", "this", "at", "but", "into", "each", "its", "before", "after", "here", "there", "both", "once", "harbour", "ledger",
    "gauge", "lantern", "crate", "beacon", "valve", "basin", "anchor", "pulley", "quarry", "kiln", "signal", "drift", "depth", "margin",
    "batch", "socket", "schema", "cursor", "window", "fallback", "snapshot", "checks", "holds", "keeps", "drops", "sends", "waits",
    "opens", "closes", "counts", "joins", "splits", "orders", "narrow", "stale", "early", "late", "empty", "shared", "nested", "spare",
    "broken", "quiet", "strict", "loose", "reader", "writer", "worker", "planner", "router", "mapper", "sampler", "budget", "quota",
    "packet", "record", "column", "marker", "bucket", "branch", "vendor", "invoice", "parcel", "meadow", "orchard", "granite", "copper",
    "timer", "backlog", "payload", "digest", "prefix", "suffix", "offset", "header", "footer", "caller", "callee", "maybe", "rather",
    "almost", "never", "twice", "instead", "without", "against", "between", "through", "around", "compile", "measure", "inspect", "replay",
    "rename", "revert", "extend", "shrink", "retry", "flush", "rotate",
];

const ONSETS: &[&str] = &["br", "ch", "d", "fl", "g", "h", "j", "kr", "l", "m", "pl", "qu", "s", "tw", "v", "w", "x", "y"];
const RHYMES: &[&str] = &["ab", "ean", "ick", "old", "urn", "esh", "im", "oat", "ust", "ay", "en", "ift", "ong", "ure", "el"];

/// Draws words so that a few are frequent and thousands are rare, as in real text.
pub(super) struct Words {
    rare: Vec<String>,
}

impl Words {
    pub(super) fn new(rng: &mut Rng) -> Self {
        // Made of syllables, so that they look like words without being any.
        let rare =
            (0..20_000).map(|_| (0..rng.between(1, 3)).map(|_| format!("{}{}", rng.pick(ONSETS), rng.pick(RHYMES))).collect()).collect();
        Self { rare }
    }

    pub(super) fn word(&self, rng: &mut Rng) -> &str {
        if rng.chance(0.75) { FREQUENT[skewed(rng, FREQUENT.len())] } else { &self.rare[skewed(rng, self.rare.len())] }
    }

    /// `count` words with `joint` between them.
    pub(super) fn joined(&self, rng: &mut Rng, count: usize, joint: &str) -> String {
        let words: Vec<&str> = (0..count).map(|_| self.word(rng)).collect();
        words.join(joint)
    }

    /// A name as code has them: `stale_gauge`, `staleGauge`.
    pub(super) fn name(&self, rng: &mut Rng) -> String {
        let count = rng.between(1, 3);
        if rng.chance(0.6) {
            return self.joined(rng, count, "_");
        }
        let mut name = self.word(rng).to_owned();
        for _ in 1..count {
            let word = self.word(rng);
            let (first, rest) = word.split_at(1);
            name.push_str(&first.to_ascii_uppercase());
            name.push_str(rest);
        }
        name
    }
}

/// An index that prefers the beginning of a list.
fn skewed(rng: &mut Rng, len: usize) -> usize {
    // Two draws in a row favour small numbers, which is close enough to real frequencies.
    let first = rng.below(len);
    rng.below(first + 1)
}
