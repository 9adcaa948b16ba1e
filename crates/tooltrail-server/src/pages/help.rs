//! `/help`: keys, the filter language in short, the meaning of statuses, where logs are read from, privacy.

use super::search::EXAMPLES;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::filter_form::filter_address;
use crate::frame::{self, FramedPage};
use crate::request::PageRequest;
use crate::words;
use maud::{Markup, html};
use tooltrail_model::Status;
use tooltrail_model::digest::FollowUp;
use tooltrail_view::failures::{follow_up_sentence, follow_up_word};
use tooltrail_view::head::look;
use tooltrail_view::line::neutral;

/// Meaning of a status.
fn meaning(status: Status) -> &'static str {
    // Exhaustive, so that a new status cannot be left without an explanation.
    match status {
        Status::Succeeded => {
            "The call has a result, and the log says or implies that it worked. ✓? means that the exit code came from another command in the same line."
        }
        Status::Failed => "The result is an error: a non-zero exit code, invalid arguments, or an error reported by the tool.",
        Status::Answered => "The call has a result, but the log does not record whether it worked.",
        Status::Rejected => "You rejected the call.",
        Status::Blocked => "A hook, a permission rule or a sandbox refused the call.",
        Status::Cancelled => "The call never ran, for example because a parallel call failed.",
        Status::Interrupted => "The call was stopped while it ran.",
        Status::TimedOut => "The tool reached its time limit.",
        Status::Running => "The call has no result yet, and the session is running.",
        Status::Unanswered => "The call never got a result: the log ends, or the conversation moved on.",
    }
}

/// The most useful filter terms. Two spaces separate alternatives, because terms may contain single ones.
const TERMS: &[(&str, &str)] = &[
    ("word  \"a phrase\"  re:time.*out", "text, anywhere in a call or message"),
    ("status:failed  reason:exit_code  exit:2", "status, reason and exit code of a call"),
    ("tool:Bash  kind:shell  server:github", "the tool, its family, its MCP server"),
    ("command:\"cargo test\"  purpose:test", "text of a command, purpose of a command"),
    ("file:src/**", "calls that involve a file"),
    ("took:30s..  took:..2s", "duration"),
    ("since:7d  since:today  until:2026-03-01", "time"),
    ("project:api  branch:main  agent:codex  model:opus", "project, branch, agent, model"),
    ("session:3f2a", "a single session"),
    ("has:subagent  has:hooks  has:diff  has:masked", "properties of a call"),
    ("is:failed  is:live  is:waiting  is:gone", "state of a session or call"),
    ("not:tool:Bash", "excludes what the term matches"),
    ("status:failed,blocked", "any of the values"),
];

pub(crate) fn page(app: &AppState, _: &PageRequest) -> Result<PageResponse, Trouble> {
    let main = html! {
        main #main.lists.narrow.help-page {
            h1 { "Help" }
            h2 #keys { "Keys" }
            (frame::key_list(frame::ROW_KEYS))
            (frame::key_list(frame::KEYS))
            p.di { "The pages of sessions and calls and the table of calls have more keys: " kbd { "?" } " lists them. The same dialog disables single-key shortcuts." }
            (filters(app))
            (statuses())
            (failures())
            h2 #logs { "Where logs are read from" }
            (logs(app))
            h2 #privacy { "What leaves this machine" }
            p { "Nothing. A program on this machine serves this page to this machine, and the page loads nothing from elsewhere. Logs are only read. The index is a cache; you can delete it at any time." }
        }
    };
    Ok(PageResponse::Html(frame::page(app, &FramedPage { here: "/help", assets: &["lists.css"], ..FramedPage::plain("Help") }, &main)))
}

fn filters(app: &AppState) -> Markup {
    html! {
        h2 #filters { "Filters" }
        p { "Filters work in the search box, the list of sessions, the table of calls, and on the command line. A filter is a list of terms; all terms must match the same call or message." }
        dl.examples { @for (term, what) in TERMS { div { dt { @for one in term.split("  ") { code { (one) } " " } } dd { (what) } } } }
        h3 { "For example" }
        dl.examples { @for (query, what) in EXAMPLES { div { dt { a href=(filter_address(app, "/search", query)) { code { (query) } } } dd { (what) } } } }
    }
}

fn statuses() -> Markup {
    html! {
        h2 #statuses { "Status of a call" }
        dl.examples.statuses {
            @for status in Status::ALL {
                @let look = look(*status);
                div { dt class=(words::class(look.tone)) { span.sign { (look.glyph) } " " (look.word) } dd { (meaning(*status)) } }
            }
        }
    }
}

fn failures() -> Markup {
    html! {
        h2 #failures { "What counts as a failure" }
        p { "The page of failures counts calls that failed, timed out, or were blocked or rejected. Exit code 1 of " code { "grep" } ", " code { "diff" } ", " code { "test" } ", " code { "which" } " and the like is an answer, not a failure. Messages are grouped without what differs from run to run: paths, numbers, hashes and quoted text." }
        dl.examples.statuses {
            @for follow_up in FollowUp::ALL { div { dt { (follow_up_word(*follow_up)) } dd { (follow_up_sentence(*follow_up)) "." } } }
        }
    }
}

fn logs(app: &AppState) -> Markup {
    // The help has to work even if no log can be read.
    let snapshot = app.snapshot().ok();
    let looked = snapshot.as_ref().map(|snapshot| snapshot.read.looked.as_slice()).unwrap_or_default();
    let problems = snapshot.as_ref().map(|snapshot| snapshot.read.problems.as_slice()).unwrap_or_default();
    html! {
        @if app.setup.demo { p { "Sample sessions that come with tooltrail." } }
        @else {
            p { "Directories where agents write their logs:" }
            ul.places { @for path in looked { li { code { (neutral(&path.to_string_lossy())) } } } }
        }
        @if !problems.is_empty() {
            p { "Some logs could not be read:" }
            // A broken disk may give a problem per log; the first ones explain it.
            ul.places { @for problem in problems.iter().take(20) { li.t-error { (neutral(problem)) } } }
        }
        p { code { "tooltrail serve --root DIR" } " reads a directory laid out like a home directory instead." }
    }
}
