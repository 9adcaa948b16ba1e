//! Background tasks: the last news of each, wherever it was written.

use super::Source;
use super::roots::Roots;
use crate::assemble::hash;
use crate::summary::{Summary, TaskRecord};
use crate::{At, Map, Set, Time};

/// News by the call that started the task, and by the task's id within its session.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskNewsIndex<'a> {
    by_call: Map<(&'static str, &'a str), Vec<News<'a>>>,
    by_id: Map<(&'static str, &'a str, &'a str), Vec<News<'a>>>,
    /// Calls that news refers to and no source contains, by the hash of their ids.
    unheard: Set<u64>,
}

/// One report and its source.
#[derive(Clone, Copy, Debug)]
pub(super) struct News<'a> {
    pub(super) source: usize,
    pub(super) record: &'a TaskRecord,
    session: &'a str,
}

pub(super) fn gather<'a>(sources: &[&'a Source], roots: &Roots<'a>) -> TaskNewsIndex<'a> {
    let mut tasks = TaskNewsIndex { unheard: unheard(sources), ..TaskNewsIndex::default() };
    for (number, source) in sources.iter().enumerate() {
        let Some(agent) = source.summary.agent else { continue };
        for record in &source.summary.tasks {
            let session = roots.of(agent, source.summary.names.text(record.session));
            let news = News { source: number, record, session };
            if let Some(call) = record.call.as_deref() {
                keep(tasks.by_call.entry((agent, call)).or_default(), news);
            }
            if let Some(id) = record.id.as_deref() {
                keep(tasks.by_id.entry((agent, session, id)).or_default(), news);
            }
        }
    }
    tasks
}

/// Calls that news refers to and no source contains. Nearly always they are in the same source, so that no other is
/// searched.
fn unheard(sources: &[&Source]) -> Set<u64> {
    let leave = |named: &mut Set<u64>, log: &Summary| {
        if !named.is_empty() {
            for call in log.calls.iter().chain(&log.nested).chain(&log.inner) {
                named.remove(&call.key);
            }
        }
    };
    let mut unheard = Set::default();
    for source in sources {
        let mut named = source.summary.tasks.iter().filter_map(|news| news.call.as_deref()).map(hash).collect();
        leave(&mut named, &source.summary);
        unheard.extend(named);
    }
    // The few that are left may be in any other source.
    sources.iter().for_each(|source| leave(&mut unheard, &source.summary));
    unheard
}

/// Keeps the last report of each source. Sources come one after the other.
fn keep<'a>(kept: &mut Vec<News<'a>>, news: News<'a>) {
    match kept.last_mut().filter(|last| last.source == news.source) {
        Some(last) if rank(news.record) >= rank(last.record) => *last = news,
        Some(_) => {}
        None => kept.push(news),
    }
}

/// The order of reports in one source: a copied one is older than any other.
fn rank(record: &TaskRecord) -> (bool, Option<Time>, At) {
    (!record.copied, record.time, record.at)
}

impl<'a> TaskNewsIndex<'a> {
    /// The last news of a task. `alone` limits it to one source.
    pub(super) fn last(
        &self,
        agent: &'static str,
        session: &'a str,
        call: &'a str,
        id: Option<&'a str>,
        alone: Option<usize>,
    ) -> Option<News<'a>> {
        // An id may be reused in another session; there only the task's own name proves that it is the same call.
        let same = |news: &&News<'a>| news.session == session || (id.is_some() && news.record.id.as_deref() == id);
        let by_call = self.by_call.get(&(agent, call)).into_iter().flatten().filter(same);
        let by_id = id.and_then(|id| self.by_id.get(&(agent, session, id))).into_iter().flatten();
        // News that names another call is about a task that had the same id; an unknown call is not another call.
        let by_id =
            by_id.filter(|news| news.record.call.as_deref().is_none_or(|named| named == call || self.unheard.contains(&hash(named))));
        let all = by_call.chain(by_id).filter(|news| alone.is_none_or(|source| news.source == source));
        // A copy has the time at which it was made, so it counts only where there is nothing else. Source and place break ties, so that the
        // answer is the same in every run.
        all.max_by_key(|news| (!news.record.copied, news.record.time, news.source, news.record.at)).copied()
    }
}
