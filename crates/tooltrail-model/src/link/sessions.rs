//! Sessions: combines what all sources of a session say about it.

use super::checkouts::{Checkouts, SessionNames, SessionPlace};
use super::roots::Roots;
use super::{Linked, Source, small};
use crate::event::TitleBy;
use crate::summary::{Ended, SessionRecord, Summary, TurnRecord};
use crate::text::{Name, Names};
use crate::usage::Tokens;
use crate::{Map, Set, Time};
use std::collections::BTreeSet;

/// A session of an agent.
#[derive(Clone, Debug, Default)]
pub struct LinkedSession {
    /// The agent.
    pub agent: &'static str,
    /// Its id.
    pub id: Box<str>,
    /// The shortest beginning of the id that no other session has.
    pub short: Box<str>,
    /// Its sources, by path.
    pub sources: Vec<usize>,
    /// The first timestamp.
    pub first: Option<Time>,
    /// The last timestamp.
    pub last: Option<Time>,
    /// Its title.
    pub title: Option<Box<str>>,
    /// The directory it belongs to.
    pub project: Option<Box<str>>,
    /// The directory it belongs to by its own sources alone.
    pub place: SessionPlace,
    /// The directory that it began in.
    pub directory: Option<Box<str>>,
    /// The branch it was last on.
    pub branch: Option<Box<str>>,
    /// The models that answered.
    pub models: BTreeSet<Box<str>>,
    /// Turns that began here.
    pub turns: u64,
    /// Tokens of requests first made here.
    pub usage: Tokens,
    /// The last event of the main conversation.
    pub ending: Option<Ended>,
}

impl LinkedSession {
    /// Takes in the last event that one source knows. Of two at the same time, the one of the later source counts.
    fn ends_with(&mut self, ending: Option<Ended>) {
        let later = |a: Ended, b: Ended| if b.time >= a.time { b } else { a };
        self.ending = self.ending.zip(ending).map(|(a, b)| later(a, b)).or(self.ending).or(ending);
    }
}

/// The session that a name of a source refers to.
pub(super) type SessionIndex = Map<(usize, Name), usize>;

/// Finds the sessions and sorts them by start.
pub(super) fn gather<'a>(logs: &[&'a Source], roots: &Roots<'a>, known: Option<&SessionNames>) -> (Vec<LinkedSession>, SessionIndex) {
    let mut found: Map<(&'static str, Box<str>), LinkedSession> = Map::default();
    for (number, source) in logs.iter().enumerate() {
        let Some(agent) = source.summary.agent else { continue };
        for record in source.summary.sessions.iter().filter(|record| !record.beside) {
            let id: Box<str> = roots.of(agent, source.summary.names.text(record.session)).into();
            let session = found.entry((agent, id.clone())).or_insert_with(|| LinkedSession { agent, id, ..LinkedSession::default() });
            // Sources come in order, so a repeated one can only be the last.
            if session.sources.last() != Some(&number) {
                session.sources.push(number);
            }
            session.first = [session.first, record.first].into_iter().flatten().min();
            session.last = session.last.max(record.last);
            session.ends_with(record.ending);
        }
    }
    // Descriptions come last: they add to sessions that have logs, and make none.
    for source in logs {
        let Some(agent) = source.summary.agent else { continue };
        for record in source.summary.sessions.iter().filter(|record| record.beside) {
            let id = roots.of(agent, source.summary.names.text(record.session)).into();
            if let Some(session) = found.get_mut(&(agent, id)) {
                session.ends_with(record.ending);
            }
        }
    }
    let mut sessions: Vec<LinkedSession> = found.into_values().collect();
    // A complete order, so that numbers do not depend on the order of a map.
    sessions.sort_by(|a, b| (a.first.unwrap_or(Time::MAX), a.agent, &a.id).cmp(&(b.first.unwrap_or(Time::MAX), b.agent, &b.id)));
    name(&mut sessions, known);
    let numbers: Map<(&str, &str), usize> =
        sessions.iter().enumerate().map(|(number, session)| ((session.agent, &*session.id), number)).collect();
    let mut index = SessionIndex::default();
    for (source, entry) in logs.iter().enumerate() {
        let Some(agent) = entry.summary.agent else { continue };
        for record in &entry.summary.sessions {
            let number = numbers.get(&(agent, roots.of(agent, entry.summary.names.text(record.session))));
            index.extend(number.map(|&number| ((source, record.session), number)));
        }
    }
    (sessions, index)
}

/// The sessions by agent and id, as indices.
pub(super) fn by_id(sessions: &[LinkedSession]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..sessions.len()).map(small).collect();
    order.sort_unstable_by_key(|&index| sessions.get(index as usize).map(|session| (session.agent, &*session.id)));
    order
}

