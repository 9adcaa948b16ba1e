//! The input that the model requested, where a hook or the person replaced it before the call ran.

use crate::pieces::{notice, section};
use crate::{Block, Limits, Line, hooks, json};
use serde_json::{Map, Value};
use tooltrail_model::event::InputFrom;
use tooltrail_model::transcript::{Level, Story};

/// Name of the hook that replaced the input: its command, else its name.
fn hook(call: &Story<'_>) -> String {
    // Of several the last one counts, as for what ran.
    let by = call.hooks.iter().rev().find(|hook| hook.input.is_some());
    by.map(|hook| hook.command.clone().unwrap_or_else(|| hooks::name(hook))).unwrap_or_default()
}

/// A remark on who replaced the input, and the fields of the request that differ.
pub(crate) fn blocks(call: &Story<'_>, limits: &Limits) -> Vec<Block> {
    let Some(requested) = &call.requested else { return Vec::new() };
    let who = match call.row.input_from {
        InputFrom::Request => return Vec::new(),
        InputFrom::Hook => format!("The hook {} replaced the input.", one_line(&hook(call))),
        InputFrom::User => "You changed the input before it ran.".to_owned(),
    };
    let body = match requested {
        Value::Object(fields) => json::fields(&differing(fields, &call.input), limits),
        other => vec![json::block(other, limits)],
    };
    // A request without any fields has nothing to compare; the tool's own view tells of the change.
    if body.is_empty() { Vec::new() } else { vec![notice(Level::Info, Line::from(who)), section("requested input", true, body)] }
}

/// The fields of a request that are not those of what ran; all of them where none differs, because then only the result shows it.
fn differing(requested: &Map<String, Value>, ran: &Value) -> Map<String, Value> {
    let differs: Map<String, Value> = requested
        .iter()
        .filter(|(name, value)| ran.get(name.as_str()) != Some(*value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if differs.is_empty() { requested.clone() } else { differs }
}

fn one_line(text: &str) -> String {
    crate::cut::one_line(text, 80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story, text_of};
    use serde_json::json;
    use tooltrail_model::detail::{Detail, Shell};
    use tooltrail_model::transcript::HookStory;
    use tooltrail_model::{Kind, Status};

    #[test]
    fn both_inputs_are_shown() {
        let shell = Shell { command: "cargo test --quiet".into(), stdout: Some("ok".into()), ..Shell::default() };
        let mut call = answered(story("Bash", Kind::Shell, Status::Succeeded, Detail::Shell(shell)), "ok");
        assert!(blocks(&call, &Limits::PAGE).is_empty());
        call.input = json!({"command": "cargo test --quiet", "description": "Run"});
        call.requested = Some(json!({"command": "cargo test", "description": "Run"}));
        call.row.input_from = InputFrom::Hook;
        call.hooks =
            vec![HookStory { command: Some("quiet.sh".into()), input: Some(Box::new(call.input.clone())), ..HookStory::default() }];
        let text = text_of(&crate::call::body(&call, &Limits::PAGE));
        assert!(text.starts_with("The hook quiet.sh replaced the input.\n"), "{text}");
        assert!(text.contains("cargo test\n") && !text.contains("description"), "{text}");
        call.row.input_from = InputFrom::User;
        assert!(text_of(&blocks(&call, &Limits::PAGE)).starts_with("You changed the input before it ran.\n"));
    }
}
