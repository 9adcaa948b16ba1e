//! `cargo xtask bench`: builds the program, measures it and its peers in turns, and writes the tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::candidates::{self, BenchCandidate, PEER, RunMethod};
use crate::inputs::{self, SEED, testkit};
use crate::measure::{self, ProgramRun};
use crate::options::TaskOptions;
use crate::report::{self, Against, ReportRow};
use crate::workspace::{program, root, run_cargo, say};

pub(crate) const OPTIONS: &[&str] = &["--size", "--dir", "--rounds", "--report"];
const BUILD: &[&str] = &["build", "--release", "--locked", "-p", "tooltrail", "-p", "tooltrail-testkit"];

/// Builds, measures and reports.
pub(crate) fn run(options: &TaskOptions) -> Result<(), String> {
    let size = options.get("--size").unwrap_or("1G");
    let rounds = options.number("--rounds", 5)?.max(1);
    let file = options.get("--report").map(PathBuf::from);
    let file = file.unwrap_or_else(|| root().join("docs/performance.md"));
    // Built first and outside of the measurement, so that a stale binary is never measured.
    run_cargo(&[], BUILD).map_err(|error| format!("the build failed; {error}"))?;
    let (directory, what) = match options.get("--dir") {
        Some(given) => (home(given)?, "Logs of this machine".to_owned()),
        None => (inputs::corpus(size)?, format!("Made-up logs of {size} (seed {SEED})")),
    };
    let floor = floor(&directory, 1)?;
    let (bytes, lines) = (told(&floor, "bytes")? as u64, told(&floor, "lines")?);
    let all = candidates::all();
    let rows = compare(&all, &directory, bytes, rounds)?;
    let tables = format!(
        "{}, {}. {what}: {:.3} GB, {lines} lines. Best of {rounds} interleaved rounds. \
         Peers: {}.\n\n{}\n\
         Inputs that must not be held in memory, each command once:\n\n{}",
        report::today(),
        report::machine(),
        bytes as f64 / 1e9,
        candidates::peers(&all),
        report::times(&rows),
        report::hostile(&hostile()?),
    );
    say(&tables);
    report::write(&file, &tables)?;
    say(&format!("written to {}", file.display()));
    Ok(())
}

fn home(given: &str) -> Result<PathBuf, String> {
    fs::canonicalize(given).map_err(|error| format!("can't open `{given}`: {error}; give a directory laid out like a home"))
}

/// Runs all candidates once per round and keeps the best run of each.
fn compare(all: &[BenchCandidate], directory: &Path, bytes: u64, rounds: usize) -> Result<Vec<(ReportRow, Against)>, String> {
    // Interleaved, so that a slow phase of the machine hits all candidates alike.
    let mut best: Vec<Result<ProgramRun, String>> = vec![Err("not measured".to_owned()); all.len()];
    for round in 1..=rounds {
        for (candidate, best) in all.iter().zip(&mut best) {
            let run = match &candidate.how {
                RunMethod::NotInstalled => Err("not installed".to_owned()),
                // A candidate that failed once is not tried again.
                _ if round > 1 && best.is_err() => continue,
                RunMethod::Floor => floor(directory, candidate.threads),
                RunMethod::Program(path) => measure::run(&mut candidate.command(path, directory), &[0], false),
            };
            match run {
                Ok(run) => {
                    say(&format!("round {round}: {:.3} s {}", run.seconds, candidate.name));
                    *best = Ok(match best {
                        Ok(best) => measure::best(best, &run),
                        Err(_) => run,
                    });
                }
                // Figures without our own program are worthless; without a peer they are not.
                Err(error) if candidate.is_own() => return Err(error),
                Err(error) => {
                    say(&format!("{}: {error}", candidate.name));
                    let absent = matches!(candidate.how, RunMethod::NotInstalled);
                    *best = Err(if absent { "not installed" } else { "failed" }.to_owned());
                }
            }
        }
    }
    let seconds = |wanted: &dyn Fn(&BenchCandidate) -> bool| {
        let index = all.iter().position(wanted)?;
        best[index].as_ref().ok().map(|run| run.seconds)
    };
    let rows = all.iter().zip(&best).map(|(candidate, run)| {
        let row = ReportRow { name: candidate.name.to_owned(), command: candidate.shown.to_owned(), bytes, run: run.clone() };
        let same_floor = |other: &BenchCandidate| matches!(other.how, RunMethod::Floor) && other.threads == candidate.threads;
        let against = Against { floor: seconds(&same_floor), peer: seconds(&|other| other.name == PEER) };
        (row, against)
    });
    Ok(rows.collect())
}

/// The floor, by its own clock: starting a process is not part of it.
fn floor(directory: &Path, threads: usize) -> Result<ProgramRun, String> {
    let mut command = testkit(&["floor", "--threads", &threads.to_string()]);
    let run = measure::run(command.arg(directory), &[0], true)?;
    Ok(ProgramRun { seconds: told(&run, "seconds")?, ..run })
}

/// A figure that the testkit printed after its name.
fn told(run: &ProgramRun, name: &str) -> Result<f64, String> {
    let mut words = run.stdout.split_whitespace().skip_while(|word| *word != name);
    let figure = words.nth(1).and_then(|word| word.parse().ok());
    figure.ok_or_else(|| format!("the testkit's floor did not tell `{name}`: {}", run.stdout))
}

/// The commands that read everything, on inputs that are too large to hold in memory.
fn hostile() -> Result<Vec<ReportRow>, String> {
    let inputs = [("one line of 2 GB", inputs::huge_line()?), ("20 results of 20 MB", inputs::big_results()?)];
    let mut rows = Vec::new();
    for (name, file) in &inputs {
        for task in ["stats", "calls", "check"] {
            let mut command = Command::new(program("tooltrail"));
            // `check` exits with 1 if it found issues, and a line of 2 GB is one.
            let run = measure::run(command.args([task, "--json"]).arg(file), &[0, 1], false)?;
            say(&format!("{:.3} s {task}, {name}", run.seconds));
            rows.push(ReportRow {
                name: (*name).to_owned(),
                command: format!("tooltrail {task} --json FILE"),
                bytes: fs::metadata(file).map_or(0, |metadata| metadata.len()),
                run: Ok(run),
            });
        }
    }
    Ok(rows)
}
