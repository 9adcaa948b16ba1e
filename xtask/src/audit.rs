//! `cargo xtask audit`: known faults, licences and origins of the dependencies, by cargo-deny and `deny.toml`.
//!
//! Not a part of `cargo xtask test`: the list of known faults is fetched from the network, and changes without a change of ours.

use crate::options::TaskOptions;
use crate::workspace::{run_cargo, say, written};
use std::process::{Command, Stdio};

pub(crate) const OPTIONS: &[&str] = &["--only"];

/// What is checked. Only the first needs the network.
const CHECKS: &[&str] = &["advisories", "bans", "licenses", "sources"];

/// Checks the dependencies.
pub(crate) fn run(options: &TaskOptions) -> Result<(), String> {
    let checks: Vec<&str> = match options.get("--only") {
        None => CHECKS.to_vec(),
        Some(one) if CHECKS.contains(&one) => vec![one],
        Some(other) => return Err(format!("`--only {other}`: give one of {}", CHECKS.join(", "))),
    };
    ensure()?;
    let arguments: Vec<&str> = ["deny", "--locked", "check"].into_iter().chain(checks).collect();
    say(&written(&[], &arguments));
    run_cargo(&[], &arguments)
}

/// Installs cargo-deny where it is missing.
fn ensure() -> Result<(), String> {
    let is_there = || {
        let version = Command::new("cargo").args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    if is_there() {
        return Ok(());
    }
    say("installing cargo-deny, which takes some minutes");
    run_cargo(&[], &["install", "cargo-deny", "--locked"])
}
