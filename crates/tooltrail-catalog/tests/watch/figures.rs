//! How long watching takes: not a test that can fail, but figures for docs/performance.md.

use crate::scene::*;
use crate::support::options;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tooltrail_catalog::refresh::refresh;
use tooltrail_catalog::store::Catalogue;
use tooltrail_catalog::watch::{ChangeEvent, LogLocations, NextChange, SubscribeOptions, WatchOptions, Watcher};
use tooltrail_formats::Places;
use tooltrail_formats::find;
use tooltrail_formats::scan::Progress;
use tooltrail_model::Now;

/// How long a line takes to its subscriber while other logs lie beside it, how much is read for it, and what doing nothing costs.
///
/// `TOOLTRAIL_HOME=DIR cargo test --release -p tooltrail-catalog --test watch -- --ignored figures --nocapture`, where DIR is laid out like
/// a home directory and may be written to. With `TOOLTRAIL_SEED=FILE` what is there is taken from a catalogue, which the first run makes.
#[test]
#[ignore = "prints figures"]
#[allow(clippy::print_stdout)]
fn figures() {
    let Some(home) = std::env::var_os("TOOLTRAIL_HOME").map(PathBuf::from) else { return };
    let places = [Places { home: Some(home.clone()), ..Places::default() }];
    let search = find::in_places(&places);
    let seed = std::env::var_os("TOOLTRAIL_SEED").map(PathBuf::from);
    if let Some(seed) = seed.as_ref().filter(|seed| !seed.exists()) {
        let now = jiff::Timestamp::now().into();
        refresh(&mut Catalogue::open(seed).unwrap(), &search, &options(), now, &Progress::default()).unwrap();
        println!("the catalogue is made; run it once more");
        return;
    }
    let mut files = search.files;
    files.sort_by_key(|found| found.size);
    let largest = files.last().unwrap().path.clone();
    println!(
        "{} logs, {} bytes, the largest {}",
        files.len(),
        files.iter().map(|found| found.size).sum::<u64>(),
        files.last().unwrap().size
    );
    let log = home.join(".claude/projects/-srv-figures/figures.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, prompt("figures", 0)).unwrap();
    for (name, events, log, count) in
        [("events", true, &log, 50), ("events, the largest log", true, &largest, 50), ("no events", false, &log, 5)]
    {
        let clock = Arc::new(|| Now::at(jiff::Timestamp::now().into()));
        let options = WatchOptions { events, seed: seed.clone(), ..WatchOptions::default() };
        let (start, bare) = (Instant::now(), resident());
        let watcher = Watcher::start(LogLocations::Places(places.to_vec()), options, clock).unwrap();
        let subscriber = watcher.subscribe(SubscribeOptions { last: 10, ..SubscribeOptions::default() });
        while !matches!(subscriber.next_within(PATIENCE), NextChange::Change(change) if matches!(*change, ChangeEvent::Begun { .. })) {}
        let (took, more) = (start.elapsed(), resident() - bare);
        println!("{name}: begun after {took:.0?}, {} bytes read, {more:.1} MB more than {bare:.1}", watcher.bytes_read());
        let session = format!("fig{}", start.elapsed().as_nanos());
        let told = |line: &str, id: &str| {
            let start = Instant::now();
            append(log, line);
            loop {
                let NextChange::Change(change) = subscriber.next_within(PATIENCE) else { panic!("never told") };
                match &*change {
                    ChangeEvent::Requested { call } | ChangeEvent::Updated { call, .. } if *call.call == *id => return start.elapsed(),
                    _ => {}
                }
            }
        };
        println!("{name}: the first after {:.1?}", told(&request(&session, 1), &format!("toolu_{session}_1")));
        // A new session may give others new short names; that is over before anything is counted.
        std::thread::sleep(Duration::from_secs(1));
        let (read, cpu) = (watcher.bytes_read(), processor_time());
        let (mut times, mut new) = (Vec::new(), 0);
        for number in 2..2 + count {
            let line = request(&session, number);
            new += line.len() as u64;
            times.push(told(&line, &format!("toolu_{session}_{number}")));
            std::thread::sleep(Duration::from_millis(50));
        }
        times.sort();
        let (read, cpu) = (watcher.bytes_read() - read, (processor_time() - cpu) / count);
        println!(
            "{name}: median {:.1?}, worst {:.1?}, {read} bytes read for {new}, {cpu:.1?} of processor time each",
            times[times.len() / 2],
            times.last().unwrap()
        );
        println!("{name}: {:.1} MB more", resident() - bare);
        let own = log.file_stem().unwrap().to_string_lossy();
        let ask = || (Instant::now(), watcher.session("claude", &own).unwrap());
        let [(first, _), (again, held)] = [(); 2].map(|()| ask()).map(|(start, held)| (start.elapsed(), held));
        let late = told(&request(&session, 1000), &format!("toolu_{session}_1000"));
        println!("{name}: the session after {first:.1?}, again {again:.1?}; a line while somebody has it {late:.1?}");
        drop(held);
        let (read, cpu) = (watcher.bytes_read(), processor_time());
        std::thread::sleep(Duration::from_secs(20));
        println!("{name}: 20 s of nothing: {} bytes read, {:.1?} of processor time", watcher.bytes_read() - read, processor_time() - cpu);
    }
}

/// The memory of this process in megabytes, where the system tells it.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// The processor time of this process, where the system tells it.
fn processor_time() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let run = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok()?.split(' ').next()?.parse::<u64>().ok());
    Duration::from_nanos(run.sum())
}
