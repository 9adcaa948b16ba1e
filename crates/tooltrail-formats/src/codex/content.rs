//! The content of messages and results: lists of texts and pictures, in the spellings of items, of events and of MCP.
//!
//! Elements are recognised in the raw record; they become contents, redacted if asked for, only when they are opened. The small readers of
//! values at the end are for `tools`, which works on opened values.

use crate::value::{self, Payloads};
use serde_json::Value;
use std::borrow::Cow;
use tooltrail_model::content::{Content, Image};
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// One element of a list of content, where it stands.
#[derive(Clone, Copy)]
pub(super) enum Element<'r> {
    /// A text.
    Text(Raw<'r>),
    /// A picture by its address: in the element, in a file, or somewhere else.
    Address(Raw<'r>),
    /// A picture in the log, with its type (MCP).
    Picture { media: Option<Raw<'r>>, data: Raw<'r> },
    /// A resource of an MCP server that is text.
    Resource { uri: Option<Raw<'r>>, media: Option<Raw<'r>>, text: Raw<'r> },
    /// Anything else.
    Other(&'r [u8]),
}

/// The elements of a list of content; a single text is a list of one.
pub(super) fn elements(raw: &[u8]) -> Vec<Element<'_>> {
    let mut skim = Skim::new(raw);
    let mut all = Vec::new();
    match skim.peek() {
        Some(Type::String) => all.extend(skim.string().map(Element::Text)),
        Some(Type::Array) => {
            // A list that breaks off keeps the elements before.
            let _ = skim.array(|item| {
                all.push(element(item)?);
                Ok(())
            });
        }
        Some(Type::Null) | None => {}
        Some(_) => all.push(Element::Other(raw)),
    }
    all
}

/// The texts among the elements of a list.
pub(super) fn texts(raw: &[u8]) -> Vec<Raw<'_>> {
    let all = elements(raw).into_iter();
    all.filter_map(|one| if let Element::Text(text) = one { Some(text) } else { None }).collect()
}

/// Opens a list of content, or a single text.
pub(super) fn open(raw: &[u8], payloads: Payloads<'_>) -> Vec<Content> {
    elements(raw).iter().map(|one| one.open(payloads)).collect()
}

/// The members of an element that tell what it is.
#[derive(Default)]
struct ElementMembers<'r> {
    kind: Option<Raw<'r>>,
    text: Option<Raw<'r>>,
    /// The address of a picture. One that is there counts, also where it says nothing.
    address: Option<Option<Raw<'r>>>,
    address_camel: Option<Option<Raw<'r>>>,
    path: Option<Raw<'r>>,
    media: Option<Raw<'r>>,
    media_snake: Option<Raw<'r>>,
    data: Option<Raw<'r>>,
    resource: Option<Element<'r>>,
}

impl<'r> ElementMembers<'r> {
    fn take(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        // An empty member counts as missing, apart from a text: an empty text is still a text.
        let some = |value: &mut Skim<'r>| value.string().filter(|text| !text.is_empty());
        match key {
            b"type" => self.kind = some(value),
            b"text" => self.text = value.string(),
            b"image_url" => self.address = Some(url(value)?),
            b"imageUrl" => self.address_camel = Some(url(value)?),
            b"path" => self.path = some(value),
            b"mimeType" => self.media = some(value),
            b"mime_type" => self.media_snake = some(value),
            b"data" => self.data = some(value),
            b"resource" => self.resource = resource(value)?,
            _ => {}
        }
        Ok(())
    }

    fn picture(&self) -> Option<Element<'r>> {
        // Only the spelling of MCP has the picture itself; all others give an address, which may hold it.
        let address = self.address.or(self.address_camel).flatten().or(self.path).map(Element::Address);
        address.or_else(|| Some(Element::Picture { media: self.media.or(self.media_snake), data: self.data? }))
    }
}

/// One element of a list.
fn element<'r>(item: &mut Skim<'r>) -> Result<Element<'r>, Torn> {
    if let Some(text) = item.string() {
        return Ok(Element::Text(text));
    }
    // A plain value has no members; it is skipped below.
    let start = item.position();
    let mut members = ElementMembers::default();
    item.object(|key, value| members.take(key.as_bytes(), value))?;
    if item.position() == start {
        item.skip()?;
    }
    let other = Element::Other(item.slice(start..item.position()));
    Ok(match (members.kind.map(Raw::text).as_deref().unwrap_or_default(), members.text) {
        ("input_text" | "output_text" | "text" | "Text" | "inputText" | "summary_text" | "reasoning_text", Some(text)) => {
            Element::Text(text)
        }
        ("input_image" | "image" | "Image" | "inputImage" | "local_image" | "localImage", _) => members.picture().unwrap_or(other),
        ("resource", _) => members.resource.unwrap_or(other),
        _ => other,
    })
}

