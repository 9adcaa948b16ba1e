//! The names of Codex's tools over time, and the family each belongs to.

use std::borrow::Cow;
use tooltrail_model::Kind;

/// A tool's name as it is shown: the namespace, where there is one, and the name.
pub(in crate::codex) fn full_name<'r>(namespace: Option<Cow<'r, str>>, name: Cow<'r, str>) -> Cow<'r, str> {
    match namespace {
        Some(space) if name.starts_with(&*space) => name,
        Some(space) => Cow::Owned(format!("{}__{name}", space.trim_end_matches('_'))),
        None => name,
    }
}

/// The family of a tool.
pub(in crate::codex) fn kind(tool: &str) -> Kind {
    if tool.starts_with("mcp__") {
        return Kind::Mcp;
    }
    // What stands before the last `__` is a namespace.
    let name = tool.rsplit_once("__").map_or(tool, |(_, name)| name);
    match name {
        "shell" | "shell_command" | "exec_command" | "local_shell" | "local_shell_call" | "container.exec" | "exec" | "js_repl" => {
            Kind::Shell
        }
        "write_stdin" | "wait" | "wait_agent" | "list_agents" | "close_agent" | "interrupt_agent" => Kind::Task,
        "spawn_agent" | "send_input" | "send_message" | "resume_agent" | "followup_task" => Kind::Subagent,
        "apply_patch" => Kind::Edit,
        "read_file" | "read_mcp_resource" => Kind::Read,
        "grep_files" | "tool_search" | "tool_search_call" => Kind::Search,
        "list_dir" | "list_mcp_resources" | "list_mcp_resource_templates" => Kind::List,
        "update_plan" | "get_goal" | "create_goal" | "update_goal" => Kind::Todo,
        "request_user_input" | "request_permissions" => Kind::Question,
        "web_search" | "web_search_call" => Kind::WebSearch,
        "view_image" | "image_generation" | "image_generation_call" => Kind::Image,
        _ => Kind::Other,
    }
}

/// The MCP server in `mcp__server__tool`.
pub(in crate::codex) fn server(tool: &str) -> Option<&str> {
    let rest = tool.strip_prefix("mcp__")?;
    let end = rest.find("__").filter(|&end| end > 0)?;
    Some(&rest[..end])
}

/// The tool behind an item or event that names none.
pub(in crate::codex) fn of_end(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "exec_command_end" | "CommandExecution" => "exec_command",
        "patch_apply_end" | "FileChange" => "apply_patch",
        "web_search_end" | "WebSearch" => "web_search_call",
        "image_generation_end" | "ImageGeneration" => "image_generation_call",
        "view_image_tool_call" | "ImageView" => "view_image",
        "collab_agent_spawn_end" | "spawnAgent" => "spawn_agent",
        "collab_agent_interaction_end" | "sendInput" => "send_input",
        "collab_waiting_end" => "wait",
        "collab_close_end" | "closeAgent" => "close_agent",
        "collab_resume_end" | "resumeAgent" => "resume_agent",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_namespace_in_front() {
        let full = |space: Option<&'static str>, name: &'static str| full_name(space.map(Cow::Borrowed), name.into()).into_owned();
        assert_eq!(full(None, "exec_command"), "exec_command");
        assert_eq!(full(Some("mcp__db"), "query"), "mcp__db__query");
        assert_eq!(full(Some("mcp__db__"), "query"), "mcp__db__query");
        assert_eq!(full(Some("mcp__db"), "mcp__db__query"), "mcp__db__query");
        assert_eq!(full(Some("collaboration"), "spawn_agent"), "collaboration__spawn_agent");
    }

    #[test]
    fn families_do_not_depend_on_the_namespace() {
        assert_eq!(kind("collaboration__spawn_agent"), Kind::Subagent);
        assert_eq!(kind("multi_agent_v1__wait"), Kind::Task);
        assert_eq!(kind("mcp__github__exec"), Kind::Mcp);
        assert_eq!(server("mcp__github__exec"), Some("github"));
        assert_eq!(kind("something_new"), Kind::Other);
    }
}
