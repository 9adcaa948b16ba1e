//! Transcripts of invented sessions: everything that a log says is there once, in its place, with and without redaction.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options};
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::detail::Detail;
use tooltrail_model::link::Source;
use tooltrail_model::transcript::{Part, Story};
use tooltrail_model::{Linker, Now, Span, Time};

/// Logs in memory.
#[derive(Default)]
struct Logs(BTreeMap<String, Vec<u8>>);

impl Logs {
    fn of(file: &str, records: &[Value]) -> Self {
        Logs::default().and(file, records)
    }

    fn and(mut self, file: &str, records: &[Value]) -> Self {
        let lines = records.iter().map(|record| format!("{record}\n")).collect::<String>();
        self.0.insert(file.to_owned(), lines.into_bytes());
        self
    }

    fn with_book<T>(&self, change: Option<&(dyn Fn(String) -> String + Sync)>, test: impl FnOnce(&SessionBook<'_>) -> T) -> T {
        self.with_session(None, change, test)
    }

    /// The same for one session, by its place among all.
    fn with_session<T>(
        &self,
        only: Option<usize>,
        change: Option<&(dyn Fn(String) -> String + Sync)>,
        test: impl FnOnce(&SessionBook<'_>) -> T,
    ) -> T {
        let mut linker = Linker::default();
        for (path, bytes) in &self.0 {
            let options = Options { threads: 1, ..Options::default() };
            let summary = scan::read(Path::new(path), &bytes[..], &options, &mut Buffer::default(), &Turns::default());
            linker.put(Source { path: path.as_str().into(), modified: summary.last, summary });
        }
        let linked = linker.link();
        let now = Now::at("2026-03-05T10:00:00Z".parse::<Time>().unwrap());
        let sessions: Vec<usize> = (0..linked.sessions.len()).filter(|session| only.is_none_or(|only| only == *session)).collect();
        let words = typed_arena::Arena::new();
        let private = change.map(|change| Private { change, words: &words });
        test(&SessionBook::read(&linked, &sessions, &now, self, private))
    }

    /// What is shown: the thread, what it is, and its words.
    fn shown(&self) -> Vec<String> {
        self.with_book(None, shown)
    }

    fn without<T>(&self, secret: &str, test: impl FnOnce(&SessionBook<'_>) -> T) -> T {
        let change = |text: String| text.replace(secret, "***");
        self.with_book(Some(&change), test)
    }
}

impl ReadLogs for Logs {
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        let bytes = self.0.get(file).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(&bytes[..]))
    }

    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>> {
        Some(self.0.get(file)?.get(span.start as usize..span.end as usize)?.to_vec())
    }

    fn beside(&self, _: &str, _: &str, _: u64) -> io::Result<(Vec<u8>, u64)> {
        Err(io::ErrorKind::NotFound.into())
    }
}

fn shown(book: &SessionBook<'_>) -> Vec<String> {
    let threads = book.transcript().threads.iter().enumerate();
    let entries = threads.flat_map(|(number, thread)| thread.entries.iter().map(move |entry| (number, entry)));
    entries.map(|(thread, entry)| format!("{thread} {}", words(book.open(entry)))).collect()
}

fn words(loaded: Loaded<'_>) -> String {
    match loaded {
        Loaded::Call(story) => format!("call {} {}", story.row.call, story.answer.map_or(0, |answer| answer.seen.len())),
        Loaded::Gone(why) => format!("gone {why}"),
        Loaded::Part(part) => match part {
            Part::Prompt { text, .. } => format!("prompt {text}"),
            Part::Text(text) => format!("text {text}"),
            Part::Thinking(text) => format!("thinking {text}"),
            Part::Command { line, output } => format!("command {line} -> {}", output.unwrap_or_default()),
            Part::Folded { label, text } => format!("folded {label}: {text}"),
            Part::Media(_) => "media".to_owned(),
            other => format!("{other:?}"),
        },
    }
}

fn story<T>(book: &SessionBook<'_>, call: &str, test: impl FnOnce(&Story<'_>) -> T) -> T {
    let index = book.transcript().calls.iter().position(|entry| entry.row.call == call).unwrap();
    let Loaded::Call(story) = book.call(index) else { panic!("no story of {call}") };
    test(&story)
}

const MAIN: &str = "/h/.claude/projects/p/s1.jsonl";

/// A record of a Claude session.
fn claude(number: u32, kind: &str, message: Value) -> Value {
    let parent = number.checked_sub(1).filter(|parent| *parent > 0).map(|parent| format!("u{parent}"));
    json!({"type": kind, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "s1", "cwd": "/srv/app",
        "timestamp": format!("2026-03-04T10:00:{number:02}.000Z"), "message": message})
}

