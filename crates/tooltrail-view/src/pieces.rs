//! Pieces of bodies that several views share: code, output, pictures, fields, remarks.

use crate::block::{Code, Terminal};
use crate::head::size;
use crate::line::{Class, Line, lines, neutral_text};
use crate::{Block, Limits, ansi, cut, diff, highlight};
use tooltrail_model::Status;
use tooltrail_model::content::Image;
use tooltrail_model::event::TaskState;
use tooltrail_model::patch::Hunk;
use tooltrail_model::transcript::{Level, Story};

/// Whether what a call asked for was done, as far as the log says. Otherwise it is only what would have been.
pub fn happened(call: &Story<'_>) -> bool {
    matches!(call.row.status, Status::Succeeded | Status::Answered)
}

/// Code in a language; the beginning of it where it is long.
pub fn code(language: &str, first: Option<u64>, text: &str, limits: &Limits) -> Code {
    let (kept, elided) = cut::text(text, limits);
    let lines = if limits.highlight { highlight::lines(language, kept) } else { lines(Class::Plain, kept) };
    Code { language: Some(language.to_owned()), first, lines, elided }
}

/// A file's text, in the language that its name tells.
pub fn file(path: &str, first: Option<u64>, text: &str, limits: &Limits) -> Block {
    Block::Code(match highlight::language(path) {
        Some(language) => code(&language, first, text, limits),
        None => plain(first, text, limits),
    })
}

/// A text without a language.
pub fn plain(first: Option<u64>, text: &str, limits: &Limits) -> Code {
    let (kept, elided) = cut::text(text, limits);
    Code { language: None, first, lines: lines(Class::Plain, kept), elided }
}

/// What a program printed: both ends of it where it is long.
pub fn terminal(text: &str, limits: &Limits) -> Terminal {
    let cut::Ends { lines, gap, elided } = cut::ends(ansi::lines(text), limits);
    Terminal { command: Vec::new(), lines, gap, elided }
}

/// Prose.
pub fn markdown(text: &str, limits: &Limits) -> Block {
    let (kept, elided) = cut::text(text, limits);
    Block::Markdown { text: neutral_text(kept).into_owned(), elided }
}

/// What changed.
pub fn changes(hunks: &[Hunk], limits: &Limits) -> Block {
    Block::Diff(diff::block(hunks, limits))
}

/// A picture.
pub fn image(image: &Image, alt: &str) -> Block {
    Block::Image { image: image.clone(), alt: alt.into() }
}

/// What is known of a picture: `640×480`, `12 kB`.
pub fn picture_facts(image: &Image) -> Vec<Line> {
    let pixels = image.size.map(|(width, height)| format!("{width}×{height}"));
    pixels.into_iter().chain(image.bytes.map(size)).map(Line::from).collect()
}

/// A remark.
pub fn notice(level: Level, text: impl Into<Line>) -> Block {
    Block::Notice { level, text: text.into() }
}

/// A part with a name.
pub fn section(label: impl Into<Line>, open: bool, body: Vec<Block>) -> Block {
    Block::Section { label: label.into(), open, body }
}

/// Names and values, as they are gathered.
#[derive(Debug, Default)]
pub struct Fields(
    /// Each name with its value.
    pub Vec<(Line, Line)>,
);

impl Fields {
    /// Adds one.
    pub fn add(&mut self, name: &str, value: &str) {
        self.0.push((name.into(), value.into()));
    }

    /// Adds one that may be missing.
    pub fn add_some(&mut self, name: &str, value: Option<&str>) {
        value.into_iter().for_each(|value| self.add(name, value));
    }

    /// The block, unless there is nothing in it.
    pub fn block(self) -> Option<Block> {
        (!self.0.is_empty()).then_some(Block::Fields { fields: self.0 })
    }
}

/// The state of a background task in a word.
pub fn task_state(state: TaskState) -> &'static str {
    match state {
        TaskState::Running => "running",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Killed => "killed",
        TaskState::Stopped => "stopped",
        TaskState::Unknown => "state unknown",
    }
}
