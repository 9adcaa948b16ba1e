//! The items of the conversation (`response_item`): messages, calls, outputs.

use super::content::{elements, texts};
use super::facts::FactSink;
use super::fields::{FieldSpan, PayloadFields};
use super::output::{self, OutputOutcome};
use super::prompt::{self, HEAD, StatedAuthor};
use super::record::CodexRecord;
use super::{script, tools};
use std::borrow::Cow;
use tooltrail_model::event::{BlockKind, Call, CallResult, Echo, MessageBlock, Notice, Origin, Prompt, TaskNews, TaskState};
use tooltrail_model::verdict::{LoggedOutcome, Marker, Signals};
use tooltrail_model::{Fact, Kind};
use tooltrail_skim::{Raw, Skim, Type};

/// The types of items that are known. Those without a meaning for calls are kept and counted.
pub(super) const KNOWN: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "function_call_result",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "image_generation_call",
    "agent_message",
    "compaction",
    "compaction_summary",
    "context_compaction",
    "ghost_snapshot",
    "other",
];

pub(super) fn decode(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let item = record.body();
    match &*record.kind {
        "message" => message(record, emit),
        "reasoning" => {
            let span = record.span(item.summary);
            emit(Fact::Block(MessageBlock { message: None, kind: BlockKind::Thinking, span }));
        }
        kind @ ("function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call") => {
            emit(Fact::Call(call(record, kind)));
        }
        "function_call_output" | "function_call_result" | "custom_tool_call_output" | "local_shell_call_output" => result(record, emit),
        "tool_search_output" => search_result(record, emit),
        "agent_message" => letter(item, emit),
        kind @ ("web_search_call" | "image_generation_call") => {
            let call = call(record, kind);
            // Made before the call is emitted, which consumes it.
            let done = own_result(record, call.id.clone());
            emit(Fact::Call(call));
            done.into_iter().for_each(|result| emit(Fact::Result(result)));
        }
        // A kind of call that is not known yet is a call all the same.
        kind if is_new_output(kind, item) => result(record, emit),
        kind => {
            if let Some(tool) = new_call(kind, item) {
                emit(Fact::Call(call(record, tool)));
            }
        }
    }
}

/// The tool of a call of an unknown kind, which has an id that its output can name.
fn new_call<'k>(kind: &'k str, item: &PayloadFields<'_>) -> Option<&'k str> {
    kind.strip_suffix("_call").filter(|tool| !tool.is_empty() && item.text(item.call_id).is_some())
}

/// Whether an item is a call of an unknown kind.
pub(super) fn is_new_call(kind: &str, item: &PayloadFields<'_>) -> bool {
    new_call(kind, item).is_some()
}

/// Whether an item is the output of such a call.
pub(super) fn is_new_output(kind: &str, item: &PayloadFields<'_>) -> bool {
    kind.ends_with("_output") && item.text(item.call_id).is_some()
}

fn message(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let item = record.body();
    let span = record.span(item.content);
    match item.text(item.role).as_deref() {
        Some("assistant") => {
            let message = item.string(item.id).map(Raw::digest);
            emit(Fact::Block(MessageBlock { message, kind: BlockKind::Text, span }));
        }
        Some("user") => said(record, emit),
        _ => {}
    }
}

