//! Blocks: what a body is made of. They know what they hold, not how it looks.

use crate::limits::Elided;
use crate::line::Line;
use serde::Serialize;
use tooltrail_model::content::Image;
use tooltrail_model::transcript::Level;

/// One piece of a body.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "block")]
pub enum Block {
    /// Code, or any text whose lines count.
    Code(Code),
    /// What changed in a file.
    Diff(Diff),
    /// What a program printed.
    Terminal(Terminal),
    /// Prose, as Markdown. Links in it are shown, never followed; pictures are named, never fetched.
    Markdown {
        /// The text; control characters are neutralised.
        text: String,
        /// What was left out.
        elided: Option<Elided>,
    },
    /// A picture.
    Image {
        /// The picture.
        #[serde(flatten)]
        image: Image,
        /// What it is, for whoever cannot see it.
        alt: Line,
    },
    /// A table.
    Table {
        /// The names of the columns.
        head: Vec<Line>,
        /// The rows.
        rows: Vec<Vec<Line>>,
        /// What was left out.
        elided: Option<Elided>,
    },
    /// Names and values.
    Fields {
        /// Each name with its value.
        fields: Vec<(Line, Line)>,
    },
    /// Things to do.
    Todos {
        /// The list.
        items: Vec<Todo>,
    },
    /// Questions to the person.
    Questions {
        /// The questions.
        questions: Vec<Question>,
    },
    /// Pages of the web.
    Links {
        /// The pages.
        links: Vec<Link>,
    },
    /// Files, by directory.
    Files {
        /// Each directory with the names in it.
        groups: Vec<(Line, Vec<Line>)>,
        /// What was left out.
        elided: Option<Elided>,
    },
    /// JSON, laid out.
    Json {
        /// The lines.
        lines: Vec<Line>,
        /// What was left out.
        elided: Option<Elided>,
    },
    /// A remark about the call.
    Notice {
        /// How bad it is.
        level: Level,
        /// The remark.
        text: Line,
    },
    /// What a subagent did: its conversation stands here.
    Nested {
        /// The thread, in the transcript.
        thread: usize,
        /// How many calls it made.
        calls: u64,
        /// How many of them failed.
        failed: u64,
    },
    /// A part with a name, perhaps folded.
    Section {
        /// Its name.
        label: Line,
        /// Whether it is open.
        open: bool,
        /// What is in it.
        body: Vec<Block>,
    },
}

/// Code, or any text whose lines count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Code {
    /// The language, as highlighting knows it; `None` for plain text.
    pub language: Option<String>,
    /// The number of the first line; `None` where numbers mean nothing.
    pub first: Option<u64>,
    /// The lines.
    pub lines: Vec<Line>,
    /// What was left out at the end.
    pub elided: Option<Elided>,
}

/// What changed in a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The file, where the block does not stand under its name.
    pub path: Option<Line>,
    /// The places that change.
    pub hunks: Vec<Hunk>,
    /// What was left out.
    pub elided: Option<Elided>,
}

/// A place that changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Hunk {
    /// Where it is, such as the head of a function.
    pub context: Option<Line>,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiffLine {
    /// What becomes of it.
    pub sign: Sign,
    /// Its number before, where that is known.
    pub old: Option<u32>,
    /// Its number after, where that is known.
    pub new: Option<u32>,
    /// Its text; words that changed are marked.
    pub line: Line,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// It stays.
    Same,
    /// It comes.
    Added,
    /// It goes.
    Removed,
}

/// What a program printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Terminal {
    /// The command that it answers, shown with a prompt before it.
    pub command: Vec<Line>,
    /// The lines at the beginning.
    pub lines: Vec<Line>,
    /// Where lines were left out: before the line of this number of `lines`.
    pub gap: Option<usize>,
    /// What was left out.
    pub elided: Option<Elided>,
}

/// A thing to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Todo {
    /// How far it is.
    pub state: Progress,
    /// What it is.
    pub text: Line,
    /// What changed about it.
    pub change: Option<Line>,
}

/// How far a thing to do is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Not begun.
    Open,
    /// Being done.
    Active,
    /// Done.
    Done,
    /// Given up.
    Dropped,
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// A short name.
    pub header: Option<Line>,
    /// The question.
    pub text: Line,
    /// More than one answer may be chosen.
    pub multiple: bool,
    /// What can be chosen: label, meaning, whether it was.
    pub options: Vec<(Line, Option<Line>, bool)>,
    /// What the person wrote in their own words.
    pub free: Vec<Line>,
    /// Why there is no answer.
    pub unanswered: Option<Line>,
}

/// A page of the web.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Its title.
    pub title: Line,
    /// Its address, only if it is one that is safe to offer: `http` or `https`.
    pub url: Option<String>,
    /// The host or the whole address, to show.
    pub place: Line,
    /// A few words about it.
    pub snippet: Option<Line>,
}
