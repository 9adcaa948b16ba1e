//! A record of Claude Code, typed: scans and readers take everything from here.
//!
//! `type` often comes behind `message`, so all fields are read before the type is known. Payloads (inputs, results, attachments) stay where
//! they are, as spans. Fields of a few types only are kept apart in [`RareFields`], so that the others stay small.

use super::author::{RecordSpeaker, TextFlags};
use super::message::ClaudeMessage;
use super::outcome::StructuredResult;
use crate::{Record, time};
use std::borrow::Cow;
use std::ops::Range;
use tooltrail_model::Time;
use tooltrail_model::event::TitleBy;
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// A record: its envelope, its message with the content blocks, and where its payloads stand.
#[derive(Debug, Default)]
pub(super) struct ClaudeRecord<'r> {
    /// Its place and its bytes.
    pub(super) record: Record<'r>,
    pub(super) kind: Option<Raw<'r>>,
    pub(super) uuid: Option<Raw<'r>>,
    pub(super) parent: Option<Raw<'r>>,
    pub(super) time: Option<Time>,
    pub(super) session: Option<Raw<'r>>,
    pub(super) sidechain: bool,
    pub(super) agent: Option<Raw<'r>>,
    pub(super) cwd: Option<Raw<'r>>,
    pub(super) branch: Option<Raw<'r>>,
    pub(super) request: Option<Raw<'r>>,
    /// The version of the program that wrote it.
    pub(super) version: Option<Raw<'r>>,
    pub(super) meta: bool,
    pub(super) compact_summary: bool,
    pub(super) transcript_only: bool,
    pub(super) api_error: bool,
    pub(super) team: bool,
    /// `origin.kind`: the sender of a user text.
    pub(super) origin: Option<Raw<'r>>,
    pub(super) source_node: Option<Raw<'r>>,
    pub(super) denial: Option<Raw<'r>>,
    pub(super) feedback: Option<Raw<'r>>,
    pub(super) tool_use: Option<Raw<'r>>,
    pub(super) parent_tool_use: Option<Raw<'r>>,
    /// `forkedFrom.messageUuid`: the record that this one is a copy of.
    pub(super) forked_from: Option<Raw<'r>>,
    pub(super) supersedes: Vec<Raw<'r>>,
    pub(super) message: ClaudeMessage<'r>,
    pub(super) structured: Option<StructuredResult<'r>>,
    /// `data` of a progress record.
    pub(super) data: Option<Range<usize>>,
    /// `attachment` of an attachment.
    pub(super) attachment: Option<Range<usize>>,
    rare: Option<Box<RareFields<'r>>>,
    /// How deep it nests.
    pub(super) depth: usize,
}

/// Fields of system records, titles, the queue, file histories and other rare records.
#[derive(Debug, Default)]
pub(super) struct RareFields<'r> {
    /// The record before a summary of the history, which has no other parent.
    pub(super) logical_parent: Option<Raw<'r>>,
    /// The call that a text was put in for.
    pub(super) source_tool_use: Option<Raw<'r>>,
    /// The service's own word for a failure.
    pub(super) error: Option<Raw<'r>>,
    pub(super) subtype: Option<Raw<'r>>,
    /// The span of the `content` of a record without a message.
    pub(super) content: Option<Range<usize>>,
    /// `operation` and `reason` of a record of the queue.
    pub(super) operation: Option<Raw<'r>>,
    pub(super) reason: Option<Raw<'r>>,
    pub(super) retry_attempt: Option<u64>,
    pub(super) max_retries: Option<u64>,
    pub(super) retracted: Vec<Raw<'r>>,
    pub(super) leaf: Option<Raw<'r>>,
    pub(super) title: Option<(TitleBy, Raw<'r>)>,
    /// The directory that the session belongs to, if it ran in another one.
    pub(super) project: Option<Raw<'r>>,
    pub(super) hook_infos: Option<Range<usize>>,
    pub(super) hook_errors: Option<Range<usize>>,
    pub(super) hook_context: Option<Range<usize>>,
    pub(super) prevented: bool,
    pub(super) stop_reason: Option<Raw<'r>>,
    pub(super) permission_mode: Option<Raw<'r>>,
    /// The event of a hook, where the record is the input that a hook got.
    pub(super) hook_input: Option<Raw<'r>>,
    /// The kind of rule by which a permission was denied.
    pub(super) denied_by: Option<Raw<'r>>,
    /// The file that a single copy was made of, and the span that lists the copies.
    pub(super) tracking_path: Option<Raw<'r>>,
    pub(super) backups: Option<Range<usize>>,
}

