//! The text that the model saw, where it differs from the tool's output: cut, saved elsewhere, cleared later, or extended.
//!
//! Logs keep two versions of a result. Mostly they are one text, once with line numbers or tags around it; then only the
//! tool's view is shown. No phrases of any agent are known here: the two are compared line by line.

use crate::pieces::section;
use crate::texts::{as_json, content, sniffed};
use crate::{Block, Limits, outcome};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use tooltrail_model::content::words;
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;
use tooltrail_model::{Kind, Status};

/// Most bytes of added text that count as a confirmation and not as news.
const CONFIRMATION: usize = 400;

/// Bytes that may be missing: some words of a result, such as a state, are for the program only.
const WORDS: usize = 40;

/// Number of lines that are searched within other lines; further ones are only compared as lines.
const SEARCHES: usize = 64;

/// A text longer than this without a space is data, such as a picture.
const DATA: usize = 1000;

/// The text that the model saw, if it differs enough to be shown.
pub(crate) fn block(call: &Story<'_>, limits: &Limits) -> Option<Block> {
    let answer = call.answer.as_ref()?;
    // Where the log keeps only the text that the model saw, the tool's view shows that.
    let produced = answer.produced.as_ref()?;
    let seen = words(&answer.seen);
    if seen.trim().is_empty() {
        return None;
    }
    let mut texts = Vec::new();
    strings(produced, &mut texts);
    // Compared before the input is added to `texts`: repeating the input does not count as covering the output.
    let covered = confirms(call) || (list_apart(call).is_none() && covers(&seen, &texts, &call.input));

    strings(&call.input, &mut texts);
    let error = outcome::error(call);
    texts.extend(error.as_deref());
    texts.extend(answer.feedback.as_deref());
    let added = added(&seen, &texts);
    match (covered, is_few(&added)) {
        (true, true) => None,
        (true, false) => Some(section("added for the model", false, vec![sniffed(&added.join("\n"), limits)])),
        (false, _) => Some(section("what the model saw", false, content(&answer.seen, limits))),
    }
}

/// Relation between the text that the model saw and the tool's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The log keeps only the text that the model saw.
    OnlySeen,
    /// Equal, apart from words without news.
    Same,
    /// The model saw only that it was done or not done, or content that is not text.
    Confirmation,
    /// The model saw all of it, and more.
    Added,
    /// Different.
    Differs,
}

/// The relation; `None` where there is no result. `saved` is the whole output, if it was saved beside the log.
pub(crate) fn relation(call: &Story<'_>, saved: Option<&str>) -> Option<Relation> {
    let answer = call.answer.as_ref()?;
    let seen = words(&answer.seen);
    let mut texts = Vec::new();
    match (saved, &answer.produced) {
        (Some(saved), _) => texts.push(saved),
        (None, Some(produced)) => strings(produced, &mut texts),
        (None, None) => return Some(Relation::OnlySeen),
    }
    let list = answer.produced.as_ref().and_then(Value::as_array).filter(|_| saved.is_none());
    // Content that is not text cannot be compared, an empty text has nothing to compare, and a call that never ran produced
    // nothing.
    let ran = !matches!(call.row.status, Status::Rejected | Status::Blocked | Status::Cancelled);
    if seen.trim().is_empty() || !ran {
        return Some(Relation::Confirmation);
    }
    if let Some(list) = list {
        return Some(if list_apart(call).is_some() { Relation::Differs } else { list_relation(&seen, list) });
    }
    let (there, missing) = compare(&seen, &texts, &call.input);
    let printed = matches!(call.told.detail, Detail::Shell(_) | Detail::TaskOutput(_));
    // Too little text to compare: a flag or an id, not an output; unless it is all that the model saw.
    if there + missing <= WORDS && !printed {
        let same = there > missing && added(&seen, &texts).is_empty();
        return Some(if same { Relation::Same } else { Relation::OnlySeen });
    }
    if missing > WORDS + there / 10 {
        return Some(if confirms(call) && saved.is_none() { Relation::Confirmation } else { Relation::Differs });
    }
    strings(&call.input, &mut texts);
    let error = outcome::error(call);
    texts.extend(error.as_deref());
    texts.extend(answer.feedback.as_deref());
    Some(if is_few(&added(&seen, &texts)) { Relation::Same } else { Relation::Added })
}

