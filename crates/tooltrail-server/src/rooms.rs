//! Rooms: sessions that are open.
//!
//! Opening a session means linking its logs, and reading them once when somebody wants to know more than its calls; what comes of that
//! borrows from what it was read from, so it lives in threads of its own, and who wants to know something sends a question in. A session
//! that has changed gets another room, which is handed the notes of the one before: of logs that have only grown the new records are
//! read. A room closes when nobody has come for a while, or when others are wanted more, and everything in it is let go.

use crate::snapshot::Snapshot;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tooltrail_catalog::library::Library;
use tooltrail_catalog::watch::Held;
use tooltrail_formats::shelf::Disk;
use tooltrail_formats::transcript::{Notes, SessionBook};
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::link::{Linked, LinkedSession, Linker, Now};
use tooltrail_model::row::SessionRow;
use tooltrail_model::transcript::{Entry, Transcript};
use tooltrail_view::render::html::window::Window;

/// How many sessions are open at once.
const OPEN: usize = 6;
/// How long a room stays open with nobody in it.
const IDLE: Duration = Duration::from_secs(90);
/// How much is done apart at once.
const APART: usize = 4;
/// How many questions are answered at once in a room.
const WORKERS: usize = 2;

/// An open session.
pub struct Room<'a> {
    /// What can be read.
    pub book: &'a Volume<'a>,
    /// The logs that it is linked with.
    pub linked: &'a Linked<'a>,
    /// Its place in `linked.sessions`.
    pub session: usize,
    /// The moment it was opened at.
    pub now: &'a Now,
    /// Where its logs are read again from.
    pub shelf: &'a Disk,
    /// Changes when anything changes that is shown.
    pub version: u64,
    /// What its page needs to know.
    pub window: &'a Pane<'a>,
}

/// What a session's page needs to know, settled when the page is first asked for.
pub struct Pane<'a> {
    book: &'a Volume<'a>,
    made: OnceLock<Window>,
}

impl Deref for Pane<'_> {
    type Target = Window;

    fn deref(&self) -> &Window {
        self.made.get_or_init(|| Window::new(self.book.transcript()))
    }
}

/// A session's book, read when somebody first looks into it.
pub struct Volume<'a> {
    linked: &'a Linked<'a>,
    session: usize,
    now: &'a Now,
    shelf: &'a Disk,
    notes: &'a Notes,
    whole: OnceLock<SessionBook<'a>>,
    outline: OnceLock<SessionBook<'a>>,
}

impl<'a> Volume<'a> {
    fn new(linked: &'a Linked<'a>, session: usize, now: &'a Now, shelf: &'a Disk, notes: &'a Notes) -> Self {
        Volume { linked, session, now, shelf, notes, whole: OnceLock::new(), outline: OnceLock::new() }
    }

    /// The calls, each of which can be opened. Nothing has to be read for that.
    pub fn calls(&self) -> &SessionBook<'a> {
        let outline = || SessionBook::outline(self.linked, &[self.session], self.now, self.shelf);
        self.whole.get().unwrap_or_else(|| self.outline.get_or_init(outline))
    }
}

impl<'a> Deref for Volume<'a> {
    type Target = SessionBook<'a>;

    fn deref(&self) -> &SessionBook<'a> {
        self.whole.get_or_init(|| SessionBook::read_on(self.linked, self.session, self.now, self.shelf, self.notes))
    }
}

impl Book for Volume<'_> {
    fn transcript(&self) -> &Transcript<'_> {
        (**self).transcript()
    }

    fn open(&self, entry: &Entry) -> Loaded<'_> {
        (**self).open(entry)
    }

    fn call(&self, index: usize) -> Loaded<'_> {
        (**self).call(index)
    }

    fn file(&self, source: usize) -> Option<&str> {
        (**self).file(source)
    }
}

