//! `/s/{session}/changes`: the net changes that a session made to files.

use super::session;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::open_sessions::SessionReader;
use crate::request::PageRequest;
use maud::{Markup, html};
use tooltrail_formats::changes::report::{CallSelection, PathStyle, groups, with_names};
use tooltrail_model::Kind;
use tooltrail_model::book::Book;
use tooltrail_view::diff::LineCounts;
use tooltrail_view::head::{count, counted};
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::block;
use tooltrail_view::render::html::window::{SessionPageRequest, Tab};
use tooltrail_view::{Block, Limits, changes};

/// Limits for each file at first.
const SHORT: Limits = Limits { lines: 400, bytes: 200 * 1024, head: 400, highlight: true };
/// Limits for a single file, bounded by what browsers can bear.
const WHOLE: Limits = Limits { lines: 20_000, bytes: 4 << 20, head: 20_000, highlight: true };
/// Limits for files that are only counted.
const NAMED: Limits = Limits { lines: 1, bytes: 1, head: 1, highlight: false };
/// Size of a page after which files are only named.
const MUCH: usize = 1_500_000;
/// Limit on the calls that are named beside a file.
const CALLS: usize = 12;

/// The page.
pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    session::tab(app, request, Tab::Changes, |reader, at, request| drawn(reader, at, request.number("file")))
}

/// The files that a session changed, in the order of the page.
#[derive(Default)]
struct FileSections {
    sections: Vec<Block>,
    /// The calls that changed each file.
    makers: Vec<Vec<usize>>,
    /// Number of files whose changes are not all in the logs.
    gaps: u64,
    counts: LineCounts,
    /// The only file that is asked for, with all its lines.
    full: Option<Block>,
}

impl FileSections {
    /// Gathers all files; `only`: the number of a file that is asked for in full.
    fn gather(reader: &SessionReader<'_>, only: Option<usize>) -> Self {
        // The other files are still counted for the sum at the top.
        let limits = if only.is_some() { &NAMED } else { &SHORT };
        let mut all = FileSections::default();
        with_names(reader.book(), PathStyle::Shown, None, |names| {
            groups(reader.book(), &CallSelection::default(), None, |groups| {
                for group in groups {
                    all.gaps += changes::gaps(&group);
                    all.counts = all.counts.and(changes::counts(&group));
                    let short = changes::blocks_without_calls(&group, names, limits);
                    // Files are numbered through all groups; this one lies in the group if its number is within it.
                    let place = only.and_then(|only| only.checked_sub(all.sections.len())).filter(|place| *place < short.len());
                    if let Some(place) = place {
                        all.full = changes::blocks_without_calls(&group, names, &WHOLE).into_iter().nth(place);
                    }
                    all.sections.extend(short);
                    all.makers.extend(changes::made_by(&group));
                }
            });
        });
        all
    }
}

/// All files; or one of them, by its place, in full.
fn drawn(reader: &SessionReader<'_>, at: &SessionPageRequest<'_>, only: Option<usize>) -> Result<Markup, Trouble> {
    let FileSections { sections, makers, gaps, counts, full } = FileSections::gather(reader, only);
    if sections.is_empty() {
        return Ok(
            html! { p { "No successful edit changed a file. " a href={ (at.base) "?show=shell" } { "Commands" } " may have changed files." } },
        );
    }
    let wanted: Vec<(usize, &Block)> = match (only, &full) {
        (None, _) => sections.iter().enumerate().collect(),
        (Some(only), Some(full)) => vec![(only, full)],
        (Some(_), None) => {
            return Err(Trouble::Missing(format!("No such file: this session changed {}.", counted(sections.len() as u64, "file"))));
        }
    };
    let mut much = 0;
    let drawn = wanted.into_iter().map(|(place, section)| {
        // Measured after drawing, because a short diff may become long HTML.
        let markup = if much < MUCH { block(section) } else { named(section) };
        much += markup.0.len();
        (place, markup)
    });
    let drawn: Vec<(usize, Markup)> = drawn.collect();
    Ok(html! {
        p.sum {
            b { (counted(sections.len() as u64, "file")) } " changed "
            span.ok { "+" (count(counts.added)) } " " span.no { "−" (count(counts.removed)) }
            @if gaps > 0 { span.di { " · " (count(gaps)) " with an incomplete diff" } }
            @if !whole(reader) { span.di { " · " a href={ (at.base) "?show=shell" } { "commands" } " may have changed more" } }
            @if only.is_some() { " · " a href="?" { "All files" } }
        }
        div.changes { @for (place, markup) in &drawn {
            div.filed id={ "file-" (place) } {
                (markup)
                @if let Some(calls) = makers.get(*place) { (by(reader, at, calls)) }
                @if only.is_none() { a.whole href={ "?file=" (place) } title="Only this file, all lines" { "This file" } }
            }
        } }
    })
}

/// The calls that changed a file, as links to their rows.
fn by(reader: &SessionReader<'_>, at: &SessionPageRequest<'_>, calls: &[usize]) -> Markup {
    let transcript = reader.book().transcript();
    let known = calls.iter().take(CALLS).filter_map(|call| Some((transcript.calls.get(*call)?, reader.window().row_address(*call, at)?)));
    html! {
        p.by {
            span.di { "by " }
            @for (call, address) in known { a href=(address) title={ (neutral(call.row.tool)) " in the transcript" } { "#" (call.number) } " " }
            @if calls.len() > CALLS { span.di { "and " (count((calls.len() - CALLS) as u64)) " more" } }
        }
    }
}

/// Whether edits are all that can have changed a file: no command ran, and no script may have made calls that are not listed.
fn whole(reader: &SessionReader<'_>) -> bool {
    let calls = &reader.book().transcript().calls;
    calls.iter().all(|call| call.row.kind != Kind::Shell && call.row.inner.is_none_or(|inner| inner.complete))
}

/// The name of a file without its changes.
fn named(section: &Block) -> Markup {
    match section {
        Block::Section { label, .. } => block(&Block::Section { label: label.clone(), open: false, body: Vec::new() }),
        other => block(other),
    }
}
