//! Passwords among the arguments of commands and calls: `htpasswd -b file name …`, `echo … | sudo -S`, `basic_auth("name", "…")`.

use crate::commands::{after_word, word};
use crate::spot::{Take, TriggerSpot, starts_folded};
use crate::value::Value;
use crate::values::{about, common, mixed, placeholder};

/// Where the password stands among the words behind the trigger, options not counted.
struct Position {
    command: &'static str,
    /// How many words stand before it.
    before: usize,
}

/// Commands whose password is an argument of its own.
const POSITIONS: &[Position] = &[
    Position { command: "vault login", before: 0 },
    Position { command: "cargo login", before: 0 },
    Position { command: "wpa_passphrase", before: 1 },
    Position { command: "rabbitmqctl add_user", before: 1 },
    Position { command: "rabbitmqctl change_password", before: 1 },
    Position { command: "net user", before: 1 },
    Position { command: "net use", before: 2 },
    Position { command: "mc alias set", before: 3 },
    Position { command: "mc config host add", before: 3 },
    Position { command: "convertto-securestring", before: 0 },
    Position { command: "identified by", before: 0 },
    Position { command: "identified with mysql_native_password by", before: 0 },
    Position { command: "identified with caching_sha2_password by", before: 0 },
    Position { command: "requirepass", before: 0 },
];

/// The password of such a command. The trigger is the beginning of the command.
pub(crate) fn argument(spot: TriggerSpot<'_>) -> Option<Take> {
    let rest = spot.bytes(spot.at, spot.text.len());
    let known = POSITIONS.iter().find(|position| {
        let end = position.command.len();
        starts_folded(rest, position.command.as_bytes()) && rest.get(end).is_some_and(|byte| *byte == b' ')
    })?;
    if !spot.begins(spot.at) {
        return None;
    }
    let mut at = spot.run(spot.at + known.command.len(), 8, |byte| byte == b' ');
    let mut left = known.before;
    // A few options may stand between.
    for _ in 0..12 {
        let (from, to) = word(spot, at);
        let bytes = spot.bytes(from, to);
        // A share begins with backslashes.
        let share = left > 0 && spot.byte(at) == Some(b'\\');
        if bytes.is_empty() && !share {
            return None;
        }
        // In prose anything is identified by something.
        if known.command.starts_with("identified") && spot.byte(spot.at) != Some(b'I') && spot.byte(from.saturating_sub(1)) != Some(b'\'') {
            return None;
        }
        if !bytes.starts_with(b"-") {
            if left == 0 {
                let other = bytes.starts_with(b"/") || bytes == b"*" || bytes.contains(&b'=') && !bytes.ends_with(b"=");
                return (bytes.len() >= 3 && !other && !placeholder(bytes, false) && !common(bytes))
                    .then(|| Take::named("password", from, to));
            }
            // `net use` may name no drive: the word behind the share is the password.
            left = if share { 0 } else { left - 1 };
        }
        at = skip(spot, to);
    }
    None
}

/// Where the next word begins. A share such as `\\host\share` has backslashes of its own.
fn skip(spot: TriggerSpot<'_>, to: usize) -> usize {
    let to = spot.run(to, 200, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b';' | b'|' | b'&'));
    after_word(spot, to)
}

/// `htpasswd -b file name password`, `htpasswd -nb name password`.
pub(crate) fn htpasswd(spot: TriggerSpot<'_>) -> Option<Take> {
    let mut at = spot.run(spot.end, 4, |byte| byte == b' ');
    let (mut batch, mut shown, mut words) = (false, false, 0);
    for _ in 0..10 {
        let (from, to) = word(spot, at);
        let bytes = spot.bytes(from, to);
        if bytes.is_empty() {
            return None;
        }
        if let [b'-', options @ ..] = bytes {
            batch |= options.contains(&b'b');
            shown |= options.contains(&b'n');
            // `-C 10` takes a number.
            if options.ends_with(b"C") {
                at = after_word(spot, word(spot, after_word(spot, to)).1);
                continue;
            }
        } else {
            words += 1;
            if words == if shown { 2 } else { 3 } {
                return (batch && !placeholder(bytes, false)).then(|| Take::named("password", from, to));
            }
        }
        at = after_word(spot, to);
    }
    None
}

