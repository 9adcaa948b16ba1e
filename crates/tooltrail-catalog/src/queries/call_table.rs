//! The table of calls: those that a filter selects, counted, and some of them in any order.
//!
//! Calls are counted and chosen by their keys, one session after the other. Only as many calls are held as are asked for, and of each other
//! one its duration at most, for the median.

use crate::Map;
use crate::matching::key_filter::KeyFilter;
use crate::matching::stored::CatalogueQuery;
use crate::store::{CallKey, CatalogueError, Figure, KeyReader, ListedCall};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use tooltrail_model::Status;
use tooltrail_model::filter::Filter;

/// What a table of calls is asked for.
#[derive(Clone, Copy)]
pub struct CallTableQuery<'q> {
    /// The filter.
    pub filter: &'q Filter,
    /// Whether calls in the texts of scripts are listed too.
    pub inner: bool,
    /// What it is sorted by. Calls without a value come last; equal ones stand with the newest first.
    pub sort: CallSortKey,
    /// Whether the highest values come first.
    pub desc: bool,
    /// The name that a project is sorted by.
    pub project: &'q dyn Fn(&str) -> String,
    /// How many calls stand before the first one that is wanted. Beyond the end, the last page is meant.
    pub offset: usize,
    /// How many calls are wanted: a page.
    pub limit: usize,
}

/// What calls are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSortKey {
    /// A figure.
    Figure(Figure),
    /// Duration without the tool's own run time.
    Waited,
    /// The tool.
    Tool,
    /// The status.
    Status,
    /// The project of the session.
    Project,
}

/// The calls that a filter selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTable {
    /// Those that are wanted, in order.
    pub calls: Vec<ListedCall>,
    /// How many stand before these.
    pub first: usize,
    /// Number of all listed calls.
    pub total: usize,
    /// Number of calls in the texts of scripts that the filter selects, listed or not.
    pub inner: usize,
    /// Whether these are all that the filter selects: a search may have been ended before.
    pub whole: bool,
    /// Number of calls by tool, the most frequent first. Case does not count, as in a filter; the first spelling is shown. A script that is its
    /// one call counts by both names, because a filter finds it by both.
    pub tools: Vec<(String, u64)>,
    /// Number of calls by status.
    pub statuses: BTreeMap<Status, u64>,
    /// Number of calls by project, the most frequent first.
    pub projects: Vec<(String, u64)>,
    /// Total duration, the number of calls with a known duration, and the median.
    pub took: u64,
    /// Number of calls with a known duration.
    pub timed: u64,
    /// The median duration.
    pub median: Option<u64>,
}

impl CatalogueQuery<'_> {
    /// Whether a filter is answered by the keys of calls and by sessions, so that looking for its calls takes no time worth saving.
    pub fn is_quick(&self, filter: &Filter) -> bool {
        !filter.asks_texts() && KeyFilter::new(filter).decides()
    }

    /// A part of the table of the calls that a filter selects. `known` are these calls where they have been found before, in the order in which
    /// calls are listed.
    pub fn call_table(&self, query: &CallTableQuery<'_>, known: Option<&[ListedCall]>) -> Result<CallTable, CatalogueError> {
        let mut tally = CallTally::new(self, query);
        let names = self.each_key(query.filter, known, |session, key, names| {
            tally.add(session, key, names);
            Ok(())
        })?;
        Ok(tally.finish(&names))
    }

    /// Passes on the keys of the calls that a filter selects, in the order in which calls are listed, with the names in the keys. `known` are
    /// these calls where they have been found before.
    pub(crate) fn each_key(
        &self,
        filter: &Filter,
        known: Option<&[ListedCall]>,
        mut take: impl FnMut(usize, &CallKey, &KeyReader) -> Result<(), CatalogueError>,
    ) -> Result<KeyReader, CatalogueError> {
        let found;
        let calls = match known {
            Some(calls) => calls,
            None if self.is_quick(filter) => {
                let mut keys = KeyFilter::new(filter);
                for session in self.likely_sessions(filter) {
                    for key in keys.likely(self, session)?.0 {
                        take(session, &key, keys.names())?;
                    }
                }
                return Ok(keys.into_names());
            }
            None => {
                found = self.calls(filter)?;
                &found
            }
        };
        let mut reader = KeyReader::default();
        for own in calls.chunk_by(|one, next| one.session == next.session) {
            let Some(session) = own.first().map(|call| call.session) else { continue };
            let keys = reader.read(&self.library.catalogue(), self.listing, session)?;
            // Both lists have the order in which calls are listed, so one pass over the keys finds all.
            let mut wanted = own.iter().peekable();
            for key in &keys {
                if wanted.next_if(|call| call.id == key.listed(session).id).is_some() {
                    take(session, key, &reader)?;
                }
            }
        }
        Ok(reader)
    }
}

