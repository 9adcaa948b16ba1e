//! Decides whether the value of a name is a secret: in data any literal is one, in code only a string, in prose only what no word looks like.

use crate::assign::scheme;
use crate::lines;
use crate::name::Name;
use crate::names::{NameClass, SecretName};
use crate::site::{Sign, Site};
use crate::spot::{TriggerSpot, is_blank, is_word};
use crate::value::Value;
use crate::values::{about, code, common, dotted, identifier, lettered, letters_and_digits, mixed, placeholder, random, sentence, wordy};

/// Decides whether a value is a secret, by the name, the site, and its looks.
pub(crate) struct Judge<'j, 't> {
    pub(crate) spot: TriggerSpot<'t>,
    pub(crate) name: &'j Name,
    pub(crate) secret: SecretName,
    pub(crate) site: &'j Site,
}

impl Judge<'_, '_> {
    pub(crate) fn is_secret(&self, value: &Value) -> bool {
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
    value.iter().any(sign) && value.split(sign).all(part) && value.iter().filter(|byte| byte.is_ascii_digit()).count() <= 4
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
