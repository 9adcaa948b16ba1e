//! Details: input and result of a call in neutral form. One variant per kind of tool, no agent's spelling.
//!
//! A format fills these from a call's input, from the text that the model saw and from the tool's output. Fields without a
//! place here stay in [`Detailed::rest_input`] and [`Detailed::rest_produced`] as in the log, so that nothing is lost.

mod about;

pub use about::{CallTitle, Emphasis, below, gist, inside};

use crate::changes::{ChangedPath, ObservedFiles};
use crate::content::Image;
use crate::event::TaskState;
use crate::patch::{FilePatch, Hunk};
use serde_json::{Map, Value};

/// A call's detail with everything that did not fit into it.
#[derive(Clone, Debug, Default)]
pub struct Detailed {
    /// Input and result.
    pub detail: Detail,
    /// Fields of the input that the detail has no place for.
    pub rest_input: Map<String, Value>,
    /// Fields of what the tool produced that the detail has no place for.
    pub rest_produced: Map<String, Value>,
    /// Message of a failure or refusal, without the agent's wrapping for the model.
    pub error: Option<String>,
    /// Path of the saved output according to the log, and its size. Never opened as written there.
    pub saved: Option<Saved>,
}

/// Output that an agent says it saved, because it was too large for the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The path in the log.
    pub path: String,
    /// The size in the log.
    pub bytes: Option<u64>,
}

/// A call in neutral form, one variant per kind of tool. A new variant also needs its title in [`Detail::about`].
#[derive(Clone, Debug, Default)]
pub enum Detail {
    /// Runs a command.
    Shell(Shell),
    /// Asks for the output of a background task, or sends it input.
    TaskOutput(TaskOutput),
    /// Stops a background task.
    TaskStop(TaskStop),
    /// Reads a file.
    Read(Read),
    /// Writes a whole file.
    Write(Write),
    /// Changes parts of a file.
    Edit(Edit),
    /// Changes a cell of a notebook.
    Notebook(Notebook),
    /// Changes several files by a patch.
    Patch(Patch),
    /// Keeps a list of things to do, or a plan of steps.
    Todo(Todo),
    /// Makes, changes or lists tasks of a task list.
    Tasks(Tasks),
    /// Starts or steers another agent.
    Agent(Agent),
    /// Looks for files by name.
    Glob(Glob),
    /// Looks for text in files.
    Grep(Grep),
    /// Lists a directory.
    List(List),
    /// Searches the web.
    WebSearch(WebSearch),
    /// Reads a page of the web.
    WebFetch(WebFetch),
    /// Asks the person.
    Question(Questions),
    /// Proposes a plan, or begins to make one.
    Plan(Plan),
    /// Loads instructions.
    Skill(Skill),
    /// Looks for tools.
    ToolSearch(ToolSearch),
    /// Asks a language server.
    Lsp(Lsp),
    /// Looks at or makes a picture.
    Picture(Picture),
    /// Calls a tool of an MCP server.
    Mcp(Mcp),
    /// Runs a program that calls several tools, or may do so.
    Script(ScriptDetail),
    /// Anything else: the input and the answer speak for themselves.
    #[default]
    Other,
}

