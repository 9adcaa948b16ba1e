//! Small bar charts as SVG. Colours come from classes, so that they follow the theme; the content security policy allows no styles inside
//! of elements. Each chart says its numbers in words, too.

use jiff::civil::Date;
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write;
use tooltrail_view::head::count;

/// Width of a bar with the gap beside it, in units of the drawing, and height of the highest bar.
const STEP: u64 = 6;
const BAR: u64 = 5;
const HIGH: u64 = 24;

/// A number of a period: a day, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DaySpan {
    /// Its first day.
    pub(crate) from: Date,
    /// Its last day.
    pub(crate) to: Date,
    /// The number.
    pub(crate) count: u64,
}

impl DaySpan {
    /// The days in words: `2026-03-04`, `2026-03-04 to 2026-03-10`.
    pub(crate) fn days(&self) -> String {
        if self.from == self.to { self.from.to_string() } else { format!("{} to {}", self.from, self.to) }
    }
}

/// Numbers by day as at most `most` spans of equal length, the last of which ends with the last day. Days outside are left out.
pub(crate) fn spans(days: &BTreeMap<String, u64>, from: Date, to: Date, most: i32) -> Vec<DaySpan> {
    let all = days_between(from, to).saturating_add(1).max(1);
    // Rounded up: rounded down, there could be more spans than `most`.
    let step = all.saturating_add(most - 1) / most.max(1);
    let spans = all.saturating_add(step - 1) / step.max(1);
    let back = |days: i32| to.checked_sub(jiff::Span::new().days(days)).unwrap_or(from);
    // The first span may be shorter than the others, so that it does not begin before the period.
    let mut found: Vec<DaySpan> =
        (0..spans).rev().map(|place| DaySpan { from: back(step * (place + 1) - 1).max(from), to: back(step * place), count: 0 }).collect();
    for (day, count) in days {
        let Ok(day) = day.parse::<Date>() else { continue };
        // From the end, where spans begin.
        let place = usize::try_from(days_between(day, to) / step.max(1)).ok().filter(|_| day >= from && day <= to);
        if let Some(span) = place.and_then(|place| found.len().checked_sub(place + 1)).and_then(|place| found.get_mut(place)) {
            span.count += count;
        }
    }
    found
}

/// The number of days from one to another.
fn days_between(from: Date, to: Date) -> i32 {
    from.until(to).map_or(0, |span| span.get_days())
}

/// A chart in a row of a table: one path, so that hundreds of them stay small.
pub(crate) fn spark(spans: &[DaySpan]) -> Markup {
    let highest = spans.iter().map(|span| span.count).max().unwrap_or(0);
    let mut path = String::new();
    for (place, span) in (0u64..).zip(spans).filter(|(_, span)| span.count > 0) {
        // Writing to a string cannot fail.
        let _ = write!(path, "M{} {HIGH}v-{}h{BAR}V{HIGH}z", place * STEP, height(span.count, highest));
    }
    let label = spans.iter().max_by_key(|span| span.count).map(|top| format!("at most {} on {}", count(top.count), top.days()));
    html! {
        @if !path.is_empty() {
            svg.spark viewBox={ "0 0 " (spans.len() as u64 * STEP) " " (HIGH) } preserveAspectRatio="none" role="img" aria-label=[label] { path d=(path) {} }
        }
    }
}

/// A chart of its own: each bar says its number when it is pointed at. `total`: the number in its caption; what is counted on several days
/// has none.
pub(crate) fn bars(class: &str, name: &str, total: Option<u64>, spans: &[DaySpan]) -> Markup {
    let highest = spans.iter().map(|span| span.count).max().unwrap_or(0);
    let ends = spans.first().zip(spans.last()).map(|(first, last)| (first.from, last.to));
    html! {
        figure.chart {
            figcaption { @if let Some(total) = total { b { (count(total)) } " " } (name) @if highest > 0 { span.di { " · at most " (count(highest)) (per(spans)) } } }
            svg.bars.(class) viewBox={ "0 0 " (spans.len() as u64 * STEP) " " (HIGH) } preserveAspectRatio="none" role="img" aria-label={ (name) " by day, at most " (count(highest)) } {
                @for (place, span) in (0u64..).zip(spans) {
                    // The whole height reacts to the pointer, or low bars could not be met.
                    g { title { (span.days()) ": " (count(span.count)) } rect.target x=(place * STEP) y="0" width=(STEP) height=(HIGH) {}
                        @if span.count > 0 { rect x=(place * STEP) y=(HIGH - height(span.count, highest)) width=(BAR) height=(height(span.count, highest)) {} } }
                }
            }
            @if let Some((from, to)) = ends { p.ends aria-hidden="true" { span { (from) } span { (to) } } }
        }
    }
}

/// The length of a span, if it is not a day.
fn per(spans: &[DaySpan]) -> String {
    match spans.last().map(|span| days_between(span.from, span.to) + 1) {
        Some(days) if days > 1 => format!(" in {days} days"),
        _ => " a day".to_owned(),
    }
}

/// The height of a bar; the smallest number can still be seen.
fn height(count: u64, highest: u64) -> u64 {
    // In 128 bits, because the product with a very large count would overflow 64.
    let height = u128::from(count) * u128::from(HIGH) / u128::from(highest.max(1));
    u64::try_from(height).unwrap_or(HIGH).clamp(2, HIGH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn days_are_put_together_from_the_end() {
        let days: BTreeMap<String, u64> =
            [("2026-02-28", 9), ("2026-03-01", 1), ("2026-03-02", 2), ("2026-03-05", 4), ("2026-03-06", 8), ("x", 7)]
                .map(|(day, count)| (day.to_owned(), count))
                .into();
        let counts =
            |most: i32| spans(&days, date("2026-03-01"), date("2026-03-05"), most).iter().map(|span| span.count).collect::<Vec<_>>();
        assert_eq!(counts(5), [1, 2, 0, 0, 4]);
        assert_eq!(counts(3), [1, 2, 4]);
        assert_eq!(counts(1), [7]);
        assert_eq!(spans(&days, date("2026-03-01"), date("2026-03-05"), 3)[1].days(), "2026-03-02 to 2026-03-03");
        // Times in logs may be anything.
        assert_eq!(spans(&days, date("0001-01-01"), date("9999-12-31"), 30).len(), 30);
        assert_eq!(spans(&days, date("2026-03-05"), date("2026-03-01"), 30).len(), 1);
    }

    #[test]
    fn bars_have_a_height_that_can_be_seen() {
        assert_eq!((height(1, 1_000_000), height(5, 10), height(10, 10), height(u64::MAX, u64::MAX)), (2, 12, 24, 24));
        let spans = spans(&[("2026-03-05".to_owned(), 3)].into(), date("2026-03-04"), date("2026-03-05"), 9);
        assert!(spark(&spans).into_string().contains("M6 24v-24h5V24z"));
        assert_eq!(spark(&[]).into_string(), "");
    }
}
