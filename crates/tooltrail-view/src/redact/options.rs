//! Passwords that programs are given by a short option: `curl -u jane:…`, `mysql -p…`, `sshpass -p …`. What such an option means
//! depends on the program, so it is looked for in the command before the option.

use super::guess;
use super::spot::{Spot, Take};
use super::url::stands_in;

/// So far before its option a program is looked for.
const COMMAND: usize = 512;
/// So long is a password at most.
const LONGEST: usize = 256;

/// `-u name:password` of `curl`; the name stays.
pub(super) fn user(spot: Spot<'_>) -> Option<Take> {
    let (from, to) = value(spot, spot.run(spot.end, 3, |byte| byte == b' ' || byte == b'='));
    let info = spot.bytes(from, to);
    let colon = info.iter().position(|byte| *byte == b':')?;
    let (name, password) = (&info[..colon], &info[colon + 1..]);
    let ids = info.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
    (!ids && !stands_in(name, password) && runs(spot, &["curl"])).then(|| Take::mark(from + colon + 1, to))
}

/// `-p` with the password behind it; some programs want a blank between, and for others that would be no password.
pub(super) fn password(spot: Spot<'_>) -> Option<Take> {
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
    let logs_in = || !runs(spot, &["docker", "podman"]) || runs(spot, &["login"]);
    (secret && runs(spot, programs) && logs_in()).then(|| Take::mark(from, to))
}

/// Where the value that begins here begins and ends, without its quotes.
fn value(spot: Spot<'_>, from: usize) -> (usize, usize) {
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
fn runs(spot: Spot<'_>, words: &[&str]) -> bool {
    let before = spot.before(spot.at, COMMAND);
    let ends = |at: usize| match before.get(at) {
        Some(b'|' | b';' | b'&') => true,
        // A backslash takes the command on to the next line.
        Some(b'\n') => at == 0 || before.get(at - 1) != Some(&b'\\'),
        _ => false,
    };
    let begin = (0..before.len()).rev().find(|at| ends(*at)).map_or(0, |at| at + 1);
    let mut names = before[begin..].split(|byte| *byte <= b' ' || b"\"'`()$\\/".contains(byte));
    names.any(|name| words.iter().any(|word| word.as_bytes() == name))
}