impl<'r> ClaudeRecord<'r> {
    /// Reads one whole record.
    pub(super) fn read(record: Record<'r>) -> Result<Self, Torn> {
        let mut out = ClaudeRecord::unread(record);
        out.fill()?;
        Ok(out)
    }

    /// A record that is to be filled.
    pub(super) fn unread(record: Record<'r>) -> Self {
        ClaudeRecord { record, ..ClaudeRecord::default() }
    }

    /// Takes in all fields, in one pass.
    pub(super) fn fill(&mut self) -> Result<(), Torn> {
        #[cfg(test)]
        crate::reads::note(self.record.bytes);
        let mut skim = Skim::new(self.record.bytes);
        if skim.peek() != Some(Type::Object) {
            return Err(Torn { at: skim.position() });
        }
        skim.object(|key, value| self.field(key.as_bytes(), value))?;
        // Text behind the object: two records glued together.
        if !skim.finished() {
            return Err(Torn { at: skim.position() });
        }
        self.depth = skim.deepest();
        Ok(())
    }

    fn field(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        match key {
            b"type" => self.kind = value.string(),
            b"uuid" => self.uuid = value.string(),
            b"parentUuid" => self.parent = value.string(),
            b"timestamp" => self.time = time::read(value),
            b"message" => self.message.read(value)?,
            b"toolUseResult" => self.structured.insert(StructuredResult::default()).read(value)?,
            b"sessionId" => self.session = value.string().or(self.session),
            // A later spelling of the same; where both exist and differ, `sessionId` names this session.
            b"session_id" => self.session = self.session.or(value.string()),
            b"isSidechain" => self.sidechain = value.bool() == Some(true),
            b"agentId" => self.agent = value.string(),
            b"cwd" => self.cwd = value.string(),
            b"gitBranch" => self.branch = value.string(),
            b"requestId" => self.request = value.string(),
            b"version" => self.version = value.string(),
            b"isMeta" => self.meta = value.bool() == Some(true),
            b"data" => self.data = Some(value.skip()?),
            b"attachment" => self.attachment = Some(value.skip()?),
            // Inputs of hooks spell it differently.
            b"toolUseID" | b"tool_use_id" => self.tool_use = value.string(),
            b"parentToolUseID" => self.parent_tool_use = value.string(),
            b"sourceToolAssistantUUID" => self.source_node = value.string(),
            b"isCompactSummary" => self.compact_summary = value.bool() == Some(true),
            b"isVisibleInTranscriptOnly" => self.transcript_only = value.bool() == Some(true),
            b"isApiErrorMessage" => self.api_error = value.bool() == Some(true),
            b"teamName" => self.team = value.string().is_some(),
            b"toolDenialKind" => self.denial = value.string(),
            b"userFeedback" => self.feedback = value.string(),
            b"origin" => self.origin = member(value, b"kind")?,
            b"forkedFrom" => self.forked_from = member(value, b"messageUuid")?,
            b"supersedesUuids" => value.array(|id| {
                self.supersedes.extend(id.string());
                Ok(())
            })?,
            _ => self.rare_field(key, value)?,
        }
        Ok(())
    }

