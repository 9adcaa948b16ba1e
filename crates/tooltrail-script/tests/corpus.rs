//! Programs of real logs, where they lie beside the repository, read in another way: a tokenizer that knows strings, comments and nothing of
//! syntax looks for calls and evaluates their literal arguments. Nothing of the logs is kept but totals.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(clippy::print_stdout)] // says what was compared

use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use tooltrail_model::script::{Argument, ScriptEnd, ScriptRun};

/// A program of a log and the items that it and every `wait` on it printed.
#[derive(Default)]
struct Found {
    program: String,
    items: Vec<String>,
    end: Option<ScriptEnd>,
}

fn logs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            logs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
}

fn programs() -> Vec<Found> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real/codex");
    let (mut files, mut all) = (Vec::new(), Vec::new());
    logs(&root, &mut files);
    files.sort();
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_default();
        // By call id, and by cell while it runs.
        let (mut calls, mut cells, mut waits): (HashMap<String, usize>, HashMap<String, usize>, HashMap<String, usize>) =
            Default::default();
        for line in text.lines().filter(|line| line.contains("call")) {
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            let payload = &record["payload"];
            let id = payload["call_id"].as_str().unwrap_or_default().to_owned();
            match (payload["type"].as_str(), payload["name"].as_str()) {
                (Some("custom_tool_call"), Some("exec")) => {
                    calls.insert(id, all.len());
                    all.push(Found { program: payload["input"].as_str().unwrap_or_default().to_owned(), ..Found::default() });
                }
                (Some("function_call"), Some("wait")) => {
                    let arguments: Value = serde_json::from_str(payload["arguments"].as_str().unwrap_or_default()).unwrap_or_default();
                    if let Some(at) = arguments["cell_id"].as_str().and_then(|cell| cells.get(cell)) {
                        waits.insert(id, *at);
                    }
                }
                (Some("custom_tool_call_output" | "function_call_output"), _) => {
                    if let Some(at) = calls.get(&id).or_else(|| waits.get(&id)) {
                        take(&payload["output"], *at, &mut all, &mut cells);
                    }
                }
                _ => {}
            }
        }
    }
    all
}

/// Takes one output: a heading and the items.
fn take(output: &Value, at: usize, all: &mut [Found], cells: &mut HashMap<String, usize>) {
    let alone = [Value::String(output.as_str().unwrap_or_default().to_owned())];
    let items = output.as_array().map_or(&alone[..], Vec::as_slice);
    let text = |item: &Value| item.as_str().or(item["text"].as_str()).unwrap_or_default().to_owned();
    let heading = items.first().map(text).unwrap_or_default();
    all[at].items.extend(items.iter().skip(1).map(text).filter(|item| !item.starts_with("Script error:")));
    if let Some(cell) = heading.strip_prefix("Script running with cell ID ") {
        cells.insert(cell.lines().next().unwrap_or_default().to_owned(), at);
    } else if heading.starts_with("Script completed") {
        all[at].end = Some(ScriptEnd::Completed);
    } else if heading.starts_with("Script failed") {
        all[at].end = Some(ScriptEnd::Failed);
    }
}

/// A reader of literals that knows no syntax.
struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
    constants: HashMap<String, Value>,
}

