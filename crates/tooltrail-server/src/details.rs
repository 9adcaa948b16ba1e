//! Details of sessions made in the background: digests, errors and files of calls, the newest sessions first.
//!
//! A thread waits for a snapshot and makes what is missing in it. A newer snapshot ends that early, and the next round goes on where the last
//! one stopped, because what was made is stored. Pages never wait for this thread.

use crate::fresh::SnapshotSource;
use crate::snapshot::CatalogueSnapshot;
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tooltrail_formats::error::{ErrorChain, panic_message};
use tracing::{debug, warn};

/// Starts the thread, which ends with the source of snapshots.
pub(crate) fn start(fresh: &Arc<SnapshotSource>, threads: usize) {
    let fresh = Arc::clone(fresh);
    // Half of the threads: pages are asked for at the same time.
    let threads = threads.div_ceil(2).max(1);
    std::thread::spawn(move || {
        let mut filled = None;
        while let Some(snapshot) = fresh.next_snapshot(filled) {
            filled = Some(snapshot.made);
            // A panic must not end the thread: nothing would be made from then on.
            let outcome = catch_unwind(AssertUnwindSafe(|| fill(&fresh, &snapshot, threads)));
            if let Err(panic) = outcome {
                warn!(error = panic_message(&*panic), "cannot make the details of sessions");
            }
        }
    });
}

fn fill(fresh: &SnapshotSource, snapshot: &CatalogueSnapshot, threads: usize) {
    let rows = snapshot.rows();
    let mut sessions: Vec<usize> = (0..rows.len()).collect();
    sessions.sort_by_key(|&session| Reverse(rows.get(session).and_then(|row| row.last_at)));
    match snapshot.library.fill(&snapshot.listing, &sessions, threads, &|| fresh.is_latest(snapshot)) {
        Ok(0) => {}
        Ok(made) => debug!(sessions = made, "made the details of sessions"),
        Err(error) => warn!(error = %ErrorChain(&error), "cannot make the details of sessions"),
    }
}
