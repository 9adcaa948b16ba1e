//! The family a tool belongs to, across agents.

use serde::Serialize;

/// What a tool is for, whatever its agent calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Runs a command.
    Shell,
    /// Reads a file.
    Read,
    /// Writes a whole file.
    Write,
    /// Changes part of a file.
    Edit,
    /// Looks for files or text.
    Search,
    /// Lists a directory.
    List,
    /// Keeps a list of things to do.
    Todo,
    /// Proposes or leaves a plan.
    Plan,
    /// Starts or steers another agent.
    Subagent,
    /// Looks at or stops a background task.
    Task,
    /// Asks the person.
    Question,
    /// Searches the web.
    WebSearch,
    /// Reads a page of the web.
    WebFetch,
    /// Loads instructions.
    Skill,
    /// A tool of an MCP server.
    Mcp,
    /// Looks at or makes an image.
    Image,
    /// Everything else.
    Other,
}

impl Kind {
    /// The word used in output and in filters.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Shell => "shell",
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Edit => "edit",
            Kind::Search => "search",
            Kind::List => "list",
            Kind::Todo => "todo",
            Kind::Plan => "plan",
            Kind::Subagent => "subagent",
            Kind::Task => "task",
            Kind::Question => "question",
            Kind::WebSearch => "web_search",
            Kind::WebFetch => "web_fetch",
            Kind::Skill => "skill",
            Kind::Mcp => "mcp",
            Kind::Image => "image",
            Kind::Other => "other",
        }
    }
}
