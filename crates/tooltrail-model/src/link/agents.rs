//! Finds the call that started each subagent, by the best available evidence.

use super::Source;
use super::roots::Roots;
use crate::event::ClaimBy;
use crate::{Kind, Map, Set, Time};
use std::collections::BTreeSet;

/// A subagent's log or inline conversation: source and index in `Summary::agents`.
type Part = (usize, u32);
type Key = (&'static str, Box<str>, Box<str>);

/// Calls and the subagents they started.
#[derive(Clone, Debug, Default)]
pub(super) struct Agents {
    /// The starting call of each part of a subagent's conversation.
    parents: Map<Part, Box<str>>,
    /// The subagent that each call started, by (agent, session, call).
    children: Map<Key, Box<str>>,
    /// Subagents that have a log of their own, by (agent, session, subagent).
    logs: Set<Key>,
    /// Calls by (agent, session, call) whose subagent has ended: they have a result and were not sent to the background.
    ended: Set<Key>,
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

pub(super) fn link<'a>(sources: &[&'a Source], roots: &Roots<'a>) -> Agents {
    let mut best: Map<Key, (ClaimBy, Box<str>)> = Map::default();
    let mut claim = |agent: &'static str, session: &str, subagent: &str, by: ClaimBy, call: &str| {
        let entry = best.entry((agent, session.into(), subagent.into()));
        // Sources come in the order of their paths; of equal claims the first one counts.
        let held = entry.or_insert_with(|| (by, call.into()));
        if by < held.0 {
            *held = (by, call.into());
        }
    };
    let mut agents = Agents::default();
    let mut aliases: Map<Key, Box<str>> = Map::default();
    let mut asked = Vec::new();
    for source in sources {
        let Some(agent) = source.summary.agent else { continue };
        let names = &source.summary.names;
        for call in &source.summary.calls {
            if call.kind == Kind::Subagent && call.result.as_ref().is_some_and(|result| result.background.is_none()) {
                let session = roots.of(agent, names.text(call.session));
                agents.ended.insert((agent, session.into(), names.text(call.id).into()));
            }
            if let Some(prompt) = call.rare().prompt {
                let key = (agent, roots.of(agent, names.text(call.session)), prompt);
                asked.push((key, call.time.unwrap_or(Time::MAX), names.text(call.id)));
            }
            if let Some(child) = call.result.as_ref().and_then(|result| result.child.as_ref()) {
                let session = roots.of(agent, names.text(call.session));
                // The end of an answer proves something only where the tool starts agents.
                let starts = child.sure || call.kind == Kind::Subagent;
                if starts && child.alias {
                    aliases.entry((agent, session.into(), child.agent.clone())).or_insert_with(|| names.text(call.id).into());
                } else if starts {
                    let by = if child.sure { ClaimBy::Result } else { ClaimBy::Answer };
                    claim(agent, session, &child.agent, by, names.text(call.id));
                }
            }
        }
        for record in &source.summary.claims {
            claim(agent, roots.of(agent, names.text(record.session)), &record.agent, record.by, &record.call);
        }
        for part in &source.summary.agents {
            if let Some(name) = part.agent {
                agents.logs.insert((agent, roots.of(agent, names.text(part.session)).into(), names.text(name).into()));
            }
        }
    }
    by_alias(sources, roots, &aliases, &mut best);
    by_prompt(sources, roots, asked, &best, &mut agents);
    let mut claims: Vec<_> = best.iter().map(|((agent, session, subagent), (by, call))| (*by, agent, session, subagent, call)).collect();
    claims.sort_unstable();
    for (by, agent, session, subagent, call) in claims {
        // A notification names a task; only one that has a log is an agent.
        if by != ClaimBy::Notification || agents.has_log(agent, session, subagent) {
            agents.children.entry((agent, session.clone(), call.clone())).or_insert_with(|| subagent.clone());
        }
    }
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
    agents
}

/// Links logs to calls whose result uses another name for the agent than its log. A claim by its own name is better.
fn by_alias(sources: &[&Source], roots: &Roots<'_>, aliases: &Map<Key, Box<str>>, best: &mut Map<Key, (ClaimBy, Box<str>)>) {
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
type Asked<'a> = (&'static str, &'a str, u64);
/// Calls with the same prompt that no subagent is assigned to yet, by time.
type Free<'a> = BTreeSet<(Time, &'a str)>;

/// Links subagents that nothing names: their first prompt equals the prompt of the call that started them. The nearest call
/// in time counts, and each call once. A claim by the end of a result alone is weaker than this.
fn by_prompt<'a>(
    sources: &[&'a Source],
    roots: &Roots<'a>,
    asked: Vec<(Asked<'a>, Time, &'a str)>,
    best: &Map<Key, (ClaimBy, Box<str>)>,
    agents: &mut Agents,
) {
    let mut calls: Map<Asked<'_>, Free<'_>> = Map::default();
    // Calls with better evidence are taken, and must not be assigned twice.
    let sure = best.iter().filter(|(_, (by, _))| *by < ClaimBy::Prompt);
    let used: Set<(&str, &str, &str)> = sure.map(|((agent, session, _), (_, call))| (*agent, &**session, &**call)).collect();
    for (key, time, id) in asked.into_iter().filter(|((agent, session, _), _, id)| !used.contains(&(*agent, *session, *id))) {
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
