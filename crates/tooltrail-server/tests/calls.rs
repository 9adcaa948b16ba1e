//! The table of all calls, asked over a socket: what is in it, its order and columns, the numbers and what is behind them, its files;
//! and the palette.

#![allow(clippy::expect_used)] // helpers of tests, where a panic is the report

#[allow(dead_code)] // other tests use the rest of it
mod support;

use serde_json::Value;
use std::collections::BTreeSet;
use support::{Small, WORKING, World};

/// What stands between pieces, every time.
fn all_between<'p>(page: &'p str, start: &str, end: &str) -> Vec<&'p str> {
    page.split(start).skip(1).map(|rest| rest.split(end).next().unwrap_or_default()).collect()
}

fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    all_between(page, start, end).first().copied().unwrap_or_else(|| panic!("no `{start}`:\n{page}"))
}

/// A text of a page without its tags.
fn text(markup: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for letter in markup.chars() {
        match letter {
            '<' => inside = true,
            '>' => inside = false,
            letter if !inside => out.push(letter),
            _ => {}
        }
    }
    out.replace("&lt;", "<").replace("&quot;", "\"").replace("&amp;", "&")
}

/// An address of a page, as it is asked for.
fn address(markup: &str) -> String {
    markup.replace("&amp;", "&")
}

/// The cells of a column, from the top.
fn column(page: &str, name: &str) -> Vec<String> {
    let body = page.split("<tbody").skip(1).collect::<String>();
    let plain = all_between(&body, &format!("<td class=\"{name}"), "</td>");
    plain.into_iter().map(|cell| text(&format!("<{cell}"))).collect()
}

/// How many calls a page says there are.
fn number(page: &str) -> u64 {
    if page.contains("No calls match.") {
        return 0;
    }
    digits(between(page, "<p class=\"counted\"><b>", "</b>"))
}

