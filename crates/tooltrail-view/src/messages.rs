//! Messages: what was said, thought and put in, as a head and blocks.

use crate::{Block, Limits, Line};
use serde::Serialize;
use tooltrail_model::transcript::Part;

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// Whose it is.
    pub who: Who,
    /// What stands above it: `You`, `thinking`, `system reminder`.
    pub label: Line,
    /// Whether it is folded until somebody opens it.
    pub folded: bool,
    /// How it begins, for a folded one.
    pub gist: Line,
    /// All of it.
    pub body: Vec<Block>,
}

/// Whose a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// A person.
    Person,
    /// Another agent.
    Agent,
    /// The model, to the reader.
    Model,
    /// The model, to itself.
    Thought,
    /// The program, to the model.
    Program,
    /// Nobody's: something happened.
    Event,
    /// The same, and it went wrong.
    Trouble,
}

/// A message as a view.
pub fn message(part: &Part, limits: &Limits) -> Message {
    let _ = limits;
    Message { who: Who::Event, label: Line::default(), folded: false, gist: Line::from(format!("{part:?}")), body: Vec::new() }
}
