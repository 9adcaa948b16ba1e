//! Blocks as rows of a terminal.

use super::TerminalWriter;
use super::paint::{ACCENT, BAD, BOLD, DIM, GOOD, PLAIN, StyledRow, WARN};
use super::wrap::{self, Fold};
use crate::block::{Block, CodeBlock, Diff, DiffHunk, DiffLine, DiffSign, PageLink, QuestionItem, Terminal, TodoEntry, TodoProgress};
use crate::head::{counted, size};
use crate::limits::Elided;
use crate::line::Line;
use std::io;
use tooltrail_model::content::Image;
use tooltrail_model::transcript::Level;

impl TerminalWriter<'_, '_> {
    /// Shows blocks, one below the other.
    pub(super) fn blocks(&mut self, blocks: &[Block]) -> io::Result<()> {
        for (place, block) in blocks.iter().enumerate() {
            // Remarks stand close together, and close to their subject.
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
                lines.iter().try_for_each(|line| self.page.put(&StyledRow::line(PLAIN, line), self.fold()))?;
                self.elided(elided.as_ref())
            }
            Block::Notice { level, text } => self.notice(*level, text),
            Block::Nested { thread, calls, failed } => self.nested_here(*thread, *calls, *failed),
            Block::Section { label, open, body } => self.section(label, *open, body),
        }
    }

    /// Folding of rows whose layout matters, such as code.
    pub(super) fn fold(&self) -> Fold {
        if self.full { Fold::Words } else { Fold::Cut }
    }

    fn elided(&mut self, elided: Option<&Elided>) -> io::Result<()> {
        elided.map_or(Ok(()), |elided| self.page.put(&StyledRow::of(DIM, &left_out(elided)), Fold::Words))
    }

    fn code(&mut self, code: &CodeBlock) -> io::Result<()> {
        // The number of the last line decides the width of the column.
        let last = code.first.map(|first| first.saturating_add(code.lines.len() as u64).saturating_sub(1));
        let digits = last.map_or(0, |last| last.to_string().len());
        for (offset, line) in code.lines.iter().enumerate() {
            let number = code.first.map(|first| first.saturating_add(offset as u64).to_string());
            let (lead, next) = gutter(number.as_deref(), digits);
            self.page.hang(&lead, &next, &StyledRow::line(PLAIN, line), self.fold())?;
        }
        self.elided(code.elided.as_ref())
    }

    fn diff(&mut self, diff: &Diff) -> io::Result<()> {
        if let Some(path) = &diff.path {
            self.page.put(&StyledRow::line(BOLD, path), Fold::Words)?;
        }
        let all = || diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        let digits = all().filter_map(|line| line.old.max(line.new)).max().map_or(0, |number| number.to_string().len());
        for (place, hunk) in diff.hunks.iter().enumerate() {
            // The first hunk needs a head only if it says something.
            if place > 0 || hunk.context.is_some() {
                self.hunk_head(hunk)?;
            }
            for line in &hunk.lines {
                self.diff_line(line, digits)?;
            }
        }
        self.elided(diff.elided.as_ref())
    }

    fn hunk_head(&mut self, hunk: &DiffHunk) -> io::Result<()> {
        let mut row = StyledRow::of(ACCENT, "@@ ");
        if let Some(context) = &hunk.context {
            row.push_line(DIM, context);
        }
        self.page.put(&row, Fold::Cut)
    }

    fn diff_line(&mut self, line: &DiffLine, digits: usize) -> io::Result<()> {
        let (sign, style) = match line.sign {
            DiffSign::Same => ("  ", PLAIN),
            DiffSign::Added => ("+ ", GOOD),
            DiffSign::Removed => ("- ", BAD),
        };
        let number = |number: Option<u32>| number.map_or_else(|| " ".repeat(digits), |number| format!("{number:>digits$}"));
        let mut lead = StyledRow::default();
        let mut next = StyledRow::default();
        if digits > 0 {
            lead.push(DIM, &format!("{} {} ", number(line.old), number(line.new)));
        }
        // Continued rows align with the text, behind numbers and sign.
        next.pad(lead.columns() + 2);
        lead.push(style, sign);
        self.page.hang(&lead, &next, &StyledRow::line(style, &line.line), self.fold())
    }

    fn terminal(&mut self, terminal: &Terminal) -> io::Result<()> {
        for (place, line) in terminal.command.iter().enumerate() {
            let lead = StyledRow::of(ACCENT, if place == 0 { "$ " } else { "  " });
            self.page.hang(&lead, &StyledRow::of(PLAIN, "  "), &StyledRow::line(BOLD, line), self.fold())?;
        }
        for (place, line) in terminal.lines.iter().enumerate() {
            if terminal.gap == Some(place) {
                self.elided(terminal.elided.as_ref())?;
            }
            self.page.put(&StyledRow::line(PLAIN, line), self.fold())?;
        }
        // A gap at the very end is not met by the loop, so the remark comes after it.
        let told = terminal.gap.is_some_and(|gap| gap < terminal.lines.len());
        self.elided(terminal.elided.as_ref().filter(|_| !told))
    }

    /// A table, as wide as there is space.
    pub(super) fn table(&mut self, head: &[Line], rows: &[Vec<Line>]) -> io::Result<()> {
        let count = rows.iter().map(Vec::len).chain([head.len()]).max().unwrap_or(0);
        // Head and rows are treated alike: any of them may have the widest cell or more columns.
        let cells = |column: usize| [head].into_iter().chain(rows.iter().map(Vec::as_slice)).filter_map(move |row| row.get(column));
        let mut widths: Vec<usize> =
            (0..count).map(|column| cells(column).map(|cell| wrap::columns(&cell.text())).max().unwrap_or(0)).collect();
        narrow(&mut widths, self.page.inner());
        for (place, cells) in [head].into_iter().chain(rows.iter().map(Vec::as_slice)).enumerate() {
            let style = if place == 0 { BOLD } else { PLAIN };
            let mut row = StyledRow::default();
            let mut column = 0;
            for (cell, width) in cells.iter().zip(&widths) {
                row.pad(column);
                row.append(wrap::cut(&StyledRow::line(style, cell), *width));
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
        // Names get at most a third, so that one long name does not squeeze all values.
        let column = names.max().unwrap_or(0).min(self.page.inner() / 3);
        for (name, value) in fields {
            let mut lead = wrap::cut(&StyledRow::line(DIM, name), column);
            lead.pad(column + 2);
            let mut next = StyledRow::default();
            next.pad(column + 2);
            // Values such as paths are copied, so they must not be broken.
            let fold = if self.full { Fold::Whole } else { Fold::Cut };
            self.page.hang(&lead, &next, &StyledRow::line(PLAIN, value), fold)?;
        }
        Ok(())
    }

    fn todo(&mut self, todo: &TodoEntry) -> io::Result<()> {
        let (lead, style) = match todo.state {
            TodoProgress::Open => (StyledRow::of(DIM, "☐ "), PLAIN),
            TodoProgress::Active => (StyledRow::of(ACCENT, "▸ "), BOLD),
            TodoProgress::Done => (StyledRow::of(GOOD, "☑ "), DIM),
            TodoProgress::Dropped => (StyledRow::of(DIM, "✕ "), DIM.strikethrough()),
        };
        let mut row = StyledRow::line(style, &todo.text);
        if let Some(change) = &todo.change {
            row.push(DIM, "  ");
            row.push_line(WARN, change);
        }
        self.page.hang(&lead, &StyledRow::of(PLAIN, "  "), &row, Fold::Words)
    }

    fn question(&mut self, question: &QuestionItem) -> io::Result<()> {
        let mut row = StyledRow::default();
        if let Some(header) = &question.header {
            row.push_line(ACCENT, header);
            row.push(DIM, ": ");
        }
        row.push_line(BOLD, &question.text);
        self.page.hang(&StyledRow::of(ACCENT, "? "), &StyledRow::of(PLAIN, "  "), &row, Fold::Words)?;
        for (label, meaning, chosen) in &question.options {
            let sign = match (question.multiple, chosen) {
                (false, true) => "  (•) ",
                (false, false) => "  ( ) ",
                (true, true) => "  [x] ",
                (true, false) => "  [ ] ",
            };
            let style = if *chosen { GOOD } else { PLAIN };
            let mut row = StyledRow::line(style, label);
            if let Some(meaning) = meaning {
                row.push(DIM, " – ");
                row.push_line(DIM, meaning);
            }
            self.page.hang(&StyledRow::of(style, sign), &StyledRow::of(PLAIN, "      "), &row, Fold::Words)?;
        }
        for words in &question.free {
            self.page.hang(&StyledRow::of(GOOD, "  “ "), &StyledRow::of(PLAIN, "    "), &StyledRow::line(GOOD, words), Fold::Words)?;
        }
        if let Some(why) = &question.unanswered {
            self.page.put(&StyledRow::of(WARN, "  ").with(WARN, &why.text()), Fold::Words)?;
        }
        Ok(())
    }

    fn link(&mut self, link: &PageLink) -> io::Result<()> {
        let mut row = StyledRow::default();
        match &link.url {
            Some(url) => row.push_link(BOLD, &link.title.text(), url),
            None => row.push_line(BOLD, &link.title),
        }
        if !link.place.is_empty() {
            row.push(DIM, "  ");
            row.push_line(DIM, &link.place);
        }
        self.page.hang(&StyledRow::of(DIM, "• "), &StyledRow::of(PLAIN, "  "), &row, Fold::Words)?;
        if let Some(snippet) = &link.snippet {
            self.page.hang(&StyledRow::of(PLAIN, "  "), &StyledRow::of(PLAIN, "  "), &StyledRow::line(DIM, snippet), Fold::Words)?;
        }
        Ok(())
    }

    /// The names of a folder, in as many columns as fit.
    fn files(&mut self, folder: &Line, names: &[Line]) -> io::Result<()> {
        if !folder.is_empty() {
            self.page.put(&StyledRow::line(DIM, folder), Fold::Cut)?;
        }
        let widest = names.iter().map(|name| wrap::columns(&name.text())).max().unwrap_or(0) + 2;
        // At least one column, even if a name is wider than the terminal; the row is then folded.
        let columns = (self.page.inner().saturating_sub(2) / widest).max(1);
        for chunk in names.chunks(columns) {
            let mut row = StyledRow::default();
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
        // Errors contain paths and commands to be copied, so words stay whole.
        self.page.hang(&StyledRow::of(style, sign), &StyledRow::of(PLAIN, "  "), &StyledRow::line(style, text), Fold::Whole)
    }

    /// A subagent's calls at their place in the body. An overview has them below the call, because its bodies are cut.
    fn nested_here(&mut self, thread: usize, calls: u64, failed: u64) -> io::Result<()> {
        if !self.full {
            return Ok(());
        }
        let mut row = StyledRow::of(DIM, &counted(calls, "call"));
        if failed > 0 {
            row.push(BAD, &format!(", {failed} failed"));
        }
        self.page.put(&row, Fold::Cut)?;
        // Its calls are single lines, unless the whole session is shown in full.
        let full = std::mem::replace(&mut self.full, self.options.all);
        let done = self.below(thread);
        self.full = full;
        done
    }

    fn section(&mut self, label: &Line, open: bool, body: &[Block]) -> io::Result<()> {
        // An overview leaves out sections that a page would fold.
        if !open && !self.full {
            return Ok(());
        }
        self.page.put(&StyledRow::line(BOLD.dimmed(), label), Fold::Cut)?;
        self.page.enter(StyledRow::of(PLAIN, "  "));
        // The margin must be left even if writing failed, hence no `?` here.
        let done = self.blocks(body);
        self.page.leave();
        done
    }
}

/// Column of a line number, and of a row that continues.
fn gutter(number: Option<&str>, digits: usize) -> (StyledRow, StyledRow) {
    let Some(number) = number else { return Default::default() };
    let mut next = StyledRow::default();
    next.pad(digits + 2);
    (StyledRow::of(DIM, &format!("{number:>digits$}  ")), next)
}

/// Remark on omitted content.
fn left_out(elided: &Elided) -> String {
    let kept = if elided.kept { "" } else { ", and not in the log" };
    format!("… {}{kept}", elided.missing())
}

/// A picture in words: its description, else the facts about its file.
fn picture(image: &Image, alt: &Line) -> StyledRow {
    let facts = [
        (!image.media.is_empty()).then(|| image.media.clone()),
        image.size.map(|(width, height)| format!("{width}×{height}")),
        image.bytes.map(size),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let words = if alt.is_empty() { facts.join(", ") } else { alt.text() };
    // The view already calls it a picture where it has no better name.
    let sort = if words.starts_with("image") { "" } else { "image: " };
    StyledRow::of(DIM, "[").with(DIM, sort).with(PLAIN, &words).with(DIM, "]")
}

/// Makes columns narrower until they fit, the widest first.
fn narrow(widths: &mut [usize], space: usize) {
    let gaps = 2 * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > space {
        match widths.iter_mut().max_by_key(|width| **width) {
            // Below three columns nothing readable is left; the row is cut at its end instead.
            Some(widest) if *widest > 3 => *widest -= 1,
            _ => return,
        }
    }
}