fn user(number: u32, content: impl Into<Value>) -> Value {
    claude(number, "user", json!({"role": "user", "content": content.into()}))
}

fn assistant(number: u32, content: Value) -> Value {
    claude(number, "assistant", json!({"role": "assistant", "id": format!("m{number}"), "content": [content]}))
}

fn call(number: u32, id: &str, name: &str, input: Value) -> Value {
    assistant(number, json!({"type": "tool_use", "id": id, "name": name, "input": input}))
}

fn result(number: u32, id: &str, content: &str) -> Value {
    user(number, json!([{"type": "tool_result", "tool_use_id": id, "content": content}]))
}

/// A record of a Codex session.
fn codex(number: u32, kind: &str, payload: Value) -> Value {
    json!({"timestamp": format!("2026-03-04T10:00:{number:02}.000Z"), "type": kind, "payload": payload})
}

fn meta(id: &str) -> Value {
    codex(0, "session_meta", json!({"id": id, "cwd": "/srv/app", "originator": "codex-tui", "cli_version": "0.145.0", "source": "cli"}))
}

const ROLLOUT: &str = "/h/.codex/sessions/2026/03/04/rollout-2026-03-04T10-00-00-0197-a.jsonl";

#[test]
fn a_command_and_what_it_printed_are_one() {
    let logs = Logs::of(
        MAIN,
        &[
            user(1, "<command-name>/cost</command-name><command-message>cost</command-message>"),
            user(2, "<local-command-stdout>1.20 dollars</local-command-stdout>"),
            user(3, "<command-name>/clear</command-name>"),
            user(4, "<local-command-stdout></local-command-stdout>"),
            user(5, "<bash-stdout>alone</bash-stdout><bash-stderr></bash-stderr>"),
            user(6, "go on"),
        ],
    );
    assert_eq!(logs.shown(), ["0 command /cost -> 1.20 dollars", "0 command /clear -> ", "0 command  -> alone", "0 prompt go on"]);
    logs.with_book(None, |book| {
        let first = &book.transcript().threads[0].entries[0];
        assert_eq!(book.spots(first).iter().map(|spot| spot.at.line).collect::<Vec<_>>(), [1, 2]);
    });
}

#[test]
fn results_without_a_call_are_not_lost() {
    let logs = Logs::of(
        MAIN,
        &[
            result(1, "toolu_gone", "what it found"),
            call(2, "toolu_a", "Bash", json!({"command": "ls"})),
            result(3, "toolu_a", "a"),
            result(4, "toolu_a", "late news"),
        ],
    );
    let expected =
        ["0 folded result without its call: what it found", "0 call toolu_a 1", "0 folded another result of the same call: late news"];
    assert_eq!(logs.shown(), expected);
}

#[test]
fn what_was_taken_back_is_marked_and_its_calls_stay() {
    let mut fallback = claude(4, "system", Value::Null);
    fallback["subtype"] = json!("model_refusal_fallback");
    fallback["retractedMessageUuids"] = json!(["u2", "u3"]);
    let mut whole = assistant(6, json!({"type": "text", "text": "Half an answer, and the rest."}));
    whole["supersedesUuids"] = json!(["u5"]);
    let logs = Logs::of(
        MAIN,
        &[
            user(1, "go"),
            assistant(2, json!({"type": "text", "text": "No."})),
            call(3, "toolu_a", "Bash", json!({"command": "ls"})),
            fallback,
            assistant(5, json!({"type": "text", "text": "Half an ans"})),
            whole,
        ],
    );
    logs.with_book(None, |book| {
        let entries = &book.transcript().threads[0].entries;
        let gone = entries.iter().filter(|entry| entry.abandoned).map(|entry| words(book.open(entry)));
        assert_eq!(gone.collect::<Vec<_>>(), ["text No.", "call toolu_a 0", "text Half an ans"]);
        assert!(book.transcript().turns.iter().all(|turn| !turn.abandoned), "the turn itself goes on");
    });
}

#[test]
fn calls_without_an_id_are_opened_by_their_place() {
    let made = |id: Value, command: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    let both = claude(1, "assistant", json!({"role": "assistant", "content": [made(Value::Null, "ls"), made(json!(""), "pwd")]}));
    let answer =
        user(3, json!([{"type": "tool_result", "tool_use_id": 7, "content": "4 March"}, {"type": "tool_result", "content": "whose?"}]));
    let logs = Logs::of(MAIN, &[both, assistant(2, made(json!(7), "date")), answer]);
    let expected = ["0 call line-1 0", "0 call line-1-2 0", "0 call 7 1", "0 folded result without its call: whose?"];
    assert_eq!(logs.shown(), expected);
    logs.with_book(None, |book| story(book, "line-1-2", |story| assert_eq!(story.input, json!({"command": "pwd"}))));
}

