//! Anything that has no view of its own.
//!
//! ```text
//! ◻ SomethingNew   key=value, key=value                10 ms ✓
//!   key    value
//!   answer
//! ```

use super::{ToolView, title};
use crate::pieces::{notice, section};
use crate::texts::{as_json, content, sniffed};
use crate::{Block, Head, Limits, Line, json, outcome, seen};
use serde_json::Value;
use tooltrail_model::Status;
use tooltrail_model::content::{Content, words};
use tooltrail_model::transcript::{Level, Story};

/// View of last resort, for tools that no other view accepts.
pub(super) struct OtherView;

impl ToolView for OtherView {
    fn name(&self) -> &'static str {
        "other"
    }

    fn shows(&self, _: &Story<'_>) -> bool {
        true
    }

    fn head(&self, call: &Story<'_>) -> Head {
        Head { icon: "◻", name: call.row.tool.into(), title: title(call), facts: facts(call) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let mut body = input(&call.input, limits);
        body.extend(output(call, limits));
        body
    }
}

/// Facts that hold for any result: the number of entries, where it is a list.
pub(super) fn facts(call: &Story<'_>) -> Vec<Line> {
    let Some(answer) = call.answer.as_ref().filter(|_| outcome::came(call)) else { return Vec::new() };
    if let Some(list) = seen::list_apart(call) {
        return vec![crate::head::counted(list.len() as u64, "item").into()];
    }
    let [Content::Text { text }] = answer.seen.as_slice() else { return Vec::new() };
    let items = match as_json(text) {
        Some(Value::Array(items)) => items.len() as u64,
        _ => return Vec::new(),
    };
    vec![crate::head::counted(items, "item").into()]
}

/// Input of the call: names and values, and larger values below.
pub(super) fn input(input: &Value, limits: &Limits) -> Vec<Block> {
    match input {
        Value::Null => Vec::new(),
        Value::Object(map) => json::fields(map, limits),
        // Some tools take a bare string, which may itself be JSON, code or prose.
        Value::String(text) => vec![sniffed(text, limits)],
        other => vec![json::block(other, limits)],
    }
}

/// Result of the call: the content that the model saw, else the value that the tool produced. Errors are left to the frame,
/// which shows them first.
pub(super) fn output(call: &Story<'_>, limits: &Limits) -> Vec<Block> {
    let Some(answer) = &call.answer else { return Vec::new() };
    // The text in place of a result then is the agent's wording of what the frame already says.
    if matches!(call.row.status, Status::Rejected | Status::Blocked | Status::Cancelled) {
        return Vec::new();
    }
    let error = outcome::error(call).filter(|_| outcome::went_wrong(call));
    // Compared both ways, because the frame may have shortened or extended the error.
    let told = |text: &str| error.as_deref().is_some_and(|error| text.contains(error) || error.contains(text.trim()));
    let untold: Vec<Content> = answer.seen.iter().filter(|piece| !piece.as_text().is_some_and(told)).cloned().collect();
    // A list that the model did not see is what the tool produced; the frame shows what the model saw instead.
    let mut blocks = match seen::list_apart(call).filter(|_| outcome::came(call)) {
        Some(list) => vec![json::block(&Value::Array(list.clone()), limits)],
        None => content(&untold, limits),
    };
    // The produced value repeats what was seen in another form, so it is only used if nothing was seen.
    if words(&answer.seen).trim().is_empty() && blocks.is_empty() {
        blocks.extend(answer.produced.iter().flat_map(|value| input(value, limits)));
    }
    if blocks.is_empty() && outcome::came(call) {
        blocks.push(notice(Level::Info, "The result is empty."));
    }
    // Without an input there is nothing to separate the result from.
    let asked = !matches!(call.input, Value::Null);
    if asked && !blocks.is_empty() { vec![section("result", true, blocks)] } else { blocks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story, text_of};
    use crate::tools;
    use serde_json::json;
    use tooltrail_model::content::Image;
    use tooltrail_model::detail::Detail;
    use tooltrail_model::{Kind, Status};

    fn call(seen: &str) -> Story<'static> {
        let mut call = answered(story("SomethingNew", Kind::Other, Status::Succeeded, Detail::Other), seen);
        call.input = json!({"mode": "fast", "limit": 3, "deep": {"a": [1, {"b": 2}]}});
        call
    }

    #[test]
    fn unknown_tools_are_shown() {
        let call = call("[1, 2]");
        assert_eq!(tools::of(&call).name(), "other");
        let head = OtherView.head(&call);
        assert_eq!(head.title.text(), "mode=fast, limit=3, deep={1}");
        assert_eq!(head.facts[0].text(), "2 items");
        let body = OtherView.body(&call, &Limits::PAGE);
        assert!(matches!(body.as_slice(), [Block::Fields { .. }, Block::Json { .. }, Block::Section { .. }]), "{body:?}");
    }

    #[test]
    fn pictures_and_words_are_shown_where_they_stand() {
        let mut call = call("see this");
        if let Some(answer) = &mut call.answer {
            answer.seen.push(Content::Image(Image { media: "image/png".into(), ..Image::default() }));
        }
        assert!(text_of(&OtherView.body(&call, &Limits::PAGE)).contains("see this\nimage, image/png"));
    }

    #[test]
    fn nothing_is_claimed_of_a_call_without_a_result() {
        let mut call = call("[1]");
        call.row.status = Status::Failed;
        assert!(OtherView.head(&call).facts.is_empty());
        call.answer = None;
        call.row.status = Status::Running;
        assert!(OtherView.head(&call).facts.is_empty());
        assert_eq!(OtherView.body(&call, &Limits::PAGE).len(), 2);
    }
}