impl Detail {
    /// Title of the call, `None` where the request says nothing. `input` speaks for tools of which nothing is known; `cwd` is the directory
    /// that paths are told from.
    ///
    /// Use fields of the request only. Rows get their title without the result, so a field of the result would be in the head of a call and
    /// missing in every table.
    pub fn about(&self, input: &Value, cwd: Option<&str>) -> Option<CallTitle> {
        let title = match self {
            Detail::Shell(shell) => about::command(&shell.command),
            Detail::TaskOutput(task) => about::task_output(task),
            Detail::TaskStop(stop) => {
                CallTitle::default().with_clipped(stop.task.as_deref().or(stop.command.as_deref()).unwrap_or_default())
            }
            Detail::Read(read) => about::file(&read.path, cwd),
            Detail::Write(write) => about::file(&write.path, cwd),
            Detail::Edit(edit) => about::file(&edit.path, cwd),
            Detail::Notebook(change) => CallTitle::of(Emphasis::Path, inside(&change.path, cwd)),
            Detail::Patch(patch) => about::patched(&patch.files, cwd),
            Detail::Todo(todo) => about::todos(todo),
            Detail::Tasks(tasks) => tasks.item.as_ref().map(about::task).unwrap_or_default(),
            Detail::Agent(other) => about::agent(other),
            Detail::Glob(glob) => about::within(CallTitle::plain(&glob.pattern), glob.path.as_deref(), cwd),
            Detail::Grep(search) => about::grep(search, cwd),
            Detail::List(list) => CallTitle::of(Emphasis::Path, inside(&list.path, cwd)),
            Detail::WebSearch(search) => about::web_search(search),
            Detail::WebFetch(fetch) => CallTitle::plain(&fetch.url),
            Detail::Question(asked) => about::questions(&asked.questions),
            Detail::Plan(proposal) => about::plan(proposal),
            Detail::Skill(called) => about::skill(called),
            Detail::ToolSearch(search) => CallTitle::plain(&search.query),
            Detail::Lsp(asked) => about::language_server(asked, cwd),
            Detail::Picture(picture) => match (&picture.path, &picture.prompt) {
                (Some(path), _) => CallTitle::of(Emphasis::Path, inside(path, cwd)),
                (None, prompt) => {
                    CallTitle::default().with_clipped(prompt.as_deref().and_then(|text| text.lines().next()).unwrap_or_default())
                }
            },
            Detail::Script(script) => about::script(script, input, cwd),
            Detail::Mcp(_) | Detail::Other => about::unknown(input, cwd),
        };
        about::or_telling(title, input, cwd)
    }
}

/// A program that calls tools.
#[derive(Clone, Debug, Default)]
pub struct ScriptDetail {
    /// The calls in its text.
    pub calls: Vec<InnerDetail>,
    /// Whether these are all calls that it can make.
    pub complete: bool,
}

/// A call in the text of a program.
#[derive(Clone, Debug, Default)]
pub struct InnerDetail {
    /// The tool, as the program spells it.
    pub tool: String,
    /// Its input, as far as it stands in the text.
    pub input: Value,
    /// The input in neutral form.
    pub detail: Detail,
}

/// A command.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// The command line.
    pub command: String,
    /// Purpose according to the model.
    pub description: Option<String>,
    /// Working directory, if not the session's.
    pub cwd: Option<String>,
    /// Whether it was requested to run in the background.
    pub background: bool,
    /// Reason for leaving the sandbox, or that it was requested.
    pub unsandboxed: Option<String>,
    /// Time limit.
    pub timeout_ms: Option<u64>,
    /// Output; both streams together where the log does not separate them.
    pub stdout: Option<String>,
    /// Error output.
    pub stderr: Option<String>,
    /// The agent's interpretation of the exit code, such as that nothing was found.
    pub note: Option<String>,
    /// The background task it became.
    pub task: Option<String>,
    /// Whether it was stopped.
    pub interrupted: bool,
    /// Commits, pushes and the like that the agent recognised: kind, and which.
    pub git: Vec<(String, String)>,
    /// The picture that it printed.
    pub image: Option<Image>,
    /// Changes to files that the agent saw while it ran.
    pub observed: Option<ObservedFiles>,
    /// Files that it surely changed. Filled where the call is opened with its outcome.
    pub changed: Vec<ChangedPath>,
    /// Whether it can have changed no other file of the user.
    pub accounted: bool,
}

/// The output of a background task.
#[derive(Clone, Debug, Default)]
pub struct TaskOutput {
    /// The task.
    pub task: Option<String>,
    /// Text sent to it.
    pub sent: Option<String>,
    /// Type of task, in the agent's word.
    pub sort: Option<String>,
    /// Its command or description.
    pub description: Option<String>,
    /// Its state.
    pub state: Option<TaskState>,
    /// Outcome of the poll: `success`, `timeout`, `not_ready`.
    pub retrieval: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Output.
    pub stdout: Option<String>,
    /// Error output.
    pub stderr: Option<String>,
    /// An agent's task.
    pub prompt: Option<String>,
    /// An agent's answer.
    pub answer: Option<String>,
}

