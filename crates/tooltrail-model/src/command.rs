//! A shell command line as it is understood: plain data, which rows, filters, digests and views read.
//!
//! Nothing here parses. `tooltrail-shell` fills these types, because understanding a command takes a real shell parser and its sixty
//! packages, and everything that only looks at the outcome should do without. A call that is opened carries its [`CommandLine`] in
//! [`Story::command`](crate::transcript::Story::command).

use crate::row::CallRow;
use crate::status::{Status, words};

words! {
    /// The purpose of a command. Of several, the first in this order counts.
    Purpose {
        /// Runs tests.
        Test => "test",
        /// Makes something that runs.
        Build => "build",
        /// Looks for faults without running anything.
        Lint => "lint",
        /// Changes how the source looks.
        Format => "format",
        /// Records changes.
        Commit => "commit",
        /// Gets what is needed.
        Install => "install",
    }
}

/// A command line, taken apart into its simple commands. Numbers in it are places in [`CommandLine::commands`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Its simple commands, in order.
    pub commands: Vec<SimpleCommand>,
    /// The commands whose exit code was not recorded, in order.
    pub masked: Vec<usize>,
    /// What exit code 0 of the whole line says.
    pub success: ExitMeaning,
    /// What any other exit code of the whole line says.
    pub failure: ExitMeaning,
    /// The commands by which it is recognised when it runs again: without `cd`, `echo`, `sleep` and the like, and without the filters at
    /// the end of a pipe. All of them where nothing would be left.
    pub essence: Vec<usize>,
    /// It may change files of the user: not devices, not files in temporary directories, and not what tests, builds and commits leave.
    pub may_change_files: bool,
    /// The shell setting with which the exit codes of [`CommandLine::masked_runs`] would have been recorded: `set -o pipefail`.
    pub unmasked_by: Option<&'static str>,
}

/// A simple command: a program and its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The command as written, without redirections.
    pub text: String,
    /// The program it is really about, behind `sudo`, `env` and the like: `cargo`, `git`.
    pub family: String,
    /// Its purpose, if it has one of the known ones.
    pub purpose: Option<Purpose>,
    /// It may change files.
    pub writes: bool,
}

/// The meaning of one exit code of a command line for the commands in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitMeaning {
    /// The command whose exit code it is; none where several may have decided.
    pub exit_of: Option<usize>,
    /// What it says about each command.
    pub outcomes: Vec<CommandOutcome>,
}

/// The outcome of one command of a command line, as far as the exit code of the whole line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// Its exit code was not recorded.
    Masked,
    /// It may not have run, or one of several decided.
    Unknown,
}

impl CommandLine {
    /// Its purpose: the first in the order of [`Purpose`] that any of its commands has.
    pub fn purpose(&self) -> Option<Purpose> {
        self.commands.iter().filter_map(|command| command.purpose).min()
    }

    /// The text of the command whose exit code was recorded, given whether the line succeeded.
    pub fn exit_of(&self, success: bool) -> Option<&str> {
        let meaning = if success { &self.success } else { &self.failure };
        meaning.exit_of.and_then(|place| self.text(place))
    }

    /// The outcome of each command, given whether the line succeeded; `None` where that is not known itself.
    pub fn outcomes(&self, success: Option<bool>) -> Vec<CommandOutcome> {
        match success {
            Some(true) => self.success.outcomes.clone(),
            Some(false) => self.failure.outcomes.clone(),
            // Which commands are masked does not depend on how the line ended.
            None => {
                let masked = |place: usize| if self.masked.contains(&place) { CommandOutcome::Masked } else { CommandOutcome::Unknown };
                (0..self.commands.len()).map(masked).collect()
            }
        }
    }

    /// The texts of the commands whose exit code was not recorded, in order.
    pub fn masked_texts(&self) -> impl Iterator<Item = &str> {
        self.masked.iter().filter_map(|&place| self.text(place))
    }

    /// The masked commands that have a purpose, each once: those whose outcome a reader wants to know.
    pub fn masked_runs(&self) -> Vec<&SimpleCommand> {
        let mut runs: Vec<&SimpleCommand> = Vec::new();
        for command in self.masked.iter().filter_map(|&place| self.commands.get(place)) {
            if command.purpose.is_some() && !runs.contains(&command) {
                runs.push(command);
            }
        }
        runs
    }

    /// Whether the recorded success of this call is not that of the test, build or the like in its command.
    pub fn masks_success(&self, row: &CallRow<'_>) -> bool {
        // Only a row that was annotated has masked commands: of a language that is not understood, nothing is claimed.
        row.status == Status::Succeeded && !row.masked.is_empty() && !self.masked_runs().is_empty()
    }

    /// The texts of the commands by which it is recognised when it runs again.
    pub fn essence_texts(&self) -> Vec<&str> {
        self.essence.iter().filter_map(|&place| self.text(place)).collect()
    }

    fn text(&self, place: usize) -> Option<&str> {
        self.commands.get(place).map(|command| command.text.as_str())
    }
}
