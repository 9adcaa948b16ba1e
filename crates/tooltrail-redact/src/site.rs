//! What connects a name and its value, and where the value begins.

use crate::lines;
use crate::name::Name;
use crate::spot::{TriggerSpot, holds_folded, is_blank, is_word, starts_folded};

/// What connects a name and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sign {
    Equals,
    Colon,
    /// The next argument of a call: `set("password", "…")`.
    Comma,
    /// The argument of a call that sets the value: `setPassword("…")`.
    Call,
    /// The text of an element.
    Tag,
    /// The next word of a command, or of a file whose values have no signs.
    Blank,
    /// The next cell of a table.
    Cell,
    /// Prose: `the password is …`.
    Is,
    /// A field `value` beside the field that has the name.
    Pair,
}

/// How and where the value of a name is written.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) sign: Sign,
    pub(crate) from: usize,
    /// Blanks before the sign, as code has them around `=`.
    pub(crate) spaced: bool,
}

impl Site {
    /// What stands behind the name.
    pub(crate) fn after(spot: TriggerSpot<'_>, name: &Name) -> Option<Site> {
        let closed = spot.run(name.to, 20, |byte| matches!(byte, b'"' | b'\'' | b']' | b'\\' | b'`' | b'*' | b'?'));
        // In `"a\\nb"` the backslash begins an escape of its own.
        let sign = spot.run(closed, 24, is_blank);
        let site = |kind, from| Some(Site { sign: kind, from: spot.run(from, 24, is_blank), spaced: sign > closed });
        let quoted = closed > name.to;
        match (spot.byte(sign)?, spot.byte(sign + 1)) {
            // Comparisons and paths such as `token::Kind` assign nothing.
            (b'=', Some(b'=' | b'~')) | (b':', Some(b':')) => None,
            (b':', Some(b'=' | b'-')) | (b'=', Some(b'>')) | (b'?' | b'+' | b'|', Some(b'=')) => site(Sign::Equals, sign + 2),
            (b'=', _) => site(Sign::Equals, sign + 1),
            (b':', _) => Site::colon(spot, name, sign, sign > closed),
            (b'>', _) if !quoted && sign == closed => Site::tag(spot, name, sign),
            (b',', _) if quoted && first_argument(spot, name) && !spot.bytes(name.to, closed).contains(&b']') => {
                site(Sign::Comma, sign + 1)
            }
            (b'(', _) if !quoted && setter(name.bytes(spot)) => site(Sign::Call, sign + 1),
            (b'|', _) if sign > closed => site(Sign::Cell, sign + 1),
            // An `=` in a URL that is itself encoded.
            (b'%', Some(b'3')) if matches!(spot.byte(sign + 2), Some(b'D' | b'd')) => site(Sign::Equals, sign + 3),
            (b'i', Some(b's')) if sign > closed && spot.byte(sign + 2).is_some_and(is_blank) => site(Sign::Is, sign + 3),
            _ if sign > closed && !quoted && typed_name(spot, sign).is_some() => site(Sign::Equals, typed_name(spot, sign)?),
            _ if sign > closed && (name.option || !quoted && by_blank(spot, name)) => site(Sign::Blank, sign),
            _ => None,
        }
    }

    /// Behind a colon the value may stand on the next line.
    fn colon(spot: TriggerSpot<'_>, name: &Name, sign: usize, spaced: bool) -> Option<Site> {
        let mut from = spot.run(sign + 1, 24, is_blank);
        // `|` and `>` of YAML begin a block.
        let block = spot.run(from, 3, |byte| matches!(byte, b'|' | b'>' | b'-' | b'+'));
        let line = if matches!(spot.byte(from), Some(b'|' | b'>')) { block } else { from };
        if let Some(content) = lines::next(spot, line) {
            from = spot.run(content, 64, is_blank);
            let indented = from - content > lines::indentation(spot, name.from);
            let quoted = matches!(spot.byte(from), Some(b'"' | b'\''));
            if !indented && !quoted {
                return None;
            }
        }
        Some(Site { sign: Sign::Colon, from, spaced })
    }

    /// `<password>…</password>`.
    fn tag(spot: TriggerSpot<'_>, name: &Name, sign: usize) -> Option<Site> {
        let before = spot.before(name.from, 24);
        let prefix = before.iter().rev().take_while(|byte| is_word(**byte) || **byte == b':').count();
        let opens = before.get(..before.len() - prefix)?.ends_with(b"<");
        let from = lines::skip(spot, sign + 1);
        opens.then_some(Site { sign: Sign::Tag, from, spaced: false })
    }