/// A question.
type Question = Box<dyn FnOnce(&Room<'_>) + Send>;

/// The rooms, the one that was entered last first.
#[derive(Default)]
pub struct Rooms {
    doors: Arc<Mutex<Vec<Door>>>,
    /// How many rooms were ever opened, to tell them apart.
    opened: AtomicU64,
    /// How much is done apart at this moment.
    apart: Arc<AtomicUsize>,
}

struct Door {
    key: Key,
    number: u64,
    ask: Sender<Question>,
    notes: Arc<Notes>,
}

/// Where a session's logs are taken from.
pub enum From {
    /// From the catalogue, by their bundle.
    Stored(Arc<Snapshot>, i64),
    /// From the watcher, which has just looked at them.
    Watched(Held),
}

impl From {
    /// The logs and the moment. What it holds is let go, as far as it is not that.
    fn open(self) -> Option<(Arc<Linker>, Now)> {
        match self {
            // A moment holds on to the catalogue as it was, which a room that stays open for long must not.
            From::Stored(snapshot, bundle) => Some((snapshot.library.open(bundle).ok()?, snapshot.now.clone())),
            From::Watched(held) => Some((held.linker, held.now)),
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Shut {
    /// The logs are not there any more.
    Gone,
    /// They are, but something went wrong.
    Broken,
    /// Too much is being done already.
    Busy,
}

/// What a room is found by.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    agent: String,
    session: String,
    version: u64,
}

impl Rooms {
    /// Asks something about a session.
    pub fn ask<T: Send + 'static>(&self, key: Key, from: From, question: impl FnOnce(&Room<'_>) -> T + Send + 'static) -> Result<T, Shut> {
        let (question, told) = posed(question);
        self.send(key, question, from);
        told.recv().map_err(|_| Shut::Broken)
    }

    /// Asks something about a session in one of its versions, if there is an open room for that; gives the question back if not.
    pub fn ask_open<T, Q>(&self, session: &str, version: u64, question: Q) -> Result<Result<T, Shut>, Q>
    where
        T: Send + 'static,
        Q: FnOnce(&Room<'_>) -> T + Send + 'static,
    {
        let doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(door) = doors.iter().find(|door| door.key.session == session && door.key.version == version) else { return Err(question) };
        let (question, told) = posed(question);
        // Whether it is just closing shows in the answer.
        let _ = door.ask.send(question);
        drop(doors);
        Ok(told.recv().map_err(|_| Shut::Broken))
    }

    /// Has something done in a room that nobody else comes into, and does not wait for it: it may take as long as it likes.
    pub fn apart(&self, key: Key, from: From, work: impl FnOnce(&Room<'_>) + Send + 'static) -> Result<(), Shut> {
        let busy = Arc::clone(&self.apart);
        if busy.fetch_add(1, Ordering::Relaxed) >= APART {
            busy.fetch_sub(1, Ordering::Relaxed);
            return Err(Shut::Busy);
        }
        let (ask, asked) = channel();
        // The other end is below, and after this question there are no more.
        let _ = ask.send(Box::new(work) as Question);
        drop(ask);
        std::thread::spawn(move || {
            open(&key, from, &Notes::default(), &Mutex::new(asked), &|| {});
            busy.fetch_sub(1, Ordering::Relaxed);
        });
        Ok(())
    }

    /// The agents and sessions of the rooms that are open, the one that was entered last first.
    pub fn open(&self) -> Vec<(String, String)> {
        let doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        doors.iter().map(|door| (door.key.agent.clone(), door.key.session.clone())).collect()
    }

    fn send(&self, key: Key, question: Question, from: From) {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let known = doors.iter().position(|door| door.key == key).map(|place| doors.remove(place));
        // What an older version of it holds is of no use any more, but for what was noted of its logs.
        let older = doors.iter().position(|door| door.key.is_of(&key)).map(|place| doors.remove(place).notes);
        let question = match known {
            None => question,
            Some(door) => match door.ask.send(question) {
                Ok(()) => return doors.insert(0, door),
                Err(closed) => closed.0,
            },
        };
        let (ask, asked) = channel();
        // The other end is below.
        let _ = ask.send(question);
        doors.truncate(OPEN - 1);
        let (number, notes) = (self.opened.fetch_add(1, Ordering::Relaxed), older.unwrap_or_default());
        doors.insert(0, Door { key: key.clone(), number, ask, notes: Arc::clone(&notes) });
        let doors = Arc::clone(&self.doors);
        std::thread::spawn(move || {
            // Without its door nobody else comes; who is inside already is still answered.
            let close = || doors.lock().unwrap_or_else(PoisonError::into_inner).retain(|door| door.number != number);
            open(&key, from, &notes, &Mutex::new(asked), &close);
            close();
        });
    }
}

/// A question, and where its answer comes out.
fn posed<T: Send + 'static>(question: impl FnOnce(&Room<'_>) -> T + Send + 'static) -> (Question, Receiver<T>) {
    let (tell, told) = channel();
    let question = move |room: &Room<'_>| {
        // Who asked may have gone.
        let _ = tell.send(question(room));
    };
    (Box::new(question), told)
}

impl Key {
    /// What a version of a session is found by.
    pub fn new(row: &SessionRow<'_>, version: u64) -> Self {
        Key { agent: row.agent.to_owned(), session: row.session.to_owned(), version: version ^ *RUN }
    }

    fn is_of(&self, other: &Key) -> bool {
        self.agent == other.agent && self.session == other.session
    }
}

/// What this run of the program has to itself: what another one drew may look otherwise, and browsers keep what never changes.
pub(crate) static RUN: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));

/// Opens a session and answers questions about it until nobody asks any more.
fn open(key: &Key, from: From, notes: &Notes, asked: &Mutex<Receiver<Question>>, close: &(dyn Fn() + Sync)) {
    let Some((linker, now)) = from.open() else { return };
    let shelf = Disk::default();
    let linked = linker.link();
    let is_it = |session: &LinkedSession| session.agent == key.agent && *session.id == *key.session;
    let Some(session) = linked.sessions.iter().position(is_it) else { return };
    let book = Volume::new(&linked, session, &now, &shelf, notes);
    let window = Pane { book: &book, made: OnceLock::new() };
    let room = Room { book: &book, linked: &linked, session, now: &now, shelf: &shelf, version: key.version, window: &window };
    let next = || asked.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(IDLE);
    let work = || {
        loop {
            match next() {
                // Who asked notices that there is no answer; the others are not to suffer.
                Ok(question) => drop(catch_unwind(AssertUnwindSafe(|| question(&room)))),
                Err(RecvTimeoutError::Timeout) => close(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..WORKERS {
            scope.spawn(work);
        }
        work();
    });
}
