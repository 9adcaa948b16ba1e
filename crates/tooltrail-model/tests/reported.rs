//! Summary lines of test runners, compilers and linters, and the outcome that each of them reports.

#![allow(clippy::unwrap_used)] // a panic is the report

use tooltrail_model::command::Purpose::{self, Build, Lint, Test};
use tooltrail_model::reported::ReportedOutcome::{Failed, Passed};
use tooltrail_model::reported::{ReportedOutcome, reported};

fn told(output: &str, purpose: Purpose) -> Option<(ReportedOutcome, String)> {
    reported(output, purpose, true).map(|reported| (reported.outcome, reported.text))
}

#[test]
fn test_runners_sum_up_their_runs() {
    for (output, outcome, line) in [
        ("running 4 tests\ntest result: ok. 4 passed; 0 failed; 0 ignored\n", Passed, "test result: ok. 4 passed; 0 failed; 0 ignored"),
        (
            "test result: ok. 120 passed; 0 failed; finished in 0.5s\n\ntest result: ok. 0 passed; 0 failed\n",
            Passed,
            "test result: ok. 120 passed; 0 failed; finished in 0.5s",
        ),
        (
            "test result: ok. 3 passed; 0 failed\ntest result: FAILED. 2 passed; 1 failed\n",
            Failed,
            "test result: FAILED. 2 passed; 1 failed",
        ),
        ("test result: FAILED", Failed, "test result: FAILED"),
        ("test a ... ok\nerror: could not compile `x` (lib) due to 2 errors", Failed, "error: could not compile `x` (lib) due to 2 errors"),
        ("error: test failed, to rerun pass `--lib`", Failed, "error: test failed, to rerun pass `--lib`"),
        ("41 passed", Passed, "41 passed"),
        ("===== 41 passed, 2 warnings in 0.42s =====", Passed, "41 passed, 2 warnings in 0.42s"),
        ("==== 1 failed, 12 passed, 1 xfailed in 3.1s ====", Failed, "1 failed, 12 passed, 1 xfailed in 3.1s"),
        ("2 errors in 0.12s", Failed, "2 errors in 0.12s"),
        (
            "Test Suites: 3 passed, 3 total\nTests:       2 failed, 40 passed, 42 total\nTime: 3 s",
            Failed,
            "Tests:       2 failed, 40 passed, 42 total",
        ),
        (" Test Files  3 passed (3)\n      Tests  41 passed (41)\n   Start at  10:00:00", Passed, "Tests  41 passed (41)"),
        (" Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 9 passed (11)", Failed, "Tests  2 failed | 9 passed (11)"),
        ("  41 passing (20ms)\n", Passed, "41 passing (20ms)"),
        ("  3 passing (20ms)\n  1 failing\n", Failed, "1 failing"),
        ("12 examples, 0 failures, 1 pending", Passed, "12 examples, 0 failures, 1 pending"),
        ("12 examples, 2 failures", Failed, "12 examples, 2 failures"),
        ("5 runs, 10 assertions, 0 failures, 0 errors, 0 skips", Passed, "5 runs, 10 assertions, 0 failures, 0 errors, 0 skips"),
        ("[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0", Passed, "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0"),
        ("[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0", Failed, "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0"),
        ("OK (12 tests, 30 assertions)", Passed, "OK (12 tests, 30 assertions)"),
        ("FAILURES!\nTests: 5, Assertions: 8, Failures: 1.", Failed, "Tests: 5, Assertions: 8, Failures: 1."),
        ("Ran 5 tests in 0.01s\n\nOK\n", Passed, "OK"),
        ("Ran 5 tests in 0.01s\n\nFAILED (failures=1)", Failed, "FAILED (failures=1)"),
        ("ok  \texample.org/x\t0.012s\nok  \texample.org/y\t(cached)", Passed, "ok   example.org/y (cached)"),
        ("--- FAIL: TestX (0.00s)\nFAIL\nFAIL\texample.org/x\t0.01s\nFAIL", Failed, "FAIL"),
        ("# tests 12\n# pass 12\n# fail 0", Passed, "pass 12"),
        ("ℹ pass 10\nℹ fail 2", Failed, "fail 2"),
        (" 12 pass\n 0 fail\n 30 expect() calls\nRan 12 tests across 3 files.", Passed, "12 pass"),
        ("ok | 12 passed | 0 failed (30ms)", Passed, "ok | 12 passed | 0 failed (30ms)"),
        (
            "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12, Duration: 30 ms - a.dll",
            Passed,
            "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12, Duration: 30 ms - a.dll",
        ),
        ("     Summary [   0.5s] 41 tests run: 41 passed, 0 skipped", Passed, "Summary [   0.5s] 41 tests run: 41 passed, 0 skipped"),
        (
            "     Summary [   0.5s] 41/50 tests run: 40 passed, 1 failed, 0 skipped",
            Failed,
            "Summary [   0.5s] 41/50 tests run: 40 passed, 1 failed, 0 skipped",
        ),
        ("100% tests passed, 0 tests failed out of 12", Passed, "100% tests passed, 0 tests failed out of 12"),
        ("BUILD SUCCESSFUL in 3s", Passed, "BUILD SUCCESSFUL in 3s"),
        ("  1 failed\n    a.spec.ts:3:1\n  12 passed (3.2s)", Failed, "1 failed"),
        ("web:test:  Tests  41 passed (41)", Passed, "Tests  41 passed (41)"),
        ("\u{1b}[32m41 passed\u{1b}[0m in 2s", Passed, "41 passed in 2s"),
        ("Tests: 41 passed, 41 total\nnpm ERR! code ELIFECYCLE", Failed, "npm ERR! code ELIFECYCLE"),
    ] {
        assert_eq!(told(output, Test), Some((outcome, line.to_owned())), "{output}");
    }
}

