//! The page of one call, asked over a socket: why it has its status, what proves that, what happened, what stands around it; and that
//! nothing from a log acts.

#![allow(clippy::expect_used)] // helpers of tests, where a panic is the report

#[allow(dead_code)] // other tests use the rest of it
mod support;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use support::World;

const FLAKY: &str = "3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13";
const FORK: &str = "c2d47e80-93aa-4f0b-8d26-5b1f6a3e9d72";

/// The page of a call, by a name that may not be its own.
fn page(world: &World, name: &str) -> String {
    let (status, head, body) = world.answer(&format!("/c/{name}"));
    if status != 303 {
        assert_eq!(status, 200, "{name}: {body}");
        return body;
    }
    let location = head.lines().find_map(|line| line.strip_prefix("location: ")).expect("another address");
    world.page(location)
}

/// A page without its tags, each run of white space one space.
fn text(page: &str) -> String {
    let main = page.split_once("<main").and_then(|(_, rest)| rest.split_once("</main>")).expect("a main part").0;
    let mut out = String::new();
    let mut inside = true;
    for letter in main.chars() {
        match letter {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                out.push(' ');
            }
            letter if !inside => out.push(letter),
            _ => {}
        }
    }
    let plain = out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fails unless everything is in a text, in this order.
fn has(text: &str, wanted: &[&str]) {
    let mut from = 0;
    for piece in wanted {
        match text[from..].find(piece) {
            Some(at) => from += at + piece.len(),
            None => panic!("`{piece}` is not there{}:\n{text}", if text.contains(piece) { ", or not in its order" } else { "" }),
        }
    }
}

#[test]
fn every_status_says_why_and_what_proves_it() {
    let world = World::demo();
    let cases: &[(&str, &[&str])] = &[
        (
            "b84e:2",
            &[
                "✓ succeeded",
                "Evidence The result is not marked as an error, so the command did not fail.",
                "the result: b84e",
                ".jsonl:6",
                "is_error=false",
            ],
        ),
        (
            "6ab3:3",
            &[
                "✓? succeeded, but the success came from tail",
                "the success came from tail -6 ; the exit code of cargo test is unknown",
                "output says",
                "With set -o pipefail it would have been recorded",
                ".jsonl:8",
            ],
        ),
        ("3f2a:6", &["✗ failed, exit 101", "It ended with exit code 101.", ".jsonl:15", "failed exit_code is_error=true exit_code=101"]),
        ("3f2a:4", &["✗ failed: invalid arguments", "Invalid arguments.", "invalid_input"]),
        (
            "019cb4:9",
            &[
                "• outcome not recorded",
                "background task 48213: completed , exit 0",
                "the log has no exit code and no word of success or failure",
                ".jsonl:39",
                "no_outcome_recorded",
            ],
        ),
        (
            "b84e:5",
            &[
                "⊘ rejected by you",
                "You declined it with a reason.",
                "you said tag it as a release candidate first",
                "permission: you declined",
                ".jsonl:15",
            ],
        ),
        (
            "b84e:8",
            &["⊘ rejected", "It never ran: another call was rejected first.", "permission: another call was declined first", ".jsonl:21"],
        ),
        (
            "b84e:3",
            &[
                "⊗ blocked by a hook",
                "Blocked by the hook PreToolUse:Bash , which ran .claude/hooks/freeze-check.sh",
                "+0.16 s :8 PreToolUse:Bash",
                "production is frozen until Thursday",
                ".jsonl:9",
            ],
        ),
        ("b84e:4", &["⊗ blocked by a permission rule", "permission: refused by a rule", ".jsonl:11"]),
        ("3f2a:12", &["∅ cancelled: a parallel call failed", "It never ran: a parallel call failed first.", ".jsonl:30"]),
        ("b84e:10", &["■ interrupted by you", "You interrupted it while it ran.", ".jsonl:27"]),
        ("3f2a:15", &["◷ timed out", "It reached its time limit.", "+2 m 00 s", ".jsonl:36"]),
        (
            "d3a0:6",
            &[
                "● running: waiting for permission",
                "permission: waiting for you",
                "no result : waiting for permission",
                "No result yet: waiting for permission.",
                "the log’s last record",
            ],
        ),
        ("91f7:5", &["● running: waiting for a result", "permission: not recorded", "No result yet: the tool is running."]),
        ("5e9d:8", &["? no result: the log ends", "The log ends before the result.", "the request: agent-ae07d2b95c3f1846a.jsonl:6"]),
        ("5e9d:2", &["? no result: API error", "the record that stands in for a result", ".jsonl:5"]),
        ("5e9d:10", &["? no result: the log is damaged here", ".jsonl:17"]),
    ];
    for (name, wanted) in cases {
        has(&text(&page(&world, name)), wanted);
    }
}

