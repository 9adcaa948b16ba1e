//! Shells and file tools that MCP servers offer, whatever agent calls them: one table of their names, with the fields that their inputs
//! must have, the family that filters and `kind` go by, and the reader of their calls.
//!
//! A name alone proves little, because servers of all kinds have tools of such names. So a call is taken only if its input has the shape
//! of the tool, and if no field says that it is about another machine or repository. Anything else stays a plain call of a server.
//! To teach the program a tool, add its name to a line of [`TOOLS`]; names are compared in lower case, with `_` for `-`.

mod call;
mod files;
mod git;
mod search;
mod shape;
mod shell;
mod words;

pub(crate) use call::ServedAnswer;
use call::ServedCall;
use serde_json::{Map, Value};
use shape::{InputShape, Need};
use std::sync::LazyLock;
use tooltrail_model::Kind;
use tooltrail_model::detail::Detail;
use tooltrail_model::event::TaskState;
pub(crate) use words::{said, task, tells};

/// Reads the calls of one tool.
type ServedToolReader = fn(&mut ServedCall<'_>) -> Detail;

/// A tool of servers.
struct ServedTool {
    /// Names, in lower case.
    names: &'static [&'static str],
    /// The servers whose tool it is; empty where the name says enough.
    servers: &'static [&'static str],
    /// The fields that its input must have.
    needs: &'static [Need],
    kind: Kind,
    read: ServedToolReader,
}

const fn served(names: &'static [&'static str], kind: Kind, needs: &'static [Need], read: ServedToolReader) -> ServedTool {
    ServedTool { names, servers: &[], needs, kind, read }
}

/// A line for names that say nothing without their server.
const fn only(
    servers: &'static [&'static str],
    names: &'static [&'static str],
    kind: Kind,
    needs: &'static [Need],
    read: ServedToolReader,
) -> ServedTool {
    ServedTool { names, servers, needs, kind, read }
}

const COMMAND: Need = Need::TextOrList(shell::COMMAND);
const FILE: Need = Need::Text(files::PATH);
const FILES: Need = Need::List(&["files"]);
const CONTENT: Need = Need::Text(files::CONTENT);
const PIECE: Need = Need::Any(files::PIECE);
const DIRECTORY: Need = Need::Text(search::DIRECTORY);
const PATTERN: Need = Need::Text(search::PATTERN);
const REPOSITORY: Need = Need::Text(git::REPOSITORY);
const PROCESS: Need = Need::Any(shell::PROCESS);

/// The server that editors put around Claude Code (Agent Client Protocol).
const ACP: &[&str] = &["acp"];

