//! What a catalogue says of the logs, so that they need not be read to be known.
//!
//! A [`CatalogueBaseline`] is the catalogue of one moment. Whoever writes it meanwhile, it goes on saying what it said: what was told of a log that has
//! changed since can still be made again. Nothing is trusted that does not check; then the logs are read, as if there were no catalogue.

pub(super) use crate::store::read::SourceInfo;
use crate::store::{Packed, may_have, read};
use crate::{Map, Set};
use rusqlite::Connection;
use std::io::Read;
use std::path::Path;
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options};
use tooltrail_formats::shelf::{Disk, Shelf};
use tooltrail_model::event::Id;
use tooltrail_model::link::{Source, Ties};
use tracing::{debug, warn};

/// The catalogue of one moment.
#[derive(Debug)]
pub(super) struct CatalogueBaseline {
    connection: Connection,
    epoch: i64,
}

impl CatalogueBaseline {
    /// The catalogue in a file as it is now; nothing if there is none that this program made and can read.
    pub(super) fn open(path: &Path) -> Option<Self> {
        // Before the first refresh there is no catalogue.
        let level = |error: &rusqlite::Error| debug!(?path, %error, "no catalogue to start from");
        let connection = read::snapshot(path).inspect_err(level).ok()?;
        let epoch = survived(read::epoch(&connection))?;
        Some(CatalogueBaseline { connection, epoch })
    }

    /// How often the catalogue had been written.
    pub(super) fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The sources that were there, by path.
    pub(super) fn sources(&self) -> Option<Map<String, SourceInfo>> {
        let mut sources = survived(read::sources(&self.connection))?;
        sources.retain(|_, stored| !stored.gone);
        Some(sources)
    }

    /// The ties of some sources, by their numbers; nothing if those of any are not there.
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

    /// Gives the sessions that each source belongs to; nothing if that cannot be told.
    pub(super) fn sessions(&self, each: impl FnMut(i64, &'static str, &str)) -> Option<()> {
        survived(read::session_sources(&self.connection, each))
    }

    /// A source as it was; nothing if what is stored of it is damaged.
    pub(super) fn source(&self, path: &str, stored: &SourceInfo) -> Option<Source> {
        let summary = survived(read::summary(&self.connection, stored.id))??;
        let packed = Packed { path: path.to_owned(), agent: stored.agent.clone(), modified: stored.modified, summary };
        packed.unpack().inspect_err(|error| warn!(?path, error = %ErrorChain(error), "a stored summary is damaged")).ok()
    }

    /// Whether a source may have any of some records, as one that is damaged may.
    pub(super) fn may_have(&self, stored: &SourceInfo, records: &Set<Id>) -> bool {
        let packed = survived(read::summary(&self.connection, stored.id)).flatten();
        packed.is_none_or(|packed| records.iter().any(|record| may_have(&packed, *record)))
    }
}

/// An answer of the catalogue. Where it has none the logs are read instead, and the log says why.
fn survived<T>(answer: rusqlite::Result<T>) -> Option<T> {
    answer.inspect_err(|error| warn!(%error, "the catalogue cannot be asked; reading the logs instead")).ok()
}

/// The same from the log itself: so much of it as there was. That is what it was, unless it has been written over.
pub(super) fn read_again(path: &str, stored: &SourceInfo, options: &Options) -> Option<Source> {
    let disk = Disk::default();
    let failed = |error: &std::io::Error| warn!(?path, %error, "cannot read a log again");
    let grown = std::fs::metadata(path).inspect_err(failed).ok()?.len() > stored.stamp.size;
    let log = disk.log(path).inspect_err(failed).ok()?.take(if grown { stored.stamp.size } else { u64::MAX });
    let summary = scan::read(Path::new(path), log, options, &mut Buffer::default(), &Turns::default());
    Some(Source { path: path.into(), modified: stored.modified, summary })
}
