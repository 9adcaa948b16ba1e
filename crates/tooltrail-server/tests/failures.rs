//! Failures by message, and the pages of projects, asked over a socket: what is on them, where their links lead, and that nothing from a
//! log acts.

#![allow(clippy::expect_used)] // helpers of tests, where a panic is the report

mod support;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use support::{Small, World};

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

/// The part of a page that is its own.
fn main_of(page: &str) -> &str {
    let start = page.find("<main").expect("a main part");
    &page[start..page.find("</main>").expect("an end")]
}

/// The links of a page to pages of ours.
fn links(page: &str) -> BTreeSet<String> {
    let all = main_of(page).split("href=\"").skip(1).filter_map(|piece| piece.split('"').next());
    all.filter(|link| link.starts_with('/')).map(|link| link.replace("&amp;", "&")).collect()
}

/// The page, once the details of all sessions are stored: they are made in the background.
fn settled(world: &World, path: &str) -> String {
    let start = Instant::now();
    loop {
        let page = world.page(path);
        if !page.contains("are not counted yet") {
            return page;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{page}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Every link of a page leads somewhere.
fn all_links_work(world: &World, page: &str) {
    let links = links(page);
    assert!(links.len() > 2, "{links:?}");
    for link in links.iter().filter(|link| !link.starts_with("/demo")) {
        let (path, _) = link.split_once('#').unwrap_or((link, ""));
        let (status, body) = world.ask(path);
        assert!(matches!(status, 200 | 303 | 307 | 308), "{link}: {status} {body}");
    }
}

/// Sessions whose command fails in the same way.
fn same(home: &std::path::Path, ids: &[(&str, &str, bool)]) {
    for (id, at, fails) in ids {
        let command = format!("run-{id} /srv/app/{id}.txt");
        Small { id, prompt: &format!("task {id}"), cwd: "/srv/app", command: &command, at, fails: *fails }.lay(home);
    }
}

#[test]
fn the_demo_shows_its_failures() {
    let world = World::demo();
    let page = settled(&world, "/failures?period=all");
    has(
        &page,
        &[
            "aria-current=\"page\">Failures</a>",
            "<h1>Failures</h1>",
            "Period",
            "All</a>",
            "Outcome",
            "failed",
            "blocked",
            "rejected",
            "unresolved only",
            "Projects",
        ],
    );
    has(
        &page,
        &[
            " failures</b> at any time",
            "messages",
            "unresolved",
            "as calls",
            "<figure class=\"chart\">",
            "What came next",
            "svg class=\"spark\"",
        ],
    );
    assert!(!page.contains("style=") && page.len() < 200_000, "{}", page.len());
    all_links_work(&world, &page);
    // Each message leads to its calls.
    let groups: Vec<String> = links(&page).into_iter().filter(|link| link.contains("group=")).collect();
    assert!(groups.len() > 10, "{groups:?}");
    let mut calls = 0;
    for link in &groups {
        let group = world.page(link);
        has(&group, &["← Failures", "<h1 class=\"message\">", "What came next", "Last failure", "<table class=\"calls failed\""]);
        calls += links(&group).iter().filter(|link| link.starts_with("/c/")).count();
        assert!(!group.contains("style="));
    }
    assert!(calls >= groups.len());
    all_links_work(&world, &world.page(&groups[0]));
    // Only those that nothing resolved.
    let unresolved = settled(&world, "/failures?period=all&unresolved=1");
    has(&unresolved, &["class=\"on\"", "unresolved only", " unresolved failures</b> at any time"]);
    assert!(!main_of(&unresolved).contains("succeeded later"));
    let blocked = settled(&world, "/failures?period=all&q=status:blocked");
    assert!(main_of(&blocked).contains("⊗") && !main_of(&blocked).contains("✗"), "{blocked}");
}

#[test]
fn equal_messages_are_one_group_in_every_period() {
    let world = World::new(|home| {
        same(
            home,
            &[("aa01", "2026-03-04T09:00:00Z", true), ("aa02", "2026-03-04T10:00:00Z", true), ("aa03", "2026-03-04T11:00:00Z", false)],
        );
        same(home, &[("bb01", "2026-02-20T09:00:00Z", true), ("bb02", "2025-01-20T09:00:00Z", true)]);
    });
    let today = settled(&world, "/failures?period=today");
    has(&today, &["<b>2 failures</b> today", "2 sessions", "1 message", "no such needle", "last call"]);
    has(&settled(&world, "/failures?period=30d"), &["<b>3 failures</b> in the last 30 days"]);
    has(&settled(&world, "/failures?period=all"), &["<b>4 failures</b> at any time"]);
    // Without a period it is the shortest that has any.
    has(&settled(&world, "/failures"), &["<b>2 failures</b> in the last 7 days"]);
    has(&settled(&world, "/failures?q=session:bb01"), &["<b>1 failure</b> in the last 30 days"]);
    has(&settled(&world, "/failures?q=session:bb02"), &["<b>1 failure</b> at any time"]);
    has(&settled(&world, "/failures?q=until:2025-12-31"), &["<b>1 failure</b> at any time"]);
    has(&settled(&world, "/failures?period=today&q=session:bb02"), &["No failures today that match the filter.", "Failures at any time"]);
    let home = world.page("/");
    has(&home, &["2 calls failed the same way today, in 2 sessions: ", "/failures?period=today&amp;group=", "no such needle"]);
    // The first line of the error stands in every table of calls.
    for path in ["/calls?q=status:failed", "/search?q=status:failed", "/"] {
        assert!(world.page(path).contains("<span class=\"error-line\" title=\"no such needle\">no such needle</span>"), "{path}");
    }
}

#[test]
fn calls_of_a_message_come_in_pages() {
    let ids: Vec<String> = (0..205).map(|number| format!("cc{number:03}")).collect();
    let world = World::new(|home| {
        for (number, id) in ids.iter().enumerate() {
            same(home, &[(id, &format!("2026-03-03T{:02}:{:02}:00Z", number / 60, number % 60), true)]);
        }
    });
    let page = settled(&world, "/failures?period=all");
    let group = links(&page).into_iter().find(|link| link.contains("group=")).expect("a group");
    let (mut seen, mut next) = (Vec::new(), Some(group));
    while let Some(link) = next {
        let page = world.page(&link);
        assert!(page.len() < 200_000, "{}", page.len());
        seen.extend(main_of(&page).split("data-row href=\"/c/").skip(1).filter_map(|piece| piece.split(':').next().map(str::to_owned)));
        next = main_of(&page)
            .split("rel=\"next\" href=\"")
            .nth(1)
            .and_then(|piece| piece.split('"').next())
            .map(|link| link.replace("&amp;", "&"));
    }
    let newest: Vec<String> = ids.into_iter().rev().collect();
    assert_eq!(seen, newest);
}

#[test]
fn a_failure_that_was_fixed_says_so() {
    let world = World::new(|home| {
        let folder = home.join(".claude/projects/-p");
        std::fs::create_dir_all(&folder).expect("a directory");
        let call = |number: usize, command: &str, fails: bool| {
            let line = |kind: &str, message: serde_json::Value, part: usize| {
                serde_json::json!({ "type": kind, "message": message, "uuid": format!("u{number}-{part}"), "sessionId": "dd01", "cwd": "/srv/app", "timestamp": format!("2026-03-04T09:{number:02}:0{part}Z") }).to_string()
            };
            let asked = serde_json::json!({ "role": "assistant", "model": "m", "id": format!("msg_{number}"), "content": [{ "type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": { "command": command } }] });
            let content = if fails { "Exit code 1\nbroken pipe dream" } else { "fine" };
            let answer = serde_json::json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("t{number}"), "is_error": fails, "content": content }] });
            [line("assistant", asked, 0), line("user", answer, 1)].join("\n")
        };
        let prompt = serde_json::json!({ "type": "user", "message": { "role": "user", "content": "<b>go</b>" }, "uuid": "u", "sessionId": "dd01", "cwd": "/srv/app", "timestamp": "2026-03-04T09:00:00Z" }).to_string();
        // A negative answer, behind `cd` too, is none; the rest is told by what came after it.
        let calls = [
            ("make all", true),
            ("grep x y", true),
            ("cd sub && grep x y", true),
            ("make all", false),
            ("npm test", true),
            ("npm test | tail -1", false),
            ("<script>alert(1)</script>", true),
        ];
        let lines: Vec<String> = calls.iter().enumerate().map(|(number, (command, fails))| call(number + 1, command, *fails)).collect();
        std::fs::write(folder.join("dd01.jsonl"), format!("{prompt}\n{}\n", lines.join("\n"))).expect("a log");
    });
    let page = settled(&world, "/failures?period=all");
    has(&page, &["<b>3 failures</b> at any time", "2 unresolved", "1 succeeded later", "1 retried, unresolved", "1 last call"]);
    let group = links(&page).into_iter().find(|link| link.contains("group=")).expect("a group");
    let group = world.page(&group);
    has(&group, &["broken pipe dream", "Last failure", "last call", "retried, unresolved", "succeeded later"]);
    assert!(group.contains("&lt;script&gt;alert(1)") && !group.contains("<script>alert"), "{group}");
    has(&settled(&world, "/p/app"), &["Failures", "Commands that fail most", "make"]);
}

