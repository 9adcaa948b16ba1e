//! Messages: model, tokens, and content blocks. The only place that adds up tokens and that names calls.

use crate::value::tokens;
use std::borrow::Cow;
use std::ops::Range;
use tooltrail_model::usage::Tokens;
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// The `message` of a user or assistant record.
#[derive(Debug, Default)]
pub(super) struct ClaudeMessage<'r> {
    pub(super) id: Option<Raw<'r>>,
    pub(super) model: Option<Raw<'r>>,
    pub(super) stop_reason: Option<Raw<'r>>,
    pub(super) content: MessageContent<'r>,
    pub(super) usage: Option<MessageUsage<'r>>,
}

/// The content of a message: one text, or blocks.
#[derive(Debug, Default)]
pub(super) struct MessageContent<'r> {
    /// The content where it is a plain string, and where that stands.
    pub(super) text: Option<(Raw<'r>, Range<usize>)>,
    /// Nearly every record has one block; only more than that need a list.
    first: Option<ContentBlock<'r>>,
    more: Vec<ContentBlock<'r>>,
}

/// One content block of any type; fields that its type does not have stay empty.
#[derive(Debug, Default)]
pub(super) struct ContentBlock<'r> {
    pub(super) kind: Option<Raw<'r>>,
    /// The family of its kind, which is asked for many times.
    pub(super) family: BlockFamily,
    pub(super) id: Option<Raw<'r>>,
    pub(super) name: Option<Raw<'r>>,
    pub(super) server: Option<Raw<'r>>,
    pub(super) text: Option<Raw<'r>>,
    pub(super) thinking: Option<Raw<'r>>,
    pub(super) span: Range<usize>,
    /// The span and the fingerprint of a call's input.
    pub(super) input: Option<(Range<usize>, u64)>,
    pub(super) tool_use_id: Option<Raw<'r>>,
    pub(super) is_error: Option<bool>,
    pub(super) result: ResultTexts<'r>,
}

/// The family of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockFamily {
    /// Requests a call: `tool_use`, or one of the API-side kinds.
    Call,
    /// Answers a call: `tool_result`, or one of the API-side kinds.
    Result,
    Image,
    Document,
    Thinking,
    /// Text, also where the block does not say what it is.
    #[default]
    Text,
    /// Anything else.
    Other,
}

impl BlockFamily {
    fn of(kind: Raw<'_>) -> Self {
        // API-side kinds end alike (`server_tool_use`, `mcp_tool_use`), so new ones are recognised, too.
        match &*kind.decoded_bytes() {
            b"tool_use" => BlockFamily::Call,
            b"tool_result" => BlockFamily::Result,
            b"text" => BlockFamily::Text,
            b"thinking" | b"redacted_thinking" => BlockFamily::Thinking,
            b"image" => BlockFamily::Image,
            b"document" => BlockFamily::Document,
            kind if kind.ends_with(b"_tool_use") => BlockFamily::Call,
            kind if kind.ends_with(b"_tool_result") => BlockFamily::Result,
            _ => BlockFamily::Other,
        }
    }
}

/// The `content` of a result: where it stands, and its first and last text.
#[derive(Debug, Default)]
pub(super) struct ResultTexts<'r> {
    pub(super) span: Option<Range<usize>>,
    pub(super) first: Option<Raw<'r>>,
    pub(super) last: Option<Raw<'r>>,
    /// An API-side tool reports an error as an object whose type ends in `_error`.
    pub(super) error_object: bool,
}

/// The tokens of a message.
#[derive(Debug, Default)]
pub(super) struct MessageUsage<'r> {
    pub(super) tokens: Tokens,
    pub(super) server_tools: [u32; 2],
    pub(super) tier: Option<Raw<'r>>,
    /// Advisors that were asked on the way: their models, and tokens that the message's own numbers do not include.
    pub(super) advisors: Vec<(Raw<'r>, Tokens)>,
}

impl<'r> ClaudeMessage<'r> {
    pub(super) fn read(&mut self, value: &mut Skim<'r>) -> Result<(), Torn> {
        value.object(|key, value| {
            match key.as_bytes() {
                b"id" => self.id = value.string(),
                b"model" => self.model = value.string(),
                b"stop_reason" => self.stop_reason = value.string(),
                b"content" => {
                    // Of a repeated key the last one counts.
                    self.content = MessageContent::default();
                    self.content.read(value)?;
                }
                b"usage" => self.usage = MessageUsage::read(value)?,
                _ => {}
            }
            Ok(())
        })
    }

