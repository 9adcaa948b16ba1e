//! Shell commands understood: which simple commands a command line runs, whose exit code was recorded, whose was not, what each is for
//! and whether it may change files.
//!
//! A log records one exit code per command line. In `cd api && cargo test 2>&1 | tail -5` that is the exit code of `tail`, and a reader
//! who takes it for the tests is misled. This crate follows the rules of the shell to say which command an exit code belongs to.
//!
//! ```
//! use tooltrail_shell::{CommandOutcome, Purpose, understand};
//!
//! let line = understand("cd api && cargo test 2>&1 | tail -5").expect("plain bash");
//! assert_eq!(line.purpose(), Some(Purpose::Test));
//! // The line succeeded: that is the success of `tail`, and `cargo test` may have failed.
//! assert_eq!(line.exit_of(true), Some("tail -5"));
//! assert_eq!(line.masked_texts().collect::<Vec<_>>(), ["cargo test"]);
//! assert_eq!(line.outcomes(Some(true)), [CommandOutcome::Succeeded, CommandOutcome::Masked, CommandOutcome::Succeeded]);
//! assert_eq!(line.unmasked_by, Some("set -o pipefail"));
//! assert!(!line.may_change_files);
//! // What no shell would run is not guessed at.
//! assert!(understand("if then").is_none());
//! ```
//!
//! How a text becomes a [`CommandLine`]:
//!
//! 1. `plain` cuts a line of nothing but words and `&&`, `||`, `|`, `;`, which most are. `parser` reads all others with `brush-parser`,
//!    within limits: the text is anybody's, and the parser's time doubles with each level of nesting.
//! 2. Both make a `SyntaxTree`. Of each simple command, `words` takes off quotes and finds command lines inside (`bash -c`, `ssh`,
//!    heredocs), `wrappers` finds the program behind `sudo` or `npx`, `purpose` says what it is for, `effect` whether it writes.
//! 3. `exit_codes` follows the tree by the shell's rules: who decides an exit code, who is masked, what is proven.
//!
//! Apart from that, `files` says which files a line writes, with which text: only opened calls ask for it.
//!
//! The types are data in [`tooltrail_model::command`], so that only `tooltrail-formats`, which opens calls, depends on the parser.

mod effect;
mod exit_codes;
mod files;
mod interpreters;
mod limits;
mod parser;
mod plain;
mod purpose;
mod purpose_tables;
mod words;
mod wrappers;

pub use files::files;
pub use tooltrail_model::command::{CommandLine, CommandOutcome, ExitMeaning, Purpose, SimpleCommand};

use tooltrail_model::row::CallRow;
use tooltrail_model::{Map, Reason, Status};

/// Understands a command line of a POSIX-like shell; `None` where it cannot be read.
pub fn understand(command: &str) -> Option<CommandLine> {
    parser::SyntaxTree::parse(command, 0).map(parser::SyntaxTree::into_command_line)
}

/// Understands the command of a call and adds to its row what that says about the call's outcome: `purpose`, `exit_of` and `masked`.
pub fn annotate(row: &mut CallRow<'_>, command: &str) -> Option<CommandLine> {
    let line = understand(command)?;
    // PowerShell is another language with other rules for exit codes: the row claims nothing. Its words are still good enough to
    // recognise the same command again, so the line is returned.
    if row.tool.eq_ignore_ascii_case("powershell") {
        return Some(line);
    }
    row.purpose = line.purpose().map(Purpose::word);
    let worked = row.status == Status::Succeeded;
    let failed = row.status == Status::Failed && matches!(row.reason, Some(Reason::ExitCode | Reason::ToolError));
    // A call that was refused, cancelled or interrupted has no exit code to ask about.
    if !worked && !failed && row.status != Status::Answered {
        return Some(line);
    }
    row.masked = line.masked_texts().map(str::to_owned).collect();
    // A server that answers has not said how the command ended, unless it states a code.
    let implied = (worked || failed) && row.server.is_none();
    let success = row.exit_code.map(|code| code == 0).or(implied.then_some(worked));
    // A command in the background had not ended when the call was answered, so the answer's success is not its exit code.
    if let Some(success) = success.filter(|_| row.background.is_none()) {
        row.exit_of = line.exit_of(success).map(str::to_owned);
    }
    Some(line)
}
