//! The records of a call as the log has them, each with its file and line.

use super::CallPage;
use maud::{Markup, html};
use serde_json::Value;
use std::io::{self, Write};
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_formats::value;
use tooltrail_model::book::Book;
use tooltrail_model::row::Place;
use tooltrail_model::transcript::Spot;
use tooltrail_view::head::size;
use tooltrail_view::line::{neutral, neutral_text};
use tooltrail_view::render::html::block;
use tooltrail_view::{Limits, json};

/// Longest record that is laid out.
const LONGEST: u64 = 8 << 20;

/// A record that belongs to a call.
pub(super) struct LabelledRecord {
    /// Its role.
    label: &'static str,
    spot: Spot,
}

/// Writes the records of a call, a line each, as they are.
pub(super) fn lines(book: &SessionBook<'_>, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut spots = book.spots_of_call(index);
    // One record may hold the request and more, and is printed once.
    spots.sort_unstable();
    spots.dedup();
    for bytes in spots.into_iter().filter_map(|spot| book.raw(spot).ok()) {
        out.write_all(&bytes)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

impl CallPage<'_> {
    /// Records that belong to the call, in the order of the log, each once.
    pub(super) fn found(&self) -> Vec<LabelledRecord> {
        let (entry, row) = (self.entry, &self.story.row);
        let mut records: Vec<LabelledRecord> = vec![LabelledRecord { label: "request", spot: entry.request }];
        records.extend(entry.hooks.iter().map(|spot| LabelledRecord { label: "hook", spot: *spot }));
        records.extend(entry.result.iter().map(|spot| LabelledRecord { label: "result", spot: *spot }));
        records.extend(entry.ends.iter().map(|spot| LabelledRecord { label: "end", spot: *spot }));
        // The evidence of a status may be a record of its own, beside request, hooks and result.
        let proofs = [("evidence", Some(row.evidence)), ("background task", row.background.as_ref().map(|task| task.evidence))];
        for (label, place) in proofs {
            // Only lines of the request's own log can be found from here; line 0 means that there is no such record.
            let Some(place) = place.filter(|place| place.line > 0 && place.file == row.request.file) else { continue };
            if !records.iter().any(|record| record.spot.at.line == place.line) {
                records.extend(self.book.line(entry.request, place.line).map(|spot| LabelledRecord { label, spot }));
            }
        }
        let mut seen = std::collections::HashSet::new();
        records.retain(|record| seen.insert(record.spot));
        records.sort_by_key(|record| record.spot);
        records
    }

    /// Anchor of a record on the page.
    pub(super) fn anchor(&self, place: &Place<'_>) -> Option<String> {
        let is_it = |record: &&LabelledRecord| record.spot.at.line == place.line && self.book.file(record.spot.source) == Some(place.file);
        self.records.iter().find(is_it).map(|record| anchor(record.spot))
    }

    pub(super) fn raw(&self) -> Markup {
        html! {
            section.raw aria-labelledby="raw" {
                h2 #raw { "Records" }
                @for record in &self.records { (self.record(record)) }
            }
        }
    }

    fn record(&self, record: &LabelledRecord) -> Markup {
        let spot = record.spot;
        let file = self.book.file(spot.source).unwrap_or_default();
        let place = format!("{file}:{}", spot.at.line);
        html! {
            details.sec {
                summary { (record.label) span.place { (neutral(&place)) } span.di { (size(spot.at.span.len())) } }
                div id=(anchor(spot)) {
                    button.copy type="button" data-copy=(neutral(&place)) { "Copy FILE:LINE" }
                    (self.value(spot))
                }
            }
        }
    }

    fn value(&self, spot: Spot) -> Markup {
        let limits = Limits { lines: if self.context.all { self.limits.lines } else { 400 }, ..self.limits };
        if spot.at.span.len() > LONGEST {
            // Laying out such a record would take seconds and make a page that browsers cannot bear.
            return html! { p.di { "This record is too long to show. `tooltrail show --raw` prints it." } };
        }
        let bytes = match self.book.raw(spot) {
            Ok(bytes) => bytes,
            Err(error) => return html! { p.di { "This record is gone: " (neutral(&ErrorChain(&error).to_string())) } },
        };
        match value::read(&bytes) {
            // Damaged lines are no JSON and are shown as they are.
            Value::Null => html! { pre.code { (neutral_text(&String::from_utf8_lossy(&bytes))) } },
            value => block(&json::block(&value, &limits)),
        }
    }
}

/// The anchor of a record.
fn anchor(spot: Spot) -> String {
    format!("r{}-{}-{}", spot.source, spot.at.line, spot.at.span.start)
}
