//! Text that cannot act in Markdown: escaped words, code in long enough fences, and prose without HTML, pictures or odd links.

use crate::line::{neutral, neutral_text};
use crate::render::markup;
use comrak::Arena;
use comrak::nodes::{Node, NodeValue, Sourcepos};
use std::borrow::Cow;

/// Words that have no effect in Markdown.
pub(super) fn escape(text: &str) -> String {
    escaped(&neutral(text), true)
}

/// Escaped words; `first` says whether they may begin a line.
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

// `12.` and `12)` would begin a numbered list.
fn number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Words that have no effect on a forge either: they notify nobody, mention or close no issue, and link nowhere. A word
/// that might do so is written as code, which forges leave alone, and can still be read and copied.
pub(super) fn inert(text: &str) -> String {
    let text = neutral(text);
    let mut out = String::with_capacity(text.len() + 16);
    let (mut rest, mut first) = (&*text, true);
    loop {
        let (word, more) = rest.split_at(word_end(rest));
        out.push_str(&if calls(word) { code_word(word, first) } else { escaped(word, first) });
        // Split by hand at single spaces: runs of spaces must stay as they are.
        let Some(after) = more.strip_prefix(' ') else { return out };
        out.push(' ');
        (rest, first) = (after, false);
    }
}

/// A word as code, with the punctuation of the sentence outside: `@name`, (`#12`).
fn code_word(word: &str, first: bool) -> String {
    let inner = word.trim_start_matches(['(', '[', '{', '"', '\'']);
    let own = inner.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'']);
    // Nothing but punctuation, or a bracket that belongs to the word, as in the label of something redacted.
    let opens = |own: &str| own.matches(['(', '[', '{']).count() != own.matches([')', ']', '}']).count();
    if own.is_empty() || opens(own) || !calls(own) {
        return code(word);
    }
    let (before, after) = (&word[..word.len() - inner.len()], &inner[own.len()..]);
    format!("{}{}{}", escaped(before, first), code(own), escaped(after, false))
}

/// End of the first word. The label of what was redacted, such as `[token 1]`, counts as one word, or part of one, though it
/// contains a space.
fn word_end(text: &str) -> usize {
    let mut from = 0;
    loop {
        let end = text[from..].find(' ').map_or(text.len(), |at| from + at);
        match label_end(&text[..end], &text[end..]) {
            Some(len) => from = end + len,
            None => return end,
        }
    }
}

/// Length of the rest of a label, ` 1]`, behind its kind.
fn label_end(head: &str, rest: &str) -> Option<usize> {
    // The most digits, so that an unclosed bracket does not swallow the rest of the text.
    const DIGITS: usize = 8;
    let kind = head.rsplit('[').next().filter(|kind| kind.len() < head.len())?;
    let named =
        !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    let number = rest.strip_prefix(' ')?.find(']').filter(|len| (1..=DIGITS).contains(len))?;
    (named && rest[1..=number].bytes().all(|byte| byte.is_ascii_digit())).then_some(number + 2)
}

/// Whether a forge might act on a word: `@name`, `#12`, `o/r!12`, `GH-12`, an address, a hash, a command such as `/close`.
fn calls(word: &str) -> bool {
    // GitLab has a mark for each kind of object: issues, merge requests, snippets, milestones, epics, labels.
    let mark = |pair: &[u8]| matches!(pair, [b'#' | b'!' | b'$' | b'%' | b'&' | b'~' | b'^', next] if next.is_ascii_alphanumeric() || *next == b'"');
    let marks = word.as_bytes().windows(2).any(mark);
    let lower = word.to_ascii_lowercase();
    let addressed = lower.contains("://") || lower.contains("www.") || lower.contains("mailto:") || lower.contains("xmpp:");
    let issue = lower.match_indices("gh-").any(|(at, _)| lower.as_bytes().get(at + 3).is_some_and(u8::is_ascii_digit));
    // Seven hexadecimal digits are enough for a forge to link a commit.
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
    // A backtick at either end would merge with the delimiter.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

/// A fence that nothing in these lines can close.
pub(super) fn fence<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    let longest = lines.map(|line| longest(line, '`')).max().unwrap_or(0);
    // Three is the minimum for a fence.
    "`".repeat(longest.max(2) + 1)
}

