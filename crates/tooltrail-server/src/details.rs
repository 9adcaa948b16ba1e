//! Details of sessions made in the background: digests, errors and files of calls, the newest sessions first.
//!
//! A thread waits for a snapshot and makes what is missing in it. A newer snapshot ends that early, and the next round goes on where the last
//! one stopped, because what was made is stored. Pages never wait for this thread. Where the work takes much memory, another process does it.

use crate::fresh::SnapshotSource;
use crate::machine::Machine;
use crate::snapshot::CatalogueSnapshot;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tooltrail_formats::error::{ErrorChain, panic_message};
use tracing::{debug, warn};

/// Starts the thread, which ends with the source of snapshots.
pub(crate) fn start(fresh: &Arc<SnapshotSource>, machine: Arc<dyn Machine>, threads: usize) {
    let fresh = Arc::clone(fresh);
    // Half of the threads: pages are asked for at the same time.
    let threads = threads.div_ceil(2).max(1);
    std::thread::spawn(move || {
        let (mut filled, mut tried) = (None, HashSet::new());
        while let Some(snapshot) = fresh.next_snapshot(filled) {
            filled = Some(snapshot.made);
            // A panic must not end the thread: nothing would be made from then on.
            let outcome = catch_unwind(AssertUnwindSafe(|| fill(&fresh, &snapshot, &*machine, threads, &mut tried)));
            if let Err(panic) = outcome {
                warn!(error = panic_message(&*panic), "cannot make the details of sessions");
            }
        }
    });
}

/// Makes what is missing in a snapshot. `tried` has the versions of sessions that another process was started for.
fn fill(fresh: &SnapshotSource, snapshot: &CatalogueSnapshot, machine: &dyn Machine, threads: usize, tried: &mut HashSet<u64>) {
    let (rows, listing, library) = (snapshot.rows(), &snapshot.listing, &snapshot.library);
    let all: Vec<usize> = (0..rows.len()).collect();
    let mut sessions = library.pending(listing, &all);
    // What a process could not make is not tried again with each snapshot.
    sessions.retain(|&session| !tried.contains(&listing.version(session)));
    // A newer snapshot may end this early, and people mostly open the newest sessions.
    sessions.sort_by_key(|&session| Reverse(rows.get(session).and_then(|row| row.last_at)));
    let made = library.is_much(listing, &sessions).and_then(|much| {
        if much && machine.fill_details() {
            tried.extend(sessions.iter().map(|&session| listing.version(session)));
            return Ok(sessions.len());
        }
        library.fill(listing, &sessions, threads, &|| fresh.is_latest(snapshot))
    });
    match made {
        Ok(0) => {}
        Ok(made) => debug!(sessions = made, "made the details of sessions"),
        Err(error) => warn!(error = %ErrorChain(&error), "cannot make the details of sessions"),
    }
}
