//! Secrets recognised by their own shape: prefix, alphabet and length.

use crate::base64;
use crate::spot::{Take, TriggerSpot, is_blank, is_url, is_word};
use crate::value::LONGEST;
use crate::values::{filler, letters_and_digits, random};

/// A token that begins with its trigger, followed by a number of characters of one alphabet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) letters: Letters,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Whether the trigger stays, because it names the secret and is not part of it. Otherwise it must begin a word, since
    /// in long base64 any few letters occur somewhere.
    pub(crate) named: bool,
}

/// Alphabets of tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Letters {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Characters of URL paths and of base64, including percent escapes.
    Path,
    /// Hexadecimal digits.
    Hex,
    /// Upper-case letters and digits.
    Upper,
}

impl Letters {
    pub(crate) fn has(self, byte: u8) -> bool {
        match self {
            Letters::Plain => byte.is_ascii_alphanumeric(),
            Letters::Url => is_url(byte),
            Letters::Dotted => is_url(byte) || byte == b'.',
            Letters::Path => is_url(byte) || matches!(byte, b'/' | b'+' | b'=' | b'%' | b'.' | b'~'),
            Letters::Hex => byte.is_ascii_hexdigit(),
            Letters::Upper => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
        }
    }
}

impl Token {
    /// The token at this position.
    pub(crate) fn take(self, spot: TriggerSpot<'_>) -> Option<Take> {
        // What is made up shows it in the beginning, so a long run is read once, not at each trigger in it.
        const HEAD: usize = 256;
        let head = spot.run(spot.end, self.most.min(HEAD), |byte| self.letters.has(byte));
        if head < spot.end + self.least.min(HEAD) || filler(spot.bytes(spot.end, head)) || !self.named && !spot.begins(spot.at) {
            return None;
        }
        let mut to = spot.run(head, self.most - (head - spot.end), |byte| self.letters.has(byte));
        // A full stop or dashes at the end belong to the sentence.
        while to > spot.end && matches!(spot.byte(to - 1), Some(b'.' | b'~')) {
            to -= 1;
        }
        let body = spot.bytes(spot.end, to);
        // Tokens of fixed length must end there: a longer run is something else, such as a hash.
        let open = self.most == LONGEST;
        let fits = body.len() >= self.least && (open || spot.ends(to));
        // Sixteen capitals without a digit are one in thirty keys of AWS.
        let capitals = !open && matches!(self.letters, Letters::Upper) && body.iter().all(u8::is_ascii_uppercase);
        if !fits || filler(body) || body.len() >= 12 && !plausible(body) && !capitals {
            return None;
        }
        let to = if open { wrapped(spot, spot.at, to, self.letters) } else { to };
        Some(Take::mark(if self.named { spot.end } else { spot.at }, to))
    }
}

/// Whether characters of a token could be drawn by chance: not the words of a name such as `npm_config_registry`.
fn plausible(body: &[u8]) -> bool {
    letters_and_digits(body) || body.iter().any(u8::is_ascii_lowercase) && body.iter().any(u8::is_ascii_uppercase) || body.len() >= 30
}

/// End of a token that a terminal broke at the end of a full line and goes on below.
fn wrapped(spot: TriggerSpot<'_>, from: usize, to: usize, letters: Letters) -> usize {
    const FULL: usize = 60;
    let before = spot.bytes(from.saturating_sub(512), from);
    let line = before.iter().rposition(|byte| *byte == b'\n').map_or(before.len(), |at| before.len() - at - 1) + (to - from);
    let next = spot.run(to, 2, |byte| byte == b'\r' || byte == b'\n');
    let next = if next > to { spot.run(next, 8, is_blank) } else { next };
    let end = spot.run(next, LONGEST, |byte| letters.has(byte));
    let tail = spot.bytes(next, end);
    let goes_on = next > to && line >= FULL && tail.len() >= 4 && spot.ends(end) && (letters_and_digits(tail) || random(tail));
    if goes_on { end } else { to }
}

/// An OpenAI key of the old form, and lookalikes of other vendors: `sk-` and letters. It must look random, because `sk-…`
/// is also used for CSS classes.
pub(crate) fn secret_key(spot: TriggerSpot<'_>) -> Option<Take> {
    let to = spot.run(spot.end, LONGEST, |byte| byte.is_ascii_alphanumeric());
    let body = spot.bytes(spot.end, to);
    // `OpenAI` in base64, which stands in the middle of its keys.
    let own = body.windows(8).any(|part| part == b"T3BlbkFJ");
    (body.len() >= 20 && spot.begins(spot.at) && (random(body) || own) && !filler(body)).then(|| Take::mark(spot.at, to))
}

