//! From linked logs to what subscribers are told: each change is made once, and given to those whose filter takes it.

use super::change::{CallNews, ChangeEvent, MessageNews, SessionNews};
use super::fingerprints::{RowDifference, RowFingerprints};
use super::queue::ChangeSender;
use super::sources::{NewMessage, WatchedSources};
use super::{SubscribeOptions, WatchedSession};
use crate::Map;
use crate::matching::{self, MatchContext};
use crate::texts::Query;
use crate::texts::group::LogGroup;
use crate::version;
use serde_json::value::to_raw_value;
use std::collections::BinaryHeap;
use std::sync::Arc;
use tooltrail_formats::load;
use tooltrail_formats::shelf::Shelf;
use tooltrail_model::filter::{Answer, Filter, Item, SubjectFacts};
use tooltrail_model::link::{CallId, Linked, LinkedCall, Now, Source};
use tooltrail_model::row::SessionRow;
use tooltrail_model::{At, Status, Time};

/// Somebody who is told.
#[derive(Debug)]
pub(super) struct Subscription {
    filter: Filter,
    /// What to look for in calls, if the filter asks about texts.
    query: Option<Query>,
    /// Whether it is told of logs that have other bytes.
    touched: bool,
    sender: ChangeSender,
}

impl Subscription {
    pub(super) fn new(wish: SubscribeOptions, sender: ChangeSender) -> Self {
        let SubscribeOptions { filter, touched, .. } = wish;
        let query = filter.asks_texts().then(|| Query::unseen(filter.clone()));
        Subscription { filter, query, touched, sender }
    }

    /// Whether nobody listens any more.
    pub(super) fn is_left(&self) -> bool {
        self.sender.is_left()
    }

    /// Whether a call is wanted, as it is now. For its texts only its own records are read.
    fn takes(&self, scene: &LinkedBundle<'_>, call: &LinkedCall) -> bool {
        match &self.query {
            Some(query) => matching::takes_text(&scene.asked, &scene.group, query, call),
            None => self.filter.is_empty() || matching::takes(&scene.asked, &self.filter, call),
        }
    }

    /// Whether something is taken by its session alone. What would have to be opened for that is left out.
    fn knows(&self, scene: &LinkedBundle<'_>, session: &SessionRow<'_>, item: Item<'_>) -> bool {
        let keeping = matching::keeping(scene.asked.keep, &self.filter, session);
        let known = SubjectFacts { session, keeping, item, told: false, opened: None, texts: None };
        self.filter.ask(&known) == Answer::Yes
    }
}

/// The logs of a bundle, as they are now.
struct LinkedBundle<'a> {
    asked: MatchContext<'a>,
    group: LogGroup,
}

/// Tells what is new in the bundles that were touched. Gives whether anything was.
pub(super) fn tell(world: &mut WatchedSources, now: &Now, listeners: &[Subscription]) -> bool {
    let said = world.take_said();
    let mut any = false;
    for number in world.bundles.take_touched() {
        let said: Vec<&NewMessage> = said.iter().filter(|said| world.bundles.of(&said.file) == Some(number)).collect();
        let WatchedSources { bundles, desk, keep, .. } = &mut *world;
        let Some(bundle) = bundles.get_mut(number) else { continue };
        let before = bundle.prints.take().unwrap_or_default();
        let linked = bundle.linker.link();
        let (prints, differences) = before.renew(&linked, now);
        let asked = MatchContext { linked: &linked, shelf: &*desk, now, threads: 1, keep: keep.as_ref() };
        let rewritten = std::mem::take(&mut bundle.rewritten);
        any |= rewritten || !differences.is_empty();
        let scene = LinkedBundle { asked, group: LogGroup::whole(&linked) };
        differences.into_iter().for_each(|difference| tell_one(&scene, difference, listeners));
        said.into_iter().for_each(|said| tell_said(&scene, said, listeners));
        if rewritten {
            tell_touched(&linked, listeners);
        }
        bundle.prints = Some(prints);
    }
    world.desk.tidy();
    world.bundles.forget(now);
    any
}

