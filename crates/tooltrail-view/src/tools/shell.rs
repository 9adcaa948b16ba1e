//! A command.
//!
//! ```text
//! $ Bash   cargo test -p parser              42 lines   1.9 s  ✗ exit 101
//!   Run parser tests
//!   $ cargo test -p parser
//!   test a ... ok
//! ```

use super::ToolView;
use crate::block::Terminal;
use crate::line::{Class, lines};
use crate::{Block, Head, Limits};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// The view of commands.
pub(super) struct Shell;

impl ToolView for Shell {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Shell(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Shell(shell) = &call.told.detail else { return Head::default() };
        Head { icon: "$", name: call.row.tool.into(), title: shell.command.as_str().into(), facts: Vec::new() }
    }

    fn body(&self, call: &Story<'_>, _: &Limits) -> Vec<Block> {
        let Detail::Shell(shell) = &call.told.detail else { return Vec::new() };
        let command = lines(Class::Plain, &shell.command);
        let lines = lines(Class::Plain, shell.stdout.as_deref().unwrap_or_default());
        vec![Block::Terminal(Terminal { command, lines, ..Terminal::default() })]
    }
}
