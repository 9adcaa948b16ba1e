//! Pages and lines: together the pages are the lines, and rows that come meanwhile neither hide nor repeat others.

use crate::asking::{Api, Logs};
use crate::support::Small;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The rows of all pages.
fn all(api: &Api, address: &str, mut between: impl FnMut(usize)) -> Vec<Value> {
    let (mut rows, mut next, mut number) = (Vec::new(), String::new(), 0);
    loop {
        let page = api.get(&format!("{address}&after={next}"));
        rows.extend(page["items"].as_array().expect("rows").clone());
        match page["next"].as_str() {
            Some(cursor) => cursor.clone_into(&mut next),
            None => return rows,
        }
        number += 1;
        assert!(number < 3000, "it comes to an end");
        between(number);
    }
}

#[test]
fn pages_together_are_the_lines() {
    let api = Api::fixtures();
    for (path, limit) in [
        ("sessions?", 7),
        ("sessions?q=status:failed&", 3),
        ("calls?", 40),
        ("calls?q=kind:shell&", 7),
        ("calls?q=error&", 5),
        ("calls?copies=1&", 50),
        ("failures?", 5),
        ("failures?unresolved=1&", 2),
        ("search?q=error&", 3),
        ("search?q=the&", 41),
        ("search?q=e&field=result&", 100),
    ] {
        let lines = api.ask(&format!("/api/v1/{path}format=jsonl"));
        assert_eq!((lines.status, lines.header("content-type")), (200, "application/x-ndjson"));
        let pages = all(&api, &format!("/api/v1/{path}limit={limit}"), |_| {});
        assert!(pages.len() > limit, "{path}: {}", pages.len());
        for (place, (one, other)) in pages.iter().zip(lines.rows()).enumerate() {
            assert_eq!(*one, other, "{path} row {place}");
        }
        assert_eq!(pages.len(), lines.rows().len(), "{path}");
        // The first lines, and the address of those behind them.
        let first = api.ask(&format!("/api/v1/{path}format=jsonl&limit={limit}"));
        assert_eq!(first.rows(), pages[..limit], "{path}");
        let link = first.header("link");
        let next = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\"")).unwrap_or_else(|| panic!("{path}: {link}"));
        assert_eq!(api.ask(next).rows(), pages[limit..pages.len().min(2 * limit)], "{path}");
        // The header asks for the same.
        let path = path.trim_end_matches('&');
        let same = api.send("GET", &format!("/api/v1/{path}"), &[("accept", "text/html, application/x-ndjson")]);
        assert_eq!(same.body, lines.body, "{path}");
    }
}

#[test]
fn a_page_has_a_hundred_rows_unless_told_otherwise() {
    let api = Api::fixtures();
    let page = api.get("/api/v1/calls");
    assert_eq!(page["items"].as_array().map(Vec::len), Some(100));
    assert!(page["next"].is_string() && page["v"] == 1);
    let none = api.get("/api/v1/calls?q=tool:nothing");
    assert_eq!(none, serde_json::json!({ "v": 1, "items": [], "next": null }));
}

const IDS: [&str; 6] = ["aa", "bb", "cc", "dd", "ee", "ff"];

pub(crate) fn lay(home: &Path, id: &str, hour: usize) {
    let at = format!("2026-03-04T{hour:02}:00:00Z");
    Small { id, prompt: &format!("find the needle for {id}"), cwd: "/srv/app", command: "grep needle", at: &at, fails: hour % 2 == 1 }
        .lay(home);
}