#[test]
fn what_went_wrong_comes_first_and_nothing_looks_applied() {
    let world = World::demo();
    let failed = page(&world, "3f2a:9");
    has(&failed, &["Problem</h2>", "class=\"unapplied\"", "Not applied", "id=\"asked\"", "Timeline", "Evidence"]);
    let applied = page(&world, "3f2a:14");
    assert!(!applied.contains("unapplied") && !applied.contains("Problem</h2>"), "{applied}");
    // Two looks, and the colours of the language under the marks.
    has(&applied, &["id=\"tt-split\"", "class=\"diff both\"", "<i class=\"k\">let</i>", "<ins>", "id=\"asked\""]);
    // In the session the same change looks the same.
    let session = world.page(&format!("/s/{FLAKY}"));
    assert!(session.contains("class=\"unapplied\""));
}

#[test]
fn a_subagent_without_a_log_says_so() {
    const SESSION: &str = "aaaa0000-1111-4222-8333-444455556666";
    let world = World::new(|home| {
        let mut agent = tooltrail_testkit::agent::FakeAgent::start(home, "/srv/live", SESSION).expect("a log");
        agent.prompt("let somebody look").expect("a record");
        agent.subagent("toolu_sub", "find it", "found it").expect("a record");
    });
    let said = "The log of this subagent is missing: the calls that it made are not known.";
    assert!(page(&world, "toolu_sub").contains(said));
    let body = world.page(&format!("/s/{SESSION}/body/0"));
    assert!(body.contains(said), "{body}");
    // One whose log is there does not.
    let demo = World::demo();
    assert!(!page(&demo, "7c10:4").contains(said));
}

#[test]
fn its_evidence_can_be_opened_on_the_page() {
    let world = World::demo();
    for (name, line) in [("6ab3:3", 8), ("5e9d:2", 5), ("5e9d:10", 17), ("3f2a:16", 42)] {
        let page = page(&world, name);
        let link = page
            .split("href=\"#r")
            .skip(1)
            .find(|rest| rest.split('"').next().is_some_and(|id| id.split('-').nth(1) == Some(&line.to_string())));
        let id = link.and_then(|rest| rest.split('"').next()).unwrap_or_else(|| panic!("{name}: no link to line {line}"));
        assert!(page.contains(&format!("id=\"r{id}\"")), "{name}: the record of line {line} is not there");
    }
}

#[test]
fn what_happened_is_told_in_order_with_times_and_lines() {
    let world = World::demo();
    let steps = |name: &str| {
        text(page(&world, name).split("class=\"steps\"").nth(1).map(|rest| format!("<main {rest}</main>")).as_deref().expect("steps"))
    };
    has(
        &steps("3f2a:10"),
        &[
            ":23 requested",
            "permission: not recorded",
            "+0.62 s :24 result: succeeded",
            "+0.77 s :25 PostToolUse:Edit cargo fmt : ok, exit 0, 151 ms",
            "621 ms from request to result",
        ],
    );
    has(&steps("3f2a:16"), &[":37 requested", ":38 result: succeeded", "+6 m 57 s :42 background task b7kq2x: completed , exit 0"]);
    has(&steps("7c10:4"), &["17.6 s from request to result", "17.2 s run time, as reported by the tool"]);
}

#[test]
fn calls_have_one_name_and_others_lead_to_it() {
    let world = World::demo();
    let own = "toolu_01b3miShdMfSENCu";
    for name in ["3f2a:6", &format!("{FLAKY}:6")] {
        let (status, head, _) = world.answer(&format!("/c/{name}"));
        assert_eq!(status, 303);
        assert!(head.lines().any(|line| line == format!("location: /c/{own}")), "{head}");
    }
    assert_eq!(world.ask(&format!("/c/{own}")).0, 200);
    // A copy has the id of its original, so it is named by its own session.
    has(&text(&world.page(&format!("/c/{FORK}:3"))), &["#3", "Copies", "3f2a:3 the original"]);
    has(&text(&page(&world, "3f2a:3")), &["Copies", "c2d4:3 a copy"]);
    // Below another address everything leads below it.
    let below = World::with(support::demo, "/demo", None);
    let page = below.page(&format!("/c/{own}"));
    assert!(!page.contains("href=\"/c/") && !page.contains("href=\"/s/") && page.contains("href=\"/demo/c/"));
}

