//! Filters on the command line: which words of it are paths and which a filter, and what a filter takes of the logs that were read.
//!
//! The language itself, and the one evaluator, are `model::filter`. Here calls and messages are opened for it, when it asks.

use crate::cli::LogArgs;
use crate::logs::{self, Logs};
use crate::refs::is_path;
use clap::Args;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tooltrail_formats::FORMATS;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::filter::{self, Filter, Item, Setting, Subject, Within, quoted};
use tooltrail_model::link::{Linked, LinkedCall};
use tooltrail_model::row::{CallRow, SessionRow};
use tooltrail_model::transcript::{Entry, What};

/// Paths and a filter.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SelectArgs {
    /// Log files or directories to read, instead of the agents' own places; all other words are a filter (docs/filter.md)
    #[arg(value_name = "PATH or FILTER")]
    words: Vec<OsString>,
    /// Only what is as young as this, as in `7d` or `2026-03-01`: the same as the term `since:`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what is as old as this: the same as the term `until:`
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl SelectArgs {
    /// The words that are paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.words.iter().filter(|word| word.to_str().is_none_or(names_file)).map(PathBuf::from).collect()
    }

    /// The other words, as a filter.
    pub(crate) fn filter(&self, args: &LogArgs) -> anyhow::Result<Filter> {
        let words = self.words.iter().filter_map(|word| word.to_str()).filter(|word| !names_file(word)).map(str::to_owned);
        let option = |key: &str, value: &Option<String>| value.as_ref().map(|value| format!("{key}:{}", quoted(value)));
        let query: Vec<String> = words.chain(option("since", &self.since)).chain(option("until", &self.until)).collect();
        let text = |path: PathBuf| path.into_os_string().into_string().ok();
        let (here, home) = (std::env::current_dir().ok().and_then(text), std::env::home_dir().and_then(text));
        let agents: Vec<&str> = FORMATS.iter().map(|format| format.agent()).collect();
        let setting = Setting {
            here: here.as_deref(),
            home: home.as_deref().filter(|home| !home.is_empty()),
            now: logs::asked_at(args),
            zone: jiff::tz::TimeZone::system(),
            agents: &agents,
        };
        Ok(filter::parse(&query.join(" "), &setting)?)
    }
}

/// Whether a word is a path: it looks like one, or is there. `file:package.json` looks like one only at its end.
fn names_file(word: &str) -> bool {
    if filter::is_term(word) { Path::new(word).exists() } else { is_path(word) }
}

/// Where all terms of a filter must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// In one call or one message
    Call,
    /// Anywhere in one session, each term in its own place
    Session,
}

/// The calls that a filter takes, in the order in which calls are listed.
pub(crate) fn calls<'l>(logs: &Logs, linked: &'l Linked<'_>, filter: &Filter, copies: bool) -> Vec<&'l LinkedCall> {
    let wanted = |call: &&LinkedCall| copies || call.copy_of.is_none();
    if filter.is_empty() {
        return linked.calls.iter().filter(wanted).collect();
    }
    let sessions: Vec<&[LinkedCall]> = linked.calls.chunk_by(|one, next| one.session == next.session).collect();
    let taken = each(logs.threads(), sessions.len(), |index| {
        let own = sessions[index];
        let Some(first) = own.first() else { return Vec::new() };
        let row = linked.session_row(first.session, &logs.now).unwrap_or_else(|| nameless(linked, logs, first));
        let folder = Folder::new(logs, linked, first.session, &row, filter);
        own.iter().filter(wanted).filter(|call| filter.takes(&CallSubject::new(&folder, call, copies))).collect()
    });
    taken.into_iter().flatten().collect()
}

/// A call that belongs to no session has at least an agent.
fn nameless<'l>(linked: &'l Linked<'_>, logs: &Logs, call: &LinkedCall) -> SessionRow<'l> {
    let row = linked.call_row(call, &logs.now, false);
    SessionRow { agent: row.agent, session: row.session, ..SessionRow::default() }
}

/// The sessions that a filter takes, in the order in which sessions are listed: those with a call that it takes, with a message that
/// has the texts that are looked for, or that are themselves what all terms are about.
pub(crate) fn sessions(logs: &Logs, linked: &Linked<'_>, rows: &[SessionRow<'_>], filter: &Filter, scope: Scope) -> Vec<usize> {
    if filter.is_empty() {
        return (0..rows.len()).collect();
    }
    let taken = each(logs.threads(), rows.len(), |session| {
        let folder = Folder::new(logs, linked, session, &rows[session], filter);
        match scope {
            Scope::Call => folder.has_one(),
            Scope::Session => folder.has_all(),
        }
    });
    (0..rows.len()).filter(|&session| taken[session]).collect()
}

/// The answers to so many questions, in order, asked on several threads.
fn each<T: Send>(threads: usize, count: usize, ask: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut answers = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return answers;
            }
            answers.push((index, ask(index)));
        }
    };
    let mut answers = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(work)).collect();
        let mut answers = work();
        for other in others {
            answers.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        answers
    });
    answers.sort_unstable_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// A session, and its logs once something in them has to be read.
