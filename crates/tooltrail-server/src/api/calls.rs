//! `/calls` and `/calls/{id}`: the rows of `calls --json`, and what `show REF --json` prints.

use super::error::{ApiError, Code};
use super::reply::{Reply, RowPage, write_row};
use super::request::ApiRequest;
use super::{named, turn};
use crate::snapshot::CatalogueSnapshot;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::sync::Arc;
use tooltrail_catalog::library::Library;
use tooltrail_catalog::matching::{self, MatchContext};
use tooltrail_catalog::store::{self, ListedCall};
use tooltrail_formats::load;
use tooltrail_model::book::Book;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linked, LinkedCall};
use tooltrail_model::row::{CallNumber, CallRow};
use tooltrail_view::render::json;
use xxhash_rust::xxh3::xxh3_64;

/// Cursor of a list of calls: the last call of a page.
#[derive(Default, Serialize, Deserialize)]
struct CallListCursor {
    agent: String,
    session: String,
    /// Fingerprint of the call within its session.
    call: u64,
    /// Its number, for the case that the call is gone when the next page is asked for.
    number: (u32, u32),
}

impl CallListCursor {
    fn of(row: &CallRow<'_>) -> Self {
        let number = row.r#ref.rsplit_once(':').and_then(|(_, number)| CallNumber::read(number)).unwrap_or_default();
        CallListCursor {
            agent: row.agent.to_owned(),
            session: row.session.to_owned(),
            call: print(row),
            number: (number.call, number.inner),
        }
    }
}

/// Fingerprint of a call's id and position: an id may be used twice, and a record may make several calls.
fn print(row: &CallRow<'_>) -> u64 {
    xxh3_64(format!("{}\0{}\0{}", row.call, row.request.file, row.request.line).as_bytes())
}

pub(super) fn list(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let filter = request.filter(&snapshot)?;
    let after: Option<CallListCursor> = request.after()?;
    if request.flag("copies") {
        return copies(request, &snapshot, filter, after);
    }
    let rows = snapshot.rows();
    let asked = snapshot.catalogued(&rows, request.app.threads());
    let behind = after.map(|last| behind(&snapshot, &last)).transpose()?;
    // A search goes through all logs anyway; of everything else only as many sessions are read as a page needs.
    let (mut found, whole) = match request.limit().filter(|_| !filter.asks_texts()) {
        Some(limit) => (asked.calls_after(&filter, behind, limit)?, !request.wanted.is_over()),
        None => asked.calls_while(&filter, || !request.wanted.is_over())?,
    };
    if !whole && request.wanted.is_over() {
        // The client is gone, so this error is never read; it only ends the work.
        return Err(ApiError::new(Code::Busy, "The client disconnected."));
    }
    found.retain(|call| behind.is_none_or(|behind| (call.session, call.id) > behind));
    let Some(limit) = request.limit() else {
        // Rows borrow from the snapshot, which moves into the stream.
        drop(rows);
        return Ok(Reply::Stream(Box::new(move |out| stream(&snapshot, &found, out))));
    };
    let mut page = RowPage::default();
    let mut last = CallListCursor::default();
    asked.each_row(
        found.get(..limit).unwrap_or(&found),
        |_: &mut (), row, _| {
            page.push(&row);
            last = CallListCursor::of(&row);
        },
        |()| Ok::<_, ApiError>(()),
    )?;
    page.next = (found.len() > limit).then(|| request.next(&last));
    Ok(Reply::Page(page))
}

/// Position of a page's last call in the current list.
fn behind(snapshot: &CatalogueSnapshot, last: &CallListCursor) -> Result<(usize, i64), ApiError> {
    let place = snapshot.rows().iter().position(|row| row.agent == last.agent && row.session == last.session);
    let place = place.ok_or_else(|| {
        ApiError::about(Code::BadCursor, "after", "The last session of the previous page is gone. Start again without `after`.")
    })?;
    let (mut found, mut before) = (None, 0);
    snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
        if print(&row) == last.call {
            found = Some(listed.id);
        }
        // The fallback for a call that has disappeared: the last one with a number not after its number.
        if (listed.number.call, listed.number.inner) <= last.number {
            before = before.max(listed.id);
        }
    })?;
    Ok((place, found.unwrap_or(before)))
}

/// Writes rows, those of one session at a time.
fn stream(snapshot: &CatalogueSnapshot, calls: &[ListedCall], out: &mut dyn Write) -> io::Result<()> {
    let rows = snapshot.rows();
    let asked = snapshot.catalogued(&rows, 1);
    // The catalogue yields whole sessions; a session may have more calls than should be in memory at once.
    for piece in calls.chunks(PIECE) {
        let mut written = Ok(());
        let told = asked.each_row(
            piece,
            |lines: &mut Vec<u8>, row, _| write_row(lines, &row),
            |lines| -> Result<(), store::CatalogueError> {
                // The first error counts; the remaining sessions of the piece are skipped cheaply.
                if written.is_ok() {
                    written = out.write_all(&lines);
                }
                Ok(())
            },
        );
        written?;
        told.map_err(io::Error::other)?;
    }
    Ok(())
}

