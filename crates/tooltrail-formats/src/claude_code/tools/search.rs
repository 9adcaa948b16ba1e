//! Looking for files, directories, tools and names: `Glob`, `LS`, `ToolSearch`, `LSP`. Looking for text is `grep`.

use super::super::content::text;
use super::ToolCall;
use super::fields::texts;
use super::grep::names_files;
use serde_json::Value;
use tooltrail_model::content::Content;
use tooltrail_model::detail::{Detail, Glob, List, Lsp, Mcp, ToolSearch};

/// `Glob`: files by name.
pub(super) fn glob(call: &mut ToolCall<'_>) -> Detail {
    let mut glob = Glob { pattern: call.input.string("pattern").unwrap_or_default(), path: call.input.string("path"), ..Glob::default() };
    let produced = &mut call.produced;
    glob.files = produced.texts("filenames");
    let files = produced.number("numFiles");
    // All matches are counted, also where the list has only some of them.
    glob.total = produced.number("totalMatches").or(files);
    glob.truncated = produced.flag("truncated");
    produced.drop(&["durationMs"]);
    if let Some(text) = call.answer().filter(|_| glob.files.is_none()) {
        let lines = text.lines().filter(|line| !line.trim().is_empty() && *line != "No files found");
        let (notes, files): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("(Results are truncated"));
        glob.truncated |= !notes.is_empty();
        // A sentence about what was found is no list of files; it is shown as it is.
        glob.files = (files.is_empty() || names_files(&files)).then(|| files.into_iter().map(str::to_owned).collect());
    }
    Detail::Glob(glob)
}

/// `LS`: a directory, which is printed as a tree.
pub(super) fn list(call: &mut ToolCall<'_>) -> Detail {
    let mut list = List {
        path: call.input.string("path").unwrap_or_default(),
        ignore: call.input.take("ignore", texts).unwrap_or_default(),
        ..List::default()
    };
    let Some(text) = call.answer() else { return Detail::List(list) };
    // The note is for the model.
    let text = text.split("\n\nNOTE: do any of the files above").next().unwrap_or(&text);
    list.entries = text.lines().filter_map(entry).collect();
    // A remark about a directory that is too large comes first.
    let words = text.split("\n- ").next().filter(|words| !words.starts_with("- ")).map(str::trim);
    list.words = words.filter(|words| !words.is_empty()).map(str::to_owned);
    Detail::List(list)
}

/// `    - main.rs`: two spaces for every level.
fn entry(line: &str) -> Option<(u32, String)> {
    let own = line.trim_start_matches(' ');
    let depth = (line.len() - own.len()) / 2;
    Some((u32::try_from(depth).ok()?, own.strip_prefix("- ")?.trim_end().to_owned()))
}

/// `ToolSearch`.
pub(super) fn tools(call: &mut ToolCall<'_>) -> Detail {
    let query = call.input.string("query").unwrap_or_default();
    let produced = &mut call.produced;
    produced.drop(&["query"]);
    let total = produced.number("total_deferred_tools");
    let named = || call.ask.seen.iter().filter_map(|content| if let Content::Tool { name } = content { Some(name.clone()) } else { None });
    let found = produced.texts("matches").unwrap_or_else(|| named().collect());
    Detail::ToolSearch(ToolSearch { query, found, total })
}

/// `LSP`: a language server is asked.
pub(super) fn server(call: &mut ToolCall<'_>) -> Detail {
    let (input, produced) = (&mut call.input, &mut call.produced);
    let path = ["filePath", "file_path"].into_iter().find_map(|key| input.string(key));
    let line = input.number("line");
    let column = input.number("character").or_else(|| input.number("column"));
    let query = ["query", "symbol"].into_iter().find_map(|key| input.string(key));
    let operation = input.string("operation").or_else(|| produced.string("operation")).unwrap_or_default();
    let answer = produced.take("result", spelled);
    let found = produced.number("resultCount");
    let files = produced.number("fileCount");
    produced.drop(&["operation", "filePath"]);
    Detail::Lsp(Lsp {
        operation,
        path,
        position: line.map(|line| (line, column.unwrap_or(1))),
        query,
        answer: answer.or_else(|| call.answer()),
        found: found.map(|found| (found, files)),
    })
}

/// An answer in words, or as an object.
fn spelled(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| serde_json::to_string_pretty(value).ok())
}

/// `ListMcpResourcesTool` and its kin: a server is asked, by a tool of the agent's own.
pub(super) fn resources(call: &mut ToolCall<'_>) -> Detail {
    let server = text(call.ask.input, "server").or(call.ask.server);
    server.map(|server| Detail::Mcp(Mcp { server: server.to_owned(), tool: call.ask.tool.to_owned() })).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_read_by_their_indent() {
        assert_eq!(entry("    - src/"), Some((2, "src/".to_owned())));
        assert_eq!(entry("- /srv/"), Some((0, "/srv/".to_owned())));
        assert_eq!(entry("NOTE"), None);
    }
}
