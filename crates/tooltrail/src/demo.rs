//! The demo: a few invented sessions inside the program that show every status.
//!
//! Their logs lie in `demo/` as an agent would have laid them, and are read by the same scan as any other. The clock of the demo
//! stands just after the last record, so that its running session runs for ever.
//!
//! | session | story |
//! |---|---|
//! | `3f2a…` | a flaky test is found and fixed; the suite runs in the background |
//! | `c2d4…` | the same session, forked half-way to try something else |
//! | `7c10…` | a feature, with a subagent that looks around first |
//! | `b84e…` | a deployment that hooks, rules and the person refuse |
//! | `5e9d…` | a refactoring that dies with its machine |
//! | `6ab3…` | a fix whose tests "pass" behind a pipe: the exit code is `tail`'s, the output says that one failed |
//! | `e41c…` | a change that was tested, and then edited twice more |
//! | `91f7…` | a release being built right now |
//! | `d3a0…` | a fix that waits for permission to push |
//! | `f04b…` | files changed by shell commands, a command that a hook replaced, a shell of an MCP server that failed |
//! | `019cb4…` | a Codex session: an agent that looks, a test that fails, a patch, a bench that is stopped |
//! | `019cb5…` | a Codex session whose calls run in scripts: one of three fails, a patch, a test whose exit code is not printed |

use std::io::{self, Read};
use std::path::Path;
use tooltrail_formats::Registered;
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options};
use tooltrail_model::link::{Linker, Live, Source};
use tooltrail_model::{Span, Time};

/// A log of the demo under the name it would have below a home directory.
macro_rules! log {
    ($path:literal) => {
        (concat!(".claude/projects/", $path), include_bytes!(concat!("demo/projects/", $path)).as_slice())
    };
    (codex $path:literal) => {
        (concat!(".codex/sessions/2026/03/03/", $path), include_bytes!(concat!("demo/codex/sessions/2026/03/03/", $path)).as_slice())
    };
}

/// The logs of the demo: path below a home directory, and bytes.
const FILES: &[(&str, &[u8])] = &[
    log!("-srv-atlas/5e9d37f0-8ab4-4c61-a2e7-f30b9c14d8a6.jsonl"),
    log!("-srv-atlas/5e9d37f0-8ab4-4c61-a2e7-f30b9c14d8a6/subagents/agent-ae07d2b95c3f1846a.jsonl"),
    log!("-srv-atlas/e41c08f7-5a92-4b6d-9d13-70c8e2b4a6f1.jsonl"),
    log!("-srv-ledger/6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35.jsonl"),
    log!("-srv-ledger/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045.jsonl"),
    log!("-srv-ledger/7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045/subagents/agent-a4c19e07b52d8f631.jsonl"),
    log!("-srv-orbit/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13.jsonl"),
    log!("-srv-orbit/91f7c26a-0e5d-4b38-8c94-7ad1e3b052fc.jsonl"),
    log!("-srv-orbit/91f7c26a-0e5d-4b38-8c94-7ad1e3b052fc/subagents/agent-a91b0c5d7e2f38464.jsonl"),
    log!("-srv-orbit/c2d47e80-93aa-4f0b-8d26-5b1f6a3e9d72.jsonl"),
    log!("-srv-shop/b84e60d1-2c77-4e3a-9f18-c6d05a7b31e9.jsonl"),
    log!("-srv-shop/d3a0c1de-5f42-4e19-b7a8-2c6e90d4f1b3.jsonl"),
    log!("-srv-shop/f04b7d92-6c3e-4a18-9b57-2e81d0a6c374.jsonl"),
    log!(codex "rollout-2026-03-03T18-02-10-019cb4dd-5728-73c1-9b0e-5d2f84a6c7e1.jsonl"),
    log!(codex "rollout-2026-03-03T18-02-20-019cb4dd-7dd4-7a02-8f47-c19e60b3d528.jsonl"),
    log!(codex "rollout-2026-03-03T19-13-20-019cb51e-8ad0-7c24-a6f1-3e0b95d7c218.jsonl"),
];

/// The current time of the demo.
const NOW: &str = "2026-03-04T12:00:30Z";

/// The session that waits for a permission.
const WAITING: &str = "d3a0c1de-5f42-4e19-b7a8-2c6e90d4f1b3";

/// The current time of the demo, parsed.
pub(crate) fn now() -> Time {
    // The constant is valid; the fallback only avoids a panic in a function that cannot fail.
    NOW.parse().unwrap_or(Time::UNIX_EPOCH)
}

/// Reads the demo.
pub(crate) fn read(options: &Options) -> (Linker, Vec<Registered>) {
    // The files are part of the program, so one thread without a progress bar is fast enough.
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    let mut linker = Linker::default();
    for (path, bytes) in FILES {
        let summary = scan::read(Path::new(path), *bytes, options, &mut buffer, &turns);
        linker.put(Source { path: (*path).into(), modified: summary.last, summary });
    }
    // An agent lists its running sessions in a registry; the demo has none, so this entry stands in for it. Without a process id
    // nothing checks whether the process still runs.
    let waiting = Registered { session: WAITING.to_owned(), pid: None, live: Live::Waiting };
    (linker, vec![waiting])
}

/// Writes the logs of the demo into a directory as agents would have, for code that needs files; returns the running sessions.
pub(crate) fn lay(home: &Path, options: &Options) -> io::Result<Vec<Registered>> {
    let (linker, running) = read(options);
    let written: std::collections::HashMap<&str, Time> =
        linker.sources().filter_map(|source| Some((&*source.path, source.modified?))).collect();
    for (path, bytes) in FILES {
        let file = home.join(path);
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(&file, bytes)?;
        // A session counts as alive by the age of its file, so each file gets the time of its last record.
        if let Some(time) = written.get(path) {
            std::fs::File::options().append(true).open(&file)?.set_modified(time.timestamp().into())?;
        }
    }
    Ok(running)
}

/// The logs of the demo as a disk, from which records are read again.
pub(crate) struct DemoLogs;

impl DemoLogs {
    fn file(name: &str) -> io::Result<&'static [u8]> {
        let found = FILES.iter().find(|(path, _)| *path == name);
        found.map(|(_, bytes)| *bytes).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl ReadLogs for DemoLogs {
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(DemoLogs::file(file)?))
    }

    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>> {
        // `get` instead of indexing: the span comes from a summary, and a wrong one must not panic.
        let range = usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?;
        DemoLogs::file(file).ok()?.get(range).map(<[u8]>::to_vec)
    }

    fn beside(&self, _: &str, _: &str, _: u64) -> io::Result<(Vec<u8>, u64)> {
        Err(io::ErrorKind::NotFound.into())
    }
}