fn digits(text: &str) -> u64 {
    text.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// Projects in each other and of the same name, and a tool in two spellings.
fn nested() -> World {
    World::new(|home| {
        let sessions = [
            ("aa01", "/srv/app", true),
            ("aa02", "/srv/app/web", false),
            ("aa03", "/srv/old/app", true),
            ("aa04", "/srv", true),
            ("aa05", "/srv/app", false),
            ("aa06", "/mnt/srv/app", true),
        ];
        for (id, cwd, fails) in sessions {
            Small { id, prompt: &format!("task {id}"), cwd, command: &format!("run {id}"), at: "2026-03-04T09:00:00Z", fails }.lay(home);
        }
        let log = home.join(".claude/projects/-p/aa05.jsonl");
        let other = std::fs::read_to_string(&log).expect("a log").replace("\"Bash\"", "\"BASH\"");
        std::fs::write(&log, other).expect("it is written");
    })
}

#[test]
fn all_calls_are_there_the_newest_first() {
    let world = World::demo();
    let page = world.page("/calls");
    assert_eq!(number(&page), 107);
    assert_eq!(column(&page, "what").len(), 107);
    assert!(page.contains("aria-sort=\"descending\"><a href=\"/calls?sort=time\""), "{page}");
    let days = all_between(&page, "scope=\"rowgroup\">", "</th>");
    assert_eq!(days, ["Today", "Yesterday", "Monday 2 March"]);
    let times: Vec<&str> = all_between(&page, "<time datetime=\"", "\"");
    assert!(times.is_sorted_by(|one, next| one >= next), "{times:?}");
    // A row leads to its call and to its session.
    let first = between(&page, "<tbody", "</tr><tr>").to_owned() + between(&page, "</tr><tr>", "</tr>");
    assert!(first.contains(&format!("href=\"/c/{WORKING}:")) && first.contains(&format!("href=\"/s/{WORKING}?at=")), "{first}");
    assert!(page.contains("<a href=\"/calls\" aria-current=\"page\">Calls</a>"));
}

#[test]
fn every_column_that_means_an_order_sorts() {
    let world = World::demo();
    let page = world.page("/calls?cols=time,project,tool,status,exit,took,ran,waited,input,result,ref");
    let heads = all_between(&page, "data-sorts aria-sort=", "</th>");
    let names: Vec<&str> = heads.into_iter().map(|head| between(between(head, "?", "\""), "sort=", "&")).collect();
    assert_eq!(names, ["time", "project", "tool", "status", "exit", "took", "ran", "waited", "input", "result"]);
    for (name, cell) in [("exit", "exit n"), ("tool", "tool"), ("project", "project")] {
        let read = |desc: &str| column(&world.page(&format!("/calls?sort={name}&desc={desc}")), cell);
        let (up, down) = (read("0"), read("1"));
        let there = |cells: &[String]| {
            cells.iter().filter(|cell| !cell.is_empty()).map(|cell| cell.trim_start_matches("↳ ").to_lowercase()).collect::<Vec<_>>()
        };
        // What has none comes last, either way.
        assert!(up.iter().chain(["".to_owned()].iter()).skip_while(|cell| !cell.is_empty()).all(String::is_empty), "{name}: {up:?}");
        assert!(down.iter().chain(["".to_owned()].iter()).skip_while(|cell| !cell.is_empty()).all(String::is_empty), "{name}: {down:?}");
        let (up, mut down) = (there(&up), there(&down));
        down.reverse();
        if name == "exit" {
            let numbers: Vec<i64> = up.iter().map(|cell| cell.parse().expect("a number")).collect();
            assert!(numbers.is_sorted() && numbers.len() > 10, "{numbers:?}");
        } else {
            assert!(up.is_sorted() && up.len() == 107, "{name}: {up:?}");
        }
        assert_eq!(up, down, "{name}");
    }
    let slowest = world.page("/calls?sort=took&desc=1");
    assert!(slowest.contains("aria-sort=\"descending\"><a href=\"/calls?sort=took\""));
    assert!(!slowest.contains("rowgroup"), "days stand only above what is sorted by them");
    let file = saved(&world, "/calls.jsonl?sort=took&desc=1");
    let took: Vec<Option<u64>> =
        file.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["duration_ms"].as_u64()).collect();
    assert!(took.is_sorted_by(|one, next| one >= next), "{took:?}");
}

#[test]
fn columns_can_be_chosen() {
    let world = World::demo();
    let heads = |page: &str| {
        all_between(between(page, "<thead>", "</thead>"), "<th ", "</th>")
            .into_iter()
            .map(|head| text(&format!("<{head}")))
            .collect::<Vec<_>>()
    };
    assert_eq!(heads(&world.page("/calls")), ["Time ↓", "Project", "Tool", "What", "Status", "Exit", "Took"]);
    // As a link has them, and as a form asks for them.
    for query in ["cols=model,ref,session", "cols=session&cols=ref&cols=model&cols=nonsense"] {
        let page = world.page(&format!("/calls?{query}&q=tool:Bash"));
        assert_eq!(heads(&page), ["Session", "Ref", "Model"], "{query}");
        assert!(page.contains("cols=session%2Cref%2Cmodel"), "links keep them");
        assert!(page.contains("name=\"cols\" value=\"ref\" checked") && page.contains("name=\"q\" value=\"tool:Bash\""));
        assert!(page.contains("data-row"), "a row can be opened");
    }
    assert_eq!(heads(&world.page("/calls?cols=nonsense")).len(), 7);
    let every = world.page("/calls?cols=time,project,tool,what,status,exit,took,ran,waited,session,ref,call,agent,model,subagent,kind,server,cwd,branch,purpose,masked,hooks,background,parallel,input,result");
    assert_eq!(heads(&every).len(), 26);
}

