//! Promises of the cache of open sessions, tested without a server: a session is opened once, waits for no other, and
//! is freed in the end.

use super::*;
use std::sync::mpsc;
use tooltrail_catalog::watch::WatchedSession;
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Progress};
use tooltrail_model::Time;
use tooltrail_model::book::Book;
use tooltrail_model::link::{Linker, Now};

/// Time limit that is generous for any machine, and reached only by a failing test.
const PATIENCE: Duration = Duration::from_secs(20);

/// The logs of more sessions than stay open.
struct SampleLogs {
    _place: tempfile::TempDir,
    linker: Arc<Linker>,
}

impl SampleLogs {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let more = (0..OPEN).map(|number| format!("more-{number}"));
        for name in ["one", "two"].map(str::to_owned).into_iter().chain(more) {
            let line = format!("{{\"type\":\"user\",\"uuid\":\"{name}\",\"sessionId\":\"{name}\",\"message\":{{\"content\":\"go\"}}}}\n");
            std::fs::write(place.path().join(format!("{name}.jsonl")), line).unwrap();
        }
        let found = find::in_paths(&[place.path().to_owned()]);
        let (linker, _) = scan::scan(&found.files, &scan::Options::default(), &Progress::default());
        SampleLogs { _place: place, linker: Arc::new(linker) }
    }

    fn source(&self) -> LogSource {
        LogSource::Watched(WatchedSession { linker: Arc::clone(&self.linker), now: Now::at(Time::UNIX_EPOCH), version: 0 })
    }
}

fn key(session: &str, version: u64) -> SessionKey {
    SessionKey { agent: "claude".to_owned(), session: session.to_owned(), version }
}

#[test]
fn requests_at_the_same_time_open_a_session_once() {
    let (logs, sessions, opened) = (SampleLogs::new(), OpenSessions::default(), AtomicUsize::new(0));
    let open = || {
        let opening = sessions.open_with(key("one", 1), |key, notes| {
            opened.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(20));
            OpenSession::open(key, logs.source(), notes)
        });
        opening.unwrap()
    };
    let all: Vec<Arc<OpenSession>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(opened.load(Ordering::Relaxed), 1);
    assert!(all.iter().all(|session| Arc::ptr_eq(session, &all[0])));
    // The book that is read through one reference is the same object for all others.
    let book = |session: &OpenSession| session.with(|reader| std::ptr::from_ref(reader.book().transcript()) as usize);
    assert_eq!(book(&all[0]), book(&all[7]));
    assert!(sessions.find("one", 1).is_some() && sessions.find("one", 2).is_none() && sessions.find("two", 1).is_none());
}

#[test]
fn a_session_that_takes_long_holds_up_no_other() {
    let (logs, sessions) = (SampleLogs::new(), OpenSessions::default());
    let ((begin, begun), (end, ended)) = (mpsc::channel(), mpsc::channel::<()>());
    std::thread::scope(|scope| {
        let (sessions, logs) = (&sessions, &logs);
        // Opening stays blocked until the main thread has opened another session.
        let slow = scope.spawn(move || {
            sessions.open_with(key("one", 1), |key, notes| {
                begin.send(()).unwrap();
                ended.recv_timeout(PATIENCE).unwrap();
                OpenSession::open(key, logs.source(), notes)
            })
        });
        begun.recv_timeout(PATIENCE).unwrap();
        assert!(sessions.open(key("two", 1), logs.source()).is_ok());
        assert!(sessions.find("one", 1).is_none(), "it is not open yet, and the first call says so");
        end.send(()).unwrap();
        assert!(slow.join().unwrap().is_ok());
    });
}

