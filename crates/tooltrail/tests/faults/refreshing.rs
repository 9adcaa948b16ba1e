//! Faults while the catalogue is made, refreshed, upgraded and repaired.

use super::fault::{EIO, ENOSPC, Fault, KINDS, OPERATIONS, SHORT, shim};
use super::world::{World, dump, files};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// How many calls fail of each kind of fault, and with how many from there on.
const MOST: u64 = 3;

/// The states in which a refresh finds the cache.
const STATES: [&str; 5] = ["none", "stale", "outdated", "older", "damaged"];

fn run_sql(file: &Path, sql: &str) {
    Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

/// Makes the caches in all states from the stale one.
fn prepare(world: &World) {
    for state in STATES {
        fs::create_dir_all(world.cache(state)).unwrap();
    }
    for state in ["outdated", "older", "damaged"] {
        world.copy_cache(&world.cache("stale"), &world.cache(state));
    }
    // Rows of other readers.
    run_sql(&world.catalogue(&world.cache("outdated")), "UPDATE meta SET value = 1 WHERE key = 'readers'");
    let older = world.catalogue(&world.cache("older"));
    run_sql(&older, "PRAGMA user_version = 6");
    fs::rename(&older, older.with_file_name(older.file_name().unwrap().to_str().unwrap().replace("catalogue-7", "catalogue-6"))).unwrap();
    damage(&world.catalogue(&world.cache("damaged")), "tie_rows");
}

/// Overwrites the first page of a table.
fn damage(file: &Path, table: &str) {
    let connection = Connection::open(file).unwrap();
    let page: u32 = connection.query_row("SELECT rootpage FROM sqlite_master WHERE name = ?1", [table], |row| row.get(0)).unwrap();
    let size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
    drop(connection);
    let mut file = fs::File::options().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(u64::from((page - 1) * size))).unwrap();
    file.write_all(&[0xa5; 512]).unwrap();
}

/// Fails at the first difference.
fn same(found: &[String], expected: &[String], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{what}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// What is known in the end, for each state of the cache.
struct Expected {
    listed: String,
    with_gone: Vec<String>,
    without: Vec<String>,
}

impl Expected {
    fn of(world: &World) -> Self {
        let listed = world.ask(&world.cache("unused"), &["list", "--json", "--no-cache"]);
        let end = |state: &str| {
            let cache = world.cache(&format!("end-{state}"));
            world.copy_cache(&world.cache(state), &cache);
            assert_eq!(world.ask(&cache, &["list", "--json"]), listed);
            dump(&world.catalogue(&cache))
        };
        let (with_gone, without) = (end("stale"), end("none"));
        assert!(with_gone.len() > without.len(), "a session is gone");
        for state in ["outdated", "older", "damaged"] {
            same(&end(state), &with_gone, state);
        }
        Expected { listed, with_gone, without }
    }

    fn check(&self, world: &World, cache: &Path, state: &str, what: &dyn std::fmt::Debug) {
        let output = world.run(cache, &["list", "--json"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{state}, after {what:?}: {told}");
        let listed = String::from_utf8_lossy(&output.stdout);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        same(&lines(&listed), &lines(&self.listed), &format!("{state}, after {what:?}: {told}"));
        let expected = if state == "none" { &self.without } else { &self.with_gone };
        same(&dump(&world.catalogue(cache)), expected, &format!("{state}, after {what:?}: {told} {:?}", files(cache)));
    }
}

#[test]
fn no_fault_of_a_refresh_costs_anything() {
    let Some(shim) = shim() else { return };
    let world = World::new();
    prepare(&world);
    let expected = Expected::of(&world);
    let mut trials = Vec::new();
    for state in STATES {
        for (operation, errno) in KINDS {
            for prefix in [world.cache("trial-"), world.home()] {
                let fault = Fault { operation, errno, nth: 0, each: false, prefix };
                let cache = world.cache("trial-count");
                world.copy_cache(&world.cache(state), &cache);
                let calls = fault.count(world.command(&cache, &["list", "--json"]), shim, world.path());
                fs::remove_dir_all(&cache).unwrap();
                let most = if fault.prefix == world.home() { 2 * MOST } else { MOST };
                trials.extend(fault.sample(calls, most).into_iter().map(|fault| (state, fault)));
            }
        }
    }
    assert!(trials.len() > 100, "{}", trials.len());
    let failed: BTreeSet<&str> = trials.iter().map(|(_, fault)| fault.operation).collect();
    assert_eq!(failed.into_iter().collect::<Vec<_>>(), OPERATIONS);
    println!("{} faults", trials.len());
    let next = Mutex::new(trials.iter().enumerate());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((number, (state, fault))) = next.lock().unwrap().next() else { return };
                    let cache = world.cache(&format!("trial-{number}"));
                    world.copy_cache(&world.cache(state), &cache);
                    let mut command = world.command(&cache, &["list", "--json"]);
                    command.env("TOOLTRAIL_LOG", "info");
                    let told = String::from_utf8(fault.run(command, shim).stderr).unwrap();
                    expected.check(&world, &cache, state, &(fault, told));
                    fs::remove_dir_all(&cache).unwrap();
                }
            });
        }
    });
}

/// A full disk: the command says so in one line, and reads the logs.
#[test]
fn on_a_full_disk_logs_are_read_instead() {
    let Some(shim) = shim() else { return };
    let world = World::new();
    prepare(&world);
    let expected = Expected::of(&world);
    for state in STATES {
        let cache = world.cache(&format!("trial-{state}"));
        world.copy_cache(&world.cache(state), &cache);
        let before = files(&cache);
        let fault = Fault { operation: "write", errno: ENOSPC, nth: 1, each: true, prefix: cache.clone() };
        let output = fault.run(world.command(&cache, &["list", "--json"]), shim);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{state}: {told}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected.listed, "{state}");
        assert_eq!(told.lines().count(), 1, "{state}: {told}");
        assert!(told.contains("reading the logs instead"), "{state}: {told}");
        assert!(state == "none" || !files(&cache).is_empty(), "{state}: {before:?}");
        expected.check(&world, &cache, state, &fault);
    }
}

/// Too few file handles, from none to spare to nearly enough.
#[test]
fn too_few_file_handles_cost_nothing() {
    let world = World::new();
    prepare(&world);
    let expected = Expected::of(&world);
    for state in STATES {
        for handles in 4..=10 {
            let cache = world.cache(&format!("trial-{state}-{handles}"));
            world.copy_cache(&world.cache(state), &cache);
            let inner = world.command(&cache, &["list", "--json"]);
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!("ulimit -n {handles}; exec \"$0\" \"$@\"")).arg(inner.get_program()).args(inner.get_args());
            command.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(world.home());
            let output = command.output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0..=2)) && !told.contains("panicked"), "{state}, {handles}: {told}");
            expected.check(&world, &cache, state, &handles);
        }
    }
}

/// The faults themselves: an operation that is to fail does, and one that is not does not.
#[test]
fn the_library_lets_operations_fail() {
    let Some(shim) = shim() else { return };
    let world = World::new();
    let cache = world.cache("trial");
    let fault = Fault { operation: "read", errno: EIO, nth: 1, each: true, prefix: world.home().join(".claude") };
    let output = fault.run(world.command(&cache, &["list", "--no-cache"]), shim);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("Input/output error"), "{told}");
    let short = Fault { errno: SHORT, ..fault };
    let output = short.run(world.command(&cache, &["list", "--json", "--no-cache"]), shim);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), world.ask(&cache, &["list", "--json", "--no-cache"]));
}
