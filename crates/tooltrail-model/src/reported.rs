//! The outcome that a test run, a build or a linter reports in its own summary line: `41 passed`, `test result: FAILED`.
//!
//! It is weaker than an exit code, because a program may print anything and a pipe may hide lines; it is shown only where no exit
//! code of the command was recorded, as "output says …". It never becomes a status. Only lines that a known tool prints as its
//! last word count: a remark such as `0 errors` alone says nothing about what was looked at.

mod counts;

use crate::command::{CommandLine, CommandOutcome, Purpose};
use crate::failure_hint::{ends, seen};
use crate::text::headline;
use counts::TestCounts;
use serde::{Deserialize, Serialize};

/// The longest line that is returned, in characters.
const LONGEST: usize = 200;
/// The longest line that is looked at, in bytes. A longer one is data.
const LINE: usize = 1024;

/// An outcome that the output of a check reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// The outcome.
    pub outcome: ReportedOutcome,
    /// The line that reports it, as printed.
    pub text: String,
}

/// The outcome that a summary line reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedOutcome {
    /// Everything passed.
    Passed,
    /// Something failed.
    Failed,
}

/// The outcome that the output of a command line reports for its check of a purpose; `None` where no line sums it up.
///
/// `alone` says that the line has no other check: only then is the last word of a task runner (`npm ERR!`) about this one.
pub fn reported(output: &str, purpose: Purpose, alone: bool) -> Option<Reported> {
    let (head, tail) = ends(output);
    let (mut best, mut unittest) = (None::<(LineVerdict, String)>, false);
    for line in head.lines().chain(tail.lines()) {
        let line = seen(line);
        let text = line.trim();
        if text.is_empty() || text.len() > LINE {
            continue;
        }
        let plain = unprefixed(text);
        // `OK` sums up a run only right below its count of tests.
        let told = if unittest && (plain == "OK" || plain.starts_with("OK (")) { Some(LineVerdict::passed(1)) } else { None };
        unittest = plain.starts_with("Ran ") && plain.contains(" test");
        let Some(verdict) = told.or_else(|| verdict(plain, purpose, alone)) else { continue };
        // A failure outweighs a success; of several the one about the most tests says most, and the last one counts.
        if best.as_ref().is_none_or(|(have, _)| verdict.rank() >= have.rank()) {
            best = Some((verdict, headline(bare(plain), LONGEST)));
        }
    }
    best.map(|(verdict, text)| Reported { outcome: verdict.outcome, text })
}

/// The outcomes that the output of a command line reports of its checks, by purpose; only of those whose own outcome is not known.
pub fn of_checks(line: &CommandLine, outcomes: &[CommandOutcome], output: &str) -> Vec<(Purpose, Reported)> {
    let checks = || line.commands.iter().zip(outcomes).filter_map(|(command, outcome)| Some((command.purpose.filter(is_check)?, *outcome)));
    let alone = checks().count() == 1;
    let unknown = |purpose: &Purpose| {
        checks().any(|(known, outcome)| known == *purpose && matches!(outcome, CommandOutcome::Masked | CommandOutcome::Unknown))
    };
    let purposes = [Purpose::Test, Purpose::Build, Purpose::Lint].into_iter().filter(unknown);
    // Cargo's last word is that of a linter only where Cargo is the linter: a task runner may build before it checks.
    let cargo_lints = line.commands.iter().any(|command| command.purpose == Some(Purpose::Lint) && command.family == "cargo");
    let own = |(purpose, reported): &(Purpose, Reported)| *purpose != Purpose::Lint || cargo_lints || !finished(&reported.text);
    purposes.filter_map(|purpose| Some((purpose, reported(output, purpose, alone)?))).filter(own).collect()
}

/// Whether a purpose is to check something.
fn is_check(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Test | Purpose::Build | Purpose::Lint)
}

/// The verdict of one line.
#[derive(Clone, Copy)]
struct LineVerdict {
    outcome: ReportedOutcome,
    /// Whether it is the summary of the check itself, and not that of a task runner around it.
    own: bool,
    /// Number of tests, errors and the like that it is about.
    count: u64,
}

impl LineVerdict {
    fn passed(count: u64) -> Self {
        LineVerdict { outcome: ReportedOutcome::Passed, own: true, count }
    }