#[test]
fn what_is_behind_a_number_is_that_many() {
    for world in [World::demo(), nested()] {
        for query in ["", "?q=is:failed", "?q=tool:Bash+status:succeeded", "?q=since:today"] {
            let page = world.page(&format!("/calls{query}"));
            let facets = between(&page, "<nav class=\"facets counts\"", "</nav>");
            let links = all_between(facets, "<li><a", "</li>");
            assert!(links.len() > 2 || number(&page) == 0, "{facets}");
            for link in links.iter().filter(|link| !link.contains("class=\"on\"")) {
                let behind = world.page(&address(between(link, "href=\"", "\"")));
                assert_eq!(number(&behind), digits(between(link, "<span class=\"di\">", "</span>")), "{query}: {link}");
            }
        }
    }
}

#[test]
fn numbers_of_home_and_of_sessions_lead_to_just_these_calls() {
    for (world, least) in [(World::demo(), 30), (nested(), 10)] {
        let mut followed = 0;
        for page in [world.page("/"), world.page("/sessions")] {
            for link in all_between(&page, "<a ", "</a>") {
                let Some(to) = all_between(link, "href=\"", "\"").first().copied().filter(|to| to.starts_with("/calls?q=")) else {
                    continue;
                };
                let behind = number(&world.page(&address(to)));
                let (_, said) = link.split_once('>').expect("a link has a text");
                let said = text(said);
                let share = said.ends_with('%');
                if said.chars().any(|letter| letter.is_ascii_digit()) && !share {
                    assert_eq!(behind, digits(&said), "{link}");
                    followed += 1;
                }
                if share {
                    let title = page.split(to).next().and_then(|before| before.rsplit("title=\"").next()).expect("a title");
                    assert_eq!(behind, digits(title.split(" of ").next().unwrap_or_default()), "{link}");
                    followed += 1;
                }
            }
        }
        assert!(followed >= least, "only {followed} numbers are links");
    }
}

#[test]
fn calls_in_scripts_are_listed_by_a_link() {
    let world = World::demo();
    let page = world.page("/calls?q=agent:codex&cols=ref,tool");
    assert!(!column(&page, "ref").iter().any(|name| name.contains('.')), "{page}");
    let counts = |query: &str| {
        serde_json::from_str::<Value>(&world.page(&format!("/calls/counts?{query}"))).expect("JSON")["calls"].as_u64().expect("a number")
    };
    assert_eq!(counts("q=agent:codex"), number(&page));
    // A link says how many more there are, and keeps filter and columns.
    let (to, said) =
        between(&page, "<span class=\"di\"> · <a href=\"/calls?q=agent:codex&amp;cols", "</a>").split_once("\">").expect("a link");
    let more = digits(said);
    let whole = world.page(&address(&format!("/calls?q=agent:codex&cols{to}")));
    assert_eq!((number(&whole), more > 0), (number(&page) + more, true), "{said}");
    assert_eq!(counts("q=agent:codex&inner=1"), number(&whole));
    assert_eq!(column(&whole, "ref").iter().filter(|name| name.contains('.')).count() as u64, more);
    // Counts beside it take them in, filters and files keep them, and a link leads back.
    let facets = between(&whole, "<nav class=\"facets counts\"", "</nav>");
    for link in all_between(facets, "<li><a", "</li>").iter().filter(|link| !link.contains("class=\"on\"")) {
        let behind = world.page(&address(between(link, "href=\"", "\"")));
        assert_eq!(number(&behind), digits(between(link, "<span class=\"di\">", "</span>")), "{link}");
    }
    assert_eq!(saved(&world, "/calls.jsonl?q=agent:codex&inner=1").lines().count() as u64, number(&whole));
    assert!(whole.contains("without calls in scripts") && whole.contains("name=\"inner\" value=\"1\""), "{whole}");
}

#[test]
fn a_filter_narrows_and_widens() {
    let world = World::demo();
    let page = world.page("/calls?q=is:failed+tool:Bash&sort=took&desc=1");
    assert_eq!(number(&page), 4);
    // Taken away, it is wider; the order stays.
    let off = between(&page, "<a class=\"on\" href=\"", "\"");
    assert_eq!(address(off), "/calls?q=is:failed&sort=took&desc=1");
    assert_eq!(number(&world.page(&address(off))), 14);
    assert!(page.contains("took ") && page.contains(" in total, median "));
}

