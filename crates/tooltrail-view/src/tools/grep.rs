//! Text looked for in files.
//!
//! ```text
//! ⌕ Grep   /fn parse/ in src/  -i -C2          9 matches, 4 files   40 ms ✓
//!   src/parser.rs
//!     118  fn parse(text: &str)
//! ```

use super::glob::by_folder;
use super::{ToolView, other, title};
use crate::block::CodeBlock;
use crate::cut::clip;
use crate::head::counted;
use crate::limits::{Elided, ElidedUnit};
use crate::outcome::came;
use crate::pieces::{notice, section};
use crate::texts::sniffed;
use crate::{Block, Class, Head, Limits, Line, place};
use regex::{Regex, RegexBuilder};
use std::ops::Range;
use tooltrail_model::detail::{Detail, Grep, GrepFile, GrepLine, GrepMode};
use tooltrail_model::transcript::{Level, Story};

/// The largest compiled pattern, in bytes. A pattern that needs more marks nothing.
const PATTERN: usize = 1 << 20;

/// The longest line in which matches are marked, in bytes.
const MARKED: usize = 20_000;

/// View of searches in files.
pub(super) struct GrepView;

impl ToolView for GrepView {
    fn name(&self) -> &'static str {
        "grep"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Grep(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Grep(grep) = &call.told.detail else { return Head::default() };
        // An unparsed result has no numbers that could be trusted.
        let facts = if came(call) && grep.words.is_none() { facts(grep) } else { Vec::new() };
        Head { icon: "⌕", name: call.row.tool.into(), title: title(call), facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Grep(grep) = &call.told.detail else { return Vec::new() };
        // A result in a form that is not understood is shown as it came.
        if let Some(words) = &grep.words {
            return vec![sniffed(words, limits)];
        }
        if grep.files.is_empty() {
            let nothing = came(call) && grep.total == Some(0);
            return if nothing { vec![notice(Level::Info, "No matches.")] } else { other::output(call, limits) };
        }
        let mut body = match grep.mode {
            GrepMode::Content => found(call, grep, limits),
            GrepMode::Files => vec![by_folder(call, &paths(&grep.files), limits)],
            GrepMode::Count => vec![counts(call, &grep.files, limits)],
        };
        body.extend(grep.truncated.then(|| notice(Level::Info, "The tool returned only some of the matches.")));
        body
    }
}

fn facts(grep: &Grep) -> Vec<Line> {
    let named = grep.files.len() as u64;
    // The log's own numbers count where the result shows less; a search for lines often leaves its number of files at 0.
    let files = counted(grep.in_files.unwrap_or(0).max(named), "file");
    let unshown = grep.lines.filter(|_| grep.mode == GrepMode::Content);
    // Lines of context are not matches.
    let lines = grep.files.iter().flat_map(|file| &file.lines).filter(|line| line.matches).count() as u64;
    let counts = grep.files.iter().filter_map(|file| file.count).sum();
    let fact = match grep.mode {
        GrepMode::Files => counted(grep.total.unwrap_or(named), "file"),
        _ if grep.files.is_empty() && grep.total.is_none() => return Vec::new(),
        // A total that comes with lines also counts the lines around matches.
        GrepMode::Content => format!("{}, {files}", counted(if lines > 0 { lines } else { grep.total.unwrap_or(0) }, "match")),
        GrepMode::Count => format!("{}, {files}", counted(grep.total.unwrap_or(counts), "match")),
    };
    std::iter::once(fact).chain(unshown.map(|lines| counted(lines, "line"))).map(Line::from).collect()
}

fn paths(files: &[GrepFile]) -> Vec<String> {
    files.iter().map(|file| file.path.clone()).collect()
}

/// Matching lines by file; files past the limit by name only.
fn found(call: &Story<'_>, grep: &Grep, limits: &Limits) -> Vec<Block> {
    let marks = pattern(grep);
    // One limit for all files together: a search may match in thousands.
    let mut space = limits.lines;
    let mut body = Vec::new();
    for (place, file) in grep.files.iter().enumerate() {
        if space == 0 {
            let rest = paths(grep.files.get(place..).unwrap_or_default());
            let label = format!("{} more", counted(rest.len() as u64, "file"));
            body.push(section(label, false, vec![by_folder(call, &rest, limits)]));
            break;
        }
        let code = lines(file, marks.as_ref(), &Limits { lines: space, ..*limits });
        space -= code.lines.len().min(space);
        let code = vec![Block::Code(code)];
        // A search in a single file does not repeat its path in the result.
        let path = if file.path.is_empty() { grep.path.as_deref().unwrap_or_default() } else { &file.path };
        if path.is_empty() { body.extend(code) } else { body.push(section(place::line(call, path), true, code)) }
    }
    body
}

/// Lines of one file, with their numbers in front and a sign where some are left out.
fn lines(file: &GrepFile, marks: Option<&Regex>, limits: &Limits) -> CodeBlock {
    let width = file.lines.iter().filter_map(|line| line.number).max().map_or(0, |number| number.to_string().len());
    let mut lines = Vec::new();
    let (mut before, mut shown, mut bytes) = (None, 0, 0);
    for line in &file.lines {
        if lines.len() >= limits.lines || bytes >= limits.bytes {
            break;
        }
        // Numbers that are not consecutive show that the tool left out lines between.
        let gap = before.zip(line.number).is_some_and(|(before, number): (u64, u64)| number != before.saturating_add(1));
        if gap {
            lines.push(Line::of(Class::Dim, "⋯"));
        }
        before = line.number;
        let line = clip(&marked(line, width, marks), limits.bytes);
        bytes += line.runs().iter().map(|run| run.text().len()).sum::<usize>();
        lines.push(line);
        shown += 1;
    }
    let total = file.lines.len() as u64;
    CodeBlock {
        lines,
        elided: (shown < total).then_some(Elided { shown, total, unit: ElidedUnit::Lines, kept: true }),
        ..CodeBlock::default()
    }
}

/// A line with its number, and what was looked for marked in it.
fn marked(line: &GrepLine, width: usize, marks: Option<&Regex>) -> Line {
    let number = match (width, line.number) {
        (0, _) => String::new(),
        (_, Some(number)) => format!("{number:>width$}  "),
        (_, None) => " ".repeat(width + 2),
    };
    let mut out = Line::of(Class::Dim, &number);
    let text = line.text.as_str();
    let plain = if line.matches { Class::Plain } else { Class::Dim };
    let mut at = 0;
    // Only lines that the tool reports as matching: our pattern may match where its own did not.
    for found in marks.filter(|_| line.matches && text.len() <= MARKED).map(|marks| matches(marks, text)).unwrap_or_default() {
        out.push(plain, text.get(at..found.start).unwrap_or_default());
        out.push(Class::Match, text.get(found.clone()).unwrap_or_default());
        at = found.end;
    }
    out.push(plain, text.get(at..).unwrap_or_default());
    out
}

/// Ranges that match; adjacent matches are merged.
fn matches(marks: &Regex, text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for next in marks.find_iter(text).map(|next| next.range()).filter(|next| !next.is_empty()) {
        match found.last_mut() {
            Some(last) if last.end == next.start => last.end = next.end,
            _ => found.push(next),
        }
    }
    found
}

/// The pattern, if this regex engine accepts it. Other tools have other syntaxes; then nothing is marked.
fn pattern(grep: &Grep) -> Option<Regex> {
    // Short flags may be combined, as in `-in`.
    let has = |letter: char, long: &str| {
        grep.flags.iter().any(|flag| {
            let short = flag.strip_prefix('-').filter(|letters| letters.chars().all(char::is_alphabetic));
            flag == long || short.is_some_and(|letters| letters.contains(letter))
        })
    };
    let text = if has('F', "--fixed-strings") { regex::escape(&grep.pattern) } else { grep.pattern.clone() };
    let mut builder = RegexBuilder::new(&text);
    // The pattern comes from a log, so its cost is bounded in every way the builder offers.
    builder.case_insensitive(has('i', "--ignore-case")).size_limit(PATTERN).dfa_size_limit(PATTERN).nest_limit(100);
    builder.build().ok()
}

fn counts(call: &Story<'_>, files: &[GrepFile], limits: &Limits) -> Block {
    let row = |file: &GrepFile| vec![place::line(call, &file.path), file.count.map(crate::head::count).unwrap_or_default().into()];
    let rows: Vec<Vec<Line>> = files.iter().take(limits.lines).map(row).collect();
    let (shown, total) = (rows.len() as u64, files.len() as u64);
    let elided = (shown < total).then_some(Elided { shown, total, unit: ElidedUnit::Items, kept: true });
    Block::Table { head: vec!["file".into(), "matches".into()], rows, elided }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, story, text_of, worked};
    use tooltrail_model::{Kind, Status};

