//! Work shared among threads, if more than one is allowed. The result is the same for any number of them.

use std::panic::resume_unwind;
use std::thread;

/// The most threads; starting more takes longer than they save.
pub(super) const MOST: usize = 8;

/// Runs two functions, in parallel if there is a thread to spare.
pub(super) fn both<A, B: Send>(threads: usize, here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, B) {
    if threads < 2 {
        return (here(), there());
    }
    thread::scope(|scope| {
        let there = scope.spawn(there);
        // A panic in the other thread must not be lost.
        (here(), there.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Splits items into a run for each thread, of about equal weight, and applies a function to each. Results are in order.
pub(super) fn in_runs<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    weight: &(impl Fn(&T) -> usize + Sync),
    work: &(impl Fn(&[T]) -> R + Sync),
) -> Vec<R> {
    if threads < 2 || items.len() < 2 {
        return vec![work(items)];
    }
    let more = threads / 2;
    let few = threads - more;
    let share = items.iter().map(weight).sum::<usize>() / threads * few;
    let mut before = 0;
    let reaches = |item: &T| {
        before += weight(item);
        before >= share
    };
    // Never empty on the right: the other half of the threads needs something to do.
    let cut = items.iter().position(reaches).map_or(items.len(), |last| last + 1).min(items.len() - 1);
    let (left, right) = items.split_at(cut);
    let (mut done, rest) = both(threads, || in_runs(few, left, weight, work), || in_runs(more, right, weight, work));
    done.extend(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_in_order_and_as_many_as_threads() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in 1..=MOST {
            let runs = in_runs(threads, &items, &|_| 1, &<[usize]>::to_vec);
            assert_eq!(runs.concat(), items);
            assert_eq!(runs.len(), threads);
            assert!(runs.iter().all(|run| run.len().abs_diff(items.len() / threads) <= MOST), "{threads} threads");
        }
    }

    #[test]
    fn runs_weigh_the_same() {
        let runs = in_runs(2, &[1, 1, 1, 1, 4], &|item| *item, &<[usize]>::to_vec);
        assert_eq!(runs, [vec![1, 1, 1, 1], vec![4]]);
        for items in [&[][..], &[7], &[0, 0], &[9, 1], &[1, 9]] {
            let runs = in_runs(MOST, items, &|item| *item, &<[usize]>::to_vec);
            assert_eq!(runs.concat(), items);
        }
    }
}
