//! The logs and the commands whose outputs are compared.

use super::GoldenRun;
use crate::workspace::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Logs to run commands over.
pub(crate) struct ComparedLogs {
    pub(crate) name: String,
    /// Arguments that name them: a directory laid out like a home, so that the catalogue and the pages take part.
    pub(crate) arguments: Vec<String>,
}

/// One command.
pub(crate) struct Case {
    pub(crate) arguments: Vec<String>,
}

impl Case {
    pub(crate) fn title(&self) -> String {
        format!("tooltrail {}", self.arguments.join(" "))
    }
}

impl ComparedLogs {
    /// The demo, every group of fixtures and the corpus; only `chosen` where it is given: `demo`, or a directory.
    pub(crate) fn all(chosen: Option<&str>) -> Result<Vec<Self>, String> {
        let demo = ComparedLogs { name: "demo".to_owned(), arguments: vec!["--demo".to_owned()] };
        match chosen {
            Some("demo") => return Ok(vec![demo]),
            Some(directory) => return Ok(vec![ComparedLogs::home(Path::new(directory))?]),
            None => {}
        }
        let tests = root().join("crates").join("tooltrail-formats").join("tests");
        // The corpus of real logs is outside of the repository, and on other machines it is missing.
        let corpus = root().join("..").join("shared").join("corpus");
        let directories = [tests.join("fixtures"), tests.join("tools"), corpus.join("fixtures"), corpus.join("real")];
        let found = directories.iter().filter(|directory| directory.is_dir()).map(|directory| ComparedLogs::home(directory));
        [Ok(demo)].into_iter().chain(found).collect()
    }

    /// A home directory in which the logs below `directory` lie where agents keep theirs.
    fn home(directory: &Path) -> Result<Self, String> {
        // Two parts, because several groups are called `fixtures`.
        let name = directory.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>();
        let name = name.into_iter().rev().collect::<Vec<_>>().join("-").replace("..", "");
        let home = crate::workspace::target().join("golden-homes").join(&name);
        // Laid out once, because copying takes long; after a change of the logs the directory has to be removed.
        if !home.is_dir() {
            lay_out(directory, &home).map_err(|error| format!("can't copy `{}`: {error}", directory.display()))?;
        }
        Ok(ComparedLogs { name, arguments: vec!["--root".to_owned(), home.display().to_string()] })
    }
}

/// Copies logs to where an agent would keep them. Agents are recognised by content, so one place will do for all line files;
/// documents are found only where their own agent looks for them.
fn lay_out(from: &Path, home: &Path) -> std::io::Result<()> {
    let mut open = vec![from.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)?.flatten() {
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                open.push(path);
                continue;
            }
            // Codex names its logs `rollout-…`; those that are documents are found only in its own directory.
            let codex = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("rollout-"));
            let place: PathBuf = if codex { [".codex", "sessions"].iter().collect() } else { [".claude", "projects"].iter().collect() };
            let to = home.join(place).join(path.strip_prefix(from).unwrap_or(&path));
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

/// Commands over everything: each once from the logs themselves and once from the catalogue.
pub(crate) fn of_logs(logs: &ComparedLogs) -> Vec<Case> {
    const COMMANDS: &[&str] = &[
        "calls --json",
        "calls --json --copies",
        "calls -n 0",
        "calls -n 0 status:failed",
        "calls -n 0 has:masked",
        "list --json",
        "list -n 0",
        "check --json",
        "check",
        "stats --json",
        "stats",
        "stats --by day --json",
        "stats --by tool",
        "search error --json",
        "search test -n 50",
    ];
    // The very first command fills the catalogue; later ones read from it, unless told not to.
    let cases = COMMANDS.iter().flat_map(|line| [case(line, logs, &[]), case(line, logs, &["--no-cache"])]);
    cases.collect()
}

/// Every session, shown and exported in every format.
pub(crate) fn of_sessions(run: &GoldenRun<'_>, logs: &ComparedLogs) -> Result<Vec<Case>, String> {
    const COMMANDS: &[&str] = &[
        "show",
        "show --all",
        "show --changes",
        "export --to html -o -",
        "export --to html --plain -o -",
        "export --to md --bodies all -o -",
        "export --to pr -o -",
        "export --to json -o -",
        "export --to patch -o -",
        "resume",
    ];
    let sessions = ids(run, logs, "list --json", "session")?;
    Ok(sessions.iter().flat_map(|session| COMMANDS.iter().map(|line| case(line, logs, &[session]))).collect())
}

/// The values of a field of what a command prints as JSON, in order, each once.
pub(crate) fn ids(run: &GoldenRun<'_>, logs: &ComparedLogs, line: &str, field: &str) -> Result<Vec<String>, String> {
    // Found as text: this program has no JSON reader, and rows are printed one per line.
    let printed = String::from_utf8_lossy(&run.output(&case(line, logs, &[]))?).into_owned();
    let key = format!("\"{field}\":\"");
    let mut found: Vec<String> = Vec::new();
    for line in printed.lines() {
        let value = line.split_once(&key).and_then(|(_, rest)| rest.split_once('"')).map(|(value, _)| value.to_owned());
        if let Some(value) = value.filter(|value| !value.is_empty() && !value.contains('\\') && !found.contains(value)) {
            found.push(value);
        }
    }
    Ok(found)
}

fn case(line: &str, logs: &ComparedLogs, more: &[&str]) -> Case {
    let own = line.split(' ').chain(more.iter().copied()).map(str::to_owned);
    Case { arguments: own.chain(logs.arguments.iter().cloned()).collect() }
}
