//! Whether the catalogue agrees with the logs: its rows, compared with those of a fresh reading.
//!
//! Both sides are compared as JSON, because that is what is promised: a stored row says byte for byte what the log says. Rows that agree
//! are remembered by a hash only, so memory does not grow with their text.

use crate::details::{DetailSource, derive};
use crate::store::details::{CallDetails, DetailStore, SessionDetails};
use crate::store::{Catalogue, CatalogueError, SessionListing};
use crate::{Map, Set, each};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find::{self, FoundSource, Search};
use tooltrail_formats::load;
use tooltrail_formats::scan::{self, Options, Progress, ScanOutcome, spelled};
use tooltrail_model::digest::Digest;
use tooltrail_model::link::{Linked, Now};
use tooltrail_model::row::{CallNumber, CallRow, SessionRow};
use xxhash_rust::xxh3::xxh3_64;

/// The most rows of each side that are kept to be compared field by field.
const MOST: usize = 1000;

/// The outcome of a comparison.
#[derive(Debug, Default)]
pub struct Verification {
    /// Sessions that were compared.
    pub sessions: u64,
    /// Calls that were compared.
    pub calls: u64,
    /// Sessions whose logs are gone, about which the logs say nothing.
    pub gone: u64,
    /// The number of rows that differ.
    pub differing: u64,
    /// The first of them.
    pub differences: Vec<RowDifference>,
    /// Differences in logs that were written to during the comparison, which prove nothing.
    pub changed_meanwhile: u64,
}

/// A row that is not what the logs say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowDifference {
    /// The log.
    pub file: String,
    /// The REF of the call, or the id of the session.
    pub row: String,
    /// `differs`, `missing` in the catalogue, or `extra` there.
    pub kind: &'static str,
    /// The fields that differ.
    pub fields: Vec<String>,
}

/// The rows of both sides that have no equal on the other.
#[derive(Default)]
struct Unmatched {
    stored: Map<String, Value>,
    read: Map<String, Value>,
    /// Rows beyond those that are kept.
    more: u64,
    /// Sessions whose details differ, with the names of these.
    details: Vec<(Value, Vec<String>)>,
}

/// Compares a refreshed catalogue with a fresh reading of the logs, which both have to be those of this search.
pub fn verify(
    catalogue: &Catalogue,
    search: &Search,
    options: &Options,
    now: &Now,
    progress: &Progress,
) -> Result<Verification, CatalogueError> {
    let mut verification = Verification::default();
    let mut stored: Map<u64, u32> = Map::default();
    each_stored(catalogue, now, &mut verification, |row| *stored.entry(xxh3_64(row.as_bytes())).or_default() += 1)?;
    let mut unmatched = Unmatched::default();
    let ScanOutcome { linker, problems, incomplete, left: _ } = scan::scan_all(&search.files, options, progress);
    let incomplete = incomplete.into_iter().chain(problems.iter().map(|problem| spelled(&problem.path))).collect();
    let linked = linker.link_on(options.threads);
    each_read(&linked, now, |row| match stored.get_mut(&xxh3_64(row.as_bytes())) {
        Some(count) if *count > 0 => *count -= 1,
        _ => unmatched.put(|unmatched| &mut unmatched.read, &row),
    });
    stored.retain(|_, count| *count > 0);
    if !stored.is_empty() {
        // Their text is needed now, so they are read once more.
        each_stored(catalogue, now, &mut Verification::default(), |row| {
            if stored.contains_key(&xxh3_64(row.as_bytes())) {
                unmatched.put(|unmatched| &mut unmatched.stored, &row);
            }
        })?;
    }
    compare_details(catalogue, &linked, now, options.threads, &mut unmatched)?;
    unmatched.tell(search, &incomplete, &mut verification);
    Ok(verification)
}

/// Passes on the stored rows of sessions that are there, and counts them.
fn each_stored(catalogue: &Catalogue, now: &Now, count: &mut Verification, mut each: impl FnMut(String)) -> Result<(), CatalogueError> {
    let listing = catalogue.list(now)?;
    for (session, row) in listing.rows().iter().enumerate() {
        if listing.is_gone(session) {
            count.gone += 1;
        } else {
            count.sessions += 1;
            each(session_text(row));
        }
    }
    for listed in listing.all_calls(catalogue, false)? {
        listing.one_call(catalogue, listed, |_, row, _| {
            count.calls += 1;
            each(call_text(&row));
        })?;
    }
    Ok(())
}

/// Passes on the rows that a fresh reading of the logs gives.
fn each_read(linked: &Linked<'_>, now: &Now, mut each: impl FnMut(String)) {
    linked.session_rows(now).iter().for_each(|row| each(session_text(row)));
    let disk = Disk::default();
    for call in linked.calls.iter().filter(|call| call.copy_of.is_none()) {
        let mut row = linked.call_row(call, now, false);
        // A request that has moved leaves the row incomplete, and its log has changed, which is found below.
        let _ = load::complete_at(&disk, &mut row, linked.record(call.id));
        each(call_text(&row));
    }
}

