//! The fields that all records share, taken in before it is known what the record is.

use super::message::Message;
use super::outcome::Structured;
use crate::time;
use std::ops::Range;
use tooltrail_model::Time;
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// A record with the fields that most types have. The rest is read again by the few types that need it.
#[derive(Debug, Default)]
pub(super) struct Envelope<'r> {
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
    pub(super) meta: bool,
    pub(super) compact_summary: bool,
    pub(super) transcript_only: bool,
    pub(super) api_error: bool,
    pub(super) team: bool,
    /// `origin.kind`: who a user text comes from.
    pub(super) origin: Option<Raw<'r>>,
    pub(super) source_node: Option<Raw<'r>>,
    pub(super) denial: Option<Raw<'r>>,
    pub(super) feedback: Option<Raw<'r>>,
    pub(super) tool_use: Option<Raw<'r>>,
    pub(super) parent_tool_use: Option<Raw<'r>>,
    /// `forkedFrom.messageUuid`: the record that this one is a copy of.
    pub(super) forked_from: Option<Raw<'r>>,
    pub(super) supersedes: Vec<Raw<'r>>,
    pub(super) message: Message<'r>,
    pub(super) structured: Option<Structured<'r>>,
    /// `data` of a progress record, `attachment` of an attachment.
    pub(super) inner: Option<Range<usize>>,
    pub(super) depth: usize,
}

impl<'r> Envelope<'r> {
    /// Takes in one whole record.
    pub(super) fn read(&mut self, bytes: &'r [u8]) -> Result<(), Torn> {
        let mut skim = Skim::new(bytes);
        if skim.peek() != Some(Type::Object) {
            return Err(Torn { at: skim.position() });
        }
        skim.object(|key, value| self.field(key.as_bytes(), value))?;
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
            b"toolUseResult" => self.structured.insert(Structured::default()).read(value)?,
            b"sessionId" => self.session = value.string().or(self.session),
            // A later spelling of the same; where both are there and differ, `sessionId` names this session.
            b"session_id" => self.session = self.session.or(value.string()),
            b"isSidechain" => self.sidechain = value.bool() == Some(true),
            b"agentId" => self.agent = value.string(),
            b"cwd" => self.cwd = value.string(),
            b"gitBranch" => self.branch = value.string(),
            b"requestId" => self.request = value.string(),
            b"isMeta" => self.meta = value.bool() == Some(true),
            b"data" | b"attachment" => self.inner = Some(value.skip()?),
            b"toolUseID" => self.tool_use = value.string(),
            b"parentToolUseID" => self.parent_tool_use = value.string(),
            b"sourceToolAssistantUUID" => self.source_node = value.string(),
            b"isCompactSummary" => self.compact_summary = value.bool() == Some(true),
            b"isVisibleInTranscriptOnly" => self.transcript_only = value.bool() == Some(true),
            b"isApiErrorMessage" => self.api_error = value.bool() == Some(true),
            b"teamName" => self.team = value.string().is_some(),
            b"toolDenialKind" => self.denial = value.string(),
            b"userFeedback" => self.feedback = value.string(),
            b"origin" => value.object(|key, value| {
                if key.as_bytes() == b"kind" {
                    self.origin = value.string();
                }
                Ok(())
            })?,
            b"forkedFrom" => value.object(|key, value| {
                if key.as_bytes() == b"messageUuid" {
                    self.forked_from = value.string();
                }
                Ok(())
            })?,
            b"supersedesUuids" => value.array(|id| {
                self.supersedes.extend(id.string());
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    }
}
