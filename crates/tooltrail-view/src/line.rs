//! Lines of classified text: the leaves of all blocks. The only way to make one neutralises control characters.

use serde::Serialize;
pub use tooltrail_model::visible::{neutral, neutral_text};

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

    /// The line without a text that it begins with.
    #[must_use]
    pub fn without_start(mut self, start: &str) -> Self {
        if let Some(first) = self.runs.first_mut()
            && let Some(rest) = first.text.strip_prefix(start)
        {
            first.text = rest.into();
        }
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
