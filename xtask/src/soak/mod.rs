//! `cargo xtask soak`: refreshes that are killed at random moments, again and again, while the logs change in every way.
//!
//! After each kill the remaining catalogue must open, be sound, and agree after a refresh with one that is made from
//! scratch.

mod ask;
mod dice;
mod home;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::options::TaskOptions;
use crate::workspace::{built, run_cargo, say, spoken, target};
use ask::{everything, files, is_sound, program};
use dice::Dice;
use home::SoakHome;

pub(crate) const OPTIONS: &[&str] = &["--kills", "--seed", "--size"];
const BUILD: &[&str] = &["build", "--locked", "-p", "tooltrail", "-p", "tooltrail-testkit"];
/// Commands that refresh the catalogue.
const COMMANDS: &[&[&str]] = &[&["list", "--json"], &["calls", "--json"], &["sql", "SELECT count(*) FROM calls"]];
/// Kills between two reports of progress.
const TELL: usize = 10;

/// Runs the kills and reports.
pub(crate) fn run(options: &TaskOptions) -> Result<(), String> {
    let kills = options.number("--kills", 100)?;
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let seed = options.number("--seed", clock)?;
    run_cargo(&[], BUILD).map_err(|error| format!("the build failed; {error}"))?;
    // A directory per seed, so that the files of a failed run stay for inspection.
    let directory = target().join("soak").join(seed.to_string());
    let mut soak = Soak::begin(&directory, options.get("--size").unwrap_or("60M"), seed)?;
    let start = Instant::now();
    for number in 1..=kills {
        soak.round().map_err(|error| {
            let done = soak.done.join("\n  ");
            format!("kill {number}, seed {seed}: {error}\nbefore it:\n  {done}\nlogs and catalogues are kept in {}", directory.display())
        })?;
        if number % TELL == 0 || number == kills {
            say(&format!("{number} of {kills}, {}: {}", spoken(start.elapsed()), soak.counts));
        }
    }
    let _ = fs::remove_dir_all(&directory);
    say(&format!("all good after {kills} kills with seed {seed}: {}", soak.counts));
    Ok(())
}

/// Counts of what the kills hit.
#[derive(Default)]
struct KillCounts {
    working: usize,
    first: usize,
    first_working: usize,
    torn: usize,
    unfinished: usize,
    company: usize,
    edits: usize,
}

impl std::fmt::Display for KillCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let KillCounts { working, first, first_working, torn, unfinished, company, edits } = self;
        write!(f, "{working} kills hit a command at work, {first_working} of them among {first} first fills; ")?;
        write!(f, "{torn} left a first file behind, {unfinished} a journal; {company} had others beside them; {edits} edits")
    }
}

struct Soak {
    dice: Dice,
    home: SoakHome,
    /// Directory of the catalogue that must survive.
    cache: PathBuf,
    /// Directory of the catalogue that is made from scratch.
    fresh: PathBuf,
    /// Durations of a first fill here, and of a refresh after some edits.
    whole: Duration,
    some: Duration,
    /// Events of this round.
    done: Vec<String>,
    counts: KillCounts,
}

