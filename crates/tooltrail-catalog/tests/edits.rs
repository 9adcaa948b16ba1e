//! Logs that are appended to, cut, replaced, moved, deleted and added, in any order: after a refresh the catalogue says the same as one
//! that was made from nothing.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a panic is the report

mod support;

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use support::*;
use tooltrail_catalog::refresh::refresh;
use tooltrail_catalog::store::Catalogue;
use tooltrail_formats::find;
use tooltrail_formats::scan::Progress;
use tooltrail_model::Time;

/// Something that happens to the logs. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Edit {
    Append(usize, usize),
    Truncate(usize, u8),
    Replace(usize, usize),
    Overwrite(usize, usize),
    Rename(usize, u8),
    Delete(usize),
    Add(usize, u8),
    Title(usize, u8),
    /// The catalogue is closed and opened again.
    Reopen,
    /// The catalogue is refreshed in the middle.
    Refresh,
}

fn edit() -> impl Strategy<Value = Edit> {
    let which = any::<usize>;
    prop_oneof![
        3 => (which(), which()).prop_map(|(file, line)| Edit::Append(file, line)),
        2 => (which(), any::<u8>()).prop_map(|(file, part)| Edit::Truncate(file, part)),
        2 => (which(), which()).prop_map(|(file, with)| Edit::Replace(file, with)),
        2 => (which(), which()).prop_map(|(file, at)| Edit::Overwrite(file, at)),
        2 => (which(), any::<u8>()).prop_map(|(file, name)| Edit::Rename(file, name)),
        2 => which().prop_map(Edit::Delete),
        3 => (which(), any::<u8>()).prop_map(|(with, name)| Edit::Add(with, name)),
        1 => (which(), any::<u8>()).prop_map(|(file, title)| Edit::Title(file, title)),
        1 => Just(Edit::Reopen),
        3 => Just(Edit::Refresh),
    ]
}

/// The contents that logs are made of.
fn pool() -> Vec<Vec<u8>> {
    find::in_paths(&[demo()]).files.iter().map(|found| fs::read(&found.path).unwrap()).collect()
}

fn logs(root: &Path) -> Vec<PathBuf> {
    find::in_paths(&[root.to_owned()]).files.into_iter().map(|found| found.path).collect()
}

fn pick<T>(all: &[T], number: usize) -> Option<&T> {
    all.get(number.checked_rem(all.len())?)
}

fn apply(edit: &Edit, root: &Path, pool: &[Vec<u8>]) {
    let files = logs(root);
    let file = |number: &usize| pick(&files, *number);
    match edit {
        Edit::Append(number, line) => {
            let (Some(path), Some(content)) = (file(number), pick(pool, *line)) else { return };
            let lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
            let mut all = fs::read(path).unwrap();
            all.extend_from_slice(pick(&lines, line / 7).unwrap());
            // As an agent does it: the same file, grown.
            fs::write(path, all).unwrap();
        }
        Edit::Truncate(number, part) => {
            let Some(path) = file(number) else { return };
            let length = fs::metadata(path).unwrap().len();
            fs::File::options().write(true).open(path).unwrap().set_len(length * u64::from(*part) / 256).unwrap();
        }
        Edit::Replace(number, with) => {
            let (Some(path), Some(content)) = (file(number), pick(pool, *with)) else { return };
            let new = path.with_extension("new");
            fs::write(&new, content).unwrap();
            fs::rename(new, path).unwrap();
        }
        Edit::Overwrite(number, at) => {
            let Some(path) = file(number) else { return };
            let mut all = fs::read(path).unwrap();
            if let Some(index) = at.checked_rem(all.len()) {
                all[index] = b'x';
            }
            fs::write(path, all).unwrap();
        }
        Edit::Rename(number, name) => {
            let Some(path) = file(number) else { return };
            fs::create_dir_all(root.join("projects/moved")).unwrap();
            fs::rename(path, root.join(format!("projects/moved/{name}.jsonl"))).unwrap();
        }
        Edit::Delete(number) => {
            if let Some(path) = file(number) {
                fs::remove_file(path).unwrap();
            }
        }
        Edit::Add(with, name) => {
            fs::create_dir_all(root.join("projects/added")).unwrap();
            fs::write(root.join(format!("projects/added/{name}.jsonl")), pick(pool, *with).unwrap()).unwrap();
        }
        Edit::Title(number, title) => {
            let Some(path) = file(number) else { return };
            fs::create_dir_all(path.with_extension("")).unwrap();
            fs::write(path.with_extension("").join("custom-title.json"), format!("{{\"customTitle\":\"t{title}\"}}")).unwrap();
        }
        Edit::Reopen | Edit::Refresh => {}
    }
}