impl Tokens<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while self.at < self.text.len() {
            if self.peek().is_ascii_whitespace() {
                self.at += 1;
            } else if self.text[self.at..].starts_with(b"//") {
                while self.at < self.text.len() && self.peek() != b'\n' {
                    self.at += 1;
                }
            } else {
                return;
            }
        }
    }

    fn word(&mut self) -> String {
        let from = self.at;
        while self.peek().is_ascii_alphanumeric() || matches!(self.peek(), b'_' | b'$') {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[from..self.at]).into_owned()
    }

    /// Text in quotes, or `None` for a template with holes; stands behind it in any case.
    fn quoted(&mut self, raw: bool) -> Option<String> {
        let quote = self.peek();
        self.at += 1;
        let (mut bytes, mut plain) = (Vec::new(), true);
        while self.at < self.text.len() && self.peek() != quote {
            if quote == b'`' && self.text[self.at..].starts_with(b"${") {
                plain = false;
            }
            if self.peek() != b'\\' || raw {
                bytes.push(self.peek());
                self.at += 1;
                continue;
            }
            self.at += 2;
            match self.text.get(self.at - 1)? {
                b'n' => bytes.push(b'\n'),
                b't' => bytes.push(b'\t'),
                b'r' => bytes.push(b'\r'),
                b'b' => bytes.push(8),
                b'0' => bytes.push(0),
                b'\n' => {}
                b'u' | b'x' => {
                    let length = if self.text[self.at - 1] == b'u' { 4 } else { 2 };
                    let digits = std::str::from_utf8(self.text.get(self.at..self.at + length)?).ok()?;
                    let code = u32::from_str_radix(digits, 16).ok()?;
                    bytes.extend(char::from_u32(code)?.to_string().bytes());
                    self.at += length;
                }
                other => bytes.push(*other),
            }
        }
        self.at += 1;
        String::from_utf8(bytes).ok().filter(|_| plain)
    }

    /// The literal here, if what follows ends it.
    fn literal(&mut self) -> Option<Value> {
        self.space();
        let value = match self.peek() {
            b'"' | b'\'' | b'`' => Value::String(self.quoted(false)?),
            b'{' => self.object()?,
            b'[' => {
                self.at += 1;
                let mut elements = Vec::new();
                loop {
                    self.space();
                    if self.peek() == b']' {
                        break;
                    }
                    elements.push(self.literal()?);
                    self.space();
                    if self.peek() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Value::Array(elements)
            }
            b'-' | b'0'..=b'9' => {
                let from = self.at;
                while matches!(self.peek(), b'-' | b'.' | b'e' | b'_' | b'0'..=b'9') {
                    self.at += 1;
                }
                serde_json::from_slice(&self.text[from..self.at]).ok()?
            }
            _ => {
                let word = self.word();
                match word.as_str() {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "null" => Value::Null,
                    "String" if self.text[self.at..].starts_with(b".raw`") => {
                        self.at += 4;
                        Value::String(self.quoted(true)?)
                    }
                    _ => self.constants.get(&word)?.clone(),
                }
            }
        };
        self.space();
        // Anything else makes it a part of an expression.
        matches!(self.peek(), b',' | b'}' | b']' | b')' | b';' | b'\n' | 0).then_some(value).or_else(|| None)
    }

    fn object(&mut self) -> Option<Value> {
        self.at += 1;
        let mut members = Map::new();
        loop {
            self.space();
            if self.peek() == b'}' {
                self.at += 1;
                return Some(Value::Object(members));
            }
            let name = if matches!(self.peek(), b'"' | b'\'') { self.quoted(false)? } else { self.word() };
            self.space();
            let value = if self.peek() == b':' {
                self.at += 1;
                self.literal()?
            } else {
                self.constants.get(&name)?.clone()
            };
            members.insert(name, value);
            self.space();
            match self.peek() {
                b',' => self.at += 1,
                b'}' => {}
                _ => return None,
            }
        }
    }
}

