//! A session's page on a server: that every row is in one section and can be found, that nothing needs a script to be read, and that
//! nothing in it breaks the policy of the page.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod invented;

use std::ops::ControlFlow;
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{EntryKind, Part};
use tooltrail_model::{Reason, Status};
use tooltrail_view::Book;
use tooltrail_view::render::html::window::{FoundRow, OrderedLine, SessionPageRequest, Tab, Window};
use tooltrail_view::render::html::{assets, call_name};

const AT: SessionPageRequest<'static> = SessionPageRequest {
    root: "/demo",
    base: "/demo/s/s1",
    version: 255,
    section: 0,
    show: "",
    find: "",
    live: false,
    digest: false,
    now: None,
    zone: None,
    resume: None,
    neighbours: [None, None],
    calls: Some("/demo/calls?q=session%3As1"),
    project: None,
};

/// A session of many rows; call 20 starts a subagent, which does half as much.
fn large(words: &str, rows: usize) -> invented::Invented<'_> {
    let mut builder =
        invented::Builder::new(words).say(0, 0, EntryKind::Prompt, Part::Prompt { origin: Origin::Human, text: words.into() });
    for row in 0..rows {
        let (status, reason) = if row % 50 == 7 { (Status::Failed, Some(Reason::ExitCode)) } else { (Status::Succeeded, None) };
        let starts: &[usize] = if row == 20 { &[1] } else { &[] };
        builder = builder.run(0, 0, status, reason, starts);
    }
    for _ in 0..rows / 2 {
        builder = builder.run(1, 0, Status::Failed, Some(Reason::ToolError), &[]);
    }
    builder.done()
}

/// Values of an attribute, in order.
fn values<'h>(html: &'h str, attribute: &str) -> Vec<&'h str> {
    html.split(&format!(" {attribute}=\"")).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_row_is_in_one_section_and_can_be_found() {
    let book = large("cargo test", 450);
    let transcript = book.transcript();
    let window = Window::new(transcript);
    let sections: Vec<String> = (0..window.len()).map(|section| window.section(&book, section, &AT).into_string()).collect();
    let ids: Vec<&str> = sections.iter().flat_map(|section| values(section, "id")).collect();
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "an id is there twice");
    assert_eq!(sections.iter().map(|section| section.matches("<details class=\"row call").count()).sum::<usize>(), transcript.calls.len());
    for (section, id) in
        sections.iter().enumerate().flat_map(|(place, section)| values(section, "id").into_iter().map(move |id| (place, id)))
    {
        let way = window.way(transcript, id).unwrap_or_else(|| panic!("no way to {id}"));
        assert_eq!(way.last().map(|step| step.rows), Some(section), "{id}");
        // Each step but the last names a call that is in its section.
        for step in way.iter().take(way.len() - 1) {
            let call = step.call.as_deref().unwrap();
            assert!(values(&sections[step.rows], "id").contains(&call), "{id}: {call}");
        }
    }
    assert!(
        window.way(transcript, "turn-99").is_none() && window.way(transcript, "nothing").is_none() && window.way_to(usize::MAX).is_none()
    );
    assert_eq!(window.section_of_turn(0), Some(0));
    assert_eq!(window.section_of_call(transcript.calls.len() - 1), Some(0), "a subagent's call is on the page where its agent was started");
}

