//! A running session as `board` shows it: its state and how long it lasts, the running call, and the last failed call.

use crate::commands::calls::why;
use crate::out::{self, DIM};
use crate::table::{self, Align, Cell, Table};
use anstyle::Style;
use tooltrail_catalog::matching::{self, MatchContext, MatchScope};
use tooltrail_formats::load;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::LinkedCall;
use tooltrail_model::row::CallRow;
use tooltrail_model::{Status, Time};
use tooltrail_view::digest::state_words;
use tooltrail_view::head::ago;

/// A session that is running, or has just ended.
#[derive(Clone, Debug)]
pub(crate) struct RunningSession {
    /// Agent and id.
    pub(crate) key: (String, String),
    /// The object that `list --json` prints.
    pub(crate) row: String,
    pub(crate) state: &'static str,
    reason: &'static str,
    /// Start of this state, according to its records.
    since: Option<Time>,
    short: String,
    project: String,
    title: String,
    /// The running call that is shown, with its start; and the number of others that run in parallel.
    call: Option<(String, Option<Time>)>,
    beside: usize,
    /// The last call that failed.
    failure: Option<(String, Option<Time>)>,
    calls: u64,
    tokens: u64,
    last: Option<Time>,
}

/// The columns, each with the terminal width that it needs.
const COLUMNS: [(&str, Align, usize); 11] = [
    ("SESSION", Align::Left, 0),
    ("STATE", Align::Left, 0),
    ("FOR", Align::Right, 0),
    ("PROJECT", Align::Fill, 70),
    ("TITLE", Align::Fill, 0),
    ("CALL", Align::Fill, 0),
    ("RUNS", Align::Right, 80),
    ("LAST FAILURE", Align::Fill, 110),
    ("CALLS", Align::Right, 140),
    ("TOKENS", Align::Right, 140),
    ("WRITTEN", Align::Right, 120),
];
/// Terminal width from which the reason of a state is shown.
const REASONS: usize = 130;

impl RunningSession {
    /// A session of linked logs; `None` if the filter does not match it.
    pub(crate) fn of(asked: &MatchContext<'_>, session: usize, filter: &Filter) -> Option<Self> {
        let (linked, now) = (asked.linked, asked.now);
        let row = linked.session_row(session, now)?;
        if !filter.is_empty() && !matching::sessions(asked, filter, MatchScope::Call).contains(&session) {
            return None;
        }
        let own = linked.calls_of(session).iter().filter(|call| call.copy_of.is_none());
        let rows: Vec<(&LinkedCall, CallRow<'_>)> = own.map(|call| (call, linked.call_row(call, now, false))).collect();
        let time = |call: &LinkedCall| linked.record(call.id).time;
        let told = |(call, row): &(&LinkedCall, CallRow<'_>)| {
            let what = load::about_at(asked.disk, row, linked.record(call.id)).unwrap_or_default();
            (format!("{} {what}", row.tool), time(call))
        };
        // A call that waits for permission is shown first: only the user can end that. Then calls of the main conversation before those
        // of subagents, and older ones before newer ones.
        let at_work = |(call, row): &&(&LinkedCall, CallRow<'_>)| {
            (row.reason != Some(tooltrail_model::Reason::AwaitingPermission), row.sidechain, time(call))
        };
        let running = || rows.iter().filter(|(_, row)| row.status == Status::Running);
        let failed = rows.iter().filter(|(_, row)| matches!(row.status, Status::Failed | Status::TimedOut));
        let failed = failed.max_by_key(|(call, _)| time(call));
        let failure = failed.map(|failed| {
            let (what, time) = told(failed);
            (format!("{} {what}", why(failed.1.reason, failed.1.exit_code)), time)
        });
        let call = running().min_by_key(at_work).map(told);
        let last = row.last_at;
        let state = row.state.unwrap_or("ended");
        let project = row.project.unwrap_or_default();
        let usage = &row.usage;
        let tokens = [usage.input, usage.output, usage.cache_write_5m, usage.cache_write_1h, usage.cache_read];
        Some(RunningSession {
            key: (row.agent.to_owned(), row.session.to_owned()),
            row: serde_json::to_string(&row).unwrap_or_default(),
            state,
            reason: row.state_reason.unwrap_or_default(),
            // A waiting session waits since the request of that call; a working one works since its call, or its last record.
            since: call.as_ref().and_then(|(_, time)| *time).or(last),
            short: row.short.to_owned(),
            project: project.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(project).to_owned(),
            title: row.title.unwrap_or_default().to_owned(),
            beside: running().count().saturating_sub(1),
            call,
            failure,
            calls: row.calls,
            tokens: tokens.iter().fold(0, |sum: u64, count| sum.saturating_add(*count)),
            last,
        })
    }

    /// True unless the session has ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.state != "ended"
    }

