//! One turn of a conversation: a prompt, messages with their calls, the results, a final text.

use super::ids;
use super::session::{ModelMessage, SessionLog, call_block};
use super::tools::{self, PlannedCall, Then, ToolReply, ToolScene};
use crate::json::{list, text_of};

/// A call that waits for its result.
struct Pending {
    id: String,
    call: PlannedCall,
    /// Line that contains the call.
    asked_in: String,
}

impl SessionLog<'_> {
    /// Writes a whole turn. `prompt` is given for a subagent's first turn.
    pub(super) fn turn(&mut self, prompt: Option<&str>) {
        let pool = self.pool;
        let said = match prompt {
            Some(prompt) => prompt,
            // Seven percent of prompts are long, such as pasted logs.
            None if self.rng.chance(0.93) => pool.prose(&mut self.rng, 4, 90),
            None => pool.prose(&mut self.rng, 300, 1500),
        };
        self.prompt(said);
        if self.rng.chance(0.35) {
            self.file_history();
        }
        let messages = 1 + self.rng.run(0.875);
        // All calls that the parent reported must occur, so a subagent's turn has at least that many messages.
        for _ in 0..messages.max(self.told.len()) {
            if self.message() == Then::Stop {
                // This is how Claude Code records that the person stopped the turn.
                self.prompt("[Request interrupted by user for tool use]");
                return;
            }
        }
        let text = text_block(pool.prose(&mut self.rng, 20, 260));
        let id = ids::api(&mut self.rng, "msg_");
        ModelMessage::new(&mut self.rng, id, 1).block(self, &text, "end_turn");
        self.turn_end();
    }

    /// Writes one message with calls, and their results.
    fn message(&mut self) -> Then {
        let pool = self.pool;
        let told = self.told.pop_front();
        let thinks = self.rng.chance(0.3);
        let talks = self.rng.chance(0.45);
        // A reported call stands alone in its message, since the report names one message id per call.
        let calls = if told.is_some() || self.rng.chance(0.8) { 1 } else { self.rng.between(2, 4) };
        let lines = usize::from(thinks) + usize::from(talks) + calls;
        let (id, call_id, file) = match told {
            Some(told) => (told.message, Some(told.call), Some(told.file)),
            None => (ids::api(&mut self.rng, "msg_"), None, None),
        };
        let mut message = ModelMessage::new(&mut self.rng, id, lines);
        if thinks {
            let length = if self.brief { 60 } else { self.rng.between(300, 2500) };
            let signature = pool.base64(&mut self.rng, length);
            let block = text_of(|o| {
                o.text("type", "thinking").text("thinking", pool.prose(&mut self.rng, 10, 200)).text("signature", &signature);
            });
            message.block(self, &block, "tool_use");
        }
        if talks {
            let block = text_block(pool.prose(&mut self.rng, 6, 100));
            message.block(self, &block, "tool_use");
        }
        // All calls are written before any result, as parallel calls are.
        let mut pending = Vec::with_capacity(calls);
        for _ in 0..calls {
            let mut scene = ToolScene { pool, rng: &mut self.rng, cwd: &self.cwd, brief: self.brief };
            let call = match file {
                Some(file) => tools::known_read(&mut scene, file),
                None => tools::call(&mut scene),
            };
            let id = call_id.clone().unwrap_or_else(|| ids::api(&mut self.rng, "toolu_"));
            let asked_in = message.block(self, &call_block(&id, call.name, &call.input), "tool_use");
            pending.push(Pending { id, call, asked_in });
        }
        self.results(pending)
    }

    fn results(&mut self, pending: Vec<Pending>) -> Then {
        let mut then = Then::GoOn;
        let several = pending.len() > 1;
        for mut waiting in pending {
            // A result hangs below the line of its own call, not below the record before it.
            self.parent = Some(waiting.asked_in.clone());
            match then {
                Then::Stop => waiting.call.reply = tools::after_rejection(),
                Then::CancelSiblings if several => waiting.call.reply = tools::cancelled(),
                _ => self.progress(&waiting.id, &mut waiting.call),
            }
            // Crashes, kills and lost writes: some calls never get a result.
            if self.rng.chance(0.006) {
                if self.rng.chance(0.2) {
                    self.api_error();
                }
                continue;
            }
            self.result(&waiting);
            // The first failure decides for all calls after it.
            if then == Then::GoOn {
                then = waiting.call.reply.then;
            }
        }
        then
    }

    fn result(&mut self, waiting: &Pending) {
        let ToolReply { content, structured, is_error, denial, .. } = &waiting.call.reply;
        // Some versions write `is_error` only if it is true.
        let says_fine = !is_error && self.rng.chance(0.4);
        let block = text_of(|o| {
            o.text("tool_use_id", &waiting.id).text("type", "tool_result").raw("content", content);
            if *is_error || says_fine {
                o.flag("is_error", *is_error);
            }
        });
        self.chained(
            |o| {
                o.text("type", "user").object("message", |o| {
                    o.text("role", "user").raw("content", &list([block]));
                });
            },
            |o| {
                o.raw("toolUseResult", structured).text("sourceToolAssistantUUID", &waiting.asked_in);
                if let Some(kind) = denial {
                    o.text("toolDenialKind", kind);
                }
            },
        );
    }
}

fn text_block(escaped: &str) -> String {
    text_of(|o| {
        o.text("type", "text").text("text", escaped);
    })
}
