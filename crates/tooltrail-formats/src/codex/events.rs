//! The events beside the conversation (`event_msg`): turns, tokens, ends of calls.

use super::content::texts;
use super::facts::FactSink;
use super::fields::PayloadFields;
use super::items::say;
use super::prompt::StatedAuthor;
use super::record::CodexRecord;
use super::{ends, extension, usage};
use tooltrail_model::event::{Echo, Id, Meta, Notice, TitleBy, Work};
use tooltrail_model::{Fact, Time};
use tooltrail_skim::Raw;

/// The work on a turn is over.
const DONE: Work = Work { made: None, turn: None, done: true };

/// Whether an event is known: one that is logged, or one that the program has besides.
pub(super) fn is_known(kind: &str, event: &PayloadFields<'_>) -> bool {
    match kind {
        "token_count" | "user_message" | "agent_message" | "agent_reasoning" | "agent_reasoning_raw_content" => true,
        "agent_reasoning_section_break" | "raw_response_item" | "turn_diff" | "plan_update" | "session_configured" => true,
        "task_started" | "turn_started" | "task_complete" | "turn_complete" | "turn_aborted" | "shutdown_complete" => true,
        "error" | "stream_error" | "warning" | "guardian_warning" | "deprecation_notice" | "background_event" | "model_reroute" => true,
        "entered_review_mode" | "exited_review_mode" | "context_compacted" | "undo_started" | "undo_completed" => true,
        "thread_rolled_back" | "thread_name_updated" | "thread_goal_updated" | "thread_settings_applied" => true,
        "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end" | "web_search_end" | "image_generation_end" => true,
        "view_image_tool_call" | "terminal_interaction" | "sub_agent_activity" | "guardian_assessment" => true,
        "dynamic_tool_call_response" => event.tool.is_some(),
        "exec_approval_request" | "apply_patch_approval_request" | "dynamic_tool_call_request" | "elicitation_request" => true,
        "request_user_input" | "request_permissions" | "hook_started" | "hook_completed" => true,
        "mcp_startup_update" | "mcp_startup_complete" => true,
        // Families of events that stream or frame something; new members say nothing of their own.
        kind => kind.ends_with("_begin") || kind.ends_with("_delta") || (kind.starts_with("collab_") && kind.ends_with("_end")),
    }
}

/// Whether an item of a paginated log is known. A call without the name of its tool is no call.
pub(super) fn is_known_item(item: &PayloadFields<'_>) -> bool {
    match &*item.name_of_type() {
        "UserMessage" | "HookPrompt" | "AgentMessage" | "Plan" | "Reasoning" | "ContextCompaction" => true,
        "CommandExecution" | "FileChange" | "WebSearch" | "ImageView" | "ImageGeneration" | "SubAgentActivity" => true,
        "EnteredReviewMode" | "ExitedReviewMode" => true,
        "McpToolCall" => item.server.is_some() && item.tool.is_some(),
        "DynamicToolCall" | "CollabAgentToolCall" => item.tool.is_some(),
        extension::TYPE => extension::kind(item).is_some(),
        _ => false,
    }
}

pub(super) fn decode(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let event = record.body();
    match &*record.kind {
        "user_message" => {
            if let Some(text) = event.string(event.message) {
                say(text, StatedAuthor::Unstated, Echo::Shown, event.message, record, emit);
            }
        }
        "token_count" => usage::meter(event, emit),
        "task_started" | "turn_started" => emit(Fact::Work(Work { made: made(event), turn: turn(event), done: false })),
        "task_complete" | "turn_complete" => emit(Fact::Work(DONE)),
        // Limits and reviews end a turn as well; only an act of the person is an interrupt.
        "turn_aborted" => match event.text(event.reason).as_deref() {
            Some("budget_limited" | "review_ended") => emit(Fact::Work(DONE)),
            _ => emit(Fact::Notice(Notice::Interrupt)),
        },
        "error" => emit(Fact::Notice(Notice::ApiError)),
        "thread_name_updated" => {
            // By the thread's id: a subagent's name is not that of the session it works for.
            if let (Some(session), Some(title)) = (event.text(event.thread_id), event.text(event.thread_name)) {
                emit(Fact::Meta(Meta::SessionTitle { session, by: TitleBy::Person, title }));
            }
        }
        "thread_rolled_back" => {
            let turns = event.int(event.num_turns).and_then(|turns| u32::try_from(turns).ok());
            emit(Fact::Rollback(turns.unwrap_or(1)));
        }
        _ => ends::decode(record, emit),
    }
}

/// Emits the facts of an item of a paginated log. It repeats an item of the conversation, or stands in for a missing one.
pub(super) fn completed(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    if record.kind != "UserMessage" {
        return ends::decode(record, emit);
    }
    let item = record.body();
    let text = texts(item.raw(item.content)).first().copied().or_else(|| item.string(item.text));
    if let Some(text) = text {
        say(text, StatedAuthor::Unstated, Echo::Shown, item.content, record, emit);
    }
}

/// The turn that a record names.
pub(super) fn turn(fields: &PayloadFields<'_>) -> Option<Id> {
    fields.string(fields.turn_id).map(Raw::digest)
}

/// The start of the work on a turn, from fields that a copy of the record keeps: its own, or the time in the turn's id.
pub(super) fn made(fields: &PayloadFields<'_>) -> Option<Time> {
    let id = fields.text(fields.turn_id).and_then(|id| uuid_time(&id));
    // The field has whole seconds; the last millisecond of the second cannot lie before the actual start.
    id.or_else(|| fields.int(fields.started_at).and_then(|secs| secs.checked_mul(1000)?.checked_add(999)).and_then(Time::from_millisecond))
}

/// The milliseconds at the start of a UUID of version 7.
fn uuid_time(id: &str) -> Option<Time> {
    let bytes = id.as_bytes();
    // Other versions of UUID carry no time there.
    if bytes.len() != 36 || bytes[8] != b'-' || bytes[13] != b'-' || bytes[14] != b'7' {
        return None;
    }
    let millis = i64::from_str_radix(&format!("{}{}", id.get(..8)?, id.get(9..13)?), 16).ok()?;
    Time::from_millisecond(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_turns_tell_when() {
        let time = uuid_time("019f4515-0ecf-7b42-a17a-cd080f0c5caa").map(|time| time.to_string());
        assert_eq!(time.as_deref(), Some("2026-07-09T04:13:55.791Z"));
        assert!(uuid_time("turn-1").is_none());
        assert!(uuid_time("833f80ee-df14-4c35-a25b-192b7073bb36").is_none());
        assert!(uuid_time("é19f4515-0ecf-7b42-a17a-cd080f0c5ca").is_none());
    }
}
