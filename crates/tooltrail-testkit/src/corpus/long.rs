//! One session of very many rows, to test pages that show all of it.
//!
//! The tools and words of the corpus, but every result is short, so that the rows are many rather than long.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::pool::Pool;
use super::session::SessionLog;
use super::{BUFFER, WrittenAmounts};
use crate::rng::Rng;

/// Amount of text that the pools are made for.
const POOLS: u64 = 25_000_000;

/// Description of a long session.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// Target number of rows, those of its subagents included; it ends with the first turn that reaches this.
    pub rows: u64,
    /// Seed: the same seed gives the same session.
    pub seed: u64,
}

/// Writes the session to `out` and its subagents beside it, as `<session>/subagents/agent-<id>.jsonl`.
pub fn long_session(out: &Path, long: &Long) -> io::Result<WrittenAmounts> {
    let mut rng = Rng::new(long.seed);
    let pool = Pool::new(POOLS, &mut rng);
    let mut session = SessionLog::new(&pool, Rng::new(rng.draw()), "/home/sam/src/harbour".to_owned());
    // Short results: the size is in the number of rows.
    session.brief = true;
    let mut written = WrittenAmounts { files: 1, ..WrittenAmounts::default() };
    let agents = out.with_extension("").join("subagents");
    let mut file = File::create(out)?;
    let mut rows = 0;
    while rows + session.rows < long.rows {
        session.turn(None);
        for started in std::mem::take(&mut session.started) {
            let (prompt, path) = (started.prompt.clone(), agents.join(format!("agent-{}.jsonl", started.id)));
            let mut agent = session.of_agent(started);
            agent.turn(Some(&prompt));
            fs::create_dir_all(&agents)?;
            fs::write(path, &agent.out)?;
            rows += agent.rows;
            written = WrittenAmounts {
                bytes: written.bytes + agent.out.len() as u64,
                files: written.files + 1,
                lines: written.lines + agent.lines,
            };
        }
        // Flushed in parts, so that memory does not grow with the session.
        if session.out.len() >= BUFFER {
            written.bytes += session.out.len() as u64;
            file.write_all(session.out.as_bytes())?;
            session.out.clear();
        }
    }
    file.write_all(session.out.as_bytes())?;
    Ok(WrittenAmounts { bytes: written.bytes + session.out.len() as u64, lines: written.lines + session.lines, ..written })
}
