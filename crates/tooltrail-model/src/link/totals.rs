//! Usage counted once, and the totals of everything.

use super::{Linked, Now, Source};
use crate::event::Id;
use crate::row::{ModelUsage, StatsRow, ToolStats};
use crate::text::Name;
use crate::usage::Snapshot;
use crate::{Map, Status, Time};
use std::collections::BTreeMap;

/// Requests that were paid for, summed up by model and by the session they were first made in. Both are a source and a name there.
pub(super) type Usage = Map<(Option<NameIn>, Option<NameIn>), ModelUsage>;

/// A name and the source it is of.
type NameIn = (usize, Name);

struct Seen<'a> {
    message: Id,
    agent: &'static str,
    source: usize,
    /// When its source begins.
    first: Option<Time>,
    snapshot: &'a Snapshot,
}

impl Seen<'_> {
    /// The order in which copies are told from their original, as for calls.
    fn age(&self) -> (Time, bool, Time, usize, u64) {
        let snapshot = self.snapshot;
        (snapshot.time.unwrap_or(Time::MAX), snapshot.request.is_none(), self.first.unwrap_or(Time::MAX), self.source, snapshot.line)
    }
}

/// The requests behind all snapshots of all sources.
///
/// One API message is one request, unless it names two; a record without a request joins the first. Where a helper replays a
/// message of the main conversation, only the main one counts.
pub(super) fn usage(sources: &[&Source]) -> Usage {
    let mut all: Vec<Seen<'_>> = Vec::with_capacity(sources.iter().map(|source| source.summary.usage.len()).sum());
    for (source, entry) in sources.iter().enumerate() {
        let Some(agent) = entry.summary.agent else { continue };
        all.extend(entry.summary.usage.iter().map(|snapshot| Seen {
            message: snapshot.message,
            agent,
            source,
            first: entry.summary.first,
            snapshot,
        }));
    }
    // Where the main conversation tells of a message, it comes first.
    all.sort_unstable_by(|a, b| {
        let rest = |one: &Seen<'_>| (one.agent, one.snapshot.sidechain, one.age());
        a.message.cmp(&b.message).then_with(|| rest(a).cmp(&rest(b)))
    });
    let mut counted = Usage::default();
    for seen in all.chunk_by(|a, b| a.message == b.message && a.agent == b.agent) {
        let main = seen.iter().take_while(|one| !one.snapshot.sidechain).count();
        let seen = if main > 0 { &seen[..main] } else { seen };
        if let [only] = seen {
            count(&mut counted, only, only);
            continue;
        }
        let first = seen.iter().find_map(|one| one.snapshot.request);
        let mut requests: Map<Option<u64>, (usize, usize)> = Map::default();
        for (index, one) in seen.iter().enumerate() {
            let request = one.snapshot.request.or(first);
            let (_, best) = requests.entry(request).or_insert((index, index));
            let (new, old) = (one.snapshot, seen[*best].snapshot);
            if (new.tokens.output, new.time) >= (old.tokens.output, old.time) {
                *best = index;
            }
        }
        for (oldest, best) in requests.into_values() {
            count(&mut counted, &seen[best], &seen[oldest]);
        }
    }
    counted
}

fn count(counted: &mut Usage, best: &Seen<'_>, oldest: &Seen<'_>) {
    let model = best.snapshot.model.map(|name| (best.source, name));
    let session = oldest.snapshot.session.map(|name| (oldest.source, name));
    let sum = counted.entry((model, session)).or_default();
    sum.messages += 1;
    sum.tokens.add(&best.snapshot.tokens);
}

impl Linked<'_> {
    /// The totals of everything.
    pub fn stats(&self, now: &Now) -> StatsRow {
        let mut stats = StatsRow::default();
        for source in self.sources.iter().filter(|source| source.summary.agent.is_some()) {
            stats.sources += 1;
            stats.bytes += source.summary.tally.bytes;
            stats.lines += source.summary.tally.lines;
            stats.unparsed += source.summary.tally.unparsed;
        }
        stats.sessions = self.sessions.len() as u64;
        stats.turns = self.sessions.iter().map(|session| session.turns).sum();
        let mut tools = Tools::default();
        for call in self.calls.iter().filter(|call| call.copy_of.is_none()) {
            let record = self.record(call.id);
            let names = &self.sources[call.id.source].summary.names;
            let judged = self.judge(call, now, false);
            stats.calls += 1;
            *stats.by_status.entry(judged.verdict.status).or_default() += 1;
            tools.add((call.id.source, record.tool), names.text(record.tool), judged.verdict.status, judged.duration_ms);
        }
        stats.by_tool = tools.finish();
        for ((model, _), part) in &self.usage {
            let model = model.map_or("unknown", |(source, name)| self.sources[source].summary.names.text(name));
            let usage = stats.usage.entry(model.to_owned()).or_default();
            usage.messages += part.messages;
            usage.tokens.add(&part.tokens);
        }
        stats
    }
}

/// Totals by tool, while they are being counted.
#[derive(Default)]
struct Tools<'a> {
    all: Vec<(&'a str, ToolStats, Vec<u64>)>,
    /// Where a tool's totals are, by its text and, quicker, by its name in a source.
    by_text: Map<&'a str, usize>,
    by_name: Map<(usize, Name), usize>,
}

impl<'a> Tools<'a> {
    fn add(&mut self, name: (usize, Name), text: &'a str, status: Status, took: Option<u64>) {
        let index = *self.by_name.entry(name).or_insert_with(|| {
            *self.by_text.entry(text).or_insert_with(|| {
                self.all.push((text, ToolStats::default(), Vec::new()));
                self.all.len() - 1
            })
        });
        let (_, stats, durations) = &mut self.all[index];
        stats.calls += 1;
        *stats.by_status.entry(status).or_default() += 1;
        durations.extend(took);
    }

    fn finish(self) -> BTreeMap<String, ToolStats> {
        let finished = self.all.into_iter().map(|(text, mut stats, mut durations)| {
            durations.sort_unstable();
            stats.p50_ms = percentile(&durations, 50);
            stats.p95_ms = percentile(&durations, 95);
            (text.to_owned(), stats)
        });
        finished.collect()
    }
}

/// The smallest value that at least `percent` of the sorted values do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}
