//! Skim against serde_json: whatever serde_json reads, Skim reads alike, however it is spelled.
//!
//! A value is written in a random spelling (white space, escapes, order of keys) and read back by a walk that asks Skim for
//! every part. What serde_json refuses is the business of `hostile.rs`.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use proptest::prelude::*;
use serde_json::{Map, Number, Value};
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// Reads a value by asking for all of it.
fn rebuild(skim: &mut Skim<'_>) -> Result<Value, Torn> {
    let torn = Torn { at: skim.position() };
    Ok(match skim.peek().ok_or(torn)? {
        Type::Object => {
            let mut map = Map::new();
            skim.object(|key, value| {
                map.insert(key.text().into_owned(), rebuild(value)?);
                Ok(())
            })?;
            Value::Object(map)
        }
        Type::Array => {
            let mut items = Vec::new();
            skim.array(|item| {
                items.push(rebuild(item)?);
                Ok(())
            })?;
            Value::Array(items)
        }
        Type::String => Value::String(skim.string().ok_or(torn)?.text().into_owned()),
        Type::Number => number(skim).ok_or(torn)?,
        Type::Bool => Value::Bool(skim.bool().ok_or(torn)?),
        Type::Null => {
            skim.skip()?;
            Value::Null
        }
    })
}

/// A number as serde_json keeps it: whole and within 64 bits, or floating.
fn number(skim: &mut Skim<'_>) -> Option<Value> {
    let span = skim.clone().skip().ok()?;
    let token = std::str::from_utf8(skim.slice(span)).ok()?;
    let int = skim.clone().int()?;
    let float = skim.float()?;
    let whole = !token.contains(['.', 'e', 'E']) && token != "-0";
    if let Some(small) = i64::try_from(int).ok().filter(|_| whole) {
        return Some(small.into());
    }
    if let Some(large) = u64::try_from(int).ok().filter(|_| whole) {
        return Some(large.into());
    }
    Number::from_f64(float).map(Value::Number)
}

fn read(bytes: &[u8]) -> Result<Value, Torn> {
    let mut skim = Skim::new(bytes);
    let value = rebuild(&mut skim)?;
    let at = skim.position();
    if skim.finished() { Ok(value) } else { Err(Torn { at }) }
}

/// Whether two readings agree. serde_json rounds the last digit of long fractions differently from the standard library.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            a == b || (a - b).abs() <= a.abs() * 4.0 * f64::EPSILON
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let found = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(found)
        }
        _ => a == b,
    }
}

/// Makes the choices of a spelling from a list of numbers, over and over.
struct Choices<'c> {
    from: &'c [u8],
    at: usize,
}

impl Choices<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.at += 1;
        usize::from(self.from[self.at % self.from.len()]) % end.max(1)
    }
}

/// Writes a value with spaces, escapes and an order of keys of the choices' making.
fn spell(value: &Value, choices: &mut Choices<'_>, out: &mut String) {
    space(choices, out);
    match value {
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            for left in (1..members.len()).rev() {
                members.swap(left, choices.below(left + 1));
            }
            out.push('{');
            for (index, (key, inner)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                space(choices, out);
                spell_text(key, choices, out);
                space(choices, out);
                out.push(':');
                spell(inner, choices, out);
            }
            space(choices, out);
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, inner) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                spell(inner, choices, out);
            }
            space(choices, out);
            out.push(']');
        }
        Value::String(text) => spell_text(text, choices, out),
        scalar => out.push_str(&scalar.to_string()),
    }
    space(choices, out);
}

fn space(choices: &mut Choices<'_>, out: &mut String) {
    const SPACES: &[&str] = &["", "", "", "", " ", "\t", "\r\n", "    \n  "];
    out.push_str(SPACES[choices.below(SPACES.len())]);
}

