//! Secrets recognised by their own shape: prefix, alphabet and length.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::guess;
use super::rules;
use super::spot::{Take, TriggerSpot, holds_folded, is_word};

/// A token that begins with its trigger, followed by a number of characters of one alphabet.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) letters: Letters,
    pub(super) least: usize,
    pub(super) most: usize,
    /// Whether the trigger stays, because it names the secret and is not part of it. Otherwise it must begin a word, since
    /// in long base64 any few letters occur somewhere.
    pub(super) named: bool,
}

/// Alphabets of tokens.
#[derive(Clone, Copy)]
pub(super) enum Letters {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Characters of URL paths and of base64, including percent escapes.
    Path,
    /// Lower-case hexadecimal digits.
    Hex,
    /// Upper-case letters and digits.
    Upper,
}

impl Letters {
    fn has(self, byte: u8) -> bool {
        match self {
            Letters::Plain => byte.is_ascii_alphanumeric(),
            Letters::Url => is_url(byte),
            Letters::Dotted => is_url(byte) || byte == b'.',
            Letters::Path => is_url(byte) || matches!(byte, b'/' | b'+' | b'=' | b'%' | b'.' | b'~'),
            Letters::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Letters::Upper => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
        }
    }
}

/// The longest token. Longer ones are redacted up to here, and the rest is looked at like any text.
pub(super) const LONGEST: usize = 16 << 10;

impl Token {
    /// The token at this position.
    pub(super) fn take(self, spot: TriggerSpot<'_>) -> Option<Take> {
        let to = spot.run(spot.end, self.most, |byte| self.letters.has(byte));
        let body = spot.bytes(spot.end, to);
        // Tokens of fixed length must end there: a longer run is something else, such as a hash.
        let fits = body.len() >= self.least && (self.most == LONGEST || spot.ends(to));
        let begins = self.named || spot.begins(spot.at);
        (fits && begins && !guess::filler(body)).then(|| Take::mark(if self.named { spot.end } else { spot.at }, to))
    }
}

/// An OpenAI key of the old form, and lookalikes of other vendors: `sk-` and letters. It must look random, because `sk-…`
/// is also used for CSS classes.
pub(super) fn secret_key(spot: TriggerSpot<'_>) -> Option<Take> {
    let to = spot.run(spot.end, LONGEST, |byte| byte.is_ascii_alphanumeric());
    let body = spot.bytes(spot.end, to);
    (body.len() >= 20 && spot.begins(spot.at) && guess::random(body) && !guess::filler(body)).then(|| Take::mark(spot.at, to))
}

/// A JSON web token: `eyJ….eyJ….…`. The signature may be cut off.
pub(super) fn jwt(spot: TriggerSpot<'_>) -> Option<Take> {
    if !spot.begins(spot.at) {
        return None;
    }
    let head = spot.run(spot.end, LONGEST, is_url);
    // `eyJ` is `{"` in base64, with which both header and payload begin.
    let opens = head >= spot.end + 8 && spot.bytes(head, head + 4) == b".eyJ";
    let body = opens.then(|| spot.run(head + 1, LONGEST, is_url)).filter(|body| *body >= head + 12)?;
    let to = if spot.byte(body) == Some(b'.') { spot.run(body + 1, LONGEST, is_url) } else { body };
    Some(Take::mark(spot.at, to))
}

/// A SendGrid key: `SG.` and two parts.
pub(super) fn sendgrid(spot: TriggerSpot<'_>) -> Option<Take> {
    let dot = spot.run(spot.end, 40, is_url);
    let to = spot.run(dot + 1, 100, is_url);
    let shape = dot >= spot.end + 16 && spot.byte(dot) == Some(b'.') && to > dot + 32;
    (shape && spot.begins(spot.at) && !guess::filler(spot.bytes(dot, to))).then(|| Take::mark(spot.at, to))
}

/// A Telegram bot's token: its number, `:AA` and 33 letters.
pub(super) fn telegram(spot: TriggerSpot<'_>) -> Option<Take> {
    // The number stands before the trigger, so it is read backwards.
    let digits = spot.before(spot.at, 11).iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let from = spot.at - digits;
    let to = spot.run(spot.end, 40, is_url);
    let shape = (8..=10).contains(&digits) && to - spot.end == 33;
    (shape && !guess::filler(spot.bytes(spot.end, to))).then(|| Take::mark(from, to))
}

/// A Discord bot's token: the base64 of its number, a time and a signature, separated by dots.
pub(super) fn discord(spot: TriggerSpot<'_>) -> Option<Take> {
    if !spot.begins(spot.at) {
        return None;
    }
    // Checked before decoding, because the triggers are two common letters.
    let id = spot.run(spot.at, 30, |byte| byte.is_ascii_alphanumeric());
    let time = spot.run(id + 1, 8, is_url);
    let to = spot.run(time + 1, 40, is_url);
    let dots = spot.byte(id) == Some(b'.') && spot.byte(time) == Some(b'.');
    let shape = dots && (23..=28).contains(&(id - spot.at)) && time - id == 7 && to - time >= 28;
    let number = || decode(spot.bytes(spot.at, id)).is_some_and(|plain| plain.iter().all(u8::is_ascii_digit));
    (shape && number()).then(|| Take::mark(spot.at, to))
}

/// `Basic …`, or `"auth": "…"`: base64 of a name, a colon and a password.
pub(super) fn basic(spot: TriggerSpot<'_>) -> Option<Take> {
    let from = spot.run(spot.end, 8, |byte| matches!(byte, b' ' | b'"' | b'\'' | b':' | b'=' | b'\\'));
    let body = spot.run(from, 512, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    let to = spot.run(body, 2, |byte| byte == b'=');
    let apart = from > spot.end && body >= from + 8 && spot.begins(spot.at);
    let plain = apart.then(|| decode(spot.bytes(from, to)))??;
    let names = plain.contains(&b':') && plain.iter().all(|byte| byte.is_ascii_graphic());
    names.then(|| Take::mark(from, to))
}

/// Decodes base64, with or without its padding.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    // Truncated output often ends in the middle of a group.
    const ENGINE: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG.with_decode_allow_trailing_bits(true));
    ENGINE.decode(text).ok()
}

