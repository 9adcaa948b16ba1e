//! What the logs know of the texts of files: every version, how it is known, what changed it, and where it changed behind their back.
//!
//! Formats gather [`Deed`]s: what calls and backups tell of a file, in order of time. [`replay`] turns them into [`Step`]s, each with
//! the text before and after as far as that is known; [`net`] sums up those of a session or a turn; [`unified`] writes them as a patch;
//! [`versions`] lists the texts of one file.
//! Nothing is guessed: a text that the logs do not hold is [`Known::Unknown`], and a text that does not follow from the one before it
//! is said to come from outside.

pub mod net;
pub mod unified;
pub mod versions;

mod fit;
mod replay;

pub use replay::replay;

use crate::detail::{Edit, Write};
use crate::patch::{FilePatch, Hunk};
use net::FileNet;
use std::io;
use std::sync::Arc;
use unified::Names;

/// The spelling of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStyle {
    /// For readers: files outside of the project by their whole path.
    Shown,
    /// For patches, which take relative paths only.
    Patch,
}

/// A reader of the groups of files that changed, and of the names of files and calls.
pub type ChangeReader<'r> = dyn FnMut(&mut dyn Iterator<Item = Vec<FileNet>>, &Names<'_>) -> io::Result<()> + 'r;

/// Something that knows what a session changed in files. Outputs ask it, formats answer.
pub trait ChangeSource {
    /// Gives a reader what changed, a group of files at a time, each found when it is asked for.
    fn read(&self, paths: PathStyle, reader: &mut ChangeReader<'_>) -> io::Result<()>;
}

/// What is known of a file's text at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    #[default]
    Unknown,
    /// The file is not there.
    Absent,
    /// All of it.
    Text(Arc<str>),
}

impl Known {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Known::Text(text.into())
    }

    /// A text that may be the one that is known already; it is not kept twice.
    fn or_same(&self, text: &str) -> Self {
        if self.as_text() == Some(text) { self.clone() } else { Known::text(text) }
    }

    /// Whether anything is known.
    pub fn is_known(&self) -> bool {
        *self != Known::Unknown
    }

    /// The text, where there is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Known::Text(text) = self { Some(text) } else { None }
    }
}

/// What is told of a file at a moment.
#[derive(Clone, Debug)]
pub struct Deed {
    /// Who tells it, by a number that means something to the caller: a call, or a backup.
    pub by: usize,
    /// The file.
    pub path: String,
    /// What it is.
    pub did: Did,
}

/// What is told of a file.
#[derive(Clone, Debug)]
pub enum Did {
    /// All of its text, or that it was not there.
    Saw(Known, How),
    /// It was written as a whole.
    Wrote(Write),
    /// Texts in it were replaced.
    Edited(Edit),
    /// A patch changed it. Where it was moved, [`FilePatch::moved_to`] is the path of its other deeds.
    Patched(FilePatch),
    /// It changed, or may have, in a way that the logs do not tell.
    Unclear,
}

/// How a text is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// A call read all of it.
    Read,
    /// The agent kept a copy.
    Backup,
    /// The log of an edit has the text before it.
    Before,
    /// It was written as a whole.
    Written,
    /// An edit made it.
    Edited,
    /// A patch made it.
    Patched,
    /// A patch moved it here, or away.
    Moved,
    /// It was deleted.
    Deleted,
}

impl How {
    /// In a word, as outputs have it.
    pub fn word(self) -> &'static str {
        match self {
            How::Read => "read",
            How::Backup => "backup",
            How::Before => "before",
            How::Written => "written",
            How::Edited => "edited",
            How::Patched => "patched",
            How::Moved => "moved",
            How::Deleted => "deleted",
        }
    }
}

/// One deed with what was before it and after it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Who tells it; see [`Deed::by`].
    pub by: usize,
    /// The file.
    pub path: String,
    /// The text before.
    pub before: Known,
    /// The text after.
    pub after: Known,
    /// How the text after is known.
    pub how: How,
    /// The text after rests on a text that an earlier deed told. If something changed the file in between, nothing in the logs says so.
    pub replayed: bool,
    /// The file changed, or may have: this is no mere look at it.
    pub changes: bool,
    /// The file was not as the deed before left it.
    pub outside: bool,
    /// What changed, where the log says so in pieces.
    pub hunks: Vec<Hunk>,
    /// Where it came from, or went to.
    pub moved: Option<Moved>,
}

/// Where a file came from, or went to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The file that it was.
    From(String),
    /// The file that it became.
    To(String),
}
