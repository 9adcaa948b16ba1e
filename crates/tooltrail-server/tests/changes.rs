//! The review of a session's changes, asked over a socket: one number for lines everywhere, evidence of hunks, parts, limits.

#![allow(clippy::expect_used, dead_code)] // helpers of tests, where a panic is the report; not all of them are used here

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use support::World;
use tooltrail_testkit::agent::FakeAgent;

/// A session that changes files.
const SESSION: &str = "0c0ffee0-1111-4222-8333-444455556666";

fn lines(replace: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        replace
            .iter()
            .find(|(at, _)| *at == number)
            .map_or_else(|| format!("let line_{number} = {number};"), |(_, text)| (*text).to_owned())
    };
    (1..=80).map(|number| format!("{}\n", line(number))).collect()
}

/// Two edits far apart in one file, and a file in another directory.
fn two_files(home: &Path) {
    let mut agent = FakeAgent::start(home, "/srv/live", SESSION).expect("a log");
    agent.prompt("change it").expect("a record");
    let file = "/srv/live/src/long.rs";
    agent.edit("toolu_one", file, &lines(&[]), "let line_10 = 10;", "let ten = \"<ten>\";").expect("a record");
    agent.edit("toolu_two", file, &lines(&[(10, "let ten = \"<ten>\";")]), "let line_60 = 60;", "let sixty  = 60;").expect("a record");
    agent.prompt("and a note").expect("a record");
    agent.create("toolu_three", "/srv/live/docs/note.md", "# Note\n").expect("a record");
}

fn changes(world: &World, query: &str) -> String {
    world.page(&format!("/s/{SESSION}/changes{query}"))
}

/// The part of a page between two texts.
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    page.split(from).nth(1).and_then(|rest| rest.split(to).next()).unwrap_or_else(|| panic!("no {from} in {page}"))
}

#[test]
fn each_hunk_says_which_call_made_it() {
    let world = World::new(two_files);
    let page = changes(&world, "");
    let file = between(&page, "data-path=\"src/long.rs\" data-hash", "</section>");
    for told in ["edited ×2", "+2", "−2", "turn 1", "&lt;ten&gt;", "class=\"k\"", "@@ −7,7 +7,7 @@"] {
        assert!(file.contains(told), "{told}: {file}");
    }
    let hunks: Vec<&str> = file.split("class=\"hunk\"").skip(1).map(|hunk| between(hunk, "class=\"proofs\"", "</p>")).collect();
    assert_eq!(hunks.len(), 2, "{file}");
    assert!(hunks[0].contains("#toolu_one\">#1</a>") && !hunks[0].contains("#2"), "{}", hunks[0]);
    assert!(hunks[1].contains("#toolu_two\">#2</a>") && !hunks[1].contains("#1"), "{}", hunks[1]);
    // Files are listed by directory, in the tree and on the page.
    let order: Vec<usize> =
        ["docs/note.md", "src/long.rs"].iter().filter_map(|path| page.find(&format!("data-path=\"{path}\" data-hash"))).collect();
    assert!(order.len() == 2 && order.is_sorted(), "{order:?}");
    assert!(between(&page, "id=\"tt-tree\"", "</nav>").contains("<b>2 files</b>"));
}

#[test]
fn unchanged_lines_are_filled_in_with_and_without_a_script() {
    let world = World::new(two_files);
    let page = changes(&world, "");
    let number = between(&page, "data-path=\"src/long.rs\" data-hash", ">");
    assert!(!number.is_empty());
    let link = page.split("class=\"fill\" href=\"").nth(2).and_then(|rest| rest.split('"').next()).expect("lines between the hunks");
    let filled = changes(&world, link.replace("&amp;", "&").split('#').next().unwrap_or_default());
    assert!(filled.contains("line_30") && !page.contains("line_30"), "{link}");
    // Only these: what is before and behind stays folded.
    assert!(!filled.contains("line_75") && !filled.contains("line_2 "), "{link}");
    let fill = page.split("data-fill=\"").nth(2).and_then(|rest| rest.split('"').next()).expect("a name");
    let version = between(&page, "data-v=\"", "\"");
    let (status, head, part) = world.answer(&format!("/s/{SESSION}/changes/1?v={version}&fill={fill}"));
    assert!(status == 200 && head.to_lowercase().contains("immutable") && part.contains("line_30") && !part.contains("<html"), "{part}");
    for (path, status) in [("1?v=0", 409), ("99", 200), ("x", 200), ("1?fill=x", 200), ("1?fill=9.9.9.4294967295", 200)] {
        assert_eq!(world.ask(&format!("/s/{SESSION}/changes/{path}")).0, status, "{path}");
    }
}

#[test]
fn files_are_filtered_shown_alone_and_without_white_space() {
    let world = World::new(two_files);
    let notes = changes(&world, "?q=NOTE");
    assert!(notes.contains("docs/note.md") && !notes.contains("data-path=\"src/long.rs\""));
    assert!(changes(&world, "?q=nothing-like-it").contains("No changed file matches"));
    let alone = changes(&world, "?file=1");
    assert!(alone.contains("id=\"file-1\"") && !alone.contains("id=\"file-0\"") && alone.contains("All files"));
    assert_eq!(world.ask(&format!("/s/{SESSION}/changes?file=7")).0, 404);
    let world = World::new(|home| {
        let mut agent = FakeAgent::start(home, "/srv/live", SESSION).expect("a log");
        agent.prompt("indent it").expect("a record");
        agent.edit("toolu_space", "/srv/live/a.rs", "a\nb\nc\n", "b", "    b").expect("a record");
    });
    assert!(changes(&world, "").contains("class=\"hunk\""));
    let hidden = changes(&world, "?spaces=hide");
    assert!(!hidden.contains("class=\"hunk\"") && hidden.contains("Only white space changed"), "{hidden}");
}

