//! Parts of bodies that several views share: code, output, pictures, fields, remarks.

use crate::block::{CodeBlock, Terminal};
use crate::head::size;
use crate::line::{Class, Line, lines, neutral_text};
use crate::{Block, Limits, ansi, cut, diff, highlight};
use tooltrail_model::Status;
use tooltrail_model::content::Image;
use tooltrail_model::event::TaskState;
use tooltrail_model::patch::Hunk;
use tooltrail_model::transcript::{Level, Story};

/// The most bytes of a text that should be one short line.
const SHORT: usize = 1_000;

/// Whether the requested action was done, as far as the log says. Otherwise a change is only a proposal.
pub fn happened(call: &Story<'_>) -> bool {
    matches!(call.row.status, Status::Succeeded | Status::Answered)
}

/// Code in a language; its beginning if it is long.
pub fn code(language: &str, first: Option<u64>, text: &str, limits: &Limits) -> CodeBlock {
    // Cut before highlighting, which is the slow part.
    let (kept, elided) = cut::text(text, limits);
    let lines = if limits.highlight { highlight::lines(language, kept) } else { lines(Class::Plain, kept) };
    CodeBlock { language: Some(language.to_owned()), first, lines, elided, unapplied: false }
}

/// A file's text, in the language that its name implies.
pub fn file(path: &str, first: Option<u64>, text: &str, limits: &Limits) -> Block {
    Block::Code(match highlight::language(path) {
        Some(language) => code(&language, first, text, limits),
        None => plain(first, text, limits),
    })
}

/// A text without a language.
pub fn plain(first: Option<u64>, text: &str, limits: &Limits) -> CodeBlock {
    let (kept, elided) = cut::text(text, limits);
    CodeBlock { language: None, first, lines: lines(Class::Plain, kept), elided, unapplied: false }
}

/// Output of a program: both ends if it is long.
pub fn terminal(text: &str, limits: &Limits) -> Terminal {
    // Colours and cursor movements first: only then it is known how many lines there are.
    let cut::Ends { lines, gap, elided } = cut::ends(ansi::lines(text), limits);
    Terminal { command: Vec::new(), lines, gap, elided }
}

/// Prose.
pub fn markdown(text: &str, limits: &Limits) -> Block {
    let (kept, elided) = cut::text(text, limits);
    Block::Markdown { text: neutral_text(kept).into_owned(), elided }
}

/// A change to a file, in the language that its name implies.
pub fn changes(path: &str, hunks: &[Hunk], limits: &Limits) -> Block {
    let mut diff = diff::block(hunks, limits);
    if limits.highlight {
        diff::color(&mut diff, path);
    }
    Block::Diff(diff)
}

/// A picture.
pub fn image(image: &Image, alt: &str) -> Block {
    crate::texts::picture(image, &short(alt).text())
}

/// Facts about a picture: `640×480`, `12 kB`.
pub fn picture_facts(image: &Image) -> Vec<Line> {
    let pixels = image.size.map(|(width, height)| format!("{width}×{height}"));
    pixels.into_iter().chain(image.bytes.map(size)).map(Line::from).collect()
}

/// A remark.
pub fn notice(level: Level, text: impl Into<Line>) -> Block {
    Block::Notice { level, text: text.into() }
}

/// Words about a call: a remark if they are few, otherwise a text.
pub fn words(text: &str, limits: &Limits) -> Block {
    let text = text.trim();
    if text.len() > SHORT || text.contains('\n') { Block::Code(plain(None, text, limits)) } else { notice(Level::Info, text) }
}

/// A text of one line, clipped if it is far too long for one.
pub fn short(text: &str) -> Line {
    let end = cut::boundary(text, SHORT);
    let line = Line::from(text.get(..end).unwrap_or_default());
    if end < text.len() { line.with(Class::Dim, "…") } else { line }
}

/// A part with a name.
pub fn section(label: impl Into<Line>, open: bool, body: Vec<Block>) -> Block {
    Block::Section { label: label.into(), open, body }
}

/// Names and values that are being collected.
#[derive(Debug, Default)]
pub struct FieldList(
    /// Each name with its value.
    pub Vec<(Line, Line)>,
);

impl FieldList {
    /// Adds a field. Values should be short.
    pub fn add(&mut self, name: &str, value: &str) {
        self.0.push((short(name), short(value)));
    }

    /// Adds a field that may be missing.
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::diff::from_texts;
    use crate::sample_files::story;
    use crate::tools;
    use tooltrail_model::Kind;
    use tooltrail_model::detail::{Detail, Edit, Notebook, Patch, Picture, Read, Shell, TaskOutput, TaskStop, Write};
    use tooltrail_model::patch::{FileChange, FilePatch};

    /// Details of the tools that change files or run commands, empty and with hunks where they can have some.
    pub(crate) fn details() -> Vec<Detail> {
        let hunks = from_texts("a\n", "b\n", Some(1));
        let file = FilePatch { path: "a".into(), moved_to: None, change: FileChange::Delete, hunks: hunks.clone(), content: None };
        vec![
            Detail::Shell(Shell::default()),
            Detail::TaskOutput(TaskOutput::default()),
            Detail::TaskStop(TaskStop::default()),
            Detail::Read(Read::default()),
            Detail::Write(Write::default()),
            Detail::Write(Write { new: Some(true), content: "x".into(), ..Write::default() }),
            Detail::Write(Write { hunks: hunks.clone(), ..Write::default() }),
            Detail::Edit(Edit::default()),
            Detail::Edit(Edit { hunks, ..Edit::default() }),
            Detail::Notebook(Notebook { mode: Some("insert".into()), ..Notebook::default() }),
            Detail::Notebook(Notebook { mode: Some("delete".into()), old: Some("x".into()), ..Notebook::default() }),
            Detail::Patch(Patch::default()),
            Detail::Patch(Patch { files: vec![file], ..Patch::default() }),
            Detail::Picture(Picture::default()),
        ]
    }

    #[test]
    fn what_did_not_happen_is_not_claimed() {
        for detail in details() {
            for &status in Status::ALL {
                let call = story("Tool", Kind::Other, status, detail.clone());
                let view = tools::of(&call);
                assert_ne!(view.name(), "other", "{detail:?}");
                view.body(&call, &Limits::PAGE);
                let head = view.head(&call);
                assert_eq!(unicode_width::UnicodeWidthStr::width(head.icon), 1, "{}", view.name());
                for fact in head.facts.iter().map(Line::text) {
                    assert!(happened(&call) || fact.starts_with("not applied"), "{} {status:?}: {fact}", view.name());
                }
            }
        }
    }

    #[test]
    fn what_is_meant_to_be_short_is() {
        assert_eq!(short("a\nb").text(), "a␊b");
        assert_eq!(short(&"é".repeat(2_000)).text().chars().count(), SHORT / 2 + 1);
        assert!(matches!(words("one\n", &Limits::PAGE), Block::Notice { .. }));
        assert!(matches!(words("one\ntwo", &Limits::PAGE), Block::Code(_)));
    }
}
