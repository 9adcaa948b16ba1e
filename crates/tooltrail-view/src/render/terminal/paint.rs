//! Rows of painted text, and the page they are written to. The only place that writes an escape.
//!
//! A row is made of pieces, and a piece can only be made of neutral text, so that no character of a log reaches the
//! terminal as a command.

use super::wrap::{self, Fold};
use crate::head::Tone;
use crate::line::{Ansi, Class, Color, Line, neutral};
use anstyle::{Ansi256Color, AnsiColor, RgbColor, Style};
use std::io::{self, Write};
use std::rc::Rc;

/// Nothing special.
pub(super) const PLAIN: Style = Style::new();
/// Less important.
pub(super) const DIM: Style = Style::new().dimmed();
/// More important.
pub(super) const BOLD: Style = Style::new().bold();
/// Failed.
pub(super) const BAD: Style = color(AnsiColor::Red);
/// Succeeded.
pub(super) const GOOD: Style = color(AnsiColor::Green);
/// Worth a look.
pub(super) const WARN: Style = color(AnsiColor::Yellow);
/// References, and marks of a place.
pub(super) const ACCENT: Style = color(AnsiColor::Cyan);

/// A colour of the reader's theme.
pub(super) const fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

/// A piece of text in one style.
#[derive(Clone, Debug)]
pub(super) struct StyledText {
    pub(super) style: Style,
    pub(super) text: String,
    pub(super) link: Option<Rc<str>>,
}

/// A row of text.
#[derive(Clone, Debug, Default)]
pub(super) struct StyledRow {
    pieces: Vec<StyledText>,
}

impl StyledRow {
    /// A row of one look.
    pub(super) fn of(style: Style, text: &str) -> Self {
        StyledRow::default().with(style, text)
    }

    /// A line in the colours of its classes; plain runs get the given style.
    pub(super) fn line(base: Style, line: &Line) -> Self {
        let mut row = StyledRow::default();
        row.push_line(base, line);
        row
    }

    /// Adds text.
    pub(super) fn push(&mut self, style: Style, text: &str) {
        self.push_piece(style, text, None);
    }

    /// Adds text that leads somewhere, if the address is safe to offer.
    pub(super) fn push_link(&mut self, style: Style, text: &str, url: &str) {
        self.push_piece(style, text, safe(url).then(|| url.into()));
    }

    fn push_piece(&mut self, style: Style, text: &str, link: Option<Rc<str>>) {
        if !text.is_empty() {
            // The only place where text enters a piece, so neutralising here covers all of it.
            self.pieces.push(StyledText { style, text: neutral(text).into_owned(), link });
        }
    }

    /// Adds a line.
    pub(super) fn push_line(&mut self, base: Style, line: &Line) {
        for run in line.runs() {
            self.push(class_style(run.class, base), run.text());
        }
    }

    /// Adds another row.
    pub(super) fn append(&mut self, other: StyledRow) {
        self.pieces.extend(other.pieces);
    }

    /// Adds text, in a chain.
    pub(super) fn with(mut self, style: Style, text: &str) -> Self {
        self.push(style, text);
        self
    }

    /// Adds spaces up to a column.
    pub(super) fn pad(&mut self, column: usize) {
        let missing = column.saturating_sub(self.columns());
        self.push(PLAIN, &" ".repeat(missing));
    }

    /// Adds a letter of a piece of another row; `new` begins a piece.
    pub(super) fn push_letter(&mut self, from: &StyledText, letter: char, new: bool) {
        match self.pieces.last_mut() {
            Some(last) if !new => last.text.push(letter),
            _ => self.pieces.push(StyledText { style: from.style, text: letter.to_string(), link: from.link.clone() }),
        }
    }

    /// Splits off everything from a position on: a piece, and a byte of its text.
    pub(super) fn split_off(&mut self, piece: usize, byte: usize) -> StyledRow {
        let mut tail = self.pieces.split_off(piece.min(self.pieces.len()));
        if let Some(first) = tail.first_mut()
            && first.text.is_char_boundary(byte)
        {
            let rest = first.text.split_off(byte);
            // The first half stays here with the style and link of its piece.
            self.pieces.push(StyledText { style: first.style, text: std::mem::replace(&mut first.text, rest), link: first.link.clone() });
        }
        StyledRow { pieces: tail }
    }

