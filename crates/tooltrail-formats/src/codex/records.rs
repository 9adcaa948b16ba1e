//! Codex's records: an envelope of timestamp, type and payload, and the payloads that are about calls.

use crate::{Record, Sink, time};
use std::borrow::Cow;
use std::ops::Range;
use tooltrail_model::event::{Block, BlockKind, Call, CallResult, Context, Origin, Prompt};
use tooltrail_model::verdict::{Said, Signals};
use tooltrail_model::{Event, Fact, Kind, Scope, Time};
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// The types of records that are known.
const KNOWN: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
];

pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// The fields of a payload that are read so far.
#[derive(Default)]
struct Payload<'r> {
    kind: Option<Raw<'r>>,
    id: Option<Raw<'r>>,
    call_id: Option<Raw<'r>>,
    name: Option<Raw<'r>>,
    namespace: Option<Raw<'r>>,
    role: Option<Raw<'r>>,
    input: Option<Range<usize>>,
    output: Option<Range<usize>>,
    text: Option<(Raw<'r>, Range<usize>)>,
    cwd: Option<Raw<'r>>,
    model: Option<Raw<'r>>,
    version: Option<Raw<'r>>,
}

pub(super) fn decode(record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn> {
    let mut skim = Skim::new(record.bytes);
    if skim.peek() != Some(Type::Object) {
        return Err(Torn { at: skim.position() });
    }
    let (mut kind, mut when, mut payload) = (None, None, Payload::default());
    skim.object(|key, value| {
        match key.as_bytes() {
            b"type" => kind = value.string().map(Raw::text),
            b"timestamp" => when = time::read(value),
            b"payload" => value.object(|key, value| field(&mut payload, key.as_bytes(), value))?,
            _ => {}
        }
        Ok(())
    })?;
    if !skim.finished() {
        return Err(Torn { at: skim.position() });
    }
    let kind = kind.unwrap_or(Cow::Borrowed("?"));
    let session = payload.id.filter(|_| kind == "session_meta").map(Raw::decoded_bytes);
    let scope = Scope { session, ..Scope::default() };
    let mut emit = |fact: Fact<'_>| out(Event { at: record.at, time: when, scope: &scope, fact });
    emit(Fact::Record { name: Cow::Borrowed(&kind), known: is_known(&kind) });
    match &*kind {
        "session_meta" | "turn_context" => emit(Fact::Context(Context {
            cwd: payload.cwd.map(Raw::decoded_bytes),
            repository: None,
            branch: None,
            version: payload.version.map(Raw::decoded_bytes),
            model: payload.model.map(Raw::decoded_bytes),
        })),
        "response_item" => item(&payload, &record, when, &mut emit),
        _ => {}
    }
    Ok(skim.deepest())
}

fn field<'r>(payload: &mut Payload<'r>, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
    match key {
        b"type" => payload.kind = value.string(),
        b"id" => payload.id = value.string(),
        b"call_id" => payload.call_id = value.string(),
        b"name" => payload.name = value.string(),
        b"namespace" => payload.namespace = value.string(),
        b"role" => payload.role = value.string(),
        b"arguments" | b"input" | b"action" => payload.input = Some(value.skip()?),
        b"output" | b"result" | b"tools" => payload.output = Some(value.skip()?),
        b"cwd" => payload.cwd = value.string(),
        b"model" => payload.model = value.string(),
        b"cli_version" => payload.version = value.string(),
        b"content" => value.array(|item| {
            let start = item.position();
            let mut text = None;
            item.object(|key, value| {
                if key.as_bytes() == b"text" {
                    text = value.string();
                }
                Ok(())
            })?;
            payload.text = payload.text.take().or(text.map(|text| (text, start..item.position())));
            Ok(())
        })?,
        _ => {}
    }
    Ok(())
}

