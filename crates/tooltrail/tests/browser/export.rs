//! Exported pages in a browser: keys, filters, links, find, themes, packed rows, small screens, and what helps those who listen.
//!
//! Starting a browser is what takes the time, so a test goes through many things in one.

use crate::driver::{Browser, ENTER, ESCAPE, SHIFT, address, tooltrail, with_browser};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tooltrail_testkit::corpus::{Long, long_session};

/// Every session of the demo.
const DEMO: &[&str] = &["3f2a", "c2d4", "7c10", "b84e", "5e9d", "91f7", "d3a0", "019cb4"];

/// Writes a session of the demo below `folder`.
fn demo(folder: &Path, session: &str, more: &[&str]) -> PathBuf {
    let page = folder.join(format!("{session}{}.html", more.concat()));
    let mut arguments = vec!["export", "--demo", session, "-o", page.to_str().expect("a path of text")];
    arguments.extend(more);
    tooltrail(&arguments);
    page
}

/// Writes the session of a log beside it.
fn export(log: &Path, more: &[&str]) -> PathBuf {
    let page =
        log.with_extension(format!("{}html", more.iter().map(|word| format!("{}.", word.trim_start_matches('-'))).collect::<String>()));
    let mut arguments = vec!["export", log.to_str().expect("a path of text"), "-o", page.to_str().expect("a path of text")];
    arguments.extend(more);
    tooltrail(&arguments);
    page
}

/// Whether the selected row has this id, stands below the bar and above the foot, and is open where it can be.
fn here(id: &Value) -> String {
    format!(
        "const row = document.querySelector('.here'); if (row?.id !== {id}) return row?.id ?? 'nothing';
         const box = (row.matches('details') ? row.firstElementChild : row).getBoundingClientRect();
         return box.top >= document.querySelector('.bar').getBoundingClientRect().bottom && box.bottom <= innerHeight
            && (!row.matches('details') || row.open) || `${{box.top}}–${{box.bottom}}`"
    )
}

/// Whether the selected row is the one in this place of those that can be seen.
fn row_here(place: usize) -> String {
    format!(
        "const rows = [...document.querySelectorAll('#tt-rows .row')].filter((row) => row.checkVisibility());
         return rows.indexOf(document.querySelector('.here')) === {place}"
    )
}

const STATUS: &str = "return document.getElementById('tt-found').textContent";

#[test]
fn keys_filters_links_and_themes_work() {
    let folder = tempfile::tempdir().expect("a directory");
    let [problems, turns, codex] = ["7c10", "b84e", "019cb4"].map(|session| address(&demo(folder.path(), session, &[])));
    with_browser(|browser| async move {
        browser.open(&problems).await;
        problems_by_key(&browser).await;
        find_by_key(&browser).await;
        help_by_key(&browser).await;
        browser.open(&turns).await;
        rows_and_turns_by_key(&browser).await;
        outline(&browser).await;
        digest(&browser).await;
        browser.open(&codex).await;
        filters(&browser).await;
        themes(&browser, &codex).await;
        browser.is_quiet("the demo");
        // What is quiet here would have said so.
        browser.ask("console.error('seen'); document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:9/x.png' }))").await;
        let console = browser.console().join("\n");
        assert!(console.contains("seen") && console.contains("Content Security Policy"), "{console}");
    });
}

/// `e` and `E`: every problem in its order, also those inside a subagent.
async fn problems_by_key(browser: &Browser) {
    let ids = browser.ask("return [...document.querySelectorAll('.row.bad')].map((row) => row.id)").await;
    let ids = ids.as_array().expect("a list").clone();
    assert_eq!(ids.len(), 5);
    assert_eq!(browser.ask("return document.querySelectorAll('.sub .row.bad').length").await, json!(1), "one is a subagent's");
    for id in &ids {
        browser.press_until("e", &here(id)).await;
    }
    browser.press_until("e", &format!("{STATUS} === 'none after'")).await;
    for id in ids.iter().rev().skip(1) {
        browser.press_until("E", &here(id)).await;
    }
    browser.click("#tt-bad-next").await;
    browser.until(&here(&ids[1])).await;
    browser.press_until(ESCAPE, "return !document.querySelector('.here')").await;
}

