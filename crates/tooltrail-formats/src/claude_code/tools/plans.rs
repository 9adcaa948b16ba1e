//! Plans that are proposed, and instructions that are loaded: `ExitPlanMode`, `EnterPlanMode`, `Skill`, `SlashCommand`.

use super::ToolCall;
use tooltrail_model::detail::{Detail, Plan, Skill};

/// `ExitPlanMode`: the plan is proposed.
pub(super) fn leave(call: &mut ToolCall<'_>) -> Detail {
    let (input, produced) = (&mut call.input, &mut call.produced);
    let proposed = input.string("plan");
    let kept = produced.string("plan");
    let path = produced.string("filePath").or_else(|| input.string("planFilePath"));
    let edited = produced.flag("planWasEdited");
    produced.drop(&["isAgent", "hasTaskTool"]);
    let mut plan = Plan { path, edited, ..Plan::default() };
    let mut shown = None;
    if let Some(text) = call.answer() {
        // The approval repeats the approved plan behind it.
        let (message, rest) = text.split_once("\n## Approved Plan").unwrap_or((&text, ""));
        plan.message = Some(message.trim().to_owned()).filter(|text| !text.is_empty());
        plan.edited |= rest.starts_with(" (edited by user)");
        shown = rest.split_once(":\n").map(|(_, plan)| plan.trim().to_owned());
    }
    // Of an edited plan the approved version counts.
    plan.plan = kept.or(shown).or(proposed);
    Detail::Plan(plan)
}

/// `EnterPlanMode`: planning begins.
pub(super) fn enter(call: &mut ToolCall<'_>) -> Detail {
    let message = call.produced.string("message").or_else(|| call.answer());
    Detail::Plan(Plan { enters: true, message, ..Plan::default() })
}

/// `Skill` and `SlashCommand`: instructions are loaded.
pub(super) fn skill(call: &mut ToolCall<'_>) -> Detail {
    let (input, produced) = (&mut call.input, &mut call.produced);
    let command = input.string("command");
    let arguments = input.string("args").or_else(|| input.string("arguments"));
    let (name, typed) = match (input.string("skill"), &command) {
        (Some(name), _) => (name, None),
        // A slash command is one text: its name, then the arguments.
        (None, Some(command)) => match command.split_once(char::is_whitespace) {
            Some((name, arguments)) => (name.to_owned(), Some(arguments.trim().to_owned())),
            None => (command.clone(), None),
        },
        (None, None) => (produced.string("commandName").unwrap_or_default(), None),
    };
    produced.drop(&["commandName"]);
    let allowed = produced.texts("allowedTools").unwrap_or_default();
    // Success goes without saying; anything else is left over, to be shown.
    if produced.peek("success") == Some(&serde_json::Value::Bool(true)) {
        produced.drop(&["success"]);
    }
    Detail::Skill(Skill { name, arguments: arguments.or(typed).filter(|text| !text.is_empty()), allowed, message: call.answer() })
}
