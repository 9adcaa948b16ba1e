//! Terminal text, Markdown and JSON of an invented session: what they look like, and what no text of a log may do to them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a panic is the report")]

mod invented;
mod support;

use comrak::nodes::NodeValue;
use proptest::prelude::*;
use regex::Regex;
use std::path::PathBuf;
use std::sync::LazyLock;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::transcript::{EntryKind, Part};
use tooltrail_view::render::outputs::{ExportOptions, OUTPUTS, TerminalRule};
use tooltrail_view::render::{json, markdown, terminal};
use tooltrail_view::{Block, Book, Selection};
use unicode_width::UnicodeWidthChar;

/// What we write ourselves: colours, and the begin and end of links.
static OURS: LazyLock<Regex> = LazyLock::new(|| Regex::new("\x1b\\[[0-9;]*m|\x1b\\]8;;[!-~]*\x1b\\\\").unwrap());

const PROSE: &str = "## What I found\n\nThe test is *flaky* because `parse` keeps state. See [the docs](https://example.org/docs), or \
    https://example.org.\n\n1. first\n2. second\n   - nested, with **bold** words\n- [x] done\n\n> quoted\n\n```rust\nfn main() {}\n```\n\n\
    | a | b |\n|---|---|\n| 1 | 2 |\n\n<system-reminder>be kind</system-reminder> ![a picture](https://example.org/p.gif)";

fn terminal_blocks(blocks: &[Block], width: usize) -> String {
    let book = invented::session("cargo test");
    let options = terminal::TerminalOptions { width, links: true, all: true, ..Default::default() };
    written(|out| terminal::blocks(&book, blocks, &options, out))
}

fn terminal_session(book: &dyn Book, width: usize, all: bool) -> String {
    let options = terminal::TerminalOptions { width, links: true, all, ..Default::default() };
    written(|out| terminal::session(book, &options, out))
}

fn markdown_session(book: &dyn Book, bodies: markdown::ShownBodies) -> String {
    written(|out| markdown::session(book, &markdown::MarkdownOptions { bodies, ..Default::default() }, out))
}