/// Adds a call with its result to a session.
pub(crate) fn append(home: &Path, id: &str, number: usize) {
    let file = home.join(format!(".claude/projects/-p/{id}.jsonl"));
    let at = format!("2026-03-04T11:{number:02}:00Z");
    let shared = |uuid: &str| {
        format!("\"uuid\":\"{id}-{number}-{uuid}\",\"parentUuid\":null,\"sessionId\":\"{id}\",\"cwd\":\"/srv/app\",\"timestamp\":\"{at}\"")
    };
    let call = format!("toolu_{id}_{number}");
    let request = format!(
        "{{\"type\":\"assistant\",{},\"message\":{{\"role\":\"assistant\",\"model\":\"m\",\"id\":\"msg_{id}_{number}\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"Bash\",\"input\":{{\"command\":\"grep needle {number}\"}}}}]}}}}\n",
        shared("a")
    );
    let result = format!(
        "{{\"type\":\"user\",{},\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{call}\",\"is_error\":false,\"content\":\"a needle\"}}]}}}}\n",
        shared("b")
    );
    // Added at once, as agents do: a log that is written anew is empty for a moment, and whoever watches may see that.
    let mut log = fs::File::options().append(true).open(&file).expect("a log");
    log.write_all((request + &result).as_bytes()).expect("it is written");
}

#[test]
fn rows_that_come_meanwhile_neither_hide_nor_repeat_others() {
    for (path, limit, identity) in [
        ("sessions?", 2, (|row| row["session"].to_string()) as fn(&Value) -> String),
        ("calls?", 2, |row| row["call"].to_string()),
        ("calls?", 1, |row| row["call"].to_string()),
        ("calls?copies=1&", 2, |row| row["call"].to_string()),
        ("calls?q=needle&", 2, |row| row["call"].to_string()),
        ("search?q=needle&", 2, |row| format!("{}:{} {}", row["file"], row["line"], row["field"])),
        ("search?q=needle&", 1, |row| format!("{}:{} {}", row["file"], row["line"], row["field"])),
        ("search?q=needle&", 4, |row| format!("{}:{} {}", row["file"], row["line"], row["field"])),
    ] {
        let home = tempfile::tempdir().expect("a directory");
        IDS.iter().enumerate().for_each(|(place, id)| lay(home.path(), id, 2 + place));
        append(home.path(), "bb", 1);
        let api = Api::over(Logs::Home(home.path().to_owned()));
        let before: BTreeSet<String> = api.ask(&format!("/api/v1/{path}format=jsonl")).rows().iter().map(identity).collect();
        let told = all(&api, &format!("/api/v1/{path}limit={limit}"), |page| {
            // Sessions that were told, that are being told and that are still to come grow; new ones come at both ends.
            match page {
                1 => IDS.iter().for_each(|id| append(home.path(), id, 10)),
                2 => ["aa", "ff"].iter().for_each(|id| append(home.path(), id, 20)),
                3 => [("a0", 1), ("zz", 10)].iter().for_each(|(id, hour)| lay(home.path(), id, *hour)),
                4 => IDS.iter().for_each(|id| append(home.path(), id, 30)),
                _ => return,
            }
            // What is younger than this is taken as it is.
            std::thread::sleep(std::time::Duration::from_millis(750));
        });
        let names: Vec<String> = told.iter().map(identity).collect();
        let once: BTreeSet<String> = names.iter().cloned().collect();
        assert_eq!(names.len(), once.len(), "{path}{limit}: something is told twice: {names:#?}");
        let lost: Vec<&String> = before.difference(&once).collect();
        assert!(lost.is_empty(), "{path}{limit}: {lost:?} is lost");
    }
}

#[test]
fn cursors_belong_to_their_question() {
    let api = Api::fixtures();
    let next = |address: &str| api.get(&format!("/api/v1/{address}limit=2"))["next"].as_str().expect("more").to_owned();
    let cursor = next("calls?q=kind:shell&");
    assert_eq!(api.ask(&format!("/api/v1/calls?q=kind:shell&limit=5&after={cursor}")).status, 200);
    for other in ["calls?q=kind:read", "calls?q=kind:shell&copies=1", "sessions?q=kind:shell", "search?q=kind:shell", "calls?"] {
        let (status, error) = api.fault(&format!("/api/v1/{other}&after={cursor}"));
        assert_eq!((status, error["code"].as_str(), error["parameter"].as_str()), (400, Some("bad_cursor"), Some("after")), "{other}");
    }
}
