//! Credentials in headers: `Bearer …`, `Basic …`, and cookies.

use crate::assign;
use crate::base64;
use crate::spot::{Take, TriggerSpot, holds_folded};
use crate::value::LONGEST;
use crate::values::{about, code, common, letters_and_digits, mixed, placeholder, random, wordy};

/// `Basic …`: base64 of a name, a colon and a password.
pub(crate) fn basic(spot: TriggerSpot<'_>) -> Option<Take> {
    let from = spot.run(spot.end, 48, |byte| matches!(byte, b' ' | b'"' | b'\'' | b':' | b'=' | b'\\'));
    let body = spot.run(from, 512, base64::is_letter);
    let to = spot.run(body, 2, |byte| byte == b'=');
    let apart = from > spot.end && body >= from + 8 && spot.begins(spot.at);
    let plain = apart.then(|| base64::decode(spot.bytes(from, to)))??;
    let names = plain.contains(&b':') && plain.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    names.then(|| Take::mark(from, to))
}

/// `Bearer …`, where the value looks like a token and not like a word.
pub(crate) fn bearer(spot: TriggerSpot<'_>) -> Option<Take> {
    let from = spot.run(spot.end, 4, |byte| byte == b' ');
    let to = spot.run(from, LONGEST, |byte| byte.is_ascii_alphanumeric() || b"_-.~+/=%:".contains(&byte));
    let value = spot.bytes(from, to);
    let value = value.strip_suffix(b".").unwrap_or(value);
    let to = from + value.len();
    let header = holds_folded(spot.before(spot.at, 24), b"authorization");
    // In an Authorization header even a value that does not look random is a token.
    let secret = random(value)
        || header
            && value.len() >= 6
            && !common(value)
            && !about(value)
            && !code(value)
            && (mixed(value) || !wordy(value) || value.len() >= 8);
    let shown = from > spot.end && spot.begins(spot.at) && secret && !placeholder(value, false);
    shown.then(|| assign::mark(spot, "bearer token", crate::value::Value { from, to, quote: None, ends_line: false }))
}

/// Names of cookies that identify a session, whatever their value looks like.
const SESSIONS: &str =
    "sid sess session token auth csrf xsrf jwt remember login access refresh identity ticket phpsessid connect secret key";

/// Attributes of `Set-Cookie`, which are no cookies.
const ATTRIBUTES: &str = "path domain expires max-age samesite version priority secure httponly partitioned";

/// The values of a `Cookie:` or `Set-Cookie:` header.
pub(crate) fn cookies(spot: TriggerSpot<'_>, out: &mut Vec<Take>) {
    let colon = spot.run(spot.end, 48, |byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b':' | b',' | b'='));
    if spot.bytes(spot.end, colon).iter().any(|byte| matches!(byte, b':' | b'=' | b',')) && spot.begins(spot.at) {
        pairs(spot, colon, out);
    }
}

/// `name=value; name=value`.
pub(crate) fn pairs(spot: TriggerSpot<'_>, from: usize, out: &mut Vec<Take>) {
    const MOST: usize = 64;
    let mut at = from;
    for _ in 0..MOST {
        let name_end = spot.run(at, 128, |byte| byte.is_ascii_alphanumeric() || b"_-.!#$%&*+^|~[]:".contains(&byte));
        let mut next = name_end;
        if name_end > at && spot.byte(name_end) == Some(b'=') {
            let start = name_end + 1;
            let end =
                spot.run(start, LONGEST, |byte| byte.is_ascii_graphic() && !matches!(byte, b';' | b'"' | b'\'' | b'\\' | b'`' | b','));
            let (name, value) = (spot.bytes(at, name_end), spot.bytes(start, end));
            if is_cookie(name, value) {
                out.push(Take::mark(start, end));
            }
            next = end;
        }
        let after = spot.run(next, 4, |byte| matches!(byte, b';' | b' '));
        if after == next || after == at || !spot.bytes(next, after).contains(&b';') {
            break;
        }
        at = after;
    }
}

fn is_cookie(name: &[u8], value: &[u8]) -> bool {
    let listed = |list: &str| list.split(' ').any(|word| name.eq_ignore_ascii_case(word.as_bytes()));
    let session = SESSIONS.split(' ').any(|word| holds_folded(name, word.as_bytes()));
    let telling = value.len() >= 10 && (random(value) || letters_and_digits(value)) || session && value.len() >= 4 && !common(value);
    !listed(ATTRIBUTES) && telling && !placeholder(value, false)
}
