//! A session's page on the server, in a browser: links into a very long session, scrolling, keys, chips, find, each kind of block.
//!
//! Starting a browser is what takes the time, so a test goes through many things in one.

use crate::driver::{Browser, ENTER, ESCAPE, tooltrail, with_browser};
use crate::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use tooltrail_testkit::corpus::{Long, long_session};

const STATUS: &str = "return document.getElementById('tt-found').textContent";
const ELEMENTS: &str = "return document.getElementsByTagName('*').length";

/// Whether the selected row is this one, below the bar and above the foot.
fn here(id: &Value) -> String {
    format!(
        "const row = document.querySelector('.here'); if (row?.id !== {id}) return row?.id ?? 'nothing';
         const box = (row.matches('details') ? row.firstElementChild : row).getBoundingClientRect();
         return box.top >= document.querySelector('.bar').getBoundingClientRect().bottom - 1 && box.bottom <= innerHeight || `${{box.top}}–${{box.bottom}}`"
    )
}

/// Sessions of the demo: one with problems, one with turns.
const PROBLEMS: &str = "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045";
const TURNS: &str = "/s/b84e60d1-2c77-4e3a-9f18-c6d05a7b31e9";

#[test]
fn a_link_leads_into_a_session_of_50000_rows() {
    let home = tempfile::tempdir().expect("a directory");
    let logs = home.path().join(".claude/projects/-srv-long");
    std::fs::create_dir_all(&logs).expect("a directory");
    let log = logs.join("0a1b2c3d-1111-4222-8333-444455556666.jsonl");
    long_session(&log, &Long { rows: 50_000, seed: 7 }).expect("a log");
    let server = Server::of(home.path());
    let (session, call) = call_at(&log, 80);
    // The first visit opens the session; pages are asked to be quick from then on.
    let page = server.get(&format!("/s/{session}?at={call}"));
    assert!(page.len() < 200_000, "the page has {} bytes", page.len());
    assert!(page.contains(&format!("id=\"{call}\"")), "the rows around the call come with the page");
    with_browser(|browser| async move {
        let address = server.to(&format!("/s/{session}?at={call}#{call}"));
        browser.open(&address).await;
        browser.until(&here(&json!(call))).await;
        assert_eq!(browser.ask("return document.querySelector('.here').open").await, json!(true));
        let paint = browser
            .ask("return performance.getEntriesByName('first-contentful-paint')[0].startTime - performance.getEntriesByType('navigation')[0].responseStart")
            .await;
        // A loaded machine is no reason to fail; docs/performance.md has the figures of a quiet one.
        assert!(paint.as_f64().is_some_and(|paint| paint < 3_000.0), "painted {paint} ms after the answer");
        assert!(browser.ask(ELEMENTS).await.as_u64().is_some_and(|number| number < 20_000));
        scrolling(&browser).await;
        far_away(&browser).await;
        outline_of_many(&browser).await;
        browser.is_quiet("a long session");
    });
}

/// A session, and the call that stands after so many hundredths of its main conversation.
fn call_at(log: &Path, share: usize) -> (String, String) {
    let printed = tooltrail(&["calls", "--json", log.to_str().expect("a path of text")]).stdout;
    let rows: Vec<Value> = printed.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let main: Vec<&Value> = rows.iter().filter(|row| row["agent_id"].is_null()).collect();
    let row = main.get(main.len() * share / 100).expect("a call");
    let text = |name: &str| row[name].as_str().expect("a text").to_owned();
    (text("session"), text("call"))
}

/// No section is missing where somebody stops, and few are held.
async fn scrolling(browser: &Browser) {
    let missing = "return [...document.querySelectorAll('#tt-rows > .away')].every((place) => { const box = place.getBoundingClientRect(); return place.hidden || box.bottom <= 0 || box.top >= innerHeight; })";
    for place in [0.1, 0.35, 0.6, 0.9, 0.2] {
        browser.ask(&format!("scrollTo(0, document.documentElement.scrollHeight * {place})")).await;
        for _ in 0..12 {
            browser.ask("scrollBy(0, 900)").await;
            browser.until(missing).await;
        }
    }
    browser.until("return document.querySelectorAll('#tt-rows > .rows:not(.away)').length <= 14").await;
    let elements = browser.ask(ELEMENTS).await;
    assert!(elements.as_u64().is_some_and(|number| number < 20_000), "{elements} elements");
}

