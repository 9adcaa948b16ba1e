//! Which check of a command line a summary line in its output is about.

#![allow(clippy::unwrap_used)] // a panic is the report

use tooltrail_model::command::Purpose::Lint;
use tooltrail_model::reported::of_checks;
use tooltrail_shell::understand;

#[test]
fn cargo_sums_up_a_linter_only_where_it_is_one() {
    let output = "    Finished `dev` profile [unoptimized] target(s) in 3s";
    let reports = |command: &str| {
        let line = understand(command).unwrap();
        of_checks(&line, &line.outcomes(None), output).into_iter().map(|(purpose, _)| purpose).collect::<Vec<_>>()
    };
    assert_eq!(reports("cargo clippy -- -D warnings"), [Lint]);
    assert_eq!(reports("mise run lint"), []);
}
