//! Logs that are written to while they are read. What a refresh makes of them then is of no moment; the next one, when nobody writes any
//! more, must not be misled by it.

use super::edit::{World, append, lines, replace};
use super::support::*;
use super::{clock_now, compare, update};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tooltrail_catalog::refresh::refresh;
use tooltrail_formats::find;
use tooltrail_formats::scan::Progress;

/// Lets go of a writer also where the reader fails.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn logs_that_grow_while_they_are_read() {
    let (world, cache) = (World::new(1), tempfile::tempdir().unwrap());
    let mut catalogue = open(cache.path());
    update(&mut catalogue, world.root());
    let logs = world.logs();
    let contents: Vec<Vec<u8>> = logs.iter().map(|path| fs::read(path).unwrap()).collect();
    let done = AtomicBool::new(false);
    let write = || {
        let mut turn = 0;
        while !done.load(Ordering::Relaxed) {
            turn += 1;
            // Whole lines of other logs, half ones and their other halves, and now and then all of it once more, in place or not.
            let (path, content) = (&logs[turn % logs.len()], &contents[turn * 7 % contents.len()]);
            let lines = lines(content);
            let line = lines[turn / 3 % lines.len()];
            let (half, rest) = line.split_at(line.len() / 2);
            match turn % 31 {
                0 => replace(path, content),
                1 => fs::write(path, content).unwrap(),
                2..=9 => [half, rest].into_iter().for_each(|part| append(path, part)),
                10..=12 => append(path, half),
                _ => append(path, line),
            }
        }
        turn
    };
    let (mut refreshes, mut read) = (0, 0);
    let turns = thread::scope(|scope| {
        let writer = scope.spawn(write);
        let stop = Stop(&done);
        let end = Instant::now() + Duration::from_millis(1500);
        while Instant::now() < end {
            refreshes += 1;
            read += update(&mut catalogue, world.root()).read;
        }
        drop(stop);
        writer.join().unwrap()
    });
    assert!(turns > logs.len() && refreshes > 1 && read > logs.len(), "{turns} turns, {refreshes} refreshes, {read} logs read");
    compare("when nobody writes any more", &mut catalogue, world.root());
}

/// A log is empty for a moment after it was scanned: what its commands tell cannot be read then, and must not be taken for nothing.
#[test]
fn logs_that_are_written_anew_between_scanning_and_reading_again() {
    let (world, cache) = (World::new(3), tempfile::tempdir().unwrap());
    let mut catalogue = open(cache.path());
    let logs = world.logs();
    for round in 0..12 {
        let path = &logs[round % logs.len()];
        let content = fs::read(path).unwrap();
        append(path, b"{\"type\":\"marble\"}\n");
        let changed = fs::read(path).unwrap();
        let search = find::in_paths(&[world.root().to_owned()]);
        let progress = Progress::default();
        thread::scope(|scope| {
            let cut = scope.spawn(|| {
                let since = Instant::now();
                while progress.sources.load(Ordering::Relaxed) == 0 && since.elapsed() < Duration::from_secs(10) {
                    std::hint::spin_loop();
                }
                fs::write(path, "").unwrap();
            });
            refresh(&mut catalogue, &search, &options(), clock_now(), &progress).unwrap();
            cut.join().unwrap();
        });
        fs::write(path, if round % 2 == 0 { &changed } else { &content }).unwrap();
        compare("when it is whole again", &mut catalogue, world.root());
    }
}
