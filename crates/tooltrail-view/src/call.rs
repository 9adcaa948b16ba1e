//! A call in full: the view of its tool, inside the frame that all calls share.
//!
//! The frame shows everything that is common to all tools: the error of a failure first, why there is no result, the words
//! of a person or hook that refused, the text that the model saw where it differs from the tool's output, output saved
//! beside the log, hooks, and fields without a place of their own.

use crate::pieces::{happened, section};
use crate::{Block, Class, Head, Limits, Line, hooks, json, life, outcome, progress, replaced, seen, tools, why};
use tooltrail_model::Status;
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// A call in one line.
pub fn head(call: &Story<'_>) -> Head {
    let mut head = tools::of(call).head(call);
    if call.row.unwrapped.is_some() {
        head.name = call.row.ran().into();
        head.facts.push(Line::of(Class::Dim, "via script"));
    }
    // Last, because facts that do not fit are left out, and a refusal has its words in the body too.
    head.facts.extend(hooks::marks(call));
    head
}

/// A call in full, without its timeline.
pub fn body(call: &Story<'_>, limits: &Limits) -> Vec<Block> {
    let shown = tools::of(call).body(call, limits);
    // Made second but shown first: the frame has to know what the view already shows.
    let mut body = outcome::blocks(call, &shown, limits);
    body.extend(replaced::blocks(call, limits));
    body.extend(shown);
    body.extend(progress::blocks(call, limits));
    body.extend(seen::block(call, limits));
    body.extend(outcome::side(call, limits));
    body.extend(tools::script::around(call, limits));
    body.extend(hooks::of_call(call, limits));
    body.extend(leftovers(call, limits));
    body
}

/// Input and result of a call as its tool shows them, with the words of an error or a refusal first. For pages that show
/// status, hooks and the text the model saw separately.
pub fn shown(call: &Story<'_>, limits: &Limits) -> Vec<Block> {
    let mut shown = tools::of(call).body(call, limits);
    let mut told = why::hidden(call);
    told.extend(why::reported(call));
    told.extend(outcome::went_on(call).filter(|_| call.row.background.is_some()));
    // Conversations have their own place on such a page, and remarks that it repeats elsewhere are dropped.
    shown.retain(|block| !matches!(block, Block::Nested { .. }) && !told.contains(block));
    for block in &mut shown {
        // The text of a script is what its page is for.
        if let Block::Section { label, open, .. } = block
            && label.text() == tools::script::PROGRAM
        {
            *open = true;
        }
    }
    let mut body = outcome::said(call, &shown, limits);
    body.extend(replaced::blocks(call, limits));
    body.extend(shown);
    body.extend(progress::blocks(call, limits));
    body.extend(tools::script::around(call, limits));
    body.extend(leftovers(call, limits));
    body
}

/// An output that was saved beside the log.
pub fn side(call: &Story<'_>, limits: &Limits) -> Option<Block> {
    outcome::side(call, limits)
}

/// Timeline of a call: request, hooks, result, background task, times, tokens, evidence.
pub fn life(call: &Story<'_>) -> Vec<Block> {
    life::blocks(call)
}

/// Fields that the tool's view has no place for.
fn leftovers(call: &Story<'_>, limits: &Limits) -> Option<Block> {
    // These two views show the whole input themselves.
    let generic = matches!(call.told.detail, Detail::Other | Detail::Mcp(_) | Detail::Script(_));
    let asked = if generic { Vec::new() } else { json::fields(&call.told.rest_input, limits) };
    let mut produced = call.told.rest_produced.clone();
    if generic && seen::is_all(call) {
        // They show the text of the result already; only numbers and flags are left.
        produced.retain(|_, value| value.is_number() || value.is_boolean());
    }
    let came = json::fields(&produced, limits);
    let body = match (asked.is_empty(), came.is_empty()) {
        (true, true) => return None,
        (false, true) => asked,
        (true, false) => came,
        (false, false) => vec![section("asked", true, asked), section("came back", true, came)],
    };
    Some(section("other fields", false, body))
}

/// Whether a call asked for a change that was not made.
pub fn is_unapplied(story: &Story<'_>) -> bool {
    let change = matches!(story.told.detail, Detail::Write(_) | Detail::Edit(_) | Detail::Patch(_) | Detail::Notebook(_));
    change && story.row.status != Status::Running && !happened(story)
}

