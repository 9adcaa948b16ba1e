//! A development sheet: every block, every status, every sort of message, invented. Tests look for markup that escaped from them, and
//! `cargo test -p tooltrail-view sheet -- --ignored` writes a page to look at.

use super::call::{RowFrame, drawn};
use super::{HtmlOptions, blocks, message_row, page, plan, rows};
use crate::block::{Block, CodeBlock, Diff, DiffHunk, DiffLine, DiffSign, PageLink, QuestionItem, Terminal, TodoEntry, TodoProgress};
use crate::limits::{Elided, ElidedUnit};
use crate::line::{Ansi, Class, Color, Line};
use crate::messages::{MessageAuthor, MessageView};
use crate::{Head, Limits};
use std::collections::BTreeMap;
use tooltrail_model::book::Selection;
use tooltrail_model::content::Image;
use tooltrail_model::event::InputFrom;
use tooltrail_model::row::{CallRow, CallRowOrigin, Place, SessionRow};
use tooltrail_model::transcript::{CallEntry, Level, Spot, Transcript, Turn};
use tooltrail_model::usage::Tokens;
use tooltrail_model::{Kind, Reason, Status};

/// The smallest picture: a PNG of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A call row with fixed values, as `calls --json` prints it.
pub(super) fn call<'a>(id: &'a str, tool: &'a str, kind: Kind, status: Status, reason: Option<Reason>) -> CallRow<'a> {
    let place = Place { file: "log.jsonl", line: 7, row: None };
    CallRow {
        v: 1,
        agent: "claude",
        session: "3f2a",
        agent_id: None,
        r#ref: format!("3f2a:{id}"),
        call: id,
        tool,
        server: None,
        kind,
        status,
        reason,
        evidence: place,
        requested_at: "2026-03-04T10:00:09.000Z".parse().ok(),
        completed_at: None,
        duration_ms: Some(1_940),
        run_ms: None,
        exit_code: (reason == Some(Reason::ExitCode)).then_some(101),
        exit_of: None,
        masked: Vec::new(),
        purpose: None,
        is_error: None,
        input_bytes: 0,
        result_bytes: None,
        model: None,
        message: None,
        parallel: 1,
        parent_call: None,
        child_session: None,
        background: None,
        hooks: Vec::new(),
        request: place,
        result: None,
        cwd: None,
        sidechain: false,
        copy_of: None,
        about: None,
        unwrapped: None,
        inner: None,
        origin: CallRowOrigin::Log,
        input_from: InputFrom::Request,
        failed_by: None,
        command: None,
        path: None,
        alias: None,
        replacement: None,
        polls: None,
        may_wait: false,
    }
}

/// A session row with fixed values, as `list --json` prints it.
pub(super) fn session<'a>(title: &'a str, by_status: BTreeMap<Status, u64>) -> SessionRow<'a> {
    SessionRow {
        v: 1,
        inner_calls: 0,
        agent: "claude",
        session: "3f2a6c1e-52a1-4a53-9d0c-4a1c8f6b7d20",
        title: Some(title),
        project: Some("/srv/parser"),
        branch: Some("main"),
        started_at: "2026-03-04T10:00:00.000Z".parse().ok(),
        last_at: "2026-03-04T10:12:04.000Z".parse().ok(),
        state: Some("ended"),
        state_reason: None,
        turns: 2,
        calls: by_status.values().sum(),
        by_status,
        models: vec!["model-large-1"],
        usage: Tokens { input: 1_204, output: 18_400, cache_read: 1_870_000, cache_write_5m: 92_000, cache_write_1h: 0 },
        files: Vec::new(),
        short: "3f2a",
    }
}

