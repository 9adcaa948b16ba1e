//! The two versions of a result side by side: the text that the model saw, the tool's output, and their difference.

use crate::diff::{self, LineCounts};
use crate::texts::{code, content};
use crate::{Block, Limits, Line, seen};
use tooltrail_model::content::{Content, words};
use tooltrail_model::detail::Detail;
use tooltrail_model::patch::Hunk;
use tooltrail_model::transcript::Story;

pub use crate::seen::Relation;

/// Longest texts that are compared line by line.
const LONGEST: usize = 2 << 20;

/// Longest text that is shown directly.
const SHORT: usize = 200;

/// The text that the model saw, and its relation to the tool's output.
#[derive(Clone, Debug)]
pub struct Truths {
    /// Relation of the two.
    pub relation: Relation,
    /// Exact content that the model saw.
    pub seen: Vec<Block>,
    /// The seen text, if it is no more than a few words.
    pub words: Option<Line>,
    /// Size of the seen content in bytes.
    pub seen_bytes: u64,
    /// Size of the output in bytes, as far as it is text.
    pub produced_bytes: Option<u64>,
    /// Lines that only one of them has: removed lines were not seen, added ones were added for the model.
    pub difference: Option<(LineCounts, Block)>,
}

/// Both versions; `None` where there is no result.
pub fn of(call: &Story<'_>, limits: &Limits) -> Option<Truths> {
    let answer = call.answer.as_ref()?;
    let saved = call.side.as_ref().and_then(|side| side.text.as_deref().ok());
    let relation = seen::relation(call, saved)?;
    let text = words(&answer.seen);
    let produced = saved.map(str::to_owned).or_else(|| produced(call));
    // Only then is a line-by-line comparison worth its time.
    let apart = matches!(relation, Relation::Differs | Relation::Added);
    let compared = produced.as_deref().filter(|produced| apart && produced.len().max(text.len()) <= LONGEST);
    let hunks = compared.map(|produced| hunks(produced, &text));
    // The estimate may call equal texts different; the comparison has the last word.
    let relation = if hunks.as_ref().is_some_and(Vec::is_empty) { Relation::Same } else { relation };
    let difference = hunks.filter(|hunks| !hunks.is_empty());
    let difference = difference.map(|hunks| (LineCounts::of(&hunks), Block::Diff(diff::block(&hunks, limits))));
    let whole = call.side.as_ref().map(|side| side.bytes).filter(|bytes| *bytes > 0);
    Some(Truths {
        relation,
        seen: answer.seen.iter().flat_map(|piece| exactly(piece, limits)).collect(),
        words: few(&text),
        seen_bytes: answer.seen.iter().map(weight).sum(),
        produced_bytes: whole.or(produced.map(|text| text.len() as u64)),
        difference,
    })
}

/// Content as it is: a text is not taken for JSON or Markdown.
fn exactly(piece: &Content, limits: &Limits) -> Vec<Block> {
    match piece {
        Content::Text { text } if text.trim().is_empty() => Vec::new(),
        Content::Text { text } => vec![code(text, limits)],
        other => content(std::slice::from_ref(other), limits),
    }
}

/// A text that fits into a line.
fn few(text: &str) -> Option<Line> {
    let text = text.trim();
    (text.len() <= SHORT && !text.contains('\n') && !text.is_empty()).then(|| Line::from(text))
}

/// Size of a part of the content in bytes.
fn weight(content: &Content) -> u64 {
    match content {
        Content::Text { text } => text.len() as u64,
        Content::Image(image) => image.bytes.or(image.data.as_ref().map(|data| data.len() as u64 / 4 * 3)).unwrap_or(0),
        Content::Document { bytes, .. } => *bytes,
        Content::Tool { name } => name.len() as u64,
        Content::Other { value } => value.to_string().len() as u64,
    }
}