/// The list that a tool produced, if the model saw something else. A list is output through and through, numbers included, so every part
/// of it has to be in the text that the model saw.
pub(crate) fn list_apart<'s>(call: &'s Story<'_>) -> Option<&'s Vec<Value>> {
    let answer = call.answer.as_ref()?;
    let list = answer.produced.as_ref()?.as_array()?;
    let seen = words(&answer.seen);
    // JSON that says the same in another spelling is the same.
    if seen.trim().is_empty() || as_json(&seen).as_ref() == answer.produced.as_ref() {
        return None;
    }
    let mut parts = Vec::new();
    list.iter().for_each(|item| scalars(item, &mut parts));
    let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
    let (there, missing) = compare(&seen, &parts, &call.input);
    (missing > there / 10).then_some(list)
}

/// The relation of a list to a text that contains all of it: the same, unless most of the text is something else.
fn list_relation(seen: &str, list: &[Value]) -> Relation {
    let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).count();
    let mut parts = Vec::new();
    list.iter().for_each(|item| scalars(item, &mut parts));
    let repeated: usize = parts.iter().map(|part| letters(part)).sum();
    // JSON has names of fields and brackets as well.
    if as_json(seen).is_some() || letters(seen) <= repeated.saturating_mul(2) { Relation::Same } else { Relation::Added }
}

/// Names of fields that say what a part of a list is, and hold nothing of it.
const DESCRIPTIVE: &[&str] = &["type", "media_type", "mimeType"];

/// All texts, numbers and flags within a value, as text.
fn scalars<'v>(value: &'v Value, out: &mut Vec<Cow<'v, str>>) {
    match value {
        Value::Null => {}
        Value::String(text) => out.push(text.into()),
        Value::Array(items) => items.iter().for_each(|item| scalars(item, out)),
        // A picture, or other media: never repeated as text.
        Value::Object(map) if map.contains_key("data") && (map.contains_key("media_type") || map.contains_key("mimeType")) => {}
        Value::Object(map) => {
            map.iter().filter(|(key, _)| !DESCRIPTIVE.contains(&key.as_str())).for_each(|(_, item)| scalars(item, out));
        }
        other => out.push(other.to_string().into()),
    }
}

/// Whether lines are so few that they are a confirmation and not news.
fn is_few(added: &[&str]) -> bool {
    added.len() <= 6 && added.iter().map(|line| line.len()).sum::<usize>() <= CONFIRMATION
}

/// Whether the model was given all of the tool's output, or nothing at all.
pub(crate) fn is_all(call: &Story<'_>) -> bool {
    let Some(answer) = &call.answer else { return false };
    let seen = words(&answer.seen);
    let mut texts = Vec::new();
    answer.produced.iter().for_each(|value| strings(value, &mut texts));
    let (there, missing) = compare(&seen, &texts, &call.input);
    seen.trim().is_empty() || (there > 0 && there >= missing)
}

/// Whether the tool's answer to the model only says that it is done or started.
fn confirms(call: &Story<'_>) -> bool {
    let begun = matches!(&call.told.detail, Detail::Agent(agent) if agent.background);
    begun
        || outcome::went_wrong(call)
        || matches!(call.row.kind, Kind::Write | Kind::Edit | Kind::Todo | Kind::Skill | Kind::Question | Kind::Plan)
}

/// All texts within a value.
pub(crate) fn strings<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(map) => map.values().for_each(|item| strings(item, out)),
        _ => {}
    }
}

/// Whether nearly all of the output is contained in the text that the model saw. Texts of the input do not have to come
/// back.
fn covers(seen: &str, produced: &[&str], input: &Value) -> bool {
    let (there, missing) = compare(seen, produced, input);
    missing <= WORDS + there / 10
}