fn clock_now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Time::from_microsecond(i64::try_from(since.as_micros()).unwrap()).unwrap()
}

fn update(catalogue: &mut Catalogue, root: &Path) {
    let now = clock_now();
    let search = find::in_paths(&[root.to_owned()]);
    refresh(catalogue, &search, &options(), now, &Progress::default()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_refresh_gives_what_a_fresh_catalogue_has(edits in prop::collection::vec(edit(), 1..14)) {
        let (home, cache, fresh) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let pool = pool();
        for (number, content) in pool.iter().enumerate().step_by(3) {
            apply(&Edit::Add(number, u8::try_from(number).unwrap()), home.path(), &pool);
            prop_assert!(!content.is_empty());
        }
        let mut catalogue = open(cache.path());
        update(&mut catalogue, home.path());
        for edit in &edits {
            apply(edit, home.path(), &pool);
            match edit {
                Edit::Refresh => update(&mut catalogue, home.path()),
                Edit::Reopen => catalogue = open(cache.path()),
                _ => {}
            }
        }
        update(&mut catalogue, home.path());
        let mut other = open(fresh.path());
        update(&mut other, home.path());
        same("after edits", &dump(&catalogue), &dump(&other));
        let (calls, sessions) = direct(&scanned(&find::in_paths(&[home.path().to_owned()])), &later());
        same("calls", &kept_calls(&catalogue, &later()), &calls);
        same("sessions", &kept_sessions(&catalogue, &later()), &sessions);
    }
}

#[test]
fn a_session_that_was_deleted_stays_listed_as_gone() {
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pool = pool();
    apply(&Edit::Add(0, 0), home.path(), &pool);
    apply(&Edit::Add(6, 1), home.path(), &pool);
    let mut catalogue = open(cache.path());
    update(&mut catalogue, home.path());
    let listed = |catalogue: &Catalogue| {
        let listing = catalogue.list(&later()).unwrap();
        let row = |(session, row): (usize, &tooltrail_model::row::SessionRow<'_>)| {
            (row.session.to_owned(), row.calls, row.files.len(), listing.is_gone(session))
        };
        listing.rows().iter().enumerate().map(row).collect::<Vec<_>>()
    };
    let before = listed(&catalogue);
    assert!(before.len() > 1 && before.iter().all(|(.., gone)| !gone));
    fs::remove_file(home.path().join("projects/added/0.jsonl")).unwrap();
    update(&mut catalogue, home.path());
    let after = listed(&catalogue);
    let gone: Vec<_> = after.iter().filter(|(.., gone)| *gone).collect();
    assert_eq!(gone.len(), 1);
    assert!(gone[0].1 > 0 && gone[0].2 == 1, "what is known of it stays: {gone:?}");
    // It comes back.
    apply(&Edit::Add(0, 0), home.path(), &pool);
    update(&mut catalogue, home.path());
    assert_eq!(listed(&catalogue), before);
}

#[test]
fn a_damaged_file_is_made_again() {
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pool = pool();
    (0..4).for_each(|number| apply(&Edit::Add(number, u8::try_from(number).unwrap()), home.path(), &pool));
    let mut catalogue = open(cache.path());
    update(&mut catalogue, home.path());
    let whole = dump(&catalogue);
    let path = catalogue.path().to_owned();
    drop(catalogue);
    let good = fs::read(&path).unwrap();
    // No database; another version; its head torn; its inside overwritten.
    let other_version = {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 77).unwrap();
        drop(connection);
        fs::read(&path).unwrap()
    };
    let mut torn = good.clone();
    torn.truncate(good.len() / 2);
    let mut overwritten = good.clone();
    overwritten[4096..].fill(0xa5);
    for damaged in [b"not a database".to_vec(), Vec::new(), other_version, torn, overwritten] {
        fs::write(&path, damaged).unwrap();
        let mut catalogue = Catalogue::open(&path).unwrap();
        update(&mut catalogue, home.path());
        same("made again", &dump(&catalogue), &whole);
    }
}