fn item<'r>(payload: &Payload<'r>, record: &Record<'r>, _when: Option<Time>, emit: &mut dyn FnMut(Fact<'_>)) {
    let kind = payload.kind.map(Raw::text).unwrap_or_default();
    match &*kind {
        "message" => message(payload, record, emit),
        "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => call(payload, &kind, record, emit),
        "function_call_output" | "function_call_result" | "custom_tool_call_output" | "tool_search_output" => result(payload, record, emit),
        _ => {}
    }
}

fn message(payload: &Payload<'_>, record: &Record<'_>, emit: &mut dyn FnMut(Fact<'_>)) {
    let Some((text, span)) = &payload.text else { return };
    let span = record.span(span.clone());
    match payload.role.map(Raw::text).as_deref() {
        Some("assistant") => emit(Fact::Block(Block { message: payload.id.map(Raw::digest), kind: BlockKind::Text, span })),
        Some("user") => {
            let head = text.head(400);
            let injected = head.trim_start().starts_with('<') || head.starts_with("# AGENTS.md");
            let origin = if injected { Origin::Program } else { Origin::Human };
            emit(Fact::Prompt(Prompt { origin, head, digest: 0, span }));
        }
        _ => {}
    }
}

fn call(payload: &Payload<'_>, kind: &str, record: &Record<'_>, emit: &mut dyn FnMut(Fact<'_>)) {
    let Some(id) = payload.call_id.or(payload.id) else { return };
    let name = payload.name.map(Raw::text).unwrap_or(Cow::Owned(kind.to_owned()));
    let tool = match payload.namespace {
        Some(space) => Cow::Owned(format!("{}__{name}", space.text())),
        None => name,
    };
    let input = payload.input.clone().unwrap_or(0..0);
    emit(Fact::Call(Call {
        id: id.text(),
        kind: family(&tool),
        server: None,
        digest: Skim::new(record.bytes.get(input.clone()).unwrap_or_default()).digest().unwrap_or(0),
        input: record.span(input),
        tool,
        prompt: None,
        task: None,
        message: None,
        message_id: None,
        has_request: false,
        model: None,
        node: None,
        nested: None,
    }));
}

fn family(tool: &str) -> Kind {
    match tool {
        "shell" | "shell_command" | "exec_command" | "local_shell" | "local_shell_call" | "container.exec" => Kind::Shell,
        "apply_patch" => Kind::Edit,
        "update_plan" => Kind::Todo,
        "view_image" => Kind::Image,
        "read_file" => Kind::Read,
        "grep_files" | "tool_search" | "tool_search_call" => Kind::Search,
        "list_dir" => Kind::List,
        _ if tool.starts_with("mcp__") => Kind::Mcp,
        _ => Kind::Other,
    }
}

fn result(payload: &Payload<'_>, record: &Record<'_>, emit: &mut dyn FnMut(Fact<'_>)) {
    let Some(id) = payload.call_id.or(payload.id) else { return };
    let output = payload.output.clone().unwrap_or(0..0);
    let head = Skim::new(record.bytes.get(output.clone()).unwrap_or_default()).string().map(|text| text.head(2000)).unwrap_or_default();
    let code = exit_code(&head);
    let outcome = match code {
        Some(0) => Said::Worked,
        Some(_) => Said::Error,
        None => Said::Nothing,
    };
    emit(Fact::Result(CallResult {
        call: id.text(),
        content: record.span(output),
        structured: None,
        node: None,
        signals: Signals { outcome, exit_field: code, ..Signals::default() },
        run_ms: None,
        feedback: None,
        background: None,
        child: None,
        hook: None,
        synthetic: false,
        nested: None,
    }));
}

/// The exit code in an output: as JSON in a string, or in the lines before `Output:`.
fn exit_code(head: &str) -> Option<i64> {
    if head.trim_start().starts_with('{') {
        let at = head.find("\"exit_code\":")?;
        let rest = head[at + "\"exit_code\":".len()..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        return rest[..end].parse().ok();
    }
    let lines = head.lines().take_while(|line| !line.starts_with("Output:")).take(12);
    let mut codes = lines.filter_map(|line| line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code ")));
    codes.find_map(|code| code.trim().parse().ok())
}