fn spell_text(text: &str, choices: &mut Choices<'_>, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        let short = match char {
            '"' | '\\' | '/' => Some(char),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            _ => None,
        };
        let must = matches!(char, '"' | '\\' | '\0'..='\u{1f}');
        match (choices.below(4), short) {
            (0 | 1, _) if !must => out.push(char),
            (0..=2, Some(short)) => out.extend(['\\', short]),
            _ => {
                let upper = choices.below(2) == 0;
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out.push_str(&if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
                }
            }
        }
    }
    out.push('"');
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,12}",
        "[\"\\\\/{}\\[\\]:, \n\r\t]{0,8}",
        prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter),
        // Long enough to cross the blocks that strings are searched in.
        "[ -~é→🚢]{60,140}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // At the edges of the range serde_json itself does not read what it wrote.
        any::<f64>().prop_map(|number| Value::from(if (1e-290..1e290).contains(&number.abs()) { number } else { 0.5 })),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn choices() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_spelling_reads_as_the_value(value in value(), from in choices()) {
        let mut spelled = String::new();
        spell(&value, &mut Choices { from: &from, at: 0 }, &mut spelled);
        let theirs: Value = serde_json::from_str(&spelled).unwrap();
        prop_assert!(same(&theirs, &value), "the spelling is wrong: {spelled}");
        let ours = read(spelled.as_bytes());
        prop_assert!(ours.as_ref().is_ok_and(|ours| same(ours, &theirs)), "{spelled}\n{ours:?}");
    }

    #[test]
    fn bytes_that_are_no_text_read_as_serde_json_reads_the_mended_text(
        value in value(), from in choices(), bad in prop::collection::vec(any::<u8>(), 1..4), places in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let mut spelled = String::new();
        spell(&value, &mut Choices { from: &from, at: 0 }, &mut spelled);
        let mut bytes = spelled.into_bytes();
        for place in places {
            let at = place.index(bytes.len() + 1);
            bytes.splice(at..at, bad.iter().copied().filter(|byte| *byte >= 0x80));
        }
        let mended = String::from_utf8_lossy(&bytes);
        if let Ok(theirs) = serde_json::from_str::<Value>(&mended) {
            let ours = read(&bytes);
            prop_assert!(ours.as_ref().is_ok_and(|ours| same(ours, &theirs)), "{mended}\n{ours:?}");
        }
    }

    #[test]
    fn what_serde_json_takes_for_an_object_is_one(
        value in value(), from in choices(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let wrapped = Value::Object(Map::from_iter([("a".to_owned(), value)]));
        let mut spelled = String::new();
        spell(&wrapped, &mut Choices { from: &from, at: 0 }, &mut spelled);
        let mut bytes = spelled.into_bytes();
        for (place, byte) in changes {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        if serde_json::from_slice::<Value>(&bytes).is_ok_and(|value| value.is_object()) {
            let mut skim = Skim::new(&bytes);
            prop_assert_eq!(skim.object(|_, _| Ok(())), Ok(()));
            prop_assert!(skim.finished());
            prop_assert!(read(&bytes).is_ok());
        }
    }

    #[test]
    fn skipping_ends_where_reading_ends(value in value(), from in choices()) {
        let mut spelled = String::new();
        spell(&value, &mut Choices { from: &from, at: 0 }, &mut spelled);
        let mut reading = Skim::new(spelled.as_bytes());
        rebuild(&mut reading).unwrap();
        let mut skipping = Skim::new(spelled.as_bytes());
        let span = skipping.skip().unwrap();
        prop_assert_eq!(span.end, reading.position());
        prop_assert_eq!(skipping.position(), reading.position());
        let again: Value = serde_json::from_slice(skipping.slice(span)).unwrap();
        prop_assert!(same(&again, &value));
    }

    #[test]
    fn equal_values_have_equal_digests(value in value(), one in choices(), other in choices()) {
        let digest = |from: &[u8]| {
            let mut spelled = String::new();
            spell(&value, &mut Choices { from, at: 0 }, &mut spelled);
            Skim::new(spelled.as_bytes()).digest().unwrap()
        };
        prop_assert_eq!(digest(&one), digest(&other));
    }

    #[test]
    fn different_values_have_different_digests(one in value(), other in value()) {
        let digest = |value: &Value| Skim::new(value.to_string().as_bytes()).digest().unwrap();
        if !same(&one, &other) {
            prop_assert_ne!(digest(&one), digest(&other), "{} and {}", one, other);
        }
    }

    #[test]
    fn heads_are_the_beginning_and_tails_the_end(text in text(), limit in 0usize..40, from in choices()) {
        let mut spelled = String::new();
        spell_text(&text, &mut Choices { from: &from, at: 0 }, &mut spelled);
        let raw = Raw::new(&spelled.as_bytes()[1..spelled.len() - 1]);
        prop_assert_eq!(raw.text(), text.as_str());
        prop_assert!(raw == *text);
        let head = raw.head(limit);
        prop_assert!(text.starts_with(&*head), "{head:?} does not begin {text:?}");
        prop_assert!(head.len() < limit + 4 && head.len() + 4 > limit.min(text.len()), "{head:?}, limit {limit}");
        // The rest of an escape may stand in front of the tail; what follows it is the end of the text.
        let tail = raw.tail(limit);
        let whole = tail.char_indices().map(|(at, _)| at).find(|at| *at >= 6).unwrap_or(tail.len());
        prop_assert!(text.ends_with(&*tail) || text.ends_with(&tail[whole..]), "{tail:?} does not end {text:?}");
    }
}

#[test]
fn values_nest_sixty_deep() {
    let mut value = Value::from("bottom");
    for depth in 0..60 {
        value = if depth % 2 == 0 { Value::from(vec![value]) } else { Value::Object(Map::from_iter([("k".to_owned(), value)])) };
    }
    let text = value.to_string();
    assert_eq!(read(text.as_bytes()), Ok(value));
}

#[test]
fn values_of_different_types_have_different_digests() {
    let texts = [
        "1",
        r#""1""#,
        "[1]",
        r#"["1"]"#,
        r#"{"a":1}"#,
        r#"{"a":"1"}"#,
        r#"{"1":"a"}"#,
        "true",
        r#""true""#,
        "null",
        r#""null""#,
        "[]",
        "{}",
        r#""""#,
        r#""[]""#,
        r#""{}""#,
        "[[]]",
        "[{}]",
        "[null]",
        "[[],[]]",
        "[1,2]",
        "[12]",
        "[2,1]",
        "[[1],2]",
        "[1,[2]]",
        r#"{"a":1,"b":2}"#,
        r#"{"a":2,"b":1}"#,
        r#"{"a":{"b":1}}"#,
        r#"{"b":{"a":1}}"#,
        r#"{"a":[]}"#,
        r#"{"a":{}}"#,
        r#"{"a":null}"#,
    ];
    let digest = |text: &str| Skim::new(text.as_bytes()).digest().unwrap();
    let mut alike = Vec::new();
    for (index, one) in texts.iter().enumerate() {
        alike.extend(texts[..index].iter().filter(|other| digest(other) == digest(one)).map(|other| (other, one)));
    }
    assert!(alike.is_empty(), "the same digest: {alike:?}");
}

#[test]
fn a_tail_is_as_long_as_asked_however_it_is_spelled() {
    const LIMIT: usize = 60;
    for text in ["plain text ", "a line\n", "\"quoted\"", "\t\t", "é→😀"] {
        let text = text.repeat(40);
        let short = serde_json::to_string(&text).unwrap();
        let numbers: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let mixed = short[1..short.len() - 1].to_owned() + "\\u0065nd";
        for spelled in [&short[1..short.len() - 1], &numbers, &mixed] {
            let tail = Raw::new(spelled.as_bytes()).tail(LIMIT);
            assert!(tail.len() >= LIMIT, "{} bytes of {spelled}", tail.len());
        }
    }
}

#[test]
fn a_head_does_not_depend_on_the_spelling() {
    for text in ["😀", "a😀b", "ab😀", "abc😀", "é😀é", "\u{7f}é→😀"] {
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        for limit in 0..12 {
            let (plain, spelled) = (Raw::new(text.as_bytes()), Raw::new(escaped.as_bytes()));
            assert_eq!(plain.head(limit), spelled.head(limit), "{text}, {limit}");
        }
    }
}