/// `/`, `Enter`, `n` and `N`.
async fn find_by_key(browser: &Browser) {
    let found = "const [range] = CSS.highlights.get('tt-here') ?? []; const box = range?.getBoundingClientRect();
        return range?.toString().toLowerCase() === 'rfc4180' && box.height > 0 && box.top > 0 && box.bottom <= innerHeight";
    browser.press_until("/", "return document.activeElement.id === 'tt-find'").await;
    browser.press("RFC4180").await;
    browser.until("return /^\\d+ found$/.test(document.getElementById('tt-found').textContent)").await;
    let total = browser.ask(STATUS).await.as_str().expect("a text").replace(" found", "");
    assert!(total.parse::<u64>().is_ok_and(|total| total > 2), "{total}");
    browser.press_until(ENTER, &format!("{STATUS} === '1 of {total}'")).await;
    browser.until(found).await;
    // Here letters are letters again.
    browser.press_until(ESCAPE, "return document.activeElement.id !== 'tt-find'").await;
    browser.press_until("n", &format!("{STATUS} === '2 of {total}'")).await;
    browser.until(found).await;
    browser.press_until("N", &format!("{STATUS} === '1 of {total}'")).await;
    browser.press_until("N", &format!("{STATUS} === '{total} of {total}'")).await;
    browser.until(found).await;
    browser.press_until("/", "return document.activeElement.id === 'tt-find'").await;
    browser.press("nowhere-to-be-found").await;
    browser.until(&format!("{STATUS} === 'no match'")).await;
    // Out of the field, then out of the search.
    browser.press_until(ESCAPE, "return document.activeElement.id !== 'tt-find' && document.getElementById('tt-find').value !== ''").await;
    browser.press_until(ESCAPE, "return document.getElementById('tt-find').value === '' && !CSS.highlights.has('tt-found')").await;
}

/// `?` and `Esc`, and that keys can be switched off.
async fn help_by_key(browser: &Browser) {
    browser.press_until("?", "return document.getElementById('tt-help').open").await;
    browser.click("#tt-keys").await;
    browser.press_until(ESCAPE, "return !document.getElementById('tt-help').open").await;
    let theme = "return document.documentElement.dataset.theme ?? 'auto'";
    browser.press("t").await;
    assert_eq!(browser.ask(theme).await, json!("auto"), "keys are off");
    browser.click("#tt-help-open").await;
    browser.click("#tt-keys").await;
    browser.click("#tt-help-close").await;
    browser.press_until("t", "return document.documentElement.dataset.theme === 'light'").await;
    browser.click(".theme label:first-of-type").await;
    assert_eq!(browser.ask(theme).await, json!("auto"));
}

/// `j`, `k`, `J`, `K`, `Enter`, `o`, `gg` and `G`.
async fn rows_and_turns_by_key(browser: &Browser) {
    for place in [0, 1, 2] {
        browser.press_until("j", &row_here(place)).await;
    }
    browser.press_until("k", &row_here(1)).await;
    let open = "return document.querySelector('.here').open";
    assert_eq!(browser.ask(open).await, json!(false));
    browser.press_until(ENTER, open).await;
    // An open call can be copied.
    browser.until("return document.querySelectorAll('.here > .body > .tools button').length === 2").await;
    browser.press_until("o", "return !document.querySelector('.here').open").await;
    for turn in ["turn-2", "turn-3"] {
        browser.press_until("J", &here(&json!(turn))).await;
    }
    browser.press_until("K", &here(&json!("turn-2"))).await;
    browser.press_until("G", &row_here(browser.seen("#tt-rows .row").await as usize - 1)).await;
    browser.until("return scrollY > 0").await;
    browser.press_until("gg", "return scrollY === 0").await;
}

/// Links lead where they say, and say where one is.
async fn outline(browser: &Browser) {
    browser.until("return document.querySelector('.turns a[aria-current]')?.hash === '#turn-1'").await;
    for turn in ["turn-4", "turn-2", "turn-5"] {
        browser.click(&format!(".turns a[href=\"#{turn}\"]")).await;
        browser.until(&here(&json!(turn))).await;
        assert_eq!(browser.ask("return document.querySelector('.turns a[aria-current]').hash").await, json!(format!("#{turn}")));
    }
    browser.click(".problems > summary").await;
    let ids =
        browser.ask("return [...document.querySelectorAll('.problems a')].map((link) => decodeURIComponent(link.hash.slice(1)))").await;
    let ids = ids.as_array().expect("a list").clone();
    assert_eq!(ids.len(), 9);
    for (place, id) in ids.iter().enumerate() {
        browser.click(&format!(".problems li:nth-child({}) a", place + 1)).await;
        browser.until(&here(id)).await;
    }
}

