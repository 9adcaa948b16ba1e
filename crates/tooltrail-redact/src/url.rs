//! Passwords in URLs: `scheme://user:password@host`. Scheme, user and host stay.

use crate::spot::{Take, TriggerSpot, starts_folded};
use crate::values::{placeholder, random};

/// The password, or a key that stands alone before the `@`.
pub(crate) fn userinfo(spot: TriggerSpot<'_>) -> Option<Take> {
    const MOST: usize = 512;
    let stop = |byte: u8| byte <= b' ' || matches!(byte, b'/' | b'?' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|');
    let end = spot.run(spot.end, MOST, |byte| !stop(byte));
    let authority = spot.bytes(spot.end, end);
    // A password may contain an `@`, and where it is not encoded a `/` or a `?`; a host never does.
    let info = match authority.iter().rposition(|byte| *byte == b'@') {
        Some(at) => &authority[..at],
        None => slashed(spot, end)?,
    };
    match info.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let (user, password) = (&info[..colon], &info[colon + 1..]);
            (!stands_in(user, password)).then(|| Take::mark(spot.end + colon + 1, spot.end + info.len()))
        }
        // A user name alone stays, unless it looks like a key, as in a Sentry DSN.
        None => (info.len() >= 20 && (random(info) || is_hash(info)) && !placeholder(info, false))
            .then(|| Take::mark(spot.end, spot.end + info.len())),
    }
}

/// Whether a user name is a number in hexadecimal, as long as keys are.
fn is_hash(info: &[u8]) -> bool {
    info.len() >= 32 && info.iter().all(u8::is_ascii_hexdigit)
}

/// The user and a password with slashes in it, as people write it by mistake. A port and a path look alike, so the password must not
/// begin with a digit only.
fn slashed(spot: TriggerSpot<'_>, end: usize) -> Option<&[u8]> {
    let rest = spot.bytes(spot.end, spot.run(end, 128, |byte| byte > b' ' && !b"\"'`<>\\|@,".contains(&byte)));
    let colon = rest.iter().position(|byte| *byte == b':')?;
    let first = rest.iter().position(|byte| matches!(byte, b'/' | b'?'))?;
    let port = rest.get(colon + 1..first)?.iter().all(u8::is_ascii_digit);
    let at = spot.byte(spot.end + rest.len()) == Some(b'@')
        && spot.byte(spot.end + rest.len() + 1).is_some_and(|byte| byte.is_ascii_alphanumeric());
    (colon < first && !port && at && !rest.get(..colon)?.contains(&b'.')).then_some(rest)
}

/// Whether the password is only the word for one, as in `user:pass@`, or repeats the user's name.
pub(crate) fn stands_in(user: &[u8], password: &[u8]) -> bool {
    const WORDS: [&str; 9] = ["pass", "password", "passwd", "pwd", "pw", "secret", "token", "x-oauth-basic", "x-access-token"];
    let word = WORDS.iter().any(|word| starts_folded(password, word.as_bytes()) && password.len() == word.len());
    password.len() < 3 || word || user == password || placeholder(password, false) || crate::values::common(password) && password.len() < 5
}
