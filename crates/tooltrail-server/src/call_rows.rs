//! Calls as single lines, for every list of calls: the tool, its argument, the outcome.

use crate::answer::Trouble;
use crate::app_state::AppState;
use crate::request::encoded;
use crate::snapshot::CatalogueSnapshot;
use crate::words::{self, LocalClock};
use maud::{Markup, html};
use std::collections::BTreeMap;
use tooltrail_catalog::library::Library;
use tooltrail_catalog::store::ListedCall;
use tooltrail_formats::load;
use tooltrail_model::row::{CallNumber, CallRow};
use tooltrail_model::{At, Status, Time};
use tooltrail_view::head::{Look, Tone, is_problem, look_of, outcome, took, why_of};
use tooltrail_view::line::neutral;

/// A call in a line.
#[derive(Clone, Debug)]
pub(crate) struct CallLine {
    /// Its session's place in the listing.
    pub(crate) session: usize,
    /// Its number there.
    pub(crate) number: CallNumber,
    /// Its id.
    call: String,
    /// The tool, as the log names it.
    pub(crate) tool: String,
    /// Its main argument: a command, a path, a pattern.
    pub(crate) what: Option<String>,
    /// How it looks.
    look: Look,
    /// Short outcome beside the sign.
    outcome: String,
    /// Explanation of the outcome.
    pub(crate) why: String,
    /// Whether the exit code is not that of the test or build in the command.
    pub(crate) doubt: bool,
    /// First line of what went wrong.
    pub(crate) error: Option<String>,
    took: Option<u64>,
    pub(crate) at: Option<Time>,
    /// Whether a subagent made it.
    pub(crate) nested: bool,
}

/// Subject of a call for lists: a command without a leading `cd` to the working directory.
pub(crate) fn argument<'t>(about: &'t str, cwd: Option<&str>) -> &'t str {
    // Agents often start commands with `cd` to the directory they are in anyway, with or without quotes.
    let there = cwd.and_then(|cwd| about.strip_prefix("cd ")?.trim_start_matches(['"', '\'']).strip_prefix(cwd));
    let arrived = there.and_then(|rest| rest.trim_start_matches(['"', '\'', '/']).strip_prefix(" && "));
    arrived.unwrap_or(about)
}

/// The address of a row in its session, and a text to find there. The row's section comes with the page.
pub(crate) fn row_address(app: &AppState, session: &str, anchor: Option<&str>, find: Option<&str>) -> String {
    let anchor = anchor.map(encoded);
    let find = find.map(|find| format!("find={}", encoded(find)));
    // The anchor is given twice: browsers do not send the part after `#`, and the server needs it to choose the
    // section.
    let query: Vec<String> = find.into_iter().chain(anchor.iter().map(|anchor| format!("at={anchor}"))).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    app.to(&format!("/s/{}{query}{}", encoded(session), anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default()))
}

/// The lines of some calls, in their order.
pub(crate) fn lines(snapshot: &CatalogueSnapshot, calls: &[ListedCall]) -> Result<Vec<CallLine>, Trouble> {
    let mut made = Vec::with_capacity(calls.len());
    for &listed in calls {
        // A call may have disappeared from the catalogue since the list was made; it is left out.
        let mut line = None;
        snapshot.listing.one_call(&snapshot.library.catalogue(), listed, |_, row, spots| {
            line = Some(CallLine::new(snapshot, listed, row, spots.request))
        })?;
        made.extend(line);
    }
    Ok(made)
}

/// Counts calls by status.
pub(crate) fn by_status(snapshot: &CatalogueSnapshot, calls: &[ListedCall]) -> Result<BTreeMap<Status, u64>, Trouble> {
    let mut by_status = BTreeMap::new();
    for &listed in calls {
        snapshot.listing.one_call(&snapshot.library.catalogue(), listed, |_, row, _| *by_status.entry(row.status).or_default() += 1)?;
    }
    Ok(by_status)
}

