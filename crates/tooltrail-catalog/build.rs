//! A fingerprint of the readers: the code that decides what is in the rows of a catalogue. Other readers make other rows, so rows of
//! another fingerprint are derived again from the logs.

#![allow(clippy::print_stdout, reason = "this is how a build script speaks")]

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The sources from which rows are made, below `crates/`. Of this crate only the part that makes and stores rows counts: another way to
/// ask or to show them is no reason to read all logs again.
const READERS: [&str; 11] = [
    "tooltrail-skim/src",
    "tooltrail-model/src",
    "tooltrail-shell/src",
    "tooltrail-script/src",
    "tooltrail-formats/src",
    "tooltrail-catalog/src/refresh",
    "tooltrail-catalog/src/rows.rs",
    "tooltrail-catalog/src/details.rs",
    "tooltrail-catalog/src/store/details.rs",
    "tooltrail-catalog/src/store/summaries.rs",
    "tooltrail-catalog/src/store/write.rs",
];

fn main() {
    let crates = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    // FNV-1a: this is about changes, not about attacks.
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for name in READERS {
        let source = crates.join(name);
        println!("cargo::rerun-if-changed={}", source.display());
        let mut files = Vec::new();
        below(&source, &mut files);
        files.sort();
        for byte in files.iter().flat_map(|file| fs::read(file).unwrap_or_default()) {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=TOOLTRAIL_READERS={sum}");
}

/// Collects the Rust files of a directory, or the one file that a path is.
fn below(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            below(&entry.path(), files);
        }
    } else if path.extension().is_some_and(|end| end == "rs") {
        files.push(path.to_owned());
    }
}
