//! The palette in a browser: found by a few letters, gone to with the keyboard alone.

use crate::driver::{Browser, ENTER, ESCAPE, with_browser};
use crate::server::Server;
use serde_json::json;

const CONTROL: char = '\u{e009}';
const DOWN: char = '\u{e015}';
const UP: char = '\u{e013}';
/// A session of the demo.
const SESSION: &str = "/s/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13";

/// The title of the one that is chosen.
const CHOSEN: &str = "return document.querySelector('#tt-palette [aria-selected=\"true\"] > span')?.textContent";

impl Browser {
    /// Opens the palette, and waits until it has been filled.
    async fn palette(&self) {
        self.chord(CONTROL, 'k').await;
        // What is missing is named if it never comes.
        self.until(
            "const parts = { open: document.querySelector('#tt-palette').open, focus: document.activeElement.id === 'tt-palette-q', \
             sessions: !!document.querySelector('#tt-palette a[href*=\"/s/\"]'), list: document.querySelector('#tt-palette-list').textContent }; \
             return Object.values(parts).every(Boolean) || parts",
        )
        .await;
    }

    /// Whether something is chosen, soon.
    async fn chosen(&self, title: &str) {
        let script =
            format!("return document.querySelector('#tt-palette [aria-selected=\"true\"] > span')?.textContent === {}", json!(title));
        self.until(&script).await;
    }
}

#[test]
fn a_session_is_a_few_letters_away() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/help")).await;
        browser.palette().await;
        // Without letters: those that ran last.
        browser.chosen("Build and check release 0.9").await;
        browser.press(&DOWN.to_string()).await;
        browser.chosen("Guests see the wrong currency").await;
        browser.press(&format!("{UP}{UP}")).await;
        let last = browser.ask(CHOSEN).await;
        assert_ne!(last, json!("Build and check release 0.9"), "from the first to the last");
        browser.press("flaky").await;
        browser.chosen("Fix the flaky scheduler test").await;
        let combo = "const box = document.querySelector('#tt-palette-q'); const here = document.getElementById(box.getAttribute('aria-activedescendant')); return here.getAttribute('role') + here.getAttribute('aria-selected') + box.getAttribute('role')";
        assert_eq!(browser.ask(combo).await, json!("optiontruecombobox"));
        browser.press(&ENTER.to_string()).await;
        browser.until(&format!("return location.pathname === {}", json!(SESSION))).await;
    });
}

/// Who is quicker than the answer goes where what is written now leads, not what was written before.
#[test]
fn the_last_question_counts() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/")).await;
        browser.palette().await;
        browser.press(&format!("checkout{ENTER}")).await;
        browser.until("return location.pathname.startsWith('/s/') && document.querySelector('h1').textContent.includes('Deploy the new checkout')").await;
    });
}

#[test]
fn a_session_has_its_turns_files_and_commands() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to(SESSION)).await;
        browser.palette().await;
        browser.press("backoff").await;
        browser.chosen("backoff.rs").await;
        browser.press(&ENTER.to_string()).await;
        // On the same page: the row is shown, and the page is not loaded anew.
        browser.until("return location.hash.length > 1 && document.querySelector('.row.here')?.textContent.includes('backoff.rs')").await;
        browser.palette().await;
        browser.press("1 retries").await;
        browser.until("return [...document.querySelectorAll('#tt-palette [role=\"group\"]')].some((group) => group.firstChild.textContent === 'Turns')").await;
        browser.press(&ESCAPE.to_string()).await;
        browser.until("return !document.querySelector('#tt-palette').open").await;
        for (words, path) in [("export markdown", "/export.md"), ("raw", "/raw"), ("calls table", "/calls")] {
            browser.palette().await;
            browser.press(words).await;
            let there =
                format!("return [...document.querySelectorAll('#tt-palette a')].some((link) => link.pathname.endsWith({}))", json!(path));
            browser.until(&there).await;
            browser.press(&ESCAPE.to_string()).await;
            browser.until("return !document.querySelector('#tt-palette').open").await;
        }
        browser.palette().await;
        browser.press("theme dark").await;
        browser.chosen("Theme: dark").await;
        browser.press(&ENTER.to_string()).await;
        browser.until("return document.documentElement.dataset.theme === 'dark'").await;
        browser.said_nothing();
    });
}

#[test]
fn text_is_searched_for_and_calls_are_filtered() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/")).await;
        browser.click("#tt-go").await;
        browser.until("return document.querySelector('#tt-palette').open").await;
        browser.press("is:failed tool:Bash").await;
        browser.chosen("Search everything for “is:failed tool:Bash”").await;
        browser.press(&format!("{DOWN}{ENTER}")).await;
        browser
            .until("return location.pathname === '/calls' && new URLSearchParams(location.search).get('q') === 'is:failed tool:Bash'")
            .await;
        assert_eq!(browser.seen("table.calls tbody tr:not(.day)").await, 4);
        // Pressed again it closes.
        browser.palette().await;
        browser.chord(CONTROL, 'k').await;
        browser.until("return !document.querySelector('#tt-palette').open").await;
        // Keys of the page do nothing while it is open.
        browser.palette().await;
        browser.press("gs").await;
        assert_eq!(browser.ask("return location.pathname").await, json!("/calls"));
    });
}

/// The event of its closing comes later than the closing, and must not take away the answer that it waits for by then.
#[test]
fn it_can_be_opened_again_at_once() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to("/")).await;
        let press = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, cancelable: true }));";
        browser.ask(&format!("{press} {press} {press} return document.querySelector('#tt-palette').open")).await;
        browser.until("return !!document.querySelector('#tt-palette[open] a[href*=\"/s/\"]')").await;
    });
}
