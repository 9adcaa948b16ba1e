//! What an open page is told while its session grows: events, and what it has to learn.

#![allow(clippy::expect_used, dead_code)] // helpers of tests, where a panic is the report; not all of them are used here

mod support;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use support::World;
use tooltrail_testkit::agent::FakeAgent;

const SESSION: &str = "5e551011-aaaa-4bbb-8ccc-000000000002";

fn world() -> (World, FakeAgent) {
    let world = World::new(|home| drop(begin(home)));
    let agent = FakeAgent::start(&world.home(), "/srv/live", SESSION).expect("a log");
    (world, agent)
}

/// A session of more than one section.
fn begin(home: &Path) -> FakeAgent {
    let mut agent = FakeAgent::start(home, "/srv/live", SESSION).expect("a log");
    agent.prompt("a first turn").expect("a record");
    for number in 0..130 {
        call(&mut agent, &format!("toolu_{number}"));
    }
    agent
}

fn call(agent: &mut FakeAgent, id: &str) {
    agent.call(id, "true").expect("a record");
    agent.result(id, Ok("done")).expect("a record");
}

/// The next event: its kind, its name and its data.
fn next(lines: &mut impl Iterator<Item = String>) -> (String, String, String) {
    let (mut kind, mut name) = (String::new(), String::new());
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < Duration::from_secs(20), "nothing was told");
        let line = lines.next().expect("the stream goes on");
        match line.split_once(": ") {
            Some(("event", value)) => kind = value.to_owned(),
            Some(("id", value)) => name = value.to_owned(),
            Some(("data", value)) => return (kind, name, value.to_owned()),
            _ => {}
        }
    }
}

#[test]
fn whoever_was_cut_off_goes_on_where_it_was() {
    let (world, mut agent) = world();
    world.page("/");
    let mut first = world.events("/events", None);
    let (kind, begun, _) = next(&mut first);
    assert_eq!(kind, "look", "who begins has to look for itself");
    call(&mut agent, "toolu_a");
    let (kind, after, data) = next(&mut first);
    assert!(kind == "changed" && data.contains(SESSION) && data.contains("\"lists\":true"), "{kind} {data}");
    drop(first);
    call(&mut agent, "toolu_b");
    // What happened meanwhile is told, and nothing else.
    let (kind, _, data) = next(&mut world.events("/events", Some(&begun)));
    assert!(kind == "changed" && data.contains(SESSION), "{kind} {data}");
    let mut third = world.events("/events", Some(&after));
    let (kind, ..) = next(&mut third);
    assert_eq!(kind, "changed");
    // A name of another run, of the future, or of nothing at all: who has missed something is told so.
    let (run, number) = after.rsplit_once('.').expect("a run and a number");
    let later = format!("{run}.{}", number.parse::<u64>().expect("a number") + 1000);
    for name in [format!("1{after}"), later, "x".to_owned(), "0.0".to_owned(), String::new()] {
        assert_eq!(next(&mut world.events("/events", Some(&name))).0, "look", "{name}");
    }
}

/// The sections that a page has places for: number and rows.
fn places(page: &str) -> Vec<(String, String)> {
    let tags = page.split("<section class=\"rows").skip(1).map(|rest| rest.split('>').next().expect("a tag"));
    let value = |tag: &str, name: &str| {
        tag.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
    };
    tags.map(|tag| (value(tag, "data-s"), value(tag, "data-c"))).collect()
}

