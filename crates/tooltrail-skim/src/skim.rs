//! The reader: a position in a text, and methods to read the value that stands there.

use crate::{Raw, blocks};
use std::borrow::Cow;
use std::ops::Range;

/// Byte range of a value in the text.
pub type ByteRange = Range<usize>;

/// Error: the text does not continue as JSON must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The offset at which reading stopped.
    pub at: usize,
}

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// Anything that starts like a number.
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

/// A key of an object, decoded where it was escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectKey<'k>(&'k [u8]);

impl<'k> ObjectKey<'k> {
    /// The key's bytes.
    #[inline(always)]
    pub fn as_bytes(self) -> &'k [u8] {
        self.0
    }

    /// The key as text, lossily.
    pub fn text(self) -> Cow<'k, str> {
        String::from_utf8_lossy(self.0)
    }
}

/// A reader over one JSON text.
#[derive(Clone, Debug)]
pub struct Skim<'a> {
    bytes: &'a [u8],
    at: usize,
    open: usize,
    deepest: usize,
}

impl<'a> Skim<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Skim { bytes, at: 0, open: 0, deepest: 0 }
    }

    /// The offset of the next unread byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Deepest nesting of the values read or skipped so far; a lower bound that is exact to within one block.
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// The bytes of a span of this text.
    pub fn slice(&self, span: ByteRange) -> &'a [u8] {
        self.bytes.get(span).unwrap_or_default()
    }

    /// Type of the next value, without reading it. `None` at the end and before anything that does not start a value.
    #[inline]
    pub fn peek(&mut self) -> Option<Type> {
        Some(match self.byte()? {
            b'{' => Type::Object,
            b'[' => Type::Array,
            b'"' => Type::String,
            b't' | b'f' => Type::Bool,
            b'n' => Type::Null,
            b'-' | b'0'..=b'9' | b'N' | b'I' => Type::Number,
            _ => return None,
        })
    }

    /// Reads an object, calling `member` with each key and the reader at its value; a value that `member` leaves unread is
    /// skipped. A value that is no object is left unread.
    #[inline]
    pub fn object(&mut self, mut member: impl FnMut(ObjectKey<'_>, &mut Self) -> Result<(), Torn>) -> Result<(), Torn> {
        if self.byte() != Some(b'{') {
            return Ok(());
        }
        self.enter();
        // Checked before the loop, which expects at least one key.
        if self.take(b'}') {
            return self.leave();
        }
        loop {
            let at = self.at;
            let key = self.key().ok_or(Torn { at })?;
            self.expect(b':')?;
            // Comparing keys as they are spelled is fast; the rare escaped key is decoded first.
            if key.is_plain() {
                self.value(|value| member(ObjectKey(key.bytes()), value))?;
            } else {
                let decoded = key.decoded_bytes();
                self.value(|value| member(ObjectKey(&decoded), value))?;
            }
            if self.take(b',') {
                continue;
            }
            self.expect(b'}')?;
            return self.leave();
        }
    }

    /// Reads an array, calling `item` with the reader at each element; an element that `item` leaves unread is skipped. A
    /// value that is no array is left unread.
    #[inline]
    pub fn array(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), Torn>) -> Result<(), Torn> {
        if self.byte() != Some(b'[') {
            return Ok(());
        }
        self.enter();
        if self.take(b']') {
            return self.leave();
        }
        loop {
            self.value(&mut item)?;
            if self.take(b',') {
                continue;
            }
            self.expect(b']')?;
            return self.leave();
        }
    }

    /// Reads a string. Anything else is left unread.
    #[inline]
    pub fn string(&mut self) -> Option<Raw<'a>> {
        if !self.stands(b'"') {
            return None;
        }
        let start = self.at + 1;
        let (end, plain) = blocks::string_end(self.bytes, start)?;
        self.at = end + 1;
        Some(Raw::known(&self.bytes[start..end], plain))
    }

    /// Reads a key: a string that is nearly always short and plain.
    #[inline(always)]
    fn key(&mut self) -> Option<Raw<'a>> {
        // Inlined into every reader of an object, where a call would cost as much as the search.
        if self.stands(b'"')
            && let Some(end) = blocks::near_plain_end(self.bytes, self.at + 1)
        {
            let start = std::mem::replace(&mut self.at, end + 1) + 1;
            return Some(Raw::known(&self.bytes[start..end], true));
        }
        self.string()
    }

    /// Reads a number as an unsigned integer: fractions are cut, overflow saturates. Anything else is left unread.
    pub fn uint(&mut self) -> Option<u64> {
        let plain = self.plain_integer();
        plain.or_else(|| self.int().map(|n| u64::try_from(n).unwrap_or(if n < 0 { 0 } else { u64::MAX })))
    }

    /// Reads a number that is nothing but a few digits, as nearly all are. Anything else is left unread.
    #[inline]
    fn plain_integer(&mut self) -> Option<u64> {
        self.byte()?;
        // Up to 18 digits cannot overflow; everything else takes the slow path.
        let rest = &self.bytes[self.at..];
        let (mut number, mut length) = (0, 0);
        while let Some(digit @ b'0'..=b'9') = rest.get(length)
            && length < 18
        {
            number = number * 10 + u64::from(digit - b'0');
            length += 1;
        }
        // Only a plain integer may end here; `1.5` and `1e3` take the slow path.
        if length > 0 && rest.get(length).is_none_or(|end| ends_value(*end)) {
            self.at += length;
            return Some(number);
        }
        None
    }

    /// Reads a number as a signed integer: fractions are cut, overflow saturates. Anything else is left unread.
    pub fn int(&mut self) -> Option<i128> {
        let token = self.number_token()?;
        if let Ok(n) = token.parse() {
            return Some(n);
        }
        let n: f64 = token.parse().ok()?;
        Some(n as i128)
    }

    /// Reads a number. Anything else is left unread.
    pub fn float(&mut self) -> Option<f64> {
        match self.plain_integer() {
            Some(number) => Some(number as f64),
            None => self.number_token()?.parse().ok(),
        }
    }

    /// Reads `true` or `false`. Anything else is left unread.
    pub fn bool(&mut self) -> Option<bool> {
        self.space();
        let rest = self.bytes.get(self.at..)?;
        if rest.starts_with(b"false") {
            self.at += 5;
            Some(false)
        } else if rest.starts_with(b"true") {
            self.at += 4;
            Some(true)
        } else {
            None
        }
    }

    /// Steps over the next value, whatever it is, and returns its range.
    #[inline]
    pub fn skip(&mut self) -> Result<ByteRange, Torn> {
        let first = self.byte();
        let start = self.at;
        let torn = Torn { at: start };
        match first {
            Some(b'"') => self.at = blocks::string_end(self.bytes, start + 1).ok_or(torn)?.0 + 1,
            Some(b'{' | b'[') => {
                let (end, depth) = blocks::container_end(self.bytes, start).ok_or(torn)?;
                self.deepest = self.deepest.max(self.open + depth);
                self.at = end;
            }
            // The spelling that stands most often where a text or a number is missing.
            Some(b'n') if self.bytes[start..].first_chunk::<5>().is_some_and(|next| next.starts_with(b"null") && ends_value(next[4])) => {
                self.at += 4;
            }
            _ => {
                let token = self.token();
                if !scalar(token) {
                    return Err(torn);
                }
                self.at += token.len();
            }
        }
        Ok(start..self.at)
    }

    /// Whether only whitespace is left.
    pub fn finished(&mut self) -> bool {
        self.space();
        self.at >= self.bytes.len()
    }

    #[inline(always)]
    fn value(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Torn>) -> Result<(), Torn> {
        self.space();
        let before = self.at;
        read(self)?;
        // Not moved: the callback did not want this value.
        if self.at == before {
            self.skip()?;
        }
        Ok(())
    }

    fn enter(&mut self) {
        self.at += 1;
        self.open += 1;
        self.deepest = self.deepest.max(self.open);
    }

    fn leave(&mut self) -> Result<(), Torn> {
        self.open -= 1;
        Ok(())
    }

    /// The next byte that is not whitespace, without reading it.
    #[inline(always)]
    fn byte(&mut self) -> Option<u8> {
        self.space();
        self.bytes.get(self.at).copied()
    }

    #[inline(always)]
    fn space(&mut self) {
        // Logs are written without whitespace between values.
        if self.bytes.get(self.at).is_some_and(|byte| *byte > b' ') {
            return;
        }
        self.long_space();
    }

    // Out of line, so that the common case stays small enough to inline.
    #[cold]
    fn long_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Whether the next byte that is not whitespace is this one.
    #[inline(always)]
    fn stands(&mut self, byte: u8) -> bool {
        // Compared before whitespace is looked for: where a byte is expected, it nearly always stands.
        self.bytes.get(self.at) == Some(&byte) || self.byte() == Some(byte)
    }

    #[inline(always)]
    fn take(&mut self, byte: u8) -> bool {
        let there = self.stands(byte);
        self.at += usize::from(there);
        there
    }

    #[inline(always)]
    fn expect(&mut self, byte: u8) -> Result<(), Torn> {
        if self.take(byte) { Ok(()) } else { Err(Torn { at: self.at }) }
    }

    /// The bytes up to the next delimiter.
    fn token(&self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'{' | b'[');
        &rest[..rest.iter().position(ends).unwrap_or(rest.len())]
    }

    fn number_token(&mut self) -> Option<&'a str> {
        if self.peek() != Some(Type::Number) {
            return None;
        }
        let token = self.token();
        let text = std::str::from_utf8(token).ok().filter(|_| scalar(token))?;
        self.at += token.len();
        Some(text)
    }
}

