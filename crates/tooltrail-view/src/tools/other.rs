//! Anything that has no view of its own.
//!
//! ```text
//! ◻ SomethingNew   key=value, key=value                10 ms ✓
//!   key    value
//!   answer
//! ```

use super::ToolView;
use crate::{Block, Head, Limits, Line};
use tooltrail_model::transcript::Story;

/// The view of last resort.
pub(super) struct Other;

impl ToolView for Other {
    fn name(&self) -> &'static str {
        "other"
    }

    fn shows(&self, _: &Story<'_>) -> bool {
        true
    }

    fn head(&self, call: &Story<'_>) -> Head {
        Head { icon: "◻", name: call.row.tool.into(), title: Line::default(), facts: Vec::new() }
    }

    fn body(&self, _: &Story<'_>, _: &Limits) -> Vec<Block> {
        Vec::new()
    }
}
