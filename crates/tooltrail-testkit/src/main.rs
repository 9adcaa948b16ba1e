//! The testkit's command line: makes corpora and hostile files on disk, and times the newline floor.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tooltrail_testkit::agent::FakeAgent;
use tooltrail_testkit::{corpus, floor, hostile, size};

const HELP: &str = "\
makes test data for tooltrail

  tooltrail-testkit gen --out DIR --size 1G [--seed 2]               a corpus, laid out like a home
  tooltrail-testkit long-session --out FILE --rows 20000 [--seed 2]  one session of that many rows
  tooltrail-testkit big-line --out FILE --size 2G                    a log with one line of that size
  tooltrail-testkit big-results --out FILE --count 10 --each 20M     a log of very large results
  tooltrail-testkit work --out HOME [--sessions 3] [--pause 100] [--seconds 60]
                                                                     agents at work, a record each pause of milliseconds
  tooltrail-testkit floor DIR [--threads N]                          read every log and count lines
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // A closed stream cannot be reported anywhere, and a closed pipe is success.
    match run(&words) {
        Ok(text) => {
            let _ = writeln!(io::stdout(), "{}", text.trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<String, String> {
    // Without a command the help is the answer, not an error.
    let Some((command, rest)) = words.split_first() else {
        return Ok(HELP.to_owned());
    };
    let options = |known| Arguments::read(rest, known);
    match command.as_str() {
        "gen" => generate(&options(&["out", "size", "seed"])?),
        "long-session" => long_session(&options(&["out", "rows", "seed"])?),
        "big-line" => big_line(&options(&["out", "size"])?),
        "big-results" => big_results(&options(&["out", "count", "each"])?),
        "work" => work(&options(&["out", "sessions", "pause", "seconds"])?),
        "floor" => time_floor(&options(&["threads"])?),
        "help" | "--help" | "-h" => Ok(HELP.to_owned()),
        other => Err(format!("no command `{other}`; these exist:\n\n{HELP}")),
    }
}

fn generate(arguments: &Arguments) -> Result<String, String> {
    let out = arguments.path("out")?;
    let plan = corpus::CorpusPlan { bytes: arguments.size("size", None)?, seed: arguments.number("seed", 1)? };
    corpus::generate(&out, &plan).map(tell).map_err(|error| cannot_write(&out, &error))
}

fn long_session(arguments: &Arguments) -> Result<String, String> {
    let out = arguments.path("out")?;
    let long = corpus::Long { rows: arguments.number("rows", 20_000)?, seed: arguments.number("seed", 1)? };
    corpus::long_session(&out, &long).map(tell).map_err(|error| cannot_write(&out, &error))
}

fn big_line(arguments: &Arguments) -> Result<String, String> {
    let out = arguments.path("out")?;
    let mut reader = hostile::huge_line_reader(arguments.size("size", None)?);
    File::create(&out)
        .and_then(|mut file| io::copy(&mut reader, &mut file))
        .map(|bytes| format!("{bytes} bytes, 3 lines"))
        .map_err(|error| cannot_write(&out, &error))
}

fn big_results(arguments: &Arguments) -> Result<String, String> {
    let out = arguments.path("out")?;
    let count = arguments.number("count", 10)? as usize;
    let each = arguments.size("each", Some("20M"))?;
    hostile::log_of_big_results(&out, count, each).map(tell).map_err(|error| cannot_write(&out, &error))
}

/// Simulates agents at work in a home directory: prompts, calls that take a while, some failures, and now and then a
/// question.
fn work(arguments: &Arguments) -> Result<String, String> {
    let out = arguments.path("out")?;
    let pause = Duration::from_millis(arguments.number("pause", 100)?);
    let end = Instant::now() + Duration::from_secs(arguments.number("seconds", 60)?);
    let begin = |number| FakeAgent::start(&out, &format!("/srv/live{}", number % 3), &format!("11fe0000-0000-4000-8000-{number:012}"));
    let agents: io::Result<Vec<FakeAgent>> = (0..arguments.number("sessions", 3)?).map(begin).collect();
    let mut agents = agents.map_err(|error| cannot_write(&out, &error))?;
    let mut written = 0;
    // Agents take turns, so that their logs grow at the same time.
    for step in 0.. {
        for (number, agent) in agents.iter_mut().enumerate() {
            if Instant::now() > end {
                return Ok(format!("{written} records"));
            }
            act(agent, number, step).map_err(|error| cannot_write(&out, &error))?;
            written += 1;
            std::thread::sleep(pause);
        }
    }
    Ok(String::new())
}

/// Writes the next record of an agent.
fn act(agent: &mut FakeAgent, number: usize, step: u64) -> io::Result<()> {
    let call = format!("toolu_{number}_{}", step / 2);
    // A cycle of 40 records: a prompt, calls with results, a question at its end.
    match step % 40 {
        0 => agent.prompt(&format!("step {step}: make the tests pass")),
        38 => agent.question(&call, "Which of the two?"),
        39 => agent.result(&call, Ok("the first")),
        even if even % 2 == 0 => agent.call(&call, "cargo test --workspace"),
        1 => agent.say("Looking at the tests first."),
        7 => agent.result(&call, Err((101, "error: test failed"))),
        _ => agent.result(&call, Ok("ok. 12 passed")),
    }
}

fn time_floor(arguments: &Arguments) -> Result<String, String> {
    let directory = arguments.place.as_deref().ok_or("`floor` needs a directory: `tooltrail-testkit floor DIR`")?;
    let threads = arguments.number("threads", 1)? as usize;
    let cannot_read = |error: io::Error| format!("can't read `{directory}`: {error}; give a directory of logs");
    let paths = floor::logs_below(Path::new(directory)).map_err(cannot_read)?;
    let start = Instant::now();
    // Timed from inside, so that starting the process does not count.
    let (bytes, lines) = floor::newline_floor(&paths, threads).map_err(cannot_read)?;
    Ok(format!("seconds {:.6} bytes {bytes} lines {lines}", start.elapsed().as_secs_f64()))
}

fn tell(written: corpus::WrittenAmounts) -> String {
    let corpus::WrittenAmounts { bytes, files, lines } = written;
    format!("{bytes} bytes, {files} files, {lines} lines")
}

fn cannot_write(out: &Path, error: &io::Error) -> String {
    format!("can't write `{}`: {error}; give another `--out`", out.display())
}

/// The words after the command: `--name value` pairs and at most one place.
struct Arguments {
    options: HashMap<String, String>,
    place: Option<String>,
}

impl Arguments {
    fn read(words: &[String], known: &[&str]) -> Result<Self, String> {
        let (mut options, mut place) = (HashMap::new(), None);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Some(name) = word.strip_prefix("--") {
                // Unknown options fail: a misspelt `--seed` would silently measure something else.
                if !known.contains(&name) {
                    return Err(format!("`{word}` does not belong here; the options are:\n\n{HELP}"));
                }
                let value = words.next().ok_or_else(|| format!("`{word}` needs a value after it"))?;
                options.insert(name.to_owned(), value.clone());
            } else if place.replace(word.clone()).is_some() {
                return Err(format!("one place only, `{word}` is too much\n\n{HELP}"));
            }
        }
        Ok(Self { options, place })
    }

    fn text<'a>(&'a self, name: &str, default: Option<&'a str>) -> Result<&'a str, String> {
        self.options.get(name).map(String::as_str).or(default).ok_or_else(|| format!("`--{name}` is missing\n\n{HELP}"))
    }

    fn path(&self, name: &str) -> Result<PathBuf, String> {
        self.text(name, None).map(PathBuf::from)
    }

    fn size(&self, name: &str, default: Option<&str>) -> Result<u64, String> {
        size::parse(self.text(name, default)?)
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        self.options.get(name).map_or(Ok(default), |text| text.parse().map_err(|_| format!("`--{name} {text}`: give a whole number")))
    }
}
