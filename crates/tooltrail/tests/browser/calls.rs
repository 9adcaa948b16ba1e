//! The table of all calls in a browser: keys, columns, order, files, and that it does not scroll sideways.

use crate::driver::{ENTER, ESCAPE, with_browser};
use crate::server::Server;
use serde_json::json;

/// The heads of the columns.
const HEADS: &str = "return [...document.querySelectorAll('table.calls thead th')].map((head) => head.textContent.trim())";

/// Whether a row has the focus.
fn row_here(place: usize) -> String {
    format!("return [...document.querySelectorAll('a[data-row]')].indexOf(document.activeElement) === {place}")
}

#[test]
fn calls_by_keys_from_anywhere() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/")).await;
        browser.press_until_at("gc", "/calls").await;
        browser.press("j").await;
        browser.until(&row_here(0)).await;
        browser.press("jjk").await;
        browser.until(&row_here(1)).await;
        browser.press(&ENTER.to_string()).await;
        browser.until("return location.pathname.startsWith('/c/')").await;
        browser.back().await.expect("there is a way back");
        // The page of a session has keys of its own, some of the same letters.
        browser.open(&server.to("/s/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13")).await;
        browser.press_until_at("gf", "/failures").await;
        browser.open(&server.to("/calls?q=is:failed")).await;
        assert_eq!(browser.seen("table.calls tbody tr:not(.day)").await, 14);
        browser.press("f").await;
        browser.until("return document.activeElement.id === 'tt-q' && document.activeElement.value === 'is:failed'").await;
        browser.press(&ESCAPE.to_string()).await;
        browser.press("e").await;
        browser.until("return document.activeElement.textContent === 'CSV'").await;
        browser.press_until_at("gs", "/sessions").await;
        browser.press("gl").await;
        browser.until("return location.pathname === '/' && location.hash === '#now'").await;
        browser.said_nothing();
    });
}

#[test]
fn columns_are_chosen_and_stay() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/calls?q=tool:Bash")).await;
        browser.press("c").await;
        browser.until("return document.activeElement.matches('.chooser input[value=\"time\"]')").await;
        browser.press(&ESCAPE.to_string()).await;
        browser.until("return !document.querySelector('.chooser').open && document.activeElement.matches('.chooser summary')").await;
        browser.press("c").await;
        browser.click(".chooser input[value='project']").await;
        browser.click(".chooser input[value='ref']").await;
        browser.click(".chooser button").await;
        browser.until("return location.search.includes('cols=')").await;
        let wanted = json!(["Time ↓", "Tool", "What", "Status", "Exit", "Took", "Ref"]);
        assert_eq!(browser.ask(HEADS).await, wanted);
        assert_eq!(browser.ask("return document.querySelector('#tt-q').value").await, json!("tool:Bash"));
        // Sorted by a head, they are still there.
        browser.click("th.took a").await;
        browser.until("return document.querySelector('th.took').getAttribute('aria-sort') === 'descending'").await;
        let took = browser.ask(HEADS).await;
        assert_eq!(took, json!(["Time", "Tool", "What", "Status", "Exit", "Took ↓", "Ref"]));
        browser.said_nothing();
    });
}

#[test]
fn many_columns_do_not_move_the_page() {
    const WIDE: &str = "return document.documentElement.scrollWidth <= innerWidth";
    let server = Server::demo();
    with_browser(|browser| async move {
        for (width, height) in [(1280, 900), (375, 740), (320, 640)] {
            browser.resize(width, height, width < 500);
            for query in
                ["", "?q=is:failed", "?cols=time,project,tool,what,status,exit,took,ran,waited,session,ref,call,agent,model,cwd,branch"]
            {
                browser.open(&server.to(&format!("/calls{query}"))).await;
                assert_eq!(browser.ask(WIDE).await, json!(true), "{width} {query}");
                browser.click(".chooser summary").await;
                assert_eq!(browser.ask(WIDE).await, json!(true), "{width} {query}, choosing");
            }
        }
    });
}

/// The numbers beside the table lead to just these, by their links alone.
#[test]
fn a_number_is_what_is_behind_it() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/calls")).await;
        let number = browser.ask("return document.querySelector('.counts a[href*=\"status:failed\"] .di').textContent").await;
        browser.click(".counts a[href*='status:failed']").await;
        browser.until("return location.search === '?q=status:failed'").await;
        assert_eq!(json!(browser.seen("table.calls tbody tr:not(.day)").await.to_string()), number);
        // And back to all.
        browser.click(".counts a.on").await;
        browser.until("return location.pathname === '/calls' && location.search === ''").await;
    });
}
