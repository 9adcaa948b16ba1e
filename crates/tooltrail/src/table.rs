//! Tables for people: aligned, cut to the terminal's width, safe to print.

use crate::out::BOLD;
use anstyle::Style;
use std::io::{IsTerminal, Write};
pub(crate) use tooltrail_view::head::took;
use tooltrail_view::line::neutral;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A cell: text and style.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell with a style.
    pub(crate) fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Cell { text: printable(text.as_ref()), style }
    }
}

impl Cell {
    /// Swaps its colours, to mark a row as selected.
    pub(crate) fn invert(&mut self) {
        self.style = self.style.invert();
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: printable(text.as_ref()), style: Style::new() }
    }
}

/// The beginning of a text, with a mark where it was cut.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
    /// Text that is cut if the table is too wide.
    Fill,
    /// Like `Fill`, but the beginning is cut off, as for paths.
    FillEnd,
}

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
    /// Columns that are left out if the terminal is too narrow, in this order.
    optional: &'static [&'static str],
    /// The columns to print, in this order; empty for all.
    chosen: Vec<usize>,
}

impl Table {
    /// An empty table with these columns.
    pub(crate) fn new(heads: &[(&str, Align)]) -> Self {
        Table {
            heads: heads.iter().map(|(name, align)| (printable(name), *align)).collect(),
            rows: Vec::new(),
            optional: &[],
            chosen: Vec::new(),
        }
    }

