//! Home, sessions, search and help, asked over a socket: what is on them, what mistakes look like, and that nothing from a log acts.

#![allow(clippy::expect_used)] // helpers of tests, where a panic is the report

mod support;

use std::fs;
use std::time::Duration;
use support::{Small, WAITING, WORKING, World};

/// Fails unless everything is on a page, in this order.
fn has(page: &str, wanted: &[&str]) {
    let mut from = 0;
    for piece in wanted {
        match page[from..].find(piece) {
            Some(at) => from += at + piece.len(),
            None => panic!("`{piece}` is not there{}:\n{page}", if page.contains(piece) { ", or not in its order" } else { "" }),
        }
    }
}

/// What stands between two pieces.
fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    let from = page.find(start).unwrap_or_else(|| panic!("no `{start}`:\n{page}")) + start.len();
    &page[from..from + page[from..].find(end).unwrap_or_else(|| panic!("no `{end}` after `{start}`"))]
}

/// A page without its tags.
fn text(page: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for letter in page.chars() {
        match letter {
            '<' => inside = true,
            '>' => inside = false,
            letter if !inside => out.push(letter),
            _ => {}
        }
    }
    out
}

/// The titles of the sessions on a page, in order.
fn titles(page: &str) -> Vec<&str> {
    page.split("<a data-row href=\"/s/").skip(1).map(|piece| between(piece, "\">", "</a>")).collect()
}

#[test]
fn home_says_what_waits_what_works_and_what_went_wrong() {
    let page = World::demo().page("/");
    has(
        &page,
        &[
            "<h1>1 session waits for you, 1 running, no failures today</h1>",
            "16 logs, ",
            ", read in ",
            "Needs you",
            "◆ waits for you",
            "19 m",
            &format!("/s/{WAITING}"),
            "git push -u origin fix/currency",
            "a call needs permission",
            "Running",
            "● working",
            &format!("/s/{WORKING}"),
            "cargo bloat",
            ">for <span data-since=\"",
            ">5 m</span>",
            "Failed yesterday",
            "since:2026-03-03%20until:2026-03-03",
            "All 18 calls",
            "Recent sessions",
            "Today",
            "Yesterday",
            "Projects",
            "orbit",
            "17 %",
            "No data leaves it.",
        ],
    );
    assert!(!page.contains("tt-progress") && !page.contains("http-equiv"), "everything has been read");
}

#[test]
fn home_counts_what_went_wrong_today() {
    let world = World::new(|home| {
        for (id, fails) in [("aa01", true), ("aa02", false), ("aa03", true)] {
            Small { id, prompt: &format!("task {id}"), cwd: "/srv/app", command: &format!("run {id}"), at: "2026-03-04T09:00:00Z", fails }
                .lay(home);
        }
    });
    let page = world.page("/");
    has(
        &page,
        &["No sessions wait for you, 2 calls failed today", "Failed today", "✗1", "run aa", "exit 1", "All 2 calls", "Recent sessions"],
    );
    // The link leads to just these.
    let list = world.page(&between(&page, "<p class=\"more\"><a href=\"", "\"").replace("&amp;", "&"));
    has(&list, &["2 calls", "Today"]);
    assert_eq!((list.contains("run aa01"), list.contains("run aa02"), list.contains("run aa03")), (true, false, true));
}

#[test]
fn home_tells_of_the_last_day_on_which_something_went_wrong_however_long_ago() {
    let lay = |fails: bool| {
        World::new(move |home| {
            for (id, at, fails) in
                [("aa01", "2025-01-07T11:00:00Z", fails), ("aa02", "2025-01-09T11:00:00Z", fails), ("aa03", "2025-02-09T11:00:00Z", false)]
            {
                Small { id, prompt: &format!("task {id}"), cwd: "/srv/app", command: &format!("run {id}"), at, fails }.lay(home);
            }
        })
    };
    let page = lay(true).page("/");
    has(
        &page,
        &[
            "<h1>No sessions wait for you, no activity since 9 February 2025</h1>",
            "Failed on 9 January 2025",
            "run aa02",
            "since:2025-01-09%20until:2025-01-09",
            "The call",
            "all days",
        ],
    );
    has(&lay(false).page("/"), &["Failed", "No failures in any session."]);
}

#[test]
fn a_machine_without_logs_is_told_what_to_do() {
    let world = World::new(|_| {});
    let page = world.page("/");
    has(&page, &["<h1>No sessions here yet</h1>", ".claude/projects", ".codex/sessions", "--root", "href=\"/demo/\"", "Open the demo"]);
    has(&world.page("/sessions"), &["No logs yet."]);
    has(&world.page("/search?q=x"), &["No logs yet."]);
}