#[test]
fn mistakes_and_nothing_are_told() {
    let world = World::demo();
    let page = world.page("/calls?q=stats:failed");
    assert!(page.contains("Unknown filter") && page.contains("<mark>stats:</mark>"), "{page}");
    assert!(page.contains("/calls?q=status:failed"), "what was meant is a link");
    let page = world.page("/calls?q=project:nowhere");
    assert!(page.contains("No calls match.") && page.contains("Remove or widen a term"), "{page}");
    assert_eq!(world.ask("/calls.csv?q=stats:failed").0, 400);
    assert_eq!(world.ask("/calls/counts?q=stats:failed").0, 400);
    let empty = World::new(|_| {});
    assert!(empty.page("/calls").contains("No logs yet."));
    assert_eq!(saved(&empty, "/calls.jsonl"), "");
    // What is asked for oddly is still a page.
    for odd in ["page=0", "page=999999", "page=-1", "sort=%00", "desc=x", "cols=%2C%2C", "all=1", "q=%00", "q=%22"] {
        let (status, _) = world.ask(&format!("/calls?{odd}"));
        assert_eq!(status, 200, "{odd}");
    }
}

#[test]
fn texts_are_looked_for_in_logs() {
    let world = World::demo();
    let page = world.page("/calls?q=clippy");
    let found = number(&page);
    assert!(found > 0 && found < 96);
    let told: Value = serde_json::from_str(&world.page("/calls/counts?q=clippy")).expect("JSON");
    assert_eq!((told["calls"].as_u64(), told["whole"].as_bool()), (Some(found), Some(true)));
    // What is said afterwards does not contradict what was shown.
    let say = |shown: u64| serde_json::from_str::<Value>(&world.page(&format!("/calls/counts?q=clippy&shown={shown}"))).expect("JSON");
    assert_eq!((say(found)["say"].as_str(), say(found)["all"].as_bool()), (Some("in total."), Some(true)));
    let fewer = say(found - 1);
    assert_eq!(fewer["say"].as_str(), Some(format!("newest matches so far; {found} in total.").as_str()));
    assert_eq!(fewer["all"].as_bool(), Some(false));
    assert_eq!(saved(&world, "/calls.jsonl?q=clippy").lines().count() as u64, found);
}

#[test]
fn many_calls_come_in_pages() {
    let world = World::new(|home| {
        for number in 0..401 {
            let (id, at) = (format!("b{number:04}"), format!("2026-03-0{}T09:00:00Z", 1 + number % 3));
            Small { id: &id, prompt: "p", cwd: "/srv/app", command: &format!("run {id}"), at: &at, fails: false }.lay(home);
        }
    });
    let mut seen = BTreeSet::new();
    for (path, rows) in
        [("/calls", "Rows 1–150 of 401"), ("/calls?page=2", "Rows 151–300 of 401"), ("/calls?page=3", "Rows 301–401 of 401")]
    {
        let page = world.page(path);
        assert!(page.contains(rows), "{path}");
        seen.extend(column(&page, "what"));
    }
    assert_eq!(seen.len(), 401);
    assert!(world.page("/calls?page=2").contains("rel=\"prev\" href=\"/calls\""));
    assert!(world.page("/calls?page=2&sort=took").contains("rel=\"next\" href=\"/calls?sort=took&amp;page=3\""));
}

#[test]
fn files_have_the_rows_of_the_table() {
    let world = World::demo();
    let (status, head, csv) = world.answer("/calls.csv?q=is:failed");
    let head = head.to_lowercase();
    assert_eq!(status, 200);
    assert!(head.contains("text/csv") && head.contains("attachment; filename=\"calls.csv\""), "{head}");
    let csv = body(&csv);
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(lines[0], "requested_at,project,tool,what,status,reason,exit_code,duration_ms");
    assert_eq!(lines.len(), 1 + 14 + 1, "a head, the calls, and the end of the last line");
    assert!(lines[1].starts_with("2026-03-03T22:13:05"), "the newest first: {}", lines[1]);
    let chosen = saved(&world, "/calls.csv?q=is:failed&cols=tool,exit");
    assert!(chosen.starts_with("tool,exit_code\r\n"), "{chosen}");
    let lines = saved(&world, "/calls.jsonl?q=is:failed");
    assert_eq!(lines.lines().filter(|line| line.contains("\"status\":\"failed\"")).count(), 14);
}

