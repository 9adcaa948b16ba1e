//! Lines of classified text: the leaves of all blocks. The only way to make one neutralises control characters.

use serde::Serialize;
use std::borrow::Cow;

/// Class of a run of text, for an output to show as it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Nothing special.
    #[default]
    Plain,
    /// Less important.
    Dim,
    /// More important.
    Strong,
    /// Text that was searched for.
    Match,
    /// Added word.
    Inserted,
    /// Removed word.
    Deleted,
    /// Something good.
    Good,
    /// Something bad.
    Bad,
    /// A file or directory.
    Path,
    /// Keyword of a language.
    Keyword,
    /// String in code.
    Text,
    /// A comment in code.
    Comment,
    /// A number in code.
    Number,
    /// A function in code.
    Function,
    /// A type in code.
    Type,
    /// Colours that a program set.
    Ansi(Ansi),
}

/// Colours and attributes that a program set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Ansi {
    pub fg: Option<Color>,
    pub bg: Option<Color>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub strike: bool,
    pub inverse: bool,
}

/// A colour that a program set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// One of the 256 of a terminal; the first 16 follow the reader's theme.
    Index(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// A run of text of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextRun {
    /// Class of the run.
    pub class: Class,
    text: Box<str>,
}

impl TextRun {
    /// The text, without control characters.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// One line of text, without control characters and line feeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Line {
    runs: Vec<TextRun>,
}

impl Line {
    /// A line of one class.
    pub fn of(class: Class, text: &str) -> Self {
        let mut line = Line::default();
        line.push(class, text);
        line
    }

    /// Adds text.
    pub fn push(&mut self, class: Class, text: &str) {
        if text.is_empty() {
            return;
        }
        // Here, in the only place that adds text, so that every line is neutral whatever made it.
        let text = neutral(text);
        match self.runs.last_mut() {
            // Runs of one class are merged: outputs write markup around each run.
            Some(last) if last.class == class => last.text = format!("{}{text}", last.text).into(),
            _ => self.runs.push(TextRun { class, text: text.into() }),
        }
    }

    /// Adds text and returns the line.
    #[must_use]
    pub fn with(mut self, class: Class, text: &str) -> Self {
        self.push(class, text);
        self
    }

    /// Runs of the line.
    pub fn runs(&self) -> &[TextRun] {
        &self.runs
    }

    /// Its text without classes.
    pub fn text(&self) -> String {
        self.runs.iter().map(TextRun::text).collect()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Its width in a terminal, in columns.
    pub fn width(&self) -> usize {
        self.runs.iter().map(|run| unicode_width::UnicodeWidthStr::width(run.text())).sum()
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Line::of(Class::Plain, text)
    }
}

impl From<&String> for Line {
    fn from(text: &String) -> Self {
        Line::of(Class::Plain, text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Line::of(Class::Plain, &text)
    }
}

/// The lines of a text, each neutralised. A text that ends in a line feed has no empty line after it.
pub fn lines(class: Class, text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::of(class, line)).collect()
}

/// Replacement for a tab, which keeps the layout of code in every output.
const TAB: &str = "    ";

/// A text of one line without any effect: control characters become symbols, and characters that change the direction of
/// writing become visible.
pub fn neutral(text: &str) -> Cow<'_, str> {
    // Nearly all texts are harmless, and are not copied.
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        push_neutral(&mut out, letter);
    }
    Cow::Owned(out)
}

/// A text of several lines without any effect. Line feeds and tabs stay; a carriage return before a line feed is dropped.
pub fn neutral_text(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter| acts(letter) && letter != '\n' && letter != '\t') {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => out.push(letter),
            _ => push_neutral(&mut out, letter),
        }
    }
    Cow::Owned(out)
}

fn push_neutral(out: &mut String, letter: char) {
    match letter {
        '\t' => out.push_str(TAB),
        '\u{7f}' => out.push('␡'),
        // U+2400 to U+241F are pictures of the control characters.
        '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + letter as u32)),
        // C1 controls act in some terminals; the two separators end a line in JavaScript and in some editors.
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => out.push('\u{fffd}'),
        letter if turns(letter) => out.push_str(&format!("⟨U+{:04X}⟩", letter as u32)),
        letter => out.push(letter),
    }
}

/// Whether a character has an effect instead of being shown.
fn acts(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') || turns(letter)
}

/// Whether a character changes the direction of writing, so that code would read differently than it runs.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_in_a_line() {
        let line = Line::of(Class::Plain, "a\u{1b}[31mb\rc\nd\te\u{9b}f\u{202e}g\0\u{7f}");
        assert_eq!(line.text(), "a␛[31mb␍c␊d    e\u{fffd}f⟨U+202E⟩g␀␡");
        assert_eq!(neutral("plain é 漢"), "plain é 漢");
        assert_eq!(neutral_text("a\r\nb\tc\u{7}"), "a\nb\tc␇");
    }

    #[test]
    fn pieces_of_one_class_are_one() {
        let line = Line::of(Class::Dim, "a").with(Class::Dim, "b").with(Class::Strong, "c").with(Class::Plain, "");
        assert_eq!(line.runs().len(), 2);
        assert_eq!(line.text(), "abc");
    }
}
