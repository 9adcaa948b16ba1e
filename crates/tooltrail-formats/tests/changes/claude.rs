//! Claude Code in the world: what it reads, writes and edits, in the shapes of its logs, with what some versions leave out.

use super::world::{Log, PROJECT, Truth, World, one_place};
use serde_json::{Value, json};

/// Which of its fields a result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Full,
    NoOriginal,
    NoPatch,
    Bare,
}

const SHAPES: &[Shape] = &[Shape::Full, Shape::Full, Shape::Full, Shape::NoOriginal, Shape::NoPatch, Shape::Bare];

impl World {
    /// A new session, and its first prompt.
    pub(crate) fn claude(&mut self, session: &str) -> usize {
        let path = format!("/home/me/.claude/projects/-srv-app/{session}.jsonl");
        self.logs.push(Log { path, session: session.to_owned(), agent: None, records: Vec::new(), seen: Default::default(), last: None });
        let log = self.logs.len() - 1;
        self.prompt(log);
        log
    }

    /// A subagent of a session.
    pub(crate) fn subagent(&mut self, parent: usize, agent: &'static str) -> usize {
        let session = self.logs[parent].session.clone();
        let path = format!("/home/me/.claude/projects/-srv-app/{session}/subagents/agent-{agent}.jsonl");
        let call = self.ask(parent, "Task", &json!({"description": "help", "prompt": "help with it", "subagent_type": "general"}));
        self.logs.push(Log { path, session, agent: Some(agent), records: Vec::new(), seen: Default::default(), last: None });
        let log = self.logs.len() - 1;
        self.record(log, "user", &json!({"message": {"role": "user", "content": "help with it"}}));
        let result = json!({"status": "completed", "agentId": agent, "content": [{"type": "text", "text": "done"}]});
        self.answer(parent, &call, "done", false, Some(result));
        log
    }

    /// The person says something: a turn begins.
    pub(crate) fn prompt(&mut self, log: usize) {
        let words = format!("do number {}", self.next());
        self.record(log, "user", &json!({"message": {"role": "user", "content": words}}));
    }

    fn record(&mut self, log: usize, kind: &str, more: &Value) {
        let (time, id) = (self.time(), format!("00000000-0000-4000-8000-{:012}", self.next()));
        let log = &mut self.logs[log];
        let mut record = json!({
            "parentUuid": log.last, "isSidechain": log.agent.is_some(), "cwd": PROJECT, "sessionId": log.session, "version": "2.1.250",
            "type": kind, "uuid": id, "timestamp": time,
        });
        let fields = record.as_object_mut().unwrap();
        fields.extend(log.agent.map(|agent| ("agentId".to_owned(), json!(agent))));
        fields.extend(more.as_object().unwrap().clone());
        log.records.push(record);
        log.last = Some(id);
    }

    /// A request; the id of the call.
    pub(crate) fn ask(&mut self, log: usize, tool: &str, input: &Value) -> String {
        let call = format!("toolu_{:04}", self.next());
        let content = json!([{"type": "tool_use", "id": call, "name": tool, "input": input}]);
        let message =
            json!({"id": format!("msg_{call}"), "type": "message", "role": "assistant", "model": "claude-opus-4-8", "content": content});
        self.record(log, "assistant", &json!({"message": message}));
        call
    }

    pub(crate) fn answer(&mut self, log: usize, call: &str, seen: &str, error: bool, produced: Option<Value>) {
        let content = json!([{"type": "tool_result", "tool_use_id": call, "content": seen, "is_error": error}]);
        let mut more = json!({"message": {"role": "user", "content": content}});
        more.as_object_mut().unwrap().extend(produced.map(|produced| ("toolUseResult".to_owned(), produced)));
        self.record(log, "user", &more);
    }

