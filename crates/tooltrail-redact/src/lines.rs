//! Lines of a text, also where line breaks are written out, and where numbers or the signs of a patch stand in front.

use crate::spot::{TriggerSpot, is_blank};

/// Whether a line ends here: a line break, or one that is written out with backslashes.
pub(crate) fn breaks(spot: TriggerSpot<'_>, at: usize) -> bool {
    end(spot, at).is_some()
}

/// The position behind the line break that stands here.
fn end(spot: TriggerSpot<'_>, at: usize) -> Option<usize> {
    match spot.byte(at)? {
        b'\n' => Some(at + 1),
        b'\r' if spot.byte(at + 1) == Some(b'\n') => Some(at + 2),
        b'\\' => {
            let letter = spot.run(at, 8, |byte| byte == b'\\');
            match spot.byte(letter)? {
                b'n' => Some(letter + 1),
                // `\r\n`.
                b'r' => end(spot, letter + 1).filter(|_| spot.byte(letter + 1) == Some(b'\\')).or(Some(letter + 1)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where the content of the next line begins, if this one ends here: behind its number, or the sign of a patch.
pub(crate) fn next(spot: TriggerSpot<'_>, at: usize) -> Option<usize> {
    end(spot, at).map(|line| line + gutter(spot.bytes(line, spot.text.len().min(line + 20))))
}

/// Length of what stands in front of a line's content.
fn gutter(line: &[u8]) -> usize {
    let blanks = line.iter().take_while(|byte| is_blank(**byte)).count();
    let digits = line.iter().skip(blanks).take_while(|byte| byte.is_ascii_digit()).count();
    match line.get(blanks + digits..) {
        Some([b'\t' | b'|' | b':', ..]) if (1..=6).contains(&digits) => blanks + digits + 1,
        // `→`.
        Some([0xe2, 0x86, 0x92, ..]) if digits > 0 => blanks + digits + 3,
        _ => usize::from(matches!(line.first(), Some(b'+' | b'-'))),
    }
}

/// Where something stands behind blanks and line breaks.
pub(crate) fn skip(spot: TriggerSpot<'_>, from: usize) -> usize {
    const MOST: usize = 6;
    let mut at = spot.run(from, 64, is_blank);
    for _ in 0..MOST {
        match next(spot, at) {
            Some(content) => at = spot.run(content, 64, is_blank),
            None => break,
        }
    }
    at
}

/// The last line of these bytes.
pub(crate) fn last(before: &[u8]) -> &[u8] {
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    line.windows(2).rposition(|two| two == b"\\n").map_or(line, |at| line.get(at + 2..).unwrap_or_default())
}

/// Blanks at the beginning of the content of the line of this position.
pub(crate) fn indentation(spot: TriggerSpot<'_>, at: usize) -> usize {
    let line = last(spot.bytes(at.saturating_sub(64), at));
    line.iter().skip(gutter(line)).take_while(|byte| is_blank(**byte)).count()
}
