//! The data of a waterfall: one compact JSON of columns, so that twelve thousand calls take a few hundred kilobytes.
//!
//! A column has a value for each call, in the order of the rows; what few calls have stands in a list of its own, beside the place of the
//! call among the rows. Times are milliseconds, counted from `first`. What calls are about is most of it, so where there are many calls
//! that is asked for apart, by sections.

use crate::call_rows::argument;
use crate::open_sessions::SessionReader;
use crate::words;
use serde::Serialize;
use std::collections::HashMap;
use tooltrail_formats::load;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::digest::{self, Lapse, Who};
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::{CallEntry, Transcript};
use tooltrail_model::waterfall::{self, Bar, Extent};
use tooltrail_model::{Status, Time};
use tooltrail_view::head::{is_problem, look, look_of};
use tooltrail_view::render::html::window::OrderedLine;

/// With more calls than this, what they are about is asked for apart.
const MANY: usize = 2_000;
/// How many calls make a section of that.
const SECTION: usize = 200;
/// How many letters of it are told.
const LETTERS: usize = 120;
/// How many bytes headings may take, all in all; and the shortest and the longest of them, in letters.
const HEADS: (usize, usize, usize) = (40_000, 24, 160);

/// All of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Data {
    /// The version of the session.
    v: String,
    /// The moment of asking.
    now: i64,
    /// Whether the clock goes on.
    ticks: bool,
    /// The first moment, in milliseconds since 1970; all other times are counted from it.
    first: i64,
    /// The first sign of life. There may be calls before it, which the session has only copied.
    began: i64,
    /// The last sign of life.
    last: i64,
    /// The last moment of anything that is drawn.
    end: i64,
    /// Who was at work from the first sign of life on, one after the other: a digit each.
    who: String,
    /// For how long.
    lengths: Vec<i64>,
    /// Stretches in which nothing went on: from, how long.
    gaps: Vec<(i64, i64)>,
    /// Each tool and its kind.
    tools: Vec<(String, &'static str)>,
    /// Each status: word, sign, colour, whether it is a problem.
    statuses: Vec<(&'static str, &'static str, &'static str, bool)>,
    /// Headings: before which call, what they say, when, the turn's number.
    heads: Vec<(usize, String, Option<i64>, usize)>,
    /// How many calls there are.
    count: usize,
    /// How many calls make a section of what they are about, where that is asked for apart.
    section: usize,
    /// Its place among the calls of the session, where that is not the one after the place of the call before it.
    call: Vec<(usize, usize)>,
    /// Its number, where that is not its place and one.
    number: Vec<(usize, u32)>,
    /// How many calls it stands in, where that is not as for the call before it.
    depth: Vec<(usize, usize)>,
    /// What became of it, as a letter.
    status: String,
    /// Which tool, as a letter.
    tool: String,
    /// What it is about.
    title: Vec<String>,
    /// When it began, as the step from the one before.
    start: Vec<Option<i64>>,
    /// How long it took.
    took: Vec<Option<u64>>,
    /// How many calls were made at once, for the first of them; `+` for the others.
    parallel: String,
    /// How long the tool ran.
    ran: Vec<(usize, u64)>,
    /// Calls whose end is not after what is drawn, and may be before.
    at_most: Vec<usize>,
    /// Calls of which only one moment is known.
    moment: Vec<usize>,
    /// Calls that wait for a person.
    person: Vec<usize>,
    /// Hooks: of which call, from, how long.
    hooks: Vec<(usize, i64, i64)>,
    /// Background tasks: of which call, until when, whether they go on.
    tasks: Vec<(usize, Option<i64>, u8)>,
    /// Texts on how calls ended.
    ends: Vec<String>,
    /// Which of these says more than the status.
    why: Vec<(usize, usize)>,
}

/// A session as far as its waterfall goes.
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

    /// The calls in their order, with how deep they stand.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, usize, &CallEntry<'r>, &Bar)> {
        self.order.iter().filter_map(|placed| {
            let OrderedLine::Call { index, depth } = *placed else { return None };
            Some((index, depth, self.transcript.calls.get(index)?, self.bars.get(index)?))
        })
    }

    /// What a heading says, and when that was.
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
                let agent = self.transcript.threads.get(thread).and_then(|thread| thread.agent.as_deref()).unwrap_or_default();
                Some((words::cut(&format!("Conversation of a subagent {agent}"), HEADS.2), None, 0))
            }
        }
    }

    /// The first and the last moment of anything.
    fn ends(&self) -> (i64, i64) {
        let known = self.bars.iter().flat_map(|bar| [bar.start(), bar.last()]).flatten();
        let known: Vec<i64> = known.chain(self.lapse.first).chain(self.lapse.last()).collect();
        (known.iter().copied().min().unwrap_or(0), known.iter().copied().max().unwrap_or(0))
    }
}

/// What a call is about, in so many letters.
pub(super) fn title(reader: &SessionReader<'_>, call: &CallEntry<'_>, letters: usize) -> String {
    let told = load::about_at(reader.shelf, &call.row, call.request.at).unwrap_or_default();
    words::cut(argument(&told, call.row.cwd), letters)
}