/// Emits a message in the person's name. The program may put texts of its own around their words, or send nothing else.
fn said(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let item = record.body();
    let content = elements(item.raw(item.content));
    let stated = prompt::stated(item, &content);
    let texts: Vec<(Raw<'_>, StatedAuthor)> =
        content.iter().zip(stated).filter_map(|(element, stated)| Some((element.raw_text()?, stated))).collect();
    // A picture has a tag in front; its event reports such a message.
    let words = match texts.first().map(|(text, _)| text.head(HEAD)) {
        Some(first) if !prompt::is_image_tag(&first) => {
            texts.iter().position(|(text, stated)| prompt::is_persons(&prompt::beginning(*text), *stated))
        }
        _ => None,
    };
    let words = words.unwrap_or(0);
    for (text, _) in texts.iter().enumerate().filter(|&(at, _)| at != words).map(|(_, text)| *text) {
        heed(text, &text.head(HEAD), emit);
    }
    if let Some((text, stated)) = texts.get(words).copied() {
        say(text, stated, Echo::Sent, item.content, record, emit);
    }
}

/// Emits a text in the person's name.
pub(super) fn say(text: Raw<'_>, stated: StatedAuthor, echo: Echo, place: FieldSpan, record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let beginning = prompt::beginning(text);
    heed(text, &beginning, emit);
    let (origin, head) = prompt::read(&beginning, stated);
    // Only a person's prompt may be repeated by another record, which the digest matches with it.
    let digest = if origin == Origin::Human { text.digest() } else { 0 };
    let head = prompt::named_after(head);
    let head = Cow::Borrowed(&head[..head.floor_char_boundary(HEAD)]);
    let span = record.span(place);
    emit(Fact::Prompt(Prompt { origin, head, digest, span, echo }));
}

/// Emits the news in texts of the program: an agent has ended, the person has stopped the model.
fn heed(text: Raw<'_>, head: &str, emit: &mut FactSink<'_>) {
    let head = head.trim_start();
    if head.starts_with("<subagent_notification>") {
        notification(&text.text(), emit);
    } else if head.starts_with("<turn_aborted>") {
        emit(Fact::Notice(Notice::Interrupt));
    }
}

/// `<subagent_notification>{"agent_path":…,"status":{…}}</subagent_notification>`: an agent has ended.
fn notification(text: &str, emit: &mut FactSink<'_>) {
    let Some((_, json)) = text.split_once('>') else { return };
    let (mut id, mut state) = (None, TaskState::Unknown);
    let _ = Skim::new(json.as_bytes()).object(|key, value| {
        match key.as_bytes() {
            b"agent_path" | b"agent_id" => id = value.string().map(|id| id.text().into_owned()),
            b"status" => state = output::agent_state(value),
            _ => {}
        }
        Ok(())
    });
    if let Some(id) = id {
        emit(Fact::Task(news(Cow::Owned(id), state)));
    }
}

/// News of an agent by its name.
pub(super) fn news(id: Cow<'_, str>, state: TaskState) -> TaskNews<'_> {
    TaskNews { id: Some(id), call: None, poll: None, state, exit_code: None }
}

/// Emits a message from one agent to another. An agent's answer to its parent says that it has ended; where messages have a type, only the
/// final answer does.
pub(super) fn letter(letter: &PayloadFields<'_>, emit: &mut FactSink<'_>) {
    let text = texts(letter.raw(letter.content)).first().copied();
    let (Some(text), Some(author)) = (text, letter.text(letter.author)) else { return };
    let recipient = letter.text(letter.recipient);
    // A child's path begins with its parent's.
    let upwards = recipient.is_none_or(|above| author.strip_prefix(&*above).is_some_and(|rest| rest.starts_with('/')));
    // The beginning is enough: the type of a letter stands in its first line.
    let head = text.head(HEAD);
    let last = head.trim_start().strip_prefix("Message Type:").is_none_or(|kind| kind.trim_start().starts_with("FINAL_ANSWER"));
    if upwards && last {
        emit(Fact::Task(news(author, TaskState::Completed)));
    }
}

fn call<'r>(record: &CodexRecord<'r>, kind: &str) -> Call<'r> {
    let item = record.body();
    let name = item.text(item.name).unwrap_or_else(|| Cow::Owned(kind.to_owned()));
    let tool = tools::full_name(item.text(item.namespace), name);
    let script = script::of(kind, &tool, item);
    Call { script, ..build(record, tool, input(item)) }
}

/// The place of the input of a call.
pub(super) fn input(item: &PayloadFields<'_>) -> FieldSpan {
    item.first(&[item.arguments, item.input, item.action, item.revised_prompt])
}

/// A call of a tool, with its input at a place.
pub(super) fn build<'r>(record: &CodexRecord<'r>, tool: Cow<'r, str>, input: FieldSpan) -> Call<'r> {
    let item = record.body();
    let kind = tools::kind(&tool, item.raw(input));
    let about = if matches!(kind, Kind::Task | Kind::Subagent) { AboutTask::read(item, input) } else { AboutTask::default() };
    // Kept apart, because a call that is named after its line may get a name from the record of its end.
    let named = record.named();
    Call {
        unnamed: named.is_none(),
        id: named.unwrap_or_else(|| record.call_id()),
        server: tools::server(&tool).map(|server| Cow::Owned(server.to_owned())),
        kind,
        // An input that breaks off has no fingerprint.
        digest: item.skim(input).digest().unwrap_or(0),
        input: record.span(input),
        tool,
        prompt: about.prompt.filter(|_| kind == Kind::Subagent),
        task: about.task.map(Cow::Owned),
        message: None,
        message_id: None,
        has_request: false,
        model: None,
        node: None,
        nested: None,
        script: None,
    }
}

/// The task or agent that a call is about, by its arguments.
#[derive(Default)]
struct AboutTask {
    task: Option<String>,
    prompt: Option<u64>,
}

