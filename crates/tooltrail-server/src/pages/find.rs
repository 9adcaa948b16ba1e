//! `/s/{session}/find?q=`: rows of a session that contain a text, in the order of the page, for its script.
//!
//! The logs are searched as bytes first, as in a search; only rows whose records may match are opened. The page's own
//! text counts, so texts that the agent injected count here too.

use super::session::Visit;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::open_sessions::SessionReader;
use crate::request::PageRequest;
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use tooltrail_catalog::search::prefilter::Prefilter;
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::records;
use tooltrail_model::At;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::filter::{Pattern, texts};
use tooltrail_model::transcript::{Part, Spot, Story};
use tooltrail_view::render::html::window::FoundRow;
use tracing::warn;

/// Limit on rows.
const MOST: usize = 5_000;
/// Longest text to search for.
const LONGEST: usize = 1_000;

/// Rows that were found, as JSON.
#[derive(Debug, Default, Serialize)]
struct FoundRows {
    /// Section, row, number of matches.
    found: Vec<(usize, usize, usize)>,
    /// Filters of the page under which each row is visible.
    chips: Vec<String>,
    /// Whether there may be more rows.
    more: bool,
}

/// Finds a text in a session.
pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let text = request.get("q").filter(|text| !text.trim().is_empty() && text.len() <= LONGEST);
    let text = text.ok_or_else(|| Trouble::Wrong("Give a search term, as in `find?q=word`.".to_owned()))?;
    let pattern = Pattern::literal(text).map_err(|error| Trouble::Wrong(error.to_string()))?;
    let visit = Visit::new(app, request)?;
    let told = visit.open(app)?.with(|reader| visit.fits(reader).map(|_| find(reader, &pattern)))?;
    Ok(PageResponse::Text("application/json", serde_json::to_string(&told).unwrap_or_default()))
}

fn find(reader: &SessionReader<'_>, pattern: &Pattern) -> FoundRows {
    let likely = likely(reader, pattern);
    let mut told = FoundRows::default();
    let mut take = |section: usize, row: usize, found: FoundRow<'_>| {
        let spots = match found {
            FoundRow::Call(call) => reader.book().spots_of_call(call),
            FoundRow::Message(entry) => reader.book().spots(entry),
        };
        // A row may consist of several records, such as request and result; one of them has to match.
        if !spots.iter().any(|spot| likely.contains(spot)) {
            return ControlFlow::Continue(());
        }
        let loaded = match found {
            FoundRow::Call(call) => reader.book().call(call),
            FoundRow::Message(entry) => reader.book().open(entry),
        };
        let times = times(pattern, loaded);
        if times > 0 {
            told.found.push((section, row, times));
            told.chips.push(reader.window().answers(reader.book().transcript(), section, row));
        }
        if told.found.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let ended = reader.window().walk(reader.book().transcript(), &mut take);
    told.more = ended.is_break();
    told
}

/// Records of the session's logs that may contain the text.
fn likely(reader: &SessionReader<'_>, pattern: &Pattern) -> HashSet<Spot> {
    let filter = Prefilter::new(std::iter::once(pattern));
    let transcript = reader.book().transcript();
    // Messages and calls may stand in different logs: subagents have their own, and results may be written elsewhere.
    let said = transcript.threads.iter().flat_map(|thread| &thread.entries).map(|entry| entry.spot.source);
    let done = (0..transcript.calls.len()).flat_map(|call| reader.book().spots_of_call(call)).map(|spot| spot.source);
    let sources: BTreeSet<usize> = said.chain(done).collect();
    let (mut buffer, turns, mut likely) = (Buffer::default(), Turns::default(), HashSet::new());
    for source in sources {
        let Some(source_log) = reader.linked.sources.get(source) else { continue };
        let log = match reader.disk.log(&source_log.path) {
            Ok(log) => log,
            Err(error) => {
                // A log that has just been deleted must not fail the search in the others.
                warn!(path = ?source_log.path, %error, "cannot search a log of the session");
                continue;
            }
        };
        let mut take = |at: At| _ = likely.insert(Spot { source, at });
        records::each_likely(log, &mut buffer, &turns, |line| filter.may_match(line), |_, record, _| take(record.at));
    }
    likely
}

/// Number of matches in a row.
fn times(pattern: &Pattern, loaded: Loaded<'_>) -> usize {
    let count = |text: &str| pattern.regex().find_iter(text).count();
    match loaded {
        Loaded::Call(story) => in_call(&story, &count),
        Loaded::Part(Part::Folded { label, text }) => count(&label) + count(&text),
        Loaded::Part(Part::Notice { title, text, .. }) => count(&title) + text.as_deref().map_or(0, count),
        Loaded::Part(Part::Unknown { value, .. }) => count(&value.to_string()),
        Loaded::Part(Part::Hook(hook)) => hook.texts.iter().map(|(_, text)| count(text)).sum(),
        Loaded::Part(part) => texts::message(part).iter().map(|text| count(&text.text)).sum(),
        Loaded::Gone(_) => 0,
    }
}

/// Number of matches in a call. The tool's own result mostly repeats what the model saw, so it counts only if that has
/// no match.
fn in_call(story: &Story<'_>, count: &dyn Fn(&str) -> usize) -> usize {
    let request: usize = texts::input(story.input.clone()).iter().map(|text| count(&text.text)).sum();
    let answer = story.answer.clone().map(texts::result).unwrap_or_default();
    let of = |produced: bool| answer.iter().filter(|text| text.produced == produced).map(|text| count(&text.text)).sum::<usize>();
    let came = match of(false) {
        0 => of(true),
        seen => seen,
    };
    // Likewise an output that was saved in a file: the result shows its beginning.
    let beside = story.side.as_ref().and_then(|side| side.text.as_deref().ok()).map_or(0, count);
    let hooks: usize = story.hooks.iter().flat_map(|hook| &hook.texts).map(|(_, text)| count(text)).sum();
    request + if came > 0 { came } else { beside } + hooks
}
