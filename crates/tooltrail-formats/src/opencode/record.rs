//! A record of OpenCode, read once: a session, a message, or a part of a message. Payloads stay where they are.

use crate::value;
use crate::{Record, time};
use std::ops::Range;
use tooltrail_model::Time;
use tooltrail_model::usage::Tokens;
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// The range of a payload in its record; empty where there is none.
pub(super) type PayloadRange = Range<usize>;

/// A record: the one place from which facts, messages, requests and results are taken.
#[derive(Debug, Default)]
pub(super) struct OpenCodeRecord<'r> {
    /// Its place and its bytes.
    pub(super) record: Record<'r>,
    /// The kind of record.
    pub(super) kind: RecordKind,
    /// The row, where it comes from a database.
    pub(super) row: Option<Raw<'r>>,
    pub(super) id: Option<Raw<'r>>,
    /// `sessionID`.
    pub(super) session: Option<Raw<'r>>,
    /// `messageID`.
    pub(super) message: Option<Raw<'r>>,
    /// `parentID`: of a session the one that started it, of a message the one it answers.
    pub(super) parent: Option<Raw<'r>>,
    pub(super) role: Option<Raw<'r>>,
    /// The type of a part.
    pub(super) name: Option<Raw<'r>>,
    pub(super) title: Option<Raw<'r>>,
    pub(super) directory: Option<Raw<'r>>,
    pub(super) model: Option<Raw<'r>>,
    pub(super) text: Option<Raw<'r>>,
    /// Whether the program inserted the text.
    pub(super) synthetic: bool,
    pub(super) times: RecordTimes,
    /// The creation time of a part's row. An export has no such time, so a scan ignores it and only a reader sees it.
    pub(super) made: Option<Time>,
    pub(super) tokens: Option<Tokens>,
    /// The error of a message without an answer: its name, and the range of the whole.
    pub(super) error: Option<(Option<Raw<'r>>, PayloadRange)>,
    pub(super) tool: Option<Raw<'r>>,
    pub(super) call: Option<Raw<'r>>,
    pub(super) state: CallState<'r>,
    /// A file that came with a prompt: its type, address and name.
    pub(super) mime: Option<Raw<'r>>,
    pub(super) url: Option<Raw<'r>>,
    pub(super) filename: Option<Raw<'r>>,
    /// How deep it nests.
    pub(super) depth: usize,
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RecordKind {
    Session,
    Message,
    Part,
    #[default]
    Unknown,
}

/// `time` of a record or of the state of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordTimes {
    /// Creation or start.
    pub(super) start: Option<Time>,
    /// The end.
    pub(super) end: Option<Time>,
    /// Whether the record has a time at all.
    pub(super) given: bool,
}

/// The state of a call.
#[derive(Debug, Default)]
pub(super) struct CallState<'r> {
    pub(super) status: Option<Raw<'r>>,
    pub(super) times: RecordTimes,
    pub(super) input: PayloadRange,
    pub(super) output: PayloadRange,
    /// The message of a failure.
    pub(super) error: Option<Raw<'r>>,
    pub(super) error_place: PayloadRange,
    pub(super) metadata: PayloadRange,
    pub(super) attachments: PayloadRange,
    pub(super) exit: Option<i64>,
    /// Whether the time limit of the tool was reached.
    pub(super) timeout: bool,
    pub(super) interrupted: bool,
    pub(super) truncated: bool,
    /// The session that the call started.
    pub(super) child: Option<Raw<'r>>,
}

impl<'r> OpenCodeRecord<'r> {
    /// Reads a record.
    pub(super) fn read(record: Record<'r>) -> Result<Self, Torn> {
        #[cfg(test)]
        crate::reads::note(record.bytes);
        OpenCodeRecord::look_at(record)
    }

    /// Reads what may be a record, to see whose it is.
    pub(super) fn look_at(record: Record<'r>) -> Result<Self, Torn> {
        let mut skim = Skim::new(record.bytes);
        if skim.peek() != Some(Type::Object) {
            return Err(Torn { at: skim.position() });
        }
        let mut item = OpenCodeRecord { record, ..OpenCodeRecord::default() };
        skim.object(|key, value| item.field(key.as_bytes(), value))?;
        if !skim.finished() {
            return Err(Torn { at: skim.position() });
        }
        item.depth = skim.deepest();
        item.kind = item.kind_by_fields();
        Ok(item)
    }

    fn kind_by_fields(&self) -> RecordKind {
        match self {
            // Parts of a database carry the role of their message, so the role alone does not decide.
            OpenCodeRecord { message: Some(_), .. } => RecordKind::Part,
            OpenCodeRecord { role: Some(_), .. } => RecordKind::Message,
            OpenCodeRecord { id: Some(_), session: None, directory: Some(_), .. } => RecordKind::Session,
            OpenCodeRecord { id: Some(_), session: None, title: Some(_), .. } => RecordKind::Session,
            _ => RecordKind::Unknown,
        }
    }

