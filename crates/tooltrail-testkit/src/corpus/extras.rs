//! The records around a conversation: progress of running calls, snapshots of files, summaries, ends of turns.

use std::collections::VecDeque;

use super::ids;
use super::session::{ReportedCall, SessionLog, Started, call_block};
use super::tools::{PlannedCall, SubagentStart};
use super::usage::TokenUsage;
use crate::json::{list, quoted, text_of};

impl SessionLog<'_> {
    /// Writes progress records of a running call.
    pub(super) fn progress(&mut self, id: &str, call: &mut PlannedCall) {
        if self.rng.chance(0.3) {
            let data = text_of(|o| {
                o.text("type", "hook_progress")
                    .text("hookEvent", "PostToolUse")
                    .text("hookName", &format!("PostToolUse:{}", call.name))
                    .text("command", "/home/sam/.claude/hooks/tidy.sh");
            });
            self.progress_record(id, id, &data);
        }
        if call.name == "Bash" && self.rng.chance(0.12) {
            for step in 0..self.rng.between(1, 6) {
                self.shell_progress(id, step);
            }
        }
        if let Some(agent) = call.agent.take() {
            self.agent_progress(id, agent);
        }
    }

    fn shell_progress(&mut self, id: &str, step: usize) {
        let (pool, rng) = (self.pool, &mut self.rng);
        let lines = rng.between(1, 40);
        let data = text_of(|o| {
            o.text("type", "bash_progress")
                .text("output", pool.console(rng, lines.min(5)))
                .text("fullOutput", pool.console(rng, lines))
                .number("elapsedTimeSeconds", 2 + step)
                .number("totalLines", lines);
        });
        self.progress_record(&format!("bash-progress-{step}"), id, &data);
    }

    /// Writes a subagent's calls as progress records of its parent; one subagent in three also has its own log.
    fn agent_progress(&mut self, id: &str, agent: SubagentStart) {
        // The subagent's log begins now, however far the parent's clock moves on below.
        let clock = self.clock.fork();
        let mut told = VecDeque::new();
        for _ in 0..self.rng.between(2, 25) {
            // Ids are drawn here and passed on, because the subagent's own log must repeat them.
            let message = ids::api(&mut self.rng, "msg_");
            let call = ids::api(&mut self.rng, "toolu_");
            let file = self.rng.below(self.pool.files.len());
            let data = self.nested(&agent, &message, &call, file);
            self.progress_record(&format!("agent_{message}"), id, &data);
            told.push_back(ReportedCall { message, call, file });
        }
        // A subagent takes from a second to several minutes.
        self.clock.advance(self.rng.between(1000, 400_000));
        if self.rng.chance(0.33) {
            self.started.push(Started { id: agent.id, prompt: agent.prompt, clock, told });
        }
    }

    fn nested(&mut self, agent: &SubagentStart, message: &str, call: &str, file: usize) -> String {
        let input = text_of(|o| {
            o.text("file_path", &self.pool.files[file].path);
        });
        let (uuid, stamp) = (ids::uuid(&mut self.rng), self.clock.stamp(&mut self.rng));
        let usage = TokenUsage::draw(&mut self.rng).json(1);
        text_of(|o| {
            o.text("type", "agent_progress")
                .text("prompt", &agent.prompt)
                .text("agentId", &agent.id)
                .object("message", |o| {
                    o.text("type", "assistant")
                        .text("timestamp", &stamp)
                        .object("message", |o| {
                            o.text("model", self.model)
                                .text("id", message)
                                .text("type", "message")
                                .text("role", "assistant")
                                .raw("content", &list([call_block(call, "Read", &input)]))
                                .raw("usage", &usage);
                        })
                        .text("uuid", &uuid);
                })
                .raw("normalizedMessages", "[]");
        })
    }

    fn progress_record(&mut self, id: &str, call: &str, data: &str) {
        self.chained(
            |o| {
                o.text("type", "progress").raw("data", data).text("toolUseID", id).text("parentToolUseID", call);
            },
            |_| (),
        );
    }

    pub(super) fn file_history(&mut self) {
        let stamp = self.clock.stamp(&mut self.rng);
        let message = ids::uuid(&mut self.rng);
        // Snapshots often track no file at all.
        let backups: Vec<String> = (0..self.rng.between(0, 8))
            .map(|_| {
                let version = self.rng.between(1, 9);
                let backup = text_of(|o| {
                    o.text("backupFileName", &format!("{}@v{version}", ids::hex(&mut self.rng, 16)))
                        .number("version", version)
                        .text("backupTime", &stamp);
                });
                // One path may be drawn twice, but keys of an object must differ: the number keeps them apart.
                format!("{}:{backup}", quoted(&format!("{}.{version}", self.pool.file(&mut self.rng).path)))
            })
            .collect();
        let update = self.rng.chance(0.5);
        self.loose(|o| {
            o.text("type", "file-history-snapshot")
                .text("messageId", &message)
                .object("snapshot", |o| {
                    o.text("messageId", &message)
                        .raw("trackedFileBackups", &format!("{{{}}}", backups.join(",")))
                        .text("timestamp", &stamp);
                })
                .flag("isSnapshotUpdate", update);
        });
    }

    /// Writes the agent's own message after the connection failed; the call before it has no result.
    pub(super) fn api_error(&mut self) {
        let id = ids::uuid(&mut self.rng);
        self.chained(
            |o| {
                o.text("type", "assistant").object("message", |o| {
                    o.text("id", &id)
                        .text("model", "<synthetic>")
                        .text("role", "assistant")
                        // The wording is what readers recognise the error by.
                        .raw("content", r#"[{"type":"text","text":"API Error: 529 overloaded"}]"#);
                });
            },
            |o| {
                o.text("error", "overloaded").flag("isApiErrorMessage", true);
            },
        );
    }

    pub(super) fn summary(&mut self) {
        let (title, leaf) = (self.pool.phrase(&mut self.rng), ids::uuid(&mut self.rng));
        self.loose(|o| {
            o.text("type", "summary").text("summary", &title).text("leafUuid", &leaf);
        });
    }

    pub(super) fn turn_end(&mut self) {
        // Shares as measured in real logs.
        if self.rng.chance(0.3) {
            let duration = self.rng.between(900, 900_000);
            self.chained(
                |o| {
                    o.text("type", "system").text("subtype", "turn_duration").number("durationMs", duration);
                },
                |o| {
                    o.flag("isMeta", false);
                },
            );
        }
        if self.rng.chance(0.1) {
            let stamp = self.clock.stamp(&mut self.rng);
            let (pool, id) = (self.pool, self.id.clone());
            let text = pool.prose(&mut self.rng, 3, 30);
            self.loose(|o| {
                o.text("type", "queue-operation")
                    .text("operation", "enqueue")
                    .text("timestamp", &stamp)
                    .text("content", text)
                    .text("sessionId", &id);
            });
        }
    }
}
