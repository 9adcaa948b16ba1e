//! Hits of a search, grouped by session and by call or message, with the matches marked.

use crate::answer::Trouble;
use crate::call_rows;
use crate::filter_form::filter_address;
use crate::session_table::SessionRows;
use crate::words;
use maud::{Markup, html};
use std::ops::ControlFlow;
use std::sync::Arc;
use tooltrail_catalog::search::{Hit, HitOwner};
use tooltrail_catalog::store::ListedCall;
use tooltrail_model::filter::quoted;
use tooltrail_model::row::SessionRow;
use tooltrail_view::head::count;
use tooltrail_view::line::neutral;

/// Texts shown per call or message.
const TEXTS: usize = 3;
/// Length of a snippet that was cut, and of its part before the first match (docs/search.md).
const LENGTH: usize = 160;
const BEFORE: usize = 48;
/// Longest partial word that is removed from an end.
const WORD: usize = 24;

/// Hits in a session: those that are shown, and how many more there are.
pub(crate) struct SessionHits {
    units: Vec<HitUnit>,
    /// Number of calls and messages that are left out.
    more: usize,
}

/// Hits in a call or message.
struct HitUnit {
    hits: Vec<Hit>,
    /// Number of texts that are left out.
    more: usize,
}

/// Hits of one page. Sessions before the page are only counted, and the search ends after it, so memory is bounded by the page.
pub(crate) struct HitPage {
    /// Number of sessions before the page.
    skipped: usize,
    /// Number of sessions on the page.
    space: usize,
    /// Number of calls and messages that are shown per session.
    most: usize,
    /// The sessions of the page.
    pub(crate) found: Vec<SessionHits>,
    /// Whether there is a next page.
    pub(crate) more: bool,
}

impl HitPage {
    /// An empty page for `space` sessions, after `skipped` others.
    pub(crate) fn new(skipped: usize, space: usize, most: usize) -> Self {
        HitPage { skipped, space, most, found: Vec::new(), more: false }
    }