/// A background task that is stopped.
#[derive(Clone, Debug, Default)]
pub struct TaskStop {
    /// The task.
    pub task: Option<String>,
    /// Its command.
    pub command: Option<String>,
    /// Message of the tool.
    pub message: Option<String>,
}

/// A file that is read.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// The file.
    pub path: String,
    /// First requested line.
    pub offset: Option<u64>,
    /// Number of requested lines.
    pub limit: Option<u64>,
    /// Requested pages.
    pub pages: Option<String>,
    /// Result.
    pub got: ReadGot,
}

/// Result of reading a file.
#[derive(Clone, Debug, Default)]
pub enum ReadGot {
    /// Nothing that the log keeps.
    #[default]
    Nothing,
    /// Text.
    Text {
        /// The lines, without numbers.
        text: String,
        /// The number of the first one.
        first: u64,
        /// Number of lines of the file.
        total: Option<u64>,
    },
    /// A picture.
    Image(Image),
    /// A notebook.
    Notebook(Vec<NotebookCell>),
    /// A PDF: whole, or its pages as pictures.
    Pdf {
        /// Size in bytes.
        bytes: Option<u64>,
        /// Number of pages.
        pages: Option<u64>,
        /// Pages as pictures.
        images: Vec<Image>,
    },
    /// Unchanged since it was last read.
    // Claude Code then answers without the text, which the model has seen before.
    Unchanged,
    /// Words about the file, such as that it is empty.
    Words(String),
}

/// A cell of a notebook.
#[derive(Clone, Debug, Default)]
pub struct NotebookCell {
    /// Its id or number.
    pub id: Option<String>,
    /// `code`, `markdown`, `raw`.
    pub sort: String,
    /// The language of its code.
    pub language: Option<String>,
    /// Its source.
    pub source: String,
    /// Number of its last execution.
    pub count: Option<u64>,
    /// Outputs.
    pub outputs: Vec<String>,
    /// Pictures among its outputs.
    pub images: Vec<Image>,
}

/// A file that is written.
#[derive(Clone, Debug, Default)]
pub struct Write {
    /// The file.
    pub path: String,
    /// The new text.
    pub content: String,
    /// Whether the file is new; `None` where the log does not say.
    pub new: Option<bool>,
    /// Hunks, where the log has them.
    pub hunks: Vec<Hunk>,
    /// The text before, where the log has it.
    pub original: Option<String>,
    /// Whether the person changed the proposal before it was written.
    pub user_modified: bool,
    /// Whether the text is added to the end of the file, which is not all of it then.
    pub appended: bool,
}

/// A file that is changed.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// The file.
    pub path: String,
    /// The replacements, in order.
    pub replacements: Vec<Replacement>,
    /// Hunks with line numbers, where the log has them.
    pub hunks: Vec<Hunk>,
    /// The text before, where the log has it.
    pub original: Option<String>,
    /// Whether the person changed the proposal before it was applied.
    pub user_modified: bool,
}

/// One text that is replaced by another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// The old text.
    pub old: String,
    /// The new text.
    pub new: String,
    /// Whether all occurrences are replaced.
    pub all: bool,
}

/// A cell of a notebook that is changed.
#[derive(Clone, Debug, Default)]
pub struct Notebook {
    /// The file.
    pub path: String,
    /// The cell.
    pub cell: Option<String>,
    /// `replace`, `insert`, `delete`.
    pub mode: Option<String>,
    /// `code` or `markdown`.
    pub sort: Option<String>,
    /// The language of its code.
    pub language: Option<String>,
    /// The new source.
    pub source: String,
    /// The source before, where the log has it.
    pub old: Option<String>,
}

/// Files that are changed by a patch.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// The files, in order.
    pub files: Vec<FilePatch>,
    /// The patch as written, where it cannot be parsed.
    pub unread: Option<String>,
    /// Output of applying it.
    pub output: Option<String>,
}

/// A list of things to do.
#[derive(Clone, Debug, Default)]
pub struct Todo {
    /// The list before, where the log has it.
    pub old: Option<Vec<TodoItem>>,
    /// The list after.
    pub new: Vec<TodoItem>,
    /// Reason for the change.
    pub explanation: Option<String>,
    /// Whether it is a plan of steps.
    pub plan: bool,
}

