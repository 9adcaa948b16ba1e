//! A string as the text spells it, decoded only on demand.

use crate::blocks;
use std::borrow::Cow;

/// The bytes between the quotes of a JSON string, still escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    bytes: &'a [u8],
    /// Whether nothing is known to be escaped, so that the spelling is the text.
    plain: bool,
}

impl<'a> Raw<'a> {
    /// Wraps the bytes between two quotes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Raw { bytes, plain: false }
    }

    /// Wraps the bytes between two quotes, where it may be known that nothing is escaped.
    pub(crate) fn known(bytes: &'a [u8], plain: bool) -> Self {
        Raw { bytes, plain }
    }

    /// Whether the bytes are certainly the text itself.
    pub fn is_plain(self) -> bool {
        self.plain
    }

    /// The bytes as spelled in the text.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the string is empty.
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// The decoded text; borrowed where the spelling is already plain.
    #[inline]
    pub fn text(self) -> Cow<'a, str> {
        if self.plain { lossy(self.bytes) } else { self.head(usize::MAX) }
    }

    /// The decoded text up to about `limit` bytes, cut between characters.
    pub fn head(self, limit: usize) -> Cow<'a, str> {
        match self.decoded(limit) {
            Cow::Borrowed(bytes) => lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|error| lossy(error.as_bytes()).into_owned())),
        }
    }

    /// The decoded text as bytes; invalid UTF-8 stays as it is.
    #[inline]
    pub fn decoded_bytes(self) -> Cow<'a, [u8]> {
        if self.plain { Cow::Borrowed(self.bytes) } else { self.decoded(usize::MAX) }
    }

    /// Appends the decoded text to `out` as bytes.
    pub fn decode_into(self, out: &mut Vec<u8>) {
        out.reserve(self.bytes.len());
        decode(self.bytes, usize::MAX, out);
    }

    fn decoded(self, limit: usize) -> Cow<'a, [u8]> {
        // An escape takes at most six bytes per byte of text; a few more, so that none is cut.
        let window = &self.bytes[..self.bytes.len().min(limit.saturating_mul(6).saturating_add(12))];
        if self.plain || memchr::memchr(b'\\', window).is_none() {
            return Cow::Borrowed(&window[..boundary(window, limit)]);
        }
        let mut out = Vec::with_capacity(window.len().min(limit.saturating_add(16)));
        decode(window, limit, &mut out);
        out.truncate(boundary(&out, limit));
        Cow::Owned(out)
    }

    /// Whether the decoded text ends like this.
    pub fn ends_with(self, end: &str) -> bool {
        if self.plain { self.bytes.ends_with(end.as_bytes()) } else { self.text().ends_with(end) }
    }

    /// The end of the decoded text: `limit` bytes of it, or as few more as it takes not to split a character.
    pub fn tail(self, limit: usize) -> Cow<'a, str> {
        let mut start = self.bytes.len().saturating_sub(limit.saturating_mul(6).saturating_add(12));
        // Decoding must not start inside an escape sequence or a character. The bytes skipped here are more than `limit`
        // away.
        while start > 0 && start < self.bytes.len() && (self.bytes[start - 1] == b'\\' || self.bytes[start] & 0xC0 == 0x80) {
            start += 1;
        }
        match Raw::known(&self.bytes[start..], self.plain).text() {
            Cow::Borrowed(text) => Cow::Borrowed(&text[text.floor_char_boundary(text.len().saturating_sub(limit))..]),
            Cow::Owned(mut text) => {
                text.drain(..text.floor_char_boundary(text.len().saturating_sub(limit)));
                Cow::Owned(text)
            }
        }
    }
}

impl PartialEq<str> for Raw<'_> {
    fn eq(&self, other: &str) -> bool {
        if self.plain { self.bytes == other.as_bytes() } else { self.text() == other }
    }
}

