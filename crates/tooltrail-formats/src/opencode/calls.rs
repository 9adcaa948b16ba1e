//! The request and the result of a call, which are in one part.

use super::markers;
use super::record::OpenCodeRecord;
use crate::value::Payloads;
use serde_json::Value;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::transcript::{LoggedRequest, LoggedResult};

/// Whether a record is the part of a call.
fn is_about(item: &OpenCodeRecord<'_>, call: &str) -> bool {
    // A part without `callID` is named by its own id, as in a scan.
    OpenCodeRecord::is(item.name, "tool") && item.call.or(item.id).is_some_and(|id| id == *call)
}

/// The request of a call.
pub(super) fn request(item: &OpenCodeRecord<'_>, call: &str, payloads: Payloads<'_>) -> Option<LoggedRequest> {
    let input = || payloads.value(item.slice(&item.state.input));
    is_about(item, call).then(|| LoggedRequest { input: input(), ..LoggedRequest::default() })
}

/// The result of a call.
pub(super) fn result(item: &OpenCodeRecord<'_>, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
    let state = &item.state;
    // A call that goes on may have some output, which is no result yet.
    if !is_about(item, call) || !state.is_over() {
        return None;
    }
    let said =
        if state.failed() { state.error.map(|error| payloads.text(error)) } else { printed(payloads.value(item.slice(&state.output))) };
    // Taken from the redacted text, because the words are shown.
    let feedback = said.as_deref().filter(|_| state.failed()).and_then(markers::feedback).map(str::to_owned);
    let mut seen: Vec<Content> = said.map(Content::text).into_iter().collect();
    seen.extend(payloads.value(item.slice(&state.attachments)).as_array().into_iter().flatten().filter_map(picture));
    // A secret may go over several of them.
    payloads.together(&mut seen);
    let produced = Some(payloads.value(item.slice(&state.metadata))).filter(|produced| produced.is_object());
    Some(LoggedResult { seen, produced, feedback })
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
