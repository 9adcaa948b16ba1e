//! Names of calls in addresses: finding the call of a name, and the name of a call.

use crate::answer::Trouble;
use crate::app_state::AppState;
use crate::snapshot::CatalogueSnapshot;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Book;
use tooltrail_model::row::CallNumber;
use tooltrail_view::head::{look_of, took, why_of};
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::call_name;

/// A call that was found by its name.
#[derive(Clone, Debug)]
pub(super) struct NamedCall {
    /// The session, by its place in the snapshot's listing.
    pub(super) place: usize,
    /// Which of its calls.
    pub(super) pick: Pick,
    /// Form in which it is asked for.
    pub(super) form: Form,
}

/// A call of a session.
#[derive(Clone, Debug)]
pub(super) enum Pick {
    /// By its id.
    Id(String),
    /// By its number.
    Number(CallNumber),
}

/// Forms of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Its page.
    Page,
    /// As Markdown.
    Markdown,
    /// As `show --json`.
    Json,
    /// Its records, as `show --raw`.
    Lines,
}

/// Endings of addresses.
const FORMS: &[(&str, Form)] = &[(".md", Form::Markdown), (".json", Form::Json), (".jsonl", Form::Lines)];

/// Finds the call of a name. A name that ends like a file may still be an id.
pub(super) fn find(app: &AppState, snapshot: &CatalogueSnapshot, name: &str) -> Result<NamedCall, Trouble> {
    // The whole name first: ids are chosen by agents and may end in `.json`.
    let plain = named(app, snapshot, name);
    let Err(Trouble::Missing(_)) = &plain else { return plain.map(|(place, pick)| NamedCall { place, pick, form: Form::Page }) };
    // `.json` is not a suffix of `.jsonl`, so the order does not matter.
    for (ending, form) in FORMS {
        if let Some(stem) = name.strip_suffix(ending) {
            return named(app, snapshot, stem).map(|(place, pick)| NamedCall { place, pick, form: *form });
        }
    }
    plain.map(|(place, pick)| NamedCall { place, pick, form: Form::Page })
}

fn named(app: &AppState, snapshot: &CatalogueSnapshot, name: &str) -> Result<(usize, Pick), Trouble> {
    if let Some((session, number)) = name.rsplit_once(':')
        && let Some(number) = CallNumber::read(number)
        // An id may contain a colon as well, so an unknown session is not an error yet.
        && let Ok(place) = app.session(snapshot, session)
    {
        return Ok((place, Pick::Number(number)));
    }
    match app.session_of_call(snapshot, name)? {
        Some(place) => Ok((place, Pick::Id(name.to_owned()))),
        None if snapshot.read.partial => {
            Err(Trouble::Missing(format!("No call `{}` yet: the logs are still being read. Reload the page in a moment.", neutral(name))))
        }
        None => Err(missing(name)),
    }
}

/// Error for an unknown call.
pub(super) fn missing(name: &str) -> Trouble {
    Trouble::Missing(format!(
        "No call `{}` in the logs. The agent may have deleted its log. Use the id of a call, or its session and number, as in `3f2a:41`.",
        neutral(name)
    ))
}

/// Error for a call whose log was deleted: the facts that the catalogue still has, and advice.
pub(super) fn gone(snapshot: &CatalogueSnapshot, place: usize, pick: &Pick) -> Result<Trouble, Trouble> {
    let mut known = String::new();
    snapshot.listing.each_call(&snapshot.library.catalogue(), place, |listed, row, _| {
        let is_it = match pick {
            Pick::Id(id) => row.call == id || row.alias == Some(id.as_str()),
            Pick::Number(number) => listed.number == *number,
        };
        if is_it {
            // The catalogue keeps the rows of deleted sessions, so the outcome is still known.
            let took = row.duration_ms.map(|millis| format!(" after {}", took(millis))).unwrap_or_default();
            let (word, why) = (look_of(&row).word, why_of(&row).map(|why| format!(" ({why})")).unwrap_or_default());
            let at = row.requested_at.map(|time| time.to_string()).unwrap_or_default();
            known = format!(" From the index: `{}` {word}{why}{took}, {at}.", neutral(row.tool));
        }
    })?;
    Ok(Trouble::Missing(format!(
        "The log of this call is gone: the agent deleted it.{known} `tooltrail list is:gone` lists such sessions; `tooltrail keep on` keeps logs from now on."
    )))
}

impl Pick {
    /// The place of the call among those of its session.
    pub(super) fn find(&self, book: &SessionBook<'_>) -> Result<usize, Trouble> {
        let calls = &book.transcript().calls;
        let found = match self {
            // Copies have the same id; the original is meant.
            Pick::Id(id) => {
                calls.iter().position(|call| (call.row.call == id || call.row.alias == Some(id.as_str())) && call.row.copy_of.is_none())
            }
            Pick::Number(number) => calls.iter().position(|call| call.number == *number),
        };
        found.ok_or_else(|| match self {
            Pick::Id(id) => missing(id),
            Pick::Number(number) => {
                let most = calls.iter().map(|call| call.number.call).max().unwrap_or(0);
                Trouble::Missing(format!("This session has no call {number}: it has {most}."))
            }
        })
    }
}

/// The name of a call in an address.
pub(super) fn of(book: &SessionBook<'_>, index: usize) -> String {
    call_name(book.transcript(), index).unwrap_or_default()
}
