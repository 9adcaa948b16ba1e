//! `toolUseResult`: the tool's own output, beside the content for the model. An object, a list, a string, or missing.

use super::markers;
use super::message::ContentBlock;
use crate::served;
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;
use tooltrail_model::event::{Child, TaskState};
use tooltrail_model::verdict::{Denial, LoggedOutcome, Marker, ServedWords, Signals};
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// How much of a result's text is looked at, at either end.
const WINDOW: usize = 600;

/// The fields of a structured result that tell how a call ended.
#[derive(Debug, Default)]
pub(super) struct StructuredResult<'r> {
    pub(super) span: Range<usize>,
    /// The result where it is a plain text.
    text: Option<Raw<'r>>,
    /// The result has fields of its own. Those of servers' tools are lists of content.
    object: bool,
    interrupted: bool,
    /// A search gave up at its own time limit.
    timed_out: bool,
    exit_code: Option<i64>,
    /// Whether there is a remark on the exit code, which explains it.
    exit_explained: bool,
    /// Output of a command: standard output and errors.
    printed: [Option<Raw<'r>>; 2],
    run_ms: Option<u64>,
    background: Option<Raw<'r>>,
    agent: Option<Raw<'r>>,
    status: Option<Raw<'r>>,
    asynchronous: bool,
    task: Option<Raw<'r>>,
    /// A teammate's name.
    teammate: Option<Raw<'r>>,
    /// The call watches something, in a task of its own.
    monitors: bool,
    /// The result comes later.
    detached: bool,
    directory: Option<Raw<'r>>,
    /// The run of a workflow, after which its directory is named.
    run: Option<Raw<'r>>,
    message: Option<Raw<'r>>,
    polled: Option<Polled<'r>>,
    /// The person edited the proposal in the dialog.
    pub(super) user_modified: bool,
}

/// The state of a task that a call asked about.
#[derive(Debug, Default)]
struct Polled<'r> {
    id: Option<Raw<'r>>,
    status: Option<Raw<'r>>,
    exit_code: Option<i64>,
}

fn code(value: &mut Skim<'_>) -> Option<i64> {
    value.int().and_then(|code| i64::try_from(code).ok())
}

impl<'r> StructuredResult<'r> {
    pub(super) fn read(&mut self, value: &mut Skim<'r>) -> Result<(), Torn> {
        value.peek();
        let start = value.position();
        match value.peek() {
            Some(Type::Object) => {
                self.object = true;
                value.object(|key, value| self.field(key.as_bytes(), value))?;
            }
            Some(Type::String) => self.text = value.string(),
            _ => {
                value.skip()?;
            }
        }
        self.span = start..value.position();
        Ok(())
    }

