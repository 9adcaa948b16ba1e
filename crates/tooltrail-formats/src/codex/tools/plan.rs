//! `update_plan`: the steps of a plan and how far each is.

use super::CodexCall;
use super::bag::text_in;
use serde_json::Value;
use tooltrail_model::detail::{Detail, Todo, TodoItem, TodoState};

pub(super) fn detail(call: &mut CodexCall<'_>) -> Detail {
    let new = call.input.list(&["plan"]).iter().map(step).collect();
    let explanation = call.input.text(&["explanation"]);
    Detail::Todo(Todo { old: None, new, explanation, plan: true })
}

fn step(step: &Value) -> TodoItem {
    let state = match text_in(step, &["status"]) {
        None => TodoState::Pending,
        Some(word) => match &*word {
            "pending" => TodoState::Pending,
            "in_progress" => TodoState::Active,
            "completed" => TodoState::Done,
            _ => TodoState::Other(word),
        },
    };
    TodoItem { text: text_in(step, &["step"]).unwrap_or_default(), state, ..TodoItem::default() }
}
