//! Random numbers that are the same for the same seed.

use std::time::Duration;

/// A splitmix64 generator.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        // The same generator as the testkit's, which xtask must not depend on.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, not including, `end`; 0 when `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.roll()) * end as u128) >> 64) as usize
    }

    /// One of some things, if there are any.
    pub(super) fn pick<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        from.get(self.below(from.len()))
    }

    /// A random part of a duration.
    pub(super) fn moment(&mut self, of: Duration) -> Duration {
        of.mul_f64(self.below(1_000_000) as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_bounds_and_come_again() {
        let all = |seed| {
            let mut dice = Dice(seed);
            (0..1000).map(|_| dice.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(all(3), all(3));
        assert_ne!(all(3), all(4));
        assert!((0..7).all(|number| all(3).contains(&number)) && all(3).iter().all(|number| *number < 7));
        assert_eq!((Dice(1).below(0), Dice(1).pick::<u8>(&[])), (0, None));
        assert!(Dice(1).moment(Duration::from_secs(1)) < Duration::from_secs(1));
    }
}
