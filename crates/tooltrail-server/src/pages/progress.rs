//! `/progress`: progress of the first reading, for pages that already show a part.

use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::request::PageRequest;
use crate::snapshot::CatalogueSnapshot;
use maud::{Markup, html};
use serde_json::json;
use std::sync::atomic::Ordering;
use tooltrail_view::head::size;

pub(crate) fn page(app: &AppState, _: &PageRequest) -> Result<PageResponse, Trouble> {
    let told = match reading(app, app.snapshot().ok().as_deref()) {
        Some(reading) => json!({ "done": false, "share": reading.share, "say": reading.say }),
        None => json!({ "done": true }),
    };
    Ok(PageResponse::Text("application/json", told.to_string()))
}

/// Progress of the first reading.
pub(crate) struct ReadingProgress {
    /// From 0 to 1.
    share: f64,
    /// In words.
    say: String,
}

/// Progress of the first reading; `None` when everything has been read once.
pub(crate) fn reading(app: &AppState, snapshot: Option<&CatalogueSnapshot>) -> Option<ReadingProgress> {
    if snapshot.is_some_and(|snapshot| !snapshot.read.partial) {
        return None;
    }
    let work = app.work()?;
    let (total, read) = (work.total.load(Ordering::Relaxed), work.progress.bytes.load(Ordering::Relaxed));
    // The size is known only after all directories were searched.
    if total == 0 {
        return Some(ReadingProgress { share: 0.0, say: "Looking for logs".to_owned() });
    }
    let share = (read as f64 / total as f64).min(1.0);
    // Logs grow while they are read, so more than the total may have been read. Rounded down: 100 % means done.
    Some(ReadingProgress { share, say: format!("Reading: {} of {}, {:.0} %", size(read.min(total)), size(total), (share * 100.0).floor()) })
}

/// A progress bar that a script keeps up to date.
pub(crate) fn line(app: &AppState, reading: Option<&ReadingProgress>) -> Markup {
    html! {
        @if let Some(reading) = reading {
            p.progress #tt-progress data-from=(app.to("/progress")) role="status" {
                progress max="1" value=(reading.share) aria-label="Progress" {}
                span { (reading.say) }
                @if reading.share < 1.0 { " The newest sessions appear first." }
            }
        }
    }
}