/// Name of a language, if it can stand beside a fence.
pub(super) fn language(name: Option<&str>) -> &str {
    name.filter(|name| name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-#_".contains(&byte))).unwrap_or("")
}

fn longest(text: &str, mark: char) -> usize {
    text.split(|letter| letter != mark).map(str::len).max().unwrap_or(0)
}

/// Prose that is safe to embed in our own document.
#[derive(Debug)]
pub(in crate::render) struct Prose {
    /// The text.
    pub(in crate::render) text: String,
    /// Bullet of the list that the text ends in; a list that follows should use another.
    pub(in crate::render) bullet: Option<u8>,
}

/// Longer prose is not parsed, but shown as code.
const LONGEST: usize = 1 << 20;
/// The most rounds of mending: an escape at one place may open something at another.
const ROUNDS: usize = 4;

/// Prose as it was written, except that nothing in it acts: HTML is visible, pictures are links, links lead to the web,
/// headings stand below ours, and no fence is left open. Prose that cannot be mended is shown as code.
pub(in crate::render) fn prose(text: &str) -> Prose {
    // The width of a tab depends on its column, and with it the meaning of the line.
    let mut text = neutral_text(text).trim_start_matches('\n').replace('\t', "    ");
    // Behind a list of our own, indented text would become part of that list.
    if text.len() > LONGEST || text.starts_with("    ") {
        return verbatim(&text);
    }
    text.truncate(text.trim_end().len());
    let mut text = text.trim_start().to_owned();
    // One round more than mends: the last one only checks.
    for round in 0..=ROUNDS {
        // Headings are moved down in the first round only; every further round would move them again.
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

/// Looks for anything that acts, and mends it.
fn check(text: &str, first: bool) -> Checked {
    let arena = Arena::new();
    let root = comrak::parse_document(&arena, text, &markup::options());
    let source = SourceLines::new(text);
    let mut edits: Vec<(usize, usize, Cow<'_, str>)> = Vec::new();
    let (mut html, mut found) = (false, false);
    // Code may contain anything: its spans are exempt from the searches below.
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for node in root.descendants() {
        let data = node.data();
        let (start, end) = source.span(data.sourcepos);
        match &data.value {
            NodeValue::Code(_) | NodeValue::CodeBlock(_) => kept.push((start, end)),
            NodeValue::HtmlBlock(_) | NodeValue::HtmlInline(_) => html = true,
            NodeValue::Image(_) => {
                found = true;
                // Without its `!` a picture is a link.
                edits.push((start, usize::from(text[start..].starts_with('!')), "image: ".into()));
            }
            NodeValue::Link(link) if !offered(&link.url) => {
                found = true;
                let opens = text[start..].starts_with('[');
                // An entity rather than a backslash: a backslash might itself be escaped by what precedes it.
                edits.push((start, usize::from(opens), if opens { "&#91;" } else { "" }.into()));
            }
            NodeValue::Heading(heading) if first && text[start..].starts_with('#') => {
                found = true;
                // Two levels down, but Markdown has only six.
                edits.push((start, 0, "#".repeat(usize::from(6 - heading.level.min(6)).min(2)).into()));
            }
            _ => {}
        }
    }
    // Sorted, so that the innermost candidate is found by binary search.
    kept.sort_unstable();
    let outside = |at: usize| {
        let before = kept.partition_point(|(start, _)| *start <= at);
        before.checked_sub(1).and_then(|last| kept.get(last)).is_none_or(|(_, end)| *end <= at)
    };
    // Escapes all of them, not only those that were parsed as tags: an escape may turn the rest into a tag.
    if html {
        edits.extend(text.match_indices('<').filter(|(at, _)| outside(*at)).map(|(at, _)| (at, 1, Cow::from("&lt;"))));
    }
    // Definitions would apply to the whole document.
    edits.extend(text.match_indices("]:").filter(|(at, _)| outside(*at)).map(|(at, _)| (at, 2, Cow::from("]&#58;"))));
    if edits.is_empty() && !html && !found {
        return Checked::Fine { bullet: bullet(root), close: open_fence(root) };
    }
    Checked::Mend(apply(text, edits))
}

/// Whether an address may stand in a document: of the web, of a mailbox, or within the project.
fn offered(url: &str) -> bool {
    // A colon after a slash is part of a relative path, not of a scheme.
    let scheme = url.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| !scheme.contains(['/', '?', '#']));
    scheme.is_none_or(|scheme| ["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// Bullet of the list that a text ends in.
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

/// Offsets of the lines of a text, to translate positions of the parser.
struct SourceLines<'t> {
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> SourceLines<'t> {
    fn new(text: &'t str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        SourceLines { text, lines }
    }

    /// Byte range of a node. Clamped to characters, because positions of the parser are not always exact.
    fn span(&self, position: Sourcepos) -> (usize, usize) {
        let offset = |line: usize, column: usize| {
            let line = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
            self.text.floor_char_boundary(line.saturating_add(column).min(self.text.len()))
        };
        let start = offset(position.start.line, position.start.column.saturating_sub(1));
        (start, offset(position.end.line, position.end.column).max(start))
    }
}

/// Applies edits: position, number of bytes to replace, new text.
fn apply(text: &str, mut edits: Vec<(usize, usize, Cow<'_, str>)>) -> String {
    edits.sort_by_key(|(at, ..)| *at);
    let mut out = String::with_capacity(text.len() + edits.len() * 4);
    let mut done = 0;
    for (at, length, new) in edits {
        // Two edits at one place: the first is enough, the next round sees what is left.
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
        assert_eq!(inert("see postgres://bob:[password-in-url 1]@db/x ."), "see `postgres://bob:[password-in-url 1]@db/x` .");
        assert_eq!(inert("a [token 12] b"), r"a \[token 12\] b");
        assert_eq!(inert("[token @b"), r"\[token `@b`");
    }

    #[test]
    fn words_call_nobody_on_a_forge() {
        let cases = [
            ("fixes #12, says @ann (see o/r#3)", "fixes `#12`, says `@ann` (see `o/r#3`)"),
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
