//! Scripts: the programs of the tool `exec`, which call other tools, and what they print.
//!
//! A program is JavaScript; `tools.NAME(ARGUMENT)` is a call. Its output is a list of texts. The first one says how it went (`Script completed`,
//! `Script running with cell ID 4`), the others were printed one by one. A program that goes on is waited for by `wait`.

use super::content;
use super::fields::PayloadFields;
use super::record::{CodexRecord, RecordClass};
use super::tools;
use crate::value::Payloads;
use serde_json::Value;
use std::borrow::Cow;
use tooltrail_model::content::Content;
use tooltrail_model::event::{CallScript, ScriptOutput, ScriptTool};
use tooltrail_model::script::{Argument, Piece, ScriptCall, ScriptEnd};
use tooltrail_skim::{Raw, Skim};
use xxhash_rust::xxh3::xxh3_64;

/// The tool that runs a script.
const TOOL: &str = "exec";
/// Ids of calls that scripts made begin with this.
const INNER: &str = "exec-";
/// How a record of a script's output begins.
const OUTPUT: &str = "Script ";

/// Whether an id is that of a call that a script made.
pub(super) fn is_inner(call: &str) -> bool {
    call.starts_with(INNER)
}

/// The script of a call that runs one.
pub(super) fn of(kind: &str, tool: &str, item: &PayloadFields<'_>) -> Option<Box<CallScript>> {
    if kind != "custom_tool_call" || tool != TOOL {
        return None;
    }
    let program = item.text(item.input)?;
    Some(Box::new(read(&program)))
}

/// Reads a program.
pub(super) fn read(program: &str) -> CallScript {
    let script = tooltrail_script::read(program);
    let tools = script.calls.iter().map(|call| meaning(call, program)).collect();
    CallScript { script, tools }
}

/// The meaning of a call in a program.
fn meaning(call: &ScriptCall, program: &str) -> ScriptTool {
    let input = input(&call.argument);
    let kind = tools::kind(&call.tool, input.to_string().as_bytes());
    let task = ["session_id", "cell_id"].iter().find_map(|key| match input.get(key)? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    });
    ScriptTool {
        tool: call.tool.clone(),
        server: tools::server(&call.tool).map(str::to_owned),
        kind,
        exits: matches!(&*call.tool, "exec_command" | "write_stdin"),
        task: task.filter(|_| kind == tooltrail_model::Kind::Task),
        digest: match &call.argument {
            Argument::Literal(value) => Skim::new(value.to_string().as_bytes()).digest().unwrap_or(0),
            _ => program.get(call.span.clone()).map_or(0, |text| xxh3_64(text.as_bytes())),
        },
        subject: subject(&call.tool, &input),
    }
}

/// The input of a call in a program, as far as it stands there.
pub(super) fn input(argument: &Argument) -> Value {
    match argument {
        Argument::Literal(value) => value.clone(),
        Argument::Partly(members) => Value::Object(members.clone()),
        Argument::Computed | Argument::Missing => Value::Null,
    }
}

/// The program that a record asks to run.
fn program<'r>(record: &CodexRecord<'r>) -> Option<Cow<'r, str>> {
    let item = record.body();
    let runs = record.class == RecordClass::Item && record.kind == "custom_tool_call" && item.text(item.name).as_deref() == Some(TOOL);
    if runs { item.text(item.input) } else { None }
}

/// The ids of the calls in a script that a record requests.
pub(super) fn inner_calls(record: &CodexRecord<'_>, call: &str) -> Vec<String> {
    let Some(program) = program(record).filter(|_| record.is_about(call)) else { return Vec::new() };
    let script = read(&program);
    let count = if script.alone().is_some() { 0 } else { script.tools.len() };
    (1..=count).map(|number| format!("{call}/{number}")).collect()
}

/// The input of a call in a script that a record requests, and the program. A script that is nothing but one call is that call.
pub(super) fn request(record: &CodexRecord<'_>, call: &str, payloads: Payloads<'_>) -> Option<(Value, String)> {
    let program = program(record)?;
    let number = if record.is_about(call) { None } else { Some(inner_number(record, call)?) };
    let script = read(&program);
    let place = match number {
        Some(number) => number.checked_sub(1)?,
        None => script.alone().map(|_| 0)?,
    };
    let input = input(&script.script.calls.get(place)?.argument);
    // Opened as JSON, so that each text in it is redacted as itself.
    Some((payloads.value(input.to_string().as_bytes()), payloads.decoded(program.into_owned())))
}

/// The number of a call in the script that a record requests or answers.
pub(super) fn inner_number(record: &CodexRecord<'_>, call: &str) -> Option<usize> {
    let (script, number) = call.rsplit_once('/')?;
    if record.is_about(script) { number.parse().ok() } else { None }
}

