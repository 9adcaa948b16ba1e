//! Words of a command that every shell takes the same way: text in quotes or without anything to expand.

/// The text of a word, where no shell expands anything in it. A leading `~/` stays.
pub(super) fn literal(word: &str) -> Option<String> {
    // zsh looks up a program for a word that begins so.
    if word.starts_with('=') || (word.starts_with('~') && !word.starts_with("~/")) {
        return None;
    }
    let mut out = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    let mut double = false;
    while let Some(letter) = letters.next() {
        match letter {
            '$' | '`' => return None,
            '"' => double = !double,
            '\\' if double => match letters.next()? {
                escaped @ ('$' | '`' | '"' | '\\') => out.push(escaped),
                '\n' => {}
                other => out.extend(['\\', other]),
            },
            _ if double => out.push(letter),
            '\\' => out.extend(letters.next().filter(|escaped| *escaped != '\n')),
            '\'' => loop {
                match letters.next()? {
                    '\'' => break,
                    inner => out.push(inner),
                }
            },
            '*' | '?' | '[' | ']' | '{' | '}' | '(' | ')' | '<' | '>' | '&' | ';' | '|' | '\n' => return None,
            letter => out.push(letter),
        }
    }
    (!double).then_some(out)
}

/// Whether a path is complete without a directory.
pub(super) fn is_rooted(path: &str) -> bool {
    path.starts_with(['/', '~'])
}

/// A path behind a directory that a command line changed to.
pub(super) fn joined(directory: &str, path: &str) -> String {
    if is_rooted(path) || directory.is_empty() {
        return path.to_owned();
    }
    format!("{}/{path}", directory.trim_end_matches('/'))
}

/// The last name of a path.
pub(super) fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Whether a path is certainly that of a file as the target of `mv` or `cp`, which would put the file into a directory of that name.
pub(super) fn is_file(path: &str, from: &str) -> bool {
    let (own, other) = (name(path), name(from));
    let ends = own.rsplit_once('.').is_some_and(|(stem, end)| {
        let plain = (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
        !stem.is_empty() && plain && end != "d" && end.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    // `mv Makefile.new Makefile` and back.
    let related = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with(['.', '~']));
    !path.ends_with('/') && !matches!(own, "." | "..") && (ends || related(own, other) || related(other, own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certain_words_are_literal() {
        for (word, text) in [
            ("a/b.rs", "a/b.rs"),
            ("'a $b'", "a $b"),
            ("\"a b\"", "a b"),
            ("\"a \\$ \\n\"", "a $ \\n"),
            ("a\\ b", "a b"),
            ("x'y'\"z\"", "xyz"),
            ("~/a", "~/a"),
            ("''", ""),
            ("'it'\\''s'", "it's"),
        ] {
            assert_eq!(literal(word).as_deref(), Some(text), "{word}");
        }
        for word in ["$a", "a*", "{a,b}", "\"$a\"", "`a`", "~me/a", "$'a'", "a?", "[a]", "'open", "\"open", "=ls"] {
            assert_eq!(literal(word), None, "{word}");
        }
    }

    #[test]
    fn targets_that_may_be_directories_are_told_from_files() {
        assert!(is_file("b.rs", "a.rs") && is_file("config.json", "/tmp/x") && is_file("Makefile", "Makefile.new"));
        assert!(
            !is_file("src", "a.rs") && !is_file("src/", "a.rs") && !is_file("conf.d", "x") && !is_file("v1.2", "x") && !is_file(".", "x")
        );
    }
}