    /// Whether it waits for the user.
    pub(crate) fn needs_you(&self) -> bool {
        self.order().0 == 0
    }

    /// Its title, or its short name if it has none.
    pub(crate) fn name(&self) -> &str {
        if self.title.is_empty() { &self.short } else { &self.title }
    }

    /// Sort key: sessions that need the user first, those that wait longest at the top.
    pub(crate) fn order(&self) -> (u8, Option<Time>, &str) {
        let rank = match self.state {
            "asks" | "waiting" => 0,
            "working" => 1,
            _ => 2,
        };
        // The id makes the order total, so that rows of equal age do not swap places between two redraws.
        (rank, self.since, &self.key.1)
    }

    /// Cells of its row, in the order of `COLUMNS`.
    fn cells(&self, now: Time, reasons: bool) -> [Cell; COLUMNS.len()] {
        let since = |time: Option<Time>| time.map(|time| ago(time, now)).unwrap_or_default();
        let style = match self.state {
            "working" => out::look(Status::Running).1,
            "your_turn" => Style::new(),
            _ => out::look(Status::TimedOut).1,
        };
        let beside = if self.beside > 0 { format!("+{} ", self.beside) } else { String::new() };
        let (call, runs) = self.call.as_ref().map(|(what, time)| (format!("{beside}{what}"), since(*time))).unwrap_or_default();
        let failure = self.failure.as_ref().map(|(what, time)| format!("{} ago: {what}", since(*time))).unwrap_or_default();
        // The same words as on the pages, so that terminal and browser agree.
        let state = match state_words(Some(self.state), Some(self.reason).filter(|reason| reasons && !reason.is_empty())) {
            Some((word, Some(why))) => format!("{word}: {why}"),
            Some((word, None)) => word.to_owned(),
            None => String::new(),
        };
        [
            Cell::styled(&self.short, DIM),
            Cell::styled(state, style),
            since(self.since).into(),
            self.project.as_str().into(),
            self.title.as_str().into(),
            call.into(),
            runs.into(),
            Cell::styled(failure, out::look(Status::Failed).1),
            table::count(self.calls).into(),
            short(self.tokens).into(),
            Cell::styled(since(self.last), DIM),
        ]
    }
}

/// A table of sessions in the given order; columns that do not fit the width are left out. `selected` is the place of the marked row.
pub(crate) fn table<'r>(
    sessions: impl IntoIterator<Item = &'r RunningSession>,
    now: Time,
    width: Option<usize>,
    selected: Option<usize>,
) -> Table {
    let fits = |least: usize| width.is_none_or(|width| width >= least);
    let columns: Vec<(&str, Align)> = COLUMNS.iter().filter(|column| fits(column.2)).map(|column| (column.0, column.1)).collect();
    let mut table = Table::new(&columns);
    for (place, session) in sessions.into_iter().enumerate() {
        let cells = session.cells(now, fits(REASONS)).into_iter().zip(COLUMNS);
        let mut cells: Vec<Cell> = cells.filter(|(_, column)| fits(column.2)).map(|(cell, _)| cell).collect();
        if selected == Some(place) {
            cells.iter_mut().for_each(Cell::invert);
        }
        table.row(cells);
    }
    table
}

/// Number of running sessions, and of those that wait for the user.
pub(crate) fn summary<'r>(sessions: impl IntoIterator<Item = &'r RunningSession>) -> String {
    let (mut all, mut needy) = (0, 0);
    for session in sessions {
        all += 1;
        needy += u64::from(session.needs_you());
    }
    let run = format!("{} {}", table::counted(all, "session"), if all == 1 { "runs" } else { "run" });
    match needy {
        0 => run,
        1 => format!("{run}, 1 waits for you"),
        needy => format!("{run}, {needy} wait for you"),
    }
}

/// A large number in a few letters: `950`, `12.3k`, `4.5M`.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", number as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1}M", number as f64 / 1e6),
        _ => format!("{:.1}G", number as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        assert_eq!([0, 999, 12_345, 4_500_000, 7_100_000_000].map(short).join(" "), "0 999 12.3k 4.5M 7.1G");
    }
}
