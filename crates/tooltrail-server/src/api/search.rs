//! `/search`: the rows of `search --json`, in its order: sessions with the latest activity first.
//!
//! A session with new activity moves to the front, so the position of a page is not stable. A cursor lists the sessions
//! that are done, each by a small number, and how far the last one is; sessions that are done are not searched again.

use super::error::{ApiError, Code};
use super::reply::{Reply, RowPage, write_row};
use super::request::ApiRequest;
use crate::snapshot::CatalogueSnapshot;
use crate::work::Cancellation;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::library::{Bundle, Library, StoredLibrary};
use tooltrail_catalog::search::{Field, Hit, Query, search};
use tooltrail_catalog::store::CatalogueError;
use tooltrail_formats::disk::ReadLogs;
use tooltrail_model::Time;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linker, Now};
use xxhash_rust::xxh3::xxh3_64;

/// Limit on the sessions in a cursor: an address has to stay shorter than 64 kB.
const DONE: usize = 5_000;

/// Cursor: everything that earlier pages have listed.
#[derive(Default, Serialize, Deserialize)]
struct SearchCursor {
    /// Sessions that were listed completely.
    done: Vec<u64>,
    /// Sessions that were listed partly. There may be several: another session can overtake one that was begun.
    parts: Vec<HitCursor>,
}

/// Position in the hits of a session.
#[derive(Serialize, Deserialize)]
struct HitCursor {
    session: u64,
    /// Fingerprint of the last hit, and how many equal ones were listed.
    hit: u64,
    times: usize,
    /// Its time, for the case that the hit is gone.
    at: Option<Time>,
}

/// Fingerprint of a session, shortened because many of them stand in an address. Collisions are very unlikely.
fn number(agent: &str, session: &str) -> u64 {
    xxh3_64(format!("{agent}\0{session}").as_bytes()) >> 16
}

fn print(hit: &Hit) -> u64 {
    xxh3_64(format!("{}\0{}\0{}\0{}", hit.file, hit.record, hit.field, hit.snippet).as_bytes())
}

impl HitCursor {
    fn of(session: u64, told: &[Hit]) -> Option<Self> {
        let last = told.last()?;
        let hit = print(last);
        Some(HitCursor { session, hit, times: told.iter().filter(|one| print(one) == hit).count(), at: last.at })
    }

    /// Number of hits of the session that were listed already.
    fn skips(&self, hits: &[Hit]) -> usize {
        let same = hits.iter().enumerate().filter(|(_, hit)| print(hit) == self.hit).map(|(place, _)| place + 1);
        same.take(self.times).last().unwrap_or_else(|| hits.iter().take_while(|hit| hit.at <= self.at).count())
    }
}

pub(super) fn list(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let filter = request.filter(&snapshot)?;
    let told: SearchCursor = request.after()?.unwrap_or_default();
    if filter.patterns().next().is_none() {
        let say =
            "The search has no text: give a word, a \"phrase\" or re:PATTERN, or use /api/v1/calls or /api/v1/sessions with this filter.";
        return Err(ApiError::about(Code::NoText, "q", say));
    }
    let fields: Vec<Field> = request.get("field").and_then(Field::of_word).into_iter().collect();
    let asked = ResumedSearch { query: Query::new(filter, &fields), told, threads: request.app.threads(), wanted: request.wanted.clone() };
    let Some(limit) = request.limit() else {
        // The stream runs after this handler has returned, when its flag is already set.
        let asked = ResumedSearch { wanted: Cancellation::default(), ..asked };
        return Ok(Reply::Stream(Box::new(move |out| asked.stream(&snapshot, out))));
    };
    asked.page(&snapshot, request, limit)
}

/// A search that continues after a cursor.
struct ResumedSearch {
    query: Query,
    told: SearchCursor,
    threads: usize,
    wanted: Cancellation,
}

