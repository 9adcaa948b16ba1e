//! A case: the lines of a log, and what the program has to say about them.
//!
//! A log is written to a folder and read as the program reads it: scanned, linked, made into rows, a transcript and views. Expectations
//! are short texts, so that a case stays close to the statement it holds the program to:
//!
//! | expectation | holds if |
//! |---|---|
//! | `t1.status = failed` | the row of call `t1` has this field; `hooks.0.event` leads inside, `#2` is the second row |
//! | `session.turns = 1`, `check.orphan_results = 0` | the first row of `list` or `check` has this field |
//! | `rows = 3`, `sessions = 1` | there are so many |
//! | `show: words` | `show --all` prints them; `no show:` that it does not |
//! | `call t1: words` | so does `show t1`; `no call t1:` that it does not |
//! | `page: words`, `md: words` | the page or the Markdown has them, with `no` in front that it has not |
//! | `model saw t1 = Same` | the page of a call relates the two results in this way |
//! | `changes = src/a.rs` | these files were changed, in order of time; empty for none |

use crate::support::{self, Logs};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use tooltrail_formats::changes::SessionChanges;
use tooltrail_formats::load;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::link::{Linked, Live};
use tooltrail_view::render::html::{self, HtmlOptions};
use tooltrail_view::render::markdown::{self, MarkdownOptions, ShownBodies};
use tooltrail_view::render::terminal::{self, TerminalOptions};
use tooltrail_view::{Limits, truths};

/// One statement, the log that it is about, and what has to hold.
pub(crate) struct Case {
    says: &'static str,
    files: Vec<(String, String)>,
    expects: Vec<String>,
    live: bool,
}

/// A case whose records get the envelope of a session: ids, times, directory. A record keeps the fields that it has.
pub(crate) fn case(says: &'static str, lines: Vec<Value>, expects: &[&str]) -> Case {
    let lines = lines.into_iter().zip(1..).map(|(line, number)| enveloped(line, number)).collect();
    bare(says, lines, expects)
}

/// A case whose records stand as they are.
pub(crate) fn bare(says: &'static str, lines: Vec<Value>, expects: &[&str]) -> Case {
    let case = Case { says, files: Vec::new(), expects: expects.iter().map(|&text| text.to_owned()).collect(), live: false };
    case.file("s1.jsonl", lines)
}

impl Case {
    /// Adds another log.
    pub(crate) fn file(mut self, path: &str, lines: Vec<Value>) -> Self {
        let text = lines.iter().map(|line| format!("{line}\n")).collect();
        self.files.push((path.to_owned(), text));
        self
    }

    /// Asks while the session is registered as running.
    pub(crate) fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// What does not hold, in words; nothing if all does.
    fn failures(&self) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in &self.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let logs = self.read(folder.path());
        logs.with_book(|linked, book| {
            let seen = CaseOutput { linked, book, logs: &logs };
            let failed = self.expects.iter().filter_map(|expected| Some(format!("{expected}\n      {}", seen.objection(expected)?)));
            failed.collect()
        })
    }

    fn read(&self, folder: &Path) -> Logs {
        let mut logs = support::read(&[folder.to_owned()]);
        if self.live {
            logs.now = tooltrail_model::Now::at("2026-03-04T10:01:00Z".parse().unwrap());
            logs.now.live.insert("s1".into(), Live::Running);
        }
        logs
    }
}

/// Holds the program to all cases, and reports every one that fails.
pub(crate) fn hold(cases: &[Case]) {
    let mut report = String::new();
    let mut failed = 0;
    for (number, case) in (1..).zip(cases) {
        let failures = case.failures();
        failed += usize::from(!failures.is_empty());
        for failure in failures {
            let _ = write!(report, "\n{number}. {}\n   {failure}", case.says);
        }
    }
    assert!(report.is_empty(), "{failed} of {} cases fail:{report}", cases.len());
}

/// Everything that the program says about the logs of a case.
struct CaseOutput<'a> {
    linked: &'a Linked<'a>,
    book: &'a SessionBook<'a>,
    logs: &'a Logs,
}

