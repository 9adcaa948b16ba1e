//! Directories that are listed, and files that are looked for by name or by text.

use super::ServedCall;
use tooltrail_model::detail::{Detail, Glob, Grep, GrepMode, List};

/// Names of the field that has the directory.
pub(super) const DIRECTORY: &[&str] = &["path", "directory", "directory_path", "dir_path", "relative_path", "root", "pathInProject"];

/// Names of the field that says what is looked for.
pub(super) const PATTERN: &[&str] = &["pattern", "file_mask", "substring_pattern", "searchText", "glob"];

/// A directory.
pub(super) fn list(call: &mut ServedCall<'_>) -> Detail {
    let mut list = List {
        path: call.text(DIRECTORY).unwrap_or_default(),
        ignore: call.texts(&["excludePatterns", "exclude_patterns"]).unwrap_or_default(),
        ..List::default()
    };
    let Some(text) = call.told() else { return Detail::List(list) };
    let entries: Option<Vec<(u32, String)>> = text.lines().filter(|line| !line.is_empty()).map(entry).collect();
    match entries {
        Some(entries) => list.entries = entries,
        None => list.words = Some(text.into_owned()),
    }
    Detail::List(list)
}

/// `[DIR] src`, `[FILE] src/main.rs`.
fn entry(line: &str) -> Option<(u32, String)> {
    let directory = line.strip_prefix("[DIR] ").map(|name| format!("{}/", name.trim_end()));
    Some((0, directory.or_else(|| Some(line.strip_prefix("[FILE] ")?.trim_end().to_owned()))?))
}

/// Files by name.
pub(super) fn files(call: &mut ServedCall<'_>) -> Detail {
    let mut glob = Glob { pattern: call.text(PATTERN).unwrap_or_default(), path: call.text(DIRECTORY), ..Glob::default() };
    if let Some(text) = call.told() {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let rooted = |line: &&str| line.starts_with('/') || line.get(1..3).is_some_and(|drive| drive == ":\\");
        // A sentence about what was found is no list of files.
        glob.files = match lines.iter().all(rooted) {
            true => Some(lines.into_iter().map(str::to_owned).collect()),
            false => text.starts_with("No matches found").then(Vec::new),
        };
    }
    Detail::Glob(glob)
}

/// Files by text.
pub(super) fn text(call: &mut ServedCall<'_>) -> Detail {
    Detail::Grep(Grep {
        pattern: call.text(PATTERN).unwrap_or_default(),
        path: call.text(DIRECTORY),
        glob: call.text(&["filePattern", "file_pattern", "include"]),
        mode: GrepMode::Content,
        words: call.told().map(|text| text.into_owned()),
        ..Grep::default()
    })
}

/// Files by name or by text, as a field says.
pub(super) fn either(call: &mut ServedCall<'_>) -> Detail {
    if call.text(&["searchType"]).as_deref() == Some("content") { text(call) } else { files(call) }
}
