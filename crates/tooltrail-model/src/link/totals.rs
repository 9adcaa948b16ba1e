//! Usage, counted once, and totals of everything.

use super::parallel::in_runs;
use super::{Linked, LinkedCall, Now, Source, repeated};
use crate::row::{ModelUsage, StatsRow, ToolStats};
use crate::summary::Summary;
use crate::text::Name;
use crate::usage::{Tokens, UsageSnapshot};
use crate::{Map, Status, Time};
use std::collections::BTreeMap;

/// Paid requests, summed up by model, and by the source, session and minute of the first request.
pub(super) type CountedUsage = Map<(Option<NameIn>, (usize, Option<Name>), Option<i64>), ModelUsage>;

/// A minute, in milliseconds.
pub(super) const MINUTE: i64 = 60 * 1000;

/// A name with its source.
type NameIn = (usize, Name);

#[derive(Clone, Copy)]
struct Seen<'a> {
    source: usize,
    /// Summary of its source.
    summary: &'a Summary,
    snapshot: &'a UsageSnapshot,
}

impl Seen<'_> {
    /// Order that distinguishes copies from their original, as for calls.
    fn age(&self) -> (Time, bool, Time, usize, u64) {
        let snapshot = self.snapshot;
        let (time, first) = (snapshot.time.unwrap_or(Time::MAX), self.summary.first.unwrap_or(Time::MAX));
        (time, snapshot.request.is_none(), first, self.source, snapshot.line)
    }
}

/// The requests behind all snapshots of all sources.
///
/// One API message is one request, unless it names two; a record without a request joins the first. Where a helper repeats
/// a message of the main conversation, only the main one counts.
pub(super) fn usage(sources: &[&Source]) -> CountedUsage {
    let mut counted = CountedUsage::default();
    each_request(sources, &mut |best, oldest| count(&mut counted, best, oldest));
    counted
}

/// Passes on the best and the oldest snapshot of each request, in no particular order.
fn each_request<'s>(sources: &[&'s Source], take: &mut impl FnMut(&Seen<'s>, &Seen<'s>)) {
    let logs = || sources.iter().enumerate().map(|(number, entry)| (number, &entry.summary)).filter(|(_, log)| log.agent.is_some());
    // By fingerprint: a snapshot keeps no id, to stay small.
    let repeated = repeated(logs().flat_map(|(_, log)| &log.usage).map(|snapshot| snapshot.message));
    let mut groups: Map<(u64, Option<&str>), Vec<Seen<'_>>> = Map::default();
    // Nearly every message is recorded once. Those are taken in the order they are in memory.
    for (source, summary) in logs() {
        for snapshot in &summary.usage {
            let seen = Seen { source, summary, snapshot };
            if repeated.contains(&snapshot.message) {
                groups.entry((snapshot.message, summary.agent)).or_default().push(seen);
            } else {
                take(&seen, &seen);
            }
        }
    }
    for group in groups.into_values() {
        requests_of(group, take);
    }
}

/// Passes on the requests behind all snapshots of one message.
fn requests_of<'s>(mut seen: Vec<Seen<'s>>, take: &mut impl FnMut(&Seen<'s>, &Seen<'s>)) {
    // What another agent's log reports is a copy, unless the log of the message itself is gone.
    if seen.iter().any(|one| !one.snapshot.reported) {
        seen.retain(|one| !one.snapshot.reported);
    }
    // A helper's copy of a main message was not paid for again.
    if seen.iter().any(|one| !one.snapshot.sidechain) {
        seen.retain(|one| !one.snapshot.sidechain);
    }
    seen.sort_unstable_by_key(Seen::age);
    // Sorted by age by now, so that records without a request join the oldest one.
    let first = seen.iter().find_map(|one| one.snapshot.request);
    let mut requests: Map<Option<u64>, (usize, usize)> = Map::default();
    for (index, one) in seen.iter().enumerate() {
        let request = one.snapshot.request.or(first);
        let (_, best) = requests.entry(request).or_insert((index, index));
        let (new, old) = (one.snapshot, seen[*best].snapshot);
        // Records written while the answer streams in have less output; the last one is complete.
        if (new.tokens.output, new.time) >= (old.tokens.output, old.time) {
            *best = index;
        }
    }
    for (oldest, best) in requests.into_values() {
        take(&seen[best], &seen[oldest]);
    }
}

