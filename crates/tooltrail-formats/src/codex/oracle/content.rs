//! What messages and results are made of: lists of texts and pictures, in the spellings of items, of events and of MCP.

use super::opened::str_of;
use serde_json::Value;
use tooltrail_model::content::{Content, Image};

/// A list of content, or a single text.
pub(super) fn list(value: &Value) -> Vec<Content> {
    match value {
        Value::String(text) => vec![Content::text(text)],
        Value::Array(items) => items.iter().map(one).collect(),
        Value::Null => Vec::new(),
        other => vec![Content::Other { value: other.clone() }],
    }
}

/// One element of a list.
fn one(item: &Value) -> Content {
    if let Some(text) = item.as_str() {
        return Content::text(text);
    }
    let kind = str_of(item, "type").unwrap_or_default();
    let text = item.get("text").and_then(Value::as_str);
    match (kind, text) {
        ("input_text" | "output_text" | "text" | "Text" | "inputText" | "summary_text" | "reasoning_text", Some(text)) => {
            Content::text(text)
        }
        ("input_image" | "image" | "Image" | "inputImage" | "local_image" | "localImage", _) => {
            picture(item).map_or_else(|| Content::Other { value: item.clone() }, Content::Image)
        }
        ("resource", _) => resource(item).unwrap_or_else(|| Content::Other { value: item.clone() }),
        _ => Content::Other { value: item.clone() },
    }
}

/// A picture: at an address, in the log (MCP), or in a file.
fn picture(item: &Value) -> Option<Image> {
    let address = item.get("image_url").or_else(|| item.get("imageUrl"));
    let address = address.and_then(|url| url.as_str().or_else(|| str_of(url, "url")));
    if let Some(address) = address.or_else(|| str_of(item, "path")) {
        return Some(image(address));
    }
    let media = str_of(item, "mimeType").or_else(|| str_of(item, "mime_type")).unwrap_or_default();
    Some(Image { media: media.to_owned(), data: Some(str_of(item, "data")?.to_owned()), ..Image::default() })
}

/// A picture by its address: `data:image/png;base64,…` holds it, anything else only says where it is.
pub(super) fn image(address: &str) -> Image {
    let held = address.strip_prefix("data:").and_then(|rest| rest.split_once(','));
    match held.and_then(|(media, data)| Some((media.strip_suffix(";base64")?, data))) {
        Some((media, data)) => Image { media: media.to_owned(), data: Some(data.to_owned()), ..Image::default() },
        None => Image { source: Some(address.to_owned()), ..Image::default() },
    }
}

/// A resource of an MCP server that is text.
fn resource(item: &Value) -> Option<Content> {
    let resource = item.get("resource")?;
    let text = str_of(resource, "text")?;
    Some(Content::Document {
        title: str_of(resource, "uri").map(str::to_owned),
        media: str_of(resource, "mimeType").map(str::to_owned),
        text: Some(text.to_owned()),
        bytes: text.len() as u64,
    })
}

/// The texts of some content one after the other; each begins on a line of its own.
pub(super) fn printed(content: &[Content]) -> String {
    let mut out = String::new();
    for text in content.iter().filter_map(Content::as_text) {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(text);
    }
    out
}
