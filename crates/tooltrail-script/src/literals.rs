//! Texts and numbers as JavaScript spells them.

use serde_json::{Number, Value};
use tree_sitter::Node;

/// Text of a string literal, or of the fixed part of a template, without its quotes.
pub(crate) fn unescape(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut units: Vec<u16> = Vec::new();
    let mut rest = raw.chars().peekable();
    while let Some(next) = rest.next() {
        if next != '\\' {
            flush(&mut units, &mut text)?;
            text.push(next);
            continue;
        }
        let escaped = rest.next()?;
        if escaped == 'u' && rest.peek() != Some(&'{') {
            units.push(u16::try_from(hexadecimal(&mut rest, 4)?).ok()?);
            continue;
        }
        flush(&mut units, &mut text)?;
        match escaped {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            // Octal escapes are those of another age, and an error in modules.
            '0' if !rest.peek().is_some_and(char::is_ascii_digit) => text.push('\0'),
            '0'..='7' => return None,
            'x' => text.push(char::from_u32(hexadecimal(&mut rest, 2)?)?),
            'u' => {
                rest.next();
                let code: String = rest.by_ref().take_while(|next| *next != '}').collect();
                text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
            }
            '\n' | '\u{2028}' | '\u{2029}' => {}
            '\r' => {
                rest.next_if_eq(&'\n');
            }
            other => text.push(other),
        }
    }
    flush(&mut units, &mut text)?;
    Some(text)
}

/// Adds UTF-16 units that came as escapes; `None` if they are no text.
fn flush(units: &mut Vec<u16>, text: &mut String) -> Option<()> {
    if !units.is_empty() {
        text.push_str(&String::from_utf16(units).ok()?);
        units.clear();
    }
    Some(())
}

fn hexadecimal(rest: &mut impl Iterator<Item = char>, digits: usize) -> Option<u32> {
    let mut value = 0;
    for _ in 0..digits {
        value = value * 16 + rest.next()?.to_digit(16)?;
    }
    Some(value)
}

/// Value of a number literal.
pub(crate) fn number(raw: &str) -> Option<Value> {
    let plain = raw.replace('_', "");
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Value::from);
    match plain.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => return radix(plain.get(2..)?, 16),
        Some("0o") => return radix(plain.get(2..)?, 8),
        Some("0b") => return radix(plain.get(2..)?, 2),
        _ => {}
    }
    if plain.bytes().all(|byte| byte.is_ascii_digit()) {
        // A leading zero means octal digits, and a number that no double holds is not what it looks like.
        let zero = plain.len() > 1 && plain.starts_with('0');
        return plain.parse::<u64>().ok().filter(|number| !zero && *number <= 1 << 53).map(Value::from);
    }
    float(plain.parse().ok()?)
}

/// A number as JavaScript prints it in JSON: whole numbers without a point.
pub(crate) fn float(number: f64) -> Option<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    let whole = (number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0).then_some(number as i64);
    whole.map(Value::from).or_else(|| Number::from_f64(number).map(Value::Number))
}

/// Number that a template or `+` would put into a text.
pub(crate) fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null => Some("null".to_owned()),
        _ => None,
    }
}

/// Source of a node.
pub(crate) fn source<'s>(node: Node<'_>, program: &'s str) -> &'s str {
    program.get(node.byte_range()).unwrap_or_default()
}

/// Text of a `string` node.
pub(crate) fn string(node: Node<'_>, program: &str) -> Option<String> {
    let raw = source(node, program);
    unescape(raw.get(1..raw.len().checked_sub(1)?)?)
}
