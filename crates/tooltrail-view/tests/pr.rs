//! Sessions for pull requests: what they look like, that they stay within their limit, and that no text of a log acts on a forge.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a panic is the report")]

mod invented;
mod support;

use comrak::nodes::{Node, NodeValue};
use proptest::prelude::*;
use regex::Regex;
use std::path::PathBuf;
use std::sync::LazyLock;
use tooltrail_formats::changes::SessionChanges;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::changes::unified::PatchNames;
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{EntryKind, Part};
use tooltrail_model::{Reason, Status};
use tooltrail_view::render::markdown::pr::{self, MOST, PullRequestOptions, USUAL};
use tooltrail_view::{Block, Book, Class, Line, Selection};

/// What a forge would act on: names, numbers of issues and the like, addresses, commands.
static ACTS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)@[\w-]|[#!$%~&^][0-9a-z]|\bgh-\d|://|\bwww\.|\b[0-9a-f]{7,40}\b|(^|\n)\s*/[a-z]").unwrap());

/// That only calls were left out; how many depends on how long a line is.
static CALLS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"characters: 1,\d{3} calls of 2,400\.\*$").unwrap());

fn description(book: &dyn Book, options: &PullRequestOptions) -> String {
    with_changes(book, Vec::new(), options)
}

fn with_changes(book: &dyn Book, changes: Vec<Block>, options: &PullRequestOptions) -> String {
    let mut out = Vec::new();
    pr::session(book, &mut changes.into_iter(), options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What a session changed, a section for each file.
fn changes(book: &SessionBook<'_>) -> Vec<Block> {
    let calls = &book.transcript().calls;
    let names = PatchNames {
        path: &|path| path.to_owned(),
        left_out: &|_| None,
        call: &|by| calls.get(by).map(|call| call.row.r#ref.clone()).unwrap_or_default(),
        place: &|_| None,
        whole: "this session",
    };
    let read = SessionChanges::read(book);
    read.nets(|_| true).flat_map(|group| tooltrail_view::changes::blocks(&group, &names, &pr::CHANGE)).collect()
}

/// The document is within its limit, has no HTML but our own, and nothing in it acts.
fn assert_fit(document: &str) {
    assert!(document.chars().count() <= MOST, "{} characters", document.chars().count());
    let mut options = comrak::Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    let arena = comrak::Arena::new();
    let text = format!("{document}\n\nthe end");
    let root = comrak::parse_document(&arena, &text, &options);
    let mut depth = 0;
    for node in root.children() {
        if let NodeValue::HtmlBlock(html) = &node.data().value {
            match html.literal.trim_end() {
                "</details>" => depth -= 1,
                open => {
                    let summary = open.strip_prefix("<details>\n<summary>").and_then(|rest| rest.strip_suffix("</summary>"));
                    let ours = |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || " ,".contains(letter));
                    assert!(summary.is_some_and(ours), "{open:?} in\n{document}");
                    depth += 1;
                }
            }
            assert!((0..=1).contains(&depth), "{document}");
        }
    }
    assert_eq!(depth, 0, "something is folded and never ends in\n{document}");
    for node in root.descendants() {
        assert_inert(node, root, document);
    }
    assert_eq!(root.last_child().map(words).as_deref(), Some("the end"), "something is open in\n{document}");
}

fn assert_inert<'a>(node: Node<'a>, root: Node<'a>, document: &str) {
    match &node.data().value {
        NodeValue::HtmlBlock(_) => {
            assert!(node.parent().is_some_and(|parent| parent.same_node(root)), "HTML within something in\n{document}")
        }
        NodeValue::HtmlInline(_) | NodeValue::Image(_) | NodeValue::Link(_) | NodeValue::FootnoteReference(_) | NodeValue::Math(_) => {
            panic!("{:?} in\n{document}", node.data().value)
        }
        NodeValue::Paragraph | NodeValue::Heading(_) => {
            let text = words(node);
            assert!(!ACTS.is_match(&text), "{:?} in {text:?} in\n{document}", ACTS.find(&text));
        }
        _ => {}
    }
}

/// The words of a paragraph; code is left out, because forges leave it alone.
fn words(node: Node<'_>) -> String {
    let text = |node: Node<'_>| match &node.data().value {
        NodeValue::Text(text) => text.to_string(),
        NodeValue::Code(_) => "·".to_owned(),
        NodeValue::SoftBreak | NodeValue::LineBreak => "\n".to_owned(),
        _ => String::new(),
    };
    node.descendants().map(text).collect()
}

#[test]
fn a_description_looks_like_this() {
    let book = invented::session("cargo test -p parser");
    let label = Line::of(Class::Path, "src/parser.rs").with(Class::Good, " +1");
    let body = invented::every_block("let x = 1; // see #12", "").into_iter().filter(|block| matches!(block, Block::Diff(_))).collect();
    let changes = vec![Block::Section { label, open: true, body }];
    let document =
        with_changes(&book, changes, &PullRequestOptions { note: Some("Secrets were taken out.".into()), ..PullRequestOptions::default() });
    assert_fit(&document);
    insta::assert_snapshot!(document);
}

