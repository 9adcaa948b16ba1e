//! The waterfall in a browser: it paints fast however long the session is, zooms, folds gaps, leads to the transcript and back, follows a
//! session that grows, and its table needs no mouse.

use crate::driver::{Browser, ENTER, with_browser};
use crate::server::Server;
use serde_json::json;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use tooltrail_testkit::corpus::{Long, long_session};

/// A session of the demo with a subagent, problems and a question.
const FALL: &str = "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/waterfall";
/// The key that goes to what can be used next.
const TAB: char = '\u{e004}';
const DOWN: char = '\u{e015}';
const RIGHT: char = '\u{e014}';

const SUM: &str = "return document.getElementById('tt-sum').textContent";
const SHOWN: &str = "return document.getElementById('tt-over').getAttribute('aria-label')";
/// The row that is selected, without its number.
const SELECTED: &str =
    "return [...document.querySelectorAll('.wf-row[aria-selected=true]')].map((row) => row.querySelector('b, .t').textContent).join()";

/// Counts the rows after every frame that is painted.
const COUNT_ROWS: &str = "window.counted = [];
    const count = () => { setTimeout(() => window.counted.push(document.querySelectorAll('.wf-row').length)); requestAnimationFrame(count); };
    requestAnimationFrame(count)";

impl Browser {
    /// Opens a waterfall and waits until its bars are drawn.
    async fn open_fall(&self, address: &str) {
        self.open(address).await;
        self.until("return document.documentElement.dataset.drawn === 'true'").await;
    }

    async fn text(&self, script: &str) -> String {
        self.ask(script).await.as_str().unwrap_or_default().to_owned()
    }
}

/// A log of two turns with ten minutes between them; more can be written to it.
struct Growing {
    log: PathBuf,
    lines: usize,
}

impl Growing {
    fn lay(home: &Path) -> Self {
        let folder = home.join(".claude/projects/-srv-app");
        fs::create_dir_all(&folder).expect("a directory");
        let mut log = Growing { log: folder.join("grows.jsonl"), lines: 0 };
        log.turn("00", "first");
        log.turn("10", "second");
        log
    }

    /// A prompt, a call, its result and the last words.
    fn turn(&mut self, minute: &str, prompt: &str) {
        let call = format!("toolu_{minute}");
        let lines = [
            ("user", "00", json!({ "role": "user", "content": prompt })),
            (
                "assistant",
                "02",
                json!({ "role": "assistant", "model": "m", "id": format!("msg_{minute}"), "content": [{ "type": "tool_use", "id": call, "name": "Bash", "input": { "command": format!("echo {prompt}") } }] }),
            ),
            ("user", "05", json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": call, "content": "done" }] })),
            (
                "assistant",
                "06",
                json!({ "role": "assistant", "model": "m", "id": format!("end_{minute}"), "content": [{ "type": "text", "text": "Done." }] }),
            ),
        ];
        let mut file = File::options().create(true).append(true).open(&self.log).expect("a log");
        for (kind, second, message) in lines {
            let parent = self.lines.checked_sub(1).map(|line| format!("u{line}"));
            let line = json!({ "type": kind, "uuid": format!("u{}", self.lines), "parentUuid": parent, "sessionId": "grows", "cwd": "/srv/app", "timestamp": format!("2026-03-04T10:{minute}:{second}.000Z"), "message": message });
            writeln!(file, "{line}").expect("it is written");
            self.lines += 1;
        }
    }
}

#[test]
fn twelve_thousand_calls_are_painted_at_once() {
    let home = tempfile::tempdir().expect("a directory");
    let folder = home.path().join(".claude/projects/-srv-app");
    fs::create_dir_all(&folder).expect("a directory");
    long_session(&folder.join("long.jsonl"), &Long { rows: 20_000, seed: 7 }).expect("a log");
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        browser.open(&server.to("/sessions")).await;
        let session = browser.text("return document.querySelector('td.session a').getAttribute('href')").await;
        let address = server.to(&format!("{}/waterfall", session.split('?').next().unwrap_or_default()));
        browser.open_fall(&address).await;
        let took = browser.ask("return performance.getEntriesByName('tt-paint')[0].duration").await.as_f64().expect("a time");
        println!("painted {took:.0} ms after the data came");
        // Generous: machines that test are busy.
        assert!(took < 2_000.0, "painted after {took} ms");
        const BYTES: &str =
            "return performance.getEntriesByType('resource').find((entry) => entry.name.includes('waterfall.json')).decodedBodySize";
        let bytes = browser.ask(BYTES).await.as_u64().expect("a size");
        assert!((100_000..600_000).contains(&bytes), "{bytes} bytes of data");
        // Rows come and go, and say what they are about when they have come.
        browser.ask("document.getElementById('tt-scroll').scrollTop = 1e9").await;
        browser.until("const row = [...document.querySelectorAll('.wf-row')].at(-1); return row.getAttribute('aria-posinset') === row.getAttribute('aria-setsize') && Number(row.getAttribute('aria-setsize')) > 12000").await;
        browser.until("return [...document.querySelectorAll('.wf-row:not(.head) .t')].at(-1).textContent !== ''").await;
        let elements = browser.ask("return document.querySelectorAll('*').length").await.as_u64().expect("a number");
        assert!(elements < 1_500, "{elements} elements");
        browser.is_quiet("a long waterfall");
    });
}

