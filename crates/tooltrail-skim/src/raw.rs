//! A string as the text spells it, decoded only when somebody wants to read it.

use std::borrow::Cow;

/// The bytes between the quotes of a JSON string, still escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    bytes: &'a [u8],
}

impl<'a> Raw<'a> {
    /// Wraps the bytes between two quotes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Raw { bytes }
    }

    /// The bytes as they stand in the text.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether nothing stands between the quotes.
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// The decoded text; borrowed where the spelling is already plain.
    pub fn text(self) -> Cow<'a, str> {
        self.head(usize::MAX)
    }

    /// The decoded text up to about `limit` bytes, cut between characters.
    pub fn head(self, limit: usize) -> Cow<'a, str> {
        // An escaped character takes at most six bytes of spelling per byte of text.
        let window = &self.bytes[..self.bytes.len().min(limit.saturating_mul(6))];
        if memchr::memchr(b'\\', window).is_none() {
            let cut = &window[..boundary(window, limit.min(window.len()))];
            return String::from_utf8_lossy(cut);
        }
        let mut out = String::with_capacity(window.len().min(limit.saturating_add(8)));
        decode(window, limit, &mut out);
        Cow::Owned(out)
    }

    /// The end of the decoded text, at least `limit` bytes of it where there are that many.
    ///
    /// Decoding starts somewhere inside the string, so the first few characters may be the rest of an escape sequence.
    pub fn tail(self, limit: usize) -> Cow<'a, str> {
        let mut start = self.bytes.len().saturating_sub(limit.saturating_mul(6));
        if start == 0 {
            return self.text();
        }
        // Starting behind a run of backslashes would read the escaped character as plain, starting inside one as escaped.
        while start < self.bytes.len() && (self.bytes[start - 1] == b'\\' || self.bytes[start] & 0xC0 == 0x80) {
            start += 1;
        }
        Raw::new(&self.bytes[start..]).text()
    }

    /// Appends the decoded text to `out`.
    pub fn decode_into(self, out: &mut String) {
        decode(self.bytes, usize::MAX, out);
    }
}

impl PartialEq<str> for Raw<'_> {
    fn eq(&self, other: &str) -> bool {
        self.bytes == other.as_bytes() || (memchr::memchr(b'\\', self.bytes).is_some() && self.text() == other)
    }
}

/// The largest cut at or before `at` that does not split a UTF-8 character.
fn boundary(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    let mut cut = at;
    while cut > 0 && at - cut < 4 && bytes[cut] & 0xC0 == 0x80 {
        cut -= 1;
    }
    cut
}

fn decode(bytes: &[u8], limit: usize, out: &mut String) {
    let floor = out.len();
    let mut at = 0;
    while at < bytes.len() && out.len() - floor < limit {
        let plain = memchr::memchr(b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
        let room = limit - (out.len() - floor);
        let take = boundary(&bytes[at..at + plain], plain.min(room));
        out.push_str(&String::from_utf8_lossy(&bytes[at..at + take]));
        at += plain;
        if take < plain || at >= bytes.len() {
            return;
        }
        at += escape(&bytes[at..], out);
    }
}

/// Decodes the escape sequence at the start of `bytes`, and says how many bytes it took.
fn escape(bytes: &[u8], out: &mut String) -> usize {
    let Some(&kind) = bytes.get(1) else {
        out.push('\\');
        return 1;
    };
    let plain = match kind {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'"' | b'\\' | b'/' => char::from(kind),
        b'u' => return unicode(bytes, out),
        // Not JSON. The backslash is kept, and what follows is read as ordinary text.
        _ => {
            out.push('\\');
            return 1;
        }
    };
    out.push(plain);
    2
}

fn unicode(bytes: &[u8], out: &mut String) -> usize {
    let Some(first) = hex4(bytes) else {
        out.push('\\');
        return 1;
    };
    if (0xD800..0xDC00).contains(&first) {
        if let Some(second @ 0xDC00..0xE000) = bytes.get(6..).and_then(hex4) {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return 12;
        }
    }
    out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
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
