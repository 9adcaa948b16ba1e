//! A catalogue to begin from: nothing is read that it has as it is, and whatever is wrong with it, what is told is the same.

use crate::scene::*;
use crate::support::*;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tooltrail_catalog::watch::{LogLocations, SubscribeOptions, WatchOptions, Watcher};
use tooltrail_formats::find;

/// Some sessions that have nothing to do with each other.
fn sessions(scene: &Scene, count: u32) -> Vec<String> {
    let names: Vec<String> = (0..count).map(|number| format!("{number:04}-session")).collect();
    for name in &names {
        append(&scene.log(&format!("-srv-app/{name}.jsonl")), &(prompt(name, 0) + &request(name, 1) + &result(name, 1)));
    }
    names
}

#[test]
fn what_the_catalogue_has_is_not_read() {
    let scene = Scene::new(seeded(evented()));
    let names = sessions(&scene, 30);
    let mut mirror = Mirror::new(&scene);
    assert_eq!(mirror.calls.len(), 30);
    let requests: u64 = names.iter().map(|name| request(name, 1).len() as u64).sum();
    assert!(scene.watcher.bytes_read() <= 2 * requests, "only the requests of the calls that were asked for");
    let read = scene.watcher.bytes_read();
    let log = scene.log(&format!("-srv-app/{}.jsonl", names[7]));
    append(&log, &request(&names[7], 2));
    mirror.catch_up(&scene, "an append");
    assert!(scene.watcher.bytes_read() - read < 2 * fs::metadata(&log).unwrap().len(), "only the log that has changed");
}

#[test]
fn a_catalogue_that_cannot_be_used_changes_nothing() {
    let file = |scene: &Scene| scene.cache.path().join("catalogue.db");
    let run = |scene: &Scene, sql: &str| rusqlite::Connection::open(file(scene)).unwrap().execute_batch(sql).unwrap();
    type Spoil<'s> = (&'s str, &'s dyn Fn(&Scene));
    let spoils: [Spoil<'_>; 12] = [
        ("missing", &|scene| fs::remove_dir_all(scene.cache.path()).unwrap()),
        ("no catalogue", &|scene| fs::write(file(scene), "no catalogue").unwrap()),
        ("empty", &|scene| fs::write(file(scene), "").unwrap()),
        ("half of it", &|scene| fs::File::options().write(true).open(file(scene)).unwrap().set_len(40_000).unwrap()),
        ("other code", &|scene| run(scene, "PRAGMA user_version = 7")),
        ("no ties", &|scene| run(scene, "DELETE FROM tie_rows WHERE source = 2")),
        ("damaged ties", &|scene| run(scene, "UPDATE tie_rows SET ties = x'00' || ties WHERE source = 2")),
        ("no summaries", &|scene| run(scene, "DELETE FROM summary_rows")),
        ("damaged summaries", &|scene| run(scene, "UPDATE summary_rows SET summary = x'00' || summary")),
        ("no table", &|scene| run(scene, "DROP TABLE session_source_rows")),
        ("nothing as it is", &|scene| run(scene, "UPDATE source_rows SET size = size + 1")),
        ("everything gone", &|scene| run(scene, "UPDATE source_rows SET gone = 1")),
    ];
    for (what, spoil) in spoils {
        let scene = Scene::new(seeded(evented()));
        let names = sessions(&scene, 5);
        scene.refresh();
        spoil(&scene);
        let mut mirror = Mirror::as_it_is(&scene);
        assert_eq!(mirror.rows(), scene.fresh(), "{what}");
        for name in &names[1..4] {
            append(&scene.log(&format!("-srv-app/{name}.jsonl")), &request(name, 2));
            mirror.catch_up(&scene, what);
        }
        fs::remove_file(scene.log(&format!("-srv-app/{}.jsonl", names[4]))).unwrap();
        mirror.catch_up(&scene, what);
    }
}

#[test]
fn what_was_told_is_known_even_if_the_catalogue_is_ahead() {
    // Seldom enough that the catalogue is made anew before the watcher has seen anything.
    let slow = WatchOptions { poll: Duration::from_millis(700), ..polled() };
    type Edit<'e> = (&'e str, &'e dyn Fn(&Path, &str));
    let edits: [Edit<'_>; 4] = [
        ("appended to", &|log, name| append(log, &request(name, 2))),
        ("cut", &|log, name| fs::write(log, prompt(name, 0)).unwrap()),
        ("replaced", &|log, name| fs::write(log, prompt(name, 0) + &request("other", 1)).unwrap()),
        ("deleted", &|log, _| fs::remove_file(log).unwrap()),
    ];
    for (what, edit) in edits {
        let scene = Scene::new(seeded(slow.clone()));
        let names = sessions(&scene, 5);
        let mut mirror = Mirror::new(&scene);
        edit(&scene.log(&format!("-srv-app/{}.jsonl", names[2])), &names[2]);
        scene.refresh();
        mirror.catch_up(&scene, what);
        fs::remove_file(scene.cache.path().join("catalogue.db")).unwrap();
        scene.refresh();
        append(&scene.log(&format!("-srv-app/{}.jsonl", names[3])), &request(&names[3], 2));
        append(&scene.log("-srv-app/new.jsonl"), &request("new", 2));
        mirror.catch_up(&scene, "a catalogue with other numbers");
    }
}

