//! Changes of files: the effects of calls that logs record, collected for the model's replay.
//!
//! `effects` takes a loaded call apart into its effects on files, `commands` those that run a shell; `session` collects those of a session, one file at a time; `file` those of
//! one file from all logs, with the copies that an agent kept (`backups`). `paths` makes paths absolute, `private` redacts the result, and
//! `report` selects calls and names files for an output.

mod backups;
mod commands;
mod effects;
mod file;
mod paths;
mod private;
pub mod report;
mod session;

pub use backups::Backup;
pub(crate) use commands::fill;
pub use file::{ChangeEvidence, FileHistory, FileLookup, find, history};
pub use paths::absolute;
pub use private::private;
pub use session::{ChangeGroups, SessionChanges};

use std::collections::HashMap;
use tooltrail_model::Time;
use tooltrail_model::transcript::CallEntry;

/// When something took effect, for sorting: the time, the source and the line.
///
/// Within a log the order of records is the truth and times only say so; a clock that steps back does not turn it around.
type Moment = (Time, usize, u64);

/// The order in which calls took effect, by their place in the list: at their result, or at their request where there is none.
fn moments(calls: &[CallEntry<'_>], which: impl IntoIterator<Item = usize>) -> Vec<(Moment, usize)> {
    let mut all: Vec<(usize, u64, Option<Time>, usize)> = Vec::new();
    for index in which {
        let Some(call) = calls.get(index) else { continue };
        let spot = call.result.unwrap_or(call.request);
        all.push((spot.source, spot.at.line, call.row.completed_at.or(call.time), index));
    }
    all.sort_unstable_by_key(|&(source, line, _, index)| (source, line, index));
    let mut latest: HashMap<usize, Time> = HashMap::new();
    let mut moments: Vec<(Moment, usize)> = Vec::with_capacity(all.len());
    for (source, line, time, index) in all {
        // Times never run backwards within a log; a record without one takes that of its predecessor.
        let latest = latest.entry(source).or_insert(Time::UNIX_EPOCH);
        *latest = (*latest).max(time.unwrap_or(*latest));
        moments.push(((*latest, source, line), index));
    }
    moments.sort_unstable();
    moments
}