#[test]
fn neighbours_runs_siblings_and_subagents_are_linked() {
    let world = World::demo();
    let first = page(&world, "3f2a:1");
    assert!(!first.contains("rel=\"prev\"") && first.contains("rel=\"next\""));
    let last = page(&world, "3f2a:18");
    assert!(last.contains("rel=\"prev\"") && !last.contains("rel=\"next\""));
    assert!(last.contains(&format!("href=\"/s/{FLAKY}#")), "show it in the session");
    let next = first.split("rel=\"next\" href=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a link");
    has(&text(&world.page(next)), &["/ #2"]);
    // The same command, though one of them ends in a pipe; the same file, however it was handled.
    has(&text(&page(&world, "7c10:17")), &["this command 2×: ∅ cancelled: the response was discarded #16 4.0 s ✓? succeeded #17 9.0 s"]);
    has(&text(&page(&world, "3f2a:10")), &["this file 3×: ✓ succeeded Read #5", "Edit #10", "Edit #14"]);
    assert!(!text(&page(&world, "3f2a:6")).contains("Runs"), "it ran once");
    has(&text(&page(&world, "3f2a:12")), &["In parallel with 2 other calls", "#11 Bash cargo clippy", "#13 Bash cargo doc"]);
    has(&text(&page(&world, "7c10:4")), &["Subagent 5 calls, 1 failed", "✗ failed #8 Bash cargo metadata", "exit 5"]);
    has(&text(&page(&world, "7c10:8")), &["called by the subagent of this call", "#4 Agent"]);
}

#[test]
fn what_was_said_around_it_is_told_also_when_the_session_was_read() {
    let world = World::demo();
    let wanted = ["Before the model, 1 call earlier The jitter can be larger", "After the model, 6 calls later The suite runs 200 times"];
    has(&text(&page(&world, "3f2a:10")), &wanted);
    // Its Markdown and page need no more than its records; as JSON it says where it stands, for which the session is read.
    assert_eq!(world.ask("/c/3f2a:10.json").0, 200);
    has(&text(&page(&world, "3f2a:10")), &wanted);
    has(&text(&page(&world, "5e9d:8")), &["Before another agent, 2 calls earlier Move every file"]);
    has(&text(&page(&world, "019cb4:9")), &["Before You is it slower now? run the benches"]);
}