/// The largest cut at or before `at` that does not split a UTF-8 character.
fn boundary(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    let mut cut = at;
    // At most three bytes back: longer runs of continuation bytes are not UTF-8 anyway.
    while cut > 0 && at - cut < 4 && bytes[cut] & 0xC0 == 0x80 {
        cut -= 1;
    }
    cut
}

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    // The check for valid text is much faster than the one that repairs invalid text.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn decode(bytes: &[u8], limit: usize, out: &mut Vec<u8>) {
    // Slightly more than requested, so that the character at the limit is complete.
    let limit = limit.saturating_add(4);
    let mut at = 0;
    while at < bytes.len() && out.len() < limit {
        // Sixteen bytes are copied at a time, and the excess is taken back.
        let Some(chunk) = bytes[at..].first_chunk::<16>() else {
            let plain = bytes[at..].iter().position(|byte| *byte == b'\\').unwrap_or(bytes.len() - at);
            out.extend_from_slice(&bytes[at..at + plain]);
            at += plain;
            if at < bytes.len() && out.len() < limit {
                at += escape(&bytes[at..], out);
            }
            continue;
        };
        let plain = blocks::plain_run(chunk);
        out.extend_from_slice(chunk);
        at += plain;
        if plain < 16 {
            out.truncate(out.len() - 16 + plain);
            if out.len() < limit {
                at += escape(&bytes[at..], out);
            }
        }
    }
}

/// Decodes the escape sequence at the start of `bytes`, and says how many bytes it took.
fn escape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let Some(&kind) = bytes.get(1) else {
        out.push(b'\\');
        return 1;
    };
    let plain = match kind {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'"' | b'\\' | b'/' => kind,
        b'u' => return unicode(bytes, out),
        // Not JSON. The backslash is kept, and the rest is read as ordinary text.
        _ => {
            out.push(b'\\');
            return 1;
        }
    };
    out.push(plain);
    2
}

fn unicode(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let mut push = |code: u32| {
        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    };
    let Some(first) = hex4(bytes) else {
        out.push(b'\\');
        return 1;
    };
    // A pair of surrogates is one character; a lone one becomes U+FFFD below.
    if (0xD800..0xDC00).contains(&first)
        && let Some(second @ 0xDC00..0xE000) = bytes.get(6..).and_then(hex4)
    {
        let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        push(code);
        return 12;
    }
    push(first);
    6
}

/// The number in `\uXXXX` at the start of `bytes`.
fn hex4(bytes: &[u8]) -> Option<u32> {
    if bytes.first() != Some(&b'\\') || bytes.get(1) != Some(&b'u') {
        return None;
    }
    let mut code = 0;
    for &digit in bytes.get(2..6)? {
        code = code * 16 + char::from(digit).to_digit(16)?;
    }
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_like_serde_json_and_further() {
        let text = |s: &str| Raw::new(s.as_bytes()).text().into_owned();
        assert_eq!(text(r#"a\"\\\/\b\f\n\r\tz"#), "a\"\\/\u{8}\u{c}\n\r\tz");
        assert_eq!(text(r"\u0041\ud83d\ude00é"), "A😀é");
        assert_eq!(text(r"lone \ud83d end"), "lone \u{fffd} end");
        assert_eq!(text(r"lone \ude00\ud83dx"), "lone \u{fffd}\u{fffd}x");
        assert_eq!(text(r"bad \q \u12"), r"bad \q \u12");
        assert_eq!(Raw::new(b"bad \xff byte").text(), "bad \u{fffd} byte");
    }

    #[test]
    fn heads_and_tails_are_cut_between_characters() {
        let long = Raw::new("ééééé".as_bytes());
        assert_eq!(long.head(5), "éé");
        assert_eq!(Raw::new(br"\u0041\u0042\u0043").head(2), "AB");
        let spelled = r"\u0041".repeat(500) + r"\\n" + &r"\u0042".repeat(20);
        assert!(Raw::new(spelled.as_bytes()).tail(20).ends_with(&"B".repeat(20)));
        assert!(Raw::new(b"short").tail(20) == "short");
    }
}
