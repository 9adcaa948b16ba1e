//! Outputs of test runners, compilers and package managers, and the line of each that speaks of a failure.

#![allow(clippy::unwrap_used)] // a panic is the report

use tooltrail_model::failure_hint::failure_hint;

#[test]
fn the_words_of_a_failure_are_found() {
    for (output, line) in [
        (
            "running 3 tests\ntest a ... FAILED\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored\n",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored",
        ),
        ("error[E0308]: mismatched types\n --> src/a.rs:1:1\n", "error[E0308]: mismatched types"),
        (
            "   Compiling x\nerror: could not compile `x` (lib) due to 2 previous errors",
            "error: could not compile `x` (lib) due to 2 previous errors",
        ),
        ("Tests:       2 failed, 40 passed, 42 total\nTime: 3 s", "Tests:       2 failed, 40 passed, 42 total"),
        (" Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 9 passed (11)", "Tests  2 failed | 9 passed (11)"),
        ("===== 1 failed, 12 passed in 0.42s =====", "===== 1 failed, 12 passed in 0.42s ====="),
        ("FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s", "1 failed in 0.1s"),
        ("--- FAIL: TestX (0.00s)\nFAIL\nFAIL\texample.org/x\t0.01s\nFAIL", "FAIL"),
        ("npm ERR! code ELIFECYCLE", "npm ERR! code ELIFECYCLE"),
        (" ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  web@1.0.0 test: `vitest`", "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  web@1.0.0 test: `vitest`"),
        (" ELIFECYCLE  Command failed with exit code 1.", "ELIFECYCLE  Command failed with exit code 1."),
        ("Command failed with exit code 2: tsc", "Command failed with exit code 2: tsc"),
        ("make: *** [Makefile:3: test] Error 2", "make: *** [Makefile:3: test] Error 2"),
        ("src/a.ts(3,5): error TS2322: Type 'x' is not", "src/a.ts(3,5): error TS2322: Type 'x' is not"),
        ("main.c:3:5: error: expected ';'", "main.c:3:5: error: expected ';'"),
        ("thread 'main' panicked at src/main.rs:3:5:", "thread 'main' panicked at src/main.rs:3:5:"),
        ("Traceback (most recent call last):\n  File", "Traceback (most recent call last):"),
        ("BUILD FAILED in 3s", "BUILD FAILED in 3s"),
        ("✖ 3 problems (2 errors, 1 warning)", "✖ 3 problems (2 errors, 1 warning)"),
        ("  ✗ 2 failed", "✗ 2 failed"),
        ("Tests: 5 Failures: 1 Errors: 0", "Tests: 5 Failures: 1 Errors: 0"),
        ("Error: no tests found", "Error: no tests found"),
        ("Found 6 errors.", "Found 6 errors."),
        ("Found 1 error in 1 file (checked 3 source files)", "Found 1 error in 1 file (checked 3 source files)"),
        ("12 examples, 2 failures", "12 examples, 2 failures"),
        ("Tests run: 5, Failures: 1, Errors: 0, Skipped: 0", "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0"),
        ("  3 passing (20ms)\n  1 failing\n", "1 failing"),
        ("\u{1b}[31mFAIL\u{1b}[0m src/a.test.ts", "FAIL src/a.test.ts"),
        ("FAILED (failures=1)", "FAILED (failures=1)"),
        ("5 errors, 0 warnings, 0 informations", "5 errors, 0 warnings, 0 informations"),
        ("error: Recipe `test` failed on line 3 with exit code 101", "error: Recipe `test` failed on line 3 with exit code 101"),
    ] {
        assert_eq!(failure_hint(output).as_deref(), Some(line));
    }
}

#[test]
fn what_only_looks_like_a_failure_is_none() {
    for output in [
        "",
        "ok",
        "test result: ok. 12 passed; 0 failed; 0 ignored",
        "0 errors, 0 warnings, 0 informations",
        "✖ 0 problems",
        "Tests: 42 passed, 42 total",
        "Found 0 errors.",
        "No errors found",
        "no errors",
        "error: 0",
        "Error: none",
        "errors: 0, failures: 0",
        "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
        "test error_is_told ... ok",
        "test parse::failed_calls ... ok",
        "tests/test_errors.py::test_failed PASSED",
        "src/error.rs:12:    Failed(String),",
        "   Compiling thiserror v1.0.0",
        "12 examples, 0 failures",
        "  3 passing (20ms)",
        "= 12 passed, 1 xfailed in 0.2s =",
        "exit code 0",
        "finished with exit code 0: no error",
        "277 |             raise ValueError(\"Tool params must be\")",
        "298 |             return ToolValidateError(str(e))",
        "warning: unused variable: `error`",
        "✓ fails with an error when nothing is found",
        "PASS src/failed.test.ts",
        "All checks passed!",
        "BUILD SUCCESSFUL in 3s",
        "6:42:11 failed",
        "✖ 3 problems (0 errors, 3 warnings)",
        "error: 0 errors found",
        "ERROR: no errors",
        "Error: 0 failed",
        "Tests: 5 Failures: 0 Errors: 0",
        "Summary: 12 files, 0 errors, 4 warnings",
    ] {
        assert_eq!(failure_hint(output), None, "{output}");
    }
}

#[test]
fn huge_outputs_are_looked_at_from_both_ends() {
    let filler = "a line that says nothing\n".repeat(20_000);
    assert_eq!(failure_hint(&format!("{filler}BUILD FAILED\n")).as_deref(), Some("BUILD FAILED"));
    assert_eq!(failure_hint(&format!("error: first\n{filler}")).as_deref(), Some("error: first"));
    assert_eq!(failure_hint(&format!("{filler}BUILD FAILED\n{filler}")), None);
    assert_eq!(failure_hint(&format!("error: {}", "é".repeat(500))).unwrap().chars().count(), 200);
    let _ = failure_hint(&"é".repeat(200_000));
}

proptest::proptest! {
    #[test]
    fn any_output_is_searched(output in "(error|FAILED|[0-9]| |:|\n|.){0,40}") {
        let _ = failure_hint(&output);
    }
}
