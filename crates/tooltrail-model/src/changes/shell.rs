//! Effects of a shell command line on files, as far as the line itself says them: plain data.
//!
//! `tooltrail-shell` fills these types from a parsed command, formats decide with the outcome of the call which of them happened, and the
//! replay puts them on the texts that are known.

use crate::patch::FilePatch;
use crate::status::words;

words! {
    /// Strength of the evidence for a change, the strongest first.
    Strength {
        /// An edit tool or a patch changed the file.
        Edited => "edited",
        /// The log has the text that was written, or the patch that was applied.
        Written => "written",
        /// The agent saw the file change while a command ran; another process may have changed it.
        Observed => "observed",
        /// A command names the file as one that it changes; the text that it wrote is not in the log.
        Touched => "touched",
    }
}

impl Strength {
    /// The evidence in words for a person, where it is weaker than a text in the log.
    pub fn label(self) -> Option<&'static str> {
        match self {
            Strength::Edited | Strength::Written => None,
            Strength::Observed => Some("changed while the command ran"),
            Strength::Touched => Some("by shell command"),
        }
    }
}

/// Whether a path is a device or lies in a directory for temporary files, so that writing it changes nothing of the user's.
pub fn is_scratch(path: &str) -> bool {
    let in_temporary =
        ["/tmp/", "/var/tmp/", "/private/tmp/", "/dev/", "$TMPDIR/", "${TMPDIR}/"].iter().any(|place| path.starts_with(place));
    // `/tmp/../home` only looks temporary.
    path == "-" || (in_temporary && !path.contains(".."))
}

/// Something that a simple command does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOp {
    /// Writes all of its text.
    Write(String),
    /// Adds a text at its end.
    Append(String),
    /// Applies a patch. A file that the patch moves has its new path in the patch.
    Patch(FilePatch),
    /// Moves it to another path.
    Move {
        /// The new path.
        to: String,
    },
    /// Copies another file over it.
    Copy {
        /// The file that is copied.
        from: String,
    },
    /// Deletes it, or leaves it alone where it is missing.
    Remove {
        /// Whether a missing file is no error.
        force: bool,
    },
    /// Creates an empty file where there is none.
    Create,
    /// Changes it to a text that the command line does not have.
    Touch,
    /// May change it. Nothing more is said than that its text is not certain any more.
    Doubt,
}

/// Certainty that a simple command ran and succeeded, given that its command line succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Perhaps it ran.
    Maybe,
    /// Certain that it ran. If it had failed, the line might have succeeded nevertheless, with a message of the failure in its output.
    Ran,
    /// Certain that it ran and succeeded.
    Proven,
}

/// An effect of a command line on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellEffect {
    /// The file, as the line names it, behind the directories that the line changed to.
    pub path: String,
    /// The effect.
    pub op: FileOp,
    /// Whether the command surely ran.
    pub certainty: Certainty,
    /// The simple command, without its redirections.
    pub command: String,
}

/// A text that a command line gives to a program on its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FedText {
    /// The program.
    pub program: String,
    /// Its other words.
    pub words: Vec<String>,
    /// The text.
    pub text: String,
    /// The directory that the line changed to before; empty for none.
    pub directory: String,
    /// Whether the program surely ran.
    pub certainty: Certainty,
    /// The number of effects before it.
    pub place: usize,
}

/// Everything that a command line says about files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellFiles {
    /// The effects, in order.
    pub effects: Vec<ShellEffect>,
    /// Texts for programs whose input formats know.
    pub fed: Vec<FedText>,
    /// The file that the line prints as a whole, where it does nothing else.
    pub prints: Option<String>,
    /// Whether the effects are all that the line may have changed.
    pub complete: bool,
}

/// Changes to files that an agent saw while a command ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedFiles {
    /// Files with their hunks.
    pub files: Vec<FilePatch>,
    /// Files that changed in a way that the agent did not log.
    pub others: Vec<String>,
    /// Number of further files without hunks.
    pub more: u64,
    /// Reason why the agent could not look, in its words.
    pub unavailable: Option<String>,
}

/// A file that a call changed, reduced to what a digest needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// The file.
    pub path: String,
    /// Added and removed lines; `None` where the log does not have them.
    pub lines: Option<(u64, u64)>,
    /// Strength of the evidence.
    pub strength: Strength,
    /// Whether it counts only if the session changed the file before: a deletion that would have succeeded without the file.
    pub only_known: bool,
}
