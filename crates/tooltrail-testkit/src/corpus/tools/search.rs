//! Searching names and contents.

use super::{PlannedCall, ToolReply, ToolScene};
use crate::corpus::pool::BREAK;
use crate::json::{list, quoted, text_of};

pub(super) fn grep(scene: &mut ToolScene<'_>) -> PlannedCall {
    let pattern = scene.pool.words.name(scene.rng);
    let found = paths(scene);
    let input = text_of(|o| {
        o.text("pattern", &pattern).text("path", scene.cwd).text("output_mode", "files_with_matches");
    });
    let structured = text_of(|o| {
        o.text("mode", "files_with_matches").raw("filenames", &list(found.iter().map(|path| quoted(path)))).number("numFiles", found.len());
    });
    let content = if found.is_empty() {
        quoted("No files found")
    } else {
        quoted(&format!("Found {} files{BREAK}{}", found.len(), found.join(BREAK)))
    };
    PlannedCall::new("Grep", input, ToolReply::ok(content, structured))
}

pub(super) fn glob(scene: &mut ToolScene<'_>) -> PlannedCall {
    let found = paths(scene);
    let input = text_of(|o| {
        o.text("pattern", "**/*.rs").text("path", scene.cwd);
    });
    let duration = scene.rng.between(3, 400);
    let structured = text_of(|o| {
        o.raw("filenames", &list(found.iter().map(|path| quoted(path))))
            .number("durationMs", duration)
            .number("numFiles", found.len())
            .flag("truncated", false);
    });
    PlannedCall::new("Glob", input, ToolReply::ok(quoted(&found.join(BREAK)), structured))
}

fn paths<'p>(scene: &mut ToolScene<'p>) -> Vec<&'p str> {
    // Most searches find several files, some none.
    (0..scene.rng.run(0.93)).map(|_| scene.pool.file(scene.rng).path.as_str()).collect()
}
