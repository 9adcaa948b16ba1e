//! `/stats`: the totals of `stats --json`.

use super::calls::asked;
use super::error::ApiError;
use super::reply::{Reply, RowPage, write_row};
use super::request::ApiRequest;
use super::turn;
use tooltrail_catalog::totals;
use tooltrail_model::link::By;

pub(super) fn totals(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let filter = request.filter(&snapshot)?;
    // Totals need every log at once, so they are worked out for one request at a time.
    let _turn = turn::MADE.take()?;
    let (linker, threads) = (snapshot.library.whole()?, request.app.threads());
    let linked = linker.link_on(threads);
    let asked = asked(&snapshot, &linked, threads);
    let mut page = RowPage::default();
    match request.get("by").and_then(By::of_word) {
        Some(by) => totals::apart(&asked, &filter, by, &jiff::tz::TimeZone::system()).iter().for_each(|group| page.push(group)),
        // As lines a single object is a list of one row, so that clients can read both alike.
        None if request.lines => page.push(&totals::whole(&asked, &filter)),
        None => {
            let mut text = Vec::new();
            write_row(&mut text, &totals::whole(&asked, &filter));
            return Ok(Reply::One(text));
        }
    }
    Ok(Reply::Page(page))
}
