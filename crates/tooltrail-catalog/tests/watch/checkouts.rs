//! Worktrees belong to the checkout that another session shows: for subscribers, in the catalogue and in a fresh scan alike.

use super::scene::*;
use super::support::*;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use tooltrail_formats::find;

fn log(scene: &Scene, number: u32, directory: &str) -> PathBuf {
    let folder = scene.home.path().join(".codex/sessions/2026/03/04");
    fs::create_dir_all(&folder).unwrap();
    let (id, at) = (format!("019cb830-0000-7000-8000-00000000000{number}"), stamp(number));
    let path = folder.join(format!("rollout-2026-03-04T10-00-0{number}-{id}.jsonl"));
    let git = "\"git\":{\"repository_url\":\"https://example.org/acme/app.git\"}";
    let line = format!(
        "{{\"timestamp\":\"{at}\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"timestamp\":\"{at}\",\"cwd\":\"{directory}\",\"cli_version\":\"0.147.0\",{git}}}}}\n"
    );
    append(&path, &line);
    path
}

/// The projects of all sessions, by id, after it is made sure that subscribers and the catalogue agree on them.
fn projects(scene: &Scene, mirror: &mut Mirror, what: &str) -> Vec<String> {
    mirror.catch_up(scene, what);
    // A catalogue that is filled from nothing, and the one that has seen each step.
    for place in [tempfile::tempdir().unwrap().path(), scene.cache.path()] {
        let mut catalogue = open(place);
        refreshed(&mut catalogue, &find::in_places(&scene.places()));
        let mut kept = kept_sessions(&catalogue, &scene.now.lock().unwrap());
        kept.sort();
        same(what, &kept, &scene.fresh().1);
    }
    let rows = mirror.rows().1.into_iter().map(|row| serde_json::from_str::<Value>(&row).unwrap());
    let mut all: Vec<(String, String)> = rows.map(|row| (text(&row, "session"), text(&row, "project"))).collect();
    all.sort();
    all.into_iter().map(|(_, project)| project).collect()
}

#[test]
fn a_worktree_belongs_to_the_checkout_while_there_is_one() {
    let (stand_in, checkout, other) = ("/Users/ada/.codex/worktrees/acme/app", "/Users/ada/src/app", "/Users/ada/old/app");
    for options in both([evented(), polled()]) {
        let scene = Scene::new(options);
        log(&scene, 1, "/Users/ada/.codex/worktrees/090e/app");
        let mut mirror = Mirror::new(&scene);
        assert_eq!(projects(&scene, &mut mirror, "alone"), [stand_in]);
        log(&scene, 2, checkout);
        assert_eq!(projects(&scene, &mut mirror, "a checkout"), [checkout, checkout]);
        log(&scene, 3, "/Users/ada/.codex/worktrees/747c/app");
        assert_eq!(projects(&scene, &mut mirror, "another worktree"), [checkout, checkout, checkout]);
        let second = log(&scene, 4, other);
        assert_eq!(projects(&scene, &mut mirror, "two checkouts"), [stand_in, checkout, stand_in, other]);
        fs::remove_file(second).unwrap();
        assert_eq!(projects(&scene, &mut mirror, "one again"), [checkout, checkout, checkout]);
        // Whoever comes now is told the same.
        assert_eq!(projects(&scene, &mut Mirror::new(&scene), "later"), [checkout, checkout, checkout]);
    }
}
