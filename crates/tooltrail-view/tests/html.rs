//! The HTML page of an invented session: that every call can be linked to, that nothing is shown twice, that a plain page has no
//! script and a large one is packed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod invented;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use std::io::{self, Read, Write};
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{EntryKind, Part};
use tooltrail_model::{Reason, Status};
use tooltrail_view::render::html::{self, HtmlOptions};
use tooltrail_view::{Book, Selection};

fn page(book: &dyn Book, options: &HtmlOptions) -> String {
    let mut out = Vec::new();
    html::session(book, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn plain() -> HtmlOptions {
    HtmlOptions { plain: true, ..HtmlOptions::default() }
}

/// The rows of a page that are packed, unpacked.
fn unpacked(page: &str) -> String {
    let packs = page.split("<script type=\"application/gzip\"").skip(1);
    packs
        .map(|pack| {
            let text = pack.split_once('>').unwrap().1.split_once("</script>").unwrap().0;
            let mut rows = String::new();
            GzDecoder::new(STANDARD.decode(text).unwrap().as_slice()).read_to_string(&mut rows).unwrap();
            rows
        })
        .collect()
}

/// A session of many rows.
fn large(words: &str, rows: usize) -> invented::Invented<'_> {
    let mut builder = invented::Builder::new(words).say(0, 0, EntryKind::Prompt, Part::Prompt { origin: Origin::Human, text: "go".into() });
    for row in 0..rows {
        let (status, reason) = if row % 50 == 7 { (Status::Failed, Some(Reason::ExitCode)) } else { (Status::Succeeded, None) };
        let starts: &[usize] = if row == 20 { &[1] } else { &[] };
        builder = builder.run(0, 0, status, reason, starts);
    }
    for _ in 0..rows / 2 {
        builder = builder.run(1, 0, Status::Succeeded, None, &[]);
    }
    builder.done()
}

#[test]
fn every_call_has_an_anchor_of_its_own() {
    let book = invented::session("cargo test");
    for options in [plain(), HtmlOptions::default()] {
        let page = page(&book, &options);
        let calls = book.transcript().calls.len();
        // All calls of the invented session have the same id.
        assert_eq!(page.matches("id=\"cargo test\"").count(), 1);
        for number in 2..=calls {
            assert_eq!(page.matches(&format!("id=\"cargo test~{number}\"")).count(), 1, "{number}");
        }
        assert_eq!(page.matches("<details class=\"row call").count(), calls);
        assert_eq!(page.matches("<h1>").count(), 1);
        assert_eq!(page.matches("<h2 class=\"turn\"").count(), 2);
        assert!(page.contains("id=\"thread-2\""), "a conversation that nobody started is at the end");
    }
}

#[test]
fn every_status_has_its_look() {
    let page = page(&invented::session("cargo test"), &plain());
    for status in Status::ALL {
        let row = format!("row call k-shell s-{}", status.word());
        assert!(page.contains(&row), "{row}");
    }
    assert!(page.contains("exit 101") && page.contains("no result") && page.contains("timed out"));
}

#[test]
fn a_plain_page_has_no_script_and_others_have_one() {
    let book = invented::session("x");
    assert_eq!(page(&book, &plain()).matches("<script").count(), 0);
    let page = page(&book, &HtmlOptions::default());
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("default-src 'none'; img-src data:; style-src 'sha256-"));
    assert!(page.contains("script-src 'sha256-"));
    assert!(!page.contains(" style=\""));
}

#[test]
fn nothing_of_a_hostile_log_acts() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href=javascript:alert(3)>";
    let page = page(&invented::session(hostile), &plain());
    for wrong in ["<script", "<img", "href=\"javascript", "href=javascript:alert(3)>"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
}

#[test]
fn a_selection_leaves_the_rest_out() {
    let book = invented::session("x");
    let options = HtmlOptions { selection: Selection { turns: Some((2, 2)) }, ..plain() };
    let page = page(&book, &options);
    assert!(page.contains("id=\"turn-2\"") && !page.contains("id=\"turn-1\""));
    assert_eq!(page.matches("<details class=\"row call").count(), 2);
}

#[test]
fn a_large_page_is_packed() {
    let words = "a line of words that goes on for some time, so that it weighs something ".repeat(20);
    let book = large(&words, 400);
    let calls = book.transcript().calls.len();
    let whole = page(&book, &plain());
    assert!(whole.len() > 6_000_000, "{}", whole.len());
    assert_eq!(whole.matches("<details class=\"row call").count(), calls);
    let page = page(&book, &HtmlOptions::default());
    assert!(page.len() * 3 < whole.len(), "{} of {}", page.len(), whole.len());
    let rows = unpacked(&page);
    assert_eq!(page.matches("<details class=\"row call").count() + rows.matches("<details class=\"row call").count(), calls);
    for number in 2..=calls {
        // A link finds either the call or its place.
        assert_eq!(
            page.matches(&format!("~{number}\"></a>")).count() + page.matches(&format!("~{number}\" data-ref")).count(),
            1,
            "{number}"
        );
    }
    assert!(page.contains("class=\"store\" hidden"), "rows of a subagent wait outside of the page");
    assert!(rows.contains("class=\"rows packed\"") || page.contains("data-thread=\"1\""));
}

/// Writes pages to look at, or to drive a browser through: every block and status, and a packed one with a subagent.
#[test]
#[ignore = "writes files to look at"]
fn write_pages() {
    let target = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target");
    let words = "a line of words that goes on for some time, so that it weighs something ".repeat(20);
    let packed = page(&large(&words, 400), &HtmlOptions::default());
    std::fs::write(format!("{target}/packed.html"), packed).unwrap();
    std::fs::write(format!("{target}/invented.html"), page(&invented::session("cargo test"), &HtmlOptions::default())).unwrap();
}

#[test]
fn a_closed_pipe_ends_it() {
    struct Closed(usize);
    impl Write for Closed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let book = large("words", 600);
    for options in [plain(), HtmlOptions::default()] {
        let ended = html::session(&book, &options, &mut Closed(1));
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
