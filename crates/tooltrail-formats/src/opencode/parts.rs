//! The content of a record for a reader: words, thoughts, calls, files, and events beside them.

use super::record::{OpenCodeRecord, RecordKind};
use crate::value::Payloads;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{Level, Part, Parts};
use tooltrail_skim::Raw;

/// The parts of a record, in order.
pub(super) fn of(item: &OpenCodeRecord<'_>, payloads: Payloads<'_>) -> Parts {
    let parts = match item.kind {
        RecordKind::Session => Vec::new(),
        RecordKind::Message => message(item, payloads),
        RecordKind::Part => part(item, payloads),
        RecordKind::Unknown => vec![unknown(item, payloads)],
    };
    let time = item.state.times.start.or(item.times.start).or(item.made);
    Parts { id: item.id.map(|id| id.text().into_owned()), time, parts, ..Parts::default() }
}

fn unknown(item: &OpenCodeRecord<'_>, payloads: Payloads<'_>) -> Part {
    let name = item.name.map_or_else(|| "?".to_owned(), |name| name.text().into_owned());
    Part::Unknown { name, value: payloads.value(item.record.bytes) }
}

/// The parts of a message: only its failure, because everything else is in parts of their own.
fn message(item: &OpenCodeRecord<'_>, payloads: Payloads<'_>) -> Vec<Part> {
    let Some((name, place)) = &item.error else { return Vec::new() };
    if OpenCodeRecord::is(*name, "MessageAbortedError") {
        return vec![Part::Notice { level: Level::Warning, title: "Interrupted".to_owned(), text: None }];
    }
    let value = payloads.value(item.slice(place));
    let text = value.pointer("/data/message").and_then(|text| text.as_str()).map(str::to_owned);
    vec![Part::Notice { level: Level::Error, title: "Error".to_owned(), text: text.or_else(|| name.map(|name| name.text().into_owned())) }]
}

fn part(item: &OpenCodeRecord<'_>, payloads: Payloads<'_>) -> Vec<Part> {
    let text = || item.text.map(|text| payloads.text(text)).unwrap_or_default();
    let name = item.name.map(Raw::text).unwrap_or_default();
    match &*name {
        "text" if item.is_users() && item.synthetic => vec![Part::Folded { label: "context".to_owned(), text: text() }],
        "text" if item.is_users() => vec![Part::Prompt { origin: Origin::Human, text: text() }],
        "text" => vec![Part::Text(text())],
        "reasoning" => vec![Part::Thinking(text())],
        // The result is in the same part, so there is none to show apart.
        "tool" => item.call.or(item.id).map(|id| Part::Call(id.text().into_owned())).into_iter().collect(),
        "file" => vec![Part::Media(file(item, payloads))],
        "compaction" => vec![Part::Boundary { title: "History summed up".to_owned(), facts: Vec::new() }],
        "retry" => vec![Part::Notice { level: Level::Warning, title: "Retried".to_owned(), text: None }],
        // Steps and snapshots have nothing for a reader.
        "step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "subtask" => Vec::new(),
        _ => vec![unknown(item, payloads)],
    }
}

/// A file that came with a prompt: in the log itself, or by its address.
fn file(item: &OpenCodeRecord<'_>, payloads: Payloads<'_>) -> Content {
    let text = |field: Option<Raw<'_>>| field.map(|field| payloads.text(field));
    let (media, url) = (text(item.mime), text(item.url).unwrap_or_default());
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).map(|(_, data)| data.to_owned());
    if media.as_deref().is_some_and(|media| media.starts_with("image/")) {
        let source = data.is_none().then_some(url);
        return Content::Image(Image { media: media.unwrap_or_default(), data, source, ..Image::default() });
    }
    let title = text(item.filename).or_else(|| data.is_none().then_some(url));
    let bytes = data.map_or(0, |data| data.len() as u64 / 4 * 3);
    Content::Document { title, media, text: None, bytes }
}
