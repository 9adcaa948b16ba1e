//! `cargo xtask release`: the program as it is given to others, without paths of the machine that built it.

use crate::workspace::{root, run_cargo, say, target};
use std::env;
use std::fs;
use std::path::PathBuf;

/// Separates flags of the compiler in the variable that cargo reads them from.
const SEPARATOR: &str = "\u{1f}";

/// Builds the program and looks through it.
pub(crate) fn run() -> Result<(), String> {
    let directories = directories()?;
    let flags: Vec<String> = directories.iter().map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())).collect();
    let directory = target().join("distributed");
    let place = directory.display().to_string();
    let arguments = ["build", "--release", "--locked", "--package", "tooltrail", "--target-dir", &place];
    run_cargo(&[("CARGO_ENCODED_RUSTFLAGS", &flags.join(SEPARATOR))], &arguments).map_err(|error| format!("the build failed; {error}"))?;
    let program = directory.join("release").join(format!("tooltrail{}", env::consts::EXE_SUFFIX));
    let bytes = fs::read(&program).map_err(|error| format!("can't read {}: {error}", program.display()))?;
    for (path, _) in &directories {
        let path = path.display().to_string();
        if bytes.windows(path.len()).any(|part| part == path.as_bytes()) {
            return Err(format!("{} has the path {path} in it", program.display()));
        }
    }
    say(&format!("{}: {} bytes, no path of this machine in it", program.display(), bytes.len()));
    Ok(())
}

/// Directories whose paths the compiler writes into programs, and what stands for each.
fn directories() -> Result<Vec<(PathBuf, &'static str)>, String> {
    let home = env::home_dir().ok_or("there is no home directory")?;
    let of = |variable: &str, usual: &str| env::var_os(variable).map_or_else(|| home.join(usual), PathBuf::from);
    let project = fs::canonicalize(root()).map_err(|error| format!("can't find the project: {error}"))?;
    // The last one that fits counts, so the home directory, which may hold the others, comes first.
    Ok(vec![
        (home.clone(), "home"),
        (of("RUSTUP_HOME", ".rustup"), "rustup"),
        (of("CARGO_HOME", ".cargo"), "cargo"),
        (project, "tooltrail"),
    ])
}
