//! Program output as lines, as a terminal shows them once everything is printed.
//!
//! Colours stay, as classes. Cursor movements are obeyed, so that a progress bar that was drawn a hundred times is one
//! line. Titles, modes and unknown sequences are dropped; nothing printable is lost, except text that the program itself
//! overwrote.
//!
//! Output is hostile: moving the cursor allocates nothing, only printing does, and blanks in between come from a budget.

use crate::line::{Ansi, Class, Line};
use anstyle_parse::{Params, Parser, Perform};
use std::borrow::Cow;
use std::collections::VecDeque;
use unicode_width::UnicodeWidthChar;

mod style;

/// Columns of the screen. A longer line of output that moves the cursor continues on the next one.
const COLUMNS: usize = 4000;
/// Lines of the screen: lines further up are out of the cursor's reach, and need little memory.
const ROWS: usize = 200;
/// Blanks that moving the cursor may add, beyond one for each byte of output.
const BLANKS: usize = 64 * 1024;
/// The most bytes of marks that one letter can carry.
const MARKS: usize = 32;
/// Tabs go to the next multiple of this.
const TAB: usize = 8;
/// Cancels an unfinished sequence. It is inserted before each line feed, so that an open sequence swallows one line and not
/// all that follow.
const CANCEL: u8 = 0x18;

/// The lines that a terminal would show.
pub fn lines(text: &str) -> Vec<Line> {
    // Most output has no escapes; it takes the fast path, without a screen.
    let still = |letter: char| !letter.is_ascii_control() || letter == '\n' || letter == '\t';
    let text: Cow<'_, str> = if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    if text.chars().all(still) {
        return text.lines().map(|line| Line::of(Class::Plain, &spread(line))).collect();
    }
    // One blank per byte of output on top of the budget: ordinary layouts never run out.
    let mut screen = VirtualScreen { blanks: BLANKS + text.len(), ..VirtualScreen::default() };
    let mut parser = <Parser>::default();
    for byte in text.bytes() {
        if byte == b'\n' {
            parser.advance(&mut screen, CANCEL);
        }
        parser.advance(&mut screen, byte);
    }
    screen.finish()
}

/// A line whose tabs are as wide as a terminal shows them.
fn spread(line: &str) -> Cow<'_, str> {
    if !line.contains('\t') {
        return line.into();
    }
    let (mut out, mut column) = (String::with_capacity(line.len() + 16), 0);
    for letter in line.chars() {
        let width = if letter == '\t' { TAB - column % TAB } else { letter.width().unwrap_or(1) };
        match letter {
            '\t' => out.extend(std::iter::repeat_n(' ', width)),
            _ => out.push(letter),
        }
        column += width;
    }
    out.into()
}

/// One column of the screen.
#[derive(Clone, Debug)]
struct ScreenCell {
    /// The character; `None` for the second column of a wide one.
    letter: Option<char>,
    /// Combining marks on the character.
    marks: Option<Box<str>>,
    style: Ansi,
}

/// An empty column.
const BLANK: ScreenCell = ScreenCell { letter: Some(' '), marks: None, style: style::PLAIN };

/// State of the terminal: lines that have scrolled out of reach, and those that the cursor can still change.
#[derive(Default)]
struct VirtualScreen {
    above: Vec<Line>,
    rows: VecDeque<Vec<ScreenCell>>,
    /// The cursor, in `rows`. Its row is only created when something is printed there.
    row: usize,
    column: usize,
    style: Ansi,
    /// Number of blanks that may still be added.
    blanks: usize,
}

impl VirtualScreen {
    /// The row of the cursor.
    fn here(&mut self) -> &mut Vec<ScreenCell> {
        let wanted = self.row;
        if self.rows.len() <= wanted {
            self.rows.resize_with(wanted + 1, Vec::new);
        }
        &mut self.rows[wanted]
    }

    /// Puts a letter where the cursor is.
    fn put(&mut self, letter: char) {
        let width = letter.width().unwrap_or(1);
        if width == 0 && self.mark(letter) {
            return;
        }
        // A mark without a character before it takes a column of its own.
        let width = width.max(1);
        if self.column + width > COLUMNS {
            self.feed();
        }
        self.reach();
        let (column, style) = (self.column, self.style);
        let row = self.here();
        for place in column..column + width {
            let cell = ScreenCell { letter: (place == column).then_some(letter), marks: None, style };
            // Before each cell is replaced: overwriting one half of a wide character blanks the other.
            halve(row, place);
            match row.get_mut(place) {
                Some(old) => *old = cell,
                None => row.push(cell),
            }
        }
        self.column = column + width;
    }

    /// Puts a mark on the letter before the cursor; `false` where there is none.
    fn mark(&mut self, mark: char) -> bool {
        let before = self.rows.get_mut(self.row).and_then(|row| row.iter_mut().take(self.column).rfind(|cell| cell.letter.is_some()));
        let Some(cell) = before else { return false };
        let mut marks = cell.marks.take().map(String::from).unwrap_or_default();
        // Marks beyond the limit are dropped; some texts stack thousands on one character.
        if marks.len() + mark.len_utf8() <= MARKS {
            marks.push(mark);
        }
        cell.marks = Some(marks.into());
        true
    }

    /// Fills the row with blanks up to the cursor. When the budget is used up, the cursor moves back to the text instead.
    fn reach(&mut self) {
        let (column, length) = (self.column, self.here().len());
        let missing = column.saturating_sub(length).min(self.blanks);
        self.blanks -= missing;
        self.column = column.min(length + missing);
        self.here().extend(std::iter::repeat_n(BLANK, missing));
    }

