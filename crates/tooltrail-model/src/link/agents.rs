//! Finds the call that started each subagent, by the best available evidence.

use super::Source;
use super::roots::Roots;
use crate::event::ClaimBy;
use crate::summary::CallRecord;
use crate::{Kind, Map, Set, Time};
use std::collections::BTreeSet;

/// A subagent's log or inline conversation: source and index in `Summary::agents`.
type AgentPart = (usize, u32);
/// A call or a subagent of one session: the agent, the session, and the id.
type ScopedId = (&'static str, Box<str>, Box<str>);

/// Calls and the subagents they started.
#[derive(Clone, Debug, Default)]
pub(super) struct Agents {
    /// The starting call of each part of a subagent's conversation.
    parents: Map<AgentPart, Box<str>>,
    /// The subagent that each call started, by (agent, session, call).
    children: Map<ScopedId, Box<str>>,
    /// Subagents that have a log of their own, by (agent, session, subagent).
    logs: Set<ScopedId>,
    /// Calls by (agent, session, call) whose subagent has ended: they have a result and were not sent to the background.
    ended: Set<ScopedId>,
}

impl Agents {
    pub(super) fn parent(&self, source: usize, within: Option<u32>) -> Option<&str> {
        self.parents.get(&(source, within?)).map(|call| &**call)
    }

    pub(super) fn child(&self, agent: &'static str, session: &str, call: &str) -> Option<&str> {
        self.children.get(&(agent, session.into(), call.into())).map(|child| &**child)
    }

    pub(super) fn has_ended(&self, agent: &'static str, session: &str, call: &str) -> bool {
        self.ended.contains(&(agent, session.into(), call.into()))
    }

    pub(super) fn has_log(&self, agent: &'static str, session: &str, subagent: &str) -> bool {
        self.logs.contains(&(agent, session.into(), subagent.into()))
    }
}

/// Evidence from all sources about which call started which subagent.
#[derive(Default)]
struct SubagentEvidence<'a> {
    /// The strongest claim so far for each subagent, by (agent, session, subagent).
    best: Map<ScopedId, (ClaimBy, Box<str>)>,
    /// Calls whose result gives the subagent another name than its log does, by that name.
    aliases: Map<ScopedId, Box<str>>,
    /// Calls with a prompt, each with its time and id.
    requests: Vec<(SubagentRequest<'a>, Time, &'a str)>,
}

impl<'a> SubagentEvidence<'a> {
    fn claim(&mut self, agent: &'static str, session: &str, subagent: &str, by: ClaimBy, call: &str) {
        let entry = self.best.entry((agent, session.into(), subagent.into()));
        // Sources come in the order of their paths; of equal claims the first one counts.
        let held = entry.or_insert_with(|| (by, call.into()));
        if by < held.0 {
            *held = (by, call.into());
        }
    }

    /// Adds one call: its prompt, and the subagent that its result names.
    fn add_call(&mut self, agent: &'static str, session: &'a str, call: &'a CallRecord, id: &'a str) {
        if let Some(prompt) = call.rare().prompt {
            self.requests.push(((agent, session, prompt), call.time.unwrap_or(Time::MAX), id));
        }
        let Some(child) = call.result.as_ref().and_then(|result| result.child.as_ref()) else { return };
        // The end of an answer proves something only where the tool starts agents.
        let starts = child.sure || call.kind == Kind::Subagent;
        if starts && child.alias {
            self.aliases.entry((agent, session.into(), child.agent.clone())).or_insert_with(|| id.into());
        } else if starts {
            let by = if child.sure { ClaimBy::Result } else { ClaimBy::Answer };
            self.claim(agent, session, &child.agent, by, id);
        }
    }
}

pub(super) fn link<'a>(sources: &[&'a Source], roots: &Roots<'a>) -> Agents {
    let mut agents = Agents::default();
    let mut evidence = collect(sources, roots, &mut agents);
    by_alias(sources, roots, &evidence.aliases, &mut evidence.best);
    // Before the weaker claims are written: the two steps below keep the links that equal prompts have made.
    by_prompt(sources, roots, evidence.requests, &evidence.best, &mut agents);
    name_children(&evidence.best, &mut agents);
    name_parents(sources, roots, &evidence.best, &mut agents);
    agents
}

/// Reads the evidence of every source, and notes in `agents` the subagents that have logs and the calls that ended.
fn collect<'a>(sources: &[&'a Source], roots: &Roots<'a>, agents: &mut Agents) -> SubagentEvidence<'a> {
    let mut evidence = SubagentEvidence::default();
    for source in sources {
        let Some(agent) = source.summary.agent else { continue };
        let names = &source.summary.names;
        for call in &source.summary.calls {
            let child = call.result.as_ref().is_some_and(|result| result.child.is_some());
            // Nearly all calls start no agent; finding their session would cost a lookup each, for nothing.
            if call.kind != Kind::Subagent && call.rare().prompt.is_none() && !child {
                continue;
            }
            let session = roots.of(agent, names.text(call.session));
            if matches!(call.kind, Kind::Subagent | Kind::Skill) && call.result.as_ref().is_some_and(|result| result.background.is_none()) {
                agents.ended.insert((agent, session.into(), names.text(call.id).into()));
            }
            evidence.add_call(agent, session, call, names.text(call.id));
        }
        for record in &source.summary.claims {
            evidence.claim(agent, roots.of(agent, names.text(record.session)), &record.agent, record.by, &record.call);
        }
        for part in &source.summary.agents {
            if let Some(name) = part.agent {
                agents.logs.insert((agent, roots.of(agent, names.text(part.session)).into(), names.text(name).into()));
            }
        }
    }
    evidence
}