/// A call of a transcript.
pub(super) fn entry(row: CallRow<'_>, number: u32) -> CallEntry<'_> {
    let (request, hooks, ends, threads) = (Spot::default(), Vec::new(), Vec::new(), Vec::new());
    CallEntry {
        row,
        number: number.into(),
        request,
        result: None,
        ends,
        hooks,
        progress: None,
        hooked: Vec::new(),
        time: None,
        threads,
        turn: Some(0),
    }
}

fn ansi(fg: Option<Color>, bg: Option<Color>) -> Class {
    Class::Ansi(Ansi { fg, bg, ..Ansi::default() })
}

fn elided(shown: u64, total: u64, unit: ElidedUnit) -> Option<Elided> {
    Some(Elided { shown, total, unit, kept: true })
}

fn source(x: &str) -> Vec<Line> {
    vec![
        Line::of(Class::Comment, &format!("// Splits a text at its commas. {x}")),
        Line::of(Class::Keyword, "pub fn ")
            .with(Class::Function, "parse")
            .with(Class::Plain, "(text: &")
            .with(Class::Type, "str")
            .with(Class::Plain, ") -> ")
            .with(Class::Type, "Vec")
            .with(Class::Plain, "<&str> {"),
        Line::of(Class::Plain, "    ")
            .with(Class::Keyword, "let")
            .with(Class::Plain, " limit = ")
            .with(Class::Number, "42")
            .with(Class::Plain, ";"),
        Line::of(Class::Plain, "    text.")
            .with(Class::Function, "split")
            .with(Class::Plain, "(")
            .with(Class::Text, "','")
            .with(Class::Plain, ").")
            .with(Class::Function, "take")
            .with(Class::Plain, "(limit).collect()"),
        Line::from("}"),
    ]
}

fn changed(sign: DiffSign, old: Option<u32>, new: Option<u32>, line: Line) -> DiffLine {
    DiffLine { sign, old, new, line, colors: None }
}

fn change(x: &str) -> Diff {
    let same = |number: u32, text: &str| changed(DiffSign::Same, Some(number), Some(number), text.into());
    let lines = vec![
        same(118, "fn parse(s: &str) {"),
        changed(DiffSign::Removed, Some(119), None, Line::from("    let x = [").with(Class::Deleted, "1").with(Class::Plain, "];")),
        changed(
            DiffSign::Added,
            None,
            Some(119),
            Line::from("    let x = [").with(Class::Inserted, &format!("2{x}")).with(Class::Plain, "];"),
        ),
        same(120, "}"),
    ];
    let more = vec![same(240, ""), changed(DiffSign::Added, None, Some(241), "    // the end".into())];
    let hunks = vec![DiffHunk { context: Some(format!("fn parse {x}").into()), lines }, DiffHunk { context: None, lines: more }];
    Diff { path: Some(format!("src/parser.rs{x}").into()), hunks, elided: elided(6, 40, ElidedUnit::Lines), ..Diff::default() }
}

fn output(x: &str) -> Terminal {
    let green = ansi(Some(Color::Index(2)), None);
    let lines = vec![
        Line::from("running 3 tests"),
        Line::from("test a ... ").with(green, "ok"),
        Line::from("test b ... ").with(ansi(Some(Color::Rgb(255, 40, 40)), None), &format!("FAILED{x}")),
        Line::of(ansi(Some(Color::Index(0)), Some(Color::Index(11))), " WARN ").with(Class::Plain, " something is odd"),
        // Every attribute once, so that a style missing from the sheet shows.
        Line::of(Class::Ansi(Ansi { bold: true, underline: true, ..Ansi::default() }), "error").with(Class::Plain, ": test failed"),
        Line::of(Class::Ansi(Ansi { dim: true, italic: true, ..Ansi::default() }), "dim")
            .with(Class::Plain, " ")
            .with(Class::Ansi(Ansi { inverse: true, ..Ansi::default() }), "inverse"),
    ];
    Terminal {
        command: vec![format!("cargo test -p parser -- --nocapture{x}").into()],
        lines,
        gap: Some(3),
        elided: elided(278, 300, ElidedUnit::Lines),
    }
}

fn question(x: &str) -> QuestionItem {
    QuestionItem {
        header: Some(format!("Store{x}").into()),
        text: format!("Which store should hold the index?{x}").into(),
        multiple: false,
        options: vec![
            ("SQLite".into(), Some("one file, known well".into()), true),
            (format!("Files{x}").into(), Some(format!("many small ones{x}").into()), false),
        ],
        free: vec![format!("and please keep it small{x}").into()],
        unanswered: None,
    }
}

/// Every block, with `x` in every field.
pub(super) fn every(x: &str) -> Vec<(&'static str, Vec<Block>)> {
    [texts(x), pictures_and_tables(x), lists(x), remarks(x)].concat()
}

/// Blocks of lines: code, diffs, output, prose.
fn texts(x: &str) -> Vec<(&'static str, Vec<Block>)> {
    // With an image and a link that a page must neither load nor follow: Markdown is where a log comes closest to markup.
    let prose = format!(
        "I'll look at the **failing** test first, then `parse`. {x}\n\n# A heading\n\n- one\n- two <b>bold?</b>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {{}}\n```\n\n> quoted, https://docs.example and ![x](https://evil.example/p.gif) [y](javascript:alert(1))"
    );
    vec![
        (
            "code",
            vec![Block::Code(CodeBlock {
                language: Some(x.into()),
                first: Some(118),
                lines: source(x),
                elided: elided(5, 840, ElidedUnit::Lines),
                unapplied: false,
            })],
        ),
        (
            "code without numbers",
            vec![Block::Code(CodeBlock { language: None, first: None, lines: source(x), elided: None, unapplied: false })],
        ),
        ("diff", vec![Block::Diff(change(x))]),
        ("terminal", vec![Block::Terminal(output(x))]),
        ("markdown", vec![Block::Markdown { text: prose, elided: elided(10, 12, ElidedUnit::Bytes) }]),
    ]
}

/// Blocks in columns, and pictures.
fn pictures_and_tables(x: &str) -> Vec<(&'static str, Vec<Block>)> {
    // Both a valid picture and one whose bytes are the hostile text.
    let image = |data: &str| Image {
        media: format!("image/png{x}"),
        data: Some(data.into()),
        source: Some(x.into()),
        size: Some((64, 64)),
        bytes: Some(640),
    };
    vec![
        (
            "image",
            vec![Block::Image { image: image(PIXEL), alt: format!("a pixel{x}").into() }, Block::Image { image: image(x), alt: x.into() }],
        ),
        (
            "table",
            vec![Block::Table {
                head: vec!["name".into(), "calls".into()],
                rows: vec![vec!["Bash".into(), format!("12{x}").into()], vec!["Read".into(), "4".into()]],
                elided: elided(2, 9, ElidedUnit::Items),
            }],
        ),
        (
            "fields",
            vec![Block::Fields {
                fields: vec![("query".into(), format!("is:open label:bug{x}").into()), (format!("limit{x}").into(), "30".into())],
            }],
        ),
    ]
}

/// Blocks of entries: things to do, questions, links.
fn lists(x: &str) -> Vec<(&'static str, Vec<Block>)> {
    let todo = |state, text: &str, change: Option<&str>| TodoEntry {
        state,
        text: format!("{text}{x}").into(),
        change: change.map(|change| format!("{change}{x}").into()),
    };
    vec![
        (
            "todos",
            vec![Block::Todos {
                items: vec![
                    todo(TodoProgress::Done, "Read the parser", None),
                    todo(TodoProgress::Active, "Render the diff", Some("begun")),
                    todo(TodoProgress::Open, "Write the test", Some("new")),
                    todo(TodoProgress::Dropped, "Rewrite it", None),
                ],
            }],
        ),
        (
            "questions",
            vec![Block::Questions {
                questions: vec![
                    question(x),
                    QuestionItem {
                        multiple: true,
                        free: Vec::new(),
                        unanswered: Some(format!("Nobody answered.{x}").into()),
                        ..question(x)
                    },
                ],
            }],
        ),
        (
            "links",
            vec![Block::Links {
                links: vec![
                    PageLink {
                        title: format!("Server-sent events{x}").into(),
                        url: Some("https://docs.example/sse".into()),
                        place: "docs.example".into(),
                        snippet: Some(format!("How to stream events{x}").into()),
                    },
                    PageLink {
                        // An address in a log may be code.
                        title: "odd".into(),
                        url: Some(format!("javascript:alert(1){x}")),
                        place: format!("nowhere{x}").into(),
                        snippet: None,
                    },
                ],
            }],
        ),
    ]
}

/// The other blocks: files, JSON, notices, conversations, sections.
fn remarks(x: &str) -> Vec<(&'static str, Vec<Block>)> {
    vec![
        (
            "files",
            vec![Block::Files {
                groups: vec![
                    (format!("src/{x}").into(), vec!["lib.rs".into(), format!("parser.rs{x}").into(), "lexer.rs".into()]),
                    ("tests/".into(), vec!["flaky.rs".into()]),
                ],
                elided: elided(4, 214, ElidedUnit::Items),
            }],
        ),
        (
            "json",
            vec![Block::Json {
                lines: vec![
                    "{".into(),
                    Line::from("  ").with(Class::Function, "\"key\"").with(Class::Plain, ": ").with(Class::Text, &format!("\"value{x}\"")),
                    "}".into(),
                ],
                elided: None,
            }],
        ),
        (
            "notices",
            vec![
                Block::Notice { level: Level::Info, text: format!("The file has not changed since it was read.{x}").into() },
                Block::Notice { level: Level::Warning, text: format!("Not all of it was kept.{x}").into() },
                Block::Notice { level: Level::Error, text: format!("String to replace not found in file.{x}").into() },
            ],
        ),
        ("nested", vec![Block::Nested { thread: 3, calls: 12, failed: 1 }]),
        (
            "sections",
            vec![
                Block::Section {
                    label: format!("Input{x}").into(),
                    open: true,
                    body: vec![Block::Fields { fields: vec![("path".into(), "src/lib.rs".into())] }],
                },
                Block::Section { label: "Output".into(), open: false, body: vec![Block::Terminal(output(x))] },
            ],
        ),
    ]
}

fn messages(x: &str) -> Vec<MessageView> {
    let prose = |text: &str| vec![Block::Markdown { text: format!("{text}{x}"), elided: None }];
    let one = |who, label: &str, folded, text: &str| MessageView {
        who,
        label: format!("{label}{x}").into(),
        folded,
        gist: format!("{text}{x}").into(),
        body: prose(text),
    };
    vec![
        one(
            MessageAuthor::Person,
            "You",
            false,
            "Fix the flaky test in the parser.\nIt fails about *once in ten* runs; `cargo test flaky` shows it.",
        ),
        one(
            MessageAuthor::Thought,
            "thinking",
            true,
            "The test depends on the order of a map. I should look at how it is built before I change anything.",
        ),
        one(
            MessageAuthor::Model,
            "model",
            false,
            "I'll look at the failing test first. There are two places where the order of a `HashMap` can leak into the output; the first is in `src/parser.rs`, the other in the test itself.",
        ),
        one(MessageAuthor::Program, "system reminder", true, "The file src/parser.rs was changed by a linter since you last read it."),
        one(MessageAuthor::Agent, "agent explore", false, "Find all uses of `parse`."),
        // An event has no body: its row must not unfold.
        MessageView {
            body: Vec::new(),
            ..one(MessageAuthor::Event, "event", false, "The conversation was compacted: 182k tokens became 12k")
        },
        one(MessageAuthor::Trouble, "API error", false, "The model's service was overloaded; tried again after 4 s."),
    ]
}

fn heads() -> Vec<(Head, Kind, Status, Option<Reason>)> {
    let head = |icon, name: &str, title: Line, facts: &[&str]| Head {
        icon,
        name: name.into(),
        title,
        facts: facts.iter().map(|fact| (*fact).into()).collect(),
    };
    let path = |path: &str| Line::of(Class::Path, path);
    vec![
        (head("⌕", "Grep", "/fn parse/ in src/  -i -C2".into(), &["9 matches, 4 files"]), Kind::Search, Status::Succeeded, None),
        // Far too long on purpose: rows must be cut, not wrapped.
        (head("☰", "Read", path("/srv/parser/crates/parser-core/src/a/rather/long/path/that/goes/on/for/ever/and/ever/parser.rs:1-120"), &["120 of 840 lines"]), Kind::Read, Status::Succeeded, None),
        (head("$", "Bash", "cargo test -p parser -- --nocapture && echo a very long command that does not fit on one line at all, so it is cut at its end".into(), &["42 lines"]), Kind::Shell, Status::Failed, Some(Reason::ExitCode)),
        (head("±", "Edit", path("src/parser.rs"), &["+8 −3", "2 hunks"]), Kind::Edit, Status::Succeeded, None),
        (head("⇄", "github · search_issues", "is:open label:bug".into(), &["12 items"]), Kind::Mcp, Status::Answered, Some(Reason::NoOutcomeRecorded)),
        (head("$", "Bash", "rm -rf target".into(), &[]), Kind::Shell, Status::Rejected, Some(Reason::UserFeedback)),
        (head("✚", "Write", path("docs/x.md"), &["+40 new file"]), Kind::Write, Status::Blocked, Some(Reason::Hook)),
        (head("☰", "Read", path("tests/flaky.rs"), &[]), Kind::Read, Status::Cancelled, Some(Reason::SiblingFailed)),
        (head("$", "Bash", "sleep 600".into(), &[]), Kind::Shell, Status::Interrupted, Some(Reason::User)),
        (head("$", "Bash", "npm run build".into(), &["3 lines"]), Kind::Shell, Status::TimedOut, Some(Reason::Timeout)),
        (head("⎇", "Task", "Explore: find usages of parse()".into(), &["12 calls 1✗", "41k tok"]), Kind::Subagent, Status::Running, Some(Reason::AwaitingResult)),
        (head("◎", "WebSearch", "\"rust sse axum\"".into(), &[]), Kind::WebSearch, Status::Unanswered, Some(Reason::LogEnds)),
    ]
}

fn frame(anchor: &str, abandoned: bool) -> RowFrame<'_> {
    RowFrame { anchor, abandoned, limits: &Limits::PAGE, nest: &rows::placeless, bad_inside: false }
}