#[test]
fn calls_alone_have_the_same_order_and_the_same_places() {
    let book = large("words", 150);
    let transcript = book.transcript();
    let window = Window::new(transcript);
    let order = window.order(transcript);
    assert_eq!(order[..3], [OrderedLine::Turn(0), OrderedLine::Call { index: 0, depth: 0 }, OrderedLine::Call { index: 1, depth: 0 }]);
    let mut walked = Vec::new();
    _ = window.walk(transcript, &mut |_, _, found| {
        walked.extend(if let FoundRow::Call(call) = found { Some(call) } else { None });
        ControlFlow::Continue(())
    });
    let calls = |nested: bool| {
        order.iter().filter_map(move |placed| match placed {
            OrderedLine::Call { index, depth } if !nested || *depth == 1 => Some(*index),
            _ => None,
        })
    };
    assert!(calls(false).eq(walked));
    assert!(calls(true).eq(150..225), "the subagent's calls stand in the one that started it");
    for call in [0, 149, 200] {
        let address = window.row_address(call, &AT).expect("a row");
        let anchor = address.split('#').nth(1).unwrap();
        assert!(address.starts_with(AT.base) && window.call_at(transcript, anchor) == Some(call), "{address}");
    }
    // The prompt is line 0 of the first conversation.
    assert_eq!((window.call_at(transcript, "turn-1"), window.call_at(transcript, "m0-0-0")), (Some(0), Some(0)));
    for anchor in ["", "turn-0", "turn-9", "m", "m9-0-0", "m0-9999-0", "nothing"] {
        assert_eq!(window.call_at(transcript, anchor), None, "{anchor}");
    }
}

#[test]
fn rows_are_walked_in_the_order_of_the_page() {
    let book = large("cargo test", 150);
    let window = Window::new(book.transcript());
    let mut walked = Vec::new();
    let ended = window.walk(book.transcript(), &mut |section, row, found| {
        walked.push((section, row, matches!(found, FoundRow::Call(_))));
        ControlFlow::Continue(())
    });
    assert!(ended.is_continue());
    assert_eq!(walked.len(), 1 + 150 + 75);
    assert_eq!(walked[0], (0, 0, false));
    // The subagent's rows come right after the call that started it, which is row 21.
    let place = walked.iter().position(|(section, row, _)| (*section, *row) == (0, 21)).unwrap();
    let (nested, row, _) = walked[place + 1];
    assert_ne!(nested, 0);
    assert_eq!(row, 0);
    assert_eq!(walked[place + 1 + 75], (0, 22, true));
    let ended = window.walk(book.transcript(), &mut |_, _, _| ControlFlow::Break(()));
    assert!(ended.is_break());
}

#[test]
fn all_of_it_can_be_reached_without_a_script() {
    let book = large("cargo test", 450);
    let window = Window::new(book.transcript());
    let page = window.page(&book, &AT).into_string();
    let away = page.matches("class=\"rows away\"").count();
    assert!(away >= 4, "{away}");
    assert_eq!(page.matches("<a href=\"?rows=").count(), away, "a place without a link to its rows");
    // Sections 1 to 3 are the subagent's.
    let other = window.page(&book, &SessionPageRequest { section: 5, ..AT }).into_string();
    let is_there = |page: &str, section: usize| page.contains(&format!("<section class=\"rows\" data-s=\"{section}\""));
    assert!(is_there(&page, 0) && !is_there(&page, 5) && is_there(&other, 5) && !is_there(&other, 0));
    // A closed call has nothing in it but the way to its page.
    let closed = page.matches("<a class=\"body more\" href=\"/demo/c/").count();
    let open = page.matches(" open data-self").count();
    assert_eq!(closed + open, page.matches("<details class=\"row call").count());
    assert!(page.contains("<a class=\"nr\" href=\"/demo/c/"));
    for tab in [Tab::Changes, Tab::Raw] {
        assert!(window.tab(&book, &AT, tab, &maud::html! { "here" }).into_string().contains("here"));
    }
}

#[test]
fn chips_leave_their_rows_and_hide_other_places() {
    let book = large("cargo test", 450);
    let window = Window::new(book.transcript());
    let page = window.page(&book, &SessionPageRequest { show: "failed,nonsense", ..AT }).into_string();
    assert!(page.contains("data-show=\"failed\""), "chips that are not known are left out");
    // The call that holds a subagent with failures answers too.
    assert!(page.contains("data-in=\"failed\""));
    let hidden = window.page(&book, &SessionPageRequest { show: "thinking", ..AT }).into_string();
    assert_eq!(hidden.matches("class=\"rows away\"").count(), hidden.matches(" hidden><a href=\"?rows=").count());
    assert!(assets::session_style().contains("#tt-rows[data-show~=\"failed\"]"));
}

