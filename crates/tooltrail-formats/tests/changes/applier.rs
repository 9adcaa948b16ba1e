//! A patch applied strictly, by code that shares nothing with the program: every line must be where the patch says, to the byte.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Files by their path in a patch.
pub(crate) type Tree = BTreeMap<String, String>;

/// Applies a patch, or says what is wrong with it.
pub(crate) fn apply(tree: &mut Tree, patch: &str) -> Result<(), String> {
    let mut lines = patch.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("# ") || line == "#\n" {
            continue;
        }
        let names = line.strip_prefix("diff --git ").ok_or_else(|| format!("neither comment nor diff: {line:?}"))?;
        let (mut new, mut gone, mut same_text, mut from, mut to) = (false, false, false, None, None);
        let mut hunks: Vec<String> = Vec::new();
        while let Some(next) = lines.next_if(|next| !next.starts_with("diff --git ") && !next.starts_with('#')) {
            match next {
                "new file mode 100644\n" => new = true,
                "deleted file mode 100644\n" => gone = true,
                "similarity index 100%\n" if hunks.is_empty() => same_text = true,
                _ if hunks.is_empty() && next.starts_with("rename from ") => from = next.strip_prefix("rename from "),
                _ if hunks.is_empty() && next.starts_with("rename to ") => to = next.strip_prefix("rename to "),
                _ if hunks.is_empty() && (next.starts_with("--- ") || next.starts_with("+++ ")) => {}
                _ if next.starts_with("@@ ") => hunks.push(next.to_owned()),
                _ => hunks.last_mut().ok_or_else(|| format!("a line outside of a hunk: {next:?}"))?.push_str(next),
            }
            // Lines of a hunk may begin like anything: its head says how many there are.
            if next.starts_with("@@ ") {
                let (_, olds, news) = head(next)?;
                let (mut old, mut added) = (0, 0);
                while old < olds || added < news || lines.peek().is_some_and(|line| line.starts_with('\\')) {
                    let line = lines.next().ok_or("a hunk breaks off")?;
                    old += usize::from(line.starts_with([' ', '-']));
                    added += usize::from(line.starts_with([' ', '+']));
                    hunks.last_mut().unwrap().push_str(line);
                }
            }
        }
        let (old_name, new_name) = match (from, to) {
            (Some(from), Some(to)) => (unquoted(from), unquoted(to)),
            _ => same(names)?,
        };
        if new && tree.contains_key(&new_name) {
            return Err(format!("{new_name} is there already"));
        }
        let before = if new { String::new() } else { tree.remove(&old_name).ok_or_else(|| format!("{old_name} is not there"))? };
        let after = put(&before, &hunks)?;
        if same_text && (before != after || from.is_none()) {
            return Err(format!("{old_name} is said to keep its text under another name"));
        }
        if gone {
            if !after.is_empty() {
                return Err(format!("{old_name} is deleted and has text left"));
            }
        } else {
            tree.insert(new_name, after);
        }
    }
    Ok(())
}

/// `@@ -9,2 +9,6 @@`: the first old line, and how many lines on both sides.
fn head(line: &str) -> Result<(usize, usize, usize), String> {
    let mut words = line.split_whitespace().skip(1);
    let mut range = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let ((start, olds), (_, news)) = range('-').zip(range('+')).ok_or_else(|| format!("no head of a hunk: {line:?}"))?;
    Ok((start, olds, news))
}

/// `a/x b/x`, perhaps in quotes.
fn same(names: &str) -> Result<(String, String), String> {
    let names = names.trim_end_matches('\n');
    let half = names.len() / 2;
    let (old, new) = (unquoted(&names[..half]), unquoted(&names[half + 1..]));
    let (old, new) = (old.strip_prefix("a/").unwrap_or_default().to_owned(), new.strip_prefix("b/").unwrap_or_default().to_owned());
    if old.is_empty() || old != new { Err(format!("two names: {names:?}")) } else { Ok((old, new)) }
}

fn unquoted(name: &str) -> String {
    let name = name.trim_end_matches('\n');
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(inner) => inner.replace("\\t", "\t").replace("\\\"", "\"").replace("\\\\", "\\"),
        None => name.to_owned(),
    }
}

fn put(before: &str, hunks: &[String]) -> Result<String, String> {
    let base: Vec<&str> = before.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut at = 0;
    for hunk in hunks {
        let mut lines = hunk.split_inclusive('\n').peekable();
        let (start, olds, _) = head(lines.next().unwrap_or_default())?;
        let start = if olds == 0 { start } else { start.checked_sub(1).ok_or("a hunk before the file")? };
        base.get(at..start).ok_or("a hunk behind the file")?.iter().for_each(|line| out.push_str(line));
        at = start;
        while let Some(line) = lines.next() {
            let (sign, text) = line.split_at(1);
            let unended = lines.next_if(|next| next.starts_with('\\')).is_some();
            let text = if unended { text.strip_suffix('\n').unwrap_or(text) } else { text };
            if sign != "+" {
                if base.get(at) != Some(&text) {
                    return Err(format!("line {}: {text:?} expected, {:?} there", at + 1, base.get(at)));
                }
                at += 1;
            }
            if sign != "-" {
                out.push_str(text);
            }
        }
    }
    base.get(at..).ok_or("a hunk behind the file")?.iter().for_each(|line| out.push_str(line));
    Ok(out)
}

/// Applies a patch with a program, in a directory of its own; `None` where the program is not here.
pub(crate) fn apply_with(program: &[&str], tree: &Tree, patch: &str) -> Option<Tree> {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in tree {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), patch).unwrap();
    let output = Command::new(program[0]).args(&program[1..]).arg(file.path()).current_dir(directory.path()).output().ok()?;
    assert!(output.status.success(), "{program:?}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut after = Tree::new();
    read(directory.path(), directory.path(), &mut after);
    Some(after)
}

fn read(root: &Path, directory: &Path, tree: &mut Tree) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read(root, &path, tree);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            tree.insert(name, String::from_utf8(std::fs::read(&path).unwrap()).unwrap());
        }
    }
}

#[test]
fn the_applier_is_strict() {
    let patch = "# by 1\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    let tree = |text: &str| Tree::from([("x".to_owned(), text.to_owned())]);
    let mut whole = tree("a\nb\n");
    assert_eq!(apply(&mut whole, patch).map(|()| whole), Ok(tree("a\nc\n")));
    for other in ["a\nb", "a\r\nb\n", "b\na\n", ""] {
        assert!(apply(&mut tree(other), patch).is_err(), "{other:?}");
    }
    assert!(apply(&mut Tree::new(), patch).is_err());
}