/// Bytes of the output that are contained in the text that the model saw, and bytes that are not.
fn compare(seen: &str, produced: &[&str], input: &Value) -> (usize, usize) {
    let mut asked = Vec::new();
    strings(input, &mut asked);
    let asked: HashSet<&str> = asked.into_iter().collect();
    let lines: HashSet<&str> = seen.lines().map(bare).collect();
    let mut searches = SEARCHES;
    let (mut there, mut missing) = (0, 0);
    // Pictures and the like are never repeated as text.
    let is_data = |text: &str| text.len() > DATA && !text.contains(char::is_whitespace);
    let wanted = produced.iter().filter(|text| !asked.contains(**text) && !is_data(text));
    for line in wanted.flat_map(|text| text.lines()).map(bare).filter(|line| !line.is_empty()) {
        // Whole lines first: a hash lookup, where a search reads the whole text.
        if lines.contains(line) || search(&mut searches, &[seen], line) {
            there += line.len();
        } else {
            missing += line.len();
        }
    }
    (there, missing)
}

/// Lines that the model saw and the tool did not produce.
fn added<'s>(seen: &'s str, texts: &[&str]) -> Vec<&'s str> {
    let lines: HashSet<&str> = texts.iter().flat_map(|text| text.lines()).map(bare).collect();
    let mut searches = SEARCHES;
    let unknown = |line: &&str| !lines.contains(bare(line)) && !search(&mut searches, texts, bare(line));
    let mut added: Vec<&str> = seen.lines().filter(unknown).collect();
    // Expensive, so only for a few lines; many unknown lines are news anyway.
    if added.len() <= SEARCHES {
        added.retain(|line| !is_made_of(line, texts));
    }
    added
}

/// Whether a long line is composed of texts of the output, such as a list of results in one line.
fn is_made_of(line: &str, texts: &[&str]) -> bool {
    let parts = texts.iter().filter(|text| text.len() > 3 && line.contains(**text));
    line.len() > CONFIRMATION / 2 && parts.map(|text| text.len()).sum::<usize>() > line.len() / 2
}

/// Whether one of the texts contains the words, as long as searches are left.
fn search(left: &mut usize, texts: &[&str], words: &str) -> bool {
    if words.is_empty() {
        return true;
    }
    // Bounded, because each search reads whole outputs and a hostile log could ask for millions.
    *left = left.saturating_sub(1);
    *left > 0 && texts.iter().any(|text| text.contains(words))
}