    fn line(number: u64, text: &str, matches: bool) -> GrepLine {
        GrepLine { number: Some(number), text: text.into(), matches }
    }

    fn search(pattern: &str, flags: &[&str]) -> Grep {
        let lines = vec![line(9, "// about", false), line(10, "fn Parse(parse)", true), line(120, "parse()", true)];
        Grep {
            pattern: pattern.into(),
            path: Some("src".into()),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
            mode: GrepMode::Content,
            files: vec![GrepFile { path: "/srv/app/src/a.rs".into(), lines, count: None }],
            ..Grep::default()
        }
    }

    fn marks(search: Grep) -> Vec<String> {
        let call = worked("Grep", Kind::Search, Detail::Grep(search));
        let body = GrepView.body(&call, &Limits::PAGE);
        let Some(Block::Section { body, .. }) = body.first() else { panic!("{body:?}") };
        let [Block::Code(code)] = body.as_slice() else { panic!("{body:?}") };
        let runs = code.lines.iter().flat_map(Line::runs).filter(|run| run.class == Class::Match);
        runs.map(|run| run.text().to_owned()).collect()
    }

    #[test]
    fn lines_are_grouped_by_file_and_matches_marked() {
        let call = worked("Grep", Kind::Search, Detail::Grep(search("parse", &["-i"])));
        let head = GrepView.head(&call);
        assert_eq!((head.title.text().as_str(), facts(&head.facts)), ("/parse/ in src  -i", vec!["2 matches, 1 file".to_owned()]));
        let text = text_of(&GrepView.body(&call, &Limits::PAGE));
        assert_eq!(text, "src/a.rs\n  9  // about\n 10  fn Parse(parse)\n⋯\n120  parse()\n");
        assert_eq!(marks(search("parse", &["-i"])), ["Parse", "parse", "parse"]);
        assert_eq!(marks(search("parse", &[])), ["parse", "parse"]);
        assert_eq!(marks(search("parse(", &["-F"])), ["parse("]);
    }

