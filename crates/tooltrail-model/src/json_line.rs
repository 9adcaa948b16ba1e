//! Rows as JSON, written for speed: a listing prints a hundred thousand of them, each with some sixty keys.
//!
//! The text is the one of serde_json, which tests hold it to. That library looks at each byte of every key and text for something to escape;
//! here keys are copied as they are, since they are names of fields, and texts are looked at sixteen bytes at a time.

use serde::ser::{self, Impossible};
use serde::{Serialize, Serializer};
use std::fmt::{self, Write as _};

/// Appends a row as one line of JSON. Only what rows are made of can be written: objects with fixed fields, lists, texts, whole numbers and
/// flags. Anything else is an error.
pub fn append(out: &mut Vec<u8>, row: &impl Serialize) -> Result<(), fmt::Error> {
    row.serialize(&mut JsonLine { out })?;
    out.push(b'\n');
    Ok(())
}

/// The serializer of a line.
struct JsonLine<'o> {
    out: &'o mut Vec<u8>,
}

/// The bytes looked at together.
const BLOCK: usize = 16;

fn must_be_escaped(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Appends a text without its quotes.
fn append_text(out: &mut Vec<u8>, text: &str) {
    let mut blocks = text.as_bytes().chunks_exact(BLOCK);
    for block in &mut blocks {
        // Without an early end, so that the compiler compares all bytes at once.
        if block.iter().fold(false, |any, &byte| any | must_be_escaped(byte)) {
            block.iter().for_each(|&byte| append_byte(out, byte));
        } else {
            out.extend_from_slice(block);
        }
    }
    blocks.remainder().iter().for_each(|&byte| append_byte(out, byte));
}

fn append_byte(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        0..0x20 => {
            // In small letters, as serde_json writes them.
            let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
            return;
        }
        _ => {
            out.push(byte);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Takes the text of a value that is displayed, such as a time.
impl fmt::Write for JsonLine<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        append_text(self.out, text);
        Ok(())
    }
}

impl JsonLine<'_> {
    fn number(&mut self, negative: bool, mut rest: u64) {
        // Twenty digits are the most that a number of 64 bits has.
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if negative {
            self.out.push(b'-');
        }
        self.out.extend_from_slice(&digits[at..]);
    }
}

/// An object or a list that is being written.
struct OpenValue<'s, 'o> {
    line: &'s mut JsonLine<'o>,
    is_empty: bool,
}

impl OpenValue<'_, '_> {
    fn comma(&mut self) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.line.out.push(b',');
        }
    }
}

impl ser::SerializeStruct for OpenValue<'_, '_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), fmt::Error> {
        self.comma();
        self.line.out.push(b'"');
        self.line.out.extend_from_slice(key.as_bytes());
        self.line.out.extend_from_slice(b"\":");
        value.serialize(&mut *self.line)
    }

    fn end(self) -> Result<(), fmt::Error> {
        self.line.out.push(b'}');
        Ok(())
    }
}

impl ser::SerializeSeq for OpenValue<'_, '_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), fmt::Error> {
        self.comma();
        value.serialize(&mut *self.line)
    }

    fn end(self) -> Result<(), fmt::Error> {
        self.line.out.push(b']');
        Ok(())
    }
}

/// Methods for values that no row has.
macro_rules! refused {
    ($($method:ident($($type:ty),*) -> $ok:ty;)*) => {
        $(fn $method(self $(, _: $type)*) -> Result<$ok, fmt::Error> {
            Err(fmt::Error)
        })*
    };
}

impl<'s, 'o> Serializer for &'s mut JsonLine<'o> {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = OpenValue<'s, 'o>;
    type SerializeStruct = OpenValue<'s, 'o>;
    type SerializeTuple = Impossible<(), fmt::Error>;
    type SerializeTupleStruct = Impossible<(), fmt::Error>;
    type SerializeTupleVariant = Impossible<(), fmt::Error>;
    type SerializeMap = Impossible<(), fmt::Error>;
    type SerializeStructVariant = Impossible<(), fmt::Error>;

    fn serialize_bool(self, value: bool) -> Result<(), fmt::Error> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_i64(self, value: i64) -> Result<(), fmt::Error> {
        self.number(value < 0, value.unsigned_abs());
        Ok(())
    }

    fn serialize_i32(self, value: i32) -> Result<(), fmt::Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), fmt::Error> {
        self.number(false, value);
        Ok(())
    }

    fn serialize_u32(self, value: u32) -> Result<(), fmt::Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_str(self, text: &str) -> Result<(), fmt::Error> {
        self.out.push(b'"');
        append_text(self.out, text);
        self.out.push(b'"');
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), fmt::Error> {
        // Without a `String` in between: rows have several times each.
        self.out.push(b'"');
        write!(self, "{value}")?;
        self.out.push(b'"');
        Ok(())
    }

    fn serialize_none(self) -> Result<(), fmt::Error> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), fmt::Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), fmt::Error> {
        self.serialize_none()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), fmt::Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), fmt::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(self, _: &'static str, _: u32, _: &'static str, _: &T) -> Result<(), fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<OpenValue<'s, 'o>, fmt::Error> {
        self.out.push(b'[');
        Ok(OpenValue { line: self, is_empty: true })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<OpenValue<'s, 'o>, fmt::Error> {
        self.out.push(b'{');
        Ok(OpenValue { line: self, is_empty: true })
    }

    refused! {
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One of everything that rows are made of.
    #[derive(Debug, Serialize)]
    struct SampleRow {
        v: u32,
        text: String,
        empty: Option<&'static str>,
        some: Option<i64>,
        list: Vec<String>,
        inner: Vec<SamplePlace>,
        flag: bool,
        bytes: u64,
        code: i32,
        kind: SampleKind,
    }

    #[derive(Debug, Serialize)]
    struct SamplePlace {
        file: String,
        line: Option<u64>,
    }

    #[derive(Debug, Serialize)]
    #[serde(rename_all = "snake_case")]
    enum SampleKind {
        OfTwoWords,
    }

    proptest! {
        #[test]
        fn lines_are_those_of_serde_json(text in any::<String>(), list in prop::collection::vec("\\PC*|[\\x00-\\x7f]{0,40}", 0..3), some: Option<i64>, bytes: u64, line: Option<u64>) {
            let inner = list.iter().map(|file| SamplePlace { file: file.clone(), line }).collect();
            let sample = SampleRow { v: 1, text, empty: None, some, list, inner, flag: bytes % 2 == 0, bytes, code: -7, kind: SampleKind::OfTwoWords };
            let mut out = Vec::new();
            append(&mut out, &sample).unwrap();
            prop_assert_eq!(String::from_utf8(out).unwrap(), format!("{}\n", serde_json::to_string(&sample).unwrap()));
        }
    }

    #[test]
    fn what_no_row_has_is_an_error() {
        assert!(append(&mut Vec::new(), &1.5).is_err());
        assert!(append(&mut Vec::new(), &std::collections::BTreeMap::from([("a", 1)])).is_err());
    }
}