#[test]
fn builds_and_linters_sum_up_their_runs() {
    for (output, purpose, outcome, line) in [
        ("12:00:01 [vite] ✓ built in 3.2s", Build, Passed, "built in 3.2s"),
        ("23:41:32 [build] 12 page(s) built in 3.82s", Build, Passed, "12 page(s) built in 3.82s"),
        ("  ✓ Compiled successfully in 4s", Build, Passed, "Compiled successfully in 4s"),
        ("✓ Compiled successfully\nFailed to compile.\n./a.ts", Build, Failed, "Failed to compile."),
        (
            "   Compiling x\n    Finished `dev` profile [unoptimized] target(s) in 3s",
            Build,
            Passed,
            "Finished `dev` profile [unoptimized] target(s) in 3s",
        ),
        ("webpack 5.9.0 compiled successfully in 300 ms", Build, Passed, "webpack 5.9.0 compiled successfully in 300 ms"),
        ("webpack 5.9.0 compiled with 2 errors in 3 s", Build, Failed, "webpack 5.9.0 compiled with 2 errors in 3 s"),
        ("error: could not compile `x`", Build, Failed, "error: could not compile `x`"),
        ("make: *** [Makefile:3: all] Error 2", Build, Failed, "make: *** [Makefile:3: all] Error 2"),
        ("Found 6 errors.", Build, Failed, "Found 6 errors."),
        ("All checks passed!", Lint, Passed, "All checks passed!"),
        ("Success: no issues found in 3 source files", Lint, Passed, "Success: no issues found in 3 source files"),
        ("Found 0 warnings and 0 errors.\nFinished in 3ms on 12 files", Lint, Passed, "Found 0 warnings and 0 errors."),
        ("0 errors, 2 warnings, 0 informations", Lint, Passed, "0 errors, 2 warnings, 0 informations"),
        ("5 errors, 0 warnings, 0 informations", Lint, Failed, "5 errors, 0 warnings, 0 informations"),
        ("✖ 3 problems (2 errors, 1 warning)", Lint, Failed, "3 problems (2 errors, 1 warning)"),
        ("Checked 12 files in 3ms. No fixes applied.\nFound 2 errors.", Lint, Failed, "Found 2 errors."),
        ("    Finished `dev` profile in 3s\n[lint] ERROR task failed", Lint, Failed, "[lint] ERROR task failed"),
        ("    Finished `dev` profile [unoptimized] target(s) in 3s", Lint, Passed, "Finished `dev` profile [unoptimized] target(s) in 3s"),
    ] {
        assert_eq!(told(output, purpose), Some((outcome, line.to_owned())), "{output}");
    }
}

#[test]
fn what_sums_up_no_run_reports_nothing() {
    for (output, purpose) in [
        ("", Test),
        ("0 errors", Test),
        ("0 errors", Lint),
        ("Found 0 errors.", Build),
        ("no errors", Lint),
        ("test a ... ok", Test),
        ("test result: ok. 0 passed; 0 failed; 12 filtered out", Test),
        ("I ran it and 41 passed, which is good", Test),
        ("src/a.rs:3: // 41 passed", Test),
        ("- 41 passed", Test),
        ("ok 1 lists 2 passed", Test),
        ("PASS src/a.test.ts", Test),
        ("12 tests", Test),
        ("3 skipped", Test),
        ("41 passed", Build),
        ("41 passed", Purpose::Format),
        ("✓ built in 3s", Test),
        ("    Finished `test` profile [unoptimized] target(s) in 3s", Test),
        ("✖ 3 problems (0 errors, 3 warnings)", Lint),
        ("tests: 5 were good", Test),
        ("no tests ran in 0.1s", Test),
        ("6:42:11 failed", Test),
        ("1,234 passed of the dead", Test),
        ("exit code 0", Build),
        ("OK", Test),
        ("Success", Test),
        ("Error: none", Lint),
        // Printed whatever was found.
        ("Checked 1 file in 39ms. No fixes applied.", Lint),
    ] {
        assert_eq!(told(output, purpose), None, "{output}");
    }
    // The last word of a task runner may be about another check of the line.
    assert_eq!(reported("npm ERR! code ELIFECYCLE", Test, false), None);
}

#[test]
fn huge_outputs_are_looked_at_from_both_ends() {
    let filler = "a line that says nothing\n".repeat(20_000);
    assert_eq!(told(&format!("{filler}41 passed\n"), Test).unwrap().0, Passed);
    assert_eq!(told(&format!("{filler}41 passed\n{filler}"), Test), None);
    let _ = told(&"é".repeat(200_000), Test);
}

proptest::proptest! {
    #[test]
    fn any_output_is_read(output in "(error|FAILED|passed|failed|Tests:|test result: ok\\.|OK \\(|Summary \\[|[0-9]|%| |:|,|\n|.){0,40}") {
        for purpose in [Test, Build, Lint] {
            let _ = reported(&output, purpose, true);
        }
    }
}
