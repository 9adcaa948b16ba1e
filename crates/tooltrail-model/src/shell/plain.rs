//! Command lines of nothing but words and what joins commands: they are cut without the parser, which takes many times as long, and
//! most are like this.

use super::outcome::Node;
use super::script::{Script, chain, pipe};

/// A piece of such a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// A word, as it is written.
    Word(&'t str),
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `;`
    Then,
}

impl<'t> Piece<'t> {
    /// The word, if it is one.
    pub(super) fn word(&self) -> Option<&'t str> {
        match self {
            Piece::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// Words that mean something to a shell where a command begins.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "select", "function", "time", "coproc",
];

/// Cuts a command line into words and what joins its commands: each begins and ends with a word. Nothing if there is more to it.
pub(super) fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_matches(' ');
    while !rest.is_empty() {
        let begins = !matches!(pieces.last(), Some(Piece::Word(_)));
        let (piece, length) = match joint(rest) {
            Some(_) if begins => return None,
            Some(joint) => joint,
            None => {
                let word = rest.get(..word(rest)?)?;
                // One that begins with an assignment has a part before its program.
                if RESERVED.contains(&word) || (begins && word.contains('=')) {
                    return None;
                }
                (Piece::Word(word), word.len())
            }
        };
        pieces.push(piece);
        rest = rest.get(length..)?.trim_start_matches(' ');
    }
    matches!(pieces.last(), Some(Piece::Word(_))).then_some(pieces)
}

/// What joins two commands, at the beginning of a text, and its length.
fn joint(text: &str) -> Option<(Piece<'static>, usize)> {
    match text.as_bytes() {
        [b'&', b'&', ..] => Some((Piece::And, 2)),
        [b'|', b'|', ..] => Some((Piece::Or, 2)),
        [b'|', ..] => Some((Piece::Pipe, 1)),
        [b';', ..] => Some((Piece::Then, 1)),
        _ => None,
    }
}

/// The length of the word that a text begins with; nothing if a shell would do something to it, or it does not end.
fn word(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b' ' | b'|' | b'&' | b';' => break,
            b'\'' | b'"' => quoted(bytes.get(at..)?, byte)?,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => 1,
            b'-' | b'_' | b'.' | b'/' | b':' | b',' | b'=' | b'@' | b'%' | b'+' => 1,
            _ => return None,
        };
    }
    (at > 0).then_some(at)
}

/// The length of what stands between quotes, with them; nothing if a shell would put something into it.
fn quoted(bytes: &[u8], quote: u8) -> Option<usize> {
    let inner = bytes.get(1..)?;
    let end = inner.iter().position(|byte| *byte == quote)?;
    let meant = |byte: &u8| byte.is_ascii_control() || (quote == b'"' && matches!(byte, b'$' | b'`' | b'\\' | b'!'));
    if inner.get(..end)?.iter().any(meant) { None } else { Some(end + 2) }
}

impl Script {
    /// A command line that is only words and what joins commands.
    pub(super) fn plain(&mut self, pieces: &[Piece<'_>], depth: usize) -> Option<Node> {
        let lines = pieces.split(|piece| *piece == Piece::Then);
        Some(Node::List(lines.map(|line| Some((self.plain_chain(line, depth)?, false))).collect::<Option<_>>()?))
    }

    fn plain_chain(&mut self, pieces: &[Piece<'_>], depth: usize) -> Option<Node> {
        let mut links = Vec::new();
        let mut or = false;
        for link in pieces.split_inclusive(|piece| matches!(piece, Piece::And | Piece::Or)) {
            let (pipe, next) = match link.split_last() {
                Some((joint @ (Piece::And | Piece::Or), pipe)) => (pipe, *joint == Piece::Or),
                _ => (link, false),
            };
            links.push((or, self.plain_pipeline(pipe, depth)?));
            or = next;
        }
        Some(chain(links))
    }

    fn plain_pipeline(&mut self, pieces: &[Piece<'_>], depth: usize) -> Option<Node> {
        let commands = pieces.split(|piece| *piece == Piece::Pipe);
        let parts = commands.map(|command| {
            let words: Vec<&str> = command.iter().filter_map(Piece::word).collect();
            self.run(&[], &words, None, depth)
        });
        Some(pipe(parts.collect::<Option<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the parser makes of a command line.
    fn parsed(text: &str) -> String {
        let mut script = Script::default();
        let tree = script.parse_all(text, 0);
        format!("{tree:?} {script:?}")
    }

    /// What is made of it without the parser, if that is possible.
    fn plain(text: &str) -> Option<String> {
        let mut script = Script::default();
        let tree = script.plain(&pieces(text)?, 0);
        Some(format!("{tree:?} {script:?}"))
    }

    #[test]
    fn plain_command_lines_are_told_from_others() {
        for text in
            ["a", " cargo test -p x --quiet ", "a;b&&c||d|e", "set -e; cd x && ./check.sh", "git commit -m 'a $b' --x=\"c d\"e", "x a=1"]
        {
            assert_eq!(plain(text), Some(parsed(text)), "{text}");
        }
        for text in [
            "", " ", "a;", "; a", "a &", "a |& b", "a ;; b", "a &&", "x=1 a", "if a", "a $b", "a 2>b", "a 'b", "\"$a\"", "a\nb", "(a)",
            "a\\ b",
        ] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

        #[test]
        fn the_parser_says_the_same(words in prop::collection::vec(word(), 1..12)) {
            let text = words.concat();
            if let Some(plain) = plain(&text) {
                prop_assert_eq!(plain, parsed(&text), "{}", text);
            }
        }
    }

    /// Something that a command line may have next.
    fn word() -> impl Strategy<Value = String> {
        let known = prop::sample::select(vec![
            "cargo",
            "test",
            "git",
            "sudo",
            "env",
            "bash",
            "-c",
            "set",
            "-e",
            "export",
            "declare",
            "eval",
            "ssh",
            "xargs",
            "time",
            "if",
            "in",
            "!",
            "{",
            "[",
            "2",
            "a=1",
            "A+=b",
            "=",
            "'b c'",
            "\"d e\"",
            "''",
            "'a; b'",
            "\"a && b\"",
            "-o",
            "pipefail",
            "alias",
            "@",
            "%1",
            "é",
            "#",
        ]);
        let joint = prop::sample::select(vec![" ", "  ", " && ", " || ", " | ", "; ", "&&", "||", "|", ";", "&", " & ", "\t", "\n"]);
        prop_oneof![3 => known.prop_map(str::to_owned), 3 => joint.prop_map(str::to_owned), 1 => "[ -~]{1,4}"]
    }
}
