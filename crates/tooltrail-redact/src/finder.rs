//! Finds the positions in a text where a rule has to look: one step per byte, whatever the number of rules.
//!
//! A table has one bit for each pair of bytes that a trigger begins with. Few pairs of an ordinary text are in it; few of
//! those continue with the third byte of a trigger; and only there the triggers themselves are compared.

/// The triggers of all rules.
#[derive(Debug)]
pub(crate) struct Finder {
    /// A bit for each pair of bytes: 8 KB, so it stays in the L1 cache.
    pairs: Vec<u64>,
    /// Number of the bucket of each pair, from 1.
    numbers: Vec<u16>,
    buckets: Vec<Bucket>,
}

/// The triggers that begin with one pair of bytes.
#[derive(Debug, Default)]
struct Bucket {
    /// A bit for each byte that may come third.
    third: [u64; 4],
    triggers: Vec<Trigger>,
}

#[derive(Debug, Clone)]
struct Trigger {
    text: Box<[u8]>,
    fold: bool,
    rule: usize,
}

const PAIRS: usize = 1 << 16;

impl Default for Finder {
    fn default() -> Self {
        Finder { pairs: vec![0; PAIRS / 64], numbers: vec![0; PAIRS], buckets: Vec::new() }
    }
}

impl Finder {
    /// Adds a trigger, in any case if `fold`.
    pub(crate) fn add(&mut self, text: &str, fold: bool, rule: usize) {
        let forms = |at: usize| match text.as_bytes().get(at) {
            Some(byte) if fold && byte.is_ascii_alphabetic() => vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()],
            Some(byte) => vec![*byte],
            // A trigger shorter than three bytes goes on with any byte.
            None => (0..=u8::MAX).collect(),
        };
        // Stored once per spelling of its first two bytes, so that a lookup needs no case folding.
        let trigger = Trigger { text: text.as_bytes().into(), fold, rule };
        for first in forms(0) {
            for second in forms(1) {
                let bucket = self.bucket(pair(first, second));
                bucket.triggers.push(trigger.clone());
                forms(2).into_iter().for_each(|third| bucket.third[usize::from(third) / 64] |= 1 << (third % 64));
            }
        }
    }

    /// The bucket of a pair; a new one if it has none.
    fn bucket(&mut self, pair: usize) -> &mut Bucket {
        if self.numbers[pair] == 0 {
            self.pairs[pair / 64] |= 1 << (pair % 64);
            self.buckets.push(Bucket::default());
            self.numbers[pair] = self.buckets.len() as u16;
        }
        let number = usize::from(self.numbers[pair]);
        &mut self.buckets[number - 1]
    }

    /// The next position, from this one on, where a trigger may begin. The last two bytes are not looked at: no secret is so
    /// short that it could begin there.
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        // A fixed size lets the compiler drop the bounds checks of the inner loop.
        let pairs: &[u64; PAIRS / 64] = self.pairs.as_slice().try_into().ok()?;
        let rest = text.get(from..)?;
        let found = rest.windows(3).position(|three| {
            let pair = pair(three[0], three[1]);
            pairs[pair / 64] >> (pair % 64) & 1 != 0 && self.goes_on(pair, three[2])
        })?;
        Some(from + found)
    }

    /// Whether a trigger that begins with this pair has this byte next.
    fn goes_on(&self, pair: usize, third: u8) -> bool {
        let bucket = self.buckets.get(usize::from(self.numbers[pair]).wrapping_sub(1));
        bucket.is_some_and(|bucket| bucket.third[usize::from(third) / 64] >> (third % 64) & 1 != 0)
    }

    /// Rules whose triggers stand at this position, in the order they were added, with the lengths of the triggers.
    pub(crate) fn at<'f>(&'f self, text: &'f [u8], at: usize) -> impl Iterator<Item = (usize, usize)> + 'f {
        let rest = text.get(at..).unwrap_or_default();
        let number = rest.first_chunk().map_or(0, |[first, second]| self.numbers[pair(*first, *second)]);
        let bucket = self.buckets.get(usize::from(number).wrapping_sub(1));
        let triggers = bucket.map(|bucket| bucket.triggers.as_slice()).unwrap_or_default();
        triggers.iter().filter(|trigger| trigger.stands(rest)).map(|trigger| (trigger.rule, trigger.text.len()))
    }
}

impl Trigger {
    fn stands(&self, rest: &[u8]) -> bool {
        match rest.get(..self.text.len()) {
            Some(head) if self.fold => head.eq_ignore_ascii_case(&self.text),
            Some(head) => *head == *self.text,
            None => false,
        }
    }
}

fn pair(a: u8, b: u8) -> usize {
    usize::from(a) << 8 | usize::from(b)
}