    /// Reads a field that few records have. Callers decide which of them count, once the type is known.
    fn rare_field(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        match key {
            b"subtype" => self.rare_mut().subtype = value.string(),
            b"content" => self.rare_mut().content = Some(value.skip()?),
            b"error" => self.rare_mut().error = value.string(),
            b"logicalParentUuid" => self.rare_mut().logical_parent = value.string(),
            b"sourceToolUseID" => self.rare_mut().source_tool_use = value.string(),
            b"operation" => self.rare_mut().operation = value.string(),
            b"reason" => self.rare_mut().reason = value.string(),
            b"retryAttempt" => self.rare_mut().retry_attempt = value.uint(),
            b"maxRetries" => self.rare_mut().max_retries = value.uint(),
            b"retractedMessageUuids" => value.array(|id| {
                self.rare_mut().retracted.extend(id.string());
                Ok(())
            })?,
            b"leafUuid" => self.rare_mut().leaf = value.string(),
            b"summary" => self.rare_mut().title = value.string().map(|text| (TitleBy::Summary, text)),
            b"aiTitle" => self.rare_mut().title = value.string().map(|text| (TitleBy::Model, text)),
            b"agentName" => self.rare_mut().title = value.string().map(|text| (TitleBy::Agent, text)),
            b"customTitle" => self.rare_mut().title = value.string().map(|text| (TitleBy::Person, text)),
            b"relocatedCwd" => self.rare_mut().project = value.string(),
            // A worktree without the original directory must not erase one that was named before.
            b"worktreeSession" => self.rare_mut().project = member(value, b"originalCwd")?.or(self.rare_mut().project),
            b"hookInfos" => self.rare_mut().hook_infos = Some(value.skip()?),
            b"hookErrors" => self.rare_mut().hook_errors = Some(value.skip()?),
            b"hookAdditionalContext" => self.rare_mut().hook_context = Some(value.skip()?),
            b"preventedContinuation" => self.rare_mut().prevented = value.bool() == Some(true),
            b"stopReason" => self.rare_mut().stop_reason = value.string(),
            b"permissionMode" => self.rare_mut().permission_mode = value.string(),
            b"hook_event_name" => self.rare_mut().hook_input = value.string(),
            b"decision_reason_type" => self.rare_mut().denied_by = value.string(),
            b"trackingPath" => self.rare_mut().tracking_path = value.string(),
            b"backup" | b"snapshot" => self.rare_mut().backups = Some(value.skip()?),
            _ => {}
        }
        Ok(())
    }

    fn rare_mut(&mut self) -> &mut RareFields<'r> {
        self.rare.get_or_insert_default()
    }

    /// The rare fields, if the record has any.
    pub(super) fn rare(&self) -> Option<&RareFields<'r>> {
        self.rare.as_deref()
    }

    /// The session that the record belongs to. The input of a hook names the session that the hook served, but is no record of it.
    pub(super) fn own_session(&self) -> Option<Raw<'r>> {
        self.session.filter(|_| self.hook_input().is_none())
    }

    /// The event of a hook, where the record is nothing but the input that the hook got.
    pub(super) fn hook_input(&self) -> Option<Raw<'r>> {
        self.rare()?.hook_input.filter(|_| self.kind.is_none())
    }

    /// A text among the rare fields.
    pub(super) fn rare_text(&self, field: impl Fn(&RareFields<'r>) -> Option<Raw<'r>>) -> Option<Cow<'r, str>> {
        self.rare().and_then(field).map(Raw::text)
    }

    /// The `content` of a record without a message, where that is one text.
    pub(super) fn content_text(&self) -> Option<Raw<'r>> {
        let span = self.rare()?.content.clone()?;
        Skim::new(self.slice(&span)).string()
    }

    /// The bytes of a span of the record.
    pub(super) fn slice(&self, span: &Range<usize>) -> &'r [u8] {
        self.record.bytes.get(span.clone()).unwrap_or_default()
    }

    /// The speaker of the record, as far as its flags reveal it.
    pub(super) fn speaker(&self) -> RecordSpeaker {
        // A record without an origin is judged by its other flags alone.
        let foreign = self.origin.is_some_and(|origin| origin != *"human");
        let injected = self.meta || self.compact_summary || self.transcript_only || foreign || self.team;
        // A skill's instructions are sent as a hidden message for the call that loads it.
        let for_call = self.meta && self.rare().is_some_and(|rare| rare.source_tool_use.is_some());
        let label = if self.compact_summary {
            Some("summary of the conversation so far")
        } else if for_call {
            Some("skill instructions")
        } else {
            self.origin.and_then(|origin| match &*origin.text() {
                "task-notification" => Some("task notification"),
                "peer" => Some("message of another session"),
                _ => None,
            })
        };
        RecordSpeaker { flags: TextFlags { injected, sidechain: self.sidechain }, label }
    }
}

/// A text of an object; of a repeated key, the last.
pub(super) fn member<'r>(value: &mut Skim<'r>, name: &[u8]) -> Result<Option<Raw<'r>>, Torn> {
    let mut found = None;
    value.object(|key, value| {
        if key.as_bytes() == name {
            found = value.string();
        }
        Ok(())
    })?;
    Ok(found)
}