#[test]
fn an_id_used_for_something_else_hides_nothing() {
    let mut again = user(2, "other words");
    again["uuid"] = json!("u1");
    let mut copy = user(1, "first words");
    copy["sessionId"] = json!("s1");
    let logs = Logs::of(MAIN, &[user(1, "first words"), again]).and("/h/.claude/projects/p/s1-copy.jsonl", &[copy]);
    assert_eq!(logs.shown(), ["0 prompt first words", "0 prompt other words"]);
}

#[test]
fn codex_says_things_twice_and_they_are_shown_once() {
    let item = |number, role: &str, text: &str| {
        codex(number, "response_item", json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}))
    };
    let event = |number, kind: &str, text: &str| codex(number, "event_msg", json!({"type": kind, "message": text}));
    let logs = Logs::of(
        ROLLOUT,
        &[
            meta("0197-a"),
            item(1, "user", "go on"),
            event(2, "user_message", "go on"),
            event(3, "agent_message", "done"),
            item(4, "assistant", "done"),
            // The same again, and once more where the item is missing.
            item(5, "user", "go on"),
            event(6, "user_message", "go on"),
            item(7, "assistant", "done"),
            event(8, "user_message", "go on"),
        ],
    );
    let expected = ["0 prompt go on", "0 text done", "0 prompt go on", "0 text done", "0 prompt go on"];
    assert_eq!(logs.shown(), expected);
    logs.with_book(None, |book| assert_eq!(book.transcript().turns.len(), 3));
}

#[test]
fn codex_messages_told_by_events_alone_are_not_lost() {
    let event = |number, text: &str| codex(number, "event_msg", json!({"type": "user_message", "message": text}));
    let done = |number, content: Value| {
        codex(number, "event_msg", json!({"type": "item_completed", "item": {"type": "UserMessage", "id": "i", "content": content}}))
    };
    let text = json!([{"type": "text", "text": "go on"}]);
    let picture = json!([{"type": "image", "image_url": "data:image/png;base64,iVBO"}]);
    let letter =
        codex(5, "inter_agent_communication", json!({"author": "/root/scout", "content": [{"type": "input_text", "text": "thanks"}]}));
    let call = codex(7, "response_item", json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}));
    let logs = Logs::of(
        ROLLOUT,
        &[
            meta("0197-a"),
            event(1, "go on"),
            done(2, text.clone()),
            event(3, "go on"),
            done(4, text),
            letter,
            event(6, "thanks"),
            call,
            done(8, picture),
        ],
    );
    assert_eq!(logs.shown(), ["0 prompt go on", "0 prompt go on", "0 prompt thanks", "0 prompt thanks", "0 call c1 0", "0 media"]);
}

#[test]
fn every_thread_of_a_call_counts_its_own_calls() {
    let agent = |name: &str, calls: &[&str]| -> Vec<Value> {
        let mut records = vec![user(1, format!("task of {name}"))];
        for (number, id) in (2..).step_by(2).zip(calls) {
            records.push(call(number, id, "Bash", json!({"command": "ls"})));
            let mut failed = result(number + 1, id, "Exit code 1");
            failed["message"]["content"][0]["is_error"] = json!(true);
            records.push(failed);
        }
        for record in &mut records {
            let uuid = format!("{name}-{}", record["uuid"].as_str().unwrap());
            record["uuid"] = json!(uuid);
            record["agentId"] = json!(name);
            record["isSidechain"] = json!(true);
            record["parentUuid"] = Value::Null;
        }
        records
    };
    let launched = |number: u32, id: &str, name: &str| {
        let mut record = result(number, id, "found");
        record["toolUseResult"] = json!({"status": "completed", "agentId": name});
        record
    };
    let workflow = json!({"type": "progress", "uuid": "q1", "parentUuid": "u1", "sessionId": "s1", "toolUseID": "x", "parentToolUseID": "toolu_t",
        "timestamp": "2026-03-04T10:00:03.000Z", "data": {"type": "agent_progress", "agentId": "a2", "prompt": "p",
        "message": {"type": "user", "message": {"role": "user", "content": "p"}}}});
    let logs = Logs::of(MAIN, &[call(1, "toolu_t", "Task", json!({"prompt": "task of a1"})), workflow, launched(9, "toolu_t", "a1")])
        .and("/h/.claude/projects/p/s1/subagents/agent-a1.jsonl", &agent("a1", &["toolu_1", "toolu_2"]))
        .and("/h/.claude/projects/p/s1/subagents/agent-a2.jsonl", &agent("a2", &["toolu_3"]));
    logs.with_book(None, |book| {
        story(book, "toolu_t", |story| {
            assert_eq!((story.nested.calls, story.nested.failed, story.nested.threads.len()), (3, 3, 2));
            let made = |agent: &str| {
                let thread = book.transcript().threads.iter().position(|thread| thread.agent.as_deref() == Some(agent)).unwrap();
                story.nested.of(thread).calls
            };
            assert_eq!((made("a1"), made("a2")), (2, 1));
        });
    });
}

