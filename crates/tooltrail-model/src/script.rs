//! Scripts: programs in which a model calls tools, and what the output of a script proves about each call in it.
//!
//! `tooltrail-script` reads a program into a [`Script`]; formats hand it to the assembler with the call, and the texts that the program
//! printed with each result.

mod matching;
mod run;

pub use run::{CallProof, ScriptEnd, ScriptRun};

use serde_json::{Map, Value};
use std::ops::Range;

/// A program that calls tools, as its text tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Calls to tools, in the order in which the program begins them.
    pub calls: Vec<ScriptCall>,
    /// Texts that it prints, in order; where [`Script::prints_known`] is false, those before the first that is not known.
    pub prints: Vec<Print>,
    /// Whether every call that may run is listed, and runs exactly once if the program comes to its end.
    pub complete: bool,
    /// Whether every text that it may print is listed, in this order; each is printed once, if its conditions hold.
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
    /// Conditions that all hold if it is printed.
    pub when: Vec<Condition>,
}

/// Condition on which a program prints a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A call's result is in one of these states.
    Result {
        /// The call, by its place in [`Script::calls`].
        call: usize,
        /// The states.
        states: States,
    },
    /// Something that the text of the program does not tell.
    Choice {
        /// Number of the choice: the same for conditions that hold or fail together.
        choice: usize,
        /// Whether it holds.
        holds: bool,
    },
}

/// Set of states of a result that reports an exit code. Programs ask for these: how it ended, and whether it has any output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States(u8);

impl States {
    /// Every state.
    pub const ALL: Self = Self(0b11_11_11);
    /// Ended with exit code 0.
    pub const ZERO: Self = Self(0b00_00_11);
    /// Ended with another exit code.
    pub const NONZERO: Self = Self(0b00_11_00);
    /// Ended.
    pub const ENDED: Self = Self(0b00_11_11);
    /// Runs in the background: it has a session and no exit code.
    pub const BACKGROUND: Self = Self(0b11_00_00);
    /// Has some output.
    pub const WITH_OUTPUT: Self = Self(0b10_10_10);

    /// States that are in both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// States that are in either set.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// States that are not in the set.
    #[must_use]
    pub fn others(self) -> Self {
        Self(Self::ALL.0 & !self.0)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether every state of the set is in the other one.
    #[must_use]
    pub fn within(self, other: Self) -> bool {
        self.and(other.others()).is_empty()
    }
}

/// Names of the members that a result has which reports an exit code.
pub mod member {
    /// Exit code; absent while the command runs in the background.
    pub const EXIT_CODE: &str = "exit_code";
    /// Session of a command in the background; absent when it has ended.
    pub const SESSION: &str = "session_id";
    /// Output of the command.
    pub const OUTPUT: &str = "output";
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
    /// A JSON object: its members, of which literal and unknown ones are not compared.
    Object(Vec<(String, Piece)>),
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
