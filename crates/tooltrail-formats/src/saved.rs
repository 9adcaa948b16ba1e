//! Outputs that an agent saved beside a log because they were too long for it.

use crate::shelf::Shelf;
use std::io;

/// The most that is read of one.
const MOST: u64 = 4 << 20;

/// The first bytes of an output, and how large it is. Wherever the log says it is, it is looked for by its name alone.
pub fn read(shelf: &dyn Shelf, log: &str, path: &str) -> io::Result<(Vec<u8>, u64)> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    shelf.beside(log, name, MOST)
}