/// What is fed to a program that reads a password: `echo … | sudo -S`, `docker login --password-stdin <<< …`.
pub(crate) fn piped(spot: TriggerSpot<'_>) -> Option<Take> {
    const COMMAND: usize = 200;
    let trigger = spot.bytes(spot.at, spot.end);
    let line = spot.run(spot.end, COMMAND, |byte| !matches!(byte, b'\n' | b';' | b'|'));
    let behind = spot.bytes(spot.end, line);
    // `sudo` reads a password only where it is told to.
    if trigger == b"sudo" && !behind.split(|byte| *byte == b' ').any(|word| word == b"-S" || word == b"--stdin" || word == b"-kS") {
        return None;
    }
    let users = trigger == b"chpasswd";
    let here = behind.windows(3).position(|three| three == b"<<<").map(|at| spot.run(spot.end + at + 3, 4, |byte| byte == b' '));
    let (from, to) = match here {
        Some(at) => word(spot, at),
        None => echoed(spot)?,
    };
    let mut from = from;
    if users {
        from += spot.bytes(from, to).iter().position(|byte| *byte == b':')? + 1;
    }
    let bytes = spot.bytes(from, to);
    let bytes = bytes.strip_suffix(b"\\n").unwrap_or(bytes);
    (bytes.len() >= 3 && !placeholder(bytes, false) && !bytes.starts_with(b"$")).then(|| Take::named("password", from, from + bytes.len()))
}

/// What `echo` or `printf` writes into the pipe that ends before the trigger's command.
fn echoed(spot: TriggerSpot<'_>) -> Option<(usize, usize)> {
    let before = spot.before(spot.at, 400);
    let start = spot.at - before.len();
    let pipe = before.iter().rposition(|byte| matches!(byte, b'|' | b'\n' | b';')).filter(|at| before.get(*at) == Some(&b'|'))?;
    let writer = &before[..pipe];
    let find = |name: &[u8]| writer.windows(name.len()).rposition(|window| window == name).map(|at| at + name.len());
    let (mut at, format) = match (find(b"echo "), find(b"printf ")) {
        (Some(echo), Some(printf)) if printf > echo => (printf, true),
        (Some(echo), _) => (echo, false),
        (None, Some(printf)) => (printf, true),
        (None, None) => return None,
    };
    for _ in 0..4 {
        let blank = spot.run(start + at, 8, |byte| byte == b' ');
        let (from, to) = word(spot, blank);
        let bytes = spot.bytes(from, to);
        let skipped = matches!(bytes, [b'-', rest @ ..] if rest.iter().all(u8::is_ascii_alphabetic)) || format && bytes.starts_with(b"%s");
        if !skipped {
            return (to <= start + pipe && to > from).then_some((from, to));
        }
        let quotes = spot.run(to, 8, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b'n'));
        at = quotes - start;
    }
    None
}

/// `openssl … pass:VALUE`.
pub(crate) fn openssl(spot: TriggerSpot<'_>) -> Option<Take> {
    let before = spot.before(spot.at, 300);
    let opens = matches!(before.last(), Some(b' ' | b'"' | b'\'' | b'='));
    let known =
        [&b"openssl"[..], b"-passin", b"-passout", b"-pass"].iter().any(|word| before.windows(word.len()).any(|window| window == *word));
    let to = spot.run(spot.end, 256, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'\\' | b';' | b'|' | b')'));
    let value = spot.bytes(spot.end, to);
    (opens && known && value.len() >= 3 && !placeholder(value, false) && !common(value)).then(|| Take::named("password", spot.end, to))
}

