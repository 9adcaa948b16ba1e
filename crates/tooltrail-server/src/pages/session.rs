//! `/s/{session}`: what was said and done, and the parts of that page that are fetched when somebody comes near.

use super::waterfall;
use crate::answer::{Answer, Trouble};
use crate::asked::{Asked, encoded};
use crate::asking::asking;
use crate::frame::{self, Page};
use crate::moment::Moment;
use crate::rooms::Room;
use crate::site::Site;
use crate::words::{self, ProjectTerms};
use jiff::tz::TimeZone;
use maud::{Markup, html};
use std::sync::Arc;
use tooltrail_formats::FORMATS;
use tooltrail_model::Time;
use tooltrail_model::book::Book;
use tooltrail_view::render::html::title;
use tooltrail_view::render::html::window::{PageRequest as At, PageState, Tab};
use tooltrail_view::resume;

/// What belongs to a session's pages beside the page itself.
pub(super) const ASSETS: &[&str] = &["session.css", "session.js"];

/// Where somebody sits who asks about a session: what was asked, and where its pages are.
#[derive(Clone)]
pub(super) struct Seat {
    root: &'static str,
    base: String,
    asked: Asked,
    zone: TimeZone,
    now: Option<Time>,
}

impl Seat {
    fn new(site: &Site, asked: &Asked, session: &str, now: Option<Time>) -> Self {
        let base = site.to(&format!("/s/{}", encoded(session)));
        Seat { root: site.setup.root, base, asked: asked.clone(), zone: TimeZone::system(), now }
    }

    /// Where the page is shown.
    fn at(&self, room: &Room<'_>) -> At<'_> {
        At {
            root: self.root,
            base: &self.base,
            version: room.version,
            section: 0,
            show: self.asked.get("show").unwrap_or_default(),
            find: self.asked.get("find").unwrap_or_default(),
            digest: self.asked.get("digest").is_some(),
            live: self.asked.get("live").is_some(),
            now: self.now,
            zone: Some(&self.zone),
            ..At::default()
        }
    }
}

/// A visit to a session: who asks about it, and which one it is.
pub(super) struct Visit {
    pub(super) moment: Arc<Moment>,
    /// Its place in the moment's listing.
    pub(super) place: usize,
    /// Its id.
    pub(super) session: String,
    seat: Seat,
    neighbours: [Option<String>; 2],
    /// Where its calls are a table, and the sessions of its project.
    calls: String,
    project: Option<String>,
}

impl Visit {
    /// Finds the session that was asked about.
    pub(super) fn new(site: &Site, asked: &Asked) -> Result<Self, Trouble> {
        Visit::at_moment(site, asked, site.moment()?)
    }

    fn at_moment(site: &Site, asked: &Asked, moment: Arc<Moment>) -> Result<Self, Trouble> {
        let place = site.session(&moment, asked.name("session"))?;
        let rows = moment.rows();
        let address = |place: Option<usize>| Some(site.to(&format!("/s/{}", encoded(rows.get(place?)?.session))));
        let session = rows.get(place).map(|row| row.session.to_owned()).unwrap_or_default();
        let neighbours = [address(place.checked_sub(1)), address(place.checked_add(1))];
        let calls = asking(site, "/calls", &words::session_term(&session, moment.listing.is_gone(place)));
        let project = rows.get(place).and_then(|row| row.project);
        let terms = || ProjectTerms::of(rows.iter().filter_map(|row| row.project));
        let project = project.map(|project| asking(site, "/sessions", &terms().term(project)));
        drop(rows);
        let seat = Seat::new(site, asked, &session, Some(moment.now.time));
        Ok(Visit { moment, place, session, seat, neighbours, calls, project })
    }

    /// Where the page is shown.
    pub(super) fn at<'v>(&'v self, room: &Room<'_>) -> At<'v> {
        let [before, after] = &self.neighbours;
        let neighbours = [before.as_deref(), after.as_deref()];
        At { neighbours, calls: Some(&self.calls), project: self.project.as_deref(), ..self.seat.at(room) }
    }