#[test]
fn bundles_that_are_asleep_are_woken_by_what_ties_them() {
    for options in both([evented(), polled()]) {
        let scene = Scene::new(options);
        let names = sessions(&scene, 6);
        let mut mirror = Mirror::new(&scene);
        // A log that tells of calls of two sessions.
        append(&scene.log("-srv-app/tie.jsonl"), &(result(&names[0], 1) + &result(&names[1], 1)));
        mirror.catch_up(&scene, "tied together");
        append(&scene.log(&format!("-srv-app/{}.jsonl", names[1])), &request(&names[1], 3));
        mirror.catch_up(&scene, "one of those");
        // A title for a record of a third one.
        let title = format!("{{\"type\":\"summary\",\"summary\":\"a title\",\"leafUuid\":\"{}-r1\"}}\n", names[2]);
        append(&scene.log("-srv-app/title.jsonl"), &title);
        mirror.catch_up(&scene, "a title");
        assert!(mirror.sessions.values().any(|row| row.contains("a title")));
        // Two that begin alike: the one that was there is called something else now.
        let alike = format!("{}-again", names[3]);
        append(&scene.log(&format!("-srv-app/{alike}.jsonl")), &request(&alike, 1));
        mirror.catch_up(&scene, "a like name");
        fs::rename(scene.log(&format!("-srv-app/{}.jsonl", names[4])), scene.log("-srv-other/moved.jsonl")).unwrap();
        mirror.catch_up(&scene, "renamed");
        let held = scene.watcher.session("claude", &names[5]).unwrap();
        assert_eq!(direct(&held.linker, &held.now).0.len(), 1);
    }
}

#[test]
fn sessions_are_named_by_the_logs_that_are_left() {
    let scene = Scene::new(seeded(evented()));
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/fixtures/codex/subagent-v2");
    let mut logs = Vec::new();
    for found in find::in_paths(&[fixture]).files {
        logs.push(scene.home.path().join(".codex/sessions").join(found.path.file_name().unwrap()));
        fs::create_dir_all(scene.home.path().join(".codex/sessions")).unwrap();
        fs::copy(&found.path, logs.last().unwrap()).unwrap();
    }
    scene.refresh();
    // The second is a subagent of the first, and the third one of the second. Without it nobody knows whose the third is.
    fs::remove_file(&logs[1]).unwrap();
    let mut mirror = Mirror::as_it_is(&scene);
    assert_eq!(mirror.rows(), scene.fresh());
    assert!(scene.watcher.session("codex", "019cb830-0000-7000-8000-000000000014").is_some());
    fs::remove_file(&logs[0]).unwrap();
    mirror.catch_up(&scene, "another one gone");
}

#[test]
fn what_was_quiet_is_put_to_sleep_and_woken_again() {
    let scene = Scene::new(seeded(evented()));
    let names = sessions(&scene, 40);
    let mut mirror = Mirror::new(&scene);
    let held = |name: &str| scene.watcher.session("claude", name).unwrap();
    let versions: Vec<u64> = names.iter().map(|name| held(name).version).collect();
    for round in 2..4 {
        for name in &names {
            append(&scene.log(&format!("-srv-app/{name}.jsonl")), &request(name, round));
        }
        mirror.catch_up(&scene, "all of them");
        scene.refresh();
        // A new log makes it look everywhere, at the catalogue too.
        append(&scene.log(&format!("-srv-app/new{round}.jsonl")), &prompt(&format!("new{round}"), 0));
        mirror.catch_up(&scene, "a new one");
    }
    let again: Vec<u64> = names.iter().map(|name| held(name).version).collect();
    assert!(versions.iter().zip(&again).all(|(one, other)| one != other));
    let twice: Vec<u64> = names.iter().map(|name| held(name).version).collect();
    assert_eq!(again, twice, "asleep or not, a version is the same");
    let other = Watcher::start(LogLocations::Places(scene.places().to_vec()), evented(), Arc::new(later)).unwrap();
    let _subscriber = other.subscribe(SubscribeOptions::default());
    let read: Vec<u64> = names.iter().map(|name| other.session("claude", name).unwrap().version).collect();
    assert_eq!(again, read, "nor does it matter who tells it");
}
