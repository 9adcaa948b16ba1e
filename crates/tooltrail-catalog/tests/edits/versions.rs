//! Catalogues that another version made: rows are derived again, and sessions that only the catalogue knows are carried over.

use super::edit::{Edit, World};
use super::support::*;
use super::{compare, update};
use std::fs;
use std::path::Path;
use tooltrail_catalog::store::{Catalogue, file_name};

/// The tables of the schema before a catalogue had two numbers.
const SCHEMA_2: &str = include_str!("schema-2.sql");

/// The sessions that are gone, each with the rows of its calls.
fn gone(catalogue: &Catalogue) -> Vec<(String, Vec<String>)> {
    let listing = catalogue.list(&later()).unwrap();
    let rows = listing.rows();
    let of = |session: usize| {
        let mut calls = Vec::new();
        listing.each_call(catalogue, session, |_, row, _| calls.push(serde_json::to_string(&row).unwrap())).unwrap();
        (serde_json::to_string(&rows[session]).unwrap(), calls)
    };
    (0..rows.len()).filter(|&session| listing.is_gone(session)).map(of).collect()
}

/// A world with a session that is gone, and a catalogue that knows it.
fn with_a_gone_session(path: &Path) -> (World, Vec<(String, Vec<String>)>) {
    let world = World::new(5);
    let mut catalogue = Catalogue::open(path).unwrap();
    update(&mut catalogue, world.root());
    world.apply(&Edit::Delete(0));
    update(&mut catalogue, world.root());
    let known = gone(&catalogue);
    assert!(known.len() == 1 && !known[0].1.is_empty(), "{known:?}");
    (world, known)
}

fn run(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
    names.sort();
    names
}

#[test]
fn other_readers_derive_rows_again_and_gone_sessions_stay() {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("catalogue.db");
    let (world, known) = with_a_gone_session(&path);
    // Rows that these readers would not make: whatever of them is left would show.
    run(
        &path,
        "UPDATE meta SET value = value + 1 WHERE key = 'readers'; UPDATE call_rows SET tool = 'stale', purpose = 'build' WHERE id >> 32 NOT IN (SELECT id FROM session_rows WHERE gone)",
    );
    for interrupted in [true, true, false] {
        let mut catalogue = Catalogue::open(&path).unwrap();
        assert!(catalogue.is_new(), "its rows are derived again");
        // A process that is killed before its first refresh loses nothing.
        if interrupted {
            drop(catalogue);
            assert_eq!(names(cache.path()), ["catalogue.db.old"]);
            continue;
        }
        let rows = compare("derived again", &mut catalogue, world.root());
        assert!(!rows.iter().any(|row| row.contains("stale")));
        assert_eq!(gone(&catalogue), known);
    }
    assert_eq!(names(cache.path()), ["catalogue.db"]);
    let catalogue = Catalogue::open(&path).unwrap();
    assert!(!catalogue.is_new());
    assert_eq!(gone(&catalogue), known);
}

#[test]
fn a_log_that_went_while_another_version_was_installed_is_known_too() {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("catalogue.db");
    let (world, known) = with_a_gone_session(&path);
    world.apply(&Edit::Delete(1));
    run(&path, "UPDATE meta SET value = 1 WHERE key = 'readers'");
    let mut catalogue = Catalogue::open(&path).unwrap();
    compare("derived again", &mut catalogue, world.root());
    let now = gone(&catalogue);
    assert!(now.len() == 2 && known.iter().all(|session| now.contains(session)), "{now:?}");
    // It comes back, and is like any other.
    world.apply(&Edit::Add(0));
    world.apply(&Edit::Add(1));
    compare("come back", &mut catalogue, world.root());
}

