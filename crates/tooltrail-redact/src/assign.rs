//! Values recognised by their names: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>`, `set("password", "…")`.
//!
//! The trigger is a word within the name. What stands around the name says how its value is written and how much the value has to look
//! like a secret: in data any literal counts, in code only a string, in prose only what no word looks like.

use crate::lines;
use crate::names::{self, NameClass, SecretName};
use crate::rules;
use crate::spot::{Take, TriggerSpot, holds_folded, is_blank, is_word, starts_folded};
use crate::value::Value;
use crate::values::{about, code, common, dotted, identifier, lettered, letters_and_digits, mixed, placeholder, random, sentence, wordy};

/// Redacts the value of the name that contains the trigger.
pub(crate) fn take(spot: TriggerSpot<'_>) -> Option<Take> {
    let name = Name::around(spot)?;
    let secret = names::classify(name.bytes(spot))?;
    let site = Site::pair(spot, &name).or_else(|| Site::after(spot, &name))?;
    let whole = name.anchored && name.quote.is_none() && matches!(site.sign, Sign::Equals | Sign::Colon);
    let first = behind_scheme(spot, Value::read(spot, site.from, whole)?);
    let judge = Judge { spot, name: &name, secret, site: &site };
    // `token: &str = "…"` and `env("TOKEN") || "…"`: where the first candidate is a type or a lookup, the value comes after it.
    let candidates = [Some(first), typed(spot, first), fallback(spot, first)];
    let value = candidates.into_iter().flatten().find(|value| judge.is_secret(value))?.complete(spot);
    let (kind, value) = scheme(spot, value);
    Some(mark(spot, kind.unwrap_or(secret.kind), value))
}

/// The label for a value. One with a shape of its own is called by that.
pub(crate) fn mark(spot: TriggerSpot<'_>, kind: &'static str, value: Value) -> Take {
    match rules::shape_at(spot, value.from) {
        Some((kind, from, to)) => Take::named(kind, from.min(value.from), to.max(value.to)),
        None => Take::named(kind, value.from, value.to),
    }
}

/// Schemes of the header `Authorization`, and what to call their credentials.
const SCHEMES: [(&[u8], Option<&str>); 12] = [
    (b"bearer", Some("bearer token")),
    (b"basic", Some("basic credentials")),
    (b"token", Some("token")),
    (b"apikey", Some("api key")),
    (b"api-key", Some("api key")),
    (b"bot", None),
    (b"key", None),
    (b"negotiate", None),
    (b"ntlm", None),
    (b"splunk", None),
    (b"sso-key", None),
    (b"github-bearer", None),
];

/// The value without the scheme in front of it, as in `Bearer …`, and what the scheme calls it.
fn scheme(spot: TriggerSpot<'_>, value: Value) -> (Option<&'static str>, Value) {
    let bytes = value.bytes(spot);
    let head = bytes.iter().position(|byte| *byte == b' ').unwrap_or(bytes.len());
    let known = SCHEMES.iter().find(|(scheme, _)| bytes[..head].eq_ignore_ascii_case(scheme));
    let from = spot.run(value.from + head, 4, |byte| byte == b' ');
    match known {
        Some((_, kind)) if from > value.from + head && from < value.to => (*kind, Value { from, ..value }),
        _ => (None, value),
    }
}

/// An unquoted value with the scheme in front of it taken in, which ends at the blank otherwise.
fn behind_scheme(spot: TriggerSpot<'_>, value: Value) -> Value {
    let known = value.quote.is_none() && SCHEMES.iter().any(|(scheme, _)| value.bytes(spot).eq_ignore_ascii_case(scheme));
    let next = spot.run(value.to, 4, |byte| byte == b' ');
    if !known || next == value.to {
        return value;
    }
    Value::read(spot, next, false).filter(|next| next.quote.is_none()).map_or(value, |next| Value { from: value.from, ..next })
}

/// A name in the text, with what stands right before it.
pub(crate) struct Name {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The quote that opens before it.
    quote: Option<u8>,
    /// Whether it is that of an option: `--db-password`.
    option: bool,
    /// Whether the line begins with it, but for indentation and words such as `export`.
    anchored: bool,
}

