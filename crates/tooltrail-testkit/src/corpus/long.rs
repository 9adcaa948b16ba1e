//! One session of very many rows: what a page has to bear that shows all of it.
//!
//! The same tools and words as the corpus, but every result is short, so that the rows are many rather than long.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::pool::Pool;
use super::session::Session;
use super::{BUFFER, Written};
use crate::rng::Rng;

/// How much text the pools are made for.
const POOLS: u64 = 25_000_000;

/// A session in the making.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// How many rows it is to have, those of its subagents included; it ends with the first turn that reaches this.
    pub rows: u64,
    /// Another seed, another session.
    pub seed: u64,
}

/// Writes the session to `out` and its subagents beside it, as `<session>/subagents/agent-<id>.jsonl`.
pub fn long_session(out: &Path, long: &Long) -> io::Result<Written> {
    let mut rng = Rng::new(long.seed);
    let pool = Pool::new(POOLS, &mut rng);
    let mut session = Session::new(&pool, Rng::new(rng.draw()), "/home/sam/src/harbour".to_owned());
    session.brief = true;
    let mut written = Written { files: 1, ..Written::default() };
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
            written =
                Written { bytes: written.bytes + agent.out.len() as u64, files: written.files + 1, lines: written.lines + agent.lines };
        }
        if session.out.len() >= BUFFER {
            written.bytes += session.out.len() as u64;
            file.write_all(session.out.as_bytes())?;
            session.out.clear();
        }
    }
    file.write_all(session.out.as_bytes())?;
    Ok(Written { bytes: written.bytes + session.out.len() as u64, lines: written.lines + session.lines, ..written })
}