fn count(counted: &mut CountedUsage, best: &Seen<'_>, oldest: &Seen<'_>) {
    let model = best.snapshot.model.map(|name| (best.source, name));
    // The oldest record decides about time and session: copies have later ones.
    let minute = oldest.snapshot.time.map(|time| time.as_millisecond().div_euclid(MINUTE));
    let sum = counted.entry((model, (oldest.source, oldest.snapshot.session), minute)).or_default();
    sum.messages += 1;
    sum.tokens.add(&best.snapshot.tokens);
}

/// A paid request to a model, once however many records and logs repeat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedRequest<'a> {
    /// The source that has it first.
    pub source: usize,
    /// Its session, in [`Linked::sessions`]; `None` where its record names none that exists.
    pub session: Option<usize>,
    /// The model that answered.
    pub model: Option<&'a str>,
    /// The service tier, in the agent's spelling.
    pub tier: Option<&'a str>,
    /// Time of its first record.
    pub time: Option<Time>,
    /// Number of its first record in its source.
    pub line: u64,
    /// Whether a subagent or a helper made it.
    pub sidechain: bool,
    /// The id of the subagent that made it, where its source is that subagent's log.
    pub agent_id: Option<&'a str>,
    /// Its tokens.
    pub tokens: Tokens,
}

impl<'a> Linked<'a> {
    /// Paid requests, each once, in the order of their sources and records. Their sum is [`Linked::usage`].
    pub fn requests(&self) -> Vec<LinkedRequest<'a>> {
        let mut requests = Vec::new();
        each_request(&self.sources, &mut |best, oldest| {
            let (names, made) = (&best.summary.names, oldest.snapshot);
            requests.push(LinkedRequest {
                source: oldest.source,
                session: self.made_in((oldest.source, made.session)),
                model: names.opt(best.snapshot.model),
                tier: names.opt(best.snapshot.tier),
                time: made.time,
                line: made.line,
                sidechain: made.sidechain,
                agent_id: oldest.summary.agents.iter().find(|agent| agent.whole).and_then(|agent| oldest.summary.names.opt(agent.agent)),
                tokens: best.snapshot.tokens,
            });
        });
        requests.sort_by(|one, other| {
            let place =
                |request: &LinkedRequest<'_>| (request.source, request.line, request.time, request.tokens.output, request.tokens.input);
            place(one).cmp(&place(other)).then_with(|| (one.model, one.tier).cmp(&(other.model, other.tier)))
        });
        requests
    }
}

impl Linked<'_> {
    /// Paid requests by the source and session of the first request, by model, and by its minute.
    pub fn usage(&self) -> impl Iterator<Item = (usize, Option<usize>, Option<&str>, Option<Time>, &ModelUsage)> {
        self.usage.iter().map(|((model, made, minute), usage)| {
            let model = model.map(|(source, name)| self.sources[source].summary.names.text(name));
            let time = minute.and_then(|minute| Time::from_millisecond(minute.saturating_mul(MINUTE)));
            (made.0, self.made_in(*made), model, time, usage)
        })
    }

    /// The session that a source refers to by a name, as an index in [`Linked::sessions`].
    pub(super) fn made_in(&self, (source, session): (usize, Option<Name>)) -> Option<usize> {
        self.session_index.get(&(source, session?)).copied()
    }

    /// The totals of everything.
    pub fn stats(&self, now: &Now) -> StatsRow {
        let mut sums = StatsSums::default();
        sums.add(self, &self.calls, None, now);
        sums.finish()
    }

    /// Totals of some calls.
    fn tools(&self, calls: &[LinkedCall], now: &Now) -> Tools<'_> {
        let mut tools = Tools::default();
        for call in calls.iter().filter(|call| call.copy_of.is_none()) {
            // Copies are left out above: the original counts for all of them. A call in a script counts with the script.
            if call.id.is_inner() {
                tools.inner += 1;
                continue;
            }
            let tool = self.record(call.id).tool;
            let text = self.sources[call.id.source()].summary.names.text(tool);
            let judged = self.judge(call, Some(now), false);
            tools.add((call.id.source, tool), text, judged.verdict.status, judged.duration_ms);
        }
        tools
    }
}

/// Totals while they are being counted, possibly of logs that are linked one part after the other. No part may share a bundle with another.
#[derive(Debug, Default)]
pub struct StatsSums {
    row: StatsRow,
    tools: BTreeMap<String, (ToolStats, Vec<u64>)>,
}