/// The shortest unique beginning of each id, of at least four characters.
pub fn shorten(ids: &[&str]) -> Vec<Box<str>> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|&index| ids[index]);
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let mut shorts = vec![Box::from(""); ids.len()];
    for (place, &index) in order.iter().enumerate() {
        // In sorted order only neighbours can share the longest beginning.
        let near = [place.checked_sub(1), Some(place + 1)].into_iter().flatten().filter_map(|place| order.get(place));
        let longest = near.map(|&other| shared(ids[index], ids[other])).max().unwrap_or(0);
        shorts[index] = ids[index].chars().take((longest + 1).max(4)).collect::<String>().into();
    }
    shorts
}

/// Gives each session its short name: the known one, or the shortest that is unique here.
fn name(sessions: &mut [LinkedSession], known: Option<&SessionNames>) {
    let shorts = shorten(&sessions.iter().map(|session| &*session.id).collect::<Vec<_>>());
    for (session, short) in sessions.iter_mut().zip(shorts) {
        // A lookup needs an owned id; that copy is avoided where no name is known at all.
        let known = known.and_then(|known| known.shorts.get(&(session.agent, session.id.clone())));
        session.short = known.cloned().unwrap_or(short);
    }
}

/// Fills in what the sources say: titles, places, turns, usage and the models that were paid for.
pub(super) fn describe(linked: &Linked<'_>, mut sessions: Vec<LinkedSession>, known: Option<&SessionNames>) -> Vec<LinkedSession> {
    title(linked, &mut sessions);
    place(linked, &mut sessions, known);
    count_turns(linked, &mut sessions);
    for (&(model, made, _), usage) in &linked.usage {
        let Some(session) = linked.made_in(made) else { continue };
        sessions[session].usage.add(&usage.tokens);
        sessions[session].models.extend(model.map(|(source, name)| linked.sources[source].summary.names.text(name).into()));
    }
    sessions
}

/// Fills in what the calls say: the models that made them, and how many are unfinished.
pub(super) fn take_in_calls(linked: &mut Linked<'_>) {
    // Most calls have the model of the one before.
    let mut last = None;
    for call in linked.calls.iter().filter(|call| call.copy_of.is_none() && !call.id.is_inner()) {
        if call.open {
            *linked.open.entry(call.session).or_default() += 1;
        }
        let here = Some((call.session, call.id.source, call.model));
        if here == last {
            continue;
        }
        last = here;
        if let (Some(session), Some(name)) = (linked.sessions.get_mut(call.session), call.model) {
            let model = linked.sources[call.id.source()].summary.names.text(name);
            // Looked up first, because an insertion copies the text.
            if !session.models.contains(model) {
                session.models.insert(model.into());
            }
        }
    }
}

fn index_of(linked: &Linked<'_>, source: usize, name: Name) -> Option<usize> {
    linked.session_index.get(&(source, name)).copied()
}

/// Titles that refer to the last record of their conversation.
fn leaf_titles(linked: &Linked<'_>) -> Map<u64, Box<str>> {
    let mut titles = Map::default();
    for source in &linked.sources {
        let names = &source.summary.names;
        titles.extend(source.summary.leaf_titles.iter().map(|&(leaf, title)| (leaf, names.text(title).into())));
    }
    titles
}

/// The title of each session in a source whose leaf comes last there: the later its leaf, the more of the conversation a summary covers.
fn last_leaves<'t>(summary: &Summary, by_leaf: &'t Map<u64, Box<str>>) -> Map<Name, &'t str> {
    let mut titles = Map::default();
    let mut sessions = summary.node_sessions.iter().peekable();
    let mut session = None;
    for (number, node) in (0..).zip(&summary.nodes) {
        while let Some((_, begun)) = sessions.next_if(|(start, _)| *start <= number) {
            session = Some(*begun);
        }
        if let (Some(session), Some(title)) = (session, by_leaf.get(node)) {
            titles.insert(session, &**title);
        }
    }
    titles
}

