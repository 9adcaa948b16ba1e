//! When agents delete logs: a fixed time after the last write, set in the agent's settings.
//!
//! Claude Code deletes when it starts, so a log may live longer than this, never shorter. Settings of a project or of an administrator are
//! not read.

use crate::find::read_small;
use crate::{FORMATS, Places};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tooltrail_model::Time;

/// The largest settings file that is read; a larger one is not an agent's.
const MOST: u64 = 4 << 20;

/// How long agents leave logs lying, read once for some places.
#[derive(Clone, Debug, Default)]
pub struct Retention {
    /// Directories in which logs are deleted, and after how long.
    rules: Vec<(PathBuf, Duration)>,
}

impl Retention {
    /// Reads what the agents' settings say.
    pub fn read(places: &[Places]) -> Self {
        let mut rules = Vec::new();
        for format in FORMATS {
            for root in places.iter().flat_map(|places| format.roots(places)) {
                // Where nothing says how long logs stay, none is known to be deleted.
                let Some(settings) = format.settings(&root) else { continue };
                let settings = read_small(&settings, MOST);
                rules.extend(format.lifetime(settings.as_deref()).map(|lifetime| (root, lifetime)));
            }
        }
        Retention { rules }
    }

    /// The shortest time that an agent leaves logs lying; nothing if none deletes any.
    pub fn shortest(&self) -> Option<Duration> {
        self.rules.iter().map(|(_, lifetime)| *lifetime).min()
    }

    /// When a log is deleted that was last written at a moment; nothing if it never is.
    pub fn deleted_at(&self, path: &Path, written: Time) -> Option<Time> {
        let (_, lifetime) = self.rules.iter().find(|(root, _)| path.starts_with(root))?;
        // A lifetime beyond the range of times is as good as none.
        let micros = i64::try_from(lifetime.as_micros()).ok()?;
        Time::from_microsecond(written.as_microsecond().checked_add(micros)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;
    use std::fs;

    #[test]
    fn logs_are_deleted_when_the_settings_say() -> Result<(), Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let places = [Places { home: Some(home.path().to_owned()), ..Places::default() }];
        let log = home.path().join(".claude/projects/p/s.jsonl");
        let written: Time = "2026-03-01T00:00:00Z".parse()?;
        let deleted = |log: &Path| Retention::read(&places).deleted_at(log, written).map(|time| time.to_string());
        let after = |day: &str| Some(format!("{day}T00:00:00.000Z"));
        assert_eq!(deleted(&log), after("2026-03-31"));
        fs::create_dir(home.path().join(".claude"))?;
        for (settings, expected) in [
            ("{\"cleanupPeriodDays\":1}", after("2026-03-02")),
            ("{\"env\":{\"cleanupPeriodDays\":1},\"cleanupPeriodDays\":60}", after("2026-04-30")),
            ("{}", after("2026-03-31")),
            ("{\"cleanupPeriodDays\":\"5\"}", after("2026-03-31")),
            ("{\"cleanupPeriodDays\":-5}", after("2026-03-31")),
            ("no settings at all", after("2026-03-31")),
            ("{\"cleanupPeriodDays\":10,", after("2026-03-11")),
            ("{\"cleanupPeriodDays\":0}", None),
            ("{\"cleanupPeriodDays\":99999999999}", None),
        ] {
            fs::write(home.path().join(".claude/settings.json"), settings)?;
            assert_eq!(deleted(&log), expected, "{settings}");
        }
        // Nothing is known about the desktop application.
        assert_eq!(deleted(&home.path().join(".config/Claude/local-agent-mode-sessions/a/local_1/.claude/projects/p/s.jsonl")), None);
        // Codex deletes nothing, and logs outside the roots are left alone.
        assert_eq!(deleted(&home.path().join(".codex/sessions/a.jsonl")), None);
        assert_eq!(deleted(Path::new("/elsewhere/s.jsonl")), None);
        Ok(())
    }
}
