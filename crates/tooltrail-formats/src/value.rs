//! A record as a tree of values, for what is looked at closely. Read with the same reader as everything else: as tolerant, and with
//! the same lossy text.

use crate::joined;
use serde_json::{Map, Number, Value};
use tooltrail_skim::{Raw, Skim, Torn, Type};

pub use crate::payloads::Payloads;

/// The depth below which values stay as text, as they are written: a hostile record must not exhaust the stack.
const DEPTH: usize = 128;

/// The length up to which a text is redacted again together with its field's name or option.
const LONGEST: usize = 4096;

/// Changes a text that was read, such as by taking secrets out of it.
pub type RedactFn<'c> = dyn Fn(String) -> String + Sync + 'c;

/// Reads a value. A value that breaks off keeps everything before the break; text that is no JSON becomes null.
pub fn read(bytes: &[u8]) -> Value {
    read_texts(bytes, &|text| text.text().into_owned())
}

/// Reads a value with about so many bytes of each text at most.
pub(crate) fn read_beginnings(bytes: &[u8], most: usize) -> Value {
    read_texts(bytes, &|text| text.head(most).into_owned())
}

/// A number of tokens, also where it is written as a text. One that is too large for any number is the largest, so that it is noticed.
pub(crate) fn tokens(value: &mut Skim<'_>) -> u64 {
    let spelled = |text: Raw<'_>| Skim::new(text.text().trim().as_bytes()).uint();
    value.uint().or_else(|| spelled(value.string()?)).unwrap_or(0)
}

/// The way in which a text is decoded.
type DecodeText<'d> = dyn Fn(Raw<'_>) -> String + 'd;

fn read_texts(bytes: &[u8], decode: &DecodeText<'_>) -> Value {
    let mut skim = Skim::new(bytes);
    let mut out = Value::Null;
    // Whatever was read before a value broke off is in `out` already.
    let _ = value(&mut skim, 0, decode, &mut out);
    out
}

fn value(skim: &mut Skim<'_>, depth: usize, decode: &DecodeText<'_>, out: &mut Value) -> Result<(), Torn> {
    match skim.peek() {
        Some(Type::Object | Type::Array) if depth >= DEPTH => {
            let span = skim.skip()?;
            *out = Value::String(String::from_utf8_lossy(skim.slice(span)).into_owned());
        }
        Some(Type::Object) => {
            *out = Value::Object(Map::new());
            let Value::Object(map) = out else { return Ok(()) };
            // The slot is created before its value is read, so that a value that breaks off is kept.
            skim.object(|key, inner| value(inner, depth + 1, decode, map.entry(key.text().into_owned()).or_insert(Value::Null)))?;
        }
        Some(Type::Array) => {
            *out = Value::Array(Vec::new());
            let Value::Array(items) = out else { return Ok(()) };
            skim.array(|inner| {
                items.push(Value::Null);
                items.last_mut().map_or(Ok(()), |item| value(inner, depth + 1, decode, item))
            })?;
        }
        Some(Type::String) => *out = skim.string().map_or(Value::Null, |text| Value::String(decode(text))),
        Some(_) => *out = scalar(skim)?,
        None => {}
    }
    Ok(())
}

/// Changes every text of a value. Names of fields are texts too: some are paths or questions. The texts of a list are also changed as one,
/// because they may be lines of one text.
pub fn change(value: &mut Value, how: &RedactFn<'_>) {
    // Texts alone first, lists second: a secret in one text is replaced before the lists are joined.
    each(value, how);
    lists(value, how);
}

/// Changes the texts of the outermost lists as one each.
fn lists(value: &mut Value, how: &RedactFn<'_>) {
    match value {
        Value::Array(_) => {
            let mut texts = Vec::new();
            gather(value, &mut texts);
            joined::again(texts, how);
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| lists(value, how)),
        _ => {}
    }
}

/// The texts of a value, in order.
fn gather<'v>(value: &'v mut Value, texts: &mut Vec<&'v mut String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| gather(item, texts)),
        Value::Object(fields) => fields.values_mut().for_each(|value| gather(value, texts)),
        _ => {}
    }
}

/// Changes every text by itself.
fn each(value: &mut Value, how: &RedactFn<'_>) {
    match value {
        Value::String(text) => *text = how(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, how)),
        Value::Object(fields) => {
            // Taken out and put back, because a key cannot be changed in place; the order stays.
            for (name, mut value) in std::mem::take(fields) {
                each(&mut value, how);
                // `{"password": "hunter2"}`: only the name shows that the value is a secret.
                if let Value::String(text) = &mut value
                    && names_secret(&name)
                {
                    *text = named(&name, std::mem::take(text), how);
                }
                if let Value::Array(items) = &mut value
                    && COMMANDS.contains(&&*name)
                {
                    arguments(items, how);
                }
                let name = free(fields, how(name));
                fields.insert(name, value);
            }
            pair(fields, how);
        }
        _ => {}
    }
}

