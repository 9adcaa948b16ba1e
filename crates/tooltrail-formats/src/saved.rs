//! Outputs that an agent saved beside a log because they were too long for it.

use crate::FORMATS;
use crate::disk::ReadLogs;
use std::io;
use std::path::Path;

/// The most that is read of one.
const MOST: u64 = 4 << 20;

/// The first bytes of an output, and how large it is. Wherever the log says it is, it is looked for by its name alone.
pub fn read(disk: &dyn ReadLogs, log: &str, path: &str) -> io::Result<(Vec<u8>, u64)> {
    // Cut by hand: the log may come from a system with other separators.
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    disk.beside(log, name, MOST)
}

/// Whether outputs may have been saved beside a log: `false` only for a log on the disk that has no directory for them, nor has the log
/// that it is a subagent of.
pub fn may_be_beside(log: &str) -> bool {
    const ABOVE: usize = 5;
    let log = Path::new(log);
    let own = FORMATS.iter().filter_map(|format| format.side_directory(log));
    // A subagent's log lies a few directories below its session's.
    let above = log.ancestors().skip(1).take(ABOVE).map(Path::to_owned);
    // A log that is not on this disk (a kept or remote one) cannot be ruled out by looking.
    !log.exists() || own.chain(above).any(|directory| directory.join("tool-results").exists())
}