/// A thing to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoItem {
    /// Its id.
    pub id: Option<String>,
    /// Text of the item.
    pub text: String,
    /// State of the item.
    pub state: TodoState,
    /// Name while it is in progress.
    pub active: Option<String>,
    /// Priority.
    pub priority: Option<String>,
    /// Owner.
    pub owner: Option<String>,
    /// Items that have to be done first.
    pub blocked_by: Vec<String>,
}

/// State of a to-do item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TodoState {
    /// Not begun.
    #[default]
    Pending,
    /// Being done.
    Active,
    /// Done.
    Done,
    /// Taken off the list.
    Deleted,
    /// Another word of the agent's.
    // Agents add words; an unknown one is shown as it is, rather than as a state that it may not mean.
    Other(String),
}

/// An action on a task list.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// `create`, `update`, `list`, `get`.
    pub action: &'static str,
    /// The task.
    pub item: Option<TodoItem>,
    /// Description of the task.
    pub description: Option<String>,
    /// The state before and after.
    pub moved: Option<(TodoState, TodoState)>,
    /// Names of changed fields.
    pub updated: Vec<String>,
    /// Listed tasks; `None` if it was not a list.
    pub list: Option<Vec<TodoItem>>,
}

/// Another agent.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    /// Action: `start`, `send`, `wait`, `stop`, `resume`, `list`, or the tool's own word.
    pub action: &'static str,
    /// A short name of the task.
    pub description: Option<String>,
    /// The task, or the message.
    pub prompt: Option<String>,
    /// Type of agent.
    pub sort: Option<String>,
    /// Its name, or the recipient of a message.
    pub name: Option<String>,
    /// Its id.
    pub id: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Whether it runs in the background.
    pub background: bool,
    /// State in the agent's word.
    pub state: Option<String>,
    /// Its answer.
    pub answer: Option<String>,
    /// Duration as it reports.
    pub duration_ms: Option<u64>,
    /// Tokens, as it reports.
    pub tokens: Option<u64>,
    /// Calls, as it reports.
    pub calls: Option<u64>,
    /// Agents that were waited for or listed, and their state.
    pub agents: Vec<(String, String)>,
}

/// Files looked for by name.
#[derive(Clone, Debug, Default)]
pub struct Glob {
    /// The pattern.
    pub pattern: String,
    /// Directory.
    pub path: Option<String>,
    /// Found files; `None` where the log does not say.
    pub files: Option<Vec<String>>,
    /// Total number.
    pub total: Option<u64>,
    /// Whether some were left out.
    pub truncated: bool,
}

/// Text looked for in files.
#[derive(Clone, Debug, Default)]
pub struct Grep {
    /// The pattern.
    pub pattern: String,
    /// Directory or file.
    pub path: Option<String>,
    /// Filter of files by name.
    pub glob: Option<String>,
    /// Filter of files by type.
    pub file_type: Option<String>,
    /// Options as on a command line, such as `-i`.
    pub flags: Vec<String>,
    /// Kind of result.
    pub mode: GrepMode,
    /// Lines that match, by file.
    pub files: Vec<GrepFile>,
    /// Number of matches, lines or files, according to the log.
    pub total: Option<u64>,
    /// Number of files with matches, according to the log.
    pub in_files: Option<u64>,
    /// Number of lines, those around matches included, where the log says that there were more than it has.
    pub lines: Option<u64>,
    /// The result as text, where it cannot be parsed.
    pub words: Option<String>,
    /// Whether some were left out.
    pub truncated: bool,
}

/// Kind of result of a search in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrepMode {
    /// The lines.
    Content,
    /// The files.
    #[default]
    // Claude Code searches like this where an input names no mode.
    Files,
    /// Number of matches in each file.
    Count,
}

/// Matches in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepFile {
    /// The file; empty where only one was searched and it is not named.
    pub path: String,
    /// Number of matches.
    pub count: Option<u64>,
    /// The lines.
    pub lines: Vec<GrepLine>,
}

