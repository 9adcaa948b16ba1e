//! Names of sessions and calls: what the REFs of the commands mean, as far as the catalogue knows them.

use super::fault::{Code, Fault};
use super::question::Question;
use crate::snapshot::Snapshot;
use tooltrail_catalog::store::ListedCall;
use tooltrail_model::position::{file_of, split_record};
use tooltrail_model::row::{CallRow, Place, SessionRow};
use tooltrail_model::{Status, Time};
use tooltrail_view::line::neutral;

/// The session that a name means, by its place in the listing.
pub(super) fn session(snapshot: &Snapshot, rows: &[SessionRow<'_>], name: &str) -> Result<usize, Fault> {
    if name == "last" {
        return snapshot.listing.last().ok_or_else(|| no_session(name));
    }
    match snapshot.listing.sessions_named(rows, name).as_slice() {
        [place] => Ok(*place),
        [] => Err(no_session(name)),
        several => Err(Fault::ambiguous(name, several.iter().filter_map(|&place| rows.get(place)).collect::<Vec<_>>().into_iter())),
    }
}

/// There is no such session.
pub(super) fn no_session(name: &str) -> Fault {
    Fault::about(Code::NoSuchSession, "id", format!("There is no session `{}`. `/api/v1/sessions` lists them.", neutral(name)))
}

/// The call that a name means.
pub(super) fn call(question: &Question, snapshot: &Snapshot, name: &str) -> Result<ListedCall, Fault> {
    if let Some(place) = question.app.session_of_call(snapshot, name)?
        && let Some(listed) = first(snapshot, place, |_, row| row.call == name)?
    {
        return Ok(listed);
    }
    if name == "last:failed" {
        return last_failed(snapshot)?.ok_or_else(|| Fault::about(Code::NoSuchCall, "id", "No call failed in these logs."));
    }
    let rows = snapshot.rows();
    if let Some((file, mark)) = split_record(name)
        && rows.iter().any(|row| row.files.iter().any(|own| file_of(own) == file || *own == file))
    {
        return on_record(snapshot, &rows, file, mark);
    }
    let Some((whose, number)) = name.rsplit_once(':') else { return Err(no_call(name)) };
    let place = session(snapshot, &rows, whose)?;
    let own = snapshot.listing.calls_of(&snapshot.library.catalogue(), place)?;
    let found = match number {
        "last" => own.iter().max_by_key(|call| call.number),
        number => number.parse().ok().and_then(|number: u32| own.iter().find(|call| call.number == number)),
    };
    found.copied().ok_or_else(|| {
        let most = own.iter().map(|call| call.number).max().unwrap_or(0);
        Fault::about(Code::NoSuchCall, "id", format!("This session has no call `{}`: it has {most}.", neutral(number)))
    })
}

fn no_call(name: &str) -> Fault {
    let say = "A call is named by its id, or by its session and number, as in `3f2a:41`.";
    Fault::about(Code::NoSuchCall, "id", format!("There is no call `{}` in the logs that are there. {say}", neutral(name)))
}

/// The first call of a session that is like this.
fn first(snapshot: &Snapshot, place: usize, mut is_it: impl FnMut(ListedCall, &CallRow<'_>) -> bool) -> Result<Option<ListedCall>, Fault> {
    let mut found = None;
    snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
        if found.is_none() && is_it(listed, &row) {
            found = Some(listed);
        }
    })?;
    Ok(found)
}

/// The newest call that failed.
fn last_failed(snapshot: &Snapshot) -> Result<Option<ListedCall>, Fault> {
    let Some(place) = snapshot.library.catalogue().last_failed(&snapshot.listing)? else { return Ok(None) };
    let mut newest: Option<(Option<Time>, ListedCall)> = None;
    snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
        let later = newest.as_ref().is_none_or(|(time, _)| row.requested_at > *time);
        if row.status == Status::Failed && later {
            newest = Some((row.requested_at, listed));
        }
    })?;
    Ok(newest.map(|(_, listed)| listed))
}

/// The call whose request, result, hook or other evidence is a record of a file; the request before all others.
fn on_record(snapshot: &Snapshot, rows: &[SessionRow<'_>], file: &str, mark: &str) -> Result<ListedCall, Fault> {
    let is = |place: &Place<'_>| place.path() == file && place.mark() == mark;
    let rank = |row: &CallRow<'_>| match () {
        () if is(&row.request) => Some(0),
        () if row.result.as_ref().is_some_and(is) => Some(1),
        () if row.hooks.iter().any(|hook| is(&hook.evidence)) => Some(2),
        () if is(&row.evidence) || row.background.as_ref().is_some_and(|task| is(&task.evidence)) => Some(3),
        () => None,
    };
    let mut best: Option<(u8, ListedCall)> = None;
    for place in (0..rows.len()).filter(|&place| rows[place].files.iter().any(|own| file_of(own) == file || *own == file)) {
        snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
            if let Some(rank) = rank(&row).filter(|rank| best.is_none_or(|(least, _)| *rank < least)) {
                best = Some((rank, listed));
            }
        })?;
    }
    best.map(|(_, listed)| listed)
        .ok_or_else(|| Fault::about(Code::NoSuchCall, "id", format!("There is no call on line {mark} of `{}`.", neutral(file))))
}
