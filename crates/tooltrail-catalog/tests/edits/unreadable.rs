//! Logs that cannot be read: told, left out, and taken in when that changes. Everybody may read every file where tests run as root, so
//! these fail in other ways.

use super::edit::{Edit, World};
use super::support::*;
use super::{clock_now, compare};
use std::fs;
use tooltrail_catalog::refresh::refresh;
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::find;
use tooltrail_formats::scan::Progress;

/// A log that is there when the logs are listed, and gone or no file when it is opened.
#[test]
fn a_log_that_vanishes_is_told_and_nothing_else_is_affected() {
    for becomes_a_directory in [false, true] {
        for known_before in [false, true] {
            let (world, cache) = (World::new(1), tempfile::tempdir().unwrap());
            let mut catalogue = open(cache.path());
            if known_before {
                compare("before", &mut catalogue, world.root());
            }
            let path = world.logs()[3].clone();
            // It has to be read, whether or not it was known.
            world.apply(&Edit::Append(3, 3));
            let content = fs::read(&path).unwrap();
            let search = find::in_paths(&[world.root().to_owned()]);
            fs::remove_file(&path).unwrap();
            if becomes_a_directory {
                fs::create_dir(&path).unwrap();
            }
            let outcome = refresh(&mut catalogue, &search, &options(), clock_now(), &Progress::default()).unwrap();
            let told: Vec<String> = outcome.problems.iter().map(|problem| ErrorChain(problem).to_string()).collect();
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with(&format!("cannot read `{}`: ", path.display())), "{told:?}");
            // What is stored is what a catalogue of the others has.
            let (fresh, stored) = (tempfile::tempdir().unwrap(), dump(&catalogue));
            let mut others = open(fresh.path());
            same("without it", &stored, &compare("others", &mut others, world.root()));
            if becomes_a_directory {
                fs::remove_dir(&path).unwrap();
            }
            fs::write(&path, content).unwrap();
            assert!(stored != compare("it is back", &mut catalogue, world.root()));
        }
    }
}

/// What of a torn log can be read is taken; that it is torn is an issue until it is not.
#[test]
fn a_torn_log_is_told_until_it_is_whole() {
    let (world, cache) = (World::new(3), tempfile::tempdir().unwrap());
    let mut catalogue = open(cache.path());
    let plain = world.logs()[0].clone();
    let packed = zstd::encode_all(&fs::read(&plain).unwrap()[..], 3).unwrap();
    let path = plain.with_extension("jsonl.zst");
    fs::remove_file(plain).unwrap();
    let mut said = Vec::new();
    for part in [packed.len() / 2, 5, packed.len()] {
        fs::write(&path, &packed[..part]).unwrap();
        said.push(compare("torn and whole", &mut catalogue, world.root()));
    }
    let torn = |said: &[String]| said.iter().any(|line| line.contains("could not be read to its end"));
    assert_eq!(said.iter().map(|said| torn(said)).collect::<Vec<_>>(), [true, true, false]);
}
