//! The waterfall of a session, asked over a socket: its data, its table, what is in a call, the way back to the transcript.

#![allow(clippy::expect_used, dead_code)] // helpers of tests, where a panic is the report; not all of them are used here

mod support;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use support::{Small, World};

/// A session of the demo with a subagent, a question and a hook.
const FALL: &str = "/s/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/waterfall";
/// One that goes on.
const WORKING: &str = "/s/91f7c26a-0e5d-4b38-8c94-7ad1e3b052fc/waterfall";

fn data(world: &World, path: &str) -> Value {
    serde_json::from_str(&world.page(path)).expect("it is JSON")
}

/// What stands in the cells of a column of a table.
fn column(page: &str, name: &str) -> Vec<String> {
    let begin = format!("<td class=\"c-{name}\">");
    let cells = page.split(&begin).skip(1);
    let text = |cell: &str| {
        let cell = cell.split("</td>").next().unwrap_or_default();
        cell.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text)).collect::<String>()
    };
    cells.map(text).collect()
}

#[test]
fn the_data_is_columns_of_equal_length() {
    let world = World::demo();
    let told = data(&world, &format!("{FALL}.json"));
    let count = told["count"].as_u64().expect("a number") as usize;
    assert_eq!(count, 17);
    for name in ["title", "start", "took"] {
        assert_eq!(told[name].as_array().expect("a column").len(), count, "{name}");
    }
    for name in ["status", "tool", "parallel"] {
        assert_eq!(told[name].as_str().expect("a column").chars().count(), count, "{name}");
    }
    assert_eq!(told["heads"][0][1], "add a CSV export to the monthly report. see issue 218 for the columns");
    // The subagent's five calls stand in the one that started it.
    assert_eq!(told["depth"], json!([[4, 1], [9, 0]]));
    assert_eq!(told["person"], json!([12]), "the question");
    assert_eq!(told["parallel"], ".....2+..........");
    let tool = |place: usize| {
        told["tool"].as_str().and_then(|tools| tools.as_bytes().get(place).copied()).map(|tool| &told["tools"][usize::from(tool - 48)][0])
    };
    assert_eq!(tool(0), Some(&json!("tracker · get_issue")), "a server's tool is called by both names");
    // What ends is not told to go on, and the other way round.
    let working = data(&world, &format!("{WORKING}.json"));
    let running = working["status"].as_str().expect("a column").matches('i').count();
    assert_eq!(running, working["took"].as_array().expect("a column").iter().filter(|took| took.is_null()).count());
    assert_eq!((running, &working["tasks"][0][2]), (3, &json!(1)));
}

#[test]
fn the_page_has_its_first_rows_and_leads_on() {
    let world = World::with(support::demo, "/demo", None);
    let page = world.page(FALL);
    assert!(page.contains("aria-current=\"page\">Waterfall</a>") && page.contains("role=\"tree\""));
    assert_eq!(page.matches("role=\"treeitem\"").count(), 18, "a heading and seventeen calls");
    assert!(page.len() < 30_000, "{}", page.len());
    let version = page.split("data-v=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a version");
    let (status, head, call) = world.answer(&format!("{FALL}/call/7?v={version}"));
    assert!(status == 200 && head.contains("immutable"), "{head}");
    assert!(call.contains("jq: error") && call.contains(&format!("href=\"{}/c/", "/demo")), "{call}");
    assert_eq!(world.ask(&format!("{FALL}/call/7?v=0")).0, 409);
    assert_eq!(world.ask(&format!("{FALL}/titles/0?v=0")).0, 409);
    assert_eq!(world.page(&format!("{FALL}.json?known={version}")), "null", "it is known already");
    assert_eq!(data(&world, &format!("{FALL}.json?known=0"))["v"], version);
    let titles = data(&world, &format!("{FALL}/titles/0?v={version}"));
    assert_eq!(titles, data(&world, &format!("{FALL}.json"))["title"]);
    let (status, head, _) = world.answer(&format!("{FALL}/row/7"));
    let place = head.lines().find_map(|line| line.strip_prefix("location: ")).expect("it leads on");
    assert!(status == 303 && call.contains(&format!("href=\"{place}\"")), "{place}");
    for (path, status) in [("/call/99", 200), ("/call/x", 200), ("/row/99", 303), ("/titles/99", 200), ("/titles/x", 200)] {
        assert_eq!(world.ask(&format!("{FALL}{path}")).0, status, "{path}");
    }
    // A place of the transcript is a place here: a call, a turn, a message.
    let anchor = place.split('#').nth(1).expect("an anchor");
    for (anchor, call) in [(anchor, "7"), ("turn-1", "0")] {
        assert!(world.page(&format!("{FALL}?at={anchor}")).contains(&format!("data-call=\"{call}\"")), "{anchor}");
    }
    assert!(world.page(&format!("{FALL}?call=8")).contains("data-call=\"7\""));
    assert!(!world.page(&format!("{FALL}?at=nothing")).contains("data-call"));
}