    /// The cursor goes to the next line, as a line feed makes it.
    fn feed(&mut self) {
        self.here();
        self.row += 1;
        self.column = 0;
        // Rows that leave the screen become lines at once: cells take many times the memory of text.
        while self.row >= ROWS {
            self.above.extend(self.rows.pop_front().map(|row| line(&row)));
            self.row -= 1;
        }
    }

    /// Starts a new screen. The old content moves up, as in a terminal with scrollback.
    fn clear(&mut self) {
        if self.rows.iter().any(|row| !row.is_empty()) {
            self.above.extend(self.rows.drain(..).map(|row| line(&row)));
        }
        self.rows.clear();
        (self.row, self.column) = (0, 0);
    }

    /// Erases from a column of the row on, up to another.
    fn erase(&mut self, from: usize, to: usize) {
        let Some(row) = self.rows.get_mut(self.row) else { return };
        if to >= row.len() {
            return row.truncate(from);
        }
        row.iter_mut().take(to).skip(from).for_each(|cell| *cell = BLANK);
    }

    /// Erases in the line: to its end, to its beginning, all of it.
    fn erase_line(&mut self, how: u16) {
        match how {
            0 => self.erase(self.column, COLUMNS),
            1 => self.erase(0, self.column + 1),
            _ => self.erase(0, COLUMNS),
        }
    }

    /// Erases in the screen. Lines above the cursor are kept: they are more likely output than part of a drawing.
    fn erase_screen(&mut self, how: u16) {
        match how {
            0 => {
                self.erase_line(0);
                self.rows.truncate(self.row + 1);
            }
            1 => self.erase_line(1),
            _ => self.clear(),
        }
    }

    /// Moves the cursor to an absolute position, as programs do that draw whole screens. The real position is unknown, so
    /// the top is a new screen and everything else a new line: frames follow each other instead of hiding each other.
    fn place(&mut self, row: u16, column: usize) {
        if row <= 1 && column == 0 {
            self.clear();
        } else if self.rows.get(self.row).is_some_and(|row| !row.is_empty()) {
            self.row = self.rows.len() - 1;
            self.feed();
        }
        self.column = column;
    }

    /// Moves the cursor down, at most to just below the last row: moving creates no lines.
    fn down(&mut self, many: usize) {
        self.row = (self.row + many).min(self.rows.len());
    }

    /// All lines.
    fn finish(mut self) -> Vec<Line> {
        self.above.extend(self.rows.iter().map(|row| line(row)));
        self.above
    }
}

impl Perform for VirtualScreen {
    fn print(&mut self, letter: char) {
        self.put(letter);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            // Vertical tab and form feed move down one line in practice.
            b'\n' | 0x0b | 0x0c => self.feed(),
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => self.column = ((self.column / TAB + 1) * TAB).min(COLUMNS - 1),
            // The bell, cancelled sequences and other alphabets: a terminal shows nothing for them.
            0x07 | CANCEL | 0x1a | 0x0e | 0x0f => {}
            // Other controls are shown as symbols.
            _ => self.put(char::from(byte)),
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: u8) {
        // Sequences with a marker are modes and queries, such as `?25l`.
        if !intermediates.is_empty() {
            return;
        }
        // A missing parameter counts as 0, and most movements take 0 for 1.
        let param = |place: usize| params.iter().nth(place).and_then(|param| param.first().copied()).unwrap_or(0);
        let many = usize::from(param(0).max(1));
        match action {
            b'm' => style::apply(&mut self.style, params),
            b'A' => self.row = self.row.saturating_sub(many),
            b'B' => self.down(many),
            b'C' => self.column = (self.column + many).min(COLUMNS - 1),
            b'D' => self.column = self.column.saturating_sub(many),
            b'E' => {
                self.down(many);
                self.column = 0;
            }
            b'F' => (self.row, self.column) = (self.row.saturating_sub(many), 0),
            b'G' | b'`' => self.column = (many - 1).min(COLUMNS - 1),
            b'H' | b'f' => self.place(param(0), usize::from(param(1).max(1) - 1).min(COLUMNS - 1)),
            b'J' => self.erase_screen(param(0)),
            b'K' => self.erase_line(param(0)),
            b'X' => self.erase(self.column, self.column + many),
            _ => {}
        }
    }
}

/// Clears the other half of a wide character when one half is overwritten.
fn halve(row: &mut [ScreenCell], place: usize) {
    if row.get(place).is_some_and(|cell| cell.letter.is_none())
        && let Some(first) = place.checked_sub(1).and_then(|before| row.get_mut(before))
    {
        *first = BLANK;
    }
    if let Some(second) = row.get_mut(place + 1).filter(|cell| cell.letter.is_none()) {
        *second = BLANK;
    }
}

/// A row as a line.
fn line(row: &[ScreenCell]) -> Line {
    let mut line = Line::default();
    for run in row.chunk_by(|one, next| one.style == next.style) {
        let mut text = String::with_capacity(run.len());
        for cell in run {
            text.extend(cell.letter);
            text.push_str(cell.marks.as_deref().unwrap_or_default());
        }
        let style = run.first().map_or(style::PLAIN, |cell| cell.style);
        line.push(if style == style::PLAIN { Class::Plain } else { Class::Ansi(style) }, &text);
    }
    line
}

#[cfg(test)]
mod tests;
