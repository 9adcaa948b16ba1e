//! Words of a command line: without their quotes, what is run to make them, and the command line that they hold.

use super::outcome::Flags;
use super::purpose;

/// A command line that a command is given to run.
pub(super) enum Given<'w> {
    /// By another shell, set like this: it counts as written in place.
    InPlace(Flags, &'w str),
    /// By something that stays the command, on another machine perhaps.
    Elsewhere(&'w str),
    /// None.
    Nothing,
}

/// The command line that a command is given: its words, those behind wrappers, and the document that it reads.
pub(super) fn given<'w>(words: &'w [String], own: &'w [String], document: Option<&'w str>) -> Given<'w> {
    let Some((first, rest)) = own.split_first() else { return Given::Nothing };
    match purpose::program(first) {
        // For each of many things, so that no one of them decides.
        "bash" | "sh" | "zsh" | "dash" if words.first().is_some_and(|word| purpose::program(word) == "xargs") => Given::Nothing,
        "bash" | "sh" | "zsh" | "dash" => shell(rest, document),
        "ssh" => remote(rest).map_or(Given::Nothing, Given::Elsewhere),
        "eval" => rest.first().filter(|_| rest.len() == 1).map_or(Given::Nothing, |text| Given::Elsewhere(text)),
        _ => Given::Nothing,
    }
}

/// What a shell is given: `-c TEXT`, or a document to read where it has no script.
fn shell<'w>(words: &'w [String], document: Option<&'w str>) -> Given<'w> {
    let (mut at, mut text) = (0, false);
    while let Some(word) = words.get(at).filter(|word| word.starts_with(['-', '+']) && word.len() > 1) {
        let letters = !word.starts_with("--");
        text |= letters && word.starts_with('-') && word.contains('c');
        let valued = (letters && word.contains(['o', 'O'])) || matches!(word.as_str(), "--rcfile" | "--init-file");
        at += if valued { 2 } else { 1 };
    }
    let flags = Flags::of(words.get(..at.min(words.len())).unwrap_or_default());
    match (text, words.get(at), document) {
        (true, Some(text), _) => Given::InPlace(flags, text),
        (false, None, Some(document)) => Given::InPlace(flags, document),
        _ => Given::Nothing,
    }
}

/// What `ssh` is told to run: behind its options and the machine.
fn remote(words: &[String]) -> Option<&str> {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if matches!(
            word.as_str(),
            "-p" | "-i" | "-o" | "-l" | "-F" | "-J" | "-L" | "-R" | "-D" | "-b" | "-c" | "-E" | "-m" | "-S" | "-W"
        ) {
            2
        } else {
            1
        };
    }
    match words.get(at + 1..)? {
        [text] => Some(text),
        _ => None,
    }
}

