//! The review of changes in a browser: keys, what was viewed, the filter, two looks, files that come when the reader is near.

use crate::driver::{Browser, with_browser};
use crate::server::Server;
use serde_json::json;
use tooltrail_testkit::agent::FakeAgent;

const SESSION: &str = "0c0ffee0-1111-4222-8333-444455556666";
/// Files of the session; the last ones do not come with the page.
const FILES: usize = 30;

fn session(home: &std::path::Path) {
    let mut agent = FakeAgent::start(home, "/srv/live", SESSION).expect("a log");
    agent.prompt("change it").expect("a record");
    for number in 0..FILES {
        let text: String = (0..110).map(|line| format!("let value_{line} = {number};\n")).collect();
        let path = format!("/srv/live/src/part_{}/file_{number:02}.rs", number % 3);
        let edited = text.replace("let value_9 =", "let nine =");
        agent.edit(&format!("toolu_{number}"), &path, &text, "let value_9 =", "let nine =").expect("a record");
        agent.edit(&format!("toolu_more_{number}"), &path, &edited, "let value_90 =", "let ninety =").expect("a record");
        let long: String = (0..60).map(|line| format!("fn f_{line}() -> u32 {{ {line} }}\n")).collect();
        agent
            .create(&format!("toolu_new_{number}"), &format!("/srv/live/src/part_{}/new_{number:02}.rs", number % 3), &long)
            .expect("a record");
    }
}

/// The file that the keys are at.
const AT: &str = "document.activeElement.closest('.filed')?.id";

#[test]
fn changes_are_reviewed_by_key() {
    let home = tempfile::tempdir().expect("a directory");
    session(home.path());
    let server = Server::of(home.path());
    let page = server.to(&format!("/s/{SESSION}/changes"));
    with_browser(|browser| async move {
        browser.open(&page).await;
        let away = browser.ask("return document.querySelectorAll('.filed .body.away').length").await;
        assert!(away.as_u64().is_some_and(|away| away > 0), "all files came with the page");
        files_and_hunks(&browser).await;
        viewed(&browser, &page).await;
        looks(&browser).await;
        filter(&browser).await;
        browser.is_quiet("the review");
    });
}

async fn files_and_hunks(browser: &Browser) {
    browser.press_until("j", &format!("return {AT} === 'file-0'")).await;
    browser.press_until("j", &format!("return {AT} === 'file-1'")).await;
    browser.press_until("k", &format!("return {AT} === 'file-0'")).await;
    browser.until("return document.querySelector('.tree a[aria-current]')?.dataset.file === '0'").await;
    let hunk = |place: usize| format!("return [...document.querySelectorAll('.hunk')].indexOf(document.activeElement) === {place}");
    browser.press_until("n", &hunk(0)).await;
    browser.press_until("n", &hunk(1)).await;
    browser.press_until("p", &hunk(0)).await;
    // Between two hunks unchanged lines can be had.
    browser.ask("document.querySelectorAll('.filed .fill')[1].click()").await;
    browser.until("return document.activeElement.matches('pre') && document.activeElement.textContent.includes('value_50')").await;
    // The tree leads to a file that is not here yet, and stays in sight.
    let last = format!("file-{}", 2 * FILES - 1);
    browser.ask(&format!("document.querySelector('.tree a[href=\"#{last}\"]').click()")).await;
    browser.until(&format!("const file = document.getElementById('{last}'); return !file.querySelector('.away') && file.querySelectorAll('.hunk').length > 0")).await;
    browser.until("const box = document.getElementById('tt-tree').getBoundingClientRect(); return box.top >= 0 && box.top < 200 && box.bottom <= innerHeight + 1").await;
}

async fn viewed(browser: &Browser, page: &str) {
    browser.open(page).await;
    browser.press_until("j", &format!("return {AT} === 'file-0'")).await;
    browser.press_until("v", &format!("return {AT} === 'file-1' && !document.querySelector('#file-0 details').open")).await;
    // It is remembered by its content.
    browser.open(page).await;
    browser
        .until("return !document.querySelector('#file-0 details').open && document.querySelector('.tree .seen').textContent === '1 viewed'")
        .await;
    assert_eq!(browser.ask("return document.querySelector('#file-0 [data-viewed]').checked").await, json!(true));
    browser.click("#file-0 .viewed").await;
    browser
        .until("return document.querySelector('#file-0 details').open && document.querySelector('.tree .seen').textContent === ''")
        .await;
}

async fn looks(browser: &Browser) {
    let sides =
        "const [old, fresh] = ['.rem', '.add'].map((side) => document.querySelector('#file-0 .both ' + side).getBoundingClientRect());";
    assert_eq!(browser.ask(&format!("{sides} return old.bottom <= fresh.top + 1")).await, json!(true));
    browser.press_until("s", &format!("{sides} return old.right <= fresh.left + 2 && Math.abs(old.top - fresh.top) < 2")).await;
    browser.press_until("s", &format!("{sides} return old.bottom <= fresh.top + 1")).await;
}

async fn filter(browser: &Browser) {
    browser.press_until("f", "return document.activeElement.id === 'tt-filter'").await;
    browser.press("PART_1/new_04").await;
    browser.until("return [...document.querySelectorAll('.filed')].filter((file) => file.checkVisibility()).length === 1").await;
    browser.until("return [...document.querySelectorAll('.tree li')].filter((leaf) => leaf.checkVisibility()).length === 1").await;
}
