//! `/c/{call}`: one call in full. Its status and the evidence for it, its timeline, its input and result, the messages
//! around it, its other runs, and its records as the log has them.
//!
//! A call is named by its id, or as `{session}:{number}`. The same address with `.md`, `.json` or `.jsonl` gives it as
//! Markdown, as `show --json` and as `show --raw`. Only the records of the call and those around them are read for the
//! page.

mod came;
mod head;
mod life;
mod links;
mod name;
mod others;
mod raw;
mod runs;

use super::export;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::frame::{self, FramedPage};
use crate::open_sessions::SessionReader;
use crate::request::PageRequest;
use crate::words::{self, LocalClock};
use links::CallLinks;
use maud::{Markup, html};
use name::{Form, NamedCall, Pick};
use std::io::{self, Write};
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::link::{Linked, Now};
use tooltrail_model::transcript::{CallEntry, Spot, Story};
use tooltrail_redact::Redactor;
use tooltrail_view::head::is_problem;
use tooltrail_view::line::neutral;
use tooltrail_view::render::{json, markdown};
use tooltrail_view::{Limits, call, why};

/// Limits on each text: at first, and with `?all=1`.
const SOME: Limits = Limits { lines: 200, bytes: 128 * 1024, head: 40, highlight: true };
const ALL: Limits = Limits { lines: 20_000, bytes: 4 << 20, head: 10_000, highlight: true };

/// Keys of this page, beside those of all pages.
const KEYS: &[(&str, &str)] = &[
    ("[ ]", "previous, next call"),
    ("h l", "the same"),
    ("u", "show it in the session"),
    ("d", "difference between tool output and model input"),
    ("c", "copy the command or path"),
    ("y", "copy the link to this page"),
    ("m", "copy as Markdown"),
];

pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let NamedCall { place, pick, form } = name::find(app, &snapshot, request.name("call"))?;
    // Before the session is opened, which would fail with a less helpful message.
    if snapshot.listing.is_gone(place) {
        return Err(name::gone(&snapshot, place, &pick)?);
    }
    let to = CallLinks { root: app.setup.root };
    match form {
        Form::Page => {}
        Form::Json => {
            return text(app, &snapshot, place, pick, "application/json", |reader, index, out| json::call(reader.book(), index, out));
        }
        Form::Lines => {
            return text(app, &snapshot, place, pick, "application/x-ndjson", |reader, index, out| raw::lines(reader.calls(), index, out));
        }
        Form::Markdown => return as_markdown(app, &snapshot, place, pick, request),
    }
    let rows = snapshot.rows();
    let Some(session) = rows.get(place) else { return Err(name::missing(request.name("call"))) };
    // Copied, because rows borrow from the snapshot and the page needs both until the end.
    let id = session.session.to_owned();
    let context = CallPageContext {
        title: words::title(session.title),
        project: session.project.map(|project| words::last_part(project).to_owned()),
        all: request.get("all").is_some(),
        own: request.name("call").to_owned(),
        to,
        clock: LocalClock::at(snapshot.now.time),
    };
    match app.open_session(&snapshot, place)?.with(|reader| context.draw(reader, &pick))? {
        Drawn::Page(title, main) => {
            let assets = &["call.css", "call.js"];
            let (session, follows, snapshot) = (Some(id.as_str()), Some("session"), Some(&*snapshot));
            let page = FramedPage { assets, keys: KEYS, session, follows, snapshot, ..FramedPage::plain(&title) };
            Ok(PageResponse::Html(frame::page(app, &page, &main)))
        }
        Drawn::Elsewhere(address) => Ok(PageResponse::Elsewhere(address)),
    }
}

