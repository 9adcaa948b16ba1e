//! Text that cannot act in Markdown: escaped words, code in long enough fences, and prose without HTML, pictures or odd links.

use crate::line::{neutral, neutral_text};
use crate::render::markup;
use comrak::Arena;
use comrak::nodes::{Node, NodeValue, Sourcepos};
use std::borrow::Cow;

/// Words in which nothing acts.
pub(super) fn escape(text: &str) -> String {
    escaped(&neutral(text), true)
}

/// The same; `first` says whether a line may begin with them.
fn escaped(text: &str, first: bool) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (at, letter) in text.char_indices() {
        // Signs that make a list, a rule or a heading do so only where a line begins.
        let begins = first && (matches!(letter, '-' | '+' | '=') && at == 0 || matches!(letter, '.' | ')') && number(&text[..at]));
        // A backslash may be taken for the end of an address; then it would not keep a tag from opening.
        if letter == '<' {
            out.push_str("&lt;");
            continue;
        }
        if begins || matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '>' | '|' | '~' | '#' | '!' | '$' | '&') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

fn number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words in which nothing acts on a forge either: no name is called, no issue mentioned or closed, no address followed. Whatever might
/// be one of these stands as code, where forges leave it alone, and can still be read and copied.
pub(super) fn inert(text: &str) -> String {
    let text = neutral(text);
    let mut out = String::with_capacity(text.len() + 16);
    let (mut rest, mut first) = (&*text, true);
    loop {
        let (word, more) = rest.split_at(word_end(rest));
        out.push_str(&if calls(word) { code(word) } else { escaped(word, first) });
        let Some(after) = more.strip_prefix(' ') else { return out };
        out.push(' ');
        (rest, first) = (after, false);
    }
}

/// Where the first word ends. The mark of something that was taken out is one, or part of one.
fn word_end(text: &str) -> usize {
    const MARK: &str = "[redacted:";
    const LONGEST: usize = 40;
    let mut from = 0;
    loop {
        let end = text[from..].find(' ').map_or(text.len(), |at| from + at);
        let close = text[end..].find(']').filter(|close| *close < LONGEST && text[..end].ends_with(MARK));
        match close {
            Some(close) => from = end + close,
            None => return end,
        }
    }
}

/// Whether a forge might take a word for more than that: `@name`, `#12`, `o/r!12`, `GH-12`, an address, a hash, a command such as `/close`.
fn calls(word: &str) -> bool {
    let mark = |pair: &[u8]| matches!(pair, [b'#' | b'!' | b'$' | b'%' | b'&' | b'~' | b'^', next] if next.is_ascii_alphanumeric() || *next == b'"');
    let marks = word.as_bytes().windows(2).any(mark);
    let lower = word.to_ascii_lowercase();
    let addressed = lower.contains("://") || lower.contains("www.") || lower.contains("mailto:") || lower.contains("xmpp:");
    let issue = lower.match_indices("gh-").any(|(at, _)| lower.as_bytes().get(at + 3).is_some_and(u8::is_ascii_digit));
    let hash = word.split(|letter: char| !letter.is_ascii_hexdigit()).any(|part| part.len() >= 7);
    word.contains('@') || word.starts_with('/') || marks || addressed || issue || hash
}

