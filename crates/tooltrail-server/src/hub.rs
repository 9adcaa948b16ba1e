//! The hub: what changes in the logs, told to everybody who listens, by one watcher.
//!
//! The watcher runs while somebody listens and for a moment after that; at rest there is none. The last changes are kept with their
//! numbers, so that whoever was cut off goes on where it was. Numbers belong to a run of the program: after another start, or when too
//! much has happened meanwhile, a listener is told that it has missed something and has to look for itself.

use crate::fresh::Fresh;
use crate::machine::Machine;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tooltrail_catalog::watch::{Change, Ground, Held, Next, Options, Subscriber, Watcher, Wish};

/// How many may listen at once.
const LISTENERS: usize = 256;
/// How many changes are kept.
const KEPT: usize = 4096;
/// How long the watcher stays when nobody listens: a page that is loaded anew comes back at once.
const STAYS: Duration = Duration::from_secs(30);
/// How often it is looked whether anybody still listens.
const LOOK: Duration = Duration::from_secs(5);

/// Tells everybody what changes.
pub(crate) struct Hub {
    machine: Arc<dyn Machine>,
    options: Options,
    fresh: Arc<Fresh>,
    state: Mutex<State>,
    /// The number of the last change.
    told: watch::Sender<u64>,
    /// Tells this run from others.
    run: u64,
}

#[derive(Default)]
struct State {
    watcher: Option<Arc<Watcher>>,
    /// Whether there is one, or will be.
    attended: bool,
    /// Whether it has looked at everything once: what is written from then on is told.
    begun: bool,
    listeners: usize,
    /// The last changes, with their numbers.
    kept: VecDeque<(u64, Arc<Change>)>,
    last: u64,
}

/// Somebody who listens. Dropping it ends that.
pub(crate) struct Listener {
    hub: Arc<Hub>,
    /// The number of the last change that it was told.
    last: u64,
    missed: bool,
    wake: watch::Receiver<u64>,
}

/// What a listener is told.
pub(crate) enum Told {
    /// It has missed something, or has just begun.
    Missed,
    /// These changes, in order.
    Changes(Vec<Arc<Change>>),
}

impl Hub {
    /// A hub at which nobody listens.
    pub(crate) fn new(machine: Arc<dyn Machine>, options: Options, fresh: Arc<Fresh>, run: u64) -> Arc<Self> {
        Arc::new(Hub { machine, options, fresh, state: Mutex::default(), told: watch::Sender::new(0), run })
    }

    /// Begins to listen: behind the change of this name, if it is still known. Nothing where too many do already.
    pub(crate) fn listen(self: &Arc<Self>, since: Option<&str>) -> Option<Listener> {
        self.attend();
        let mut state = self.state();
        if state.listeners >= LISTENERS {
            return None;
        }
        state.listeners += 1;
        let wake = self.told.subscribe();
        let first = state.kept.front().map_or(state.last + 1, |(number, _)| *number);
        let known = since.and_then(|name| self.number(name)).filter(|number| *number <= state.last && *number + 1 >= first);
        Some(Listener { hub: Arc::clone(self), last: known.unwrap_or(state.last), missed: known.is_none(), wake })
    }

    /// Asks the watcher for changes of its own wishing, while somebody listens.
    pub(crate) fn subscribe(self: &Arc<Self>, wish: Wish) -> Option<Subscriber> {
        self.attend();
        let watcher = self.state().watcher.clone()?;
        Some(watcher.subscribe(wish))
    }

    /// A session as it is at this moment; nothing while nobody listens.
    pub(crate) fn session(&self, agent: &str, session: &str) -> Option<Held> {
        let watcher = self.state().watcher.clone()?;
        watcher.session(agent, session)
    }

    /// What a change is called.
    fn name(&self, number: u64) -> String {
        format!("{:x}.{number}", self.run)
    }