#[test]
fn odd_addresses_do_no_harm() {
    let world = World::demo();
    settled(&world, "/failures?period=all");
    for path in [
        "/failures?q=stauts:failed",
        "/failures?period=never&unresolved=yes&after=x",
        "/failures?period=all&group=%3Cscript%3Ealert(1)%3C/script%3E",
        "/failures?period=all&after=99999999999999999999:x",
        "/failures?period=all&after=5:zzz&group=nothing",
        "/failures?after=::::&group=%00",
    ] {
        let page = world.page(path);
        assert!(!page.contains("<script>alert") && !page.contains(&*world.home().to_string_lossy()), "{path}");
    }
    has(&world.page("/failures?q=stauts:failed"), &["role=\"alert\"", "Did you mean"]);
    for path in ["/p/nothing", "/p/%2e%2e", "/p/%3Cscript%3E", "/p/%2Fsrv"] {
        assert_eq!(world.ask(path).0, 404, "{path}");
    }
    assert_eq!(world.ask("/p/%2Fsrv%2Forbit").0, 200);
    let empty = World::new(|_| {});
    has(&empty.page("/failures"), &["No logs yet."]);
}

#[test]
fn a_project_has_a_page() {
    let world = World::demo();
    settled(&world, "/failures?period=all");
    for (name, path) in [("orbit", "/srv/orbit"), ("ledger", "/srv/ledger"), ("shop", "/srv/shop"), ("atlas", "/srv/atlas")] {
        let page = world.page(&format!("/p/{name}"));
        has(
            &page,
            &[
                &format!("<h1>{name}</h1>"),
                path,
                " sessions</a>",
                " calls</a>",
                "Last 30 days",
                "<figure class=\"chart\">",
                "As a table",
                "Latest sessions",
                "Checks over time",
                "Failures",
                "Files changed most",
                "Commands that fail most",
            ],
        );
        assert!(!page.contains("style=") && page.len() < 200_000, "{}", page.len());
        all_links_work(&world, &page);
    }
    // The session whose claim does not hold is red here, too; its test leads to the call.
    let ledger = world.page("/p/ledger");
    has(&ledger, &["class=\"t-error\" href=\"/c/6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35:", "✗ false claim"]);
    has(&world.page("/"), &["class=\"projects\"", "href=\"/p/orbit\""]);
    assert!(world.page("/s/6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35").contains("href=\"/p/ledger\""));
    assert!(world.page("/palette?q=ledg").contains("\"to\":\"/p/ledger\""));
}
