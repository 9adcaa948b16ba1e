//! `/stats`: the totals of `stats --json`.

use super::calls::asked;
use super::error::ApiError;
use super::reply::{Reply, RowPage, write_row};
use super::request::ApiRequest;
use super::turn;
use tooltrail_catalog::totals;
use tooltrail_model::link::{By, GroupSums, StatsSums};

pub(super) fn totals(request: &ApiRequest) -> Result<Reply, ApiError> {
    let snapshot = request.snapshot()?;
    let filter = request.filter(&snapshot)?;
    // Totals go through every log, so they are worked out for one request at a time.
    let _turn = turn::MADE.take()?;
    let threads = request.app.threads();
    let mut page = RowPage::default();
    let Some(by) = request.get("by").and_then(By::of_word) else {
        let mut sums = StatsSums::default();
        snapshot.library.each_part(threads, |linked| totals::add(&mut sums, &asked(&snapshot, linked, threads), &filter))?;
        // As lines a single object is a list of one row, so that clients can read both alike.
        if request.lines {
            page.push(&sums.finish());
            return Ok(Reply::Page(page));
        }
        let mut text = Vec::new();
        write_row(&mut text, &sums.finish());
        return Ok(Reply::One(text));
    };
    let groups = if by == By::Command {
        let rows = snapshot.rows();
        totals::of_commands(&snapshot.catalogued(&rows, threads), &filter)?
    } else {
        let zone = jiff::tz::TimeZone::system();
        let mut sums = GroupSums::new(by, &zone);
        snapshot.library.each_part(threads, |linked| totals::add_groups(&mut sums, &asked(&snapshot, linked, threads), &filter))?;
        sums.finish()
    };
    groups.iter().for_each(|group| page.push(group));
    Ok(Reply::Page(page))
}