#[test]
fn what_goes_wrong_is_told_and_tried_again() {
    let (logs, sessions) = (SampleLogs::new(), OpenSessions::default());
    let refused = store::CatalogueError::Directory { path: "cache".into(), error: std::io::Error::other("read-only disk") };
    let failed = sessions.open_with(key("one", 1), |_, _| Err(OpenError::Catalogue(refused)));
    let trouble = crate::answer::Trouble::from(failed.err().unwrap());
    assert_eq!(trouble.status().as_u16(), 500);
    assert!(ErrorChain(&trouble).to_string().ends_with(": read-only disk"), "{}", ErrorChain(&trouble));
    let missing = sessions.open(key("three", 1), logs.source()).err().unwrap();
    assert!(matches!(*missing, OpenError::Missing));
    // A panic ends only its own request; the next one can open the session.
    let panics = || sessions.open_with(key("one", 1), |_, _| panic!("a bad log"));
    assert!(std::thread::scope(|scope| scope.spawn(panics).join().is_err()));
    assert!(sessions.open(key("one", 1), logs.source()).is_ok());
}

#[test]
fn a_newer_version_takes_the_notes_of_the_older_one() {
    let (logs, sessions) = (SampleLogs::new(), OpenSessions::default());
    let notes = || Arc::clone(&sessions.cache().slots[0].0.notes);
    sessions.open(key("one", 1), logs.source()).unwrap();
    // The slot that was used last is the first one.
    let older = notes();
    sessions.open(key("two", 1), logs.source()).unwrap();
    assert!(!Arc::ptr_eq(&older, &notes()), "another session's are its own");
    sessions.open(key("one", 2), logs.source()).unwrap();
    assert!(Arc::ptr_eq(&older, &notes()));
    assert!(sessions.find("one", 1).is_none(), "the older version is let go");
    assert_eq!(sessions.names().len(), 2);
}

#[test]
fn only_so_many_stay_open() {
    let (logs, sessions) = (SampleLogs::new(), OpenSessions::default());
    let first = Arc::downgrade(&sessions.open(key("one", 1), logs.source()).unwrap());
    // More failures than slots: any of them that took a slot would push the first session out.
    for number in 0..2 * OPEN {
        assert!(sessions.open(key(&format!("none {number}"), 1), logs.source()).is_err());
    }
    assert!(first.upgrade().is_some(), "what cannot be opened takes no place");
    for number in 0..OPEN {
        assert!(sessions.open(key(&format!("more-{number}"), 1), logs.source()).is_ok());
    }
    assert_eq!((sessions.names().len(), first.upgrade().is_none()), (OPEN, true), "the one that was not used for longest is let go");
}

#[test]
fn idle_sessions_are_let_go_though_nobody_asks() {
    let logs = SampleLogs::new();
    let sessions = OpenSessions { idle: Duration::from_millis(30), ..OpenSessions::default() };
    // Twice: the thread that did it has ended, and another one has to begin.
    for _ in 0..2 {
        let session = sessions.open(key("one", 1), logs.source()).unwrap();
        let seen = Arc::downgrade(&session);
        drop(session);
        let start = Instant::now();
        while seen.upgrade().is_some() {
            assert!(start.elapsed() < PATIENCE, "it is still open");
            std::thread::sleep(Duration::from_millis(5));
        }
        while lock(&sessions.cache).swept {
            assert!(start.elapsed() < PATIENCE, "there is still a thread");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn only_a_few_downloads_are_written_at_once() {
    let (logs, sessions) = (SampleLogs::new(), OpenSessions::default());
    let (end, ended) = mpsc::channel::<()>();
    let (ended, (done, all)) = (Arc::new(Mutex::new(ended)), mpsc::channel());
    let begin = || {
        let (ended, done) = (Arc::clone(&ended), done.clone());
        sessions.download(&key("one", 1), logs.source(), move |session| {
            let _ = ended.lock().unwrap().recv_timeout(PATIENCE);
            done.send(session.with(|reader| reader.version)).unwrap();
        })
    };
    for _ in 0..DOWNLOADS {
        begin().unwrap();
    }
    assert!(matches!(*begin().err().unwrap(), OpenError::Busy));
    assert!(sessions.names().is_empty(), "none of them takes the place of a session that pages ask about");
    drop(end);
    assert_eq!(all.iter().take(DOWNLOADS).collect::<Vec<_>>(), vec![1; DOWNLOADS]);
    let start = Instant::now();
    while sessions.downloads.load(Ordering::Relaxed) > 0 {
        assert!(start.elapsed() < PATIENCE, "one is still counted");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(begin().is_ok());
}