    /// Adds the next hits; those of one session follow each other. Ends the search when the page is full.
    pub(crate) fn add(&mut self, hits: &[Hit]) -> ControlFlow<()> {
        for session in hits.chunk_by(|one, next| Arc::ptr_eq(&one.about, &next.about)) {
            if self.skipped > 0 {
                self.skipped -= 1;
            } else if self.found.len() < self.space {
                self.found.push(SessionHits::of(session, self.most));
            } else {
                // One session more than the page holds is enough to know that there is a next page.
                self.more = true;
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

impl SessionHits {
    fn of(hits: &[Hit], most: usize) -> Self {
        let mut units = hits.chunk_by(|one, next| one.unit == next.unit);
        // Hits arrive grouped by call or message, so neighbours are enough to compare.
        let told = |unit: &[Hit]| HitUnit { hits: unit.iter().take(TEXTS).cloned().collect(), more: unit.len().saturating_sub(TEXTS) };
        SessionHits { units: units.by_ref().take(most).map(told).collect(), more: units.count() }
    }
}

/// The search that hits belong to.
pub(crate) struct SearchInput<'a> {
    /// The query.
    pub(crate) query: &'a str,
    /// A plain text of the query that the page of a session can look for.
    pub(crate) find: Option<&'a str>,
}

/// A session with its hits.
pub(crate) fn group(rows: &SessionRows<'_>, found: &SessionHits, wanted: &SearchInput<'_>) -> Result<Markup, Trouble> {
    let Some(first) = found.units.first().and_then(|unit| unit.hits.first()) else { return Ok(html! {}) };
    // A safeguard: hits and rows come from the same snapshot.
    let Some(place) = rows.rows.iter().position(|row| row.agent == first.agent && row.session == first.session) else {
        return Ok(html! {});
    };
    let Some(row) = rows.rows.get(place) else { return Ok(html! {}) };
    let calls = rows.snapshot.listing.calls_of(&rows.snapshot.library.catalogue(), place)?;
    let mut shown = Vec::new();
    for unit in &found.units {
        shown.push(self::unit(rows, row, unit, &calls, wanted.find)?);
    }
    let all = filter_address(rows.app, "/search", &format!("{} session:{}", wanted.query, quoted(row.session)));
    Ok(html! {
        section.hit {
            h2 {
                a href=(rows.to(row)) { (words::title(row.title)) }
                span.about {
                    @if let Some(project) = row.project { (rows.project(project)) }
                    span.di { (neutral(row.agent)) }
                    @if let Some(last) = row.last_at { time.di datetime=(last) title=(rows.clock.full(last)) { (rows.clock.day(last)) } }
                }
            }
            ol data-rows { @for unit in &shown { (unit) } }
            @if found.more > 0 { p.more { a href=(all) { (count(found.more as u64)) " more in this session" } } }
        }
    })
}

/// A call or message with the texts that matched.
fn unit(rows: &SessionRows<'_>, row: &SessionRow<'_>, told: &HitUnit, calls: &[ListedCall], find: Option<&str>) -> Result<Markup, Trouble> {
    let Some(first) = told.hits.first() else { return Ok(html! {}) };
    let line = match first.unit {
        HitOwner::Call(number) => {
            let listed: Vec<ListedCall> = calls.iter().filter(|call| call.number == number).copied().collect();
            // Rows are read for the calls on the page alone, because each of them is a look into its log.
            call_rows::lines(rows.snapshot, &listed)?.into_iter().next()
        }
        HitOwner::Message(_) => None,
    };
    Ok(html! {
        li {
            p.whose {
                @if let Some(line) = &line {
                    a.number href=(line.address(rows.app, row.session)) title="Timeline of this call" { "#" (line.number) }
                    (line.link(rows.app, row.session, find)) (line.verdict()) span.di { (line.took()) }
                } @else {
                    a.call-line data-row href=(message(rows, row, first, find)) { b { (who(first.field)) } }
                }
                @if let Some(at) = first.at { time.di datetime=(at) title=(rows.clock.full(at)) { (rows.clock.time(at)) } }
            }
            @for hit in &told.hits { p.text { @if line.is_some() { span.field { (hit.field) } } span { (marked(&hit.snippet, &hit.matches)) } } }
            @if told.more > 0 { p.text.di { "and " (count(told.more as u64)) " more here" } }
        }
    })
}

/// Author of a message, by the field of the hit.
fn who(field: &str) -> &'static str {
    match field {
        "prompt" => "Prompt",
        "thinking" => "Thinking",
        "result" => "Result without a call",
        _ => "Answer",
    }
}

/// The address of a message in its session. With several logs a line number is ambiguous, so the address is that of the session.
fn message(rows: &SessionRows<'_>, row: &SessionRow<'_>, hit: &Hit, find: Option<&str>) -> String {
    let anchor = (row.files.len() == 1).then(|| format!("m0-{}-0", hit.record));
    call_rows::row_address(rows.app, row.session, anchor.as_deref(), find)
}

/// A snippet in one line, with its matches marked. Blanks and line feeds in a row are one space.
fn marked(snippet: &str, matches: &[[usize; 2]]) -> Markup {
    let letters: Vec<char> = snippet.chars().collect();
    // Snippets do not say whether they were cut. These lengths are the limits of the search: a snippet that reaches them was.
    let cut = (matches.first().is_some_and(|span| span[0] >= BEFORE), letters.len() >= LENGTH);
    let (start, end) = edges(&letters, matches, cut);
    let inside = |at: usize| matches.iter().any(|span| (span[0]..span[1]).contains(&at));
    let mut runs: Vec<(bool, String)> = Vec::new();
    let mut blank = true;
    for (at, letter) in letters.iter().copied().enumerate().take(end).skip(start) {
        let (lit, space) = (inside(at), letter.is_whitespace());
        // A matched space is kept: the mark would be empty without it.
        if space && blank && !lit {
            continue;
        }
        blank = space;
        let letter = if space { ' ' } else { letter };
        match runs.last_mut() {
            Some((same, text)) if *same == lit => text.push(letter),
            _ => runs.push((lit, letter.to_string())),
        }
    }
    html! { @if cut.0 { "… " } @for (lit, text) in &runs { @if *lit { mark { (neutral(text)) } } @else { (neutral(text)) } } @if cut.1 { " …" } }
}

/// Start and end of the shown part of a snippet. A snippet that was cut loses the partial words at its ends.
fn edges(letters: &[char], matches: &[[usize; 2]], (before, after): (bool, bool)) -> (usize, usize) {
    let (first, last) = (matches.first().map_or(0, |span| span[0]), matches.last().map_or(0, |span| span[1]));
    let space = |letter: &char| letter.is_whitespace();
    let start = letters.get(..first).and_then(|head| head.iter().position(space)).filter(|at| before && *at < WORD);
    let end = letters.get(last..).and_then(|rest| rest.iter().rposition(space)).map(|at| last + at);
    let end = end.filter(|at| after && letters.len() - at < WORD);
    (start.map_or(0, |at| at + 1), end.unwrap_or(letters.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_marked_and_nothing_acts() {
        let shown = marked("a\u{1b}[31m\n\tneedle <b> \u{202e}x", &[[8, 14]]).into_string();
        assert_eq!(shown, "a␛[31m <mark>needle</mark> &lt;b&gt; ⟨U+202E⟩x");
        assert_eq!(marked("x", &[]).into_string(), "x");
    }

    #[test]
    fn what_was_cut_out_of_more_says_so_and_ends_with_words() {
        let text = format!("alf a word {}needle {}and a ha", "b".repeat(37), "c ".repeat(53));
        let text: String = text.chars().take(LENGTH).collect();
        let shown = marked(&text, &[[BEFORE, BEFORE + 6]]).into_string();
        assert!(shown.starts_with("… a word bbb") && shown.ends_with("c c …"), "{shown}");
        let long = marked(&"x".repeat(LENGTH), &[[BEFORE, BEFORE + 6]]).into_string();
        assert!(long.starts_with("… xxx") && long.ends_with("xxx …"), "{long}");
    }
}
