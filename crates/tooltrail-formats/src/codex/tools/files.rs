//! Files: `read_file`, `grep_files`, `list_dir`, which Codex had until spring 2026.

use super::CodexCall;
use tooltrail_model::detail::{Detail, Grep, GrepFile, GrepMode, List, Read, ReadGot};

/// `read_file`: lines come back as `L12: text`.
pub(super) fn read(call: &mut CodexCall<'_>) -> Detail {
    let path = call.input.text(&["file_path", "path"]).unwrap_or_default();
    let (offset, limit) = (call.input.number(&["offset"]), call.input.number(&["limit"]));
    // The text of a failure is no content of the file.
    let got = if !call.ask.answered || failed(call) { ReadGot::Nothing } else { numbered(call.header.body) };
    Detail::Read(Read { path, offset, limit, pages: None, got })
}

/// Lines with numbers; plain words where not all have one.
fn numbered(body: &str) -> ReadGot {
    let mut first = None;
    let mut lines = Vec::new();
    for line in body.lines() {
        let Some((number, text)) = line.strip_prefix('L').and_then(|rest| rest.split_once(':')) else {
            return ReadGot::Words(body.to_owned());
        };
        let Ok(number) = number.parse::<u64>() else { return ReadGot::Words(body.to_owned()) };
        first.get_or_insert(number);
        lines.push(text.strip_prefix(' ').unwrap_or(text));
    }
    match first {
        Some(first) => ReadGot::Text { text: lines.join("\n"), first, total: None },
        None => ReadGot::Words(body.to_owned()),
    }
}

/// `grep_files`: a file on each line.
pub(super) fn grep(call: &mut CodexCall<'_>) -> Detail {
    let pattern = call.input.text(&["pattern"]).unwrap_or_default();
    let (path, glob) = (call.input.text(&["path"]), call.input.text(&["include"]));
    let mut grep = Grep { pattern, path, glob, mode: GrepMode::Files, ..Grep::default() };
    let body = call.header.body.trim_end();
    if !call.ask.answered || failed(call) {
        return Detail::Grep(grep);
    }
    if body.is_empty() || body.starts_with("No matches found") {
        grep.total = Some(0);
    } else if body.starts_with("rg failed") || body.starts_with("rg timed out") {
        grep.words = Some(body.to_owned());
    } else {
        grep.files = body.lines().map(|path| GrepFile { path: path.to_owned(), ..GrepFile::default() }).collect();
        grep.total = Some(grep.files.len() as u64);
    }
    Detail::Grep(grep)
}

/// `list_dir`: `Absolute path: /srv/app`, then an entry on each line, indented by two spaces per directory.
pub(super) fn list(call: &mut CodexCall<'_>) -> Detail {
    let path = call.input.text(&["dir_path", "path"]).unwrap_or_default();
    let mut list = List { path, ..List::default() };
    if failed(call) {
        return Detail::List(list);
    }
    for line in call.header.body.lines() {
        let name = line.trim_start_matches(' ');
        if line.starts_with("Absolute path: ") || name.is_empty() {
            continue;
        }
        if line.starts_with("More than ") && line.ends_with(" entries found") {
            list.words = Some(line.to_owned());
            continue;
        }
        let depth = (line.len() - name.len()) / 2;
        list.entries.push((u32::try_from(depth).unwrap_or(u32::MAX), name.to_owned()));
    }
    Detail::List(list)
}

/// Whether the answer is a message rather than content.
fn failed(call: &CodexCall<'_>) -> bool {
    use tooltrail_model::Status::{Answered, Running, Succeeded, Unanswered};
    !matches!(call.ask.status, Succeeded | Answered | Running | Unanswered)
}
