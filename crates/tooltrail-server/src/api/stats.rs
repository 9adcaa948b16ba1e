//! `/stats`: the totals of `stats --json`.

use super::calls::asked;
use super::fault::Fault;
use super::question::Question;
use super::reply::{Page, Reply, write_row};
use super::turn;
use tooltrail_catalog::totals;
use tooltrail_model::link::By;

pub(super) fn totals(question: &Question) -> Result<Reply, Fault> {
    let snapshot = question.snapshot()?;
    let filter = question.filter(&snapshot)?;
    let _turn = turn::MADE.take()?;
    let (linker, threads) = (snapshot.library.whole()?, question.app.threads());
    let linked = linker.link_on(threads);
    let asked = asked(&snapshot, &linked, threads);
    let mut page = Page::default();
    match question.get("by").and_then(By::of_word) {
        Some(by) => totals::apart(&asked, &filter, by, &jiff::tz::TimeZone::system()).iter().for_each(|group| page.push(group)),
        None if question.lines => page.push(&totals::whole(&asked, &filter)),
        None => {
            let mut text = Vec::new();
            write_row(&mut text, &totals::whole(&asked, &filter));
            return Ok(Reply::One(text));
        }
    }
    Ok(Reply::Page(page))
}