#[test]
fn gone_sessions_are_carried_over_where_no_log_is_left() {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("catalogue.db");
    let (world, _) = with_a_gone_session(&path);
    for log in world.logs() {
        fs::remove_file(log).unwrap();
    }
    update(&mut Catalogue::open(&path).unwrap(), world.root());
    let known = gone(&Catalogue::open(&path).unwrap());
    assert!(known.len() > 1);
    for _ in 0..2 {
        run(&path, "UPDATE meta SET value = 1 WHERE key = 'readers'");
        let mut catalogue = Catalogue::open(&path).unwrap();
        assert_eq!(gone(&catalogue), known);
        update(&mut catalogue, world.root());
        drop(catalogue);
        assert_eq!(names(cache.path()), ["catalogue.db"]);
    }
}

#[test]
fn an_older_schema_is_migrated_with_its_gone_sessions() {
    let cache = tempfile::tempdir().unwrap();
    let made = cache.path().join("made.db");
    let (world, known) = with_a_gone_session(&made);
    let older = cache.path().join("catalogue-2.db");
    make_older(&older, &made);
    fs::remove_file(&made).unwrap();
    let bytes = fs::read(&older).unwrap();

    let path = cache.path().join(file_name(&[]));
    let mut catalogue = Catalogue::open(&path).unwrap();
    compare("migrated", &mut catalogue, world.root());
    // Schema 2 had no titles, and the log of a gone session cannot be read for one.
    let untitled = |call: &String| {
        let mut row: serde_json::Value = serde_json::from_str(call).unwrap();
        row["about"] = serde_json::Value::Null;
        row.to_string()
    };
    let known: Vec<_> = known.into_iter().map(|(row, calls)| (row, calls.iter().map(untitled).collect::<Vec<_>>())).collect();
    assert_eq!(gone(&catalogue), known);
    // The older version finds its own file as it was.
    assert_eq!(fs::read(&older).unwrap(), bytes);
    drop(catalogue);
    assert!(!Catalogue::open(&path).unwrap().is_new(), "migrated once");
}

/// Writes a catalogue of schema 2 with the rows of another one.
fn make_older(older: &Path, from: &Path) {
    run(older, SCHEMA_2);
    // This way round: a file whose views name `main` cannot be attached.
    let connection = rusqlite::Connection::open(from).unwrap();
    connection.execute("ATTACH ?1 AS older", [older.to_str().unwrap()]).unwrap();
    let tables = "SELECT name FROM older.sqlite_master WHERE type = 'table' AND name <> 'meta'";
    let tables: Vec<String> =
        connection.prepare(tables).unwrap().query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    for table in tables {
        let columns = format!("SELECT group_concat('\"' || name || '\"') FROM pragma_table_info('{table}', 'older')");
        let columns: String = connection.query_row(&columns, [], |row| row.get(0)).unwrap();
        connection.execute_batch(&format!("INSERT INTO older.{table}({columns}) SELECT {columns} FROM main.{table}")).unwrap();
    }
    // The schema in the upper half, a fingerprint of 16 bits in the lower.
    connection.execute_batch("PRAGMA older.user_version = 135783; DETACH older").unwrap();
}

#[test]
fn a_newer_schema_is_not_touched() {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("catalogue.db");
    let (world, known) = with_a_gone_session(&path);
    run(&path, "PRAGMA user_version = 4711");
    let (bytes, time) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    let mut catalogue = Catalogue::open(&path).unwrap();
    compare("beside a newer one", &mut catalogue, world.root());
    assert_eq!(gone(&catalogue), [], "what a newer version knows is its own");
    drop(catalogue);
    assert!(names(cache.path())[1].starts_with("catalogue.db.schema-"), "{:?}", names(cache.path()));
    assert!(!Catalogue::open(&path).unwrap().is_new(), "it is found again");
    assert_eq!((fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap()), (bytes, time));
    // The newer version finds everything there.
    let newer = rusqlite::Connection::open(&path).unwrap();
    let left: i64 = newer.query_row("SELECT count(*) FROM session_rows WHERE gone", [], |row| row.get(0)).unwrap();
    assert_eq!(left, known.len() as i64);
}