/// Compares the details of sessions that have any with those that a fresh reading gives.
fn compare_details(
    catalogue: &Catalogue,
    linked: &Linked<'_>,
    now: &Now,
    threads: usize,
    unmatched: &mut Unmatched,
) -> Result<(), CatalogueError> {
    let listing: SessionListing = catalogue.list(now)?;
    let (rows, store, source) = (listing.rows(), DetailStore::new(catalogue.path()), DetailSource::of(linked));
    let places: Map<(&str, &str), usize> = (0..).zip(&rows).map(|(place, row)| ((row.agent, row.session), place)).collect();
    let differ = each(threads, linked.sessions.len(), |index| {
        let session = linked.sessions.get(index)?;
        let place = *places.get(&(session.agent, &*session.id))?;
        let stored = store.details(listing.detail_key(place)?)?;
        let read = derive(&source, index, &Disk::default());
        let fields = different(stored, read, rows.get(place)?.short);
        (!fields.is_empty()).then_some((place, fields))
    });
    for (place, fields) in differ.into_iter().flatten() {
        if let Some(row) = rows.get(place) {
            unmatched.details.push((serde_json::to_value(row).unwrap_or_default(), fields));
        }
    }
    Ok(())
}

/// The kinds of details of a session that differ, by the names of the tables' views.
fn different(stored: SessionDetails, read: SessionDetails, short: &str) -> Vec<String> {
    let digest = |details: &SessionDetails| Digest::of_stored(&details.digest, short);
    let digests = digest(&stored) != digest(&read);
    let own: Map<CallNumber, &CallDetails> = read.calls.iter().map(|call| (call.number, call)).collect();
    // What could not be opened then is opened when it is asked for.
    let calls = stored.calls.iter().any(|call| call.facts.known && own.get(&call.number) != Some(&call));
    let calls = calls || stored.commands != read.commands;
    let named = [("digest", digests), ("content", calls), ("requests", stored.requests != read.requests)];
    named.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name.to_owned()).collect()
}

fn session_text(row: &SessionRow<'_>) -> String {
    // Rows are made of texts and numbers; they cannot fail to be written.
    serde_json::to_string(row).unwrap_or_default()
}

fn call_text(row: &CallRow<'_>) -> String {
    serde_json::to_string(row).unwrap_or_default()
}

impl Unmatched {
    fn put(&mut self, side: fn(&mut Self) -> &mut Map<String, Value>, row: &str) {
        let Ok(value) = serde_json::from_str::<Value>(row) else { return };
        if side(self).len() < MOST {
            side(self).insert(key(&value), value);
        } else {
            self.more += 1;
        }
    }

    /// Pairs the rows of both sides and lists how they differ.
    fn tell(mut self, search: &Search, incomplete: &Set<String>, verification: &mut Verification) {
        let mut all = Vec::new();
        for (key, read) in &self.read {
            all.push(match self.stored.remove(key) {
                Some(stored) => (read, "differs", fields(&stored, read)),
                None => (read, "missing", Vec::new()),
            });
        }
        all.extend(self.stored.values().map(|stored| (stored, "extra", Vec::new())));
        all.extend(self.details.iter().map(|(row, fields)| (row, "differs", fields.clone())));
        for (row, kind, fields) in all {
            let files = files(row);
            if files.iter().any(|file| incomplete.contains(file) || has_changed(search, file)) {
                verification.changed_meanwhile += 1;
                continue;
            }
            let name = |field: &str| row.get(field).and_then(Value::as_str);
            let file = files.into_iter().next().unwrap_or_default();
            let row = name("ref").or(name("session")).unwrap_or_default().to_owned();
            verification.differences.push(RowDifference { file, row, kind, fields });
        }
        verification.differences.sort_by(|a, b| (&a.file, &a.row).cmp(&(&b.file, &b.row)));
        // Rows that were not kept count only where something is known to differ: they may be those of a log that has changed.
        let more = if verification.differences.is_empty() { 0 } else { self.more };
        verification.differing = verification.differences.len() as u64 + more;
    }
}

/// What a row is about, which is the same in both readings.
fn key(row: &Value) -> String {
    ["agent", "session", "ref", "call"].map(|field| row.get(field).map(Value::to_string).unwrap_or_default()).join(" ")
}

/// The fields in which two rows differ.
fn fields(stored: &Value, read: &Value) -> Vec<String> {
    let (Some(stored), Some(read)) = (stored.as_object(), read.as_object()) else { return Vec::new() };
    let names = read.keys().chain(stored.keys().filter(|name| !read.contains_key(*name)));
    names.filter(|name| stored.get(*name) != read.get(*name)).cloned().collect()
}

/// The logs of a row: those of a session, or those of a call's records.
fn files(row: &Value) -> Vec<String> {
    if let Some(files) = row.get("files").and_then(Value::as_array) {
        return files.iter().filter_map(|file| file.as_str().map(str::to_owned)).collect();
    }
    let places = ["request", "result", "evidence"].into_iter().filter_map(|place| row.get(place)?.get("file")?.as_str());
    places.map(str::to_owned).collect()
}

/// Whether a log is not any more what the search has found.
fn has_changed(search: &Search, file: &str) -> bool {
    let is = |found: &&FoundSource| spelled(&found.path) == file;
    let now = find::at(Path::new(file));
    search.files.iter().find(is) != now.iter().find(is)
}