/// A JSON web token: `eyJ….eyJ….…`. The signature may be cut off.
pub(crate) fn jwt(spot: TriggerSpot<'_>) -> Option<Take> {
    // Within a longer run it would be looked for at each of its letters.
    if !spot.begins(spot.at) || spot.before(spot.at, 1) == b"-" {
        return None;
    }
    let head = spot.run(spot.end, LONGEST, is_url);
    // `eyJ` is `{"` in base64, with which both header and payload begin. Encrypted ones have four more parts.
    if head < spot.end + 8 || spot.byte(head) != Some(b'.') {
        return None;
    }
    let plain = spot.bytes(head, head + 4) == b".eyJ" || spot.bytes(head, head + 2) == b"..";
    let mut to = spot.run(head + 1, LONGEST, |byte| is_url(byte) || byte == b'.');
    while to > head && spot.byte(to - 1) == Some(b'.') {
        to -= 1;
    }
    let parts = spot.bytes(head, to).iter().filter(|byte| **byte == b'.').count();
    let whole = to >= head + 12 && (plain || parts >= 4);
    whole.then(|| Take::mark(spot.at, wrapped(spot, spot.at, to, Letters::Dotted)))
}

/// Parts of a shape: how many characters of which alphabet, and what comes behind them.
type Part = (Letters, usize, usize, &'static str);

/// End of these parts, one after the other.
fn parts(spot: TriggerSpot<'_>, from: usize, parts: &[Part]) -> Option<usize> {
    let mut at = from;
    for (letters, least, most, sign) in parts {
        let end = spot.run(at, *most, |byte| letters.has(byte));
        if end < at + least || spot.bytes(end, end + sign.len()) != sign.as_bytes() {
            return None;
        }
        at = end + sign.len();
    }
    spot.ends(at).then_some(at)
}

fn shaped(spot: TriggerSpot<'_>, from: usize, shape: &[Part]) -> Option<Take> {
    let to = parts(spot, from, shape).filter(|to| !filler(spot.bytes(from, *to)))?;
    spot.begins(spot.at).then(|| Take::mark(spot.at, to))
}

use Letters::{Hex, Plain, Upper, Url};

/// A SendGrid key: `SG.` and two parts.
pub(crate) fn sendgrid(spot: TriggerSpot<'_>) -> Option<Take> {
    shaped(spot, spot.end, &[(Url, 16, 32, "."), (Url, 32, 64, "")])
}

/// A secret key of 1Password: `A3-` and groups of capitals.
pub(crate) fn one_password(spot: TriggerSpot<'_>) -> Option<Take> {
    const SHORT: &[Part] = &[(Upper, 6, 6, "-"), (Upper, 11, 11, "-"), (Upper, 5, 5, "-"), (Upper, 5, 5, "-"), (Upper, 5, 5, "")];
    const LONG: &[Part] =
        &[(Upper, 6, 6, "-"), (Upper, 6, 6, "-"), (Upper, 5, 5, "-"), (Upper, 5, 5, "-"), (Upper, 5, 5, "-"), (Upper, 5, 5, "")];
    shaped(spot, spot.end, SHORT).or_else(|| shaped(spot, spot.end, LONG))
}

/// A token of Harness: `pat.` and three parts.
pub(crate) fn harness(spot: TriggerSpot<'_>) -> Option<Take> {
    shaped(spot, spot.end, &[(Url, 22, 22, "."), (Plain, 24, 24, "."), (Plain, 20, 20, "")])
}

/// A token of Dynatrace: `dt0c01.` and two parts.
pub(crate) fn dynatrace(spot: TriggerSpot<'_>) -> Option<Take> {
    shaped(spot, spot.end, &[(Upper, 24, 24, "."), (Plain, 64, 64, "")])
}

/// An origin key of Cloudflare: `v1.0-` and two parts.
pub(crate) fn cloudflare(spot: TriggerSpot<'_>) -> Option<Take> {
    shaped(spot, spot.end, &[(Hex, 24, 24, "-"), (Hex, 146, 146, "")])
}

/// A public token of Mapbox stays; a secret one begins with `sk.`.
pub(crate) fn mapbox(spot: TriggerSpot<'_>) -> Option<Take> {
    shaped(spot, spot.at + 3, &[(Url, 20, 120, "."), (Url, 20, 30, "")])
}

/// A token of Okta: `00` and forty characters. Only a header or a name tells it from others.
pub(crate) fn okta(spot: TriggerSpot<'_>) -> Option<Take> {
    let to = parts(spot, spot.end, &[(Url, 40, 40, "")])?;
    let word = spot.bytes(spot.end, to);
    random(word).then(|| Take::mark(spot.end - 2, to))
}

/// A token of HashiCorp's Terraform: fourteen characters, `.atlasv1.`, and sixty or so.
pub(crate) fn terraform(spot: TriggerSpot<'_>) -> Option<Take> {
    let head = spot.before(spot.at, 15).iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let to = parts(spot, spot.end, &[(Url, 40, 80, "")])?;
    (head == 14).then(|| Take::mark(spot.at - head, to))
}

/// A client secret of Azure: three characters and a digit, `Q~`, and thirty or so.
pub(crate) fn azure_secret(spot: TriggerSpot<'_>) -> Option<Take> {
    let letter = |byte: u8| is_url(byte) || matches!(byte, b'.' | b'~');
    let head = spot.before(spot.at, 4);
    let to = spot.run(spot.end, 40, letter);
    let shape =
        head.len() == 4 && head.iter().all(|byte| letter(*byte)) && head[3].is_ascii_digit() && (31..=34).contains(&(to - spot.end));
    shape.then(|| Take::mark(spot.at - 4, to))
}

/// A licence key of MaxMind: two parts and `_mmk`.
pub(crate) fn maxmind(spot: TriggerSpot<'_>) -> Option<Take> {
    let head = spot.before(spot.at, 37);
    let len = head.iter().rev().take_while(|byte| is_word(**byte)).count();
    let shape = len == 36 && head.get(head.len() - 30) == Some(&b'_');
    (shape && spot.ends(spot.end)).then(|| Take::mark(spot.at - 36, spot.end))
}

/// A key of Mailchimp: 32 hexadecimal digits, `-us`, and a number.
pub(crate) fn mailchimp(spot: TriggerSpot<'_>) -> Option<Take> {
    let head = spot.before(spot.at, 33);
    let len = head.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let to = spot.run(spot.end, 3, |byte| byte.is_ascii_digit());
    (len == 32 && to > spot.end && spot.ends(to)).then(|| Take::mark(spot.at - 32, to))
}

/// A Telegram bot's token: its number, `:A` and 34 characters.
pub(crate) fn telegram(spot: TriggerSpot<'_>) -> Option<Take> {
    // The number stands before the trigger, so it is read backwards.
    let digits = spot.before(spot.at, 17).iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let from = spot.at - digits;
    let to = spot.run(spot.end, 40, is_url);
    let shape = (6..=16).contains(&digits) && to - spot.end == 34;
    (shape && !filler(spot.bytes(spot.end, to))).then(|| Take::mark(from, to))
}

/// A Discord bot's token: the base64 of its number, a time and a signature, separated by dots.
pub(crate) fn discord(spot: TriggerSpot<'_>) -> Option<Take> {
    if !spot.begins(spot.at) {
        return None;
    }
    // Checked before decoding, because the triggers are two common letters.
    let id = spot.run(spot.at, 30, |byte| byte.is_ascii_alphanumeric());
    let time = spot.run(id + 1, 8, is_url);
    let to = spot.run(time + 1, 48, is_url);
    let dots = spot.byte(id) == Some(b'.') && spot.byte(time) == Some(b'.');
    let shape = dots && (23..=28).contains(&(id - spot.at)) && time - id == 7 && to - time >= 28;
    // Each may look like words by chance; names with dots have no digits between small letters and capitals in the end.
    let signature = spot.bytes(time + 1, to);
    let mixed =
        letters_and_digits(signature) && signature.iter().any(u8::is_ascii_lowercase) && signature.iter().any(u8::is_ascii_uppercase);
    (shape && (random(spot.bytes(spot.at, id)) || mixed)).then(|| Take::mark(spot.at, to))
}

/// A private key of Bitcoin as wallets export it: 51 or 52 characters of base58.
pub(crate) fn wif(spot: TriggerSpot<'_>) -> Option<Take> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() && !b"0OIl".contains(&byte);
    if !spot.begins(spot.at) {
        return None;
    }
    let to = spot.run(spot.at, 53, letter);
    let key = spot.bytes(spot.at, to);
    let len = if key.first() == Some(&b'5') { 51 } else { 52 };
    let before = spot.before(spot.at, 2);
    // Within base64 such letters are chance; the sign of a patch is none of it.
    let coded = matches!(spot.byte(to), Some(b'+' | b'/' | b'='))
        || matches!(before.last(), Some(b'/' | b'+')) && !matches!(before, [b'\n', _] | [_]);
    (key.len() == len
        && spot.ends(to)
        && !coded
        && [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit].iter().all(|kind| key.iter().any(kind)))
    .then(|| Take::mark(spot.at, to))
}

/// A password's hash as systems store it: `$6$…$…`, `$2b$…`, `$argon2id$…`, `pbkdf2_sha256$…`.
pub(crate) fn hash(spot: TriggerSpot<'_>) -> Option<Take> {
    // `{SSHA512}…`: the name of the scheme ends at its brace.
    let braced = spot.byte(spot.at) == Some(b'{');
    let body = if braced { spot.run(spot.end, 16, |byte| byte.is_ascii_alphanumeric() || byte == b'-') + 1 } else { spot.end };
    if braced && !spot.bytes(spot.at, body).ends_with(b"}") {
        return None;
    }
    let to = spot.run(body, 512, |byte| base64::is_letter(byte) || matches!(byte, b'.' | b'$' | b'=' | b',' | b':' | b'_' | b'-'));
    // In `/etc/shadow` a colon ends the hash; in a hash of Werkzeug or PostgreSQL it is part of it.
    let whole = spot.bytes(body, to);
    let colons = matches!(spot.bytes(spot.at, spot.end), b"scrypt:" | b"SCRAM-SHA-256$" | b"pbkdf2:");
    let len = if colons { whole.len() } else { whole.iter().position(|byte| *byte == b':').unwrap_or(whole.len()) };
    let hash = &whole[..len];
    let longest = hash.split(|byte| matches!(byte, b'$' | b'=' | b',' | b':')).map(<[u8]>::len).max().unwrap_or_default();
    (longest >= 20 && !filler(hash)).then(|| Take::mark(spot.at, body + len))
}

/// Hashes of Windows passwords as tools list them: `name:500:LM:NT:::`.
pub(crate) fn ntlm(spot: TriggerSpot<'_>) -> Option<Take> {
    let lm = spot.run(spot.end, 32, |byte| byte.is_ascii_hexdigit());
    let nt = spot.run(lm + 1, 33, |byte| byte.is_ascii_hexdigit());
    (lm == spot.at + 32 && spot.byte(lm) == Some(b':') && nt == lm + 33).then(|| Take::mark(spot.at, nt))
}

/// The last field of a line of `.pgpass`: `host:port:database:user:password`. The trigger is the port.
pub(crate) fn pgpass(spot: TriggerSpot<'_>) -> Option<Take> {
    let host = spot.before(spot.at, 255).iter().rev().take_while(|byte| **byte > b' ' && !b"/:\"'=@\\".contains(byte)).count();
    let before = spot.before(spot.at - host, 2);
    // The letter of a line break that is written out counts as the first of the host.
    let escaped = before.last() == Some(&b'\\') && spot.byte(spot.at - host) == Some(b'n');
    let begins = escaped || matches!(before, [] | [.., b'\n' | b' ' | b'\t' | b'"' | b'\'' | b'>']);
    let field = |from: usize| spot.run(from, 128, |byte| byte > b' ' && !b":/\"'\\,;()".contains(&byte));
    let database = field(spot.end);
    let user = field(database + 1);
    let to = spot.run(user + 1, 256, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'\\'));
    let shape = host > 0
        && begins
        && database > spot.end
        && spot.byte(database) == Some(b':')
        && user > database + 1
        && spot.byte(user) == Some(b':');
    let digits = |from, to| spot.bytes(from, to).iter().all(u8::is_ascii_digit);
    let fields = !digits(spot.end, database) && !digits(database + 1, user) && !digits(user + 1, to);
    (shape && to > user + 3 && fields && !crate::values::placeholder(spot.bytes(user + 1, to), false)).then(|| Take::mark(user + 1, to))
}
