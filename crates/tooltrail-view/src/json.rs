//! JSON values as formatted lines, each part classified: names, texts, numbers, literals.
//!
//! Within limits: long texts are shortened with a mark, deeply nested values stay on one line, and lines past the limit are
//! only counted.

use crate::cut::boundary;
use crate::head::count;
use crate::limits::{Elided, ElidedUnit};
use crate::line::Class;
use crate::texts::code;
use crate::{Block, Limits, Line};
use serde_json::{Map, Value};

/// Depth from which values stay on one line.
const DEPTH: usize = 32;

/// Longest list of scalars that stays on one line.
const ROW: usize = 80;

/// Longest text that is shown as a field; a longer one gets a section of its own.
const FIELD: usize = 200;

/// A value as a block.
pub fn block(value: &Value, limits: &Limits) -> Block {
    let (lines, elided) = lines(value, limits);
    Block::Json { lines, elided }
}

/// A value as lines, and the remark on omitted ones.
pub fn lines(value: &Value, limits: &Limits) -> (Vec<Line>, Option<Elided>) {
    let mut writer = JsonFormatter { lines: Vec::new(), line: Line::default(), bytes: 0, total: 0, limits };
    writer.value(value, 0);
    writer.end();
    let shown = writer.lines.len() as u64;
    let elided = (shown < writer.total).then_some(Elided { shown, total: writer.total, unit: ElidedUnit::Lines, kept: true });
    (writer.lines, elided)
}

/// An object: scalars as names and values, long texts under their name, anything else laid out.
pub fn fields(map: &Map<String, Value>, limits: &Limits) -> Vec<Block> {
    let mut fields = Vec::new();
    let mut texts = Vec::new();
    let mut rest = Map::new();
    for (name, value) in map {
        // Empty lists and objects count as scalars: they fit into a field.
        match value {
            Value::String(text) if text.len() > FIELD || text.contains('\n') => texts.push((name, text)),
            Value::Object(inner) if !inner.is_empty() => drop(rest.insert(name.clone(), value.clone())),
            Value::Array(inner) if !inner.is_empty() => drop(rest.insert(name.clone(), value.clone())),
            scalar => fields.push((Line::of(Class::Dim, name), scalar_line(scalar))),
        }
    }
    let mut blocks = Vec::new();
    if !fields.is_empty() {
        blocks.push(Block::Fields { fields });
    }
    blocks.extend(texts.into_iter().map(|(name, text)| Block::Section {
        label: Line::of(Class::Dim, name),
        open: true,
        body: vec![code(text, limits)],
    }));
    if !rest.is_empty() {
        blocks.push(block(&Value::Object(rest), limits));
    }
    blocks
}

fn scalar_line(value: &Value) -> Line {
    match value {
        Value::String(text) => text.as_str().into(),
        other => Line::of(class(other), &other.to_string()),
    }
}

fn class(value: &Value) -> Class {
    match value {
        Value::String(_) => Class::Text,
        Value::Number(_) => Class::Number,
        Value::Bool(_) | Value::Null => Class::Keyword,
        Value::Array(_) | Value::Object(_) => Class::Plain,
    }
}

struct JsonFormatter<'l> {
    lines: Vec<Line>,
    line: Line,
    bytes: usize,
    total: u64,
    limits: &'l Limits,
}

