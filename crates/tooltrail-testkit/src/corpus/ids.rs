//! Identifiers and times as the agent writes them.

use crate::rng::Rng;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Days of the months from January 2026 on; the corpus stays inside that year.
const MONTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAY_MS: u64 = 86_400_000;

pub(super) fn hex(rng: &mut Rng, len: usize) -> String {
    (0..len).map(|_| BASE62[rng.below(16)].to_ascii_lowercase() as char).collect()
}

pub(super) fn uuid(rng: &mut Rng) -> String {
    let (high, low) = (rng.draw(), rng.draw());
    // Version 4, variant 1, as a real random UUID has.
    format!("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xfff, low >> 52, low & 0xffff_ffff_ffff)
}

/// An id such as `msg_01…`, `toolu_01…`: a prefix and 22 characters.
pub(super) fn api(rng: &mut Rng, prefix: &str) -> String {
    let mut id = format!("{prefix}01");
    id.extend((0..22).map(|_| BASE62[rng.below(62)] as char));
    id
}

/// The clock of a session, which only moves forward.
pub(super) struct SessionClock {
    /// Milliseconds since the year began.
    ms: u64,
}

impl SessionClock {
    /// A start in the first quarter of 2026, when progress records were written.
    pub(super) fn new(rng: &mut Rng) -> Self {
        // Early enough that the longest session stays within the year.
        Self { ms: rng.below((80 * DAY_MS) as usize) as u64 }
    }

    /// A clock that continues from here on its own.
    pub(super) fn fork(&self) -> Self {
        Self { ms: self.ms }
    }

    pub(super) fn advance(&mut self, ms: usize) {
        self.ms += ms as u64;
    }

    /// The next timestamp, a moment later.
    pub(super) fn stamp(&mut self, rng: &mut Rng) -> String {
        // Long-tailed: most records follow within seconds, some after minutes.
        self.advance(rng.long_tailed(2500.0, 1.0) + 3);
        self.show()
    }

    fn show(&self) -> String {
        let (mut day, ms) = (self.ms / DAY_MS, self.ms % DAY_MS);
        let mut month = 0;
        // 2026 and 2027 are no leap years; the corpus does not reach further.
        while day >= MONTHS[month % 12] {
            day -= MONTHS[month % 12];
            month += 1;
        }
        format!(
            "{}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            2026 + month / 12,
            month % 12 + 1,
            day + 1,
            ms / 3_600_000,
            ms / 60_000 % 60,
            ms / 1000 % 60,
            ms % 1000
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_agent_does() {
        let at = |ms| SessionClock { ms }.show();
        assert_eq!(at(0), "2026-01-01T00:00:00.000Z");
        assert_eq!(at(31 * DAY_MS + 3_723_004), "2026-02-01T01:02:03.004Z");
        assert_eq!(at(365 * DAY_MS), "2027-01-01T00:00:00.000Z");
    }

    #[test]
    fn ids_have_their_shapes() {
        let mut rng = Rng::new(5);
        assert_eq!(uuid(&mut rng).len(), 36);
        assert_eq!(api(&mut rng, "toolu_").len(), 30);
        assert_eq!(hex(&mut rng, 16).len(), 16);
        assert_ne!(api(&mut rng, "msg_"), api(&mut rng, "msg_"));
    }
}
