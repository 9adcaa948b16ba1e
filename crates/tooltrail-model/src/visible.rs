//! Characters that would act instead of being shown, made visible: in rows, on pages and in terminals alike.

use std::borrow::Cow;

/// How a tab is shown: a line of code keeps its shape in every output.
const TAB: &str = "    ";

/// A text of one line in which nothing can act: control characters become pictures of themselves, and what would turn the
/// direction of writing becomes visible.
pub fn neutral(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        push_neutral(&mut out, letter);
    }
    Cow::Owned(out)
}

/// A text of several lines in which nothing can act. Line feeds stay, and so do tabs; a carriage return before a line feed goes.
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
        '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + letter as u32)),
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => out.push('\u{fffd}'),
        letter if turns(letter) => out.push_str(&format!("⟨U+{:04X}⟩", letter as u32)),
        letter => out.push(letter),
    }
}

/// Whether a character does something instead of being shown.
fn acts(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}') || turns(letter)
}

/// Whether a character turns the direction of writing, so that code would read otherwise than it runs.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
