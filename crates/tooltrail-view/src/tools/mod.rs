//! How each kind of tool is shown, one file each. To add one: a file here and a line in [`TOOLS`].
//!
//! A view gets a call with its result already in it. It makes a head, which is cheap, and a body when asked. It never changes the
//! call, never looks for anything, and leaves status, hooks and raw JSON to what all calls share.

mod edit;
mod mcp;
mod other;
mod read;
mod shell;
mod write;

use crate::{Block, Head, Limits};
use tooltrail_model::transcript::Story;

/// All views. The first that shows a call has it; the last one shows anything.
pub static TOOLS: &[&dyn ToolView] = &[&edit::Edit, &mcp::Mcp, &read::Read, &shell::Shell, &write::Write, &other::Other];

/// How one kind of tool is shown.
pub trait ToolView: Sync {
    /// Its name: that of its file.
    fn name(&self) -> &'static str;

    /// Whether it shows this call.
    fn shows(&self, call: &Story<'_>) -> bool;

    /// The call in one line.
    fn head(&self, call: &Story<'_>) -> Head;

    /// The call in full.
    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block>;
}

/// The view of a call.
pub fn of(call: &Story<'_>) -> &'static dyn ToolView {
    TOOLS.iter().copied().find(|view| view.shows(call)).unwrap_or(&other::Other)
}
