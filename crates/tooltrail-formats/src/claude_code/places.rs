//! The places where Claude Code keeps its logs, and the meaning of their paths.
//!
//! `projects/<slug>/<session>.jsonl` is a session, `<session>/subagents/agent-<id>.jsonl` (older: `agent-<id>.jsonl` beside
//! the session) a subagent, `subagents/workflows/<run>/agent-<id>.jsonl` a member of a workflow. The slug loses information and
//! is never decoded; the directory comes from the records.

use super::workflows;
use crate::{Places, Registered, Sink};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tooltrail_model::assemble::SourceOrigin;
use tooltrail_model::event::{Claim, ClaimBy, Meta, TaskNews, TaskState, TitleBy};
use tooltrail_model::link::Live;
use tooltrail_model::{At, Event, Fact, Scope};
use tooltrail_skim::Skim;

/// Names the session beside whose log it lies.
const TITLE: &str = "custom-title.json";

/// One directory, or several separated by commas.
const CONFIG: &str = "CLAUDE_CONFIG_DIR";
pub(super) const XDG_CONFIG: &str = "XDG_CONFIG_HOME";

/// The variables that say where the configuration directories are.
pub(super) const VARIABLES: &[&str] = &[CONFIG, XDG_CONFIG];

/// The directories that [`CONFIG`] names.
fn configured(places: &Places) -> Vec<PathBuf> {
    let list = places.variable(CONFIG).and_then(|list| list.to_str()).unwrap_or_default();
    list.split(',').map(str::trim).filter(|path| !path.is_empty()).map(PathBuf::from).collect()
}

/// Directories that are elsewhere than in the home, with their names there.
pub(super) fn moved(places: &Places) -> Vec<(PathBuf, &'static str)> {
    let own = configured(places).into_iter().map(|path| (path, ".claude"));
    own.chain(places.variable(XDG_CONFIG).map(|path| (PathBuf::from(path), ".config"))).collect()
}

/// The configuration directories.
pub(super) fn roots(places: &Places) -> Vec<PathBuf> {
    // A list without a path names no directory, and does not fall back to the usual ones either.
    if places.variable(CONFIG).and_then(|list| list.to_str()).is_some_and(|list| !list.trim().is_empty()) {
        return configured(places);
    }
    let home = places.home.as_ref();
    let xdg = places.variable(XDG_CONFIG).map(PathBuf::from).or_else(|| home.map(|home| home.join(".config")));
    home.map(|home| home.join(".claude")).into_iter().chain(xdg.map(|xdg| xdg.join("claude"))).collect()
}

fn subagent_of(stem: &str) -> Option<&str> {
    stem.strip_prefix("agent-").filter(|id| !id.is_empty())
}

pub(super) fn origin(path: &Path) -> SourceOrigin {
    let text = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = text(path.file_stem());
    let mut above = path.ancestors().skip(1);
    let parent = above.next().map(|path| text(path.file_name())).unwrap_or_default();
    let Some(subagent) = subagent_of(&stem).map(str::to_owned) else {
        return SourceOrigin { agent: Some("claude"), session: stem, ..SourceOrigin::default() };
    };
    // The session's directory is the one that holds `subagents`; members of a workflow lie two levels deeper than plain subagents.
    let session = path.ancestors().find(|path| path.file_name().is_some_and(|name| name == "subagents"));
    let session = session.and_then(Path::parent).map(|path| text(path.file_name()));
    let group = (above.next().is_some_and(|path| path.file_name().is_some_and(|name| name == "workflows"))).then_some(parent);
    SourceOrigin { agent: Some("claude"), session: session.unwrap_or(stem), subagent: Some(subagent), group }
}

/// Where sidecars are, or the directory of some of them.
pub(super) fn sidecar_places(path: &Path) -> Vec<PathBuf> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    if subagent_of(&stem).is_some() {
        return sidecars(path);
    }
    let side = path.with_extension("");
    vec![side.join(TITLE), side.join(workflows::DIRECTORY)]
}

pub(super) fn sidecars(path: &Path) -> Vec<PathBuf> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let side = path.with_extension("");
    if subagent_of(&stem).is_none() {
        return std::iter::once(side.join(TITLE)).chain(workflows::runs(&side)).collect();
    }
    let own = ["meta.json", "forked-skill.json", "forked-skill.marker.json"].map(|end| path.with_extension(end));
    own.into_iter().chain(origin(path).group.map(|_| path.with_file_name(workflows::JOURNAL))).collect()
}

/// `file-history/<session>`, where copies of files are kept, for a log below `projects/<slug>`.
pub(super) fn backups(path: &Path) -> Option<PathBuf> {
    // At least two levels up: the log is in a project's directory.
    let projects = path.ancestors().skip(2).find(|above| above.file_name().is_some_and(|name| name == "projects"))?;
    let session = origin(path).session;
    // A session's name comes from a path; one with separators could lead elsewhere.
    let plain = Path::new(&session).file_name().is_some_and(|name| name == session.as_str());
    plain.then(|| projects.parent().map(|root| root.join("file-history").join(session)))?
}