/// Keys and find lead to rows that are not there yet; what somebody opened stays.
async fn far_away(browser: &Browser) {
    browser.press_until("gg", "return scrollY === 0").await;
    for _ in 0..3 {
        browser.press("e").await;
        browser.until("const row = document.querySelector('.here'); return !!row && row.matches('.bad') && row.open && row.querySelectorAll(':scope > div.body').length === 1").await;
    }
    let opened = browser.ask("return document.querySelector('.here').id").await;
    browser.press_until("G", "return document.querySelector('.here') === [...document.querySelectorAll('#tt-rows .row')].at(-1)").await;
    for step in 1..=14 {
        browser.ask(&format!("scrollTo(0, document.documentElement.scrollHeight * {})", f64::from(step) / 20.0)).await;
        browser.until("return document.querySelectorAll('#tt-rows > .rows[aria-busy]:not(.away)').length === 0").await;
    }
    assert_eq!(browser.ask(&format!("return document.getElementById({opened})?.open")).await, json!(true), "an opened row was taken away");
    // A link to a row that is not here finds its section.
    browser.ask(&format!("location.hash = encodeURIComponent({opened})")).await;
    browser.until(&here(&opened)).await;
}

/// A long outline comes in parts, and follows the reader.
async fn outline_of_many(browser: &Browser) {
    let turns =
        browser.ask("return [...document.querySelectorAll('.outline .span')].map((group) => Number(group.dataset.last)).at(-1)").await;
    let turns = turns.as_u64().expect("a number");
    assert!(turns > 500, "{turns}");
    let turn = format!("turn-{}", turns / 2);
    browser.ask(&format!("location.hash = '{turn}'")).await;
    browser.until(&here(&json!(turn))).await;
    browser.until(&format!("return document.querySelector('.turns a[aria-current]')?.hash === '#{turn}'")).await;
}

#[test]
fn keys_chips_find_and_menus_work_on_a_session() {
    let server = Server::demo();
    let (problems, turns) = (server.to(PROBLEMS), server.to(TURNS));
    with_browser(|browser| async move {
        browser.open(&problems).await;
        problems_by_key(&browser).await;
        find_by_key(&browser).await;
        chips(&browser, &problems).await;
        menu_and_copies(&browser, &problems).await;
        help_lists_keys_that_work(&browser).await;
        browser.open(&turns).await;
        rows_and_turns_by_key(&browser).await;
        back_and_forward(&browser).await;
        room_for_rows(&browser, &problems).await;
        browser.open(&turns).await;
        neighbours(&browser, &turns).await;
        browser.is_quiet("the demo");
    });
}

/// `e` and `E`: every problem in its order, also those inside a subagent whose rows were never asked for.
async fn problems_by_key(browser: &Browser) {
    assert_eq!(
        browser.ask("return document.querySelectorAll('.sub').length").await,
        json!(0),
        "a subagent's rows come when they are wanted"
    );
    let mut seen = Vec::new();
    for _ in 0..5 {
        let last = seen.last().cloned().unwrap_or(Value::Null);
        browser.press("e").await;
        browser
            .until(&format!(
                "const row = document.querySelector('.here'); return !!row && row.matches('.bad') && row.open && row.id !== {last}"
            ))
            .await;
        seen.push(browser.ask("return document.querySelector('.here').id").await);
    }
    assert_eq!(browser.ask("return document.querySelectorAll('.sub .row.bad').length").await, json!(1), "one is a subagent's");
    browser.press_until("e", &format!("{STATUS} === 'none after'")).await;
    for id in seen.iter().rev().skip(1) {
        browser.press_until("E", &here(id)).await;
    }
    // What is selected is in the address, and a reload leads there again.
    let first = &seen[0];
    browser
        .until(&format!(
            "return decodeURIComponent(location.hash.slice(1)) === {first} && new URLSearchParams(location.search).get('at') === {first}"
        ))
        .await;
    browser.refresh().await.expect("the page is loaded again");
    browser.until("return document.documentElement.dataset.ready === 'true'").await;
    browser.until(&here(first)).await;
    browser.press_until(ESCAPE, "return !document.querySelector('.here')").await;
}