/// Every call that the digest names is a link to it, in the order in which it can be reached by key.
async fn digest(browser: &Browser) {
    let links =
        browser.ask("return [...document.querySelectorAll('.digest a')].map((link) => decodeURIComponent(link.hash.slice(1)))").await;
    let links = links.as_array().expect("a list").clone();
    assert!(links.len() >= 9, "{links:?}");
    for (place, id) in links.iter().enumerate() {
        browser.ask(&format!("document.querySelectorAll('.digest a')[{place}].focus()")).await;
        browser.press_until("\u{e007}", &here(id)).await;
    }
}

/// Every filter hides its own and nothing else.
async fn filters(browser: &Browser) {
    let all = browser.seen(".row").await;
    let shown = [("#tt-f-text", ".m-model"), ("#tt-f-thought", ".m-thought"), ("#tt-f-note", ".m-program, .m-event")];
    let kinds = [("#tt-k-shell", ".k-shell"), ("#tt-k-edit", ".k-edit"), ("#tt-k-todo", ".k-todo"), ("#tt-k-subagent", ".k-subagent")];
    for (filter, rows) in shown.into_iter().chain(kinds) {
        let before = browser.seen(rows).await;
        assert!(before > 0, "{rows}");
        if filter.starts_with("#tt-k-") {
            browser.ask("document.querySelector('.menu').open = true").await;
        }
        browser.click(filter).await;
        assert_eq!((browser.seen(rows).await, browser.seen(".row").await), (0, all - before), "{filter}");
        browser.click(filter).await;
        assert_eq!(browser.seen(".row").await, all, "{filter} again");
    }
    browser.press_until(ESCAPE, "return !document.querySelector('.menu').open").await;
    browser.click("#tt-f-bad").await;
    let bad = browser.seen(".row.bad").await;
    assert!(bad > 0 && bad < all);
    assert_eq!(browser.seen(".row:not(.bad, .bad-in, .m-person)").await, 0);
    browser.click("#tt-f-bad").await;
    browser.ask("for (const fold of document.querySelectorAll('.call, .sub')) fold.open = true").await;
    assert!(browser.seen(".sub").await > 0);
    browser.click("#tt-f-sub").await;
    assert_eq!(browser.seen(".sub").await, 0);
    browser.click("#tt-f-sub").await;
}

/// The system's theme, or the one that was chosen, also for the next page.
async fn themes(browser: &Browser, page: &str) {
    let (light, dark) = (json!("rgb(255, 255, 255)"), json!("rgb(15, 19, 22)"));
    let system = |scheme: &str| {
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.chromium("Emulation.setEmulatedMedia", &feature);
    };
    system("light");
    assert_eq!(browser.ground().await, light);
    system("dark");
    assert_eq!(browser.ground().await, dark, "as the system");
    browser.press("t").await;
    assert_eq!(browser.ground().await, light, "light, whatever the system says");
    system("light");
    browser.press("t").await;
    assert_eq!(browser.ground().await, dark, "dark, whatever the system says");
    browser.open(page).await;
    assert_eq!(browser.ground().await, dark, "the choice is kept");
    browser.click(".theme label:nth-of-type(2)").await;
    assert_eq!(browser.ground().await, light);
    browser.press("tt").await;
}