/// `agent-<id>.meta.json` names the call that started the agent, and says if it was stopped; `custom-title.json` names the session.
/// `agent-<id>.forked-skill.json` names the skill that an agent runs.
pub(super) fn decode_sidecar(path: &Path, bytes: &[u8], out: &mut Sink<'_>) {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if workflows::decode(&name, bytes, out) {
        return;
    }
    let (mut call, mut title, mut skill, mut stopped) = (None, None, None, false);
    // A sidecar that is being written may break off.
    let _ = Skim::new(bytes).object(|key, value| {
        match key.as_bytes() {
            b"toolUseId" => call = value.string(),
            b"customTitle" => title = value.string(),
            b"skillName" => skill = value.string(),
            b"stoppedByUser" => stopped = value.bool() == Some(true),
            _ => {}
        }
        Ok(())
    });
    let mut say = |fact| out(Event { at: At::default(), time: None, scope: &Scope::default(), fact });
    let agent = name.strip_suffix(".meta.json").and_then(subagent_of);
    match (agent, call, title) {
        (Some(agent), Some(call), _) => say(Fact::Claim(Claim { agent: agent.into(), call: call.text(), by: ClaimBy::Sidecar })),
        (None, _, Some(title)) => say(Fact::Meta(Meta::Title(TitleBy::Person, title.text()))),
        _ => {}
    }
    if let Some(skill) = skill.filter(|_| name.contains(".forked-skill.")) {
        say(Fact::Meta(Meta::Skill(skill.digest())));
    }
    // The call is not named: if it waited for the agent, it has a result of its own.
    if let Some(agent) = agent.filter(|_| stopped) {
        say(Fact::Task(TaskNews { id: Some(agent.into()), call: None, poll: None, state: TaskState::Stopped, exit_code: None }));
    }
}

/// `cleanupPeriodDays`: how old logs may get. Where it is 0 nothing is cleaned up, and newer versions write no logs either.
pub(super) fn lifetime(settings: Option<&[u8]>) -> Option<Duration> {
    const DEFAULT: u64 = 30;
    let mut days = DEFAULT;
    let _ = Skim::new(settings.unwrap_or_default()).object(|key, value| {
        if key.as_bytes() == b"cleanupPeriodDays" {
            // A negative or fractional number is a mistake in the settings, and the default applies.
            days = value.int().and_then(|days| u64::try_from(days).ok()).unwrap_or(DEFAULT);
        }
        Ok(())
    });
    (days > 0).then(|| Duration::from_secs(days.saturating_mul(24 * 60 * 60)))
}

/// `sessions/<pid>.json`, written while a session runs. Key files beside them are never opened.
pub(super) fn registry(places: &Places) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for root in roots(places) {
        let Ok(entries) = std::fs::read_dir(root.join("sessions")) else { continue };
        files.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json")));
    }
    files
}

pub(super) fn registered(bytes: &[u8]) -> Option<Registered> {
    let (mut session, mut pid, mut live) = (None, None, Live::Running);
    let read = Skim::new(bytes).object(|key, value| {
        match key.as_bytes() {
            b"sessionId" => session = value.string().map(|id| id.text().into_owned()),
            b"pid" => pid = value.uint().and_then(|pid| u32::try_from(pid).ok()),
            b"status" => {
                live = match value.string().map(|status| status.text()).as_deref() {
                    // Unknown words are newer states, in which the session runs all the same.
                    Some("waiting") => Live::Waiting,
                    Some("idle") => Live::Idle,
                    _ => Live::Running,
                };
            }
            _ => {}
        }
        Ok(())
    });
    read.ok()?;
    Some(Registered { session: session?, pid, live })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_sessions_from_subagents() {
        let of = |path: &str| {
            let origin = origin(Path::new(path));
            (origin.session, origin.subagent, origin.group)
        };
        assert_eq!(of("/h/projects/p/5f0e.jsonl"), ("5f0e".into(), None, None));
        assert_eq!(of("/h/projects/p/5f0e/subagents/agent-a01.jsonl"), ("5f0e".into(), Some("a01".into()), None));
        assert_eq!(of("/h/projects/p/agent-a01.jsonl"), ("agent-a01".into(), Some("a01".into()), None));
        let member = of("/h/projects/p/5f0e/subagents/workflows/wf_1-2/agent-a01.jsonl");
        assert_eq!(member, ("5f0e".into(), Some("a01".into()), Some("wf_1-2".into())));
    }

    #[test]
    fn both_places_are_looked_at_unless_one_is_named() {
        let mut places = Places { home: Some("/h".into()), ..Places::default() };
        assert_eq!(roots(&places), [PathBuf::from("/h/.claude"), PathBuf::from("/h/.config/claude")]);
        places.environment.insert(XDG_CONFIG, "/x".into());
        assert_eq!(roots(&places)[1], PathBuf::from("/x/claude"));
        places.environment.insert(CONFIG, "/a, /b".into());
        assert_eq!(roots(&places), [PathBuf::from("/a"), PathBuf::from("/b")]);
    }
}