/// All of it as rows.
fn sheet(x: &str) -> String {
    let mut out = String::from("<section class=\"rows\">");
    out.push_str(
        "<h2 class=\"turn\" id=\"turn-1\"><span class=\"n\">1</span><span class=\"who\">You</span><time>2026-03-04 10:00:00</time></h2>",
    );
    for (place, message) in messages(x).iter().enumerate() {
        out.push_str(&message_row(message, Some("2026-03-04 10:00:00"), place == 0, false).0);
    }
    // The first calls get bodies; the rest show how an empty body looks.
    let mut bodies: Vec<Vec<Block>> = vec![vec![Block::Terminal(output(x))]; 3];
    bodies.push(vec![Block::Diff(change(x))]);
    for (place, (head, kind, status, reason)) in heads().into_iter().enumerate() {
        let id = format!("c{place}{x}");
        let row = call(&id, "Tool", kind, status, reason);
        // One call is drawn as abandoned.
        out.push_str(&drawn(&head, &row, bodies.get(place).unwrap_or(&Vec::new()), &[], &frame(&id, place == 7)).0);
    }
    out.push_str("<h2 class=\"turn\" id=\"turn-2\"><span class=\"n\">2</span><span class=\"who\">You</span></h2>");
    for (name, blocks) in every(x) {
        let id = format!("b-{name}{x}");
        let row = call(&id, "Tool", Kind::Other, Status::TimedOut, None);
        let head = Head { icon: "◻", name: name.into(), title: x.into(), facts: Vec::new() };
        out.push_str(&drawn(&head, &row, &blocks, &blocks, &frame(&id, false)).0);
    }
    out + "</section>"
}

