//! Codex: rollouts of one JSON object a line, under `sessions/YYYY/MM/DD/` of its home directory.
//!
//! What is claimed here rests on the agent's open source. Read so far: sessions, contexts, function and custom tool calls with
//! their outputs and exit codes, messages, token counts. Everything else is kept and counted.

mod records;

use crate::{Format, Places, Record, Sink};
use std::path::{Path, PathBuf};
use tooltrail_model::assemble::Origin;
use tooltrail_skim::{Skim, Torn, Type};

/// Codex.
pub(crate) struct Codex;

impl Format for Codex {
    fn agent(&self) -> &'static str {
        "codex"
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        let home = places.codex_home.clone().or_else(|| places.home.as_ref().map(|home| home.join(".codex")));
        home.into_iter().flat_map(|home| [home.join("sessions"), home.join("archived_sessions")]).collect()
    }

    fn sniff(&self, line: &[u8]) -> Option<bool> {
        let mut skim = Skim::new(line);
        if skim.peek() != Some(Type::Object) {
            return None;
        }
        let (mut known, mut payload) = (false, false);
        let _ = skim.object(|key, value| {
            match key.as_bytes() {
                b"type" => known = value.string().is_some_and(|name| records::is_known(&name.text())),
                b"payload" => payload = value.peek() == Some(Type::Object),
                _ => {}
            }
            Ok(())
        });
        (known && payload).then_some(true)
    }

    fn origin(&self, path: &Path) -> Origin {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        // rollout-2026-07-02T09-00-00-<thread id>, the id being the last five groups.
        let groups: Vec<&str> = stem.split('-').collect();
        let id = groups.len().checked_sub(5).filter(|_| stem.starts_with("rollout-")).map(|at| groups[at..].join("-"));
        Origin { agent: Some("codex"), session: id.unwrap_or(stem), ..Origin::default() }
    }

    fn decode(&self, record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn> {
        records::decode(record, out)
    }
}
