//! The outcome of a command line, and what it proves about each command in it.

#![allow(clippy::unwrap_used)] // a panic is the report

use CommandOutcome::{Failed, Masked, Succeeded, Unknown};
use tooltrail_shell::{CommandOutcome, understand};

/// The command line; what is known of each command after a success, and after a failure.
const TABLE: &[(&str, &[CommandOutcome], &[CommandOutcome])] = &[
    ("npm test", &[Succeeded], &[Failed]),
    ("! npm test", &[Failed], &[Succeeded]),
    ("! npm test && echo red", &[Failed, Succeeded], &[Unknown, Unknown]),
    ("cargo build && cargo test", &[Succeeded, Succeeded], &[Unknown, Unknown]),
    ("export A=1 && cargo test", &[Succeeded], &[Failed]),
    ("[ -f x ] || npm test", &[Masked, Unknown], &[Masked, Failed]),
    ("a || b && c", &[Masked, Unknown, Succeeded], &[Masked, Unknown, Unknown]),
    ("npm test | tail; npm test", &[Masked, Masked, Succeeded], &[Masked, Masked, Failed]),
    ("set -o pipefail; npm test | tail", &[Succeeded, Succeeded], &[Unknown, Unknown]),
    ("set -e; cargo build; cargo test", &[Succeeded, Succeeded], &[Unknown, Unknown]),
    ("set -e; cd x && cargo build; cargo test", &[Masked, Unknown, Succeeded], &[Masked, Unknown, Unknown]),
    ("if [ -f x ]; then npm test; fi", &[Masked, Unknown], &[Masked, Unknown]),
    ("case $x in a) npm test;; esac", &[Unknown], &[Unknown]),
    ("bash -c 'cargo test'", &[Succeeded], &[Failed]),
    ("(cd web && npm test)", &[Succeeded, Succeeded], &[Unknown, Unknown]),
    ("npm test &", &[Masked], &[Masked]),
    ("for i in 1 2; do npm test; done", &[Masked], &[Masked]),
];

#[test]
fn outcomes_prove_no_more_than_they_do() {
    for (command, success, failure) in TABLE {
        let line = understand(command).unwrap();
        assert_eq!(line.outcomes(Some(true)), *success, "{command}: a success");
        assert_eq!(line.outcomes(Some(false)), *failure, "{command}: a failure");
        assert!(!line.outcomes(None).iter().any(|outcome| matches!(outcome, Succeeded | Failed)), "{command}: nothing is known");
    }
}

#[test]
fn a_function_that_hides_its_tests_is_no_test() {
    assert_eq!(understand("t() { npm test | tail; }; t").unwrap().purpose(), None);
    assert!(understand("t() { npm test; }; t").unwrap().purpose().is_some());
}
