//! `/search`: the rows of `search --json`, in its order: what was last said first.
//!
//! A session to which something is added moves to the front, so a page cannot be told by where it begins. A cursor names the sessions that
//! are done, each by a small number, and how far the last one is; what is done is not looked through again.

use super::fault::{Code, Fault};
use super::question::Question;
use super::reply::{Page, Reply, write_row};
use crate::snapshot::Snapshot;
use crate::work::Wanted;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::library::{Bundle, Library, StoredLibrary};
use tooltrail_catalog::search::{Field, Hit, Query, search};
use tooltrail_catalog::store::CatalogueError;
use tooltrail_formats::shelf::Shelf;
use tooltrail_model::Time;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linker, Now};
use xxhash_rust::xxh3::xxh3_64;

/// How many sessions a cursor may name: an address has to stay shorter than 64 kB.
const DONE: usize = 5_000;

/// What the pages so far have told.
#[derive(Default, Serialize, Deserialize)]
struct Told {
    /// Sessions of which everything was told.
    done: Vec<u64>,
    /// Those of which a part was: a session that was begun may be overtaken by another to which something is added.
    parts: Vec<Part>,
}

/// How far a session was told.
#[derive(Serialize, Deserialize)]
struct Part {
    session: u64,
    /// The last hit, and how many of its session were like it.
    hit: u64,
    times: usize,
    /// When it was said, for the case that it is not found any more.
    at: Option<Time>,
}

/// A session by a number that others hardly have. It is short, since many of them stand in an address.
fn number(agent: &str, session: &str) -> u64 {
    xxh3_64(format!("{agent}\0{session}").as_bytes()) >> 16
}

fn print(hit: &Hit) -> u64 {
    xxh3_64(format!("{}\0{}\0{}\0{}", hit.file, hit.record, hit.field, hit.snippet).as_bytes())
}

impl Part {
    fn of(session: u64, told: &[Hit]) -> Option<Self> {
        let last = told.last()?;
        let hit = print(last);
        Some(Part { session, hit, times: told.iter().filter(|one| print(one) == hit).count(), at: last.at })
    }

    /// How many hits of its session come before what is still to be told.
    fn skips(&self, hits: &[Hit]) -> usize {
        let same = hits.iter().enumerate().filter(|(_, hit)| print(hit) == self.hit).map(|(place, _)| place + 1);
        same.take(self.times).last().unwrap_or_else(|| hits.iter().take_while(|hit| hit.at <= self.at).count())
    }
}

pub(super) fn list(question: &Question) -> Result<Reply, Fault> {
    let snapshot = question.snapshot()?;
    let filter = question.filter(&snapshot)?;
    let told: Told = question.after()?.unwrap_or_default();
    if filter.patterns().next().is_none() {
        let say = "There is no text to look for: give a word, a \"phrase\" or re:PATTERN, or ask /api/v1/calls or /api/v1/sessions with this filter.";
        return Err(Fault::about(Code::NoText, "q", say));
    }
    let fields: Vec<Field> = question.get("field").and_then(Field::of_word).into_iter().collect();
    let asked = Asked { query: Query::new(filter, &fields), told, threads: question.app.threads(), wanted: question.wanted.clone() };
    let Some(limit) = question.limit() else {
        // It is written to whoever reads, after this has been answered.
        let asked = Asked { wanted: Wanted::default(), ..asked };
        return Ok(Reply::Stream(Box::new(move |out| asked.stream(&snapshot, out))));
    };
    asked.page(&snapshot, question, limit)
}

/// A search that goes on where another was left.
struct Asked {
    query: Query,
    told: Told,
    threads: usize,
    wanted: Wanted,
}

