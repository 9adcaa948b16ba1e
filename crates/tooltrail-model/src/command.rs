//! A parsed shell command line: plain data for rows, filters, digests and views.
//!
//! Nothing here parses. `tooltrail-shell` fills these types: a real shell parser brings sixty packages, and crates that only read the
//! result should not depend on them. A call that is opened carries its [`CommandLine`] in
//! [`Story::command`](crate::transcript::Story::command).

use crate::row::CallRow;
use crate::status::{Status, words};

words! {
    /// The purpose of a command. If a line has several, the first in this order counts.
    Purpose {
        /// Runs tests.
        Test => "test",
        /// Compiles or bundles.
        Build => "build",
        /// Checks the source without running it.
        Lint => "lint",
        /// Formats the source.
        Format => "format",
        /// Commits changes.
        Commit => "commit",
        /// Installs dependencies.
        Install => "install",
    }
}

/// Programs whose first word says what they do.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt",
    "apt-get",
    "aws",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "conda",
    "deno",
    "docker",
    "dotnet",
    "gcloud",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mise",
    "mvn",
    "npm",
    "pip",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];

/// A command line, taken apart into its simple commands. Numbers in it are places in [`CommandLine::commands`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Its simple commands, in order.
    pub commands: Vec<SimpleCommand>,
    /// The commands whose exit code was not recorded, in order.
    pub masked: Vec<usize>,
    /// Meaning of exit code 0 of the whole line.
    pub success: ExitMeaning,
    /// Meaning of any other exit code of the whole line.
    pub failure: ExitMeaning,
    /// The commands by which it is recognised when it runs again: without `cd`, `echo`, `sleep` and the like, and without the filters at
    /// the end of a pipe. All of them where nothing would be left.
    pub essence: Vec<usize>,
    /// True if it may change the user's files. Devices, temporary directories, and products of tests, builds and commits do not count.
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
    /// True if it may change files.
    pub writes: bool,
}

/// The meaning of one exit code of a command line for the commands in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitMeaning {
    /// The command whose exit code it is; `None` where it may be the exit code of several.
    pub exit_of: Option<usize>,
    /// Outcome of each command, in order.
    pub outcomes: Vec<CommandOutcome>,
}

/// The outcome of one command of a command line, as far as the exit code of the whole line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The command succeeded.
    Succeeded,
    /// The command failed.
    Failed,
    /// The exit code of another command was recorded instead.
    Masked,
    /// The command may not have run, or the exit code may be that of another.
    Unknown,
}

/// The programs that answer a question by their exit code.
const ANSWERS: &[&str] = &["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "diff", "cmp", "test", "[", "pgrep", "which"];

impl CommandLine {
    /// A name under which runs of the same command are counted: its program, with the subcommand where programs like it have one, as in
    /// `cargo test`. Of several commands, the first that has a purpose.
    pub fn label(&self) -> Option<String> {
        let essence = || self.essence.iter().filter_map(|&place| self.commands.get(place));
        let command = essence().find(|command| command.purpose.is_some()).or_else(|| essence().next())?;
        let mut words = command.text.split_whitespace().skip_while(|word| word.rsplit('/').next() != Some(&command.family)).skip(1);
        let is_word = |word: &&str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
        // `cargo +nightly test`, `git -C api push`: the options before a subcommand may have values, which cannot be told from it.
        let subcommand = words.find(|word| !word.starts_with('+')).filter(|word| !word.starts_with('-')).filter(is_word);
        Some(match subcommand.filter(|_| WITH_SUBCOMMANDS.contains(&command.family.as_str())) {
            Some(subcommand) => format!("{} {subcommand}", command.family),
            None => command.family.clone(),
        })
    }

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
        // A loop body or a retry repeats a command; one remark about it is enough.
        for command in self.masked.iter().filter_map(|&place| self.commands.get(place)) {
            if command.purpose.is_some() && !runs.contains(&command) {
                runs.push(command);
            }
        }
        runs
    }

    /// True if the recorded success of a call is not the success of the test, build or similar run in its command.
    pub fn masks_success(&self, row: &CallRow<'_>) -> bool {
        // Rows of shells that cannot be parsed, such as PowerShell, are not annotated and have no masked commands.
        row.status == Status::Succeeded && !row.masked.is_empty() && !self.masked_runs().is_empty()
    }

    /// The texts of the commands by which it is recognised when it runs again.
    pub fn essence_texts(&self) -> Vec<&str> {
        self.essence.iter().filter_map(|&place| self.text(place)).collect()
    }

    /// True if the command with the recorded exit code only reports by it that it found nothing, or a difference. That is an answer and
    /// no failure. Behind `cd DIR &&` the exit code may be that of `cd`, which its output would say.
    pub fn is_negative_answer(&self, exit_of: Option<&str>, exit_code: Option<i64>, output: &str) -> bool {
        let command = match (exit_of, self.essence.as_slice()) {
            (Some(text), _) => self.commands.iter().find(|command| command.text == text),
            (None, [only]) if !output.contains("cd:") => self.commands.get(*only),
            _ => None,
        };
        // These programs end with 1 for a negative answer, and with a higher code for an error.
        exit_code == Some(1) && command.is_some_and(|command| ANSWERS.contains(&command.family.as_str()))
    }

    fn text(&self, place: usize) -> Option<&str> {
        self.commands.get(place).map(|command| command.text.as_str())
    }
}