#[test]
fn zoom_fit_and_keys() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open_fall(&server.to(FALL)).await;
        let all = browser.text(SUM).await;
        assert!(all.starts_with("all: wall 1 m 52 s · tools 45.9 s · model 28.4 s"), "{all}");
        browser.press("++").await;
        browser.until("return !document.getElementById('tt-sum').textContent.startsWith('all') && location.search.includes('from=')").await;
        let part = browser.text(SUM).await;
        browser.click("#tt-scroll").await;
        browser.press(&RIGHT.to_string()).await;
        browser.until(&format!("return document.getElementById('tt-sum').textContent !== {}", json!(part))).await;
        // The address leads to the same part.
        let (part, address) = (browser.text(SUM).await, browser.text("return location.href").await);
        browser.until("return location.search.includes('to=')").await;
        browser.press_until("f", "return document.getElementById('tt-sum').textContent.startsWith('all')").await;
        assert_eq!(browser.text(SUM).await, all);
        browser.until("return !location.search.includes('from=')").await;
        assert!(!part.starts_with("all") && address.contains("from="), "{part} {address}");
        // Dragging on the strip chooses a part, pressing it twice all of it.
        const DRAG: &str = "const over = document.getElementById('tt-over'); const { left, top, width } = over.getBoundingClientRect();
            const send = (kind, share) => over.dispatchEvent(new PointerEvent(kind, { clientX: left + width * share, clientY: top + 9, pointerId: 1, bubbles: true }));
            over.setPointerCapture = () => {}; send('pointerdown', .2); send('pointermove', .4); send('pointerup', .4);";
        browser.ask(DRAG).await;
        browser.until("return document.getElementById('tt-over').getAttribute('aria-label').includes('is shown')").await;
        browser.ask("document.getElementById('tt-over').dispatchEvent(new MouseEvent('dblclick'))").await;
        browser.until("return document.getElementById('tt-sum').textContent.startsWith('all')").await;
        // What a subagent did can be folded.
        let rows = browser.seen(".wf-row").await;
        browser.ask(COUNT_ROWS).await;
        browser
            .ask("[...document.querySelectorAll('.wf-row')].find((row) => row.textContent.includes('Agent')).querySelector('b').click()")
            .await;
        browser.press_until("o", &format!("return document.querySelectorAll('.wf-row').length === {}", rows - 5)).await;
        assert_eq!(browser.text(SELECTED).await, "Agent");
        // Going to a problem in it unfolds it.
        browser.press_until("e", "return document.querySelector('.wf-row[aria-selected=true] b').textContent === 'Bash'").await;
        assert_eq!(browser.seen(".wf-row").await, rows);
        // No frame was painted without rows, although the table became as high as they are.
        browser.until("return window.counted.length > 3 && window.counted.at(-1) === window.counted.at(-2)").await;
        let counted = browser.ask("return window.counted").await;
        let fewest = counted.as_array().into_iter().flatten().filter_map(serde_json::Value::as_u64).min();
        assert_eq!(fewest, Some(rows - 5), "{counted}");
        browser
            .press_until("E", "return document.querySelector('.wf-row[aria-selected=true] b').textContent === 'tracker · get_issue'")
            .await;
        browser.press_until(DOWN, "return document.querySelector('.wf-row[aria-selected=true] .n').textContent === '2'").await;
        browser.press_until("k", "return document.querySelector('.wf-row[aria-selected=true] .n').textContent === '1'").await;
        browser.until("return location.search.includes('call=1')").await;
        // What is selected is heard of: the tree has the focus.
        assert_eq!(browser.text("return document.activeElement.id").await, "tt-scroll");
        browser.press_until("?", "return document.getElementById('tt-help').open").await;
        browser.is_quiet("a waterfall");
    });
}

