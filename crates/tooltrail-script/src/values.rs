//! Values of a program, as far as they matter for its calls and prints.

use serde_json::Value;
use std::collections::HashMap;
use std::rc::Rc;
use tooltrail_model::script::{Piece, States};
use tree_sitter::Node;

/// Deepest nesting of values, in one another, that is followed.
pub(crate) const DEEPEST_VALUE: usize = 40;

/// What is known of a value.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// Nothing.
    Unknown,
    /// `undefined`.
    Undefined,
    /// A text, number, truth or `null`.
    Literal(Value),
    /// A text with holes.
    Text(Rc<Vec<Piece>>),
    /// An array or object, by its place on the heap: two names may stand for one.
    Heap(usize),
    /// `tools`.
    Tools,
    /// A tool, as a function.
    Tool(Rc<str>),
    /// A name that the program does not define.
    Global(Rc<str>),
    /// Result of a call.
    Result(usize),
    /// Member of a call's result.
    Part(usize, Rc<str>),
    /// A promise of a value, and the calls that it waits for.
    Promise(Rc<Known>, Rc<Vec<usize>>),
    /// A function of the program.
    Function(usize),
    /// A function that belongs to a value.
    Method(Rc<Known>, Rc<str>),
    /// True if and only if the result of a call is in one of these states.
    Test(usize, States),
    /// One value if the result of a call is in one of these states, else the other.
    Either(usize, States, Rc<(Known, Known)>),
}

/// Members of an object, in order.
pub(crate) type MemberList = Vec<(Rc<str>, Known)>;

/// An array or object.
#[derive(Clone, Debug)]
pub(crate) enum HeapValue {
    /// Elements.
    Array(Vec<Known>),
    /// Members; whether there may be others.
    Object(MemberList, bool),
    /// Changed in a way that was not followed.
    Opaque,
}

/// A function of the program and the names that it sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closure<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) scope: usize,
}

/// Names of a block or function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) parent: Option<usize>,
    pub(crate) names: HashMap<Rc<str>, Known>,
}

impl Known {
    /// A literal text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Literal(Value::String(text.into()))
    }

    /// One of two values, if the alternatives are few.
    pub(crate) fn either(call: usize, states: States, one: Self, other: Self) -> Self {
        if one.sides() + other.sides() > 8 { Self::Unknown } else { Self::Either(call, states, Rc::new((one, other))) }
    }

    /// Number of its alternatives.
    pub(crate) fn sides(&self) -> usize {
        if let Self::Either(_, _, both) = self { both.0.sides() + both.1.sides() } else { 1 }
    }

    /// About how many bytes a copy of it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Literal(Value::String(text)) => text.len(),
            Self::Text(pieces) => pieces.iter().map(|piece| if let Piece::Literal(text) = piece { 64 + text.len() } else { 64 }).sum(),
            Self::Either(_, _, both) => both.0.bytes() + both.1.bytes(),
            _ => 8,
        }
    }

    /// The text, if it is a literal one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Literal(Value::String(text)) = self { Some(text) } else { None }
    }

    /// Whether it is `null` or `undefined`; `None` if that is not known.
    pub(crate) fn is_nothing(&self) -> Option<bool> {
        match self {
            Self::Undefined | Self::Literal(Value::Null) => Some(true),
            Self::Unknown | Self::Result(_) | Self::Part(..) | Self::Either(..) | Self::Global(_) => None,
            _ => Some(false),
        }
    }

    /// Whether it counts as true; `None` if that is not known.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Self::Undefined | Self::Literal(Value::Null) => Some(false),
            Self::Literal(Value::Bool(truth)) => Some(*truth),
            Self::Literal(Value::String(text)) => Some(!text.is_empty()),
            Self::Literal(Value::Number(number)) => Some(number.as_f64() != Some(0.0)),
            Self::Text(pieces) => pieces.iter().any(|piece| matches!(piece, Piece::Literal(text) if !text.is_empty())).then_some(true),
            Self::Heap(_) | Self::Tools | Self::Tool(_) | Self::Function(_) | Self::Promise(..) => Some(true),
            _ => None,
        }
    }
}