/// Statements of a session's sources about it, the best of each so far.
#[derive(Clone, Default)]
struct SessionClaims<'a> {
    title: Option<(TitleBy, Option<Time>, &'a str)>,
    directory: Option<((Time, usize), &'a str)>,
    branch: Option<((Option<Time>, usize), &'a str)>,
}

impl<'a> SessionClaims<'a> {
    /// Considers a title. Among prompts and commands the first one counts, among other titles the last one.
    fn title(&mut self, by: TitleBy, record: &SessionRecord, title: &'a str) {
        let first = by <= TitleBy::Prompt;
        let time = if first { record.first } else { record.last };
        let wins = self.title.is_none_or(|(have, at, _)| {
            if by == have && first { time.unwrap_or(Time::MAX) < at.unwrap_or(Time::MAX) } else { (by, time) >= (have, at) }
        });
        if wins {
            self.title = Some((by, time, title));
        }
    }

    fn directory(&mut self, source: usize, record: &SessionRecord, directory: &'a str) {
        let rank = (record.first.unwrap_or(Time::MAX), source);
        if self.directory.is_none_or(|(have, _)| rank < have) {
            self.directory = Some((rank, directory));
        }
    }

    fn branch(&mut self, source: usize, record: &SessionRecord, branch: &'a str) {
        let rank = (record.last, source);
        if self.branch.is_none_or(|(have, _)| rank > have) {
            self.branch = Some((rank, branch));
        }
    }
}

/// The directories that sessions belong to, by their own sources alone.
pub(super) fn places(sources: &[&Source], index: &SessionIndex, count: usize) -> Vec<SessionPlace> {
    let mut best = vec![None; count];
    for (source, entry) in sources.iter().enumerate() {
        for record in entry.summary.sessions.iter().filter(|record| record.project.or(record.cwd).is_some()) {
            let Some(best) = index.get(&(source, record.session)).and_then(|&session| best.get_mut(session)) else { continue };
            // An explicit project outweighs the directory in which a record happened to be written.
            let rank = (record.project.is_none(), record.first.unwrap_or(Time::MAX), source);
            if best.is_none_or(|(have, _, _)| rank < have) {
                *best = Some((rank, record, &entry.summary.names));
            }
        }
    }
    let place = |best: Option<(_, &SessionRecord, &Names)>| {
        let Some((_, record, names)) = best else { return SessionPlace::default() };
        let text = |name| names.opt(name).map(Box::from);
        match record.project {
            Some(_) => SessionPlace { project: text(record.project), ..SessionPlace::default() },
            None => SessionPlace { project: text(record.cwd), repository: text(record.repository), stand_in: record.stand_in },
        }
    };
    best.into_iter().map(place).collect()
}

/// Projects, by the checkouts among all sessions.
fn place(linked: &Linked<'_>, sessions: &mut [LinkedSession], known: Option<&SessionNames>) {
    let places = places(&linked.sources, &linked.session_index, sessions.len());
    let here;
    let checkouts = match known {
        Some(known) => &known.checkouts,
        None => {
            here = Checkouts::of(&places);
            &here
        }
    };
    for (session, place) in sessions.iter_mut().zip(places) {
        session.project = checkouts.project(&place).map(Box::from);
        session.place = place;
    }
}

/// Titles, directories and branches.
fn title(linked: &Linked<'_>, sessions: &mut [LinkedSession]) {
    let by_leaf = leaf_titles(linked);
    let mut said = vec![SessionClaims::default(); sessions.len()];
    for (source, entry) in linked.sources.iter().enumerate() {
        let summary = &entry.summary;
        let names = &summary.names;
        let leaves = if by_leaf.is_empty() { Map::default() } else { last_leaves(summary, &by_leaf) };
        for record in &summary.sessions {
            let Some(said) = index_of(linked, source, record.session).and_then(|index| said.get_mut(index)) else { continue };
            if let Some((by, title)) = record.title {
                said.title(by, record, names.text(title));
            }
            if let Some(title) = leaves.get(&record.session) {
                said.title(TitleBy::Summary, record, title);
            }
            if let Some(directory) = names.opt(record.start) {
                said.directory(source, record, directory);
            }
            if let Some(branch) = names.opt(record.branch) {
                said.branch(source, record, branch);
            }
        }
    }
    for (session, said) in sessions.iter_mut().zip(said) {
        session.title = said.title.map(|(_, _, title)| title.into());
        session.directory = said.directory.map(|(_, directory)| directory.into());
        session.branch = said.branch.map(|(_, branch)| branch.into());
    }
}

/// A turn among all others.
#[derive(Clone, Copy, Debug)]
pub struct LinkedTurn<'a> {
    /// Its source.
    pub source: usize,
    /// Its session, in [`Linked::sessions`].
    pub session: usize,
    /// The record in its source.
    pub record: &'a TurnRecord,
}

impl<'a> Linked<'a> {
    /// The turns by time, each once, in the session that has it first.
    pub fn turns(&self) -> Vec<LinkedTurn<'a>> {
        turns(self)
    }
}

/// Counts the turns of each session.
fn count_turns(linked: &Linked<'_>, sessions: &mut [LinkedSession]) {
    for turn in turns(linked) {
        if let Some(session) = sessions.get_mut(turn.session) {
            session.turns += 1;
        }
    }
}

fn turns<'a>(linked: &Linked<'a>) -> Vec<LinkedTurn<'a>> {
    let mut turns: Vec<_> = Vec::new();
    for (source, entry) in linked.sources.iter().enumerate() {
        let first = entry.summary.first.unwrap_or(Time::MAX);
        turns.extend(entry.summary.turns.iter().map(|turn| (turn.time.unwrap_or(Time::MAX), first, source, turn)));
    }
    // Oldest first: of several copies of a prompt, the first one stays below.
    turns.sort_by_key(|&(time, first, source, turn)| (time, first, source, turn.at));
    // Copies of a prompt share its original id; without ids nothing can be recognised as a copy.
    let mut seen: Set<u64> = Set::default();
    turns.retain(|(.., turn)| turn.original.is_none_or(|original| seen.insert(original)));
    let linked = turns.into_iter().filter_map(|(_, _, source, record)| {
        let session = index_of(linked, source, record.session)?;
        Some(LinkedTurn { source, session, record })
    });
    linked.collect()
}