#[test]
fn packed_rows_are_there_when_somebody_wants_them() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = folder.path().join("long.jsonl");
    long_session(&log, &Long { rows: 2_500, seed: 3 }).expect("a log");
    let text = std::fs::read_to_string(&log).expect("a log is text");
    let (packed, plain) = (export(&log, &[]), export(&log, &["--plain"]));
    let size = |page: &Path| std::fs::metadata(page).expect("a page").len();
    let (small, large) = (size(&packed), size(&plain));
    assert!(large > 5_000_000, "{large} bytes are too few to be packed");
    assert!(small * 3 < large, "{small} of {large} bytes");
    with_browser(|browser| async move {
        let page = address(&packed);
        deep_links(&browser, &page).await;
        browser.open(&page).await;
        what_is_near_is_unpacked(&browser).await;
        let needles = ["harbour", &last_command(&text)];
        let counted = found_in_packed(&browser, &needles).await;
        let everything = everything_unpacked(&browser).await;
        browser.is_quiet("the packed page");
        browser.goto(&address(&plain)).await.expect("the page opens");
        for (needle, count) in needles.iter().zip(counted) {
            assert_eq!(browser.ask(&format!("const needle = {}; {COUNT}", json!(needle.to_lowercase()))).await, count, "{needle}");
        }
        assert_eq!(browser.ask(EVERYTHING).await, everything, "both pages hold the same");
    });
}

/// Ids and texts of all rows, made short.
const EVERYTHING: &str = "
    let hash = 0;
    const rows = [...document.querySelectorAll('.row')];
    for (const row of rows) {
        const twin = row.cloneNode(true);
        for (const added of twin.querySelectorAll('.tools, .wait')) added.remove();
        for (const letter of row.id + twin.textContent) hash = (hash * 31 + letter.codePointAt(0)) | 0;
    }
    return [rows.length, hash];";

/// How often a text stands on a page, as the page's own search counts.
const COUNT: &str = "
    let count = 0;
    for (const unit of document.querySelectorAll('.rows')) {
        const twin = unit.cloneNode(true);
        for (const other of twin.querySelectorAll('.vh, .rows, .tools')) other.remove();
        count += twin.textContent.toLowerCase().split(needle).length - 1;
    }
    return count;";

/// The last command of a log: it stands in the last packed rows, and has letters that a page has to escape.
fn last_command(log: &str) -> String {
    let calls = log.lines().rev().filter(|line| line.contains("\"name\":\"Bash\"") && line.contains("2>&1")).find_map(|line| {
        let record: Value = serde_json::from_str(line).ok()?;
        record["message"]["content"][0]["input"]["command"].as_str().map(str::to_owned)
    });
    calls.expect("a command")
}

/// An address with the id of a call shows that call, wherever it is packed.
async fn deep_links(browser: &Browser, page: &str) {
    browser.open(page).await;
    let ids = browser
        .ask(
            "const pick = (ids, at) => ids[Math.floor(ids.length * at)]?.id;
             const [far, inner] = [document.querySelectorAll('.rows.packed > a[id^=toolu]'), document.querySelectorAll('.store > a[id^=toolu]')];
             return [pick(far, .9), pick(far, .5), pick(inner, .5)]",
        )
        .await;
    for id in ids.as_array().expect("a list") {
        assert!(id.is_string(), "{ids}");
        browser.open(&format!("{page}#{}", id.as_str().unwrap_or_default())).await;
        browser.until(&here(id)).await;
        assert!(browser.seen(".rows.packed").await > 5, "the rest stays packed");
    }
    // From one to the next without loading.
    for id in ids.as_array().expect("a list") {
        browser.ask(&format!("location.hash = {id}")).await;
        browser.until(&here(id)).await;
    }
    let last = browser.ask("return document.querySelector('.turns li:last-child a').hash").await;
    browser.ask("document.querySelector('.turns li:last-child a').click()").await;
    browser.until(&here(&json!(last.as_str().unwrap_or_default().trim_start_matches('#')))).await;
}

/// Wherever one scrolls, there are rows.
async fn what_is_near_is_unpacked(browser: &Browser) {
    let near = "return document.querySelectorAll('.call').length > 0 && ![...document.querySelectorAll('.rows.packed')].some((place) => {
        const box = place.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight && place.checkVisibility(); })";
    let packed = browser.seen(".rows.packed").await;
    assert!(packed > 10, "{packed}");
    for share in ["0.3", "0.7", "1"] {
        browser.ask(&format!("scrollTo(0, document.documentElement.scrollHeight * {share})")).await;
        browser.until(near).await;
    }
    // With only problems shown the page is shorter, and places without any are gone.
    let height = "return document.documentElement.scrollHeight";
    browser.ask("scrollTo(0, 0)").await;
    let before = browser.ask(height).await.as_u64().expect("a number");
    browser.click("#tt-f-bad").await;
    let after = browser.ask(height).await.as_u64().expect("a number");
    assert!(after * 2 < before, "{after} of {before}");
    browser.press_until("e", "return document.querySelector('.here')?.matches('.bad') === true").await;
    browser.click("#tt-f-bad").await;
}

