//! A small random source that gives the same numbers on every machine.
//!
//! Only integer steps, additions and multiplications: platforms round those alike, which is not true of `ln` and `exp`
//! from the system's mathematics library, and a corpus must not depend on where it was made.

/// A splitmix64 generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator; the same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, not including, `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        // The upper half of the product: uniform without a division.
        ((u128::from(self.draw()) * end as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// A number in [0, 1).
    fn unit(&mut self) -> f64 {
        // 53 bits are what a double can hold exactly.
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True once in `1 / share` times.
    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// One of `from`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// The value of one of `from`, with a probability proportional to its weight.
    pub(crate) fn weighted<T: Copy>(&mut self, from: &[(u32, T)]) -> T {
        let total: u32 = from.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total as usize) as u32;
        for (weight, value) in from {
            if left < *weight {
                return *value;
            }
            left -= weight;
        }
        // Not reached, because the weights add up to `total`.
        from[0].1
    }

    /// Number of times that an event with this probability happens in a row.
    pub(crate) fn run(&mut self, chance: f64) -> usize {
        let mut count = 0;
        while self.chance(chance) {
            count += 1;
        }
        count
    }

    /// A long-tailed size: half of all draws lie below `median`, `spread` is the standard deviation of the logarithm.
    pub(crate) fn long_tailed(&mut self, median: f64, spread: f64) -> usize {
        // The sum of twelve uniform numbers is nearly normal.
        let bell: f64 = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        // e^x as (1 + x/1024)^1024, within a few percent for the x that occur here.
        let mut power = 1.0 + spread * bell / 1024.0;
        for _ in 0..10 {
            power *= power;
        }
        (median * power) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_numbers() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            [rng.draw(), rng.draw(), rng.below(1000) as u64]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn ranges_hold_and_are_reached() {
        let mut rng = Rng::new(1);
        let drawn: Vec<usize> = (0..1000).map(|_| rng.between(3, 5)).collect();
        assert!((3..=5).all(|n| drawn.contains(&n)));
        assert!(drawn.iter().all(|n| (3..=5).contains(n)));
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn long_tail_has_its_median() {
        let mut rng = Rng::new(2);
        let below = (0..10_000).filter(|_| rng.long_tailed(1000.0, 1.3) < 1000).count();
        assert!((4800..5200).contains(&below), "{below}");
    }

    #[test]
    fn weights_are_shares() {
        let mut rng = Rng::new(3);
        let rare = (0..10_000).filter(|_| rng.weighted(&[(9, 'a'), (1, 'b')]) == 'b').count();
        assert!((850..1150).contains(&rare), "{rare}");
    }
}