    fn number(&self, name: &str) -> Option<u64> {
        let (run, number) = name.split_once('.')?;
        (u64::from_str_radix(run, 16) == Ok(self.run)).then_some(number.parse().ok())?
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the logs watched, if they are not and can be: by a thread of its own, since there may be much to read first.
    fn attend(self: &Arc<Self>) {
        let mut state = self.state();
        let Some(ground) = self.machine.ground().filter(|_| !state.attended) else { return };
        (state.attended, state.begun) = (true, false);
        let hub = Arc::downgrade(self);
        std::thread::spawn(move || watch_over(&hub, ground));
    }

    /// Watches; nothing if the system has no thread for it.
    fn watch(&self, ground: Ground) -> Option<Subscriber> {
        let clock = Arc::clone(&self.machine);
        let watcher = Watcher::start(ground, self.options.clone(), Arc::new(move || clock.now()), None).ok()?;
        let subscriber = watcher.subscribe(Wish { touched: true, ..Wish::default() });
        self.state().watcher = Some(Arc::new(watcher));
        Some(subscriber)
    }

    fn put(&self, change: Arc<Change>) {
        if matches!(*change, Change::Begun { .. }) {
            self.state().begun = true;
            self.told.send_modify(|_| {});
            return;
        }
        self.fresh.expire();
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        if matches!(*change, Change::Lagged { .. }) {
            // Whoever listens has missed something as well.
            state.kept.clear();
        } else {
            state.kept.push_back((number, change));
            if state.kept.len() > KEPT {
                state.kept.pop_front();
            }
        }
        drop(state);
        self.told.send_replace(number);
    }
}

/// Watches as long as somebody listens, and passes on what the watcher tells.
fn watch_over(hub: &Weak<Hub>, ground: Ground) {
    let Some(begin) = hub.upgrade() else { return };
    // What the catalogue has need not be read once more. Whatever comes meanwhile, who listens looks when this has begun.
    begin.fresh.wait_until_read();
    let subscriber = begin.watch(ground);
    drop(begin);
    if let Some(subscriber) = &subscriber {
        pass_on(hub, subscriber);
    }
    let Some(hub) = hub.upgrade() else { return };
    let mut state = hub.state();
    let watcher = state.watcher.take();
    state.attended = false;
    // What happens from now on nobody counts, so what was counted leads nowhere.
    state.kept.clear();
    state.last += 1;
    drop(state);
    drop(watcher);
}

/// Passes on what the watcher tells, until nobody has listened for a while.
fn pass_on(hub: &Weak<Hub>, subscriber: &Subscriber) {
    let mut heard = Instant::now();
    loop {
        let next = subscriber.next_within(LOOK);
        let Some(hub) = hub.upgrade() else { return };
        match next {
            Next::Change(change) => hub.put(change),
            Next::Quiet => {}
            Next::Ended => return,
        }
        if hub.state().listeners > 0 {
            heard = Instant::now();
        } else if heard.elapsed() > STAYS {
            return;
        }
    }
}

impl Listener {
    /// What there is to be told; waits for it.
    pub(crate) async fn next(&mut self) -> Told {
        loop {
            self.wake.borrow_and_update();
            if let Some(told) = self.take() {
                return told;
            }
            if self.wake.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// The name of the last change that was told, to go on from.
    pub(crate) fn name(&self) -> String {
        self.hub.name(self.last)
    }

    fn take(&mut self) -> Option<Told> {
        let state = self.hub.state();
        // Who looks before the watcher has would not be told of what comes between the two.
        if self.missed && !state.begun && state.attended {
            return None;
        }
        if std::mem::take(&mut self.missed) {
            self.last = state.last;
            return Some(Told::Missed);
        }
        if state.last == self.last {
            return None;
        }
        let missing = state.kept.front().is_none_or(|(first, _)| *first > self.last + 1);
        let behind = state.kept.partition_point(|(number, _)| *number <= self.last);
        self.last = state.last;
        let changes = state.kept.iter().skip(behind).map(|(_, change)| Arc::clone(change)).collect();
        Some(if missing { Told::Missed } else { Told::Changes(changes) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.hub.state().listeners -= 1;
    }
}