/// Calls with literal arguments: where they begin, the tool, the argument; and the number of all calls.
fn tokenized(program: &str) -> (Vec<(usize, String, Value)>, usize) {
    let mut tokens = Tokens { text: program.as_bytes(), at: 0, constants: HashMap::new() };
    let (mut calls, mut all) = (Vec::new(), 0);
    while tokens.at < tokens.text.len() {
        let before = tokens.at.checked_sub(1).map_or(b' ', |at| tokens.text[at]);
        match tokens.peek() {
            b'"' | b'\'' | b'`' => drop(tokens.quoted(false)),
            b'/' if tokens.text[tokens.at..].starts_with(b"//") => tokens.space(),
            next if (next.is_ascii_alphabetic() || next == b'_') && !before.is_ascii_alphanumeric() && before != b'.' => {
                let from = tokens.at;
                match tokens.word().as_str() {
                    "const" => {
                        tokens.space();
                        let name = tokens.word();
                        tokens.space();
                        let here = tokens.at;
                        if tokens.peek() == b'=' {
                            tokens.at += 1;
                            if let Some(value) = tokens.literal() {
                                tokens.constants.insert(name, value);
                            }
                        }
                        tokens.at = here;
                    }
                    "String" if tokens.text[tokens.at..].starts_with(b".raw`") => {
                        tokens.at += 4;
                        tokens.quoted(true);
                    }
                    "tools" if tokens.peek() == b'.' => {
                        tokens.at += 1;
                        let tool = tokens.word();
                        if tokens.peek() == b'(' {
                            tokens.at += 1;
                            all += 1;
                            let here = tokens.at;
                            if let Some(value) = tokens.literal() {
                                calls.push((from, tool, value));
                            }
                            tokens.at = here;
                        }
                    }
                    _ => {}
                }
            }
            _ => tokens.at += 1,
        }
    }
    (calls, all)
}

#[test]
fn a_tokenizer_finds_the_same_calls() {
    let programs = programs();
    let (mut literal, mut same, mut all, mut read, mut complete) = (0usize, 0usize, 0usize, 0usize, 0usize);
    for Found { program, .. } in &programs {
        let script = tooltrail_script::read(program);
        let (calls, found) = tokenized(program);
        all += found;
        read += script.calls.len();
        complete += usize::from(script.complete);
        assert!(found == 0 || !script.calls.is_empty() || !script.complete, "calls were not seen in:\n{program}");
        for (at, tool, value) in calls {
            literal += 1;
            let is_same = script
                .calls
                .iter()
                .any(|call| call.span.start == at && call.tool == tool && call.argument == Argument::Literal(value.clone()));
            same += usize::from(is_same);
            if !is_same {
                println!("differs: {tool} {value} at {at} of\n{program}");
            }
        }
    }
    println!(
        "{} programs, {complete} complete; {all} calls in the text, {read} read; {literal} with literal arguments, {same} the same",
        programs.len()
    );
    assert!(same * 100 >= literal * 98, "{same} of {literal} literal calls are the same");
}

#[test]
fn exit_codes_agree_with_objects_that_were_printed_whole() {
    let (mut compared, mut proved, mut contradicted) = (0usize, 0usize, Vec::new());
    for found in programs() {
        let script = tooltrail_script::read(&found.program);
        let mut run = ScriptRun::new(&script, |call| matches!(call.tool.as_str(), "exec_command" | "write_stdin"));
        for item in &found.items {
            run.push(&script, 0, item);
        }
        if let Some(end) = found.end {
            run.finish(&script, 0, end);
        }
        let proofs = run.proofs(&script);
        proved += proofs.iter().filter(|proof| proof.exit_code.is_some() || proof.session.is_some()).count();
        // One call, and its result printed whole and alone: nothing of the program but this needs to be understood.
        let alone = found.program.matches("tools.").count() == 1 && found.program.matches("text(").count() == 1;
        if let ([item], [proof], true) =
            (found.items.as_slice(), proofs.as_slice(), alone && found.program.contains("text(JSON.stringify(r))"))
            && let Ok(result) = serde_json::from_str::<Value>(item)
        {
            compared += 1;
            if (result["exit_code"].as_i64(), result["session_id"].as_i64()) != (proof.exit_code, proof.session) {
                contradicted.push(format!("{proof:?}\n{}", found.program));
            }
        }
    }
    println!("{compared} whole results compared, {proved} exit codes and sessions proved");
    assert!(contradicted.is_empty(), "{}", contradicted.join("\n"));
}
