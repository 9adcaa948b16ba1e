//! The inner loops: finding the end of a string or of a container, 64 bytes at a time.
//!
//! A block of 64 bytes becomes bit masks, one bit per byte: where quotes, backslashes and brackets are. Integer arithmetic
//! on those masks shows which quotes are real and which bytes lie inside strings, without a branch per byte.

use wide::{u8x16, u8x64};

const BLOCK: usize = 64;

/// A block that may reach past the end of the text; missing bytes read as spaces.
#[inline]
fn block(bytes: &[u8], at: usize) -> u8x64 {
    if let Some(whole) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        return u8x64::new(*whole);
    }
    // Spaces mean nothing to JSON, so a padded block needs no special case.
    let mut padded = [b' '; BLOCK];
    let rest = bytes.get(at..).unwrap_or_default();
    padded[..rest.len()].copy_from_slice(rest);
    u8x64::new(padded)
}

#[inline]
fn mask(block: u8x64, byte: u8) -> u64 {
    block.simd_eq(u8x64::splat(byte)).to_bitmask()
}

/// The bytes of a block that a backslash escapes. `carry` says that the first byte is escaped by the block before.
#[inline]
fn escaped(backslash: u64, carry: &mut u64) -> u64 {
    if backslash == 0 {
        return std::mem::take(carry);
    }
    // Backslashes on even bits; the two parities are what the addition below separates.
    const EVEN: u64 = 0x5555_5555_5555_5555;
    // An escaped backslash escapes nothing itself.
    let backslash = backslash & !*carry;
    let after = (backslash << 1) | *carry;
    // A run of backslashes escapes what follows if its length is odd; adding the runs that start on odd bits to all runs
    // carries each of them to its end and tells the two parities apart.
    let odd_starts = backslash & !EVEN & !after;
    let (ends, overflow) = odd_starts.overflowing_add(backslash);
    *carry = u64::from(overflow);
    (EVEN ^ (ends << 1)) & after
}