/// What the log says of how a call ended, where that is more than its status.
fn why(row: &CallRow<'_>) -> Option<String> {
    let said = tooltrail_view::head::outcome(row);
    (!said.is_empty() && said != look_of(row).word).then_some(said)
}

/// The tool, and the server that it belongs to.
pub(super) fn tool(row: &CallRow<'_>) -> String {
    let own = row.server.and_then(|server| Some((server, row.tool.split_once(server)?.1.trim_matches(['_', '.', '/']))));
    match own {
        Some((server, tool)) if !tool.is_empty() => words::cut(&format!("{server} · {tool}"), 60),
        _ => words::cut(row.tool, 60),
    }
}

/// What the calls of a section are about.
pub(super) fn titles(reader: &SessionReader<'_>, section: usize) -> Vec<String> {
    let order = reader.window().order(reader.book().transcript()).into_iter();
    let calls = order
        .filter_map(|placed| if let OrderedLine::Call { index, .. } = placed { reader.book().transcript().calls.get(index) } else { None });
    calls.skip(section.saturating_mul(SECTION)).take(SECTION).map(|call| title(reader, call, LETTERS)).collect()
}

/// The data of a session. `now`: the moment of asking; `ticks`: whether the clock goes on.
pub(super) fn of(reader: &SessionReader<'_>, now: i64, ticks: bool) -> Data {
    let fall = Waterfall::new(reader);
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
    let letters = (HEADS.0 / heads.max(1)).clamp(HEADS.1, HEADS.2);
    let mut columns = Columns { first, ..Columns::default() };
    for placed in &fall.order {
        if let Some((text, time, turn)) = fall.heading(placed) {
            data.heads.push((columns.place, words::cut(&text, letters), time.map(|time| time.as_millisecond() - first), turn));
        }
        if let OrderedLine::Call { index, depth } = *placed
            && let (Some(call), Some(bar)) = (fall.transcript.calls.get(index), fall.bars.get(index))
        {
            if count <= MANY {
                data.title.push(title(reader, call, LETTERS));
            }
            columns.add(&mut data, (index, depth), call, bar);
        }
    }
    data
}

/// Who was at work, and for how long.
fn parts(lapse: &Lapse) -> (String, Vec<i64>) {
    let digit = |who: Option<Who>| match who {
        Some(Who::Hook) => '0',
        Some(Who::Tool) => '1',
        Some(Who::Person) => '2',
        Some(Who::Model) => '3',
        None => '4',
    };
    lapse.spans().map(|(who, start, end)| (digit(who), end - start)).unzip()
}

/// The colour of a status, as a variable of the style sheet calls it.
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

/// What is kept from one call to the next while columns are filled.
#[derive(Default)]
struct Columns<'r> {
    first: i64,
    /// The place of the next call among the rows.
    place: usize,
    /// The start of the last call.
    before: i64,
    /// The place in the session that the next call has if nothing stands between.
    next: usize,
    depth: usize,
    /// The message of the last call, for each depth.
    messages: Vec<Option<&'r str>>,
    tools: HashMap<&'r str, u32>,
    ends: HashMap<String, usize>,
}

impl<'r> Columns<'r> {
    fn add(&mut self, data: &mut Data, (index, depth): (usize, usize), call: &CallEntry<'r>, bar: &Bar) {
        let (row, place) = (&call.row, self.place);
        self.place += 1;
        if index != self.next {
            data.call.push((place, index));
        }
        self.next = index + 1;
        if call.number as usize != index + 1 {
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
        data.hooks.extend(bar.hooks.iter().map(|(start, end)| (place, start - self.first, end - start)));
        data.tasks.extend(bar.task.map(|task| (place, task.end.map(|end| end - self.first), u8::from(task.running))));
        if let Some(why) = why(row) {
            let ends = &mut data.ends;
            let known = *self.ends.entry(why).or_insert_with_key(|why| {
                ends.push(why.clone());
                ends.len() - 1
            });
            data.why.push((place, known));
        }
    }

    /// The letter of a tool.
    fn tool(&mut self, known: &mut Vec<(String, &'static str)>, row: &CallRow<'r>) -> char {
        let place = *self.tools.entry(row.tool).or_insert_with(|| {
            known.push((tool(row), row.kind.word()));
            known.len() as u32 - 1
        });
        char::from_u32(FIRST_LETTER + place.min(MOST_TOOLS)).unwrap_or('0')
    }

    /// How many calls were made at once, for the first of them; `+` for the others.
    fn beside(&mut self, row: &CallRow<'r>, depth: usize) -> char {
        let together = row.parallel > 1 && row.message.is_some();
        let same = self.messages.get(depth) == Some(&row.message);
        self.messages.resize(depth, None);
        self.messages.push(row.message);
        match (together, same) {
            (false, _) => '.',
            (true, true) => '+',
            (true, false) => char::from_digit(row.parallel.min(35), 36).unwrap_or('z'),
        }
    }
}

/// The letter of the first tool; the others have those after it.
const FIRST_LETTER: u32 = 48;
/// With more tools than letters, the others share the last.
const MOST_TOOLS: u32 = 50_000;
