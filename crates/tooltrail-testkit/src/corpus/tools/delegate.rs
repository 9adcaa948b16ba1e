//! Lists of things to do, and work handed to a subagent.

use super::{Agent, Call, Reply, Scene};
use crate::corpus::ids;
use crate::corpus::usage::Usage;
use crate::json::{list, quoted, text_of};

pub(super) fn todo(scene: &mut Scene<'_>) -> Call {
    let todos: Vec<String> = (0..scene.rng.between(2, 9))
        .map(|_| {
            let (content, doing) = (scene.pool.phrase(scene.rng), scene.pool.phrase(scene.rng));
            let status = scene.rng.pick(&["pending", "in_progress", "completed"]);
            text_of(|o| {
                o.text("content", &content).text("status", status).text("activeForm", &doing);
            })
        })
        .collect();
    let old = list(&todos[..scene.rng.below(todos.len())]);
    let new = list(&todos);
    let input = text_of(|o| {
        o.raw("todos", &new);
    });
    let structured = text_of(|o| {
        o.raw("oldTodos", &old).raw("newTodos", &new);
    });
    let content = quoted("Todos have been modified successfully. Ensure that you continue to use the todo list.");
    Call::new("TodoWrite", input, Reply::ok(content, structured))
}

pub(super) fn task(scene: &mut Scene<'_>) -> Call {
    let prompt = scene.pool.prose(scene.rng, 30, 180);
    let answer = scene.pool.prose(scene.rng, 100, 900);
    let description = scene.pool.phrase(scene.rng);
    let id = ids::hex(scene.rng, 7);
    let input = text_of(|o| {
        o.text("description", &description).text("prompt", prompt).text("subagent_type", "Explore");
    });
    let content = list([super::remote::text_block(answer)]);
    let usage = Usage::draw(scene.rng);
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
    Call { agent: Some(Agent { id, prompt: prompt.to_owned() }), ..Call::new("Task", input, Reply::ok(content, structured)) }
}
