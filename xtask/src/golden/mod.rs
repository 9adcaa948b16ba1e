//! `cargo xtask golden`: holds the outputs of one build to those of another.
//!
//! A refactoring must not change what the program says. This runs two programs (by default the last release build, and the one that
//! `--against` names) with the same commands over the fixtures, the demo and, where it lies beside the project, the corpus of real logs,
//! and reports every output that is not byte for byte the same. `cases` lists the commands, `pages` the pages; `compare` compares outputs.

mod cases;
mod compare;
mod pages;

use cases::{Case, ComparedLogs};
use compare::Ignored;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::options::TaskOptions;
use crate::workspace::{program, root, say, target};

pub(crate) const OPTIONS: &[&str] = &["--program", "--against", "--without", "--logs", "--keep"];

/// Far enough behind every log that no session counts as alive, so that outputs do not depend on the clock.
const NOW: &str = "2030-01-01T00:00:00Z";

/// Most differing outputs to show for each group of logs; the others are only counted.
const SHOWN: usize = 12;

/// Runs both programs over all logs, and reports what differs.
pub(crate) fn run(options: &TaskOptions) -> Result<(), String> {
    let new = options.get("--program").map_or_else(|| program("tooltrail"), PathBuf::from);
    let old = PathBuf::from(options.get("--against").ok_or("name the other build: --against PROGRAM")?);
    let ignored = Ignored::fields(options.get("--without").unwrap_or_default());
    let place = target().join("golden");
    let mut total = Report::default();
    for logs in ComparedLogs::all(options.get("--logs"))? {
        let programs = [("old", &old), ("new", &new)];
        let runs: Vec<GoldenRun<'_>> =
            programs.into_iter().map(|(name, program)| GoldenRun::new(name, program, &place)).collect::<Result<_, _>>()?;
        let report = compare_logs(&logs, &runs, &ignored)?;
        say(&format!("{}: {} outputs, {} differ", logs.name, report.outputs, report.differing));
        total.outputs += report.outputs;
        total.differing += report.differing;
    }
    if options.get("--keep").is_none() {
        let _ = fs::remove_dir_all(&place);
    }
    match total.differing {
        0 => {
            say(&format!("{} outputs, all the same", total.outputs));
            Ok(())
        }
        some => Err(format!("{some} of {} outputs differ", total.outputs)),
    }
}

#[derive(Default)]
struct Report {
    outputs: usize,
    differing: usize,
}

impl Report {
    fn take(&mut self, title: &str, outputs: &[Vec<u8>], ignored: &Ignored) {
        self.outputs += 1;
        if let [old, new] = outputs
            && let Some(difference) = compare::first_difference(old, new, ignored)
        {
            self.differing += 1;
            // One fault may show in every page; the first outputs show it as well as all of them.
            if self.differing > SHOWN {
                return;
            }
            say(&format!("differs: {title}\n{difference}"));
        }
    }
}

fn compare_logs(logs: &ComparedLogs, runs: &[GoldenRun<'_>], ignored: &Ignored) -> Result<Report, String> {
    let mut report = Report::default();
    for case in cases::of_logs(logs).into_iter().chain(cases::of_sessions(&runs[0], logs)?) {
        let outputs = runs.iter().map(|run| run.output(&case)).collect::<Result<Vec<_>, _>>()?;
        report.take(&case.title(), &outputs, ignored);
    }
    let served: Vec<_> = runs.iter().map(|run| pages::Site::start(run, logs)).collect::<Result<_, _>>()?;
    for path in pages::paths(&runs[0], logs)? {
        let outputs = served.iter().map(|site| site.get(&path)).collect::<Result<Vec<_>, _>>()?;
        report.take(&format!("GET {path}"), &outputs, ignored);
    }
    Ok(report)
}

/// One of the two programs, with a cache of its own.
pub(crate) struct GoldenRun<'p> {
    program: &'p Path,
    cache: PathBuf,
}

impl<'p> GoldenRun<'p> {
    fn new(name: &str, program: &'p Path, place: &Path) -> Result<Self, String> {
        let cache = place.join(name);
        // A catalogue of an earlier run would hide a fault of filling one.
        let _ = fs::remove_dir_all(&cache);
        fs::create_dir_all(&cache).map_err(|error| format!("can't make `{}`: {error}", cache.display()))?;
        Ok(GoldenRun { program, cache })
    }

    /// Standard output, standard error and exit code of a command, one behind the other.
    fn output(&self, case: &Case) -> Result<Vec<u8>, String> {
        let mut command = Command::new(self.program);
        command.args(&case.arguments).args(["--now", NOW, "--color", "never"]).current_dir(root());
        command.env("TOOLTRAIL_CACHE", &self.cache).env("COLUMNS", "140").stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("can't start `{}`: {error}", self.program.display()))?;
        // Messages and exit codes must stay the same too.
        let mut bytes = output.stdout;
        bytes.extend_from_slice(&output.stderr);
        bytes.extend_from_slice(format!("\nexit {:?}\n", output.status.code()).as_bytes());
        Ok(bytes)
    }
}
