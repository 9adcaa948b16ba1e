//! The catalogue as it was at one moment, so that unchanged logs need not be read.
//!
//! A [`CatalogueBaseline`] keeps seeing the same rows, whatever other processes write meanwhile: the state of a log before its last change
//! can still be loaded, to compare with. Data that fails its checks is not used; then the logs are read, as if there were no catalogue.

pub(super) use crate::store::read::SourceInfo;
use crate::store::{Packed, may_have, read};
use crate::{Map, Set};
use rusqlite::Connection;
use std::io::Read;
use std::path::Path;
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options};
use tooltrail_model::event::Id;
use tooltrail_model::link::{SessionPlace, Source, Ties};
use tracing::{debug, warn};

/// A catalogue at one moment.
#[derive(Debug)]
pub(super) struct CatalogueBaseline {
    connection: Connection,
    epoch: i64,
}

impl CatalogueBaseline {
    /// Opens the current state of a catalogue; `None` if there is none that this version made and can read.
    pub(super) fn open(path: &Path) -> Option<Self> {
        // Not a warning: before the first refresh there is no catalogue.
        let level = |error: &rusqlite::Error| debug!(?path, %error, "no index to start from");
        let connection = read::snapshot(path).inspect_err(level).ok()?;
        let epoch = survived(read::epoch(&connection))?;
        Some(CatalogueBaseline { connection, epoch })
    }

    /// How often the catalogue had been written.
    pub(super) fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The sources whose files existed, by path.
    pub(super) fn sources(&self) -> Option<Map<String, SourceInfo>> {
        let mut sources = survived(read::sources(&self.connection))?;
        sources.retain(|_, stored| !stored.gone);
        Some(sources)
    }

    /// Passes on the ties of some sources, by bundle number; `None` if those of any source are missing or damaged.
    pub(super) fn ties(&self, of: &Map<i64, u32>, mut each: impl FnMut(u32, Ties)) -> Option<()> {
        let mut left: Set<i64> = of.keys().copied().collect();
        let take = |source: i64, ties: Option<Ties>| {
            if let (Some(number), Some(ties)) = (of.get(&source), ties) {
                left.remove(&source);
                each(*number, ties);
            }
        };
        survived(read::ties(&self.connection, take))?;
        left.is_empty().then_some(())
    }

    /// Passes on the sessions that each source belongs to; `None` if they cannot be read.
    pub(super) fn sessions(&self, each: impl FnMut(i64, &'static str, &str, SessionPlace)) -> Option<()> {
        survived(read::session_sources(&self.connection, each))
    }

    /// Loads a source; `None` if its summary is damaged.
    pub(super) fn source(&self, path: &str, stored: &SourceInfo) -> Option<Source> {
        let summary = survived(read::summary(&self.connection, stored.id))??;
        let packed = Packed { path: path.to_owned(), agent: stored.agent.clone(), modified: stored.modified, summary };
        packed.unpack().inspect_err(|error| warn!(?path, error = %ErrorChain(error), "a stored summary is damaged")).ok()
    }

    /// Whether a source may contain any of some records. A damaged one may.
    pub(super) fn may_have(&self, stored: &SourceInfo, records: &Set<Id>) -> bool {
        let packed = survived(read::summary(&self.connection, stored.id)).flatten();
        packed.is_none_or(|packed| records.iter().any(|record| may_have(&packed, *record)))
    }
}

/// The result of a query. An error is only logged, because the logs can be read instead.
fn survived<T>(answer: rusqlite::Result<T>) -> Option<T> {
    answer.inspect_err(|error| warn!(%error, "the index cannot be asked; reading the logs instead")).ok()
}

/// Reads a source from its log, up to the size that it had. That is its old state, unless the log was rewritten.
pub(super) fn read_again(path: &str, stored: &SourceInfo, options: &Options) -> Option<Source> {
    let disk = Disk::default();
    let failed = |error: &std::io::Error| warn!(?path, %error, "cannot read a log again");
    let grown = std::fs::metadata(path).inspect_err(failed).ok()?.len() > stored.stamp.size;
    // The size of a compressed log is not that of its content, so only a log that has grown is cut.
    let log = disk.log(path).inspect_err(failed).ok()?.take(if grown { stored.stamp.size } else { u64::MAX });
    let summary = scan::read(Path::new(path), log, options, &mut Buffer::default(), &Turns::default());
    Some(Source { path: path.into(), modified: stored.modified, summary })
}
