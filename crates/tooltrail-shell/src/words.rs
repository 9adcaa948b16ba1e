//! Words of a command line: taken out of their quotes, with the substitutions in them, and the command lines that they hold.

use crate::exit_codes::ShellOptions;
use crate::wrappers::program;

/// A command line that a command is given to run: `bash -c TEXT`, `ssh HOST TEXT`.
pub(crate) enum InnerScript<'w> {
    /// Run by another shell with these options: it counts as if written in place.
    InPlace(ShellOptions, &'w str),
    /// Run elsewhere, perhaps on another machine: the command that runs it stays the command.
    Elsewhere(&'w str),
    /// No command line.
    None,
}

/// The command line that a command is given, from all its words, its words behind wrappers, and the heredoc that it reads.
pub(crate) fn inner_script<'w>(words: &'w [String], own: &'w [String], document: Option<&'w str>) -> InnerScript<'w> {
    let Some((first, rest)) = own.split_first() else { return InnerScript::None };
    match program(first) {
        // `xargs` runs the shell once per item, so no single run decides its exit code.
        "bash" | "sh" | "zsh" | "dash" if words.first().is_some_and(|word| program(word) == "xargs") => InnerScript::None,
        "bash" | "sh" | "zsh" | "dash" => shell(rest, document),
        "ssh" => remote(rest).map_or(InnerScript::None, InnerScript::Elsewhere),
        "cmd" => match rest {
            [option, text] if option.trim_start_matches('/').eq_ignore_ascii_case("c") => InnerScript::Elsewhere(text),
            _ => InnerScript::None,
        },
        "eval" => rest.first().filter(|_| rest.len() == 1).map_or(InnerScript::None, |text| InnerScript::Elsewhere(text)),
        _ => InnerScript::None,
    }
}

/// The script of a shell: `-c TEXT`, or the heredoc where it is given no file.
fn shell<'w>(words: &'w [String], document: Option<&'w str>) -> InnerScript<'w> {
    let (mut at, mut text) = (0, false);
    while let Some(word) = words.get(at).filter(|word| word.starts_with(['-', '+']) && word.len() > 1) {
        let letters = !word.starts_with("--");
        text |= letters && word.starts_with('-') && word.contains('c');
        // The value of an option must not be taken for the script.
        let valued = (letters && word.contains(['o', 'O'])) || matches!(word.as_str(), "--rcfile" | "--init-file");
        at += if valued { 2 } else { 1 };
    }
    let flags = ShellOptions::of(words.get(..at.min(words.len())).unwrap_or_default());
    match (text, words.get(at), document) {
        // With a script file instead, as in `bash test.sh`, the commands are not on the line.
        (true, Some(text), _) => InnerScript::InPlace(flags, text),
        (false, None, Some(document)) => InnerScript::InPlace(flags, document),
        _ => InnerScript::None,
    }
}

/// The text that `ssh` runs, behind its options and the host.
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
    // Several words are joined by `ssh` and split again by the remote shell; only a single one is certainly a whole text.
    match words.get(at + 1..)? {
        [text] => Some(text),
        _ => None,
    }
}

/// A word as a program gets it, as far as that is known: without quotes, with expansions left as written.
pub(crate) fn unquote(word: &str) -> String {
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
                // In double quotes most backslashes stand for themselves; one before a line feed joins the lines.
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
            // In `$'…'` and `$"…"` the dollar belongs to the quote.
            '$' if !double && after.starts_with(['\'', '"']) => {}
            _ => out.push(next),
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// The command substitutions in a word: `$(…)` and texts between backquotes.
pub(crate) fn substitutions(word: &str) -> Vec<&str> {
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
            // `$((…))` is arithmetic, and runs nothing.
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

/// The beginning of a text that opens with a bracket, up to its closing bracket; all of it if there is none.
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

/// The length of the heredoc that a text begins with, from `<<'EOF'` to the line before its end; 0 if there is none. Brackets and quotes in
/// a heredoc are text, so that looking for a closing bracket has to step over it.
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
    fn quotes_are_removed() {
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
    fn substitutions_are_found() {
        let of = |word| substitutions(word);
        assert_eq!(of("$(a b)$(c $(d))"), ["a b", "c $(d)"]);
        assert_eq!(of("\"x $(cat ')') y\""), ["cat ')'"]);
        assert_eq!(of("'$(a)' \\$(b) $((1 + 2)) `c d`"), ["c d"]);
        assert_eq!(of("\"$(cat <<'EOF'\nit's :) \"so\"\nEOF\n)\" $(x)"), ["cat <<'EOF'\nit's :) \"so\"\nEOF\n", "x"]);
        assert_eq!(of("$(open"), ["open"]);
        assert_eq!(of("`"), [""]);
    }
}
