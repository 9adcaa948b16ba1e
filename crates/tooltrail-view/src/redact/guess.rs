//! Decides whether a value named like a secret looks like one, or like a word, a placeholder or code.
//!
//! No rule here is certain. In doubt passwords are redacted and identifiers stay: code without its names would be
//! worthless.

use super::spot::{holds_folded, is_word, starts_folded};

/// Degree to which a value has to look like a secret, depending on its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Strength {
    /// `password`: chosen by people, so a word and a digit are enough.
    Password,
    /// `PASSWORD=` in settings: only a password can follow, so any word is enough.
    Setting,
    /// `secret`: chosen by people or generated.
    Secret,
    /// `token`, `api_key`: generated.
    Token,
    /// A name that says little.
    Name,
}

/// Beginnings of placeholders.
const PLACEHOLDERS: &str = "true false your my- my_ changeme change-me change_me replace insert enter example dummy placeholder fake mock sample redacted \
    hidden masked secret- none null undefined todo xxx *** ... abc123 sk-xxx arn: 0x0000 test- test_";

/// Whether this is a placeholder for a value.
pub(super) fn placeholder(value: &[u8]) -> bool {
    let opens = match value {
        [b'<' | b'{' | b'[' | b'(' | b'*' | b'#' | b'&' | b'%' | b'`', ..] => true,
        // `$2b$…` and `$argon2…` are password hashes; any other `$` begins a variable.
        [b'$', next, ..] => !next.is_ascii_digit() && !value.starts_with(b"$argon2"),
        [b'-', b'-', ..] => true,
        _ => false,
    };
    opens
        || PLACEHOLDERS.split(' ').any(|word| starts_folded(value, word.as_bytes()))
        || holds_folded(value, b"${")
        || holds_folded(value, b"{{")
        || holds_folded(value, b"...")
        || filler(value)
}

/// Whether the characters are made up: few different ones, one repeated many times, or a word that says so.
pub(super) fn filler(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let kinds = seen.iter().filter(|seen| **seen).count();
    let head = value.get(..256).unwrap_or(value);
    // Padding of base64 repeats `=`.
    let repeats = head.chunk_by(|a, b| a == b).any(|same| same.len() >= 6 && same[0] != b'=');
    let says = [&b"example"[..], b"your", b"xxxx", b"placeholder", b"redacted", b"1234567890", b"abcdefgh", b"foobar", b"dummy"];
    // The longer a value, the more kinds a random one has; six are enough for any length.
    value.len() >= 6 && kinds < (value.len() / 3).clamp(3, 6) || repeats || says.iter().any(|word| holds_folded(head, word))
}

/// Whether this is a path, an address or code rather than a value.
pub(super) fn code(value: &[u8]) -> bool {
    let path = || matches!(value, [b'/' | b'~', ..] | [b'.', b'/' | b'.', ..] | [_, b':', b'\\' | b'/', ..]) || slashed(value);
    let dotted = || value.contains(&b'.') && value.split(|byte| *byte == b'.').all(identifier);
    let url = || value.windows(3).any(|window| window == b"://");
    // A secret key of AWS has forty characters, and slashes anywhere.
    value.contains(&b'|') || url() || dotted() || value.len() != 40 && path()
}

/// `a/b/c`: words with slashes between.
fn slashed(value: &[u8]) -> bool {
    value.contains(&b'/') && value.split(|byte| *byte == b'/').all(|part| !random(part) && part.len() < 30)
}

/// Whether this could be the name of a variable.
fn identifier(part: &[u8]) -> bool {
    part.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && part.iter().all(|byte| is_word(*byte))
        && !random(part)
}

/// Whether there are letters as well as digits.
pub(super) fn letters_and_digits(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_alphabetic) && value.iter().any(u8::is_ascii_digit)
}

/// Whether this looks generated: long, and changing between lower case, upper case and digits far more often than words do.
pub(super) fn random(value: &[u8]) -> bool {
    const LEAST: usize = 12;
    let legal = value.iter().all(|byte| is_word(*byte) || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'~' | b'-' | b'%' | b':'));
    let kinds = letters_and_digits(value) || value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    value.len() >= LEAST && legal && kinds && {
        let letters = value.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        // On average at most three characters per change.
        letters >= LEAST && letters * 10 <= words(value) * 30
    }
}

/// Number of words, numbers and capital letters that the value is made of: three for `Uint8Array`.
fn words(value: &[u8]) -> usize {
    #[derive(PartialEq)]
    enum CharKind {
        Small,
        Capital,
        Digit,
        Other,
    }
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => CharKind::Small,
        b'A'..=b'Z' => CharKind::Capital,
        b'0'..=b'9' => CharKind::Digit,
        _ => CharKind::Other,
    };
    let (mut count, mut last) = (0, CharKind::Other);
    for byte in value {
        let this = kind(*byte);
        // A capital letter and the small ones after it are one word.
        let goes_on = this == last || last == CharKind::Capital && this == CharKind::Small;
        count += usize::from(this != CharKind::Other && !goes_on);
        last = this;
    }
    count
}

/// Whether it has the form of a UUID.
fn uuid(value: &[u8]) -> bool {
    value.len() == 36 && value.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12])
}

/// Whether a value named like a secret is one.
pub(super) fn secret(value: &[u8], strength: Strength, quoted: bool) -> bool {
    let mixed = letters_and_digits(value);
    let odd = value.iter().any(|byte| b"!#%^&*@?$".contains(byte));
    let one_word = || value.iter().all(|byte| is_word(*byte) || !byte.is_ascii());
    let looks = match strength {
        // UUIDs look random but are mostly public ids.
        Strength::Name => value.len() >= 20 && mixed && random(value) && !uuid(value),
        Strength::Token => value.len() >= 12 && (random(value) || mixed && odd),
        Strength::Secret => random(value) || value.len() >= 8 && mixed && (odd || quoted && one_word()),
        Strength::Setting => value.len() >= 6 && !about(value),
        // A number as a password, such as a PIN; shorter ones are counts or ports.
        Strength::Password if value.iter().all(u8::is_ascii_digit) => value.len() >= 6,
        Strength::Password => random(value) || value.len() >= 6 && (mixed || odd && value.iter().any(u8::is_ascii_alphabetic)),
    };
    // Cheap and specific checks above, these last: most values are rejected before.
    looks && !placeholder(value) && !code(value) && (quoted || !expression(value))
}

/// Whether an unquoted value is an expression, `creds[1]` or `module::NAME2`, or a variable named like its content, as in
/// `self.db2_password = db2_password`.
fn expression(value: &[u8]) -> bool {
    let signs = value.iter().any(|byte| matches!(byte, b'(' | b'[')) || value.windows(2).any(|two| two == b"::");
    signs || identifier(value) && about(value)
}

/// Whether the value is a word about secrets rather than a secret.
fn about(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"pass", b"pwd", b"secret", b"token", b"key"];
    WORDS.iter().any(|word| holds_folded(value, word)) && !random(value)
}
