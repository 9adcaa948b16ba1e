//! Calls in neutral form: what each of Claude Code's tools was asked and what it gave, one file per family of tools.
//!
//! A file takes fields from the input and from `toolUseResult`; what it does not take is left over and shown as it is. Where there is
//! no `toolUseResult`, or only a text, everything comes from what the model saw. To teach the program a tool, add its names and its
//! reader to [`TOOLS`]; to give it a family, see `names`.

mod agents;
mod fields;
mod files;
mod grep;
pub(super) mod names;
mod notebooks;
mod plans;
mod questions;
mod said;
mod search;
mod shell;
mod tasks;
mod todos;
mod web;

use super::markers;
use crate::Ask;
use fields::Fields;
use serde_json::{Map, Value};
use tooltrail_model::Status;
use tooltrail_model::content::words;
use tooltrail_model::detail::{Detail, Detailed, Mcp, Saved};
use tooltrail_model::transcript::Answered;
use tooltrail_model::verdict::Marker;

/// Reads the calls of one tool.
type Reader = fn(&mut Told<'_>) -> Detail;

/// How each tool is read, by the names it has had. Tools that are not here speak for themselves.
const TOOLS: &[(&[&str], Reader)] = &[
    (&["Bash", "PowerShell"], shell::read),
    (&["Monitor"], shell::monitor),
    (&["BashOutput", "BashOutputTool", "AgentOutputTool", "TaskOutput"], tasks::output),
    (&["KillBash", "KillShell", "TaskStop"], tasks::stop),
    (&["Read", "NotebookRead"], files::read),
    (&["Write"], files::write),
    (&["Edit", "MultiEdit"], files::edit),
    (&["NotebookEdit"], notebooks::edit),
    (&["TodoWrite", "TodoRead"], todos::list),
    (&["TaskCreate"], todos::create),
    (&["TaskUpdate"], todos::update),
    (&["TaskGet"], todos::get),
    (&["TaskList"], todos::all),
    (&["Task", "Agent"], agents::start),
    (&["SendMessage", "SubagentHandback"], agents::send),
    (&["ListAgents"], agents::list),
    (&["Workflow"], agents::workflow),
    (&["TeamCreate"], agents::gather),
    (&["TeamDelete"], agents::disband),
    (&["Glob"], search::glob),
    (&["Grep"], grep::read),
    (&["LS"], search::list),
    (&["LSP"], search::server),
    (&["ToolSearch"], search::tools),
    (&["ListMcpResourcesTool", "ReadMcpResourceTool", "ReadMcpResourceDirTool"], search::resources),
    (&["WebSearch", "web_search"], web::search),
    (&["WebFetch", "web_fetch"], web::fetch),
    (&["AskUserQuestion"], questions::read),
    (&["ExitPlanMode", "exit_plan_mode"], plans::leave),
    (&["EnterPlanMode"], plans::enter),
    (&["Skill", "SlashCommand"], plans::skill),
];

/// A call that is being told: where its reader takes from, and what it adds beside the detail.
pub(super) struct Told<'v> {
    /// The call.
    ask: &'v Ask<'v>,
    /// The input.
    input: Fields<'v>,
    /// What the tool produced, where that is an object.
    produced: Fields<'v>,
    /// What the model saw, without the reminders and wrappings that the program puts around it.
    seen: String,
    /// Whether it came to nothing.
    failed: bool,
    /// The message of a failure. A reader takes it away where it is the tool's own output.
    error: Option<String>,
    /// Where the whole output is.
    saved: Option<Saved>,
}

/// A call in neutral form.
pub(super) fn detail(ask: &Ask<'_>) -> Detailed {
    let mut told = Told::new(ask);
    let reader = TOOLS.iter().find(|(names, _)| names.contains(&ask.tool)).map(|(_, reader)| reader);
    let detail = match reader {
        Some(reader) => reader(&mut told),
        None => mcp(ask).unwrap_or_default(),
    };
    let rest_input = match (&detail, ask.input) {
        // Shown as it is, all of it.
        (Detail::Mcp(_) | Detail::Other, _) => Map::new(),
        (_, Value::Object(_) | Value::Null) => told.input.rest(),
        // Arguments that are no object are kept under a name of ours.
        (_, other) => Map::from_iter([("input".to_owned(), other.clone())]),
    };
    Detailed { detail, rest_input, rest_produced: told.produced.rest(), error: told.error, saved: told.saved }
}

/// Where the whole of a result was saved.
pub(super) fn saved(answered: &Answered) -> Option<String> {
    said::saved(&words(&answered.seen), &mut Fields::of(answered.produced.as_ref())).map(|saved| saved.path)
}

/// A tool of an MCP server, by its name or by what its block says.
fn mcp(ask: &Ask<'_>) -> Option<Detail> {
    let server = ask.server.or_else(|| names::server(ask.tool))?;
    let named = ask.tool.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(server)).and_then(|rest| rest.strip_prefix("__"));
    Some(Detail::Mcp(Mcp { server: server.to_owned(), tool: named.unwrap_or(ask.tool).to_owned() }))
}

impl<'v> Told<'v> {
    /// Takes a call in.
    fn new(ask: &'v Ask<'v>) -> Self {
        let whole = words(ask.seen);
        let mut produced = Fields::of(ask.produced);
        let saved = said::saved(&whole, &mut produced);
        let failed = ask.answered
            && matches!(
                ask.status,
                Status::Failed | Status::Rejected | Status::Blocked | Status::Cancelled | Status::Interrupted | Status::TimedOut
            );
        let seen = said::own_words(&whole);
        // Where the model saw nothing, the reason is a text beside it, or the code of a tool on the service's side.
        let beside = || ask.produced.and_then(Value::as_str).or_else(|| said::error_code(ask.seen)).unwrap_or_default();
        let spoken = if seen.is_empty() { beside() } else { seen };
        let error = if failed { said::error(spoken) } else { None };
        Told { ask, input: Fields::of(Some(ask.input)), produced, seen: seen.to_owned(), failed, error, saved }
    }

    /// What the text of a failure means.
    fn marker(&self) -> Option<Marker> {
        if self.failed { markers::of(&self.seen) } else { None }
    }

    /// What the model saw, where that is the answer and not a failure's message.
    fn answer(&self) -> Option<String> {
        (self.ask.answered && !self.failed && !self.seen.is_empty()).then(|| self.seen.clone())
    }
}