/// Tells a new listener of the calls that run, and of the last calls, as many as it asked for.
pub(super) fn begin(world: &mut WatchedSources, now: &Now, listener: &Subscription, last: usize) {
    let WatchedSources { bundles, desk, keep, .. } = &mut *world;
    let mut order: Vec<(Option<Time>, u32)> = bundles.iter().map(|(number, bundle)| (bundle.last(), number)).collect();
    order.sort_unstable_by(|a, b| b.cmp(a));
    let mut newest: BinaryHeap<RankedCall> = BinaryHeap::new();
    let mut shown: Vec<RankedCall> = Vec::new();
    let mut running = 0;
    for (time, number) in order {
        let Some(bundle) = bundles.get(number) else { continue };
        let lives = bundle.may_live(now);
        // Nothing in it is newer than what was found already.
        let old = last == 0 || (newest.len() >= last && newest.peek().is_some_and(|oldest| oldest.time > time));
        if old && !lives {
            continue;
        }
        let rests = bundle.asleep && !lives;
        bundles.wake(number);
        let Some(bundle) = bundles.get_mut(number) else { continue };
        let linked = bundle.linker.link();
        let asked = MatchContext { linked: &linked, shelf: &*desk, now, threads: 1, keep: keep.as_ref() };
        let repeats = repeats(&linked);
        for call in matching::calls(&asked, &listener.filter, false) {
            let ranked = || {
                let time = linked.record(call.id).order;
                let again = repeats.get(&call.id).copied().unwrap_or(0);
                Some(RankedCall { time, news: call_news(&linked, call, again, now, &*desk)? })
            };
            if linked.call_row(call, now, false).status == Status::Running {
                running += 1;
                shown.extend(ranked());
            } else if last > 0 && (newest.len() < last || newest.peek().is_some_and(|oldest| oldest.time < linked.record(call.id).order)) {
                newest.extend(ranked());
                if newest.len() > last {
                    newest.pop();
                }
            }
        }
        // What lives may change by time alone.
        if lives && bundle.prints.is_none() {
            let prints = RowFingerprints::of(&linked, now);
            drop(linked);
            bundle.prints = Some(prints);
        }
        if rests {
            bundles.lull(number, now);
        }
    }
    desk.tidy();
    // Those that run count among the last.
    let mut past = newest.into_vec();
    past.sort();
    past.truncate(last.saturating_sub(shown.len()));
    shown.extend(past);
    shown.sort();
    for ranked in shown.into_iter().rev() {
        listener.sender.send(&Arc::new(ChangeEvent::Here { call: ranked.news }));
    }
    listener.sender.send(&Arc::new(ChangeEvent::Begun { running }));
}

/// For calls whose id was used before in their session: how often.
fn repeats(linked: &Linked<'_>) -> Map<CallId, u32> {
    let mut uses: Map<(usize, &str), u32> = Map::default();
    let mut found = Map::default();
    for call in linked.calls.iter().filter(|call| call.copy_of.is_none()) {
        let uses = uses.entry((call.session, linked.id(call.id))).or_default();
        if *uses > 0 {
            found.insert(call.id, *uses);
        }
        *uses += 1;
    }
    found
}

/// A call by its time, the newest first.
#[derive(Debug)]
struct RankedCall {
    time: Option<Time>,
    news: CallNews,
}

impl Ord for RankedCall {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.time.cmp(&self.time)
    }
}

