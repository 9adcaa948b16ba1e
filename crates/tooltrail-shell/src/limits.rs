//! Limits on what is parsed. Commands come from logs, which are hostile: a text may be built so that the parser takes hours or runs out
//! of stack. A text over a limit is treated like one that cannot be parsed.

use brush_parser::Token;

/// The longest command line that is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// The deepest nesting of brackets and choices that is read: the parser's time doubles with each level.
const DEEPEST: usize = 10;
/// The deepest nesting of brackets of any kind, quoted or not: substitutions are cut out by recursion.
const STACKED: usize = 100;
/// The deepest nesting of `bash -c` texts.
const SHELLS: usize = 4;

/// Whether a text, `depth` command lines deep, may be looked at.
pub(crate) fn allows_text(text: &str, depth: usize) -> bool {
    text.len() <= LONGEST && depth <= SHELLS && brackets(text) <= STACKED
}

/// Whether tokens may be given to the parser.
pub(crate) fn allows_tokens(tokens: &[Token]) -> bool {
    nesting(tokens) <= DEEPEST
}

/// The deepest nesting of brackets in a text, whatever they mean there.
fn brackets(text: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => open += 1,
            b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// An upper bound of how deep commands nest, by brackets and the words that open a clause.
fn nesting(tokens: &[Token]) -> usize {
    let (mut brackets, mut clauses, mut negations) = (0usize, 0usize, 0usize);
    let (mut deepest, mut most) = (0, 0);
    for token in tokens {
        let word = token.to_str();
        // The parser recurses once per `!` in a row, and not for those that stand apart.
        negations = if word == "!" { negations + 1 } else { 0 };
        match word {
            "(" | "{" => brackets += 1,
            ")" | "}" => brackets = brackets.saturating_sub(1),
            // A word such as `if` may also be an argument. Counting it then only makes the bound higher.
            "case" | "if" | "while" | "until" | "for" | "select" | "[[" => clauses += 1,
            "esac" | "fi" | "done" | "]]" => clauses = clauses.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(brackets);
        most = most.max(clauses + negations);
    }
    deepest + most
}
