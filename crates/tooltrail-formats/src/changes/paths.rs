//! Paths in logs: made absolute by their words alone. Nothing is looked up on this machine; the file may be from another one.

use tooltrail_model::changes::unified::is_windows;

/// The file that a path means in a directory: without `.` and `..`, absolute where the directory is known.
pub fn absolute(path: &str, directory: Option<&str>) -> String {
    // Paths of a Windows log are joined with its own separator, also when this machine has another one.
    let sign = if is_windows(path) || directory.is_some_and(is_windows) { '\\' } else { '/' };
    let whole = match directory.filter(|directory| !directory.is_empty()) {
        Some(directory) if !is_absolute(path) => format!("{directory}{sign}{path}"),
        _ => path.to_owned(),
    };
    // A backslash is a legal character of a name on Unix.
    let splits = |letter: char| letter == '/' || (sign == '\\' && letter == '\\');
    let rooted = whole.starts_with(splits);
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split(splits) {
        match name {
            "" | "." => {}
            // Leading `..` of a relative path stay: there is nothing yet that they could cancel.
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            // There is nothing above the root.
            ".." if rooted => {}
            name => names.push(name),
        }
    }
    let joined = names.join(&sign.to_string());
    if rooted { format!("{sign}{joined}") } else { joined }
}

/// Whether a path is complete without a directory.
fn is_absolute(path: &str) -> bool {
    // `~` is not expanded: the home is that of the machine that wrote the log.
    path.starts_with(['/', '~']) || is_windows(path)
}

/// The last name of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether a path ends with the names of another one.
pub(super) fn ends_with(path: &str, end: &str) -> bool {
    let names = |path| str::rsplit(path, ['/', '\\']).filter(|name| !matches!(*name, "" | "."));
    let (mut path, mut end) = (names(path), names(end).peekable());
    // An empty end would match every path.
    end.peek().is_some() && end.all(|name| path.next() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute_by_their_words() {
        for (path, directory, expected) in [
            ("/a/./b/../c", None, "/a/c"),
            ("src/a.rs", Some("/srv/app/"), "/srv/app/src/a.rs"),
            ("../x", Some("/srv/app"), "/srv/x"),
            ("/../x", None, "/x"),
            ("../x", None, "../x"),
            ("src/a.rs", None, "src/a.rs"),
            ("C:\\a\\..\\b", Some("/srv"), "C:\\b"),
            ("b/c", Some("C:\\a"), "C:\\a\\b\\c"),
            ("a\\b", Some("/srv"), "/srv/a\\b"),
            ("~/x", Some("/srv"), "~/x"),
        ] {
            assert_eq!(absolute(path, directory), expected, "{path} in {directory:?}");
        }
    }

    #[test]
    fn ends_are_whole_names() {
        assert!(ends_with("/srv/src/main.rs", "src/main.rs") && ends_with("C:\\a\\b.rs", "a/b.rs") && ends_with("/a/b", "./b"));
        assert!(!ends_with("/srv/src/main.rs", "rc/main.rs") && !ends_with("/b", "a/b") && !ends_with("/b", ""));
    }
}