impl CaseOutput<'_> {
    /// Why an expectation does not hold; `None` if it does.
    fn objection(&self, expected: &str) -> Option<String> {
        let (wanted, rest) = match expected.strip_prefix("no ") {
            Some(rest) => (false, rest),
            None => (true, expected),
        };
        if let Some((place, words)) = rest.split_once(": ")
            && let Some(text) = self.text(place)
        {
            // Lines are folded to the width of a terminal, so white space is compared as such.
            let holds = squeezed(&text).contains(&squeezed(words)) == wanted;
            return (!holds).then(|| format!("in:\n{text}"));
        }
        let (place, wanted) = rest.split_once(" = ").or_else(|| Some((rest.strip_suffix(" =")?, ""))).expect("an expectation");
        let found = self.value(place);
        let wanted = serde_json::from_str(wanted).unwrap_or_else(|_| json!(wanted));
        (found != wanted).then(|| format!("is {found}"))
    }

    /// The text of an output.
    fn text(&self, place: &str) -> Option<String> {
        let wide = TerminalOptions { width: 200, all: true, ..Default::default() };
        Some(match place {
            "show" => plain(&written(|out| terminal::session(self.book, &wide, out))),
            "page" => {
                let page = written(|out| html::session(self.book, &HtmlOptions { plain: true, ..HtmlOptions::default() }, out));
                // Style sheets are full of words that mean nothing here.
                page.rsplit_once("</style>").map_or_else(|| page.clone(), |(_, body)| body.to_owned())
            }
            "md" => written(|out| markdown::session(self.book, &MarkdownOptions { bodies: ShownBodies::All, ..Default::default() }, out)),
            _ => {
                let index = self.index(place.strip_prefix("call ")?)?;
                plain(&written(|out| terminal::call(self.book, index, &wide, out)))
            }
        })
    }

    /// The place of a call by its id, or by its number.
    fn index(&self, call: &str) -> Option<usize> {
        let calls = &self.book.transcript().calls;
        match call.strip_prefix('#') {
            Some(number) => number.parse::<usize>().ok().map(|number| number - 1),
            None => calls.iter().position(|entry| entry.row.call == call),
        }
    }

    /// A field of a row, or another value.
    fn value(&self, place: &str) -> Value {
        if let Some(call) = place.strip_prefix("model saw ") {
            let Some(Loaded::Call(story)) = self.index(call).map(|index| self.book.call(index)) else { return Value::Null };
            return truths::of(&story, &Limits::PAGE).map_or(Value::Null, |truths| json!(format!("{:?}", truths.relation)));
        }
        match place {
            "rows" => return json!(self.rows().len()),
            "sessions" => return json!(self.linked.session_rows(&self.logs.now).len()),
            "changes" => return json!(self.changes()),
            _ => {}
        }
        let (row, field) = place.split_once('.').expect("a row and its field");
        let rows = self.rows();
        let row = match row {
            "session" => json!(self.linked.session_rows(&self.logs.now).first()),
            "check" => json!(self.linked.check_rows(&self.logs.now).first()),
            _ => match row.strip_prefix('#') {
                Some(number) => rows[number.parse::<usize>().unwrap() - 1].clone(),
                None => rows.into_iter().find(|found| found["call"] == row).unwrap_or_else(|| panic!("no call {row}")),
            },
        };
        row.pointer(&format!("/{}", field.replace('.', "/"))).cloned().unwrap_or(Value::Null)
    }

    /// The lines of `calls --json`.
    fn rows(&self) -> Vec<Value> {
        let completed = self.linked.calls.iter().map(|call| {
            let mut row = self.linked.call_row(call, &self.logs.now, false);
            let _ = load::complete_at(&self.logs.disk, &mut row, self.linked.record(call.id));
            json!(row)
        });
        completed.collect()
    }

    /// The files that were changed.
    fn changes(&self) -> String {
        let changes = SessionChanges::read(self.book);
        let files: Vec<String> = changes.nets(|_| true).flatten().map(|file| file.path).collect();
        files.join(" ")
    }
}

/// A text with single spaces.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without colours.
fn plain(text: &str) -> String {
    regex::Regex::new("\x1b\\[[0-9;]*m").unwrap().replace_all(text, "").into_owned()
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A record in the envelope of a session. Fields that it has stay.
fn enveloped(line: Value, number: u32) -> Value {
    let parent = if number > 1 { json!(format!("n{}", number - 1)) } else { Value::Null };
    let mut whole = json!({
        "uuid": format!("n{number}"), "parentUuid": parent, "sessionId": "s1", "timestamp": format!("2026-03-04T10:00:{number:02}.000Z"),
        "cwd": "/srv/app", "isSidechain": false, "userType": "external", "version": "2.1.0", "gitBranch": "main",
    });
    if let (Some(whole), Value::Object(fields)) = (whole.as_object_mut(), line) {
        whole.extend(fields);
    }
    whole
}

/// What a person wrote.
pub(crate) fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

/// A message of the model.
pub(crate) fn says(blocks: &[Value]) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": blocks}})
}

/// A block of words.
pub(crate) fn words(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A block that requests a call.
pub(crate) fn tool_use(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// A message with one request.
pub(crate) fn asks(id: &str, name: &str, input: Value) -> Value {
    says(&[tool_use(id, name, input)])
}

/// A block that answers a call.
pub(crate) fn tool_result(id: &str, content: impl Into<Value>) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content.into()})
}

/// A record with results.
pub(crate) fn returns(blocks: &[Value]) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": blocks}})
}

/// A record with one result.
pub(crate) fn answers(id: &str, content: impl Into<Value>) -> Value {
    returns(&[tool_result(id, content)])
}

/// A record with one result that is an error.
pub(crate) fn fails(id: &str, content: impl Into<Value>) -> Value {
    let mut block = tool_result(id, content);
    block["is_error"] = json!(true);
    returns(&[block])
}

/// A record with one result and what the tool itself produced.
pub(crate) fn produces(id: &str, content: impl Into<Value>, produced: Value) -> Value {
    with(answers(id, content), "toolUseResult", produced)
}

/// A record with another field.
pub(crate) fn with(mut line: Value, field: &str, value: Value) -> Value {
    line[field] = value;
    line
}

/// A call and its result.
pub(crate) fn pair(name: &str, input: Value, result: impl Into<Value>) -> Vec<Value> {
    vec![asks("t1", name, input), answers("t1", result)]
}

/// A call, its result, and what the tool produced.
pub(crate) fn made(name: &str, input: Value, result: impl Into<Value>, produced: Value) -> Vec<Value> {
    vec![asks("t1", name, input), produces("t1", result, produced)]
}

/// A call that failed, with what the tool produced.
pub(crate) fn broke(name: &str, input: Value, result: impl Into<Value>, produced: Value) -> Vec<Value> {
    vec![asks("t1", name, input), with(fails("t1", result), "toolUseResult", produced)]
}
