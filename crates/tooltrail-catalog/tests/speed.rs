//! How long searching takes: not a test that can fail, but figures for docs/performance.md.
//!
//! `TOOLTRAIL_LOGS=DIR cargo test -p tooltrail-catalog --test speed -- --ignored --nocapture`

#![allow(clippy::unwrap_used, clippy::print_stdout)] // figures are printed

mod support;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;
use tooltrail_catalog::library::ScannedLibrary;
use tooltrail_catalog::search::{Query, search};
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};

/// How often each query is asked; the median counts.
const TIMES: usize = 9;

/// The time that this process has had of all processors, in milliseconds, where the system tells.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) * 10.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[test]
#[ignore = "prints figures"]
fn figures() {
    let Some(root) = std::env::var_os("TOOLTRAIL_LOGS").map(PathBuf::from) else { return };
    let options = Options::default();
    let start = Instant::now();
    let (linker, _) = scan::scan(&find::in_paths(&[root]).files, &options, &Progress::default());
    println!("scanned in {:.0?}, {} threads", start.elapsed(), options.threads);
    let (start, disk) = (Instant::now(), Disk::default());
    let library = ScannedLibrary::new(linker, &disk, None);
    println!("taken apart in {:.0?}", start.elapsed());
    let queries =
        std::env::var("TOOLTRAIL_QUERIES").unwrap_or_else(|_| "zqxjv;case:zqxjv;flaky;the;re:\\d{7}\\s;漢字;zqxjv tool:Bash".to_owned());
    for text in queries.split(';') {
        let query = Query::new(support::filter(text), &[]);
        let (mut page, mut all, mut totals) = (Vec::new(), Vec::new(), None);
        let before = processor();
        for _ in 0..TIMES {
            let (start, mut first, mut seen) = (Instant::now(), None, 0);
            let found = search(&library, &query, &support::later(), options.threads, |hits| {
                seen += hits.len();
                first = first.or((seen >= 50).then(|| start.elapsed().as_secs_f64()));
                ControlFlow::Continue(())
            });
            totals = Some(found.unwrap());
            let took = start.elapsed().as_secs_f64();
            page.push(first.unwrap_or(took));
            all.push(took);
        }
        let (page, all, busy) = (median(page) * 1e3, median(all) * 1e3, (processor() - before) / TIMES as f64);
        println!("{text:24} first page {page:6.1} ms, all {all:7.1} ms, processor {busy:7.1} ms, {:?}", totals.unwrap());
    }
}