impl AboutTask {
    /// Arguments are JSON in a string, sometimes JSON itself, and may be neither.
    fn read(item: &PayloadFields<'_>, place: FieldSpan) -> Self {
        let inner = item.string(place).map(Raw::text);
        let bytes = inner.as_deref().map_or(item.raw(place), str::as_bytes);
        let mut about = AboutTask::default();
        let _ = Skim::new(bytes).object(|key, value| {
            match key.as_bytes() {
                b"session_id" | b"cell_id" | b"pid" => {
                    let text = value.string().map(|id| id.text().into_owned());
                    about.task = text.or_else(|| value.int().map(|id| id.to_string()));
                }
                b"message" | b"prompt" => about.prompt = value.string().map(Raw::digest).or(about.prompt),
                _ => {}
            }
            Ok(())
        });
        about
    }
}

/// The place of an output.
pub(super) fn output(item: &PayloadFields<'_>) -> FieldSpan {
    [item.output, item.result, item.content].into_iter().find(|place| place.is_some()).unwrap_or_default()
}

fn result(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let Some(call) = record.named() else { return };
    // Older logs have the output in other fields; the first that exists has it, even if it is null.
    let place = output(record.body());
    let outcome = output::outcome(record.body().raw(place));
    if let Some((state, exit_code)) = outcome.polled {
        emit(Fact::Task(TaskNews { id: None, call: None, poll: Some(call.clone()), state, exit_code }));
    }
    for (agent, state) in &outcome.agents {
        let news = TaskNews { id: Some(agent.clone()), call: None, poll: Some(call.clone()), state: *state, exit_code: None };
        emit(Fact::Task(news));
    }
    let output = script::output(record.body().raw(place));
    emit(Fact::Result(CallResult { output, ..answer(call, outcome, place, record) }));
}

fn answer<'r>(call: Cow<'r, str>, outcome: OutputOutcome<'r>, place: FieldSpan, record: &CodexRecord<'_>) -> CallResult<'r> {
    CallResult {
        call,
        unnamed: false,
        time: None,
        content: record.span(place),
        structured: None,
        node: None,
        signals: outcome.signals,
        run_ms: outcome.run_ms,
        feedback: None,
        background: outcome.task,
        child: outcome.child,
        hook: outcome.hook.map(Box::new),
        synthetic: false,
        sole: false,
        truncated: outcome.truncated,
        input_edited: false,
        nested: None,
        output: None,
    }
}

/// The answer of a search for tools is a list; its status says how it went.
fn search_result(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let item = record.body();
    let outcome = OutputOutcome { signals: status(item), ..OutputOutcome::default() };
    emit(Fact::Result(answer(record.call_id(), outcome, item.tools, record)));
}

/// The result of a call that is logged once it is over: the item is both.
fn own_result<'r>(record: &CodexRecord<'r>, call: Cow<'r, str>) -> Option<CallResult<'r>> {
    let item = record.body();
    if !is_over(item) {
        return None;
    }
    let outcome = OutputOutcome { signals: status(item), ..OutputOutcome::default() };
    Some(CallResult { sole: true, ..answer(call, outcome, item.result, record) })
}

/// Whether a call that is logged once it is over has ended.
pub(super) fn is_over(item: &PayloadFields<'_>) -> bool {
    item.text(item.status).is_some_and(|state| !matches!(&*state, "in_progress" | "searching" | "generating"))
}

/// The outcome by `status`.
pub(super) fn status(item: &PayloadFields<'_>) -> Signals {
    let (outcome, marker) = match item.text(item.status).as_deref() {
        Some("completed") => (LoggedOutcome::Worked, None),
        Some("failed" | "errored") => (LoggedOutcome::Error, None),
        Some("declined") => (LoggedOutcome::Error, Some(Marker::Rejected)),
        _ => (LoggedOutcome::Nothing, None),
    };
    Signals { outcome, marker, ..Signals::default() }
}

/// Whether a line without a payload is an item from before there were payloads.
pub(super) fn is_bare(item: &PayloadFields<'_>) -> bool {
    let kind = item.name_of_type();
    // Without an envelope nothing else protects from files of other programs, so the shape has to fit, too.
    if !KNOWN.contains(&&*kind) {
        return false;
    }
    match &*kind {
        "message" => {
            let mut content = item.skim(item.content);
            let mut plain = false;
            let _ = content.array(|part| {
                part.object(|key, value| {
                    let text =
                        key.as_bytes() == b"type" && value.string().is_some_and(|kind| kind == *"input_text" || kind == *"output_text");
                    plain |= text;
                    Ok(())
                })
            });
            plain && item.role.is_some()
        }
        "reasoning" => item.kind_of(item.summary) == Some(Type::Array),
        "other" => false,
        _ => item.call_id.is_some() || item.action.is_some(),
    }
}
