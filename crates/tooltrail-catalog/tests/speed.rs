//! How long searching takes: not a test that can fail, but figures for docs/performance.md.
//!
//! `TOOLTRAIL_LOGS=DIR cargo test --release -p tooltrail-catalog --test speed -- --ignored --nocapture`

#![allow(clippy::unwrap_used, clippy::print_stdout)] // figures are printed

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;
use tooltrail_catalog::search::{Everywhere, Query, Term, search};
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::shelf::Disk;

#[test]
#[ignore = "prints figures"]
fn figures() {
    let Some(root) = std::env::var_os("TOOLTRAIL_LOGS").map(PathBuf::from) else { return };
    let options = Options::default();
    let start = Instant::now();
    let (linker, _) = scan::scan(&find::in_paths(&[root]).files, &options, &Progress::default());
    let linked = linker.link_on(options.threads);
    println!("{} logs scanned and linked in {:.0?}, {} threads", linked.sources.len(), start.elapsed(), options.threads);
    let words = std::env::var("TOOLTRAIL_WORDS").unwrap_or_else(|_| "flaky:zqxj:the:re\\:\\d{7}\\s".to_owned());
    for word in words.replace("\\:", "\u{0}").split(':') {
        let word = word.replace('\u{0}', ":");
        let term = word.strip_prefix("re:").map_or_else(|| Term::text(&*word), Term::regex);
        for cased in [false, true] {
            let query = Query::new(&[term.clone().cased(cased)], &[]).unwrap();
            let (mut page, mut all, mut totals) = (f64::MAX, f64::MAX, None);
            for _ in 0..5 {
                let (start, mut first, mut seen) = (Instant::now(), None, 0);
                totals = Some(search(&linked, &Disk::default(), &query, &Everywhere, options.threads, |hits| {
                    seen += hits.len();
                    first = first.or((seen >= 50).then(|| start.elapsed().as_secs_f64()));
                    ControlFlow::Continue(())
                }));
                let took = start.elapsed().as_secs_f64();
                (page, all) = (page.min(first.unwrap_or(took)), all.min(took));
            }
            println!("{word:24} case {cased:5}: first page {:6.1} ms, all {:7.1} ms, {:?}", page * 1e3, all * 1e3, totals.unwrap());
        }
    }
}
