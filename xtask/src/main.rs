//! The project's own tasks, run as `cargo xtask NAME`. Standard library only, so that it builds in a second.

mod audit;
mod bench;
mod browser;
mod candidates;
mod fuzz;
mod golden;
mod inputs;
mod measure;
mod options;
mod pictures;
mod portable;
mod release;
mod report;
mod soak;
mod test;
mod workspace;

use std::process::ExitCode;

use workspace::say;

const HELP: &str = "\
cargo xtask test                                        everything that must hold before a change lands
cargo xtask bench [--size 1G] [--dir DIR] [--rounds 5]  time and memory, written to docs/performance.md
cargo xtask fuzz [--seconds 60]                         the fuzz tests, each for that long
cargo xtask soak [--kills 100] [--seed N] [--size 60M]  refreshes killed at random moments, and what they leave behind
cargo xtask golden --against PROGRAM                    every output of the release build beside that of another one
cargo xtask portable                                    whether it compiles for Windows and macOS, as far as that shows here
cargo xtask audit [--only licenses]                     known faults, licences and origins of the dependencies, by cargo-deny
cargo xtask release                                     the program as it is given to others, without paths of this machine
cargo xtask pictures                                    the pictures in docs/pictures, of the demo, in Chromium

examples
  cargo xtask bench --size 100M --rounds 3              a quick look
  cargo xtask bench --dir ~ --report /tmp/mine.md       my own logs, reported elsewhere
  CCUSAGE=/opt/ccusage cargo xtask bench                compare with a ccusage that is not on PATH
  cargo xtask fuzz --seconds 600                        before a release
  cargo xtask soak --kills 1000                         likewise";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((task, rest)) = words.split_first() else {
        say(HELP);
        // No task at all is a usage error, unlike an explicit `help`.
        return ExitCode::from(2);
    };
    let done = match task.as_str() {
        // Every task reads its options first, so that a typo is reported before anything is built.
        "test" => options::read(rest, &[]).and_then(|_| test::run()),
        "bench" => options::read(rest, bench::OPTIONS).and_then(|options| bench::run(&options)),
        "fuzz" => options::read(rest, fuzz::OPTIONS).and_then(|options| fuzz::run(&options)),
        "soak" => options::read(rest, soak::OPTIONS).and_then(|options| soak::run(&options)),
        "golden" => options::read(rest, golden::OPTIONS).and_then(|options| golden::run(&options)),
        "audit" => options::read(rest, audit::OPTIONS).and_then(|options| audit::run(&options)),
        "release" => options::read(rest, &[]).and_then(|_| release::run()),
        "portable" => options::read(rest, &[]).and_then(|_| portable::run()),
        "pictures" => options::read(rest, &[]).and_then(|_| pictures::run()),
        "help" | "--help" | "-h" => {
            say(HELP);
            Ok(())
        }
        other => Err(format!("no task `{other}`; these exist:\n\n{HELP}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