#[test]
fn an_open_page_learns_what_a_new_one_shows() {
    let (world, mut agent) = world();
    let page = format!("/s/{SESSION}");
    world.page(&page);
    let mut events = world.events("/events", None);
    next(&mut events);
    let live = |have: &str, outline: &str| -> Value {
        serde_json::from_str(&world.page(&format!("{page}/live?have={have}&outline={outline}"))).expect("it is JSON")
    };
    let prints = |told: &Value| -> BTreeMap<String, String> {
        let sections = told["sections"].as_array().expect("a list");
        sections
            .iter()
            .map(|place| (place[0].as_str().expect("a key").to_owned(), place[6].as_str().expect("a print").to_owned()))
            .collect()
    };
    let before = live("", "");
    assert!(before["rows"].as_object().expect("rows").is_empty(), "who shows nothing needs none");
    let known = prints(&before);
    assert_eq!(known.keys().map(String::as_str).collect::<Vec<_>>(), ["main-0", "main-1"]);
    let have = known.iter().map(|(key, print)| format!("{key}:{print}")).collect::<Vec<_>>().join(",");
    let outline = before["outline"][1].as_str().expect("a print").to_owned();
    let same = live(&have, &outline);
    assert!(same["rows"].as_object().expect("rows").is_empty() && same["outline"].is_null() && same["v"] == before["v"], "{same}");
    // A call like those before it: only the last section is another.
    call(&mut agent, "toolu_like");
    next(&mut events);
    let like = live(&have, &outline);
    assert_eq!(like["rows"].as_object().expect("rows").keys().collect::<Vec<_>>(), ["main-1"]);
    // One that comes, and comes back wrong. The clock of this machine stands still, long before that.
    agent.call("toolu_new", "false").expect("a record");
    let came = live(&have, &outline);
    assert_ne!(came["v"], before["v"]);
    let rows = came["rows"].as_object().expect("rows");
    assert!(rows["main-1"].as_str().is_some_and(|html| html.contains("id=\"toolu_new\"") && html.contains("s-unanswered")), "{came}");
    agent.result("toolu_new", Err((1, "no"))).expect("a record");
    agent.prompt("another turn").expect("a record");
    let after = live(&have, &outline);
    assert!(after["rows"]["main-1"].as_str().is_some_and(|html| html.contains("s-failed")) && after["outline"].is_array(), "{after}");
    assert!(after["chips"].as_str().is_some_and(|chips| chips.contains("data-show=\"failed\"")));
    // The same as a page that is loaded now.
    let fresh = world.page(&page);
    let told: Vec<(String, String)> =
        after["sections"].as_array().expect("a list").iter().map(|place| (place[1].to_string(), place[2].to_string())).collect();
    assert_eq!(told, places(&fresh));
    let version = after["v"].as_str().expect("a version");
    assert!(fresh.contains(&format!("data-v=\"{version}\"")), "one version for all");
    let section = world.page(&format!("{page}/rows/1?v={version}&live=1"));
    let ids = |html: &str| html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next().map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(ids(&section), ids(after["rows"]["main-1"].as_str().expect("rows")), "the rows are those of the section");
    // Parts of the version before are gone.
    let old = before["v"].as_str().expect("a version");
    assert_eq!(world.ask(&format!("{page}/rows/1?v={old}")).0, 409);
}

#[test]
fn a_session_that_has_not_changed_keeps_its_version_when_it_is_watched() {
    let (world, mut agent) = world();
    let page = format!("/s/{SESSION}");
    // Nothing is watched yet, so the page is drawn from the catalogue.
    let drawn = world.page(&page);
    let version = drawn.split("data-v=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a version").to_owned();
    let mut events = world.events("/events", None);
    next(&mut events);
    // From here on there is a watcher, and a first look at the session opens it as that one knows it.
    let live: Value = serde_json::from_str(&world.page(&format!("{page}/live?have=&outline="))).expect("it is JSON");
    assert_eq!(live["v"], version.as_str());
    assert_eq!(world.ask(&format!("{page}/rows/1?v={version}")).0, 200, "these are its own rows");
    // What is appended is a change, as ever.
    call(&mut agent, "toolu_more");
    next(&mut events);
    let live: Value = serde_json::from_str(&world.page(&format!("{page}/live?have=&outline="))).expect("it is JSON");
    assert_ne!(live["v"], version.as_str());
}
