//! Passwords in URLs: `scheme://user:password@host`. Scheme, user and host stay.

use super::guess;
use super::spot::{Take, TriggerSpot, starts_folded};

/// The password, or a key that stands alone before the `@`.
pub(super) fn userinfo(spot: TriggerSpot<'_>) -> Option<Take> {
    const MOST: usize = 512;
    let stop = |byte: u8| byte <= b' ' || matches!(byte, b'/' | b'?' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|');
    let authority = spot.bytes(spot.end, spot.run(spot.end, MOST, |byte| !stop(byte)));
    // A password may contain an `@`; a host never does.
    let info = &authority[..authority.iter().rposition(|byte| *byte == b'@')?];
    match info.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let (user, password) = (&info[..colon], &info[colon + 1..]);
            (!stands_in(user, password)).then(|| Take::mark(spot.end + colon + 1, spot.end + info.len()))
        }
        // A user name alone stays, unless it looks like a key, as in a Sentry DSN.
        None => (info.len() >= 20 && guess::random(info) && !guess::placeholder(info)).then(|| Take::mark(spot.end, spot.end + info.len())),
    }
}

/// Whether the password is only the word for one, as in `user:pass@`, or repeats the user's name.
pub(super) fn stands_in(user: &[u8], password: &[u8]) -> bool {
    const WORDS: [&str; 7] = ["pass", "password", "passwd", "pwd", "pw", "secret", "token"];
    let word = WORDS.iter().any(|word| starts_folded(password, word.as_bytes()) && password.len() == word.len());
    password.is_empty() || word || user == password || guess::placeholder(password)
}