    #[test]
    fn patterns_that_cannot_be_used_mark_nothing() {
        assert!(marks(search("parse(", &[])).is_empty());
        assert!(marks(search("(a{1000}){1000}", &[])).is_empty());
        // Empty matches would mark nothing anyway, but could loop.
        assert!(marks(search("x*", &[])).is_empty());
    }

    #[test]
    fn files_past_the_limit_keep_their_names() {
        let mut search = search("parse", &[]);
        search.files.push(GrepFile { path: "/srv/app/b.rs".into(), lines: vec![line(1, "parse", true)], count: None });
        let call = worked("Grep", Kind::Search, Detail::Grep(search));
        let text = text_of(&GrepView.body(&call, &Limits { lines: 2, ..Limits::PAGE }));
        assert!(text.contains("1 file more\nb.rs"), "{text}");
    }

    #[test]
    fn counts_files_and_words_are_shown() {
        let counted =
            Grep { mode: GrepMode::Count, files: vec![GrepFile { path: "a".into(), count: Some(3), lines: vec![] }], ..search("x", &[]) };
        let call = worked("Grep", Kind::Search, Detail::Grep(counted));
        assert_eq!(
            (facts(&GrepView.head(&call).facts), text_of(&GrepView.body(&call, &Limits::PAGE))),
            (vec!["3 matches, 1 file".into()], "a\n3\n".into())
        );
        let words = Grep { words: Some("odd answer".into()), ..search("x", &[]) };
        let call = worked("Grep", Kind::Search, Detail::Grep(words.clone()));
        assert_eq!(text_of(&GrepView.body(&call, &Limits::PAGE)), "odd answer\n");
        assert!(GrepView.head(&story("Grep", Kind::Search, Status::Failed, Detail::Grep(search("x", &[])))).facts.is_empty());
    }
}
