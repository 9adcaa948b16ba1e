//! The demo: a few invented sessions inside the program that show every status.
//!
//! Their logs lie in `demo/` as an agent would have laid them, and are read by the same scan as any other. The clock of the demo
//! stands just after the last record, so that its running session runs for ever.

use std::path::Path;
use tooltrail_formats::Registered;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options};
use tooltrail_model::link::{Linker, Source};
use tooltrail_model::{Span, Time};

/// The logs of the demo: path below a home directory, and bytes.
const FILES: &[(&str, &[u8])] = &[];

/// When the demo is watched.
const NOW: &str = "2026-03-04T12:00:30Z";

/// The session that waits for a permission.
const WAITING: &str = "d3a0c1de-0000-4000-8000-000000000004";

/// Reads the demo.
pub(crate) fn read(options: &Options) -> (Linker, Vec<Registered>, Time) {
    let now: Time = NOW.parse().unwrap_or(Time::MAX);
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    let mut linker = Linker::default();
    for (path, bytes) in FILES {
        let summary = scan::read(Path::new(path), *bytes, options, &mut buffer, &turns);
        linker.put(Source { path: (*path).into(), modified: summary.last, summary });
    }
    let waiting = Registered { session: WAITING.to_owned(), pid: None, waiting: true };
    (linker, vec![waiting], now)
}

/// Bytes of a log of the demo.
pub(crate) fn bytes(file: &str, span: Span) -> Option<Vec<u8>> {
    let (_, bytes) = FILES.iter().find(|(path, _)| *path == file)?;
    let range = usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?;
    bytes.get(range).map(<[u8]>::to_vec)
}
