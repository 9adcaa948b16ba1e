//! What the outcome of a command line proves about each command in it.

#![allow(clippy::unwrap_used)] // a panic is the report

use Fate::{Failed, Masked, Succeeded, Unknown};
use tooltrail_model::shell::{Fate, read};

/// The command line; what is known of each command after a success, and after a failure.
const TABLE: &[(&str, &[Fate], &[Fate])] = &[
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
        let script = read(command).unwrap();
        assert_eq!(script.fates(Some(true)), *success, "{command}: a success");
        assert_eq!(script.fates(Some(false)), *failure, "{command}: a failure");
        assert!(!script.fates(None).iter().any(|fate| matches!(fate, Succeeded | Failed)), "{command}: nothing is known");
    }
}

#[test]
fn a_function_that_hides_its_tests_is_no_test() {
    assert_eq!(read("t() { npm test | tail; }; t").unwrap().purpose(), None);
    assert!(read("t() { npm test; }; t").unwrap().purpose().is_some());
}