/// Remark that a call started a subagent of which no log was read; the caller must not have emptied `Story::nested`.
pub fn missing_log(story: &Story<'_>) -> Option<&'static str> {
    let Detail::Agent(agent) = &story.told.detail else { return None };
    // A call that failed may have started nothing.
    let ran = matches!(story.row.status, Status::Succeeded | Status::Answered | Status::Interrupted | Status::TimedOut);
    // Messages to an agent and waiting for one start none.
    let missing = ran && agent.action == "start" && story.nested.threads.is_empty() && story.nested.calls == 0;
    missing.then_some("The log of this subagent is missing: the calls that it made are not known.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story, text_of};
    use serde_json::json;
    use tooltrail_model::event::{HookOutcome, TaskState};
    use tooltrail_model::row::{Background, HookRow};
    use tooltrail_model::transcript::{HookStory, Level, SideFile};
    use tooltrail_model::{Kind, Reason, Status};

    fn other(status: Status, reason: Option<Reason>) -> Story<'static> {
        let mut call = story("Thing", Kind::Other, status, Detail::Other);
        call.row.reason = reason;
        call
    }

    fn first(call: &Story<'_>) -> (Level, String) {
        match body(call, &Limits::PAGE).into_iter().next() {
            Some(Block::Notice { level, text }) => (level, text.text()),
            other => panic!("no remark first: {other:?}"),
        }
    }

    #[test]
    fn calls_without_a_result_say_why_and_where() {
        let running = other(Status::Running, Some(Reason::AwaitingResult));
        assert_eq!(first(&running), (Level::Info, "No result yet: the tool is running. See /logs/a.jsonl:42".to_owned()));
        let ended = other(Status::Unanswered, Some(Reason::LogEnds));
        assert_eq!(first(&ended), (Level::Warning, "The log ends before the result. See /logs/a.jsonl:42".to_owned()));
        let cancelled = other(Status::Cancelled, Some(Reason::SiblingFailed));
        assert!(first(&cancelled).1.starts_with("It never ran: a parallel call failed first."));
        assert!(head(&running).facts.is_empty());
    }

    #[test]
    fn errors_come_first_and_once() {
        let mut call = answered(other(Status::Failed, Some(Reason::ToolError)), "boom");
        assert_eq!(first(&call), (Level::Error, "boom".to_owned()));
        assert_eq!(text_of(&body(&call, &Limits::PAGE)).matches("boom").count(), 1);
        call = answered(other(Status::Failed, Some(Reason::ToolError)), "boom\n  at a\n  at b");
        let text = text_of(&body(&call, &Limits::PAGE));
        assert_eq!(text, "boom\n  at a\n  at b\n");
        call = other(Status::Failed, Some(Reason::McpError));
        assert_eq!(first(&call).1, "The MCP server reported an error.");
    }

    #[test]
    fn refusals_say_who_and_why() {
        assert_eq!(first(&other(Status::Rejected, Some(Reason::User))), (Level::Warning, "You declined.".to_owned()));
        let mut call = answered(other(Status::Rejected, Some(Reason::UserFeedback)), "The person said no, and: use tabs");
        if let Some(answer) = &mut call.answer {
            answer.feedback = Some("use tabs".into());
        }
        let text = text_of(&body(&call, &Limits::PAGE));
        assert!(text.starts_with("You declined, and said:\nuse tabs\n"), "{text}");

        let mut call = answered(other(Status::Blocked, Some(Reason::Hook)), "not on main");
        call.row.hooks = vec![HookRow {
            event: Some("PreToolUse"),
            name: Some("PreToolUse:Bash"),
            command: Some("guard.sh"),
            outcome: HookOutcome::Blocked,
            exit_code: Some(2),
            duration_ms: None,
            evidence: call.row.evidence,
        }];
        let text = text_of(&body(&call, &Limits::PAGE));
        assert!(text.starts_with("Blocked by the hook PreToolUse:Bash, which ran guard.sh\nnot on main\n"), "{text}");
        assert!(!text.contains("hooks (1)"), "said above: {text}");
        let said = |text: &str| HookStory {
            outcome: Some(HookOutcome::Blocked),
            texts: vec![("stderr".into(), text.into())],
            ..HookStory::default()
        };
        call.hooks = vec![said("[guard.sh]: not on main")];
        assert!(!text_of(&body(&call, &Limits::PAGE)).contains("hooks (1)"));
        call.hooks = vec![said("something else")];
        assert!(text_of(&body(&call, &Limits::PAGE)).contains("something else"));
        let rule = answered(other(Status::Blocked, Some(Reason::PermissionRule)), "denied");
        assert_eq!(first(&rule).1, "Blocked by a permission rule.");
    }

    #[test]
    fn being_stopped_is_said_in_words() {
        assert_eq!(first(&other(Status::Interrupted, Some(Reason::User))).1, "You interrupted it.");
        let mut call = other(Status::TimedOut, Some(Reason::Timeout));
        call.row.duration_ms = Some(120_000);
        assert_eq!(first(&call).1, "Timed out after 2 m 00 s.");
    }

    #[test]
    fn background_tasks_tell_their_end() {
        let mut call = answered(other(Status::Succeeded, None), "started");
        let (id, ended_at) = (Some("b1"), "2026-03-04T10:00:09.000Z".parse().ok());
        let evidence = call.row.evidence;
        call.row.background = Some(Background { id, state: TaskState::Failed, exit_code: Some(3), ended_at, evidence });
        assert_eq!(first(&call), (Level::Error, "Background task b1: failed, exit code 3, at 2026-03-04T10:00:09Z".to_owned()));
    }

    #[test]
    fn what_lies_beside_the_log_is_shown_or_said_to_be_missing() {
        let mut call = answered(other(Status::Succeeded, None), "short");
        call.side = Some(SideFile { path: "x.txt".into(), text: Ok("all of it".into()), bytes: 5000, cut: true });
        let text = text_of(&body(&call, &Limits::PAGE));
        assert!(
            text.contains("full output, saved outside the log") && text.contains("all of it") && text.contains("Only the first 9 B"),
            "{text}"
        );
        call.side = Some(SideFile { path: "x.txt".into(), text: Err("it is gone".into()), bytes: 0, cut: false });
        assert!(text_of(&body(&call, &Limits::PAGE)).contains("it is gone"));
    }

    #[test]
    fn hooks_open_where_one_failed() {
        let mut call = answered(other(Status::Succeeded, None), "ok");
        let hook = |outcome| HookStory { name: Some("h".into()), outcome: Some(outcome), ..HookStory::default() };
        call.hooks = vec![hook(HookOutcome::Ok)];
        assert!(!text_of(&body(&call, &Limits::PAGE)).contains("hooks"));
        call.hooks.push(HookStory { texts: vec![("stderr".into(), "bad".into())], ..hook(HookOutcome::Failed) });
        let blocks = body(&call, &Limits::PAGE);
        assert!(matches!(blocks.last(), Some(Block::Section { open: true, .. })), "{blocks:?}");
    }

    #[test]
    fn what_was_produced_is_not_told_beside_the_same_result() {
        let produced = json!({"content": [{"type": "text", "text": "42 issues are open"}], "cached": true});
        let show = |seen: &str| {
            let mut call = answered(other(Status::Succeeded, None), seen);
            call.told.rest_produced = produced.as_object().cloned().unwrap_or_default();
            if let Some(answer) = &mut call.answer {
                answer.produced = Some(produced.clone());
            }
            text_of(&body(&call, &Limits::PAGE))
        };
        assert_eq!(show("42 issues are open").matches("42 issues").count(), 1);
        assert!(show("42 issues are open").ends_with("other fields\ntrue\n"), "{}", show("42 issues are open"));
        assert_eq!(show("").matches("42 issues").count(), 1);
        assert!(show(&"a much shorter story\n".repeat(9)).contains("42 issues"));
    }

    #[test]
    fn nothing_is_lost() {
        let mut call = story("Glob", Kind::Search, Status::Succeeded, Detail::Glob(Default::default()));
        call.told.rest_input.insert("odd".into(), json!({"deep": [1, {"x": 2}]}));
        call.told.rest_produced.insert("strange".into(), json!("word"));
        let text = text_of(&body(&answered(call, "x"), &Limits::PAGE));
        assert!(text.contains("other fields") && text.contains("\"deep\"") && text.contains("word"), "{text}");
    }
}
