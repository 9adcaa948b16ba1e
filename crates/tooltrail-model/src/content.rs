//! Content: what a message or a result is made of, once it is loaded.

use serde::Serialize;
use serde_json::Value;

/// One piece of a message or of a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Content {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    Image(Image),
    /// A document, such as a PDF.
    Document {
        /// Its title or name.
        title: Option<String>,
        /// Its media type.
        media: Option<String>,
        /// The text of a document that is text.
        text: Option<String>,
        /// How large it is, in bytes.
        bytes: u64,
    },
    /// A tool that is named, not called.
    Tool {
        /// Its name.
        name: String,
    },
    /// Anything else, as the log has it.
    Other {
        /// The value.
        value: Value,
    },
}

impl Content {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text { text: text.into() }
    }

    /// The words, if it is words.
    pub fn as_text(&self) -> Option<&str> {
        if let Content::Text { text } = self { Some(text) } else { None }
    }
}

/// The words of some content, joined by line feeds.
pub fn words(content: &[Content]) -> String {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    texts.join("\n")
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Its media type, as the log says: never to be trusted.
    pub media: String,
    /// The picture in base64; `None` where the log only names a place.
    pub data: Option<String>,
    /// Where the picture is, if it is not in the log. Never fetched.
    pub source: Option<String>,
    /// Width and height in pixels, where the log says.
    pub size: Option<(u32, u32)>,
    /// How large the file was, in bytes.
    pub bytes: Option<u64>,
}
