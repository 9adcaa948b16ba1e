//! Details: what a call asked for and what it got, in neutral form. One variant per kind of tool, no agent's spelling.
//!
//! A format fills these from a call's input, from what the model saw and from what the tool produced. What has no place here stays in
//! [`Detailed::rest_input`] and [`Detailed::rest_produced`] as the log has it, so that nothing is lost.

mod about;

pub use about::{CallTitle, Emphasis, below, gist, inside};

use crate::content::Image;
use crate::event::TaskState;
use crate::patch::{FilePatch, Hunk};
use serde_json::{Map, Value};

/// A call's detail with everything that did not fit into it.
#[derive(Clone, Debug, Default)]
pub struct Detailed {
    /// What was asked and what came back.
    pub detail: Detail,
    /// Fields of the input that the detail has no place for.
    pub rest_input: Map<String, Value>,
    /// Fields of what the tool produced that the detail has no place for.
    pub rest_produced: Map<String, Value>,
    /// The message of a failure or refusal, without the wrapping that the agent puts around it for the model.
    pub error: Option<String>,
    /// Where the whole output was saved, as the log says, and its size. Never opened as it is written there.
    pub saved: Option<Saved>,
}

/// Where an agent says it saved an output that was too large for the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The path in the log.
    pub path: String,
    /// The size in the log.
    pub bytes: Option<u64>,
}

/// A call in neutral form, one variant per kind of tool. A new variant also says in [`Detail::about`] what its calls are about.
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
    /// Anything else: the input and the answer speak for themselves.
    #[default]
    Other,
}

impl Detail {
    /// What the call is about. `input` speaks for tools of which nothing is known, `cwd` is the directory that paths are told from; nothing
    /// where the request says nothing.
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
            Detail::Mcp(_) | Detail::Other => about::unknown(input, cwd),
        };
        about::or_telling(title, input, cwd)
    }
}

/// A command.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// The command line.
    pub command: String,
    /// What the model says it is for.
    pub description: Option<String>,
    /// Where it runs, if not in the session's directory.
    pub cwd: Option<String>,
    /// Whether it was asked to run in the background.
    pub background: bool,
    /// Why it should be let out of the sandbox, or that it asked to be.
    pub unsandboxed: Option<String>,
    /// How long it may run.
    pub timeout_ms: Option<u64>,
    /// What it printed; both streams together where the log does not keep them apart.
    pub stdout: Option<String>,
    /// What it printed as errors.
    pub stderr: Option<String>,
    /// What the agent makes of the exit code, such as that nothing was found.
    pub note: Option<String>,
    /// The background task it became.
    pub task: Option<String>,
    /// It was stopped.
    pub interrupted: bool,
    /// Commits, pushes and the like that the agent saw in it: what, and which.
    pub git: Vec<(String, String)>,
    /// The picture that it printed.
    pub image: Option<Image>,
}

/// The output of a background task.
#[derive(Clone, Debug, Default)]
pub struct TaskOutput {
    /// The task.
    pub task: Option<String>,
    /// What was sent to it.
    pub sent: Option<String>,
    /// What sort of task it is, as the agent names it.
    pub sort: Option<String>,
    /// Its command or description.
    pub description: Option<String>,
    /// Its state.
    pub state: Option<TaskState>,
    /// How asking went: `success`, `timeout`, `not_ready`.
    pub retrieval: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// What it printed.
    pub stdout: Option<String>,
    /// What it printed as errors.
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
    /// What came of it.
    pub message: Option<String>,
}

/// A file that is read.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// The file.
    pub path: String,
    /// The first line that was asked for.
    pub offset: Option<u64>,
    /// How many lines were asked for.
    pub limit: Option<u64>,
    /// The pages that were asked for.
    pub pages: Option<String>,
    /// What came back.
    pub got: ReadGot,
}

/// What reading a file gave.
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
        /// How many lines the file has.
        total: Option<u64>,
    },
    /// A picture.
    Image(Image),
    /// A notebook.
    Notebook(Vec<Cell>),
    /// A PDF: whole, or its pages as pictures.
    Pdf {
        /// How large it is.
        bytes: Option<u64>,
        /// How many pages.
        pages: Option<u64>,
        /// The pages that were turned into pictures.
        images: Vec<Image>,
    },
    /// It has not changed since it was last read.
    Unchanged,
    /// Words about the file, such as that it is empty.
    Words(String),
}

