//! Candidates of the bench: the floors, our own commands, and the peers that are installed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::measure;
use crate::workspace::program;

/// The peer that the tables compare with.
pub(crate) const PEER: &str = "ccusage";

/// A command to measure.
pub(crate) struct BenchCandidate {
    pub(crate) name: &'static str,
    /// The command as typed, with `DIR` for the directory.
    pub(crate) shown: &'static str,
    /// Threads of the floor that this is compared with.
    pub(crate) threads: usize,
    pub(crate) how: RunMethod,
}

pub(crate) enum RunMethod {
    /// The testkit's floor, which times itself.
    Floor,
    /// A program, timed from outside.
    Program(PathBuf),
    NotInstalled,
}

/// Everything to compare, the floors first.
pub(crate) fn all() -> Vec<BenchCandidate> {
    let own = || RunMethod::Program(program("tooltrail"));
    let peer = |path: Option<PathBuf>| path.map_or(RunMethod::NotInstalled, RunMethod::Program);
    let ccusage = env::var_os("CCUSAGE").map(PathBuf::from).or_else(|| on_path(PEER));
    let rows = [
        ("floor, 1 thread", "tooltrail-testkit floor DIR --threads 1", 1, RunMethod::Floor),
        ("floor, 2 threads", "tooltrail-testkit floor DIR --threads 2", 2, RunMethod::Floor),
        ("totals, 1 thread", "tooltrail stats --json --root DIR --threads 1", 1, own()),
        ("totals, 2 threads", "tooltrail stats --json --root DIR --threads 2", 2, own()),
        ("every call", "tooltrail calls --json --root DIR", 2, own()),
        // It looks for logs in the home directory and has no option for another place.
        (PEER, "HOME=DIR XDG_CONFIG_HOME=DIR/.config ccusage claude daily --offline --json", 2, peer(ccusage)),
        ("ripgrep, one literal", "rg -uu -c --no-ignore tool_use_id DIR", 2, peer(on_path("rg"))),
    ];
    let candidate = |(name, shown, threads, how)| BenchCandidate { name, shown, threads, how };
    rows.map(candidate).into()
}

/// Versions of the peers, by the first line that each prints.
pub(crate) fn peers(all: &[BenchCandidate]) -> String {
    let said = all.iter().filter(|candidate| !candidate.is_own()).filter_map(|candidate| {
        let RunMethod::Program(path) = &candidate.how else {
            return None;
        };
        let run = measure::run(Command::new(path).arg("--version"), &[0], true).ok()?;
        run.stdout.lines().next().map(str::to_owned)
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() { "none installed".to_owned() } else { said.join(", ") }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

impl BenchCandidate {
    /// Whether a failure makes the whole comparison worthless.
    pub(crate) fn is_own(&self) -> bool {
        self.shown.starts_with("tooltrail")
    }

    /// The command to run: `path` for the program's name and `directory` for `DIR`.
    pub(crate) fn command(&self, path: &Path, directory: &Path) -> Command {
        let place = directory.to_string_lossy();
        let mut command = Command::new(path);
        // If set, it would lead the peer to the logs of the person who runs the bench.
        command.env_remove("CLAUDE_CONFIG_DIR");
        let mut words = self.shown.split_whitespace();
        // Leading `NAME=value` words are variables; the first other word is the program itself.
        for word in words.by_ref() {
            match word.split_once('=') {
                Some((name, value)) => command.env(name, value.replace("DIR", &place)),
                None => break,
            };
        }
        command.args(words.map(|word| word.replace("DIR", &place)));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_is_the_one_that_runs() {
        let all = all();
        let peer = all.iter().find(|candidate| candidate.name == PEER).unwrap();
        let command = peer.command(Path::new("/bin/ccusage"), Path::new("/logs"));
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments, ["claude", "daily", "--offline", "--json"]);
        let variables: Vec<_> = command.get_envs().collect();
        assert!(variables.contains(&("XDG_CONFIG_HOME".as_ref(), Some("/logs/.config".as_ref()))));
        assert!(variables.contains(&("CLAUDE_CONFIG_DIR".as_ref(), None)));
        assert!(!peer.is_own());
    }
}