    /// Its pieces.
    pub(super) fn pieces(&self) -> &[StyledText] {
        &self.pieces
    }

    /// Its text without colours.
    pub(super) fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.text.is_empty())
    }

    /// Its width in columns.
    pub(super) fn columns(&self) -> usize {
        self.pieces.iter().map(|piece| wrap::columns(&piece.text)).sum()
    }
}

/// Terminal output: as wide as the terminal, behind the current margins.
pub(super) struct TerminalPage<'o> {
    out: &'o mut dyn Write,
    width: usize,
    links: bool,
    margin: Vec<Margin>,
    space: Option<RowBudget>,
    blank: bool,
}

/// Prefix of rows.
struct Margin {
    /// Before the first one, until that is written.
    first: Option<StyledRow>,
    /// Before the others.
    next: StyledRow,
}

impl Margin {
    fn row(&self) -> &StyledRow {
        self.first.as_ref().unwrap_or(&self.next)
    }
}

/// Number of rows that may still be written, and of rows that were dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowBudget {
    left: usize,
    dropped: u64,
}

/// The fewest columns that a layout is made for.
const NARROWEST: usize = 16;

impl<'o> TerminalPage<'o> {
    /// An empty page.
    pub(super) fn new(out: &'o mut dyn Write, width: usize, links: bool) -> Self {
        // Zero means that the width is unknown, as in a pipe.
        let width = if width == 0 { 80 } else { width.max(2 * NARROWEST) };
        TerminalPage { out, width, links, margin: Vec::new(), space: None, blank: true }
    }

    /// Width in columns, with the margin.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Width in columns beside the margin.
    pub(super) fn inner(&self) -> usize {
        let margin: usize = self.margin.iter().map(|margin| margin.row().columns()).sum();
        self.width.saturating_sub(margin).max(NARROWEST)
    }

    /// Writes with more of a margin.
    pub(super) fn enter(&mut self, margin: StyledRow) {
        self.margin.push(Margin { first: None, next: margin });
    }

    /// Adds a margin with a sign before the first row only.
    pub(super) fn enter_with(&mut self, sign: StyledRow) {
        let mut next = StyledRow::default();
        next.pad(sign.columns());
        self.margin.push(Margin { first: Some(sign), next });
    }

    /// Removes the innermost margin.
    pub(super) fn leave(&mut self) {
        self.margin.pop();
    }

    /// From here on only so many rows are written.
    pub(super) fn limit(&mut self, rows: usize) {
        self.space = Some(RowBudget { left: rows, dropped: 0 });
    }

    /// Ends the limit, and returns how many rows were dropped.
    pub(super) fn unlimit(&mut self) -> u64 {
        self.space.take().map_or(0, |space| space.dropped)
    }

    /// Writes a row.
    pub(super) fn put(&mut self, row: &StyledRow, fold: Fold) -> io::Result<()> {
        self.hang(&StyledRow::default(), &StyledRow::default(), row, fold)
    }

    /// Writes a row behind a lead; continued rows stand behind `next`.
    pub(super) fn hang(&mut self, lead: &StyledRow, next: &StyledRow, row: &StyledRow, fold: Fold) -> io::Result<()> {
        // One width for both leads, so that continued rows have the same right edge.
        let width = self.inner().saturating_sub(lead.columns().max(next.columns())).max(NARROWEST / 2);
        let mut lead = lead;
        for row in wrap::fold(row, width, fold) {
            self.write(lead, &row)?;
            lead = next;
        }
        Ok(())
    }

    /// Writes an empty row, unless one was just written, or nothing yet behind this margin.
    pub(super) fn gap(&mut self) -> io::Result<()> {
        // A margin that waits for its first row would show its sign on the empty row.
        if self.blank || self.space.is_some() || self.margin.iter().any(|margin| margin.first.is_some()) {
            return Ok(());
        }
        self.write(&StyledRow::default(), &StyledRow::default())?;
        self.blank = true;
        Ok(())
    }

