//! Blocks as rows of a terminal.

use super::Show;
use super::paint::{ACCENT, BAD, BOLD, DIM, GOOD, PLAIN, Row, WARN};
use super::wrap::{self, Fold};
use crate::block::{Block, Code, Diff, DiffLine, Hunk, Link, Progress, Question, Sign, Terminal, Todo};
use crate::head::{counted, size};
use crate::limits::Elided;
use crate::line::Line;
use std::io;
use tooltrail_model::content::Image;
use tooltrail_model::transcript::Level;

impl Show<'_, '_> {
    /// Shows blocks, one below the other.
    pub(super) fn blocks(&mut self, blocks: &[Block]) -> io::Result<()> {
        for (place, block) in blocks.iter().enumerate() {
            // Remarks stand close together, and close to what they are about.
            if place > 0 && self.full && !matches!(blocks.get(place - 1), Some(Block::Notice { .. })) {
                self.page.gap()?;
            }
            self.block(block)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) -> io::Result<()> {
        match block {
            Block::Code(code) => self.code(code),
            Block::Diff(diff) => self.diff(diff),
            Block::Terminal(terminal) => self.terminal(terminal),
            Block::Markdown { text, elided } => {
                self.prose(text)?;
                self.elided(elided.as_ref())
            }
            Block::Image { image, alt } => self.page.put(&picture(image, alt), Fold::Words),
            Block::Table { head, rows, elided } => {
                self.table(head, rows)?;
                self.elided(elided.as_ref())
            }
            Block::Fields { fields } => self.fields(fields),
            Block::Todos { items } => items.iter().try_for_each(|item| self.todo(item)),
            Block::Questions { questions } => questions.iter().try_for_each(|question| self.question(question)),
            Block::Links { links } => links.iter().try_for_each(|link| self.link(link)),
            Block::Files { groups, elided } => {
                groups.iter().try_for_each(|(folder, names)| self.files(folder, names))?;
                self.elided(elided.as_ref())
            }
            Block::Json { lines, elided } => {
                lines.iter().try_for_each(|line| self.page.put(&Row::line(PLAIN, line), self.fold()))?;
                self.elided(elided.as_ref())
            }
            Block::Notice { level, text } => self.notice(*level, text),
            Block::Nested { thread, calls, failed } => self.nested_here(*thread, *calls, *failed),
            Block::Section { label, open, body } => self.section(label, *open, body),
        }
    }

    /// What becomes of rows whose shape counts.
    pub(super) fn fold(&self) -> Fold {
        if self.full { Fold::Words } else { Fold::Cut }
    }

    fn elided(&mut self, elided: Option<&Elided>) -> io::Result<()> {
        elided.map_or(Ok(()), |elided| self.page.put(&Row::of(DIM, &left_out(elided)), Fold::Words))
    }

    fn code(&mut self, code: &Code) -> io::Result<()> {
        let last = code.first.map(|first| first.saturating_add(code.lines.len() as u64).saturating_sub(1));
        let digits = last.map_or(0, |last| last.to_string().len());
        for (offset, line) in code.lines.iter().enumerate() {
            let number = code.first.map(|first| first.saturating_add(offset as u64).to_string());
            let (lead, next) = gutter(number.as_deref(), digits);
            self.page.hang(&lead, &next, &Row::line(PLAIN, line), self.fold())?;
        }
        self.elided(code.elided.as_ref())
    }

    fn diff(&mut self, diff: &Diff) -> io::Result<()> {
        if let Some(path) = &diff.path {
            self.page.put(&Row::line(BOLD, path), Fold::Words)?;
        }
        let all = || diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        let digits = all().filter_map(|line| line.old.max(line.new)).max().map_or(0, |number| number.to_string().len());
        for (place, hunk) in diff.hunks.iter().enumerate() {
            if place > 0 || hunk.context.is_some() {
                self.hunk_head(hunk)?;
            }
            for line in &hunk.lines {
                self.diff_line(line, digits)?;
            }
        }
        self.elided(diff.elided.as_ref())
    }

    fn hunk_head(&mut self, hunk: &Hunk) -> io::Result<()> {
        let mut row = Row::of(ACCENT, "@@ ");
        if let Some(context) = &hunk.context {
            row.push_line(DIM, context);
        }
        self.page.put(&row, Fold::Cut)
    }

    fn diff_line(&mut self, line: &DiffLine, digits: usize) -> io::Result<()> {
        let (sign, style) = match line.sign {
            Sign::Same => ("  ", PLAIN),
            Sign::Added => ("+ ", GOOD),
            Sign::Removed => ("- ", BAD),
        };
        let number = |number: Option<u32>| number.map_or_else(|| " ".repeat(digits), |number| format!("{number:>digits$}"));
        let mut lead = Row::default();
        let mut next = Row::default();
        if digits > 0 {
            lead.push(DIM, &format!("{} {} ", number(line.old), number(line.new)));
        }
        next.pad(lead.columns() + 2);
        lead.push(style, sign);
        self.page.hang(&lead, &next, &Row::line(style, &line.line), self.fold())
    }

    fn terminal(&mut self, terminal: &Terminal) -> io::Result<()> {
        for (place, line) in terminal.command.iter().enumerate() {
            let lead = Row::of(ACCENT, if place == 0 { "$ " } else { "  " });
            self.page.hang(&lead, &Row::of(PLAIN, "  "), &Row::line(BOLD, line), self.fold())?;
        }
        for (place, line) in terminal.lines.iter().enumerate() {
            if terminal.gap == Some(place) {
                self.elided(terminal.elided.as_ref())?;
            }
            self.page.put(&Row::line(PLAIN, line), self.fold())?;
        }
        let told = terminal.gap.is_some_and(|gap| gap < terminal.lines.len());
        self.elided(terminal.elided.as_ref().filter(|_| !told))
    }

    /// A table, as wide as there is room.
    pub(super) fn table(&mut self, head: &[Line], rows: &[Vec<Line>]) -> io::Result<()> {
        let count = rows.iter().map(Vec::len).chain([head.len()]).max().unwrap_or(0);
        let cells = |column: usize| [head].into_iter().chain(rows.iter().map(Vec::as_slice)).filter_map(move |row| row.get(column));
        let mut widths: Vec<usize> =
            (0..count).map(|column| cells(column).map(|cell| wrap::columns(&cell.text())).max().unwrap_or(0)).collect();
        narrow(&mut widths, self.page.inner());
        for (place, cells) in [head].into_iter().chain(rows.iter().map(Vec::as_slice)).enumerate() {
            let style = if place == 0 { BOLD } else { PLAIN };
            let mut row = Row::default();
            let mut column = 0;
            for (cell, width) in cells.iter().zip(&widths) {
                row.pad(column);
                row.append(wrap::cut(&Row::line(style, cell), *width));
                column += width + 2;
            }
            if !row.is_empty() {
                self.page.put(&row, Fold::Cut)?;
            }
        }
        Ok(())
    }

    fn fields(&mut self, fields: &[(Line, Line)]) -> io::Result<()> {
        let names = fields.iter().map(|(name, _)| wrap::columns(&name.text()));
        let column = names.max().unwrap_or(0).min(self.page.inner() / 3);
        for (name, value) in fields {
            let mut lead = wrap::cut(&Row::line(DIM, name), column);
            lead.pad(column + 2);
            let mut next = Row::default();
            next.pad(column + 2);
            let fold = if self.full { Fold::Whole } else { Fold::Cut };
            self.page.hang(&lead, &next, &Row::line(PLAIN, value), fold)?;
        }
        Ok(())
    }

    fn todo(&mut self, todo: &Todo) -> io::Result<()> {
        let (lead, style) = match todo.state {
            Progress::Open => (Row::of(DIM, "☐ "), PLAIN),
            Progress::Active => (Row::of(ACCENT, "▸ "), BOLD),
            Progress::Done => (Row::of(GOOD, "☑ "), DIM),
            Progress::Dropped => (Row::of(DIM, "✕ "), DIM.strikethrough()),
        };
        let mut row = Row::line(style, &todo.text);
        if let Some(change) = &todo.change {
            row.push(DIM, "  ");
            row.push_line(WARN, change);
        }
        self.page.hang(&lead, &Row::of(PLAIN, "  "), &row, Fold::Words)
    }

    fn question(&mut self, question: &Question) -> io::Result<()> {
        let mut row = Row::default();
        if let Some(header) = &question.header {
            row.push_line(ACCENT, header);
            row.push(DIM, ": ");
        }
        row.push_line(BOLD, &question.text);
        self.page.hang(&Row::of(ACCENT, "? "), &Row::of(PLAIN, "  "), &row, Fold::Words)?;
        for (label, meaning, chosen) in &question.options {
            let sign = match (question.multiple, chosen) {
                (false, true) => "  (•) ",
                (false, false) => "  ( ) ",
                (true, true) => "  [x] ",
                (true, false) => "  [ ] ",
            };
            let style = if *chosen { GOOD } else { PLAIN };
            let mut row = Row::line(style, label);
            if let Some(meaning) = meaning {
                row.push(DIM, " – ");
                row.push_line(DIM, meaning);
            }
            self.page.hang(&Row::of(style, sign), &Row::of(PLAIN, "      "), &row, Fold::Words)?;
        }
        for words in &question.free {
            self.page.hang(&Row::of(GOOD, "  “ "), &Row::of(PLAIN, "    "), &Row::line(GOOD, words), Fold::Words)?;
        }
        if let Some(why) = &question.unanswered {
            self.page.put(&Row::of(WARN, "  ").with(WARN, &why.text()), Fold::Words)?;
        }
        Ok(())
    }

    fn link(&mut self, link: &Link) -> io::Result<()> {
        let mut row = Row::default();
        match &link.url {
            Some(url) => row.push_link(BOLD, &link.title.text(), url),
            None => row.push_line(BOLD, &link.title),
        }
        if !link.place.is_empty() {
            row.push(DIM, "  ");
            row.push_line(DIM, &link.place);
        }
        self.page.hang(&Row::of(DIM, "• "), &Row::of(PLAIN, "  "), &row, Fold::Words)?;
        if let Some(snippet) = &link.snippet {
            self.page.hang(&Row::of(PLAIN, "  "), &Row::of(PLAIN, "  "), &Row::line(DIM, snippet), Fold::Words)?;
        }
        Ok(())
    }

    /// The names of a folder, in as many columns as fit.
    fn files(&mut self, folder: &Line, names: &[Line]) -> io::Result<()> {
        if !folder.is_empty() {
            self.page.put(&Row::line(DIM, folder), Fold::Cut)?;
        }
        let widest = names.iter().map(|name| wrap::columns(&name.text())).max().unwrap_or(0) + 2;
        let columns = (self.page.inner().saturating_sub(2) / widest).max(1);
        for chunk in names.chunks(columns) {
            let mut row = Row::default();
            for (place, name) in chunk.iter().enumerate() {
                row.pad(2 + place * widest);
                row.push_line(PLAIN, name);
            }
            self.page.put(&row, self.fold())?;
        }
        Ok(())
    }

    fn notice(&mut self, level: Level, text: &Line) -> io::Result<()> {
        let (sign, style) = match level {
            Level::Info => ("i ", DIM),
            Level::Warning => ("! ", WARN),
            Level::Error => ("✗ ", BAD),
        };
        self.page.hang(&Row::of(style, sign), &Row::of(PLAIN, "  "), &Row::line(style, text), Fold::Whole)
    }

    /// A subagent's calls where they belong. An overview has them below the call, because its bodies are cut.
    fn nested_here(&mut self, thread: usize, calls: u64, failed: u64) -> io::Result<()> {
        if !self.full {
            return Ok(());
        }
        let mut row = Row::of(DIM, &counted(calls, "call"));
        if failed > 0 {
            row.push(BAD, &format!(", {failed} failed"));
        }
        self.page.put(&row, Fold::Cut)?;
        // Its calls are lines, unless all of the session is opened.
        let full = std::mem::replace(&mut self.full, self.options.all);
        let done = self.below(thread);
        self.full = full;
        done
    }

    fn section(&mut self, label: &Line, open: bool, body: &[Block]) -> io::Result<()> {
        // An overview is no place for what a page would fold.
        if !open && !self.full {
            return Ok(());
        }
        self.page.put(&Row::line(BOLD.dimmed(), label), Fold::Cut)?;
        self.page.enter(Row::of(PLAIN, "  "));
        let done = self.blocks(body);
        self.page.leave();
        done
    }
}

/// The column of a line number, and the one of a line that goes on.
fn gutter(number: Option<&str>, digits: usize) -> (Row, Row) {
    let Some(number) = number else { return Default::default() };
    let mut next = Row::default();
    next.pad(digits + 2);
    (Row::of(DIM, &format!("{number:>digits$}  ")), next)
}

/// What was left out, in words.
fn left_out(elided: &Elided) -> String {
    let kept = if elided.kept { "" } else { ", and not in the log" };
    format!("… {}{kept}", elided.missing())
}

/// A picture in words: those it comes with, else what is known of the file.
fn picture(image: &Image, alt: &Line) -> Row {
    let facts = [
        (!image.media.is_empty()).then(|| image.media.clone()),
        image.size.map(|(width, height)| format!("{width}×{height}")),
        image.bytes.map(size),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let words = if alt.is_empty() { facts.join(", ") } else { alt.text() };
    // What has no name of its own is called a picture already.
    let sort = if words.starts_with("picture") { "" } else { "picture: " };
    Row::of(DIM, "[").with(DIM, sort).with(PLAIN, &words).with(DIM, "]")
}

/// Makes columns narrower until they fit, the widest first.
fn narrow(widths: &mut [usize], room: usize) {
    let gaps = 2 * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > room {
        match widths.iter_mut().max_by_key(|width| **width) {
            Some(widest) if *widest > 3 => *widest -= 1,
            _ => return,
        }
    }
}
