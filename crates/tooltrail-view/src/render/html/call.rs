//! A call as a row: a line that can be opened, and its body.

use super::about::PageClock;
use super::blocks;
use super::text::line;
use crate::block::ChangeLook;
pub(super) use crate::head::is_problem as bad;
use crate::head::{WAITS, look_of, took, why_of};
use crate::line::{Class, Line};
use crate::{Block, Head, Limits, call};
use maud::{Markup, html};
use tooltrail_model::event::HookOutcome;
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::{Level, Story};
use tooltrail_model::{Reason, Status, Time};

/// Position and presentation of a call's row.
pub struct RowFrame<'a> {
    /// Anchor that links lead to; the call's id where that is free.
    pub anchor: &'a str,
    /// The conversation went on as if it had never been.
    pub abandoned: bool,
    /// Extent of the body that is rendered.
    pub limits: &'a Limits,
    /// Draws a subagent's conversation, given its thread, its calls and its failed calls.
    pub nest: &'a (dyn Fn(usize, u64, u64) -> Markup + 'a),
    /// Whether a subagent of it had problems.
    pub bad_inside: bool,
}

/// A call.
pub fn call_row(story: &Story<'_>, frame: &RowFrame<'_>) -> Markup {
    drawn(&call::head(story), &story.row, &body_of(story, frame.limits), &call::life(story), frame)
}

/// Blocks that a call shows when it is open.
pub(super) fn body_of(story: &Story<'_>, limits: &Limits) -> Vec<Block> {
    let mut body = call::body(story, limits);
    Block::look(&mut body, ChangeLook { unapplied: call::is_unapplied(story), sides: false });
    // A conversation that the tool's view does not show is still part of the call.
    let untold = story.nested.threads.iter().filter(|thread| !shows(&body, **thread)).copied().collect::<Vec<_>>();
    body.extend(untold.iter().map(|&thread| {
        let made = story.nested.of(thread);
        Block::Nested { thread, calls: made.calls, failed: made.failed }
    }));
    body.extend(call::missing_log(story).map(|words| crate::pieces::notice(Level::Info, words)));
    body
}

/// A call whose pieces are made.
pub(super) fn drawn(head: &Head, row: &CallRow<'_>, body: &[Block], life: &[Block], frame: &RowFrame<'_>) -> Markup {
    html! {
        // `ref` is `session:number`; the style shows the number alone, beside the row.
        @let number = row.r#ref.rsplit_once(':').map(|(_, number)| number);
        details class=(classes(row, frame)) id=(frame.anchor) data-ref=(row.r#ref) data-nr=[number] open[opens(row)] {
            (summary(head, row, frame, PageClock(None)))
            div.body { (inside(body, life, frame.nest)) }
        }
    }
}

/// The classes of a call: its kind, what became of it, whether it is worth a look.
pub(super) fn classes(row: &CallRow<'_>, frame: &RowFrame<'_>) -> String {
    // A call that is itself a problem is marked as such even if its subagents had problems too.
    let bad = if bad(row.status) {
        " bad"
    } else if frame.bad_inside {
        " bad-in"
    } else {
        ""
    };
    format!("row call k-{} s-{}{bad}{}", row.kind.word(), row.status.word(), if frame.abandoned { " gone" } else { "" })
}

/// The inside of a call.
pub(super) fn inside(body: &[Block], life: &[Block], nest: blocks::Nest<'_>) -> Markup {
    html! {
        @if body.is_empty() { p.di { "Nothing to show." } }
        (blocks::body(body, nest))
        @if !life.is_empty() { details.sec.life { summary { "Timeline" } (blocks::body(life, nest)) } }
    }
}

/// The line of a call.
pub(super) fn summary(head: &Head, row: &CallRow<'_>, frame: &RowFrame<'_>, clock: PageClock<'_>) -> Markup {
    html! {
        summary title=[row.requested_at.map(|time| clock.full(time))] {
            span.icon aria-hidden="true" { (head.icon) }
            span.name title=(head.name.text()) { (line(&head.name)) }
            (title(&head.title))
            span.facts {
                @if row.parallel > 1 { span { (row.parallel) " in parallel" } }
                @for fact in &head.facts { span { (line(fact)) } }
                @if let Some(why) = reason(row) { span.why { (why) } }
                @if frame.abandoned { span.tag { "abandoned" } }
                @if row.copy_of.is_some() { span.tag title="Made in the session that this one was forked from" { "copied" } }
            }
            span.took { (duration(row)) }
            (verdict(row))
        }
    }
}