    fn write(&mut self, lead: &StyledRow, row: &StyledRow) -> io::Result<()> {
        if let Some(space) = &mut self.space {
            // Empty rows are free: a limited body is counted in rows that say something.
            if lead.is_empty() && row.is_empty() {
                return Ok(());
            }
            if space.left == 0 {
                space.dropped += 1;
                return Ok(());
            }
            space.left -= 1;
        }
        self.blank = false;
        let rows = self.margin.iter().map(Margin::row).chain([lead, row]);
        let pieces: Vec<&StyledText> = rows.flat_map(StyledRow::pieces).collect();
        // Trailing spaces mean nothing, and make copied text ugly.
        let end = pieces.iter().rposition(|piece| !piece.text.trim_end_matches(' ').is_empty()).map_or(0, |last| last + 1);
        for (place, piece) in pieces.iter().take(end).enumerate() {
            let text = if place + 1 == end { piece.text.trim_end_matches(' ') } else { &piece.text };
            paint(self.out, piece, text, self.links)?;
        }
        // The sign of a margin has been shown now.
        self.margin.iter_mut().for_each(|margin| margin.first = None);
        writeln!(self.out)
    }
}

/// Writes a text in the look of a piece.
fn paint(out: &mut dyn Write, piece: &StyledText, text: &str, links: bool) -> io::Result<()> {
    let style = piece.style;
    match piece.link.as_deref().filter(|_| links) {
        // OSC 8; the address was checked by `safe`, so it contains no escape.
        Some(url) => write!(out, "\x1b]8;;{url}\x1b\\{style}{text}{style:#}\x1b]8;;\x1b\\"),
        None => write!(out, "{style}{text}{style:#}"),
    }
}

/// Whether an address may be offered to a terminal: a web address of printable ASCII.
fn safe(url: &str) -> bool {
    let known = url.starts_with("https://") || url.starts_with("http://");
    known && url.len() <= 2000 && url.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The look of a status.
pub(super) fn tone_style(tone: Tone) -> Style {
    match tone {
        Tone::Ok => GOOD,
        Tone::Error => BAD.bold(),
        Tone::Neutral => PLAIN,
        Tone::Denied => color(AnsiColor::Magenta),
        Tone::Muted => DIM,
        Tone::Stopped | Tone::Missing => WARN,
        Tone::Running => ACCENT,
    }
}

/// The look of a class.
fn class_style(class: Class, base: Style) -> Style {
    match class {
        Class::Plain => base,
        Class::Dim => DIM,
        Class::Strong => base.bold(),
        Class::Match => WARN.bold(),
        Class::Inserted => GOOD.bold().underline(),
        Class::Deleted => BAD.bold().underline(),
        Class::Good => GOOD,
        Class::Bad => BAD,
        Class::Path => ACCENT,
        Class::Keyword => color(AnsiColor::Magenta),
        Class::Text => GOOD,
        Class::Comment => DIM,
        Class::Number => ACCENT,
        Class::Function => color(AnsiColor::Blue),
        Class::Type => WARN,
        Class::Ansi(ansi) => ansi_style(ansi),
    }
}

/// Colours as the program set them.
fn ansi_style(ansi: Ansi) -> Style {
    // Indexes are kept as such, so that the reader's theme decides about the first 16.
    let color = |color: Color| match color {
        Color::Index(index) => anstyle::Color::Ansi256(Ansi256Color(index)),
        Color::Rgb(red, green, blue) => anstyle::Color::Rgb(RgbColor(red, green, blue)),
    };
    let mut style = Style::new().fg_color(ansi.fg.map(color)).bg_color(ansi.bg.map(color));
    let effects = [
        (ansi.bold, anstyle::Effects::BOLD),
        (ansi.dim, anstyle::Effects::DIMMED),
        (ansi.italic, anstyle::Effects::ITALIC),
        (ansi.underline, anstyle::Effects::UNDERLINE),
        (ansi.strike, anstyle::Effects::STRIKETHROUGH),
        (ansi.inverse, anstyle::Effects::INVERT),
    ];
    for (_, effect) in effects.into_iter().filter(|(on, _)| *on) {
        style = style.effects(style.get_effects() | effect);
    }
    style
}