    fn field(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        match key {
            b"interrupted" => self.interrupted = value.bool() == Some(true),
            b"timedOut" => self.timed_out = value.bool() == Some(true),
            // Tools spell this key differently.
            b"exitCode" | b"exit_code" | b"returnCode" => self.exit_code = code(value),
            b"returnCodeInterpretation" => self.exit_explained = value.string().is_some_and(|remark| !remark.is_empty()),
            b"stdout" => self.printed[0] = value.string(),
            b"stderr" => self.printed[1] = value.string(),
            b"durationMs" | b"totalDurationMs" => self.run_ms = millis(value.float(), 1.0),
            b"durationSeconds" => self.run_ms = millis(value.float(), 1000.0),
            b"backgroundTaskId" => self.background = value.string(),
            b"agentId" => self.agent = value.string(),
            b"status" => self.status = value.string(),
            b"isAsync" => self.asynchronous = value.bool() == Some(true),
            b"taskId" | b"task_id" | b"shellId" | b"shell_id" => self.task = value.string(),
            b"agent_id" => self.teammate = value.string(),
            // Only monitors have this field, whatever its value.
            b"persistent" => self.monitors = value.bool().is_some(),
            b"detachedToolCall" => self.detached = value.bool() == Some(true),
            b"transcriptDir" => self.directory = value.string(),
            b"runId" => self.run = value.string(),
            b"message" => self.message = value.string(),
            b"userModified" | b"planWasEdited" => self.user_modified |= value.bool() == Some(true),
            b"task" => {
                let mut polled = Polled::default();
                value.object(|key, value| {
                    match key.as_bytes() {
                        b"task_id" => polled.id = value.string(),
                        b"status" => polled.status = value.string(),
                        b"exitCode" => polled.exit_code = code(value),
                        _ => {}
                    }
                    Ok(())
                })?;
                self.polled = Some(polled);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the command's own output ends like the statement of an exit code.
    fn prints_exit_code(&self) -> bool {
        self.printed.iter().flatten().any(|text| markers::exit_tail(&telling_tail(*text)).is_some())
    }

    /// The directory of the workflow that the call started.
    pub(super) fn workflow(&self) -> Option<Cow<'r, str>> {
        let path = self.directory.or(self.run)?.text();
        let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        (!name.is_empty()).then_some(Cow::Owned(name))
    }
}

fn millis(number: Option<f64>, factor: f64) -> Option<u64> {
    number.filter(|number| *number >= 0.0).map(|number| (number * factor).round() as u64)
}

/// A state as Claude Code spells it.
pub(super) fn task_state(word: &str) -> TaskState {
    match word {
        "running" | "pending" | "in_progress" => TaskState::Running,
        "completed" => TaskState::Completed,
        "failed" | "error" => TaskState::Failed,
        "killed" => TaskState::Killed,
        "stopped" => TaskState::Stopped,
        _ => TaskState::Unknown,
    }
}

/// A result block and its structured companion, read together.
#[derive(Debug)]
pub(super) struct ResultOutcome<'r> {
    pub(super) head: Cow<'r, str>,
    tail: Cow<'r, str>,
    pub(super) signals: Signals,
    pub(super) run_ms: Option<u64>,
    /// The background task that the call became.
    pub(super) background: Option<Cow<'r, str>>,
}

/// The state of a task, learnt from the result of a call that asked.
#[derive(Debug)]
pub(super) struct Poll<'r> {
    pub(super) id: Option<Cow<'r, str>>,
    pub(super) state: TaskState,
    pub(super) exit_code: Option<i64>,
}

impl<'r> ResultOutcome<'r> {
    pub(super) fn of(block: &ContentBlock<'r>, structured: Option<&StructuredResult<'r>>, denial: Option<Raw<'r>>) -> Self {
        let (first, last) = (block.result.first, block.result.last);
        // Tools on the service's side have no flag; they report an error as an object.
        let api_side = block.kind.is_some_and(|kind| kind != *"tool_result");
        let error = block.is_error == Some(true) || (api_side && block.result.error_object);
        let told = structured.and_then(|structured| structured.text).map(|text| text.head(WINDOW)).unwrap_or_default();
        // A tool whose own output is such a text has failed, marked or not.
        let error_output = told.starts_with("Error:");
        let wrong = error || error_output;
        let mut head = first.map(|text| telling_head(text, wrong)).unwrap_or_default();
        let mut tail = last.map(telling_tail).unwrap_or_default();
        // A list of blocks that was written into a string is the blocks it holds.
        if !head.is_empty()
            && head.trim_start().starts_with("[{")
            && let Some((inner_head, inner_tail)) = first.and_then(spelled_blocks)
        {
            (head, tail) = (Cow::Owned(inner_head), Cow::Owned(inner_tail));
        }
        let outcome = if error { LoggedOutcome::Error } else { LoggedOutcome::Worked };
        let mut signals = Signals { outcome, error_output, ..Signals::default() };
        if wrong {
            // The text may begin like an exception's, with its own words behind that.
            let told = told.strip_prefix("Error: ").unwrap_or(&told);
            signals.marker = markers::of(&head).or_else(|| markers::of(told));
            signals.exit_head = markers::exit_code(&head).or_else(|| markers::exit_code(told)).map(|(code, _)| code);
            // The exit code is that of the signal; the tail says who sent it, behind the output.
            if signals.marker.is_none() && signals.exit_head.is_some() && markers::interrupted_tail(&tail) {
                signals.marker = Some(Marker::Interrupted);
            }
        }
        // Most texts tell nothing, and their heads are empty.
        if signals.marker.is_none() && !head.is_empty() && markers::service_failed(&head) {
            signals.marker = Some(Marker::ServiceFailed);
        }
        // What the command itself printed states nothing about it.
        signals.exit_tail = markers::exit_tail(&tail).filter(|_| !structured.is_some_and(StructuredResult::prints_exit_code));
        // The field is the record's, which may hold other results as well.
        signals.denial = denial.filter(|_| wrong).and_then(|kind| denial_kind(&kind.text()));
        // Tools of the agent's own have fields, and say nothing in the words of servers.
        if !structured.is_some_and(|structured| structured.object) {
            signals.served = first.map(|first| served_words(first, last.unwrap_or(first))).unwrap_or_default();
        }
        if let Some(structured) = structured {
            signals.interrupted = structured.interrupted;
            signals.exit_excused = structured.exit_explained;
            signals.timed_out = structured.timed_out;
            signals.exit_field = structured.exit_code.or(structured.polled.as_ref().and_then(|polled| polled.exit_code));
        }
        let mut out = ResultOutcome { head, tail, signals, run_ms: structured.and_then(|structured| structured.run_ms), background: None };
        // Last, because it needs the texts and signals above.
        out.background = out.became(structured);
        out.signals.backgrounded = structured.is_some_and(|structured| structured.detached) || out.background.is_some();
        out
    }

