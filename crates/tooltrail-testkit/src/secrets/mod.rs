//! Invented secrets in the places where real ones stand, and harmless lines that look like them.
//!
//! [`SHAPES`] has one line for each kind of secret and way of writing it; [`plant`] fills it with random values. The values are made when
//! tests run, so that scanners do not take the tables for leaks. [`INNOCENT`] must pass a redactor unchanged.

mod innocent;
mod phrase;
mod shapes;

use crate::rng::Rng;

pub use innocent::INNOCENT;
pub use shapes::{SHAPES, Shape};

/// A text with a secret in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The text.
    pub text: String,
    /// The values in it that nobody may read.
    pub values: Vec<String>,
}

impl Planted {
    /// Whether a telling part of any value can be read in a text: half of a short one, 24 characters of a long one.
    pub fn leaks_in(&self, text: &str) -> bool {
        self.values.iter().any(|value| {
            // Looking for whole values would pass a redactor that leaves all but a few characters.
            let least = value.len().min((value.len() / 2).clamp(6, 24));
            let window = |at: usize| value.get(at..at + least).is_some_and(|part| text.contains(part));
            (0..=value.len() - least).any(window)
        })
    }
}

/// Fills a shape with random values.
///
/// In a template `{a36}` stands for 36 letters and digits; the other classes are listed at [`Shape::template`]. What stands between `«`
/// and `»` is secret.
pub fn plant(shape: &Shape, rng: &mut Rng) -> Planted {
    let mut planted = Planted { text: String::new(), values: Vec::new() };
    let mut rest = shape.template;
    let mut value: Option<String> = None;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        let piece = match letter {
            '«' => {
                value = Some(String::new());
                continue;
            }
            '»' => {
                planted.values.extend(value.take());
                continue;
            }
            '{' => match rest.split_once('}').and_then(|(class, after)| Some((drawn(class, rng)?, after))) {
                Some((piece, after)) => {
                    rest = after;
                    piece
                }
                // Templates of JSON have braces that open no class.
                None => "{".to_owned(),
            },
            letter => letter.to_string(),
        };
        planted.text.push_str(&piece);
        if let Some(value) = &mut value {
            value.push_str(&piece);
        }
    }
    planted
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// Characters of a class such as `a36`; `None` where it is no class.
fn drawn(class: &str, rng: &mut Rng) -> Option<String> {
    let (name, rest) = class.split_at_checked(1)?;
    if let Some((width, lines)) = rest.split_once('x') {
        return lines_of(name, width.parse().ok()?, lines.parse().ok()?, rng);
    }
    let len: usize = if rest.is_empty() { 0 } else { rest.parse().ok()? };
    let alphabet = match name {
        "a" => format!("{LOWER}{UPPER}{DIGITS}"),
        "h" => "0123456789abcdef".to_owned(),
        "u" => format!("{LOWER}{UPPER}{DIGITS}_-"),
        "U" => format!("{UPPER}234567"),
        "X" => format!("{UPPER}{DIGITS}"),
        "d" => DIGITS.to_owned(),
        "b" => format!("{LOWER}{UPPER}{DIGITS}+/"),
        "l" => LOWER.to_owned(),
        "L" => format!("{LOWER}{UPPER}"),
        "m" => format!("{LOWER}{DIGITS}"),
        // Base58 leaves out the characters that are easily mistaken for others.
        "s" => format!("{LOWER}{UPPER}{DIGITS}").replace(['0', 'O', 'I', 'l'], ""),
        // The alphabet of Bech32, which addresses of coins and keys of age are written in.
        "z" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".to_owned(),
        "x" => format!("{LOWER}{UPPER}{DIGITS}!@#^*_-+=.?"),
        "p" => return Some(password(rng)),
        "w" => return Some(phrase::words(len, rng)),
        "B" => return Some(base64(&format!("{}:{}", word(rng), password(rng)))),
        _ => return None,
    };
    Some(sample(&alphabet, len, rng))
}

fn sample(alphabet: &str, len: usize, rng: &mut Rng) -> String {
    let letters = alphabet.as_bytes();
    (0..len).map(|_| char::from(rng.pick(letters))).collect()
}

/// Lines of base64: `k` with line breaks, `K` with line breaks as JSON writes them, `j` with blanks.
fn lines_of(name: &str, width: usize, lines: usize, rng: &mut Rng) -> Option<String> {
    let between = match name {
        "k" => "\n",
        "K" => "\\n",
        "j" => " ",
        _ => return None,
    };
    let alphabet = format!("{LOWER}{UPPER}{DIGITS}+/");
    Some((0..lines).map(|_| sample(&alphabet, width, rng)).collect::<Vec<_>>().join(between))
}

/// A word that can be spoken, and is on no list.
fn word(rng: &mut Rng) -> String {
    const STARTS: [&str; 12] = ["br", "k", "tr", "m", "fl", "z", "qu", "dr", "gl", "v", "sn", "w"];
    const VOWELS: [&str; 6] = ["a", "o", "u", "ee", "i", "ou"];
    const ENDS: [&str; 8] = ["mp", "x", "rk", "ndle", "bo", "zz", "ft", "ck"];
    format!("{}{}{}{}", rng.pick(&STARTS), rng.pick(&VOWELS), rng.pick(&ENDS), rng.pick(&VOWELS))
}

/// A password as people choose them: words, numbers, a sign.
fn password(rng: &mut Rng) -> String {
    let number = rng.between(10, 9999);
    match rng.below(5) {
        0 => format!("{}{}", word(rng), number),
        1 => format!("{}!{}{}", word(rng), number, word(rng)),
        2 => format!("{}{}", word(rng), word(rng)),
        3 => {
            let word = word(rng);
            let (first, rest) = word.split_at(1);
            format!("{}{}@{}", first.to_uppercase(), rest, number)
        }
        _ => format!("{}-{}-{}", word(rng), word(rng), number),
    }
}

/// Base64 of a text.
pub fn base64(text: &str) -> String {
    let letters = format!("{UPPER}{LOWER}{DIGITS}+/");
    let letters = letters.as_bytes();
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place)) & 63;
            out.push(if place <= group.len() { char::from(letters[index as usize]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_shape_has_a_secret_of_its_own() {
        let mut rng = Rng::new(1);
        let names: BTreeSet<&str> = SHAPES.iter().map(|shape| shape.name).collect();
        assert_eq!(names.len(), SHAPES.len(), "two shapes with one name");
        assert!(SHAPES.len() >= 200 && INNOCENT.len() >= 150, "{} shapes, {} lines", SHAPES.len(), INNOCENT.len());
        for shape in SHAPES {
            let (first, second) = (plant(shape, &mut rng), plant(shape, &mut rng));
            assert!(!first.values.is_empty() && first.values.iter().all(|value| value.len() >= 4), "{}: {first:?}", shape.name);
            assert!(first.values.iter().all(|value| first.text.contains(value.as_str())), "{}", shape.name);
            assert_ne!(first.values, second.values, "{}", shape.name);
            assert!(!first.text.contains(['«', '»']), "{}", shape.name);
        }
    }

    #[test]
    fn base64_is_that_of_everyone() {
        assert_eq!(["anna:hunter2", "a", "ab"].map(base64), ["YW5uYTpodW50ZXIy", "YQ==", "YWI="]);
    }
}
