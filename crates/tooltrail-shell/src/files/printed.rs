//! The text that `echo` and `printf` print, as far as every shell prints the same.

/// The text of `echo`, given its words.
pub(super) fn echo(words: &[String]) -> Option<String> {
    // Shells disagree about options and backslashes.
    let certain = !words.iter().any(|word| word.contains('\\')) && !words.first().is_some_and(|word| word.starts_with('-'));
    certain.then(|| words.join(" ") + "\n")
}

/// The text of `printf`, given its words: a format of plain text, line feeds, tabs and `%s`.
pub(super) fn printf(words: &[String]) -> Option<String> {
    let words = if words.first().is_some_and(|word| word == "--") { words.get(1..)? } else { words };
    let (format, mut values) = words.split_first()?;
    if format.starts_with('-') {
        return None;
    }
    let pieces = pieces(format)?;
    let takes = pieces.contains(&FormatPiece::Value);
    let mut out = String::new();
    // The format is repeated until all values are taken.
    loop {
        for piece in &pieces {
            match piece {
                FormatPiece::Text(text) => out.push(*text),
                FormatPiece::Value => {
                    if let Some((first, rest)) = values.split_first() {
                        out.push_str(first);
                        values = rest;
                    }
                }
            }
        }
        if values.is_empty() || !takes {
            return Some(out);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormatPiece {
    Text(char),
    Value,
}

fn pieces(format: &str) -> Option<Vec<FormatPiece>> {
    let mut letters = format.chars();
    let mut pieces = Vec::new();
    while let Some(letter) = letters.next() {
        pieces.push(match letter {
            '%' => match letters.next()? {
                '%' => FormatPiece::Text('%'),
                's' => FormatPiece::Value,
                _ => return None,
            },
            '\\' => FormatPiece::Text(match letters.next()? {
                'n' => '\n',
                't' => '\t',
                '\\' => '\\',
                _ => return None,
            }),
            letter => FormatPiece::Text(letter),
        });
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn printed_texts_are_those_of_every_shell() {
        assert_eq!(echo(&words(&["a", "b  c"])).as_deref(), Some("a b  c\n"));
        assert_eq!(echo(&[]).as_deref(), Some("\n"));
        assert_eq!((echo(&words(&["-n", "a"])), echo(&words(&["a\\n"]))), (None, None));
        assert_eq!(printf(&words(&["%s", "a\\n"])).as_deref(), Some("a\\n"));
        assert_eq!(printf(&words(&["%s\\n", "a", "b"])).as_deref(), Some("a\nb\n"));
        assert_eq!(printf(&words(&["100%%\\n"])).as_deref(), Some("100%\n"));
        assert_eq!(printf(&words(&["%s=%s\\n", "a"])).as_deref(), Some("a=\n"));
        assert_eq!((printf(&words(&["%d", "1"])), printf(&words(&["\\x41"])), printf(&words(&["-v"]))), (None, None, None));
    }
}