    /// The model, unless the program wrote the message itself.
    pub(super) fn real_model(&self) -> Option<Raw<'r>> {
        self.model.filter(|_| !self.is_synthetic())
    }

    /// Whether the program wrote the message itself, in the model's place.
    pub(super) fn is_synthetic(&self) -> bool {
        self.model.is_some_and(|model| model == *"<synthetic>")
    }

    /// The call that a block of the message requests, which stands on this line; one without an id is named after its place.
    pub(super) fn call_id(&self, block: &ContentBlock<'r>, line: u64) -> Option<Cow<'r, str>> {
        let unnamed = |other: &&ContentBlock<'r>| other.is_call() && other.id.is_none();
        block.is_call().then(|| block.id.map_or_else(|| self.place_name(block, line, unnamed), Raw::text))
    }

    /// The call that a block of the message answers, which stands on this line.
    pub(super) fn result_id(&self, block: &ContentBlock<'r>, line: u64) -> Option<Cow<'r, str>> {
        let unnamed = |other: &&ContentBlock<'r>| other.is_result() && other.tool_use_id.is_none();
        block.is_result().then(|| block.tool_use_id.map_or_else(|| self.place_name(block, line, unnamed), Raw::text))
    }

    /// The result of the message that names no call, if it is the only one.
    pub(super) fn sole_unnamed_result(&self) -> Option<&ContentBlock<'r>> {
        let mut unnamed = self.content.blocks().filter(|block| block.is_result() && block.tool_use_id.is_none());
        unnamed.next().filter(|_| unnamed.next().is_none())
    }

    /// The name of a call or result that has no id: its line, and among several there its number.
    fn place_name(&self, block: &ContentBlock<'r>, line: u64, unnamed: impl Fn(&&ContentBlock<'r>) -> bool) -> Cow<'r, str> {
        // By address: two blocks may be equal and still be two calls.
        let before = self.content.blocks().filter(unnamed).position(|other| std::ptr::eq(other, block)).unwrap_or_default();
        Cow::Owned(if before == 0 { format!("line-{line}") } else { format!("line-{line}-{}", before + 1) })
    }
}

impl<'r> MessageContent<'r> {
    pub(super) fn read(&mut self, value: &mut Skim<'r>) -> Result<(), Torn> {
        match value.peek() {
            Some(Type::String) => {
                let start = value.position();
                self.text = value.string().map(|text| (text, start..value.position()));
            }
            Some(Type::Array) => value.array(|item| {
                let start = item.position();
                // `first` avoids an allocation for nearly every record of a scan. Blocks are large, so they are filled where they stay.
                let block = match self.first {
                    None => self.first.get_or_insert_default(),
                    Some(_) => self.more.push_mut(ContentBlock::default()),
                };
                if item.peek() == Some(Type::Object) {
                    item.object(|key, value| block.field(key.as_bytes(), value))?;
                } else if let Some(text) = item.string() {
                    // A bare string among the blocks is text.
                    block.text = Some(text);
                }
                block.span = start..item.position();
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = &ContentBlock<'r>> {
        self.first.iter().chain(&self.more)
    }

    /// How many calls it answers.
    pub(super) fn results(&self) -> usize {
        self.blocks().filter(|block| block.is_result()).count()
    }

    /// The picture or document of a prompt that is nothing else.
    pub(super) fn wordless_media(&self) -> Option<&ContentBlock<'r>> {
        let words = self.text.is_some() || self.blocks().any(|block| block.text.is_some() || block.is_result());
        self.blocks().find(|block| block.is_media()).filter(|_| !words)
    }
}

impl<'r> ContentBlock<'r> {
    fn field(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        match key {
            b"type" => {
                self.kind = value.string();
                self.family = self.kind.map(BlockFamily::of).unwrap_or_default();
            }
            b"id" => self.id = id(value)?,
            b"name" => self.name = value.string(),
            b"server_name" => self.server = value.string(),
            b"text" => self.text = value.string(),
            b"thinking" => self.thinking = value.string(),
            b"input" => {
                value.peek();
                let start = value.position();
                let digest = value.digest()?;
                self.input = Some((start..value.position(), digest));
            }
            b"tool_use_id" => self.tool_use_id = id(value)?,
            b"is_error" => self.is_error = flag(value),
            b"content" => self.result = ResultTexts::read(value)?,
            _ => {}
        }
        Ok(())
    }
}

impl ContentBlock<'_> {
    /// Whether it requests a call.
    pub(super) fn is_call(&self) -> bool {
        self.family == BlockFamily::Call
    }

    /// Whether it answers a call.
    pub(super) fn is_result(&self) -> bool {
        self.family == BlockFamily::Result
    }

    /// Whether it is a picture or a document.
    pub(super) fn is_media(&self) -> bool {
        matches!(self.family, BlockFamily::Image | BlockFamily::Document)
    }
}

/// A flag, also where it is written as a number or a text.
fn flag(value: &mut Skim<'_>) -> Option<bool> {
    let flag = value.bool().or_else(|| value.uint().map(|number| number != 0));
    flag.or_else(|| value.string().map(|word| matches!(word.text().trim().to_ascii_lowercase().as_str(), "true" | "1")))
}

/// An id: a text, or a number by its digits. An empty one is none.
fn id<'r>(value: &mut Skim<'r>) -> Result<Option<Raw<'r>>, Torn> {
    if let Some(text) = value.string() {
        return Ok(Some(text).filter(|text| !text.is_empty()));
    }
    if value.peek() != Some(Type::Number) {
        return Ok(None);
    }
    // A number as an id is kept by its digits, as the result names it.
    let span = value.skip()?;
    Ok(Some(Raw::new(value.slice(span))))
}