    /// Sets the columns that may be left out in a narrow terminal.
    pub(crate) fn optional(self, columns: &'static [&'static str]) -> Self {
        Table { optional: columns, ..self }
    }

    /// Chooses columns by their heads, in either case and in this order; none chooses all.
    pub(crate) fn choose(mut self, names: &[String]) -> anyhow::Result<Self> {
        for name in names {
            let Some(column) = self.heads.iter().position(|(head, _)| head.eq_ignore_ascii_case(name)) else {
                let heads: Vec<&str> = self.heads.iter().map(|(head, _)| head.as_str()).collect();
                anyhow::bail!("no column `{name}`; columns are {}", heads.join(", "));
            };
            self.chosen.push(column);
        }
        if !names.is_empty() {
            // Whoever chooses wants to see them.
            self.optional = &[];
        }
        Ok(self)
    }

    /// Leaves out a column.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.chosen = (0..self.heads.len()).filter(|column| self.heads.get(*column).is_none_or(|(head, _)| head != name)).collect();
        self
    }

    /// Keeps the chosen columns.
    fn keep_chosen(&mut self) {
        let chosen = std::mem::take(&mut self.chosen);
        if chosen.is_empty() {
            return;
        }
        self.heads = chosen.iter().filter_map(|column| self.heads.get(*column).cloned()).collect();
        for row in &mut self.rows {
            *row = chosen.iter().map(|column| row.get(*column).cloned().unwrap_or_default()).collect();
        }
    }

    /// Adds a row; it has as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Prints the table, cut to `width` columns where that is known.
    pub(crate) fn print(mut self, out: &mut impl Write, width: Option<usize>) -> std::io::Result<()> {
        self.keep_chosen();
        // One column at a time, until the rest fits: a wide terminal loses nothing. Columns in which nothing stands go first.
        let is_empty = |column: usize| self.rows.iter().all(|row| row.get(column).is_none_or(|cell| cell.text.is_empty()));
        let empty: Vec<String> = self
            .heads
            .iter()
            .enumerate()
            .filter(|(column, _)| !self.rows.is_empty() && is_empty(*column))
            .map(|(_, head)| head.0.clone())
            .collect();
        for name in empty.iter().map(String::as_str).chain(self.optional.iter().copied()) {
            if width.is_none_or(|limit| total(&self.widths(width)) <= limit) {
                break;
            }
            if let Some(column) = self.heads.iter().position(|(head, _)| head == name) {
                self.heads.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        let widths = self.widths(width);
        let mut head = String::new();
        for (index, ((name, align), width)) in self.heads.iter().zip(&widths).enumerate() {
            let last = index + 1 == self.heads.len();
            head.push_str(&fit(name, *width, *align, last));
            if !last {
                head.push_str("  ");
            }
        }
        writeln!(out, "{BOLD}{}{BOLD:#}", head.trim_end())?;
        for row in &self.rows {
            for (index, (cell, ((_, align), width))) in row.iter().zip(self.heads.iter().zip(&widths)).enumerate() {
                let last = index + 1 == row.len();
                let text = fit(&cell.text, *width, *align, last);
                write!(out, "{}{text}{:#}{}", cell.style, cell.style, if last { "" } else { "  " })?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Whether a column is there that may be left out.
    fn optional_left(&self) -> bool {
        self.heads.iter().any(|(head, _)| self.optional.contains(&head.as_str()))
    }

    fn widths(&self, limit: Option<usize>) -> Vec<usize> {
        let natural = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width());
            cells.max().unwrap_or(0).max(self.heads[column].0.width())
        };
        let mut widths: Vec<usize> = (0..self.heads.len()).map(natural).collect();
        let Some(limit) = limit else { return widths };
        // The widest filling column shrinks first, so that short ones stay readable. Below 8 letters a cell says nothing any more, and
        // the last column, which says what a row is about, needs more; then the table is too wide.
        let last = widths.len().saturating_sub(1);
        let least = |column: usize| if column == last && self.optional_left() { 20 } else { 8 };
        while total(&widths) > limit {
            let fills = (0..widths.len()).filter(|&column| matches!(self.heads[column].1, Align::Fill | Align::FillEnd));
            let Some(widest) = fills.filter(|&column| widths[column] > least(column)).max_by_key(|&column| widths[column]) else { break };
            widths[widest] -= 1;
        }
        widths
    }
}

/// The width of a row.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

/// Cuts or pads a text to a width.
pub(crate) fn fit(text: &str, width: usize, align: Align, last: bool) -> String {
    // Width in terminal cells, not letters: East Asian letters take two.
    let own = text.width();
    if own > width {
        return match align {
            Align::FillEnd => format!("…{}", end(text, width.saturating_sub(1))),
            _ => format!("{}…", start(text, width.saturating_sub(1))),
        };
    }
    let pad = " ".repeat(width - own);
    match align {
        Align::Right => pad + text,
        // Spaces at the end of a line would only wrap in a narrow terminal.
        _ if last => text.to_owned(),
        _ => text.to_owned() + &pad,
    }
}

fn start(text: &str, width: usize) -> String {
    let mut used = 0;
    text.chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

fn end(text: &str, width: usize) -> String {
    let mut used = 0;
    let kept: Vec<char> = text
        .chars()
        .rev()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect();
    kept.into_iter().rev().collect()
}

/// A text on one line, with signs in place of characters that a terminal would act on. A line feed shows as well: a name with one in it
/// must look like no other.
pub(crate) fn printable(text: &str) -> String {
    neutral(text).into_owned()
}

/// A number with thousands separators.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with a noun: `1 log`, `2 logs`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A number of bytes.
pub(crate) fn bytes(number: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} B") } else { format!("{value:.1} {}", units[unit]) }
}

/// The width of the terminal that standard output goes to, if it is one. A pipe is not cut, whatever terminal it was begun in.
pub(crate) fn terminal_width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    // A terminal that claims to be narrower than this is not believed: cut to it, nothing would be readable.
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|width| *width >= 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_on_is_printed() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{202e}d\u{7}\u{200f}"), "a␛[31mb␊c⟨U+202E⟩d␇⟨U+200F⟩");
    }

    #[test]
    fn tables_are_cut_to_the_width() {
        let mut table = Table::new(&[("A", Align::Left), ("N", Align::Right), ("TEXT", Align::Fill)]);
        table.row(vec!["x".into(), "1".into(), "日本語のとても長い文章です".into()]);
        table.row(vec!["yy".into(), "22".into(), "short".into()]);
        let mut out = Vec::new();
        table.print(&mut out, Some(20)).unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
        assert_eq!(text, "A    N  TEXT\nx    1  日本語のと…\nyy  22  short\n");
    }

    #[test]
    fn columns_give_way_in_a_narrow_terminal() {
        let mut table = Table::new(&[("A", Align::Left), ("LONG", Align::Left), ("B", Align::Left)]).optional(&["LONG"]);
        table.row(vec!["x".into(), "a column that is not needed".into(), "y".into()]);
        let mut out = Vec::new();
        table.print(&mut out, Some(20)).unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
        assert_eq!(text, "A  B\nx  y\n");
    }

    #[test]
    fn empty_columns_give_way_first() {
        let mut table = Table::new(&[("A", Align::Left), ("LONG", Align::Left), ("NOTHING HERE", Align::Left)]).optional(&["LONG"]);
        table.row(vec!["x".into(), "needed, if space allows".into(), "".into()]);
        let print = |table: Table, width| {
            let mut out = Vec::new();
            table.print(&mut out, width).unwrap();
            anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
        };
        let copy = || Table { heads: table.heads.clone(), rows: table.rows.clone(), optional: table.optional, chosen: Vec::new() };
        assert_eq!(print(copy(), Some(30)).lines().next(), Some("A  LONG"));
        assert_eq!(print(copy(), Some(20)), "A\nx\n");
        assert!(print(copy(), None).starts_with("A  LONG                     NOTHING HERE"));
    }

    #[test]
    fn things_are_counted_in_words() {
        assert_eq!((counted(1, "log").as_str(), counted(2000, "log").as_str()), ("1 log", "2,000 logs"));
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!((count(0).as_str(), count(999).as_str(), count(1_234_567).as_str()), ("0", "999", "1,234,567"));
        assert_eq!((bytes(12).as_str(), bytes(1_500_000).as_str()), ("12 B", "1.5 MB"));
    }
}
