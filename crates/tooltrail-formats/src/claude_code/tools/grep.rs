//! Looking for text in files: `Grep`, whose answer is what ripgrep prints.

use super::ToolCall;
use super::fields::FieldTaker;
use serde_json::Value;
use std::collections::HashSet;
use tooltrail_model::detail::{Detail, Grep, GrepFile, GrepLine, GrepMode};

/// Options that ripgrep has under the same names, and whether they take a number.
const FLAGS: &[(&str, bool)] = &[("-i", false), ("-n", false), ("-o", false), ("-A", true), ("-B", true), ("-C", true), ("context", true)];

/// `Grep`.
pub(super) fn read(call: &mut ToolCall<'_>) -> Detail {
    let input = &mut call.input;
    let mut grep = Grep {
        pattern: input.string("pattern").unwrap_or_default(),
        path: input.string("path"),
        glob: input.string("glob").or_else(|| input.string("include")),
        file_type: input.string("type"),
        flags: flags(input),
        mode: input.text("output_mode").and_then(mode).unwrap_or_default(),
        ..Grep::default()
    };
    let produced = &mut call.produced;
    let said = produced.text("mode").and_then(mode);
    // The answer says which mode was used, also where none was asked for.
    grep.mode = said.unwrap_or(grep.mode);
    let files = produced.texts("filenames").unwrap_or_default();
    let content = produced.string("content");
    let (in_files, matches, lines) = (produced.number("numFiles"), produced.number("numMatches"), produced.number("numLines"));
    // The limit itself is left over, to be shown.
    grep.truncated = produced.peek("appliedLimit").is_some() || produced.peek("timedOut") == Some(&Value::Bool(true));
    let answer = call.answer();
    grep.in_files = in_files;
    // Separators count as lines; only a number beyond all of them says that there were more.
    grep.lines = lines.filter(|&lines| content.as_ref().is_none_or(|text| lines > text.lines().count() as u64));
    let found = match (grep.mode, call.produced.exist()) {
        (GrepMode::Files, true) => Some(files.join("\n")),
        (_, true) => content,
        (_, false) => answer,
    };
    let listed = call.produced.exist();
    if let Some(text) = found {
        grep.total = match grep.mode {
            GrepMode::Files => in_files,
            GrepMode::Count => matches,
            GrepMode::Content => lines,
        };
        // A sentence about what was found is no list of files.
        if grep.mode == GrepMode::Files && !listed && !text.is_empty() && !names_files(&text.lines().collect::<Vec<_>>()) {
            let said = text.lines().all(|line| line.trim().is_empty() || own(line, &mut grep));
            grep.words = (!said).then_some(text);
        } else {
            sort(&text, &mut grep);
        }
    }
    Detail::Grep(grep)
}

/// The mode of a search, by its word.
fn mode(word: &str) -> Option<GrepMode> {
    match word {
        "content" => Some(GrepMode::Content),
        "files_with_matches" => Some(GrepMode::Files),
        "count" => Some(GrepMode::Count),
        _ => None,
    }
}

/// Options as they are written on a command line.
fn flags(input: &mut FieldTaker<'_>) -> Vec<String> {
    let mut out = Vec::new();
    for &(flag, counted) in FLAGS {
        let shown = if flag == "context" { "-C" } else { flag };
        if counted {
            out.extend(input.number(flag).map(|number| format!("{shown}{number}")));
        } else if input.flag(flag) {
            out.push(shown.to_owned());
        }
    }
    if input.flag("multiline") {
        out.push("--multiline".to_owned());
    }
    out
}

/// Sorts an answer by files, and takes the program's remarks out of it.
fn sort(text: &str, grep: &mut Grep) {
    let lines: Vec<&str> = text.lines().filter(|line| !own(line, grep)).collect();
    if lines.iter().all(|line| line.trim().is_empty()) {
        return;
    }
    match grep.mode {
        GrepMode::Files => {
            let named = lines.iter().filter(|line| !line.trim().is_empty());
            grep.files = named.map(|path| GrepFile { path: (*path).to_owned(), ..GrepFile::default() }).collect();
        }
        GrepMode::Count => {
            let counted = lines.iter().filter_map(|line| {
                // From the right: a path may contain a colon.
                let (path, count) = line.rsplit_once(':')?;
                Some(GrepFile { path: path.to_owned(), count: Some(count.trim().parse().ok()?), lines: Vec::new() })
            });
            grep.files = counted.collect();
        }
        GrepMode::Content => grep.files = by_file(&lines, grep.path.as_deref()),
    }
    // Words that fit no mode are shown as they are rather than dropped.
    if grep.files.is_empty() {
        grep.words = Some(text.to_owned());
    }
}