/// Number of rows that are made at a time.
const PIECE: usize = 4096;

/// The list with every copy of a call. The catalogue does not have copies, so all logs are linked for it.
fn copies(
    request: &ApiRequest,
    snapshot: &Arc<CatalogueSnapshot>,
    filter: Filter,
    after: Option<CallListCursor>,
) -> Result<Reply, ApiError> {
    let (snapshot, threads) = (Arc::clone(snapshot), request.app.threads());
    let Some(limit) = request.limit() else {
        // Waits here, where "busy" can still be an error response, and moves into the stream, which does the work.
        let turn = turn::STREAMED.take()?;
        return Ok(Reply::Stream(Box::new(move |out| {
            let _turn = turn;
            let linker = snapshot.library.whole().map_err(io::Error::other)?;
            let linked = linker.link_on(threads);
            let asked = asked(&snapshot, &linked, threads);
            for call in behind_copies(&asked, &filter, after.as_ref()) {
                let mut line = Vec::new();
                copy(&asked, call, |row| write_row(&mut line, row));
                out.write_all(&line)?;
            }
            Ok(())
        })));
    };
    let _turn = turn::MADE.take()?;
    let linker = snapshot.library.whole()?;
    let linked = linker.link_on(threads);
    let asked = asked(&snapshot, &linked, threads);
    let found = behind_copies(&asked, &filter, after.as_ref());
    let (mut page, mut last) = (RowPage::default(), CallListCursor::default());
    for call in found.iter().take(limit) {
        copy(&asked, call, |row| {
            page.push(row);
            last = CallListCursor::of(row);
        });
    }
    page.next = (found.len() > limit).then(|| request.next(&last));
    Ok(Reply::Page(page))
}

/// A view of all linked logs that filters can be applied to.
pub(super) fn asked<'a>(snapshot: &'a CatalogueSnapshot, linked: &'a Linked<'a>, threads: usize) -> MatchContext<'a> {
    MatchContext { linked, disk: snapshot.library.disk(), now: &snapshot.now, threads, keep: snapshot.library.keep() }
}

/// The row of a copy, as `calls --copies --json` has it.
fn copy(asked: &MatchContext<'_>, call: &LinkedCall, take: impl FnOnce(&CallRow<'_>)) {
    let mut row = asked.linked.call_row(call, asked.now, true);
    // A log that was rewritten since leaves the row without a title.
    let _ = load::complete_at(asked.disk, &mut row, asked.linked.record(call.id));
    take(&row);
}

/// The calls and copies that a filter selects, after the last one of a page.
fn behind_copies<'l>(asked: &MatchContext<'l>, filter: &Filter, last: Option<&CallListCursor>) -> Vec<&'l LinkedCall> {
    let mut calls = matching::calls(asked, filter, true);
    let Some(last) = last else { return calls };
    let linked = asked.linked;
    let is_whose =
        |call: &LinkedCall| linked.sessions.get(call.session).is_some_and(|own| own.agent == last.agent && *own.id == *last.session);
    // The session has no calls any more, so there is no position to continue from.
    let Some(session) = linked.calls.iter().find(|call| is_whose(call)).map(|call| call.session) else { return Vec::new() };
    let own = linked.calls_of(session);
    let is_it = |call: &LinkedCall| print(&linked.call_row(call, asked.now, true)) == last.call;
    // By number if the call itself is gone, as in `behind`.
    let place = own.iter().position(is_it).or_else(|| own.iter().rposition(|call| (call.number.call, call.number.inner) <= last.number));
    let done: Vec<_> = own.iter().take(place.map_or(0, |place| place + 1)).map(|call| call.id).collect();
    calls.retain(|call| call.session > session || (call.session == session && !done.contains(&call.id)));
    calls
}

pub(super) fn one(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let listed = named::call(request, &snapshot, request.name())?;
    if request.flag("full") {
        return full(request, &snapshot, listed);
    }
    let mut text = Vec::new();
    snapshot.listing.one_call(&snapshot.library.catalogue(), listed, |_, row, _| write_row(&mut text, &row))?;
    Ok(Reply::One(text))
}

/// A call in full.
fn full(request: &ApiRequest, snapshot: &Arc<CatalogueSnapshot>, listed: ListedCall) -> Result<Reply, ApiError> {
    let text = request.app.open_session(snapshot, listed.session)?.with(|reader| {
        let mut text = Vec::new();
        let index = reader.book().transcript().calls.iter().position(|call| call.number == listed.number);
        // Writing to memory cannot fail.
        let _ = index.map(|index| json::call(reader.book(), index, &mut text));
        text
    });
    // The catalogue knows the call, but its log was changed since.
    match text.is_empty() {
        true => Err(ApiError::about(Code::LogGone, "id", "This call is no longer in the logs of its session.")),
        false => Ok(Reply::One(text)),
    }
}
