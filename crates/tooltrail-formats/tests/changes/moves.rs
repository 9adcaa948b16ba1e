//! Files that a shell moves: one rename where the logs say what is needed for it, and words for what they do not say.

use super::applier::{Tree, apply, apply_with};
use super::world::{PROJECT, World};
use serde_json::json;
use tooltrail_formats::changes::SessionChanges;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::changes::unified::{self, PatchNames};
use tooltrail_model::{Now, Time};

const TEXT: &str = "one\ntwo\nthree\n";

/// A step of an invented session.
enum Act {
    /// A read of a whole file with [`TEXT`].
    Read(&'static str),
    /// A shell command that succeeds.
    Bash(&'static str),
    /// An edit of a file: the old text, and the new one.
    Edit(&'static str, &'static str, &'static str),
}
use Act::{Bash, Edit, Read};

/// Logs a session, and writes its patch.
fn patch(acts: &[Act]) -> String {
    let mut world = World::new(0);
    let log = world.claude("11111111-0000-4000-8000-000000000000");
    world.prompt(log);
    for act in acts {
        match *act {
            Read(name) => {
                let path = format!("{PROJECT}/{name}");
                world.files.insert(path.clone(), TEXT.to_owned());
                let call = world.ask(log, "Read", &json!({"file_path": path}));
                let file = json!({"filePath": path, "content": TEXT, "numLines": 4, "startLine": 1, "totalLines": 4});
                world.answer(log, &call, "1→one", false, Some(json!({"type": "text", "file": file})));
            }
            Bash(line) => {
                let call = world.ask(log, "Bash", &json!({"command": line}));
                world.answer(log, &call, "", false, Some(json!({"stdout": "", "stderr": "", "interrupted": false})));
            }
            Edit(name, old, new) => {
                let path = format!("{PROJECT}/{name}");
                let call = world.ask(log, "Edit", &json!({"file_path": path, "old_string": old, "new_string": new}));
                world.answer(log, &call, "The file has been updated.", false, None);
            }
        }
    }
    let disk = world.disk();
    let linker = disk.linker();
    let linked = linker.link();
    let now = Now::at("2026-03-06T00:00:00Z".parse::<Time>().unwrap());
    let book = SessionBook::read(&linked, &[0], &now, &disk, None);
    let path = |path: &str| unified::relative(path, Some(PROJECT));
    let names = PatchNames { path: &path, left_out: &|_| None, call: &|by| (by + 1).to_string(), place: &|_| None, whole: "this session" };
    SessionChanges::read(&book).nets(|_| true).map(|files| unified::patch(&files, &names)).collect()
}

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// Applies a patch strictly, and with git.
fn applied(patch: &str, before: &Tree) -> Tree {
    let mut own = before.clone();
    apply(&mut own, patch).unwrap_or_else(|error| panic!("{error}\n{patch}"));
    let git = apply_with(&["git", "apply", "--whitespace=nowarn"], before, patch).unwrap();
    assert_eq!(own, git, "{patch}");
    git
}

#[test]
fn a_known_file_that_is_moved_and_edited_is_one_rename() {
    let moved = patch(&[Read("old.md"), Bash("mv old.md docs/new.md"), Edit("docs/new.md", "two", "2")]);
    assert!(
        moved.contains("# by 2 3\ndiff --git a/old.md b/docs/new.md\nrename from old.md\nrename to docs/new.md\n--- a/old.md\n"),
        "{moved}"
    );
    assert_eq!(moved.matches("diff --git").count(), 1, "{moved}");
    let before = tree(&[("old.md", TEXT), ("other.md", "other\n")]);
    assert_eq!(applied(&moved, &before), tree(&[("docs/new.md", "one\n2\nthree\n"), ("other.md", "other\n")]), "{moved}");
    // Edits before the move belong to the rename, too.
    let both = patch(&[Read("old.md"), Edit("old.md", "one", "1"), Bash("mv old.md new.md"), Edit("new.md", "two", "2")]);
    assert_eq!(applied(&both, &tree(&[("old.md", TEXT)])), tree(&[("new.md", "1\n2\nthree\n")]), "{both}");
    let mere = patch(&[Read("old.md"), Bash("mv old.md new.md")]);
    assert_eq!(applied(&mere, &tree(&[("old.md", TEXT)])), tree(&[("new.md", TEXT)]), "{mere}");
}

#[test]
fn an_unknown_file_that_is_moved_is_a_mere_rename() {
    let moved = patch(&[Bash("mv old.md new.md")]);
    let expected = "# by 1\ndiff --git a/old.md b/new.md\nsimilarity index 100%\nrename from old.md\nrename to new.md\n";
    assert_eq!(moved, expected);
    assert_eq!(applied(&moved, &tree(&[("old.md", "any\n")])), tree(&[("new.md", "any\n")]));
}

#[test]
fn a_move_that_is_no_rename_says_what_is_missing() {
    let by_shell = |name: &str, call: u32| format!("# {name}: {call} by shell command\n");
    // What `sed` made of it is unknown, so that a rename would say too much.
    let unknown = patch(&[Bash("mv old.md new.md"), Bash("sed -i s/a/b/ new.md")]);
    let away = by_shell("old.md", 1) + "# old.md: 1 moved it away; the logs do not have its text\n";
    let here = by_shell("new.md", 1) + &by_shell("new.md", 2) + "# new.md: 1 moved it here; the logs do not have its text\n";
    assert_eq!(unknown, away + &here + "# new.md: 2 changed it; the logs do not have all of its text\n");
    let known = patch(&[Read("old.md"), Bash("mv old.md new.md"), Bash("sed -i s/a/b/ new.md")]);
    assert!(known.contains("# new.md: 2 moved it here; the logs do not say whether it replaced a file\n"), "{known}");
    // A file that is known to be replaced is in the way of a rename.
    let onto = patch(&[Read("new.md"), Bash("mv old.md new.md")]);
    assert!(!onto.contains("rename to") && onto.contains("# new.md: 2 changed it; the logs do not have all of its text\n"), "{onto}");
    // Its text is known under the new name only through the old one; both diffs are needed.
    let replaced = patch(&[Read("old.md"), Read("new.md"), Edit("old.md", "one", "1"), Bash("mv old.md new.md")]);
    assert_eq!(applied(&replaced, &tree(&[("old.md", TEXT), ("new.md", TEXT)])), tree(&[("new.md", "1\ntwo\nthree\n")]), "{replaced}");
}