    /// The background task the call became.
    fn became(&self, structured: Option<&StructuredResult<'r>>) -> Option<Cow<'r, str>> {
        if let Some(structured) = structured {
            // Structured fields first: they are certain, a text is only a fallback.
            if let Some(id) = structured.background {
                return Some(id.text());
            }
            let status = structured.status.map(Raw::text);
            let launched = structured.asynchronous || matches!(status.as_deref(), Some("async_launched" | "remote_launched"));
            let launched = structured.agent.or(structured.task).filter(|_| launched);
            let teammate = structured.teammate.filter(|_| status.as_deref() == Some("teammate_spawned"));
            let monitor = structured.task.filter(|_| structured.monitors);
            if let Some(id) = launched.or(teammate).or(monitor) {
                return Some(id.text());
            }
        }
        if self.head.is_empty() || self.signals.says_error() {
            return None;
        }
        let launched = || self.signals.served.launched.then(|| served::task(&self.head)).flatten();
        markers::background(&self.head).or_else(launched).map(|id| Cow::Owned(id.to_owned()))
    }

    /// The subagent the call started.
    pub(super) fn child(&self, structured: Option<&StructuredResult<'r>>) -> Option<Child<'r>> {
        // A field names the agent for certain; a text may quote another one.
        if let Some(agent) = structured.and_then(|structured| structured.agent) {
            return Some(Child { agent: agent.text(), sure: true, alias: false, detached: false });
        }
        if self.signals.says_error() {
            return None;
        }
        let said = markers::answer_agent(&self.tail).or_else(|| markers::background(&self.head))?;
        Some(Child { agent: Cow::Owned(said.to_owned()), sure: false, alias: false, detached: false })
    }

    /// The state of a task that the call asked about or stopped, from its result.
    pub(super) fn poll(&self, structured: Option<&StructuredResult<'r>>) -> Option<Poll<'r>> {
        if let Some(structured) = structured {
            if let Some(polled) = &structured.polled {
                let state = task_state(&polled.status?.text());
                return Some(Poll { id: polled.id.map(Raw::text), state, exit_code: polled.exit_code });
            }
            let id = structured.task.map(Raw::text);
            // The only message about a task is that it was stopped.
            if let Some(message) = structured.message.map(Raw::text) {
                let state = stopped(&message)?;
                return Some(Poll { id, state, exit_code: None });
            }
            if let (Some(status), Some(_)) = (structured.status, &id) {
                return Some(Poll { id, state: task_state(&status.text()), exit_code: structured.exit_code });
            }
        }
        if self.signals.says_error() {
            return None;
        }
        if !self.head.is_empty()
            && let Some(state) = stopped(&self.head)
        {
            return Some(Poll { id: None, state, exit_code: None });
        }
        // The end of a process of a server: its words are read from the whole text, so the head may be empty.
        if let Some(code) = self.signals.served.exit {
            return Some(Poll { id: None, state: served::state(code), exit_code: Some(code) });
        }
        // Without a structured result the state stands in tags.
        if !self.head.trim_start().starts_with('<') {
            return None;
        }
        let field = |name: &str| super::tasks::tag(&self.head, name);
        let state = task_state(field("status")?);
        let exit_code = field("exit_code").and_then(|code| code.trim().parse().ok());
        Some(Poll { id: field("task_id").map(|id| Cow::Owned(id.to_owned())), state, exit_code })
    }

    /// Whether the program wrote this in place of a real result.
    pub(super) fn synthetic(&self) -> bool {
        !self.head.is_empty() && self.head.trim_start().starts_with("[Request interrupted by user") && self.head.trim().ends_with(']')
    }
}

/// The beginning of a text, if it can carry a marker: always on errors, otherwise only for a few known beginnings.
fn telling_head(text: Raw<'_>, error: bool) -> Cow<'_, str> {
    let bytes = text.bytes();
    let telling: [&[u8]; 8] = [b"Command ", b"Process started", b"Async agent", b"Successfully ", b"<", b"[{", b"[Request", b"API Error"];
    // An escape or white space may hide a known beginning. A colour code is an escape as well, but never begins one.
    let hidden = matches!(bytes.first(), Some(b'\\' | b' ')) && !bytes.starts_with(b"\\u001b");
    if error || hidden || telling.iter().any(|beginning| bytes.starts_with(beginning)) {
        return text.head(WINDOW);
    }
    Cow::Borrowed("")
}

/// Needles that every result is searched for, prepared once.
static AGENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"agentId"));
static SPELLED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u0061"));

/// The statements of a server's tool in the first and the last text of its result.
fn served_words(first: Raw<'_>, last: Raw<'_>) -> ServedWords {
    if !served::tells(first.bytes()) && !served::tells(last.bytes()) {
        return ServedWords::default();
    }
    served::said(&first.head(WINDOW), &last.tail(WINDOW))
}

/// The end of a text, if it can carry an exit code in brackets or an agent's id. Most texts have neither, and decoding their ends would
/// cost more than everything else about them.
fn telling_tail(text: Raw<'_>) -> Cow<'_, str> {
    let end = &text.bytes()[text.bytes().len().saturating_sub(WINDOW)..];
    let mut spoken = end;
    // Trailing white space is written as escapes in the raw text.
    while let Some(rest) = [b"\\n".as_slice(), b"\\r", b"\\t", b" "].iter().find_map(|space| spoken.strip_suffix(*space)) {
        spoken = rest;
    }
    let spelled_end = end.len() >= 6 && end[end.len() - 6..].starts_with(b"\\u");
    let bracket = spoken.ends_with(b"]") || spelled_end;
    // Bracket or id may be written as a `\u` escape.
    if bracket || AGENT.find(end).is_some() || SPELLED.find(end).is_some() {
        return text.tail(WINDOW);
    }
    Cow::Borrowed("")
}

fn stopped(message: &str) -> Option<TaskState> {
    let message = message.trim_start();
    if message.starts_with("Successfully killed shell") {
        return Some(TaskState::Killed);
    }
    message.starts_with("Successfully stopped task").then_some(TaskState::Stopped)
}

pub(super) fn denial_kind(word: &str) -> Option<Denial> {
    Some(match word {
        "user-rejected" => Denial::User,
        "permission-rule" => Denial::Rule,
        "hook" => Denial::Hook,
        "automode-blocked" | "automode-unavailable" => Denial::AutoMode,
        "interrupted" => Denial::Interrupted,
        "cancelled" => Denial::Cancelled,
        _ => return None,
    })
}

/// The refuser, by the kind of decision in a record about a denied permission.
pub(super) fn denied_by(kind: &str) -> Denial {
    match kind {
        "rule" | "safetyCheck" | "workingDir" => Denial::Rule,
        "hook" => Denial::Hook,
        "classifier" => Denial::AutoMode,
        _ => Denial::NotGranted,
    }
}

/// The first and last text of a list of blocks that was written into a string.
fn spelled_blocks(text: Raw<'_>) -> Option<(String, String)> {
    let text = text.text();
    let mut skim = Skim::new(text.as_bytes());
    let (mut first, mut last, mut blocks) = (None, None, true);
    skim.array(|item| {
        let mut typed = false;
        let mut said = None;
        item.object(|key, value| {
            match key.as_bytes() {
                b"type" => typed = value.string().is_some(),
                b"text" => said = value.string(),
                _ => {}
            }
            Ok(())
        })?;
        blocks &= typed;
        first = first.or(said);
        last = said.or(last);
        Ok(())
    })
    .ok()?;
    // Anything behind the list, or an item without a type, makes it the tool's own text.
    if !blocks || !skim.finished() {
        return None;
    }
    let head = first.map(|text: Raw<'_>| text.head(WINDOW).into_owned()).unwrap_or_default();
    let tail = last.map(|text: Raw<'_>| text.tail(WINDOW).into_owned()).unwrap_or_default();
    Some((head, tail))
}
