//! Pages that are open while agents work: rows come, statuses change in place, whoever reads is not disturbed, and nothing is lost where a
//! connection is.

use crate::driver::{Browser, with_browser};
use crate::server::Server;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tooltrail_testkit::agent::FakeAgent;
use tooltrail_testkit::corpus::{Long, long_session};

const SESSION: &str = "5e551011-aaaa-4bbb-8ccc-000000000001";
const PAGE: &str = "/s/5e551011-aaaa-4bbb-8ccc-000000000001";
/// What the issue of being live wants of an append and of a status.
const SOON: f64 = 300.0;

fn agent(home: &Path) -> FakeAgent {
    let mut agent = FakeAgent::start(home, "/srv/live", SESSION).expect("a log");
    agent.prompt("make it live").expect("a record");
    for number in 0..30 {
        agent.call(&format!("toolu_old{number}"), &format!("echo {number}")).expect("a record");
        agent.result(&format!("toolu_old{number}"), Ok("done")).expect("a record");
    }
    agent
}

fn clock() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs_f64() * 1000.0
}

/// Has the page note when a script first says yes.
async fn note(browser: &Browser, name: &str, script: &str) {
    let watch = format!(
        "const is = () => {{ {script} }}; const look = () => {{ if (is()) {{ window.{name} = Date.now(); seen.disconnect(); }} }};
         const seen = new MutationObserver(look); seen.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }}); look();"
    );
    browser.ask(&watch).await;
}

/// How long after a moment the page noted it.
async fn noted(browser: &Browser, name: &str, since: f64) -> f64 {
    browser.until(&format!("return typeof window.{name} === 'number'")).await;
    browser.ask(&format!("return window.{name}")).await.as_f64().expect("a time") - since
}

/// Waits until a page has its connection.
async fn linked(browser: &Browser) {
    browser.until("return document.documentElement.dataset.link === 'up'").await;
}

#[test]
fn the_output_of_a_call_at_work_comes_as_it_is_written() {
    let home = tempfile::tempdir().expect("a directory");
    let mut agent = agent(home.path());
    agent.call("toolu_work", "make").expect("a record");
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        browser.open(&server.to(PAGE)).await;
        linked(&browser).await;
        let shows = |words: &str| format!("return document.getElementById('toolu_work')?.innerText.includes('{words}') === true");
        browser.until(&shows("make")).await;
        // The first output opens the row; more of it comes in place.
        agent.progress("toolu_work", "one\n", 4).expect("a record");
        browser.until(&shows("output so far, after 4.0 s")).await;
        agent.progress("toolu_work", "one\ntwo\n", 5).expect("a record");
        browser.until(&shows("two")).await;
        // Whoever closes it is not disturbed by more.
        browser.ask("document.getElementById('toolu_work').open = false").await;
        agent.progress("toolu_work", "one\ntwo\nthree\n", 6).expect("a record");
        browser.until("return document.getElementById('toolu_work').dataset.progress === '65'").await;
        assert_eq!(browser.ask("return document.getElementById('toolu_work').open").await, json!(false));
        browser.is_quiet("a call at work");
    });
}

#[test]
fn a_table_of_calls_says_that_there_are_new_ones() {
    let home = tempfile::tempdir().expect("a directory");
    let mut agent = agent(home.path());
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        browser.open(&server.to("/calls?q=tool:Bash")).await;
        linked(&browser).await;
        assert_eq!(browser.ask("return document.getElementById('tt-newer').textContent").await, json!(""));
        agent.call("toolu_new", "echo new").expect("a record");
        browser.until("return document.getElementById('tt-newer').textContent.includes('There is a new call.')").await;
        assert_eq!(browser.seen("table.calls tbody tr:not(.day)").await, 30, "what is read stays where it is");
        browser.click("#tt-newer a").await;
        browser.until("return document.querySelectorAll('table.calls tbody tr:not(.day)').length === 31 && document.getElementById('tt-newer').textContent === ''").await;
        browser.until("return /^\\d+ s$/.test(document.querySelector('td.took [data-since]').textContent)").await;
        browser.is_quiet("a table of calls");
    });
}

