//! A text as a reader sees it, with a map back to the text as it is.
//!
//! Colours, zero-width characters and escapes such as `\u0026` stand between the letters of a secret, or instead of them. Rules match on
//! the view; what they find is cut in the original. A view is built in one pass, and its map has an entry only where the two differ.

/// How much of a text a view undoes: colours, invisible characters and escapes of single characters always.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Depth {
    /// Nothing else.
    Escapes,
    /// Also percent encoding, one layer of it.
    Percent,
    /// Also line breaks within long words, as a terminal makes them; percent encoding stays.
    Wraps,
}

/// A text without what hides secrets.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) text: String,
    spans: Vec<Span>,
}

/// A stretch of the view and where it comes from. Both are equally long, or the view has one character for an escape.
#[derive(Debug, Clone, Copy)]
struct Span {
    view: usize,
    origin: usize,
    len: usize,
    origin_len: usize,
}

/// The longest escape of a terminal, such as a link.
const ESCAPE: usize = 2048;

impl View {
    /// The view of a text; `None` where it would be the text itself.
    pub(crate) fn new(text: &str, depth: Depth) -> Option<View> {
        let bytes = text.as_bytes();
        let mut view = View { text: String::new(), spans: Vec::new() };
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            let Some((len, letter)) = hidden(bytes, at, depth) else {
                at += 1;
                continue;
            };
            view.copy(text, copied, at);
            if let Some(letter) = letter {
                view.spans.push(Span { view: view.text.len(), origin: at, len: letter.len_utf8(), origin_len: len });
                view.text.push(letter);
            }
            at += len;
            copied = at;
        }
        // Nothing is hidden in most texts, and they need no copy.
        if copied == 0 {
            return None;
        }
        view.copy(text, copied, bytes.len());
        Some(view)
    }

    fn copy(&mut self, text: &str, from: usize, to: usize) {
        let Some(part) = text.get(from..to).filter(|part| !part.is_empty()) else { return };
        self.spans.push(Span { view: self.text.len(), origin: from, len: part.len(), origin_len: part.len() });
        self.text.push_str(part);
    }

    /// Where a range of the view lies in the text.
    pub(crate) fn origin(&self, from: usize, to: usize) -> (usize, usize) {
        let span = |at: usize| self.spans.get(self.spans.partition_point(|span| span.view <= at).saturating_sub(1)).copied();
        // A span whose lengths differ is a single escape: it is cut as a whole.
        let start = span(from).map_or(0, |span| if span.len == span.origin_len { span.origin + (from - span.view) } else { span.origin });
        let last = to.saturating_sub(1);
        let end = span(last).map_or(start, |span| {
            let own = if span.len == span.origin_len { last + 1 - span.view } else { span.origin_len };
            span.origin + own
        });
        (start, end.max(start))
    }

    /// Whether something was left out or undone within this range of the text.
    pub(crate) fn differs(&self, from: usize, to: usize) -> bool {
        let (start, end) = self.origin(from, to);
        end - start != to - from
    }
}

/// Length of what hides something at this position, and the character it stands for.
fn hidden(bytes: &[u8], at: usize, depth: Depth) -> Option<(usize, Option<char>)> {
    match bytes.get(at)? {
        // An ESC that begins no known sequence shows nothing either.
        0x1b => Some((terminal(bytes, at + 1).map_or(1, |len| len + 1), None)),
        b'\\' => backslash(bytes, at),
        b'&' => entity(bytes.get(at..)?),
        // The first bytes that invisible characters have in UTF-8: nothing else is decoded.
        0xc2 | 0xe1 | 0xe2 | 0xef => invisible(bytes.get(at..)?).map(|len| (len, None)),
        b'%' if depth == Depth::Percent => percent(bytes.get(at + 1..at + 3)?).map(|letter| (3, Some(letter))),
        b'\n' | b'\r' if depth == Depth::Wraps => wrap(bytes, at).map(|len| (len, None)),
        _ => None,
    }
}

/// Length of a terminal's escape behind its ESC.
fn terminal(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    match rest.first()? {
        // Real parameters are short. The bound keeps the time linear where a text repeats the beginning of one.
        b'[' => {
            let body = rest.iter().skip(1).take(64).take_while(|byte| (0x20..0x40).contains(*byte)).count();
            rest.get(body + 1).filter(|end| (0x40..0x7f).contains(*end)).map(|_| body + 2)
        }
        // Ends in BEL, or in ESC and a backslash.
        b']' => {
            let body = rest.iter().take(ESCAPE).position(|byte| *byte == 7 || *byte == 0x1b)?;
            Some(if rest.get(body) == Some(&7) { body + 1 } else { body + 2 })
        }
        b'(' | b')' => Some(2),
        _ => None,
    }
    .filter(|len| *len <= rest.len())
}