impl Name {
    /// The name that contains the trigger.
    pub(crate) fn around(spot: TriggerSpot<'_>) -> Option<Name> {
        const BEFORE: usize = 64;
        let part = |byte: u8| is_word(byte) || matches!(byte, b'-' | b'.');
        let before = spot.before(spot.at, BEFORE);
        let len = before.iter().rev().take_while(|byte| part(**byte)).count();
        let mut from = spot.at - len;
        // The letter of an escape such as `\n` is not part of the name.
        if spot.before(from, 1) == b"\\" && matches!(spot.byte(from), Some(b'n' | b't' | b'r')) && from < spot.at {
            from += 1;
        }
        let dashes = spot.run(from, 3, |byte| byte == b'-');
        let option = dashes > from;
        from = spot.run(dashes, BEFORE, |byte| matches!(byte, b'.' | b'-'));
        let mut to = spot.run(spot.end, 48, part);
        while to > spot.end && matches!(spot.byte(to - 1), Some(b'.' | b'-')) {
            to -= 1;
        }
        if len == BEFORE || from > spot.at {
            return None;
        }
        let quote = spot.before(dashes.min(from), 1).first().copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        Some(Name { from, to, quote, option, anchored: anchored(spot, from) })
    }

    pub(crate) fn bytes<'t>(&self, spot: TriggerSpot<'t>) -> &'t [u8] {
        spot.bytes(self.from, self.to)
    }

    /// Whether it is written as variables of an environment are: `DB_PASSWORD`.
    fn capitals(&self, spot: TriggerSpot<'_>) -> bool {
        self.bytes(spot).iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.' | b'-'))
    }
}

/// Whether only indentation, a number of the line, or words such as `export` stand before this position on its line.
fn anchored(spot: TriggerSpot<'_>, at: usize) -> bool {
    const WORDS: [&[u8]; 10] = [b"export", b"set", b"ENV", b"ARG", b"setx", b"env", b"declare", b"local", b"Environment=", b"readonly"];
    let before = spot.bytes(at.saturating_sub(40), at);
    let mut line = match before.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => &before[end + 1..],
        None if before.len() < 40 => before,
        None => match before.windows(2).rposition(|two| two == b"\\n") {
            Some(end) => &before[end + 2..],
            None => return false,
        },
    };
    if let Some(end) = line.windows(2).rposition(|two| two == b"\\n") {
        line = &line[end + 2..];
    }
    // The beginning of a string, or of what a message is about.
    if matches!(line, [.., b':', b'"' | b'\'' | b'\\'] | [.., b':' | b'\\', b' ' | b'"']) {
        return true;
    }
    let line = line.trim_ascii_end();
    let line = WORDS.iter().find_map(|word| line.strip_suffix(*word)).unwrap_or(line);
    line.iter().all(|byte| b" \t-+>#/*|:;\"'".contains(byte) || byte.is_ascii_digit() || *byte >= 0x80)
}

/// What connects a name and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sign {
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
struct Site {
    sign: Sign,
    from: usize,
    /// Blanks before the sign, as code has them around `=`.
    spaced: bool,
}