    fn field(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        let place = match key {
            b"row" => &mut self.row,
            b"id" => &mut self.id,
            b"sessionID" => &mut self.session,
            b"messageID" => &mut self.message,
            b"parentID" => &mut self.parent,
            b"role" => &mut self.role,
            b"type" => &mut self.name,
            b"title" => &mut self.title,
            b"directory" => &mut self.directory,
            b"modelID" => &mut self.model,
            b"text" => &mut self.text,
            b"tool" => &mut self.tool,
            b"callID" => &mut self.call,
            b"mime" => &mut self.mime,
            b"url" => &mut self.url,
            b"filename" => &mut self.filename,
            key => return self.other(key, value),
        };
        // A repeated key keeps its first value: the fields in front come from columns of the row.
        *place = place.or(value.string());
        Ok(())
    }

    fn other(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        match key {
            b"synthetic" | b"ignored" => self.synthetic |= value.bool() == Some(true),
            b"time" => self.times = RecordTimes::read(value)?,
            b"timeCreated" => self.made = time::read(value),
            b"tokens" if value.peek() == Some(Type::Object) => self.tokens = Some(tokens(value)?),
            // `path` of a message: the directory the agent worked in.
            b"path" if value.peek() == Some(Type::Object) => value.object(|key, value| {
                if key.as_bytes() == b"cwd" {
                    self.directory = self.directory.or(value.string());
                }
                Ok(())
            })?,
            b"error" if value.peek() == Some(Type::Object) => {
                let place = value.skip()?;
                let mut name = None;
                Skim::new(value.slice(place.clone())).object(|key, value| {
                    if key.as_bytes() == b"name" {
                        name = value.string();
                    }
                    Ok(())
                })?;
                self.error = Some((name, place));
            }
            b"state" if value.peek() == Some(Type::Object) => value.object(|key, value| self.state.field(key.as_bytes(), value))?,
            _ => {}
        }
        Ok(())
    }

    /// The bytes of a payload.
    pub(super) fn slice(&self, place: &PayloadRange) -> &'r [u8] {
        self.record.bytes.get(place.clone()).unwrap_or_default()
    }

    /// Whether a field has this text.
    pub(super) fn is(field: Option<Raw<'_>>, text: &str) -> bool {
        field.is_some_and(|field| field == *text)
    }

    /// Whether a part belongs to a message of the person.
    pub(super) fn is_users(&self) -> bool {
        // An export does not say so; in it, only texts of the model have times.
        self.role.map_or(!self.times.given, |role| role == *"user")
    }
}

impl<'r> CallState<'r> {
    fn field(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        match key {
            b"status" => self.status = value.string(),
            b"time" => self.times = RecordTimes::read(value)?,
            b"input" => self.input = value.skip()?,
            b"output" => self.output = value.skip()?,
            b"attachments" => self.attachments = value.skip()?,
            b"error" => {
                // The range is kept as well: a scan needs the place, a reader the text.
                self.error_place = value.skip()?;
                self.error = Skim::new(value.slice(self.error_place.clone())).string();
            }
            b"metadata" => {
                self.metadata = value.skip()?;
                let mut inner = Skim::new(value.slice(self.metadata.clone()));
                if inner.peek() == Some(Type::Object) {
                    inner.object(|key, value| self.metadata(key.as_bytes(), value))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn metadata(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        match key {
            b"exit" => self.exit = value.int().and_then(|code| i64::try_from(code).ok()),
            // Written as a flag or as the limit itself.
            b"timeout" => self.timeout = value.bool() == Some(true) || value.uint().is_some_and(|limit| limit > 0),
            b"interrupted" | b"aborted" => self.interrupted |= value.bool() == Some(true),
            b"truncated" => self.truncated = value.bool() == Some(true),
            b"sessionId" | b"sessionID" => self.child = value.string(),
            _ => {}
        }
        Ok(())
    }

    /// Whether the call has ended.
    pub(super) fn is_over(&self) -> bool {
        self.status.is_some_and(|status| status == *"completed" || status == *"error")
    }

    pub(super) fn failed(&self) -> bool {
        self.status.is_some_and(|status| status == *"error")
    }
}

impl RecordTimes {
    fn read(value: &mut Skim<'_>) -> Result<Self, Torn> {
        let mut times = RecordTimes { given: true, ..RecordTimes::default() };
        if value.peek() == Some(Type::Object) {
            value.object(|key, value| {
                match key.as_bytes() {
                    b"created" | b"start" => times.start = time::read(value),
                    b"completed" | b"end" => times.end = time::read(value),
                    _ => {}
                }
                Ok(())
            })?;
        }
        Ok(times)
    }
}

/// The tokens of a message. Reasoning is listed apart from other output, and added to it.
fn tokens(value: &mut Skim<'_>) -> Result<Tokens, Torn> {
    let mut tokens = Tokens::default();
    value.object(|key, value| {
        match key.as_bytes() {
            b"input" => tokens.input = value::tokens(value),
            b"output" | b"reasoning" => tokens.output = tokens.output.saturating_add(value::tokens(value)),
            b"cache" if value.peek() == Some(Type::Object) => value.object(|key, value| {
                match key.as_bytes() {
                    b"read" => tokens.cache_read = value::tokens(value),
                    b"write" => tokens.cache_write_5m = value::tokens(value),
                    _ => {}
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(tokens)
}