/// A line without surrounding whitespace, line number or tags.
fn bare(line: &str) -> &str {
    // The end is trimmed last: a tab there may be what separates the number of an empty line.
    let line = line.trim_start();
    let text = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let numbered = text.len() < line.len() && text.starts_with(['→', '\t', ':']);
    let line = if numbered { text.trim_start_matches(['→', '\t', ':']) } else { line }.trim();
    let line = line.strip_prefix('<').and_then(|rest| rest.split_once('>')).map_or(line, |(_, rest)| rest);
    let closing = |rest: &str| rest.ends_with('>').then(|| rest.rfind("</")).flatten();
    closing(line).and_then(|at| line.get(..at)).unwrap_or(line).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story, text_of};
    use serde_json::json;

    fn shown(kind: Kind, seen: &str, produced: Value) -> String {
        let mut call = answered(story("Tool", kind, Status::Succeeded, Detail::Other), seen);
        call.input = json!({"path": "/srv/a.rs"});
        if let Some(answer) = &mut call.answer {
            answer.produced = Some(produced);
        }
        block(&call, &Limits::PAGE).map(|block| text_of(&[block])).unwrap_or_default()
    }

    #[test]
    fn the_same_text_is_not_shown_twice() {
        let file = json!({"file": {"filePath": "/srv/a.rs", "content": "fn a() {\n    b\n}\n"}});
        assert_eq!(shown(Kind::Read, "     1→fn a() {\n     2→    b\n     3→}\n", file.clone()), "");
        assert_eq!(shown(Kind::Read, "1\tfn a() {\n2\t    b\n3\t}\n4\t\n5\t", file), "");
        let task = json!({"task": {"output": "one\ntwo", "status": "completed"}});
        assert_eq!(shown(Kind::Task, "<status>completed</status>\n<output>\none\ntwo\n</output>", task), "");
        assert_eq!(shown(Kind::Edit, "The file has been updated.", json!({"originalFile": "a long text\n".repeat(50)})), "");
        assert_eq!(shown(Kind::Shell, "", json!({"stdout": "x"})), "");
        assert_eq!(shown(Kind::Search, "Found 1 file\nsrc/a.rs", json!({"filenames": ["src/a.rs"]})), "");
    }

    #[test]
    fn a_list_of_results_in_one_line_is_nothing_new() {
        let pages: Vec<Value> =
            (0..20).map(|n| json!({"title": format!("A page about {n}"), "url": format!("https://example.org/{n}")})).collect();
        let seen = format!("Results for \"x\":\n\nLinks: {}", Value::from(pages.clone()));
        assert_eq!(shown(Kind::WebSearch, &seen, json!({ "results": pages })), "");
    }

    #[test]
    fn less_than_was_produced_is_shown() {
        let long: String = (0..500).map(|n| format!("line number {n}\n")).collect();
        let cut = shown(Kind::Shell, "line number 0\n… 498 lines cut …\nline number 499", json!({ "stdout": long }));
        assert!(cut.starts_with("what the model saw\nline number 0\n"), "{cut}");
        assert!(shown(Kind::Read, "[cleared]", json!({ "content": long })).contains("[cleared]"));
    }

    #[test]
    fn words_added_for_the_model_are_shown_alone() {
        let added =
            shown(Kind::Shell, &format!("out\n<reminder>\n{}\n</reminder>", "do this\nand that\n".repeat(30)), json!({"stdout": "out"}));
        assert!(added.starts_with("added for the model\n") && !added.contains("out"), "{added}");
    }

    fn related(kind: Kind, seen: &str, produced: Value) -> Option<Relation> {
        let mut call = answered(story("Tool", kind, Status::Succeeded, Detail::Other), seen);
        call.input = json!({"path": "/srv/a.rs"});
        if let Some(answer) = &mut call.answer {
            answer.produced = Some(produced);
        }
        relation(&call, None)
    }

    #[test]
    fn lists_are_compared_with_all_they_hold() {
        let ships = json!([{"name": "Ada", "length": 12}, {"name": "Bob", "length": 9}]);
        let table = [
            (ships.to_string(), Relation::Same),
            ("Ada 12\nBob 9".to_owned(), Relation::Same),
            ("Ada and Bob".to_owned(), Relation::Differs),
            ("2 ships".to_owned(), Relation::Differs),
            (format!("Ada 12, Bob 9\n{}", "and much more about the weather\n".repeat(3)), Relation::Added),
        ];
        for (seen, expected) in table {
            assert_eq!(related(Kind::Mcp, &seen, ships.clone()), Some(expected), "{seen}");
        }
        let picture = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
        let blocks = json!([{"type": "text", "text": "two ships"}, {"type": "image", "source": picture}]);
        assert_eq!(related(Kind::Mcp, "two ships", blocks), Some(Relation::Same));
    }

    #[test]
    fn a_short_output_is_the_same_only_where_nothing_else_was_seen() {
        assert_eq!(related(Kind::WebFetch, "At noon.", json!({"codeText": "OK", "result": "At noon."})), Some(Relation::Same));
        assert_eq!(related(Kind::Other, "It is done", json!({"state": "ok"})), Some(Relation::OnlySeen));
        assert_eq!(related(Kind::Other, "ok, it is done", json!({"state": "ok"})), Some(Relation::OnlySeen));
    }

    #[test]
    fn only_what_was_seen_is_left_to_the_view() {
        let call = answered(story("Tool", Kind::Other, Status::Succeeded, Detail::Other), "text");
        assert_eq!(block(&call, &Limits::PAGE), None);
    }
}
