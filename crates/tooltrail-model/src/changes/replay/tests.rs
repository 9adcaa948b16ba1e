//! Tables of statements, and what is known after them.

use super::*;
use crate::detail::Replacement;
use crate::patch::unified;

fn saw(text: &str) -> Did {
    Did::Saw(FileText::text(text), How::Read)
}

fn write(content: &str, new: Option<bool>, original: Option<&str>, diff: &str) -> Did {
    Did::Wrote(Write { content: content.into(), new, original: original.map(Into::into), hunks: unified(diff), ..Write::default() })
}

fn edit(old: &str, new: &str) -> Edit {
    Edit { replacements: vec![Replacement { old: old.into(), new: new.into(), all: false }], ..Edit::default() }
}

fn patch(change: FileChange, diff: &str, content: Option<&str>) -> FilePatch {
    FilePatch { path: "f".into(), moved_to: None, change, hunks: unified(diff), content: content.map(Into::into) }
}

/// Each step as text: the text before, an arrow, the text after; `!` where the file changed outside, `~` where replayed.
fn told(dids: Vec<Did>) -> Vec<String> {
    let deeds = dids.into_iter().enumerate().map(|(by, did)| Deed { by, path: "f".into(), did });
    let said = |known: &FileText| match known {
        FileText::Unknown => "?".to_owned(),
        FileText::Absent => "-".to_owned(),
        FileText::Text(text) => text.replace('\n', "/"),
    };
    let line = |step: &Step| {
        let signs = [(step.outside, "!"), (step.replayed, "~")];
        let signs: String = signs.into_iter().filter_map(|(holds, sign)| holds.then_some(sign)).collect();
        format!("{signs}{}{}>{}", if step.path == "f" { "" } else { &step.path }, said(&step.before), said(&step.after))
    };
    replay(deeds).iter().map(line).collect()
}

#[test]
fn whole_texts_settle_what_is_known() {
    assert_eq!(told(vec![saw("a"), saw("a"), saw("b")]), ["a>a", "a>a", "!b>b"]);
    assert_eq!(told(vec![write("a", Some(true), None, ""), saw("a")]), ["->a", "a>a"]);
    assert_eq!(told(vec![saw("x"), write("a", Some(true), None, "")]), ["x>x", "!->a"]);
    assert_eq!(told(vec![write("b", Some(false), Some("a"), "")]), ["a>b"]);
    assert_eq!(told(vec![saw("x"), write("b", Some(false), Some("a"), "")]), ["x>x", "!a>b"]);
    assert_eq!(told(vec![saw("x"), write("b", Some(false), None, "")]), ["x>x", "x>b"]);
    assert_eq!(told(vec![write("b", Some(false), None, "")]), ["?>b"]);
    assert_eq!(told(vec![Did::Saw(FileText::Absent, How::Backup), write("b", Some(false), None, "")]), ["->-", "!?>b"]);
}

#[test]
fn hunks_of_a_write_tell_the_text_before() {
    let diff = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    assert_eq!(told(vec![write("a\nc\n", Some(false), None, diff)]), ["a/b/>a/c/"]);
    assert_eq!(told(vec![saw("a\nb\n"), write("a\nc\n", Some(false), None, diff)]), ["a/b/>a/b/", "a/b/>a/c/"]);
    assert_eq!(told(vec![saw("x\nb\n"), write("a\nc\n", Some(false), None, diff)]), ["x/b/>x/b/", "!a/b/>a/c/"]);
    // Tabs may have been spaces, so the text before is unknown.
    let tabbed = "@@ -1,2 +1,2 @@\n   a\n-  b\n+  c\n";
    assert_eq!(told(vec![write("\ta\n\tc\n", Some(false), None, tabbed)]), ["?>\ta/\tc/"]);
    assert_eq!(told(vec![saw("\ta\n\tb\n"), write("\ta\n\tc\n", Some(false), None, tabbed)])[1], "\ta/\tb/>\ta/\tc/");
}

#[test]
fn edits_are_put_on_the_text_that_is_known() {
    let known = Edit { original: Some("a b".into()), ..edit("a", "c") };
    assert_eq!(told(vec![Did::Edited(known.clone())]), ["a b>c b"]);
    assert_eq!(told(vec![saw("a x"), Did::Edited(known)]), ["a x>a x", "!a b>c b"]);
    assert_eq!(told(vec![saw("a b"), Did::Edited(edit("a", "c"))]), ["a b>a b", "~a b>c b"]);
    assert_eq!(told(vec![Did::Edited(edit("a", "c"))]), ["~?>?"]);
    // Missing, or ambiguous: it was another text.
    assert_eq!(told(vec![saw("x"), Did::Edited(edit("a", "c"))]), ["x>x", "!~?>?"]);
    assert_eq!(told(vec![saw("a a"), Did::Edited(edit("a", "c"))]), ["a a>a a", "!~?>?"]);
    assert_eq!(told(vec![Did::Saw(FileText::Absent, How::Backup), Did::Edited(edit("a", "c"))]), ["->-", "!~?>?"]);
    assert_eq!(told(vec![Did::Edited(edit("", "new"))]), ["->new"]);
}