#[test]
fn a_page_follows_its_session() {
    let home = tempfile::tempdir().expect("a directory");
    let mut agent = agent(home.path());
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        browser.open(&server.to(PAGE)).await;
        linked(&browser).await;
        browser.ask("scrollTo(0, document.documentElement.scrollHeight)").await;
        let (mut came, mut changed) = (Vec::new(), Vec::new());
        for number in 0..6 {
            let id = format!("toolu_new{number}");
            note(&browser, &format!("came{number}"), &format!("return !!document.getElementById('{id}')?.matches('.s-running')")).await;
            note(&browser, &format!("changed{number}"), &format!("return !!document.getElementById('{id}')?.matches('.s-failed')")).await;
            let start = clock();
            agent.call(&id, "cargo test").expect("a record");
            came.push(noted(&browser, &format!("came{number}"), start).await);
            let start = clock();
            agent.result(&id, Err((101, "test failed"))).expect("a record");
            changed.push(noted(&browser, &format!("changed{number}"), start).await);
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        // On a loaded machine one may be late; all of them are only if something is slow.
        for times in [&came, &changed] {
            assert!(
                times.iter().copied().fold(f64::INFINITY, f64::min) < SOON,
                "ms until rows came {came:?}, until they changed {changed:?}"
            );
        }
        assert_eq!(browser.ask("return document.querySelectorAll('#toolu_new5').length").await, json!(1));
        // Whoever is at the end stays there.
        browser.until("return document.getElementById('tt-end').getBoundingClientRect().top < innerHeight").await;
        assert_eq!(browser.ask("return document.getElementById('tt-new').hidden").await, json!(true));
        around(&browser, &mut agent).await;
        away_from_the_end(&browser, &mut agent).await;
        opened(&browser, &mut agent).await;
        browser.is_quiet("a session that grows");
    });
}

#[test]
fn changes_and_raw_lines_follow_too() {
    let home = tempfile::tempdir().expect("a directory");
    let mut agent = agent(home.path());
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        browser.open(&server.to(&format!("{PAGE}/changes"))).await;
        linked(&browser).await;
        agent.create("toolu_a", "/srv/live/a.txt", "one\n").expect("a record");
        browser.until("return document.querySelectorAll('.filed').length === 1").await;
        browser.ask("document.querySelector('.filed details').open = false").await;
        agent.create("toolu_b", "/srv/live/b.txt", "two\n").expect("a record");
        browser.until("return document.querySelectorAll('.filed').length === 2").await;
        let open = "return [...document.querySelectorAll('.filed details')].map((file) => file.open)";
        assert_eq!(browser.ask(open).await, json!([false, true]), "what was closed stays so");
        // The end of the log is wherever it is.
        browser.open(&server.to(&format!("{PAGE}/raw?end=1"))).await;
        linked(&browser).await;
        assert_eq!(browser.ask("return document.querySelectorAll('.raw li').length").await, json!(65));
        agent.say("the last word").expect("a record");
        browser.until("return document.getElementById('line-66')?.textContent.includes('the last word')").await;
        browser.is_quiet("views that follow");
    });
}

/// State, figures, chips, digest and outline follow.
async fn around(browser: &Browser, agent: &mut FakeAgent) {
    let text = |selector: &str| format!("(document.querySelector('{selector}')?.textContent ?? '')");
    browser.until(&format!("return {}.includes('6')", text(".chip.s-failed"))).await;
    browser.until(&format!("return {}.includes('calls 36')", text(".top .about"))).await;
    browser.until(&format!("return {}.includes('test')", text("#tt-digest"))).await;
    agent.question("toolu_ask", "Which colour?").expect("a record");
    browser.until(&format!("return /asks|question/.test({})", text(".top .state"))).await;
    browser.until("return document.title.startsWith('(1) ')").await;
    agent.result("toolu_ask", Ok("blue")).expect("a record");
    agent.prompt("another turn").expect("a record");
    browser.until("return document.querySelectorAll('.turns li').length === 2").await;
    browser.until("return !document.title.startsWith('(')").await;
    browser.until(&format!("return /working/.test({})", text(".top .state"))).await;
}

