//! A record as a tree of values, for what is looked at closely. Read with the same reader as everything else: as tolerant, and with
//! the same lossy text.

use serde_json::{Map, Number, Value};
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// Deeper than this, values stay as they are written.
const DEPTH: usize = 128;

/// Changes a text that was read, such as by taking secrets out of it.
pub type Change<'c> = dyn Fn(String) -> String + Sync + 'c;

/// Reads a value. What breaks off keeps what was read so far; what is no JSON at all is nothing.
pub fn read(bytes: &[u8]) -> Value {
    read_with(bytes, &|text| text)
}

/// The same, with every text changed on the way. Names of fields are texts too: some are paths or questions.
pub fn read_with(bytes: &[u8], change: &Change<'_>) -> Value {
    let mut skim = Skim::new(bytes);
    let mut out = Value::Null;
    // Whatever was read before a value broke off is in `out` already.
    let _ = value(&mut skim, change, 0, &mut out);
    out
}

fn value(skim: &mut Skim<'_>, change: &Change<'_>, depth: usize, out: &mut Value) -> Result<(), Torn> {
    match skim.peek() {
        Some(Type::Object | Type::Array) if depth >= DEPTH => {
            let span = skim.skip()?;
            *out = Value::String(change(String::from_utf8_lossy(skim.slice(span)).into_owned()));
        }
        Some(Type::Object) => {
            *out = Value::Object(Map::new());
            let Value::Object(map) = out else { return Ok(()) };
            skim.object(|key, inner| value(inner, change, depth + 1, map.entry(change(key.text().into_owned())).or_insert(Value::Null)))?;
        }
        Some(Type::Array) => {
            *out = Value::Array(Vec::new());
            let Value::Array(items) = out else { return Ok(()) };
            skim.array(|inner| {
                items.push(Value::Null);
                items.last_mut().map_or(Ok(()), |item| value(inner, change, depth + 1, item))
            })?;
        }
        Some(Type::String) => *out = skim.string().map_or(Value::Null, |text| Value::String(change(Raw::text(text).into_owned()))),
        Some(_) => *out = scalar(skim)?,
        None => {}
    }
    Ok(())
}

fn scalar(skim: &mut Skim<'_>) -> Result<Value, Torn> {
    if let Some(truth) = skim.bool() {
        return Ok(Value::Bool(truth));
    }
    let span = skim.skip()?;
    let text = String::from_utf8_lossy(skim.slice(span));
    let text = text.trim();
    let whole = text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from)).ok();
    let number = whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64));
    Ok(number.map_or(Value::Null, Value::Number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_those_of_serde() {
        let text = r#"{"a":[1,-2,3.5,true,null,"x\n\u00e9"],"b":{"c":{}},"d":[]}"#;
        let expected: Value = serde_json::from_str(text).unwrap_or_default();
        assert_eq!(read(text.as_bytes()), expected);
    }

    #[test]
    fn what_breaks_off_keeps_its_beginning() {
        assert_eq!(read(br#"{"a":1,"b":{"c":"x","#), json!({"a": 1, "b": {"c": "x"}}));
        assert_eq!(read(b""), Value::Null);
        assert_eq!(read(br#""\ud800""#), json!("\u{fffd}"));
    }

    #[test]
    fn deep_values_do_not_end_the_program() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read(deep.as_bytes()).is_array());
    }

    #[test]
    fn texts_can_be_changed_on_the_way() {
        let value = read_with(br#"{"key":"secret","n":1}"#, &|text| text.replace("secret", "***"));
        assert_eq!(value, json!({"key": "***", "n": 1}));
    }
}