/// Words as code within a line.
pub(super) fn code(text: &str) -> String {
    let text = neutral(text.trim());
    if text.is_empty() {
        return String::new();
    }
    let marks = "`".repeat(longest(&text, '`') + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

/// A fence that nothing in these lines can close.
pub(super) fn fence<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    let longest = lines.map(|line| longest(line, '`')).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// The name of a language, as far as it can stand beside a fence.
pub(super) fn language(name: Option<&str>) -> &str {
    name.filter(|name| name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-#_".contains(&byte))).unwrap_or("")
}

fn longest(text: &str, mark: char) -> usize {
    text.split(|letter| letter != mark).map(str::len).max().unwrap_or(0)
}

/// Prose that is safe to put into a document of ours.
#[derive(Debug)]
pub(in crate::render) struct Prose {
    /// The text.
    pub(in crate::render) text: String,
    /// It ends in a list with these bullets; a list that follows should use others.
    pub(in crate::render) bullet: Option<u8>,
}

/// Longer prose is not read, but shown as it is.
const LONGEST: usize = 1 << 20;
/// How often the text is looked at again: an escape here may open something there.
const ROUNDS: usize = 4;

/// Prose as it was written, except that nothing in it acts: HTML is visible, pictures are links, links lead to the web, headings stand
/// below ours, and no fence is left open. What cannot be made so is shown as code.
pub(in crate::render) fn prose(text: &str) -> Prose {
    // How wide a tab is depends on where a line stands, and with it what the line means.
    let mut text = neutral_text(text).trim_start_matches('\n').replace('\t', "    ");
    // Behind a list of ours, indented text would become a part of that.
    if text.len() > LONGEST || text.starts_with("    ") {
        return verbatim(&text);
    }
    text.truncate(text.trim_end().len());
    let mut text = text.trim_start().to_owned();
    for round in 0..=ROUNDS {
        match check(&text, round == 0) {
            Checked::Fine { bullet, close } => {
                if let Some(close) = close {
                    text = format!("{}\n{close}", text.trim_end_matches('\n'));
                }
                return Prose { text, bullet };
            }
            Checked::Mend(mended) => text = mended,
        }
    }
    verbatim(&text)
}

fn verbatim(text: &str) -> Prose {
    let fence = fence(text.lines());
    Prose { text: format!("{fence}text\n{}\n{fence}", text.trim_end_matches('\n')), bullet: None }
}

enum Checked {
    Fine { bullet: Option<u8>, close: Option<String> },
    Mend(String),
}

/// Looks whether anything acts, and mends what does.
fn check(text: &str, first: bool) -> Checked {
    let arena = Arena::new();
    let root = comrak::parse_document(&arena, text, &markup::options());
    let source = Source::new(text);
    let mut edits: Vec<(usize, usize, Cow<'_, str>)> = Vec::new();
    let (mut html, mut found) = (false, false);
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        let (start, end) = source.span(data.sourcepos);
        match &data.value {
            NodeValue::Code(_) | NodeValue::CodeBlock(_) => kept.push((start, end)),
            NodeValue::HtmlBlock(_) | NodeValue::HtmlInline(_) => html = true,
            NodeValue::Image(_) => {
                found = true;
                edits.push((start, usize::from(text[start..].starts_with('!')), "image: ".into()));
            }
            NodeValue::Link(link) if !offered(&link.url) => {
                found = true;
                let opens = text[start..].starts_with('[');
                edits.push((start, usize::from(opens), if opens { "&#91;" } else { "" }.into()));
            }
            NodeValue::Heading(heading) if first && text[start..].starts_with('#') => {
                found = true;
                edits.push((start, 0, "#".repeat(usize::from(6 - heading.level.min(6)).min(2)).into()));
            }
            _ => {}
        }
    }
    kept.sort_unstable();
    let outside = |at: usize| {
        let before = kept.partition_point(|(start, _)| *start <= at);
        before.checked_sub(1).and_then(|last| kept.get(last)).is_none_or(|(_, end)| *end <= at)
    };
    if html {
        edits.extend(text.match_indices('<').filter(|(at, _)| outside(*at)).map(|(at, _)| (at, 1, Cow::from("&lt;"))));
    }
    // Definitions would act on the whole document.
    edits.extend(text.match_indices("]:").filter(|(at, _)| outside(*at)).map(|(at, _)| (at, 2, Cow::from("]&#58;"))));
    if edits.is_empty() && !html && !found {
        return Checked::Fine { bullet: bullet(root), close: open_fence(root) };
    }
    Checked::Mend(apply(text, edits))
}

/// Whether an address may stand in a document: of the web, of a mailbox, or within the project.
fn offered(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| !scheme.contains(['/', '?', '#']));
    scheme.is_none_or(|scheme| ["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// The bullets of the list that a text ends in.
fn bullet(root: Node<'_>) -> Option<u8> {
    match &root.last_child()?.data().value {
        NodeValue::List(list) => Some(list.bullet_char),
        _ => None,
    }
}

/// The fence that is missing at the end. Within a list or a quote an open fence ends by itself.
fn open_fence(root: Node<'_>) -> Option<String> {
    match &root.last_child()?.data().value {
        NodeValue::CodeBlock(code) if code.fenced && !code.closed => {
            Some(char::from(code.fence_char).to_string().repeat(code.fence_length))
        }
        _ => None,
    }
}

/// Where the lines of a text begin.
struct Source<'t> {
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    fn new(text: &'t str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Source { text, lines }
    }

    /// The bytes of a node; they are on letters, whatever the reader of Markdown says.
    fn span(&self, position: Sourcepos) -> (usize, usize) {
        let offset = |line: usize, column: usize| {
            let line = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
            self.text.floor_char_boundary(line.saturating_add(column).min(self.text.len()))
        };
        let start = offset(position.start.line, position.start.column.saturating_sub(1));
        (start, offset(position.end.line, position.end.column).max(start))
    }
}

/// Makes changes: at a place, instead of so many bytes, a text.
fn apply(text: &str, mut edits: Vec<(usize, usize, Cow<'_, str>)>) -> String {
    edits.sort_by_key(|(at, ..)| *at);
    let mut out = String::with_capacity(text.len() + edits.len() * 4);
    let mut done = 0;
    for (at, length, new) in edits {
        // Two changes of one place: the first one is enough, the next round sees what is left.
        if at < done {
            continue;
        }
        out.push_str(text.get(done..at).unwrap_or_default());
        out.push_str(&new);
        done = at + length;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_act() {
        assert_eq!(escape("a *b* <i> [x](y) | `c`"), r"a \*b\* &lt;i\> \[x\](y) \| \`c\`");
        assert_eq!((escape("- item"), escape("12. item"), escape("v1.2")), (r"\- item".into(), r"12\. item".into(), "v1.2".into()));
        assert_eq!((code("a"), code("a `b`"), code("")), ("`a`".into(), "`` a `b` ``".into(), String::new()));
        assert_eq!((language(Some("rust")), language(Some("a b")), language(None)), ("rust", "", ""));
    }

    #[test]
    fn what_was_taken_out_stays_in_its_word() {
        assert_eq!(
            inert("see postgres://bob:[redacted: password in url]@db/x ."),
            "see `postgres://bob:[redacted: password in url]@db/x` ."
        );
        assert_eq!(inert("a [redacted: token] b"), r"a \[redacted: token\] b");
        assert_eq!(inert("[redacted: a @b"), r"\[redacted: a `@b`");
    }

    #[test]
    fn words_call_nobody_on_a_forge() {
        let cases = [
            ("fixes #12, says @ann (see o/r#3)", "fixes `#12,` says `@ann` (see `o/r#3)`"),
            ("close https://example.org/o/r/issues/1 or GH-7", "close `https://example.org/o/r/issues/1` or `GH-7`"),
            ("/close !4 9f3c2ab a *b* `@c`", "`/close` `!4` `9f3c2ab` a \\*b\\* `` `@c` ``"),
            ("plain words, 62 % of C# # and 3 < 4", "plain words, 62 % of C\\# \\# and 3 &lt; 4"),
        ];
        for (text, safe) in cases {
            assert_eq!(inert(text), safe);
        }
    }

    #[test]
    fn prose_stays_as_it_is_where_it_is_harmless() {
        let text = "I'll look.\n\n- **one** `Vec<T>`\n- two https://example.org\n\n```rust\nlet a: Vec<u8>;\n```";
        assert_eq!(prose(text).text, text);
        assert_eq!(prose("a\n- b").bullet, Some(b'-'));
    }

    #[test]
    fn prose_cannot_act() {
        let cases = [
            ("a <system-reminder>b</system-reminder>", "a &lt;system-reminder>b&lt;/system-reminder>"),
            ("Vec<T> and `Vec<T>`", "Vec&lt;T> and `Vec<T>`"),
            ("<script>\nalert(1)\n</script>", "&lt;script>\nalert(1)\n&lt;/script>"),
            ("![a](https://example.org/x.gif)", "image: [a](https://example.org/x.gif)"),
            ("[a](javascript:alert(1))", "&#91;a](javascript:alert(1))"),
            ("# one\n\n###### six", "### one\n\n###### six"),
            ("[a]: https://example.org\n\n[a]", "[a]&#58; https://example.org\n\n[a]"),
            ("```\nopen", "```\nopen\n```"),
            ("\t<script>", "```text\n    <script>\n```"),
        ];
        for (text, safe) in cases {
            assert_eq!(prose(text).text, safe);
        }
    }

    #[test]
    fn an_escape_here_does_not_open_something_there() {
        let text = prose("<a title=\"`\"> `<img src=x>`").text;
        let arena = Arena::new();
        let root = comrak::parse_document(&arena, &text, &markup::options());
        assert!(!root.descendants().any(|node| matches!(node.data().value, NodeValue::HtmlInline(_) | NodeValue::HtmlBlock(_))), "{text}");
    }
}
