//! Kinds of tools, across agents.

use crate::status::words;

words! {
    /// Kind of tool, whatever its agent calls it.
    Kind {
        /// Runs a command.
        Shell => "shell",
        /// Reads a file.
        Read => "read",
        /// Writes a whole file.
        Write => "write",
        /// Changes part of a file.
        Edit => "edit",
        /// Looks for files or text.
        Search => "search",
        /// Lists a directory.
        List => "list",
        /// Keeps a list of things to do.
        Todo => "todo",
        /// Proposes or leaves a plan.
        Plan => "plan",
        /// Starts or steers another agent.
        Subagent => "subagent",
        /// Looks at or stops a background task.
        Task => "task",
        /// Asks the person.
        Question => "question",
        /// Searches the web.
        WebSearch => "web_search",
        /// Reads a page of the web.
        WebFetch => "web_fetch",
        /// Loads instructions.
        Skill => "skill",
        /// Runs a program that calls other tools.
        Script => "script",
        /// A tool of an MCP server.
        Mcp => "mcp",
        /// Looks at or makes an image.
        Image => "image",
        /// Everything else.
        Other => "other",
    }
}

impl Default for Kind {
    /// The kind of a tool of which nothing is known.
    fn default() -> Self {
        Kind::Other
    }
}
