//! Characters that would act instead of being shown, made visible: in rows, on pages and in terminals alike.

use std::borrow::Cow;
use std::path::Path;

/// Replacement for a tab, which keeps the layout of code in every output.
const TAB: &str = "    ";

/// A text of one line without any effect: control characters become symbols, and characters that change the direction of
/// writing become visible.
pub fn neutral(text: &str) -> Cow<'_, str> {
    // Nearly all texts are harmless, most of them by their bytes alone, and are not copied.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(is_active) {
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
    if !text.contains(|letter| is_active(letter) && letter != '\n' && letter != '\t') {
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

/// A path for messages, on one line and without any effect.
pub fn neutral_path(path: impl AsRef<Path>) -> String {
    neutral(&path.as_ref().to_string_lossy()).into_owned()
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
pub fn is_active(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') || turns(letter)
}

/// Whether a character changes the direction of writing, so that code would read differently than it runs.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
