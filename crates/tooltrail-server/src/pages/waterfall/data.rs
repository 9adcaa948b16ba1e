//! Data of a waterfall: a compact JSON of columns, so that twelve thousand calls take a few hundred kilobytes.
//!
//! A column has a value for each call, in the order of the rows; rare values are lists of their own, with the position
//! of the call. Times are milliseconds from `first`. Arguments make up most of the size, so with many calls they are
//! fetched separately, by sections.

use crate::call_rows::argument;
use crate::open_sessions::SessionReader;
use crate::words;
use serde::Serialize;
use std::collections::HashMap;
use tooltrail_formats::load;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::digest::{self, Lapse, Who};
use tooltrail_model::row::{CallNumber, CallRow, Place};
use tooltrail_model::transcript::{CallEntry, Transcript};
use tooltrail_model::waterfall::{self, Bar, Extent};
use tooltrail_model::{Kind, Status, Time};
use tooltrail_view::head::{is_problem, look, look_of};
use tooltrail_view::render::html::window::OrderedLine;

/// Number of calls above which arguments are fetched separately.
const MANY: usize = 2_000;
/// Calls per section of arguments.
const SECTION: usize = 200;
/// Letters of an argument.
const LETTERS: usize = 120;
/// Limit on the bytes of all headings, and the shortest and longest heading, in letters.
const HEADS: (usize, usize, usize) = (40_000, 24, 160);

/// The JSON. Field names are those that the script reads.
#[derive(Debug, Default, Serialize)]
pub(super) struct Data {
    /// The version of the session.
    v: String,
    /// Current time.
    now: i64,
    /// Whether the clock runs.
    ticks: bool,
    /// The first moment, in milliseconds since 1970; all other times are counted from it.
    first: i64,
    /// The first activity. There may be calls before it, which the session has only copied.
    began: i64,
    /// The last activity.
    last: i64,
    /// The last moment of anything that is drawn.
    end: i64,
    /// Parties at work one after the other, from `began` on: a digit each.
    who: String,
    /// Duration of each.
    lengths: Vec<i64>,
    /// Gaps without activity: start, length.
    gaps: Vec<(i64, i64)>,
    /// Each tool and its kind.
    tools: Vec<(String, &'static str)>,
    /// Each status: word, sign, colour, whether it is a problem.
    statuses: Vec<(&'static str, &'static str, &'static str, bool)>,
    /// Headings: position of the call after it, text, time, number of the turn.
    heads: Vec<(usize, String, Option<i64>, usize)>,
    /// Number of calls.
    count: usize,
    /// Calls per section of arguments if they are fetched separately, else 0.
    section: usize,
    /// Position among the session's calls, where it does not follow that of the call before.
    call: Vec<(usize, usize)>,
    /// Number, where it is not the position plus one.
    number: Vec<(usize, CallNumber)>,
    /// Nesting depth, where it differs from the call before.
    depth: Vec<(usize, usize)>,
    /// Status, as a letter.
    status: String,
    /// Tool, as a letter.
    tool: String,
    /// Argument.
    title: Vec<String>,
    /// Start, as the difference to the call before.
    start: Vec<Option<i64>>,
    /// Duration.
    took: Vec<Option<u64>>,
    /// Number of parallel calls, for the first of them; `+` for the others.
    parallel: String,
    /// Run time that the tool reports.
    ran: Vec<(usize, u64)>,
    /// Calls whose shown end is only an upper limit.
    at_most: Vec<usize>,
    /// Calls with only one known time.
    moment: Vec<usize>,
    /// Calls that wait for a person.
    person: Vec<usize>,
    /// Calls whose duration may include waiting for approval.
    waits: Vec<usize>,
    /// Hooks: call, start, length.
    hooks: Vec<(usize, i64, i64)>,
    /// Background tasks: call, end, whether they still run.
    tasks: Vec<(usize, Option<i64>, u8)>,
    /// Distinct texts on outcomes.
    ends: Vec<String>,
    /// Calls with such a text: call, index of the text.
    why: Vec<(usize, usize)>,
}

/// A session's calls with their bars, in the order of the rows.
pub(super) struct Waterfall<'r> {
    pub(super) transcript: &'r Transcript<'r>,
    pub(super) order: Vec<OrderedLine>,
    /// The bars of all calls, by their place in the transcript.
    pub(super) bars: Vec<Bar>,
    pub(super) lapse: Lapse,
}

impl<'r> Waterfall<'r> {
    pub(super) fn new(reader: &'r SessionReader<'_>) -> Self {
        let transcript = reader.book().transcript();
        let lapse = digest::lapse(transcript, &Selection::default());
        Waterfall { transcript, order: reader.window().order(transcript), bars: waterfall::bars(&transcript.calls), lapse }
    }

    /// The calls in order, with their nesting depth.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, usize, &CallEntry<'r>, &Bar)> {
        self.order.iter().filter_map(|placed| {
            let OrderedLine::Call { index, depth } = *placed else { return None };
            Some((index, depth, self.transcript.calls.get(index)?, self.bars.get(index)?))
        })
    }

