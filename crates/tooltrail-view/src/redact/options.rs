//! Passwords passed to programs by a short option: `curl -u jane:…`, `mysql -p…`, `sshpass -p …`. The meaning of such an
//! option depends on the program, so the command before the option is searched for its name.

use super::guess;
use super::spot::{Take, TriggerSpot};
use super::url::stands_in;

/// Bytes before the option that are searched for the program's name.
const COMMAND: usize = 512;
/// The longest password.
const LONGEST: usize = 256;

/// `-u name:password` of `curl`; the name stays.
pub(super) fn user(spot: TriggerSpot<'_>) -> Option<Take> {
    let (from, to) = value(spot, spot.run(spot.end, 3, |byte| byte == b' ' || byte == b'='));
    let info = spot.bytes(from, to);
    let colon = info.iter().position(|byte| *byte == b':')?;
    let (name, password) = (&info[..colon], &info[colon + 1..]);
    // `docker run -u 1000:1000` and the like are ids, not names.
    let ids = info.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
    (!ids && !stands_in(name, password) && runs(spot, &["curl"])).then(|| Take::mark(from + colon + 1, to))
}

/// `-p` with the password behind it. Some programs require a blank between; for others a separate word would not be the
/// password.
pub(super) fn password(spot: TriggerSpot<'_>) -> Option<Take> {
    const JOINED: &[&str] = &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin", "sshpass"];
    const APART: &[&str] = &["sshpass", "docker", "podman"];
    let blank = spot.run(spot.end, 3, |byte| byte == b' ');
    let (from, to) = value(spot, blank);
    let password = spot.bytes(from, to);
    // `docker run -p 8080:80` is about ports.
    let port = password.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'/' | b'-'));
    let programs = if blank == spot.end { JOINED } else { APART };
    let other = (port && blank > spot.end) || password.starts_with(b"-") || guess::placeholder(password);
    let secret = password.len() >= 3 && !other;
    // Only `docker login` takes a password by `-p`.
    let logs_in = || !runs(spot, &["docker", "podman"]) || runs(spot, &["login"]);
    (secret && runs(spot, programs) && logs_in()).then(|| Take::mark(from, to))
}

/// Start and end of a value without its quotes.
fn value(spot: TriggerSpot<'_>, from: usize) -> (usize, usize) {
    let from = spot.run(from, 2, |byte| byte == b'\\');
    let quote = spot.byte(from).filter(|byte| matches!(byte, b'"' | b'\''));
    let from = from + usize::from(quote.is_some());
    let stop = |byte: u8| match quote {
        Some(quote) => byte == quote || byte == b'\\' || byte < b' ',
        None => byte <= b' ' || b"\"'`\\;|&<>()".contains(&byte),
    };
    (from, spot.run(from, LONGEST, |byte| !stop(byte)))
}

/// Whether one of these words stands in the command that the option belongs to.
fn runs(spot: TriggerSpot<'_>, words: &[&str]) -> bool {
    let before = spot.before(spot.at, COMMAND);
    // Operators of the shell end a command: a program before them has other options.
    let ends = |at: usize| match before.get(at) {
        Some(b'|' | b';' | b'&') => true,
        // A backslash takes the command on to the next line.
        Some(b'\n') => at == 0 || before.get(at - 1) != Some(&b'\\'),
        _ => false,
    };
    let begin = (0..before.len()).rev().find(|at| ends(*at)).map_or(0, |at| at + 1);
    // Split at slashes too, so that `/usr/bin/mysql` is found.
    let mut names = before[begin..].split(|byte| *byte <= b' ' || b"\"'`()$\\/".contains(byte));
    names.any(|name| words.iter().any(|word| word.as_bytes() == name))
}