#[test]
fn an_older_file_that_cannot_be_read_costs_only_what_it_knew() {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("catalogue.db");
    let (world, known) = with_a_gone_session(&path);
    run(
        &path,
        "UPDATE meta SET value = 1 WHERE key = 'readers'; DROP VIEW turns; DROP VIEW copies; DROP VIEW calls; DROP VIEW issues; DROP TABLE turn_rows",
    );
    let mut catalogue = Catalogue::open(&path).unwrap();
    compare("without it", &mut catalogue, world.root());
    assert_eq!(gone(&catalogue), known, "the rest of it is there");
    drop(catalogue);
    let left = names(cache.path());
    assert!(left.len() == 2 && left[1].ends_with("Z.old"), "it is left for whoever can read it: {left:?}");
}

/// Damage in one session costs that session, and nothing is deleted.
#[test]
fn a_damaged_file_is_set_aside_and_what_can_be_read_of_it_is_saved() {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("catalogue.db");
    let (world, known) = with_a_gone_session(&path);
    for round in 1..=5 {
        damage(&path, "meta");
        let mut catalogue = Catalogue::open(&path).unwrap();
        compare("made again", &mut catalogue, world.root());
        assert_eq!(gone(&catalogue), known, "round {round}");
        let recovery = catalogue.take_recovery().unwrap();
        assert_eq!((recovery.saved, recovery.lost, recovery.is_torn), (1, 0, false), "{recovery}");
        assert!(recovery.file.is_file(), "{recovery}");
        drop(catalogue);
        assert_eq!(names(cache.path()).len(), 1 + round.min(3), "a few are kept: {:?}", names(cache.path()));
    }
}

/// Overwrites the first page of a table.
fn damage(path: &Path, table: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let page: u32 = connection.query_row("SELECT rootpage FROM sqlite_master WHERE name = ?1", [table], |row| row.get(0)).unwrap();
    let size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = fs::read(path).unwrap();
    let start = usize::try_from((page - 1) * size).unwrap();
    bytes[start..start + 512].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

/// What is beside a catalogue and could not be read is taken over as soon as it can be.
#[test]
fn gone_sessions_are_taken_over_by_a_catalogue_in_use() {
    let cache = tempfile::tempdir().unwrap();
    let (path, older) = (cache.path().join(file_name(&[])), cache.path().join("catalogue-4.db"));
    let (world, known) = with_a_gone_session(&path);
    run(&path, "PRAGMA user_version = 4");
    fs::rename(&path, &older).unwrap();
    let away = cache.path().join("away");
    fs::rename(&older, &away).unwrap();
    update(&mut Catalogue::open(&path).unwrap(), world.root());
    assert_eq!(gone(&Catalogue::open(&path).unwrap()), []);
    fs::rename(&away, &older).unwrap();
    let mut catalogue = Catalogue::open(&path).unwrap();
    assert_eq!(gone(&catalogue), known);
    compare("with what it took over", &mut catalogue, world.root());
    assert_eq!(gone(&Catalogue::open(&path).unwrap()), known);
    // They come back like any other.
    world.apply(&Edit::Add(0));
    compare("come back", &mut catalogue, world.root());
    assert_eq!(gone(&catalogue), []);
}

/// An error that says nothing about the file leaves it where it is.
#[cfg(unix)]
#[test]
fn a_directory_in_its_place_or_a_path_that_cannot_be_looked_at_is_an_error() {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("catalogue.db");
    fs::create_dir(&path).unwrap();
    assert!(Catalogue::open(&path).is_err());
    assert!(path.is_dir());
    // A file where a directory is wanted: nothing can be told of what is below it.
    fs::write(cache.path().join("file"), "").unwrap();
    assert!(Catalogue::open(&cache.path().join("file/catalogue.db")).is_err());
}