/// Whether lines name files: at least one has a separator, an ending, or no space.
pub(super) fn names_files(lines: &[&str]) -> bool {
    let ending =
        |word: &str| word.rsplit_once('.').is_some_and(|(_, ending)| !ending.is_empty() && ending.chars().all(char::is_alphanumeric));
    let named = |line: &&str| line.contains(['/', '\\']) || !line.trim().contains(' ') || line.split(' ').next_back().is_some_and(ending);
    lines.iter().filter(|line| !line.trim().is_empty()).any(named)
}

/// Whether a line is the program's remark about the lines that were found.
fn own(line: &str, grep: &mut Grep) -> bool {
    let numbers = |line: &str| line.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty()).and_then(|n| n.parse().ok());
    if matches!(line, "No matches found" | "No files found") {
        // Only where the structured result has no number.
        grep.total.get_or_insert(0);
        return true;
    }
    let found = line.starts_with("Found ")
        && (line.ends_with(" file") || line.ends_with(" files") || line.ends_with(" files.") || line.ends_with(" file."));
    if found || (line.starts_with("Found ") && line.contains(" total occurrence")) {
        grep.total = grep.total.or_else(|| numbers(line));
        return true;
    }
    if line.starts_with("[Showing results with pagination") || line.starts_with("(Results are truncated") {
        grep.truncated = true;
        return true;
    }
    false
}

/// A line of ripgrep's output, as far as it can be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PrintedLine<'t> {
    path: &'t str,
    number: Option<u64>,
    text: &'t str,
    matches: bool,
}

/// Lines by the files they are in: `path:12:text`, `path-12-text` for context, without the path where one file was searched.
fn by_file(lines: &[&str], searched: Option<&str>) -> Vec<GrepFile> {
    let spoken = || lines.iter().copied().filter(|line| *line != "--");
    // The first line decides: ripgrep prints all lines alike.
    let single = spoken().next().is_some_and(|line| bare(line).is_some());
    let numbered = !single && spoken().any(|line| splits(line, ':').next().is_some());
    let known: HashSet<&str> = if numbered { paths(spoken()) } else { HashSet::new() };
    // Without numbers `a: b` may be a path and a match, or a line; a searched file settles it.
    let one_file = searched.is_some_and(|path| std::path::Path::new(path).extension().is_some());
    let mut out: Vec<GrepFile> = Vec::new();
    for line in spoken() {
        let last = out.last().map(|file| file.path.clone()).unwrap_or_default();
        let plain = PrintedLine { path: &last, number: None, text: line, matches: true };
        let found = match (single, numbered) {
            (true, _) => bare(line).unwrap_or(plain),
            (_, true) => apart(line, &known).unwrap_or(PrintedLine { matches: false, ..plain }),
            _ if one_file => plain,
            _ => unnumbered(line).unwrap_or(plain),
        };
        let line = GrepLine { number: found.number, text: found.text.to_owned(), matches: found.matches };
        match out.last_mut().filter(|file| file.path == found.path) {
            Some(file) => file.lines.push(line),
            None => out.push(GrepFile { path: found.path.to_owned(), count: None, lines: vec![line] }),
        }
    }
    out
}

/// `12:text` or `12-text`.
fn bare(line: &str) -> Option<PrintedLine<'_>> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let number = number.parse().ok()?;
    let text = rest.strip_prefix(':').map(|text| (text, true)).or_else(|| Some((rest.strip_prefix('-')?, false)));
    text.map(|(text, matches)| PrintedLine { path: "", number: Some(number), text, matches })
}

/// The longest path that is believed; a mark further on is part of the text.
const LONGEST_PATH: usize = 4096;