    /// Text, time and turn of a heading.
    pub(super) fn heading(&self, placed: &OrderedLine) -> Option<(String, Option<Time>, usize)> {
        match *placed {
            OrderedLine::Call { .. } => None,
            OrderedLine::Turn(turn) => {
                let told = self.transcript.turns.get(turn)?;
                let head = told.head.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
                Some((words::cut(head, HEADS.2), told.time, turn + 1))
            }
            OrderedLine::Thread(None) => Some(("Calls that stand in no conversation".to_owned(), None, 0)),
            OrderedLine::Thread(Some(thread)) => {
                let thread = self.transcript.threads.get(thread);
                if thread.and_then(|thread| self.transcript.calls.get(thread.started_by?)).is_some_and(|call| call.row.kind == Kind::Script)
                {
                    return Some(("Calls in a script".to_owned(), None, 0));
                }
                let agent = thread.and_then(|thread| thread.agent.as_deref()).unwrap_or_default();
                Some((words::cut(&format!("Conversation of a subagent {agent}"), HEADS.2), None, 0))
            }
        }
    }

    /// The first and last moment of anything that is drawn.
    fn ends(&self) -> (i64, i64) {
        let known = self.bars.iter().flat_map(|bar| [bar.start(), bar.last()]).flatten();
        // Bars may lie outside the session's own time: copied calls before it, background tasks after it.
        let known: Vec<i64> = known.chain(self.lapse.first).chain(self.lapse.last()).collect();
        (known.iter().copied().min().unwrap_or(0), known.iter().copied().max().unwrap_or(0))
    }
}

/// Argument of a call, in so many letters.
pub(super) fn title(reader: &SessionReader<'_>, call: &CallEntry<'_>, letters: usize) -> String {
    let told = load::about_at(reader.disk, &call.row, call.request.at).unwrap_or_default();
    words::cut(argument(&told, call.row.cwd), letters)
}

/// Outcome of a call, where it says more than the status.
fn why(row: &CallRow<'_>) -> Option<String> {
    let said = tooltrail_view::head::outcome(row);
    (!said.is_empty() && said != look_of(row).word).then_some(said)
}

/// Name of the tool, with its MCP server in front.
pub(super) fn tool(row: &CallRow<'_>) -> String {
    // Agents write server and tool as one name, each with separators of its own.
    let own = row.server.and_then(|server| Some((server, row.tool.split_once(server)?.1.trim_matches(['_', '.', '/']))));
    match own {
        Some((server, tool)) if !tool.is_empty() => words::cut(&format!("{server} · {tool}"), 60),
        _ => words::cut(row.ran(), 60),
    }
}

/// Arguments of the calls of a section.
pub(super) fn titles(reader: &SessionReader<'_>, section: usize) -> Vec<String> {
    let order = reader.window().order(reader.book().transcript()).into_iter();
    let calls = order
        .filter_map(|placed| if let OrderedLine::Call { index, .. } = placed { reader.book().transcript().calls.get(index) } else { None });
    calls.skip(section.saturating_mul(SECTION)).take(SECTION).map(|call| title(reader, call, LETTERS)).collect()
}

/// Data of a session. `now`: current time; `ticks`: whether the clock runs.
pub(super) fn of(reader: &SessionReader<'_>, now: i64, ticks: bool) -> Data {
    let fall = Waterfall::new(reader);
    // Relative times are short numbers, which matters with thousands of them.
    let (first, end) = fall.ends();
    let count = fall.calls().count();
    let (who, lengths) = parts(&fall.lapse);
    let mut data = Data {
        v: format!("{:x}", reader.version),
        now: now.saturating_sub(first),
        ticks,
        first,
        began: fall.lapse.first.unwrap_or(first) - first,
        last: fall.lapse.last().unwrap_or(first) - first,
        end: end - first,
        who,
        lengths,
        gaps: waterfall::gaps(&fall.lapse, &fall.bars).into_iter().map(|(start, end)| (start - first, end - start)).collect(),
        statuses: Status::ALL.iter().map(|&status| (look(status).word, look(status).glyph, tone(status), is_problem(status))).collect(),
        count,
        section: if count > MANY { SECTION } else { 0 },
        ..Data::default()
    };
    let heads = fall.order.len() - count;
    // Sessions with very many turns get shorter headings, so that the total stays bounded.
    let letters = (HEADS.0 / heads.max(1)).clamp(HEADS.1, HEADS.2);
    let mut columns = Columns { first, ..Columns::default() };
    for placed in &fall.order {
        if let Some((text, time, turn)) = fall.heading(placed) {
            data.heads.push((columns.place, words::cut(&text, letters), time.map(|time| time.as_millisecond() - first), turn));
        }
        if let OrderedLine::Call { index, depth } = *placed
            && let (Some(call), Some(bar)) = (fall.transcript.calls.get(index), fall.bars.get(index))
        {
            // Each argument is read from its log, which with many calls takes longer than everything else.
            if count <= MANY {
                data.title.push(title(reader, call, LETTERS));
            }
            columns.add(&mut data, (index, depth), call, bar);
        }
    }
    data
}

