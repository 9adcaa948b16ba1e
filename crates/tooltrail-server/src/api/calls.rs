//! `/calls` and `/calls/{id}`: the rows of `calls --json`, and what `show REF --json` prints.

use super::fault::{Code, Fault};
use super::question::Question;
use super::reply::{Page, Reply, write_row};
use super::{named, turn};
use crate::snapshot::Snapshot;
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
use tooltrail_model::row::CallRow;
use tooltrail_view::render::json;
use xxhash_rust::xxh3::xxh3_64;

/// The last call of a page.
#[derive(Default, Serialize, Deserialize)]
struct Last {
    agent: String,
    session: String,
    /// What no other call of the session has.
    call: u64,
    /// Its number, for the case that it is not there any more.
    number: u32,
}

impl Last {
    fn of(row: &CallRow<'_>) -> Self {
        let number = row.r#ref.rsplit_once(':').and_then(|(_, number)| number.parse().ok()).unwrap_or(0);
        Last { agent: row.agent.to_owned(), session: row.session.to_owned(), call: print(row), number }
    }
}

/// A call by its id and its request: an id may be used twice, a record may make several calls.
fn print(row: &CallRow<'_>) -> u64 {
    xxh3_64(format!("{}\0{}\0{}", row.call, row.request.file, row.request.line).as_bytes())
}

pub(super) fn list(question: &Question) -> Result<Reply, Fault> {
    let snapshot = question.snapshot()?;
    let filter = question.filter(&snapshot)?;
    let after: Option<Last> = question.after()?;
    if question.flag("copies") {
        return copies(question, &snapshot, filter, after);
    }
    let rows = snapshot.rows();
    let asked = snapshot.catalogued(&rows, question.app.threads());
    let (mut found, whole) = asked.calls_while(&filter, None, || !question.wanted.is_over())?;
    if !whole {
        return Err(Fault::new(Code::Busy, "Nobody waited for the answer."));
    }
    if let Some(last) = after {
        let behind = behind(&snapshot, &last)?;
        found.retain(|call| (call.session, call.id) > behind);
    }
    let Some(limit) = question.limit() else {
        drop(rows);
        return Ok(Reply::Stream(Box::new(move |out| stream(&snapshot, &found, out))));
    };
    let mut page = Page::default();
    let mut last = Last::default();
    asked.each_row(
        found.get(..limit).unwrap_or(&found),
        |_: &mut (), row, _| {
            page.push(&row);
            last = Last::of(&row);
        },
        |()| Ok::<_, Fault>(()),
    )?;
    page.next = (found.len() > limit).then(|| question.next(&last));
    Ok(Reply::Page(page))
}

/// The place of a page's last call among all that are listed now.
fn behind(snapshot: &Snapshot, last: &Last) -> Result<(usize, i64), Fault> {
    let place = snapshot.rows().iter().position(|row| row.agent == last.agent && row.session == last.session);
    let place = place.ok_or_else(|| {
        Fault::about(Code::BadCursor, "after", "The session that this page ended in is gone. Begin again without `after`.")
    })?;
    let (mut found, mut before) = (None, 0);
    snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
        if print(&row) == last.call {
            found = Some(listed.id);
        }
        if listed.number <= last.number {
            before = before.max(listed.id);
        }
    })?;
    Ok((place, found.unwrap_or(before)))
}

/// Writes rows, those of one session at a time.
fn stream(snapshot: &Snapshot, calls: &[ListedCall], out: &mut dyn Write) -> io::Result<()> {
    let rows = snapshot.rows();
    let asked = snapshot.catalogued(&rows, 1);
    // What a session has is bounded by a piece: its rows are written as they come.
    for piece in calls.chunks(PIECE) {
        let mut written = Ok(());
        let told = asked.each_row(
            piece,
            |lines: &mut Vec<u8>, row, _| write_row(lines, &row),
            |lines| -> Result<(), store::CatalogueError> {
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

/// How many rows are made at a time.
const PIECE: usize = 4096;

/// The same with every copy. Only what is linked tells of them.
fn copies(question: &Question, snapshot: &Arc<Snapshot>, filter: Filter, after: Option<Last>) -> Result<Reply, Fault> {
    let (snapshot, threads) = (Arc::clone(snapshot), question.app.threads());
    let Some(limit) = question.limit() else {
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
    let (mut page, mut last) = (Page::default(), Last::default());
    for call in found.iter().take(limit) {
        copy(&asked, call, |row| {
            page.push(row);
            last = Last::of(row);
        });
    }
    page.next = (found.len() > limit).then(|| question.next(&last));
    Ok(Reply::Page(page))
}

/// What it takes to ask about everything at once.
pub(super) fn asked<'a>(snapshot: &'a Snapshot, linked: &'a Linked<'a>, threads: usize) -> MatchContext<'a> {
    MatchContext { linked, shelf: snapshot.library.shelf(), now: &snapshot.now, threads, keep: snapshot.library.keep() }
}

/// The row of a copy, as `calls --copies --json` has it.
fn copy(asked: &MatchContext<'_>, call: &LinkedCall, take: impl FnOnce(&CallRow<'_>)) {
    let mut row = asked.linked.call_row(call, asked.now, true);
    load::complete_at(asked.shelf, &mut row, asked.linked.record(call.id).at);
    take(&row);
}

/// The calls and copies that a filter takes, behind the last one of a page.
fn behind_copies<'l>(asked: &MatchContext<'l>, filter: &Filter, last: Option<&Last>) -> Vec<&'l LinkedCall> {
    let mut calls = matching::calls(asked, filter, true);
    let Some(last) = last else { return calls };
    let linked = asked.linked;
    let is_whose =
        |call: &LinkedCall| linked.sessions.get(call.session).is_some_and(|own| own.agent == last.agent && *own.id == *last.session);
    let Some(session) = linked.calls.iter().find(|call| is_whose(call)).map(|call| call.session) else { return Vec::new() };
    let own = linked.calls_of(session);
    let is_it = |call: &LinkedCall| print(&linked.call_row(call, asked.now, true)) == last.call;
    let place = own.iter().position(is_it).or_else(|| own.iter().rposition(|call| call.number <= last.number));
    let done: Vec<_> = own.iter().take(place.map_or(0, |place| place + 1)).map(|call| call.id).collect();
    calls.retain(|call| call.session > session || (call.session == session && !done.contains(&call.id)));
    calls
}

pub(super) fn one(question: &Question) -> Result<Reply, Fault> {
    let snapshot = question.snapshot()?;
    let listed = named::call(question, &snapshot, question.name())?;
    if question.flag("full") {
        return full(question, &snapshot, listed);
    }
    let mut text = Vec::new();
    snapshot.listing.one_call(&snapshot.library.catalogue(), listed, |_, row, _| write_row(&mut text, &row))?;
    Ok(Reply::One(text))
}

/// A call with all that is known of it.
fn full(question: &Question, snapshot: &Arc<Snapshot>, listed: ListedCall) -> Result<Reply, Fault> {
    let text = question.app.open_session(snapshot, listed.session)?.with(|reader| {
        let mut text = Vec::new();
        let index = reader.book().transcript().calls.iter().position(|call| call.number == listed.number);
        // Nothing fails to be written to memory.
        let _ = index.map(|index| json::call(reader.book(), index, &mut text));
        text
    });
    match text.is_empty() {
        true => Err(Fault::about(Code::LogGone, "id", "This call is not in its session's logs any more.")),
        false => Ok(Reply::One(text)),
    }
}
