//! Paths in patches: relative to the project, and never anywhere else.
//!
//! A log may be anybody's, and `patch -p1` writes wherever a patch says. So a patch names only files inside the project, found by their
//! paths alone, and none that belongs to Git, in whose directory a file may be a program that the next command runs.

use super::unified::{is_windows, splits};

/// The reason why a patch leaves a file out; `None` where it may name it.
pub fn left_out(path: &str, directory: Option<&str>) -> Option<&'static str> {
    let Some(names) = resolved(path, directory) else { return Some("outside of the session's directory") };
    // A backslash is part of a name here, and a separator where the patch may be applied.
    let mut parts = names.iter().flat_map(|name| name.split('\\'));
    match names.is_empty() || parts.clone().any(|part| part == "..") {
        true => Some("outside of the session's directory"),
        false => parts.any(is_git).then_some("inside of Git's own directory"),
    }
}

/// Path of a file in a patch: relative to a directory where it is inside, otherwise without its root.
pub fn relative(path: &str, directory: Option<&str>) -> String {
    let names = resolved(path, directory).unwrap_or_else(|| steps(path, splits(path, directory)).0);
    // `C:` is not a name.
    let names = names.into_iter().map(|name| name.strip_suffix(':').unwrap_or(name));
    names.collect::<Vec<_>>().join("/")
}

/// The names that lead from a directory to a path inside it, without `.` and `..`; `None` where it is outside. Where no directory is
/// known, every absolute path counts as inside of its root.
fn resolved<'p>(path: &'p str, directory: Option<&str>) -> Option<Vec<&'p str>> {
    let splits = splits(path, directory);
    let (names, leaves) = steps(path, splits);
    let Some(directory) = directory.filter(|directory| is_absolute(directory) && is_absolute(path)) else {
        let elsewhere = leaves || directory.is_some() && is_absolute(path);
        return (!elsewhere).then_some(names);
    };
    let base = steps(directory, splits).0;
    // Windows does not tell upper from lower case.
    let same = |one: &str, other: &str| one == other || is_windows(directory) && one.eq_ignore_ascii_case(other);
    let inside = names.len() >= base.len() && base.iter().zip(&names).all(|(one, other)| same(one, other));
    inside.then(|| names[base.len()..].to_vec())
}

/// The names of a path, each `..` applied, and whether it leaves where it began. The root is its own parent.
fn steps(path: &str, splits: fn(char) -> bool) -> (Vec<&str>, bool) {
    let (mut names, mut leaves) = (Vec::new(), false);
    for name in path.split(splits) {
        match name {
            "" | "." => {}
            ".." => leaves |= names.pop().is_none() && !is_absolute(path),
            name => names.push(name),
        }
    }
    (names, leaves)
}

/// Whether a path says where it begins: at a root, or in a home directory.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path == "~" || path.starts_with("~/") || is_windows(path)
}

/// Whether some file system takes a name for `.git`: without regard to case, to dots and spaces at the end, to a stream behind a colon,
/// to characters that it ignores, or as a short name.
fn is_git(name: &str) -> bool {
    let ignored =
        |letter: &char| matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(|letter| !ignored(letter)).flat_map(char::to_lowercase).collect();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    let short = name.strip_prefix("git~").is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    name == ".git" || short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_directory() {
        for (path, directory, expected) in [
            ("/srv/app/src/a.rs", Some("/srv/app/"), "src/a.rs"),
            ("/srv/app/sub/../a.rs", Some("/srv/app"), "a.rs"),
            ("/srv/x/../app/./a.rs", Some("/srv/app"), "a.rs"),
            ("/srv/apple/a.rs", Some("/srv/app"), "srv/apple/a.rs"),
            ("src/a.rs", Some("/srv/app"), "src/a.rs"),
            ("../../etc/x", None, "etc/x"),
            ("C:\\w\\a.rs", Some("C:\\w"), "a.rs"),
            ("c:\\W\\a.rs", Some("C:\\w"), "a.rs"),
            ("C:\\w\\a.rs", None, "C/w/a.rs"),
            ("~\\w\\a.rs", Some("~\\w"), "a.rs"),
            ("~/w/a.rs", Some("~/w"), "a.rs"),
            ("/srv/app/q\\t.txt", Some("/srv/app"), "q\\t.txt"),
        ] {
            assert_eq!(relative(path, directory), expected, "{path} in {directory:?}");
        }
    }

    #[test]
    fn files_elsewhere_are_left_out() {
        let app = Some("/srv/app");
        for path in [
            "/etc/passwd",
            "/srv/apple/a.rs",
            "/srv/app/../a.rs",
            "/srv/app/src/../../../etc/passwd",
            "../a.rs",
            "src/../../a.rs",
            "~/.bashrc",
            "C:\\Windows\\x",
            "/srv/app",
            "/srv/app/.",
            "/srv/app/x\\..\\..\\y",
        ] {
            assert_eq!(left_out(path, app), Some("outside of the session's directory"), "{path}");
        }
        assert_eq!(left_out("C:\\w\\..\\a.rs", Some("C:\\w")), Some("outside of the session's directory"));
        assert_eq!(left_out("../a.rs", None), Some("outside of the session's directory"));
        for path in ["/srv/app/a.rs", "/srv/app/x/../a.rs", "a.rs", "./src/a.rs", "/srv/app/..a", "/srv/app/a..b/c"] {
            assert_eq!(left_out(path, app), None, "{path}");
        }
        assert_eq!((left_out("/etc/hosts", None), left_out("C:\\w\\a.rs", None)), (None, None));
    }

    #[test]
    fn files_of_git_are_left_out() {
        for name in [
            ".git/config",
            ".git/hooks/pre-commit",
            "vendor/lib/.git/config",
            ".GIT/config",
            ".Git",
            "x/../.git/config",
            ".git./config",
            ".git /config",
            ".git . /config",
            ".g\u{200c}it/config",
            "\u{feff}.git/config",
            "GIT~1/config",
            ".git::$INDEX_ALLOCATION/config",
            "sub\\.git\\config",
        ] {
            assert_eq!(left_out(&format!("/srv/app/{name}"), Some("/srv/app")), Some("inside of Git's own directory"), "{name:?}");
        }
        for name in [".gitignore", ".github/workflows/x.yml", "git/config", "a.git/config", "git~x", ".gitmodules"] {
            assert_eq!(left_out(&format!("/srv/app/{name}"), Some("/srv/app")), None, "{name}");
        }
        assert_eq!(left_out("C:\\w\\.git\\config", Some("C:\\w")), Some("inside of Git's own directory"));
        assert_eq!(left_out(".git/config", None), Some("inside of Git's own directory"));
    }
}
