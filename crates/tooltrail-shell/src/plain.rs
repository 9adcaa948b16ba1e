//! The fast path: command lines of nothing but words and `&&`, `||`, `|`, `;` are cut without the parser.
//!
//! Most command lines are like this, and the parser takes many times as long. Anything that a shell would treat specially makes
//! [`tokenize`] give up, and `parser` reads the line; a property test holds both to the same tree.

use crate::exit_codes::SyntaxNode;
use crate::parser::{SyntaxTree, chain, pipe};

/// A token of a plain command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlainToken<'t> {
    /// A word, as written.
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

impl<'t> PlainToken<'t> {
    /// The word, if it is one.
    pub(crate) fn word(&self) -> Option<&'t str> {
        match self {
            PlainToken::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// Words that a shell reserves. Some are reserved only where a command begins; giving up on those elsewhere costs only time.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "select", "function", "time", "coproc",
];

/// Cuts a command line into words and what joins its commands, each of which begins and ends with a word; `None` if there is more to it.
pub(crate) fn tokenize(text: &str) -> Option<Vec<PlainToken<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_matches(' ');
    while !rest.is_empty() {
        // True at the start and after a joint, where the next word is a program.
        let begins = !matches!(tokens.last(), Some(PlainToken::Word(_)));
        let (token, length) = match joint(rest) {
            // Two joints in a row, such as `;;`, are either syntax that this does not know or an error.
            Some(_) if begins => return None,
            Some(joint) => joint,
            None => {
                let word = rest.get(..word(rest)?)?;
                // An assignment before the program is no word of it, which takes the parser to tell.
                if RESERVED.contains(&word) || (begins && word.contains('=')) {
                    return None;
                }
                (PlainToken::Word(word), word.len())
            }
        };
        tokens.push(token);
        rest = rest.get(length..)?.trim_start_matches(' ');
    }
    // A joint at the end, as in `a &&`, is left to the parser too.
    matches!(tokens.last(), Some(PlainToken::Word(_))).then_some(tokens)
}

/// The joint of two commands that a text begins with, and its length.
fn joint(text: &str) -> Option<(PlainToken<'static>, usize)> {
    match text.as_bytes() {
        [b'&', b'&', ..] => Some((PlainToken::And, 2)),
        [b'|', b'|', ..] => Some((PlainToken::Or, 2)),
        [b'|', ..] => Some((PlainToken::Pipe, 1)),
        [b';', ..] => Some((PlainToken::Then, 1)),
        _ => None,
    }
}

/// The length of the word that a text begins with; `None` if a shell would expand it, or a quote does not end.
fn word(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b' ' | b'|' | b'&' | b';' => break,
            b'\'' | b'"' => quoted(bytes.get(at..)?, byte)?,
            // Only bytes that no shell expands; `~`, `*`, `$`, `#` and all others are left to the parser.
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => 1,
            b'-' | b'_' | b'.' | b'/' | b':' | b',' | b'=' | b'@' | b'%' | b'+' => 1,
            _ => return None,
        };
    }
    (at > 0).then_some(at)
}

/// The length of a quoted text with its quotes; `None` if a shell would expand something in it.
fn quoted(bytes: &[u8], quote: u8) -> Option<usize> {
    let inner = bytes.get(1..)?;
    let end = inner.iter().position(|byte| *byte == quote)?;
    // Single quotes protect everything; in double quotes `$`, backquotes, backslashes and `!` keep their meaning.
    let meant = |byte: &u8| byte.is_ascii_control() || (quote == b'"' && matches!(byte, b'$' | b'`' | b'\\' | b'!'));
    if inner.get(..end)?.iter().any(meant) { None } else { Some(end + 2) }
}

impl SyntaxTree {
    /// Builds the tree of a plain command line.
    pub(crate) fn plain(&mut self, tokens: &[PlainToken<'_>], depth: usize) -> Option<SyntaxNode> {
        let lines = tokens.split(|token| *token == PlainToken::Then);
        Some(SyntaxNode::List(lines.map(|line| Some((self.plain_chain(line, depth)?, false))).collect::<Option<_>>()?))
    }

    fn plain_chain(&mut self, tokens: &[PlainToken<'_>], depth: usize) -> Option<SyntaxNode> {
        let mut links = Vec::new();
        let mut or = false;
        for link in tokens.split_inclusive(|token| matches!(token, PlainToken::And | PlainToken::Or)) {
            let (pipe, next) = match link.split_last() {
                Some((joint @ (PlainToken::And | PlainToken::Or), pipe)) => (pipe, *joint == PlainToken::Or),
                _ => (link, false),
            };
            links.push((or, self.plain_pipeline(pipe, depth)?));
            or = next;
        }
        Some(chain(links))
    }

    fn plain_pipeline(&mut self, tokens: &[PlainToken<'_>], depth: usize) -> Option<SyntaxNode> {
        let commands = tokens.split(|token| *token == PlainToken::Pipe);
        let parts = commands.map(|command| {
            let words: Vec<&str> = command.iter().filter_map(PlainToken::word).collect();
            self.run(&[], &words, None, depth)
        });
        Some(pipe(parts.collect::<Option<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The tree that the parser makes of a command line.
    fn parsed(text: &str) -> String {
        let mut made = SyntaxTree::default();
        let tree = made.parse_all(text, 0);
        format!("{tree:?} {made:?}")
    }

    /// The tree that is made of it without the parser, if that is possible.
    fn plain(text: &str) -> Option<String> {
        let mut made = SyntaxTree::default();
        let tree = made.plain(&tokenize(text)?, 0);
        Some(format!("{tree:?} {made:?}"))
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

    /// A word or joint that a command line may have next.
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