/// A file.
fn saved(world: &World, path: &str) -> String {
    body(&world.page(path))
}

/// A body that came in pieces, put together.
fn body(answer: &str) -> String {
    let (mut rest, mut out) = (answer, String::new());
    loop {
        let (length, more) = rest.split_once("\r\n").expect("a piece begins with its length");
        let length = usize::from_str_radix(length, 16).expect("a number");
        if length == 0 {
            return out;
        }
        out.push_str(more.get(..length).expect("the piece is there"));
        rest = more.get(length + 2..).expect("it ends");
    }
}

#[test]
fn nothing_from_a_log_acts() {
    let world = World::new(|home| {
        let command = "=HYPERLINK(\"http://x\",\"y\"),\u{1b}[31m<script>alert(1)</script>\n\u{202e}two";
        Small { id: "aa01", prompt: "<img src=x onerror=alert(1)>", cwd: "/srv/<b>app", command, at: "2026-03-04T09:00:00Z", fails: true }
            .lay(home);
    });
    let page = world.page("/calls?cols=time,project,tool,what,status,session,cwd,call,branch,model");
    assert!(
        !page.contains("<script>alert") && !page.contains("<img src=x") && !page.contains("/srv/<b>") && !page.contains('\u{1b}'),
        "{page}"
    );
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    let csv = saved(&world, "/calls.csv?cols=what,cwd,session");
    assert_eq!(
        csv,
        "what,session,title,cwd\r\n\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\"),␛[31m<script>alert(1)</script> …\",aa01,<img src=x onerror=alert(1)>,/srv/<b>app\r\n"
    );
    let palette = world.page("/palette?q=img");
    assert!(palette.contains("<img src=x onerror=alert(1)>"), "as a text in JSON: {palette}");
    assert!(world.answer("/palette?q=img").1.to_lowercase().contains("application/json"));
}

#[test]
fn the_palette_finds_sessions_turns_and_files() {
    let world = World::demo();
    let ask = |query: &str| serde_json::from_str::<Value>(&world.page(&format!("/palette?{query}"))).expect("JSON");
    let titles = |told: &Value, group: &str| -> Vec<String> {
        told[group].as_array().expect("a list").iter().map(|item| item["title"].as_str().expect("a title").to_owned()).collect()
    };
    let recent = ask("q=");
    assert_eq!(titles(&recent, "sessions").len(), 8);
    assert_eq!(recent["sessions"][0]["to"], format!("/s/{WORKING}"));
    assert_eq!(titles(&ask("q=csv"), "sessions")[0], "CSV export for monthly reports");
    assert!(titles(&ask("q=flaky+orbit"), "sessions").contains(&"Fix the flaky scheduler test".to_owned()));
    assert!(titles(&ask("q=no-such-thing-anywhere"), "sessions").is_empty());
    let own = ask("session=3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13&q=backoff");
    assert_eq!(titles(&own, "files"), ["backoff.rs"]);
    let to = own["files"][0]["to"].as_str().expect("an address");
    assert!(to.starts_with("/s/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13#"), "{to}");
    let turns = ask("session=3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13&q=flaky");
    assert!(titles(&turns, "turns").is_empty() || turns["turns"][0]["to"].as_str().expect("an address").ends_with("#turn-1"));
    assert_eq!(titles(&ask("session=3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13&q=1"), "turns").len(), 1);
    assert_eq!(world.ask("/palette?session=nothing-like-this").0, 404);
    assert_eq!(world.ask(&format!("/palette?q={}", "x".repeat(5000))).0, 200);
}
