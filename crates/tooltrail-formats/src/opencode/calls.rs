//! The request and the result of a call, which are in one part.

use super::markers;
use super::record::{Item, Place};
use crate::Opened;
use serde_json::Value;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::transcript::{RequestContent, ResultContent};

/// The part of a call, if a record is that.
fn of<'r>(record: Opened<'r>, call: &str) -> Option<Item<'r>> {
    let item = Item::read(record.bytes).ok()?;
    // A part without `callID` is named by its own id, as in a scan.
    let is_call = item.call.or(item.id).is_some_and(|id| id == *call);
    (is_call && Item::is(item.name, "tool")).then_some(item)
}

fn value(record: Opened<'_>, place: &Place) -> Value {
    record.payloads.value(record.bytes.get(place.clone()).unwrap_or_default())
}

/// The request of a call.
pub(super) fn request(record: Opened<'_>, call: &str) -> Option<RequestContent> {
    let item = of(record, call)?;
    Some(RequestContent { input: value(record, &item.state.input), ..RequestContent::default() })
}

/// The result of a call.
pub(super) fn result(record: Opened<'_>, call: &str) -> Option<ResultContent> {
    let item = of(record, call)?;
    let state = &item.state;
    // A call that goes on may have some output, which is no result yet.
    if !state.is_over() {
        return None;
    }
    let said = if state.failed() { state.error.map(|error| record.payloads.text(error)) } else { printed(value(record, &state.output)) };
    // Taken from the redacted text, because the words are shown.
    let feedback = said.as_deref().filter(|_| state.failed()).and_then(markers::feedback).map(str::to_owned);
    let mut seen: Vec<Content> = said.map(Content::text).into_iter().collect();
    seen.extend(value(record, &state.attachments).as_array().into_iter().flatten().filter_map(picture));
    let produced = Some(value(record, &state.metadata)).filter(|produced| produced.is_object());
    Some(ResultContent { seen, produced, feedback })
}

/// The output of a tool; a value that is no text is shown as it is written.
fn printed(output: Value) -> Option<String> {
    match output {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// A picture that a tool returned beside its text.
fn picture(attachment: &Value) -> Option<Content> {
    let field = |key: &str| attachment.get(key).and_then(Value::as_str);
    let (media, url) = (field("mime")?, field("url")?);
    let data = url.split_once(";base64,").map(|(_, data)| data.to_owned());
    let source = data.is_none().then(|| url.to_owned());
    media.starts_with("image/").then(|| Content::Image(Image { media: media.to_owned(), data, source, ..Image::default() }))
}
