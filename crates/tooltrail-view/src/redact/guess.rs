//! Whether a value that is named like a secret looks like one, or like a word, a placeholder or code.
//!
//! No rule here is certain. Where it is even, passwords go and identifiers stay: a reader of code that lost its names has nothing.

use super::spot::{holds_folded, is_word, starts_folded};

/// How much a value has to look like a secret, by what its name says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Strength {
    /// `password`: people think of them, so a word and a digit will do.
    Password,
    /// `PASSWORD=` in settings: nothing else than a password is there, so any word will do.
    Setting,
    /// `secret`: people or machines.
    Secret,
    /// `token`, `api_key`: machines made them.
    Token,
    /// The name says little.
    Name,
}

/// Values that stand for a value.
const PLACEHOLDERS: &str = "true false your my- my_ changeme change-me change_me replace insert enter example dummy placeholder fake mock sample redacted \
    hidden masked secret- none null undefined todo xxx *** ... abc123 sk-xxx arn: 0x0000 test- test_";

/// Whether this says that a value belongs here and is none.
pub(super) fn placeholder(value: &[u8]) -> bool {
    let opens = match value {
        [b'<' | b'{' | b'[' | b'(' | b'*' | b'#' | b'&' | b'%' | b'`', ..] => true,
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

/// Whether the letters are made up: few different ones, one many times over, or a word that says so.
pub(super) fn filler(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let kinds = seen.iter().filter(|seen| **seen).count();
    let head = value.get(..256).unwrap_or(value);
    let repeats = head.chunk_by(|a, b| a == b).any(|same| same.len() >= 6 && same[0] != b'=');
    let says = [&b"example"[..], b"your", b"xxxx", b"placeholder", b"redacted", b"1234567890", b"abcdefgh", b"foobar", b"dummy"];
    value.len() >= 6 && kinds < (value.len() / 3).clamp(3, 6) || repeats || says.iter().any(|word| holds_folded(head, word))
}

/// Whether this is a path, an address or a piece of code rather than a value.
pub(super) fn code(value: &[u8]) -> bool {
    let path = || matches!(value, [b'/' | b'~', ..] | [b'.', b'/' | b'.', ..] | [_, b':', b'\\' | b'/', ..]) || slashed(value);
    let dotted = || value.contains(&b'.') && value.split(|byte| *byte == b'.').all(identifier);
    let url = || value.windows(3).any(|window| window == b"://");
    // A secret key of AWS has forty letters, and slashes anywhere.
    value.contains(&b'|') || url() || dotted() || value.len() != 40 && path()
}

/// `a/b/c`, words with slashes between.
fn slashed(value: &[u8]) -> bool {
    value.contains(&b'/') && value.split(|byte| *byte == b'/').all(|part| !random(part) && part.len() < 30)
}

/// Whether a variable could be called so.
fn identifier(part: &[u8]) -> bool {
    part.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && part.iter().all(|byte| is_word(*byte))
        && !random(part)
}

/// Whether there are letters as well as digits.
pub(super) fn letters_and_digits(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_alphabetic) && value.iter().any(u8::is_ascii_digit)
}

/// Whether a machine drew the letters: long, and small and capital letters and digits change far more often than in words.
pub(super) fn random(value: &[u8]) -> bool {
    const LEAST: usize = 12;
    let legal = value.iter().all(|byte| is_word(*byte) || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'~' | b'-' | b'%' | b':'));
    let kinds = letters_and_digits(value) || value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    value.len() >= LEAST && legal && kinds && {
        let letters = value.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        letters >= LEAST && letters * 10 <= words(value) * 30
    }
}

/// How many words, numbers and capital letters the value is made of: `Uint8Array` of three.
fn words(value: &[u8]) -> usize {
    #[derive(PartialEq)]
    enum Kind {
        Small,
        Capital,
        Digit,
        Other,
    }
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => Kind::Small,
        b'A'..=b'Z' => Kind::Capital,
        b'0'..=b'9' => Kind::Digit,
        _ => Kind::Other,
    };
    let (mut count, mut last) = (0, Kind::Other);
    for byte in value {
        let this = kind(*byte);
        // A capital letter and the small ones after it are one word.
        let goes_on = this == last || last == Kind::Capital && this == Kind::Small;
        count += usize::from(this != Kind::Other && !goes_on);
        last = this;
    }
    count
}

/// Whether it has the form of a UUID.
fn uuid(value: &[u8]) -> bool {
    value.len() == 36 && value.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12])
}

/// Whether a value that is named like a secret is one.
pub(super) fn secret(value: &[u8], strength: Strength, quoted: bool) -> bool {
    let mixed = letters_and_digits(value);
    let odd = value.iter().any(|byte| b"!#%^&*@?$".contains(byte));
    let one_word = || value.iter().all(|byte| is_word(*byte) || !byte.is_ascii());
    let looks = match strength {
        Strength::Name => value.len() >= 20 && mixed && random(value) && !uuid(value),
        Strength::Token => value.len() >= 12 && (random(value) || mixed && odd),
        Strength::Secret => random(value) || value.len() >= 8 && mixed && (odd || quoted && one_word()),
        Strength::Setting => value.len() >= 6 && !about(value),
        Strength::Password if value.iter().all(u8::is_ascii_digit) => value.len() >= 6,
        Strength::Password => random(value) || value.len() >= 6 && (mixed || odd && value.iter().any(u8::is_ascii_alphabetic)),
    };
    looks && !placeholder(value) && !code(value) && (quoted || !expression(value))
}

/// Whether a value without quotes is to be worked out, `creds[1]` or `module::NAME2`, or is called like what it holds, as in
/// `self.db2_password = db2_password`.
fn expression(value: &[u8]) -> bool {
    let signs = value.iter().any(|byte| matches!(byte, b'(' | b'[')) || value.windows(2).any(|two| two == b"::");
    signs || identifier(value) && about(value)
}

/// Whether the value speaks of secrets instead of being one.
fn about(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"pass", b"pwd", b"secret", b"token", b"key"];
    WORDS.iter().any(|word| holds_folded(value, word)) && !random(value)
}