impl StatsSums {
    /// Adds some calls and some sessions, by their indexes in [`Linked::sessions`], sorted; all where `None`. Amounts that were read do not
    /// depend on the selection.
    pub fn add(&mut self, linked: &Linked<'_>, calls: &[LinkedCall], only: Option<&[usize]>, now: &Now) {
        let counts = |session: usize| only.is_none_or(|only| only.binary_search(&session).is_ok());
        let row = &mut self.row;
        for source in linked.sources.iter().filter(|source| source.summary.agent.is_some()) {
            row.sources += 1;
            row.bytes += source.summary.tally.bytes.saturating_sub(source.summary.tally.private);
            row.lines += source.summary.tally.lines;
            row.unparsed += source.summary.tally.unparsed;
        }
        for (_, session) in linked.sessions.iter().enumerate().filter(|(index, _)| counts(*index)) {
            row.sessions += 1;
            row.turns += session.turns;
        }
        let runs = in_runs(linked.threads, calls, &|_| 1, &|run| linked.tools(run, now));
        let tools = runs.into_iter().reduce(Tools::join).unwrap_or_default();
        row.inner_calls += tools.inner;
        for (name, more, durations) in tools.all {
            if !self.tools.contains_key(name) {
                self.tools.insert(name.to_owned(), (more, durations));
            } else if let Some((stats, all)) = self.tools.get_mut(name) {
                stats.calls += more.calls;
                add(&mut stats.by_status, &more.by_status);
                all.extend(durations);
            }
        }
        // Usage whose session is unknown belongs to no selection, only to everything.
        for ((model, ..), part) in
            linked.usage.iter().filter(|((_, made, _), _)| only.is_none() || linked.made_in(*made).is_some_and(counts))
        {
            let model = model.map_or("unknown", |(source, name)| linked.sources[source].summary.names.text(name));
            let usage = row.usage.entry(model.to_owned()).or_default();
            usage.messages += part.messages;
            usage.tokens.add(&part.tokens);
        }
    }

    /// The totals of everything that was added.
    pub fn finish(self) -> StatsRow {
        let mut row = self.row;
        for (name, (mut tool, mut durations)) in self.tools {
            tool.p50_ms = percentile(&mut durations, 50);
            tool.p95_ms = percentile(&mut durations, 95);
            // Added up from the tools' numbers, so that the two cannot disagree.
            row.calls += tool.calls;
            add(&mut row.by_status, &tool.by_status);
            row.by_tool.insert(name, tool);
        }
        row
    }
}

fn add(sum: &mut BTreeMap<Status, u64>, more: &BTreeMap<Status, u64>) {
    for (&status, number) in more {
        *sum.entry(status).or_default() += number;
    }
}

/// Totals by tool, while they are being counted.
#[derive(Default)]
struct Tools<'a> {
    all: Vec<(&'a str, ToolStats, Vec<u64>)>,
    /// Positions of a tool's totals, by its text and, faster, by its name in a source.
    by_text: Map<&'a str, usize>,
    by_name: Map<(u32, Name), usize>,
    /// Number of calls in scripts.
    inner: u64,
}

impl<'a> Tools<'a> {
    fn add(&mut self, name: (u32, Name), text: &'a str, status: Status, took: Option<u64>) {
        let index = match self.by_name.get(&name) {
            Some(&index) => index,
            None => {
                let index = self.index(text);
                self.by_name.insert(name, index);
                index
            }
        };
        let (_, stats, durations) = &mut self.all[index];
        stats.calls += 1;
        *stats.by_status.entry(status).or_default() += 1;
        durations.extend(took);
    }

    fn index(&mut self, text: &'a str) -> usize {
        *self.by_text.entry(text).or_insert_with(|| {
            self.all.push((text, ToolStats::default(), Vec::new()));
            self.all.len() - 1
        })
    }

    fn join(mut self, other: Self) -> Self {
        self.inner += other.inner;
        // `by_name` is not joined: only `add` needs it, and nothing is added any more.
        for (text, more, took) in other.all {
            let index = self.index(text);
            let (_, stats, durations) = &mut self.all[index];
            stats.calls += more.calls;
            add(&mut stats.by_status, &more.by_status);
            durations.extend(took);
        }
        self
    }
}

/// The smallest value that at least `percent` of the values do not exceed. Reorders the values.
pub(super) fn percentile(values: &mut [u64], percent: usize) -> Option<u64> {
    // At least 1, so that without values the rank is beyond their number.
    let rank = (values.len() * percent).div_ceil(100).max(1);
    (rank <= values.len()).then(|| *values.select_nth_unstable(rank - 1).1)
}
