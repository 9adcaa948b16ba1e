//! `/sessions` and `/sessions/{id}`: the rows of `list --json`.

use super::error::ApiError;
use super::named;
use super::reply::{Reply, RowPage};
use super::request::ApiRequest;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tooltrail_catalog::matching::MatchScope;
use tooltrail_model::Time;
use tooltrail_model::row::SessionRow;

/// Cursor of a list of sessions: the last session of a page.
#[derive(Serialize, Deserialize)]
struct SessionListCursor {
    agent: String,
    session: String,
    /// Its start, for the case that the session is gone when the next page is asked for.
    started: Option<Time>,
}

impl SessionListCursor {
    fn of(row: &SessionRow<'_>) -> Self {
        SessionListCursor { agent: row.agent.to_owned(), session: row.session.to_owned(), started: row.started_at }
    }

    /// The first place after it.
    fn behind(&self, rows: &[SessionRow<'_>]) -> usize {
        let is_it = |row: &SessionRow<'_>| row.agent == self.agent && row.session == self.session;
        if let Some(place) = rows.iter().position(is_it) {
            return place + 1;
        }
        // The session is gone: its place is where it would be sorted. Sessions without a start come last.
        let key = (self.started.is_none(), self.started, self.agent.as_str(), self.session.as_str());
        rows.partition_point(|row| (row.started_at.is_none(), row.started_at, row.agent, row.session) < key)
    }
}

pub(super) fn list(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let filter = request.filter(&snapshot)?;
    let after: Option<SessionListCursor> = request.after()?;
    let rows = snapshot.rows();
    let first = after.map_or(0, |last| last.behind(&rows));
    let asked = snapshot.catalogued(&rows, request.app.threads());
    // A search goes through all logs anyway; of everything else only as many sessions are read as a page needs.
    let mut found = match request.limit().filter(|_| !filter.asks_texts()) {
        Some(limit) => asked.sessions_from(&filter, first, limit)?,
        None => asked.sessions(&filter, MatchScope::Call)?,
    };
    // Deleted sessions are listed only if the filter asks for them.
    found.retain(|&place| place >= first && (filter.asks_gone() || !snapshot.listing.is_gone(place)));
    let Some(limit) = request.limit() else {
        // The stream outlives this handler, so it takes rows from a reference of its own.
        let snapshot = Arc::clone(&snapshot);
        return Ok(Reply::Stream(Box::new(move |out| {
            let rows = snapshot.rows();
            for row in found.into_iter().filter_map(|place| rows.get(place)) {
                serde_json::to_writer(&mut *out, row)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })));
    };
    let mut page = RowPage::default();
    let shown: Vec<&SessionRow<'_>> = found.iter().take(limit).filter_map(|&place| rows.get(place)).collect();
    shown.iter().for_each(|row| page.push(row));
    page.next = shown.last().filter(|_| found.len() > limit).map(|row| request.next(&SessionListCursor::of(row)));
    Ok(Reply::Page(page))
}

pub(super) fn one(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let rows = snapshot.rows();
    let place = named::session(&snapshot, &rows, request.name())?;
    rows.get(place).map(Reply::one).ok_or_else(|| named::no_session(request.name()))
}