impl ResumedSearch {
    /// Gives the hits that were not listed yet, session by session, until `take` ends it.
    fn each(
        &self,
        snapshot: &CatalogueSnapshot,
        mut take: impl FnMut(u64, &[Hit], usize) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        let done: HashSet<u64> = self.told.done.iter().copied().collect();
        let library = RemainingLibrary::new(snapshot, &done);
        search(&library, &self.query, &snapshot.now, self.threads, |hits| {
            // The client is gone.
            if self.wanted.is_over() {
                return ControlFlow::Break(());
            }
            for own in hits.chunk_by(|one, next| Arc::ptr_eq(&one.about, &next.about)) {
                let Some(session) = own.first().map(|hit| number(hit.agent, &hit.session)) else { continue };
                // A bundle may contain several sessions, and some of them may be done.
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

    fn page(self, snapshot: &CatalogueSnapshot, request: &ApiRequest, limit: usize) -> Result<Reply, ApiError> {
        let mut page = RowPage::default();
        let (mut left, mut more) = (limit, false);
        let (mut done, mut begun): (Vec<u64>, Option<HitCursor>) = (Vec::new(), None);
        self.each(snapshot, |session, hits, skips| {
            let wanted = hits.get(skips..).unwrap_or_default();
            let shown = wanted.get(..left).unwrap_or(wanted);
            shown.iter().for_each(|hit| page.push(hit));
            left -= shown.len();
            more = shown.len() < wanted.len();
            if more {
                begun = HitCursor::of(session, hits.get(..skips + shown.len()).unwrap_or_default());
                return ControlFlow::Break(());
            }
            done.push(session);
            ControlFlow::Continue(())
        })?;
        if more {
            let mut told = self.told;
            // A session is in one list only: partly listed ones are replaced by their new position or by being done.
            told.parts.retain(|part| !done.contains(&part.session) && begun.as_ref().is_none_or(|begun| begun.session != part.session));
            told.parts.extend(begun);
            told.done.extend(done);
            // Better an error than an address that proxies cut off.
            if told.done.len() > DONE {
                let say =
                    format!("More than {DONE} sessions come before this page. Request JSON lines without `limit`, or narrow the search.");
                return Err(ApiError::about(Code::TooFar, "after", say));
            }
            page.next = Some(request.next(&told));
        }
        Ok(Reply::Page(page))
    }

    fn stream(&self, snapshot: &CatalogueSnapshot, out: &mut dyn Write) -> io::Result<()> {
        let mut written = Ok(());
        let told = self.each(snapshot, |_, hits, skips| {
            for hit in hits.get(skips..).unwrap_or_default() {
                let mut line = Vec::new();
                write_row(&mut line, hit);
                // The search itself has no error for a lost client, so it is stopped and the error kept beside it.
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

/// A library without the sessions that are done.
struct RemainingLibrary<'a> {
    stored: &'a StoredLibrary,
    /// Bundles with a session that is not done; `None` for all.
    open: Option<HashSet<i64>>,
}

impl<'a> RemainingLibrary<'a> {
    fn new(snapshot: &'a CatalogueSnapshot, done: &HashSet<u64>) -> Self {
        let open = || {
            let rows = snapshot.rows();
            let left = (0..rows.len()).filter(|&place| !done.contains(&number(rows[place].agent, rows[place].session)));
            left.filter_map(|place| snapshot.listing.bundle(place)).collect()
        };
        RemainingLibrary { stored: &snapshot.library, open: (!done.is_empty()).then(open) }
    }
}

impl Library for RemainingLibrary<'_> {
    fn bundles(&self) -> Result<Vec<Bundle>, CatalogueError> {
        self.stored.bundles()
    }

    fn open(&self, bundle: i64) -> Result<Arc<Linker>, CatalogueError> {
        self.stored.open(bundle)
    }

    fn disk(&self) -> &dyn ReadLogs {
        self.stored.disk()
    }

    fn keep(&self) -> Option<&Keep> {
        self.stored.keep()
    }

    fn likely(&self, filter: &Filter, now: &Now, threads: usize) -> Result<Vec<Bundle>, CatalogueError> {
        let mut bundles = self.stored.likely(filter, now, threads)?;
        // Only the bundles to be searched are restricted; opening any of them still works.
        bundles.retain(|bundle| self.open.as_ref().is_none_or(|open| open.contains(&bundle.id)));
        Ok(bundles)
    }
}
