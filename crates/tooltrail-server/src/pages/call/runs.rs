//! Other runs of the same command in the session, or other calls on the same file, each with its outcome.

use super::CallPage;
use super::head::tone;
use crate::words;
use maud::{Markup, html};
use memchr::memmem::Finder;
use tooltrail_formats::load::{self, InputRecords};
use tooltrail_model::Kind;
use tooltrail_model::book::Book;
use tooltrail_model::command::CommandLine;
use tooltrail_model::detail::Detail;
use tooltrail_model::filter::quoted;
use tooltrail_model::row::{CallNumber, CallRow};
use tooltrail_model::transcript::CallEntry;
use tooltrail_view::head::{count, look_of, outcome, took};
use tooltrail_view::line::neutral;

/// Limit on the calls that are compared: the nearest ones.
const LOOKED: usize = 2_000;
/// Limit on the runs that are shown: the nearest ones.
const SHOWN: usize = 40;

/// Identity by which calls count as runs of the same.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RunIdentity {
    /// The essential commands, without a leading `cd` and without filters at the end such as `| tail`.
    Command(Vec<String>),
    /// The files it is about.
    Files(Vec<String>),
}

impl RunIdentity {
    /// Identity of a call; `line` is its parsed command.
    fn of(detail: &Detail, line: Option<&CommandLine>) -> Option<RunIdentity> {
        let files = |path: &str| Some(RunIdentity::Files(vec![path.to_owned()])).filter(|_| !path.is_empty());
        match detail {
            Detail::Shell(command) => {
                let essence = |line: &CommandLine| line.essence_texts().into_iter().map(str::to_owned).collect();
                // A command that cannot be parsed is compared as it is written.
                let words = line.map(essence).unwrap_or_else(|| vec![command.command.trim().to_owned()]);
                Some(RunIdentity::Command(words)).filter(|_| !command.command.trim().is_empty())
            }
            Detail::Read(read) => files(&read.path),
            Detail::Write(write) => files(&write.path),
            Detail::Edit(edit) => files(&edit.path),
            Detail::Notebook(cell) => files(&cell.path),
            Detail::Patch(patch) => Some(RunIdentity::Files(patch.files.iter().map(|file| file.path.clone()).collect())),
            _ => None,
        }
    }

    /// Whether a call of some kind could be a run of the same.
    fn may_be(&self, kind: Kind) -> bool {
        match self {
            RunIdentity::Command(_) => kind == Kind::Shell,
            RunIdentity::Files(_) => matches!(kind, Kind::Read | Kind::Write | Kind::Edit),
        }
    }

    fn is(&self, other: &RunIdentity) -> bool {
        match (self, other) {
            // A patch may touch several files; one in common is enough.
            (RunIdentity::Files(own), RunIdentity::Files(others)) => own.iter().any(|path| others.contains(path)),
            _ => self == other,
        }
    }

    /// Words that occur in the request of every such run, however the record escapes its texts; empty if there are no
    /// such words.
    fn words(&self) -> Vec<&str> {
        // Other characters may be escaped in JSON, and the search compares raw bytes.
        let plain = |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'='));
        let all: Vec<&str> = match self {
            RunIdentity::Command(commands) => commands.iter().flat_map(|command| command.split_whitespace()).collect(),
            RunIdentity::Files(files) if files.len() == 1 => files.iter().map(|path| words::last_part(path)).collect(),
            // With several files no single name has to be in every request.
            RunIdentity::Files(_) => Vec::new(),
        };
        all.into_iter().filter(plain).collect()
    }
}

/// A call that counts as a run of the same.
struct SimilarCall<'r> {
    index: usize,
    number: CallNumber,
    row: CallRow<'r>,
    /// Whether its success belongs to another command of the line.
    doubtful: bool,
}

