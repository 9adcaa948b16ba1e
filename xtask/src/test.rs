//! `cargo xtask test`: everything that must hold before a change lands, the quickest check first.

use std::time::{Duration, Instant};

use crate::workspace::{run_cargo, say, spoken, written};

struct CheckStep {
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    arguments: &'static [&'static str],
}

// The quickest first, so that simple mistakes are reported early.
const STEPS: &[CheckStep] = &[
    CheckStep { name: "format", variables: &[], arguments: &["fmt", "--all", "--check"] },
    CheckStep { name: "lint", variables: &[], arguments: &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"] },
    CheckStep {
        name: "documents",
        variables: &[("RUSTDOCFLAGS", "-D warnings")],
        arguments: &["doc", "--workspace", "--no-deps", "--locked"],
    },
    CheckStep { name: "tests", variables: &[], arguments: &["test", "--workspace", "--locked", "--no-fail-fast"] },
];

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run() -> Result<(), String> {
    crate::browser::ensure()?;
    let mut took: Vec<(&str, Duration)> = Vec::new();
    for (number, step) in STEPS.iter().enumerate() {
        let command = written(step.variables, step.arguments);
        say(&format!("[{}/{}] {}: {command}", number + 1, STEPS.len(), step.name));
        let start = Instant::now();
        run_cargo(step.variables, step.arguments)
            .map_err(|error| format!("`{}` failed after {}; {error}", step.name, spoken(start.elapsed())))?;
        took.push((step.name, start.elapsed()));
    }
    let all = took.iter().map(|(_, time)| *time).sum();
    let parts: Vec<String> = took.iter().map(|(name, time)| format!("{name} {}", spoken(*time))).collect();
    say(&format!("all good in {}: {}", spoken(all), parts.join(", ")));
    Ok(())
}
