//! The parts of a session's page, asked over a socket: sections, bodies, the way to things, find, raw lines, downloads.

#![allow(clippy::expect_used, dead_code)] // helpers of tests, where a panic is the report; not all of them are used here

mod support;

use serde_json::Value;
use support::{Small, World};

/// A session of the demo with problems and a subagent.
const PROBLEMS: &str = "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045";

fn json(world: &World, path: &str) -> Value {
    serde_json::from_str(&world.page(path)).expect("it is JSON")
}

fn small(world: &std::path::Path, id: &str, prompt: &str, command: &str) {
    Small { id, prompt, cwd: "/home/me/app", command, at: "2026-03-04T10:00:00Z", fails: false }.lay(world);
}

#[test]
fn a_section_and_its_bodies_are_there() {
    let world = World::demo();
    let page = world.page(PROBLEMS);
    let version = page.split("data-v=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a version");
    let (status, head, rows) = world.answer(&format!("{PROBLEMS}/rows/0?v={version}"));
    assert_eq!(status, 200);
    assert!(head.to_lowercase().contains("immutable"), "what has a version lasts: {head}");
    assert!(rows.contains("class=\"row call") && page.contains(&rows), "the page has the same rows");
    // Parts of another version are others: there are none, rather than wrong ones.
    for part in ["rows/0?v=0", "body/0?v=0", "text/0/0?v=0", "turns/0?v=x", "where?rows=0&v=0", "find?q=a&v=0"] {
        let (status, head, _) = world.answer(&format!("{PROBLEMS}/{part}"));
        assert!(status == 409 && !head.to_lowercase().contains("immutable"), "{part}: {head}");
    }
    let (status, head, _) = world.answer(&format!("{PROBLEMS}/rows/0"));
    assert!(status == 200 && !head.to_lowercase().contains("immutable"), "what has no version does not last: {head}");
    // A call with a subagent has a place for its rows, and they are there.
    let call = rows.split("data-body=\"body/").skip(1).map(|rest| rest.split('"').next().expect("a number"));
    let nested = call
        .map(|call| world.page(&format!("{PROBLEMS}/body/{call}")))
        .find(|body| body.contains("class=\"rows away\""))
        .expect("a subagent");
    let section = nested.split("data-s=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a section");
    assert!(world.page(&format!("{PROBLEMS}/rows/{section}")).contains("class=\"row call"));
    let way = json(&world, &format!("{PROBLEMS}/where?rows={section}"));
    assert_eq!(way[0]["rows"], 0);
    assert_eq!(way[1]["rows"].to_string(), section);
    assert!(page.contains(&format!("id=\"{}\"", way[0]["call"].as_str().expect("a call"))));
    for (path, status) in [
        ("/rows/99", 200),
        ("/rows/x", 200),
        ("/body/99999", 200),
        ("/text/0/0", 200),
        ("/turns/9", 200),
        ("/where?id=nothing", 404),
        ("/where", 404),
        ("/find", 400),
    ] {
        assert_eq!(world.ask(&format!("{PROBLEMS}{path}")).0, status, "{path}");
    }
}

