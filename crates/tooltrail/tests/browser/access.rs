//! Every page for everybody: roles, names, order, contrast as it is painted, in both themes, on a wide and on a narrow screen; and that
//! no page asks another host for anything, breaks its own policy or complains.

use crate::driver::{Browser, with_browser};
use crate::server::Server;
use serde_json::{Value, json};

/// Pages of the demo: every page there is, and every status of a call.
const PAGES: &[&str] = &[
    "/",
    "/sessions",
    "/sessions?q=status:failed",
    "/sessions?q=stats:failed",
    "/sessions?q=project:nowhere",
    "/calls",
    "/calls?q=status:failed&sort=took&desc=1",
    "/calls?cols=time,tool,what,status,exit,session,ref,model,masked,hooks,background,input,result",
    "/calls?q=stats:failed",
    "/calls?q=project:nowhere",
    "/failures",
    "/failures?unresolved=1&period=all",
    "/failures?q=stats:failed",
    "/failures?q=project:nowhere",
    "/p/orbit",
    "/p/shop",
    "/p/nowhere",
    "/search",
    "/search?q=test",
    "/search?q=status:failed",
    "/search?q=nothing-has-this-word",
    "/help",
    "/s/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13",
    "/s/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13/changes",
    "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/changes?spaces=hide",
    "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/changes?file=0",
    "/s/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13/raw",
    "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/waterfall",
    "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/waterfall?call=8&color=kind",
    "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/waterfall?view=table&sort=-duration",
    "/s/91f7c26a-0e5d-4b38-8c94-7ad1e3b052fc/waterfall",
    "/s/b84e60d1-2c77-4e3a-9f18-c6d05a7b31e9",
    "/s/019cb4dd-5728-73c1-9b0e-5d2f84a6c7e1",
    "/s/nothing-like-this",
    "/c/nothing-like-this",
    "/nowhere",
];

/// What is looked for in each page.
const AUDIT: &str = include_str!("access.js");

/// What is asked from elsewhere.
const FOREIGN: &str = "return performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !name.startsWith(location.origin) && !name.startsWith('data:'))";

/// One call of each status there is in the demo.
async fn calls(browser: &Browser, server: &Server) -> Vec<String> {
    let mut found = Vec::new();
    for status in
        ["succeeded", "failed", "answered", "rejected", "blocked", "cancelled", "interrupted", "timed_out", "running", "unanswered"]
    {
        browser.open(&server.to(&format!("/search?q=status:{status}"))).await;
        let link = browser.ask("return document.querySelector('main a[href*=\"/c/\"]')?.getAttribute('href')").await;
        match link {
            Value::String(link) => found.push(link),
            _ => panic!("no call that {status} is listed"),
        }
    }
    found
}

async fn audit(browser: &Browser, address: &str, how: &str, wrong: &mut Vec<String>) {
    browser.open(address).await;
    let found = browser.ask(AUDIT).await;
    let found = found.as_array().expect("a list").iter().filter_map(Value::as_str);
    wrong.extend(found.map(|what| format!("{address} ({how}): {what}")));
    let foreign = browser.ask(FOREIGN).await;
    if foreign != json!([]) {
        wrong.push(format!("{address} ({how}): asks {foreign}"));
    }
}

fn prefer(browser: &Browser, theme: &str) {
    let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
    browser.chromium("Emulation.setEmulatedMedia", &features);
}

#[test]
fn every_page_is_for_everybody() {
    let server = Server::demo();
    with_browser(|browser| async move {
        let mut pages: Vec<String> = PAGES.iter().map(|page| (*page).to_owned()).collect();
        pages.extend(calls(&browser, &server).await);
        let mut wrong = Vec::new();
        for theme in ["light", "dark"] {
            prefer(&browser, theme);
            for (width, height) in [(1280, 900), (375, 740)] {
                browser.resize(width, height, width < 500);
                for page in &pages {
                    audit(&browser, &server.to(page), &format!("{theme}, {width}"), &mut wrong).await;
                }
            }
        }
        let missing = |line: &String| line.contains("status of 404") || line.contains("status of 400");
        wrong.extend(browser.console().into_iter().filter(|line| !missing(line)));
        assert!(wrong.is_empty(), "{} things are wrong:\n  {}", wrong.len(), wrong.join("\n  "));
    });
}

/// From the top to the end with the Tab key alone: the order is that of the page, and where one is can be seen.
#[test]
fn the_tab_key_goes_through_every_page_in_order() {
    const HERE: &str = "
        const here = document.activeElement;
        if (!here || here === document.body) return null;
        const all = [...document.querySelectorAll('*')];
        const style = getComputedStyle(here);
        const box = here.getBoundingClientRect();
        const label = here.labels?.[0] && getComputedStyle(here.labels[0]);
        const ring = (style) => style && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
        const marked = ring(style) || ring(label) || [...document.querySelectorAll(':has(:focus-visible)')].some((up) => ring(getComputedStyle(up)));
        return [all.indexOf(here), marked, box.width > 0 && box.height > 0, here.outerHTML.slice(0, 120)];";
    let server = Server::demo();
    with_browser(|browser| async move {
        for page in ["/", "/sessions", "/calls?q=is:failed", "/search?q=test", "/help", "/s/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13"] {
            browser.open(&server.to(page)).await;
            let mut last = -1;
            for step in 0..60 {
                browser.press("\u{e004}").await;
                let here = browser.ask(HERE).await;
                if here.is_null() {
                    assert!(step > 3, "{page}: nothing to reach");
                    break;
                }
                let place = here[0].as_i64().expect("a place");
                assert!(place > last, "{page}: the Tab key goes back to {}", here[3]);
                assert_eq!((&here[1], &here[2]), (&json!(true), &json!(true)), "{page}: cannot be seen: {}", here[3]);
                last = place;
            }
        }
    });
}
