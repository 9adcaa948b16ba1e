//! Home, sessions, search and help in a browser: from home to a session and back, keys, themes, the demo, a machine without logs.

use crate::driver::{Browser, ENTER, ESCAPE, with_browser};
use crate::server::Server;
use fantoccini::Locator;
use serde_json::json;

/// The session that waits.
const WAITING: &str = "/s/d3a0c1de-5f42-4e19-b7a8-2c6e90d4f1b3";

/// Whether the row in a place is the one with the focus.
fn row_here(place: usize) -> String {
    format!("return [...document.querySelectorAll('a[data-row]')].indexOf(document.activeElement) === {place}")
}

/// Whether a page is there, and its script has begun.
fn at(path: &str) -> String {
    format!("return location.pathname + location.search === {} && document.documentElement.dataset.ready === 'true'", json!(path))
}

impl Browser {
    pub(crate) async fn follow(&self, selector: &str) {
        let element = self.find(Locator::Css(selector)).await.unwrap_or_else(|_| panic!("no {selector}"));
        element.click().await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    pub(crate) async fn press_until_at(&self, keys: &str, path: &str) {
        self.press(keys).await;
        self.until(&at(path)).await;
    }

    /// Nothing went wrong that a developer would see.
    pub(crate) fn said_nothing(&self) {
        let console = self.console();
        assert!(console.is_empty(), "{console:#?}");
    }
}

#[test]
fn from_home_to_a_session_and_back() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/")).await;
        let heading = browser.ask("return document.querySelector('h1').textContent").await;
        assert_eq!(heading, json!("1 session waits for you, 1 running, no failures today"));
        browser.follow(&format!(".lives a[href='{WAITING}']")).await;
        browser.until(&format!("return location.pathname === {}", json!(WAITING))).await;
        browser.back().await.expect("there is a way back");
        browser.until(&at("/")).await;
        // What went wrong is one step away, and each call of it another.
        browser.follow(".troubles + .more a").await;
        browser.until("return location.pathname === '/calls' && document.querySelectorAll('table.calls a[data-row]').length === 18").await;
        browser.back().await.expect("there is a way back");
        browser.until(&at("/")).await;
        assert_eq!(browser.ask("return document.querySelector('.demo').textContent.includes('Sample sessions')").await, json!(true));
    });
}

#[test]
fn keys_go_through_lists_and_pages() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/")).await;
        browser.press_until_at("gs", "/sessions").await;
        rows_by_key(&browser).await;
        search_by_key(&browser).await;
        help_by_key(&browser).await;
        browser.said_nothing();
    });
}

/// `j`, `k`, `Esc`, `Enter`.
async fn rows_by_key(browser: &Browser) {
    browser.press("j").await;
    browser.until(&row_here(0)).await;
    browser.press("jj").await;
    browser.until(&row_here(2)).await;
    browser.press("k").await;
    browser.until(&row_here(1)).await;
    browser.press(&"k".repeat(5)).await;
    browser.until(&row_here(0)).await;
    browser.press(&ESCAPE.to_string()).await;
    browser.until("return document.activeElement === document.body").await;
    // From a link within a row, the next row is the next.
    browser.ask("document.querySelector('td.project a').focus()").await;
    browser.press("j").await;
    browser.until(&row_here(1)).await;
    let link = browser.ask("return document.activeElement.getAttribute('href')").await;
    browser.press(&ENTER.to_string()).await;
    browser.until(&format!("return location.pathname === {link}")).await;
    browser.back().await.expect("there is a way back");
    browser.until(&at("/sessions")).await;
}

/// `/`, and that letters are letters in a box.
async fn search_by_key(browser: &Browser) {
    browser.press("/").await;
    browser.until("return document.activeElement.id === 'tt-search'").await;
    browser.press("gh?jt").await;
    assert_eq!(browser.ask("return document.activeElement.value").await, json!("gh?jt"));
    assert_eq!(browser.ask("return document.querySelector('dialog').open").await, json!(false));
    browser.ask("document.activeElement.value = 'default_currency'").await;
    browser.press_until_at(&ENTER.to_string(), "/search?q=default_currency").await;
    assert_eq!(browser.ask("return document.querySelectorAll('mark').length > 1").await, json!(true));
    browser.press_until_at("gh", "/").await;
}

