//! `/`: what needs you, what ran lately, projects.

use crate::answer::{Answer, Trouble};
use crate::asked::{Asked, encoded};
use crate::frame::{self, Page};
use crate::site::Site;
use crate::words;
use maud::html;
use tooltrail_view::line::neutral;

pub(crate) fn page(site: &Site, _: &Asked) -> Result<Answer, Trouble> {
    let moment = site.moment()?;
    let rows = moment.rows();
    let main = html! {
        main #main {
            h1 { "Sessions" }
            @if let Some(work) = site.work() { p { "Reading… " (work.progress.sources.load(std::sync::atomic::Ordering::Relaxed)) } }
            ul { @for row in rows.iter().rev().take(20) { li { a href=(site.to(&format!("/s/{}", encoded(row.session)))) { (neutral(words::title(row))) } " " (words::state(row)) } } }
        }
    };
    Ok(Answer::Html(frame::page(site, &Page { here: "/", ..Page::plain("Home") }, &main)))
}