/// `/`, `Enter`, `n`, `N`: the server finds, and the page shows it.
async fn find_by_key(browser: &Browser) {
    let found = "const [range] = CSS.highlights.get('tt-here') ?? []; const box = range?.getBoundingClientRect();
        return range?.toString().toLowerCase() === 'render_report' && box.height > 0 && box.top > 0 && box.bottom <= innerHeight";
    browser.press_until("/", "return document.activeElement.id === 'tt-find'").await;
    browser.press("Render_Report").await;
    browser.until("return /^\\d+ found$/.test(document.getElementById('tt-found').textContent)").await;
    let total = browser.ask(STATUS).await.as_str().expect("a text").replace(" found", "");
    browser.press_until(ENTER, &format!("{STATUS} === '1 of {total}'")).await;
    browser.until(found).await;
    assert_eq!(browser.ask("return document.activeElement.id").await, json!("tt-find"), "whoever types goes on typing");
    browser.press_until(ESCAPE, "return document.activeElement.closest('.row') !== null").await;
    browser.press("n").await;
    browser.until(found).await;
    browser.press("N").await;
    browser.until(found).await;
    browser.until("return new URLSearchParams(location.search).get('find') === 'Render_Report'").await;
    // Ctrl-F is the same field.
    browser.ask("document.activeElement.blur(); document.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true, cancelable: true }))").await;
    browser.until("return document.activeElement.id === 'tt-find'").await;
    browser.press("nowhere-to-be-found").await;
    browser.until(&format!("{STATUS} === 'no match'")).await;
    browser.press_until(ESCAPE, "return document.activeElement.id !== 'tt-find' && document.getElementById('tt-find').value !== ''").await;
    browser.press_until(ESCAPE, "return document.getElementById('tt-find').value === '' && !CSS.highlights.has('tt-found')").await;
}

/// Chips: with a script, without one, and in the address.
async fn chips(browser: &Browser, page: &str) {
    let rows = "[...document.querySelectorAll('#tt-rows > .rows > .row')].filter((row) => row.checkVisibility())";
    browser.press_until("f", "return document.activeElement.matches('.chip')").await;
    browser.click(".chip[data-show=failed]").await;
    browser
        .until(&format!("const rows = {rows}; return rows.length > 2 && rows.every((row) => row.matches('.s-failed, [data-in~=failed]'))"))
        .await;
    // All of them: those of subagents too, as many as the chip says.
    browser
        .until(
            "const number = Number(document.querySelector('.chip[data-show=failed]').lastChild.textContent);
             return [...document.querySelectorAll('#tt-rows .row.s-failed')].filter((row) => row.checkVisibility()).length === number",
        )
        .await;
    // The number beside a row goes with it.
    assert_eq!(
        browser.ask("return [...document.querySelectorAll('#tt-rows > .rows > .nr')].every((link) => link.checkVisibility() === link.nextElementSibling.checkVisibility())").await,
        json!(true)
    );
    browser.until("return new URLSearchParams(location.search).get('show') === 'failed'").await;
    browser.click(".chip[data-show=prompts]").await;
    browser
        .until(&format!(
            "return {rows}.some((row) => row.matches('.m-person')) && new URLSearchParams(location.search).get('show') === 'failed,prompts'"
        ))
        .await;
    browser.click(".kinds > summary").await;
    browser.click(".chip[data-show=web_search]").await;
    browser.until(&format!("return {rows}.some((row) => row.matches('.k-web_search'))")).await;
    browser.click(".chip[data-show='']").await;
    browser.until("return !location.search.includes('show') && !document.querySelector('#tt-rows[data-show]')").await;
    // As the server draws it.
    browser.open(&format!("{page}?show=edits")).await;
    browser.until(&format!("const rows = {rows}; return rows.length > 0 && rows.every((row) => row.matches('.k-edit, .k-write'))")).await;
    browser.open(page).await;
}