/// A line of the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepLine {
    /// Its number.
    pub number: Option<u64>,
    /// Its text.
    pub text: String,
    /// Whether it matches; otherwise it is context.
    pub matches: bool,
}

/// A directory.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The directory.
    pub path: String,
    /// Names that are left out.
    pub ignore: Vec<String>,
    /// Its entries: depth and name.
    pub entries: Vec<(u32, String)>,
    /// The result as text, where it cannot be parsed.
    pub words: Option<String>,
}

/// A search of the web.
#[derive(Clone, Debug, Default)]
pub struct WebSearch {
    /// The query.
    pub query: String,
    /// Sites to search.
    pub allowed: Vec<String>,
    /// Sites to leave out.
    pub blocked: Vec<String>,
    /// Results; `None` where the log does not contain them.
    pub results: Option<Vec<WebLink>>,
    /// Text about the results, as Markdown.
    pub prose: Vec<String>,
    /// Page that was opened, or searched for text, rather than the web.
    pub opened: Option<String>,
}

/// A page of the web.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebLink {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Description, or age.
    pub snippet: Option<String>,
}

/// A page that is read.
#[derive(Clone, Debug, Default)]
pub struct WebFetch {
    /// Its address.
    pub url: String,
    /// Question about the page.
    pub prompt: Option<String>,
    /// Status code of the server, and its words.
    pub code: Option<(u64, String)>,
    /// Size of the page.
    pub bytes: Option<u64>,
    /// The answer, as Markdown.
    pub answer: Option<String>,
}

/// Questions to the person.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// The questions.
    pub questions: Vec<Question>,
    /// Text that the person wrote instead of choosing.
    pub response: Option<String>,
    /// Whether the time for an answer ran out.
    pub timed_out: bool,
}

/// A question.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// A short name.
    pub header: Option<String>,
    /// The question.
    pub text: String,
    /// Whether more than one answer may be chosen.
    pub multiple: bool,
    /// Options.
    pub options: Vec<Choice>,
    /// Answer in the person's own words.
    pub free: Option<String>,
    /// Notes of the person.
    pub notes: Option<String>,
    /// Reason why it has no answer, in the agent's word.
    pub unanswered: Option<String>,
    /// Whether it was answered at all.
    pub answered: bool,
}

/// An option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub label: String,
    /// Explanation.
    pub description: Option<String>,
    /// Whether the person chose it.
    pub chosen: bool,
}

/// A plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The plan, as Markdown.
    pub plan: Option<String>,
    /// File that contains it.
    pub path: Option<String>,
    /// Whether the person changed it.
    pub edited: bool,
    /// Whether planning begins rather than ends.
    pub enters: bool,
    /// Message of the tool.
    pub message: Option<String>,
}

/// A skill that is loaded.
#[derive(Clone, Debug, Default)]
pub struct Skill {
    /// Name of the skill.
    pub name: String,
    /// Arguments.
    pub arguments: Option<String>,
    /// Tools that it may use.
    pub allowed: Vec<String>,
    /// Message of the tool.
    pub message: Option<String>,
}

/// A search for tools.
#[derive(Clone, Debug, Default)]
pub struct ToolSearch {
    /// The query.
    pub query: String,
    /// Names of the found tools.
    pub found: Vec<String>,
    /// Number of tools in total.
    pub total: Option<u64>,
}

/// A question to a language server.
#[derive(Clone, Debug, Default)]
pub struct Lsp {
    /// Operation.
    pub operation: String,
    /// The file.
    pub path: Option<String>,
    /// The line and the column.
    pub position: Option<(u64, u64)>,
    /// Name to search for.
    pub query: Option<String>,
    /// The answer.
    pub answer: Option<String>,
    /// Number of results, and of files they are in.
    pub found: Option<(u64, Option<u64>)>,
}

/// A picture that is viewed or generated.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The file.
    pub path: Option<String>,
    /// Description of what it should show.
    pub prompt: Option<String>,
    /// The picture.
    pub image: Option<Image>,
}

/// A call of an MCP server.
#[derive(Clone, Debug, Default)]
pub struct Mcp {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
}