/// Whoever reads elsewhere is told how much there is, and nothing moves.
async fn away_from_the_end(browser: &Browser, agent: &mut FakeAgent) {
    browser.ask("scrollTo(0, 300)").await;
    browser.ask("window.place = document.getElementById('toolu_old12').getBoundingClientRect().top").await;
    for number in 0..3 {
        agent.say(&format!("word {number}")).expect("a record");
    }
    browser.until("const pill = document.getElementById('tt-new'); return !pill.hidden && pill.textContent === '3 new ↓'").await;
    let moved = browser.ask("return Math.abs(document.getElementById('toolu_old12').getBoundingClientRect().top - window.place)").await;
    assert!(moved.as_f64().is_some_and(|moved| moved < 2.0), "moved by {moved}");
    browser.click("#tt-new").await;
    browser.until("return document.getElementById('tt-new').hidden && document.getElementById('tt-end').getBoundingClientRect().top < innerHeight").await;
}

/// A row that is open stays open, with the focus, when it comes back; what is in it is what came.
async fn opened(browser: &Browser, agent: &mut FakeAgent) {
    agent.call("toolu_open", "make").expect("a record");
    browser.until("return !!document.getElementById('toolu_open')").await;
    browser.until("return /^\\d+ s$/.test(document.querySelector('#toolu_open .took').textContent)").await;
    browser.ask("const row = document.getElementById('toolu_open'); row.firstElementChild.focus(); row.open = true").await;
    browser.until("return !!document.querySelector('#toolu_open > div.body')").await;
    agent.result("toolu_open", Ok("built everything")).expect("a record");
    browser.until("return document.querySelector('#toolu_open > div.body')?.textContent.includes('built everything')").await;
    let kept = browser
        .ask("const row = document.getElementById('toolu_open'); return row.open && document.activeElement === row.firstElementChild")
        .await;
    assert_eq!(kept, json!(true), "open, and with the focus");
}

#[test]
fn eight_pages_share_a_connection_and_outlive_the_server() {
    let home = tempfile::tempdir().expect("a directory");
    let mut agent = agent(home.path());
    let mut server = Server::of(home.path());
    with_browser(|browser| async move {
        let mut tabs = vec![browser.window().await.expect("a window")];
        browser.open(&server.to(PAGE)).await;
        for path in ["/", PAGE, "/sessions", PAGE, "/", PAGE, PAGE] {
            let tab = browser.new_window(true).await.expect("another tab").handle;
            browser.switch_to_window(tab.clone()).await.expect("the tab");
            browser.open(&server.to(path)).await;
            linked(&browser).await;
            tabs.push(tab);
        }
        agent.call("toolu_all", "sleep 100").expect("a record");
        everywhere(&browser, &tabs, "toolu_all").await;
        // Written while nobody listens: nothing is lost, nothing comes twice.
        server.stop();
        agent.result("toolu_all", Ok("slept")).expect("a record");
        agent.call("toolu_meanwhile", "sleep 101").expect("a record");
        tokio::time::sleep(Duration::from_millis(300)).await;
        server.again();
        agent.call("toolu_after", "sleep 102").expect("a record");
        everywhere(&browser, &tabs, "toolu_after").await;
        let ids = "const ids = [...document.querySelectorAll('#tt-rows .call')].map((row) => row.id); return [ids.length, new Set(ids).size, !!document.querySelector('#toolu_all.s-succeeded')]";
        browser.switch_to_window(tabs[0].clone()).await.expect("the tab");
        assert_eq!(browser.ask(ids).await, json!([33, 33, true]));
    });
}

/// Every tab shows a call: a session's page its row, lists the session as at work.
async fn everywhere(browser: &Browser, tabs: &[fantoccini::wd::WindowHandle], call: &str) {
    for tab in tabs {
        browser.switch_to_window(tab.clone()).await.expect("the tab");
        let shows = format!(
            "if (document.getElementById('tt-rows')) return !!document.getElementById('{call}');
             const text = document.getElementById('main').textContent; return location.pathname === '/' ? text.includes('sleep 10') : text.includes('working')"
        );
        browser.until(&shows).await;
    }
}

