//! A fingerprint of a JSON value that does not depend on how it is spelled.
//!
//! Two copies of one tool call may order the keys of its input differently or escape other characters; they are still the same
//! input. Objects therefore combine their members without order, and of all spellings of a string the usual one is hashed.

use crate::blocks;
use crate::skim::{Skim, Torn, Type};
use xxhash_rust::xxh3::xxh3_64;

/// Depth from which a value is hashed as it is spelled: the walk below uses the stack, and real inputs are not nested that
/// deep.
const DEEP: usize = 48;

impl Skim<'_> {
    /// Reads a value and returns its fingerprint: equal for equal values, whatever the order of keys or the escapes.
    pub fn digest(&mut self) -> Result<u64, Torn> {
        digest(self, 0, &mut Vec::new())
    }
}

/// `scratch` holds decoded strings and is reused from one to the next.
fn digest(skim: &mut Skim<'_>, depth: usize, scratch: &mut Vec<u8>) -> Result<u64, Torn> {
    match skim.peek() {
        Some(Type::String) => match skim.string() {
            Some(raw) => Ok(text(raw, scratch)),
            // A string that does not end fails below as any torn value does.
            None => skim.skip().map(|_| 0),
        },
        Some(Type::Object) if depth < DEEP => {
            let mut sum = 0u64;
            skim.object(|key, value| {
                let member = mix(xxh3_64(key.as_bytes()), digest(value, depth + 1, scratch)?);
                // A sum, because keys may come in any order.
                sum = sum.wrapping_add(member);
                Ok(())
            })?;
            Ok(mix(1, sum))
        }
        Some(Type::Array) if depth < DEEP => {
            // Mixed in sequence, because the order of elements matters.
            let mut all = 2u64;
            skim.array(|item| {
                all = mix(all, digest(item, depth + 1, scratch)?);
                Ok(())
            })?;
            Ok(all)
        }
        _ => {
            let span = skim.skip()?;
            // A number must not hash like the string that spells it.
            Ok(mix(3, xxh3_64(skim.slice(span))))
        }
    }
}

impl crate::Raw<'_> {
    /// The fingerprint that [`Skim::digest`] gives this string.
    pub fn digest(self) -> u64 {
        text(self, &mut Vec::new())
    }
}

/// Hash of the usual spelling of a text: nearly every string has it already, and need not be decoded. Invalid JSON, such as
/// a raw control character, is hashed as it stands.
fn text(raw: crate::Raw<'_>, scratch: &mut Vec<u8>) -> u64 {
    if raw.is_plain() || blocks::is_usual(raw.bytes()) {
        return xxh3_64(raw.bytes());
    }
    scratch.clear();
    raw.decode_into(scratch);
    let mut usual = Vec::with_capacity(scratch.len() + 16);
    for &byte in scratch.iter() {
        match blocks::usual_escape(byte) {
            Some(letter) => usual.extend([b'\\', letter]),
            None => usual.push(byte),
        }
    }
    xxh3_64(&usual)
}

/// Combines two hashes so that neither order nor zeros cancel out.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> u64 {
        Skim::new(text.as_bytes()).digest().unwrap()
    }

    #[test]
    fn spelling_and_key_order_do_not_matter() {
        assert_eq!(of(r#"{"a":1,"b":["x",null]}"#), of(r#" { "b" : [ "\u0078" , null ], "\u0061":1 }"#));
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":2}"#));
        assert_ne!(of(r#"["a","b"]"#), of(r#"["b","a"]"#));
        assert_ne!(of(r#"{"a":{"b":1}}"#), of(r#"{"b":{"a":1}}"#));
    }

    #[test]
    fn every_spelling_of_a_text_is_the_same() {
        let alike: [&[&str]; 5] = [
            &[r#""tab\t, line\n, quote\", backslash\\""#, r#""tab\u0009, line\u000a, quote\u0022, backslash\u005c""#],
            &[r#""a/b""#, r#""a\/b""#, r#""\u0061\u002fb""#],
            &[r#""unknown \q""#, r#""unknown \\q""#],
            &[r#""bell \u0007, back\b, é""#, r#""bell \u0007, back\u0008, \u00e9""#],
            &[r#""long enough for two blocks: \"\\\"""#, r#""long enough for two blocks: \u0022\\\u0022""#],
        ];
        for (index, spellings) in alike.iter().enumerate() {
            for other in *spellings {
                assert_eq!(of(spellings[0]), of(other), "{other}");
                assert!(alike[..index].iter().all(|before| of(before[0]) != of(other)), "{other}");
            }
        }
    }

    #[test]
    fn depth_does_not_matter_either() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(of(&deep), of(&deep));
    }
}