/// The head leaves the rows their space, and what one needs stays in sight.
async fn room_for_rows(browser: &Browser, page: &str) {
    browser.resize(1280, 900, false);
    browser.open(page).await;
    let head = browser.ask("return [document.querySelector('.bar').getBoundingClientRect().top, innerHeight]").await;
    let (top, height) = (head[0].as_f64().expect("a number"), head[1].as_f64().expect("a number"));
    assert!(top <= height / 3.0, "the rows begin at {top} of {height}");
    browser.ask("scrollTo(0, document.getElementById('tt-rows').getBoundingClientRect().top)").await;
    let seen = "const box = (selector) => document.querySelector(selector).getBoundingClientRect();
        const [title, bar, outline] = [box('h1'), box('.bar'), box('#tt-outline')];
        return title.top >= 0 && title.bottom <= bar.top + 1 && Math.abs(outline.top - bar.bottom) < 2 && outline.bottom <= innerHeight + 1";
    browser.until(seen).await;
    // The map shows where one is, and leads elsewhere.
    browser.ask("scrollTo(0, 0)").await;
    browser.ask("const map = document.getElementById('tt-map'); const box = map.getBoundingClientRect();
        map.dispatchEvent(new PointerEvent('pointerdown', { pointerId: 1, clientX: box.left + 3, clientY: box.bottom - 4, bubbles: true, cancelable: true }))").await;
    browser.until("return scrollY > 100 || document.documentElement.scrollHeight <= innerHeight + 100").await;
    browser.ask("scrollTo(0, 0)").await;
    browser.press_until("i", "return document.querySelector('#tt-rows').dataset.show === 'important'").await;
    browser.press_until("i", "return !document.querySelector('#tt-rows[data-show]')").await;
}

/// `.`, `c`, `y`, `m`, and bodies that are fetched.
async fn menu_and_copies(browser: &Browser, page: &str) {
    browser.ask("window.copied = []; navigator.clipboard.writeText = async (text) => { window.copied.push(text); }").await;
    // Row 9 is a command in a subagent: open it by its address.
    browser.press_until("j", "return !!document.querySelector('.here')").await;
    browser
        .press_until(
            "d",
            "return document.querySelector('.here').matches('.k-edit, .k-write') && document.querySelectorAll('.here > div.body').length > 0",
        )
        .await;
    browser.press_until("c", "return window.copied.length === 1 && window.copied[0].length > 5").await;
    browser.press_until("y", &format!("return window.copied[1]?.startsWith({}) && window.copied[1].includes('?at=')", json!(page))).await;
    browser
        .press_until(
            ".",
            "return document.getElementById('tt-menu').matches(':popover-open') && document.activeElement.dataset.act === 'link'",
        )
        .await;
    browser.press_until(ENTER, "return window.copied.length === 3 && !document.getElementById('tt-menu').matches(':popover-open')").await;
    browser.press_until(".", "return document.getElementById('tt-menu').matches(':popover-open')").await;
    browser
        .press_until(ESCAPE, "return !document.getElementById('tt-menu').matches(':popover-open') && !!document.querySelector('.here')")
        .await;
    browser.press_until("m", "return window.copied.length === 4 && window.copied[3].includes('csv.rs')").await;
    // `o` and `O`.
    browser.press_until("o", "return !document.querySelector('.here').open").await;
    browser.press_until("O", "return [...document.querySelectorAll('#tt-rows > .rows > .call')].every((call) => call.open && call.querySelector(':scope > div.body'))").await;
    browser.press_until("O", "return [...document.querySelectorAll('#tt-rows > .rows > .call')].every((call) => !call.open)").await;
}

/// Every key that the help lists has been tried here or does something harmless.
async fn help_lists_keys_that_work(browser: &Browser) {
    browser.press_until("?", "return document.getElementById('tt-help').open").await;
    let keys = browser.ask("return [...document.querySelectorAll('#tt-help kbd')].map((key) => key.textContent)").await;
    let tried = [
        "j", "k", "J", "K", "Enter", "o", "O", "e", "E", "d", "g", "G", "/", "n", "N", "c", "y", "t", "Esc", "m", ".", "f", "[", "]", "h",
        "i", "?", // and in `waterfall.rs`
        "w", // in `palette.rs`
        "Ctrl", "l", "s",
    ];
    for key in keys.as_array().expect("a list") {
        assert!(tried.contains(&key.as_str().expect("a text")), "{key} is not tried here");
    }
    browser.press_until(ESCAPE, "return !document.getElementById('tt-help').open").await;
    browser.press_until("t", "return document.documentElement.dataset.theme === 'light'").await;
    browser.press_until("t", "return document.documentElement.dataset.theme === 'dark'").await;
    browser.press_until("t", "return !document.documentElement.dataset.theme").await;
}

/// `j`, `k`, `J`, `K`, `Enter`, `gg` and `G`.
async fn rows_and_turns_by_key(browser: &Browser) {
    let row = |place: usize| {
        format!(
            "return [...document.querySelectorAll('#tt-rows .row')].filter((row) => row.checkVisibility()).indexOf(document.querySelector('.here')) === {place}"
        )
    };
    for place in [0, 1, 2] {
        browser.press_until("j", &row(place)).await;
    }
    browser.press_until("k", &row(1)).await;
    browser.press_until(ENTER, "return document.querySelector('.here').open && !!document.querySelector('.here > div.body')").await;
    browser.until("return document.querySelectorAll('.here > .body > .tools button').length === 4").await;
    for turn in ["turn-2", "turn-3"] {
        browser.press_until("J", &here(&json!(turn))).await;
    }
    browser.press_until("K", &here(&json!("turn-2"))).await;
    browser.press_until("G", "return document.querySelector('.here') === [...document.querySelectorAll('#tt-rows .row')].at(-1)").await;
    browser.press_until("gg", "return scrollY === 0").await;
}

/// The outline leads somewhere, and the way back leads back.
async fn back_and_forward(browser: &Browser) {
    for turn in ["turn-4", "turn-2", "turn-5"] {
        browser.click(&format!(".turns a[href$=\"#{turn}\"]")).await;
        browser.until(&here(&json!(turn))).await;
        browser.until(&format!("return location.hash === '#{turn}'")).await;
    }
    browser.back().await.expect("a page back");
    browser.until(&here(&json!("turn-2"))).await;
    browser.forward().await.expect("a page forward");
    browser.until(&here(&json!("turn-5"))).await;
}

/// `[`, `]` and `gh`.
async fn neighbours(browser: &Browser, page: &str) {
    let path = |address: &str| {
        address.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map(|(_, path)| format!("/{path}")).unwrap_or_default()
    };
    let own = path(page);
    browser
        .press_until("[", &format!("return location.pathname !== {} && document.documentElement.dataset.ready === 'true'", json!(own)))
        .await;
    browser
        .press_until("]", &format!("return location.pathname === {} && document.documentElement.dataset.ready === 'true'", json!(own)))
        .await;
    browser.press_until("gh", "return location.pathname === '/'").await;
}

/// Every call of the demo opens, whatever its tool, and no tab is empty or complains.
#[test]
fn every_block_opens_and_other_views_are_there() {
    let server = Server::demo();
    let home = server.get("/sessions");
    let ids: BTreeSet<&str> = home.split("href=\"/s/").skip(1).filter_map(|rest| rest.split(['"', '?', '#', '/']).next()).collect();
    assert!(ids.len() >= 8, "{ids:?}");
    let sessions: Vec<String> = ids.iter().map(|id| server.to(&format!("/s/{id}"))).collect();
    for extension in ["html", "md", "json", "patch"] {
        let saved = server.get(&format!("{PROBLEMS}/export.{extension}"));
        assert!(saved.contains("csv"), "{extension}: {saved}");
    }
    with_browser(|browser| async move {
        for page in &sessions {
            browser.open(page).await;
            // Again and again: what a subagent did is inside of what was opened.
            let opened = "for (const one of document.querySelectorAll('#tt-rows details')) one.open = true;
                const place = document.querySelector('#tt-rows .away');
                place?.scrollIntoView();
                return !place && [...document.querySelectorAll('#tt-rows .row[data-body][open]')].every((row) => row.matches('[data-filled]'))
                    && [...document.querySelectorAll('#tt-rows details')].every((one) => one.open)";
            browser.until(opened).await;
            let empty = browser
                .ask("return [...document.querySelectorAll('#tt-rows .call > .body')].filter((body) => !body.textContent.trim()).length")
                .await;
            assert_eq!(empty, json!(0), "{page}");
            let wide = browser.ask("return document.documentElement.scrollWidth - innerWidth").await;
            assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "{page} is {wide} px too wide");
            for (tab, wanted) in [("changes", ".filed, .view p"), ("raw", ".raw li")] {
                browser.open(&format!("{page}/{tab}")).await;
                assert!(
                    browser
                        .ask(&format!("return document.querySelectorAll('{wanted}').length"))
                        .await
                        .as_u64()
                        .is_some_and(|number| number > 0),
                    "{page}/{tab}"
                );
            }
            browser.is_quiet(page);
        }
        // A line of a log in full.
        browser.click(".raw .n").await;
        browser.until("return document.querySelectorAll('.view .json').length === 1").await;
        // Small screens: nothing is cut off.
        browser.resize(375, 800, true);
        for page in &sessions {
            browser.open(page).await;
            let wide = browser.ask("return document.documentElement.scrollWidth - innerWidth").await;
            assert!(wide.as_i64().is_some_and(|wide| wide <= 0), "{page} is {wide} px too wide");
        }
        browser.is_quiet("small screens");
    });
}
