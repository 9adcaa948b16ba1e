//! `cargo xtask fuzz`: gives the fuzz tests more time than the second they take among the other tests.

use crate::options::TaskOptions;
use crate::workspace::{run_cargo, say, written};

pub(crate) const OPTIONS: &[&str] = &["--seconds"];

/// Runs every test target called `fuzz`; they read the time from the environment.
pub(crate) fn run(options: &TaskOptions) -> Result<(), String> {
    let seconds: u64 = options.number("--seconds", 60)?;
    let seconds = seconds.to_string();
    let variables = [("TOOLTRAIL_FUZZ_SECONDS", seconds.as_str())];
    let arguments = ["test", "--workspace", "--locked", "--test", "fuzz", "--", "--nocapture"];
    say(&written(&variables, &arguments));
    run_cargo(&variables, &arguments).map_err(|error| format!("the fuzz run failed; keep an input it printed as a test, then {error}"))
}