    /// `name: DB_PASSWORD`, `value: …`, in YAML, JSON, XML and HCL.
    pub(crate) fn pair(spot: TriggerSpot<'_>, name: &Name) -> Option<Site> {
        const NAMES: [&[u8]; 6] = [b"name", b"key", b"variable", b"parameter", b"field", b"id"];
        const VALUES: [&[u8]; 4] = [b"value", b"string", b"default", b"content"];
        let sign = |byte: u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b':' | b'=' | b'\\' | b'>');
        let before = spot.before(name.from, 32);
        let head = before.len() - before.iter().rev().take_while(|byte| sign(**byte)).count();
        let word = before[..head].rsplit(|byte| !is_word(*byte)).next().unwrap_or_default();
        let named =
            head < before.len() && NAMES.iter().any(|name| word.eq_ignore_ascii_case(name) || word.strip_prefix(b"n") == Some(*name));
        // `<Password value="…"/>`: the name is that of the element.
        if !named && before.last() != Some(&b'<') {
            return None;
        }
        // Between the two there may be the end of a line, of a string, or of a tag.
        let between = |from: usize| {
            let mut at = from;
            for _ in 0..4 {
                at = lines::skip(spot, at);
                at = spot.run(at, 32, |byte| b" \t\"',<>/;{-".contains(&byte) || byte == b'\\' && !lines::breaks(spot, at));
            }
            at
        };
        let mut at = between(name.to);
        if starts_folded(spot.bytes(at, at + 4), b"key>") {
            at = between(at + 4);
        }
        at = attribute(spot, at).map_or(at, between);
        let word = VALUES.iter().find(|word| starts_folded(spot.bytes(at, at + word.len()), word))?;
        let end = at + word.len();
        let from = spot.run(end, 24, |byte| matches!(byte, b' ' | b'\t' | b':' | b'=' | b'\\' | b'"' | b'\'' | b'>'));
        let connected = spot.bytes(end, from).iter().any(|byte| matches!(byte, b':' | b'=' | b'>'));
        let quote = spot.bytes(end, from).iter().rposition(|byte| matches!(byte, b'"' | b'\'')).map(|at| end + at);
        // A quote that closes the word `value` is no quote of the value.
        let opened = quote.filter(|quote| spot.bytes(end, *quote).iter().any(|byte| matches!(byte, b':' | b'=')));
        let from = opened.map_or(from, |quote| quote - spot.before(quote, 4).iter().rev().take_while(|byte| **byte == b'\\').count());
        connected.then_some(Site { sign: Sign::Pair, from, spaced: false })
    }
}

/// End of another attribute that stands between a name and its value: `serializeAs="String"`.
fn attribute(spot: TriggerSpot<'_>, at: usize) -> Option<usize> {
    let name = spot.run(at, 24, u8_is_name);
    let open = spot.run(name, 8, |byte| matches!(byte, b'=' | b'\\' | b'"'));
    let end = spot.run(open, 24, u8_is_name);
    let other = !starts_folded(spot.bytes(at, name), b"value") && name > at && end > open;
    (other && spot.bytes(name, open).contains(&b'=') && matches!(spot.byte(end), Some(b'"' | b'\\'))).then_some(end)
}

fn u8_is_name(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// Where the value stands behind a name and its type, as Go writes them: `password string = "…"`.
fn typed_name(spot: TriggerSpot<'_>, at: usize) -> Option<usize> {
    let word = spot.run(at, 16, |byte| is_word(byte) || matches!(byte, b'*' | b'[' | b']'));
    let sign = spot.run(word, 8, is_blank);
    let value = spot.run(sign + 1, 8, is_blank);
    (word > at && sign > word && spot.byte(sign) == Some(b'=') && spot.byte(spot.run(value, 20, |byte| byte == b'\\')) == Some(b'"'))
        .then_some(value)
}

/// Whether the name is the first argument of a call, a string.
fn first_argument(spot: TriggerSpot<'_>, name: &Name) -> bool {
    let before = spot.before(name.from, 24);
    let opens = before.iter().rposition(|byte| !matches!(byte, b'"' | b'\'' | b'\\' | b' '));
    let Some(at) = opens.filter(|at| name.quote.is_some() && before.get(*at) == Some(&b'(')) else { return false };
    // `scrypt('password', 'salt')` sets nothing.
    const SETS: [&[u8]; 15] = [
        b"set",
        b"put",
        b"define",
        b"add",
        b"env",
        b"config",
        b"option",
        b"property",
        b"header",
        b"append",
        b"get",
        b"param",
        b"field",
        b"insert",
        b"store",
    ];
    let end = name.from - (before.len() - at);
    let callee = spot.before(end, 40);
    let callee = callee.rsplit(|byte| !is_word(*byte)).next().unwrap_or_default();
    callee.is_empty() && name.capitals(spot) || SETS.iter().any(|word| holds_folded(callee, word))
}

/// Whether a call of this name sets a secret: `setPassword("…")`, `password("…")`.
fn setter(name: &[u8]) -> bool {
    let last = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let sets = [&b"set"[..], b"with", b"put", b"update", b"change", b"use", b"add"].iter().any(|word| starts_folded(last, word));
    sets || [&b"password"[..], b"passwd", b"passphrase", b"apikey", b"api_key", b"secret_key", b"client_secret", b"clientsecret"]
        .iter()
        .any(|word| last.eq_ignore_ascii_case(word))
}

/// Whether a value follows the name without a sign: `.netrc`, SQL, `config set NAME …`.
fn by_blank(spot: TriggerSpot<'_>, name: &Name) -> bool {
    let bytes = name.bytes(spot);
    let value = spot.byte(spot.run(name.to, 8, is_blank));
    // `PASSWORD '…'` of SQL.
    if bytes.iter().all(u8::is_ascii_uppercase) && value == Some(b'\'') {
        return true;
    }
    let before = spot.before(name.from, 160);
    let line = lines::last(before);
    let words = |bytes: &[u8], word: &[u8]| bytes.split(|byte| *byte <= b' ' || matches!(byte, b'"' | b'+')).any(|part| part == word);
    let netrc = bytes == b"password" && (words(before, b"login") || words(before, b"machine"));
    // `aws configure set aws_secret_access_key …`, `set -gx API_TOKEN …`, `setenv`, `ENV NAME value`, `nmcli … password …`.
    let sets = [&b"set"[..], b"setenv", b"setx", b"-gx", b"-x", b"ENV", b"requirepass", b"nmcli"].iter().any(|word| words(line, word));
    netrc
        || words(line, b"mysqladmin")
        || sets && (bytes.contains(&b'_') || words(line, b"nmcli"))
        || starts_folded(bytes, b"requirepass")
        || bytes == b"masterauth"
}
