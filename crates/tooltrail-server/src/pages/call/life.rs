//! Explanation of a call's status, and its timeline.

use super::{CallPage, base};
use maud::{Markup, html};
use tooltrail_model::Time;
use tooltrail_model::row::Place;
use tooltrail_model::transcript::Level;
use tooltrail_view::course::{self, TimelineStep};
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::{block, line};
use tooltrail_view::why;

impl CallPage<'_> {
    pub(super) fn why(&self) -> Markup {
        let row = &self.story.row;
        let body = html! {
            // What went wrong is said at the top already.
            @if !self.is_wrong() { @for said in why::lines(self.story) { p { (line(&said)) } } }
            p.proof {
                (why::evidence(self.story)) ": " (self.place(&row.evidence))
                // The raw codes help those who write filters or read the JSON.
                span.codes {
                    code { (row.status.word()) }
                    @if let Some(reason) = row.reason { " " code { (reason.word()) } }
                    @if let Some(error) = row.is_error { " " code { "is_error=" (error) } }
                    @if let Some(code) = row.exit_code { " " code { "exit_code=" (code) } }
                }
            }
        };
        self.part("Evidence", "why", &body)
    }

    /// What went wrong, or why the outcome is in doubt.
    pub(super) fn wrong(&self) -> Markup {
        let name = if why::is_doubtful(self.story) { "In doubt" } else { "Problem" };
        self.part(name, "wrong", &html! { @for said in why::lines(self.story) { p { (line(&said)) } } })
    }

    pub(super) fn life(&self) -> Markup {
        let steps = course::steps(self.story, self.entry, &self.limits, &|spot| self.when(spot));
        // Offsets count from the request; if it has no time, no step has an offset.
        let first = steps.first().and_then(|step| step.time);
        let durations = course::durations(self.story);
        let body = html! {
            ol.steps { @for (place, step) in steps.iter().enumerate() { (self.step(step, first, place == 0)) } }
            @for said in &durations { p.di { (line(said)) } }
        };
        self.part("Timeline", "life", &body)
    }

    fn step(&self, step: &TimelineStep<'_>, first: Option<Time>, begins: bool) -> Markup {
        let class = match step.level {
            None => "unknown",
            Some(Level::Info) => "info",
            Some(Level::Warning) => "warning",
            Some(Level::Error) => "error",
        };
        html! {
            li class=(class) {
                span.at { @if let Some(time) = step.time { (clock(time, begins)) } }
                span.off { @if let (Some(first), Some(time), false) = (first, step.time, begins) { @if let Some(after) = course::offset(first, time) { (after) } } }
                span.where { @if let Some(place) = &step.place { (self.line_of(place)) } }
                span.what { (line(&step.what)) }
                @if !step.words.is_empty() { div.words { @for said in &step.words { (block(said)) } } }
            }
        }
    }

    /// File and line of a record, as a link to the record below if it is on the page.
    pub(super) fn place(&self, place: &Place<'_>) -> Markup {
        let (name, whole) = (format!("{}:{}", base(place.path()), place.mark()), place.to_string());
        html! {
            @if let Some(anchor) = self.anchor(place) { a.place href={ "#" (anchor) } title=(neutral(&whole)) { (name) } }
            @else { span.place title=(neutral(&whole)) { (name) } }
        }
    }

    /// The line of a record without its file, where that is the file of the request.
    fn line_of(&self, place: &Place<'_>) -> Markup {
        if place.file != self.story.row.request.file {
            return self.place(place);
        }
        let name = format!(":{}", place.mark());
        html! { @if let Some(anchor) = self.anchor(place) { a.place href={ "#" (anchor) } aria-label={ "line " (place.line) } { (name) } } @else { span.place { (name) } } }
    }
}

/// A local time of day; the first time of a list has its date too.
pub(super) fn clock(time: Time, day: bool) -> Markup {
    // Milliseconds, because hooks and parallel calls often follow each other within a second.
    let local = time.timestamp().to_zoned(jiff::tz::TimeZone::system());
    let format = if day { "%Y-%m-%d %H:%M:%S%.3f" } else { "%H:%M:%S%.3f" };
    html! { time datetime=(time.to_string()) title=(time.to_string()) { (local.strftime(format).to_string()) } }
}
