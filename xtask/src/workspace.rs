//! Paths of the project and of its built programs, and running cargo in it.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Prints a line; a closed pipe is not an error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// A duration for people: `0.4 s`, `2 m 05 s`.
pub(crate) fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} m {:02} s", seconds / 60, seconds % 60),
    }
}

/// The directory of the workspace.
pub(crate) fn root() -> PathBuf {
    // Read at run time: a binary shared between checkouts must not remember where it was built.
    let own = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let parent = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    parent.unwrap_or_else(|| PathBuf::from("."))
}

/// Build directory of cargo. This program was built there too, whatever setting chose it.
pub(crate) fn target() -> PathBuf {
    let own = env::current_exe().ok();
    // `target/debug/xtask`: two levels up.
    let built = own.as_deref().and_then(|path| path.ancestors().nth(2));
    built.map_or_else(|| root().join("target"), Path::to_owned)
}

/// A program of this workspace from the release build.
pub(crate) fn program(name: &str) -> PathBuf {
    built("release", name)
}

/// A program of this workspace from a build.
pub(crate) fn built(profile: &str, name: &str) -> PathBuf {
    target().join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// A cargo command in the workspace.
fn cargo(arguments: &[&str]) -> Command {
    // The cargo that runs this task, so that both use the same toolchain.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a cargo command with `variables` set; the error says how to repeat it.
pub(crate) fn run_cargo(variables: &[(&str, &str)], arguments: &[&str]) -> Result<(), String> {
    let status = cargo(arguments).envs(variables.iter().copied()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("repeat it with\n  {}", written(variables, arguments))),
        Err(error) => Err(format!("can't start cargo: {error}; is it on PATH?")),
    }
}

/// A cargo command as typed.
pub(crate) fn written(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut line = String::new();
    for (name, value) in variables {
        line += &format!("{name}={} ", quoted(value));
    }
    line += "cargo";
    for argument in arguments {
        line += &format!(" {}", quoted(argument));
    }
    line
}

fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_back() {
        assert_eq!(written(&[("RUSTDOCFLAGS", "-D warnings")], &["doc", "--locked"]), "RUSTDOCFLAGS=\"-D warnings\" cargo doc --locked");
    }

    #[test]
    fn times_are_short_to_read() {
        assert_eq!(spoken(Duration::from_millis(440)), "0.4 s");
        assert_eq!(spoken(Duration::from_secs(125)), "2 m 05 s");
    }
}