impl PartialOrd for RankedCall {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedCall {
    fn eq(&self, other: &Self) -> bool {
        self.time == other.time
    }
}

impl Eq for RankedCall {}

/// Gives a change to those who want it. It is made for the first of them.
fn send(listeners: &[Subscription], wants: impl Fn(&Subscription) -> bool, make: impl FnOnce() -> Option<ChangeEvent>) {
    let mut wanting = listeners.iter().filter(|listener| wants(listener)).peekable();
    if wanting.peek().is_none() {
        return;
    }
    let Some(change) = make().map(Arc::new) else { return };
    wanting.for_each(|listener| listener.sender.send(&change));
}

fn tell_one(scene: &LinkedBundle<'_>, difference: RowDifference<'_>, listeners: &[Subscription]) {
    let MatchContext { linked, shelf, now, .. } = scene.asked;
    match difference {
        RowDifference::Requested(call, again) => {
            let news = || Some(ChangeEvent::Requested { call: call_news(linked, call, again, now, shelf)? });
            send(listeners, |listener| listener.takes(scene, call), news);
        }
        RowDifference::Updated(call, again, before) => {
            let news = || Some(ChangeEvent::Updated { call: call_news(linked, call, again, now, shelf)?, before });
            send(listeners, |listener| listener.takes(scene, call), news);
        }
        RowDifference::Session(index) => {
            let Some(row) = linked.session_row(index, now) else { return };
            send(listeners, |listener| listener.knows(scene, &row, Item::Session), || session_news(&row));
        }
        // Nobody can say any more whether a filter would take them.
        RowDifference::Lost(agent, session, call, again) => {
            send(listeners, |_| true, || Some(ChangeEvent::Lost { agent, session, call, again }));
        }
        RowDifference::Gone(agent, session) => send(listeners, |_| true, || Some(ChangeEvent::Gone { agent, session })),
    }
}

fn tell_said(scene: &LinkedBundle<'_>, said: &NewMessage, listeners: &[Subscription]) {
    let MatchContext { linked, now, .. } = scene.asked;
    let Some((place, source)) = linked.sources.iter().enumerate().find(|(_, source)| source.path == said.file) else { return };
    let names = &source.summary.names;
    let own = || source.summary.sessions.last().map(|record| names.text(record.session));
    let Some(index) = said.session.as_deref().or_else(own).and_then(|name| linked.session_named(place, name)) else { return };
    let Some(row) = linked.session_row(index, now) else { return };
    let at = linked.place(place, At { line: said.line, ..At::default() });
    let message = || {
        Some(ChangeEvent::Message(MessageNews {
            agent: row.agent.into(),
            session: row.session.into(),
            by: said.by,
            file: at.path().into(),
            line: at.row.is_none().then_some(said.line),
            row: at.row.map(Box::from),
            at: said.time.map(|time| time.to_string()),
        }))
    };
    send(listeners, |listener| listener.knows(scene, &row, Item::Message(said.time)), message);
}

/// Tells that the logs of the sessions here have other bytes. What these are about no filter can say.
fn tell_touched(linked: &Linked<'_>, listeners: &[Subscription]) {
    for own in &linked.sessions {
        let touched = || Some(ChangeEvent::Touched { agent: own.agent.into(), session: own.id.clone() });
        send(listeners, |listener| listener.touched, touched);
    }
}

/// A session as it is now, for whoever shows it.
pub(super) fn hold(world: &mut WatchedSources, now: &Now, agent: &str, session: &str) -> Option<WatchedSession> {
    let number = world.bundles.of_session(agent, session)?;
    world.bundles.wake(number);
    let bundle = world.bundles.get_mut(number)?;
    let linker = Arc::clone(&bundle.linker);
    let pulse = bundle.prints.get_or_insert_with(|| RowFingerprints::of(&linker.link(), now)).pulse(agent, session, now);
    let of_log = |source: &Source| version::of_log(&source.path, source.modified, world.stamp(&source.path), source.summary.tally.bytes);
    let logs = linker.sources().map(of_log);
    let version = version::of_session(version::sum(logs), world.bundles.short(number, agent, session), pulse);
    Some(WatchedSession { linker, now: now.clone(), version })
}

fn session_news(row: &SessionRow<'_>) -> Option<ChangeEvent> {
    let session = SessionNews {
        row: to_raw_value(row).ok()?,
        agent: row.agent.into(),
        session: row.session.into(),
        short: row.short.into(),
        state: row.state.unwrap_or_default(),
    };
    Some(ChangeEvent::Session { session })
}

/// A call as it is told.
fn call_news(linked: &Linked<'_>, call: &LinkedCall, again: u32, now: &Now, shelf: &dyn Shelf) -> Option<CallNews> {
    let mut row = linked.call_row(call, now, false);
    let record = linked.record(call.id);
    let command = load::complete_at(shelf, &mut row, record.at);
    let session = linked.sessions.get(call.session);
    Some(CallNews {
        agent: row.agent.into(),
        session: row.session.into(),
        short: session.map(|session| session.short.clone()).unwrap_or_default(),
        project: session.and_then(|session| session.project.clone()),
        call: row.call.into(),
        again,
        tool: row.tool.into(),
        sidechain: row.sidechain,
        what: row.about.as_deref().map(Into::into),
        status: row.status,
        reason: row.reason,
        exit_code: row.exit_code,
        unsure: command.is_some_and(|command| command.masks_success(&row)),
        requested: record.time,
        completed: row.completed_at,
        duration_ms: row.duration_ms,
        row: to_raw_value(&row).ok()?,
    })
}
