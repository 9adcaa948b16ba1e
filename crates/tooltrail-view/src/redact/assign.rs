//! Values recognised by their names: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>`.
//!
//! The trigger is the word within the name. The value that follows is parsed as settings, JSON, YAML, code, a command line
//! or a URL would write it; `guess.rs` decides whether it is a secret.

use super::guess::{self, Strength};
use super::rules;
use super::spot::{Take, TriggerSpot, ends_folded, holds_folded, is_word, starts_folded};
use super::tokens::{LONGEST, is_url};

/// Words that may follow the trigger within a name; after others the value must look random.
const ENDINGS: &str = "key secret token password value base prod production dev staging test live access hash";

/// Names with these endings hold something else, however random it looks.
const OTHERS: &str = "id ids address addr name type url uri arn path file dir izer ized count limit usage version";

/// Bytes of a value that are looked at to decide; the value that is then redacted may be longer.
const HEAD: usize = 256;

/// Redacts the value of the name that contains the trigger.
pub(super) fn take(spot: TriggerSpot<'_>, strength: Strength) -> Option<Take> {
    let name_end = spot.run(spot.end, 40, is_url);
    let tail = spot.bytes(spot.end, name_end);
    let strength = match strength {
        // `tokens_total` and the like name something else unless the value looks random.
        _ if !ending(tail) => Strength::Name,
        Strength::Password if setting(spot, name_end) => Strength::Setting,
        _ => strength,
    };
    if OTHERS.split(' ').any(|other| ends_folded(tail, other.as_bytes())) {
        return None;
    }
    let from = separator(spot, name_end)?;
    let first = Value::read(spot, from)?;
    // Text between tags ends at a tag.
    if spot.before(from, 1) == b">" && spot.byte(first.to) != Some(b'<') {
        return None;
    }
    // `token: &str = "…"`: where the first candidate is a type, the value comes after it.
    let value = [Some(first), first.typed(spot)].into_iter().flatten().find(|value| value.secret(spot, strength))?;
    // A value with a shape of its own is reported by its own rule's name.
    (!rules::token_at(spot, value.from)).then(|| value.mark(spot))
}

/// Redacts the value of a setting `…_KEY=`, unless it is a public key.
pub(super) fn key_setting(spot: TriggerSpot<'_>) -> Option<Take> {
    const OPEN: [&[u8]; 5] = [b"PUBLIC", b"PUBLISHABLE", b"ANON", b"CACHE", b"HOST"];
    let before = spot.before(spot.at, 40);
    let name = before.iter().rev().take_while(|byte| is_word(**byte)).count();
    let name = before.get(before.len() - name..).unwrap_or_default();
    let value = Value::read(spot, spot.end).filter(|value| value.secret(spot, Strength::Name))?;
    let secret = !OPEN.iter().any(|open| holds_folded(name, open)) && !rules::token_at(spot, value.from);
    secret.then(|| value.mark(spot))
}

/// Whether this is a line of settings: `DB_PASSWORD=`.
fn setting(spot: TriggerSpot<'_>, name_end: usize) -> bool {
    spot.byte(name_end) == Some(b'=') && spot.bytes(spot.at, name_end).iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
}

/// Whether a name that continues like this still names the secret itself: `_KEY`, `AccessKey`, `2`, but not `s`, `_count`
/// or `_file`.
fn ending(tail: &[u8]) -> bool {
    let mut rest = tail;
    while let [first, after @ ..] = rest {
        if matches!(first, b'_' | b'-' | b'0'..=b'9') {
            rest = after;
            continue;
        }
        let word = ENDINGS.split(' ').find(|word| starts_folded(rest, word.as_bytes()));
        match word.and_then(|word| rest.get(word.len()..)) {
            // The word must end here: `_keyboard` does not name a key.
            Some(after) if after.first().is_none_or(|next| !next.is_ascii_lowercase()) => rest = after,
            _ => return false,
        }
    }
    true
}

