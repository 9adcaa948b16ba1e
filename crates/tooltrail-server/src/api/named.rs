//! Names of sessions and calls: the REFs of the commands, as far as the catalogue can resolve them.

use super::error::{ApiError, Code};
use super::request::ApiRequest;
use crate::snapshot::CatalogueSnapshot;
use tooltrail_catalog::store::ListedCall;
use tooltrail_model::position::{file_of, split_record};
use tooltrail_model::row::{CallNumber, CallRow, Place, SessionRow};
use tooltrail_model::{Status, Time};
use tooltrail_view::line::neutral;

/// Resolves the name of a session to its place in the listing.
pub(super) fn session(snapshot: &CatalogueSnapshot, rows: &[SessionRow<'_>], name: &str) -> Result<usize, ApiError> {
    // `last` is that of all projects here: the directory in which a server was started says nothing about who asks.
    if matches!(name, "last" | "last:all") {
        return snapshot.listing.last().ok_or_else(|| no_session(name));
    }
    match snapshot.listing.sessions_named(rows, name).as_slice() {
        [place] => Ok(*place),
        [] => Err(no_session(name)),
        several => {
            let mut rows: Vec<_> = several.iter().filter_map(|&place| rows.get(place)).collect();
            rows.sort_by_key(|row| std::cmp::Reverse(row.last_at));
            Err(ApiError::ambiguous(name, rows.into_iter()))
        }
    }
}

/// Error for an unknown session.
pub(super) fn no_session(name: &str) -> ApiError {
    ApiError::about(Code::NoSuchSession, "id", format!("No session `{}`. `/api/v1/sessions` lists all sessions.", neutral(name)))
}

/// Resolves the name of a call.
pub(super) fn call(request: &ApiRequest, snapshot: &CatalogueSnapshot, name: &str) -> Result<ListedCall, ApiError> {
    // Ids first: agents choose them, so an id could look like any of the other forms.
    if let Some(place) = request.app.session_of_call(snapshot, name)?
        && let Some(listed) = first(snapshot, place, |_, row| row.call == name || row.alias == Some(name))?
    {
        return Ok(listed);
    }
    if matches!(name, "last:failed" | "last:all:failed") {
        return last_failed(snapshot)?.ok_or_else(|| ApiError::about(Code::NoSuchCall, "id", "No failed calls in these logs."));
    }
    let rows = snapshot.rows();
    // Before session and number, which looks the same: only a path can be among the files of a session.
    if let Some((file, mark)) = split_record(name)
        && rows.iter().any(|row| row.files.iter().any(|own| file_of(own) == file || *own == file))
    {
        return on_record(snapshot, &rows, file, mark);
    }
    // From the right: the number comes last.
    let Some((whose, number)) = name.rsplit_once(':') else { return Err(no_call(name)) };
    let place = session(snapshot, &rows, whose)?;
    let own = snapshot.listing.calls_of(&snapshot.library.catalogue(), place)?;
    let found = match number {
        "last" => own.iter().max_by_key(|call| (call.number.call, std::cmp::Reverse(call.number.inner))),
        number => CallNumber::read(number).and_then(|number| own.iter().find(|call| call.number == number)),
    };
    found.copied().ok_or_else(|| {
        let most = own.iter().map(|call| call.number.call).max().unwrap_or(0);
        ApiError::about(Code::NoSuchCall, "id", format!("No call `{}` in this session: it has {most}.", neutral(number)))
    })
}

fn no_call(name: &str) -> ApiError {
    let say = "Use the id of a call, or its session and number, as in `3f2a:41`.";
    ApiError::about(Code::NoSuchCall, "id", format!("No call `{}` in the logs. {say}", neutral(name)))
}

/// The first call of a session that fulfils a condition.
fn first(
    snapshot: &CatalogueSnapshot,
    place: usize,
    mut is_it: impl FnMut(ListedCall, &CallRow<'_>) -> bool,
) -> Result<Option<ListedCall>, ApiError> {
    let mut found = None;
    snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
        if found.is_none() && is_it(listed, &row) {
            found = Some(listed);
        }
    })?;
    Ok(found)
}

/// The newest call that failed.
fn last_failed(snapshot: &CatalogueSnapshot) -> Result<Option<ListedCall>, ApiError> {
    let Some(place) = snapshot.library.catalogue().last_failed(&snapshot.listing, &|_| true)? else { return Ok(None) };
    let mut newest: Option<(Option<Time>, ListedCall)> = None;
    snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
        // Rows come in the order of requests, but times may be missing or out of order in resumed logs.
        let later = newest.as_ref().is_none_or(|(time, _)| row.requested_at > *time);
        if row.status == Status::Failed && later {
            newest = Some((row.requested_at, listed));
        }
    })?;
    Ok(newest.map(|(_, listed)| listed))
}

/// The call with a request, result, hook or other evidence on a line of a log; a request counts before all others.
fn on_record(snapshot: &CatalogueSnapshot, rows: &[SessionRow<'_>], file: &str, mark: &str) -> Result<ListedCall, ApiError> {
    let is = |place: &Place<'_>| place.path() == file && place.mark() == mark;
    let rank = |row: &CallRow<'_>| match () {
        () if is(&row.request) => Some(0),
        () if row.result.as_ref().is_some_and(is) => Some(1),
        () if row.hooks.iter().any(|hook| is(&hook.evidence)) => Some(2),
        () if is(&row.evidence) || row.background.as_ref().is_some_and(|task| is(&task.evidence)) => Some(3),
        () => None,
    };
    let mut best: Option<(u8, ListedCall)> = None;
    // A log may belong to several sessions, as after a fork.
    for place in (0..rows.len()).filter(|&place| rows[place].files.iter().any(|own| file_of(own) == file || *own == file)) {
        snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
            if let Some(rank) = rank(&row).filter(|rank| best.is_none_or(|(least, _)| *rank < least)) {
                best = Some((rank, listed));
            }
        })?;
    }
    best.map(|(_, listed)| listed)
        .ok_or_else(|| ApiError::about(Code::NoSuchCall, "id", format!("No call on line {mark} of `{}`.", neutral(file))))
}
