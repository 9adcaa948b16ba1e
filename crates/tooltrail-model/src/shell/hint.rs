//! The words of a failure in what a command printed.
//!
//! They prove nothing: a program may print anything. They are told beside an outcome that nobody recorded, and said to be a hint.

use crate::text::{headline, without_escapes};
use std::borrow::Cow;

/// How much of an output is looked at, from its beginning and from its end: what failed is said at one of them.
const LOOKED: usize = 64 * 1024;
/// The longest line that is given, in characters.
const LONGEST: usize = 200;

/// The line of an output that says most plainly that something failed, in the words of known test runners, compilers and package
/// managers; none where nothing says so.
pub fn hint(output: &str) -> Option<String> {
    let (head, tail) = ends(output);
    let mut best: Option<(u8, String)> = None;
    for line in head.lines().chain(tail.lines()) {
        let plain = seen(line);
        let Some(rank) = rank(plain.trim()) else { continue };
        // The first error is nearest to the cause, the last summary is the one that counts.
        let better = best.as_ref().is_none_or(|(have, _)| rank > *have || (rank == *have && rank == SUMMARY));
        if better {
            best = Some((rank, headline(&plain, LONGEST)));
        }
    }
    best.map(|(_, line)| line)
}

/// A line that sums up a run.
const SUMMARY: u8 = 3;
/// A line that says that a command failed.
const ENDED: u8 = 2;
/// A line that tells of one error or one failed test.
const ONE: u8 = 1;

/// The beginning and the end of a text, cut at whole characters.
fn ends(text: &str) -> (&str, &str) {
    if text.len() <= 2 * LOOKED {
        return (text, "");
    }
    let head = text.floor_char_boundary(LOOKED);
    let tail = text.floor_char_boundary(text.len() - LOOKED);
    (&text[..head], &text[tail..])
}

/// A line without what colours it and without what was written over.
fn seen(line: &str) -> Cow<'_, str> {
    without_escapes(line.trim_end_matches('\r').rsplit('\r').next().unwrap_or(line))
}

/// How plainly a line says that something failed.
fn rank(line: &str) -> Option<u8> {
    if line.is_empty() || line.len() > 4096 {
        return None;
    }
    if sums_up(line) {
        return Some(SUMMARY);
    }
    if ended(line) {
        return Some(ENDED);
    }
    one(line).then_some(ONE)
}

/// The last lines of test runners and linters, which count: `2 failed, 3 passed`, `Tests: 2 failed`, `✖ 3 problems`.
fn sums_up(line: &str) -> bool {
    if line.starts_with("test result: FAILED") || line == "FAIL" || line.starts_with("FAIL\t") || line.starts_with("BUILD FAILED") {
        return true;
    }
    // rspec, minitest and mocha count words of their own; words that only runners use stand near the number.
    let lower = line.to_lowercase();
    let marked = line.starts_with(['=', '✗', '✖', '×', '❌']) && line.len() < 200;
    let summary = marked
        || ["tests:", "test files", "test suites:", "tests ", "failed!", "found ", "summary", "failures:", "test run"]
            .iter()
            .any(|start| lower.starts_with(start))
        || lower.contains("passed")
        || lower.contains("examples,")
        || lower.contains("assertions")
        || lower.contains("tests run:")
        || lower.contains("warnings");
    let failing = lower.ends_with(" failing") && lower.split_whitespace().count() == 2;
    let only =
        lower.ends_with(" failed") || lower.contains(" failed in ") || lower.ends_with(" errors") || lower.ends_with(" errors generated.");
    let short = lower.split_whitespace().count() <= 4 && only;
    (summary || failing || short) && counts(&lower)
}

/// Whether a line counts failures, and more than none: `2 failed`, `1 test failed`, `errors: 1`.
fn counts(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |word: &str| word.parse::<u64>().is_ok_and(|count| count > 0);
    let counted = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        matches!(word, "failed" | "failures" | "failure" | "failing" | "errors" | "error" | "problems" | "problem")
    };
    let before = |word: &str| number(word.trim_start_matches(|letter: char| !letter.is_alphanumeric()));
    let after = |word: &str| number(word.trim_end_matches(|letter: char| !letter.is_alphanumeric()));
    words.windows(2).any(|pair| (before(pair[0]) && counted(pair[1])) || (pair[0].ends_with(':') && counted(pair[0]) && after(pair[1])))
        || words.windows(3).any(|three| before(three[0]) && matches!(three[1], "test" | "tests") && counted(three[2]))
}

/// Lines by which a runner says that what it ran failed.
fn ended(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "npm ERR!",
        "npm error",
        "ERR_PNPM",
        "ELIFECYCLE",
        "error Command failed",
        "error: could not compile",
        "error: test failed",
        "error: build failed",
        "error: Recipe ",
        "error: script ",
        "FAILURE: Build failed",
        "[ERROR] BUILD FAILURE",
        "[INFO] BUILD FAILURE",
        "** BUILD FAILED **",
        "** TEST FAILED **",
        "Build FAILED",
        "Build failed",
        "Failed to compile",
        "Compilation failed",
        "FAILED (",
        "Execution failed for task",
        "ninja: build stopped",
        "mypy: error",
        "Failing tests",
    ];
    let failed_with =
        line.split("exit code ").nth(1).or_else(|| line.split("exit status ").nth(1)).or_else(|| line.split("exited with code ").nth(1));
    let code = failed_with.map(|rest| rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default());
    let nonzero = code.is_some_and(|code| !code.is_empty() && code.bytes().any(|digit| digit != b'0'));
    let lower = line.to_lowercase();
    let says = ["failed", "error", "exited", "exit"].iter().any(|word| lower.contains(word));
    let make = (line.starts_with("make: ***") || line.starts_with("make[") || line.starts_with("gmake: ***")) && line.contains("***");
    STARTS.iter().any(|start| line.starts_with(start)) || make || (nonzero && says && line.len() < 300)
}

/// Lines that tell of one error or one failed test.
fn one(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "error: ",
        "error[E",
        "Error: ",
        "ERROR: ",
        "FAILED ",
        "FAIL ",
        "--- FAIL:",
        "fatal: ",
        "fatal error: ",
        "Traceback (most recent call last)",
        "E   ",
    ];
    let code = line.split("error TS").nth(1).is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    let panicked = line.contains("panicked at ") && line.contains("thread '");
    let rust = line.starts_with("test ") && line.ends_with("... FAILED");
    let pytest = line.contains("::") && (line.ends_with(" FAILED") || line.contains(" FAILED "));
    let placed = line.contains(": error: ") && line.split(": error: ").next().is_some_and(is_place);
    (STARTS.iter().any(|start| line.starts_with(start)) && !says_none(line)) || code || panicked || rust || pytest || placed
}

/// `file:12` or `file:12:3`: where compilers find errors.
fn is_place(text: &str) -> bool {
    text.rsplit(':').next().is_some_and(|last| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether what is told is that there is nothing to tell.
fn says_none(line: &str) -> bool {
    let rest = line.split_once([':', ' ']).map_or("", |(_, rest)| rest.trim());
    matches!(rest.to_lowercase().as_str(), "" | "0" | "none" | "null" | "nil" | "no" | "false" | "[]" | "undefined")
}
