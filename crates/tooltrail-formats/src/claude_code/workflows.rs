//! Workflows: a call starts a run, whose members are agents without calls of their own. Files beside the logs say how both ended.
//!
//! `<session>/workflows/wf_<run>.json` is written when a run is over; `subagents/workflows/wf_<run>/journal.jsonl` has a line for the
//! result of each member. Their shapes are those that other programs read; no real ones were seen.

use super::outcome::task_state;
use crate::Sink;
use std::path::{Path, PathBuf};
use tooltrail_model::event::{TaskNews, TaskState};
use tooltrail_model::{At, Event, Fact, Scope};
use tooltrail_skim::{Raw, Skim};

/// The journal beside the logs of a run's members.
pub(super) const JOURNAL: &str = "journal.jsonl";

/// The directory of files about runs, in that of a session.
pub(super) const DIRECTORY: &str = "workflows";

/// The most runs of a session that are looked at.
const RUNS: usize = 64;

/// The files about runs that are over, by name, for a session with this directory.
pub(super) fn runs(side: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(side.join(DIRECTORY)).into_iter().flatten().flatten();
    let named = entries.filter(|entry| run_of(&entry.file_name().to_string_lossy()).is_some());
    let mut found: Vec<PathBuf> = named.map(|entry| entry.path()).take(RUNS).collect();
    // A directory has no order, and the same log has to be read in the same way each time.
    found.sort();
    found
}

/// The run that a file is about, by its name.
fn run_of(name: &str) -> Option<&str> {
    name.strip_suffix(".json").filter(|run| run.starts_with("wf_"))
}

/// Decodes one of these files. `false` if it is another one.
pub(super) fn decode(name: &str, bytes: &[u8], out: &mut Sink<'_>) -> bool {
    let mut say = |id: &str, state: TaskState| {
        let news = TaskNews { id: Some(id.into()), call: None, poll: None, state, exit_code: None };
        out(Event { at: At::default(), time: None, scope: &Scope::default(), fact: Fact::Restated(news) });
    };
    if let Some(run) = run_of(name) {
        let mut state = None;
        // The file may be in the middle of being written.
        let _ = Skim::new(bytes).object(|key, value| {
            if key.as_bytes() == b"status" {
                state = value.string().map(|status| task_state(&status.text()));
            }
            Ok(())
        });
        state.into_iter().for_each(|state| say(run, state));
        return true;
    }
    if name != JOURNAL {
        return false;
    }
    for line in bytes.split(|&byte| byte == b'\n') {
        let (mut ended, mut agent) = (false, None);
        let _ = Skim::new(line).object(|key, value| {
            match key.as_bytes() {
                b"type" => ended = value.string().is_some_and(|kind| kind == *"result"),
                b"agentId" => agent = value.string().map(Raw::text),
                _ => {}
            }
            Ok(())
        });
        agent.filter(|_| ended).into_iter().for_each(|agent| say(&agent, TaskState::Completed));
    }
    true
}