/// A table while its calls are counted.
struct CallTally<'q> {
    query: &'q CallTableQuery<'q>,
    context: &'q CatalogueQuery<'q>,
    /// The call that would be dropped next is on top.
    first: BinaryHeap<SortedCall>,
    table: CallTable,
    by_tool: Vec<u64>,
    by_session: Map<usize, u64>,
    times: Vec<u64>,
    /// Tools and projects as they are sorted, by their numbers.
    spelled: Map<usize, Arc<str>>,
}

/// A value that calls are sorted by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SortValue {
    Number(i64),
    Text(Arc<str>),
}

/// A call with its place in the table.
struct SortedCall {
    value: Option<SortValue>,
    desc: bool,
    call: ListedCall,
}

impl Ord for SortedCall {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = match (&self.value, &other.value) {
            // Missing values come last in either direction.
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(one), Some(two)) if self.desc => two.cmp(one),
            (Some(one), Some(two)) => one.cmp(two),
        };
        by_value.then_with(|| Reverse((self.call.order, self.call)).cmp(&Reverse((other.call.order, other.call))))
    }
}

impl PartialOrd for SortedCall {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortedCall {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortedCall {}

impl<'q> CallTally<'q> {
    fn new(context: &'q CatalogueQuery<'q>, query: &'q CallTableQuery<'q>) -> Self {
        CallTally {
            query,
            context,
            first: BinaryHeap::new(),
            table: CallTable { whole: true, ..CallTable::default() },
            by_tool: Vec::new(),
            by_session: Map::default(),
            times: Vec::new(),
            spelled: Map::default(),
        }
    }

    fn add(&mut self, session: usize, key: &CallKey, names: &KeyReader) {
        let call = key.listed(session);
        if call.number.inner > 0 {
            self.table.inner += 1;
            if !self.query.inner {
                return;
            }
        }
        self.table.total += 1;
        let (tool, inner) = (names.tool(key), names.unwrapped(key));
        self.count_tool(tool);
        let lower = |tool: usize| names.tools().get(tool).map(|name| name.to_lowercase());
        if let Some(inner) = inner.filter(|inner| *inner != tool && lower(*inner) != lower(tool)) {
            self.count_tool(inner);
        }
        *self.by_session.entry(session).or_default() += 1;
        *self.table.statuses.entry(key.status).or_default() += 1;
        self.times.extend(key.figure(Figure::Took).and_then(|took| u64::try_from(took).ok()));
        let most = self.query.offset.saturating_add(self.query.limit);
        if most > 0 {
            let value = self.value(session, key, names);
            let sorted = SortedCall { value, desc: self.query.desc, call };
            // Compared before it goes in: nearly all calls stand behind those that are wanted.
            if self.first.len() < most {
                self.first.push(sorted);
            } else if self.first.peek().is_some_and(|last| sorted < *last)
                && let Some(mut last) = self.first.peek_mut()
            {
                *last = sorted;
            }
        }
    }

    fn count_tool(&mut self, tool: usize) {
        if self.by_tool.len() <= tool {
            self.by_tool.resize(tool + 1, 0);
        }
        self.by_tool.get_mut(tool).into_iter().for_each(|number| *number += 1);
    }

