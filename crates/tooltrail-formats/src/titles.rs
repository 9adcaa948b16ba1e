//! Titles of sessions that an agent keeps in files of its own, for all of its logs at once.
//!
//! Such a file changes whenever any session does, so a log must not depend on the file: it depends on the title that the file has for it.
//! The search for logs mixes a fingerprint of that title into the log's identity, so that only the logs of renamed sessions are read again.
//! Files are read once for each of their states, however many logs ask.

use crate::find::FoundSource;
use crate::{FORMATS, Format, SessionTitle, database};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// The titles of one home, as its files were at some moment.
type Titles = Arc<HashMap<String, SessionTitle>>;

/// The titles that were read last, with the state of the files, by home.
static READ: Mutex<Vec<(PathBuf, u64, Titles)>> = Mutex::new(Vec::new());

/// How many homes are remembered. People have one or two; a directory of many may be named by hand.
const HOMES: usize = 16;

/// The title that the agent keeps for the session of a log, and that session.
pub(crate) fn of(format: &dyn Format, path: &Path) -> Option<(String, SessionTitle)> {
    let home = format.home(path)?;
    // As the search saw them that found the log: its stamp was made of that state, and a later one changes the stamp.
    let seen =
        READ.lock().unwrap_or_else(PoisonError::into_inner).iter().find(|(of, ..)| *of == home).map(|(.., titles)| Arc::clone(titles));
    let titles = seen.or_else(|| titles(format, &home))?;
    let session = format.origin(path).session;
    let title = titles.get(&session)?.clone();
    Some((session, title))
}

/// Makes the identity of each log depend on its title.
pub(crate) fn mark(files: &mut [FoundSource]) {
    // Each home is looked at once, so that all logs see the same state.
    let mut homes: HashMap<PathBuf, Option<Titles>> = HashMap::new();
    for found in files {
        let Some((format, home)) = FORMATS.iter().find_map(|format| Some((*format, format.home(&found.path)?))) else { continue };
        let titles = match homes.entry(home) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let titles = titles(format, entry.key());
                entry.insert(titles)
            }
        };
        if let Some(title) = titles.as_ref().and_then(|titles| titles.get(&format.origin(&found.path).session)) {
            found.identity ^= xxh3_64(format!("{:?} {}", title.by, title.title).as_bytes());
        }
    }
}

/// The titles of a home; nothing if it has no files of titles.
fn titles(format: &dyn Format, home: &Path) -> Option<Titles> {
    let files = format.title_files(home);
    let marks: Vec<u64> = files.iter().map(|file| database::mark(file).map_or(0, |(_, mark)| mark)).collect();
    let state = xxh3_64(&marks.iter().flat_map(|mark| mark.to_le_bytes()).collect::<Vec<u8>>());
    // Held while they are read, so that threads which want the same titles wait for them.
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if marks.iter().all(|&mark| mark == 0) {
        read.retain(|(of, ..)| of != home);
        return None;
    }
    if let Some((.., titles)) = read.iter().find(|(of, at, _)| of == home && *at == state) {
        return Some(Arc::clone(titles));
    }
    let titles: Titles = Arc::new(format.titles(home));
    read.retain(|(of, ..)| of != home);
    if read.len() >= HOMES {
        read.remove(0);
    }
    read.push((home.to_owned(), state, Arc::clone(&titles)));
    Some(titles)
}
