//! Damages bytes for fuzzing: small changes that leave most of a record as it was.

use crate::rng::Rng;

/// Bytes with a meaning for a reader of JSON lines.
const STRUCTURAL: &[&[u8]] = &[
    // Single signs first, then sequences that only matter together.
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\\",
    b"\n",
    b"\r\n",
    b"\t",
    b"\0",
    b"{\"",
    b"}{",
    b"\\u",
    b"\\ud83d",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3",
    b"null",
    b"true",
    b"-",
    b"1e999",
    b"NaN",
    b"\"type\":",
    b"[[[[[[[[",
    b"}}}}",
];

/// Values of a type other than the expected one.
const SWAPS: &[&[u8]] = &[
    b"null",
    b"true",
    b"0",
    b"-1",
    b"3.5",
    b"1e400",
    b"99999999999999999999999999",
    b"\"\"",
    b"\"text\"",
    b"[]",
    b"{}",
    b"[null]",
    b"{\"a\":1}",
    b"\"\\ud83d\"",
    b"\"2026-03-04T10:00:00Z\"",
];

/// One to six changes to `line`; pieces of `others` may be spliced in.
pub fn mangle(line: &[u8], others: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = line.to_vec();
    for _ in 0..=rng.below(6) {
        change(&mut bytes, others, rng);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], rng: &mut Rng) {
    // One past the end is allowed: appending is a change too.
    let at = rng.below(bytes.len() + 1);
    match rng.below(8) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
        }
        1 => {
            let end = (at + 1 + rng.below(12)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        2 | 3 => insert(bytes, at, rng.pick(STRUCTURAL)),
        4 => {
            if !others.is_empty() {
                let other = &others[rng.below(others.len())];
                let (from, to) = (rng.below(other.len() + 1), rng.below(other.len() + 1));
                let piece = other[from.min(to)..from.max(to)].to_vec();
                insert(bytes, at, &piece);
            }
        }
        5 => bytes.truncate(at),
        6 => {
            // A part of the record again, so that keys and blocks repeat.
            let end = (at + rng.below(200)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            insert(bytes, at, &piece);
        }
        _ => swap(bytes, at, rng),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}

/// Replaces the scalar that follows the next colon by a value of another type.
fn swap(bytes: &mut Vec<u8>, from: usize, rng: &mut Rng) {
    let Some(colon) = bytes[from..].iter().position(|&byte| byte == b':') else {
        return;
    };
    let start = from + colon + 1;
    // Escaped quotes are not respected: cutting a string in the middle is welcome damage.
    let end = match bytes.get(start) {
        Some(b'"') => bytes[start + 1..].iter().position(|&byte| byte == b'"').map(|length| start + length + 2),
        _ => bytes[start..].iter().position(|byte| b",}]".contains(byte)).map(|length| start + length),
    };
    let value = rng.pick(SWAPS);
    bytes.splice(start..end.unwrap_or(bytes.len()), value.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_damage() {
        let line = br#"{"type":"user","message":{"content":"a"},"n":1}"#;
        let others = vec![b"{\"b\":2}".to_vec()];
        let all = |seed| -> Vec<Vec<u8>> {
            let mut rng = Rng::new(seed);
            (0..200).map(|_| mangle(line, &others, &mut rng)).collect()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        assert!(all(1).iter().filter(|bytes| bytes.as_slice() != line).count() > 150);
        assert!(mangle(b"", &[], &mut Rng::new(3)).len() < 2000);
    }
}