    /// Reads a file: all of it, or a part.
    pub(crate) fn read(&mut self, log: usize, path: &str) {
        let Some(text) = self.files.get(path).cloned() else { return };
        let lines: Vec<&str> = text.split('\n').collect();
        let part = lines.len() > 2 && self.rng.chance(0.2);
        let shown = if part { lines[..lines.len() - 1].join("\n") } else { text.clone() };
        let input = if part { json!({"file_path": path, "limit": lines.len() - 1}) } else { json!({"file_path": path}) };
        let call = self.ask(log, "Read", &input);
        let numbered: Vec<String> = shown.split('\n').enumerate().map(|(number, line)| format!("{:6}→{line}", number + 1)).collect();
        let count = shown.split('\n').count();
        let file = json!({"filePath": path, "content": shown, "numLines": count, "startLine": 1, "totalLines": lines.len()});
        let produced = self.rng.chance(0.8).then(|| json!({"type": "text", "file": file}));
        self.answer(log, &call, &numbered.join("\n"), false, produced);
        self.logs[log].seen.insert(path.to_owned(), Some(text.clone()));
        if !part {
            let session = self.logs[log].session.clone();
            let (before, after) = (Some(text.clone()), Some(text));
            let truth = Truth { session, before, after, holds_before: true, holds_after: true, replayable: true, changes: false };
            self.note(&call, path, truth);
        }
    }

    /// Writes a whole file.
    pub(crate) fn write(&mut self, log: usize, path: &str) {
        let (before, text) = (self.files.get(path).cloned(), self.text());
        // Over a file that is there it writes only what it has seen.
        if before.is_some() && self.logs[log].seen.get(path) != Some(&before) {
            self.read(log, path);
        }
        let call = self.ask(log, "Write", &json!({"file_path": path, "content": text}));
        if self.rng.chance(0.15) {
            return self.refused(log, &call);
        }
        let shape = self.rng.pick(SHAPES);
        let mut produced = json!({
            "type": if before.is_some() { "update" } else { "create" }, "filePath": path, "content": text,
            "structuredPatch": before.as_ref().map_or(json!([]), |before| shown(before, &text)), "originalFile": before,
        });
        let seen = if before.is_some() { "The file has been updated." } else { "File created successfully at: it" };
        let holds = strip(&mut produced, shape, before.is_some());
        self.answer(log, &call, seen, false, produced.is_object().then_some(produced));
        self.logs[log].seen.insert(path.to_owned(), Some(text.clone()));
        let holds_before = holds || before.is_none();
        let truth = Truth {
            session: self.logs[log].session.clone(),
            before,
            after: Some(text),
            holds_before,
            holds_after: true,
            replayable: true,
            changes: true,
        };
        self.note(&call, path, truth);
    }

    /// Edits a file: once or several times, everywhere, back again, refused, or changed by the person first.
    pub(crate) fn edit(&mut self, log: usize, path: &str) {
        let Some(before) = self.files.get(path).cloned() else { return };
        if self.logs[log].seen.get(path) != Some(&Some(before.clone())) {
            self.read(log, path);
        }
        let count = if self.rng.chance(0.2) { 2 } else { 1 };
        let mut proposed = before.clone();
        let mut edits: Vec<Value> = Vec::new();
        let mut plain = true;
        for _ in 0..count {
            let Some((old, new, all)) = self.replacement(&proposed) else { return };
            let ended = format!("{old}\n");
            // What is deleted takes the end of its line along.
            let swallows = new.is_empty() && !old.ends_with('\n') && proposed.contains(&ended);
            let whole = if swallows { &ended } else { &old };
            plain &= !swallows;
            proposed = if all { proposed.replace(&**whole, &new) } else { proposed.replacen(&**whole, &new, 1) };
            edits.push(json!({"old_string": old, "new_string": new, "replace_all": all}));
        }
        let (tool, input) = match &*edits {
            [only] => {
                let mut input = only.clone();
                input.as_object_mut().unwrap().insert("file_path".to_owned(), json!(path));
                ("Edit", input)
            }
            _ => ("MultiEdit", json!({"file_path": path, "edits": edits})),
        };
        let call = self.ask(log, tool, &input);
        if self.rng.chance(0.2) {
            return self.refused(log, &call);
        }
        let own = self.rng.chance(0.1);
        let shape = self.rng.pick(SHAPES);
        let after = if own { format!("the person's own {}\n{proposed}", self.next()) } else { proposed.clone() };
        let patch = shown(&before, &after);
        let mut produced = json!({"filePath": path, "structuredPatch": patch, "userModified": own, "originalFile": before});
        let holds_before = strip(&mut produced, shape, true);
        // Of what the person made of it there are only the hunks, and tabs cannot be told from spaces in them.
        let clear = matches!(shape, Shape::Full | Shape::NoOriginal) && !patch.to_string().contains("\"+  ");
        let replayable = if own { clear } else { plain || matches!(shape, Shape::Full | Shape::NoOriginal) };
        // What says that the person had a hand in it is gone with everything else.
        if own && shape == Shape::Bare {
            produced = json!({"filePath": path, "userModified": true});
        }
        self.answer(log, &call, "The file has been updated.", false, produced.is_object().then_some(produced));
        self.logs[log].seen.insert(path.to_owned(), Some(after.clone()));
        let holds_after = holds_before && replayable;
        let truth = Truth {
            session: self.logs[log].session.clone(),
            before: Some(before),
            after: Some(after),
            holds_before,
            holds_after,
            replayable,
            changes: true,
        };
        self.note(&call, path, truth);
        // Now and then it is taken back at once.
        if tool == "Edit" && !own && self.rng.chance(0.15) {
            self.revert(log, path, &input);
        }
    }

