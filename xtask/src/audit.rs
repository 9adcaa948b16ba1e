//! `cargo xtask audit`: known faults, licences and origins of the dependencies, by cargo-deny and `deny.toml`.
//!
//! Not a part of `cargo xtask test`: the list of known faults is fetched from the network, and changes without a change of ours.

use crate::options::TaskOptions;
use crate::workspace::{run_cargo, say, written};
use std::process::{Command, Stdio};

pub(crate) const OPTIONS: &[&str] = &["--only"];

/// What is checked. Only the last needs the network, so that its failure leaves the others done.
const CHECKS: &[&str] = &["bans", "licenses", "sources", ADVISORIES];
const ADVISORIES: &str = "advisories";

/// Checks the dependencies.
pub(crate) fn run(options: &TaskOptions) -> Result<(), String> {
    let checks: Vec<&str> = match options.get("--only") {
        None => CHECKS.to_vec(),
        Some(one) if CHECKS.contains(&one) => vec![one],
        Some(other) => return Err(format!("`--only {other}`: give one of {}", CHECKS.join(", "))),
    };
    ensure()?;
    let fails = |check: &&str| {
        let arguments = ["deny", "--locked", "check", check];
        say(&written(&[], &arguments));
        run_cargo(&[], &arguments).is_err()
    };
    let failed: Vec<&str> = checks.iter().copied().filter(|check| fails(check)).collect();
    if failed.is_empty() {
        return Ok(());
    }
    // Offline nothing is known about faults, which is not the same as no known fault.
    let offline = if failed.contains(&ADVISORIES) { "; the list of known faults is fetched from github.com" } else { "" };
    Err(format!("failed: {}{offline}", failed.join(", ")))
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
