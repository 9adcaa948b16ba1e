//! Logs that are there and cannot be read: said by name and by the exit status, and never taken for deleted.

use super::fault::{Fault, shim};
use super::world::World;
use std::fs;
use std::path::PathBuf;

/// Error number of Linux: permission denied.
const EACCES: i32 = 13;

/// Lists sessions that are gone.
const GONE: &[&str] = &["list", "--json", "is:gone"];

#[test]
fn a_log_that_cannot_be_read_is_said_and_not_gone() {
    let Some(shim) = shim() else { return };
    let world = World::new();
    let cache = world.cache("stale");
    let gone = world.ask(&cache, GONE);
    // A log without subagents: of a session that has some, their logs are left.
    let alone = |log: &PathBuf| !log.to_string_lossy().contains("subagents") && !log.with_extension("").exists();
    let log = world.logs().into_iter().find(alone).unwrap();
    // It changed, so a refresh wants to read it.
    let text = fs::read_to_string(&log).unwrap() + "{\"type\":\"user\"}\n";
    fs::write(&log, text).unwrap();
    let fault = Fault { operation: "open", errno: EACCES, nth: 1, each: true, prefix: log.clone() };
    for arguments in [&["list"][..], GONE, &["calls"], &["stats"], &["list", "--no-cache"], &["calls", "--no-cache"], &["check"]] {
        let output = fault.run(world.command(&cache, arguments), shim);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains(&format!("cannot read `{}`", log.display())), "{arguments:?}: {told}");
        if arguments == GONE {
            assert_eq!(String::from_utf8_lossy(&output.stdout), gone);
        }
    }
    // Once it is deleted, it is gone.
    fs::remove_file(&log).unwrap();
    assert_eq!(world.ask(&cache, GONE).lines().count(), gone.lines().count() + 1);
}