#[test]
fn the_table_is_sorted_either_way() {
    let world = World::demo();
    let table = |sort: &str| world.page(&format!("{FALL}?view=table&sort={sort}"));
    let (plain, up, down) = (table(""), table("number"), table("-number"));
    let numbers = column(&up, "number");
    assert_eq!((numbers.len(), &numbers[0], column(&plain, "number")), (17, &"1".to_owned(), numbers.clone()));
    assert!(column(&down, "number").into_iter().rev().eq(numbers));
    assert!(down.contains("aria-sort=\"descending\"") && up.contains("aria-sort=\"ascending\"") && !plain.contains("aria-sort"));
    assert_eq!(column(&table("-duration"), "duration")[0], "38.0 s (you)");
    assert_eq!(
        column(&table("-wait"), "wait").iter().position(String::is_empty),
        column(&table("wait"), "wait").iter().position(String::is_empty)
    );
    for word in ["tool", "what", "status"] {
        let cells = column(&table(word), word);
        let cells: Vec<&str> = cells.iter().map(|cell| cell.trim_start_matches("↳ ")).filter(|cell| !cell.starts_with("row ")).collect();
        assert!(word == "status" || cells.is_sorted(), "{word}: {cells:?}");
        assert_eq!(cells.len(), 17, "{word}: {cells:?}");
    }
    assert_eq!(table("nonsense"), plain);
    assert_eq!(
        column(&world.page(&format!("{WORKING}?view=table&sort=number")), "duration")
            .iter()
            .filter(|cell| *cell == "still running")
            .count(),
        3
    );
}

/// A log of some lines, each given as what is particular to it.
fn lay(home: &Path, id: &str, lines: &[Value]) {
    let folder = home.join(".claude/projects/-p");
    fs::create_dir_all(&folder).expect("a directory");
    let mut text = String::new();
    for (place, line) in lines.iter().enumerate() {
        let mut whole = json!({ "uuid": format!("{id}-{place}"), "parentUuid": place.checked_sub(1).map(|place| format!("{id}-{place}")), "sessionId": id, "cwd": "/srv/app" });
        whole.as_object_mut().expect("an object").extend(line.as_object().expect("an object").clone());
        text.push_str(&format!("{whole}\n"));
    }
    fs::write(folder.join(format!("{id}.jsonl")), text).expect("a log");
}

#[test]
fn what_is_not_known_is_not_drawn_as_if_it_were() {
    let user = |time: Option<&str>, content: Value| json!({ "type": "user", "timestamp": time, "message": { "role": "user", "content": content } });
    let calls = |time: Option<&str>, ids: &[&str]| {
        let content: Vec<Value> = ids
            .iter()
            .map(|id| json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "<b>\u{202e}evil</b>" } }))
            .collect();
        json!({ "type": "assistant", "timestamp": time, "message": { "role": "assistant", "id": format!("msg-{}", ids[0]), "model": "m", "content": content } })
    };
    let results = |time: Option<&str>, ids: &[&str]| {
        user(time, ids.iter().map(|id| json!({ "type": "tool_result", "tool_use_id": id, "content": "x" })).collect())
    };
    let at = |second: &str| format!("2026-03-04T10:{second}.000Z");
    let (begin, ask, told, much, later) = (at("00:00"), at("00:05"), at("00:09"), at("10:00"), at("10:02"));
    let world = World::with(
        |home| {
            lay(
                home,
                "odd",
                &[
                    user(Some(&begin), json!("<i>go</i>")),
                    calls(Some(&ask), &["toolu_a", "toolu_b"]),
                    results(Some(&told), &["toolu_a", "toolu_b"]),
                    calls(None, &["toolu_c"]),
                    results(None, &["toolu_c"]),
                    calls(Some(&told), &["toolu_d"]),
                    user(Some(&much), json!("again")),
                    calls(Some(&later), &["toolu_e"]),
                ],
            );
            Small { id: "quiet", prompt: "x", cwd: "/srv", command: "true", at: "2026-03-04T10:00:00Z", fails: true }.lay(home);
            lay(home, "silent", &[user(Some(&begin), json!("hello"))]);
        },
        "",
        None,
    );
    let told = data(&world, "/s/odd/waterfall.json");
    assert_eq!(told["count"], 5);
    assert_eq!(told["at_most"], json!([0, 1]), "results that were written at once");
    assert_eq!(told["took"], json!([4000, 4000, null, null, null]));
    assert!(told["start"][2].is_null() && !told["start"][3].is_null());
    assert_eq!(told["gaps"], json!([[9_000, 591_000]]), "nobody knows who was at work for ten minutes");
    assert!(!told["title"][0].as_str().expect("a title").contains('\u{202e}'));
    let page = world.page("/s/odd/waterfall");
    assert!(page.contains("&lt;i&gt;go") && !page.contains("<i>go") && !page.contains('\u{202e}'));
    let table = world.page("/s/odd/waterfall?view=table");
    assert_eq!(column(&table, "duration"), ["≤ 4.0 s", "≤ 4.0 s", "", "no end", "no end"]);
    assert_eq!(column(&table, "start")[2], "no time in the log");
    assert_eq!(data(&world, "/s/quiet/waterfall.json")["status"], "b");
    let silent = world.page("/s/silent/waterfall");
    assert!(silent.contains("This session has no calls.") && !silent.contains("tt-fall"));
    assert_eq!(data(&world, "/s/silent/waterfall.json")["count"], 0);
    let silent = world.page("/s/silent/waterfall?view=table");
    assert!(silent.contains("This session has no calls.") && !silent.contains("<table"));
}
