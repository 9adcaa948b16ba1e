//! Chromium and its driver for the browser tests: installed where they are missing.

use crate::workspace::say;
use std::process::{Command, Stdio};

/// The programs that the tests start, and the packages that have them.
const NEEDED: &[(&str, &str)] = &[("chromium", "chromium"), ("chromedriver", "chromium-driver")];

/// Installs missing programs.
pub(crate) fn ensure() -> Result<(), String> {
    let missing: Vec<&str> = NEEDED.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    say(&format!("installing {} for the browser tests", missing.join(" and ")));
    let hint = format!("install `{}` yourself and run this again", missing.join("` and `"));
    // The package list may be old or empty; if it cannot be updated, the existing one may still work.
    let _ = apt(&["update", "-qq"]);
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(&missing);
    if !apt(&arguments) {
        return Err(format!("cannot install {}; {hint}", missing.join(" and ")));
    }
    // A package may install without providing the program under this name.
    match NEEDED.iter().find(|(program, _)| !is_there(program)) {
        Some((program, _)) => Err(format!("`{program}` is still missing; {hint}")),
        None => Ok(()),
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs `apt-get` as root, or through `sudo` if that needs no password.
fn apt(arguments: &[&str]) -> bool {
    let run = |program: &str, first: &[&str]| {
        let mut command = Command::new(program);
        command.args(first).args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    run("apt-get", &[]) || run("sudo", &["-n", "apt-get"])
}
