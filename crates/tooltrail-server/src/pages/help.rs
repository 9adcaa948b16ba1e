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
use tooltrail_view::head::look;
use tooltrail_view::line::neutral;

/// Meaning of a status.
fn meaning(status: Status) -> &'static str {
    // Exhaustive, so that a new status cannot be left without an explanation.
    match status {
        Status::Succeeded => {
            "There is a result, and the log says or implies that it worked. ✓? is the success of another command in the same line."
        }
        Status::Failed => "There is a result, and it is an error: an exit code, invalid arguments, a tool that reported one.",
        Status::Answered => "There is a result, and the agent did not record how it ended.",
        Status::Rejected => "You said no.",
        Status::Blocked => "A program said no: a hook, a permission rule, a sandbox.",
        Status::Cancelled => "It never ran, because of something else.",
        Status::Interrupted => "It was stopped while it ran.",
        Status::TimedOut => "The tool's own time ran out.",
        Status::Running => "There is no result yet, and the session is alive.",
        Status::Unanswered => "There is no result, and there will be none: the log ends, or the conversation went on without it.",
    }
}

/// The most useful filter terms. Two spaces separate alternatives, because terms may contain single ones.
const TERMS: &[(&str, &str)] = &[
    ("word  \"a phrase\"  re:time.*out", "a text, anywhere in a call or a message"),
    ("status:failed  reason:exit_code  exit:2", "what became of a call, and why"),
    ("tool:Bash  kind:shell  server:github", "the tool, its family, its MCP server"),
    ("command:\"cargo test\"  purpose:test", "words of a command, what a command is for"),
    ("file:src/**", "calls about a file"),
    ("took:30s..  took:..2s", "how long it took"),
    ("since:7d  since:today  until:2026-03-01", "when"),
    ("project:api  branch:main  agent:codex  model:opus", "where, and who"),
    ("session:3f2a", "one session"),
    ("has:subagent  has:hooks  has:diff  has:masked", "what a call has"),
    ("is:failed  is:live  is:waiting  is:gone", "what a session is"),
    ("not:tool:Bash", "whatever the term does not take"),
    ("status:failed,blocked", "either of them"),
];

pub(crate) fn page(app: &AppState, _: &PageRequest) -> Result<PageResponse, Trouble> {
    let main = html! {
        main #main.lists.narrow.help-page {
            h1 { "Help" }
            h2 #keys { "Keys" }
            (frame::key_list(frame::ROW_KEYS))
            (frame::key_list(frame::KEYS))
            p.di { "A session's page has more of them, and so have that of a call and the table of calls; " kbd { "?" } " shows them there. The dialog that it opens also switches single keys off." }
            (filters(app))
            (statuses())
            h2 #logs { "Where logs are read from" }
            (logs(app))
            h2 #privacy { "What leaves this machine" }
            p { "Nothing. This page is served by a program on this machine, to this machine, and fetches nothing from elsewhere. Logs are only read; what is known of them is kept in a cache that can be deleted at any time." }
        }
    };
    Ok(PageResponse::Html(frame::page(app, &FramedPage { here: "/help", assets: &["lists.css"], ..FramedPage::plain("Help") }, &main)))
}

fn filters(app: &AppState) -> Markup {
    html! {
        h2 #filters { "Filters" }
        p { "A filter is a list of terms, in the search box, in the list of sessions, in the table of calls, and on the command line. All of them must hold for one call or one message." }
        dl.examples { @for (term, what) in TERMS { div { dt { @for one in term.split("  ") { code { (one) } " " } } dd { (what) } } } }
        h3 { "For example" }
        dl.examples { @for (query, what) in EXAMPLES { div { dt { a href=(filter_address(app, "/search", query)) { code { (query) } } } dd { (what) } } } }
    }
}

fn statuses() -> Markup {
    html! {
        h2 #statuses { "What became of a call" }
        dl.examples.statuses {
            @for status in Status::ALL {
                @let look = look(*status);
                div { dt class=(words::class(look.tone)) { span.sign { (look.glyph) } " " (look.word) } dd { (meaning(*status)) } }
            }
        }
    }
}

fn logs(app: &AppState) -> Markup {
    // The help has to work even if no log can be read.
    let snapshot = app.snapshot().ok();
    let looked = snapshot.as_ref().map(|snapshot| snapshot.read.looked.as_slice()).unwrap_or_default();
    let problems = snapshot.as_ref().map(|snapshot| snapshot.read.problems.as_slice()).unwrap_or_default();
    html! {
        @if app.setup.demo { p { "These sessions are invented, and come with the program." } }
        @else {
            p { "From the places where agents write them:" }
            ul.places { @for path in looked { li { code { (neutral(&path.to_string_lossy())) } } } }
        }
        @if !problems.is_empty() {
            p { "Not everything could be read:" }
            // A broken disk may give a problem per log; the first ones explain it.
            ul.places { @for problem in problems.iter().take(20) { li.t-error { (neutral(problem)) } } }
        }
        p { code { "tooltrail serve --root DIR" } " reads a directory that is laid out like a home directory instead." }
    }
}