/// Running calls of a session.
pub(crate) fn running(snapshot: &CatalogueSnapshot, session: usize) -> Result<Vec<CallLine>, Trouble> {
    let mut made = Vec::new();
    snapshot.listing.each_call(&snapshot.library.catalogue(), session, |listed, row, spots| {
        if row.status == Status::Running {
            made.push(CallLine::new(snapshot, listed, row, spots.request));
        }
    })?;
    Ok(made)
}

impl CallLine {
    /// The line of a call's row; `at` is its request.
    pub(crate) fn new(snapshot: &CatalogueSnapshot, listed: ListedCall, mut row: CallRow<'_>, at: At) -> Self {
        let disk = snapshot.library.disk();
        // Reads the request from the log: the catalogue stores rows without their input.
        let command = load::understand(disk, &mut row, at);
        let doubt = command.is_some_and(|command| command.masks_success(&row));
        let whose = row.exit_of.as_deref().filter(|_| doubt).map(|of| format!("the success came from `{}`", neutral(of)));
        // Most calls have none, and need not be looked up.
        let error = if is_problem(row.status) { snapshot.library.error(&snapshot.listing, listed) } else { None };
        CallLine {
            session: listed.session,
            number: listed.number,
            call: row.call.to_owned(),
            tool: words::cut(row.ran(), 60),
            what: row.about.as_deref().map(|about| argument(about, row.cwd).to_owned()),
            look: look_of(&row),
            outcome: outcome(&row),
            why: whose.or(why_of(&row).map(str::to_owned)).unwrap_or_default(),
            doubt,
            error,
            took: row.duration_ms,
            at: row.requested_at,
            nested: row.sidechain,
        }
    }

    /// The address of its own page. The number is always unique in the session; an id need not be.
    pub(crate) fn address(&self, app: &AppState, session: &str) -> String {
        app.to(&format!("/c/{}:{}", encoded(session), self.number))
    }

    /// The address of its row in its session.
    pub(crate) fn row_address(&self, app: &AppState, session: &str) -> String {
        row_address(app, session, Some(&self.call), None)
    }

    /// The tool and its argument, as a link to the call's row. `find`: the text that was searched for.
    pub(crate) fn link(&self, app: &AppState, session: &str, find: Option<&str>) -> Markup {
        html! {
            a.call-line data-row href=(row_address(app, session, Some(&self.call), find)) title=[self.what.as_deref()] {
                @if self.nested { span.di title="by a subagent" { "↳ " } }
                b { (self.tool) }
                @if let Some(what) = &self.what { " " code { (what) } }
            }
        }
    }

    /// The sign and outcome, with the explanation on hover.
    pub(crate) fn verdict(&self) -> Markup {
        let look = self.look;
        let outcome = self.outcome.split(':').next().unwrap_or_default();
        html! {
            // A success that belongs to another command of the line is not shown in green.
            @let tone = if self.doubt { Tone::Stopped } else { look.tone };
            span class={ "verdict-line " (words::class(tone)) } title=(self.why) {
                (look.glyph) @if self.doubt { "?" }
                @if outcome.is_empty() { span.vh { " " (look.word) } } @else { " " (outcome) }
            }
        }
    }

    /// First line of what went wrong.
    pub(crate) fn error_line(&self) -> Markup {
        html! { @if let Some(error) = &self.error { span.error-line title=(neutral(error)) { (neutral(error)) } } }
    }

    /// How long it took.
    pub(crate) fn took(&self) -> String {
        self.took.map(took).unwrap_or_default()
    }

    /// Time since the request of a running call: `5 m`.
    pub(crate) fn since(&self, clock: &LocalClock) -> Option<Markup> {
        self.at.map(|at| clock.since(at))
    }
}

#[cfg(test)]
mod tests {
    use super::argument;

    #[test]
    fn what_a_call_is_about_is_short() {
        for (what, cwd, said) in [
            ("cargo test", None, "cargo test"),
            ("cd /srv/app && cargo test", Some("/srv/app"), "cargo test"),
            ("cd \"/srv/app/\" && cargo test", Some("/srv/app"), "cargo test"),
            ("cd /srv/app/api && cargo test", Some("/srv/app"), "cd /srv/app/api && cargo test"),
            ("", None, ""),
        ] {
            assert_eq!(argument(what, cwd), said, "{what}");
        }
    }
}
