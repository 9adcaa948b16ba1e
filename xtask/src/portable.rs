//! `cargo xtask portable`: checks that the program compiles for other systems.
//!
//! Only Rust is checked. The few parts in C need a compiler for the other system, which is rarely installed, and nothing is
//! linked; so a program that does nothing stands in for a missing one.

use crate::workspace::{run_cargo, say, written};
use std::process::Command;

/// Systems to check for.
const TARGETS: &[&str] = &["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// Checks for each system.
pub(crate) fn run() -> Result<(), String> {
    for target in TARGETS {
        let added = Command::new("rustup").args(["target", "add", target]).status();
        if !added.is_ok_and(|status| status.success()) {
            return Err(format!("the standard library for `{target}` is missing; `rustup target add {target}` gets it"));
        }
        // Names that the `cc` crate looks for.
        let tools = ["CC", "AR"].map(|tool| format!("{tool}_{}", target.replace('-', "_")));
        let missing: Vec<(&str, &str)> =
            tools.iter().filter(|tool| std::env::var_os(tool).is_none()).map(|tool| (tool.as_str(), "true")).collect();
        let arguments = ["check", "--package", "tooltrail", "--locked", "--target", target];
        say(&written(&missing, &arguments));
        run_cargo(&missing, &arguments).map_err(|error| format!("it does not compile for {target}; {error}"))?;
    }
    say("compiles for all of them");
    Ok(())
}
