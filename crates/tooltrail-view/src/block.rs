//! Blocks: the parts of a body. They know their content, not how it looks.

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
    Code(CodeBlock),
    /// A change to a file.
    Diff(Diff),
    /// Output of a program.
    Terminal(Terminal),
    /// Prose, as Markdown. Links in it are shown, never followed; pictures are named, never fetched.
    Markdown {
        /// The text; control characters are neutralised.
        text: String,
        /// Remark on omitted content.
        elided: Option<Elided>,
    },
    /// A picture.
    Image {
        /// The picture.
        #[serde(flatten)]
        image: Image,
        /// Description for readers who cannot see it.
        alt: Line,
    },
    /// A table.
    Table {
        /// The names of the columns.
        head: Vec<Line>,
        /// The rows.
        rows: Vec<Vec<Line>>,
        /// Remark on omitted content.
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
        items: Vec<TodoEntry>,
    },
    /// Questions to the person.
    Questions {
        /// The questions.
        questions: Vec<QuestionItem>,
    },
    /// Pages of the web.
    Links {
        /// The pages.
        links: Vec<PageLink>,
    },
    /// Files, by directory.
    Files {
        /// Each directory with the names in it.
        groups: Vec<(Line, Vec<Line>)>,
        /// Remark on omitted content.
        elided: Option<Elided>,
    },
    /// JSON, laid out.
    Json {
        /// The lines.
        lines: Vec<Line>,
        /// Remark on omitted content.
        elided: Option<Elided>,
    },
    /// A remark about the call.
    Notice {
        /// Severity.
        level: Level,
        /// The remark.
        text: Line,
    },
    /// A subagent's conversation, to be shown here.
    Nested {
        /// The thread, in the transcript.
        thread: usize,
        /// Number of calls it made.
        calls: u64,
        /// Number of failed calls among them.
        failed: u64,
    },
    /// A part with a name, perhaps folded.
    Section {
        /// Its name.
        label: Line,
        /// Whether it is open.
        open: bool,
        /// Blocks of the section.
        body: Vec<Block>,
    },
}

/// Code, or any text whose lines count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CodeBlock {
    /// The language, as highlighting knows it; `None` for plain text.
    pub language: Option<String>,
    /// The number of the first line; `None` where numbers mean nothing.
    pub first: Option<u64>,
    /// The lines.
    pub lines: Vec<Line>,
    /// Remark on content omitted at the end.
    pub elided: Option<Elided>,
    /// Whether it is the content of a file that was not written.
    #[serde(skip)]
    pub unapplied: bool,
}

/// A change to a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The file, where the block does not stand under its name.
    pub path: Option<Line>,
    /// The places that change.
    pub hunks: Vec<DiffHunk>,
    /// Remark on omitted content.
    pub elided: Option<Elided>,
    /// Presentation on pages.
    #[serde(skip)]
    pub look: ChangeLook,
}

/// How a page shows a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeLook {
    /// The change was not applied, and must not look as if it was.
    pub unapplied: bool,
    /// The reader may choose to see the two sides beside each other.
    pub sides: bool,
}

impl Block {
    /// Sets the look of all changes in some blocks. A numbered text is the content of a file that was to be written.
    pub fn look(blocks: &mut [Block], look: ChangeLook) {
        for block in blocks {
            match block {
                Block::Diff(diff) => diff.look = look,
                Block::Code(code) => code.unapplied = look.unapplied && code.first.is_some(),
                Block::Section { body, .. } => Block::look(body, look),
                _ => {}
            }
        }
    }
}

/// A group of adjacent changed lines with their context.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DiffHunk {
    /// Description of the place, such as the head of a function.
    pub context: Option<Line>,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiffLine {
    /// Kind of the line: kept, added or removed.
    pub sign: DiffSign,
    /// Its number before, where that is known.
    pub old: Option<u32>,
    /// Its number after, where that is known.
    pub new: Option<u32>,
    /// Its text; words that changed are marked.
    pub line: Line,
    /// The same text in the colours of its language. Only pages show both.
    #[serde(skip)]
    pub colors: Option<Line>,
}

/// Kind of a line in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffSign {
    /// Kept.
    Same,
    /// Added.
    Added,
    /// Removed.
    Removed,
}

/// Output of a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Terminal {
    /// The command that produced it, shown with a prompt before it.
    pub command: Vec<Line>,
    /// The lines at the beginning.
    pub lines: Vec<Line>,
    /// Position of the omitted lines: before the line with this index in `lines`.
    pub gap: Option<usize>,
    /// Remark on omitted content.
    pub elided: Option<Elided>,
}

/// An item of a to-do list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TodoEntry {
    /// State of the item.
    pub state: TodoProgress,
    /// Text of the item.
    pub text: Line,
    /// Change since the list before.
    pub change: Option<Line>,
}

/// State of a to-do item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoProgress {
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
pub struct QuestionItem {
    /// A short name.
    pub header: Option<Line>,
    /// The question.
    pub text: Line,
    /// Whether more than one answer may be chosen.
    pub multiple: bool,
    /// Options: label, explanation, whether chosen.
    pub options: Vec<(Line, Option<Line>, bool)>,
    /// Answers in the person's own words.
    pub free: Vec<Line>,
    /// Reason why there is no answer.
    pub unanswered: Option<Line>,
}

/// A link to a web page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageLink {
    /// Its title.
    pub title: Line,
    /// Its address, only if it is one that is safe to offer: `http` or `https`.
    pub url: Option<String>,
    /// The host or the whole address, to show.
    pub place: Line,
    /// A few words about it.
    pub snippet: Option<Line>,
}