/// `--from-literal=name=value` of `kubectl create secret`.
pub(crate) fn literal(spot: TriggerSpot<'_>) -> Option<Take> {
    let from = spot.run(spot.end, 2, |byte| byte == b'=' || byte == b' ');
    let (from, to) = word(spot, from);
    let sign = spot.bytes(from, to).iter().position(|byte| *byte == b'=')?;
    let (start, end) = if from + sign + 1 == to { word(spot, to) } else { (from + sign + 1, to) };
    let (name, value) = (spot.bytes(from, from + sign), spot.bytes(start, end));
    let secret = crate::names::classify(name).is_some() || mixed(value);
    (secret && value.len() >= 3 && !placeholder(value, false)).then(|| Take::named("secret", start, end))
}

/// `gh secret set NAME --body VALUE`.
pub(crate) fn body(spot: TriggerSpot<'_>) -> Option<Take> {
    let line = spot.bytes(spot.end, spot.run(spot.end, 200, |byte| !matches!(byte, b'\n' | b';' | b'|')));
    let find = |name: &[u8]| line.windows(name.len()).position(|window| window == name).map(|at| spot.end + at + name.len());
    let at = find(b" --body ").or_else(|| find(b" -b ")).or_else(|| find(b" --body=")).or_else(|| find(b" -b"))?;
    let (from, to) = word(spot, at);
    let value = spot.bytes(from, to);
    (value.len() >= 3 && !placeholder(value, false)).then(|| Take::named("secret", from, to))
}

/// `sqlplus name/password@database`.
pub(crate) fn oracle(spot: TriggerSpot<'_>) -> Option<Take> {
    let mut at = spot.run(spot.end, 4, |byte| byte == b' ');
    for _ in 0..4 {
        let to = spot.run(at, 256, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b';' | b'|'));
        let bytes = spot.bytes(at, to);
        if let Some(slash) = bytes.iter().position(|byte| *byte == b'/').filter(|slash| *slash > 0) {
            let end = bytes.iter().rposition(|byte| *byte == b'@').filter(|end| *end > slash).unwrap_or(bytes.len());
            let password = bytes.get(slash + 1..end).filter(|password| password.len() >= 3 && !placeholder(password, false))?;
            return Some(Take::named("password", at + slash + 1, at + slash + 1 + password.len()));
        }
        at = spot.run(to, 4, |byte| matches!(byte, b' ' | b'"' | b'\''));
    }
    None
}

/// What an `expect` script sends when it is asked for a password.
pub(crate) fn sent(spot: TriggerSpot<'_>) -> Option<Take> {
    let asked = spot.before(spot.at, 120).windows(7).any(|window| window.eq_ignore_ascii_case(b"assword"));
    let value = Value::read(spot, spot.run(spot.end, 8, |byte| matches!(byte, b' ' | b'-')), false)?;
    let bytes = value.bytes(spot);
    let end = [&b"\\\\r"[..], b"\\\\n", b"\\r", b"\\n"].iter().find_map(|end| bytes.strip_suffix(*end))?;
    (asked && value.quote.is_some() && end.len() >= 3 && !placeholder(end, true))
        .then(|| Take::named("password", value.from, value.from + end.len()))
}

/// The second of two strings: `basic_auth("name", "password")`, `auth=("name", "password")`.
pub(crate) fn second(spot: TriggerSpot<'_>) -> Option<Take> {
    let blank = |byte: u8| byte == b' ' || byte == b'\n' || byte == b'\t';
    let first = Value::read(spot, spot.run(spot.end, 16, blank), false).filter(|value| value.quote.is_some())?;
    let name = first.bytes(spot);
    let comma = spot.run(first.to, 8, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b' '));
    if spot.byte(comma) != Some(b',') || name.len() > 80 || name.contains(&b' ') || name == b"anonymous" {
        return None;
    }
    let value = Value::read(spot, spot.run(comma + 1, 16, blank), false).filter(|value| value.quote.is_some())?;
    let close = spot.run(value.to, 8, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b'\n' | b','));
    let bytes = value.bytes(spot);
    let secret = bytes.len() >= 4
        && !placeholder(bytes, true)
        && !common(bytes)
        && !about(bytes)
        && !bytes.contains(&b' ')
        && !bytes.contains(&b'/');
    (secret && spot.byte(close) == Some(b')')).then(|| Take::named("password", value.from, value.to))
}