/// `Bearer …`, where the value looks like a token and not like a word.
pub(super) fn bearer(spot: TriggerSpot<'_>) -> Option<Take> {
    let from = spot.run(spot.end, 4, |byte| byte == b' ');
    let to = spot.run(from, LONGEST, |byte| is_url(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'='));
    let value = spot.bytes(from, to);
    let header = holds_folded(spot.before(spot.at, 24), b"authorization");
    // In an Authorization header even a value that does not look random is a token.
    let secret = guess::random(value) || header && value.len() >= 8 && guess::letters_and_digits(value) && !guess::code(value);
    let shown = from > spot.end && spot.begins(spot.at) && secret && !guess::placeholder(value);
    (shown && !rules::token_at(spot, from)).then(|| Take::mark(from, to))
}

/// The values of a `Cookie:` header, where one of them looks random.
pub(super) fn cookie(spot: TriggerSpot<'_>) -> Option<Take> {
    let from = spot.run(spot.end, 4, |byte| byte == b' ');
    let part = |byte: u8| byte == b' ' || byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'`');
    let head = spot.bytes(from, spot.run(from, 1024, part));
    let mut values = head.split(|byte| *byte == b';').filter_map(|one| one.splitn(2, |byte| *byte == b'=').nth(1));
    // The whole header goes: other cookies may identify the session as well.
    values.any(|value| value.len() >= 16 && guess::random(value)).then(|| Take::mark(from, spot.run(from, LONGEST, part)))
}

/// The most bytes of a key that are looked at.
const BODY: usize = 64 << 10;
const DASHES: &[u8] = b"-----";
/// The largest gap between two lines of a key: line numbers, diff signs and file names may stand between them.
const GAP: usize = 48;

/// A private key in PEM, SSH or PGP format, the whole block. Its lines may be escaped, quoted or numbered, and its end cut
/// off.
pub(super) fn private_key(spot: TriggerSpot<'_>) -> Option<Take> {
    let body = key_label(spot, spot.end)?;
    let rest = spot.bytes(body, spot.text.len().min(body + BODY));
    let close = rest.windows(DASHES.len()).position(|window| window == DASHES).map(|at| body + at);
    // In a diff a removed line begins with one more dash.
    let close = close.map(|at| if spot.byte(at + DASHES.len()) == Some(b'-') { at + 1 } else { at });
    // Any five dashes may end the search, but only a real footer ends the key.
    let end = close.filter(|at| spot.bytes(*at, at + 9) == b"-----END ").map(|at| {
        let label = spot.run(at + 9, 48, is_label);
        spot.run(label, DASHES.len(), |byte| byte == b'-')
    });
    let to = end.unwrap_or_else(|| key_lines(spot, body, close.unwrap_or(body + rest.len())));
    has_key(spot.bytes(body, to)).then(|| Take::mark(spot.at, to))
}

/// The end of a private key whose beginning is missing, as `tail` or the last hunk of a patch shows it: searched backwards
/// over its long runs.
pub(super) fn key_tail(spot: TriggerSpot<'_>) -> Option<Take> {
    let to = key_label(spot, spot.end)?;
    let before = spot.before(spot.at, BODY);
    // Not beyond another header or footer: that would be another key.
    let body = before.windows(DASHES.len()).rposition(|window| window == DASHES).map_or(before, |at| &before[at + DASHES.len()..]);
    let (mut at, mut from) = (body.len(), None);
    for run in body.rsplit(|byte| !is_base64(*byte)) {
        let begin = at - run.len();
        let near = from.unwrap_or(body.len()) - at <= GAP;
        // The first line may be cut too.
        let cut = begin == 0 && from.is_some() && guess::random(run);
        if near && (run.len() >= 24 && !guess::filler(run) || cut) {
            from = Some(begin);
        } else if !near {
            break;
        }
        at = begin.saturating_sub(1);
    }
    from.map(|from| Take::mark(spot.at - body.len() + from, to))
}

/// End of the label that begins here, with its dashes; `None` if it is not that of a private key.
fn key_label(spot: TriggerSpot<'_>, from: usize) -> Option<usize> {
    let label = spot.run(from, 48, is_label);
    let end = label + DASHES.len();
    (holds_folded(spot.bytes(from, label), b"PRIVATE KEY") && spot.bytes(label, end) == DASHES).then_some(end)
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

/// End of the base64 of a key whose footer is missing: its long runs, and the rest of a line where the text is cut.
fn key_lines(spot: TriggerSpot<'_>, from: usize, most: usize) -> usize {
    let (mut at, mut end, mut inside) = (from, from, true);
    while at < most && at <= end + GAP {
        let next = spot.run(at, most - at, is_base64);
        let run = spot.bytes(at, next);
        if run.len() >= 24 || inside && next == most {
            (end, inside) = (next, true);
        } else {
            // Between lines there may be line numbers, or the letter of `\n`.
            inside &= run.iter().all(u8::is_ascii_digit) || matches!(run, b"n" | b"r");
        }
        at = next + 1;
    }
    end
}

// Documentation shows headers without a key; those stay.
fn has_key(body: &[u8]) -> bool {
    body.split(|byte| !is_base64(*byte)).any(|run| run.len() >= 24 && !guess::filler(run))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Characters of URL-safe base64.
pub(super) fn is_url(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}