    /// Whether the question is about the session as it is. Parts are named by their places, which are others once it has changed.
    pub(super) fn fits(&self, room: &Room<'_>) -> Result<bool, Trouble> {
        match version(&self.seat.asked) {
            None => Ok(false),
            Some(version) if version == Some(room.version) => Ok(true),
            Some(_) => Err(Trouble::Changed("This session has changed. Load its page again.".to_owned())),
        }
    }

    /// The section that was asked for: by its number, or by what stands in it.
    fn section(&self, room: &Room<'_>) -> usize {
        let way = self.seat.asked.get("at").and_then(|anchor| room.window.way(room.book.transcript(), anchor));
        let way = way.or_else(|| room.window.way_to(self.seat.asked.number("rows")?));
        way.and_then(|way| way.first().map(|step| step.rows)).unwrap_or(0)
    }
}

/// The command by which a session is taken up again.
fn resumed(room: &Room<'_>) -> Option<String> {
    let session = room.linked.sessions.get(room.session)?;
    let format = FORMATS.iter().find(|format| format.agent() == session.agent)?;
    let command = format.resume(&session.id).filter(|_| resume::is_plain(&session.id))?;
    Some(resume::line(&command, session.directory.as_deref()))
}

/// The session's page.
pub(crate) fn page(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    tab(site, asked, Tab::Transcript, |_, _, _| Ok(html! {}))
}

/// The query of an address, spelled anew.
fn question(asked: &Asked) -> String {
    let pairs: Vec<String> = asked.query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// A view of a session; `content` is what stands in all but the first.
pub(super) fn tab(
    site: &Site,
    asked: &Asked,
    tab: Tab,
    content: impl FnOnce(&Room<'_>, &At<'_>, &Asked) -> Result<Markup, Trouble> + Send + 'static,
) -> Result<Answer, Trouble> {
    let visit = Visit::new(site, asked)?;
    // A shortened name leads to the whole one, so that a page has one address.
    if visit.session != asked.name("session") && tab == Tab::Transcript {
        return Ok(Answer::Elsewhere(format!("{}{}", visit.seat.base, question(asked))));
    }
    let (moment, session) = (Arc::clone(&visit.moment), visit.session.clone());
    let (name, main) = site.ask(&moment, visit.place, move |room| {
        let command = resumed(room);
        let at = At { section: visit.section(room), resume: command.as_deref(), ..visit.at(room) };
        let main = match tab {
            Tab::Transcript => room.window.page(room.book, &at),
            _ => room.window.tab(room.book, &at, tab, &content(room, &at, &visit.seat.asked)?),
        };
        Ok::<_, Trouble>((title(room.book.transcript()), main))
    })??;
    let (assets, keys) = match tab {
        Tab::Transcript => (ASSETS, &[][..]),
        Tab::Waterfall => (waterfall::ASSETS, waterfall::KEYS),
        Tab::Changes | Tab::Raw => (&["session.css"][..], &[][..]),
    };
    // The transcript grows by itself, and so do the bars; what stands above these is made anew, and all of the others.
    let (follows, part) = match tab {
        Tab::Transcript => (None, None),
        Tab::Waterfall => (Some("session"), Some(".top")),
        Tab::Changes | Tab::Raw => (Some("session"), None),
    };
    let skips: &[_] = match tab {
        Tab::Transcript => &[("tt-rows", "transcript"), ("tt-outline", "outline"), ("tt-filters", "filters")],
        Tab::Waterfall => &[("tt-scroll", "rows")],
        Tab::Changes | Tab::Raw => &[],
    };
    let page = Page { assets, keys, skips, own_keys: tab == Tab::Transcript, session: Some(&session), follows, part, ..Page::plain(&name) };
    Ok(Answer::Html(frame::page(site, &page, &main)))
}

/// The version that is asked for; inside, if it is one.
fn version(asked: &Asked) -> Option<Option<u64>> {
    asked.get("v").map(|version| u64::from_str_radix(version, 16).ok())
}

/// A part of the page. It lasts if its version is asked for, and there is none of another version.
pub(super) fn part(
    site: &Site,
    asked: &Asked,
    draw: impl FnOnce(&Room<'_>, &At<'_>, &Asked) -> Markup + Send + 'static,
) -> Result<Answer, Trouble> {
    let seat = Seat::new(site, asked, asked.name("session"), None);
    let draw = move |room: &Room<'_>| draw(room, &seat.at(room), &seat.asked);
    // Most are asked for from a page whose session is open as it was then: nothing has to be looked at.
    let draw = match version(asked).flatten() {
        None => draw,
        Some(version) => match site.ask_open(asked.name("session"), version, draw) {
            Ok(part) => return part.map(Answer::Lasting),
            Err(draw) => draw,
        },
    };
    let visit = Visit::new(site, asked)?;
    let (moment, place) = (Arc::clone(&visit.moment), visit.place);
    let (lasts, part) = site.ask(&moment, place, move |room| visit.fits(room).map(|fits| (fits, draw(room))))??;
    Ok(if lasts { Answer::Lasting(part) } else { Answer::Html(part) })
}

/// What a page has to learn that shows the session as it was.
pub(crate) fn live(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    // It is about the session alone, so what is known of others may be old.
    let known = site.moment_as_it_is().map(|moment| Visit::at_moment(site, asked, moment));
    let visit = match known {
        Some(Ok(visit)) => visit,
        _ => Visit::new(site, asked)?,
    };
    let (moment, place, now) = (Arc::clone(&visit.moment), visit.place, site.machine.now().time);
    let told = site.ask(&moment, place, move |room| {
        let asked = &visit.seat.asked;
        let known = PageState { sections: asked.get("have").unwrap_or_default(), outline: asked.get("outline").unwrap_or_default() };
        let at = At { live: true, now: Some(now), ..visit.at(room) };
        serde_json::to_string(&room.window.live(room.book, &at, &known))
    })?;
    let told = told.map_err(|error| Trouble::Broken(error.to_string()))?;
    Ok(Answer::Text("application/json", told))
}

/// A number in the path.
pub(super) fn number(asked: &Asked, name: &str) -> usize {
    asked.name(name).parse().unwrap_or(usize::MAX)
}

/// The rows of a section.
pub(crate) fn rows(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    part(site, asked, |room, at, asked| room.window.section(room.book, number(asked, "section"), at))
}

/// What a call shows when it is opened.
pub(crate) fn body(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    part(site, asked, |room, at, asked| room.window.body(room.book, number(asked, "call"), asked.get("all").is_some(), at))
}

/// All of a message; as a page of its own for whoever comes without a script.
pub(crate) fn text(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    let drawn = part(site, asked, |room, at, asked| {
        let (section, row) = (number(asked, "section"), number(asked, "row"));
        let text = room.window.text(room.book, section, row, at);
        let back = format!("{}?rows={section}", at.base);
        if asked.get("page").is_none() {
            text
        } else {
            html! { main.session #main { div.view { p { a href=(back) { "← The session" } } (text) } } }
        }
    })?;
    match drawn {
        Answer::Html(main) | Answer::Lasting(main) if asked.get("page").is_some() => {
            Ok(Answer::Html(frame::page(site, &Page { assets: &["session.css"], ..Page::plain("Message") }, &main)))
        }
        other => Ok(other),
    }
}

/// A part of a long outline.
pub(crate) fn turns(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    part(site, asked, |room, at, asked| room.window.outline(room.book, number(asked, "group"), at))
}

/// What the session amounts to: as it is now, since its links lead to names and not to places.
pub(crate) fn digest(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    let asked = Asked { query: Vec::new(), ..asked.clone() };
    part(site, &asked, |room, at, _| room.window.digest(room.book, at))
}

/// The way to something in it: which sections have to be brought, and which calls opened.
pub(crate) fn way(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    let visit = Visit::new(site, asked)?;
    let (moment, place) = (Arc::clone(&visit.moment), visit.place);
    let find = move |room: &Room<'_>| {
        visit.fits(room).map(|_| match visit.seat.asked.get("id") {
            Some(anchor) => room.window.way(room.book.transcript(), anchor),
            None => visit.seat.asked.number("rows").and_then(|rows| room.window.way_to(rows)),
        })
    };
    let way = site.ask(&moment, place, find)??;
    let way = way.and_then(|way| serde_json::to_string(&way).ok());
    way.map(|way| Answer::Text("application/json", way))
        .ok_or_else(|| Trouble::Missing("There is no such thing in this session.".to_owned()))
}
