//! Calls in neutral form: the input and the result of each of Claude Code's tools, one file per family of tools.
//!
//! A file takes fields from the input and from `toolUseResult`; the rest is left over and shown as it is. Where there is no
//! `toolUseResult`, or only a text, everything comes from the content for the model. To teach the program a tool or a new name of one, add
//! a line to [`TOOLS`] or a name to a line of it: scans take a call's family from there, and readers of calls the rest.

mod agents;
mod fields;
mod files;
mod grep;
pub(super) mod names;
mod notebooks;
mod plans;
mod questions;
mod result_text;
mod search;
mod shell;
mod tasks;
mod todos;
mod web;

use super::markers;
use crate::DetailRequest;
use crate::served::{self, ServedAnswer};
use fields::FieldTaker;
use serde_json::{Map, Value};
use tooltrail_model::content::words;
use tooltrail_model::detail::{Detail, Detailed, Mcp, Saved};
use tooltrail_model::transcript::LoggedResult;
use tooltrail_model::verdict::Marker;
use tooltrail_model::{Kind, Status};

/// Reads the calls of one tool.
type ClaudeToolReader = fn(&mut ToolCall<'_>) -> Detail;

/// A tool: the names it has had, the family that filters and `kind` go by, and the reader of its calls.
struct ClaudeTool {
    names: &'static [&'static str],
    kind: Kind,
    read: ClaudeToolReader,
}

/// A line of the table.
const fn tool(names: &'static [&'static str], kind: Kind, read: ClaudeToolReader) -> ClaudeTool {
    ClaudeTool { names, kind, read }
}

/// Every tool that is known. A name that is not here is an MCP server's tool if it says so, and otherwise shown by its input and answer.
///
/// A scan looks up every call here, one name after the other: what is called most stands first.
static TOOLS: &[ClaudeTool] = &[
    tool(&["Bash", "PowerShell"], Kind::Shell, shell::read),
    tool(&["Read", "NotebookRead"], Kind::Read, files::read),
    tool(&["Edit", "MultiEdit"], Kind::Edit, files::edit),
    tool(&["Grep"], Kind::Search, grep::read),
    tool(&["Write"], Kind::Write, files::write),
    tool(&["TodoWrite", "TodoRead"], Kind::Todo, todos::list),
    tool(&["TaskUpdate"], Kind::Todo, todos::update),
    tool(&["TaskCreate"], Kind::Todo, todos::create),
    tool(&["TaskGet"], Kind::Todo, todos::get),
    tool(&["TaskList"], Kind::Todo, todos::all),
    tool(&["Glob"], Kind::Search, search::glob),
    tool(&["Task", "Agent"], Kind::Subagent, agents::start),
    tool(&["BashOutput", "BashOutputTool", "AgentOutputTool", "TaskOutput"], Kind::Task, tasks::output),
    tool(&["KillBash", "KillShell", "TaskStop"], Kind::Task, tasks::stop),
    tool(&["Monitor"], Kind::Task, shell::monitor),
    tool(&["LS"], Kind::List, search::list),
    tool(&["WebSearch", "web_search"], Kind::WebSearch, web::search),
    tool(&["WebFetch", "web_fetch"], Kind::WebFetch, web::fetch),
    tool(&["NotebookEdit"], Kind::Edit, notebooks::edit),
    tool(&["SendMessage", "SubagentHandback"], Kind::Subagent, agents::send),
    tool(&["ListAgents"], Kind::Subagent, agents::list),
    tool(&["Workflow"], Kind::Subagent, agents::workflow),
    tool(&["TeamCreate"], Kind::Subagent, agents::gather),
    tool(&["TeamDelete"], Kind::Subagent, agents::disband),
    tool(&["AskUserQuestion"], Kind::Question, questions::read),
    tool(&["ExitPlanMode", "exit_plan_mode"], Kind::Plan, plans::leave),
    tool(&["EnterPlanMode"], Kind::Plan, plans::enter),
    tool(&["Skill", "SlashCommand"], Kind::Skill, plans::skill),
    tool(&["ToolSearch"], Kind::Search, search::tools),
    tool(&["LSP"], Kind::Search, search::server),
    tool(&["ReadMcpResourceTool"], Kind::Read, search::resources),
    tool(&["ListMcpResourcesTool", "ReadMcpResourceDirTool"], Kind::List, search::resources),
];

/// The tool of a name.
fn find(name: &str) -> Option<&'static ClaudeTool> {
    TOOLS.iter().find(|tool| tool.names.contains(&name))
}

/// The family of a tool, if it is known.
pub(super) fn known_kind(name: &str) -> Option<Kind> {
    find(name).map(|tool| tool.kind)
}

