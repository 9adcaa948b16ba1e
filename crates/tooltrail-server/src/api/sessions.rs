//! `/sessions` and `/sessions/{id}`: the rows of `list --json`.

use super::fault::Fault;
use super::named;
use super::question::Question;
use super::reply::{Page, Reply};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tooltrail_catalog::matching::MatchScope;
use tooltrail_model::Time;
use tooltrail_model::row::SessionRow;

/// The last session of a page.
#[derive(Serialize, Deserialize)]
struct Last {
    agent: String,
    session: String,
    /// For the case that it is not there any more.
    started: Option<Time>,
}

impl Last {
    fn of(row: &SessionRow<'_>) -> Self {
        Last { agent: row.agent.to_owned(), session: row.session.to_owned(), started: row.started_at }
    }

    /// The first place behind it.
    fn behind(&self, rows: &[SessionRow<'_>]) -> usize {
        let is_it = |row: &SessionRow<'_>| row.agent == self.agent && row.session == self.session;
        if let Some(place) = rows.iter().position(is_it) {
            return place + 1;
        }
        // By start; those without one come last.
        let key = (self.started.is_none(), self.started, self.agent.as_str(), self.session.as_str());
        rows.partition_point(|row| (row.started_at.is_none(), row.started_at, row.agent, row.session) < key)
    }
}

pub(super) fn list(question: &Question) -> Result<Reply, Fault> {
    let snapshot = question.snapshot()?;
    let filter = question.filter(&snapshot)?;
    let after: Option<Last> = question.after()?;
    let rows = snapshot.rows();
    let mut found = snapshot.catalogued(&rows, question.app.threads()).sessions(&filter, MatchScope::Call)?;
    let first = after.map_or(0, |last| last.behind(&rows));
    // What is gone is only there for who asks for it.
    found.retain(|&place| place >= first && (filter.asks_gone() || !snapshot.listing.is_gone(place)));
    let Some(limit) = question.limit() else {
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
    let mut page = Page::default();
    let shown: Vec<&SessionRow<'_>> = found.iter().take(limit).filter_map(|&place| rows.get(place)).collect();
    shown.iter().for_each(|row| page.push(row));
    page.next = shown.last().filter(|_| found.len() > limit).map(|row| question.next(&Last::of(row)));
    Ok(Reply::Page(page))
}

pub(super) fn one(question: &Question) -> Result<Reply, Fault> {
    let snapshot = question.snapshot()?;
    let rows = snapshot.rows();
    let place = named::session(&snapshot, &rows, question.name())?;
    rows.get(place).map(Reply::one).ok_or_else(|| named::no_session(question.name()))
}
