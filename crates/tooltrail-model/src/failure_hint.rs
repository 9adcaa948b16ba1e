//! A failure that the output of a command speaks of, in the words of known test runners, compilers and package managers.
//!
//! It proves nothing: a program may print anything. It is shown beside a masked exit code, where it is the best there is, and is called
//! a hint. Whether an exit code is masked is decided by `tooltrail-shell`.

use crate::text::{headline, without_escapes};
use std::borrow::Cow;

/// The bytes of an output that are searched, at its beginning and at its end: failures are reported at one of the two.
const LOOKED: usize = 64 * 1024;
/// The longest line that is returned, in characters.
const LONGEST: usize = 200;

/// The line of an output that says most plainly that something failed; `None` where none does.
pub fn failure_hint(output: &str) -> Option<String> {
    let (head, tail) = ends(output);
    let mut best: Option<(u8, String)> = None;
    for line in head.lines().chain(tail.lines()) {
        let plain = seen(line);
        let Some(rank) = rank(plain.trim()) else { continue };
        // The first error is nearest to the cause, but of several summaries the last one counts.
        let better = best.as_ref().is_none_or(|(have, _)| rank > *have || (rank == *have && rank == SUMMARY));
        if better {
            best = Some((rank, headline(&plain, LONGEST)));
        }
    }
    best.map(|(_, line)| line)
}

/// The rank of a line that sums up a run.
const SUMMARY: u8 = 3;
/// The rank of a line that says that a command failed.
const ENDED: u8 = 2;
/// The rank of a line about one error or one failed test.
const ONE: u8 = 1;

/// The beginning and the end of a text, cut at whole characters.
pub(crate) fn ends(text: &str) -> (&str, &str) {
    if text.len() <= 2 * LOOKED {
        return (text, "");
    }
    let head = text.floor_char_boundary(LOOKED);
    let tail = text.floor_char_boundary(text.len() - LOOKED);
    (&text[..head], &text[tail..])
}

/// A line as a terminal shows it: without colours, and without what a carriage return overwrote.
pub(crate) fn seen(line: &str) -> Cow<'_, str> {
    without_escapes(line.trim_end_matches('\r').rsplit('\r').next().unwrap_or(line))
}

/// The rank of a line by how plainly it says that something failed; `None` if it does not.
fn rank(line: &str) -> Option<u8> {
    // A longer line is data, such as minified code, and looking at it word by word would take long.
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

/// Whether a line is the summary of a test runner or linter: `2 failed, 3 passed`, `Tests: 2 failed`, `✖ 3 problems`.
fn sums_up(line: &str) -> bool {
    if line.starts_with("test result: FAILED") || line == "FAIL" || line.starts_with("FAIL\t") || line.starts_with("BUILD FAILED") {
        return true;
    }
    // A number before `failed` may be anything (`6:42:11 failed`), so a word that only runners use has to stand near it.
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
    // `✖ 3 problems (0 errors, 3 warnings)` is no failure: problems of which none is an error.
    let none = words.windows(2).any(|pair| pair[0].trim_start_matches('(') == "0" && pair[1].starts_with("error"));
    let counted = |word: &str| counted(word) && !(none && word.starts_with("problem"));
    // In `tests: 5 failures: 0` the number belongs to the word before it.
    let of_it = |pair: &[&str]| before(pair[0]) && counted(pair[1]) && !pair[1].ends_with(':');
    words.windows(2).any(|pair| of_it(pair) || (pair[0].ends_with(':') && counted(pair[0]) && after(pair[1])))
        || words.windows(3).any(|three| before(three[0]) && matches!(three[1], "test" | "tests") && counted(three[2]))
}

/// Whether a line is the last word of a runner whose command failed.
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
    // Not parsed: a program may print more digits than any number type holds.
    let nonzero = code.is_some_and(|code| !code.is_empty() && code.bytes().any(|digit| digit != b'0'));
    let lower = line.to_lowercase();
    let says = ["failed", "error", "exited", "exit"].iter().any(|word| lower.contains(word));
    // Without the stars it is no failure: `make: Nothing to be done`.
    let make = (line.starts_with("make: ***") || line.starts_with("make[") || line.starts_with("gmake: ***")) && line.contains("***");
    STARTS.iter().any(|start| line.starts_with(start)) || make || (nonzero && says && line.len() < 300)
}

/// Whether a line reports one error or one failed test.
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

/// Whether a text is a position in a file, as compilers print it: `file:12` or `file:12:3`.
fn is_place(text: &str) -> bool {
    text.rsplit(':').next().is_some_and(|last| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a line only reports that there are none: `error: 0`, `Error: none`.
fn says_none(line: &str) -> bool {
    let rest = line.split_once([':', ' ']).map_or("", |(_, rest)| rest.trim());
    let rest = rest.to_lowercase();
    let counts_none = ["0 ", "no error", "no problem", "no issue", "no failure"].iter().any(|start| rest.starts_with(start));
    counts_none || matches!(rest.as_str(), "" | "0" | "none" | "null" | "nil" | "no" | "false" | "[]" | "undefined")
}
