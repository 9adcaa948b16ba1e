//! Claude Desktop: where its sessions lie, and the files in which it describes them.
//!
//! Its local agent mode keeps a configuration directory for each session, `local-agent-mode-sessions/**/local_<id>/.claude`, with logs like
//! those of Claude Code. Its Code tab runs Claude Code itself. Both are described in files of their own, `local_<id>.json`: the title that
//! the person sees, and whether the session was archived. All of this rests on other programs that read these files, not on real ones.

use super::record::ClaudeRecord;
use crate::{Places, Sink};
use std::path::{Path, PathBuf};
use tooltrail_model::event::{Meta, TitleBy};
use tooltrail_model::{Event, Fact, Scope, Time};
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// The directory of the local agent mode, and that of the Code tab.
const SESSIONS: [&str; 2] = ["local-agent-mode-sessions", "claude-code-sessions"];

/// Directories of the local agent mode that hold files of the person or of plugins, sometimes very many.
const OTHER: [&str; 5] = ["uploads", "outputs", "cowork_plugins", "skills-plugin", "node_modules"];

/// The directories with logs and descriptions. Those of other systems only where they exist, as in a home that was copied.
pub(super) fn roots(places: &Places, xdg: Option<&Path>) -> Vec<PathBuf> {
    let Some(home) = &places.home else { return Vec::new() };
    let linux = xdg.map_or_else(|| home.join(".config"), Path::to_owned).join("Claude");
    let mac = home.join("Library/Application Support/Claude");
    let windows = home.join("AppData/Roaming/Claude");
    let mut bases = vec![(cfg!(target_os = "macos"), mac), (cfg!(windows), windows)];
    bases.push((!cfg!(any(target_os = "macos", windows)), linux));
    bases.extend(store_apps(home).map(|base| (false, base)));
    let own = |(native, base): (bool, PathBuf)| (native || base.is_dir()).then_some(base);
    let bases = bases.into_iter().filter_map(own);
    bases.flat_map(|base| SESSIONS.map(|name| base.join(name))).collect()
}

/// The directories of an installation from the Windows store: `Packages/Claude_<publisher>`.
fn store_apps(home: &Path) -> impl Iterator<Item = PathBuf> {
    let packages = std::fs::read_dir(home.join("AppData/Local/Packages")).into_iter().flatten().flatten();
    let ours = packages.filter(|entry| entry.file_name().to_string_lossy().starts_with("Claude_"));
    ours.map(|entry| entry.path().join("LocalCache/Roaming/Claude"))
}

/// Whether a file is a description of a session, by its path.
pub(super) fn is_description(path: &Path) -> bool {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("local_") && name.ends_with(".json"));
    named && path.ancestors().skip(1).any(|above| above.file_name().is_some_and(|name| SESSIONS.iter().any(|known| name == *known)))
}

/// Whether a directory or a `.jsonl` of these places belongs to no log: what the person or a plugin put there.
pub(super) fn is_foreign(path: &Path) -> bool {
    let mut parts = path.components().map(|part| part.as_os_str());
    if !parts.any(|part| part == SESSIONS[0]) {
        return false;
    }
    let (mut configured, mut inside) = (false, false);
    for part in parts {
        // Below `.claude/projects` everything is the agent's own.
        if inside {
            return false;
        }
        inside = configured && part == "projects";
        configured = part == ".claude";
        if OTHER.iter().any(|other| part == *other) {
            return true;
        }
    }
    !inside && path.extension().is_some_and(|end| end == "jsonl")
}

/// Whether a file that begins like this describes a session.
pub(super) fn is_document(head: &[u8]) -> bool {
    const KEY: &[u8] = b"\"cliSessionId\"";
    let near = |length: usize| &head[..head.len().min(length)];
    // Nearly every file is a log, which the first keys show.
    if !head.trim_ascii_start().starts_with(b"{") || described(near(1 << 12)).is_none() {
        return false;
    }
    // Other documents are searched for the word first, which is faster than parsing them.
    memchr::memmem::find(near(1 << 16), KEY).is_some() && described(head) == Some(true)
}