/// The tool's output, where it is a single text.
fn produced(call: &Story<'_>) -> Option<String> {
    if let Detail::Shell(shell) = &call.told.detail {
        let printed: Vec<&str> = [&shell.stdout, &shell.stderr].into_iter().flatten().map(|text| text.trim_end_matches('\n')).collect();
        let printed: Vec<&str> = printed.into_iter().filter(|text| !text.is_empty()).collect();
        return (shell.stdout.is_some() || shell.stderr.is_some()).then(|| printed.join("\n"));
    }
    let mut texts = Vec::new();
    seen::strings(call.answer.as_ref()?.produced.as_ref()?, &mut texts);
    let mut asked = Vec::new();
    seen::strings(&call.input, &mut asked);
    texts.retain(|text| !asked.contains(text) && !text.trim().is_empty());
    // Short texts beside a long one describe it; where there are many, the output is not a single text.
    let all: usize = texts.iter().map(|text| text.len()).sum();
    let main = texts.into_iter().max_by_key(|text| text.len()).unwrap_or_default();
    (main.len() >= all / 5 * 4).then(|| main.to_owned())
}

/// Differences of two texts.
fn hunks(produced: &str, seen: &str) -> Vec<Hunk> {
    // Numbers are removed from the seen text only: a file may itself contain numbered lines.
    let plain = if unnumbered(produced) == produced { unnumbered(seen) } else { seen.to_owned() };
    diff::from_texts(produced.trim_end_matches('\n'), plain.trim_end_matches('\n'), None)
}

/// A text without the line numbers that an agent adds to the lines of a file.
fn unnumbered(text: &str) -> String {
    let bare = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
        let numbered = rest.len() < line.trim_start().len();
        rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')).filter(|_| numbered).map(str::to_owned)
    };
    let lines: Vec<&str> = text.lines().collect();
    let numbered = lines.iter().filter(|line| bare(line).is_some()).count();
    // Only if most lines are numbered; otherwise numbers are part of the text.
    if numbered * 2 <= lines.len() {
        return text.to_owned();
    }
    lines.iter().map(|line| bare(line).unwrap_or_else(|| (*line).to_owned())).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story, text_of};
    use serde_json::json;
    use tooltrail_model::detail::Shell;
    use tooltrail_model::{Kind, Status};

    fn shell(seen: &str, stdout: &str) -> Story<'static> {
        let detail = Detail::Shell(Shell { command: "make".into(), stdout: Some(stdout.into()), ..Shell::default() });
        let mut call = answered(story("Bash", Kind::Shell, Status::Succeeded, detail), seen);
        if let Some(answer) = &mut call.answer {
            answer.produced = Some(json!({"stdout": stdout, "stderr": ""}));
        }
        call
    }

    #[test]
    fn the_same_text_is_said_to_be_the_same() {
        let truths = of(&shell("one\ntwo", "one\ntwo\n"), &Limits::PAGE).unwrap();
        assert_eq!((truths.relation, truths.seen_bytes, truths.produced_bytes), (Relation::Same, 7, Some(7)));
        assert!(truths.difference.is_none());
        assert!(of(&story("Bash", Kind::Shell, Status::Running, Detail::Other), &Limits::PAGE).is_none());
    }

    #[test]
    fn what_was_cut_and_what_was_added_is_told_in_lines() {
        let long: String = (0..100).map(|n| format!("line number {n}\n")).collect();
        let truths = of(&shell("line number 0\n… cut …\nline number 99", &long), &Limits::PAGE).unwrap();
        assert_eq!(truths.relation, Relation::Differs);
        let (counts, block) = truths.difference.unwrap();
        assert_eq!((counts.added, counts.removed), (1, 98));
        assert!(text_of(&[block]).contains("… cut …"));
    }

    #[test]
    fn numbers_of_lines_are_no_difference() {
        let numbered = "     1\tone\n     2\ttwo";
        assert!(hunks(numbered, numbered).is_empty() && hunks("one\ntwo\n", numbered).is_empty());
        assert_eq!(unnumbered("     1→fn a() {\n     2→}\nnote"), "fn a() {\n}\nnote");
        assert_eq!(unnumbered("1 apple\n2 pears"), "1 apple\n2 pears");
    }

    #[test]
    fn an_output_beside_the_log_is_what_was_produced() {
        let mut call = shell("saved to x; it begins: aaa", "saved to x; it begins: aaa");
        let text = "aaa\n".repeat(300);
        call.side = Some(tooltrail_model::transcript::SideFile { path: "x".into(), bytes: 1200, text: Ok(text), cut: false });
        let truths = of(&call, &Limits::PAGE).unwrap();
        assert_eq!((truths.relation, truths.produced_bytes), (Relation::Differs, Some(1200)));
    }
}
