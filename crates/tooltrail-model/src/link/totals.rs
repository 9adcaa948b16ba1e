//! Usage counted once, and the totals of everything.

use super::{Linked, Now, Source};
use crate::row::{ModelUsage, StatsRow, ToolStats};
use crate::text::Name;
use crate::usage::{Snapshot, Tokens};
use crate::{Map, Time};

/// One request that was paid for.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    /// The model: source and name there.
    pub(super) model: Option<(usize, Name)>,
    pub(super) tokens: Tokens,
    /// The session it was first made in: source and name there.
    pub(super) session: Option<(usize, Name)>,
}

struct Seen<'a> {
    agent: &'static str,
    source: usize,
    snapshot: &'a Snapshot,
}

impl Seen<'_> {
    fn age(&self) -> (Time, usize, u64) {
        (self.snapshot.time.unwrap_or(Time::MAX), self.source, self.snapshot.line)
    }
}

/// The requests behind all snapshots of all sources.
///
/// One API message is one request, unless it names two; a record without a request joins the first. Where a helper replays a
/// message of the main conversation, only the main one counts.
pub(super) fn usage(sources: &[&Source]) -> Vec<Counted> {
    let mut all: Vec<Seen<'_>> = Vec::with_capacity(sources.iter().map(|source| source.summary.usage.len()).sum());
    for (source, entry) in sources.iter().enumerate() {
        let Some(agent) = entry.summary.agent else { continue };
        all.extend(entry.summary.usage.iter().map(|snapshot| Seen { agent, source, snapshot }));
    }
    // Where the main conversation tells of a message, it comes first.
    all.sort_unstable_by_key(|one| (one.agent, one.snapshot.message, one.snapshot.sidechain, one.age()));
    let mut counted = Vec::with_capacity(all.len());
    for seen in all.chunk_by(|a, b| (a.agent, a.snapshot.message) == (b.agent, b.snapshot.message)) {
        let main = seen.iter().take_while(|one| !one.snapshot.sidechain).count();
        let seen = if main > 0 { &seen[..main] } else { seen };
        if let [only] = seen {
            counted.push(count(only, only));
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
            counted.push(count(&seen[best], &seen[oldest]));
        }
    }
    counted
}

fn count(best: &Seen<'_>, oldest: &Seen<'_>) -> Counted {
    Counted {
        model: best.snapshot.model.map(|name| (best.source, name)),
        tokens: best.snapshot.tokens,
        session: oldest.snapshot.session.map(|name| (oldest.source, name)),
    }
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
        let mut durations: Map<&str, Vec<u64>> = Map::default();
        for call in self.calls.iter().filter(|call| call.copy_of.is_none()) {
            let record = self.record(call.id);
            let tool = self.sources[call.id.source].summary.names.text(record.tool);
            let judged = self.judge(call, now, false);
            stats.calls += 1;
            *stats.by_status.entry(judged.verdict.status).or_default() += 1;
            if !stats.by_tool.contains_key(tool) {
                stats.by_tool.insert(tool.to_owned(), ToolStats::default());
            }
            if let Some(tool) = stats.by_tool.get_mut(tool) {
                tool.calls += 1;
                *tool.by_status.entry(judged.verdict.status).or_default() += 1;
            }
            if let Some(took) = judged.duration_ms {
                durations.entry(tool).or_default().push(took);
            }
        }
        for (tool, mut took) in durations {
            took.sort_unstable();
            if let Some(stats) = stats.by_tool.get_mut(tool) {
                stats.p50_ms = percentile(&took, 50);
                stats.p95_ms = percentile(&took, 95);
            }
        }
        for counted in &self.usage {
            let model = counted.model.map_or("unknown", |(source, name)| self.sources[source].summary.names.text(name));
            if !stats.usage.contains_key(model) {
                stats.usage.insert(model.to_owned(), ModelUsage::default());
            }
            let Some(usage) = stats.usage.get_mut(model) else { continue };
            usage.messages += 1;
            usage.tokens.add(&counted.tokens);
        }
        stats
    }
}

/// The smallest value that at least `percent` of the sorted values do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}
