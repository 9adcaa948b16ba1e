//! `/s/{session}/raw`: the lines of a session's logs as they are, in pages.
//!
//! A log is named by its position among the session's logs, never by its path, so that no other file can be read.

use super::session;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::open_sessions::SessionReader;
use crate::request::PageRequest;
use maud::{Markup, html};
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::lines::{Buffer, Lines, Turns};
use tooltrail_formats::records::LONGEST;
use tooltrail_formats::value;
use tooltrail_model::book::Book;
use tooltrail_view::head::{count, size};
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::block;
use tooltrail_view::render::html::window::Tab;
use tooltrail_view::{Limits, json};

/// Lines per page.
const LINES: u64 = 200;
/// Letters of each line.
const LETTERS: usize = 600;
/// Limits for a single line.
const WHOLE: Limits = Limits { lines: 20_000, bytes: 2 << 20, head: 10_000, highlight: true };

/// The lines of a session's logs.
pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    session::tab(app, request, Tab::Raw, |reader, _, request| Ok(drawn(reader, request)))
}

fn drawn(reader: &SessionReader<'_>, request: &PageRequest) -> Markup {
    let files = &reader.book().transcript().session.files;
    let chosen = request.number("file").filter(|file| *file < files.len()).unwrap_or(0);
    let Some(file) = files.get(chosen) else { return html! { p { "The logs are gone." } } };
    html! {
        @if files.len() > 1 {
            nav.logs aria-label="Logs of the session" { ul { @for (place, file) in files.iter().enumerate() {
                li { a href={ "?file=" (place) } aria-current=[(place == chosen).then_some("true")] title=(neutral(file)) { (neutral(name_of(file))) } }
            } } }
        }
        p.file { (neutral(file)) }
        @match request.number("line") {
            Some(line) => (one(reader, file, chosen, line as u64)),
            None if request.get("end").is_some() => (some(reader, file, chosen, first_of_last(reader, file))),
            None => (some(reader, file, chosen, request.number("from").map_or(1, |from| from.max(1) as u64))),
        }
    }
}

/// The last part of a path.
fn name_of(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// The shown part of a line.
struct RawLine {
    number: u64,
    length: u64,
    text: String,
}

/// Lines of a log from a number on, and whether there are more.
fn read(reader: &SessionReader<'_>, file: &str, from: u64, lines: u64, letters: usize) -> std::io::Result<(Vec<RawLine>, bool)> {
    let (mut buffer, turns) = (Buffer::default(), Turns::default());
    let mut log = Lines::new(reader.disk.log(file)?, &mut buffer, &turns, LONGEST);
    let mut told = Vec::new();
    while let Some(line) = log.next_line()? {
        // Lines have different lengths and there is no index of them, so earlier ones have to be skipped.
        if line.number < from {
            continue;
        }
        if line.number >= from.saturating_add(lines) {
            return Ok((told, true));
        }
        // A letter takes at most four bytes in UTF-8; a line may be many megabytes long.
        let start = line.bytes.get(..line.bytes.len().min(letters.saturating_mul(4))).unwrap_or_default();
        let text = String::from_utf8_lossy(start).chars().take(letters).collect();
        told.push(RawLine { number: line.number, length: line.length, text });
    }
    Ok((told, false))
}

/// First line of the last page.
fn first_of_last(reader: &SessionReader<'_>, file: &str) -> u64 {
    let (mut buffer, turns, mut last) = (Buffer::default(), Turns::default(), 1);
    // The error is shown when the lines are read.
    let Ok(log) = reader.disk.log(file) else { return 1 };
    let mut log = Lines::new(log, &mut buffer, &turns, LONGEST);
    while let Ok(Some(line)) = log.next_line() {
        last = line.number;
    }
    page_of(last)
}

/// First line of the page on which a line is.
fn page_of(line: u64) -> u64 {
    (line.max(1) - 1) / LINES * LINES + 1
}

/// A page of lines.
fn some(reader: &SessionReader<'_>, file: &str, chosen: usize, from: u64) -> Markup {
    let (lines, more) = match read(reader, file, from, LINES, LETTERS) {
        Ok(read) => read,
        Err(error) => return unreadable(&error),
    };
    let to = |from: u64| format!("?file={chosen}&from={from}");
    let pages = html! {
        nav.pages aria-label="Pages of the log" {
            @if from > 1 { a rel="prev" href=(to(from.saturating_sub(LINES).max(1))) { "← earlier lines" } }
            span.di { "lines " (count(from)) "–" (count(lines.last().map_or(from, |line| line.number))) }
            @if more { a rel="next" href=(to(from + LINES)) { "later lines →" } a href={ "?file=" (chosen) "&end=1" } { "last lines" } }
        }
    };
    html! {
        (pages)
        @if lines.is_empty() { p.di { "This log is empty." } }
        ol.raw { @for line in &lines {
            li id={ "line-" (line.number) } {
                a.n href={ "?file=" (chosen) "&line=" (line.number) } title={ "Line " (count(line.number)) ", " (size(line.length)) } { (line.number) }
                code { (neutral(&line.text)) @if line.text.len() as u64 + 2 < line.length { span.di { " … " (size(line.length)) } } }
            }
        } }
        (pages)
    }
}

/// Error in place of lines.
fn unreadable(error: &std::io::Error) -> Markup {
    html! { p.no { "Cannot read the log: " (neutral(&error.to_string())) } }
}

/// A single line in full, laid out as JSON.
fn one(reader: &SessionReader<'_>, file: &str, chosen: usize, number: u64) -> Markup {
    // Divided, because `read` multiplies the number of letters.
    let line = match read(reader, file, number, 1, usize::MAX / 8) {
        Ok((lines, _)) => lines.into_iter().next(),
        Err(error) => return unreadable(&error),
    };
    let back = |number: u64| format!("?file={chosen}&from={}#line-{number}", page_of(number));
    html! {
        nav.pages aria-label="Lines of the log" {
            a href=(back(number)) { "← all lines" }
            @if number > 1 { a rel="prev" href={ "?file=" (chosen) "&line=" (number - 1) } { "‹ " (number - 1) } }
            span.di { "line " (count(number)) @if let Some(line) = &line { ", " (size(line.length)) } }
            a rel="next" href={ "?file=" (chosen) "&line=" (number.saturating_add(1)) } { (number.saturating_add(1)) " ›" }
        }
        @match line {
            Some(line) => (block(&json::block(&value::read(line.text.as_bytes()), &WHOLE))),
            None => p.di { "No such line." },
        }
    }
}
