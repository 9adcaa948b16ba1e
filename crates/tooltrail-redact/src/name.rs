//! A name in a text, with what stands right before it: a quote, the dashes of an option, the beginning of a line.

use crate::spot::{TriggerSpot, is_word};

/// A name in the text, with what stands right before it.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The quote that opens before it.
    pub(crate) quote: Option<u8>,
    /// Whether it is that of an option: `--db-password`.
    pub(crate) option: bool,
    /// Whether the line begins with it, but for indentation and words such as `export`.
    pub(crate) anchored: bool,
}

impl Name {
    /// The name that contains the trigger.
    pub(crate) fn around(spot: TriggerSpot<'_>) -> Option<Name> {
        const BEFORE: usize = 64;
        let part = |byte: u8| is_word(byte) || matches!(byte, b'-' | b'.');
        let before = spot.before(spot.at, BEFORE);
        let len = before.iter().rev().take_while(|byte| part(**byte)).count();
        let mut from = spot.at - len;
        // The letter of an escape such as `\n` is not part of the name.
        if spot.before(from, 1) == b"\\" && matches!(spot.byte(from), Some(b'n' | b't' | b'r')) && from < spot.at {
            from += 1;
        }
        let dashes = spot.run(from, 3, |byte| byte == b'-');
        let option = dashes > from;
        from = spot.run(dashes, BEFORE, |byte| matches!(byte, b'.' | b'-'));
        let mut to = spot.run(spot.end, 48, part);
        while to > spot.end && matches!(spot.byte(to - 1), Some(b'.' | b'-')) {
            to -= 1;
        }
        if len == BEFORE || from > spot.at {
            return None;
        }
        let quote = spot.before(dashes.min(from), 1).first().copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        Some(Name { from, to, quote, option, anchored: anchored(spot, from) })
    }

    pub(crate) fn bytes<'t>(&self, spot: TriggerSpot<'t>) -> &'t [u8] {
        spot.bytes(self.from, self.to)
    }

    /// Whether it is written as variables of an environment are: `DB_PASSWORD`.
    pub(crate) fn capitals(&self, spot: TriggerSpot<'_>) -> bool {
        self.bytes(spot).iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.' | b'-'))
    }
}

/// Whether only indentation, a number of the line, or words such as `export` stand before this position on its line.
fn anchored(spot: TriggerSpot<'_>, at: usize) -> bool {
    const WORDS: [&[u8]; 10] = [b"export", b"set", b"ENV", b"ARG", b"setx", b"env", b"declare", b"local", b"Environment=", b"readonly"];
    let before = spot.bytes(at.saturating_sub(40), at);
    let mut line = match before.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => &before[end + 1..],
        None if before.len() < 40 => before,
        None => match before.windows(2).rposition(|two| two == b"\\n") {
            Some(end) => &before[end + 2..],
            None => return false,
        },
    };
    if let Some(end) = line.windows(2).rposition(|two| two == b"\\n") {
        line = &line[end + 2..];
    }
    // The beginning of a string, or of what a message is about.
    if matches!(line, [.., b':', b'"' | b'\'' | b'\\'] | [.., b':' | b'\\', b' ' | b'"']) {
        return true;
    }
    let line = line.trim_ascii_end();
    let line = WORDS.iter().find_map(|word| line.strip_suffix(*word)).unwrap_or(line);
    line.iter().all(|byte| b" \t-+>#/*|:;\"'".contains(byte) || byte.is_ascii_digit() || *byte >= 0x80)
}
