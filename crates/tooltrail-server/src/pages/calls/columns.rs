//! Columns of the table of calls. To add a column, add a line to `COLUMNS`.

use crate::call_rows::CallLine;
use crate::request::PageRequest;
use crate::session_table::SessionRows;
use crate::words;
use maud::{Markup, html};
use tooltrail_catalog::queries::CallSortKey;
use tooltrail_catalog::store::Figure;
use tooltrail_model::Status;
use tooltrail_model::row::{CallRow, SessionRow};
use tooltrail_view::head::{Tone, count, look_of, size, took, why_of};
use tooltrail_view::line::{neutral, neutral_text};

/// A column.
pub(super) struct CallColumn {
    /// Name in addresses, and class in the style sheet.
    pub(super) name: &'static str,
    /// Heading.
    pub(super) word: &'static str,
    /// Explanation on hover.
    pub(super) about: &'static str,
    /// Whether it is shown by default.
    standard: bool,
    /// Sort key of its heading.
    pub(super) by: Option<CallSortKey>,
    /// Draws its cell.
    pub(super) cell: fn(&ShownCall<'_>) -> Markup,
    /// Its columns in a CSV file, with their names.
    pub(super) fields: &'static [ExportColumn],
}

/// A column of a CSV file: its name, and its value for a call.
pub(super) type ExportColumn = (&'static str, fn(&TableCall<'_>) -> CsvValue);

/// A value in a CSV file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CsvValue {
    Text(String),
    Number(i64),
    None,
}

/// A call with its session, as columns need it for pages and files.
pub(super) struct TableCall<'a> {
    pub(super) session: &'a SessionRow<'a>,
    pub(super) row: &'a CallRow<'a>,
}

/// A call on the page.
pub(super) struct ShownCall<'a> {
    pub(super) told: TableCall<'a>,
    pub(super) rows: &'a SessionRows<'a>,
    /// The call in a line.
    pub(super) line: CallLine,
    /// Whether its day is in the heading above it.
    pub(super) day_is_said: bool,
    /// The column whose link opens the row.
    pub(super) leads: &'static str,
}

// Cell functions reach the call's fields directly, alike for pages and for files.
impl<'a> std::ops::Deref for ShownCall<'a> {
    type Target = TableCall<'a>;

    fn deref(&self) -> &Self::Target {
        &self.told
    }
}

impl ShownCall<'_> {
    /// A link to the call's own page.
    fn link(&self, column: &'static str, inner: &Markup) -> Markup {
        html! { a href=(self.line.address(self.rows.app, self.session.session)) data-row[self.leads == column] { (inner) } }
    }
}

