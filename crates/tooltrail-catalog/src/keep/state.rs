//! The state of a keep: whether logs are kept automatically, and when somebody last looked for logs to keep.
//!
//! It is replaced as a whole, and it is on the disk before its name is. That it cannot be read is an error: taken for `off`, it would cost
//! the logs that are deleted meanwhile.

use super::{Keep, KeepError, KeepOutcome, SOON, choose, sync_directory};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::time::Duration;
use tooltrail_formats::retention::Retention;
use tooltrail_model::Time;

/// Whether logs are kept automatically, and when they were kept last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepState {
    /// Whether they are. Without a default: a file that does not say so is damaged.
    pub on: bool,
    /// When logs were kept last, as the contracts spell times.
    #[serde(default)]
    pub last: Option<String>,
    /// When a command last found that nothing had to be kept, if that was later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
}

impl KeepState {
    /// When somebody last looked for logs to keep.
    pub fn looked(&self) -> Option<Time> {
        let time = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
        time(&self.last).max(time(&self.checked))
    }

    /// The time that is allowed to pass between two looks, if nobody has looked within it: a log that is written in between could be deleted
    /// without a copy.
    pub fn overdue(&self, retention: &Retention, now: Time) -> Option<Duration> {
        let lifetime = retention.shortest().filter(|_| self.on)?;
        // A log is kept at the latest when it has only so long to live.
        let allowed = lifetime.checked_sub(SOON).filter(|rest| !rest.is_zero()).unwrap_or(lifetime / 2);
        self.looked().is_none_or(|looked| looked.micros_until(now) > choose::micros(allowed)).then_some(lifetime)
    }
}

impl Keep {
    /// Whether logs are kept automatically. That it cannot be read is an error, and never means that they are not.
    pub fn state(&self) -> Result<KeepState, KeepError> {
        let path = self.directory.join("state.json");
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| KeepError::State { path, error: error.into() }),
            // Before `keep on` there is no such file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(KeepState::default()),
            Err(error) => Err(KeepError::State { path, error }),
        }
    }

    /// Stores when logs were kept. Not on a full disk: that is reported already, and must not hide which files were kept.
    pub(super) fn note(&self, outcome: &KeepOutcome, now: Time) -> Result<(), KeepError> {
        if outcome.is_over() {
            return Ok(());
        }
        self.write_state(&KeepState { last: Some(now.to_string()), checked: None, ..self.state()? })
    }

    /// Stores once a day that there was nothing to keep, so that this does not look as if nobody had looked.
    pub(super) fn note_check(&self, state: &KeepState, now: Time) -> Result<(), KeepError> {
        const DAY: i64 = 24 * 3_600_000_000;
        if state.looked().is_some_and(|looked| (0..DAY).contains(&looked.micros_until(now))) {
            return Ok(());
        }
        match self.lock(Duration::ZERO) {
            Err(KeepError::Busy { .. }) => Ok(()),
            // Read again: another process may have written it since.
            lock => lock.and_then(|_lock| self.write_state(&KeepState { checked: Some(now.to_string()), ..self.state()? })),
        }
    }

    pub(super) fn write_state(&self, state: &KeepState) -> Result<(), KeepError> {
        let path = self.directory.join("state.json");
        let write = || -> io::Result<()> {
            // Written beside and renamed, so that no reader sees half of it.
            let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
            serde_json::to_writer(&mut file, state)?;
            file.flush()?;
            // A name must never be on the disk before what it stands for.
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            sync_directory(&path)
        };
        write().map_err(|error| KeepError::Directory { path, error })
    }
}
