//! What a filter takes of logs that are linked: calls and sessions, each opened only when the filter asks for it.
//!
//! The language and its one evaluator are `model::filter`. `subjects` is what the evaluator is asked about; here that is done for all of
//! them, on several threads.

mod subjects;

use std::sync::atomic::{AtomicUsize, Ordering};
use subjects::{CallSubject, Folder};
use tooltrail_formats::shelf::Shelf;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linked, LinkedCall, Now};
use tooltrail_model::row::SessionRow;

/// What is asked about, and what it takes to answer.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The logs.
    pub linked: &'a Linked<'a>,
    /// Where they are read again from.
    pub shelf: &'a dyn Shelf,
    /// The moment of asking.
    pub now: &'a Now,
    /// How many threads there are to work on.
    pub threads: usize,
}

/// Where all terms of a filter must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In one call or one message.
    Call,
    /// Anywhere in one session, each term in its own place.
    Session,
}

/// The calls that a filter takes, in the order in which calls are listed.
pub fn calls<'l>(asked: &Asked<'l>, filter: &Filter, copies: bool) -> Vec<&'l LinkedCall> {
    let wanted = |call: &&LinkedCall| copies || call.copy_of.is_none();
    if filter.is_empty() {
        return asked.linked.calls.iter().filter(wanted).collect();
    }
    let sessions: Vec<&[LinkedCall]> = asked.linked.calls.chunk_by(|one, next| one.session == next.session).collect();
    let taken = each(asked.threads, sessions.len(), |index| {
        let own = sessions[index];
        let Some(first) = own.first() else { return Vec::new() };
        let row = asked.linked.session_row(first.session, asked.now).unwrap_or_else(|| nameless(asked, first));
        let folder = Folder::new(*asked, first.session, &row, filter);
        own.iter().filter(wanted).filter(|call| filter.takes(&CallSubject::new(&folder, call, copies))).collect()
    });
    taken.into_iter().flatten().collect()
}

/// Whether a filter takes one call.
pub fn takes(asked: &Asked<'_>, filter: &Filter, call: &LinkedCall) -> bool {
    let row = asked.linked.session_row(call.session, asked.now).unwrap_or_else(|| nameless(asked, call));
    let folder = Folder::new(*asked, call.session, &row, filter);
    filter.takes(&CallSubject::new(&folder, call, false))
}

/// A call that belongs to no session has at least an agent.
fn nameless<'l>(asked: &Asked<'l>, call: &LinkedCall) -> SessionRow<'l> {
    let row = asked.linked.call_row(call, asked.now, false);
    SessionRow { agent: row.agent, session: row.session, ..SessionRow::default() }
}

/// The sessions that a filter takes, in the order in which sessions are listed: those with a call that it takes, with a message that
/// has the texts that are looked for, or that are themselves what all terms are about.
pub fn sessions(asked: &Asked<'_>, rows: &[SessionRow<'_>], filter: &Filter, scope: Scope) -> Vec<usize> {
    if filter.is_empty() {
        return (0..rows.len()).collect();
    }
    let taken = each(asked.threads, rows.len(), |session| {
        let folder = Folder::new(*asked, session, &rows[session], filter);
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