/// What is found in rows that nobody has unpacked; how often each.
async fn found_in_packed(browser: &Browser, needles: &[&str]) -> Vec<Value> {
    let mut counted = Vec::new();
    for needle in needles {
        browser.press_until("/", "return document.activeElement.id === 'tt-find'").await;
        browser.press(needle).await;
        // The one before, of what stands there: however slowly letters came, this is about all of them.
        browser.chord(SHIFT, ENTER).await;
        let script = format!(
            "const [range] = CSS.highlights.get('tt-here') ?? []; const box = range?.getBoundingClientRect();
             return range?.toString().toLowerCase() === {} && box.height > 0 && box.top > 0 && box.bottom <= innerHeight",
            json!(needle.to_lowercase())
        );
        browser.until(&script).await;
        let said = browser.ask(STATUS).await.as_str().unwrap_or_default().replace(',', "");
        let (_, total) = said.split_once(" of ").unwrap_or_else(|| panic!("{said}"));
        counted.push(json!(total.parse::<u64>().expect("a number")));
        browser.press(&ESCAPE.to_string()).await;
    }
    counted
}

/// Everything, opened.
async fn everything_unpacked(browser: &Browser) -> Value {
    browser.click("#tt-help-open").await;
    browser.click("#tt-open-all").await;
    browser
        .until(
            "return !document.querySelector('.rows.packed, .store') && [...document.querySelectorAll('.call')].every((call) => call.open)",
        )
        .await;
    assert_eq!(browser.ask(TWICE).await, json!([]), "ids are unique");
    browser.ask(EVERYTHING).await
}

/// Ids that stand there twice.
const TWICE: &str = "const seen = new Set(); return [...document.querySelectorAll('[id]')].map((one) => one.id).filter((id) => seen.has(id) || !seen.add(id))";

/// A prompt without an answer, with a word that fits nowhere, from right to left.
fn odd(folder: &Path) -> PathBuf {
    let log = folder.join("odd.jsonl");
    let text = format!("{} שלום **עולם**, هذا نص طويل\n\n| a | b |\n|---|---|\n| {} | x |", "unbroken".repeat(200), "wide".repeat(60));
    let prompt = json!({"type":"user","uuid":"u1","parentUuid":null,"sessionId":"odd","timestamp":"2026-03-04T10:00:00.000Z",
        "cwd": format!("/srv/{}", "deep/".repeat(60)), "gitBranch": "b".repeat(300), "message":{"role":"user","content":text}});
    std::fs::write(&log, format!("{prompt}\n")).expect("a log");
    log
}

#[test]
fn pages_suit_small_screens_readers_and_browsers_without_scripts() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut pages: Vec<PathBuf> = DEMO.iter().map(|session| demo(folder.path(), session, &[])).collect();
    pages.push(export(&odd(folder.path()), &[]));
    pages.push(demo(folder.path(), "b84e", &["--turns", "2"]));
    let plain = demo(folder.path(), "7c10", &["--plain"]);
    let scripted = pages[2].clone();
    with_browser(|browser| async move {
        for page in &pages {
            browser.open(&address(page)).await;
            browser.ask("for (const fold of document.querySelectorAll('#tt-rows details')) fold.open = true").await;
            accessible(&browser, page).await;
            fits(&browser, page).await;
            browser.is_quiet(&page.display().to_string());
        }
        // The checks would say so.
        let wrong = "const rows = document.getElementById('tt-rows');
            rows.innerHTML = '<h1>x</h1><button></button><p id=tt-rows>x</p>'; rows.lastElementChild.style.width = '5000px'";
        browser.ask(wrong).await;
        let broken = browser.ask(BROKEN).await.to_string();
        assert!(
            broken.contains("2 h1") && broken.contains("twice") && broken.contains("small") && nameless(&browser).len() == 1,
            "{broken}"
        );
        assert!(browser.ask(WIDE).await.as_u64() > Some(0));
        browser.console();
        without_scripts(&browser, &scripted, &plain).await;
    });
}