    fn failed(count: u64) -> Self {
        LineVerdict { outcome: ReportedOutcome::Failed, own: true, count }
    }

    fn rank(self) -> (bool, bool, u64) {
        (self.outcome == ReportedOutcome::Failed, self.own, self.count)
    }
}

/// The verdict of a line for a purpose.
fn verdict(line: &str, purpose: Purpose, alone: bool) -> Option<LineVerdict> {
    let own = match purpose {
        Purpose::Test => tested(line),
        Purpose::Build => built(line),
        Purpose::Lint => linted(line),
        _ => return None,
    };
    let failed = || {
        const COMPILER: &[&str] = &["error: could not compile", "BUILD FAILED", "BUILD FAILURE", "FAILURE: Build failed"];
        COMPILER.iter().any(|start| line.starts_with(start)).then(|| LineVerdict::failed(0))
    };
    let runner = || (alone && gave_up(line)).then_some(LineVerdict { own: false, ..LineVerdict::failed(0) });
    own.or_else(failed).or_else(runner)
}

/// The verdict of a test runner's summary.
fn tested(line: &str) -> Option<LineVerdict> {
    const PASSED: &[&str] =
        &["PASS", "All tests passed!", "All specs passed!", "** TEST SUCCEEDED **", "BUILD SUCCESS", "BUILD SUCCESSFUL"];
    const FAILED: &[&str] = &["FAIL", "FAILURES!", "** TEST FAILED **", "Some tests failed."];
    let bare = bare(line);
    if PASSED.contains(&bare) || line.starts_with("BUILD SUCCESSFUL in ") {
        return Some(LineVerdict::passed(0));
    }
    if FAILED.contains(&bare) || line.starts_with("test result: FAILED") && TestCounts::of(bare).is_none() {
        return Some(LineVerdict::failed(0));
    }
    if line.starts_with("FAILED (failures=") || line.starts_with("FAILED (errors=") || line.starts_with("error: test failed") {
        return Some(LineVerdict::failed(0));
    }
    package(line).or_else(|| TestCounts::of(bare).and_then(TestCounts::verdict))
}

/// The verdict of `go test` about a package: `ok`, the package, and how long it took.
fn package(line: &str) -> Option<LineVerdict> {
    let mut words = line.split_whitespace();
    let (sign, package, took) = (words.next()?, words.next()?, words.next()?);
    let timed = took == "(cached)" || took.strip_suffix('s').is_some_and(|number| number.parse::<f64>().is_ok());
    // Test Anything Protocol has a number behind `ok`.
    let named = package.parse::<u64>().is_err() && package.contains(['/', '.']) || line.contains('\t');
    match sign {
        "ok" if timed && named => Some(LineVerdict::passed(0)),
        "FAIL" if named && (timed || took.starts_with('[')) => Some(LineVerdict::failed(0)),
        _ => None,
    }
}

/// The verdict of a compiler's or bundler's last word.
fn built(line: &str) -> Option<LineVerdict> {
    const PASSED: &[&str] = &[
        "built in ",
        "Compiled successfully",
        "BUILD SUCCESS",
        "** BUILD SUCCEEDED **",
        "Build succeeded.",
        "Build succeeded in ",
        "Build success in ",
        "Build complete!",
    ];
    const FAILED: &[&str] = &[
        "Failed to compile",
        "Build failed",
        "Build FAILED",
        "** BUILD FAILED **",
        "ninja: build stopped",
        "error during build",
        "Build error occurred",
    ];
    let bare = bare(line);
    let pages = bare.split_once(" page(s) built in ").is_some_and(|(count, _)| count.parse::<u64>().is_ok());
    if finished(line) || pages || PASSED.iter().any(|start| bare.starts_with(start) || line.starts_with(start)) {
        return Some(LineVerdict::passed(0));
    }
    if FAILED.iter().any(|start| bare.starts_with(start) || line.starts_with(start)) {
        return Some(LineVerdict::failed(0));
    }
    if let Some((_, rest)) = line.split_once(" compiled ").filter(|(bundler, _)| bundler.starts_with("webpack ")) {
        let errors = rest.strip_prefix("with ").and_then(|rest| rest.split_once(" error"));
        return match errors {
            Some((count, _)) => count.parse().ok().filter(|count| *count > 0).map(LineVerdict::failed),
            None => rest.starts_with("successfully").then(|| LineVerdict::passed(0)),
        };
    }
    found_errors(bare)
}

