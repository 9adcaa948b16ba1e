//! Claims: statements that count, and the many that do not.

use super::*;

fn told(answer: &str) -> Vec<(ClaimSubject, String)> {
    find(answer).into_iter().map(|claim| (claim.about, claim.text)).collect()
}

#[test]
fn plain_statements_are_quoted_as_written() {
    use ClaimSubject::{Build, Checks, Lint, Test};
    for (answer, about, text) in [
        ("Fixed: shares round half to even. All tests pass, and it is committed.", Test, "All tests pass"),
        ("All 41 tests pass.", Test, "All 41 tests pass"),
        ("- ✅ **All tests now pass** (41/41)", Test, "All tests now pass"),
        ("The full test suite passes with no errors.", Test, "The full test suite passes"),
        ("Tests: 21 passed.", Test, "Tests: 21 passed"),
        ("`cargo test` passes and it is pushed", Test, "`cargo test` passes"),
        ("After the fix, all tests are passing.", Test, "all tests are passing"),
        ("I fixed the failing test in `a.rs`. All tests pass now!", Test, "All tests pass"),
        ("The build succeeded.", Build, "The build succeeded"),
        ("Done; the project builds without warnings.", Build, "the project builds"),
        ("Everything compiles cleanly", Build, "Everything compiles"),
        ("Clippy is clean.", Lint, "Clippy is clean"),
        ("Type-check passed.", Lint, "Type-check passed"),
        ("Helper tests and build passed.", Build, "build passed"),
        ("The new tests pass, and the build succeeds.", Build, "the build succeeds"),
        ("All checks pass.", Checks, "All checks pass"),
        ("Everything is green.", Checks, "Everything is green"),
        ("41/41 tests pass", Test, "41/41 tests pass"),
    ] {
        assert_eq!(told(answer), [(about, text.to_owned())], "{answer}");
    }
    let both = told("The build passes and lint passes.\nAll tests pass.");
    assert_eq!(both.iter().map(|(about, _)| *about).collect::<Vec<_>>(), [Build, Test]);
}

#[test]
fn denials_conditions_questions_and_parts_are_no_claims() {
    for answer in [
        "The tests do not pass yet.",
        "Tests don’t pass.",
        "No tests passed.",
        "Not all tests pass.",
        "All tests pass except two.",
        "Only 3 tests pass.",
        "Most tests pass.",
        "40/41 tests pass.",
        "40 of 41 tests passed, 1 failed.",
        "All tests should pass now.",
        "If all tests pass, merge it.",
        "Once the build succeeds, deploy it.",
        "Run it again until the tests pass.",
        "Let me make sure all tests pass.",
        "I will check whether the build passes.",
        "Do all tests pass?",
        "Before that, tests passed.",
        "The new tests pass.",
        "Regression tests passed.",
        "The frontend build succeeded.",
        "All CI checks pass.",
        "To get the tests to pass I changed the parser.",
        "The tests were passing before this change.",
        "```\nAll tests pass\n```",
        "> All tests pass",
        "| tests | all tests pass |",
        "All tests pass. Two integration tests still fail, which they did before.",
        "The focused unit tests pass.",
        "Full `fnox-core` unit tests passed.",
        "`cargo test -p core providers::tests::` passed",
        "The doctor is mostly healthy with 54 checks passing.",
        "The build succeeds for the frontend.",
        "The suite passes once it can bind a port.",
        "I passed the tests to the runner.",
        "Tests not run: only a license changed.",
        "The user claims all tests pass.",
        "",
    ] {
        assert_eq!(told(answer), [], "{answer}");
    }
}

#[test]
fn any_text_is_survived() {
    let odd = [
        "`",
        "“all tests pass",
        "tests",
        "…/41 tests pass",
        "’",
        "/",
        "./",
        "a\u{301}ll tests pa\u{0}ss",
        "\u{202e}tests pass",
        "tests\npass",
    ];
    for answer in odd {
        let _ = told(answer);
    }
    let long = "all tests pass, ".repeat(60_000);
    assert_eq!(told(&long).len(), 1);
}