/// A word as a program gets it, as far as that can be told: without quotes, with everything to be put in left as written.
pub(super) fn unquote(word: &str) -> String {
    if !word.contains(['\'', '"', '\\', '$']) {
        return word.to_owned();
    }
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    let mut double = false;
    while let Some(next) = rest.chars().next() {
        let mut taken = next.len_utf8();
        let after = rest.get(taken..).unwrap_or_default();
        match next {
            '\'' if !double => {
                let text = after.split('\'').next().unwrap_or_default();
                out.push_str(text);
                taken += text.len() + 1;
            }
            '"' => double = !double,
            '\\' => {
                let escaped = after.chars().next();
                // Between double quotes most backslashes mean themselves; one before the end of a line joins the lines.
                if double && !matches!(escaped, Some('$' | '`' | '"' | '\\' | '\n')) {
                    out.push('\\');
                } else {
                    out.extend(escaped.filter(|letter| *letter != '\n'));
                    taken += escaped.map_or(0, char::len_utf8);
                }
            }
            '$' if after.starts_with('(') => {
                let inner = bracketed(after);
                out.push('$');
                out.push_str(inner);
                taken += inner.len();
            }
            // Neither `$'…'` nor `$"…"` puts in the sign.
            '$' if !double && after.starts_with(['\'', '"']) => {}
            _ => out.push(next),
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// The texts that are run to make a word: `$(…)` and those between backquotes.
pub(super) fn substitutions(word: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = word;
    let mut double = false;
    while let Some(at) = rest.find(['\'', '"', '\\', '$', '`']) {
        let sign = rest.get(at..=at).unwrap_or_default();
        let after = rest.get(at + 1..).unwrap_or_default();
        let taken = match sign {
            "'" if !double => after.find('\'').map_or(after.len(), |end| end + 1),
            "\"" => {
                double = !double;
                0
            }
            "\\" => after.chars().next().map_or(0, char::len_utf8),
            // A sum is not run.
            "$" if after.starts_with('(') && !after.starts_with("((") => {
                let inner = bracketed(after);
                found.push(inner.strip_prefix('(').map_or(inner, |inner| inner.strip_suffix(')').unwrap_or(inner)));
                inner.len()
            }
            "`" => {
                let end = after.find('`').unwrap_or(after.len());
                found.extend(after.get(..end));
                end + 1
            }
            _ => 0,
        };
        rest = after.get(taken..).unwrap_or_default();
    }
    found
}

/// The beginning of a text that opens with a bracket, up to the one that closes it.
fn bracketed(text: &str) -> &str {
    let bytes = text.as_bytes();
    let (mut depth, mut quote, mut at) = (0usize, None, 0);
    while let Some(&byte) = bytes.get(at) {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => at += 1,
            (b'\'' | b'"', None) => quote = Some(byte),
            (_, Some(open)) => quote = Some(open).filter(|open| *open != byte),
            (b'<', None) => at += text.get(at..).map_or(0, document),
            (b'(', None) => depth += 1,
            (b')', None) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(..=at).unwrap_or(text);
                }
            }
            _ => {}
        }
        at += 1;
    }
    text
}

/// How much of a text a document takes that begins with it: `<<'EOF'` up to the line before its end. What is written in one is no shell.
fn document(text: &str) -> usize {
    let Some(mark) = text.strip_prefix("<<").filter(|mark| !mark.starts_with('<')) else { return 0 };
    let line = mark.lines().next().unwrap_or_default();
    let word = line.trim_start_matches('-').trim_start().trim_start_matches(['\'', '"', '\\']);
    let end: String = word.chars().take_while(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '!')).collect();
    let closes = |line: &str| line.trim_end_matches([')', '"']).trim() == end;
    let mut taken = text.len() - mark.len() + line.len();
    for line in mark.get(line.len()..).unwrap_or_default().split_inclusive('\n').skip(1) {
        if closes(line.trim_end_matches('\n')) {
            return taken;
        }
        taken += line.len();
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_taken_off() {
        for (word, plain) in [
            ("a", "a"),
            ("'a b'", "a b"),
            (r#"'grep "a|b" \n'"#, r#"grep "a|b" \n"#),
            (r#""grep 'a|b' \"c\" \n""#, r#"grep 'a|b' "c" \n"#),
            (r"a\ b", "a b"),
            ("x'y'\"z\"", "xyz"),
            (r#""$(cat "x y")""#, r#"$(cat "x y")"#),
            ("$'a'", "a"),
            ("'open", "open"),
            ("é\\é", "éé"),
            ("\\", ""),
            ("\"a\\\nb\"", "ab"),
        ] {
            assert_eq!(unquote(word), plain, "{word}");
        }
    }

    #[test]
    fn what_is_run_to_make_a_word_is_found() {
        let of = |word| substitutions(word);
        assert_eq!(of("$(a b)$(c $(d))"), ["a b", "c $(d)"]);
        assert_eq!(of("\"x $(cat ')') y\""), ["cat ')'"]);
        assert_eq!(of("'$(a)' \\$(b) $((1 + 2)) `c d`"), ["c d"]);
        assert_eq!(of("\"$(cat <<'EOF'\nit's :) \"so\"\nEOF\n)\" $(x)"), ["cat <<'EOF'\nit's :) \"so\"\nEOF\n", "x"]);
        assert_eq!(of("$(open"), ["open"]);
        assert_eq!(of("`"), [""]);
    }
}
