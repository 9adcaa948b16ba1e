//! Blocks as Markdown.

use super::Doc;
use super::text::{code, escape, fence, language, prose};
use crate::block::{Block, CodeBlock, Diff, DiffSign, PageLink, QuestionItem, Terminal, TodoEntry, TodoProgress};
use crate::head::{counted, size};
use crate::limits::Elided;
use crate::line::Line;
use std::io;
use tooltrail_model::content::Image;
use tooltrail_model::transcript::Level;

/// Sections nested deeper than this are left to other outputs: Markdown readers give up on deep indentation.
const DEEPEST: usize = 6;

impl Doc<'_> {
    /// Writes blocks, an empty line between them.
    pub(super) fn blocks(&mut self, blocks: &[Block], depth: usize) -> io::Result<()> {
        blocks.iter().try_for_each(|block| self.block(block, depth))
    }

    fn block(&mut self, block: &Block, depth: usize) -> io::Result<()> {
        // Blocks must be separated, or a list after a paragraph would become part of it.
        self.gap()?;
        match block {
            Block::Code(part) => self.code(part),
            Block::Diff(diff) => self.diff(diff),
            Block::Terminal(terminal) => self.terminal(terminal),
            Block::Markdown { text, elided } => {
                self.lines(&prose(text).text)?;
                self.elided(elided.as_ref())
            }
            Block::Image { image, alt } => self.line(&picture(image, alt)),
            Block::Table { head, rows, elided } => {
                self.table(head, rows)?;
                self.elided(elided.as_ref())
            }
            Block::Fields { fields } => {
                let field = |(name, value): &(Line, Line)| format!("- {}: {}", escape(&name.text()), code(&value.text()));
                fields.iter().try_for_each(|pair| self.line(&field(pair)))
            }
            Block::Todos { items } => items.iter().try_for_each(|item| self.line(&todo(item))),
            Block::Questions { questions } => questions.iter().try_for_each(|question| self.question(question)),
            Block::Links { links } => links.iter().try_for_each(|link| self.line(&hyperlink(link))),
            Block::Files { groups, elided } => {
                groups.iter().try_for_each(|(folder, names)| self.line(&files(folder, names)))?;
                self.elided(elided.as_ref())
            }
            Block::Json { lines, elided } => {
                self.fenced("json", lines.iter().map(Line::text))?;
                self.elided(elided.as_ref())
            }
            Block::Notice { level, text } => self.line(&notice(*level, text)),
            Block::Nested { calls, failed, .. } => self.line(&format!("*{}, {failed} failed*", counted(*calls, "call"))),
            // Closed sections are details that a reader of Markdown cannot fold away.
            Block::Section { open: false, .. } if !self.unfold => Ok(()),
            Block::Section { label, body, .. } if depth < DEEPEST => {
                self.line(&format!("*{}*", escape(&label.text())))?;
                self.blocks(body, depth + 1)
            }
            Block::Section { label, .. } => self.line(&format!("*{}* …", escape(&label.text()))),
        }
    }

    /// Lines between fences that they cannot close.
    pub(super) fn fenced(&mut self, info: &str, lines: impl Iterator<Item = String>) -> io::Result<()> {
        let lines: Vec<String> = lines.collect();
        // The text may itself contain fences, so the fence is longer than any of them.
        let fence = fence(lines.iter().map(String::as_str));
        self.line(&format!("{fence}{info}"))?;
        lines.iter().try_for_each(|line| self.line(line))?;
        self.line(&fence)
    }

    fn elided(&mut self, elided: Option<&Elided>) -> io::Result<()> {
        let Some(elided) = elided else { return Ok(()) };
        self.gap()?;
        self.line(&format!("*… {}*", elided.missing()))
    }

    fn code(&mut self, part: &CodeBlock) -> io::Result<()> {
        // Line numbers have no place in a fence; a remark keeps the only one that matters.
        if let Some(first) = part.first.filter(|first| *first > 1) {
            self.line(&format!("*from line {first}*"))?;
            self.gap()?;
        }
        self.fenced(language(part.language.as_deref()), part.lines.iter().map(Line::text))?;
        self.elided(part.elided.as_ref())
    }

    fn diff(&mut self, diff: &Diff) -> io::Result<()> {
        if let Some(path) = &diff.path {
            self.line(&code(&path.text()))?;
            self.gap()?;
        }
        let mut lines = Vec::new();
        for hunk in &diff.hunks {
            let (old, new) = (hunk.lines.iter().find_map(|line| line.old), hunk.lines.iter().find_map(|line| line.new));
            // A cut hunk does not have all of its lines, so their number would be wrong.
            let lines_of_one = Some(hunk.lines.len()).filter(|_| diff.elided.is_none());
            let context = hunk.context.as_ref().map(Line::text).unwrap_or_default();
            // Without numbers and context the first hunk needs no head.
            if old.or(new).is_some() || !context.is_empty() || !lines.is_empty() {
                let (old, new) = (range(old, new, lines_of_one), range(new, old, lines_of_one));
                lines.push(format!("@@ -{old} +{new} @@ {context}").trim_end().to_owned());
            }
            for line in &hunk.lines {
                let sign = match line.sign {
                    DiffSign::Same => ' ',
                    DiffSign::Added => '+',
                    DiffSign::Removed => '-',
                };
                lines.push(format!("{sign}{}", line.line.text()));
            }
        }
        self.fenced("diff", lines.into_iter())?;
        self.elided(diff.elided.as_ref())
    }

    fn terminal(&mut self, terminal: &Terminal) -> io::Result<()> {
        // Only the first line is a prompt; the others continue the command.
        let prompt = |(place, line): (usize, &Line)| format!("{}{}", if place == 0 { "$ " } else { "  " }, line.text());
        let command = terminal.command.iter().enumerate().map(prompt);
        self.fenced("console", command.chain(printed(terminal)))
    }

    fn table(&mut self, head: &[Line], rows: &[Vec<Line>]) -> io::Result<()> {
        // Rows from a log may be longer than the head; Markdown drops cells beyond it.
        let columns = rows.iter().map(Vec::len).chain([head.len()]).max().unwrap_or(0);
        if columns == 0 {
            return Ok(());
        }
        let row = |cells: &[Line]| {
            let cell = |column: usize| cells.get(column).map(|cell| escape(&cell.text())).unwrap_or_default();
            format!("| {} |", (0..columns).map(cell).collect::<Vec<_>>().join(" | "))
        };
        self.line(&row(head))?;
        self.line(&format!("|{}", " --- |".repeat(columns)))?;
        rows.iter().try_for_each(|cells| self.line(&row(cells)))
    }

    fn question(&mut self, question: &QuestionItem) -> io::Result<()> {
        let header = question.header.as_ref().map(|header| format!("{}: ", escape(&header.text()))).unwrap_or_default();
        self.gap()?;
        self.line(&format!("**{header}{}**", escape(&question.text.text())))?;
        self.gap()?;
        for (label, meaning, chosen) in &question.options {
            let meaning = meaning.as_ref().map(|meaning| format!(" – {}", escape(&meaning.text()))).unwrap_or_default();
            self.line(&format!("- [{}] {}{meaning}", if *chosen { "x" } else { " " }, escape(&label.text())))?;
        }
        for words in &question.free {
            self.line(&format!("- [x] “{}”", escape(&words.text())))?;
        }
        match &question.unanswered {
            Some(why) => self.line(&format!("- *{}*", escape(&why.text()))),
            None => Ok(()),
        }
    }
}

