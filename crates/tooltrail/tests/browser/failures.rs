//! Failures by message and pages of projects in a browser: from a message to its last call and back, by links and by keys; nothing is wider
//! than the window.

use crate::driver::{Browser, with_browser};
use crate::server::Server;
use serde_json::json;

/// Whether a page is there, and its script has begun.
fn at(path: &str) -> String {
    format!("return location.pathname === {} && document.documentElement.dataset.ready === 'true'", json!(path))
}

/// Waits until the details of all sessions are stored, which happens in the background.
async fn settled(browser: &Browser, address: &str) {
    for _ in 0..200 {
        browser.open(address).await;
        if browser.ask("return document.querySelector('.pending') === null").await == json!(true) {
            return;
        }
    }
    panic!("details are missing at {address}");
}

#[test]
fn from_a_message_to_its_calls_and_back() {
    let server = Server::demo();
    with_browser(|browser| async move {
        settled(&browser, &server.to("/failures?period=all")).await;
        browser.open(&server.to("/")).await;
        browser.press_until_at("gf", "/failures").await;
        let rows = browser.ask("return document.querySelectorAll('table.failures tbody tr').length").await;
        assert!(rows.as_u64().is_some_and(|rows| rows > 5), "{rows}");
        // The filter and the period stay while one message is looked at.
        browser.follow("a[href*='unresolved=1']").await;
        browser.until("return location.search.includes('unresolved=1') && document.querySelector('h1')?.textContent === 'Failures'").await;
        browser.press("j").await;
        browser.until("return document.activeElement.matches('table.failures a[data-row]')").await;
        browser.follow("table.failures a[data-row]").await;
        browser.until("return location.search.includes('group=') && location.search.includes('unresolved=1')").await;
        browser.until("return ['.sample a', 'table.failed a[data-row]'].every((part) => document.querySelector(part) !== null)").await;
        browser.follow("table.failed a[data-row]").await;
        browser.until("return location.pathname.startsWith('/c/')").await;
        browser.back().await.expect("there is a way back");
        browser.until("return location.search.includes('group=')").await;
        browser.follow(".crumb a").await;
        browser.until(&at("/failures")).await;
        browser.said_nothing();
    });
}

#[test]
fn a_project_leads_to_its_evidence() {
    let server = Server::demo();
    with_browser(|browser| async move {
        settled(&browser, &server.to("/failures?period=all")).await;
        browser.open(&server.to("/")).await;
        browser.follow("table.projects a[href='/p/ledger']").await;
        browser.until(&at("/p/ledger")).await;
        let charts = browser.ask("return document.querySelectorAll('figure.chart svg rect').length").await;
        assert!(charts.as_u64().is_some_and(|bars| bars > 90), "{charts}");
        browser.follow(".strip a").await;
        browser.until("return location.pathname.startsWith('/c/')").await;
        browser.back().await.expect("there is a way back");
        browser.until(&at("/p/ledger")).await;
        browser.follow("table.latest a[data-row]").await;
        browser.until("return location.pathname.startsWith('/s/')").await;
        // The head of a session leads back to its project.
        browser.follow("a.project").await;
        browser.until("return location.pathname.startsWith('/p/')").await;
        browser.said_nothing();
    });
}

#[test]
fn pages_fit_into_narrow_windows() {
    let server = Server::demo();
    with_browser(|browser| async move {
        settled(&browser, &server.to("/failures?period=all")).await;
        for width in [400, 1280] {
            browser.resize(width, 900, width < 500);
            for path in ["/failures?period=all", "/p/orbit", "/p/shop"] {
                browser.open(&server.to(path)).await;
                let wide = browser.ask("return document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
                assert_eq!(wide, json!(0), "{path} at {width}");
            }
        }
    });
}
