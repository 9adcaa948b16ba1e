//! The names of Claude Code's tools over time, and the family each belongs to.

use tooltrail_model::Kind;

/// The family of a tool.
pub(in super::super) fn kind(name: &str) -> Kind {
    match name {
        "Bash" | "PowerShell" => Kind::Shell,
        "Read" | "NotebookRead" | "ReadMcpResourceTool" => Kind::Read,
        "Write" => Kind::Write,
        "Edit" | "MultiEdit" | "NotebookEdit" => Kind::Edit,
        "Grep" | "Glob" | "LSP" | "ToolSearch" => Kind::Search,
        "LS" | "ListMcpResourcesTool" | "ReadMcpResourceDirTool" => Kind::List,
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" => Kind::Todo,
        "ExitPlanMode" | "EnterPlanMode" | "exit_plan_mode" => Kind::Plan,
        "Task" | "Agent" | "Workflow" | "SendMessage" | "SubagentHandback" | "TeamCreate" | "TeamDelete" | "ListAgents" => Kind::Subagent,
        "BashOutput" | "BashOutputTool" | "AgentOutputTool" | "TaskOutput" | "KillBash" | "KillShell" | "TaskStop" | "Monitor" => {
            Kind::Task
        }
        "AskUserQuestion" => Kind::Question,
        "WebSearch" | "web_search" => Kind::WebSearch,
        "WebFetch" | "web_fetch" => Kind::WebFetch,
        "Skill" | "SlashCommand" => Kind::Skill,
        _ if name.starts_with("mcp__") => Kind::Mcp,
        _ => Kind::Other,
    }
}

/// The MCP server in `mcp__server__tool`. A server's name may hold `__` itself; without a list of servers the first one ends it.
pub(in super::super) fn server(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("mcp__")?;
    let end = rest.find("__").filter(|&end| end > 0)?;
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_from_names() {
        assert_eq!(server("mcp__github__search_issues"), Some("github"));
        assert_eq!(server("mcp__only"), None);
        assert_eq!(server("Bash"), None);
        assert_eq!(kind("mcp__github__search_issues"), Kind::Mcp);
    }
}
