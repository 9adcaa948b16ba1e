//! Content: the parts of a message or of a result, once it is loaded.

use serde::Serialize;
use serde_json::Value;

/// Part of a message or of a result.
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
        /// Size in bytes.
        bytes: u64,
    },
    /// A tool that is named, not called.
    Tool {
        /// Its name.
        name: String,
    },
    /// Anything else, as in the log.
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

    /// The text, if it is text.
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
    /// Media type according to the log: never to be trusted.
    pub media: String,
    /// The picture in base64; `None` where the log only has an address.
    pub data: Option<String>,
    /// Address of the picture, if it is not in the log. Never fetched.
    pub source: Option<String>,
    /// Width and height in pixels, where the log says.
    pub size: Option<(u32, u32)>,
    /// Size of the file in bytes.
    pub bytes: Option<u64>,
}
