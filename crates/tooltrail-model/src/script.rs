//! Scripts: programs in which a model calls tools, and what the output of a script proves about each call in it.
//!
//! `tooltrail-script` reads a program into a [`Script`]; formats hand it to the assembler with the call, and the texts that the program
//! printed with each result.

use serde_json::{Map, Value};
use std::ops::Range;

/// A program that calls tools, as its text tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Calls to tools, in the order in which the program begins them.
    pub calls: Vec<ScriptCall>,
    /// Texts that it prints, in order.
    pub prints: Vec<Print>,
    /// Whether every call that may run is listed, and runs exactly once if the program comes to its end.
    pub complete: bool,
    /// Whether every text that it may print is listed, and is printed exactly once, in this order.
    pub prints_known: bool,
}

/// A call to a tool in a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptCall {
    /// The tool, as the program spells it.
    pub tool: String,
    /// The call's expression, in bytes of the program.
    pub span: Range<usize>,
    /// Its argument.
    pub argument: Argument,
    /// Whether it stands in straight-line code: it runs exactly once if the program comes to its end.
    pub once: bool,
    /// Whether the program may catch its error, so that coming to the end proves nothing about it.
    pub caught: bool,
}

/// Argument of a call in a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A literal.
    Literal(Value),
    /// An object of which some members are computed; these are the literal ones.
    Partly(Map<String, Value>),
    /// Computed.
    Computed,
    /// None.
    Missing,
}

/// A text that a program prints: one item of its output, as the sequence of its pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Print {
    /// Its pieces.
    pub pieces: Vec<Piece>,
}

/// A piece of a printed text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// This text.
    Literal(String),
    /// Something about a call's result.
    Result {
        /// The call, by its place in [`Script::calls`].
        call: usize,
        /// What of it.
        part: ResultPart,
    },
    /// A JSON object with members of results: names, calls and parts. A member that is not known has no part.
    Object(Vec<(String, Option<(usize, ResultPart)>)>),
    /// A JSON array of such values, as of the results of parallel calls.
    Array(Vec<Piece>),
    /// Unknown text.
    Unknown,
}

/// Part of a call's result that is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultPart {
    /// All of it, as JSON.
    Whole,
    /// A member of it; a text is printed without quotes outside of JSON.
    Member(String),
}