/// A call as text of a media type, for all forms but the page.
fn text(
    app: &AppState,
    snapshot: &std::sync::Arc<crate::snapshot::CatalogueSnapshot>,
    place: usize,
    pick: Pick,
    kind: &'static str,
    write: impl FnOnce(&SessionReader<'_>, usize, &mut Vec<u8>) -> io::Result<()>,
) -> Result<PageResponse, Trouble> {
    let text = app.open_session(snapshot, place)?.with(|reader| {
        let index = pick.find(reader.calls())?;
        let mut out = Vec::new();
        // Writing to memory cannot fail.
        let _ = write(reader, index, &mut out);
        Ok::<_, Trouble>(String::from_utf8_lossy(&out).into_owned())
    })?;
    Ok(PageResponse::Text(kind, text))
}

/// A call as Markdown, to be shared: redacted unless `?redact=no`.
fn as_markdown(
    app: &AppState,
    snapshot: &std::sync::Arc<crate::snapshot::CatalogueSnapshot>,
    place: usize,
    pick: Pick,
    request: &PageRequest,
) -> Result<PageResponse, Trouble> {
    const KIND: &str = "text/markdown; charset=utf-8";
    fn write(book: &dyn Book, index: usize, out: &mut dyn Write) -> io::Result<()> {
        match book.call(index) {
            Loaded::Call(story) => markdown::call(&story, out),
            Loaded::Part(_) => Ok(()),
            Loaded::Gone(why) => out.write_all(why.as_bytes()),
        }
    }
    if request.get("redact") == Some("no") {
        return text(app, snapshot, place, pick, KIND, |reader, index, out| write(reader.calls(), index, out));
    }
    let redactor = Redactor::new(app.machine.home().as_deref(), app.machine.user().as_deref());
    let change = |text: String| redactor.text(text);
    let written = text(app, snapshot, place, pick, KIND, |reader, index, out| {
        // The session has told what is secret in it before the call is cut to what is shown.
        export::learn(reader, &change)?;
        let words = typed_arena::Arena::new();
        let private = Private { change: &change, words: &words };
        write(&SessionBook::read(reader.linked, &[reader.session], reader.now, reader.disk, Some(private)), index, out)
    })?;
    let PageResponse::Text(kind, text) = written else { return Ok(written) };
    // Also after rendering: whatever the renderer added is covered too.
    Ok(PageResponse::Text(kind, redactor.text(text)))
}

/// Result of drawing.
enum Drawn {
    /// A page with its title.
    Page(String, Markup),
    /// The call's proper address.
    Elsewhere(String),
}

/// Facts that are known before the session is opened.
struct CallPageContext {
    /// The session's title.
    title: String,
    /// Its project.
    project: Option<String>,
    /// Whether everything is asked for.
    all: bool,
    /// The name that was asked for.
    own: String,
    to: CallLinks,
    /// Clock for relative times.
    clock: LocalClock,
}

impl CallPageContext {
    fn draw(&self, reader: &SessionReader<'_>, pick: &Pick) -> Result<Drawn, Trouble> {
        let book = reader.calls();
        let index = pick.find(book)?;
        let name = name::of(book, index);
        // Each call has one address, so that bookmarks, histories and visited links agree.
        if name != self.own {
            let all = if self.all { "?all=1" } else { "" };
            return Ok(Drawn::Elsewhere(format!("{}{all}", self.to.call(&name))));
        }
        let mut story = match book.call(index) {
            Loaded::Call(story) => story,
            Loaded::Part(_) => return Err(name::missing(&name)),
            Loaded::Gone(why) => {
                // The reader of the log knows the reason; the page adds what to do.
                return Err(Trouble::Missing(format!("This call cannot be shown: {why}. {GONE}")));
            }
        };
        let Some(entry) = book.transcript().calls.get(index) else { return Err(name::missing(&name)) };
        let children = others::children(book, index);
        // The page lists the subagent's calls itself, so the block shows only their numbers and no conversation.
        (story.nested.calls, story.nested.failed) = others::counts(book, &children);
        // Conversations are only known of a session that was read; a log is known by its name, too.
        let log = |id: &str| reader.linked.sources.iter().any(|source| source.path.contains(id));
        let missing_log = call::missing_log(&story).filter(|_| !story.row.child_session.is_some_and(log));
        story.nested.threads.clear();
        let limits = if self.all { ALL } else { SOME };
        let mut page = CallPage {
            context: self,
            book,
            linked: reader.linked,
            now: reader.now,

            index,
            name: &name,
            entry,
            story: &story,
            children,
            missing_log,
            records: Vec::new(),
            limits,
        };
        // Needs the other fields, and the links to records need it before anything is drawn.
        page.records = page.found();
        Ok(Drawn::Page(page.tab(), page.page()))
    }
}

/// Advice for a log that was changed or deleted after it was read.
const GONE: &str = "If this persists, run `tooltrail check` on the log.";

/// The page of a call, being drawn.
struct CallPage<'r> {
    context: &'r CallPageContext,
    book: &'r SessionBook<'r>,
    linked: &'r Linked<'r>,
    now: &'r Now,
    index: usize,
    /// Its name in an address.
    name: &'r str,
    entry: &'r CallEntry<'r>,
    story: &'r Story<'r>,
    /// The calls of the subagents that it started.
    children: Vec<usize>,
    /// Remark that the log of its subagent is missing.
    missing_log: Option<&'static str>,
    /// Records that belong to it.
    records: Vec<raw::LabelledRecord>,
    limits: Limits,
}

impl CallPage<'_> {
    /// Title of the tab.
    fn tab(&self) -> String {
        let head = tooltrail_view::call::head(self.story);
        let title: String = head.title.text().chars().take(60).collect();
        format!("{} {} {title}", self.story.row.r#ref, head.name.text())
    }

    fn page(&self) -> Markup {
        html! {
            main #main.one {
                (self.head())
                // What went wrong comes first, and how far the content below can be trusted.
                @if self.is_wrong() { div.grid.wrong { (self.wrong()) } }
                (self.came())
                (self.asked())
                div.grid {
                    (self.life())
                    (self.why())
                    (self.runs())
                    (self.related())
                    (self.said())
                }
                (self.about())
                (self.raw())
            }
        }
    }

    /// Whether there is something to explain before anything else.
    fn is_wrong(&self) -> bool {
        is_problem(self.story.row.status) || why::is_doubtful(self.story)
    }

    /// A part of the page with a name of its own in the margin.
    fn part(&self, name: &str, id: &str, body: &Markup) -> Markup {
        html! { section.part aria-labelledby=(id) { h2 id=(id) { (name) } div { (body) } } }
    }

    /// When a record was written.
    fn when(&self, spot: Spot) -> Option<tooltrail_model::Time> {
        self.book.time(spot)
    }
}

/// The name of a file without its directories.
fn base(path: &str) -> String {
    neutral(words::last_part(path)).into_owned()
}
