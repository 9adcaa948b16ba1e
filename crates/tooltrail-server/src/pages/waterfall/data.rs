//! The data of a waterfall: one compact JSON of columns, so that twelve thousand calls take a few hundred kilobytes.
//!
//! A column has a value for each call, in the order of the rows; what few calls have stands in a list of its own, beside the place of the
//! call among the rows. Times are milliseconds, counted from `first`. docs/page.md says what they mean.

use crate::called::argument;
use crate::rooms::Room;
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
use tooltrail_view::head::{is_problem, look};
use tooltrail_view::render::html::window::Placed;

/// How many bytes what calls are about may take, all in all.
const TITLES: usize = 300_000;
/// The shortest and the longest of these, in letters.
const TITLE: (usize, usize) = (16, 120);
/// How much of a prompt stands in its heading.
const HEAD: usize = 160;

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Data {
    /// The version of the session.
    v: String,
    /// The moment of asking.
    now: i64,
    /// Whether the clock goes on.
    ticks: bool,
    /// The first moment, in milliseconds since 1970; all other times are counted from it.
    first: i64,
    /// The last sign of life.
    last: i64,
    /// The last moment of anything that is drawn.
    end: i64,
    /// Who was at work, and for how long, one after the other.
    parts: Vec<(u8, i64)>,
    /// Stretches in which nothing went on: from, how long.
    gaps: Vec<(i64, i64)>,
    /// Each tool and its kind.
    tools: Vec<(String, &'static str)>,
    /// Each status: word, sign, colour, whether it is a problem.
    statuses: Vec<(&'static str, &'static str, &'static str, bool)>,
    /// Headings: before which call, what they say, when, the turn's number.
    heads: Vec<(usize, String, Option<i64>, usize)>,
    /// Its place among the calls of the session, as the step from the one before.
    call: Vec<i64>,
    /// Its number, where that is not its place and one.
    number: Vec<(usize, u32)>,
    /// How many calls it stands in.
    depth: String,
    /// What became of it, as a letter.
    status: String,
    /// Which tool.
    tool: Vec<usize>,
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
    /// What the log says of how they ended, where that is more than a word.
    why: Vec<(usize, String)>,
}

/// A session as far as its waterfall goes.
pub(super) struct Fall<'r> {
    pub(super) transcript: &'r Transcript<'r>,
    pub(super) order: Vec<Placed>,
    /// The bars of all calls, by their place in the transcript.
    pub(super) bars: Vec<Bar>,
    pub(super) lapse: Lapse,
}

impl<'r> Fall<'r> {
    pub(super) fn new(room: &'r Room<'_>) -> Self {
        let transcript = room.book.transcript();
        let lapse = digest::lapse(transcript, &Selection::default());
        Fall { transcript, order: room.window.order(transcript), bars: waterfall::bars(&transcript.calls), lapse }
    }

    /// The calls in their order, with how deep they stand.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, usize, &CallEntry<'r>, &Bar)> {
        self.order.iter().filter_map(|placed| {
            let Placed::Call { index, depth } = *placed else { return None };
            Some((index, depth, self.transcript.calls.get(index)?, self.bars.get(index)?))
        })
    }

    /// What a heading says, and when that was.
    pub(super) fn heading(&self, placed: &Placed) -> Option<(String, Option<Time>, usize)> {
        match *placed {
            Placed::Call { .. } => None,
            Placed::Turn(turn) => {
                let told = self.transcript.turns.get(turn)?;
                let head = told.head.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
                Some((words::cut(head, HEAD), told.time, turn + 1))
            }
            Placed::Thread(thread) => {
                let agent = thread.and_then(|thread| self.transcript.threads.get(thread)?.agent.as_deref());
                let name = agent.map(|agent| words::cut(agent, HEAD));
                let what = if thread.is_some() { "A subagent that no call here started" } else { "Calls outside of the conversation" };
                Some((name.map_or_else(|| what.to_owned(), |name| format!("{what}: {name}")), None, 0))
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
pub(super) fn title(room: &Room<'_>, call: &CallEntry<'_>, letters: usize) -> String {
    let told = load::argument_at(room.shelf, &call.row, call.request.at).unwrap_or_default();
    words::cut(&argument(&told, call.row.cwd), letters)
}

/// What the log says of how a call ended, where that is more than its status.
fn why(row: &CallRow<'_>) -> Option<String> {
    let said = tooltrail_view::head::outcome(row);
    (!said.is_empty() && said != look(row.status).word).then_some(said)
}

/// The data of a session. `now`: the moment of asking; `ticks`: whether the clock goes on.
pub(super) fn of(room: &Room<'_>, now: i64, ticks: bool) -> Data {
    let fall = Fall::new(room);
    let (first, end) = fall.ends();
    let calls = fall.calls().count();
    let letters = (TITLES / calls.max(1)).clamp(TITLE.0, TITLE.1);
    let mut data = Data {
        v: format!("{:x}", room.version),
        now: now - first,
        ticks,
        first,
        last: fall.lapse.last().unwrap_or(first) - first,
        end: end - first,
        parts: parts(&fall.lapse, first),
        gaps: waterfall::gaps(&fall.lapse, &fall.bars).into_iter().map(|(start, end)| (start - first, end - start)).collect(),
        tools: Vec::new(),
        statuses: Status::ALL.iter().map(|&status| (look(status).word, look(status).glyph, tone(status), is_problem(status))).collect(),
        heads: Vec::new(),
        call: Vec::with_capacity(calls),
        number: Vec::new(),
        depth: String::new(),
        status: String::new(),
        tool: Vec::with_capacity(calls),
        title: Vec::with_capacity(calls),
        start: Vec::with_capacity(calls),
        took: Vec::with_capacity(calls),
        parallel: String::new(),
        ran: Vec::new(),
        at_most: Vec::new(),
        moment: Vec::new(),
        person: Vec::new(),
        hooks: Vec::new(),
        tasks: Vec::new(),
        why: Vec::new(),
    };
    let mut columns = Columns { first, before: 0, index: -1, messages: Vec::new(), tools: HashMap::new() };
    for placed in &fall.order {
        if let Some((text, time, turn)) = fall.heading(placed) {
            data.heads.push((data.call.len(), text, time.map(|time| time.as_millisecond() - first), turn));
        }
        if let Placed::Call { index, depth } = *placed
            && let (Some(call), Some(bar)) = (fall.transcript.calls.get(index), fall.bars.get(index))
        {
            data.title.push(title(room, call, letters));
            columns.add(&mut data, index, depth, call, bar);
        }
    }
    data
}

/// Who was at work, and for how long.
fn parts(lapse: &Lapse, first: i64) -> Vec<(u8, i64)> {
    // Before the first sign of life there may be something that the session has only copied.
    let before = lapse.first.map(|start| start - first).filter(|before| *before > 0).map(|before| (4, before));
    let parts = lapse.spans().map(|(who, start, end)| {
        let who = match who {
            Some(Who::Hook) => 0,
            Some(Who::Tool) => 1,
            Some(Who::Person) => 2,
            Some(Who::Model) => 3,
            None => 4,
        };
        (who, end - start)
    });
    before.into_iter().chain(parts).collect()
}

/// The colour of a status, as a variable of the style sheet calls it.
fn tone(status: Status) -> &'static str {
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
struct Columns<'r> {
    first: i64,
    before: i64,
    index: i64,
    /// The message of the last call, for each depth.
    messages: Vec<Option<&'r str>>,
    tools: HashMap<&'r str, usize>,
}

impl<'r> Columns<'r> {
    fn add(&mut self, data: &mut Data, index: usize, depth: usize, call: &CallEntry<'r>, bar: &Bar) {
        let (row, place) = (&call.row, data.call.len());
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        data.call.push(index - self.index);
        self.index = index;
        if i64::from(call.number) != index + 1 {
            data.number.push((place, call.number));
        }
        data.depth.push(char::from_digit(depth.min(9) as u32, 10).unwrap_or('9'));
        data.status.push(char::from(b'a' + row.status as u8));
        let tools = &mut data.tools;
        data.tool.push(*self.tools.entry(row.tool).or_insert_with(|| {
            tools.push((words::cut(row.tool, 60), row.kind.word()));
            tools.len() - 1
        }));
        let start = bar.start().map(|start| start - self.first);
        data.start.push(start.map(|start| start - self.before));
        self.before = start.unwrap_or(self.before);
        data.took.push(row.duration_ms);
        let together = row.parallel > 1 && row.message.is_some();
        data.parallel.push(match together {
            true if self.messages.get(depth) == Some(&row.message) => '+',
            true => char::from_digit(row.parallel.min(35), 36).unwrap_or('z'),
            false => '.',
        });
        self.messages.resize(depth + 1, None);
        self.messages.truncate(depth);
        self.messages.push(row.message);
        data.ran.extend(bar.ran.map(|ran| (place, ran)));
        if matches!(bar.extent, Extent::Whole { at_most: true, .. }) {
            data.at_most.push(place);
        }
        if matches!(bar.extent, Extent::At(_)) {
            data.moment.push(place);
        }
        if bar.person {
            data.person.push(place);
        }
        data.hooks.extend(bar.hooks.iter().map(|(start, end)| (place, start - self.first, end - start)));
        data.tasks.extend(bar.task.map(|task| (place, task.end.map(|end| end - self.first), u8::from(task.running))));
        data.why.extend(why(row).map(|why| (place, why)));
    }
}