fn append(log: &Path, lines: &[&str]) {
    let mut file = std::fs::OpenOptions::new().append(true).open(log).expect("the log");
    std::io::Write::write_all(&mut file, (lines.join("\n") + "\n").as_bytes()).expect("written");
}

#[test]
fn a_session_grows_by_5000_rows_under_the_readers_eyes() {
    let home = tempfile::tempdir().expect("a directory");
    let logs = home.path().join(".claude/projects/-srv-live");
    std::fs::create_dir_all(&logs).expect("a directory");
    let log = logs.join(format!("{SESSION}.jsonl"));
    let whole = home.path().join("whole.jsonl");
    long_session(&whole, &Long { rows: 6_000, seed: 11 }).expect("a log");
    let text = std::fs::read_to_string(&whole).expect("a log");
    std::fs::remove_file(&whole).expect("its own log");
    let id =
        text.lines().find_map(|line| serde_json::from_str::<Value>(line).ok()?["sessionId"].as_str().map(str::to_owned)).expect("an id");
    let lines: Vec<&str> = text.lines().collect();
    let (first, rest) = lines.split_at(lines.len() / 6);
    std::fs::write(&log, first.join("\n") + "\n").expect("a log");
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        browser.open(&server.to(&format!("/s/{id}"))).await;
        linked(&browser).await;
        let total = "return [...document.querySelectorAll('#tt-rows > .rows')].reduce((sum, place) => sum + Number(place.dataset.c), 0)";
        let before = browser.ask(total).await.as_u64().expect("a number");
        browser.ask("scrollTo(0, 4000)").await;
        // The middle may fall between two rows.
        browser
            .until("const hit = document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('.row, .turn, .quiet'); if (!hit) scrollBy(0, 9); return !!hit")
            .await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        browser
            .ask(
                "const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('.row, .turn, .quiet'); window.row = middle; window.top0 = middle.getBoundingClientRect().top;
                 window.gaps = []; window.moved = 0; let last = performance.now();
                 const frame = (now) => { gaps.push(now - last); last = now; moved = Math.max(moved, Math.abs(row.getBoundingClientRect().top - top0)); requestAnimationFrame(frame); }; requestAnimationFrame(frame);",
            )
            .await;
        let start = Instant::now();
        let (rest, last) = rest.split_at(rest.len() - rest.len() / 10);
        for lines in rest.chunks(rest.len() / 60 + 1) {
            append(&log, lines);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        browser.until(&format!("{} >= {}", total, before + 4_300)).await;
        let took = start.elapsed();
        let frames = browser.ask("const sorted = gaps.toSorted((a, b) => a - b); return [sorted[Math.floor(sorted.length / 2)], sorted[Math.floor(sorted.length * .95)], sorted.length, moved]").await;
        let of = |place: usize| frames[place].as_f64().expect("a number");
        assert!(of(3) < 2.0, "what was read moved by {} px", of(3));
        // Every other frame may be late on a loaded machine; docs/performance.md has the figures of a quiet one.
        assert!(of(0) < 34.0, "frames {frames} in {took:?}");
        // Whoever scrolls about meanwhile, and is not the only one who looks, gets everything as well.
        for (number, lines) in last.chunks(last.len() / 20 + 1).enumerate() {
            append(&log, lines);
            server.get(&format!("/s/{id}/live"));
            browser.ask(&format!("scrollTo(0, document.documentElement.scrollHeight * {})", (number * 7 % 10) as f64 / 10.0)).await;
        }
        let told: Value = serde_json::from_str(&server.get(&format!("/s/{id}/live"))).expect("it is JSON");
        let all: u64 = told["sections"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|place| place[7] == true)
            .filter_map(|place| place[2].as_u64())
            .sum();
        browser.until(&format!("{total} === {all}")).await;
        browser.until("scrollTo(0, document.documentElement.scrollHeight / 2 + (window.more = (window.more ?? 0) + 9)); return !!document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('.row, .turn, .quiet')").await;
        // The browser tells of parts that were asked for again.
        let console: Vec<String> = browser.console().into_iter().filter(|line| !line.contains("409 (Conflict)")).collect();
        assert!(console.is_empty(), "{console:#?}");
    });
}
