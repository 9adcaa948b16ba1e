//! Input that other readers lose a line over, or the whole process: what Skim does with each, row by row of the table of
//! hostile inputs that the reader was chosen by. And any bytes at all: no panic, no end beyond the text.

use proptest::prelude::*;
use std::time::{Duration, Instant};
use tooltrail_skim::{Skim, Torn};

/// The fields that a reader of logs would take from a record.
#[derive(Debug, Default, PartialEq)]
struct Wanted {
    uuid: Option<String>,
    tokens: Option<u64>,
    content: Option<String>,
    blocks: usize,
}

/// Reads a record as a format would: some keys wanted, the rest left to be skipped.
fn wanted(bytes: &[u8]) -> Result<Wanted, Torn> {
    let mut out = Wanted::default();
    let mut skim = Skim::new(bytes);
    skim.object(|key, value| {
        match key.as_bytes() {
            b"uuid" => out.uuid = value.string().map(|raw| raw.text().into_owned()),
            b"message" => value.object(|key, value| {
                match key.as_bytes() {
                    b"tokens" => out.tokens = value.uint(),
                    b"content" => {
                        out.content = value.string().map(|raw| raw.text().into_owned());
                        value.array(|_| {
                            out.blocks += 1;
                            Ok(())
                        })?;
                    }
                    _ => {}
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    let at = skim.position();
    if skim.finished() { Ok(out) } else { Err(Torn { at }) }
}

fn uuid(text: &str) -> Wanted {
    Wanted { uuid: Some(text.to_owned()), ..Wanted::default() }
}

#[test]
fn lone_surrogates_cost_nothing() {
    let skipped = wanted(br#"{"uuid":"u","skipped":"lone \ud83d here"}"#);
    assert_eq!(skipped, Ok(uuid("u")));
    let content = wanted(br#"{"message":{"content":"lone \ud83d here"}}"#).unwrap();
    assert_eq!(content.content.as_deref(), Some("lone \u{fffd} here"));
    assert_eq!(wanted(br#"{"uuid":"\ude00u"}"#), Ok(uuid("\u{fffd}u")));
}

#[test]
fn invalid_utf8_is_skipped_or_mended() {
    assert_eq!(wanted(b"{\"skipped\":\"\xff\xc3\",\"uuid\":\"u\"}"), Ok(uuid("u")));
    assert_eq!(wanted(b"{\"uuid\":\"a\xffb\"}"), Ok(uuid("a\u{fffd}b")));
    assert_eq!(wanted(b"{\"\xff\":1,\"uuid\":\"u\"}"), Ok(uuid("u")));
}

#[test]
fn the_last_of_equal_keys_counts() {
    assert_eq!(wanted(br#"{"uuid":"first","uuid":"last"}"#), Ok(uuid("last")));
}

#[test]
fn numbers_may_be_of_any_size() {
    let digits = "9".repeat(400);
    for number in [digits.as_str(), "1e999", "-1e999", "0.1e-999"] {
        let line = format!(r#"{{"skipped":{number},"uuid":"u"}}"#);
        assert_eq!(wanted(line.as_bytes()), Ok(uuid("u")), "{number}");
    }
    let table = [
        ("999999999999999999999999999999", Some(u64::MAX)),
        ("18446744073709551615", Some(u64::MAX)),
        ("12.9", Some(12)),
        ("1e3", Some(1000)),
        ("1e999", Some(u64::MAX)),
        ("-5", Some(0)),
        ("null", None),
        (r#""7""#, None),
        ("true", None),
        ("[7]", None),
    ];
    for (number, expected) in table {
        let line = format!(r#"{{"message":{{"tokens":{number}}},"uuid":"u"}}"#);
        let read = wanted(line.as_bytes()).unwrap();
        assert_eq!(read.tokens, expected, "{number}");
        assert_eq!(read.uuid.as_deref(), Some("u"), "{number}");
    }
}

#[test]
fn a_field_of_another_type_is_skipped() {
    for odd in ["7", "null", "true", "[1]", r#"{"a":1}"#, "-0.5e3"] {
        let line = format!(r#"{{"uuid":{odd},"message":{{"content":"c"}}}}"#);
        let read = wanted(line.as_bytes()).unwrap();
        assert_eq!((read.uuid, read.content.as_deref()), (None, Some("c")), "{odd}");
    }
    assert_eq!(wanted(br#"{"message":"a string","uuid":"u"}"#), Ok(uuid("u")));
    let blocks = wanted(br#"{"message":{"content":["a string",7,{"type":"text"}]}}"#).unwrap();
    assert_eq!(blocks.blocks, 3);
}

#[test]
fn cut_and_glued_lines_are_refused() {
    let whole = br#"{"uuid":"u","message":{"content":[{"a":"b\\"},1,true,null]}}"#;
    assert!(wanted(whole).is_ok());
    for end in 0..whole.len() {
        let cut = wanted(&whole[..end]);
        // Nothing at all is no object, and is left unread.
        assert!(cut.is_err() || end == 0, "{end}: {cut:?}");
    }
    for tail in ["x", "{}", "}", ",", "\0", "[]", "1"] {
        let line = [whole, tail.as_bytes()].concat();
        assert!(wanted(&line).is_err(), "{tail}");
    }
    assert!(wanted(&[whole, &b" \r\n\t"[..]].concat()).is_ok());
}

#[test]
fn control_characters_and_unknown_escapes_are_text() {
    assert_eq!(wanted(b"{\"skipped\":\"\0\t\x01\",\"uuid\":\"a\0\tb\"}"), Ok(uuid("a\0\tb")));
    assert_eq!(wanted(br#"{"skipped":"\q\u12","uuid":"a\qb\u12"}"#), Ok(uuid("a\\qb\\u12")));
}

#[test]
fn nul_lines_and_byte_order_marks_are_no_objects() {
    for line in [&b"\0\0\0\0"[..], b"\xef\xbb\xbf{\"uuid\":\"u\"}", b"\0{}"] {
        let mut skim = Skim::new(line);
        assert_eq!(skim.peek(), None);
        assert!(skim.skip().is_err());
        assert!(!skim.finished());
    }
}

#[test]
fn escaped_keys_are_found() {
    assert_eq!(wanted(br#"{"\u0075u\u0069d":"u"}"#), Ok(uuid("u")));
}

#[test]
fn depth_is_no_danger() {
    for depth in [1000, 200_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]")] {
            let nested = open.repeat(depth) + "1" + &close.repeat(depth);
            let line = format!(r#"{{"skipped":{nested},"uuid":"u"}}"#);
            assert_eq!(wanted(line.as_bytes()), Ok(uuid("u")));
            let mut skim = Skim::new(nested.as_bytes());
            assert!(skim.digest().is_ok());
            assert!(skim.finished());
            // Half of it never closes.
            assert!(wanted(&line.as_bytes()[..line.len() / 2]).is_err());
        }
    }
}

#[test]
fn values_that_are_not_json_are_stepped_over() {
    assert_eq!(wanted(br#"{"a":NaN,"b":Infinity,"c":-Infinity,"uuid":"u"}"#), Ok(uuid("u")));
    // Inside what is skipped only strings and the number of brackets are checked.
    assert_eq!(wanted(br#"{"a":[1 2,,],"uuid":"u"}"#), Ok(uuid("u")));
    assert_eq!(wanted(br#"{"a":[{1]},"uuid":"u"}"#), Ok(uuid("u")));
    for text in ["{\"a\":+1}", "{\"a\":.5}", "{\"a\":nul}", "{\"a\":truex}", "{a:1}", "{'a':1}", "{\"a\":1,}", "{,}"] {
        assert!(wanted(text.as_bytes()).is_err(), "{text}");
    }
}

/// Asks for everything in an order that the bytes decide, and checks after each step that the reader is inside the text.
fn walk(skim: &mut Skim<'_>, length: usize, depth: usize, steps: &mut usize) -> Result<(), Torn> {
    *steps += 1;
    assert!(*steps <= 20 * length + 100, "no end in sight");
    assert!(skim.position() <= length);
    let torn = match (skim.position() + *steps) % 9 {
        0 | 1 if depth < 60 => skim.object(|key, value| {
            let _ = key.text();
            walk(value, length, depth + 1, steps)
        }),
        2 | 3 if depth < 60 => skim.array(|item| walk(item, length, depth + 1, steps)),
        4 => {
            let _ = skim.string().map(|raw| (raw.text().len(), raw.head(3).len(), raw.tail(3).len()));
            Ok(())
        }
        5 => {
            let _ = (skim.uint(), skim.bool());
            Ok(())
        }
        6 => {
            let _ = (skim.float(), skim.int());
            Ok(())
        }
        7 => skim.digest().map(drop),
        _ => skim.skip().map(|span| {
            assert!(span.start <= span.end && span.end <= length);
            let _ = skim.slice(span);
        }),
    };
    assert!(skim.position() <= length);
    if let Err(torn) = torn {
        assert!(torn.at <= length, "{torn:?} in a text of {length}");
    }
    torn
}

fn survives(bytes: &[u8]) {
    let mut steps = 0;
    for start in 0..bytes.len().min(9) {
        let mut skim = Skim::new(bytes);
        let _ = walk(&mut skim, bytes.len(), start, &mut steps);
        skim.finished();
        assert!(skim.position() <= bytes.len());
        steps = 0;
    }
}

/// Pieces from which texts are put together that look like JSON.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b":",
    b",",
    b"\"a\":",
    b"{\"a\":1}",
    b"[1,2]",
    b"\"text\"",
    b"\\u00e9",
    b"\\ud83d",
    b"\\\"",
    b"true",
    b"null",
    b"-1.5e3",
    b"NaN",
    b" ",
    b"\n",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xe2\x86",
    b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&bytes);
    }

    #[test]
    fn anything_that_looks_like_json_is_survived(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        survives(&pieces.concat());
    }
}

#[test]
fn a_hostile_megabyte_takes_no_time() {
    let start = Instant::now();
    for piece in ["{\"", "[", "\\", "\"", "{\"a\":[", "\\u", "{}", "1,", "\"\\\\"] {
        let text = piece.repeat((1 << 20) / piece.len());
        let mut skim = Skim::new(text.as_bytes());
        let _ = skim.skip();
        let _ = Skim::new(text.as_bytes()).digest();
        let _ = wanted(text.as_bytes());
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
