//! The other runs of a command in the session, or what else was done with a file: each with its outcome.

use super::Sheet;
use super::head::tone;
use maud::{Markup, html};
use tooltrail_formats::load;
use tooltrail_model::book::Book;
use tooltrail_model::detail::Detail;
use tooltrail_model::row::CallRow;
use tooltrail_model::shell::{self, Script};
use tooltrail_model::transcript::CallEntry;
use tooltrail_model::{Kind, Status};
use tooltrail_view::head::{count, look, outcome, took};
use tooltrail_view::line::neutral;

/// So many calls of a session are looked at, those that are nearest.
const LOOKED: usize = 2_000;
/// So many runs are shown, those that are nearest.
const SHOWN: usize = 40;

/// What makes two calls runs of the same.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Same {
    /// What a command comes down to, without going somewhere first and without filters at its end.
    Command(Vec<String>),
    /// The files it is about.
    Files(Vec<String>),
}

impl Same {
    fn of(detail: &Detail) -> Option<Same> {
        let files = |path: &str| Some(Same::Files(vec![path.to_owned()])).filter(|_| !path.is_empty());
        match detail {
            Detail::Shell(command) => {
                let essence = |script: Script| script.essence().into_iter().map(str::to_owned).collect();
                let words = shell::read(&command.command).map(essence).unwrap_or_else(|| vec![command.command.trim().to_owned()]);
                Some(Same::Command(words)).filter(|_| !command.command.trim().is_empty())
            }
            Detail::Read(read) => files(&read.path),
            Detail::Write(write) => files(&write.path),
            Detail::Edit(edit) => files(&edit.path),
            Detail::Notebook(cell) => files(&cell.path),
            Detail::Patch(patch) => Some(Same::Files(patch.files.iter().map(|file| file.path.clone()).collect())),
            _ => None,
        }
    }

    /// Whether a call could be a run of the same.
    fn may_be(&self, kind: Kind) -> bool {
        match self {
            Same::Command(_) => kind == Kind::Shell,
            Same::Files(_) => matches!(kind, Kind::Read | Kind::Write | Kind::Edit),
        }
    }

    fn is(&self, other: &Same) -> bool {
        match (self, other) {
            (Same::Files(own), Same::Files(others)) => own.iter().any(|path| others.contains(path)),
            _ => self == other,
        }
    }
}

/// A run.
struct Run<'r> {
    index: usize,
    number: u32,
    row: CallRow<'r>,
    /// Its success is not that of what it ran.
    doubtful: bool,
}

impl Sheet<'_> {
    pub(super) fn runs(&self) -> Markup {
        let Some(same) = Same::of(&self.story.told.detail) else { return html! {} };
        let runs = self.same(&same);
        let (what, elsewhere) = match &same {
            Same::Command(words) => ("this command", words.first().map(|word| format!("command:{}", quoted(word)))),
            Same::Files(files) => ("this file", files.first().map(|file| format!("file:{}", quoted(file)))),
        };
        let first = runs.iter().position(|run| run.index == self.index).unwrap_or(0).saturating_sub(SHOWN / 2);
        let body = html! {
            p.runs {
                span { @if runs.len() < 2 { (what) " only this once in the session" } @else { (what) " " (count(runs.len() as u64)) "× in the session:" } }
                @if first > 0 { span.di { "… " (first) " before" } }
                @if runs.len() > 1 { @for run in runs.iter().skip(first).take(SHOWN) { (self.run(run, matches!(same, Same::Files(_)))) } }
                @let left = runs.len().saturating_sub(first + SHOWN);
                @if left > 0 { span.di { "… " (left) " more" } }
                @if let Some(query) = elsewhere { a href=(self.context.to.search(&query)) { "in all sessions" } }
            }
        };
        self.part("Runs", "runs", &body)
    }

    fn run(&self, run: &Run<'_>, kinds: bool) -> Markup {
        let row = &run.row;
        let doubt = if run.doubtful { "?" } else { "" };
        let own = run.index == self.index;
        let word = Some(outcome(row)).filter(|word| !word.is_empty()).unwrap_or_else(|| row.status.word().to_owned());
        let at = row.requested_at.as_deref().unwrap_or_default();
        html! {
            a.run aria-current=[own.then_some("true")] href=(self.to(run.index)) title={ (word) ", " (at) } {
                span class=(tone(row.status)) aria-hidden="true" { (look(row.status).glyph) (doubt) }
                span.vh { (word) " " }
                @if kinds { (neutral(row.tool)) " " }
                "#" (run.number)
                @if let Some(all) = row.duration_ms { span.di { " " (took(all)) } }
            }
        }
    }

    /// The calls that are runs of the same, in order, this one too.
    fn same(&self, same: &Same) -> Vec<Run<'_>> {
        let mut near: Vec<(usize, &CallEntry<'_>)> =
            self.book.transcript().calls.iter().enumerate().filter(|(_, call)| same.may_be(call.row.kind)).collect();
        near.sort_by_key(|(_, call)| call.number.abs_diff(self.entry.number));
        near.truncate(LOOKED);
        let mut runs: Vec<Run<'_>> = near.into_iter().filter_map(|(index, call)| self.as_run(index, call, same)).collect();
        runs.sort_by_key(|run| run.number);
        runs
    }

    fn as_run<'s>(&'s self, index: usize, call: &'s CallEntry<'s>, same: &Same) -> Option<Run<'s>> {
        let detail = load::asked_at(self.shelf, &call.row, call.request.at)?.detail;
        Same::of(&detail).filter(|other| same.is(other))?;
        let mut row = call.row.clone();
        let script = match &detail {
            Detail::Shell(command) => shell::tell(&mut row, &command.command),
            _ => None,
        };
        let doubtful = row.status == Status::Succeeded && script.is_some_and(|script| !script.masked_runs().is_empty());
        Some(Run { index, number: call.number, row, doubtful })
    }
}

/// A value of a filter, in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}