/// Names the subagent of each call, the strongest claim first.
fn name_children(best: &Map<ScopedId, (ClaimBy, Box<str>)>, agents: &mut Agents) {
    let mut claims: Vec<_> = best.iter().map(|((agent, session, subagent), (by, call))| (*by, agent, session, subagent, call)).collect();
    // The map has no order of its own; sorting whole claims makes the result the same in every run.
    claims.sort_unstable();
    for (by, agent, session, subagent, call) in claims {
        // A notification names a task; only one that has a log is an agent.
        if by != ClaimBy::Notification || agents.has_log(agent, session, subagent) {
            agents.children.entry((agent, session.clone(), call.clone())).or_insert_with(|| subagent.clone());
        }
    }
}

/// Names the starting call of each part of a subagent's conversation, unless its prompt has already named it.
fn name_parents<'a>(sources: &[&'a Source], roots: &Roots<'a>, best: &Map<ScopedId, (ClaimBy, Box<str>)>, agents: &mut Agents) {
    for (number, source) in sources.iter().enumerate() {
        let Some(agent) = source.summary.agent else { continue };
        for (index, part) in source.summary.agents.iter().enumerate() {
            let names = &source.summary.names;
            // A member of a workflow has no call of its own; the call that started the workflow names its directory.
            let known = [part.agent, part.group].into_iter().flatten();
            let session: Box<str> = roots.of(agent, names.text(part.session)).into();
            let mut claims = known.filter_map(|name| best.get(&(agent, session.clone(), names.text(name).into())));
            if let Some((_, call)) = claims.next() {
                agents.parents.entry((number, u32::try_from(index).unwrap_or(u32::MAX))).or_insert_with(|| call.clone());
            }
        }
    }
}

/// Links logs to calls whose result uses another name for the agent than its log. A claim by its own name is better.
fn by_alias(sources: &[&Source], roots: &Roots<'_>, aliases: &Map<ScopedId, Box<str>>, best: &mut Map<ScopedId, (ClaimBy, Box<str>)>) {
    for source in sources {
        let Some(agent) = source.summary.agent else { continue };
        let names = &source.summary.names;
        for part in &source.summary.agents {
            // Only logs that know their own alias can be found this way.
            let (Some(name), Some(path)) = (part.agent, part.path) else { continue };
            let session: Box<str> = roots.of(agent, names.text(part.session)).into();
            if let Some(call) = aliases.get(&(agent, session.clone(), names.text(path).into())) {
                best.entry((agent, session, names.text(name).into())).or_insert_with(|| (ClaimBy::Answer, call.clone()));
            }
        }
    }
}

/// The request for a subagent: the agent, the session, and the fingerprint of the prompt.
type SubagentRequest<'a> = (&'static str, &'a str, u64);
/// Calls with the same prompt that no subagent is assigned to yet, by time.
type FreeCalls<'a> = BTreeSet<(Time, &'a str)>;

/// Links subagents that nothing names: their first prompt equals the prompt of the call that started them. The nearest call
/// in time counts, and each call once. A claim by the end of a result alone is weaker than this.
fn by_prompt<'a>(
    sources: &[&'a Source],
    roots: &Roots<'a>,
    requests: Vec<(SubagentRequest<'a>, Time, &'a str)>,
    best: &Map<ScopedId, (ClaimBy, Box<str>)>,
    agents: &mut Agents,
) {
    let mut calls: Map<SubagentRequest<'_>, FreeCalls<'_>> = Map::default();
    // Calls with better evidence are taken, and must not be assigned twice.
    let sure = best.iter().filter(|(_, (by, _))| *by < ClaimBy::Prompt);
    let used: Set<(&str, &str, &str)> = sure.map(|((agent, session, _), (_, call))| (*agent, &**session, &**call)).collect();
    for (key, time, id) in requests.into_iter().filter(|((agent, session, _), _, id)| !used.contains(&(*agent, *session, *id))) {
        calls.entry(key).or_default().insert((time, id));
    }
    let mut parts = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let Some(agent) = source.summary.agent else { continue };
        let names = &source.summary.names;
        for (index, part) in source.summary.agents.iter().enumerate() {
            let session = roots.of(agent, names.text(part.session));
            let known = part.agent.is_some_and(|name| {
                best.get(&(agent, session.into(), names.text(name).into())).is_some_and(|(by, _)| *by < ClaimBy::Prompt)
            });
            if let (false, Some(prompt)) = (known, part.prompt) {
                parts.push((part.time, number, index, (agent, session, prompt), part.agent.map(|name| names.text(name))));
            }
        }
    }
    // In order of time, so that of several equal prompts the earliest subagent gets the earliest call.
    parts.sort();
    for (time, source, index, key, name) in parts {
        let Some(free) = calls.get_mut(&key) else { continue };
        // The last call before it; a call cannot have started an earlier agent, unless clocks disagree.
        let start = time.unwrap_or(Time::MAX);
        let before = free.range(..(start, "\u{10ffff}")).next_back().copied();
        let Some(chosen) = before.or_else(|| free.first().copied()) else { continue };
        free.remove(&chosen);
        let chosen = chosen.1;
        agents.parents.insert((source, u32::try_from(index).unwrap_or(u32::MAX)), chosen.into());
        if let Some(name) = name {
            agents.children.insert((key.0, key.1.into(), chosen.into()), name.into());
        }
    }
}
