//! Paths of files as a reader wants to see them, and ranges of lines.

use crate::Line;
use crate::line::Class;
pub use tooltrail_model::detail::below as within;
use tooltrail_model::detail::inside;
use tooltrail_model::transcript::Story;

/// A path, relative to the call's directory where it lies inside.
pub fn relative<'p>(call: &Story<'_>, path: &'p str) -> &'p str {
    inside(path, call.row.cwd)
}

/// A path as a line, relative to the call's directory where it lies inside.
pub fn line(call: &Story<'_>, path: &str) -> Line {
    Line::of(Class::Path, relative(call, path))
}

/// A title with a range of lines behind it: `src/a.rs:10-20`.
pub fn with_range(title: Line, range: Option<(u64, u64)>) -> Line {
    match range {
        Some((from, to)) if from == to => title.with(Class::Dim, &format!(":{from}")),
        // Open-ended: up to the end of the file.
        Some((from, u64::MAX)) => title.with(Class::Dim, &format!(":{from}-")),
        Some((from, to)) => title.with(Class::Dim, &format!(":{from}-{to}")),
        None => title,
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