impl Site {
    /// What stands behind the name.
    fn after(spot: TriggerSpot<'_>, name: &Name) -> Option<Site> {
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
    fn pair(spot: TriggerSpot<'_>, name: &Name) -> Option<Site> {
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

/// The value behind a type annotation: `token: &str = "…"`.
fn typed(spot: TriggerSpot<'_>, value: Value) -> Option<Value> {
    let sign = spot.run(value.to, 24, |byte| is_word(byte) || b" <>[]&|'.?".contains(&byte));
    let open = matches!(spot.byte(value.from), Some(b'{' | b'[' | b'('));
    let typed =
        value.quote.is_none() && (value.to > value.from || spot.byte(value.from) == Some(b'&')) && !open && spot.byte(sign) == Some(b'=');
    let value = typed.then(|| Value::read(spot, spot.run(sign + 1, 4, is_blank), false))??;
    value.quote.is_some().then_some(value)
}

/// The literal that is taken where a lookup finds nothing: `getenv("TOKEN") or "…"`.
fn fallback(spot: TriggerSpot<'_>, value: Value) -> Option<Value> {
    const SIGNS: [&[u8]; 4] = [b"|| ", b"?? ", b" or ", b", "];
    let line = spot.bytes(value.from, spot.run(value.from, 120, |byte| byte != b'\n'));
    let looks_up = line.windows(3).any(|three| three.eq_ignore_ascii_case(b"env"));
    if !looks_up || value.quote.is_some() {
        return None;
    }
    let at = SIGNS.iter().find_map(|sign| line.windows(sign.len()).position(|window| window == *sign).map(|at| at + sign.len()))?;
    Value::read(spot, value.from + at, false).filter(|value| value.quote.is_some())
}

/// Decides whether a value is a secret, by the name, the site, and its looks.
struct Judge<'j, 't> {
    spot: TriggerSpot<'t>,
    name: &'j Name,
    secret: SecretName,
    site: &'j Site,
}

impl Judge<'_, '_> {
    fn is_secret(&self, value: &Value) -> bool {
        let bytes = scheme(self.spot, *value).1.bytes(self.spot);
        let scheme = bytes.len() < value.bytes(self.spot).len();
        let quoted = value.quote.is_some();
        if bytes.is_empty() || placeholder(bytes, quoted) || common(bytes) {
            return false;
        }
        match self.secret.class {
            NameClass::Any => bytes.len() >= 16 && random(bytes) && !bytes.contains(&b'-') && !code(bytes),
            NameClass::Weak if self.secret.kind == "credentials" => credentials(bytes),
            _ if scheme => bytes.len() >= 6 && !about(bytes) && !code(bytes) && (mixed(bytes) || !wordy(bytes)),
            _ if quoted => self.literal(bytes),
            _ => self.bare(value, bytes),
        }
    }

    /// Whether a literal in quotes is a secret.
    fn literal(&self, bytes: &[u8]) -> bool {
        let class = self.secret.class;
        let generated = class == NameClass::Token;
        if bytes.contains(&b' ') || bytes.contains(&b'\t') {
            return !generated
                && bytes.len() <= 128
                && self.site.sign != Sign::Cell
                && !sentence(bytes)
                && !matches!(self.site.sign, Sign::Is | Sign::Comma);
        }
        // Rules of validation: `required|string|min:8`.
        let rule =
            |part: &[u8]| part.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b':' | b'_' | b','));
        let rules = bytes.contains(&b'|') && bytes.split(|byte| *byte == b'|').all(rule) && bytes.split(|byte| *byte == b'|').any(common);
        if rules
            || about(bytes)
            || code(bytes) && !random(bytes)
            || matches!(bytes, [b'.' | b'/' | b'\\' | b'?' | b'(' | b'^', ..]) && !mixed(bytes)
        {
            return false;
        }
        if lettered(bytes) {
            return self.site.sign != Sign::Cell && self.letters(bytes, true);
        }
        let digits = bytes.iter().all(u8::is_ascii_digit);
        match class {
            NameClass::Password | NameClass::Secret => {
                bytes.len() >= 4 && (mixed(bytes) || digits) && !(class == NameClass::Secret && slug(bytes))
            }
            NameClass::Weak => bytes.len() >= 6 && mixed(bytes),
            _ if digits => bytes.len() >= 6,
            _ => bytes.len() >= 8 && mixed(bytes) && !slug(bytes) && (letters_and_digits(bytes) || bytes.len() >= 12),
        }
    }

    /// Whether letters alone, in a place where only a value can stand, are a secret.
    fn letters(&self, bytes: &[u8], quoted: bool) -> bool {
        let separated = bytes.iter().any(|byte| matches!(byte, b'-' | b'_' | b'.'));
        let capital = bytes.first().is_some_and(u8::is_ascii_uppercase) && bytes.iter().skip(1).all(u8::is_ascii_lowercase);
        match self.secret.class {
            NameClass::Password => bytes.len() >= 4,
            NameClass::Secret => bytes.len() >= 4 && (!separated || !wordy(bytes)),
            NameClass::Weak => bytes.len() >= 8 && !wordy(bytes),
            _ if !wordy(bytes) => bytes.len() >= 6 && !separated,
            _ => {
                let qualified = self.name.bytes(self.spot).len() > "token".len();
                bytes.len() >= 8
                    && !separated
                    && !capital
                    && bytes.iter().all(u8::is_ascii_lowercase)
                    && (qualified || quoted && self.name.quote.is_some())
            }
        }
    }

    /// Whether an unquoted word is a secret.
    fn bare(&self, value: &Value, bytes: &[u8]) -> bool {
        if expression(bytes) || bytes.starts_with(b":") || about(bytes) || code(bytes) && !random(bytes) {
            return false;
        }
        let before = self.spot.before(self.name.from, 1);
        let class = self.secret.class;
        match self.site.sign {
            Sign::Comma | Sign::Call => false,
            Sign::Is | Sign::Cell => bytes.len() >= 6 && mixed(bytes) && letters_and_digits(bytes) && !slug(bytes),
            Sign::Tag => closes_tag(self.spot, value.to) && self.setting(bytes, class),
            Sign::Pair => self.setting(bytes, class),
            Sign::Blank => !bytes.starts_with(b"-") && !bytes.contains(&b'=') && self.setting(bytes, class),
            Sign::Equals
                if !self.site.spaced
                    && (self.name.capitals(self.spot) || self.name.option || matches!(before, b"?" | b"&" | b";" | b"#")) =>
            {
                !bytes.starts_with(b"id=") && self.setting(bytes, class)
            }
            _ => self.ambiguous(value, bytes),
        }
    }

    /// Whether the word is a secret in a place where only a value can stand: the environment, options, URLs.
    fn setting(&self, bytes: &[u8], class: NameClass) -> bool {
        if lettered(bytes) {
            return self.letters(bytes, false) || class == NameClass::Token && bytes.len() >= 8 && self.site.sign == Sign::Equals;
        }
        let digits = bytes.iter().all(u8::is_ascii_digit);
        match class {
            NameClass::Password => bytes.len() >= 3,
            NameClass::Secret => bytes.len() >= 4 && !slug(bytes),
            NameClass::Weak => bytes.len() >= 6 && mixed(bytes) && !slug(bytes),
            _ => bytes.len() >= 6 && !digits && !slug(bytes),
        }
    }

    /// Whether the word is a secret where data and code look the same: `password: word`, `password = word`.
    fn ambiguous(&self, value: &Value, bytes: &[u8]) -> bool {
        let next = self.spot.byte(value.to);
        let connection = matches!(self.spot.before(self.name.from, 2), [.., b';'] | [b';', b' ']);
        // `connect(password=pw2, …)`, `{ token: token1 }`, `secret: T;`
        let argument = matches!(next, Some(b')' | b',' | b'}' | b']' | b'|' | b';' | b'<')) && !connection;
        let default = self.spot.before(value.from, 1) == b"-" || self.name.quote.is_some();
        if argument && !default && identifier(bytes) || self.spot.byte(self.spot.run(value.to, 2, is_blank)) == Some(b'=') {
            return false;
        }
        if self.name.quote.is_some() && matches!(bytes.first(), Some(b'[' | b'{' | b'(')) || dotted(bytes) {
            return false;
        }
        // `login username=anna password=word`: in a call a comma or a parenthesis follows.
        let word = self.site.sign == Sign::Equals && !self.site.spaced && matches!(next, None | Some(b' ' | b'\n' | b'"' | b'\'' | b'\\'));
        let begins = matches!(self.spot.before(self.name.from, 2), [] | [.., b' ' | b'\n' | b'"' | b'\'' | b'+'] | b"\\n");
        let alone = connection || word && begins && self.secret.class == NameClass::Password;
        let data = || alone || self.is_data(value);
        if lettered(bytes) && !random(bytes) {
            return self.word(value, bytes, alone);
        }
        let digits = bytes.iter().all(u8::is_ascii_digit);
        match self.secret.class {
            _ if identifier(bytes) && !data() => false,
            NameClass::Password if digits => bytes.len() >= 4,
            NameClass::Password => bytes.len() >= if identifier(bytes) { 5 } else { 4 } && mixed(bytes),
            _ if digits => false,
            _ if random(bytes) => true,
            NameClass::Token if capitalised(bytes) && identifier(bytes) => false,
            NameClass::Secret => bytes.len() >= 6 && mixed(bytes) && !slug(bytes),
            _ => bytes.len() >= 8 && mixed(bytes) && !slug(bytes) && letters_and_digits(bytes),
        }
    }

    /// Whether a plain word without quotes is a secret: only where the lines around are settings.
    fn word(&self, value: &Value, bytes: &[u8], alone: bool) -> bool {
        // `"passwd:name"` is a name of its own.
        if self.site.sign == Sign::Colon && !self.spot.before(value.from, 1).iter().all(u8::is_ascii_whitespace) {
            return false;
        }
        // `password: Secret` of a program has a small letter, `Password: Secret` of its output a capital one.
        let output = self.name.bytes(self.spot).first().is_some_and(u8::is_ascii_uppercase);
        let stands = alone || self.anchored() && value.ends_line && self.is_data(value);
        stands && (output || !capitalised(bytes)) && self.letters(bytes, false)
    }

    /// Whether the name begins its line, or stands behind a word that says whose value it is.
    fn anchored(&self) -> bool {
        const OWNERS: &str = "new root admin temporary initial generated default database db my user login temp";
        let before = self.spot.before(self.name.from, 24).trim_ascii_end();
        let word = before.rsplit(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
        self.name.anchored || OWNERS.split(' ').any(|owner| !word.is_empty() && word.eq_ignore_ascii_case(owner.as_bytes()))
    }

    /// Whether the lines around look like settings and not like code.
    fn is_data(&self, value: &Value) -> bool {
        const AROUND: usize = 240;
        if !value.ends_line {
            return self.name.quote.is_none()
                && !self.site.spaced
                && self.site.sign == Sign::Equals
                && self.name.bytes(self.spot).contains(&b'.');
        }
        let before = self.spot.bytes(self.name.from.saturating_sub(AROUND), self.name.from);
        let after = self.spot.bytes(value.to, self.spot.text.len().min(value.to + AROUND));
        let above = before.rsplit(|byte| *byte == b'\n').skip(1).take(3);
        let below = after.split(|byte| *byte == b'\n').skip(1).take(3);
        !is_code(lines::last(before)) && !above.chain(below).any(is_code)
    }
}

/// Whether this is a line of a program.
fn is_code(line: &[u8]) -> bool {
    const WORDS: [&[u8]; 22] = [
        b"def ",
        b"class ",
        b"import ",
        b"from ",
        b"let ",
        b"const ",
        b"var ",
        b"return",
        b"if ",
        b"for ",
        b"fn ",
        b"pub ",
        b"struct ",
        b"interface ",
        b"func ",
        b"function ",
        b"self.",
        b"this.",
        b"@",
        b"await ",
        b"impl ",
        b"while ",
    ];
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"+").or_else(|| line.strip_prefix(b"-")).unwrap_or(line).trim_ascii();
    let call = line.iter().position(|byte| *byte == b'(').is_some_and(|at| at > 0 && line.get(at - 1).is_some_and(|byte| is_word(*byte)));
    let word = WORDS.iter().any(|word| line.starts_with(word)) && !line.starts_with(b"@@");
    word || matches!(line.last(), Some(b';' | b'{' | b'(')) || line == b"}" || line == b")" || call
}

/// Whether the text of an element ends here.
fn closes_tag(spot: TriggerSpot<'_>, at: usize) -> bool {
    let at = lines::skip(spot, at);
    matches!(spot.bytes(at, at + 3), b"</" | [b'<', b'/' | b'\\', _])
}

/// `creds[1]`, `module::NAME2`, `next(x)`, `a->b`: an expression of code.
fn expression(value: &[u8]) -> bool {
    let name = value.iter().take_while(|byte| is_word(**byte) || matches!(byte, b'.' | b'!')).count();
    let called = name > 0
        && matches!(value.get(name), Some(b'(' | b'['))
        && (identifier(&value[..name]) || dotted(&value[..name]) || value[..name].ends_with(b"!"));
    let closed = value.last().is_some_and(|last| matches!(last, b')' | b']'));
    // `Option<String>`: a type.
    let generic = value.ends_with(b">") && value.contains(&b'<');
    generic
        || called && (closed || value.len() == name + 1 || value.contains(&b'('))
        || value.windows(2).any(|two| two == b"::" || two == b"->")
}

/// `my-app-tls-v2`: words with dashes, the last perhaps a number.
fn slug(value: &[u8]) -> bool {
    let part = |part: &[u8]| {
        part.iter().all(u8::is_ascii_alphabetic) && wordy(part) || part.len() <= 3 && part.iter().all(u8::is_ascii_alphanumeric)
    };
    let sign = |byte: &u8| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':');
    value.iter().any(|byte| sign(byte)) && value.split(sign).all(part) && value.iter().filter(|byte| byte.is_ascii_digit()).count() <= 4
}

/// `Token`, `SecretString`: a type rather than a value.
fn capitalised(value: &[u8]) -> bool {
    value.len() < 28 && value.first().is_some_and(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase) && !random(value)
}

/// Whether this is base64 of a name, a colon and a password, or drawn by chance.
fn credentials(bytes: &[u8]) -> bool {
    let plain = crate::base64::decode(bytes).filter(|_| bytes.len() >= 8);
    plain.is_some_and(|plain| plain.contains(&b':') && plain.iter().all(u8::is_ascii_graphic))
        || bytes.len() >= 16 && random(bytes) && !code(bytes)
}