/// Subject of a call: the command, path or pattern. A path is shortened in the middle, because its end is what
/// distinguishes files.
fn title(title: &Line) -> Markup {
    let path = match title.runs() {
        // A single word is treated as a path even if the view did not classify it: many tools pass a bare file name.
        [run] if run.class == Class::Path || !run.text().contains(' ') => run.text(),
        _ => return html! { span.title { span.h { (line(title)) } } },
    };
    match path.rfind('/').and_then(|slash| path.split_at_checked(slash + 1)) {
        // A very long file name gets no protected end, or there would be no space for the folder.
        Some((folder, name)) if !name.is_empty() && name.len() < 60 => html! { span.title { span.h { (folder) } span.t { (name) } } },
        _ => html! { span.title { span.h { (path) } } },
    }
}

/// Duration of a call from request to result, as in all lists of calls. A time that the tool reports itself is in the
/// tooltip.
fn duration(row: &CallRow<'_>) -> Markup {
    let ran = row.run_ms.filter(|ran| *ran > 0 && Some(*ran) != row.duration_ms).map(took);
    match (row.duration_ms, row.run_ms) {
        (Some(all), _) => {
            let waits = row.may_wait.then(|| WAITS.to_owned());
            html! { span title=[ran.map(|ran| format!("run time reported by the tool: {ran}")).or(waits)] { (took(all)) } }
        }
        (None, Some(run)) => html! { span title="reported by the tool" { (took(run)) } },
        // While a call runs, the script counts up from the time of its request.
        (None, None) if row.status == Status::Running => {
            html! { span data-since=[row.requested_at.map(Time::as_millisecond)] {} }
        }
        (None, None) => html! {},
    }
}

/// Outcome of a call: a sign and a word, never a colour alone.
fn verdict(row: &CallRow<'_>) -> Markup {
    let look = look_of(row);
    let exit = row.exit_code.filter(|_| row.reason == Some(Reason::ExitCode));
    // A pipeline can hide a failure: where an exit code is masked, a plain ✓ would claim too much.
    if row.status == Status::Succeeded && !row.masked.is_empty() && is_check(row) {
        let unknown = format!("Outcome not recorded: {}", crate::line::neutral(&row.masked.join(", ")));
        return html! {
            span.verdict.doubt title=(unknown) { span.sign aria-hidden="true" { "✓?" } span.vh { (look.word) ", but " } span.word { (whose(row)) } }
        };
    }
    html! {
        span.verdict {
            span.sign aria-hidden="true" { (look.glyph) }
            @if let Some(code) = exit { span.vh { (look.word) ": " } span.word { "exit " (code) } }
            @else if row.status == Status::Succeeded { span.vh { (look.word) } }
            // The whole phrase does not fit beside the duration.
            @else if row.status == Status::Answered && look.word != "answered" { span.word title=(look.word) { "not recorded" } }
            @else { span.word { (look.word) } }
        }
    }
}

/// Whether a call ran a check or made a commit, so that its own exit code matters.
pub(super) fn is_check(row: &CallRow<'_>) -> bool {
    matches!(row.purpose, Some("test" | "build" | "lint" | "commit"))
}

/// Doubt about a success, in a word or two: whether another command's exit code hides that of a check.
fn whose(row: &CallRow<'_>) -> &'static str {
    let program = row.exit_of.as_deref().and_then(|command| command.split_whitespace().next());
    if program.is_some() { "exit code masked" } else { "partly unknown" }
}

/// Reason for the outcome of a call, where the word beside the sign does not say it.
fn reason(row: &CallRow<'_>) -> Option<&'static str> {
    let reason = row.reason?;
    // For these the sign, the exit code or the word already gives the reason.
    let said = matches!(row.status, Status::Succeeded | Status::Failed | Status::TimedOut | Status::Answered) || reason == Reason::User;
    if said { None } else { why_of(row) }
}

/// Whether a call is open from the start.
fn opens(row: &CallRow<'_>) -> bool {
    // A refusal, or an objection to a result: the words of the hook are worth reading.
    let objected = row.hooks.iter().any(|hook| hook.outcome == HookOutcome::Blocked);
    matches!(row.status, Status::Failed | Status::TimedOut) || objected
}

/// Whether these blocks show a conversation.
fn shows(blocks: &[Block], wanted: usize) -> bool {
    blocks.iter().any(|block| match block {
        Block::Nested { thread, .. } => *thread == wanted,
        Block::Section { body, .. } => shows(body, wanted),
        _ => false,
    })
}