/// The verdict of a linter's or type checker's last word.
fn linted(line: &str) -> Option<LineVerdict> {
    const PASSED: &[&str] = &[
        "All checks passed!",
        "Success: no issues found in ",
        "All matched files use Prettier code style!",
        "No ESLint warnings or errors",
        "svelte-check found 0 errors",
    ];
    let bare = bare(line);
    if finished(line) || PASSED.iter().any(|start| bare.starts_with(start)) {
        return Some(LineVerdict::passed(0));
    }
    let number = |text: &str| text.trim_start_matches('(').parse::<u64>().ok();
    let words: Vec<&str> = bare.split_whitespace().collect();
    match words.as_slice() {
        // oxlint: `Found 0 warnings and 0 errors.`
        ["Found", warnings, "warning" | "warnings", "and", errors, "error." | "errors."] => {
            number(warnings)?;
            of_errors(number(errors)?)
        }
        // pyright: `0 errors, 2 warnings, 0 informations`
        [errors, "error," | "errors,", _, "warning," | "warnings,", _, "information" | "informations", ..] => of_errors(number(errors)?),
        // eslint: `3 problems (2 errors, 1 warning)`. Warnings alone may have failed it or not.
        [_, "problem" | "problems", errors, "error," | "errors,", ..] => {
            number(errors).filter(|errors| *errors > 0).map(LineVerdict::failed)
        }
        _ => found_errors(bare),
    }
}

fn of_errors(errors: u64) -> Option<LineVerdict> {
    Some(if errors == 0 { LineVerdict::passed(0) } else { LineVerdict::failed(errors) })
}

/// The verdict of `Found 3 errors`; without any it says nothing about what was looked at.
fn found_errors(line: &str) -> Option<LineVerdict> {
    let mut words = line.split_whitespace();
    let (found, count, errors) = (words.next()?, words.next()?, words.next()?);
    let counted = found == "Found" && matches!(errors.trim_end_matches('.'), "error" | "errors");
    counted.then(|| count.parse().ok()).flatten().filter(|count| *count > 0).map(LineVerdict::failed)
}

/// Whether a line is the last one that Cargo prints where everything compiled.
fn finished(line: &str) -> bool {
    line.starts_with("Finished ") && line.contains(" target(s) in ")
}

/// Whether a line is the last word of a task runner whose command failed.
fn gave_up(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "npm ERR! code ",
        "npm error code ",
        "npm ERR! Lifecycle script ",
        "npm error Lifecycle script ",
        "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL",
        "ELIFECYCLE",
        "[ELIFECYCLE]",
        "error Command failed with exit code ",
        "error: Recipe ",
        "error: script ",
        "Execution failed for task",
    ];
    let make = (line.starts_with("make: ***") || line.starts_with("make[") || line.starts_with("gmake: ***"))
        && line.contains("*** [")
        && line.contains("] Error ");
    let mise = line.starts_with('[') && line.contains("] ERROR task failed");
    make || mise || STARTS.iter().any(|start| line.starts_with(start))
}

/// A line without the clock and the names that bundlers and task runners print before it: `12:00:01 [vite]`, `web:test:`.
fn unprefixed(line: &str) -> &str {
    let mut rest = line;
    // There are at most a clock, half of the day, a package and a tag.
    for _ in 0..4 {
        let Some((word, after)) = rest.split_once(' ') else { break };
        let clock = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
        let tag = matches!(word, "[INFO]" | "[ERROR]" | "[WARNING]" | "[vite]" | "[build]" | "AM" | "PM");
        let package = word.strip_suffix(':').is_some_and(|name| name.contains(':') && !name.contains("::"));
        if !(clock && word.contains(':') || tag || package) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// A line without the rules and signs around it: `===== 41 passed in 0.42s =====`.
fn bare(line: &str) -> &str {
    line.trim_matches(|letter: char| {
        matches!(letter, '=' | '─' | '━' | '⎯' | '✓' | '✔' | '✗' | '✖' | '×' | '❌' | '✅' | 'ℹ' | '#' | '⚡' | '\u{fe0f}' | ' ')
    })
}
