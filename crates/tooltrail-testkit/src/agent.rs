//! A simulated agent: writes the records of a session one after the other, at the time of writing, as a live log grows.

use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A Claude Code session being written.
#[derive(Debug)]
pub struct FakeAgent {
    log: File,
    session: String,
    /// Number of records written so far, for their ids.
    written: u64,
    last: Option<String>,
}

impl FakeAgent {
    /// Starts a log in a home directory, or continues one that exists.
    pub fn start(home: &Path, project: &str, session: &str) -> io::Result<Self> {
        // Claude Code names a project's folder after its path, with dashes for slashes.
        let place = home.join(".claude/projects").join(project.replace('/', "-"));
        fs::create_dir_all(&place)?;
        let log = OpenOptions::new().append(true).create(true).open(place.join(format!("{session}.jsonl")))?;
        Ok(FakeAgent { log, session: session.to_owned(), written: 0, last: None })
    }

    /// Writes a prompt of the person.
    pub fn prompt(&mut self, text: &str) -> io::Result<()> {
        self.write("user", &json!({ "role": "user", "content": text }), None)
    }

    /// Writes a text of the model.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        self.model(&json!([{ "type": "text", "text": text }]))
    }

    /// Writes a thought of the model whose text is withheld.
    pub fn think(&mut self) -> io::Result<()> {
        self.model(&json!([{ "type": "thinking", "thinking": "", "signature": "c2lnbmVk" }]))
    }

    /// Writes a shell call of the model.
    pub fn call(&mut self, id: &str, command: &str) -> io::Result<()> {
        self.model(&json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]))
    }

    /// Writes the progress of a shell call: all that it printed so far, after some seconds.
    pub fn progress(&mut self, id: &str, printed: &str, seconds: u32) -> io::Result<()> {
        let data = json!({ "type": "bash_progress", "output": printed, "fullOutput": printed, "elapsedTimeSeconds": seconds });
        self.record("progress", json!({ "data": data, "toolUseID": "bash-progress-1", "parentToolUseID": id }))
    }

    /// Writes a question of the model to the person.
    pub fn question(&mut self, id: &str, text: &str) -> io::Result<()> {
        let options = json!([{ "label": "yes", "description": "" }, { "label": "no", "description": "" }]);
        let input = json!({ "questions": [{ "question": text, "header": "h", "multiSelect": false, "options": options }] });
        self.model(&json!([{ "type": "tool_use", "id": id, "name": "AskUserQuestion", "input": input }]))
    }

    /// Writes the result of a call: its output, or an exit code and its output.
    pub fn result(&mut self, id: &str, printed: Result<&str, (i32, &str)>) -> io::Result<()> {
        let (seen, raw, wrong) = match printed {
            Ok(printed) => (printed.to_owned(), json!({ "stdout": printed, "stderr": "", "interrupted": false }), false),
            Err((code, printed)) => {
                // Claude Code puts the exit code into the text that the model sees.
                let seen = format!("Exit code {code}\n{printed}");
                (seen.clone(), json!(format!("Error: {seen}")), true)
            }
        };
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": seen, "is_error": wrong }]);
        self.write("user", &json!({ "role": "user", "content": content }), Some(raw))
    }

    /// Writes a call that creates a file, and its result.
    pub fn create(&mut self, id: &str, path: &str, text: &str) -> io::Result<()> {
        self.model(&json!([{ "type": "tool_use", "id": id, "name": "Write", "input": { "file_path": path, "content": text } }]))?;
        let seen = format!("File created successfully at: {path}");
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": seen }]);
        let raw = json!({ "type": "create", "filePath": path, "content": text, "structuredPatch": [], "originalFile": null });
        self.write("user", &json!({ "role": "user", "content": content }), Some(raw))
    }

    /// Writes a call that reads a file, and its result.
    pub fn read(&mut self, id: &str, path: &str, text: &str) -> io::Result<()> {
        self.model(&json!([{ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": path } }]))?;
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": format!("     1\t{text}") }]);
        let file = json!({ "filePath": path, "content": text, "numLines": 1, "startLine": 1, "totalLines": 1 });
        self.write("user", &json!({ "role": "user", "content": content }), Some(json!({ "type": "text", "file": file })))
    }

    /// Writes a call that starts a subagent, and its answer. The subagent's own log is not written.
    pub fn subagent(&mut self, id: &str, prompt: &str, answer: &str) -> io::Result<()> {
        let input = json!({ "description": "look", "prompt": prompt, "subagent_type": "Explore" });
        self.model(&json!([{ "type": "tool_use", "id": id, "name": "Task", "input": input }]))?;
        let told = json!([{ "type": "text", "text": answer }]);
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": told }]);
        let raw = json!({ "status": "completed", "prompt": prompt, "agentId": "a0b1c2d3", "content": told, "totalDurationMs": 900, "totalTokens": 12, "totalToolUseCount": 3 });
        self.write("user", &json!({ "role": "user", "content": content }), Some(raw))
    }

    /// Writes a call that replaces a text of a file, with the whole file before it in its result.
    pub fn edit(&mut self, id: &str, path: &str, before: &str, old: &str, new: &str) -> io::Result<()> {
        self.model(
            &json!([{ "type": "tool_use", "id": id, "name": "Edit", "input": { "file_path": path, "old_string": old, "new_string": new } }]),
        )?;
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": format!("The file {path} has been updated.") }]);
        let raw = json!({ "filePath": path, "oldString": old, "newString": new, "originalFile": before, "structuredPatch": [], "replaceAll": false });
        self.write("user", &json!({ "role": "user", "content": content }), Some(raw))
    }

    fn model(&mut self, content: &Value) -> io::Result<()> {
        // Usage is the same in every message: tests of live logs do not look at it.
        let usage = json!({ "input_tokens": 4, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 900 });
        let message = json!({
            "id": format!("msg_{}_{}", self.session, self.written), "role": "assistant", "model": "claude-opus-4-8", "content": content,
            "usage": usage,
        });
        self.write("assistant", &message, None)
    }

    fn write(&mut self, kind: &str, message: &Value, raw: Option<Value>) -> io::Result<()> {
        let mut own = json!({ "message": message });
        if let Some(raw) = raw {
            own["toolUseResult"] = raw;
        }
        self.record(kind, own)
    }

    /// Writes a record with fields of its own.
    fn record(&mut self, kind: &str, own: Value) -> io::Result<()> {
        let id = format!("{}-{}", self.session, self.written);
        let mut record = json!({
            "type": kind, "uuid": id, "parentUuid": self.last, "sessionId": self.session, "timestamp": now(), "isSidechain": false,
            "cwd": "/srv/live", "gitBranch": "main", "version": "2.1.250",
        });
        if let (Some(record), Value::Object(own)) = (record.as_object_mut(), own) {
            record.extend(own);
        }
        self.written += 1;
        self.last = Some(id);
        // A single write per record, as agents do: a reader sees whole lines or none.
        self.log.write_all(format!("{record}\n").as_bytes())
    }
}

/// The current time, as logs have it.
fn now() -> String {
    // Computed by hand, so that the testkit needs no date library.
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let (days, rest) = (millis / 86_400_000, millis % 86_400_000);
    let (year, month, day) = date(days);
    let (seconds, millis) = (rest / 1000, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{millis:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Date of a day since 1970.
fn date(days: u128) -> (u128, u128, u128) {
    let leap = |year: u128| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u128::from(leap(year)) {
        left -= 365 + u128::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u128::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    (year, month, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_516), (2026, 3, 4));
        assert_eq!(date(20_453), (2025, 12, 31));
    }
}
