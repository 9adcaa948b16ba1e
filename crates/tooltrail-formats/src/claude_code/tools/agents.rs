//! Other agents: started, written to, listed; workflows and teams.

use super::super::content::contents;
use super::super::markers;
use super::ToolCall;
use serde_json::Value;
use tooltrail_model::content::words;
use tooltrail_model::detail::{Agent, Detail};

/// `Task` and `Agent`: an agent is started.
pub(super) fn start(call: &mut ToolCall<'_>) -> Detail {
    let input = &mut call.input;
    let mut agent = Agent {
        action: if input.peek("resume").is_some() { "resume" } else { "start" },
        description: input.string("description"),
        prompt: input.string("prompt"),
        sort: input.string("subagent_type"),
        name: input.string("name"),
        id: input.string("resume"),
        model: input.string("model"),
        background: input.flag("run_in_background"),
        ..Agent::default()
    };
    if call.produced.exist() {
        structured(call, &mut agent);
    } else if let Some(text) = call.answer() {
        spoken(&text, &mut agent);
    }
    Detail::Agent(agent)
}

/// Takes over the fields of `toolUseResult`.
fn structured(call: &mut ToolCall<'_>, agent: &mut Agent) {
    let produced = &mut call.produced;
    let id = ["agentId", "agent_id", "taskId"].into_iter().find_map(|key| produced.string(key));
    agent.id = id.or(agent.id.take());
    let sort = produced.string("agentType").or_else(|| produced.string("agent_type"));
    // The input wins where both are given: it is what the model asked for.
    agent.sort = agent.sort.take().or(sort);
    let name = produced.string("name");
    agent.name = agent.name.take().or(name);
    let model = produced.string("resolvedModel").or_else(|| produced.string("model"));
    agent.model = agent.model.take().or(model);
    let description = produced.string("description");
    agent.description = agent.description.take().or(description);
    let prompt = produced.string("prompt");
    agent.prompt = agent.prompt.take().or(prompt);
    agent.state = produced.string("status");
    let begun = |state: &str| state.ends_with("_launched") || state.ends_with("_spawned");
    let launched = produced.flag("isAsync") || agent.state.as_deref().is_some_and(begun);
    agent.background |= launched;
    agent.answer = produced.take("content", |content| Some(words(&contents(content)))).filter(|text| !text.is_empty());
    agent.duration_ms = produced.number("totalDurationMs");
    agent.tokens = produced.number("totalTokens");
    agent.calls = produced.number("totalToolUseCount");
    // An answer that is only text belongs to an agent that has finished; a launched one has no answer yet.
    if agent.answer.is_none()
        && !launched
        && let Some(text) = call.answer()
    {
        let mut said = Agent::default();
        spoken(&text, &mut said);
        agent.answer = said.answer;
        agent.id = agent.id.take().or(said.id);
        // Fields are exact, the text repeats them.
        agent.tokens = agent.tokens.or(said.tokens);
        agent.calls = agent.calls.or(said.calls);
        agent.duration_ms = agent.duration_ms.or(said.duration_ms);
    }
}

/// Takes over a result that is text: the answer, then the agent's id and its usage.
fn spoken(text: &str, agent: &mut Agent) {
    if text.starts_with("Async agent launched successfully") {
        agent.id = markers::background(text).map(str::to_owned);
        agent.state = Some("async_launched".to_owned());
        agent.background = true;
        return;
    }
    agent.id = markers::answer_agent(text).map(str::to_owned).or(agent.id.take());
    // The id stands on a line of its own behind the answer.
    let end = text.rfind("\nagentId: ").filter(|_| agent.id.is_some()).or_else(|| text.rfind("\n<usage>")).unwrap_or(text.len());
    let (answer, tail) = text.split_at(end);
    let used = super::super::tasks::tag(tail, "usage").unwrap_or_default();
    // Found by name: lines may be missing or in another order.
    let number = |name: &str| used.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok());
    agent.tokens = number("total_tokens").or_else(|| number("subagent_tokens"));
    agent.calls = number("tool_uses");
    agent.duration_ms = number("duration_ms");
    agent.answer = Some(answer.trim_end().to_owned()).filter(|answer| !answer.is_empty());
}

/// `SendMessage`, `SubagentHandback`: a message to another agent.
pub(super) fn send(call: &mut ToolCall<'_>) -> Detail {
    let input = &mut call.input;
    let name = input.string("to").or_else(|| input.string("recipient"));
    let message = input.take("message", message).or_else(|| input.take("content", message));
    let mut agent = Agent { action: "send", description: input.string("summary"), prompt: message, name, ..Agent::default() };
    // The same message may be there twice, under its old names too and cut there.
    input.drop(&["recipient", "content"]);
    agent.answer = call.produced.string("message").or_else(|| call.answer());
    let sent = call.produced.take("success", Value::as_bool);
    agent.state = sent.map(|sent| if sent { "sent" } else { "not sent" }.to_owned());
    let target = call.produced.string("target");
    agent.name = agent.name.or(target);
    Detail::Agent(agent)
}

/// A message: words, or an object of the protocol between agents.
fn message(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| serde_json::to_string_pretty(value).ok())
}

/// `ListAgents`.
pub(super) fn list(call: &mut ToolCall<'_>) -> Detail {
    let answer = call.produced.string("listing").or_else(|| call.answer());
    Detail::Agent(Agent { action: "list", answer, ..Agent::default() })
}

/// `Workflow`: a script that starts agents.
pub(super) fn workflow(call: &mut ToolCall<'_>) -> Detail {
    let (input, produced) = (&mut call.input, &mut call.produced);
    let name = input.string("name").or_else(|| produced.string("workflowName"));
    let script = input.string("script").or_else(|| input.string("prompt"));
    let state = produced.string("status");
    let agent = Agent {
        action: "start",
        sort: Some("workflow".to_owned()),
        name,
        prompt: script,
        description: input.string("description").or_else(|| produced.string("summary")),
        id: produced.string("runId").or_else(|| produced.string("taskId")),
        background: state.as_deref() == Some("async_launched") || call.seen.starts_with("Workflow launched in background"),
        state,
        ..Agent::default()
    };
    produced.drop(&["workflowName", "summary"]);
    Detail::Agent(agent)
}

/// `TeamCreate`.
pub(super) fn gather(call: &mut ToolCall<'_>) -> Detail {
    team(call, "create team")
}

/// `TeamDelete`.
pub(super) fn disband(call: &mut ToolCall<'_>) -> Detail {
    team(call, "delete team")
}

/// The fields that both tools share.
fn team(call: &mut ToolCall<'_>, action: &'static str) -> Detail {
    let name = call.input.string("team_name").or_else(|| call.produced.string("team_name"));
    call.produced.drop(&["team_name", "success"]);
    let id = call.produced.string("lead_agent_id");
    let answer = call.produced.string("message").or_else(|| call.answer().filter(|_| !call.produced.exist()));
    Detail::Agent(Agent { action, description: call.input.string("description"), name, id, answer, ..Agent::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_end_before_what_the_program_adds() {
        let mut agent = Agent::default();
        spoken(
            "Found it.\nagentId: a01 (use SendMessage to go on)\n<usage>total_tokens: 900\ntool_uses: 3\nduration_ms: 1200</usage>",
            &mut agent,
        );
        assert_eq!((agent.answer.as_deref(), agent.id.as_deref()), (Some("Found it."), Some("a01")));
        assert_eq!((agent.tokens, agent.calls, agent.duration_ms), (Some(900), Some(3), Some(1200)));
    }
}
