//! The least work of a reader of line files: reading every byte and finding the ends of lines.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CHUNK: usize = 256 * 1024;

/// Reads all of `paths` on `threads` threads and counts bytes and newlines.
pub fn newline_floor(paths: &[PathBuf], threads: usize) -> io::Result<(u64, u64)> {
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<(u64, u64)> {
        // One buffer per thread, reused for all files.
        let mut chunk = vec![0; CHUNK];
        let (mut bytes, mut lines) = (0, 0);
        // A shared counter balances the load: threads take the next file when they are done.
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut file = File::open(path)?;
            loop {
                let count = file.read(&mut chunk)?;
                if count == 0 {
                    break;
                }
                bytes += count as u64;
                lines += memchr::memchr_iter(b'\n', &chunk[..count]).count() as u64;
            }
        }
        Ok((bytes, lines))
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_fold((0, 0), |(bytes, lines), worker| {
            let (more_bytes, more_lines) =
                worker.join().map_err(|_| io::Error::other("a reading thread panicked; run it again with `--threads 1`"))??;
            Ok((bytes + more_bytes, lines + more_lines))
        })
    })
}

/// Every `.jsonl` file below `directory`, the largest first so that threads finish together.
pub fn logs_below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push((entry.metadata()?.len(), path));
            }
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
