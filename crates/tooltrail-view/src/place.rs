//! Places: files as a reader wants to see them, and sizes of what is in them.

use crate::Line;
use crate::line::Class;
use tooltrail_model::transcript::Story;

/// A path, relative to the call's directory where it lies inside.
pub fn relative<'p>(call: &Story<'_>, path: &'p str) -> &'p str {
    let inside = call.row.cwd.filter(|cwd| !cwd.is_empty()).and_then(|cwd| {
        let cwd = cwd.trim_end_matches(['/', '\\']);
        path.strip_prefix(cwd)?.strip_prefix(['/', '\\'])
    });
    inside.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// The same as a line.
pub fn line(call: &Story<'_>, path: &str) -> Line {
    Line::of(Class::Path, relative(call, path))
}

/// The same with a range of lines: `src/a.rs:10-20`.
pub fn range(call: &Story<'_>, path: &str, range: Option<(u64, u64)>) -> Line {
    let line = line(call, path);
    match range {
        Some((from, to)) if from == to => line.with(Class::Dim, &format!(":{from}")),
        // Up to the end, wherever that is.
        Some((from, u64::MAX)) => line.with(Class::Dim, &format!(":{from}-")),
        Some((from, to)) => line.with(Class::Dim, &format!(":{from}-{to}")),
        None => line,
    }
}