/// Every tool that is known.
static TOOLS: &[ServedTool] = &[
    served(
        &[
            "bash",
            "shell",
            "powershell",
            "run_command",
            "runcommand",
            "execute_command",
            "executecommand",
            "exec_command",
            "run_shell_command",
            "execute_shell_command",
            "execute_shell",
            "run_shell",
            "shell_execute",
            "shell_exec",
            "shell_command",
            "shell_run",
            "bash_exec",
            "bash_execute",
            "run_bash",
            "run_bash_command",
            "execute_bash",
            "execute_bash_command",
            "run_terminal_cmd",
            "run_terminal_command",
            "run_in_terminal",
            "execute_terminal_command",
            "terminal_execute",
            "execute_powershell",
            "run_powershell",
        ],
        Kind::Shell,
        &[COMMAND],
        shell::command,
    ),
    served(&["start_process"], Kind::Shell, &[COMMAND], shell::command),
    served(&["read_process_output", "read_output", "interact_with_process"], Kind::Task, &[PROCESS], shell::output),
    served(&["force_terminate"], Kind::Task, &[PROCESS], shell::stop),
    only(ACP, &["bashoutput"], Kind::Task, &[PROCESS], shell::output),
    only(ACP, &["killbash", "killshell"], Kind::Task, &[PROCESS], shell::stop),
    // Names that a service of any kind may have: they count for known servers only.
    only(ACP, &["read"], Kind::Read, &[FILE], files::read),
    only(ACP, &["write"], Kind::Write, &[FILE, CONTENT], files::write),
    only(ACP, &["edit", "multi_edit", "multiedit"], Kind::Edit, &[FILE, PIECE], files::edit),
    served(
        &["read_file", "read_text_file", "read_file_content", "read_file_contents", "readfile", "view_file", "get_file_text_by_path"],
        Kind::Read,
        &[FILE],
        files::read,
    ),
    served(&["read_media_file"], Kind::Read, &[FILE], files::read),
    // Calls about several files have no form of their own here, and still count as reads.
    served(&["read_multiple_files"], Kind::Read, &[Need::List(&["paths"])], plain),
    served(&["get_text_file_contents"], Kind::Read, &[FILES], plain),
    served(
        &["write_file", "write_text_file", "writefile", "create_file", "create_text_file", "create_new_file", "save_file"],
        Kind::Write,
        &[FILE, CONTENT],
        files::write,
    ),
    served(&["append_file", "append_to_file", "append_text_file_contents"], Kind::Write, &[FILE, CONTENT], files::append),
    served(
        &[
            "edit_file",
            "edit_block",
            "str_replace",
            "str_replace_in_file",
            "replace_in_file",
            "replace_text_in_file",
            "search_replace",
            "multi_edit",
            "multi_edit_file",
        ],
        Kind::Edit,
        &[FILE, PIECE],
        files::edit,
    ),
    // Changes by line or by pattern: the file is known, the texts are not.
    served(
        &[
            "patch_text_file_contents",
            "insert_text_file_contents",
            "delete_text_file_contents",
            "replace_lines",
            "insert_lines",
            "delete_lines",
            "insert_at_line",
            "replace_regex",
            "replace_symbol_body",
            "insert_after_symbol",
            "insert_before_symbol",
        ],
        Kind::Edit,
        &[FILE],
        files::touch,
    ),
    served(&["edit_text_file_contents"], Kind::Edit, &[FILES], files::touch),
    served(&["move_file", "rename_file"], Kind::Edit, &[Need::Text(files::SOURCE), Need::Text(files::TARGET)], files::rename),
    served(&["delete_file", "remove_file"], Kind::Edit, &[FILE], files::delete),
    // Changes the disk, but has no text to show as that of a file.
    served(&["create_directory"], Kind::Write, &[DIRECTORY], plain),
    served(
        &["list_directory", "list_dir", "list_files", "list_directory_with_sizes", "directory_tree", "list_directory_tree"],
        Kind::List,
        &[DIRECTORY],
        search::list,
    ),
    served(&["search_files", "find_files", "find_file", "find_files_by_glob"], Kind::Search, &[DIRECTORY, PATTERN], search::files),
    served(&["search_code", "search_in_files", "grep_files", "grep"], Kind::Search, &[DIRECTORY, PATTERN], search::text),
    // Searches names or texts, as a field of its input says.
    served(&["start_search"], Kind::Search, &[DIRECTORY, PATTERN], search::either),
    served(
        &[
            "git_status",
            "git_diff",
            "git_diff_unstaged",
            "git_diff_staged",
            "git_commit",
            "git_commit_signed",
            "git_add",
            "git_reset",
            "git_log",
            "git_create_branch",
            "git_checkout",
            "git_show",
            "git_branch",
            "git_init",
        ],
        Kind::Shell,
        &[REPOSITORY],
        git::command,
    ),
];

/// The names in order, each with its line of the table: a scan looks up every call of a server.
static BY_NAME: LazyLock<Vec<(&'static str, &'static ServedTool)>> = LazyLock::new(|| {
    let mut all: Vec<_> = TOOLS.iter().flat_map(|tool| tool.names.iter().map(move |name| (*name, tool))).collect();
    all.sort_by_key(|(name, _)| *name);
    all
});