/// Changes a value whose name stands in a field beside it: `{"name": "DB_PASSWORD", "value": "hunter2"}`.
fn pair(fields: &mut Map<String, Value>, how: &RedactFn<'_>) {
    const NAMES: [&str; 3] = ["name", "key", "variable"];
    let name = NAMES.iter().find_map(|name| fields.get(*name)?.as_str()).filter(|name| names_secret(name)).map(str::to_owned);
    if let Some(name) = name
        && let Some(Value::String(text)) = fields.get_mut("value")
    {
        *text = named(&name, std::mem::take(text), how);
    }
}

/// Fields that hold a command, a word each.
const COMMANDS: [&str; 4] = ["command", "cmd", "args", "argv"];

/// Changes the words of a command for what stands before them: the program, and the option whose value they are.
fn arguments(items: &mut [Value], how: &RedactFn<'_>) {
    let text = |items: &[Value], at: usize| items.get(at).and_then(Value::as_str).filter(|text| text.len() <= LONGEST).map(str::to_owned);
    let Some(program) = text(items, 0) else { return };
    for at in 1..items.len() {
        let Some(word) = text(items, at) else { continue };
        // The first word behind the program has no option in front of it.
        let option = text(items, at - 1).filter(|option| at > 1 && option.starts_with('-'));
        let before = option.map_or_else(|| format!("{program} "), |option| format!("{program} {option} "));
        // A redactor that touches the words in front leaves this word as it is: they are redacted on their own.
        if let Some(changed) = how(format!("{before}{word}")).strip_prefix(&before)
            && let Some(item) = items.get_mut(at)
        {
            *item = Value::String(changed.to_owned());
        }
    }
}

/// Whether only the name of a field may reveal that its value is a secret.
fn names_secret(name: &str) -> bool {
    const WORDS: [&str; 8] = ["pass", "pwd", "secret", "token", "key", "auth", "cookie", "credential"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// A text, redacted as the value of a field with this name.
fn named(name: &str, text: String, how: &RedactFn<'_>) -> String {
    if text.len() > LONGEST {
        return text;
    }
    let both = Value::Object(Map::from_iter([(name.to_owned(), Value::String(text.clone()))])).to_string();
    let changed = how(both.clone());
    if changed == both {
        return text;
    }
    let own = read(changed.as_bytes());
    // If the redactor broke the JSON, nothing of the value is shown: better too little than a secret.
    own.as_object().and_then(|fields| fields.values().next()).and_then(Value::as_str).map_or_else(|| "[redacted]".to_owned(), str::to_owned)
}

/// A free name for a field, numbered where redaction made two names equal.
fn free(fields: &Map<String, Value>, name: String) -> String {
    if !fields.contains_key(&name) {
        return name;
    }
    // A few by hand; where there are many, the number of fields is free or nearly so.
    (2..9).chain(fields.len()..).map(|number| format!("{name} ({number})")).find(|name| !fields.contains_key(name)).unwrap_or(name)
}

fn scalar(skim: &mut Skim<'_>) -> Result<Value, Torn> {
    if let Some(truth) = skim.bool() {
        return Ok(Value::Bool(truth));
    }
    let span = skim.skip()?;
    let text = String::from_utf8_lossy(skim.slice(span));
    let text = text.trim();
    // Whole numbers first, so that ids beyond 2^53 keep all their digits.
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

    fn starred(text: &str) -> Value {
        let mut value = read(text.as_bytes());
        change(&mut value, &|text| text.replace("secret", "***").replace(r#"{"token":"x1"}"#, r#"{"token":"***"}"#));
        value
    }

    #[test]
    fn all_texts_are_changed() {
        assert_eq!(starred(r#"{"key":["secret",{"a":"a secret"}],"n":1}"#), json!({"key": ["***", {"a": "a ***"}], "n": 1}));
    }

    #[test]
    fn fields_that_come_to_be_called_the_same_are_both_kept() {
        assert_eq!(starred(r#"{"secret":1,"***":2}"#), json!({"***": 1, "*** (2)": 2}));
    }

    #[test]
    fn words_of_a_command_are_changed_for_what_stands_before_them() {
        let changed = |text: &str| {
            let mut value = read(text.as_bytes());
            change(&mut value, &|text| text.replace("curl -u a", "curl -u ***").replace("--key b", "--key ***"));
            value
        };
        assert_eq!(changed(r#"{"cmd":["curl","-x","-u","a",3,"a"]}"#), json!({"cmd": ["curl", "-x", "-u", "***", 3, "a"]}));
        assert_eq!(changed(r#"{"args":["--key","b"],"x":["--key","b"]}"#), json!({"args": ["--key", "***"], "x": ["--key", "b"]}));
    }

    #[test]
    fn values_are_changed_for_what_their_name_says() {
        assert_eq!(starred(r#"{"token":"x1","other":"x1"}"#), json!({"token": "***", "other": "x1"}));
    }
}
