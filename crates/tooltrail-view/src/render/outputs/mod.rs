//! Outputs: the formats that a session is exported to, one file each. To add one: a file here, and a line in [`OUTPUTS`].
//!
//! The command line (`export --to`, its help, the endings of files), the menu of a session's page and the server's addresses are all made
//! of this list, so that none of them can know an output that another does not. What an output looks like may take more than a file: then
//! the rest of it stands beside this folder, as `html/` and `markdown/` do. Where the session comes from, what is redacted and where the
//! bytes go is left to whoever asks for an output.

mod html;
mod json;
mod markdown;
mod patch;
mod pull_request;

use super::markdown::ShownBodies;
use std::io::{self, Write};
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::changes::ChangeSource;

/// All outputs, in the order in which they are offered. Where two share an ending, it stands for the first.
pub static OUTPUTS: &[Output] = &[html::OUTPUT, markdown::OUTPUT, pull_request::OUTPUT, json::OUTPUT, patch::OUTPUT];

/// A format that a session is exported to.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Its name: the value of `--to`, and the end of its address on the server.
    pub name: &'static str,
    /// The endings of its files. A saved file gets the first.
    pub endings: &'static [&'static str],
    /// Its media type, for a browser.
    pub media_type: &'static str,
    /// Its line in a menu.
    pub label: &'static str,
    /// Its line in `--help`.
    pub description: &'static str,
    /// What it is made of.
    pub source: OutputSource,
    /// What happens where it would be printed to a terminal.
    pub terminal: TerminalRule,
    /// Writes it.
    pub write: fn(&Export<'_>, &mut dyn Write) -> io::Result<()>,
}

/// The part of a session that an output is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputSource {
    /// Its conversation, redacted as it is read.
    Session,
    /// Only its changes of files. They are found in texts as they are, and redacted as they are written.
    Changes,
}

/// The rule for an output that would be printed to a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalRule {
    /// It is printed: nothing in it can act on a terminal.
    Print,
    /// It is printed with control characters made visible: its bytes are those of the log.
    Neutralise,
    /// It is refused: it is no text for people.
    Refuse,
}

/// A session on its way into an output.
#[derive(Clone, Copy)]
pub struct Export<'a> {
    /// The session.
    pub book: &'a dyn Book,
    /// Its changes of files. Finding them takes long, so an output that does not show them does not ask.
    pub changes: &'a dyn ChangeSource,
    /// How it is written.
    pub options: &'a ExportOptions,
}

/// Choices of whoever exports. An output takes those that mean something to it.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// Which part of the session.
    pub selection: Selection,
    /// HTML without scripts, never packed.
    pub plain: bool,
    /// Markdown: which calls are shown in full.
    pub bodies: ShownBodies,
    /// A remark for the reader: that secrets were redacted.
    pub note: Option<String>,
    /// A description of a pull request: the most characters.
    pub most: Option<usize>,
}

/// Reads a whole session once and writes nothing: whoever changes its texts as they are read has seen all of them afterwards.
pub fn read_through(book: &dyn Book) -> io::Result<()> {
    super::json::session(book, &super::json::JsonOptions::default(), &mut io::sink())
}

impl Default for ExportOptions {
    fn default() -> Self {
        ExportOptions { selection: Selection::default(), plain: false, bodies: ShownBodies::Telling, note: None, most: None }
    }
}

impl Output {
    /// The output of this name.
    pub fn named(name: &str) -> Option<&'static Output> {
        OUTPUTS.iter().find(|output| output.name == name)
    }

    /// The output that the ending of a file stands for.
    pub fn of_ending(ending: &str) -> Option<&'static Output> {
        OUTPUTS.iter().find(|output| output.endings.contains(&ending))
    }

    /// The ending that a saved file gets.
    pub fn ending(&self) -> &'static str {
        self.endings.first().copied().unwrap_or(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_output_is_found_by_its_name_and_can_be_offered() {
        for output in OUTPUTS {
            assert_eq!(Output::named(output.name).map(|found| found.label), Some(output.label));
            assert!(Output::of_ending(output.ending()).is_some(), "{}", output.name);
            // Names are parts of addresses and of command lines; lines end up in lists.
            assert!(output.name.bytes().all(|byte| byte.is_ascii_lowercase()), "{}", output.name);
            assert!(!output.label.ends_with('.') && !output.description.ends_with('.'), "{}", output.name);
        }
        assert_eq!(Output::of_ending("md").map(|output| output.name), Some("md"));
        assert!(Output::of_ending("exe").is_none());
    }
}
