//! Output as a terminal shows it, and that no output can do harm.

use super::*;
use crate::line::Color;
use proptest::prelude::*;

fn texts(output: &str) -> Vec<String> {
    lines(output).iter().map(Line::text).collect()
}

fn styles(output: &str) -> Vec<(String, Class)> {
    lines(output).iter().flat_map(|line| line.runs().iter().map(|run| (run.text().to_owned(), run.class)).collect::<Vec<_>>()).collect()
}

fn fg(color: Color) -> Class {
    Class::Ansi(Ansi { fg: Some(color), ..Ansi::default() })
}

#[test]
fn plain_output_is_its_lines() {
    assert_eq!(texts("one\ntwo\r\n\nfour"), ["one", "two", "", "four"]);
    assert_eq!(texts(""), [""; 0]);
    assert_eq!(texts("a\n"), ["a"]);
    assert_eq!(texts("\x1b[1ma\x1b[m\n"), ["a"]);
    assert_eq!(texts("\x1b[1ma\x1b[m\n\n"), ["a", ""]);
    assert_eq!(texts("a\tb\n漢\tb"), ["a       b", "漢      b"]);
    assert_eq!(texts("a\tb\x1b[0m"), ["a       b"]);
}

#[test]
fn colours_become_classes() {
    assert_eq!(
        styles("\x1b[31mred\x1b[0m \x1b[38;5;208mo\x1b[39m\x1b[38;2;1;2;3mt\x1b[0;92mb"),
        [
            ("red".to_owned(), fg(Color::Index(1))),
            (" ".to_owned(), Class::Plain),
            ("o".to_owned(), fg(Color::Index(208))),
            ("t".to_owned(), fg(Color::Rgb(1, 2, 3))),
            ("b".to_owned(), fg(Color::Index(10))),
        ]
    );
    assert_eq!(styles("\x1b[38:2::9:8:7mx"), styles("\x1b[38:2:9:8:7mx"));
    assert_eq!(styles("\x1b[38:5:4mx"), [("x".to_owned(), fg(Color::Index(4)))]);
    let every =
        Ansi { bg: Some(Color::Index(12)), bold: true, dim: true, italic: true, underline: true, strike: true, inverse: true, fg: None };
    assert_eq!(styles("\x1b[1;2;3;4;7;9;104mx"), [("x".to_owned(), Class::Ansi(every))]);
    assert_eq!(styles("\x1b[1;2;3;4;7;9;104m\x1b[22;23;24;27;29;49mx"), [("x".to_owned(), Class::Plain)]);
    // The colour of an underline is no dim.
    assert_eq!(styles("\x1b[58;2;2;2;2mx\x1b[58:5:2my"), [("xy".to_owned(), Class::Plain)]);
}

#[test]
fn progress_is_its_last_state() {
    assert_eq!(texts("  0%\r 50%\r100%\ndone\n"), ["100%", "done"]);
    assert_eq!(texts("fetching…\r\x1b[Kok\n"), ["ok"]);
    assert_eq!(texts("abc\x08\x08X\n"), ["aXc"]);
    assert_eq!(texts("one: 1\ntwo: 1\n\x1b[2A\x1b[2Kone: 9\n\x1b[2Ktwo: 9\nend"), ["one: 9", "two: 9", "end"]);
    assert_eq!(texts("abcdef\x1b[3D\x1b[K!"), ["abc!"]);
    assert_eq!(texts("a\x1b[5Gb\x1b[2Cc"), ["a   b  c"]);
    assert_eq!(texts("abcdef\r\x1b[2C\x1b[1K"), ["   def"]);
    assert_eq!(texts("1\n2\n3\n\x1b[3A\x1b[Jx"), ["x"]);
}

#[test]
fn a_cleared_screen_stays_above() {
    assert_eq!(texts("before\n\x1b[2J\x1b[Hafter\n"), ["before", "after"]);
    assert_eq!(texts("\x1b[H\x1b[2J\x1b[3Jafter\n"), ["after"]);
    assert_eq!(texts("a\x1b[7;3Hb"), ["a", "  b"]);
}

#[test]
fn titles_go_and_links_keep_their_text() {
    assert_eq!(texts("\x1b]0;title\x07a\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\b"), ["alinkb"]);
    assert_eq!(texts("\x1b[?25la\x1b(Bb\x1bPq#0~\x1b\\c\x1b7\x1b8"), ["abc"]);
    // A sequence that never ends takes its line, not the rest.
    assert_eq!(texts("\x1b]0;title\nnext\x1b[3\nlast"), ["", "next", "last"]);
}

#[test]
fn wide_letters_and_marks_keep_their_columns() {
    assert_eq!(texts("漢字\rx\n"), ["x 字"]);
    assert_eq!(texts("漢字\x1b[1D!\n"), ["漢 !"]);
    assert_eq!(texts("e\u{301}x\x1b[0m"), ["e\u{301}x"]);
    assert_eq!(texts("\x1b[0m\u{202e}a\u{202e}"), ["⟨U+202E⟩a⟨U+202E⟩"]);
}

#[test]
fn moving_far_costs_nothing() {
    assert_eq!(texts("\x1b[999999999Ca").concat().len(), COLUMNS);
    let wild = "\x1b[65535C\x1b[65535B\x1b[65535;65535Hx\n".repeat(20_000);
    let shown: usize = lines(&wild).iter().map(|line| line.text().len()).sum();
    assert!(shown <= 2 * wild.len() + BLANKS, "{shown} bytes from {}", wild.len());
    let long = format!("\x1b[1m{}", "x".repeat(3 * COLUMNS));
    assert_eq!(texts(&long).len(), 3);
    assert_eq!(texts(&long).concat().len(), 3 * COLUMNS);
}

proptest! {
    #[test]
    fn any_output_is_shown_without_harm(bytes in prop::collection::vec(piece(), 0..60)) {
        let output = String::from_utf8_lossy(&bytes.concat()).into_owned();
        let shown = lines(&output);
        prop_assert!(shown.len() <= output.len());
        let letters: usize = shown.iter().map(|line| line.text().chars().count()).sum();
        // One control character may become ten visible ones, as in `⟨U+202E⟩`.
        prop_assert!(letters <= 10 * output.len() + BLANKS);
        for line in shown {
            prop_assert!(!line.text().contains(char::is_control));
        }
    }
}

/// Part of an output: any bytes, or a sequence that a terminal obeys.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let sequence = (any::<u16>(), any::<u8>(), prop::sample::select(b"ABCDEFGHJKXfm`".to_vec()))
        .prop_map(|(one, two, action)| [format!("\x1b[{one};{two}").into_bytes(), vec![action]].concat());
    let letters = prop::sample::select(vec!["漢", "e\u{301}", "\r", "\n", "\t", "\x08", "\x1b", "\x1b]8;;x", "\u{202e}", "\u{9b}31m"]);
    prop_oneof![prop::collection::vec(any::<u8>(), 0..20), sequence, letters.prop_map(|text| text.as_bytes().to_vec()),]
}
