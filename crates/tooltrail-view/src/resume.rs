//! The command that resumes a session, as a line for a shell. It is shown, never run.

use crate::line::neutral;

/// Whether an id can stand on a command line. It comes from a log, so it could be an option or contain shell syntax.
pub fn is_plain(id: &str) -> bool {
    let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    plain && !id.starts_with(['-', '.']) && !id.is_empty()
}

/// A command as a line, with a `cd` to its directory before it.
pub fn line(command: &[String], directory: Option<&str>) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let go = directory.map(|directory| format!("cd {} && ", quoted(&rooted(directory)))).unwrap_or_default();
    format!("{go}{}", words.join(" "))
}

/// A directory that cannot be taken for an option.
fn rooted(directory: &str) -> std::borrow::Cow<'_, str> {
    if directory.starts_with('-') { format!("./{directory}").into() } else { directory.into() }
}

/// A word that both a shell and a terminal take literally.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | '+' | ':' | '@' | '%' | ',' | '=');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // Single quotes suffice unless the word has control characters, which the terminal would obey.
    if neutral(word) == word {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let escaped = word.bytes().map(|byte| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        other => format!("\\x{other:02x}"),
    });
    format!("$'{}'", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_taken_literally() {
        assert_eq!(quoted("/srv/app"), "/srv/app");
        assert_eq!(quoted("/srv/my app"), "'/srv/my app'");
        assert_eq!(quoted("it's; rm -rf $HOME"), r"'it'\''s; rm -rf $HOME'");
        assert_eq!(quoted("a\u{1b}[2J\n"), r"$'a\x1b[2J\x0a'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("/srv/größe"), "'/srv/größe'");
    }
}
