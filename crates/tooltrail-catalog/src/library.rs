//! Where sessions are asked for, one bundle of logs at a time.
//!
//! Most logs have nothing to do with most others. A bundle is what has: the logs of a session, of those it was forked from or goes on
//! from, of their subagents. Whatever is asked about a session can be told from its bundle, so nothing else has to be in memory.

use crate::store::Error;
use std::sync::Arc;
use tooltrail_formats::shelf::Shelf;
use tooltrail_model::Time;
use tooltrail_model::link::Linker;

/// Logs that are linked with each other and with no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// What it is opened by.
    pub id: i64,
    /// Its logs, by path.
    pub files: Vec<Box<str>>,
    /// When the last thing in it happened.
    pub last: Option<Time>,
}

/// All logs of some places.
pub trait Library: Sync {
    /// The bundles, those in which something happened last first.
    fn bundles(&self) -> Result<Vec<Bundle>, Error>;

    /// What the logs of a bundle hold, ready to be linked. Sessions have the short names that they have among all.
    fn open(&self, bundle: i64) -> Result<Arc<Linker>, Error>;

    /// Where the logs are read again from.
    fn shelf(&self) -> &dyn Shelf;
}