#[test]
fn sessions_that_go_are_named_with_what_to_do() {
    let world = World::with(support::demo, "", Some("7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045"));
    has(&world.page("/"), &["Deleted soon", "1 will go; <code>keep</code> them", "CSV export for monthly reports", "gone in 3 days"]);
    has(&world.page("/sessions"), &["<th scope=\"col\" class=\"state\">State</th>", "gone in 3 days", "CSV export for monthly reports"]);
}

#[test]
fn sessions_are_listed_by_day_and_sorted_by_links() {
    let world = World::demo();
    let page = world.page("/sessions");
    has(
        &page,
        &[
            "12 sessions",
            "href=\"/sessions?sort=calls\"",
            "Today",
            "Build and check release 0.9",
            "Yesterday",
            "! unproven claim",
            "✗ false claim",
            "Monday 2 March",
        ],
    );
    let by_calls = world.page("/sessions?sort=calls");
    assert!(!by_calls.contains("Yesterday"), "days are only told where they are the order");
    let calls: Vec<u32> = by_calls
        .split("<td class=\"calls n\">")
        .skip(1)
        .filter_map(|cell| cell.strip_prefix("<a ").map_or(Some(cell), |link| Some(link.split_once('>')?.1)))
        .map(|piece| piece.split('<').next().and_then(|number| number.parse().ok()).expect("a number"))
        .collect();
    assert!(calls.len() == 12 && calls.is_sorted_by(|one, next| one >= next), "{calls:?}");
    let turned = world.page("/sessions?sort=-calls");
    assert_eq!(titles(&turned), titles(&by_calls).into_iter().rev().collect::<Vec<_>>());
    // What is no order is the usual one.
    assert_eq!(titles(&world.page("/sessions?sort=nonsense")), titles(&page));
}

#[test]
fn a_filter_narrows_the_list_and_links_take_it_back() {
    let world = World::demo();
    let page = world.page("/sessions?q=agent:codex");
    has(&page, &["value=\"agent:codex\"", "class=\"on\" href=\"/sessions\"", "2 sessions", "the csv importer drops"]);
    assert_eq!(titles(&page).len(), 2);
    let several = world.page("/sessions?q=is:failed&sort=calls");
    // Another term joins, and the order stays.
    has(&several, &["/sessions?q=is:failed%20agent:claude&amp;sort=calls"]);
    has(&world.page("/sessions?q=project:nowhere"), &["No sessions match.", "All sessions"]);
}

#[test]
fn a_mistake_is_shown_where_it_is() {
    let world = World::demo();
    for path in ["/sessions", "/search"] {
        let page = world.page(&format!("{path}?q=tool:Bash%20stauts:failed"));
        has(
            &page,
            &[
                "role=\"alert\"",
                "Unknown filter <code>stauts:</code>.",
                "tool:Bash <mark>stauts:</mark>failed",
                &format!("href=\"{path}?q=tool:Bash%20status:failed\""),
            ],
        );
    }
    // One without a suggestion, and one about nothing.
    has(&world.page("/search?q=took:"), &["role=\"alert\"", "took:"]);
    has(&world.page("/search?q=re:%28"), &["role=\"alert\"", "regular expression"]);
    assert_eq!(world.ask("/search/counts?q=re:%28").0, 400);
    assert_eq!(world.ask("/search/counts?q=status:failed").0, 400);
}

