//! Faults while logs are kept: no copy is lost, and the next run completes what is missing.

use super::fault::{EIO, Fault, KINDS, OPERATIONS, shim};
use super::world::{World, copy, files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const MOST: u64 = 3;

/// What is restored from a keep: the content of every file.
fn restored(world: &World, data: &Path, what: &dyn std::fmt::Debug) -> BTreeMap<PathBuf, Vec<u8>> {
    let target = data.with_extension("restored");
    let output = world.command_with(&world.cache("unused"), data, &["keep", "restore", "all", "--to", target.to_str().unwrap()]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{what:?}: {}", String::from_utf8_lossy(&output.stderr));
    let found = files(&target).into_iter().map(|path| (path.strip_prefix(&target).unwrap().to_owned(), fs::read(&path).unwrap()));
    let found = found.collect();
    fs::remove_dir_all(target).unwrap();
    found
}

#[test]
fn no_fault_of_keeping_loses_a_copy() {
    let Some(shim) = shim() else { return };
    let world = World::new();
    // Kept before; then one log is deleted, one grows, one is replaced by something shorter and one is emptied.
    world.ask(&world.cache("unused"), &["keep", "on"]);
    let logs = world.logs();
    fs::remove_file(&logs[0]).unwrap();
    let grown = fs::read_to_string(&logs[1]).unwrap().repeat(2);
    fs::write(&logs[1], grown).unwrap();
    fs::write(&logs[2], "{\"type\":\"user\"}\n").unwrap();
    fs::write(&logs[3], "").unwrap();
    let state = |data: &Path| fs::read_to_string(data.join("keep/own/state.json")).unwrap().contains("\"on\":true");

    let end = world.cache("end");
    copy(&world.data(), &end);
    assert!(world.command_with(&world.cache("unused"), &end, &["keep", "now"]).status().unwrap().success());
    let expected = restored(&world, &end, &"nothing");
    assert!(expected.len() > 10);
    let older = |data: &Path| -> Vec<Vec<u8>> { files(&data.join("keep/own/older")).iter().map(|path| fs::read(path).unwrap()).collect() };
    assert_eq!(older(&end).len(), 1, "of the log that was replaced");

    let (mut number, mut failed) = (0, BTreeSet::new());
    for (operation, errno) in KINDS {
        for prefix in [world.cache("trial-"), world.home()] {
            let fault = Fault { operation, errno, nth: 0, each: false, prefix };
            let data = world.cache("trial-count");
            copy(&world.data(), &data);
            let calls = fault.count(world.command_with(&world.cache("unused"), &data, &["keep", "now"]), shim, world.path());
            fs::remove_dir_all(&data).unwrap();
            for fault in fault.sample(calls, MOST) {
                failed.insert(operation);
                number += 1;
                let data = world.cache(&format!("trial-{number}"));
                copy(&world.data(), &data);
                fault.run(world.command_with(&world.cache("unused"), &data, &["keep", "now"]), shim);
                assert!(state(&data), "{fault:?}");
                let output = world.command_with(&world.cache("unused"), &data, &["keep", "now"]).output().unwrap();
                assert!(output.status.success(), "{fault:?}: {}", String::from_utf8_lossy(&output.stderr));
                let status = world.command_with(&world.cache("unused"), &data, &["keep", "status", "--verify"]).output().unwrap();
                assert!(status.status.success(), "{fault:?}: {}", String::from_utf8_lossy(&status.stdout));
                assert!(restored(&world, &data, &fault) == expected, "{fault:?}");
                // What was replaced is there, once or more often.
                assert!(older(&end).iter().all(|kept| older(&data).contains(kept)), "{fault:?}");
                fs::remove_dir_all(&data).unwrap();
            }
        }
    }
    assert!(number > 50, "{number}");
    assert_eq!(failed.into_iter().collect::<Vec<_>>(), OPERATIONS);
    println!("{number} faults");
}

/// The state goes to the disk before its name, and its name before the command ends: else a crash could turn keeping off.
#[test]
fn the_state_is_written_durably() {
    let Some(shim) = shim() else { return };
    let world = World::new();
    let cache = world.cache("unused");
    world.ask(&cache, &["keep", "on"]);
    let state = world.data().join("keep/own/state.json");
    let on = fs::read(&state).unwrap();
    for (operation, calls) in [("sync", 2), ("rename", 1)] {
        let fault = Fault { operation, errno: EIO, nth: 0, each: false, prefix: world.data() };
        // The file, its name, and the directory that has it.
        assert_eq!(fault.count(world.command(&cache, &["keep", "off"]), shim, world.path()), calls, "{operation}");
        world.ask(&cache, &["keep", "on"]);
        let output = Fault { nth: 1, ..fault }.run(world.command(&cache, &["keep", "off"]), shim);
        assert_ne!(output.status.code(), Some(0), "{operation}");
        let kept: serde_json::Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
        let before: serde_json::Value = serde_json::from_slice(&on).unwrap();
        assert_eq!(kept["on"], before["on"], "{operation}");
    }
}