#[test]
fn a_selection_leaves_the_rest_out() {
    let options = PullRequestOptions { selection: Selection { turns: Some((2, 2)) }, ..PullRequestOptions::default() };
    let document = description(&invented::session("cargo test"), &options);
    assert!(document.contains("2. cargo test") && document.contains("`3f2a:11`") && !document.contains("3f2a:1`"), "{document}");
}

#[test]
fn what_a_program_printed_is_cut_with_words() {
    let printed: String = (1..=40).map(|line| format!("line {line} of it\n")).collect();
    let mut book = invented::Builder::new("cargo test").with_turns(1).run(0, 0, Status::Failed, Some(Reason::ExitCode), &[]).done();
    book.print(0, &printed);
    let document = description(&book, &PullRequestOptions::default());
    let open = document.split("### Unresolved failures").nth(1).unwrap_or_default();
    for (line, there) in [(1, true), (4, true), (5, false), (32, false), (33, true), (40, true)] {
        assert_eq!(open.contains(&format!("line {line} of it")), there, "{line} in\n{document}");
    }
    assert!(open.contains("  … 28 of 40 lines not shown\n"), "{document}");
}

/// A session of many turns, each with a long prompt, a long answer and calls.
fn long(turns: usize, words: &str, calls: usize) -> invented::Invented<'_> {
    let mut builder = invented::Builder::new("cargo test").with_turns(turns);
    for turn in 0..turns {
        let text = format!("{turn} {words}");
        builder = builder.say(0, turn, EntryKind::Prompt, Part::Prompt { origin: Origin::Human, text: text.clone() });
        for call in 0..calls {
            let failed = call == 0;
            let (status, reason) = if failed { (Status::Failed, Some(Reason::ExitCode)) } else { (Status::Succeeded, None) };
            builder = builder.run(0, turn, status, reason, &[]);
        }
        builder = builder.say(0, turn, EntryKind::Text, Part::Text(text));
    }
    builder.done()
}

#[test]
fn what_is_too_long_goes_in_order() {
    let words = "words that go on and on for some time ".repeat(40);
    let gone = |turns, calls| {
        let book = long(turns, &words, calls);
        let document = description(&book, &PullRequestOptions { most: Some(MOST), ..PullRequestOptions::default() });
        assert_fit(&document);
        for most in [USUAL, pr::LEAST] {
            let short = description(&book, &PullRequestOptions { most: Some(most), ..PullRequestOptions::default() });
            assert_fit(&short);
            assert!(short.chars().count() <= most, "{} characters", short.chars().count());
        }
        document.lines().find(|line| line.starts_with("*Left out")).unwrap_or_default().to_owned()
    };
    assert_eq!(gone(3, 3), "");
    assert!(CALLS.is_match(&gone(12, 200)), "{}", gone(12, 200));
    assert!(gone(40, 1).contains("characters: the ends of answers"), "{}", gone(40, 1));
    assert!(gone(54, 1).contains("characters: answers; "), "{}", gone(54, 1));
    assert!(gone(400, 1).contains("characters: the ends of prompts; answers"), "{}", gone(400, 1));
    assert!(gone(4000, 0).contains("characters: answers, the ends of prompts and "), "{}", gone(4000, 0));
}

/// The logs lie beside the repository and are other people's words; where they are not at hand the test says so and passes.
#[test]
fn every_real_session_fits() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing written", root.display());
        return;
    }
    let logs = support::read(&[root.join("real"), root.join("fixtures")]);
    let linked = logs.linker.link();
    let mut sizes = Vec::new();
    for session in 0..linked.sessions.len() {
        let book = SessionBook::read(&linked, &[session], &logs.now, &logs.disk, None);
        let document = with_changes(&book, changes(&book), &PullRequestOptions::default());
        assert_fit(&document);
        assert!(document.chars().count() <= USUAL, "{} characters", document.chars().count());
        sizes.push(document.chars().count());
    }
    sizes.sort_unstable();
    let shortened = sizes.iter().filter(|size| **size > USUAL - 2_000).count();
    println!("{} sessions; the median has {} characters, {shortened} are near the limit", sizes.len(), sizes[sizes.len() / 2]);
    assert!(sizes.len() > 100);
}

/// Texts that try something.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "```",
        "~~~",
        "`",
        "</details>",
        "<details>",
        "<!--",
        "<img src=x>",
        "![a](https://b/c.gif)",
        "[a](https://b)",
        "[a]: https://b",
        "@all",
        "#12",
        "fixes #12",
        "o/r#3",
        "GH-7",
        "!4",
        "~bug",
        "$1$",
        "https://example.org/o/r/issues/1",
        "www.example.org",
        "a@example.org",
        "/close",
        "\n/close\n",
        "0123abc",
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
        "&#64;all",
        "&lt;",
        "*",
        "**",
        "_",
        "\u{202e}",
        "日本",
        "word ",
        "===",
        "---",
        "\0",
        "\u{2028}",
        "[^1]",
        "[ ]",
        " ",
    ]);
    prop_oneof![prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat()), "(?s).{0,60}"]
}

proptest! {
    #[test]
    fn no_text_acts_on_a_forge(text in hostile()) {
        let options = PullRequestOptions { note: Some(text.clone()), ..PullRequestOptions::default() };
        let section = Block::Section { label: text.as_str().into(), open: true, body: invented::every_block(&text, &text) };
        assert_fit(&with_changes(&invented::session(&text), vec![section], &options));
    }
}