/// `?`, the switch for keys, and that they are off afterwards, here and on other pages.
async fn help_by_key(browser: &Browser) {
    browser.press("?").await;
    browser.until("return document.getElementById('tt-help').open").await;
    browser.press(&ESCAPE.to_string()).await;
    browser.until("return !document.getElementById('tt-help').open").await;
    browser.follow(".frame .help").await;
    browser.until("return document.getElementById('tt-help').open").await;
    browser.follow("#tt-keys").await;
    browser.follow("#tt-help-close").await;
    browser.press("?jgs").await;
    assert_eq!(browser.ask("return [document.getElementById('tt-help').open, location.pathname]").await, json!([false, "/"]));
    browser.follow(".frame nav a[href='/sessions']").await;
    browser.until(&at("/sessions")).await;
    assert_eq!(browser.ask("return document.getElementById('tt-keys').checked").await, json!(false));
    browser.press("j").await;
    assert_eq!(browser.ask("return document.activeElement === document.body").await, json!(true));
}

#[test]
fn a_theme_is_kept_from_page_to_page() {
    const GROUND: &str = "return getComputedStyle(document.body).backgroundColor";
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/")).await;
        let light = browser.ask(GROUND).await;
        browser.press("tt").await;
        browser.until("return document.documentElement.dataset.theme === 'dark'").await;
        let dark = browser.ask(GROUND).await;
        assert_ne!(light, dark);
        for page in ["/sessions", "/search?q=test", "/help", WAITING] {
            browser.open(&server.to(page)).await;
            assert_eq!(browser.ask(GROUND).await, dark, "{page}");
        }
        browser.open(&server.to("/help")).await;
        browser.follow(".theme label[title='Light']").await;
        assert_eq!(browser.ask(GROUND).await, light);
        browser.open(&server.to("/")).await;
        assert_eq!(
            browser.ask("return [document.getElementById('tt-light').checked, document.documentElement.dataset.theme]").await,
            json!([true, "light"])
        );
        browser.said_nothing();
    });
}

#[test]
fn a_machine_without_logs_leads_to_the_demo() {
    let home = tempfile::tempdir().expect("a directory");
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        browser.open(&server.to("/")).await;
        assert_eq!(browser.ask("return document.querySelector('h1').textContent").await, json!("No sessions here yet"));
        browser.follow("a.button").await;
        browser.until(&at("/demo/")).await;
        browser.until("return document.querySelector('.demo')?.textContent.includes('Sample sessions')").await;
        // All of it stays in the demo, until one goes back.
        browser.press_until_at("gs", "/demo/sessions").await;
        browser.press("/timeout").await;
        browser.press_until_at(&ENTER.to_string(), "/demo/search?q=timeout").await;
        browser.follow(".demo a").await;
        browser.until(&at("/")).await;
        browser.said_nothing();
    });
}

/// Without a script pages say the same, filters and links work, and a theme can be chosen.
#[test]
fn lists_can_be_read_without_a_script() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.chromium("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        for (page, words) in [
            ("/", "waits for you"),
            ("/sessions", "12 sessions"),
            ("/search?q=default_currency", "hits in"),
            ("/search?q=status:failed", "exit 101"),
            ("/help", "Keys"),
        ] {
            browser.goto(&server.to(page)).await.expect("the page opens");
            let text = browser.source().await.expect("its source");
            assert!(text.contains(words), "{page}");
        }
        browser.goto(&server.to("/sessions")).await.expect("the page opens");
        let field = browser.find(Locator::Css("#tt-q")).await.expect("a box");
        field.send_keys("agent:codex").await.expect("letters");
        browser.follow(".asking button").await;
        let wanted = server.to("/sessions?q=agent%3Acodex").parse().expect("an address");
        browser.wait().for_url(&wanted).await.expect("it is asked for");
    });
}

/// A window of 1280 pixels at 400 %: nothing goes past the side, and nothing is left out.
#[test]
fn lists_fit_into_320_pixels() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.resize(320, 640, true);
        for page in
            ["/", "/sessions", "/sessions?q=stauts:failed", "/search", "/search?q=default_currency", "/search?q=status:failed", "/help"]
        {
            browser.open(&server.to(page)).await;
            let wide = browser.ask("return document.documentElement.scrollWidth - innerWidth").await;
            assert_eq!(wide, json!(0), "{page} is wider than the window");
        }
        browser.open(&server.to("/sessions")).await;
        let text = browser.ask("return document.querySelector('tbody tr:not(.day)').innerText.replace(/\\s+/g, ' ')").await;
        let text = text.as_str().expect("a text");
        for piece in ["working", "11:56", "Build and check release 0.9", "orbit", "1 turn", "7 calls", "4 m 50 s"] {
            assert!(text.contains(piece), "{piece} is missing: {text}");
        }
    });
}
