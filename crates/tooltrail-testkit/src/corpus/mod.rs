//! Large invented Claude Code logs, laid out like a home directory; the same plan always gives the same bytes.
//!
//! The mix of records and the lengths of lines follow measurements of real logs (see `tests/corpus.rs`, which holds the
//! figures). A session is written turn by turn from pools of escaped text, so a gigabyte takes seconds.

mod extras;
mod ids;
mod long;
mod pool;
mod session;
mod tools;
mod turn;
mod usage;
mod words;

pub use long::{Long, long_session};

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::rng::Rng;
use pool::Pool;
use session::SessionLog;

/// From this size on, a corpus has two logs of 55 to 80 MB.
const LARGE: u64 = 400_000_000;
/// Bytes of a log that are collected before they are written.
const BUFFER: usize = 1 << 20;

/// Description of a corpus.
#[derive(Clone, Copy, Debug)]
pub struct CorpusPlan {
    /// Target size of the corpus; it ends with the first turn that reaches this.
    pub bytes: u64,
    /// Seed: the same seed gives the same corpus.
    pub seed: u64,
}

/// Amounts that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenAmounts {
    /// Bytes in all files.
    pub bytes: u64,
    /// Number of files.
    pub files: u64,
    /// Lines in all files.
    pub lines: u64,
}

/// Writes a corpus below `out`, as `.claude/projects/<slug>/<session>.jsonl` with subagents beside it.
pub fn generate(out: &Path, plan: &CorpusPlan) -> io::Result<WrittenAmounts> {
    let mut rng = Rng::new(plan.seed);
    let pool = Pool::new(plan.bytes, &mut rng);
    let homes: Vec<String> =
        (0..(plan.bytes / 40_000_000).max(3)).map(|_| format!("/home/sam/src/{}", pool.words.joined(&mut rng, 2, "/"))).collect();
    let mut large = if plan.bytes >= LARGE { 2 } else { 0 };
    // A small corpus must consist of more than one session.
    let most = (plan.bytes / 8).min(20_000_000) as usize;
    let mut written = WrittenAmounts::default();
    while written.bytes < plan.bytes {
        let cwd = homes[rng.below(homes.len())].clone();
        let wanted = if large > 0 {
            large -= 1;
            rng.between(55_000_000, 80_000_000)
        } else {
            // Most sessions are small, and a few make up most of the bytes.
            rng.long_tailed(400_000.0, 1.35).min(most)
        };
        let directory = out.join(".claude/projects").join(slug(&cwd));
        // A generator of its own per session, so that one session does not depend on how much another drew.
        let mut session = SessionLog::new(&pool, Rng::new(rng.draw()), cwd);
        if session.rng.chance(0.3) {
            session.summary();
        }
        let path = directory.join(format!("{}.jsonl", session.id));
        write_log(&path, &mut session, None, wanted, plan.bytes, &mut written)?;
        for started in std::mem::take(&mut session.started) {
            let path = directory.join(&session.id).join("subagents").join(format!("agent-{}.jsonl", started.id));
            let (prompt, wanted) = (started.prompt.clone(), rng.long_tailed(100_000.0, 1.0));
            let mut agent = session.of_agent(started);
            write_log(&path, &mut agent, Some(&prompt), wanted, plan.bytes, &mut written)?;
        }
    }
    Ok(written)
}

/// Writes turns until the log has `wanted` bytes or the corpus `total`.
fn write_log(
    path: &Path,
    session: &mut SessionLog<'_>,
    prompt: Option<&str>,
    wanted: usize,
    total: u64,
    written: &mut WrittenAmounts,
) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut file = File::create(path)?;
    let mut flushed = 0;
    let mut prompt = prompt;
    loop {
        // Only the first turn of a subagent has a given prompt.
        session.turn(prompt.take());
        let size = flushed + session.out.len();
        // Checked after each turn, since a turn is never cut.
        let done = size >= wanted || written.bytes + size as u64 >= total;
        if done || session.out.len() >= BUFFER {
            file.write_all(session.out.as_bytes())?;
            session.out.clear();
            flushed = size;
        }
        if done {
            break;
        }
    }
    written.bytes += flushed as u64;
    written.lines += session.lines;
    written.files += 1;
    Ok(())
}

/// Directory name that the agent gives to a project.
fn slug(cwd: &str) -> String {
    cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