/// `\u0026`, `\x26`, and a colour whose ESC is written out, as in `\u001b[31m`.
fn backslash(bytes: &[u8], at: usize) -> Option<(usize, Option<char>)> {
    // JSON inside JSON doubles the backslashes at every level.
    let slashes = bytes.get(at..)?.iter().take(8).take_while(|byte| **byte == b'\\').count();
    let rest = bytes.get(at + slashes..)?;
    let (len, code) = match rest.first()? {
        b'u' => (5, hex(rest.get(1..5)?)?),
        b'x' => (3, hex(rest.get(1..3)?)?),
        b'0' if rest.starts_with(b"033[") => (3, 0x1b),
        b'e' if rest.starts_with(b"e[") => (1, 0x1b),
        _ => return None,
    };
    let len = slashes + len;
    match char::from_u32(code)? {
        '\u{1b}' => Some((len + terminal(bytes, at + len)?, None)),
        // Secrets consist of visible ASCII, so other escapes can stay as they are.
        letter if letter.is_ascii_graphic() => Some((len, Some(letter))),
        letter if is_invisible(letter) => Some((len, None)),
        _ => None,
    }
}

/// `&quot;` and the like.
fn entity(rest: &[u8]) -> Option<(usize, Option<char>)> {
    const NAMES: [(&[u8], char); 5] = [(b"&quot;", '"'), (b"&amp;", '&'), (b"&apos;", '\''), (b"&lt;", '<'), (b"&gt;", '>')];
    if let Some((name, letter)) = NAMES.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((name.len(), Some(*letter)));
    }
    let end = rest.iter().take(8).position(|byte| *byte == b';')?;
    let code = match rest.get(2..end)? {
        [b'x' | b'X', digits @ ..] => hex(digits)?,
        digits => std::str::from_utf8(digits).ok()?.parse().ok()?,
    };
    let letter = char::from_u32(code).filter(char::is_ascii_graphic)?;
    (rest.get(1) == Some(&b'#')).then_some((end + 1, Some(letter)))
}

fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The character of a percent escape.
fn percent(digits: &[u8]) -> Option<char> {
    hex(digits).and_then(char::from_u32).filter(char::is_ascii_graphic)
}

/// Length of an invisible character.
fn invisible(rest: &[u8]) -> Option<usize> {
    let len = if rest.first()? == &0xc2 { 2 } else { 3 };
    let letter = std::str::from_utf8(rest.get(..len)?).ok()?.chars().next()?;
    is_invisible(letter).then_some(len)
}

fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Length of a line break that a terminal made in a long word: the word goes on without a blank.
fn wrap(bytes: &[u8], at: usize) -> Option<usize> {
    // A shorter word at the end of a line is more likely a word of prose than the beginning of a secret.
    const WORD: usize = 12;
    let len = if bytes.get(at..at + 2) == Some(b"\r\n") { 2 } else { 1 };
    let before = bytes.get(at.saturating_sub(WORD)..at)?;
    let goes_on = bytes.get(at + len).is_some_and(|next| is_token(*next));
    (before.len() == WORD && before.iter().all(|byte| is_token(*byte)) && goes_on).then_some(len)
}

/// Characters of tokens.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_in_the_view_is_cut_in_the_text() {
        for (text, depth, wanted) in [
            ("a \u{1b}[31mto\u{1b}[0mken b", Depth::Escapes, "to\u{1b}[0mken"),
            ("a to\u{200b}ken b", Depth::Escapes, "to\u{200b}ken"),
            ("a \\u0074oke\\u006e b", Depth::Escapes, "\\u0074oke\\u006e"),
            ("a \\u001b[1mtoken\\u001b[0m b", Depth::Escapes, "token"),
            ("a &#116;oken&quot; b", Depth::Escapes, "&#116;oken"),
            ("a%20to%6ben b", Depth::Percent, "to%6ben"),
        ] {
            let view = View::new(text, depth).expect("there is something to undo");
            let at = view.text.find("token").expect(text);
            let (from, to) = view.origin(at, at + 5);
            assert_eq!(&text[from..to], wanted);
        }
        let view = View::new("0123456789abcdef\nghij", Depth::Wraps).expect("a wrap");
        assert_eq!((view.text.as_str(), view.origin(0, 20)), ("0123456789abcdefghij", (0, 21)));
    }

    #[test]
    fn ordinary_text_has_no_view() {
        for text in ["", "plain", "a\\nb", "C:\\users", "naïve → ok", "a & b", "100% of\nit"] {
            assert!(View::new(text, Depth::Escapes).is_none(), "{text}");
        }
    }
}