fn json_session(book: &dyn Book, options: &json::JsonOptions) -> serde_json::Value {
    serde_json::from_str(&written(|out| json::session(book, options, out))).unwrap()
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The text without what we write ourselves; nothing that acts is left, and no line is too wide. Only a word may stick out: a path
/// that is copied has to be whole.
fn plain(text: &str, width: usize) -> String {
    let plain = OURS.replace_all(text, "").into_owned();
    assert!(!plain.contains(|letter: char| letter.is_control() && letter != '\n'), "{plain:?}");
    for line in plain.lines() {
        let columns = |text: &str| -> usize { text.chars().map(|letter| letter.width().unwrap_or(0)).sum() };
        let before = line.trim_end().rsplit_once(' ').map_or(0, |(before, _)| columns(before));
        assert!(before < width && (columns(line) <= width || !line.ends_with(' ')), "{} columns: {line}", columns(line));
    }
    plain
}

/// Nothing in a document acts, and whatever was opened in it is closed.
fn assert_harmless(document: &str) {
    let mut options = comrak::Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    let arena = comrak::Arena::new();
    let text = format!("{document}\n\nthe end");
    let root = comrak::parse_document(&arena, &text, &options);
    for node in root.descendants() {
        let acts = matches!(node.data().value, NodeValue::HtmlBlock(_) | NodeValue::HtmlInline(_) | NodeValue::Image(_));
        assert!(!acts, "{:?} in\n{document}", node.data().value);
        if let NodeValue::Link(link) = &node.data().value {
            assert!(!link.url.to_lowercase().starts_with("javascript:"), "{document}");
        }
    }
    let last = root.last_child().unwrap();
    let words: Vec<String> = last.children().filter_map(|node| node.data().value.text().map(|text| text.to_string())).collect();
    assert!(matches!(last.data().value, NodeValue::Paragraph) && words == ["the end"], "something is open in\n{document}");
}

#[test]
fn blocks_look_like_this_at_80_columns() {
    insta::assert_snapshot!(plain(&terminal_blocks(&invented::every_block("cargo test -p parser", PROSE), 80), 80));
}

#[test]
fn blocks_look_like_this_at_200_columns() {
    insta::assert_snapshot!(plain(&terminal_blocks(&invented::every_block("cargo test -p parser", PROSE), 200), 200));
}

#[test]
fn blocks_look_like_this_in_markdown() {
    let document = written(|out| markdown::blocks(&invented::every_block("cargo test -p parser", PROSE), out));
    assert_harmless(&document);
    insta::assert_snapshot!(document);
}

#[test]
fn a_session_looks_like_this() {
    let book = invented::session("cargo test -p parser");
    insta::assert_snapshot!("session_80", plain(&terminal_session(&book, 80, false), 80));
    insta::assert_snapshot!("session_200", plain(&terminal_session(&book, 200, false), 200));
    insta::assert_snapshot!("session_opened", plain(&terminal_session(&book, 80, true), 80));
    insta::assert_snapshot!("session_markdown", markdown_session(&book, markdown::ShownBodies::Telling));
    insta::assert_json_snapshot!("session_json", json_session(&book, &json::JsonOptions::default()));
}

#[test]
fn a_call_looks_like_this() {
    let book = invented::session("cargo test -p parser");
    let options = terminal::TerminalOptions { width: 80, ..Default::default() };
    insta::assert_snapshot!("call_80", plain(&written(|out| terminal::call(&book, 10, &options, out)), 80));
}

#[test]
fn colours_and_links_are_written() {
    let text = terminal_blocks(&invented::every_block("x", "a [link](https://example.org/) here"), 80);
    assert!(text.contains("\x1b[1m") && text.contains("\x1b]8;;https://example.org/a?b=c\x1b\\"));
    assert!(text.contains("\x1b]8;;https://example.org/\x1b\\"));
}

#[test]
fn no_words_are_lost_in_a_terminal() {
    let text = "see [a]\n\n[a]: https://example.org\n\n<b>tags</b> ![a picture](https://example.org/p.gif)";
    let shown = plain(&terminal_blocks(&[Block::Markdown { text: text.into(), elided: None }], 80), 80);
    for words in ["[a]: https://example.org", "<b>tags</b>", "a picture", "https://example.org/p.gif"] {
        assert!(shown.contains(words), "{words} in\n{shown}");
    }
}

#[test]
fn every_call_is_there_with_its_status() {
    let book = invented::session("cargo test");
    let (narrow, document) = (plain(&terminal_session(&book, 80, false), 80), markdown_session(&book, markdown::ShownBodies::Telling));
    for glyph in
        ["✓", "✗ exit 101", "•", "⊘ rejected", "⊗ blocked", "∅ cancelled", "■ interrupted", "◷ timed out", "● running", "? no result"]
    {
        assert!(narrow.contains(glyph), "{glyph} in\n{narrow}");
    }
    for call in &book.transcript().calls {
        assert_eq!(document.matches(&format!("(`{}`)", call.row.r#ref)).count(), 1, "{document}");
    }
    assert!(narrow.contains("↳ "), "{narrow}");
    assert_harmless(&document);
}

#[test]
fn json_is_one_document_with_an_entry_for_everything() {
    let book = invented::session("a\u{9b}b");
    let all: usize = book.transcript().threads.iter().map(|thread| thread.entries.len()).sum();
    let text = written(|out| json::session(&book, &json::JsonOptions { views: true, ..Default::default() }, out));
    assert!(!text.contains('\u{9b}'));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["entries"].as_array().unwrap().len(), all);
    assert_eq!(value["session"]["title"], "a\u{9b}b");
    let call = value["entries"].as_array().unwrap().iter().find(|entry| entry["type"] == "call").unwrap();
    assert_eq!((&call["call"]["ref"], &call["at"]["file"]), (&"3f2a:1".into(), &"log.jsonl".into()));
    assert!(call["view"]["head"].is_object() && call["hooks"][0]["texts"][0]["name"] == "a\u{9b}b");
}

#[test]
fn a_selection_holds_in_every_output() {
    let book = invented::session("cargo test");
    let selection = Selection { turns: Some((2, 2)) };
    let value = json_session(&book, &json::JsonOptions { selection: selection.clone(), views: false });
    assert!(value["entries"].as_array().unwrap().iter().all(|entry| entry["turn"] == 2));
    let options = terminal::TerminalOptions { selection: selection.clone(), width: 80, ..Default::default() };
    let text = plain(&written(|out| terminal::session(&book, &options, out)), 80);
    assert!(text.contains("also add docs") && !text.contains("timed out"), "{text}");
    let document = written(|out| markdown::session(&book, &markdown::MarkdownOptions { selection, ..Default::default() }, out));
    assert!(document.contains("## 2. also add docs") && !document.contains("3f2a:1`"), "{document}");
}

/// The logs lie beside the repository and are other people's words; where they are not at hand the test says so and passes.
#[test]
fn every_real_session_can_be_written() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing written", root.display());
        return;
    }
    let logs = support::read(&[root.join("real"), root.join("fixtures")]);
    let linked = logs.linker.link();
    for session in 0..linked.sessions.len() {
        let book = SessionBook::read(&linked, &[session], &logs.now, &logs.disk, None);
        plain(&terminal_session(&book, 80, false), 80);
        plain(&terminal_session(&book, 200, true), 200);
        let document = markdown_session(&book, markdown::ShownBodies::All);
        assert_harmless(&document);
        for call in &book.transcript().calls {
            assert!(document.contains(&format!("(`{}`)", call.row.r#ref)), "{} is missing in\n{document}", call.row.r#ref);
        }
        let entries: usize = book.transcript().threads.iter().map(|thread| thread.entries.len()).sum();
        assert_eq!(json_session(&book, &json::JsonOptions::default())["entries"].as_array().unwrap().len(), entries);
    }
}

/// Texts that try something.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "```",
        "~~~",
        "`",
        "<script>",
        "<!--",
        "-->",
        "<img src=x>",
        "![a](https://b/c.gif)",
        "[a](javascript:x)",
        "[a]: javascript:x",
        "[a]",
        "<javascript:x>",
        "\u{1b}[31m",
        "\u{1b}]8;;x\u{7}",
        "\u{9b}31m",
        "| a | b |",
        "|---|---|",
        "# ",
        "> ",
        "- ",
        "1. ",
        "\n",
        "\n\n",
        "\r",
        "    ",
        "\t",
        "\\",
        "&lt;",
        "*",
        "**",
        "_",
        "\u{202e}",
        "日本",
        "e\u{301}",
        "❤\u{fe0f}",
        "word ",
        "https://example.org/<x>",
        "===",
        "---",
        "\0",
        "\u{2028}",
        "$$",
        "@all",
    ]);
    prop_oneof![prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat()), "(?s).{0,60}"]
}