    fn value(&mut self, session: usize, key: &CallKey, names: &KeyReader) -> Option<SortValue> {
        let number = |number: i64| Some(SortValue::Number(number));
        match self.query.sort {
            CallSortKey::Figure(figure) => key.figure(figure).and_then(number),
            CallSortKey::Waited => number((key.figure(Figure::Took)?.saturating_sub(key.figure(Figure::Ran)?)).max(0)),
            CallSortKey::Status => {
                Status::ALL.iter().position(|status| *status == key.status).and_then(|place| number(i64::try_from(place).ok()?))
            }
            CallSortKey::Tool => {
                let (tool, all) = (names.tool(key), names.tools());
                let spelled = || all.get(tool).map_or_else(Arc::default, |name| name.to_lowercase().into());
                Some(SortValue::Text(Arc::clone(self.spelled.entry(tool).or_insert_with(spelled))))
            }
            CallSortKey::Project => {
                let project = self.context.rows.get(session)?.project?;
                let spelled = || (self.query.project)(project).into();
                Some(SortValue::Text(Arc::clone(self.spelled.entry(session).or_insert_with(spelled))))
            }
        }
    }

    fn finish(self, names: &KeyReader) -> CallTable {
        let CallTally { query, context, first, mut table, by_tool, by_session, mut times, .. } = self;
        // A place beyond the end is on the last page: the table may have shrunk since the link was made.
        let limit = query.limit.max(1);
        table.first = query.offset.min((table.total.max(1) - 1) / limit * limit);
        table.calls = first.into_sorted_vec().into_iter().map(|sorted| sorted.call).skip(table.first).take(query.limit).collect();
        // Filters ignore case, so tools that differ only in case are one.
        let mut tools: Map<String, (String, u64)> = Map::default();
        for (name, number) in names.tools().iter().zip(by_tool).filter(|(_, number)| *number > 0) {
            tools.entry(name.to_lowercase()).or_insert_with(|| (name.to_string(), 0)).1 += number;
        }
        table.tools = most(tools.into_values());
        let mut projects: Map<&str, u64> = Map::default();
        for (session, number) in by_session {
            let project = context.rows.get(session).and_then(|row| row.project);
            project.into_iter().for_each(|project| *projects.entry(project).or_default() += number);
        }
        table.projects = most(projects.into_iter().map(|(path, number)| (path.to_owned(), number)));
        let middle = times.len() / 2;
        (table.took, table.timed) = (times.iter().fold(0, |sum: u64, took| sum.saturating_add(*took)), times.len() as u64);
        // Selecting the middle element is linear, sorting all durations is not.
        table.median = (!times.is_empty()).then(|| *times.select_nth_unstable(middle).1);
        table
    }
}

/// Sorts counts, the highest first.
fn most(counts: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.collect();
    // Ties are sorted by name: the order of a map is random.
    counts.sort_unstable_by(|(name, one), (other, two)| two.cmp(one).then_with(|| name.cmp(other)));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::StoredLibrary;
    use crate::store::Catalogue;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use tooltrail_model::Time;
    use tooltrail_model::filter::{self, Setting, Spelling};
    use tooltrail_model::link::Now;

    /// Sessions of five calls each, the last of which failed.
    const SESSIONS: &str = "
INSERT INTO session_rows(id, agent, session, short, project, first_us, started_at, last_at, turns, calls, by_status, models, input, output,
    cache_write_5m, cache_write_1h, cache_read, open_calls, open_question, open_plan, open_asks, open_alone, fingerprint, newest_us)
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
  SELECT i, 'claude', printf('s%06d', i), printf('s%06d', i), '/srv/app', i * 1000000, '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z', 1, 5,
    '{\"succeeded\":4,\"failed\":1}', '[]', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, i * 1000000 + 5 FROM n";
    const CALLS: &str = "
INSERT INTO call_rows(id, number, source, call, tool, kind, status, evidence_source, evidence_line, input_bytes, parallel, background_open,
    request_line, request_start, request_end, sidechain, digest, order_us, duration_ms)
  SELECT (s.id << 32) + n.value, n.value, 1, 'c', 'Bash', 'shell', iif(n.value = 5, 'failed', 'succeeded'), 1, 1, 1, 1, 0, 1, 0, 1, 0, 1,
    s.id * 1000000 + n.value, n.value FROM session_rows s JOIN json_each('[1, 2, 3, 4, 5]') n";

    fn at(query: &str) -> Filter {
        let (now, zone) = (Time::UNIX_EPOCH, jiff::tz::TimeZone::UTC);
        let setting = Setting { here: None, home: None, now, zone, agents: &["claude"], words: Spelling::default(), apart: false };
        filter::parse(query, &setting).unwrap()
    }

    /// Asks a catalogue of so many sessions; returns the answer, and about how many thousand steps the database took for it.
    fn asked<T>(sessions: i64, ask: impl Fn(&CatalogueQuery<'_>) -> T) -> (T, usize) {
        let home = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::open(&home.path().join("catalogue.db")).unwrap();
        catalogue.connection.execute(SESSIONS, [sessions]).unwrap();
        catalogue.connection.execute(CALLS, []).unwrap();
        let (library, now) = (StoredLibrary::new(catalogue, None), Now::at(Time::UNIX_EPOCH));
        let listing = library.catalogue().list(&now).unwrap();
        let rows = listing.rows();
        let steps = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&steps);
        let count = move || {
            counter.fetch_add(1, Relaxed);
            false
        };
        library.catalogue().connection.progress_handler(1000, Some(count)).unwrap();
        let answer = ask(&CatalogueQuery { library: &library, listing: &listing, rows: &rows, now: &now, threads: 1 });
        (answer, steps.load(Relaxed))
    }

    /// A page reads what it shows, whatever the number of sessions.
    #[test]
    fn pages_of_many_sessions_are_bounded() {
        for query in ["", "status:failed", "tool:bash not:is:failed"] {
            let filter = at(query);
            let calls = |sessions| asked(sessions, |all| all.calls_after(&filter, Some((10, 11 << 32 | 3)), 100).unwrap());
            let ((few, small), (many, large)) = (calls(500), calls(20_000));
            assert_eq!((few.len() > 100, &few), (true, &many), "{query}");
            assert!(few.len() < 110 && large <= small + 1 && large < 50, "{query}: {small} and {large} steps");
            let listed = |sessions| asked(sessions, |all| all.sessions_from(&filter, 40, 50).unwrap());
            let ((few, small), (many, large)) = (listed(500), listed(20_000));
            assert_eq!((few.len(), &few), (51, &many), "{query}");
            assert!(large <= small + 1 && large < 50, "{query}: {small} and {large} steps");
        }
    }

    /// However many calls are counted, only those of the page are made.
    #[test]
    fn a_table_holds_a_page() {
        for (query, total) in [("", 100_000), ("is:failed", 20_000)] {
            let filter = at(query);
            let page = |sort, desc, offset| CallTableQuery {
                filter: &filter,
                inner: false,
                sort,
                desc,
                project: &str::to_owned,
                offset,
                limit: 200,
            };
            let (table, _) = asked(20_000, |all| all.call_table(&page(CallSortKey::Figure(Figure::Order), true, 200), None).unwrap());
            assert_eq!((table.calls.len(), table.first, table.total, table.timed), (200, 200, total, total as u64), "{query}");
            assert!(table.calls.is_sorted_by(|one, next| one.order > next.order), "{query}");
            assert_eq!((table.tools, table.median), (vec![("Bash".to_owned(), total as u64)], Some(if total == 100_000 { 3 } else { 5 })));
            assert_eq!(table.statuses.get(&Status::Failed), Some(&20_000));
            let (last, _) = asked(100, |all| all.call_table(&page(CallSortKey::Tool, false, usize::MAX), None).unwrap());
            assert_eq!(last.first, if query.is_empty() { 400 } else { 0 }, "beyond the end is the last page");
            assert_eq!(last.calls.len(), 100, "{query}");
        }
    }
}