#[test]
fn redaction_changes_texts_and_nothing_else() {
    let asked = json!({"questions": [{"question": "Use hunter2?", "header": "h", "options": [{"label": "A"}, {"label": "hunter2"}]}]});
    let mut answered = result(3, "toolu_hunter2", "User has answered your questions: hunter2");
    answered["toolUseResult"] = json!({"questions": asked["questions"], "answers": {"Use hunter2?": "hunter2"}});
    let logs = Logs::of(
        MAIN,
        &[
            user(1, "the password is hunter2\n<system-reminder>hunter2</system-reminder>"),
            call(2, "toolu_hunter2", "AskUserQuestion", asked),
            answered,
        ],
    );
    logs.without("hunter2", |book| {
        // Nobody can ask for a call whose id is changed, so ids stay.
        let expected = ["0 prompt the password is ***", "0 folded system reminder: ***", "0 call toolu_hunter2 1"];
        assert_eq!(shown(book), expected);
        assert_eq!(book.transcript().turns[0].head, "the password is ***");
        story(book, "toolu_hunter2", |story| {
            let told = format!("{:?}", (&story.told, &story.input, &story.answer));
            assert!(!told.contains("hunter2"), "{told}");
            assert!(told.contains("Use ***?"), "{told}");
            let Detail::Question(asked) = &story.told.detail else { panic!("{told}") };
            let chosen: Vec<bool> = asked.questions[0].options.iter().map(|option| option.chosen).collect();
            assert_eq!(chosen, [false, true]);
        });
    });
}

#[test]
fn arguments_in_strings_are_redacted_as_what_they_are() {
    let arguments = json!({"cmd": "echo a\nexport X=hunter2", "workdir": "/srv"}).to_string();
    let asked =
        codex(1, "response_item", json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": "c1"}));
    // What is taken out may hold quotes.
    let change = |text: String| text.replace("X=hunter2", "\"***\"");
    Logs::of(ROLLOUT, &[meta("0197-a"), asked]).with_book(Some(&change), |book| {
        story(book, "c1", |story| assert_eq!(story.input, json!({"cmd": "echo a\nexport \"***\"", "workdir": "/srv"})));
    });
}

#[test]
fn every_entry_knows_its_file() {
    let mut prompt = user(1, "task");
    prompt["uuid"] = json!("a-u1");
    prompt["agentId"] = json!("a1");
    prompt["isSidechain"] = json!(true);
    let agent = "/h/.claude/projects/p/s1/subagents/agent-a1.jsonl";
    let logs = Logs::of(MAIN, &[user(1, "hello")]).and(agent, &[prompt]);
    let files = |book: &SessionBook<'_>| -> Vec<String> {
        let entries = book.transcript().threads.iter().flat_map(|thread| &thread.entries);
        entries.map(|entry| book.file(entry.spot.source).unwrap_or("nowhere").to_owned()).collect()
    };
    assert_eq!(logs.with_book(None, files), [MAIN, agent]);
    assert_eq!(logs.without("/h/", files)[1], "***.claude/projects/p/s1/subagents/agent-a1.jsonl");
}

#[test]
fn pictures_that_were_handed_over_stay_pictures() {
    let file = json!({"base64": "iVBO", "type": "image/png", "originalSize": 3});
    let attachment = json!({"type": "file", "filename": "/srv/a.png", "content": {"type": "image", "file": file}});
    let mut record = user(1, "");
    record["type"] = json!("attachment");
    record["attachment"] = attachment;
    assert_eq!(Logs::of(MAIN, &[record]).shown(), ["0 folded file: /srv/a.png: image/png", "0 media"]);
}