#[test]
fn large_changes_are_bounded_and_can_be_read_in_pieces() {
    let world = World::new(|home| {
        let mut agent = FakeAgent::start(home, "/srv/live", SESSION).expect("a log");
        agent.prompt("write much").expect("a record");
        for number in 0..200 {
            let text: String = (0..120).map(|line| format!("let value_{line} = call_{number}({line}, \"text\");\n")).collect();
            agent
                .create(&format!("toolu_{number}"), &format!("/srv/live/src/dir_{}/file_{number}.rs", number % 9), &text)
                .expect("a record");
        }
        let text: String = (0..9_000).map(|line| format!("row {line} of a long table\n")).collect();
        agent.create("toolu_long", "/srv/live/a_table.txt", &text).expect("a record");
    });
    let page = changes(&world, "");
    assert!(page.len() < 200_000, "{} bytes", page.len());
    assert!(page.contains("class=\"body away\"") && page.contains("1–150 of 201 files"), "{}", page.len());
    let rest = changes(&world, "?first=150");
    assert!(rest.len() < 200_000 && rest.contains("a_table.txt") && rest.contains("151–201 of 201 files"));
    let number = between(
        rest.split("data-path=\"a_table.txt\" data-hash")
            .next()
            .and_then(|before| before.rsplit("data-file=\"").next())
            .map(|_| rest.as_str())
            .expect("it"),
        "id=\"file-200\"",
        ">",
    );
    assert!(number.contains("a_table.txt"), "{number}");
    let piece = changes(&world, "?file=200&from=1800");
    assert!(
        piece.len() < 200_000 && piece.contains("row 1800 of") && !piece.contains("row 1799 of") && piece.contains("later lines"),
        "{}",
        piece.len()
    );
}

/// The page says the same number of lines as the verdict and the summary, for the demo and for every fixture.
#[test]
fn there_is_one_number_for_lines() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/fixtures");
    let mut compared = 0;
    compared += compare(&World::demo());
    for (agent, folder) in [("claude_code", ".claude"), ("codex", ".codex")] {
        // A world each: many fixtures use the same ids.
        for fixture in sorted(&fixtures.join(agent)).into_iter().filter(|fixture| changes_files(fixture)) {
            compared += compare(&World::new(|home| lay(&fixture, &home.join(folder))));
        }
    }
    assert!(compared > 12, "only {compared} sessions changed files");
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder).expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    all.sort();
    all
}

/// Whether a log of a fixture names a tool that changes files.
fn changes_files(folder: &Path) -> bool {
    sorted(folder).into_iter().any(|entry| {
        if entry.is_dir() {
            return changes_files(&entry);
        }
        let text = fs::read(&entry).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        ["\"Edit\"", "\"Write\"", "\"MultiEdit\"", "apply_patch", "cat >", "sed -i", "gitDiff", "edit_file", "write_file"]
            .iter()
            .any(|word| text.contains(word))
    })
}

/// Copies the logs of a fixture, wherever they are in it.
fn lay(from: &Path, to: &Path) {
    for entry in sorted(from) {
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            lay(&entry, &target);
        } else {
            fs::create_dir_all(to).expect("a directory");
            fs::copy(&entry, &target).expect("it is copied");
        }
    }
}

/// Compares all sessions, and returns the number of those that changed files.
fn compare(world: &World) -> usize {
    let mut compared = 0;
    let mut ids: Vec<String> = Vec::new();
    for page in ["/sessions", "/sessions?page=2", "/sessions?from=100"] {
        let (_, body) = world.ask(page);
        ids.extend(body.split("href=\"/s/").skip(1).filter_map(|rest| Some(rest.split(['"', '?', '#', '/']).next()?.to_owned())));
    }
    ids.sort();
    ids.dedup();
    for id in ids {
        let (status, session) = world.ask(&format!("/s/{id}?digest=1"));
        if status != 200 {
            continue;
        }
        let review = world.page(&format!("/s/{id}/changes"));
        let verdict =
            session.split("<span class=\"di\">Changed</span>").nth(1).map(|rest| between(rest, "class=\"words\">", "<").to_owned());
        let Some(verdict) = verdict else {
            assert!(!review.contains("class=\"review\""), "{id}: the verdict says nothing of its changes");
            continue;
        };
        let sum = between(&review, "<p class=\"sum\">", "</p>");
        let text: String = sum.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
        let (files, counts) = (between(sum, "<b>", "</b>"), verdict.split(" in ").next().unwrap_or_default());
        assert!(
            text.starts_with(&format!("{files} {counts}")) && verdict.starts_with(&format!("{counts} in {files}")),
            "{id}: {verdict}, but {text}"
        );
        // The summary lists the same files, and where there are several, their sum.
        let digest = between(&session, "class=\"digest\"", "</dl>").replace("> +", ">+");
        let added = format!("<i class=\"ok\">{}</i>", counts.split(' ').next().unwrap_or_default());
        // A single file has no numbers there if some of its lines are not known.
        let untold = counts == "+0 −0" || (files == "1 file" && digest.contains("diff incomplete"));
        assert!(digest.contains(&added) || untold, "{id}: {counts} in {digest}");
        compared += 1;
    }
    compared
}
