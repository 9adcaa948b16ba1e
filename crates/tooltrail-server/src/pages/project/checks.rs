//! The sessions of a project with their checks: the latest as a table, and the outcome of each kind of check over time.

use super::{LISTED, ProjectPage, problems};
use crate::request::encoded;
use crate::words;
use maud::{Markup, html};
use tooltrail_catalog::queries::projects::JudgedSession;
use tooltrail_model::session_verdict::{CheckKind, CheckVerdict, SessionVerdict};
use tooltrail_view::head::{Tone, count};
use tooltrail_view::line::neutral;
use tooltrail_view::verdict::{VerdictCells, VerdictStrip};

/// Sessions in the picture of checks over time.
const OVER_TIME: usize = 40;

impl ProjectPage<'_> {
    /// The latest sessions.
    pub(super) fn sessions(&self, judged: &[JudgedSession]) -> Markup {
        html! {
            section {
                h2 { "Latest sessions" }
                table.sessions.short.latest aria-label="Latest sessions" data-tests-from=(self.rows.app.to("/sessions/tests")) {
                    thead { tr {
                        th.when scope="col" { "When" } th.session scope="col" { "Session" } th.calls.n scope="col" { "Calls" } th.bad.n scope="col" { "Problems" }
                        th.tests scope="col" { "Tests" } th.open scope="col" { "Unresolved" } th.changed scope="col" { "Lines" } th.shipped scope="col" { "Commits" }
                    } }
                    tbody data-rows { @for session in judged.iter().take(LISTED) { (self.session(session)) } }
                }
                p.more { a href=(self.of("/sessions", "")) { "All sessions of this project" } }
            }
        }
    }

    fn session(&self, judged: &JudgedSession) -> Markup {
        let (row, clock) = (&judged.row, self.rows.clock);
        let id = &row.cursor.session;
        let to = self.rows.app.to(&format!("/s/{}", encoded(id)));
        let calls = |more: &str| {
            crate::filter_form::filter_address(self.rows.app, "/calls", format!("{} {more}", words::session_term(id, false)).trim_end())
        };
        let cells = judged.verdict.as_ref().map(VerdictCells::of);
        let cell = |text: &str, title: &str, tone: Tone, to: Option<String>| {
            html! { @if !text.is_empty() { @match to { Some(to) => a class=(words::class(tone)) href=(to) title=(neutral(title)) { (neutral(text)) }, None => span class=(words::class(tone)) title=(neutral(title)) { (neutral(text)) } } } }
        };
        let tested = judged.verdict.as_ref().and_then(|verdict| self.evidence(id, &verdict.test));
        let bad = problems(judged);
        html! {
            tr data-key=(id) {
                td.when { @if let Some(last) = row.cursor.last_at { time datetime=(last) title=(clock.full(last)) { (clock.moment(last)) } } }
                td.session { a data-row href=(to) title=(words::title(row.title.as_deref())) { (words::title(row.title.as_deref())) } }
                td.calls.n { a href=(calls("")) { (count(row.by_status.values().sum())) span.unit { " calls" } } }
                td.bad.n { @if bad > 0 { a.t-error href=(calls(&words::problems())) { (count(bad)) span.unit { " problems" } } } }
                @match &cells {
                    Some(cells) => {
                        td.tests { (cell(&cells.tests.text, &cells.tests.title, cells.tests.tone, tested)) }
                        td.open { (cell(&cells.unresolved.text, &cells.unresolved.title, cells.unresolved.tone, Some(format!("{to}?show=failed")))) }
                        td.changed { (cell(&cells.lines.text, &cells.lines.title, cells.lines.tone, Some(format!("{to}/changes")))) }
                        td.shipped { (cell(&cells.commits.text, &cells.commits.title, cells.commits.tone, None)) }
                    }
                    // Not stored, as those of live sessions: the script asks for them.
                    None => { @for part in ["tests", "open", "changed", "shipped"] { td.(part) { span.t-muted data-tests=(id) data-part=(part) title="not read yet" { @if part == "tests" { "…" } } } } }
                }
            }
        }
    }

    /// The address of the call that a check ran in.
    fn evidence(&self, session: &str, check: &CheckVerdict) -> Option<String> {
        let run = check.run.as_ref()?;
        Some(self.rows.app.to(&format!("/c/{}:{}", encoded(session), run.cited.number)))
    }

    /// The last outcome of each kind of check in each session, from the oldest to the newest.
    pub(super) fn checks(&self, judged: &[JudgedSession]) -> Markup {
        // Sessions without any check would push those with checks out of the picture.
        let ran = |verdict: &SessionVerdict| verdict.checks().into_iter().any(|(_, check)| check.run.is_some());
        let mut sessions: Vec<(&JudgedSession, &SessionVerdict)> = judged
            .iter()
            .filter_map(|session| Some((session, session.verdict.as_ref().filter(|verdict| ran(verdict))?)))
            .take(OVER_TIME)
            .collect();
        // The query gives the newest first, and the picture begins with the oldest at the left.
        sessions.reverse();
        let kinds = [(CheckKind::Test, "Tests"), (CheckKind::Build, "Build"), (CheckKind::Lint, "Lint")];
        let has = |kind: CheckKind| sessions.iter().any(|(_, verdict)| check(verdict, kind).is_some_and(|check| check.run.is_some()));
        html! {
            section {
                h2 { "Checks over time" }
                @if sessions.is_empty() { p.di { "No session of this project ran tests, a build or a linter." } } @else {
                    div.strip role="group" aria-label="Checks over time" {
                        @for (kind, name) in kinds.into_iter().filter(|(kind, _)| has(*kind)) {
                            div.kind {
                                span.of-kind { (name) }
                                ol { @for (session, verdict) in &sessions { li { (self.mark(session, verdict, kind, name)) } } }
                            }
                        }
                    }
                    p.di.key { "The last run in each session, the newest at the right: " span.t-ok { "✓" } " passed, " span.t-error { "✗" } " failed, " span.t-stopped { "!" } " stale or unproven, " span.t-muted { "?" } " unknown." }
                }
            }
        }
    }

    fn mark(&self, session: &JudgedSession, verdict: &SessionVerdict, kind: CheckKind, name: &str) -> Markup {
        let strip = VerdictStrip::of(verdict);
        let found = check(verdict, kind).filter(|check| check.run.is_some());
        let part = strip.parts().find(|part| part.label == name);
        // A gap keeps the place, so that a session stands in the same column for every kind of check.
        let (Some(check), Some(part)) = (found, part) else { return html! { span.none { span.vh { "did not run" } } } };
        let clock = self.rows.clock;
        let when = part.at.or(session.row.cursor.last_at).map(|at| clock.moment(at)).unwrap_or_default();
        let command = part.command.as_deref().unwrap_or_default();
        let title = format!("{when} · {} · {command} · {}", words::title(session.row.title.as_deref()), part.text);
        html! {
            a class=(words::class(part.tone)) href=[self.evidence(&session.row.cursor.session, check)] title=(neutral(&title)) {
                span aria-hidden="true" { (part.sign) } span.vh { (name) ": " (neutral(&part.text)) ", " (when) }
            }
        }
    }
}

fn check(verdict: &SessionVerdict, kind: CheckKind) -> Option<&CheckVerdict> {
    verdict.checks().into_iter().find(|(own, _)| *own == kind).map(|(_, check)| check)
}
