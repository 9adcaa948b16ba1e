//! Damages JSON at random for as long as `TOOLTRAIL_FUZZ_SECONDS` says (1 by default) and reads what comes out.
//!
//! What must hold: no panic, no position beyond the text, skipping and reading agree, and whatever serde_json takes Skim
//! takes, with the same strings. The seed is printed; `TOOLTRAIL_FUZZ_SEED` runs one again.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use tooltrail_skim::{Skim, Torn, Type};

const SEEDS: &[&str] = &[
    r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"fix the pärser 🚢"}}"#,
    r#"{"a":[1,-2.5e3,0.1,true,false,null,"x\n\"\\\/\u00e9\ud83d\ude00"],"b":{"c":{},"d":[]},"":""}"#,
    r#"[[[[{"k":[{"k":[]}]}]]],"a long string that does not fit into a block of sixty-four bytes, and then some \\\" more of it"]"#,
    r#"  {"n" : 123456789012345678901234567890 , "f":1E-7}  "#,
    r#""only a string with \"quotes\" and \\backslashes\\""#,
    "-0",
    "{}",
];

const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b":",
    b",",
    b"\\u",
    b"\\ud83d",
    b"null",
    b"-",
    b"NaN",
    b"1e999",
    b"\0",
    b"\xff",
    b"\xe2\x86",
    b"\xef\xbb\xbf",
    b"\n",
    b"{\"",
    b"\"a\":",
    b"\\\\",
    b"                                                                ",
];

/// A splitmix64 generator: the same numbers on every machine.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * end as u128) >> 64) as usize
    }
}

fn mangle(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = SEEDS[rng.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..rng.below(6) {
        let at = rng.below(bytes.len() + 1);
        let end = (at + rng.below(20)).min(bytes.len());
        match rng.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.truncate(at),
            3 => {
                let other = SEEDS[rng.below(SEEDS.len())].as_bytes();
                let from = rng.below(other.len());
                bytes.splice(at..at, other[from..].iter().copied());
            }
            4 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let piece = PIECES[rng.below(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    bytes
}

/// Every string of a value, as Skim reads it.
fn strings(skim: &mut Skim<'_>, depth: usize, out: &mut Vec<String>) -> Result<(), Torn> {
    match skim.peek() {
        Some(Type::Object) if depth < 100 => skim.object(|key, value| {
            out.push(key.text().into_owned());
            strings(value, depth + 1, out)
        }),
        Some(Type::Array) if depth < 100 => skim.array(|item| strings(item, depth + 1, out)),
        Some(Type::String) => {
            let at = skim.position();
            out.push(skim.string().ok_or(Torn { at })?.text().into_owned());
            Ok(())
        }
        _ => skim.skip().map(drop),
    }
}

/// Every string of a value, as serde_json reads it. Of equal keys it keeps one, so those are left to other tests.
fn their_strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            out.push(key.clone());
            their_strings(value, out);
        }),
        Value::Array(items) => items.iter().for_each(|item| their_strings(item, out)),
        Value::String(text) => out.push(text.clone()),
        _ => {}
    }
}

fn check(bytes: &[u8]) {
    let mut reading = Skim::new(bytes);
    let mut ours = Vec::new();
    let read = strings(&mut reading, 0, &mut ours);
    let mut skipping = Skim::new(bytes);
    let skipped = skipping.skip();
    let digest = Skim::new(bytes).digest();
    assert!(reading.position() <= bytes.len() && skipping.position() <= bytes.len());
    for torn in [read.err(), skipped.clone().err(), digest.err()].into_iter().flatten() {
        assert!(torn.at <= bytes.len());
    }
    if read.is_ok() {
        assert_eq!(skipped.map(|span| span.end), Ok(reading.position()), "skipping ends elsewhere");
        assert!(digest.is_ok());
    }
    let text = String::from_utf8_lossy(bytes);
    if let Ok(theirs) = serde_json::from_str::<Value>(&text) {
        assert!(read.is_ok() && reading.finished(), "serde_json takes it: {read:?}");
        let mut expected = Vec::new();
        their_strings(&theirs, &mut expected);
        if expected.len() == ours.len() {
            assert_eq!(ours, expected);
        } else {
            assert!(expected.len() < ours.len(), "strings are missing");
        }
    }
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

#[test]
fn damaged_json_is_survived() {
    let seconds = variable("TOOLTRAIL_FUZZ_SECONDS", 1);
    let seed = variable("TOOLTRAIL_FUZZ_SEED", 0x5eed);
    println!("TOOLTRAIL_FUZZ_SEED={seed}");
    let mut rng = Rng(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut count = 0u64;
    while !count.is_multiple_of(256) || Instant::now() < end {
        let bytes = mangle(&mut rng);
        let result = catch_unwind(AssertUnwindSafe(|| check(&bytes)));
        assert!(result.is_ok(), "input {count} of seed {seed}: b\"{}\"", bytes.escape_ascii());
        count += 1;
    }
    println!("{count} inputs");
}
