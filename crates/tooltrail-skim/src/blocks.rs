//! The inner loops: finding the end of a string or of a container, 64 bytes at a time.
//!
//! A block of 64 bytes becomes bit masks, one bit per byte: where quotes, backslashes and brackets are. Integer arithmetic
//! on those masks shows which quotes are real and which bytes lie inside strings, without a branch per byte.

use wide::{u8x16, u8x64};

const BLOCK: usize = 64;
/// Number of blocks without a quote after which the next quote is probably far.
const CLEAR: usize = 4;
/// Number of looks at 16 bytes after which a string counts as long.
const LOOKS: usize = 4;

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
    match bytes[floor..at] {
        [.., b'\\', b'\\'] => bytes[floor..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1,
        [.., b'\\'] => true,
        _ => false,
    }
}

/// End of a string, if it is among the next 16 bytes and nothing before it is escaped.
#[inline(always)]
pub(crate) fn near_plain_end(bytes: &[u8], start: usize) -> Option<usize> {
    let look = u8x16::new(*bytes.get(start..)?.first_chunk()?);
    let found = (look.simd_eq(u8x16::splat(b'"')) | look.simd_eq(u8x16::splat(b'\\'))).to_bitmask();
    let end = start + found.trailing_zeros() as usize;
    (found != 0 && bytes[end] == b'"').then_some(end)
}

/// End of the string whose first byte after the opening quote is at `start`: the position of its closing quote, and whether
/// it is certain that nothing in it is escaped.
#[inline]
pub(crate) fn string_end(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    let rest = bytes.get(start..)?;
    // Most strings of a log are ids and keys: a few looks at 16 bytes settle those, and show whether anything is escaped.
    let (looks, _) = rest.as_chunks::<16>();
    let mut at = start;
    for look in looks.iter().take(LOOKS) {
        let look = u8x16::new(*look);
        let found = (look.simd_eq(u8x16::splat(b'"')) | look.simd_eq(u8x16::splat(b'\\'))).to_bitmask();
        if found != 0 {
            let first = at + found.trailing_zeros() as usize;
            // Behind a backslash it takes more to tell which quote is the end.
            return if bytes[first] == b'"' { Some((first, true)) } else { long_string_end(bytes, at, start).map(|end| (end, false)) };
        }
        at += 16;
    }
    if looks.len() < LOOKS {
        return last_string_end(bytes, at, start);
    }
    long_string_end(bytes, at, start).map(|end| (end, false))
}

/// The end of a string in the last few bytes of a text, from `at` on; nothing before is escaped.
fn last_string_end(bytes: &[u8], at: usize, start: usize) -> Option<(usize, bool)> {
    let first = at + bytes[at..].iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    if bytes[first] == b'"' { Some((first, true)) } else { long_string_end(bytes, at, start).map(|end| (end, false)) }
}

/// The end of a long or escaped string, from `at` on. Only quotes are searched; whether one is escaped is seen by looking
/// back from it.
fn long_string_end(bytes: &[u8], mut at: usize, start: usize) -> Option<usize> {
    // Where one quote follows another, blocks are quick; through long stretches without any, a search with wider registers is quicker.
    loop {
        at = match near_string_end(bytes, at, start) {
            StringEnd::At(end) => return Some(end),
            StringEnd::Behind(at) => at,
        };
        let quote = at + memchr::memchr(b'"', bytes.get(at..)?)?;
        if !is_escaped(bytes, quote, start) {
            return Some(quote);
        }
        at = quote + 1;
    }
}

/// How far the end of a string was searched.
enum StringEnd {
    /// It is here.
    At(usize),
    /// It is here or behind.
    Behind(usize),
}

/// The end of a string, unless there are several blocks without a quote.
fn near_string_end(bytes: &[u8], at: usize, start: usize) -> StringEnd {
    let (whole, _) = bytes.get(at..).unwrap_or_default().as_chunks::<BLOCK>();
    let quote = u8x16::splat(b'"');
    let mut clear = 0;
    for (index, block) in whole.iter().enumerate() {
        let (quarters, _) = block.as_chunks::<16>();
        let [a, b, c, d] = [0, 1, 2, 3].map(|quarter| u8x16::new(quarters[quarter]).simd_eq(quote));
        // The common case inside of long texts: 64 bytes without a quote.
        if !(a | b | c | d).any() {
            clear += 1;
            if clear == CLEAR {
                return StringEnd::Behind(at + (index + 1) * BLOCK);
            }
            continue;
        }
        clear = 0;
        let bits = |quarter: u8x16, shift: u32| u64::from(quarter.to_bitmask()) << shift;
        let mut found = bits(a, 0) | bits(b, 16) | bits(c, 32) | bits(d, 48);
        while found != 0 {
            let end = at + index * BLOCK + found.trailing_zeros() as usize;
            if !is_escaped(bytes, end, start) {
                return StringEnd::At(end);
            }
            // Clears the lowest bit, to go on with the next quote of this block.
            found &= found - 1;
        }
    }
    StringEnd::Behind(at + whole.len() * BLOCK)
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
    fn ends_are_found_behind_long_stretches_without_quotes() {
        for stretch in [190, 255, 256, 257, 320, 600] {
            for filler in 0..70 {
                // Escaped quotes near and far, and one behind an even run of backslashes that ends the string.
                let plain = "x".repeat(stretch);
                let text = format!("{}{plain}\\\"{plain}\\\\\\\"y\\\"{plain}\\\\\" tail\"", "y".repeat(filler));
                assert_eq!(string_end(text.as_bytes(), 0), Some((text.len() - 7, false)), "{text}");
                assert_eq!(string_end(format!("{plain}\\\"").as_bytes(), 0), None);
            }
        }
    }

    #[test]
    fn short_strings_are_known_to_be_plain() {
        for length in 0..64 {
            for behind in 0..70 {
                let text = format!("{}\"{}", "x".repeat(length), "\\".repeat(behind));
                assert_eq!(string_end(text.as_bytes(), 0), Some((length, true)), "{text}");
            }
        }
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
