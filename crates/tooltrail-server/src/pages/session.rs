//! `/s/{session}`: the transcript of a session, and the parts of that page that its script fetches while scrolling.

use super::{changes, waterfall};
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::filter_form::filter_address;
use crate::frame::{self, FramedPage};
use crate::open_sessions::{OpenSession, SessionReader};
use crate::request::{PageRequest, encoded};
use crate::session_table::project_address;
use crate::snapshot::CatalogueSnapshot;
use crate::words::{self, ProjectTerms};
use jiff::tz::TimeZone;
use maud::{Markup, html};
use std::sync::Arc;
use tooltrail_formats::FORMATS;
use tooltrail_formats::find::LimitedLog;
use tooltrail_model::Time;
use tooltrail_model::book::Book;
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::title;
use tooltrail_view::render::html::window::{PageState, SessionPageRequest, Tab};
use tooltrail_view::resume;

/// Style sheet and script of the transcript.
pub(super) const ASSETS: &[&str] = &["session.css", "session.js"];

/// Context of a request about a session: the request itself, and the base of the session's addresses.
#[derive(Clone)]
pub(super) struct RequestContext {
    root: &'static str,
    base: String,
    request: PageRequest,
    zone: TimeZone,
    now: Option<Time>,
}

impl RequestContext {
    fn new(app: &AppState, request: &PageRequest, session: &str, now: Option<Time>) -> Self {
        let base = app.to(&format!("/s/{}", encoded(session)));
        RequestContext { root: app.setup.root, base, request: request.clone(), zone: TimeZone::system(), now }
    }

    /// Parameters of the page for the renderer.
    fn at(&self, reader: &SessionReader<'_>) -> SessionPageRequest<'_> {
        SessionPageRequest {
            root: self.root,
            base: &self.base,
            version: reader.version,
            section: 0,
            show: self.request.get("show").unwrap_or_default(),
            find: self.request.get("find").unwrap_or_default(),
            digest: self.request.get("digest").is_some(),
            live: self.request.get("live").is_some(),
            now: self.now,
            zone: Some(&self.zone),
            ..SessionPageRequest::default()
        }
    }
}

/// A session that a request is about, found in a snapshot.
pub(super) struct Visit {
    pub(super) snapshot: Arc<CatalogueSnapshot>,
    /// Its place in the snapshot's listing.
    pub(super) place: usize,
    /// Its id.
    pub(super) session: String,
    context: RequestContext,
    neighbours: [Option<String>; 2],
    /// Addresses of the table of its calls, and of its project.
    calls: String,
    project: Option<String>,
}

impl Visit {
    /// Finds the session of a request.
    pub(super) fn new(app: &AppState, request: &PageRequest) -> Result<Self, Trouble> {
        Visit::at_snapshot(app, request, app.snapshot()?)
    }

    fn at_snapshot(app: &AppState, request: &PageRequest, snapshot: Arc<CatalogueSnapshot>) -> Result<Self, Trouble> {
        let place = app.session(&snapshot, request.name("session"))?;
        let rows = snapshot.rows();
        let address = |place: Option<usize>| Some(app.to(&format!("/s/{}", encoded(rows.get(place?)?.session))));
        let session = rows.get(place).map(|row| row.session.to_owned()).unwrap_or_default();
        // Listed by start, so these are the sessions that began before and after it.
        let neighbours = [address(place.checked_sub(1)), address(place.checked_add(1))];
        let calls = filter_address(app, "/calls", &words::session_term(&session, snapshot.listing.is_gone(place)));
        let project = rows.get(place).and_then(|row| row.project);
        // The address depends on the paths of all projects.
        let terms = || ProjectTerms::of(rows.iter().filter_map(|row| row.project));
        let project = project.map(|project| project_address(app, &terms(), project));
        // They borrow from the snapshot, which moves into the result.
        drop(rows);
        let context = RequestContext::new(app, request, &session, Some(snapshot.now.time));
        Ok(Visit { snapshot, place, session, context, neighbours, calls, project })
    }

    /// Opens the session, unless it is open.
    pub(super) fn open(&self, app: &AppState) -> Result<Arc<OpenSession>, Trouble> {
        app.open_session(&self.snapshot, self.place)
    }

    /// Parameters of the page for the renderer, with links to other pages.
    pub(super) fn at<'v>(&'v self, reader: &SessionReader<'_>) -> SessionPageRequest<'v> {
        let [before, after] = &self.neighbours;
        let neighbours = [before.as_deref(), after.as_deref()];
        SessionPageRequest { neighbours, calls: Some(&self.calls), project: self.project.as_deref(), ..self.context.at(reader) }
    }