#[test]
fn long_lists_come_in_pages() {
    let world = World::new(|home| {
        for number in 0..230 {
            let (id, at) =
                (format!("{number:04x}aaaa"), format!("2026-02-{:02}T{:02}:{:02}:00Z", 1 + number / 60, number % 24, number % 60));
            Small { id: &id, prompt: &format!("task {number}"), cwd: "/srv/app", command: "needle", at: &at, fails: true }.lay(home);
        }
    });
    let first = world.page("/sessions");
    has(&first, &["1–100 of 230 sessions", "Page 1 of 3", "href=\"/sessions?page=2\""]);
    has(&world.page("/sessions?page=2"), &["← Newer", "Older →"]);
    has(&world.page("/sessions?sort=-last&page=2"), &["← Older", "Newer →"]);
    has(&world.page("/sessions?sort=title&page=2"), &["← Previous", "Next →"]);
    let last = world.page("/sessions?page=3");
    has(&last, &["201–230 of 230", "Page 3 of 3"]);
    assert_eq!((titles(&first).len(), titles(&last).len()), (100, 30));
    assert_eq!(titles(&world.page("/sessions?page=99")), titles(&last), "what is past the end is the end");
    assert_eq!(titles(&world.page("/sessions?page=0")), titles(&first));
    let mut all: Vec<String> = (1..=3)
        .flat_map(|page| titles(&world.page(&format!("/sessions?page={page}"))).iter().map(ToString::to_string).collect::<Vec<_>>())
        .collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 230, "each session once");
    has(&world.page("/search?q=status:failed"), &["1–100 of 230 calls", "href=\"/search?q=status:failed&amp;page=2\""]);
    has(&world.page("/search?q=status:failed&page=3"), &["201–230 of 230"]);
    // Where texts are looked for, the first page stops early and the rest is counted later.
    let hits = world.page("/search?q=needle");
    has(&hits, &["data-count=\"/search/counts?q=needle&amp;field=\"", "More than", "page=2"]);
    assert_eq!(hits.matches("<section class=\"hit\">").count(), 20);
    assert_eq!(world.page("/search/counts?q=needle"), "{\"say\":\"460 hits in 230 calls of 230 sessions\"}");
    assert_eq!(world.page("/search?q=needle&page=12").matches("<section class=\"hit\">").count(), 10);
    has(&world.page("/search?q=needle&page=13"), &["This page is empty.", "First page"]);
    // However far a page is, nothing overflows and nobody waits.
    for far in ["201", "18446744073709551615"] {
        has(&world.page(&format!("/search?q=needle&page={far}")), &["Results end at page 200."]);
        has(&world.page(&format!("/search?q=status:failed&page={far}")), &["201–230 of 230", "page=2\"", "Page 3"]);
    }
}

#[test]
fn texts_are_found_with_their_calls() {
    let world = World::demo();
    let page = world.page("/search?q=default_currency");
    has(
        &page,
        &[
            "value=\"default_currency\"",
            " hits in ",
            &format!("/s/{WAITING}"),
            &format!("/c/{WAITING}:1"),
            &format!("/s/{WAITING}?find=default_currency&amp;at=toolu_011zkG8bRXc8cXYo#toolu_011zkG8bRXc8cXYo"),
            "<mark>default_currency</mark>",
        ],
    );
    let inputs = world.page("/search?q=default_currency&field=input");
    has(&inputs, &["href=\"/search?q=default_currency&amp;field=input\" aria-current=\"true\"", "<span class=\"field\">input</span>"]);
    assert!(!inputs.contains("<span class=\"field\">result</span>"));
    has(&world.page("/search?q=default_currency&field=thinking"), &["No matches.", "Search everywhere"]);
    // Words of a person, which are in no call.
    has(&world.page("/search?q=%22wrong%20currency%20for%20guests%22"), &["<b>Prompt</b>", "<mark>wrong currency for guests</mark>"]);
    has(&world.page("/search"), &["status:failed since:today", "Filter syntax"]);
}

#[test]
fn a_filter_without_texts_lists_calls() {
    let world = World::demo();
    let page = world.page("/search?q=status:failed");
    has(&page, &["calls", "as sessions", "✗ exit 101", "cargo test"]);
    assert_eq!(
        page.matches("<tr class=\"day\">").count() + page.matches("✗ ").count(),
        page.matches("<tr").count() - 1,
        "nothing but failures"
    );
    has(&world.page("/search?q=status:running"), &["● running", "cargo bloat"]);
    has(&world.page("/search?q=status:unanswered%20tool:Nothing"), &["No matches."]);
}