    /// Takes an edit back.
    fn revert(&mut self, log: usize, path: &str, input: &Value) {
        let (old, new) = (input["new_string"].as_str().unwrap(), input["old_string"].as_str().unwrap());
        let before = self.files[path].clone();
        if old.is_empty() || before.matches(old).count() != 1 {
            return;
        }
        let after = before.replacen(old, new, 1);
        let call = self.ask(log, "Edit", &json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": false}));
        let produced = json!({"filePath": path, "structuredPatch": shown(&before, &after), "userModified": false, "originalFile": before});
        self.answer(log, &call, "The file has been updated.", false, Some(produced));
        self.logs[log].seen.insert(path.to_owned(), Some(after.clone()));
        let session = self.logs[log].session.clone();
        let truth = Truth {
            session,
            before: Some(before),
            after: Some(after),
            holds_before: true,
            holds_after: true,
            replayable: true,
            changes: true,
        };
        self.note(&call, path, truth);
    }

    /// A text that is there once, or everywhere, and what it becomes.
    fn replacement(&mut self, text: &str) -> Option<(String, String, bool)> {
        let lines: Vec<&str> = text.split('\n').filter(|line| !line.is_empty()).collect();
        if lines.is_empty() {
            return None;
        }
        let old = self.rng.pick(&lines).to_owned();
        let new = match self.rng.below(6) {
            0 => String::new(),
            1 => format!("{}\n{}", self.line(), self.line()),
            _ => self.line(),
        };
        let count = text.matches(&*old).count();
        (old != new && count > 0).then_some((old, new, count > 1))
    }

    /// A call that comes to nothing.
    fn refused(&mut self, log: usize, call: &str) {
        let failed = self.rng.chance(0.5);
        let words = if failed {
            "<tool_use_error>String to replace not found in file.</tool_use_error>"
        } else {
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
        };
        self.answer(log, call, words, true, Some(json!(format!("Error: {words}"))));
    }
}

/// Takes fields out of a result; whether the text before is left in it.
fn strip(produced: &mut Value, shape: Shape, original: bool) -> bool {
    match shape {
        Shape::Full => {}
        Shape::NoOriginal => produced["originalFile"] = json!(null),
        Shape::NoPatch => produced["structuredPatch"] = json!([]),
        Shape::Bare => *produced = json!(null),
    }
    original && matches!(shape, Shape::Full | Shape::NoPatch)
}

/// `structuredPatch` as Claude Code writes it: to be shown, so tabs at the beginning of a line are two spaces each.
fn shown(before: &str, after: &str) -> Value {
    let Some(place) = one_place(before, after, 3) else { return json!([]) };
    let mut out: Vec<String> = Vec::new();
    for (sign, line) in &place.lines {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let rest = text.trim_start_matches('\t');
        out.push(format!("{sign}{}{rest}", "  ".repeat(text.len() - rest.len())));
        if !line.ends_with('\n') {
            out.push("\\ No newline at end of file".to_owned());
        }
    }
    let start = place.start;
    json!([{"oldStart": start, "oldLines": place.count('+'), "newStart": start, "newLines": place.count('-'), "lines": out}])
}
