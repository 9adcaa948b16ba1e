//! The secrets of an export: their labels, and where they stand without a name or a shape that tells them.
//!
//! A secret that was recognised once has one label, and is redacted wherever it occurs. Values that are short or ordinary words are
//! labelled, but not searched for: they would take words out of every text.

use std::collections::HashMap;

use crate::mnemonics;
use crate::rules::{EMAIL, MNEMONIC};
use crate::spot::is_word;
use crate::values::{common, lettered};

/// The most secrets that are kept; further ones are numbered and forgotten.
const MOST: usize = 50_000;

/// The shortest value that is searched for, and the length of the heads by which values are found.
const HEAD: usize = 6;

/// The most values with the same head.
const SAME_HEAD: usize = 64;

/// The longest part of a value that is compared.
const COMPARED: usize = 256;

/// A secret: its kind and its number among those of the kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Label {
    pub(crate) kind: &'static str,
    pub(crate) number: u64,
}

impl Label {
    /// What stands in the text: `[api-key 1]`.
    pub(crate) fn text(self) -> String {
        format!("[{} {}]", self.kind.replace(' ', "-"), self.number)
    }
}

/// A value to search for, and its label.
type LabelledValue = (Box<[u8]>, Label);

/// Secrets that were recognised so far.
#[derive(Debug, Default)]
pub(crate) struct KnownSecrets {
    labels: HashMap<Box<[u8]>, Label>,
    numbers: HashMap<&'static str, u64>,
    /// Values to search for, by their first bytes.
    heads: HashMap<[u8; HEAD], Vec<LabelledValue>>,
    /// A bit for each hash of the first three bytes of such a value.
    bits: Vec<u64>,
}

impl KnownSecrets {
    /// The label of a value; a new one if it was never seen.
    pub(crate) fn label(&mut self, kind: &'static str, value: &[u8]) -> Label {
        let canonical = canonical(kind, value);
        if let Some(label) = self.labels.get(&*canonical) {
            return *label;
        }
        let number = self.numbers.entry(kind).or_default();
        *number += 1;
        let label = Label { kind, number: *number };
        if self.labels.len() < MOST {
            self.learn(kind, value, label);
            self.labels.insert(canonical, label);
        }
        label
    }

    fn learn(&mut self, kind: &'static str, value: &[u8], label: Label) {
        if kind == EMAIL || kind == MNEMONIC {
            return;
        }
        if kind == "private key" {
            // Lines of a key may stand alone elsewhere.
            let lines = value.split(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'/' | b'='));
            lines.filter(|line| line.len() >= 40).take(200).for_each(|line| self.add(line, label));
        } else if searchable(value) {
            self.add(value, label);
            let plain = unescaped(value);
            if plain != value && searchable(&plain) {
                self.add(&plain, label);
            }
        }
    }

    fn add(&mut self, value: &[u8], label: Label) {
        let Some(head) = value.first_chunk::<HEAD>() else { return };
        if self.bits.is_empty() {
            self.bits = vec![0; 1 << 10];
        }
        let hash = hash(&head[..3]);
        self.bits[hash / 64] |= 1 << (hash % 64);
        let same = self.heads.entry(*head).or_default();
        if same.len() < SAME_HEAD && !same.iter().any(|(known, _)| **known == *value) {
            same.push((value.into(), label));
            // The longest first: a value may begin with another.
            same.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        }
    }

    /// Where known values stand in a text, in order.
    pub(crate) fn find(&self, text: &[u8]) -> Vec<(usize, usize, Label)> {
        let mut found = Vec::new();
        if self.heads.is_empty() {
            return found;
        }
        let mut at = 0;
        while let Some(head) = text.get(at..).and_then(|rest| rest.first_chunk::<HEAD>()) {
            let hash = hash(&head[..3]);
            let possible = self.bits.get(hash / 64).is_some_and(|bits| bits >> (hash % 64) & 1 != 0);
            match possible.then(|| self.at(text, at, head)).flatten() {
                Some((end, label)) => {
                    found.push((at, end, label));
                    at = end;
                }
                None => at += 1,
            }
        }
        found
    }

    fn at(&self, text: &[u8], at: usize, head: &[u8; HEAD]) -> Option<(usize, Label)> {
        let same = self.heads.get(head)?;
        let rest = text.get(at..)?;
        same.iter().find_map(|(value, label)| {
            let compared = value.len().min(COMPARED);
            let stands = rest.get(..compared) == value.get(..compared) && rest.starts_with(value);
            (stands && parted(text, at, at + value.len(), value)).then_some((at + value.len(), *label))
        })
    }
}

/// Whether a value stands by itself, which a short one or a word must: `hunters` is not `hunter`.
fn parted(text: &[u8], from: usize, to: usize, value: &[u8]) -> bool {
    let telling = value.len() >= 8 && !lettered(value) && !value.iter().all(u8::is_ascii_digit) || value.len() >= 20;
    let before = from.checked_sub(1).and_then(|at| text.get(at)).is_none_or(|byte| !is_word(*byte));
    let escape = from >= 2 && matches!(text.get(from - 2..from), Some(b"\\n" | b"\\t" | b"\\r"));
    telling || (before || escape) && text.get(to).is_none_or(|byte| !is_word(*byte))
}

/// Whether a value may be searched for: neither short nor an ordinary word nor a small number.
fn searchable(value: &[u8]) -> bool {
    let digits = value.iter().all(u8::is_ascii_digit);
    let letters = value.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    value.len() >= HEAD && letters >= 4 && !common(value) && !mnemonics::is_word(value) && (!digits || value.len() >= 8)
}

/// A value as it is compared: a key without its line breaks and whatever stands between its lines, another without escapes.
fn canonical(kind: &str, value: &[u8]) -> Box<[u8]> {
    if kind != "private key" || !value.windows(5).any(|five| five == b"-----") {
        return unescaped(value).into();
    }
    let runs = value.split(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'/' | b'='));
    runs.filter(|run| run.len() >= 16).flatten().copied().collect()
}

/// A value without the backslashes in front of quotes and backslashes.
fn unescaped(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut bytes = value.iter().peekable();
    while let Some(byte) = bytes.next() {
        let escape = *byte == b'\\' && matches!(bytes.peek(), Some(b'"' | b'\'' | b'\\' | b'/'));
        if let Some(next) = escape.then(|| bytes.next()).flatten() {
            out.push(*next);
        } else {
            out.push(*byte);
        }
    }
    out
}

fn hash(three: &[u8]) -> usize {
    three.iter().fold(0usize, |hash, byte| hash.wrapping_mul(0x9e37).wrapping_add(usize::from(*byte))) >> 3 & 0xffff
}
