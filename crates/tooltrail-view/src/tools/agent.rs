//! Another agent: started, written to, waited for.
//!
//! ```text
//! ⎇ Task   Explore: find usages of parse()        12 calls 1✗   41k tokens   1 m 04 s ✓
//!   ▸ prompt
//!   ├ what it did
//!   its answer
//! ```

use super::{ToolView, title};
use crate::head::{count, counted, took};
use crate::outcome::came;
use crate::pieces::{FieldList, markdown, section};
use crate::{Block, Class, Head, Limits, Line};
use tooltrail_model::detail::{Agent, Detail};
use tooltrail_model::transcript::Story;

/// View of calls that start, message or wait for another agent.
pub(super) struct AgentView;

impl ToolView for AgentView {
    fn name(&self) -> &'static str {
        "agent"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Agent(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Agent(agent) = &call.told.detail else { return Head::default() };
        Head { icon: "⎇", name: call.row.tool.into(), title: title(call), facts: facts(call, agent) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Agent(agent) = &call.told.detail else { return Vec::new() };
        let mut body: Vec<Block> = about(call, agent).block().into_iter().collect();
        let label = if agent.action == "send" { "message" } else { "prompt" };
        // A message is short and all there is to show; a task is long.
        let open = agent.action == "send";
        body.extend(agent.prompt.iter().map(|text| section(label, open, vec![markdown(text, limits)])));
        // The conversation stands between task and answer, in the order in which things happened.
        body.extend(nested(call));
        body.extend(table(agent));
        body.extend(agent.answer.iter().map(|text| markdown(text, limits)));
        body
    }
}

/// Facts for the head. The subagents' calls are in the log whatever the outcome of the call; reported numbers count only if
/// it came back.
fn facts(call: &Story<'_>, agent: &Agent) -> Vec<Line> {
    let reported = came(call);
    let mut facts = Vec::new();
    // Counted calls win over reported ones, which may leave out nested agents.
    if call.nested.calls > 0 {
        let line = Line::from(counted(call.nested.calls, "call"));
        let failed = (call.nested.failed > 0).then(|| format!(" {}✗", count(call.nested.failed)));
        facts.push(failed.map_or_else(|| line.clone(), |failed| line.clone().with(Class::Bad, &failed)));
    } else if let Some(calls) = agent.calls.filter(|_| reported) {
        facts.push(counted(calls, "call").into());
    }
    facts.extend(agent.tokens.filter(|_| reported).map(|tokens| format!("{} tokens", thousands(tokens)).into()));
    if agent.background {
        facts.push("background".into());
    }
    facts
}

/// A number in short: `640`, `41k`, `1.2M`.
fn thousands(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        // Rounded, and the ranges end where rounding would reach the next unit.
        1000..9_950 => format!("{}.{}k", (number + 50) / 1000, (number + 50) % 1000 / 100),
        9_950..999_500 => format!("{}k", (number + 500) / 1000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Fields that the head does not show already: for a call that came back it has the numbers, and that it is done.
fn about(call: &Story<'_>, agent: &Agent) -> FieldList {
    let told = came(call);
    let done = agent.state.as_deref() == Some("completed") && told;
    let mut fields = FieldList::default();
    fields.add_some("type", agent.sort.as_deref());
    fields.add_some("name", agent.name.as_deref());
    fields.add_some("id", agent.id.as_deref());
    fields.add_some("model", agent.model.as_deref());
    fields.add_some("state", agent.state.as_deref().filter(|_| !done && !agent.background));
    fields.add_some("reported time", agent.duration_ms.filter(|_| !told).map(took).as_deref());
    fields.add_some("reported tokens", agent.tokens.filter(|_| !told).map(count).as_deref());
    // Shown where the agent's log is missing, or contains a different number of calls than reported.
    let differs = agent.calls.filter(|calls| if call.nested.calls > 0 { *calls != call.nested.calls } else { !told });
    fields.add_some("reported calls", differs.map(count).as_deref());
    fields
}

/// A placeholder for each conversation, with the numbers of its calls.
fn nested(call: &Story<'_>) -> Vec<Block> {
    let block = |thread: usize| {
        let made = call.nested.of(thread);
        Block::Nested { thread, calls: made.calls, failed: made.failed }
    };
    call.nested.threads.iter().map(|&thread| block(thread)).collect()
}

fn table(agent: &Agent) -> Option<Block> {
    let rows: Vec<Vec<Line>> = agent.agents.iter().map(|(name, state)| vec![name.into(), state.into()]).collect();
    (!rows.is_empty()).then(|| Block::Table { head: vec!["agent".into(), "state".into()], rows, elided: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, story, text_of, worked};
    use tooltrail_model::transcript::{CallTally, SubagentCalls};
    use tooltrail_model::{Kind, Status};

    fn explore() -> Detail {
        Detail::Agent(Agent {
            action: "start",
            description: Some("find usages".into()),
            prompt: Some("Find **all**".into()),
            sort: Some("Explore".into()),
            answer: Some("None.".into()),
            tokens: Some(41_200),
            ..Agent::default()
        })
    }

    #[test]
    fn a_task_with_what_it_did_and_its_answer() {
        let mut call = worked("Task", Kind::Subagent, explore());
        call.nested = SubagentCalls { threads: vec![3], calls: 12, failed: 1, each: Vec::new() };
        let head = AgentView.head(&call);
        assert_eq!(head.title.text(), "Explore: find usages");
        assert_eq!(facts(&head.facts), ["12 calls 1✗", "41k tokens"]);
        let body = AgentView.body(&call, &Limits::PAGE);
        assert!(
            matches!(
                body.as_slice(),
                [
                    Block::Fields { .. },
                    Block::Section { open: false, .. },
                    Block::Nested { thread: 3, calls: 12, failed: 1 },
                    Block::Markdown { .. }
                ]
            ),
            "{body:?}"
        );
    }

    #[test]
    fn numbers_are_told_once() {
        let mut call = worked("Task", Kind::Subagent, explore());
        call.nested = SubagentCalls { threads: vec![3], calls: 12, failed: 0, ..SubagentCalls::default() };
        if let Detail::Agent(agent) = &mut call.told.detail {
            (agent.state, agent.calls, agent.duration_ms) = (Some("completed".into()), Some(12), Some(900));
        }
        assert!(text_of(&AgentView.body(&call, &Limits::PAGE)).starts_with("Explore\nprompt\n"));
        if let Detail::Agent(agent) = &mut call.told.detail {
            agent.calls = Some(14);
        }
        assert!(text_of(&AgentView.body(&call, &Limits::PAGE)).starts_with("Explore\n14\n"));
        assert_eq!(
            (thousands(999), thousands(3_569), thousands(9_960), thousands(1_250_000)),
            ("999".into(), "3.6k".into(), "10k".into(), "1.2M".into())
        );
    }

    #[test]
    fn what_a_lost_agent_did_is_told_and_no_more() {
        let mut call = story("Task", Kind::Subagent, Status::Unanswered, explore());
        call.nested =
            SubagentCalls { threads: vec![1, 2], calls: 2, failed: 0, each: vec![CallTally { calls: 2, failed: 0 }, CallTally::default()] };
        assert_eq!(facts(&AgentView.head(&call).facts), ["2 calls"]);
        let nested = nested(&call);
        // Numbers are those of each conversation, not of the call.
        assert!(matches!(nested.as_slice(), [Block::Nested { thread: 1, calls: 2, .. }, Block::Nested { thread: 2, calls: 0, .. }]));
    }

    #[test]
    fn messages_and_waits_name_whom() {
        let send = Agent { action: "send", name: Some("scout".into()), prompt: Some("go on".into()), ..Agent::default() };
        let call = worked("SendMessage", Kind::Subagent, Detail::Agent(send));
        assert_eq!(AgentView.head(&call).title.text(), "to scout: go on");
        let wait = Agent { action: "wait", agents: vec![("a1".into(), "completed".into())], ..Agent::default() };
        let call = worked("wait_agent", Kind::Subagent, Detail::Agent(wait));
        assert_eq!(AgentView.head(&call).title.text(), "wait a1");
        assert_eq!(text_of(&AgentView.body(&call, &Limits::PAGE)), "a1\ncompleted\n");
    }
}