proptest! {
    #[test]
    fn no_text_acts_in_a_terminal(text in hostile(), width in 40_usize..220, all: bool) {
        plain(&terminal_blocks(&invented::every_block(&text, &text), width), width);
        plain(&terminal_session(&invented::session(&text), width, all), width);
    }

    #[test]
    fn no_text_acts_in_markdown(text in hostile()) {
        assert_harmless(&written(|out| markdown::blocks(&invented::every_block(&text, &text), out)));
        assert_harmless(&markdown_session(&invented::session(&text), markdown::ShownBodies::All));
    }

    #[test]
    fn no_text_acts_where_an_output_may_be_printed(text in hostile()) {
        let options = ExportOptions { bodies: markdown::ShownBodies::All, ..ExportOptions::default() };
        for output in OUTPUTS.iter().filter(|output| output.terminal == TerminalRule::Print) {
            let printed = written(|out| support::export(output.name, &invented::session(&text), &options, out));
            // A format may ask for lines that end in both.
            let acts = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
            prop_assert!(!printed.replace("\r\n", "\n").contains(acts), "{}: {:?}", output.name, printed);
        }
    }

    #[test]
    fn json_is_always_json(text in hostile()) {
        let value = json_session(&invented::session(&text), &json::JsonOptions { views: true, ..Default::default() });
        prop_assert_eq!(value["session"]["title"].as_str(), Some(text.as_str()));
    }
}

#[test]
fn what_was_taken_back_is_only_hinted_at() {
    let text = |text: &str| Part::Text(text.into());
    let said = invented::Builder::new("go").say(0, 0, EntryKind::Text, text("Half an ans\n\nsecond line")).taken_back();
    let book = said.say(0, 0, EntryKind::Text, text("The whole answer.")).done();
    for shown in [plain(&terminal_session(&book, 80, false), 80), markdown_session(&book, markdown::ShownBodies::None)] {
        assert!(shown.contains("taken back") && shown.contains("The whole answer."), "{shown}");
        assert!(!shown.contains("second line"), "{shown}");
    }
}