/// The sheet as a page.
fn page_of(x: &str, plain: bool) -> String {
    let statuses: BTreeMap<Status, u64> = Status::ALL.iter().map(|status| (*status, 3)).collect();
    // Ids hold `x` too: they become anchors, which is where an attribute could be broken out of.
    let ids: Vec<String> = heads().iter().enumerate().map(|(place, _)| format!("c{place}{x}")).collect();
    let calls = ids
        .iter()
        .zip(heads())
        .zip(1..)
        .map(|((id, (_, kind, status, reason)), number)| entry(call(id, x, kind, status, reason), number))
        .collect();
    let turn = |head: &str| Turn { head: format!("{head}{x}"), ..Turn::default() };
    let title = format!("Fix the flaky test in the parser{x}");
    let turns =
        vec![turn("Fix the flaky test in the parser. It fails about once in ten runs; cargo test flaky shows it"), turn("Also add docs")];
    let transcript = Transcript {
        session: session(&title, statuses),
        calls,
        turns,
        threads: Vec::new(),
        hooks: Vec::new(),
        copied_from: None,
        settings: Default::default(),
        objections: Vec::new(),
    };
    let plan = plan::PagePlan::new(&transcript, &Selection::default());
    let options = HtmlOptions { plain, note: Some(format!("3 secrets were taken out.{x}")), ..HtmlOptions::default() };
    let digest = crate::digest::rows(&crate::digest::sample::digest(x), &transcript);
    let verdict =
        crate::verdict::VerdictStrip::of(&tooltrail_model::session_verdict::SessionVerdict::of(&crate::digest::sample::digest(x)));
    let page = page::ExportPage { transcript: &transcript, plan: &plan, verdict: &verdict, digest: &digest, options: &options };
    format!("{}{}{}", page.head(), sheet(x), page.foot())
}

