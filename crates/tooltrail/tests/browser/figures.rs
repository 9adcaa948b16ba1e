//! How a very long session opens and scrolls, measured; nothing here is asserted, because times differ from machine to machine.
//!
//! `cargo test --release -p tooltrail --test browser -- --ignored page --nocapture` prints what stands in `docs/performance.md`.

use crate::driver::{Browser, address, tooltrail, with_browser};
use serde_json::Value;
use std::path::Path;
use std::time::Instant;
use tooltrail_testkit::corpus::{Long, long_session};

/// How often everything is measured.
const ROUNDS: usize = 5;

/// What is measured on a page, and in what unit.
const FIGURES: &[(&str, &str)] = &[
    ("first contentful paint", "ms"),
    ("load event", "ms"),
    ("keys and find ready", "ms"),
    ("elements when opened", ""),
    ("link to a call at 90 %", "ms"),
    ("frame while scrolling, median", "ms"),
    ("frame while scrolling, 95 %", "ms"),
    ("elements after that", ""),
];

const ELEMENTS: &str = "return document.getElementsByTagName('*').length";

#[test]
#[ignore = "a measurement of a minute or two, for docs/performance.md"]
fn page_figures() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = folder.path().join("long.jsonl");
    let written = long_session(&log, &Long { rows: 20_000, seed: 1 }).expect("a log");
    let packed = export(&log, "packed", &[]);
    let plain = export(&log, "plain", &["--plain"]);
    let mut table = format!(
        "One session of {} files, {:.1} MB, {} lines.\n\n| | packed | `--plain` |\n|---|---|---|\n| file | {:.1} MB | {:.1} MB |\n| written in | {:.1} s | {:.1} s |\n",
        written.files,
        written.bytes as f64 / 1e6,
        written.lines,
        packed.bytes / 1e6,
        plain.bytes / 1e6,
        packed.seconds,
        plain.seconds
    );
    with_browser(|browser| async move {
        let mut columns = Vec::new();
        for page in [&packed, &plain] {
            let mut rounds = Vec::new();
            for _ in 0..ROUNDS {
                rounds.push(measure(&browser, &page.address, page.packed).await);
            }
            columns.push(rounds);
        }
        for (place, (name, unit)) in FIGURES.iter().enumerate() {
            let told = |column: usize| match median(columns[column].iter().filter_map(|round| round[place]).collect()) {
                Some(value) => format!("{value:.0} {unit}").trim_end().to_owned(),
                None => "".to_owned(),
            };
            table += &format!("| {name} | {} | {} |\n", told(0), told(1));
        }
        println!("{table}");
    });
}

/// A page to be measured.
struct Page {
    address: String,
    packed: bool,
    bytes: f64,
    seconds: f64,
}

fn export(log: &Path, name: &str, more: &[&str]) -> Page {
    let page = log.with_file_name(format!("{name}.html"));
    let start = Instant::now();
    let mut arguments = vec!["export", log.to_str().expect("a path of text"), "-o", page.to_str().expect("a path of text")];
    arguments.extend(more);
    tooltrail(&arguments);
    let seconds = start.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(&page).expect("a page").len() as f64;
    Page { address: address(&page), packed: more.is_empty(), bytes, seconds }
}

/// The figures of one round, in the order of [`FIGURES`].
async fn measure(browser: &Browser, page: &str, packed: bool) -> Vec<Option<f64>> {
    browser.goto("about:blank").await.expect("an empty page");
    browser.goto(page).await.expect("the page opens");
    browser.until("return performance.getEntriesByName('first-contentful-paint').length > 0 && performance.timing.loadEventEnd > 0").await;
    let times = browser
        .ask(
            "const [navigation] = performance.getEntriesByType('navigation');
             return [performance.getEntriesByName('first-contentful-paint')[0].startTime, navigation.loadEventEnd, navigation.domContentLoadedEventEnd]",
        )
        .await;
    let mut figures: Vec<Option<f64>> = times.as_array().expect("times").iter().map(Value::as_f64).collect();
    if !packed {
        figures[2] = None;
    }
    figures.push(browser.ask(ELEMENTS).await.as_f64());
    let linked = if packed { Some(deep_link(browser, page).await) } else { None };
    figures.push(linked);
    figures.extend(scroll(browser).await);
    figures.push(browser.ask(ELEMENTS).await.as_f64());
    figures
}

/// From a click to the call in sight, in an open page.
async fn deep_link(browser: &Browser, page: &str) -> f64 {
    browser.open(page).await;
    let time = browser
        .execute_async(
            "const [done] = arguments;
             const ids = document.querySelectorAll('.rows.packed > a[id^=toolu]');
             const { id } = ids[Math.floor(ids.length * .9)];
             const start = performance.now();
             location.hash = id;
             const look = () => {
                 const row = document.getElementById(id);
                 const top = row.matches('.row') ? row.getBoundingClientRect().top : -1;
                 if (top >= 0 && top < innerHeight) done(performance.now() - start); else requestAnimationFrame(look);
             };
             look();",
            Vec::new(),
        )
        .await;
    time.ok().and_then(|time| time.as_f64()).unwrap_or(f64::NAN)
}

/// The time between frames while the page is scrolled by 600 pixels a frame for three seconds: the median, and that of the slowest twentieth.
async fn scroll(browser: &Browser) -> [Option<f64>; 2] {
    let gaps = browser
        .execute_async(
            "const [done] = arguments;
             scrollTo(0, 0);
             const gaps = [];
             let last = performance.now();
             const end = last + 3000;
             const step = (now) => {
                 gaps.push(now - last);
                 last = now;
                 scrollBy(0, 600);
                 if (now < end) requestAnimationFrame(step); else done(gaps.slice(1).sort((one, other) => one - other));
             };
             requestAnimationFrame(step);",
            Vec::new(),
        )
        .await
        .expect("the page scrolls");
    let gaps = gaps.as_array().expect("a list");
    let at = |share: usize| gaps.get(gaps.len() * share / 100).and_then(Value::as_f64);
    [at(50), at(95)]
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