/// Whether an object has the key of a description; `None` if it is a record of a log. It may break off.
fn described(object: &[u8]) -> Option<bool> {
    let (mut names, mut record) = (false, false);
    let _ = Skim::new(object).object(|key, value| {
        names |= key.as_bytes() == b"cliSessionId";
        record = matches!(key.as_bytes(), b"type" | b"uuid" | b"message" | b"payload");
        if record { Err(Torn { at: value.position() }) } else { Ok(()) }
    });
    (!record).then_some(names)
}

/// The one record of a description, and whether it is whole.
pub(super) fn document(bytes: &[u8]) -> (Vec<std::ops::Range<usize>>, bool) {
    let mut skim = Skim::new(bytes);
    let whole = skim.peek() == Some(Type::Object) && skim.skip().is_ok() && skim.finished();
    (whole.then_some(0..bytes.len()).into_iter().collect(), whole)
}

/// The description of a session: it names the session, which has its logs elsewhere.
#[derive(Debug, Default)]
pub(super) struct Description<'r> {
    pub(super) session: Option<Raw<'r>>,
    pub(super) title: Option<Raw<'r>>,
    pub(super) archived: bool,
    /// When something last happened in it, in milliseconds.
    pub(super) active: Option<i64>,
}

/// Emits the facts of a description. `false` if the record is none.
pub(super) fn facts(record: &ClaudeRecord<'_>, out: &mut Sink<'_>) -> bool {
    let described = record.rare().filter(|_| record.kind.is_none()).map(|rare| &rare.description);
    let Some((described, session)) = described.and_then(|described| Some((described, described.session?))) else { return false };
    let scope = Scope { session: Some(session.decoded_bytes()), ..Scope::default() };
    let time = described.active.and_then(Time::from_millisecond);
    let mut say = |fact| out(Event { at: record.record.at, time, scope: &scope, fact });
    say(Fact::Record { name: "?".into(), known: true });
    say(Fact::Meta(Meta::Beside));
    if let Some(title) = described.title.map(|title| title.head(super::author::HEAD)).filter(|title| !title.trim().is_empty()) {
        say(Fact::Meta(Meta::Title(TitleBy::Person, title)));
    }
    if described.archived {
        say(Fact::Meta(Meta::Archived));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_logs_of_the_agent_count_among_the_files_of_the_local_agent_mode() {
        let base = Path::new("/h/.config/Claude/local-agent-mode-sessions/a/b/local_1");
        let foreign = |path: &str| is_foreign(&base.join(path));
        assert!(!foreign(".claude/projects/-srv-app/5f0e.jsonl"));
        assert!(!foreign(".claude/projects/-srv-outputs/outputs/5f0e.jsonl"));
        assert!(foreign("audit.jsonl"));
        assert!(foreign("uploads/notes.jsonl"));
        assert!(foreign("node_modules"));
        assert!(!foreign(".claude"));
        assert!(!is_foreign(Path::new("/h/.claude/projects/outputs/5f0e.jsonl")));
        assert!(is_description(Path::new("/h/.config/Claude/claude-code-sessions/a/b/local_1.json")));
        assert!(!is_description(Path::new("/h/.config/Claude/other/local_1.json")));
    }

    #[test]
    fn a_description_is_told_from_a_log_that_mentions_one() {
        assert!(is_document(b"{\n \"sessionId\": \"local_1\",\n \"cliSessionId\": \"5f0e\",\n \"title\": \"x\"}"));
        assert!(!is_document(br#"{"type":"user","message":{"content":"what is \"cliSessionId\"?"}}"#));
        assert!(!is_document(br#"{"type":"user","cliSessionId":"5f0e"}"#));
        assert!(!is_document(b""));
    }
}