/// What those who listen, or use no mouse, would miss.
const BROKEN: &str = "
    const bad = [];
    const one = (selector) => { const count = document.querySelectorAll(selector).length; if (count !== 1) bad.push(count + ' ' + selector); };
    one('h1'); one('main'); one('html[lang]'); one('nav[aria-label]'); one('title');
    const ids = new Set();
    for (const { id } of document.querySelectorAll('[id]')) { if (ids.has(id)) bad.push('twice: ' + id); ids.add(id); }
    const turns = [...document.querySelectorAll('h2.turn')].map((turn) => '#' + turn.id);
    const links = [...document.querySelectorAll('.turns a')].map((link) => link.hash);
    if (turns.join() !== links.join()) bad.push('outline ' + links + ' for ' + turns);
    for (const image of document.querySelectorAll('img:not([alt])')) bad.push('no alt: ' + image.outerHTML.slice(0, 80));
    for (const link of document.querySelectorAll('a[href^=\"#\"]'))
        if (!ids.has(decodeURIComponent(link.hash.slice(1)))) bad.push('leads nowhere: ' + link.hash);
    for (const target of document.querySelectorAll('button, summary, .tick, .theme label')) {
        const box = target.getBoundingClientRect();
        if (target.checkVisibility() && (box.height < 24 || box.width < 24)) bad.push(`small: ${box.width}x${box.height} ${target.outerHTML.slice(0, 80)}`);
    }
    return bad;";

/// By how much the page is wider than the screen.
const WIDE: &str = "return Math.max(0, document.documentElement.scrollWidth - innerWidth)";

/// What can be used but has no name, as the browser tells those who listen.
fn nameless(browser: &Browser) -> Vec<String> {
    const USABLE: &[&str] =
        &["button", "link", "checkbox", "radio", "searchbox", "textbox", "DisclosureTriangle", "navigation", "dialog", "image"];
    let tree = browser.chromium("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let used: Vec<&Value> = nodes
        .iter()
        .filter(|node| node["ignored"] != true && node["role"]["value"].as_str().is_some_and(|role| USABLE.contains(&role)))
        .collect();
    assert!(used.len() > 10, "{} of {}", used.len(), nodes.len());
    used.iter()
        .filter(|node| node["name"]["value"].as_str().is_none_or(|name| name.trim().is_empty()))
        .map(|node| node.to_string())
        .collect()
}

async fn accessible(browser: &Browser, page: &Path) {
    assert_eq!(browser.ask(BROKEN).await, json!([]), "{}", page.display());
    assert_eq!(nameless(browser), Vec::<String>::new(), "{}", page.display());
}

/// No page has to be moved sideways, not even on the smallest telephone; what is wide scrolls by itself.
async fn fits(browser: &Browser, page: &Path) {
    for (width, height) in [(360, 740), (600, 800), (820, 1100), (1040, 800)] {
        browser.resize(width, height, false);
        assert_eq!(browser.ask("return innerWidth").await, json!(width));
        assert_eq!(browser.ask(WIDE).await, json!(0), "{} at {width}", page.display());
        assert_eq!(browser.ask(BROKEN).await, json!([]), "{} at {width}", page.display());
    }
    browser.resize(1280, 900, false);
}

/// A plain page holds the same, without a script; its filters work all the same.
async fn without_scripts(browser: &Browser, scripted: &Path, plain: &Path) {
    browser.open(&address(scripted)).await;
    let everything = browser.ask(EVERYTHING).await;
    browser.goto(&address(plain)).await.expect("the page opens");
    assert_eq!(browser.ask("return document.scripts.length").await, json!(0));
    assert_eq!(browser.ask(EVERYTHING).await, everything);
    accessible(browser, plain).await;
    let all = browser.seen(".row").await;
    browser.click("#tt-f-bad").await;
    let bad = browser.seen(".row").await;
    assert!(bad > 0 && bad < all, "{bad} of {all}");
    browser.click("#tt-f-bad").await;
    browser.click(".theme label:nth-of-type(3)").await;
    assert_eq!(browser.ground().await, json!("rgb(15, 19, 22)"));
    browser.is_quiet("the plain page");
}
