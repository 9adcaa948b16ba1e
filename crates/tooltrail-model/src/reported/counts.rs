//! The counts in the summary line of a test runner: `Tests: 2 failed, 40 passed, 42 total`.
//!
//! A line counts only if it has nothing but counts, their names and a duration, so that a sentence with numbers is none.

use super::LineVerdict;

/// Counts of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    /// Tests that passed.
    passed: u64,
    /// Tests that failed, and errors.
    failed: u64,
    /// Tests that ran, where the line has no count of those that passed.
    ran: u64,
    /// Whether the line counts failures at all.
    counts_failures: bool,
    /// Whether the line counts something other than errors.
    counts_tests: bool,
}

/// Beginnings of summary lines, before the counts.
const OPENINGS: &[&str] = &[
    "test result: ok.",
    "test result: FAILED.",
    "Tests:",
    "Tests ",
    "Test Files ",
    "Test Suites:",
    "ok |",
    "FAILED |",
    "Passed!  -",
    "Failed!  -",
    "Executed ",
];

impl TestCounts {
    /// The counts of a line; `None` where it has anything else.
    pub(super) fn of(line: &str) -> Option<TestCounts> {
        let line = line.strip_prefix("Summary [").and_then(|rest| rest.split_once(']')).map_or(line, |(_, rest)| rest.trim_start());
        if let Some(tally) = whole(line) {
            return Some(tally);
        }
        // `OK (12 tests, 30 assertions)` is good whatever it counts; `Tests: 12, Failures: 1` begins with a count.
        if let Some(counts) = line.strip_prefix("OK (").and_then(|rest| rest.strip_suffix(')')) {
            let tally = TestCounts::items(counts)?;
            return Some(TestCounts { counts_failures: true, ..tally });
        }
        let opening = OPENINGS.iter().find(|opening| line.starts_with(**opening));
        let rest = opening.map_or(line, |opening| line.get(opening.len()..).unwrap_or_default());
        TestCounts::items(rest).or_else(|| TestCounts::items(line))
    }

    /// The counts of a list, separated by `,`, `;` or `|`.
    fn items(list: &str) -> Option<TestCounts> {
        let mut tally = TestCounts::default();
        let mut timed = false;
        let list = list.trim();
        let list = list.replace(" tests run: ", " tests run, ").replace(" test run: ", " test run, ");
        for item in list.split([',', ';', '|']).map(str::trim).filter(|item| !item.is_empty()) {
            if is_duration(item) {
                timed = true;
                continue;
            }
            let (item, in_time) = untimed(item);
            timed |= in_time;
            tally.add_all(item)?;
        }
        (tally.counts_tests || timed && tally.failed > 0).then_some(tally)
    }

    /// Adds the counts of an item: `2 failed`, `Failures: 0`, `Tests: 5 Failures: 1`.
    fn add_all(&mut self, item: &str) -> Option<()> {
        let item = item.strip_prefix("with ").unwrap_or(item);
        let words: Vec<&str> = item.split_whitespace().collect();
        match words.as_slice() {
            [count, name @ ..] if !name.is_empty() && number(count).is_some() => self.add(&name.join(" "), number(count)?),
            _ => {
                // `word: N`, several times.
                let (mut name, mut any) = (String::new(), false);
                for word in words {
                    match number(word).filter(|_| name.ends_with(':')) {
                        Some(count) => {
                            self.add(name.trim_end_matches(':'), count)?;
                            name.clear();
                            any = true;
                        }
                        None => {
                            name.push_str(if name.is_empty() { "" } else { " " });
                            name.push_str(word);
                        }
                    }
                }
                (any && name.is_empty()).then_some(())
            }
        }
    }

    fn add(&mut self, name: &str, count: u64) -> Option<()> {
        let name = name.trim_end_matches('.').to_lowercase();
        match name.as_str() {
            "passed" | "pass" | "passing" | "tests passed" | "test passed" => {
                self.passed = self.passed.saturating_add(count);
                self.counts_tests = true;
            }
            "failed" | "fail" | "failing" | "failures" | "failure" | "tests failed" | "test failed" => {
                self.failed = self.failed.saturating_add(count);
                (self.counts_failures, self.counts_tests) = (true, true);
            }
            "error" | "errors" => self.failed = self.failed.saturating_add(count),
            "tests" | "test" | "examples" | "example" | "runs" | "tests run" | "test run" | "doctests" | "doctest" => {
                self.ran = self.ran.saturating_add(count);
                self.counts_tests = true;
            }
            "skipped" | "ignored" | "measured" | "filtered out" | "total" | "todo" | "pending" | "warning" | "warnings" | "xfailed"
            | "xpassed" | "deselected" | "rerun" | "flaky" | "assertion" | "assertions" | "skips" | "did not run" | "subtests passed"
            | "unexpected" | "excluded" | "disabled" | "cancelled" | "slow" | "leaky" | "expect() calls" | "incomplete" | "risky" => {}
            _ => return None,
        }
        Some(())
    }

    /// The verdict; `None` where nothing ran.
    pub(super) fn verdict(self) -> Option<LineVerdict> {
        if self.failed > 0 {
            return Some(LineVerdict::failed(self.failed));
        }
        let ran = if self.counts_failures { self.passed.max(self.ran) } else { self.passed };
        (ran > 0).then(|| LineVerdict::passed(ran))
    }
}

/// The counts of lines of a form of their own: `100% tests passed, 0 tests failed out of 12`, `# pass 12`, `All 3 tests passed`.
fn whole(line: &str) -> Option<TestCounts> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["pass", count] => Some(TestCounts { passed: number(count)?, counts_tests: true, ..TestCounts::default() }),
        ["fail", count] => Some(TestCounts { failed: number(count)?, counts_tests: true, counts_failures: true, ..TestCounts::default() }),
        ["All", count, "tests", "passed" | "passed."] => {
            Some(TestCounts { passed: number(count)?, counts_tests: true, ..TestCounts::default() })
        }
        [percent, "tests", "passed,", failed, "tests" | "test", "failed", "out", "of", ran] if percent.ends_with('%') => {
            Some(TestCounts { failed: number(failed)?, ran: number(ran)?, counts_failures: true, counts_tests: true, passed: 0 })
        }
        _ => None,
    }
}

/// Whether an item is a duration: `finished in 0.5s`, `Time elapsed: 3 s`.
fn is_duration(item: &str) -> bool {
    ["in ", "finished in ", "Duration:", "Time elapsed:", "Time:"].iter().any(|start| item.starts_with(start))
}

/// An item without its duration or total behind it: `41 passed in 0.42s`, `41 passed (41)`; and whether it had a duration.
fn untimed(item: &str) -> (&str, bool) {
    let timed = |rest: &str| rest.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
    if let Some((count, _)) = item.split_once(" in ").filter(|(_, rest)| timed(rest)) {
        return (count, true);
    }
    match item.split_once(" (") {
        Some((count, rest)) if rest.contains(')') => (count, rest.ends_with("s)")),
        _ => (item.split(" - in ").next().unwrap_or(item), false),
    }
}

/// A whole number, also `41/50` of a run that was cut short.
fn number(word: &str) -> Option<u64> {
    word.trim_end_matches('.').split('/').next()?.parse().ok()
}