#[test]
fn sessions_of_one_file_are_told_apart_in_either_spelling() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude_code/sessions-in-one-file/projects/-srv-app");
    let bytes = std::fs::read(path.join("00015e55-0000-4000-8000-000000000000.jsonl")).unwrap();
    let logs = Logs(BTreeMap::from([("/x/00015e55-0000-4000-8000-000000000000.jsonl".to_owned(), bytes)]));
    let mut shown: Vec<Vec<String>> = (0..2).map(|session| logs.with_session(Some(session), None, shown)).collect();
    shown.sort();
    assert_eq!(
        shown,
        [["0 prompt the first session's prompt", "0 call toolu_11 1"], ["0 prompt the second session's prompt", "0 call toolu_21 1"]]
    );
}

#[test]
fn requests_to_the_service_and_accounts_are_never_shown() {
    let record = |kind: &str, more: Value| {
        let mut fields = json!({"type": kind, "sessionId": "s1"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    let logs = Logs::of(
        MAIN,
        &[
            user(1, "hello"),
            record("api-request-shape", json!({"hash": "h1", "shape": {"system": "secret"}})),
            record("api-request-blob", json!({"hash": "h2", "message": {"role": "user", "content": [{"type": "text", "text": "secret"}]}})),
            record("api-request", json!({"id": "r1", "params": {"messages": ["secret"]}})),
            record("memory-mode", json!({"mode": "on", "account": "secret"})),
            record("bridge-session", json!({"bridgeSessionId": "cse_1", "ownerAccountUuid": "secret"})),
            record("continued-in", json!({"continuedInSessionId": "00025e55"})),
        ],
    );
    let shown = logs.shown();
    assert!(!shown.iter().any(|entry| entry.contains("secret")), "{shown:?}");
    assert!(shown.iter().any(|entry| entry.contains("continues in session 00025e55")), "{shown:?}");
    assert_eq!(shown.len(), 2, "{shown:?}");
}

#[test]
fn a_call_that_streams_in_is_shown_once_with_its_whole_input() {
    let streamed = |number: u32, command: &str| {
        let mut record = call(number, "a", "Bash", json!({"command": command}));
        record["message"]["id"] = "m1".into();
        record
    };
    let logs = Logs::of(MAIN, &[user(1, "hello"), streamed(2, "l"), streamed(3, "ls -l"), result(4, "a", "total 0")]);
    assert_eq!(logs.shown(), ["0 prompt hello", "0 call a 1"]);
    logs.with_book(None, |book| story(book, "a", |story| assert_eq!(story.input, json!({"command": "ls -l"}))));
}

#[test]
fn failures_of_the_service_say_why_and_when_they_end() {
    let failed = |more: Value| {
        let mut record = assistant(2, json!({"type": "text", "text": "You've hit your limit"}));
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Logs::of(MAIN, &[user(1, "hello"), record]).shown().remove(1)
    };
    let limit = json!({"isApiErrorMessage": true, "error": "rate_limit", "apiErrorStatus": 429, "errorDetails": "try later",
        "quotaLimits": {"resetsAt": 1_772_618_400, "rateLimitType": "five_hour"}});
    let shown = failed(limit);
    for expected in ["API error 429: rate limit", "You've hit your limit\\ntry later\\nlimit: five hour, resets at 2026-03-04T10:00:00"] {
        assert!(shown.contains(expected), "{shown}");
    }
    let odd = failed(json!({"isApiErrorMessage": true, "errorDetails": {"a": 1}, "quotaLimits": [1], "apiErrorStatus": "429"}));
    assert!(odd.contains("\"API error\"") && odd.contains("limit\\n{\\\"a\\\":1}"), "{odd}");
    assert_eq!(failed(json!({"isAbortedMidStream": true})), "0 text You've hit your limit");
}

#[test]
fn inputs_that_are_no_texts_break_nothing() {
    let inputs = [
        ("Bash", json!({"command": ["ls", "-l"]})),
        ("Read", json!({"file_path": 7})),
        ("Grep", json!({"pattern": {}, "glob": {"a": 1}})),
        ("Write", json!({"file_path": null, "content": ["x"]})),
        ("Edit", json!({"file_path": {}, "old_string": 1, "new_string": []})),
        ("Skill", json!({"skill": 3})),
        ("Task", json!({"prompt": false})),
        ("Bash", json!("ls")),
    ];
    for (tool, input) in inputs {
        let logs = Logs::of(MAIN, &[user(1, "hello"), call(2, "a", tool, input.clone()), result(3, "a", "done")]);
        assert_eq!(logs.shown(), ["0 prompt hello", "0 call a 1"], "{tool} {input}");
        logs.with_book(None, |book| story(book, "a", |story| assert_eq!(story.input, input)));
    }
}