/// One side of a hunk's head: its first line, as far as that is known. A new or deleted file has only one side, with
/// `count` lines.
fn range(own: Option<u32>, other: Option<u32>, count: Option<usize>) -> String {
    match (own, other, count) {
        // Only the other side exists and begins at line 1: the file is new or deleted.
        (None, Some(1), _) => "0,0".to_owned(),
        (None, ..) => "?".to_owned(),
        (Some(1), None, Some(count)) if count != 1 => format!("1,{count}"),
        (Some(own), ..) => own.to_string(),
    }
}

/// Output of a program line by line, with a remark where some of it is left out.
pub(super) fn printed(terminal: &Terminal) -> Vec<String> {
    let mut lines = Vec::new();
    let gone = terminal.elided.as_ref().map(|elided| format!("… {}", elided.missing()));
    // A gap at the very end is not met by the loop, so the remark comes after it.
    let told = terminal.gap.is_some_and(|gap| gap < terminal.lines.len());
    for (place, line) in terminal.lines.iter().enumerate() {
        lines.extend(gone.clone().filter(|_| terminal.gap == Some(place)));
        lines.push(line.text());
    }
    lines.extend(gone.filter(|_| !told));
    lines
}

fn todo(todo: &TodoEntry) -> String {
    let text = escape(&todo.text.text());
    let change = todo.change.as_ref().map(|change| format!(" *({})*", escape(&change.text()))).unwrap_or_default();
    match todo.state {
        TodoProgress::Open => format!("- [ ] {text}{change}"),
        TodoProgress::Active => format!("- [ ] **{text}**{change}"),
        TodoProgress::Done => format!("- [x] {text}{change}"),
        TodoProgress::Dropped => format!("- [ ] ~~{text}~~{change}"),
    }
}

/// A link to the web. Its address stands in angle brackets, which end at the next one, so it may contain none.
fn hyperlink(link: &PageLink) -> String {
    let title = escape(&link.title.text());
    let usable = |url: &&String| url.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\\".contains(&byte));
    let title = match link.url.as_ref().filter(usable) {
        Some(url) => format!("[{title}](<{url}>)"),
        None => title,
    };
    let snippet = link.snippet.as_ref().map(|snippet| format!(" – {}", escape(&snippet.text()))).unwrap_or_default();
    let place = Some(escape(&link.place.text())).filter(|place| !place.is_empty()).map(|place| format!(" {place}")).unwrap_or_default();
    format!("- {title}{place}{snippet}")
}

fn files(folder: &Line, names: &[Line]) -> String {
    let names: Vec<String> = names.iter().map(|name| code(&name.text())).collect();
    let folder = if folder.is_empty() { String::new() } else { format!("{}: ", code(&folder.text())) };
    format!("- {folder}{}", names.join(", "))
}

fn picture(image: &Image, alt: &Line) -> String {
    let facts = [Some(image.media.clone()).filter(|media| !media.is_empty()), image.bytes.map(size)];
    let facts = || facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let words = if alt.is_empty() { facts() } else { alt.text() };
    // The view already calls it a picture where it has no better name.
    let sort = if words.starts_with("image") { "" } else { "image: " };
    format!("*\\[{sort}{}\\]*", escape(&words))
}

fn notice(level: Level, text: &Line) -> String {
    let word = match level {
        Level::Info => "note",
        Level::Warning => "warning",
        Level::Error => "failed",
    };
    format!("> **{word}** {}", escape(&text.text()))
}
