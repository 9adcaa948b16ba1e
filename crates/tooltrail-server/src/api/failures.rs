//! `/failures`: the rows of `failures --json`.

use super::error::ApiError;
use super::reply::{Reply, RowPage};
use super::request::ApiRequest;
use crate::words;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tooltrail_catalog::queries::Store;
use tooltrail_catalog::queries::failures::{FailureGroup, FailureQuery, GroupCursor};
use tooltrail_model::Time;

/// How long logs of live sessions may be read.
const PATIENCE: Duration = Duration::from_secs(5);

/// Cursor of a list of groups: the last group of a page.
#[derive(Serialize, Deserialize)]
struct FailureListCursor {
    count: u64,
    last: Option<Time>,
    group: String,
}

pub(super) fn list(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let filter = request.filter(&snapshot)?;
    let after: Option<FailureListCursor> = request.after()?;
    let after = after.map(|cursor| GroupCursor { count: cursor.count, last: cursor.last, group: cursor.group });
    let (rows, zone) = (snapshot.rows(), words::zone());
    let store = snapshot.catalogued(&rows, request.app.threads());
    // An incomplete answer would be wrong, so what is missing is made here.
    store.make_failures(&filter)?;
    let query = FailureQuery { filter: &filter, unresolved: request.flag("unresolved"), zone: &zone, patience: PATIENCE };
    let report = store.failures(&query, after.as_ref(), request.limit().unwrap_or(usize::MAX))?;
    let mut page = RowPage::default();
    report.groups.iter().for_each(|group| page.push(&group.row()));
    let cursor = |group: &FailureGroup| FailureListCursor { count: group.count, last: group.last, group: group.group.clone() };
    page.next = report.groups.last().filter(|_| report.has_more).map(|last| request.next(&cursor(last)));
    Ok(Reply::Page(page))
}