#[test]
fn help_explains_every_status_and_key() {
    let page = World::demo().page("/help");
    for word in ["succeeded", "failed", "answered", "rejected", "blocked", "cancelled", "interrupted", "timed out", "running", "no result"]
    {
        assert!(text(&page).contains(word), "{word}");
    }
    for id in ["keys", "filters", "statuses", "logs", "privacy"] {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    has(&page, &["search all sessions", ".claude/projects", "Nothing."]);
}

#[test]
fn nothing_from_a_log_or_an_address_acts() {
    const EVIL: &str = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>\u{1b}[31m\u{202e}";
    let world = World::new(|home| {
        Small { id: "ee01", prompt: EVIL, cwd: &format!("/srv/{EVIL}"), command: EVIL, at: "2026-03-04T09:00:00Z", fails: true }.lay(home);
    });
    let query = "%3Cscript%3Ealert%281%29%3C%2Fscript%3E%22";
    for path in [
        "/",
        "/sessions",
        "/search?q=status:failed",
        "/search?q=alert",
        &format!("/sessions?q={query}&sort={query}"),
        &format!("/search?q={query}&field={query}&page={query}"),
        &format!("/sessions/tests?s={query}"),
    ] {
        let (_, page) = world.ask(path);
        let page = page.replace("<script src=\"/assets/", "");
        for evil in ["<script", "<img", "onerror=alert(2)>", "\u{1b}", "\u{202e}"] {
            assert!(!page.contains(evil), "{path}: {evil:?} in\n{page}");
        }
    }
    has(&world.page("/"), &["&lt;script&gt;alert(1)&lt;/script&gt;&quot;'&amp;&lt;img src=x onerror=alert(2)&gt;␛[31m⟨U+202E⟩"]);
}

#[test]
fn paths_of_every_system_are_shown_right() {
    let projects = [
        ("bb01", "C:\\Users\\me\\web"),
        ("bb02", "\\\\wsl$\\Ubuntu\\home\\me\\api"),
        ("bb03", "/Users/me/Library/notes"),
        ("bb04", "/home/me/src/shop"),
    ];
    let world = World::new(|home| {
        for (id, cwd) in projects {
            Small { id, prompt: id, cwd, command: "x", at: "2026-03-04T09:00:00Z", fails: false }.lay(home);
        }
    });
    let page = world.page("/sessions");
    for (name, path) in [
        ("web", "C:\\Users\\me\\web"),
        ("api", "\\\\wsl$\\Ubuntu\\home\\me\\api"),
        ("notes", "/Users/me/Library/notes"),
        ("shop", "~/src/shop"),
    ] {
        assert!(page.contains(&format!("title=\"{path}\">{name}</a>")), "{path}:\n{page}");
    }
    // The link of a project leads to its session.
    let link = between(&page, "<td class=\"project\"><a href=\"", "\"").replace("&amp;", "&");
    assert_eq!(titles(&world.page(&link)).len(), 1, "{link}");
    for (id, cwd) in projects {
        let facet = format!("project:\"{cwd}\"").bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        assert_eq!(titles(&world.page(&format!("/sessions?q={facet}"))), [id], "{cwd}");
    }
}

#[test]
fn a_session_that_is_gone_is_told_of_without_a_link() {
    let world = World::new(|home| {
        for id in ["cc01", "cc02"] {
            Small { id, prompt: &format!("task {id}"), cwd: "/srv/app", command: "x", at: "2026-03-04T09:00:00Z", fails: false }.lay(home);
        }
    });
    assert_eq!(titles(&world.page("/sessions")).len(), 2);
    fs::remove_file(world.home().join(".claude/projects/-p/cc01.jsonl")).expect("it was there");
    // What was just looked at is not looked at again.
    std::thread::sleep(Duration::from_millis(900));
    let page = world.page("/sessions");
    assert_eq!(titles(&page), ["task cc02"]);
    has(&page, &["<tr class=\"gone\" data-key=\"", ">gone</span>", "task cc01"]);
    has(&world.page("/sessions?q=is:gone"), &["1 session", "task cc01"]);
}

#[test]
fn every_address_of_a_site_begins_with_its_root() {
    let world = World::with(support::demo, "/demo", None);
    for path in ["/", "/sessions", "/sessions?q=stauts:x", "/search", "/search?q=test", "/search?q=status:failed", "/help"] {
        let page = world.page(path);
        has(&page, &["Demo", "Sample sessions"]);
        for name in ["href=\"/", "action=\"/", "data-from=\"/", "data-count=\"/", "data-tests-from=\"/"] {
            for piece in page.split(name).skip(1) {
                let address = piece.split('"').next().unwrap_or_default();
                let own = ["demo/", "assets/"].iter().any(|root| address.starts_with(root))
                    || (address.is_empty() && piece.contains("Back to your sessions"));
                assert!(own, "{path}: {name}{address}");
            }
        }
    }
}

#[test]
fn how_far_reading_is_can_be_asked() {
    let world = World::demo();
    world.page("/");
    assert_eq!(world.page("/progress"), "{\"done\":true}");
}

#[test]
fn verdicts_can_be_asked_for_later() {
    let told = World::demo().page("/sessions/tests?s=e41c08f7-5a92-4b6d-9d13-70c8e2b4a6f1&s=6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35&s=nobody");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["e41c08f7-5a92-4b6d-9d13-70c8e2b4a6f1"]["tests"]["say"], "! unproven claim");
    assert_eq!(told["6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35"]["tests"]["say"], "✗ false claim");
    assert_eq!(told.as_object().map(serde_json::Map::len), Some(2));
}