/// A cell of a notebook.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Its id or number.
    pub id: Option<String>,
    /// `code`, `markdown`, `raw`.
    pub sort: String,
    /// The language of its code.
    pub language: Option<String>,
    /// Its source.
    pub source: String,
    /// How often it had run.
    pub count: Option<u64>,
    /// What it printed.
    pub outputs: Vec<String>,
    /// Pictures that it printed.
    pub images: Vec<Image>,
}

/// A file that is written.
#[derive(Clone, Debug, Default)]
pub struct Write {
    /// The file.
    pub path: String,
    /// What is written.
    pub content: String,
    /// Whether the file is new; `None` where the log does not say.
    pub new: Option<bool>,
    /// What changes, where the log says.
    pub hunks: Vec<Hunk>,
    /// The text before, where the log has it.
    pub original: Option<String>,
    /// The person changed the proposal before it was written.
    pub user_modified: bool,
}

/// A file that is changed.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// The file.
    pub path: String,
    /// The replacements, in order.
    pub replacements: Vec<Replacement>,
    /// What changed, with line numbers, where the log says.
    pub hunks: Vec<Hunk>,
    /// The text before, where the log has it.
    pub original: Option<String>,
    /// The person changed the proposal before it was applied.
    pub user_modified: bool,
}

/// One text that is replaced by another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// The old text.
    pub old: String,
    /// The new text.
    pub new: String,
    /// Wherever it occurs.
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
    /// The patch as it was written, where it cannot be read.
    pub unread: Option<String>,
    /// What applying it printed.
    pub output: Option<String>,
}

/// A list of things to do.
#[derive(Clone, Debug, Default)]
pub struct Todo {
    /// The list before, where the log has it.
    pub old: Option<Vec<TodoItem>>,
    /// The list after.
    pub new: Vec<TodoItem>,
    /// Why it changed.
    pub explanation: Option<String>,
    /// It is a plan of steps.
    pub plan: bool,
}

/// A thing to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoItem {
    /// Its id.
    pub id: Option<String>,
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
    /// How it is called while it is being done.
    pub active: Option<String>,
    /// How urgent it is.
    pub priority: Option<String>,
    /// Who does it.
    pub owner: Option<String>,
    /// What has to be done first.
    pub blocked_by: Vec<String>,
}

/// How far a thing to do is.
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
    Other(String),
}

/// An action on a task list.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// `create`, `update`, `list`, `get`.
    pub action: &'static str,
    /// The task it is about.
    pub item: Option<TodoItem>,
    /// What the task is about, at length.
    pub description: Option<String>,
    /// The state before and after.
    pub moved: Option<(TodoState, TodoState)>,
    /// Which fields changed.
    pub updated: Vec<String>,
    /// The tasks that were listed; `None` where it was no list.
    pub list: Option<Vec<TodoItem>>,
}

/// Another agent.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    /// What is done: `start`, `send`, `wait`, `stop`, `resume`, `list`, or the tool's own word.
    pub action: &'static str,
    /// A short name of the task.
    pub description: Option<String>,
    /// The task, or the message.
    pub prompt: Option<String>,
    /// What sort of agent.
    pub sort: Option<String>,
    /// Its name, or the one that a message goes to.
    pub name: Option<String>,
    /// Its id.
    pub id: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Whether it goes on by itself.
    pub background: bool,
    /// Its state, in the agent's word.
    pub state: Option<String>,
    /// Its answer.
    pub answer: Option<String>,
    /// How long it took, as it reports.
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
    /// Where.
    pub path: Option<String>,
    /// What was found; `None` where the log does not say.
    pub files: Option<Vec<String>>,
    /// How many there are.
    pub total: Option<u64>,
    /// Not all were given.
    pub truncated: bool,
}

/// Text looked for in files.
#[derive(Clone, Debug, Default)]
pub struct Grep {
    /// The pattern.
    pub pattern: String,
    /// Where.
    pub path: Option<String>,
    /// Which files, by name.
    pub glob: Option<String>,
    /// Which files, by type.
    pub file_type: Option<String>,
    /// Options as they are written on a command line, such as `-i`.
    pub flags: Vec<String>,
    /// What was asked for.
    pub mode: GrepMode,
    /// Lines that match, by file.
    pub files: Vec<GrepFile>,
    /// How many matches, lines or files, as the log says.
    pub total: Option<u64>,
    /// The answer where it cannot be taken apart.
    pub words: Option<String>,
    /// Not all were given.
    pub truncated: bool,
}