impl CallPage<'_> {
    pub(super) fn runs(&self) -> Markup {
        let Some(same) = RunIdentity::of(&self.story.told.detail, self.story.command.as_ref()) else { return html! {} };
        let runs = self.same(&same);
        if runs.len() < 2 {
            return html! {};
        }
        let what = if matches!(same, RunIdentity::Command(_)) { "this command" } else { "this file" };
        // The page's own call stands in the middle of the runs that are shown.
        let first = runs.iter().position(|run| run.index == self.index).unwrap_or(0).saturating_sub(SHOWN / 2);
        let body = html! {
            p.runs {
                span { (what) " " (count(runs.len() as u64)) "×:" }
                @if first > 0 { span.di { "… " (first) " before" } }
                @for run in runs.iter().skip(first).take(SHOWN) { (self.run(run, matches!(same, RunIdentity::Files(_)))) }
                @let left = runs.len().saturating_sub(first + SHOWN);
                @if left > 0 { span.di { "… " (left) " more" } }
            }
        };
        self.part("Runs", "runs", &body)
    }

    /// Query that finds the same in all sessions.
    pub(super) fn elsewhere(&self) -> Option<String> {
        match RunIdentity::of(&self.story.told.detail, self.story.command.as_ref())? {
            RunIdentity::Command(words) => words.first().map(|words| format!("command:{}", quoted(words))),
            RunIdentity::Files(files) => files.first().map(|file| format!("file:{}", quoted(file))),
        }
    }

    fn run(&self, run: &SimilarCall<'_>, kinds: bool) -> Markup {
        let row = &run.row;
        let doubt = if run.doubtful { "?" } else { "" };
        let own = run.index == self.index;
        let word = Some(outcome(row)).filter(|word| !word.is_empty()).unwrap_or_else(|| row.status.word().to_owned());
        let at = row.requested_at.map(|time| time.to_string()).unwrap_or_default();
        html! {
            a.run aria-current=[own.then_some("true")] href=(self.to(run.index)) title={ (word) ", " (at) } {
                span class=(tone(row.status)) aria-hidden="true" { (look_of(row).glyph) (doubt) }
                span.vh { (word) " " }
                @if kinds { (neutral(row.tool)) " " }
                "#" (run.number)
                @if let Some(all) = row.duration_ms { span.di { " " (took(all)) } }
            }
        }
    }

    /// Runs of the same in order, this call included.
    fn same(&self, same: &RunIdentity) -> Vec<SimilarCall<'_>> {
        let mut near: Vec<(usize, &CallEntry<'_>)> =
            self.book.transcript().calls.iter().enumerate().filter(|(_, call)| same.may_be(call.row.kind)).collect();
        near.sort_by_key(|(_, call)| call.number.call.abs_diff(self.entry.number.call));
        // Each comparison may read from the log, so a session with very many calls is not compared completely.
        near.truncate(LOOKED);
        let words: Vec<Finder<'_>> = same.words().into_iter().map(Finder::new).collect();
        let mut runs: Vec<SimilarCall<'_>> = near.into_iter().filter_map(|(index, call)| self.as_run(index, call, same, &words)).collect();
        runs.sort_by_key(|run| run.number);
        runs
    }

    /// The call as a run of the same, if it is one. Most are not, and a search in the bytes of the record shows that
    /// quickly.
    fn as_run<'s>(&'s self, index: usize, call: &'s CallEntry<'s>, same: &RunIdentity, words: &[Finder<'_>]) -> Option<SimilarCall<'s>> {
        let at = call.request.at;
        let record = self.book.raw(call.request).ok().filter(|_| at.span.len() <= load::LONGEST)?;
        let replacement = self.book.replacement(call);
        if words.iter().any(|word| word.find(replacement.as_deref().unwrap_or(&record)).is_none()) {
            return None;
        }
        let records = InputRecords { request: &record, line: at.line, replacement: replacement.as_deref() };
        let detail = load::asked(records, &call.row)?.detail;
        let mut row = call.row.clone();
        let line = load::annotate(&mut row, &detail);
        RunIdentity::of(&detail, line.as_ref()).filter(|other| same.is(other))?;
        let doubtful = line.is_some_and(|line| line.masks_success(&row));
        Some(SimilarCall { index, number: call.number, row, doubtful })
    }
}
