//! Changes a log line so that it looks different but means the same: a reader must not notice.
//!
//! A line that does not parse, or cannot be written back with equal values, is returned unchanged. Numbers are written as
//! serde_json holds them, so a number beyond 64 bits becomes the nearest floating-point number.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::rng::Rng;

/// Shuffles the keys of every object at every depth.
pub fn permute_keys(line: &str, seed: u64) -> String {
    let mut rng = Rng::new(seed);
    rewrite(line, |value| shuffled(value, &mut rng).to_string())
}

/// Writes every character of every string and key as `\uXXXX`, in two halves where it needs them.
pub fn escape_all(line: &str) -> String {
    rewrite(line, |value| {
        let mut out = String::with_capacity(line.len() * 6);
        escape(value, &mut out);
        out
    })
}

fn rewrite(line: &str, change: impl FnOnce(&Value) -> String) -> String {
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return line.to_owned();
    };
    let changed = change(&value);
    // Compared, because lone surrogates and large numbers do not survive the round trip.
    match serde_json::from_str::<Value>(&changed) {
        Ok(again) if again == value => changed,
        _ => line.to_owned(),
    }
}

fn shuffled(value: &Value, rng: &mut Rng) -> Value {
    match value {
        Value::Object(map) => {
            let mut left: Vec<(&String, &Value)> = map.iter().collect();
            let mut new = Map::with_capacity(left.len());
            while !left.is_empty() {
                // A random order without a second list: the rest may be reordered freely.
                let (key, inner) = left.swap_remove(rng.below(left.len()));
                new.insert(key.clone(), shuffled(inner, rng));
            }
            Value::Object(new)
        }
        Value::Array(values) => values.iter().map(|inner| shuffled(inner, rng)).collect(),
        other => other.clone(),
    }
}

fn escape(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (index, (key, inner)) in map.iter().enumerate() {
                separate(index, out);
                escape_text(key, out);
                out.push(':');
                escape(inner, out);
            }
            out.push('}');
        }
        Value::Array(values) => {
            out.push('[');
            for (index, inner) in values.iter().enumerate() {
                separate(index, out);
                escape(inner, out);
            }
            out.push(']');
        }
        Value::String(text) => escape_text(text, out),
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn escape_text(text: &str, out: &mut String) {
    out.push('"');
    // JSON escapes are UTF-16, so characters beyond it become two escapes.
    for unit in text.encode_utf16() {
        // Writing to a string can't fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"type":"user","n":[1,-2.5,1e3,null,true],"message":{"b":"é🚢\n\"","a":{},"c":[{"x":1,"y":"","z":[]}]},"u":18446744073709551615}"#;

    fn value(line: &str) -> Value {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn permuted_keys_keep_the_value_and_move() {
        let copies: Vec<String> = (0..20).map(|seed| permute_keys(LINE, seed)).collect();
        assert!(copies.iter().all(|copy| value(copy) == value(LINE)));
        assert!(copies.iter().any(|copy| copy.starts_with(r#"{"message""#)));
        assert!(copies.iter().any(|copy| copy.find("\"y\"") < copy.find("\"x\"")));
        assert_eq!(copies[3], permute_keys(LINE, 3));
    }

    #[test]
    fn escaped_lines_keep_the_value_and_have_no_letter_left() {
        let escaped = escape_all(LINE);
        assert_eq!(value(&escaped), value(LINE));
        assert!(escaped.starts_with(r#"{"\u0074\u0079\u0070\u0065":"\u0075"#), "{escaped}");
        assert!(escaped.contains(r"\ud83d\udea2"), "{escaped}");
        assert!(escaped.is_ascii());
    }

    #[test]
    fn lines_that_do_not_parse_come_back() {
        for line in ["", "   ", "{\"a\":", "not json", "{\"a\":\"\\ud83d\"}", "{\"a\":1}{\"b\":2}"] {
            assert_eq!(permute_keys(line, 1), line);
            assert_eq!(escape_all(line), line);
        }
    }

    #[test]
    fn scalars_and_arrays_are_lines_too() {
        assert_eq!(escape_all("[\"a\",1]"), "[\"\\u0061\",1]");
        assert_eq!(permute_keys("null", 9), "null");
    }
}