/// Every `:12:` of a line, or `-12-`: what stands before it, the number, and what stands behind it.
fn splits(line: &str, mark: char) -> impl Iterator<Item = (&str, u64, &str)> {
    let marks = line.match_indices(mark).take_while(|(at, _)| *at <= LONGEST_PATH).filter(|(at, _)| *at > 0);
    marks.filter_map(move |(at, _)| {
        let rest = line.get(at + 1..)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        Some((line.get(..at)?, number.parse().ok()?, rest.strip_prefix(mark)?))
    })
}

/// The paths of lines that match. Where a line around could be taken for one, a path that is certain decides.
fn paths<'t>(lines: impl Iterator<Item = &'t str> + Clone) -> HashSet<&'t str> {
    let matching = || lines.clone().filter_map(|line| splits(line, ':').next()).map(|(path, _, _)| path);
    // A path that does not look like a context line itself is certain.
    let certain: HashSet<&str> = matching().filter(|path| splits(path, '-').next().is_none()).collect();
    let around = |path: &str| splits(path, '-').any(|(path, _, _)| certain.contains(path));
    matching().filter(|path| !around(path)).collect()
}

/// A numbered line. The text of a context line may look like a match, and a path like a context line: known paths decide.
fn apart<'t>(line: &'t str, known: &HashSet<&str>) -> Option<PrintedLine<'t>> {
    let found = |matches| move |(path, number, text)| PrintedLine { path, number: Some(number), text, matches };
    let matching = splits(line, ':').next().map(found(true));
    let around = || splits(line, '-').map(found(false));
    let known = |found: &PrintedLine<'_>| known.contains(found.path);
    matching.filter(known).or_else(|| around().find(known)).or(matching).or_else(|| around().next())
}

/// `path:text`. The colon of a drive is part of the path.
fn unnumbered(line: &str) -> Option<PrintedLine<'_>> {
    let drive = line.as_bytes().get(1) == Some(&b':') && matches!(line.as_bytes().get(2), Some(b'\\' | b'/'));
    let skip = if drive { 2 } else { 0 };
    let at = line.get(skip..)?.find(':')? + skip;
    Some(PrintedLine { path: line.get(..at)?, number: None, text: line.get(at + 1..)?, matches: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files as `path: number text`, matches marked by `*`.
    fn call(text: &str, searched: Option<&str>) -> Vec<String> {
        let lines: Vec<&str> = text.lines().collect();
        let files = by_file(&lines, searched);
        let line = |line: &GrepLine| format!("{}{}|{}", if line.matches { "*" } else { "" }, line.number.unwrap_or(0), line.text);
        files.iter().map(|file| format!("{} {}", file.path, file.lines.iter().map(line).collect::<Vec<_>>().join(" "))).collect()
    }

    #[test]
    fn sentences_are_no_files() {
        for lines in [&["Found 15 TODOs"][..], &["Nothing here.", "Try again"]] {
            assert!(!names_files(lines), "{lines:?}");
        }
        for lines in [&["README"][..], &["src/a b"], &["my notes.md"], &["C:\\a b"], &["Two files:", "a.rs"]] {
            assert!(names_files(lines), "{lines:?}");
        }
    }

    #[test]
    fn lines_are_sorted_by_file() {
        let text = "a-1-b.rs-2-let x = 1;\na-1-b.rs:3:fn f()\na-1-b.rs-4-see c.rs:9:x\n--\nC:\\d.rs:7:y: 8";
        let text = text.replace("a-1-b.rs", "src/a.rs");
        assert_eq!(call(&text, None), ["src/a.rs 2|let x = 1; *3|fn f() 4|see c.rs:9:x", "C:\\d.rs *7|y: 8"]);
        assert_eq!(call("3:fn f()\n4-  x-5-y\n--\n9:z", None), [" *3|fn f() 4|  x-5-y *9|z"]);
        assert_eq!(call("src/a.rs:use std;\nC:\\b.rs:x:y", None), ["src/a.rs *0|use std;", "C:\\b.rs *0|x:y"]);
        assert_eq!(call("use std::a;", Some("src/a.rs")), [" *0|use std::a;"]);
        assert_eq!(call("log-2024-x.md:3:hit\nlog-2024-x.md-4-near", None), ["log-2024-x.md *3|hit 4|near"]);
    }
}