impl JsonFormatter<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            // Deeper values fall through to the last arm, which does not recurse.
            Value::Object(map) if !map.is_empty() && depth < DEPTH => {
                self.push(Class::Plain, "{");
                for (place, (name, inner)) in map.iter().enumerate() {
                    self.begin(depth + 1);
                    self.text(Class::Type, name);
                    self.push(Class::Plain, ": ");
                    self.value(inner, depth + 1);
                    self.comma(place + 1 < map.len());
                }
                self.begin(depth);
                self.push(Class::Plain, "}");
            }
            Value::Array(items) if !items.is_empty() && depth < DEPTH && !is_row(items) => {
                self.push(Class::Plain, "[");
                for (place, inner) in items.iter().enumerate() {
                    self.begin(depth + 1);
                    self.value(inner, depth + 1);
                    self.comma(place + 1 < items.len());
                }
                self.begin(depth);
                self.push(Class::Plain, "]");
            }
            Value::Array(items) if is_row(items) => {
                self.push(Class::Plain, "[");
                for (place, inner) in items.iter().enumerate() {
                    self.value(inner, depth + 1);
                    self.push(Class::Plain, if place + 1 < items.len() { ", " } else { "" });
                }
                self.push(Class::Plain, "]");
            }
            Value::String(text) => self.text(Class::Text, text),
            other => self.shortened(class(other), &other.to_string(), ""),
        }
    }

    fn comma(&mut self, more: bool) {
        self.push(Class::Plain, if more { "," } else { "" });
    }

    /// A text in quotes, with the escapes of JSON.
    fn text(&mut self, class: Class, text: &str) {
        let start = text.get(..boundary(text, self.most())).unwrap_or_default();
        // Cut before quoting, so that no escape is cut in half.
        let quoted = Value::from(start).to_string();
        self.shortened(class, &quoted, text.get(start.len()..).unwrap_or_default());
    }

    /// A part that may be long; `left_out` is the text that was already cut off.
    fn shortened(&mut self, class: Class, piece: &str, left_out: &str) {
        // Escapes can make a text up to six times longer.
        let start = piece.get(..boundary(piece, self.most().saturating_mul(6))).unwrap_or_default();
        let missing = piece.len() - start.len() + left_out.len();
        self.push(class, start);
        if missing > 0 {
            self.push(Class::Dim, &format!(" … {} more bytes", count(missing as u64)));
        }
    }

    /// Longest text that is shown in full.
    fn most(&self) -> usize {
        // A hundredth of the whole, so that one text cannot use up the budget.
        self.limits.bytes / 100 + 1
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= self.limits.lines || self.bytes >= self.limits.bytes
    }

    fn push(&mut self, class: Class, text: &str) {
        // Past the limit nothing is kept, but lines are still counted for the remark.
        if !self.is_full() {
            self.bytes += text.len();
            self.line.push(class, text);
        }
    }

    fn begin(&mut self, depth: usize) {
        self.end();
        self.push(Class::Plain, &"  ".repeat(depth));
    }

    fn end(&mut self) {
        self.total += 1;
        let line = std::mem::take(&mut self.line);
        if self.lines.len() < self.limits.lines && !line.is_empty() {
            self.lines.push(line);
        }
    }
}

/// Whether a list is short and flat enough for one line.
fn is_row(items: &[Value]) -> bool {
    let mut space = ROW;
    items.iter().all(|item| {
        let width = match item {
            Value::Array(_) | Value::Object(_) => return false,
            Value::String(text) => text.len() + 4,
            _ => 8,
        };
        space = space.saturating_sub(width);
        space > 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plain(value: &Value, limits: &Limits) -> Vec<String> {
        lines(value, limits).0.iter().map(Line::text).collect()
    }

    #[test]
    fn values_are_laid_out_and_classified() {
        let value = json!({"a": [1, true, null], "b": {"c": "x\ny"}, "d": [], "e": [{"f": 1.5}]});
        let text = plain(&value, &Limits::PAGE);
        assert_eq!(
            text,
            [
                "{",
                "  \"a\": [1, true, null],",
                "  \"b\": {",
                "    \"c\": \"x\\ny\"",
                "  },",
                "  \"d\": [],",
                "  \"e\": [",
                "    {",
                "      \"f\": 1.5",
                "    }",
                "  ]",
                "}"
            ]
        );
        assert_eq!(serde_json::from_str::<Value>(&text.join("\n")).ok(), Some(value.clone()));
        let (lines, _) = lines(&value, &Limits::PAGE);
        let classes: Vec<Class> = lines[1].runs().iter().map(|run| run.class).collect();
        assert!(classes.contains(&Class::Type) && classes.contains(&Class::Number) && classes.contains(&Class::Keyword), "{classes:?}");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let value = json!((0..1000).map(|n| json!({ "n": n })).collect::<Vec<_>>());
        let (lines, elided) = lines(&value, &Limits { lines: 10, ..Limits::PAGE });
        assert_eq!((lines.len(), elided.map(|elided| elided.words())), (10, Some("10 of 3,002 lines".to_owned())));
        let long = plain(&json!("x".repeat(10_000)), &Limits { bytes: 1000, ..Limits::PAGE });
        assert_eq!(long, ["\"xxxxxxxxxxx\" … 9,989 more bytes"]);
    }

    #[test]
    fn deep_values_stay_on_one_line() {
        let deep = (0..100).fold(json!(1), |inner, _| json!([[inner]]));
        let text = plain(&deep, &Limits::PAGE);
        assert!(text.len() < 100 && text.iter().any(|line| line.contains("[[[[")), "{text:?}");
    }

    #[test]
    fn objects_become_fields_and_the_rest() {
        let Value::Object(map) = json!({"n": 1, "s": "x", "long": "a\nb", "deep": {"x": [1]}, "none": []}) else { panic!("object") };
        let blocks = fields(&map, &Limits::PAGE);
        assert!(
            matches!(blocks.as_slice(), [Block::Fields { fields }, Block::Section { .. }, Block::Json { .. }] if fields.len() == 3),
            "{blocks:?}"
        );
    }
}