/// Each bit becomes the parity of the bits up to and including it: between an opening and a closing quote it is 1.
#[inline]
fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Whether the byte at `at` is escaped: an odd number of backslashes stands right before it. Nothing before `floor` counts.
#[inline(always)]
fn is_escaped(bytes: &[u8], at: usize, floor: usize) -> bool {
    let run = bytes[floor..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    run % 2 == 1
}

/// End of the string whose first byte after the opening quote is at `start`: the position of its closing quote, and whether
/// it is certain that nothing in it is escaped.
#[inline]
pub(crate) fn string_end(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    // Most strings of a log are ids and keys: one look at 16 bytes settles those.
    if let Some(head) = bytes.get(start..).and_then(|rest| rest.first_chunk::<16>()) {
        let head = u8x16::new(*head);
        let quotes = head.simd_eq(u8x16::splat(b'"')).to_bitmask();
        let backslashes = head.simd_eq(u8x16::splat(b'\\')).to_bitmask();
        let quote = quotes.trailing_zeros();
        if quotes != 0 && backslashes.trailing_zeros() > quote {
            return Some((start + quote as usize, true));
        }
    }
    // A second look covers most of the rest, and still shows whether anything is escaped.
    let block = block(bytes, start);
    let quote = mask(block, b'"').trailing_zeros();
    if quote < 64 && mask(block, b'\\').trailing_zeros() > quote {
        return Some((start + quote as usize, true));
    }
    // A quote that may be escaped is looked at again below; a block without one is done.
    let at = if quote < 64 { start } else { start + BLOCK };
    long_string_end(bytes, at, start).map(|end| (end, false))
}

/// The end of a long or escaped string, from `at` on. Only quotes are searched; whether one is escaped is seen by looking
/// back from it.
fn long_string_end(bytes: &[u8], at: usize, start: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let (whole, tail) = rest.as_chunks::<BLOCK>();
    let quote = u8x16::splat(b'"');
    for (index, block) in whole.iter().enumerate() {
        let (quarters, _) = block.as_chunks::<16>();
        let [a, b, c, d] = [0, 1, 2, 3].map(|quarter| u8x16::new(quarters[quarter]).simd_eq(quote));
        // The common case inside of long texts: 64 bytes without a quote.
        if !(a | b | c | d).any() {
            continue;
        }
        let bits = |quarter: u8x16, shift: u32| u64::from(quarter.to_bitmask()) << shift;
        let mut found = bits(a, 0) | bits(b, 16) | bits(c, 32) | bits(d, 48);
        while found != 0 {
            let end = at + index * BLOCK + found.trailing_zeros() as usize;
            if !is_escaped(bytes, end, start) {
                return Some(end);
            }
            // Clears the lowest bit, to go on with the next quote of this block.
            found &= found - 1;
        }
    }
    let tail_at = at + whole.len() * BLOCK;
    let mut quotes = memchr::memchr_iter(b'"', tail).map(|quote| tail_at + quote);
    quotes.find(|&end| !is_escaped(bytes, end, start))
}

/// Number of bytes of a block before the first backslash.
#[inline(always)]
pub(crate) fn plain_run(block: &[u8; 16]) -> usize {
    let found = u8x16::new(*block).simd_eq(u8x16::splat(b'\\')).to_bitmask();
    if found == 0 { 16 } else { found.trailing_zeros() as usize }
}

/// The letter behind a backslash for a byte that is usually escaped.
pub(crate) fn usual_escape(byte: u8) -> Option<u8> {
    Some(match byte {
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        8 => b'b',
        12 => b'f',
        b'"' | b'\\' => byte,
        _ => return None,
    })
}

/// Whether a string is spelled as nearly every writer spells it: a backslash and a letter where such an escape exists, and
/// everything else literally. A text has exactly one such spelling.
pub(crate) fn is_usual(bytes: &[u8]) -> bool {
    // End of the last escape: a backslash before it is its second half.
    let mut open = 0;
    for first in (0..bytes.len()).step_by(BLOCK) {
        let mut found = mask(block(bytes, first), b'\\');
        while found != 0 {
            let at = first + found.trailing_zeros() as usize;
            found &= found - 1;
            if at >= open {
                if !matches!(bytes.get(at + 1), Some(b'n' | b'"' | b'\\' | b't' | b'r' | b'b' | b'f')) {
                    return false;
                }
                open = at + 2;
            }
        }
    }
    true
}

/// End of the container whose opening bracket is at `start`, just after its closing bracket; and how deep it went.
#[inline]
pub(crate) fn container_end(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let (mut at, mut depth, mut deepest) = (start, 0usize, 0usize);
    while at < bytes.len() {
        // Every block begins outside of strings: a string that is open at the end of a block is followed to its own end.
        let block = block(bytes, at);
        let mut quotes = mask(block, b'"');
        if quotes != 0 {
            quotes &= !escaped(mask(block, b'\\'), &mut 0);
        }
        let inside = parity(quotes);
        // `{` and `[`, `}` and `]` differ in one bit only.
        let folded = block | u8x64::splat(0x20);
        let opens = mask(folded, b'{') & !inside;
        let closes = mask(folded, b'}') & !inside;
        // If this block cannot close the container, counting is enough and no bit is looked at.
        let closing = closes.count_ones() as usize;
        if closing < depth {
            depth = depth + opens.count_ones() as usize - closing;
        } else {
            // Otherwise brackets are taken in order, to find the one that closes it.
            let mut brackets = opens | closes;
            while brackets != 0 {
                let bit = brackets & brackets.wrapping_neg();
                if opens & bit != 0 {
                    depth += 1;
                } else {
                    depth -= 1;
                    if depth == 0 {
                        return Some((at + bit.trailing_zeros() as usize + 1, deepest.max(1)));
                    }
                }
                deepest = deepest.max(depth);
                brackets ^= bit;
            }
        }
        deepest = deepest.max(depth);
        // The last bit says whether a string is open at the end of the block.
        if inside >> 63 != 0 {
            let first = at + BLOCK - quotes.leading_zeros() as usize;
            at = long_string_end(bytes, at + BLOCK, first)? + 1;
        } else {
            at += BLOCK;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_the_first_quote_that_is_not_escaped() {
        for filler in 0..200 {
            for backslashes in 0..5 {
                let mut text = "x".repeat(filler);
                text.push_str(&"\\".repeat(backslashes));
                text.push_str("\" tail\"");
                // The obvious algorithm, byte by byte, as a reference.
                let slow = {
                    let (mut at, bytes) = (0, text.as_bytes());
                    while bytes[at] != b'"' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    at
                };
                let (end, plain) = string_end(text.as_bytes(), 0).unwrap();
                assert_eq!(end, slow, "{text}");
                assert!(!plain || !text[..slow].contains('\\'), "{text}");
            }
        }
        assert_eq!(string_end(b"never", 0), None);
        assert_eq!(string_end(b"", 0), None);
        assert_eq!(string_end(b"ends in backslash \\\"", 0), None);
    }

    #[test]
    fn containers_end_at_their_own_bracket() {
        for filler in 0..140 {
            let text = format!("{{\"a\":\"{}}}]\\\"\",\"b\":[1,{{}}]}}, rest", "y".repeat(filler));
            assert_eq!(container_end(text.as_bytes(), 0), Some((text.len() - 6, 3)), "{text}");
        }
        assert_eq!(container_end(b"{\"a\":[", 0), None);
    }

    #[test]
    fn long_runs_of_backslashes_are_counted_whole() {
        for run in [1, 2, 63, 64, 65, 127, 128, 199, 200] {
            for filler in 0..70 {
                let text = format!("[\"{}{}\" ]\"]", "x".repeat(filler), "\\".repeat(run));
                // After an even run the quote ends the string, and the bracket that follows ends the array.
                let end = if run % 2 == 0 { filler + run + 5 } else { text.len() };
                assert_eq!(container_end(text.as_bytes(), 0), Some((end, 1)), "{text}");
            }
        }
    }

    #[test]
    fn depth_is_not_limited() {
        let text = "[".repeat(200_000) + &"]".repeat(200_000);
        let (end, depth) = container_end(text.as_bytes(), 0).unwrap();
        assert_eq!(end, text.len());
        // The depth is exact to within one block.
        assert!(depth > 199_000);
    }
}
