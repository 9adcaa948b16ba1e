//! Paths of files as a reader wants to see them, and ranges of lines.

use crate::Line;
use crate::line::Class;
use tooltrail_model::transcript::Story;

/// A path, relative to the call's directory where it lies inside.
pub fn relative<'p>(call: &Story<'_>, path: &'p str) -> &'p str {
    call.row.cwd.and_then(|cwd| within(cwd, path)).unwrap_or(path)
}

/// The rest of a path that is inside of a directory.
pub fn within<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder.is_empty() {
        return None;
    }
    // Both separators, because logs come from any system; the second strip keeps `/srv/app` from matching `/srv/apple`.
    let rest = path.strip_prefix(folder.trim_end_matches(['/', '\\']))?.strip_prefix(['/', '\\'])?;
    Some(rest).filter(|rest| !rest.is_empty())
}

/// A relative path as a line.
pub fn line(call: &Story<'_>, path: &str) -> Line {
    Line::of(Class::Path, relative(call, path))
}

/// A relative path as a title, which says so where there is no path.
pub fn title(call: &Story<'_>, path: &str) -> Line {
    if path.is_empty() { Line::of(Class::Dim, "no path given") } else { line(call, path) }
}

/// A relative path with a range of lines: `src/a.rs:10-20`.
pub fn range(call: &Story<'_>, path: &str, range: Option<(u64, u64)>) -> Line {
    let line = title(call, path);
    match range {
        Some((from, to)) if from == to => line.with(Class::Dim, &format!(":{from}")),
        // Open-ended: up to the end of the file.
        Some((from, u64::MAX)) => line.with(Class::Dim, &format!(":{from}-")),
        Some((from, to)) => line.with(Class::Dim, &format!(":{from}-{to}")),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::story;
    use tooltrail_model::detail::Detail;
    use tooltrail_model::{Kind, Status};

    #[test]
    fn paths_are_relative_inside_only() {
        let mut call = story("Read", Kind::Read, Status::Succeeded, Detail::Other);
        let known = [("/srv/app/src/a.rs", "src/a.rs"), ("/srv/apple/a.rs", "/srv/apple/a.rs"), ("/srv/app", "/srv/app"), ("a.rs", "a.rs")];
        for (path, shown) in known {
            assert_eq!(relative(&call, path), shown);
        }
        call.row.cwd = Some("C:\\app");
        assert_eq!(relative(&call, "C:\\app\\src\\a.rs"), "src\\a.rs");
        call.row.cwd = Some("/");
        assert_eq!(relative(&call, "/etc/hosts"), "etc/hosts");
        call.row.cwd = None;
        assert_eq!(relative(&call, "/etc/hosts"), "/etc/hosts");
    }
}