/// A fingerprint of what a call is about, by which the record of its end is found.
fn subject(tool: &str, input: &Value) -> Option<u64> {
    if tools::server(tool).is_some() {
        return Some(named(tool));
    }
    let command = input.get("cmd").or_else(|| input.get("command"))?;
    Some(xxh3_64(tools::shell::line(command).as_bytes()))
}

/// A fingerprint of a tool's name: a program spells it as an identifier, so what cannot stand in one is an underscore there.
fn named(tool: &str) -> u64 {
    let identifier: String = tool.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    xxh3_64(identifier.as_bytes())
}

/// The same, by the record of an end.
pub(super) fn subject_of_end(record: &CodexRecord<'_>) -> Option<u64> {
    let end = record.body();
    match &*record.kind {
        "exec_command_end" | "CommandExecution" => {
            let command = crate::value::read(end.some(end.command)?);
            Some(xxh3_64(tools::shell::line(&command).as_bytes()))
        }
        "mcp_tool_call_end" | "McpToolCall" => super::ends::tool(record).map(|tool| named(&tool)),
        _ => None,
    }
}

/// What a script printed, by the raw output of its call or of one that waited for it.
pub(super) fn output(raw: &[u8]) -> Option<Box<ScriptOutput>> {
    let texts = content::texts(raw);
    let head = texts.first()?.head(OUTPUT.len());
    if head != OUTPUT {
        return None;
    }
    let mut texts = texts.into_iter().map(Raw::text);
    let first = texts.next()?;
    let (line, rest) = first.split_once('\n').unwrap_or((&first, ""));
    let mut out = ScriptOutput::default();
    match line.trim_end() {
        "Script completed" => out.end = Some(ScriptEnd::Completed),
        "Script failed" => out.end = Some(ScriptEnd::Failed),
        "Script terminated" => out.end = Some(ScriptEnd::Terminated),
        line => out.cell = Some(line.strip_prefix("Script running with cell ID ")?.trim().to_owned()),
    }
    // A single text has everything in it.
    let inline = rest.split_once("Output:\n").map(|(_, text)| text).filter(|text| !text.is_empty());
    out.texts = inline
        .map(|text| Cow::Owned(text.to_owned()))
        .into_iter()
        .chain(texts)
        .filter(|text| !text.starts_with("Script error:"))
        .map(Cow::into_owned)
        .collect();
    Some(Box::new(out))
}

/// Of the output of a script, what it printed about one of its calls.
pub(super) fn printed_by(program: &str, number: usize, seen: &[Content]) -> Option<Vec<Content>> {
    let whole = read(program);
    let (alone, script) = (whole.alone().is_some(), &whole.script);
    let call = number.checked_sub(1)?;
    let mut texts = seen.iter().filter_map(|one| if let Content::Text { text } = one { Some(text.as_str()) } else { None });
    let first = texts.next().filter(|text| text.starts_with(OUTPUT))?;
    let inline = first.split_once("Output:\n").map(|(_, text)| text).filter(|text| !text.is_empty());
    let items: Vec<&str> = inline.into_iter().chain(texts).collect();
    let sure = script.prints_known && script.prints.iter().all(|print| print.when.is_empty()) && script.prints.len() == items.len();
    let own: Vec<&str> = match (alone, sure) {
        (true, _) => items,
        (_, true) => {
            items.into_iter().zip(&script.prints).filter(|(_, print)| is_about(&print.pieces, call)).map(|(item, _)| item).collect()
        }
        _ => return None,
    };
    Some(own.into_iter().map(|item| Content::text(output_in(item))).collect())
}

/// Whether a printed text is about one call and no other.
fn is_about(pieces: &[Piece], call: usize) -> bool {
    let (mut some, mut open) = (false, pieces.iter().collect::<Vec<_>>());
    while let Some(piece) = open.pop() {
        match piece {
            Piece::Result { call: other, .. } if *other != call => return false,
            Piece::Result { .. } => some = true,
            Piece::Object(members) => open.extend(members.iter().map(|(_, value)| value)),
            Piece::Array(items) => open.extend(items),
            Piece::Literal(_) | Piece::Unknown => {}
        }
    }
    some
}

/// The output of a command in its whole result as JSON; any other text is left as it is.
fn output_in(item: &str) -> String {
    let whole = || {
        let value: Value = serde_json::from_str(item.trim()).ok()?;
        let is_result = value.get("wall_time_seconds").is_some() || value.get("chunk_id").is_some();
        value.get("output").and_then(Value::as_str).filter(|_| is_result).map(str::to_owned)
    };
    whole().unwrap_or_else(|| item.to_owned())
}