/// Start of a possible value, behind `=`, `:`, `=>` or `:=`, or behind the blank after an option or SQL's `PASSWORD`.
fn separator(spot: TriggerSpot<'_>, name_end: usize) -> Option<usize> {
    let closed = spot.run(name_end, 5, |byte| matches!(byte, b'"' | b'\'' | b']' | b'\\' | b'`'));
    let sign = spot.run(closed, 24, is_blank);
    let after = match (spot.byte(sign)?, spot.byte(sign + 1)) {
        // Comparisons and paths such as `token::Kind` assign nothing.
        (b'=', Some(b'=' | b'~')) | (b':', Some(b':')) => return None,
        (b':', Some(b'=' | b'-')) | (b'=', Some(b'>')) => sign + 2,
        (b':' | b'=', _) => sign + 1,
        // The end of a tag: the value is its text.
        (b'>', _) if closed == name_end && sign == closed => return Some(sign + 1),
        // An `=` in a URL that is itself encoded.
        (b'%', Some(b'3')) if matches!(spot.byte(sign + 2), Some(b'D' | b'd')) => return Some(sign + 3),
        _ if sign > closed && option(spot) => return Some(sign),
        (b'\'', _) if sign > closed && spot.bytes(spot.at, spot.end).iter().all(u8::is_ascii_uppercase) => return Some(sign),
        _ => return None,
    };
    Some(spot.run(after, 24, is_blank))
}

/// Whether the name is that of an option, `--db-password`.
fn option(spot: TriggerSpot<'_>) -> bool {
    let before = spot.before(spot.at, 40);
    let name = before.iter().rev().take_while(|byte| is_url(**byte)).count();
    before.get(before.len() - name..).is_some_and(|name| name.starts_with(b"--"))
}

/// A value and its position in the text.
#[derive(Clone, Copy)]
struct Value {
    from: usize,
    /// Its end, or that of its head.
    to: usize,
    quote: Option<u8>,
}

impl Value {
    /// The value that begins here, quoted or not.
    fn read(spot: TriggerSpot<'_>, from: usize) -> Option<Value> {
        // Prefixes of string literals in Python and Rust.
        let prefix = usize::from(matches!(spot.bytes(from, from + 2), [b'b' | b'r', b'"' | b'\'']));
        let escapes = spot.run(from + prefix, 3, |byte| byte == b'\\');
        let quote = spot.byte(escapes).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        let from = if quote.is_some() { escapes + 1 } else { from };
        let mut value = Value { from, to: from, quote };
        value.to = value.end(spot, HEAD);
        // A quoted text with a blank in it is a sentence.
        let whole = value.to == from + HEAD || spot.byte(value.to).is_none_or(|byte| Some(byte) == quote || byte == b'\\');
        (quote.is_none() || whole).then_some(value)
    }

    /// End of the value, at most so many bytes on.
    fn end(self, spot: TriggerSpot<'_>, most: usize) -> usize {
        let Some(quote) = self.quote else {
            let stop = |byte: u8| byte <= b' ' || byte == 0x7f || b"\"'`\\,;&<>|)]}".contains(&byte);
            return spot.run(self.from, most, |byte| !stop(byte));
        };
        let end = spot.run(self.from, most, |byte| byte != quote && byte > b' ' && byte != 0x7f);
        // Within a string of JSON the closing quote is escaped itself.
        let slashes = spot.bytes(self.from, end).iter().rev().take_while(|byte| **byte == b'\\').count();
        end - slashes
    }

    fn mark(self, spot: TriggerSpot<'_>) -> Take {
        Take::mark(self.from, self.end(spot, LONGEST))
    }

    /// The value behind a type annotation: `token: &str = "…"`.
    fn typed(self, spot: TriggerSpot<'_>) -> Option<Value> {
        let sign = spot.run(self.to, 16, |byte| is_word(byte) || b" <>[]&|".contains(&byte));
        let typed = self.quote.is_none() && spot.byte(sign) == Some(b'=');
        let value = typed.then(|| Value::read(spot, spot.run(sign + 1, 4, is_blank)))?;
        value.filter(|value| value.quote.is_some())
    }

    fn secret(self, spot: TriggerSpot<'_>, strength: Strength) -> bool {
        let value = spot.bytes(self.from, self.to);
        guess::secret(value, strength, self.quote.is_some()) && (self.quote.is_some() || !self.argument(spot, value) && !self.is_type(spot))
    }

    /// Whether this is a type, with the value after it: `PASSWORD_KIND: MSV1_0_TYPE = …`.
    fn is_type(self, spot: TriggerSpot<'_>) -> bool {
        spot.byte(spot.run(self.to, 2, is_blank)) == Some(b'=')
    }

    /// Whether the value could be a variable passed to a function: `connect(password=pw2, …)`.
    fn argument(self, spot: TriggerSpot<'_>, value: &[u8]) -> bool {
        matches!(spot.byte(self.to), Some(b')' | b',' | b'}' | b']' | b'|'))
            && value.iter().all(|byte| is_word(*byte) || *byte == b'.')
            && value.first().is_some_and(|first| !first.is_ascii_digit())
            && !guess::random(value)
            // In `${PASSWORD:-word}` the word is a default value, not a variable.
            && spot.before(self.from, 1) != b"-"
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