    /// Whether the request names the current version. Parts are named by position, and positions change with the
    /// session.
    pub(super) fn fits(&self, reader: &SessionReader<'_>) -> Result<bool, Trouble> {
        match version(&self.context.request) {
            None => Ok(false),
            Some(version) if version == Some(reader.version) => Ok(true),
            Some(_) => Err(Trouble::Changed("This session has changed. Reload the page.".to_owned())),
        }
    }

    /// The section that is asked for: by its number, or by an anchor in it.
    fn section(&self, reader: &SessionReader<'_>) -> usize {
        let way = self.context.request.get("at").and_then(|anchor| reader.window().way(reader.book().transcript(), anchor));
        let way = way.or_else(|| reader.window().way_to(self.context.request.number("rows")?));
        way.and_then(|way| way.first().map(|step| step.rows)).unwrap_or(0)
    }
}

/// The command that resumes a session.
fn resumed(reader: &SessionReader<'_>) -> Option<String> {
    let session = reader.linked.sessions.get(reader.session)?;
    let format = FORMATS.iter().find(|format| format.agent() == session.agent)?;
    // The command is meant to be pasted into a shell, so ids with special characters get none.
    let command = format.resume(&session.id).filter(|_| resume::is_plain(&session.id))?;
    Some(resume::line(&command, session.directory.as_deref()))
}

/// The session's page.
pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    tab(app, request, Tab::Transcript, |_, _, _| Ok(html! {}))
}

/// Messages about logs of the session that were read up to a limit.
fn limited(reader: &SessionReader<'_>) -> Vec<String> {
    let logs = reader.linked.sources.iter().filter_map(|source| LimitedLog::of(&source.path, &source.summary));
    logs.map(|log| format!("{log}.")).collect()
}