struct Folder<'a> {
    logs: &'a Logs,
    linked: &'a Linked<'a>,
    session: usize,
    row: &'a SessionRow<'a>,
    filter: &'a Filter,
    book: OnceCell<(SessionBook<'a>, HashMap<u32, usize>)>,
}

impl<'a> Folder<'a> {
    fn new(logs: &'a Logs, linked: &'a Linked<'a>, session: usize, row: &'a SessionRow<'a>, filter: &'a Filter) -> Self {
        Folder { logs, linked, session, row, filter, book: OnceCell::new() }
    }

    /// The session to read, and where its calls are by their number.
    fn book(&self) -> &(SessionBook<'a>, HashMap<u32, usize>) {
        self.book.get_or_init(|| {
            let (linked, now, shelf) = (self.linked, &self.logs.now, self.logs.shelf());
            // Some logs tell in records of their own how a call ended, and a text may be in those alone.
            let book = match self.filter.asks_texts() {
                true => SessionBook::read(linked, &[self.session], now, shelf, None),
                false => SessionBook::outline(linked, &[self.session], now, shelf),
            };
            let places = book.transcript().calls.iter().enumerate().map(|(index, call)| (call.number, index)).collect();
            (book, places)
        })
    }

    fn calls(&self) -> impl Iterator<Item = &'a LinkedCall> {
        self.linked.calls_of(self.session).iter().filter(|call| call.copy_of.is_none())
    }

    /// What was said, if that is `asked` about.
    fn messages(&self, asked: bool) -> impl Iterator<Item = &Entry> {
        let threads = asked.then(|| &self.book().0.transcript().threads);
        threads.into_iter().flatten().flat_map(|thread| &thread.entries).filter(|entry| !matches!(entry.what, What::Call(_)))
    }

    /// Whether all terms hold for one thing in the session.
    fn has_one(&self) -> bool {
        let filter = self.filter;
        (filter.asks_sessions() && filter.takes(&SessionSubject(self.row)))
            || self.calls().any(|call| filter.takes(&CallSubject::new(self, call, false)))
            || self.messages(filter.asks_messages()).any(|entry| filter.takes(&MessageSubject::new(self, entry)))
    }

    /// Whether every term holds somewhere in the session.
    fn has_all(&self) -> bool {
        let mut within = Within::new(self.filter);
        within.take(&SessionSubject(self.row));
        self.calls().for_each(|call| within.take(&CallSubject::new(self, call, false)));
        self.messages(self.filter.asks_texts()).for_each(|entry| within.take(&MessageSubject::new(self, entry)));
        within.holds()
    }
}

/// A call, opened when a filter asks for it.
struct CallSubject<'f, 'a> {
    folder: &'f Folder<'a>,
    call: &'f LinkedCall,
    row: CallRow<'f>,
    told: OnceCell<CallRow<'f>>,
    opened: OnceCell<Option<Loaded<'f>>>,
}

impl<'f, 'a> CallSubject<'f, 'a> {
    fn new(folder: &'f Folder<'a>, call: &'f LinkedCall, alone: bool) -> Self {
        let row = folder.linked.call_row(call, &folder.logs.now, alone);
        CallSubject { folder, call, row, told: OnceCell::new(), opened: OnceCell::new() }
    }
}

impl Subject for CallSubject<'_, '_> {
    fn session(&self) -> &SessionRow<'_> {
        self.folder.row
    }

    fn item(&self) -> Item<'_> {
        Item::Call(&self.row)
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        Some(self.told.get_or_init(|| {
            let mut row = self.row.clone();
            self.folder.logs.understand(&mut row, self.folder.linked.record(self.call.id).at);
            row
        }))
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        let open = || {
            let (book, places) = self.folder.book();
            places.get(&self.call.number).map(|&place| book.call(place))
        };
        self.opened.get_or_init(open).as_ref()
    }
}

/// A message, opened when a filter asks for it.
struct MessageSubject<'f, 'a> {
    folder: &'f Folder<'a>,
    entry: &'f Entry,
    opened: OnceCell<Loaded<'f>>,
}

impl<'f, 'a> MessageSubject<'f, 'a> {
    fn new(folder: &'f Folder<'a>, entry: &'f Entry) -> Self {
        MessageSubject { folder, entry, opened: OnceCell::new() }
    }
}

impl Subject for MessageSubject<'_, '_> {
    fn session(&self) -> &SessionRow<'_> {
        self.folder.row
    }

    fn item(&self) -> Item<'_> {
        Item::Message(self.entry.time)
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        None
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        Some(self.opened.get_or_init(|| self.folder.book().0.open(self.entry)))
    }
}

/// A session itself. There is nothing in it to open.
struct SessionSubject<'a>(&'a SessionRow<'a>);

impl Subject for SessionSubject<'_> {
    fn session(&self) -> &SessionRow<'_> {
        self.0
    }

    fn item(&self) -> Item<'_> {
        Item::Session
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        None
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        None
    }
}
