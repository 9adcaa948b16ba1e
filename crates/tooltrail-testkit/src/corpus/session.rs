//! One log being written: model, clock, and the envelope that every record shares.

use std::collections::VecDeque;

use super::ids::{self, SessionClock};
use super::pool::Pool;
use super::usage::TokenUsage;
use crate::json::{self, Object, list, quoted, text_of};
use crate::rng::Rng;

const MODELS: &[(u32, &str)] = &[(5, "claude-opus-4-5-20251101"), (4, "claude-sonnet-4-5-20250929"), (2, "claude-haiku-4-5-20251001")];

/// A log being written; [`SessionLog::turn`](super::turn) adds to `out`.
pub(super) struct SessionLog<'p> {
    pub(super) pool: &'p Pool,
    pub(super) rng: Rng,
    pub(super) clock: SessionClock,
    pub(super) id: String,
    pub(super) cwd: String,
    pub(super) model: &'static str,
    version: String,
    branch: String,
    /// The subagent whose log this is.
    agent: Option<String>,
    /// The parent of the next record.
    pub(super) parent: Option<String>,
    /// Lines not yet written to the file.
    pub(super) out: String,
    pub(super) lines: u64,
    /// Number of rows that a reader sees: prompts, texts, thoughts and calls.
    pub(super) rows: u64,
    /// Whether results are short.
    pub(super) brief: bool,
    /// Subagents started here that have a log of their own.
    pub(super) started: Vec<Started>,
    /// Calls that the parent's progress records have already reported of this subagent.
    pub(super) told: VecDeque<ReportedCall>,
}

/// A subagent whose log is still to be written.
pub(super) struct Started {
    pub(super) id: String,
    pub(super) prompt: String,
    pub(super) clock: SessionClock,
    pub(super) told: VecDeque<ReportedCall>,
}

/// A subagent's call that a progress record has reported and that must occur in its own log too.
pub(super) struct ReportedCall {
    pub(super) message: String,
    pub(super) call: String,
    pub(super) file: usize,
}

impl<'p> SessionLog<'p> {
    pub(super) fn new(pool: &'p Pool, mut rng: Rng, cwd: String) -> Self {
        Self {
            clock: SessionClock::new(&mut rng),
            id: ids::uuid(&mut rng),
            cwd,
            model: rng.weighted(MODELS),
            // Versions differ between sessions, because readers must not depend on one.
            version: format!("2.1.{}", rng.below(80)),
            branch: if rng.chance(0.4) { "main".to_owned() } else { pool.words.name(&mut rng) },
            agent: None,
            parent: None,
            out: String::new(),
            lines: 0,
            rows: 0,
            brief: false,
            started: Vec::new(),
            told: VecDeque::new(),
            pool,
            rng,
        }
    }

    /// The log of a subagent of this session.
    pub(super) fn of_agent(&mut self, started: Started) -> Self {
        let rng = Rng::new(self.rng.draw());
        Self {
            clock: started.clock,
            id: self.id.clone(),
            version: self.version.clone(),
            branch: self.branch.clone(),
            agent: Some(started.id),
            told: started.told,
            brief: self.brief,
            // Its own random numbers, so that the parent's log is the same whether or not a subagent has one.
            ..Self::new(self.pool, rng, self.cwd.clone())
        }
    }

    /// Writes a record without a place in the conversation.
    pub(super) fn loose(&mut self, fill: impl FnOnce(&mut Object<'_>)) {
        json::object(&mut self.out, fill);
        self.out.push('\n');
        self.lines += 1;
    }

    /// Writes a record of the conversation; `before` and `after` stand around its uuid and time. Returns the uuid.
    pub(super) fn chained(&mut self, before: impl FnOnce(&mut Object<'_>), after: impl FnOnce(&mut Object<'_>)) -> String {
        let (uuid, stamp) = (ids::uuid(&mut self.rng), self.clock.stamp(&mut self.rng));
        json::object(&mut self.out, |o| {
            o.maybe("parentUuid", self.parent.as_deref())
                // Records of a subagent carry the id of its parent's session, and this flag.
                .flag("isSidechain", self.agent.is_some())
                .text("userType", "external")
                .text("cwd", &self.cwd)
                .text("sessionId", &self.id)
                .text("version", &self.version)
                .text("gitBranch", &self.branch);
            if let Some(agent) = &self.agent {
                o.text("agentId", agent);
            }
            // The order of fields is that of real records: readers must not rely on `type` coming first.
            before(o);
            o.text("uuid", &uuid).text("timestamp", &stamp);
            after(o);
        });
        self.out.push('\n');
        self.lines += 1;
        self.parent = Some(uuid.clone());
        uuid
    }

    /// Writes a person's prompt, or program text in its place.
    pub(super) fn prompt(&mut self, escaped: &str) {
        self.rows += 1;
        self.chained(
            |o| {
                o.text("type", "user").object("message", |o| {
                    o.text("role", "user").text("content", escaped);
                });
            },
            |o| {
                o.raw("todos", "[]").text("permissionMode", "default");
            },
        );
    }
}

/// One answer of the model, written as one line per content block.
pub(super) struct ModelMessage {
    id: String,
    request: String,
    usage: TokenUsage,
    lines: usize,
    written: usize,
}

impl ModelMessage {
    /// A message that will have `lines` lines.
    pub(super) fn new(rng: &mut Rng, id: String, lines: usize) -> Self {
        Self { id, request: ids::api(rng, "req_"), usage: TokenUsage::draw(rng), lines, written: 0 }
    }

    /// Writes the next block; `stop` is the reason that the last line gives. Returns the line's uuid.
    pub(super) fn block(&mut self, session: &mut SessionLog<'_>, block: &str, stop: &str) -> String {
        self.written += 1;
        // Every block is a row for a reader: a text, a thought or a call.
        session.rows += 1;
        let last = self.written >= self.lines;
        // Only the last line has the final count; the others carry what had been counted when they were written.
        let output = if last { self.usage.output } else { self.usage.output * self.written / (self.lines + 1) + 1 };
        let message = text_of(|o| {
            o.text("model", session.model)
                .text("id", &self.id)
                .text("type", "message")
                .text("role", "assistant")
                .raw("content", &list([block]))
                .raw("stop_reason", &if last { quoted(stop) } else { "null".to_owned() })
                .raw("stop_sequence", "null")
                .raw("usage", &self.usage.json(output));
        });
        session.chained(
            |o| {
                o.raw("message", &message).text("requestId", &self.request).text("type", "assistant");
            },
            |_| (),
        )
    }
}

/// A `tool_use` block.
pub(super) fn call_block(id: &str, name: &str, input: &str) -> String {
    text_of(|o| {
        o.text("type", "tool_use").text("id", id).text("name", name).raw("input", input);
    })
}