/// An address, also as `{"url":…}`.
fn url<'r>(value: &mut Skim<'r>) -> Result<Option<Raw<'r>>, Torn> {
    let mut found = value.string();
    if found.is_none() {
        value.object(|key, value| {
            if key.as_bytes() == b"url" {
                found = value.string().filter(|text| !text.is_empty());
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// A resource of an MCP server, if it is text.
fn resource<'r>(value: &mut Skim<'r>) -> Result<Option<Element<'r>>, Torn> {
    let (mut uri, mut media, mut text) = (None, None, None);
    value.object(|key, value| {
        let slot = match key.as_bytes() {
            b"uri" => &mut uri,
            b"mimeType" => &mut media,
            b"text" => &mut text,
            _ => return Ok(()),
        };
        *slot = value.string().filter(|text| !text.is_empty());
        Ok(())
    })?;
    Ok(text.map(|text| Element::Resource { uri, media, text }))
}

impl<'r> Element<'r> {
    /// The words as they stand in the record, if it is words.
    pub(super) fn raw_text(&self) -> Option<Raw<'r>> {
        if let Element::Text(text) = self { Some(*text) } else { None }
    }

    /// The words, if it is words.
    pub(super) fn text(&self) -> Option<Cow<'r, str>> {
        if let Element::Text(text) = self { Some(text.text()) } else { None }
    }

    /// Whether an element is there only encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        let mut found = false;
        if let Element::Other(raw) = self {
            let _ = Skim::new(raw).object(|key, _| {
                found |= key.as_bytes() == b"encrypted_content";
                Ok(())
            });
        }
        found
    }

    /// The element as content, redacted if asked for.
    pub(super) fn open(&self, payloads: Payloads<'_>) -> Content {
        match *self {
            Element::Text(text) => Content::text(payloads.text(text)),
            Element::Address(address) => Content::Image(image(&address.text(), payloads)),
            Element::Picture { media, data } => {
                let media = media.map(|media| payloads.text(media)).unwrap_or_default();
                Content::Image(Image { media, data: Some(payloads.text(data)), ..Image::default() })
            }
            Element::Resource { uri, media, text } => Content::Document {
                title: uri.map(|uri| payloads.text(uri)),
                media: media.map(|media| payloads.text(media)),
                // The size is that of the original text.
                bytes: text.text().len() as u64,
                text: Some(payloads.text(text)),
            },
            Element::Other(raw) => Content::Other { value: payloads.value(raw) },
        }
    }
}

/// A picture by its address: `data:image/png;base64,…` holds it, anything else only says where it is.
pub(super) fn image(address: &str, payloads: Payloads<'_>) -> Image {
    let held = address.strip_prefix("data:").and_then(|rest| rest.split_once(','));
    match held.and_then(|(media, data)| Some((media.strip_suffix(";base64")?, data))) {
        Some((media, data)) => {
            let (media, data) = (payloads.decoded(media.to_owned()), payloads.decoded(data.to_owned()));
            Image { media, data: Some(data), ..Image::default() }
        }
        None => Image { source: Some(payloads.decoded(address.to_owned())), ..Image::default() },
    }
}

/// Texts one after the other; each begins on a line of its own.
pub(super) fn lines<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut out = String::new();
    for text in texts {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(text);
    }
    out
}

/// Whether a text is a whole JSON object, with nothing behind it.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && is_whole(text)
}

/// Whether a text is a whole JSON list of objects with a type, with nothing behind it.
pub(super) fn is_content_list(text: &str) -> bool {
    let mut typed = text.trim_start().starts_with('[') && is_whole(text);
    let _ = Skim::new(text.as_bytes()).array(|item| {
        let mut one = false;
        item.object(|key, _| {
            one |= key.as_bytes() == b"type";
            Ok(())
        })?;
        typed &= one;
        Ok(())
    });
    typed
}

fn is_whole(text: &str) -> bool {
    let mut skim = Skim::new(text.as_bytes());
    skim.skip().is_ok() && skim.finished()
}

/// The contents of a value that was opened already.
pub(super) fn list(value: &Value) -> Vec<Content> {
    // Printed and read again: elements are only ever recognised in raw JSON, so that there is one place that knows their spellings.
    open(value.to_string().as_bytes(), Payloads::default())
}

/// The texts of some content one after the other.
pub(super) fn printed(content: &[Content]) -> String {
    lines(content.iter().filter_map(Content::as_text))
}

/// A field of a value that is text, and not empty.
pub(super) fn str_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// JSON in a text that was opened already: an object or a list, and nothing behind it.
pub(super) fn json(text: &str) -> Option<Value> {
    (text.trim_start().starts_with(['{', '[']) && is_whole(text)).then(|| value::read(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pictures_are_taken_out_of_their_address() {
        let found = list(&json!([
            {"type": "input_text", "text": "see"},
            {"type": "input_image", "image_url": "data:image/png;base64,iVBO"},
            {"type": "input_image", "image_url": {"url": "https://example.com/a.png"}},
            {"type": "image", "data": "R0lG", "mimeType": "image/gif"},
            {"type": "local_image", "path": "/srv/a.png"},
            {"type": "input_audio", "data": "x"},
        ]));
        let image = |media: &str, data: Option<&str>, source: Option<&str>| {
            Content::Image(Image {
                media: media.to_owned(),
                data: data.map(str::to_owned),
                source: source.map(str::to_owned),
                ..Image::default()
            })
        };
        let expected = [
            Content::text("see"),
            image("image/png", Some("iVBO"), None),
            image("", None, Some("https://example.com/a.png")),
            image("image/gif", Some("R0lG"), None),
            image("", None, Some("/srv/a.png")),
            Content::Other { value: json!({"type": "input_audio", "data": "x"}) },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn only_whole_json_counts() {
        assert_eq!(json(r#" {"a":1}"#), Some(json!({"a": 1})));
        assert_eq!(json(r#"{"a":1"#), None);
        assert_eq!(json(r#"{"a":1} and more"#), None);
        assert_eq!(json("12"), None);
        assert!(is_object(r#" {"a":1}"#) && !is_object("[1]") && is_content_list(r#"[{"type":"text"}]"#) && !is_content_list("[1]"));
    }

    #[test]
    fn texts_begin_on_lines_of_their_own() {
        assert_eq!(printed(&[Content::text("Output:\n"), Content::text("a"), Content::text("b")]), "Output:\na\nb");
    }
}
