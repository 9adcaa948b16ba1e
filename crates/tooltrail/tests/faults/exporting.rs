//! Faults while a session is exported: the old file is there, or the whole new one.

use super::fault::{Fault, KINDS, OPERATIONS, shim};
use super::world::{World, files};
use std::collections::BTreeSet;
use std::fs;

const MOST: u64 = 5;

#[test]
fn a_fault_of_an_export_leaves_the_old_file_or_the_new_one() {
    let Some(shim) = shim() else { return };
    let world = World::new();
    let cache = world.cache("stale");
    let out = world.path().join("trial-out");
    fs::create_dir(&out).unwrap();
    let file = out.join("session.html");
    let export = ["export", "last", "-o", file.to_str().unwrap()];
    fs::write(&file, "old").unwrap();
    world.ask(&cache, &export);
    let expected = fs::read(&file).unwrap();
    let (mut trials, mut failed) = (0, BTreeSet::new());
    for (operation, errno) in KINDS {
        for prefix in [out.clone(), world.home()] {
            let fault = Fault { operation, errno, nth: 0, each: false, prefix };
            let calls = fault.count(world.command(&cache, &export), shim, world.path());
            for fault in fault.sample(calls, MOST) {
                trials += 1;
                failed.insert(operation);
                fs::write(&file, "old").unwrap();
                let output = fault.run(world.command(&cache, &export), shim);
                let found = fs::read(&file).unwrap();
                // Logs that cannot be read are missing in the page, which says so; a page that cannot be written is not there.
                assert!(fault.prefix != out || found == b"old" || found == expected, "{fault:?}: {} bytes", found.len());
                assert!(found != b"old" || output.status.code() != Some(0), "{fault:?}");
                world.ask(&cache, &export);
                assert!(fs::read(&file).unwrap() == expected, "{fault:?}");
                assert_eq!(files(&out), std::slice::from_ref(&file), "{fault:?}");
            }
        }
    }
    assert!(trials > 20, "{trials}");
    assert_eq!(failed.into_iter().collect::<Vec<_>>(), OPERATIONS);
    println!("{trials} faults");
}