/// All columns, in their order.
// The order here is that of the page and of the file, whatever order an address names them in.
pub(super) const COLUMNS: &[CallColumn] = &[
    CallColumn {
        name: "time",
        word: "Time",
        about: "time of the request",
        standard: true,
        by: Some(CallSortKey::Figure(Figure::Order)),
        cell: time,
        fields: &[("requested_at", |told| text(told.row.requested_at.map(|time| time.to_string()).as_deref()))],
    },
    CallColumn {
        name: "project",
        word: "Project",
        about: "project directory",
        standard: true,
        by: Some(CallSortKey::Project),
        cell: |told| html! { @if let Some(project) = told.session.project { (told.rows.project(project)) } },
        fields: &[("project", |told| text(told.session.project))],
    },
    CallColumn {
        name: "tool",
        word: "Tool",
        about: "name in the log",
        standard: true,
        by: Some(CallSortKey::Tool),
        cell: tool,
        fields: &[("tool", |told| text(Some(told.row.tool)))],
    },
    CallColumn {
        name: "what",
        word: "What",
        about: "the command, the path, the pattern",
        standard: true,
        by: None,
        cell: what,
        fields: &[("what", |told| text(told.row.about.as_deref()))],
    },
    CallColumn {
        name: "status",
        word: "Status",
        about: "status and reason",
        standard: true,
        by: Some(CallSortKey::Status),
        cell: status,
        fields: &[
            ("status", |told| text(Some(told.row.status.word()))),
            ("reason", |told| text(told.row.reason.map(|reason| reason.word()))),
        ],
    },
    CallColumn {
        name: "exit",
        word: "Exit",
        about: "the exit code",
        standard: true,
        by: Some(CallSortKey::Figure(Figure::Exit)),
        cell: |told| html! { @if let Some(code) = told.row.exit_code { (code) } },
        fields: &[("exit_code", |told| told.row.exit_code.map_or(CsvValue::None, CsvValue::Number))],
    },
    CallColumn {
        name: "took",
        word: "Took",
        about: "from request to result",
        standard: true,
        by: Some(CallSortKey::Figure(Figure::Took)),
        cell: lasted,
        fields: &[("duration_ms", |told| number(told.row.duration_ms))],
    },
    CallColumn {
        name: "ran",
        word: "Ran",
        about: "run time reported by the tool",
        standard: false,
        by: Some(CallSortKey::Figure(Figure::Ran)),
        cell: |told| duration(told.row.run_ms),
        fields: &[("run_ms", |told| number(told.row.run_ms))],
    },
    CallColumn {
        name: "waited",
        word: "Waited",
        about: "the rest of the duration: permission, hooks, other calls",
        standard: false,
        by: Some(CallSortKey::Waited),
        cell: |told| duration(waited(told.row)),
        fields: &[("wait_ms", |told| number(waited(told.row)))],
    },
    CallColumn {
        name: "session",
        word: "Session",
        about: "its session",
        standard: false,
        by: None,
        cell: |told| html! { a href=(told.rows.to(told.session)) { (words::title(told.session.title)) } },
        // Two columns in a file: titles are for people, ids to join with other data.
        fields: &[("session", |told| text(Some(told.session.session))), ("title", |told| text(told.session.title))],
    },
    CallColumn {
        name: "ref",
        word: "Ref",
        about: "a short name for `tooltrail show`",
        standard: false,
        by: None,
        // A link, because the reference is the call's shortest name and is mostly shown to be followed.
        cell: |told| told.link("ref", &html! { code { (neutral(&told.row.r#ref)) } }),
        fields: &[("ref", |told| text(Some(&told.row.r#ref)))],
    },
    CallColumn {
        name: "call",
        word: "Call",
        about: "its id in the log",
        standard: false,
        by: None,
        cell: |told| code(Some(told.row.call)),
        fields: &[("call", |told| text(Some(told.row.call)))],
    },
    CallColumn {
        name: "agent",
        word: "Agent",
        about: "the coding agent",
        standard: false,
        by: None,
        cell: |told| plain(Some(told.row.agent)),
        fields: &[("agent", |told| text(Some(told.row.agent)))],
    },
    CallColumn {
        name: "model",
        word: "Model",
        about: "the model that requested it",
        standard: false,
        by: None,
        cell: |told| plain(told.row.model),
        fields: &[("model", |told| text(told.row.model))],
    },
    CallColumn {
        name: "subagent",
        word: "Subagent",
        about: "the subagent that requested it",
        standard: false,
        by: None,
        cell: |told| code(told.row.agent_id),
        fields: &[("agent_id", |told| text(told.row.agent_id))],
    },
    CallColumn {
        name: "kind",
        word: "Kind",
        about: "the family of the tool",
        standard: false,
        by: None,
        cell: |told| plain(Some(told.row.kind.word())),
        fields: &[("kind", |told| text(Some(told.row.kind.word())))],
    },
    CallColumn {
        name: "server",
        word: "Server",
        about: "the MCP server",
        standard: false,
        by: None,
        cell: |told| plain(told.row.server),
        fields: &[("server", |told| text(told.row.server))],
    },
    CallColumn {
        name: "cwd",
        word: "Directory",
        about: "working directory",
        standard: false,
        by: None,
        // Abbreviated on the page only: a file may be read on another machine, where `~` means something else.
        cell: |told| code(told.row.cwd.map(|cwd| words::tilde(cwd, told.rows.home.as_deref())).as_deref()),
        fields: &[("cwd", |told| text(told.row.cwd))],
    },
    CallColumn {
        name: "branch",
        word: "Branch",
        about: "the branch of the session",
        standard: false,
        by: None,
        cell: |told| plain(told.session.branch),
        fields: &[("branch", |told| text(told.session.branch))],
    },
    CallColumn {
        name: "purpose",
        word: "Purpose",
        about: "test, build, lint …",
        standard: false,
        by: None,
        cell: |told| plain(told.row.purpose),
        fields: &[("purpose", |told| text(told.row.purpose))],
    },
    CallColumn {
        name: "masked",
        word: "Masked",
        about: "commands whose exit code is masked",
        standard: false,
        by: None,
        cell: |told| code(Some(&told.row.masked.join(", "))),
        fields: &[("masked", |told| text(Some(&told.row.masked.join(", "))))],
    },
    CallColumn {
        name: "hooks",
        word: "Hooks",
        about: "number of hooks that ran",
        standard: false,
        by: None,
        cell: |told| html! { @if !told.row.hooks.is_empty() { (count(told.row.hooks.len() as u64)) } },
        fields: &[("hooks", |told| number(Some(told.row.hooks.len() as u64)))],
    },
    CallColumn {
        name: "background",
        word: "Background",
        about: "state of its background task",
        standard: false,
        by: None,
        cell: |told| plain(background(told.row)),
        fields: &[("background", |told| text(background(told.row)))],
    },
    CallColumn {
        name: "parallel",
        word: "Parallel",
        about: "number of calls in parallel",
        standard: false,
        by: None,
        cell: |told| html! { (told.row.parallel) },
        fields: &[("parallel", |told| number(Some(told.row.parallel.into())))],
    },
    CallColumn {
        name: "input",
        word: "Input",
        about: "size of the input",
        standard: false,
        by: Some(CallSortKey::Figure(Figure::Input)),
        cell: |told| html! { (size(told.row.input_bytes)) },
        fields: &[("input_bytes", |told| number(Some(told.row.input_bytes)))],
    },
    CallColumn {
        name: "result",
        word: "Result",
        about: "size of the result",
        standard: false,
        by: Some(CallSortKey::Figure(Figure::Result)),
        cell: |told| html! { @if let Some(bytes) = told.row.result_bytes { (size(bytes)) } },
        fields: &[("result_bytes", |told| number(told.row.result_bytes))],
    },
];

/// The columns with numbers, which stand at the right.
// Not derived from the sort keys: some numbers cannot be sorted by.
const NUMBERS: &[&str] = &["exit", "took", "ran", "waited", "hooks", "parallel", "input", "result"];

impl CallColumn {
    /// Whether it has numbers.
    pub(super) fn is_number(&self) -> bool {
        NUMBERS.contains(&self.name)
    }

    /// Whether it is shown by default.
    pub(super) fn is_standard(&self) -> bool {
        self.standard
    }
}

/// The columns that a request names; the default ones if it names none. A form repeats `cols` for each column.
pub(super) fn of_request(request: &PageRequest) -> Vec<&'static CallColumn> {
    let names: Vec<&str> = request.query.iter().filter(|(name, _)| name == "cols").flat_map(|(_, value)| value.split(',')).collect();
    // Unknown names are ignored, so that old links still work.
    let chosen: Vec<&CallColumn> = COLUMNS.iter().filter(|column| names.contains(&column.name)).collect();
    if chosen.is_empty() { COLUMNS.iter().filter(|column| column.standard).collect() } else { chosen }
}

/// Columns as addresses name them; empty for the default ones.
pub(super) fn words_of(columns: &[&'static CallColumn]) -> String {
    let standard = columns.iter().all(|column| column.standard) && columns.len() == COLUMNS.iter().filter(|column| column.standard).count();
    if standard { String::new() } else { columns.iter().map(|column| column.name).collect::<Vec<_>>().join(",") }
}

fn time(told: &ShownCall<'_>) -> Markup {
    let Some(at) = told.row.requested_at else { return html! {} };
    let clock = told.rows.clock;
    // Rows under a heading with their day need seconds more than the date.
    let said = if told.day_is_said { clock.second(at) } else { clock.moment(at) };
    html! {
        a href=(told.line.row_address(told.rows.app, told.session.session)) data-row[told.leads == "time"] title={ (clock.full(at)) ", in its session" } {
            time datetime=(at) { (said) }
        }
    }
}

fn tool(told: &ShownCall<'_>) -> Markup {
    let name = html! { b { (words::cut(told.row.tool, 60)) } };
    html! {
        @if told.row.sidechain { span.di title="by a subagent" { "↳ " } }
        @if told.leads == "tool" { (told.link("tool", &name)) } @else { (name) }
    }
}

fn what(told: &ShownCall<'_>) -> Markup {
    let what = told.line.what.as_deref().filter(|what| !what.is_empty());
    html! {
        span title=[what] { (told.link("what", &html! { @match what { Some(what) => code { (what) }, None => span.di { "no argument" } } })) }
        (told.line.error_line())
    }
}

fn status(told: &ShownCall<'_>) -> Markup {
    let (look, line) = (look_of(told.row), &told.line);
    // A success that belongs to another command of the line is not shown in green.
    let tone = if line.doubt { Tone::Stopped } else { look.tone };
    // A doubtful success has an explanation of its own, and two would not fit into the cell.
    let reason = why_of(told.row).filter(|reason| !line.doubt && *reason != look.word);
    html! {
        span class={ "verdict-line " (words::class(tone)) } title=(line.why) { (look.glyph) @if line.doubt { "?" } " " (look.word) }
        @if let Some(reason) = reason { " " span.di title=(reason) { (reason) } }
        @if line.doubt { " " span.di title=(line.why) { (line.why) } }
    }
}

// The state of the task, not of the call: that has succeeded as soon as the task is started.
fn background(row: &CallRow<'_>) -> Option<&'static str> {
    row.background.as_ref().map(|task| task.state.word())
}

/// Time that a call took beyond its own run.
fn waited(row: &CallRow<'_>) -> Option<u64> {
    // Tools measure with their own clock, so a run may seem longer than the call.
    Some(row.duration_ms?.saturating_sub(row.run_ms?))
}

/// Duration, or the time since the request of a running call.
fn lasted(told: &ShownCall<'_>) -> Markup {
    let running = told.row.status == Status::Running && told.row.duration_ms.is_none();
    match told.line.since(told.rows.clock).filter(|_| running) {
        Some(since) => html! { span.t-running title="for so long, so far" { (since) } },
        None => duration(told.row.duration_ms),
    }
}

fn duration(millis: Option<u64>) -> Markup {
    html! { @if let Some(millis) = millis { (took(millis)) } }
}

fn plain(text: Option<&str>) -> Markup {
    html! { @if let Some(text) = text { span title=(neutral(text)) { (words::cut(text, 80)) } } }
}

fn code(text: Option<&str>) -> Markup {
    // The hover text is longer than the cell but bounded too: some ids and paths in logs are enormous.
    html! { @if let Some(text) = text.filter(|text| !text.is_empty()) { code title=(words::cut(text, 1000)) { (words::cut(text, 200)) } } }
}

/// Longest text of a cell in a CSV file; spreadsheets refuse longer ones.
const LONGEST: usize = 32_000;

fn text(text: Option<&str>) -> CsvValue {
    let Some(text) = text else { return CsvValue::None };
    // Neutralised as on pages: files are opened in terminals too.
    let text = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", neutral_text(text.get(..end).unwrap_or_default())),
        None => neutral_text(text).into_owned(),
    };
    CsvValue::Text(text)
}

fn number(number: Option<u64>) -> CsvValue {
    number.and_then(|number| i64::try_from(number).ok()).map_or(CsvValue::None, CsvValue::Number)
}