/// Whether a byte ends the value before it in a text without whitespace.
#[inline(always)]
fn ends_value(byte: u8) -> bool {
    matches!(byte, b',' | b'}' | b']')
}

/// Whether a bare token is a valid value.
fn scalar(token: &[u8]) -> bool {
    match token {
        b"true" | b"false" | b"null" | b"NaN" | b"Infinity" | b"-Infinity" => true,
        [] => false,
        _ => {
            let digits = token.strip_prefix(b"-").unwrap_or(token);
            // Only the alphabet is checked, not the grammar: the token is skipped or parsed later.
            digits.first().is_some_and(u8::is_ascii_digit)
                && digits.iter().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_unread_is_skipped() {
        let text = br#" {"a" : {"x":[1,"}"]}, "b":"hit","n":3.9,"c":[true,false , null],"big":1234567890123456789012345678901234567890} "#;
        let mut skim = Skim::new(text);
        let (mut hit, mut n, mut items, mut big) = (None, None, 0, None);
        skim.object(|key, value| {
            match key.as_bytes() {
                b"b" => hit = value.string().map(|s| s.text().into_owned()),
                b"n" => n = value.uint(),
                b"c" => value.array(|_| {
                    items += 1;
                    Ok(())
                })?,
                b"big" => big = value.uint(),
                _ => {}
            }
            Ok(())
        })
        .unwrap();
        assert!(skim.finished());
        assert_eq!((hit.as_deref(), n, items, big), (Some("hit"), Some(3), 3, Some(u64::MAX)));
    }

    #[test]
    fn another_type_is_not_consumed() {
        let mut skim = Skim::new(b"42");
        assert!(skim.string().is_none());
        assert!(skim.bool().is_none());
        skim.object(|_, _| panic!("not an object")).unwrap();
        assert_eq!(skim.uint(), Some(42));
    }

    #[test]
    fn escaped_keys_are_found() {
        let mut found = false;
        let mut skim = Skim::new(br#"{"\u0074ype":1}"#);
        skim.object(|key, _| {
            found = key.as_bytes() == b"type";
            Ok(())
        })
        .unwrap();
        assert!(found);
    }

    #[test]
    fn torn_texts_are_told() {
        for text in ["{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":\"x", "{\"a\":1,}", "{a:1}", "{\"a\":tru}", "{\"a\" 1}"] {
            assert!(Skim::new(text.as_bytes()).object(|_, _| Ok(())).is_err(), "{text}");
        }
        let mut glued = Skim::new(b"{}{}");
        glued.object(|_, _| Ok(())).unwrap();
        assert!(!glued.finished());
    }
}