impl Asked {
    /// Gives what was not told yet, the hits of a session at a time, until somebody has enough.
    fn each(&self, snapshot: &Snapshot, mut take: impl FnMut(u64, &[Hit], usize) -> ControlFlow<()>) -> Result<(), CatalogueError> {
        let done: HashSet<u64> = self.told.done.iter().copied().collect();
        let library = Left::new(snapshot, &done);
        search(&library, &self.query, &snapshot.now, self.threads, |hits| {
            // Nobody will see what was found till now.
            if self.wanted.is_over() {
                return ControlFlow::Break(());
            }
            for own in hits.chunk_by(|one, next| Arc::ptr_eq(&one.about, &next.about)) {
                let Some(session) = own.first().map(|hit| number(hit.agent, &hit.session)) else { continue };
                if done.contains(&session) {
                    continue;
                }
                let part = self.told.parts.iter().find(|part| part.session == session);
                take(session, own, part.map_or(0, |part| part.skips(own)))?;
            }
            ControlFlow::Continue(())
        })
        .map(drop)
    }

    fn page(self, snapshot: &Snapshot, question: &Question, limit: usize) -> Result<Reply, Fault> {
        let mut page = Page::default();
        let (mut left, mut more) = (limit, false);
        let (mut done, mut begun): (Vec<u64>, Option<Part>) = (Vec::new(), None);
        self.each(snapshot, |session, hits, skips| {
            let wanted = hits.get(skips..).unwrap_or_default();
            let shown = wanted.get(..left).unwrap_or(wanted);
            shown.iter().for_each(|hit| page.push(hit));
            left -= shown.len();
            more = shown.len() < wanted.len();
            if more {
                begun = Part::of(session, hits.get(..skips + shown.len()).unwrap_or_default());
                return ControlFlow::Break(());
            }
            done.push(session);
            ControlFlow::Continue(())
        })?;
        if more {
            let mut told = self.told;
            told.parts.retain(|part| !done.contains(&part.session) && begun.as_ref().is_none_or(|begun| begun.session != part.session));
            told.parts.extend(begun);
            told.done.extend(done);
            if told.done.len() > DONE {
                let say = format!("More than {DONE} sessions come before this page. Ask for lines without `limit`, or for less.");
                return Err(Fault::about(Code::TooFar, "after", say));
            }
            page.next = Some(question.next(&told));
        }
        Ok(Reply::Page(page))
    }

    fn stream(&self, snapshot: &Snapshot, out: &mut dyn Write) -> io::Result<()> {
        let mut written = Ok(());
        let told = self.each(snapshot, |_, hits, skips| {
            for hit in hits.get(skips..).unwrap_or_default() {
                let mut line = Vec::new();
                write_row(&mut line, hit);
                written = out.write_all(&line);
                if written.is_err() {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        written?;
        told.map_err(io::Error::other)
    }
}

/// What is left of a library when some sessions are done.
struct Left<'a> {
    stored: &'a StoredLibrary,
    /// The bundles with a session that is not.
    open: Option<HashSet<i64>>,
}

impl<'a> Left<'a> {
    fn new(snapshot: &'a Snapshot, done: &HashSet<u64>) -> Self {
        let open = || {
            let rows = snapshot.rows();
            let left = (0..rows.len()).filter(|&place| !done.contains(&number(rows[place].agent, rows[place].session)));
            left.filter_map(|place| snapshot.listing.bundle(place)).collect()
        };
        Left { stored: &snapshot.library, open: (!done.is_empty()).then(open) }
    }
}

impl Library for Left<'_> {
    fn bundles(&self) -> Result<Vec<Bundle>, CatalogueError> {
        self.stored.bundles()
    }

    fn open(&self, bundle: i64) -> Result<Arc<Linker>, CatalogueError> {
        self.stored.open(bundle)
    }

    fn shelf(&self) -> &dyn Shelf {
        self.stored.shelf()
    }

    fn keep(&self) -> Option<&Keep> {
        self.stored.keep()
    }

    fn likely(&self, filter: &Filter, now: &Now, threads: usize) -> Result<Vec<Bundle>, CatalogueError> {
        let mut bundles = self.stored.likely(filter, now, threads)?;
        bundles.retain(|bundle| self.open.as_ref().is_none_or(|open| open.contains(&bundle.id)));
        Ok(bundles)
    }
}
