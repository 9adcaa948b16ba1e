//! A call in full: what its tool shows, in the frame that all calls share.
//!
//! The frame says what no tool has to repeat: a failure's error first, why there is no result, what the person or a program said
//! when refusing, what the model saw where that differs from what the tool produced, what was saved beside the log, hooks, and the
//! fields that have no place of their own.

use crate::{Block, Head, Limits, tools};
use tooltrail_model::transcript::Story;

/// A call in one line.
pub fn head(call: &Story<'_>) -> Head {
    tools::of(call).head(call)
}

/// A call in full, without its life.
pub fn body(call: &Story<'_>, limits: &Limits) -> Vec<Block> {
    tools::of(call).body(call, limits)
}

/// The life of a call: request, hooks, result, background task, times, tokens, evidence.
pub fn life(call: &Story<'_>) -> Vec<Block> {
    let _ = call;
    Vec::new()
}