#[test]
fn the_transcript_and_the_waterfall_lead_to_the_same_call() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open_fall(&server.to(&format!("{FALL}?call=8"))).await;
        assert_eq!(browser.text(SELECTED).await, "Bash");
        browser.until("return document.getElementById('tt-side').textContent.includes('jq: error')").await;
        assert_eq!(browser.seen("#tt-side a[href*='/c/']").await, 1);
        browser.press("w").await;
        browser.until("return document.documentElement.dataset.ready === 'true' && document.querySelector('.row.here')?.textContent.includes('jq: error')").await;
        let here = browser.text("return document.querySelector('.row.here').id").await;
        browser.press("w").await;
        browser.until("return document.documentElement.dataset.drawn === 'true' && document.querySelector('.wf-row[aria-selected=true] .n')?.textContent === '8'").await;
        browser.ask("document.getElementById('tt-scroll').focus()").await;
        browser.press(&ENTER.to_string()).await;
        browser.until(&format!("return location.hash === '#' + {} && !location.pathname.includes('waterfall')", json!(here))).await;
        // A turn leads to itself.
        browser.open_fall(&server.to(FALL)).await;
        browser.press_until("j", "return document.querySelector('.wf-row.head[aria-selected=true]') !== null").await;
        browser.press(&ENTER.to_string()).await;
        browser.until("return location.hash === '#turn-1' && !location.pathname.includes('waterfall')").await;
        browser.is_quiet("there and back");
    });
}

#[test]
fn gaps_are_folded_and_a_session_that_grows_keeps_its_place() {
    let home = tempfile::tempdir().expect("a directory");
    let mut log = Growing::lay(home.path());
    let server = Server::of(home.path());
    with_browser(|browser| async move {
        let address = server.to("/s/grows/waterfall");
        browser.open_fall(&address).await;
        let folded = browser.text(SHOWN).await;
        assert!(folded.ends_with("1 gap is folded."), "{folded}");
        assert!(browser.text(SUM).await.contains("waiting for you 9 m 54 s"));
        browser.click("#tt-gaps").await;
        browser.until("return document.getElementById('tt-over').getAttribute('aria-label').endsWith('0 gaps are folded.') && location.search === '?gaps=all'").await;
        browser.open_fall(&format!("{address}?gaps=all&color=kind&call=2")).await;
        let chosen = "return [document.getElementById('tt-gaps').checked, document.getElementById('tt-color').value, document.querySelector('.wf-row[aria-selected=true] .n').textContent]";
        let is_chosen = "return document.querySelector('.wf-row[aria-selected=true] .n') !== null";
        browser.until(is_chosen).await;
        assert_eq!(browser.ask(chosen).await, json!([false, "kind", "2"]));
        browser.press("+++").await;
        browser.until("return location.search.includes('from=')").await;
        let shown = browser.text(SHOWN).await;
        log.turn("11", "third");
        let news = "document.dispatchEvent(new CustomEvent('tt-session', { detail: { session: 'grows' } })); return document.querySelector('.wf-axis span').textContent === '3 calls'";
        browser.until(news).await;
        browser.until(is_chosen).await;
        assert_eq!((browser.text(SHOWN).await, browser.ask(chosen).await), (shown, json!([false, "kind", "2"])));
        browser.is_quiet("a session that grows");
    });
}

#[test]
fn the_table_needs_no_mouse() {
    let server = Server::demo();
    with_browser(|browser| async move {
        browser.open(&server.to(FALL)).await;
        let reach = |name: &'static str| {
            let browser = &browser;
            async move {
                for _ in 0..80 {
                    browser.press(&TAB.to_string()).await;
                    if browser.ask("return document.activeElement.textContent").await == name {
                        return;
                    }
                }
                panic!("Tab never comes to {name}");
            }
        };
        reach("Table").await;
        browser.press_until(ENTER, "return document.querySelectorAll('.wf-table tbody tr').length === 17").await;
        reach("Duration").await;
        browser.press_until(ENTER, "return document.querySelector('th.c-duration')?.getAttribute('aria-sort') === 'descending'").await;
        browser.until("return document.documentElement.dataset.ready === 'true'").await;
        assert_eq!(browser.text("return document.querySelector('td.c-duration').textContent").await, "38.0 s (you)");
        browser.press_until("j", "return document.activeElement.closest('tr') === document.querySelector('tbody tr')").await;
        browser.press_until(ENTER, "return location.hash !== '' && !location.pathname.includes('waterfall')").await;
        browser.is_quiet("a table");
    });
}