#[test]
fn other_forms_of_it() {
    let world = World::demo();
    let log = fs::read_to_string(world.home().join(format!(".claude/projects/-srv-orbit/{FLAKY}.jsonl"))).expect("the log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(world.page("/c/3f2a:6.jsonl"), format!("{}\n{}\n", lines[13], lines[14]));
    let told: Value = serde_json::from_str(&world.page("/c/3f2a:6.json")).expect("JSON");
    assert_eq!(
        (&told["call"]["ref"], &told["turn"], &told["input"]["command"]),
        (&json!("3f2a:6"), &json!(1), &json!("cargo test --test scheduler retries_are_spaced"))
    );
    let markdown = world.page("/c/3f2a:6.md");
    assert!(markdown.starts_with("✗ **Bash** `cargo test --test scheduler retries_are_spaced` — exit 101, 14.0 s"), "{markdown}");
    assert!(markdown.contains("```console\n$ cargo test"), "{markdown}");
}

#[test]
fn what_is_not_there_says_so() {
    let world = World::demo();
    for (name, wanted) in [
        ("toolu_nothing", "No call toolu_nothing in the logs"),
        ("3f2a:99", "This session has no call 99: it has 18."),
        ("ffff:1", "No call ffff:1"),
        ("3f2a", "No call 3f2a"),
        ("%3Cscript%3E", "No call <script>"),
    ] {
        for form in ["", ".md", ".json", ".jsonl"] {
            let (status, body) = world.ask(&format!("/c/{name}{form}"));
            assert_eq!(status, 404, "{name}{form}");
            has(&text(&body), &[wanted]);
        }
    }
    // Its log was deleted after it was found.
    has(&text(&page(&world, "6ab3:3")), &["succeeded"]);
    fs::remove_file(world.home().join(".claude/projects/-srv-ledger/6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35.jsonl")).expect("it was there");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let (status, body) = world.ask("/c/6ab3:3");
    assert_eq!(status, 404);
    has(
        &text(&body),
        &["The log of this call is gone", "From the index: Bash succeeded after 9.4 s, 2026-03-03T09:12:15.202Z", "tooltrail keep on"],
    );
}

/// A session with one call, whose result the model saw in part.
fn lay(home: &Path, name: &str, seen: &str, stdout: &str) {
    let folder = home.join(".claude/projects/-p");
    fs::create_dir_all(&folder).expect("a directory");
    let shared = |uuid: &str, kind: &str, message: Value| json!({ "uuid": uuid, "sessionId": name, "cwd": "/srv", "type": kind, "timestamp": "2026-03-01T10:00:00.000Z", "message": message });
    let mut result = shared(
        "3",
        "user",
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("toolu_{name}"), "is_error": false, "content": seen }] }),
    );
    result["toolUseResult"] = json!({ "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false });
    let lines = [
        shared("1", "user", json!({ "role": "user", "content": "look" })),
        shared(
            "2",
            "assistant",
            json!({ "role": "assistant", "id": format!("msg_{name}"), "model": "m", "content": [{ "type": "tool_use", "id": format!("toolu_{name}"), "name": "Bash", "input": { "command": "cat long" } }] }),
        ),
        result,
    ];
    fs::write(folder.join(format!("{name}.jsonl")), lines.map(|line| line.to_string()).join("\n") + "\n").expect("a log");
}

#[test]
fn what_the_model_saw_stands_beside_what_the_tool_produced() {
    let long: String = (0..900).map(|number| format!("line number {number}\n")).collect();
    let world = World::new(|home| {
        lay(home, "cut", "line number 0\n… 898 lines cut …\nline number 899", &long);
        lay(home, "same", "all of it", "all of it\n");
    });
    let cut = world.page("/c/toolu_cut");
    has(
        &text(&cut),
        &[
            "Tool produced 14 kB",
            "line number 0",
            "Model saw",
            " B line number 0 … 898 lines cut … line number 899",
            "Difference 898 lines not seen by the model, 1 line added for the model",
            "Show all",
        ],
    );
    assert!(!cut.contains("line number 450"), "not all of it is on the page");
    let all = world.page("/c/toolu_cut?all=1");
    assert!(all.contains("line number 450") && !all.contains("Show all"));
    let same = world.page("/c/toolu_same");
    has(&text(&same), &["Model saw the same, 9 B all of it"]);
    assert!(!same.contains("Difference"));
}

#[test]
fn nothing_from_a_log_acts() {
    let attack = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>\u{1b}[31m\u{202e}";
    let world = World::new(|home| {
        let folder = home.join(".claude/projects/-p");
        fs::create_dir_all(&folder).expect("a directory");
        let shared = |uuid: &str, kind: &str, message: Value| json!({ "uuid": uuid, "sessionId": "hostile", "cwd": format!("/srv/{attack}"), "gitBranch": attack, "type": kind, "timestamp": "2026-03-01T10:00:00.000Z", "message": message, "extra": attack });
        let lines = [
            shared("1", "user", json!({ "role": "user", "content": attack })),
            shared(
                "2",
                "assistant",
                json!({ "role": "assistant", "id": attack, "model": attack, "content": [
                { "type": "text", "text": attack },
                { "type": "tool_use", "id": "toolu_a", "name": attack, "input": { attack: attack, "command": attack } },
                { "type": "tool_use", "id": format!("toolu_{attack}"), "name": "Bash", "input": { "command": attack, "description": attack } },
            ] }),
            ),
            json!({ "type": "attachment", "uuid": "4", "sessionId": "hostile", "timestamp": "2026-03-01T10:00:00.500Z", "attachment": { "type": "hook_success", "hookName": attack, "hookEvent": attack, "toolUseID": "toolu_a", "command": attack, "stdout": attack, "stderr": attack, "exitCode": 0, "durationMs": 3 } }),
            shared(
                "3",
                "user",
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_a", "is_error": true, "content": attack }] }),
            ),
        ];
        fs::write(folder.join("hostile.jsonl"), lines.map(|line| line.to_string()).join("\n") + "\n").expect("a log");
    });
    for address in ["hostile:1", "hostile:2", "hostile:1?all=1"] {
        let page = page(&world, address);
        for bad in ["<script>alert", "<img src=x", "\u{1b}", "\u{202e}", "style=", "onerror=alert(2)>\"", "javascript:"] {
            assert!(!page.contains(bad), "{address}: {bad:?}");
        }
        assert!(page.contains("&lt;script&gt;alert(1)"), "{address}: it is shown");
    }
}
