//! Watching: whatever happens to logs, and however the watcher learns of it, what subscribers were told is what the logs say.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a panic is the report

mod checkouts;
mod figures;
mod scene;
mod seeded;
#[path = "../support/mod.rs"]
mod support;
mod whatever;

use scene::*;
use std::fs::{self, File};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use support::*;
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::watch::{ChangeEvent, LogLocations, NextChange, SubscribeOptions, Subscriber, WatchOptions, Watcher};
use tooltrail_formats::Places;
use tooltrail_formats::find;
use tooltrail_formats::follow::SEAM;
use tooltrail_formats::scan::Progress;
use tooltrail_model::Now;
use tooltrail_model::link::Live;

#[test]
fn an_append_is_told_and_only_the_new_bytes_are_read() {
    for options in both([evented(), polled()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        let mut mirror = Mirror::new(&scene);
        // The first change of a log that was quiet reads it whole.
        append(&log, &prompt("s1", 1));
        mirror.catch_up(&scene, "the first append");
        let (mut read, mut new) = (scene.watcher.bytes_read(), 0);
        for number in 2..12 {
            for line in [request("s1", number), result("s1", number)] {
                append(&log, &line);
                new += line.len() as u64;
                mirror.catch_up(&scene, "an append");
            }
        }
        read = scene.watcher.bytes_read() - read;
        assert!(read >= new && read <= new + 20 * SEAM as u64, "{read} bytes were read for {new}");
        assert_eq!(mirror.calls.len(), 10);
        assert!(mirror.calls.values().all(|row| row.contains("\"masked\":[\"cargo test")), "commands are understood");
        assert_eq!(mirror.messages, [(log.to_string_lossy().into_owned(), 2)], "what was said");
    }
}

#[test]
fn a_call_is_told_when_it_is_requested_and_when_it_ends() {
    for options in both([evented()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        let mut mirror = Mirror::new(&scene);
        append(&log, &request("s1", 1));
        mirror.catch_up(&scene, "requested");
        append(&log, &result("s1", 1));
        let ended = loop {
            let change = mirror.take(PATIENCE).expect("the end of the call");
            if let ChangeEvent::Updated { call, before } = &*change {
                break (
                    call.status.word(),
                    before.word(),
                    call.what.clone(),
                    call.project.clone(),
                    serde_json::to_value(&*change).unwrap(),
                );
            }
        };
        assert_eq!(
            (ended.0, ended.1, ended.2.as_deref(), ended.3.as_deref()),
            ("succeeded", "unanswered", Some("cargo test 1 | tail -3"), Some("/srv/app"))
        );
        assert_eq!(ended.4["change"], "updated");
        assert_eq!(ended.4["before"], "unanswered");
        assert_eq!(ended.4["call"]["call"], "toolu_s1_1");
        assert_eq!(ended.4["call"]["v"], 1);
    }
}

#[test]
fn directories_that_come_later_are_noticed() {
    for options in both([quick(), polled()]) {
        let scene = Scene::new(options);
        let mut mirror = Mirror::new(&scene);
        assert!(mirror.calls.is_empty());
        append(&scene.log("-srv-app/s1.jsonl"), &(prompt("s1", 0) + &request("s1", 1)));
        mirror.catch_up(&scene, "a new place");
        let side = scene.log("-srv-app/s1/subagents/agent-a1.jsonl");
        append(&side, &request("s1", 2));
        mirror.catch_up(&scene, "a subagent");
        append(&side, &result("s1", 2));
        mirror.catch_up(&scene, "a subagent's log that grows");
        fs::write(side.with_extension("meta.json"), "{\"toolUseId\":\"toolu_s1_1\"}").unwrap();
        mirror.catch_up(&scene, "a file beside it");
        assert!(mirror.calls.values().any(|row| row.contains("\"parent_call\":\"toolu_s1_1\"")));
        append(&scene.log("-srv-app/s12.jsonl"), &(prompt("s12", 0) + &request("s12", 1)));
        mirror.catch_up(&scene, "a session with a like name");
        // Of two ids that begin alike the short names are longer.
        for id in ["alike-1", "alike-2"] {
            append(&scene.log(&format!("-srv-app/{id}.jsonl")), &(prompt(id, 0) + &request(id, 1)));
            mirror.catch_up(&scene, id);
        }
        fs::remove_dir_all(scene.projects().join("-srv-app/s1")).unwrap();
        mirror.catch_up(&scene, "a directory goes");
        fs::remove_dir_all(scene.home.path().join(".claude")).unwrap();
        mirror.catch_up(&scene, "everything goes");
        append(&scene.log("-srv-app/s1.jsonl"), &(prompt("s1", 0) + &request("s1", 1)));
        mirror.catch_up(&scene, "it comes back");
    }
}

#[test]
fn time_alone_changes_rows_and_no_log_is_read() {
    for options in both([polled()]) {
        let home = tempfile::tempdir().unwrap();
        let log = home.path().join(".claude/projects/-srv-app/s1.jsonl");
        fs::create_dir_all(log.parent().unwrap()).unwrap();
        append(&log, &(prompt("s1", 0) + &request("s1", 10)));
        let start = time("2026-03-04T10:00:11Z");
        let written = SystemTime::UNIX_EPOCH + Duration::from_micros(start.as_microsecond().cast_unsigned());
        File::options().append(true).open(&log).unwrap().set_modified(written).unwrap();
        let scene = Scene::at(home, options, Now::at(start));
        let mut mirror = Mirror::new(&scene);
        let status = |mirror: &Mirror| text(&serde_json::from_str(mirror.calls.values().next().unwrap()).unwrap(), "status");
        assert_eq!(status(&mirror), "running");
        let read = scene.watcher.bytes_read();
        let move_on = |now: Now| *scene.now.lock().unwrap() = now;
        move_on(Now::at(time("2026-03-04T11:00:00Z")));
        mirror.catch_up(&scene, "quiet for too long");
        assert_eq!(status(&mirror), "unanswered");
        let mut listed = Now::at(time("2026-03-04T11:00:00Z"));
        listed.live.insert("s1".into(), Live::Waiting);
        move_on(listed);
        mirror.catch_up(&scene, "listed by its agent");
        assert_eq!(status(&mirror), "running");
        assert!(scene.watcher.bytes_read() - read < 2000, "only the request is read again");
    }
}

#[test]
fn a_filter_decides_what_is_told() {
    for options in both([evented()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        let subscribe = |query: &str| scene.subscribe(SubscribeOptions { filter: filter(query), ..SubscribeOptions::default() });
        let all = [("status:succeeded", 1), ("tool:Read", 0), ("command:cargo", 2), ("\"test 3 |\"", 2), ("masked", 0), ("has:masked", 1)];
        let subscribers: Vec<_> = all.iter().map(|(query, _)| subscribe(query)).collect();
        let begun = |subscriber: &Subscriber| matches!(subscriber.next_within(PATIENCE), NextChange::Change(change) if matches!(*change, ChangeEvent::Begun { .. }));
        assert!(subscribers.iter().all(begun));
        let mut mirror = Mirror::new(&scene);
        for line in [request("s1", 3), result("s1", 3)] {
            append(&log, &line);
            mirror.catch_up(&scene, "filters");
        }
        for ((query, count), subscriber) in all.iter().zip(subscribers) {
            let mut told = 0;
            while let NextChange::Change(change) = subscriber.next_within(Duration::ZERO) {
                told += usize::from(matches!(*change, ChangeEvent::Requested { .. } | ChangeEvent::Updated { .. }));
            }
            assert_eq!(told, *count, "{query}");
        }
    }
}

#[test]
fn a_text_is_looked_for_only_in_what_changed() {
    for options in both([evented()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        (10..1010).for_each(|number| append(&log, &(request("s1", number) + &result("s1", number))));
        let size = fs::metadata(&log).unwrap().len();
        let subscriber = scene.subscribe(SubscribeOptions { filter: filter("\"test 200\" ok"), ..SubscribeOptions::default() });
        assert!(matches!(subscriber.next_within(PATIENCE), NextChange::Change(change) if matches!(*change, ChangeEvent::Begun { .. })));
        let mut read = 0;
        for number in 2000..2010 {
            append(&log, &(request("s1", number) + &request("s1", number + 100) + &result("s1", number)));
            let told = loop {
                let NextChange::Change(change) = subscriber.next_within(PATIENCE) else { panic!("call {number} is not told") };
                if let ChangeEvent::Requested { call } | ChangeEvent::Updated { call, .. } = &*change {
                    break call.call.to_string();
                }
            };
            assert_eq!(told, format!("toolu_s1_{number}"));
            // The first change reads the log whole once more, to follow it.
            read = if number == 2000 { scene.watcher.bytes_read() } else { read };
        }
        read = scene.watcher.bytes_read() - read;
        assert!(read < size, "{read} bytes were read for ten calls, and the log has {size}");
    }
}

#[test]
fn what_is_kept_can_be_asked_about() {
    let home = tempfile::tempdir().unwrap();
    let keep = Keep::of(&home.path().join("data"), &[]);
    let ground = LogLocations::Places(vec![Places { home: Some(home.path().to_owned()), kept: Some(keep.files()), ..Places::default() }]);
    let log = home.path().join(".claude/projects/-srv-app/s1.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    append(&log, &(prompt("s1", 0) + &request("s1", 1)));
    let places = [Places { home: Some(home.path().to_owned()), ..Places::default() }];
    keep.now(&find::in_places(&places), 1, clock(), &Progress::default()).unwrap();
    let watcher = Watcher::start(ground, WatchOptions { keep: Some(keep), ..polled() }, Arc::new(later)).unwrap();
    let here = |query: &str| {
        let subscriber = watcher.subscribe(SubscribeOptions { filter: filter(query), last: 9, ..SubscribeOptions::default() });
        let is_here = |next: &NextChange| matches!(next, NextChange::Change(change) if matches!(**change, ChangeEvent::Here { .. }));
        is_here(&subscriber.next_within(PATIENCE))
    };
    assert!(here("is:kept") && !here("is:gone") && !here("not:is:kept"));
    fs::remove_file(&log).unwrap();
    let start = Instant::now();
    while !here("is:gone") {
        assert!(start.elapsed() < PATIENCE, "the copy of a log that is gone is not known as such");
    }
}

#[test]
fn a_watcher_that_breaks_down_says_so() {
    let ground = || LogLocations::Places(Vec::new());
    let whole = Watcher::start(ground(), quick(), Arc::new(later)).unwrap();
    assert!(matches!(whole.subscribe(SubscribeOptions::default()).next_within(PATIENCE), NextChange::Change(_)));
    whole.finish().unwrap();
    let broken = Watcher::start(ground(), quick(), Arc::new(|| panic!("a clock that does not work, for a test"))).unwrap();
    assert!(matches!(broken.subscribe(SubscribeOptions::default()).next_within(PATIENCE), NextChange::Ended));
    assert!(broken.finish().is_err());
}

#[test]
fn a_session_can_be_had_as_it_is_now() {
    for options in both([evented(), polled()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        append(&scene.log("-srv-app/s2.jsonl"), &prompt("s2", 0));
        assert!(scene.watcher.session("claude", "s1").is_none(), "nobody is subscribed");
        let mut mirror = Mirror::new(&scene);
        let session = |name: &str| scene.watcher.session("claude", name);
        assert!(session("s3").is_none() && scene.watcher.session("codex", "s1").is_none());
        let (other, mut held) = (session("s2").unwrap(), session("s1").unwrap());
        assert_eq!(held.version, session("s1").unwrap().version);
        for line in [thought("s1", 1), request("s1", 1), result("s1", 1)] {
            append(&log, &line);
            // Nothing is waited for: whoever asks has what was written before.
            let now = session("s1").unwrap();
            assert_ne!(held.version, now.version, "{line}");
            assert_eq!(now.linker.sources().next().unwrap().summary.tally.bytes, fs::metadata(&log).unwrap().len());
            let mut rows = direct(&now.linker, &now.now);
            rows.0.retain(|row| !scene.fresh().0.contains(row));
            rows.1.retain(|row| !scene.fresh().1.contains(row));
            assert_eq!(rows, (Vec::new(), Vec::new()));
            assert_ne!(held.linker.sources().next().unwrap().summary.tally.bytes, fs::metadata(&log).unwrap().len(), "it stays as it was");
            held = now;
        }
        append(&scene.log("-srv-app/s1/subagents/agent-a1.jsonl"), &request("s1", 2));
        mirror.catch_up(&scene, "a subagent");
        let now = session("s1").unwrap();
        assert!(now.version != held.version && now.linker.sources().count() == 2);
        scene.now.lock().unwrap().live.insert("s1".into(), Live::Waiting);
        assert_ne!(session("s1").unwrap().version, now.version, "it is alive");
        mirror.catch_up(&scene, "what somebody has asked for is told as well");
        scene.now.lock().unwrap().live.clear();
        assert_eq!(session("s1").unwrap().version, now.version, "it is as it was");
        assert_eq!(session("s2").unwrap().version, other.version, "another session");
        scene.watcher.end().now();
        assert!(session("s1").is_none());
    }
}

#[test]
fn other_bytes_are_told_to_those_who_ask() {
    for options in both([evented()]) {
        let scene = Scene::new(options);
        let [log, other] = ["s1", "s2"].map(|name| scene.log(&format!("-srv-app/{name}.jsonl")));
        append(&log, &prompt("s1", 0));
        append(&other, &prompt("s2", 0));
        let subscribe =
            |query: &str, touched| scene.subscribe(SubscribeOptions { filter: filter(query), touched, ..SubscribeOptions::default() });
        let wishes = [("", true, 2), ("", false, 0), ("status:failed", true, 2)];
        let subscribers = wishes.map(|(query, touched, _)| subscribe(query, touched));
        let mut mirror = Mirror::new(&scene);
        append(&log, &thought("s1", 1));
        scene.watcher.session("claude", "s1").unwrap();
        append(&other, &request("s2", 1));
        mirror.catch_up(&scene, "a call");
        // Time alone gives nothing other bytes.
        scene.now.lock().unwrap().live.insert("s1".into(), Live::Running);
        scene.watcher.session("claude", "s1").unwrap();
        for ((query, _, count), subscriber) in wishes.iter().zip(subscribers) {
            let mut told = Vec::new();
            while let NextChange::Change(change) = subscriber.next_within(Duration::ZERO) {
                if matches!(*change, ChangeEvent::Touched { .. }) {
                    told.push(serde_json::to_string(&*change).unwrap());
                }
            }
            let all = ["s1", "s2"].map(|name| format!("{{\"change\":\"touched\",\"agent\":\"claude\",\"session\":\"{name}\"}}"));
            assert_eq!(told, all[2 - count..], "{query}");
        }
    }
}

#[test]
fn with_nobody_subscribed_nothing_happens() {
    for options in both([quick()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(scene.watcher.bytes_read(), 0);
        drop(Mirror::new(&scene));
        std::thread::sleep(Duration::from_millis(200));
        let read = scene.watcher.bytes_read();
        append(&log, &request("s1", 1));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(scene.watcher.bytes_read(), read);
        // Whoever comes later is told what is there then.
        let mut mirror = Mirror::new(&scene);
        assert_eq!(mirror.calls.len(), 1);
        mirror.catch_up(&scene, "after a pause");
    }
}

#[test]
fn the_end_of_the_watcher_is_the_end_of_its_subscriptions() {
    for options in both([quick()]) {
        let scene = Scene::new(options);
        let mirror = Mirror::new(&scene);
        drop(scene.watcher);
        assert!(matches!(mirror.subscriber.next_within(PATIENCE), NextChange::Ended));
    }
}
