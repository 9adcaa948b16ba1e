//! Texts of files as the logs know them: every version, how it is known, what changed it, and changes from outside.
//!
//! Formats gather [`Deed`]s: statements of calls and backups about a file, in order of time. [`replay`] turns them into
//! [`Step`]s, each with the text before and after as far as that is known; [`net`] sums up those of a session or a turn;
//! [`unified`] writes them as a patch; [`versions`] lists the texts of one file. Nothing is guessed: a text that the logs
//! do not contain is [`FileText::Unknown`], and a text that does not follow from the one before it comes from outside.

pub mod blame;
pub mod net;
pub mod unified;
pub mod versions;

mod fit;
mod patch_path;
mod replay;
mod shell;
mod shell_replay;

pub use replay::replay;
pub use shell::{Certainty, ChangedPath, FedText, FileOp, ObservedFiles, ShellEffect, ShellFiles, Strength, is_scratch};

use crate::detail::{Edit, Write};
use crate::patch::{FilePatch, Hunk};
use net::FileNet;
use std::io;
use std::sync::Arc;
use unified::PatchNames;

/// The spelling of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStyle {
    /// For readers: files outside of the project by their whole path.
    Shown,
    /// For patches, which take relative paths only.
    Patch,
}

/// A reader of the groups of files that changed, and of the names of files and calls.
pub type ChangeReader<'r> = dyn FnMut(&mut dyn Iterator<Item = Vec<FileNet>>, &PatchNames<'_>) -> io::Result<()> + 'r;

/// Something that knows what a session changed in files. Outputs ask it, formats answer.
pub trait ChangeSource {
    /// Gives a reader what changed, a group of files at a time, each found when it is asked for.
    fn read(&self, paths: PathStyle, reader: &mut ChangeReader<'_>) -> io::Result<()>;
}

/// Knowledge of a file's text at some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileText {
    /// Nothing.
    #[default]
    Unknown,
    /// The file does not exist.
    Absent,
    /// All of it.
    Text(Arc<str>),
}

impl FileText {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        FileText::Text(text.into())
    }

    /// A text that may equal the known one, which is then shared instead of copied.
    fn or_same(&self, text: &str) -> Self {
        if self.as_text() == Some(text) { self.clone() } else { FileText::text(text) }
    }

    /// Whether anything is known.
    pub fn is_known(&self) -> bool {
        *self != FileText::Unknown
    }

    /// The text, where there is one.
    pub fn as_text(&self) -> Option<&str> {
        if let FileText::Text(text) = self { Some(text) } else { None }
    }
}

/// A statement about a file at some time.
#[derive(Clone, Debug)]
pub struct Deed {
    /// The call or backup that says it, by a number that the caller understands.
    pub by: usize,
    /// The file.
    pub path: String,
    /// The statement.
    pub did: Did,
}

/// Kinds of statements about a file.
#[derive(Clone, Debug)]
pub enum Did {
    /// The whole text is known, or that the file did not exist.
    Saw(FileText, How),
    /// Written as a whole.
    Wrote(Write),
    /// Some of its texts were replaced.
    Edited(Edit),
    /// A patch changed it. If the patch moved it, [`FilePatch::moved_to`] is the path of its other deeds.
    Patched(FilePatch),
    /// Changed, or possibly changed, in a way that the logs do not show.
    Unclear,
    /// A shell command changed it, or the agent saw it change while one ran.
    Ran(Box<ShellChange>),
    /// A command may have changed it. Nothing says that it did, so the text is only not certain any more.
    Doubted,
    /// All of its text was printed, and empty lines around it may be missing.
    Printed(String),
}

impl Did {
    /// Whether the file changed, or may have.
    pub fn changes(&self) -> bool {
        match self {
            Did::Saw(..) | Did::Doubted | Did::Printed(_) => false,
            Did::Ran(change) => change.counts,
            // An unclear change counts too: leaving out a file that changed is worse than listing one that may not have.
            _ => true,
        }
    }

    /// Strength of the evidence for the change.
    pub fn strength(&self) -> Strength {
        match self {
            Did::Wrote(_) => Strength::Written,
            Did::Ran(change) => change.strength(),
            _ => Strength::Edited,
        }
    }

    /// The other file that is concerned: where it is moved to, or copied from.
    pub fn other_path(&self) -> Option<&str> {
        match self {
            Did::Patched(patch) => patch.moved_to.as_deref(),
            Did::Ran(change) => match &change.op {
                Some(FileOp::Patch(patch)) => patch.moved_to.as_deref(),
                Some(FileOp::Move { to: path } | FileOp::Copy { from: path }) => Some(path),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A change to a file by a shell command.
#[derive(Clone, Debug)]
pub struct ShellChange {
    /// The effect of the command, by its words; `None` where they do not name the file.
    pub op: Option<FileOp>,
    /// The change that the agent saw while the command ran.
    pub observed: Option<FilePatch>,
    /// The change that the agent saw at the new path of a file that was moved.
    pub arrival: Option<FilePatch>,
    /// Whether it counts as a change of the session: files in temporary directories do not.
    pub counts: bool,
}

impl ShellChange {
    /// Strength of the evidence.
    pub fn strength(&self) -> Strength {
        match (&self.op, self.observed.as_ref().or(self.arrival.as_ref())) {
            // The words of the command have the text itself, so they count more than what was seen from outside.
            (Some(FileOp::Write(_) | FileOp::Append(_) | FileOp::Patch(_)), _) => Strength::Written,
            (_, Some(_)) => Strength::Observed,
            (_, None) => Strength::Touched,
        }
    }
}

/// Source of a known text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// A call read all of it.
    Read,
    /// The agent kept a copy.
    Backup,
    /// The log of an edit has the text before it.
    Before,
    /// Written as a whole.
    Written,
    /// An edit made it.
    Edited,
    /// A patch made it.
    Patched,
    /// A patch moved it here, or away.
    Moved,
    /// Deleted.
    Deleted,
    /// A command added a text at its end.
    Appended,
    /// A command copied another file over it.
    Copied,
    /// The agent saw it change while a command ran.
    Observed,
}

impl How {
    /// In a word, as outputs have it.
    pub fn word(self) -> &'static str {
        // Readers of JSON see these words: they are a contract, and no prose.
        match self {
            How::Read => "read",
            How::Backup => "backup",
            How::Before => "before",
            How::Written => "written",
            How::Edited => "edited",
            How::Patched => "patched",
            How::Moved => "moved",
            How::Deleted => "deleted",
            How::Appended => "appended",
            How::Copied => "copied",
            How::Observed => "observed",
        }
    }
}

/// One statement with the text before and after it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The call or backup that says it; see [`Deed::by`].
    pub by: usize,
    /// The file.
    pub path: String,
    /// The text before.
    pub before: FileText,
    /// The text after.
    pub after: FileText,
    /// Source of the text after.
    pub how: How,
    /// Whether the text after is computed from a text that an earlier statement gave. A change from outside in between
    /// would go unnoticed.
    pub replayed: bool,
    /// Whether the file changed, or may have; otherwise it was only read.
    pub changes: bool,
    /// Whether the file differed from what the step before left.
    pub outside: bool,
    /// The change in hunks, where the log has them.
    pub hunks: Vec<Hunk>,
    /// Origin or destination, where the file was moved.
    pub moved: Option<Moved>,
    /// Strength of the evidence, if it changed the file.
    pub strength: Strength,
}

/// Origin or destination of a moved file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The file that it was.
    From(String),
    /// The file that it became.
    To(String),
}
