//! The meaning of a tool's name: its namespace, its family, the MCP server that offers it. The names themselves are in `TOOLS`.

use crate::served;
use std::borrow::Cow;
use tooltrail_model::Kind;

/// A tool's name as it is shown: the namespace, where there is one, and the name.
pub(in crate::codex) fn full_name<'r>(namespace: Option<Cow<'r, str>>, name: Cow<'r, str>) -> Cow<'r, str> {
    match namespace {
        // The name may contain the namespace already.
        Some(space) if name.starts_with(&*space) => name,
        Some(space) => Cow::Owned(format!("{}__{name}", space.trim_end_matches('_'))),
        None => name,
    }
}

/// Whether a name is that of an MCP server's tool.
pub(super) fn is_mcp(tool: &str) -> bool {
    tool.starts_with("mcp__")
}

/// The family of a tool.
pub(in crate::codex) fn kind(tool: &str, input: &[u8]) -> Kind {
    if is_mcp(tool) {
        return served::split(tool, None).and_then(|(server, name)| served::kind(server, name, input)).unwrap_or(Kind::Mcp);
    }
    // Programs around Codex offer tools in the other agent's spelling.
    super::find(tool).map(|tool| tool.kind).or_else(|| crate::claude_code::tool_kind(tool)).unwrap_or(Kind::Other)
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
        assert_eq!(kind("collaboration__spawn_agent", b"{}"), Kind::Subagent);
        assert_eq!(kind("multi_agent_v1__wait", b"{}"), Kind::Task);
        assert_eq!(kind("mcp__github__exec", b"{}"), Kind::Mcp);
        assert_eq!(server("mcp__github__exec"), Some("github"));
        assert_eq!(kind("something_new", b"{}"), Kind::Other);
    }

    #[test]
    fn a_name_is_listed_once() {
        let mut names: Vec<&str> = super::super::TOOLS.iter().flat_map(|tool| tool.names).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
