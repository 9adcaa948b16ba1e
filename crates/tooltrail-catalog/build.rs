//! A fingerprint of the code that decides what a catalogue holds: another program makes other rows, and must not trust those of this one.

#![allow(clippy::print_stdout, reason = "this is how a build script speaks")]

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The crates from which rows are made.
const CRATES: [&str; 5] = ["tooltrail-skim", "tooltrail-model", "tooltrail-shell", "tooltrail-formats", "tooltrail-catalog"];

fn main() {
    let crates = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    // FNV-1a: this is about changes, not about attacks.
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for name in CRATES {
        let source = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", source.display());
        let mut files = Vec::new();
        below(&source, &mut files);
        files.sort();
        for byte in files.iter().flat_map(|file| fs::read(file).unwrap_or_default()) {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=TOOLTRAIL_CODE={}", (sum ^ (sum >> 32)) & 0xffff);
}

fn below(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => below(&path, files),
            path if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            _ => {}
        }
    }
}