#[test]
fn hunks_check_an_edit() {
    let with = |diff: &str, edit: Edit| Did::Edited(Edit { hunks: unified(diff), ..edit });
    let diff = "@@ -1,2 +1,2 @@\n x\n-a\n+c\n";
    assert_eq!(told(vec![saw("x\na\n"), with(diff, edit("a", "c"))]), ["x/a/>x/a/", "~x/a/>x/c/"]);
    // The replacement fits, its surroundings do not.
    assert_eq!(told(vec![saw("y\na\n"), with(diff, edit("a", "c"))]), ["y/a/>y/a/", "!~?>?"]);
    // The agent found the text although it is spelled differently.
    assert_eq!(told(vec![saw("x\na\n"), with(diff, edit("“a”", "c"))])[1], "~x/a/>x/c/");
    // A deleted text may take the end of its line along.
    assert_eq!(told(vec![saw("x\na\n"), with("@@ -1,2 +1 @@\n x\n-a\n", edit("a", ""))])[1], "~x/a/>x/");
    assert_eq!(told(vec![saw("x\na\n"), with("@@ -1,2 +1,2 @@\n x\n-a\n+\n", edit("a", ""))])[1], "~x/a/>x//");
    assert_eq!(told(vec![saw("x\na\n"), Did::Edited(edit("a", ""))])[1], "~x/a/>?");
}

#[test]
fn the_persons_own_words_are_in_the_hunks() {
    let diff = "@@ -1 +1 @@\n-a\n+mine\n";
    let own = |original: Option<&str>, diff: &str| {
        Did::Edited(Edit { original: original.map(Into::into), hunks: unified(diff), user_modified: true, ..edit("a", "theirs") })
    };
    assert_eq!(told(vec![own(Some("a\n"), diff)]), ["a/>mine/"]);
    assert_eq!(told(vec![own(Some("a\n"), "")]), ["a/>?"]);
    assert_eq!(told(vec![saw("a\n"), own(None, "")]), ["a/>a/", "~a/>?"]);
    // It may have been a tab, unless the line is as proposed.
    assert_eq!(told(vec![own(Some("a\n"), "@@ -1 +1 @@\n-a\n+  mine\n")]), ["a/>?"]);
    let proposed = Edit {
        original: Some("a\n".into()),
        hunks: unified("@@ -1 +1,2 @@\n-a\n+  x\n+b\n"),
        user_modified: true,
        ..edit("a", "  x\n  b")
    };
    assert_eq!(told(vec![Did::Edited(proposed)]), ["a/>  x/b/"]);
}

#[test]
fn patches_add_change_delete_and_move() {
    let add = Did::Patched(patch(FileChange::Add, "@@\n+a\n+b\n", None));
    let update = Did::Patched(patch(FileChange::Update, "@@\n-b\n+c\n", None));
    let delete = Did::Patched(patch(FileChange::Delete, "", None));
    assert_eq!(told(vec![add.clone(), update.clone(), delete.clone()]), ["->a/b/", "~a/b/>a/c/", "a/c/>-"]);
    assert_eq!(told(vec![update.clone()]), ["~?>?"]);
    assert_eq!(told(vec![saw("x\n"), update.clone()]), ["x/>x/", "!~?>?"]);
    // The program ignores spaces; its result is unknown.
    assert_eq!(told(vec![saw(" b\n"), update])[1], "~ b/>?");
    let numbered = Did::Patched(patch(FileChange::Update, "@@ -2 +2 @@\n-b\n+c\n", None));
    assert_eq!(told(vec![saw("a\nb\n"), numbered.clone()])[1], "~a/b/>a/c/");
    assert_eq!(told(vec![saw("b\na\n"), numbered])[1], "!~?>?");
    assert_eq!(told(vec![saw("x"), Did::Patched(patch(FileChange::Delete, "", Some("y")))])[1], "!y>-");
    assert_eq!(told(vec![delete]), ["?>-"]);
    let moved = FilePatch { moved_to: Some("g".into()), ..patch(FileChange::Update, "@@\n-a\n+z\n", None) };
    assert_eq!(told(vec![add, Did::Patched(moved)]), ["->a/b/", "a/b/>-", "~g->z/b/"]);
}

#[test]
fn what_is_unclear_is_not_known() {
    assert_eq!(told(vec![saw("a"), Did::Unclear, saw("b")]), ["a>a", "~a>?", "b>b"]);
}
