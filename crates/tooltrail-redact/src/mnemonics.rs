//! Seed phrases of wallets: twelve or more words of the list of BIP 39 in a row.
//!
//! About a quarter of the words of English prose are on the list, so twelve in a row are hardly chance.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The words of BIP 39, in their order.
const WORDS: &str = include_str!("bip39.txt");

/// The fewest words of a phrase.
const LEAST: usize = 12;

/// The longest gap between two words: a blank, a comma, a line break with a number.
const GAP: usize = 8;

/// The first four letters of every word, which tell it from all others, as bits.
static HEADS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0; 1 << 10];
    for word in WORDS.split_ascii_whitespace() {
        let hash = hash(word.as_bytes());
        bits[hash / 64] |= 1 << (hash % 64);
    }
    bits
});

static SORTED: LazyLock<Vec<&'static str>> = LazyLock::new(|| WORDS.split_ascii_whitespace().collect());

fn hash(word: &[u8]) -> usize {
    word.iter().take(4).fold(0usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(*byte))).wrapping_mul(0x9e37_79b1) >> 7
        & 0xffff
}

pub(crate) fn is_word(word: &[u8]) -> bool {
    let hash = hash(word);
    HEADS.get(hash / 64).is_some_and(|bits| bits >> (hash % 64) & 1 != 0)
        && std::str::from_utf8(word).is_ok_and(|word| SORTED.binary_search(&word).is_ok())
}

/// Ranges of all phrases in a text.
pub(crate) fn find(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    // The words of the list in a row so far: how many, where the first begins and the last ends.
    let (mut count, mut from, mut end) = (0, 0, 0);
    let mut at = 0;
    while at < text.len() {
        if !text[at].is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let len = text[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        // In `\nword` the first letter belongs to the line break.
        let escape = usize::from(at > 0 && text[at - 1] == b'\\' && matches!(text[at], b'n' | b'r' | b't') && len > 1);
        let word = &text[at + escape..at + len];
        let near = count > 0 && at - end <= GAP && text[end..at].iter().all(|byte| b" \n\r\t,\"'|.)\\0123456789".contains(byte));
        if (3..=8).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase) && is_word(word) {
            if !near {
                close(&mut found, text, count, from, end);
                (count, from) = (0, at + escape);
            }
            count += 1;
            end = at + len;
        } else {
            close(&mut found, text, count, from, end);
            count = 0;
        }
        at += len;
    }
    close(&mut found, text, count, from, end);
    found
}

/// Adds the words in a row, if they are enough, and not the same few again and again.
fn close(found: &mut Vec<(usize, usize)>, text: &[u8], count: usize, from: usize, end: usize) {
    if count < LEAST {
        return;
    }
    let words: HashSet<&[u8]> =
        text.get(from..end).unwrap_or_default().split(|byte| !byte.is_ascii_lowercase()).filter(|word| word.len() > 2).collect();
    if words.len() * 3 >= count * 2 {
        found.push((from, end));
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn phrases_are_found_in_lines_lists_and_columns() {
        let words = "legal winner thank year wave sausage worth useful letter advice cage yellow";
        for text in [
            words.to_owned(),
            format!("the phrase: {words}."),
            words.replace(' ', "\n"),
            format!("[\"{}\"]", words.replace(' ', "\", \"")),
            format!("1. {}", words.split(' ').collect::<Vec<_>>().join("\n2. ")),
        ] {
            assert_eq!(find(text.as_bytes()).len(), 1, "{text}");
        }
        assert!(find(words.rsplit_once(' ').expect("words").0.as_bytes()).is_empty());
        assert!(find("very ".repeat(20).as_bytes()).is_empty());
        assert!(find(b"we can add this to the list of all that you have and then go on with it as before").is_empty());
    }
}
