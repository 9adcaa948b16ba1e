//! To-do lists, and work delegated to a subagent.

use super::{PlannedCall, SubagentStart, ToolReply, ToolScene};
use crate::corpus::ids;
use crate::corpus::usage::TokenUsage;
use crate::json::{list, quoted, text_of};

pub(super) fn todo(scene: &mut ToolScene<'_>) -> PlannedCall {
    let todos: Vec<String> = (0..scene.rng.between(2, 9))
        .map(|_| {
            let (content, doing) = (scene.pool.phrase(scene.rng), scene.pool.phrase(scene.rng));
            let status = scene.rng.pick(&["pending", "in_progress", "completed"]);
            text_of(|o| {
                o.text("content", &content).text("status", status).text("activeForm", &doing);
            })
        })
        .collect();
    // The old list is a beginning of the new one, as a list that grows.
    let old = list(&todos[..scene.rng.below(todos.len())]);
    let new = list(&todos);
    let input = text_of(|o| {
        o.raw("todos", &new);
    });
    let structured = text_of(|o| {
        o.raw("oldTodos", &old).raw("newTodos", &new);
    });
    let content = quoted("Todos have been modified successfully. Ensure that you continue to use the todo list.");
    PlannedCall::new("TodoWrite", input, ToolReply::ok(content, structured))
}

pub(super) fn task(scene: &mut ToolScene<'_>) -> PlannedCall {
    let prompt = scene.pool.prose(scene.rng, 30, 180);
    let answer = scene.pool.prose(scene.rng, 100, 900);
    let description = scene.pool.phrase(scene.rng);
    let id = ids::hex(scene.rng, 7);
    let input = text_of(|o| {
        o.text("description", &description).text("prompt", prompt).text("subagent_type", "Explore");
    });
    let content = list([super::remote::text_block(answer)]);
    let usage = TokenUsage::draw(scene.rng);
    let structured = text_of(|o| {
        o.text("status", "completed")
            .text("prompt", prompt)
            .text("agentId", &id)
            .raw("content", &content)
            .number("totalDurationMs", scene.rng.between(1000, 400_000))
            .number("totalTokens", scene.rng.between(1000, 90_000))
            .number("totalToolUseCount", scene.rng.between(1, 40))
            .raw("usage", &usage.json(usage.output));
    });
    // The structured side names the agent, which connects the call with its log.
    PlannedCall {
        agent: Some(SubagentStart { id, prompt: prompt.to_owned() }),
        ..PlannedCall::new("Task", input, ToolReply::ok(content, structured))
    }
}