/// Contents of all tags, split roughly as a browser would.
fn tags(html: &str) -> Vec<&str> {
    html.split('<').skip(1).filter_map(|rest| rest.split_once('>').map(|(tag, _)| tag)).collect()
}

#[test]
fn nothing_from_a_log_becomes_markup() {
    let hostile =
        "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>javascript:alert(4)<!--thread 0-->";
    // Plain, because the page's own script would count as a tag.
    let page = page_of(hostile, true);
    for tag in tags(&page) {
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        assert!(!["script", "svg", "iframe", "object", "embed", "base", "link"].contains(&name), "<{tag}>");
        // Quoted parts are values; the rest are names.
        let names: String = tag.split('"').step_by(2).collect();
        assert!(!names.contains("onerror") && !names.contains("onload") && !names.contains(" style"), "<{tag}>");
        for value in tag.split("href=\"").chain(tag.split("src=\"")).skip(1) {
            assert!(!value.to_ascii_lowercase().starts_with("javascript"), "<{tag}>");
        }
        assert!(!tag.starts_with("img") || tag.contains("src=\"data:image/png;base64,"), "<{tag}>");
    }
    // A forged mark would let a log place conversations anywhere on the page.
    assert!(!page.contains("<!--"), "a mark of a log came through");
    assert_eq!(page.matches("<h1>").count(), 1);
}

#[test]
fn a_fragment_needs_no_page() {
    for (name, blocks) in every("") {
        for block in &blocks {
            assert!(!super::block(block).0.is_empty(), "{name}");
        }
    }
    assert!(blocks::gap(elided(278, 300, ElidedUnit::Lines).as_ref()).0.contains("22 lines not shown (278 of 300 lines shown)"));
}

/// Writes the sheet, to be looked at.
#[test]
#[ignore = "writes a file to look at"]
fn write_sheet() {
    let target = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target");
    assert!(std::fs::write(format!("{target}/sheet.html"), page_of("", false)).is_ok());
}