/// What a search in files gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrepMode {
    /// The lines.
    Content,
    /// The files.
    #[default]
    Files,
    /// How many in each file.
    Count,
}

/// What was found in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepFile {
    /// The file; empty where only one was searched and it is not named.
    pub path: String,
    /// How many matches.
    pub count: Option<u64>,
    /// The lines.
    pub lines: Vec<GrepLine>,
}

/// A line that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepLine {
    /// Its number.
    pub number: Option<u64>,
    /// Its text.
    pub text: String,
    /// It matches; otherwise it only stands near.
    pub matches: bool,
}

/// A directory.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The directory.
    pub path: String,
    /// What is left out.
    pub ignore: Vec<String>,
    /// Its entries: how deep each lies, and its name.
    pub entries: Vec<(u32, String)>,
    /// The answer where it cannot be taken apart.
    pub words: Option<String>,
}

/// A search of the web.
#[derive(Clone, Debug, Default)]
pub struct WebSearch {
    /// What was searched for.
    pub query: String,
    /// Only these sites.
    pub allowed: Vec<String>,
    /// Not these sites.
    pub blocked: Vec<String>,
    /// What was found; `None` where the log does not keep it.
    pub results: Option<Vec<WebLink>>,
    /// What was said about it, as Markdown.
    pub prose: Vec<String>,
    /// A page was opened, or text looked for in it, rather than the web searched.
    pub opened: Option<String>,
}

/// A page of the web.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebLink {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says about itself, or its age.
    pub snippet: Option<String>,
}

/// A page that is read.
#[derive(Clone, Debug, Default)]
pub struct WebFetch {
    /// Its address.
    pub url: String,
    /// What it is read for.
    pub prompt: Option<String>,
    /// The code that the server gave, and its words.
    pub code: Option<(u64, String)>,
    /// How large the page is.
    pub bytes: Option<u64>,
    /// The answer, as Markdown.
    pub answer: Option<String>,
}

/// Questions to the person.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// The questions.
    pub questions: Vec<Question>,
    /// What the person wrote instead of choosing.
    pub response: Option<String>,
    /// Nobody answered in time.
    pub timed_out: bool,
}

/// A question.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// A short name.
    pub header: Option<String>,
    /// The question.
    pub text: String,
    /// More than one answer may be chosen.
    pub multiple: bool,
    /// What can be chosen.
    pub options: Vec<Choice>,
    /// What the person wrote in their own words.
    pub free: Option<String>,
    /// Notes that the person added.
    pub notes: Option<String>,
    /// Why it has no answer, in the agent's word.
    pub unanswered: Option<String>,
    /// Whether it was answered at all.
    pub answered: bool,
}

/// Something that can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
    /// The person chose it.
    pub chosen: bool,
}

/// A plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The plan, as Markdown.
    pub plan: Option<String>,
    /// Where it is kept.
    pub path: Option<String>,
    /// The person changed it.
    pub edited: bool,
    /// It is the start of planning rather than its end.
    pub enters: bool,
    /// What came back.
    pub message: Option<String>,
}

/// Instructions that are loaded.
#[derive(Clone, Debug, Default)]
pub struct Skill {
    /// Their name.
    pub name: String,
    /// What they are given.
    pub arguments: Option<String>,
    /// Tools that they may use.
    pub allowed: Vec<String>,
    /// What came back.
    pub message: Option<String>,
}

/// A search for tools.
#[derive(Clone, Debug, Default)]
pub struct ToolSearch {
    /// What was searched for.
    pub query: String,
    /// What was found.
    pub found: Vec<String>,
    /// How many tools there are.
    pub total: Option<u64>,
}

/// A question to a language server.
#[derive(Clone, Debug, Default)]
pub struct Lsp {
    /// What is asked.
    pub operation: String,
    /// The file.
    pub path: Option<String>,
    /// The line and the column.
    pub position: Option<(u64, u64)>,
    /// A name that is looked for.
    pub query: Option<String>,
    /// The answer.
    pub answer: Option<String>,
    /// How many things were found, and in how many files.
    pub found: Option<(u64, Option<u64>)>,
}

/// A picture that is looked at or made.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The file.
    pub path: Option<String>,
    /// What it should show.
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
