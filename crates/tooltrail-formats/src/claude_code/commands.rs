//! Commands that a person types to the agent: `/review src`, `!ls`. Some become a prompt for the model, others the program runs itself.
//!
//! A command that the program runs itself is no prompt: it names no session, begins no turn and is not what the person asked for. The log
//! shows it by the output that follows; [`LOCAL`] names those that may have none, or are typed while the model works.

use super::tasks::tag;

/// Commands that the program runs itself, by name. Commands that are prompts (`/init`, `/review`, skills) are not among them.
const LOCAL: &[&str] = &[
    "add-dir",
    "agents",
    "allowed-tools",
    "bashes",
    "branch",
    "btw",
    "bug",
    "chrome",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "copy",
    "cost",
    "desktop",
    "diff",
    "doctor",
    "effort",
    "exit",
    "export",
    "extra-usage",
    "fast",
    "feedback",
    "files",
    "fork",
    "help",
    "hooks",
    "ide",
    "install-github-app",
    "install-slack-app",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "migrate-installer",
    "mobile",
    "model",
    "new",
    "output-style",
    "permissions",
    "plugin",
    "plugins",
    "privacy-settings",
    "quit",
    "rate-limit-options",
    "release-notes",
    "reload-plugins",
    "remote-control",
    "remote-env",
    "rename",
    "reset",
    "resume",
    "rewind",
    "sandbox",
    "settings",
    "skills",
    "stats",
    "status",
    "tag",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "upgrade",
    "usage",
    "vim",
    "voice",
];

/// Commands that mean nothing to a model. Another program may send their bare name as a prompt; others, such as `/mcp`, the model answers then.
const SETTINGS: &[&str] = &["clear", "config", "exit", "model", "new", "quit", "reset"];

/// A command typed to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypedCommand {
    /// The line as it was typed.
    pub(super) line: String,
    /// Whether the program runs it itself, so that the model gets no prompt.
    pub(super) local: bool,
}

/// Reads a command from the tags that the program puts around it, or from a text that is nothing but a command's name.
pub(super) fn read(text: &str) -> Option<TypedCommand> {
    let text = text.trim();
    if is_bare(text) {
        // Sent as plain words by another program, so most are not known to be run by the agent.
        return Some(TypedCommand { line: text.to_owned(), local: SETTINGS.contains(&text.trim_start_matches('/')) });
    }
    // `!ls` has tags of its own, without a name.
    if text.starts_with("<bash-input>") {
        return Some(TypedCommand { line: format!("!{}", tag(text, "bash-input")?), local: true });
    }
    // Before the text is searched: a scan asks for every prompt, and nearly none is a command.
    if !["<command-name>", "<command-message>"].iter().any(|tag| text.starts_with(tag)) {
        return None;
    }
    let Some(name) = tag(text, "command-name") else {
        return Some(TypedCommand { line: tag(text, "command-message")?.to_owned(), local: false });
    };
    let arguments = tag(text, "command-args").unwrap_or("");
    let local = LOCAL.contains(&name.trim_start_matches('/'));
    Some(TypedCommand { line: format!("{name} {arguments}").trim().to_owned(), local })
}

/// Whether a text is a slash command as it was typed, with or without arguments: `/pr review`. A path is none.
pub(super) fn is_typed(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(is_bare)
}

/// Whether a text is the name of a slash command and nothing else.
fn is_bare(text: &str) -> bool {
    let name = text.strip_prefix('/').unwrap_or_default();
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
}

/// Whether a text is the output of a command that the program ran itself.
pub(super) fn is_output(text: &str) -> bool {
    let text = text.trim_start();
    is_unknown(text)
        || ["<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>"].iter().any(|tag| text.starts_with(tag))
}

/// Whether a text is the program's answer to a command that does not exist: `Unknown skill: int`.
pub(super) fn is_unknown(text: &str) -> bool {
    let name = ["Unknown skill: ", "Unknown slash command: "].iter().find_map(|beginning| text.trim().strip_prefix(beginning));
    // A person who asks about it uses more words.
    name.is_some_and(|name| !name.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_the_program_are_told_from_prompts() {
        let command = |text: &str| read(text).map(|command| (command.line, command.local));
        let tagged = |name: &str, arguments: &str| {
            format!("<command-name>{name}</command-name>\n<command-message>x</command-message>\n<command-args>{arguments}</command-args>")
        };
        assert_eq!(command(&tagged("/clear", "")), Some(("/clear".into(), true)));
        assert_eq!(command(&tagged("/model", "opus")), Some(("/model opus".into(), true)));
        assert_eq!(command(&tagged("/review", "src")), Some(("/review src".into(), false)));
        assert_eq!(command("<command-args>-v</command-args><command-name>/x</command-name>"), None);
        assert_eq!(command("<command-message>lint is running…</command-message>"), Some(("lint is running…".into(), false)));
        assert_eq!(command("<bash-input>ls</bash-input>"), Some(("!ls".into(), true)));
        assert_eq!(command("/mcp"), Some(("/mcp".into(), false)));
        assert_eq!(command("/clear"), Some(("/clear".into(), true)));
        assert_eq!(command("/model"), Some(("/model".into(), true)));
        assert_eq!(command("/mcp works?"), None);
        assert_eq!(command("/srv/app/notes.md"), None);
        assert!(is_output("Unknown skill: int") && is_output("<bash-stdout>x</bash-stdout>") && !is_output("Unknown skill: int, why?"));
        assert!(is_typed("/pr review") && is_typed("/team:pr") && !is_typed("/srv/app is gone") && !is_typed("fix /pr") && !is_typed("/"));
    }
}