#[test]
fn its_figures_lead_to_what_is_behind_them() {
    let world = World::demo();
    let page = world.page(PROBLEMS);
    let top = page.split("<ul class=\"about\">").nth(1).and_then(|rest| rest.split("</ul>").next()).expect("what is known of it");
    let (address, number) =
        top.split("calls</span> <a href=\"").nth(1).and_then(|rest| rest.split("</a>").next()?.split_once('"')).expect("its calls");
    let calls = world.page(address).matches(" data-row>").count();
    assert!(number.ends_with(&format!(">{calls}")) && calls > 3, "{calls} at {address}, and {number}");
    for (view, label) in [("changes", "Changes"), ("waterfall", "Time")] {
        assert!(page.contains(&format!("{PROBLEMS}/{view}\"")) && page.contains(&format!(">{label}</a></dt>")), "{label}");
        assert_eq!(world.ask(&format!("{PROBLEMS}/{view}")).0, 200);
    }
    let project = page.split("<a class=\"project\" href=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("its project");
    assert!(world.page(project).contains(PROBLEMS), "{project}");
}

#[test]
fn a_short_name_leads_to_the_whole_one_and_others_nowhere() {
    let world = World::demo();
    let (status, head, _) = world.answer("/s/7c10");
    assert!((300..400).contains(&status) && head.contains(PROBLEMS), "{head}");
    let (_, head, _) = world.answer("/s/7c10?show=failed&find=a%26b");
    assert!(head.contains(&format!("{PROBLEMS}?show=failed&find=a%26b")), "{head}");
    assert_eq!(world.ask("/s/nothing-like-it").0, 404);
    // What stands in it is brought along, wherever it is named.
    let page = world.page(&format!("{PROBLEMS}?at=turn-1&show=failed&find=x%22y"));
    assert!(page.contains("data-show=\"failed\"") && page.contains("value=\"x&quot;y\""));
}

#[test]
fn find_tells_rows_in_order_in_any_case_and_language() {
    let world = World::new(|home| {
        small(home, "one", "suche die GRÖSSE der 測定", "grep größe a.txt");
        small(home, "two", "nothing of it", "ls");
    });
    let rows = |session: &str, text: &str| json(&world, &format!("/s/{session}/find?q={text}"))["found"].clone();
    // The prompt in row 0, the command in row 1.
    assert_eq!(rows("one", "gr%C3%B6%C3%9Fe"), serde_json::json!([[0, 1, 1]]), "ß is not SS");
    assert_eq!(rows("one", "GR%C3%B6"), serde_json::json!([[0, 0, 1], [0, 1, 1]]));
    assert_eq!(rows("one", "%E6%B8%AC%E5%AE%9A"), serde_json::json!([[0, 0, 1]]));
    assert_eq!(rows("one", "found%20the%20NEEDLE"), serde_json::json!([[0, 1, 1]]), "an answer belongs to its call");
    assert_eq!(rows("two", "gr%C3%B6"), serde_json::json!([]));
    assert_eq!(rows("two", "a.txt"), serde_json::json!([]), "another session's");
    // A dot is a dot.
    assert_eq!(rows("one", "a.t.t"), serde_json::json!([]));
}

#[test]
fn raw_lines_are_paged_and_only_logs_of_the_session_are_read() {
    let world = World::new(|home| small(home, "one", "go", "ls"));
    let page = world.page("/s/one/raw");
    assert_eq!(page.matches("<li id=\"line-").count(), 3);
    assert!(world.page("/s/one/raw?from=3").contains("id=\"line-3\"") && !world.page("/s/one/raw?from=3").contains("id=\"line-2\""));
    assert!(world.page("/s/one/raw?from=99").contains("This log is empty"));
    assert!(world.page("/s/one/raw?end=1").contains("id=\"line-3\""));
    assert!(world.page("/s/one/raw?line=2").contains("tool_use"));
    assert!(world.page("/s/one/raw?line=99").contains("No such line"));
    // A log that is not there is the first one; a path is no number.
    for file in ["9", "/etc/passwd", "..%2F..%2Fetc%2Fpasswd", "-1"] {
        assert_eq!(world.page(&format!("/s/one/raw?file={file}")).matches("<li id=\"line-").count(), 3, "{file}");
    }
}

#[test]
fn downloads_hide_secrets_unless_they_are_wanted() {
    let secret = &format!("ghp_{}", "rSzY2w5ztjB5f1RtD9LHZg7RakGnRAyPcTM7");
    let world = World::new(|home| small(home, "one", "go", &format!("curl -H 'Authorization: token {secret}' x")));
    for extension in ["html", "md", "json"] {
        let (status, head, saved) = world.answer(&format!("/s/one/export.{extension}"));
        assert_eq!(status, 200);
        assert!(head.to_lowercase().contains(&format!("filename=\"session-one.{extension}\"")), "{head}");
        assert!(saved.contains("curl"), "{extension}: {saved}");
        assert!(!saved.contains(secret), "{extension}: {saved}");
        assert!(world.page(&format!("/s/one/export.{extension}?redact=no")).contains(secret), "{extension}");
    }
    assert_eq!(world.ask("/s/one/export.patch").0, 200);
    for missing in ["export.exe", "export.", "export", "nothing"] {
        assert_eq!(world.ask(&format!("/s/one/{missing}")).0, 404, "{missing}");
    }
    // Everything that the command line offers is offered here.
    let page = world.page("/s/one");
    for output in tooltrail_view::render::outputs::OUTPUTS {
        assert!(page.contains(&format!("/s/one/export.{}\"", output.name)), "{}", output.name);
        let (status, head, saved) = world.answer(&format!("/s/one/export.{}", output.name));
        assert_eq!(status, 200, "{}", output.name);
        assert!(!saved.contains(secret), "{}: {saved}", output.name);
        assert!(head.to_lowercase().contains(output.media_type) && head.contains(&format!("session-one.{}", output.ending())), "{head}");
    }
    // Where it is read, it is as it was.
    assert!(world.page("/s/one").contains(secret));
}

/// The rows of all sections of a session, those of subagents and scripts too.
fn all_rows(world: &World, session: &str) -> String {
    let version = |page: &str| page.split("data-v=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
    let version = version(&world.page(session)).expect("a version");
    let sections = (0..).map(|section| world.page(&format!("{session}/rows/{section}?v={version}")));
    sections.take_while(|rows| !rows.is_empty()).collect()
}

#[test]
fn the_filters_count_what_is_in_subagents_and_scripts_too() {
    let world = World::demo();
    let home = world.page("/sessions");
    let mut ids: Vec<&str> = home.split("href=\"/s/").skip(1).filter_map(|rest| rest.split(['"', '?', '#', '/']).next()).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut nested = 0;
    for id in ids {
        let session = format!("/s/{id}");
        let page = world.page(&session);
        let rows = all_rows(&world, &session);
        for status in ["failed", "timed_out", "rejected", "blocked", "interrupted", "unanswered"] {
            let chip = page.split(&format!("data-show=\"{status}\"")).nth(1).and_then(|rest| rest.split("</a>").next());
            let counted = chip.map_or(0, |chip| chip.rsplit("</span>").next().and_then(|number| number.parse().ok()).expect("a number"));
            assert_eq!(rows.matches(&format!(" s-{status} ")).count(), counted, "{session}: {status}");
            nested += rows.matches(&format!("data-in=\"{status}")).count();
        }
        // A page that is asked for with a filter opens the calls that hold what it looks for.
        let filtered = world.page(&format!("{session}?show=failed"));
        for call in
            filtered.split("data-body=\"").skip(1).filter(|call| call.split('>').next().is_some_and(|tag| tag.contains("data-in=\"failed")))
        {
            assert!(call.split('>').next().is_some_and(|tag| tag.contains("data-filled")), "{session}: {call}");
        }
    }
    assert!(nested > 0, "no session of the demo has a problem in a subagent");
}

#[test]
fn the_head_is_short_and_quiet_rows_are_one_line() {
    let world = World::demo();
    let page = world.page(PROBLEMS);
    let head = page.split("id=\"tt-digest\"").nth(1).and_then(|rest| rest.split("class=\"bar\"").next()).expect("a head");
    for told in ["<dl class=\"prompts\">", "<dt>Prompt</dt>", "<details class=\"summary\"><summary>Summary", "cache</span>"] {
        assert!(head.contains(told), "{told}: {head}");
    }
    let world = World::new(|home| {
        let mut agent =
            tooltrail_testkit::agent::FakeAgent::start(home, "/srv/live", "aaaa0000-1111-4222-8333-444455556666").expect("a log");
        agent.prompt("look around").expect("a record");
        for number in 0..6 {
            let id = format!("toolu_{number}");
            agent.read(&id, &format!("/srv/live/{number}.rs"), "fn a() {}").expect("a record");
        }
        agent.call("toolu_check", "cargo test | tail -1").expect("a record");
        agent.result("toolu_check", Ok("ok")).expect("a record");
        agent.call("toolu_look", "cat a.txt | head -3").expect("a record");
        agent.result("toolu_look", Ok("ok")).expect("a record");
        agent.read("toolu_last", "/srv/live/last.rs", "fn b() {}").expect("a record");
        agent.say("now it is clear").expect("a record");
        for number in 0..3 {
            agent.think().expect("a record");
            agent.call(&format!("toolu_think{number}"), "make").expect("a record");
            agent.result(&format!("toolu_think{number}"), Ok("made")).expect("a record");
        }
    });
    let page = world.page("/s/aaaa0000-1111-4222-8333-444455556666");
    assert_eq!(page.matches("class=\"quiet\"").count(), 2);
    // Thoughts between calls need not stand together.
    assert!(page.contains("data-rows=\"3\">3 withheld thoughts"), "{page}");
    assert!(page.contains("data-rows=\"6\">6 reads"), "{page}");
    assert_eq!(page.matches("class=\"nr q\"").count(), 6);
    // Only where it matters: a check, and not a look at a file.
    assert_eq!(
        page.matches("exit code masked").count()
            - page.split("id=\"tt-rows\"").next().unwrap_or_default().matches("exit code masked").count(),
        1
    );
    // What a reader in a hurry sees: the check, not the reads.
    let rows = page.split("id=\"tt-rows\"").nth(1).expect("rows");
    assert_eq!(rows.matches(" imp\"").count(), 4, "{rows}");
    assert!(rows.contains("data-m=\"p0\""), "the map has the prompt: {rows}");
}
