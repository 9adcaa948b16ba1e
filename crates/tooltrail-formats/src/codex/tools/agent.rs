//! Other agents: started, written to, waited for, listed, stopped. The tools changed their names once; the answers are JSON in a string,
//! with an agent's state as a word or as an object whose key is the word.

use super::CodexCall;
use super::bag::{Bag, text_in};
use crate::codex::content::{json, list, printed};
use serde_json::Value;
use tooltrail_model::detail::{Agent, Detail};

/// `wait`: for an agent, or for a cell of a script that goes on by itself.
pub(super) fn wait_or_task(call: &mut CodexCall<'_>) -> Detail {
    if call.input.has("cell_id") { super::task::detail(call) } else { detail(call, "wait") }
}

/// A call of a tool that acts on other agents.
pub(super) fn detail(call: &mut CodexCall<'_>, action: &'static str) -> Detail {
    let mut agent = Agent { action, background: action == "start", ..Agent::default() };
    asked(&mut call.input, &mut agent);
    let body = call.header.body.trim();
    let answer = json(body);
    // These tools answer in JSON; any other text is a complaint.
    if answer.is_none() && call.error.is_none() && !body.is_empty() {
        agent.answer = Some(body.to_owned());
    }
    if let Some(answer) = answer {
        let mut answer = Bag::of(Some(&answer));
        answered(&mut answer, &mut agent);
        // Other fields of the answer have no other place.
        answer.rest().into_iter().for_each(|(key, value)| call.produced.put(&key, value));
    }
    ended(&mut call.produced, &mut agent);
    Detail::Agent(agent)
}

fn asked(input: &mut Bag, agent: &mut Agent) {
    let items = input.take("items").map(|items| printed(&list(&items))).filter(|text| !text.is_empty());
    agent.prompt = input.text(&["message", "prompt"]).or(items);
    agent.description = input.text(&["task_name"]);
    agent.sort = input.text(&["agent_type"]);
    agent.model = input.text(&["model"]);
    agent.id = input.text(&["id", "agent_id"]);
    // A path names an agent, a thread is its id.
    match input.text(&["target"]) {
        // 36 characters are a UUID.
        Some(target) if !target.starts_with('/') && target.len() == 36 => agent.id = Some(target),
        target => agent.name = target,
    }
    agent.agents = input.texts(&["ids", "targets"]).into_iter().map(|id| (id, String::new())).collect();
}

fn answered(answer: &mut Bag, agent: &mut Agent) {
    agent.id = answer.text(&["agent_id"]).or(agent.id.take());
    let path = answer.text(&["task_name"]);
    agent.name = answer.text(&["nickname"]).or_else(|| path.clone()).or(agent.name.take());
    // A nickname is shown, but other calls use the path.
    if agent.name != path && path.is_some() {
        agent.id = agent.id.take().or(path);
    }
    for key in ["status", "previous_status", "agent_status"] {
        match answer.take(key) {
            Some(Value::Object(states)) if key == "status" && !is_state(&states) => many(agent, &states),
            Some(state) => one(agent, &state),
            None => {}
        }
    }
    for listed in answer.list(&["agents"]) {
        let name = text_in(&listed, &["agent_name", "agent_path", "agent_id"]).unwrap_or_default();
        let (word, _) = state(listed.get("agent_status").unwrap_or(&Value::Null));
        agent.agents.push((name, word));
    }
    let timed_out = answer.flag("timed_out") == Some(true);
    let message = answer.text(&["message"]);
    agent.state = agent.state.take().or_else(|| timed_out.then(|| "timed out".to_owned()));
    agent.answer = agent.answer.take().or(message);
}

/// Takes over the fields of an end or a completed item.
fn ended(produced: &mut Bag, agent: &mut Agent) {
    let child = produced.text(&["new_thread_id", "receiver_thread_id"]);
    let children = produced.texts(&["receiver_thread_ids", "receiverThreadIds"]);
    agent.id = agent.id.take().or(child).or_else(|| children.first().cloned());
    agent.name = agent.name.take().or_else(|| produced.text(&["new_agent_nickname", "receiver_agent_nickname"]));
    agent.sort = agent.sort.take().or_else(|| produced.text(&["new_agent_role", "receiver_agent_role"]));
    agent.prompt = agent.prompt.take().or_else(|| produced.text(&["prompt"]));
    agent.model = agent.model.take().or_else(|| produced.text(&["model"]));
    let known = agent.state.is_some() || agent.agents.iter().any(|(_, state)| !state.is_empty());
    for key in ["statuses", "agents_states", "agentsStates"] {
        if let Some(Value::Object(states)) = produced.take(key).filter(|_| !known) {
            many(agent, &states);
        }
    }
    // In an event this is the other agent's state, in an item the call's own.
    if !known && let Some(state) = produced.take("status").filter(|_| !produced.has("tool")) {
        one(agent, &state);
    }
    produced.drop(&["sender_thread_id", "senderThreadId", "prompt", "model", "tool", "agent_statuses", "receiver_agents"]);
}

/// Whether an object is the state of one agent rather than of several by name.
fn is_state(object: &serde_json::Map<String, Value>) -> bool {
    object.len() == 1 && object.keys().all(|key| matches!(key.as_str(), "completed" | "errored"))
}

/// The state of the agent that the call is about.
fn one(agent: &mut Agent, value: &Value) {
    let (word, said) = state(value);
    agent.state = Some(word).filter(|word| !word.is_empty()).or(agent.state.take());
    agent.answer = said.or(agent.answer.take());
}

/// The states of several agents, and what they answered.
fn many(agent: &mut Agent, states: &serde_json::Map<String, Value>) {
    let mut answers = Vec::new();
    for (id, value) in states {
        let (word, said) = state(value);
        answers.extend(said.map(|said| (id.clone(), said)));
        match agent.agents.iter_mut().find(|(known, _)| known == id) {
            Some((_, slot)) => *slot = word,
            None => agent.agents.push((id.clone(), word)),
        }
    }
    agent.answer = match &answers[..] {
        [] => agent.answer.take(),
        [(_, said)] => Some(said.clone()),
        several => Some(several.iter().map(|(id, said)| format!("**{id}**\n\n{said}")).collect::<Vec<_>>().join("\n\n")),
    };
}

/// A state's word, and what an agent said at its end: `"running"`, `{"completed":"text"}`, `{"status":"completed","message":"text"}`.
fn state(value: &Value) -> (String, Option<String>) {
    if let Some(word) = value.as_str() {
        return (word.to_owned(), None);
    }
    if let Some(word) = text_in(value, &["status"]) {
        return (word, text_in(value, &["message"]));
    }
    let first = value.as_object().and_then(|object| object.iter().next());
    first.map(|(word, said)| (word.clone(), said.as_str().map(str::to_owned))).unwrap_or_default()
}