/// A call that is being read: the fields for its reader, and the reader's additions beside the detail.
pub(super) struct ToolCall<'v> {
    /// The call.
    ask: &'v DetailRequest<'v>,
    /// The input.
    input: FieldTaker<'v>,
    /// The tool's own output, where it is an object.
    produced: FieldTaker<'v>,
    /// The text that the model saw, without the reminders and wrappings of the program.
    seen: String,
    /// Whether it did not succeed.
    failed: bool,
    /// The message of a failure. A reader takes it away where it is the tool's own output.
    error: Option<String>,
    /// The file that has the whole output.
    saved: Option<Saved>,
}

/// A call in neutral form.
pub(super) fn detail(ask: &DetailRequest<'_>) -> Detailed {
    let mut call = ToolCall::new(ask);
    // The name of an MCP server counts only for a tool that is not built in.
    let mut own_rest = None;
    let detail = match find(ask.tool) {
        Some(tool) => (tool.read)(&mut call),
        None => match served(&mut call) {
            Some((detail, rest)) => {
                own_rest = Some(rest);
                detail
            }
            None => mcp(ask).unwrap_or_default(),
        },
    };
    let rest_input = match (&detail, ask.input) {
        _ if own_rest.is_some() => own_rest.unwrap_or_default(),
        // Both views show the whole input themselves.
        (Detail::Mcp(_) | Detail::Other, _) => Map::new(),
        (_, Value::Object(_) | Value::Null) => call.input.rest(),
        // Arguments that are no object are kept under a name of ours.
        (_, other) => Map::from_iter([("input".to_owned(), other.clone())]),
    };
    Detailed { detail, rest_input, rest_produced: call.produced.rest(), error: call.error, saved: call.saved }
}

/// The path under which the whole of a result was saved.
pub(super) fn saved(answered: &LoggedResult) -> Option<String> {
    result_text::saved(&words(&answered.seen), &mut FieldTaker::of(answered.produced.as_ref())).map(|saved| saved.path)
}

/// A shell or a file tool of an MCP server, and the fields of its input that are left.
fn served(call: &mut ToolCall<'_>) -> Option<(Detail, Map<String, Value>)> {
    let ask = call.ask;
    // The block of a call that the service made names its server, whose tools are not on this machine.
    let (server, name) = if ask.kind == Kind::Mcp { None } else { served::split(ask.tool, ask.server) }?;
    let ran = matches!(ask.status, Status::Succeeded | Status::Failed | Status::TimedOut | Status::Interrupted);
    let answer = ServedAnswer { text: &call.seen, answered: ask.answered, failed: call.failed, ran: ran && call.marker().is_none() };
    let read = served::detail(server, name, ask.input, answer)?;
    if read.printed {
        call.error = None;
    }
    Some((read.detail, read.rest))
}

/// A tool of an MCP server, by its name or by the fields of its block.
fn mcp(ask: &DetailRequest<'_>) -> Option<Detail> {
    let server = ask.server.or_else(|| names::server(ask.tool))?;
    let named = ask.tool.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(server)).and_then(|rest| rest.strip_prefix("__"));
    Some(Detail::Mcp(Mcp { server: server.to_owned(), tool: named.unwrap_or(ask.tool).to_owned() }))
}

impl<'v> ToolCall<'v> {
    /// Prepares a call for its reader.
    fn new(ask: &'v DetailRequest<'v>) -> Self {
        let whole = words(ask.seen);
        let mut produced = FieldTaker::of(ask.produced);
        // Before the wrapping is taken off, which names the file.
        // A request alone, as lists read it, names none.
        let saved = if whole.is_empty() && !produced.exist() { None } else { result_text::saved(&whole, &mut produced) };
        let failed = ask.answered
            && matches!(
                ask.status,
                Status::Failed | Status::Rejected | Status::Blocked | Status::Cancelled | Status::Interrupted | Status::TimedOut
            );
        let seen = result_text::own_words(&whole);
        // Where the model saw nothing, the reason is a text beside it, or the code of a tool on the service's side.
        let beside = || ask.produced.and_then(Value::as_str).or_else(|| result_text::error_code(ask.seen)).unwrap_or_default();
        let spoken = if seen.is_empty() { beside() } else { seen };
        let error = if failed { result_text::error(spoken) } else { None };
        ToolCall { ask, input: FieldTaker::of(Some(ask.input)), produced, seen: seen.to_owned(), failed, error, saved }
    }

    /// The marker in the text of a failure.
    fn marker(&self) -> Option<Marker> {
        if self.failed { markers::of(&self.seen) } else { None }
    }

    /// The text that the model saw, if it is an answer and not the message of a failure.
    fn answer(&self) -> Option<String> {
        (self.ask.answered && !self.failed && !self.seen.is_empty()).then(|| self.seen.clone())
    }
}