#[test]
fn a_body_is_short_until_all_of_it_is_wanted() {
    let long = "a line\n".repeat(3_000);
    let prompt = Part::Prompt { origin: Origin::Human, text: long.clone() };
    let builder = invented::Builder::new("cargo test").say(0, 0, EntryKind::Prompt, prompt);
    let mut book = builder.run(0, 0, Status::Succeeded, None, &[]).done();
    book.print(0, &long);
    let window = Window::new(book.transcript());
    let short = window.body(&book, 0, false, &AT).into_string();
    let whole = window.body(&book, 0, true, &AT).into_string();
    assert!(short.contains("class=\"all\"") && !whole.contains("class=\"all\""));
    let lines = |html: &str| html.matches("a line").count();
    assert!(lines(&whole) >= 3_000 && lines(&short) * 3 < lines(&whole), "{} of {}", lines(&short), lines(&whole));
    // The prompt is as long.
    let section = window.section(&book, 0, &AT).into_string();
    assert!(section.contains("data-body=\"text/0/0\"") && section.contains("Show all"), "{section}");
    assert!(window.text(&book, 0, 0, &AT).into_string().matches("a line").count() >= 3_000);
    for (section, row) in [(0, 1), (0, 999), (9, 0)] {
        assert!(window.text(&book, section, row, &AT).into_string().contains("No such message"));
    }
    assert!(window.body(&book, 99, false, &AT).into_string().contains("notice"));
    assert!(window.section(&book, 99, &AT).into_string().is_empty());
}

#[test]
fn nothing_from_a_log_becomes_markup_and_the_policy_holds() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>javascript:alert(4)";
    let book = large(hostile, 120);
    let window = Window::new(book.transcript());
    let at = SessionPageRequest { show: hostile, find: hostile, resume: Some(hostile), ..AT };
    let mut all = window.page(&book, &at).into_string();
    for section in 0..window.len() {
        all += &window.section(&book, section, &at).into_string();
    }
    all += &window.body(&book, 0, true, &at).into_string();
    all += &window.digest(&book, &at).into_string();
    for tag in all.split('<').skip(1).filter_map(|rest| rest.split_once('>').map(|(tag, _)| tag)) {
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        assert!(!["script", "svg", "iframe", "object", "embed", "base", "link", "style", "img"].contains(&name), "<{tag}>");
        // What is quoted is text; what is left are names.
        let names: String = tag.split('"').step_by(2).collect();
        assert!(!names.contains(" on") && !names.contains(" style"), "<{tag}>");
        for value in tag.split("href=\"").skip(1) {
            assert!(value.starts_with("/demo/") || value.starts_with('?') || value.starts_with('#'), "<{tag}>");
        }
    }
}

#[test]
fn a_call_is_named_by_its_id_only_if_that_is_its_own() {
    let book = large("cargo test", 3);
    let transcript = book.transcript();
    let name = call_name(transcript, 0).unwrap();
    // All calls of an invented session have the same id.
    assert_eq!(name, format!("{}:{}", transcript.calls[0].row.session, transcript.calls[0].number));
    assert_eq!(call_name(transcript, 99), None);
}

#[test]
fn a_chip_counts_calls_and_not_what_holds_them() {
    // Three failed in the main conversation, and 75 in the subagent whose call itself went well.
    let book = large("cargo test", 150);
    let page = Window::new(book.transcript()).page(&book, &AT).into_string();
    let failed = book.transcript().calls.iter().filter(|call| call.row.status == Status::Failed).count();
    assert_eq!(failed, 78);
    assert!(page.contains(&format!("title=\"{failed} failed\"")), "{:?}", values(&page, "title"));
    // The place of the call that started it still says that there is one more row to show.
    assert!(values(&page, "data-n").iter().any(|code| code.starts_with("f")), "{:?}", values(&page, "data-n"));
}