/// Parties at work as digits, with their durations.
fn parts(lapse: &Lapse) -> (String, Vec<i64>) {
    let digit = |who: Option<Who>| match who {
        // The script has the same numbers.
        Some(Who::Hook) => '0',
        Some(Who::Tool) => '1',
        Some(Who::Person) => '2',
        Some(Who::Model) => '3',
        None => '4',
    };
    lapse.spans().map(|(who, start, end)| (digit(who), end - start)).unzip()
}

/// Colour of a status, as the style sheet's variable is named.
pub(super) fn tone(status: Status) -> &'static str {
    use tooltrail_view::head::Tone;
    match look(status).tone {
        Tone::Ok => "ok",
        Tone::Error => "error",
        Tone::Denied => "denied",
        Tone::Stopped | Tone::Missing => "stopped",
        Tone::Running => "link",
        Tone::Neutral | Tone::Muted => "muted",
    }
}

/// What identifies the message of a call.
type MessageKey<'r> = Option<(Option<&'r str>, Option<Place<'r>>)>;

/// State between calls while the columns are filled.
#[derive(Default)]
struct Columns<'r> {
    first: i64,
    /// The place of the next call among the rows.
    place: usize,
    /// The start of the last call.
    before: i64,
    /// Position in the session that the next call has if it follows directly.
    next: usize,
    depth: usize,
    /// The message of the last call, for each depth.
    messages: Vec<MessageKey<'r>>,
    tools: HashMap<&'r str, u32>,
    ends: HashMap<String, usize>,
}

impl<'r> Columns<'r> {
    fn add(&mut self, data: &mut Data, (index, depth): (usize, usize), call: &CallEntry<'r>, bar: &Bar) {
        let (row, place) = (&call.row, self.place);
        self.place += 1;
        // Runs of consecutive calls are the rule, so only the breaks are stored.
        if index != self.next {
            data.call.push((place, index));
        }
        self.next = index + 1;
        if call.number.call as usize != index + 1 || call.number.inner > 0 {
            data.number.push((place, call.number));
        }
        if depth != self.depth {
            data.depth.push((place, depth));
        }
        self.depth = depth;
        data.status.push(char::from(b'a' + row.status as u8));
        data.tool.push(self.tool(&mut data.tools, row));
        let start = bar.start().map(|start| start - self.first);
        data.start.push(start.map(|start| start - self.before));
        // A call without a time leaves the reference as it is; the script does the same.
        self.before = start.unwrap_or(self.before);
        data.took.push(bar.took);
        data.parallel.push(self.beside(row, depth));
        data.ran.extend(bar.ran.map(|ran| (place, ran)));
        match bar.extent {
            Extent::Whole { at_most: true, .. } => data.at_most.push(place),
            Extent::At(_) => data.moment.push(place),
            _ => {}
        }
        if bar.person {
            data.person.push(place);
        }
        if row.may_wait {
            data.waits.push(place);
        }
        data.hooks.extend(bar.hooks.iter().map(|(start, end)| (place, start - self.first, end - start)));
        data.tasks.extend(bar.task.map(|task| (place, task.end.map(|end| end - self.first), u8::from(task.running))));
        if let Some(why) = why(row) {
            let ends = &mut data.ends;
            // Outcomes such as `exit code 1` repeat, so each text is stored once.
            let known = *self.ends.entry(why).or_insert_with_key(|why| {
                ends.push(why.clone());
                ends.len() - 1
            });
            data.why.push((place, known));
        }
    }

    /// Letter of a tool, which is added to the list when it first occurs.
    fn tool(&mut self, known: &mut Vec<(String, &'static str)>, row: &CallRow<'r>) -> char {
        let place = *self.tools.entry(row.ran()).or_insert_with(|| {
            known.push((tool(row), row.kind.word()));
            known.len() as u32 - 1
        });
        char::from_u32(FIRST_LETTER + place.min(MOST_TOOLS)).unwrap_or('0')
    }

    /// Letter for parallel calls: their number for the first of them, `+` for the others.
    fn beside(&mut self, row: &CallRow<'r>, depth: usize) -> char {
        let message = row.message_key();
        let together = row.parallel > 1 && message.is_some();
        let same = self.messages.get(depth) == Some(&message);
        // Deeper levels are forgotten: the next subagent at that depth is another one.
        self.messages.resize(depth, None);
        self.messages.push(message);
        match (together, same) {
            (false, _) => '.',
            (true, true) => '+',
            (true, false) => char::from_digit(row.parallel.min(35), 36).unwrap_or('z'),
        }
    }
}

/// The letter of the first tool; the others have those after it.
const FIRST_LETTER: u32 = 48;
/// Limit on letters, below the range of surrogates; further tools share the last.
const MOST_TOOLS: u32 = 50_000;