impl Soak {
    /// Generates the logs, and measures durations.
    fn begin(directory: &Path, size: &str, seed: u64) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("can't work in `{}`: {error}", directory.display());
        let _ = fs::remove_dir_all(directory);
        let path = directory.join("home");
        fs::create_dir_all(&path).map_err(failed)?;
        let mut testkit = std::process::Command::new(built("debug", "tooltrail-testkit"));
        let made = testkit.args(["gen", "--size", size, "--seed", &seed.to_string(), "--out"]).arg(&path).status().map_err(failed)?;
        if !made.success() {
            return Err(format!("the testkit ended with {made}; its message is above"));
        }
        let home = SoakHome::new(path, directory.join("spare")).map_err(failed)?;
        let (cache, fresh) = (directory.join("cache"), directory.join("fresh"));
        let (dice, counts) = (Dice(seed), KillCounts::default());
        let mut soak = Soak { dice, home, cache, fresh, whole: Duration::ZERO, some: Duration::ZERO, done: Vec::new(), counts };
        // Measured, because a kill at a random moment must fall into the time that a command takes here.
        soak.whole = soak.timed()?;
        for _ in 0..3 {
            soak.change()?;
            soak.some += soak.timed()? / 3;
        }
        say(&format!("{size} of logs: a first fill takes {}, a refresh after edits {}", spoken(soak.whole), spoken(soak.some)));
        Ok(soak)
    }

    /// Duration of a command that is not disturbed.
    fn timed(&self) -> Result<Duration, String> {
        let start = Instant::now();
        ended(self.start(COMMANDS[0])?)?;
        Ok(start.elapsed())
    }

    fn start(&self, arguments: &[&str]) -> Result<Child, String> {
        program(&self.home.path, &self.cache, arguments).spawn().map_err(|error| format!("can't start the program: {error}"))
    }

    /// Makes some changes to the logs.
    fn change(&mut self) -> Result<(), String> {
        for _ in 0..1 + self.dice.below(6) {
            let what = self.home.change(&mut self.dice).map_err(|error| format!("can't edit the logs: {error}"))?;
            self.done.push(what);
            self.counts.edits += 1;
        }
        Ok(())
    }

    /// One round: edits, a kill, and a check of what is left.
    fn round(&mut self) -> Result<(), String> {
        self.done.clear();
        self.change()?;
        // Every sixth round starts without a catalogue, since a first fill has its own failures.
        let first = self.dice.below(6) == 0;
        if first {
            let _ = fs::remove_dir_all(&self.cache);
            self.counts.first += 1;
        }
        // Sometimes others work on the same catalogue, and take their time.
        let others = if self.dice.below(3) == 0 { 1 + self.dice.below(2) } else { 0 };
        let all = (if first { self.whole } else { self.some }) * u32::try_from(others + 1).unwrap_or(1);
        let was_working = self.kill(others, all)?;
        self.counts.company += usize::from(others > 0);
        self.counts.working += usize::from(was_working);
        self.counts.first_working += usize::from(was_working && first);
        self.look()
    }

    /// Starts commands, and kills one of them. Returns whether it was still running.
    fn kill(&mut self, others: usize, all: Duration) -> Result<bool, String> {
        let mut children = Vec::new();
        for _ in 0..=others {
            let arguments = self.dice.pick(COMMANDS).copied().unwrap_or_default();
            self.done.push(format!("start `{}`", arguments.join(" ")));
            children.push(self.start(arguments)?);
        }
        let mut victim = children.swap_remove(self.dice.below(children.len()));
        let moment = self.dice.moment(all);
        thread::sleep(moment);
        let was_working = matches!(victim.try_wait(), Ok(None));
        victim.kill().and_then(|()| victim.wait()).map_err(|error| format!("can't kill: {error}"))?;
        self.done.push(format!("kill one after {} ms{}", moment.as_millis(), if was_working { "" } else { "; it had ended" }));
        let left = |ending: &str| files(&self.cache, ending);
        let id = victim.id();
        self.counts.torn += usize::from(!left(&format!(".{id}.new")).is_empty());
        // With others running, a journal says nothing about the kill.
        self.counts.unfinished += usize::from(others == 0 && !left("-wal").is_empty());
        // The commands that were not killed must succeed.
        children.into_iter().try_for_each(|child| ended(child).map(drop))?;
        Ok(was_working)
    }

    /// Checks that the catalogue is sound, and equal to one that is made from scratch.
    fn look(&self) -> Result<(), String> {
        is_sound(&self.home.path, &self.cache)?;
        let _ = fs::remove_dir_all(&self.fresh);
        let (stored, fresh) = (everything(&self.home.path, &self.cache)?, everything(&self.home.path, &self.fresh)?);
        let difference = stored.iter().zip(&fresh).find(|(stored, fresh)| stored != fresh);
        match difference {
            Some((stored, fresh)) => Err(format!("the catalogue is not what the logs say\n  stored: {stored}\n  fresh:  {fresh}")),
            None if stored.len() != fresh.len() => Err(format!("the catalogue has {} rows instead of {}", stored.len(), fresh.len())),
            // An empty comparison would pass for ever without testing anything.
            None if fresh.is_empty() => Err("there is nothing to compare".to_owned()),
            None => Ok(()),
        }
    }
}

/// Waits for a command, which must succeed without complaints.
fn ended(child: Child) -> Result<Output, String> {
    let output = child.wait_with_output().map_err(|error| format!("lost a command: {error}"))?;
    if output.status.success() && output.stderr.is_empty() {
        return Ok(output);
    }
    Err(format!("a command ended with {} and said: {}", output.status, String::from_utf8_lossy(&output.stderr)))
}
