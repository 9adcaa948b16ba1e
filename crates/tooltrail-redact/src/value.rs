//! The literal behind a name: where it begins and ends in settings, JSON, YAML, code, commands and URLs.

use crate::spot::{TriggerSpot, is_blank, is_word};

/// Bytes of a value that are looked at to decide; the value that is then redacted may be longer.
const HEAD: usize = 512;

/// The longest value.
pub(crate) const LONGEST: usize = 16 << 10;

/// A value and its position in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) quote: Option<u8>,
    /// Whether the line ends behind it, but for a comment or a comma.
    pub(crate) ends_line: bool,
}

impl Value {
    /// The value to its end, where only its head was read. Read on only for secrets, so that the time stays linear.
    pub(crate) fn complete(self, spot: TriggerSpot<'_>) -> Value {
        if self.to - self.from < HEAD {
            return self;
        }
        let to = match self.quote {
            Some(quote) => spot.run(self.to, LONGEST, |byte| byte != quote && byte != b'\n' && byte != b'\\'),
            None => spot.run(self.to, LONGEST, |byte| byte > b' ' && !b"\"'`,;&<>|)]}\\".contains(&byte)),
        };
        Value { to, ..self }
    }
}

impl Value {
    /// The value that begins here, quoted or not. `whole` takes an unquoted one to the end of its line.
    pub(crate) fn read(spot: TriggerSpot<'_>, from: usize, whole: bool) -> Option<Value> {
        // Prefixes of string literals in Python, C# and Rust.
        let letters = spot.run(from, 2, |byte| b"bBrRfFuU@$LN".contains(&byte));
        let behind = spot.run(letters, 20, |byte| byte == b'\\');
        let prefix = if letters > from && matches!(spot.byte(behind), Some(b'"' | b'\'')) { letters } else { from };
        let open = spot.run(prefix, 20, |byte| byte == b'\\');
        let quote = spot.byte(open).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        match quote {
            Some(quote) => Value::quoted(spot, open, open - prefix, quote),
            None => Some(Value::bare(spot, from, whole)),
        }
    }

    /// A quoted value. Within a string of JSON its quotes are escaped themselves, each by as many backslashes.
    fn quoted(spot: TriggerSpot<'_>, open: usize, slashes: usize, quote: u8) -> Option<Value> {
        let triple = spot.bytes(open, open + 3).iter().all(|byte| *byte == quote) && spot.byte(open + 3).is_some();
        let from = if triple { open + 3 } else { open + 1 };
        let rest = spot.bytes(from, spot.text.len().min(from + HEAD));
        let mut run = 0;
        let mut end = None;
        for (at, byte) in rest.iter().enumerate() {
            match byte {
                b'\\' => run += 1,
                b'\n' if !triple => break,
                // As many backslashes as before the opening quote, or an even number where there were none.
                byte if *byte == quote && (run == slashes || slashes == 0 && run % 2 == 0 && run > 0 || run < slashes) => {
                    end = Some(from + at - run.min(slashes));
                    break;
                }
                _ => run = 0,
            }
        }
        let long = rest.len() == HEAD && !rest.contains(&b'\n');
        let end = end.or_else(|| if long { Some(from + HEAD) } else { cut_off(spot, from) })?;
        let after = spot.run(end, 24, |byte| byte == quote || byte == b'\\');
        Some(Value { from, to: end, quote: Some(quote), ends_line: ends_line(spot, after) })
    }

    fn bare(spot: TriggerSpot<'_>, from: usize, whole: bool) -> Value {
        let to = bare_end(spot, from);
        let line = if whole { line_end(spot, from) } else { to };
        let rest = spot.bytes(to.min(line), line);
        // A line of code or of a command goes on behind its value; a setting has no blanks and no calls.
        let more = rest.iter().any(|byte| is_blank(*byte) || matches!(byte, b'(' | b'"' | b'\''));
        // `a=b&c=d` is a query.
        let query = matches!(rest.first(), Some(b'&' | b';')) && rest.contains(&b'=');
        let one = line > to && !more && !query;
        let to = if one { line } else { to };
        Value { from, to, quote: None, ends_line: ends_line(spot, to) }
    }

    /// The bytes of the value.
    pub(crate) fn bytes<'t>(&self, spot: TriggerSpot<'t>) -> &'t [u8] {
        spot.bytes(self.from, self.to.min(self.from + HEAD))
    }
}

/// End of a quoted value whose closing quote is cut off: the end of the line, if it is also the end of the text.
fn cut_off(spot: TriggerSpot<'_>, from: usize) -> Option<usize> {
    let end = spot.run(from, HEAD, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'\\'));
    let rest = spot.bytes(end, spot.text.len());
    (end >= from + 6 && rest.len() < 4 && rest.trim_ascii().is_empty()).then_some(end)
}

/// End of an unquoted value: a blank, a quote, or what separates values.
fn bare_end(spot: TriggerSpot<'_>, from: usize) -> usize {
    let mut depth = 0i32;
    let mut at = from;
    while let Some(byte) = spot.byte(at).filter(|_| at < from + HEAD) {
        match byte {
            b'\\' if matches!(spot.byte(at + 1), None | Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'\n' | b'/' | b'u')) => break,
            b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'<' | b'>' | b'|' | 0x7f => break,
            byte if byte <= b' ' => break,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => break,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    // A character of several bytes is taken or left as a whole.
    while at > from && spot.byte(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at -= 1;
    }
    at
}

/// End of the line's content: without a comment, trailing blanks, and a comma or semicolon.
fn line_end(spot: TriggerSpot<'_>, from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = spot.byte(at).filter(|_| at < from + HEAD) {
        let escape = byte == b'\\' && matches!(spot.byte(at + 1), Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\'));
        let comment = byte == b'#' && at > from && spot.byte(at - 1).is_some_and(is_blank);
        if byte == b'\n' || byte == b'\r' || escape || comment || matches!(byte, b'"' | b'\'' | b'`') {
            break;
        }
        at += 1;
    }
    if at == from + HEAD {
        return from;
    }
    let mut line = spot.bytes(from, at).trim_ascii_end();
    if let [rest @ .., b',' | b';' | b')' | b'}'] = line {
        line = rest;
    }
    from + line.len()
}

/// Whether only a comma, a comment or nothing follows on the line.
fn ends_line(spot: TriggerSpot<'_>, at: usize) -> bool {
    let at = spot.run(at, 24, is_blank);
    match spot.byte(at) {
        None | Some(b'\n' | b'\r' | b'#') => true,
        Some(b'\\') => matches!(spot.byte(spot.run(at, 20, |byte| byte == b'\\')), Some(b'n' | b'r' | b'"')),
        Some(b'"' | b'\'' | b'`') => spot.byte(at + 1).is_none_or(|next| !is_word(next)),
        _ => false,
    }
}
