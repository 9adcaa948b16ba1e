//! Syntax tree of a program, within limits. Programs come from logs, which are hostile.
//!
//! The parser is `tree-sitter`: it survives any nesting, where parsers of JavaScript written for compilers end the process.

use std::ops::ControlFlow;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

/// The longest program that is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// How often the parser may report progress; a count and not a time, so that the same program is always read in the same way.
const MOST_REPORTS: usize = 20_000;

/// Parses a program; `None` where it is over a limit.
pub(crate) fn parse(program: &str) -> Option<Tree> {
    if program.len() > LONGEST {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_javascript::LANGUAGE.into()).ok()?;
    let mut reports = 0usize;
    let mut progress = |_: &ParseState| {
        reports += 1;
        reports > MOST_REPORTS
    };
    let bytes = program.as_bytes();
    let mut input = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut input, None, Some(ParseOptions::new().progress_callback(&mut progress)))
}

/// Deepest nesting of syntax that is followed. A sum of many texts nests as often as it has parts; those do not count.
const DEEPEST: usize = 250;

/// Whether a program nests so deeply that nobody wrote it.
pub(crate) fn is_deep(tree: &Tree) -> bool {
    let (mut cursor, mut depth) = (tree.walk(), 0usize);
    loop {
        if depth > DEEPEST {
            return true;
        }
        let counts = usize::from(cursor.node().kind() != "binary_expression");
        if cursor.goto_first_child() {
            depth += counts;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth = depth.saturating_sub(usize::from(cursor.node().kind() != "binary_expression"));
        }
    }
}

/// Visits a node and everything below it, parents first, without recursion. What the visitor breaks off is not entered.
pub(crate) fn visit<'t>(node: Node<'t>, mut visitor: impl FnMut(Node<'t>) -> ControlFlow<()>) {
    let mut cursor = node.walk();
    loop {
        let entered = visitor(cursor.node()).is_continue() && cursor.goto_first_child();
        if entered {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