/// The query of a request, encoded again.
fn query_string(request: &PageRequest) -> String {
    let pairs: Vec<String> = request.query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// A view of a session. `content` draws all views but the transcript.
pub(super) fn tab(
    app: &AppState,
    request: &PageRequest,
    tab: Tab,
    content: impl FnOnce(&SessionReader<'_>, &SessionPageRequest<'_>, &PageRequest) -> Result<Markup, Trouble>,
) -> Result<PageResponse, Trouble> {
    let visit = Visit::new(app, request)?;
    // A shortened id redirects to the full one, so that a page has one address.
    if visit.session != request.name("session") && tab == Tab::Transcript {
        return Ok(PageResponse::Elsewhere(format!("{}{}", visit.context.base, query_string(request))));
    }
    let (name, main) = visit.open(app)?.with(|reader| {
        let command = resumed(reader);
        let at = SessionPageRequest { section: visit.section(reader), resume: command.as_deref(), ..visit.at(reader) };
        let main = match tab {
            Tab::Transcript => reader.window().page(reader.book(), &at),
            _ => reader.window().tab(reader.book(), &at, tab, &content(reader, &at, &visit.context.request)?),
        };
        let main = html! { @for log in limited(reader) { p.t-error role="status" { (neutral(&log)) " Not all of it is shown." } } (main) };
        Ok::<_, Trouble>((title(reader.book().transcript()), main))
    })?;
    let (assets, keys) = match tab {
        Tab::Transcript => (ASSETS, &[][..]),
        Tab::Waterfall => (waterfall::ASSETS, waterfall::KEYS),
        Tab::Changes => (changes::ASSETS, changes::KEYS),
        Tab::Raw => (&["session.css"][..], &[][..]),
    };
    // The script of the transcript adds rows itself, and so does that of the waterfall; only the head above it is
    // reloaded. Other views reload completely.
    let (follows, part) = match tab {
        Tab::Transcript => (None, None),
        Tab::Waterfall => (Some("session"), Some(".top")),
        Tab::Changes | Tab::Raw => (Some("session"), None),
    };
    let skips: &[_] = match tab {
        Tab::Transcript => &[("tt-rows", "transcript"), ("tt-outline", "outline"), ("tt-filters", "filters")],
        Tab::Waterfall => &[("tt-scroll", "rows")],
        Tab::Changes => &[("tt-files", "changes"), ("tt-tree", "files")],
        Tab::Raw => &[],
    };
    let page = FramedPage {
        assets,
        keys,
        skips,
        own_keys: tab == Tab::Transcript,
        session: Some(&visit.session),
        follows,
        part,
        snapshot: Some(&visit.snapshot),
        ..FramedPage::plain(&name)
    };
    Ok(PageResponse::Html(frame::page(app, &page, &main)))
}

/// The version that a request names; the inner value is `None` if it is not a number.
fn version(request: &PageRequest) -> Option<Option<u64>> {
    request.get("v").map(|version| u64::from_str_radix(version, 16).ok())
}

/// A part of the page. With a version in the address it may be cached, and is refused for any other version.
pub(super) fn part(
    app: &AppState,
    request: &PageRequest,
    draw: impl FnOnce(&SessionReader<'_>, &SessionPageRequest<'_>, &PageRequest) -> Markup,
) -> Result<PageResponse, Trouble> {
    let context = RequestContext::new(app, request, request.name("session"), None);
    let draw = |reader: &SessionReader<'_>| draw(reader, &context.at(reader), &context.request);
    // The usual case: the page's version of the session is still open, so neither the catalogue nor the logs are looked
    // at.
    let open = version(request).flatten().and_then(|version| app.session_in_version(request.name("session"), version));
    if let Some(open) = open {
        return Ok(PageResponse::Lasting(open.with(draw)));
    }
    let visit = Visit::new(app, request)?;
    let (lasts, part) = visit.open(app)?.with(|reader| visit.fits(reader).map(|fits| (fits, draw(reader))))?;
    Ok(if lasts { PageResponse::Lasting(part) } else { PageResponse::Html(part) })
}

/// Differences between the session now and the state that a page shows.
pub(crate) fn live(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    // The latest snapshot will do even if it is old: while pages are open, the session itself comes from the watcher.
    let known = app.latest_snapshot().map(|snapshot| Visit::at_snapshot(app, request, snapshot));
    let visit = match known {
        Some(Ok(visit)) => visit,
        _ => Visit::new(app, request)?,
    };
    // The time of an old snapshot would make running calls look younger than they are.
    let now = app.machine.now().time;
    let told = visit.open(app)?.with(|reader| {
        let request = &visit.context.request;
        let known = PageState { sections: request.get("have").unwrap_or_default(), outline: request.get("outline").unwrap_or_default() };
        let at = SessionPageRequest { live: true, now: Some(now), ..visit.at(reader) };
        serde_json::to_string(&reader.window().live(reader.book(), &at, &known))
    });
    let told = told.map_err(|error| Trouble::Broken(error.to_string()))?;
    Ok(PageResponse::Text("application/json", told))
}

/// A number in the path; an invalid one is beyond every list.
pub(super) fn number(request: &PageRequest, name: &str) -> usize {
    request.name(name).parse().unwrap_or(usize::MAX)
}

/// The rows of a section.
pub(crate) fn rows(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    part(app, request, |reader, at, request| reader.window().section(reader.book(), number(request, "section"), at))
}

/// Content of a call that was opened.
pub(crate) fn body(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    part(app, request, |reader, at, request| reader.window().body(reader.book(), number(request, "call"), request.get("all").is_some(), at))
}

/// A message in full; as a page of its own without a script.
pub(crate) fn text(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let drawn = part(app, request, |reader, at, request| {
        let (section, row) = (number(request, "section"), number(request, "row"));
        let text = reader.window().text(reader.book(), section, row, at);
        let back = format!("{}?rows={section}", at.base);
        if request.get("page").is_none() {
            text
        } else {
            html! { main.session #main { div.view { p { a href=(back) { "← The session" } } (text) } } }
        }
    })?;
    match drawn {
        PageResponse::Html(main) | PageResponse::Lasting(main) if request.get("page").is_some() => {
            Ok(PageResponse::Html(frame::page(app, &FramedPage { assets: &["session.css"], ..FramedPage::plain("Message") }, &main)))
        }
        other => Ok(other),
    }
}

/// A part of a long outline.
pub(crate) fn turns(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    part(app, request, |reader, at, request| reader.window().outline(reader.book(), number(request, "group"), at))
}

/// Digest of the session. Always the current one, because its links use names and not positions.
pub(crate) fn digest(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    // Without the version of the page, which would refuse it after a change.
    let request = PageRequest { query: Vec::new(), ..request.clone() };
    part(app, &request, |reader, at, _| reader.window().digest(reader.book(), at))
}

/// The way to an anchor: the sections to fetch and the calls to open.
pub(crate) fn way(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let visit = Visit::new(app, request)?;
    let way = visit.open(app)?.with(|reader| {
        visit.fits(reader).map(|_| match visit.context.request.get("id") {
            Some(anchor) => reader.window().way(reader.book().transcript(), anchor),
            None => visit.context.request.number("rows").and_then(|rows| reader.window().way_to(rows)),
        })
    })?;
    let way = way.and_then(|way| serde_json::to_string(&way).ok());
    way.map(|way| PageResponse::Text("application/json", way)).ok_or_else(|| Trouble::Missing("No such item in this session.".to_owned()))
}
