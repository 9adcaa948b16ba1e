//! The meaning of a tool's name: its family, and the MCP server that offers it. The names themselves are in `TOOLS`.

use crate::served;
use tooltrail_model::Kind;

/// The family of a tool. Of a server's tool the input counts, too: it is read only where the name is a shell's or a file tool's.
pub(in super::super) fn kind(name: &str, input: &[u8]) -> Kind {
    match super::find(name) {
        Some(tool) => tool.kind,
        None if name.starts_with("mcp__") => {
            served::split(name, None).and_then(|(server, tool)| served::kind(server, tool, input)).unwrap_or(Kind::Mcp)
        }
        None => Kind::Other,
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
        assert_eq!(kind("mcp__github__search_issues", b"{}"), Kind::Mcp);
    }

    #[test]
    fn a_name_is_listed_once() {
        let mut names: Vec<&str> = super::super::TOOLS.iter().flat_map(|tool| tool.names).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!((kind("Bash", b""), kind("SomethingNew", b"")), (Kind::Shell, Kind::Other));
    }
}
