//! The page of one call in a browser: its keys, what can be copied, records that open where a link leads to them, the difference, small
//! screens.

use crate::driver::{Browser, ESCAPE, with_browser};
use crate::server::Server;
use fantoccini::Locator;
use serde_json::{Value, json};
use std::path::Path;

/// A failed test run, and the calls around it.
const FAILED: &str = "/c/toolu_01b3miShdMfSENCu";

/// Takes what is copied, since a browser without a window has nothing to paste into.
const TAKE: &str = "window.taken = null; Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { window.taken = text; } } })";

impl Browser {
    /// Which call is shown: `#6`.
    async fn number(&self) -> Value {
        self.ask("return document.querySelector('.crumbs .ref')?.textContent").await
    }

    /// Presses a key and waits until another call is shown.
    async fn press_to(&self, key: &str, number: &str) {
        self.press(key).await;
        let there = format!(
            "return document.querySelector('.crumbs .ref')?.textContent === '{number}' && document.documentElement.dataset.ready === 'true'"
        );
        self.until(&there).await;
    }

    /// What a key copies.
    async fn copies(&self, key: &str) -> String {
        self.ask(TAKE).await;
        self.press(key).await;
        self.until("return window.taken !== null").await;
        self.ask("return window.taken").await.as_str().expect("a text").to_owned()
    }
}

#[test]
fn keys_move_copy_and_show_themselves() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to(FAILED)).await;
        for (key, number) in [("]", "#7"), ("[", "#6"), ("h", "#5"), ("l", "#6")] {
            browser.press_to(key, number).await;
        }
        assert_eq!(browser.copies("c").await, "cargo test --test scheduler retries_are_spaced");
        assert_eq!(browser.copies("y").await, server.to(FAILED));
        let markdown = browser.copies("m").await;
        assert!(markdown.starts_with("✗ **Bash** `cargo test --test scheduler"), "{markdown}");
        browser.until("return document.querySelector('[data-key=m]').textContent === 'Copied'").await;
        browser.until("return document.querySelector('[data-key=m]').textContent === 'Copy Markdown'").await;
        // Every key of this page is in the help, and single keys can be switched off there.
        browser.press("?").await;
        browser.until("return document.getElementById('tt-help').open").await;
        let keys = browser.ask("return [...document.querySelectorAll('#tt-help dt')].map((name) => name.textContent).join(' ')").await;
        for key in ["[]", "hl", "u", "d", "c", "y", "m"] {
            assert!(keys.as_str().is_some_and(|keys| keys.split(' ').any(|one| one == key)), "{key}: {keys}");
        }
        browser.find(Locator::Id("tt-keys")).await.expect("a box").click().await.expect("it can be switched");
        browser.press(&ESCAPE.to_string()).await;
        browser.until("return !document.getElementById('tt-help').open").await;
        browser.press("]").await;
        assert_eq!(browser.number().await, json!("#6"), "single keys are off");
        browser.ask("const box = document.getElementById('tt-keys'); box.checked = true; box.dispatchEvent(new Event('change'))").await;
        // In a text field a letter is a letter, and after `g` the frame has its own.
        browser.press("/]").await;
        assert_eq!(browser.ask("return document.getElementById('tt-search').value").await, json!("]"));
        browser.press(&ESCAPE.to_string()).await;
        browser.press("u").await;
        browser
            .until(&format!(
                "return location.pathname === '/s/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13' && location.hash === '#{}'",
                &FAILED[3..]
            ))
            .await;
        browser.back().await.expect("there is a way back");
        browser.until("return document.documentElement.dataset.ready === 'true'").await;
        assert_eq!(browser.number().await, json!("#6"));
        browser.press("gh").await;
        browser.until("return location.pathname === '/'").await;
        let console = browser.console();
        assert!(console.is_empty(), "{console:#?}");
    });
}

#[test]
fn evidence_opens_where_it_is_led_to() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to(FAILED)).await;
        assert_eq!(
            browser.ask("return [...document.querySelectorAll('.raw details')].map((one) => one.open)").await,
            json!([false, false])
        );
        browser.find(Locator::Css(".proof a.place")).await.expect("evidence").click().await.expect("a link");
        browser.until("return document.querySelector('.raw [id]:target')?.checkVisibility() === true").await;
        let record = browser.ask("return document.querySelector('.raw [id]:target').textContent").await;
        assert!(record.as_str().is_some_and(|record| record.contains("\"tool_result\"")), "{record}");
        // Folded parts open by a key press on their heads.
        browser.ask("document.querySelector('#asked > summary').focus()").await;
        browser.press(" ").await;
        browser.until("return document.getElementById('asked').open").await;
        let console = browser.console();
        assert!(console.is_empty(), "{console:#?}");
    });
}

/// A call of whose output the model saw the ends.
fn lay(home: &Path) {
    let folder = home.join(".claude/projects/-p");
    std::fs::create_dir_all(&folder).expect("a directory");
    let stdout: String =
        (0..300).map(|number| format!("a line that is long enough to be wider than a telephone, with the number {number}\n")).collect();
    let seen = "a line that is long enough to be wider than a telephone, with the number 0\n… the rest was cut …";
    let record = |uuid: &str, kind: &str, message: Value| json!({ "uuid": uuid, "sessionId": "cut", "cwd": "/srv", "type": kind, "timestamp": "2026-03-01T10:00:00.000Z", "message": message });
    let mut result = record(
        "3",
        "user",
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_cut", "is_error": false, "content": seen }] }),
    );
    result["toolUseResult"] = json!({ "stdout": stdout, "stderr": "" });
    let lines = [
        record("1", "user", json!({ "role": "user", "content": "look" })),
        record(
            "2",
            "assistant",
            json!({ "role": "assistant", "id": "msg_1", "model": "m", "content": [{ "type": "tool_use", "id": "toolu_cut", "name": "Bash", "input": { "command": format!("cat {}", "long/".repeat(60)) } }] }),
        ),
        result,
    ];
    std::fs::write(folder.join("cut.jsonl"), lines.map(|line| line.to_string()).join("\n") + "\n").expect("a log");
}

#[test]
fn the_two_truths_stand_beside_each_other_and_fit_a_telephone() {
    let home = tempfile::tempdir().expect("a directory");
    lay(home.path());
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        let tops = "const [one, other] = [...document.querySelectorAll('.pane')].map((pane) => pane.getBoundingClientRect()); return one.top === other.top && one.right <= other.left";
        browser.open(&server.to("/c/toolu_cut")).await;
        assert_eq!(browser.ask(tops).await, json!(true), "beside each other");
        browser.press("d").await;
        browser
            .until("return document.getElementById('difference').open && document.querySelector('#difference .diff').checkVisibility()")
            .await;
        browser.press("d").await;
        browser.until("return !document.getElementById('difference').open").await;
        browser.find(Locator::Css(".more a")).await.expect("more").click().await.expect("a link");
        browser.until("return location.search === '?all=1' && document.querySelector('.pane').textContent.includes('number 150')").await;
        browser.resize(375, 740, true);
        for page in ["/c/toolu_cut", "/c/toolu_cut?all=1"] {
            browser.open(&server.to(page)).await;
            assert_eq!(browser.ask(tops).await, json!(false), "below each other");
            browser.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })").await;
            let width = browser.ask("return document.documentElement.scrollWidth").await;
            assert_eq!(width, json!(375), "{page} does not scroll sideways");
        }
        let console = browser.console();
        assert!(console.is_empty(), "{console:#?}");
    });
}