/// The state of a process that ended with a code.
pub(crate) fn state(code: i64) -> TaskState {
    if code == 0 { TaskState::Completed } else { TaskState::Failed }
}

/// A tool without a form of its own: input and answer are shown as they are.
fn plain(_: &mut ServedCall<'_>) -> Detail {
    Detail::Other
}

/// The longest name in the table; longer ones are not looked up.
const LONGEST: usize = 32;

/// The lines of a tool's name, as its server spells it.
fn named(name: &str) -> impl Iterator<Item = &'static ServedTool> {
    // On the stack, since a scan looks up every call of a server.
    let mut small = [0; LONGEST];
    let mut key: &[u8] = &[];
    if let Some(own) = small.get_mut(..name.len()) {
        own.copy_from_slice(name.as_bytes());
        own.make_ascii_lowercase();
        own.iter_mut().filter(|letter| **letter == b'-').for_each(|letter| *letter = b'_');
        key = own;
    }
    let first = BY_NAME.partition_point(|(known, _)| known.as_bytes() < key);
    let equal = BY_NAME[first..].iter().take_while(|(known, _)| known.as_bytes() == key && !key.is_empty());
    equal.map(|(_, tool)| *tool).collect::<Vec<_>>().into_iter()
}

/// The line of a tool, by the server that offers it, its name there, and its input.
fn find(server: &str, name: &str, shape: impl FnOnce() -> InputShape) -> Option<&'static ServedTool> {
    let mut lines = named(name).filter(|tool| tool.servers.is_empty() || tool.servers.contains(&server)).peekable();
    // Most tools are not in the table, and the input of those is not even looked at.
    lines.peek()?;
    let shape = shape();
    lines.find(|tool| !shape.is_elsewhere() && tool.needs.iter().all(|need| shape.meets(need)))
}

/// The server and the tool in `mcp__server__tool`. The name of a server may hold `__`, and `server` may say where it ends.
pub(crate) fn split<'n>(tool: &'n str, server: Option<&'n str>) -> Option<(&'n str, &'n str)> {
    let rest = tool.strip_prefix("mcp__");
    if let Some(server) = server {
        let own = rest.and_then(|rest| rest.strip_prefix(server)?.strip_prefix("__"));
        return Some((server, own.unwrap_or(tool)));
    }
    rest?.split_once("__").filter(|(server, _)| !server.is_empty())
}

/// The family of a server's tool, by its name there and the raw JSON of its input.
pub(crate) fn kind(server: &str, name: &str, input: &[u8]) -> Option<Kind> {
    find(server, name, || InputShape::of_json(input)).map(|tool| tool.kind)
}

/// The server, or what stands for it, and the tool in `server_tool`, for agents that join the two without a mark. The longest name wins.
pub(crate) fn joined<'n>(tool: &'n str, input: &[u8]) -> Option<(&'n str, &'n str, Kind)> {
    let cuts = tool.match_indices('_').filter(|(at, _)| *at > 0);
    let mut names = cuts.map(|(at, _)| (&tool[..at], &tool[at + 1..]));
    names.find_map(|(server, name)| Some((server, name, kind(server, name, input)?)))
}

/// A call of a server's tool in neutral form.
pub(crate) struct ServedDetail {
    /// Input and result.
    pub(crate) detail: Detail,
    /// Fields of the input that the detail has no place for.
    pub(crate) rest: Map<String, Value>,
    /// Whether the text of a failure is the tool's own output, and no message.
    pub(crate) printed: bool,
}

/// Puts a call into neutral form; `None` where the tool is not known, or has no form of its own.
pub(crate) fn detail(server: &str, name: &str, input: &Value, answer: ServedAnswer<'_>) -> Option<ServedDetail> {
    let tool = find(server, name, || InputShape::of(input))?;
    let mut call = ServedCall::new(name, input, answer);
    match (tool.read)(&mut call) {
        Detail::Other => None,
        detail => Some(ServedDetail { detail, printed: call.printed, rest: call.rest() }),
    }
}

#[cfg(test)]
mod tests;