impl<'r> ResultTexts<'r> {
    fn read(value: &mut Skim<'r>) -> Result<Self, Torn> {
        let mut out = ResultTexts::default();
        value.peek();
        let start = value.position();
        match value.peek() {
            Some(Type::String) => out.note(value.string()),
            Some(Type::Array) => value.array(|item| {
                match item.peek() {
                    Some(Type::String) => out.note(item.string()),
                    _ => out.object(item)?,
                }
                Ok(())
            })?,
            Some(Type::Object) => out.object(value)?,
            _ => {
                value.skip()?;
            }
        }
        out.span = Some(start..value.position());
        Ok(out)
    }

    fn object(&mut self, item: &mut Skim<'r>) -> Result<(), Torn> {
        item.object(|key, value| {
            match key.as_bytes() {
                b"text" => self.note(value.string()),
                b"type" => self.error_object |= value.string().is_some_and(|kind| kind.ends_with("_error")),
                _ => {}
            }
            Ok(())
        })
    }

    fn note(&mut self, text: Option<Raw<'r>>) {
        self.first = self.first.or(text);
        self.last = text.or(self.last);
    }
}

/// The advisors among the steps of an answer. Few answers have any, and the message's own numbers include the other steps.
fn advisors(steps: &[u8]) -> Result<Vec<(Raw<'_>, Tokens)>, Torn> {
    let mut found = Vec::new();
    // An escape could hide the word, so a text with one is parsed.
    if memchr::memmem::find(steps, b"advisor_message").is_none() && memchr::memchr(b'\\', steps).is_none() {
        return Ok(found);
    }
    Skim::new(steps).array(|step| {
        let span = step.skip()?;
        let step = step.slice(span);
        let (mut advises, mut model) = (false, None);
        Skim::new(step).object(|key, value| {
            match key.as_bytes() {
                b"type" => advises = value.string().is_some_and(|kind| kind == *"advisor_message"),
                b"model" => model = value.string(),
                _ => {}
            }
            Ok(())
        })?;
        if let (Some(model), Some(usage)) = (model.filter(|_| advises), MessageUsage::read(&mut Skim::new(step))?) {
            found.push((model, usage.tokens));
        }
        Ok(())
    })?;
    Ok(found)
}

impl<'r> MessageUsage<'r> {
    fn read(value: &mut Skim<'r>) -> Result<Option<Self>, Torn> {
        if value.peek() != Some(Type::Object) {
            return Ok(None);
        }
        let mut out = MessageUsage::default();
        let (mut written, mut five, mut one) = (0, 0, 0);
        value.object(|key, value| {
            match key.as_bytes() {
                b"input_tokens" => out.tokens.input = tokens(value),
                b"output_tokens" => out.tokens.output = tokens(value),
                b"cache_read_input_tokens" => out.tokens.cache_read = tokens(value),
                b"cache_creation_input_tokens" => written = tokens(value),
                b"cache_creation" => value.object(|key, value| {
                    match key.as_bytes() {
                        b"ephemeral_5m_input_tokens" => five = tokens(value),
                        b"ephemeral_1h_input_tokens" => one = tokens(value),
                        _ => {}
                    }
                    Ok(())
                })?,
                b"service_tier" => out.tier = value.string(),
                b"iterations" => {
                    let span = value.skip()?;
                    out.advisors = advisors(value.slice(span))?;
                }
                b"server_tool_use" => value.object(|key, value| {
                    let times = |value: &mut Skim<'r>| u32::try_from(tokens(value)).unwrap_or(0);
                    match key.as_bytes() {
                        b"web_search_requests" => out.server_tools[0] = times(value),
                        b"web_fetch_requests" => out.server_tools[1] = times(value),
                        _ => {}
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        // The two parts may be missing or too small; the rest of the total is five-minute cache.
        out.tokens.cache_write_1h = one;
        out.tokens.cache_write_5m = five.max(written.saturating_sub(one));
        Ok(Some(out))
    }
}
