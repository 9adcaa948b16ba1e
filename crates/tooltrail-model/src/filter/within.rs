//! Terms that hold somewhere in a session, each in its own place: `--within session`.

use super::ask::{Answer, decide};
use super::{Filter, Subject};

/// Terms that have held so far in a session.
#[derive(Clone, Debug)]
pub struct Within<'f> {
    filter: &'f Filter,
    /// Whether the test of each term held somewhere.
    held: Vec<bool>,
}

impl<'f> Within<'f> {
    /// A state in which no term has held yet.
    pub fn new(filter: &'f Filter) -> Self {
        Within { filter, held: vec![false; filter.terms.len()] }
    }

    /// Evaluates a call, a message, or the session itself.
    pub fn take(&mut self, subject: &dyn Subject) {
        for ((term, bit), held) in self.filter.numbered().zip(&mut self.held) {
            *held = *held || decide(self.filter, subject, |known| Answer::from(term.test.holds(known, bit)));
        }
    }

    /// Whether every term holds: somewhere, or with `not:` nowhere.
    pub fn holds(&self) -> bool {
        self.filter.terms.iter().zip(&self.held).all(|(term, held)| *held != term.not)
    }
}
