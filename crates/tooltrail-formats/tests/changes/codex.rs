//! Codex in the world: patches that add, change, delete and move files, with and without the event that tells what they changed.

use super::world::{Log, PROJECT, Truth, World, one_place};
use serde_json::{Map, Value, json};

impl World {
    /// A new session, and its first prompt.
    pub(crate) fn codex(&mut self, session: &str) -> usize {
        let path = format!("/home/me/.codex/sessions/2026/03/04/rollout-2026-03-04T00-00-00-{session}.jsonl");
        self.logs.push(Log {
            path,
            session: session.to_owned(),
            agent: Some("codex"),
            records: Vec::new(),
            seen: Default::default(),
            last: None,
        });
        let log = self.logs.len() - 1;
        self.item(log, "session_meta", json!({"id": session, "timestamp": "2026-03-04T00:00:00.000Z", "cwd": PROJECT, "originator": "codex-tui", "cli_version": "0.145.0", "source": "cli"}));
        self.say(log);
        log
    }

    /// The person says something: a turn begins.
    pub(crate) fn say(&mut self, log: usize) {
        let number = self.next();
        self.item(log, "turn_context", json!({"turn_id": format!("t{number}"), "cwd": PROJECT, "model": "gpt-5.6"}));
        let words = format!("do number {number}");
        self.item(log, "response_item", json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}));
        self.item(log, "event_msg", json!({"type": "user_message", "message": words}));
    }

    pub(crate) fn item(&mut self, log: usize, kind: &str, payload: Value) {
        let time = self.time();
        self.logs[log].records.push(json!({"timestamp": time, "type": kind, "payload": payload}));
    }

    /// One patch for one to three files.
    pub(crate) fn patch(&mut self, log: usize, free: &[String]) {
        let mut pieces = String::new();
        let mut changes = Map::new();
        let mut done: Vec<(String, Truth)> = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            let Some(change) = self.change(log, free, &done) else { continue };
            pieces.push_str(&change.text);
            changes.insert(change.path, change.told);
            done.extend(change.truths);
        }
        if done.is_empty() {
            return;
        }
        let call = format!("call_{:04}", self.next());
        let input = format!("*** Begin Patch\n{pieces}*** End Patch\n");
        self.item(
            log,
            "response_item",
            json!({"type": "custom_tool_call", "status": "completed", "call_id": call, "name": "apply_patch", "input": input}),
        );
        if self.rng.chance(0.15) {
            let words = "apply_patch verification failed: Failed to find expected lines in it";
            self.item(log, "response_item", json!({"type": "custom_tool_call_output", "call_id": call, "output": format!("Exit code: 1\nWall time: 0 seconds\nOutput:\n{words}")}));
            return;
        }
        let told = self.rng.chance(0.5);
        if told {
            let end = json!({"type": "patch_apply_end", "call_id": call, "stdout": "Success.", "stderr": "", "success": true, "status": "completed", "changes": changes});
            self.item(log, "event_msg", end);
        }
        let output = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM it\n";
        self.item(log, "response_item", json!({"type": "custom_tool_call_output", "call_id": call, "output": output}));
        for (path, mut truth) in done {
            // Only the event has the text of a file that is deleted; it also has numbers, so that everything can be put in place.
            truth.holds_before &= told;
            truth.replayable |= told;
            self.note(&call, &path, truth);
        }
    }

    fn change(&mut self, log: usize, free: &[String], done: &[(String, Truth)]) -> Option<Change> {
        let session = self.logs[log].session.clone();
        let is_free = |path: &String| done.iter().all(|(other, _)| other != path);
        let truth = |before: Option<String>, after: Option<String>| Truth {
            session: session.clone(),
            before,
            after,
            holds_before: false,
            holds_after: false,
            replayable: true,
            changes: true,
        };
        let kind = self.rng.below(10);
        if kind == 0 {
            let path = self.rng.below(free.len());
            let path = free[path].clone();
            if self.files.contains_key(&path) || !is_free(&path) {
                return None;
            }
            let text = self.text();
            let text = if text.ends_with('\n') { text } else { text + "\n" };
            let lines: String = text.split_terminator('\n').map(|line| format!("+{line}\n")).collect();
            let told = json!({"type": "add", "content": text});
            let truths = vec![(path.clone(), Truth { holds_after: true, ..truth(None, Some(text)) })];
            return Some(Change { text: format!("*** Add File: {}\n{lines}", short(&path)), told, truths, path });
        }
        let path = self.file().filter(is_free)?;
        let before = self.files[&path].clone();
        if kind == 1 {
            let told = json!({"type": "delete", "content": before});
            let truths = vec![(path.clone(), Truth { holds_before: true, holds_after: true, ..truth(Some(before), None) })];
            return Some(Change { text: format!("*** Delete File: {}\n", short(&path)), told, truths, path });
        }
        let (hunk, after, clear) = self.hunk(&before)?;
        let to = if kind == 2 { Some(self.rng.below(free.len())).map(|place| free[place].clone()) } else { None };
        let to = to.filter(|to| !self.files.contains_key(to) && is_free(to) && *to != path);
        let told = json!({"type": "update", "unified_diff": unified(&before, &after), "move_path": to});
        let mut text = format!("*** Update File: {}\n", short(&path));
        let truths = match to {
            Some(to) => {
                text += &format!("*** Move to: {}\n", short(&to));
                let gone = Truth { holds_after: true, replayable: true, ..truth(Some(before), None) };
                vec![(path.clone(), gone), (to, Truth { replayable: clear, ..truth(None, Some(after)) })]
            }
            None => vec![(path.clone(), Truth { replayable: clear, ..truth(Some(before), Some(after)) })],
        };
        Some(Change { text: text + &hunk, told, truths, path })
    }

    /// A hunk that changes a line or two, what Codex makes of the file with it, and whether that can be told without numbers.
    fn hunk(&mut self, before: &str) -> Option<(String, String, bool)> {
        let mut lines: Vec<String> = before.split('\n').map(str::to_owned).collect();
        if lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        if lines.is_empty() {
            return None;
        }
        let at = self.rng.below(lines.len());
        let from = at.saturating_sub(self.rng.below(3));
        let to = (at + 1 + self.rng.below(3)).min(lines.len());
        let old: Vec<String> = lines[from..to].to_vec();
        // It is applied where these lines stand first.
        let found = (0..lines.len()).find(|&start| lines[start..].starts_with(&old))?;
        let new: Vec<String> = (0..self.rng.below(3)).map(|_| self.line()).collect();
        let mut text = String::from("@@\n");
        lines[from..at].iter().for_each(|line| text += &format!(" {line}\n"));
        text += &format!("-{}\n", lines[at]);
        new.iter().for_each(|line| text += &format!("+{line}\n"));
        lines[at + 1..to].iter().for_each(|line| text += &format!(" {line}\n"));
        let place = found + (at - from);
        let blank = lines.last().is_some_and(String::is_empty);
        lines.splice(place..=place, new);
        // The file ends with a line feed afterwards; an empty line at its end is taken for that.
        let clear = !blank && !lines.last().is_some_and(String::is_empty);
        if !lines.last().is_some_and(String::is_empty) {
            lines.push(String::new());
        }
        Some((text, lines.join("\n"), clear)).filter(|(_, after, _)| after != before)
    }
}

struct Change {
    path: String,
    text: String,
    told: Value,
    truths: Vec<(String, Truth)>,
}

/// A path as patches name it: from the directory they are applied in.
fn short(path: &str) -> &str {
    path.strip_prefix(PROJECT).and_then(|path| path.strip_prefix('/')).unwrap_or(path)
}

/// `unified_diff` as Codex writes it: one line around each change, and numbers.
fn unified(before: &str, after: &str) -> Value {
    let Some(place) = one_place(before, after, 1) else { return Value::Null };
    // A side without lines has the number of the line before it.
    let range = |skip: char| format!("{},{}", place.start - usize::from(place.count(skip) == 0), place.count(skip));
    let mut out = format!("@@ -{} +{} @@\n", range('+'), range('-'));
    for (sign, line) in &place.lines {
        out.push(*sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
    json!(out)
}
