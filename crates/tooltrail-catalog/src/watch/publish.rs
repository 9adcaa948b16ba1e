//! Publishing: differences in linked logs become changes, each made once and sent to the subscribers whose filter selects it.

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
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::load;
use tooltrail_model::filter::{Answer, Filter, Item, SubjectFacts};
use tooltrail_model::link::{CallId, Linked, LinkedCall, Now, Source};
use tooltrail_model::row::{CallNumber, SessionRow};
use tooltrail_model::{At, Status, Time};

/// A subscriber as the watcher's thread sees it.
#[derive(Debug)]
pub(super) struct Subscription {
    filter: Filter,
    /// The texts to search for in calls, if the filter has any.
    query: Option<Query>,
    /// Whether it wants to know of changed logs even without changed rows.
    touched: bool,
    sender: ChangeSender,
}

impl Subscription {
    pub(super) fn new(wish: SubscribeOptions, sender: ChangeSender) -> Self {
        let SubscribeOptions { filter, touched, .. } = wish;
        let query = filter.asks_texts().then(|| Query::unseen(filter.clone()));
        Subscription { filter, query, touched, sender }
    }

    /// Whether the subscriber has left.
    pub(super) fn is_left(&self) -> bool {
        self.sender.is_left()
    }

    /// Whether the filter selects a call in its current state. For texts only the call's own records are read.
    fn takes(&self, bundle_context: &LinkedBundle<'_>, call: &LinkedCall) -> bool {
        match &self.query {
            Some(query) => matching::takes_text(&bundle_context.asked, &bundle_context.group, query, call),
            None => self.filter.is_empty() || matching::takes(&bundle_context.asked, &self.filter, call),
        }
    }

    /// Whether the session alone is enough for the filter to select an item. Nothing is opened to find out.
    fn knows(&self, bundle_context: &LinkedBundle<'_>, session: &SessionRow<'_>, item: Item<'_>) -> bool {
        let keeping = matching::keeping(bundle_context.asked.keep, &self.filter, session);
        let known = SubjectFacts { session, keeping, item, told: false, opened: None, texts: None, content: None };
        self.filter.ask(&known) == Answer::Yes
    }
}

/// The logs of a bundle, as they are now.
struct LinkedBundle<'a> {
    asked: MatchContext<'a>,
    group: LogGroup,
}

/// Publishes the changes in the touched bundles.
pub(super) fn publish(sources: &mut WatchedSources, now: &Now, subscriptions: &[Subscription]) {
    let messages = sources.take_new_messages();
    for number in sources.bundles.take_touched() {
        let own: Vec<&NewMessage> = messages.iter().filter(|message| sources.bundles.of(&message.file) == Some(number)).collect();
        let WatchedSources { bundles, recent_records, keep, .. } = &mut *sources;
        let Some(bundle) = bundles.get_mut(number) else { continue };
        // Without earlier fingerprints the bundle is new, and all of its rows are.
        let before = bundle.fingerprints.take().unwrap_or_default();
        let linked = bundle.linker.link();
        let (fingerprints, differences) = before.renew(&linked, now);
        let asked = MatchContext { linked: &linked, disk: &*recent_records, now, threads: 1, keep: keep.as_ref() };
        let rewritten = std::mem::take(&mut bundle.rewritten);
        let bundle_context = LinkedBundle { asked, group: LogGroup::whole(&linked) };
        differences.into_iter().for_each(|difference| publish_difference(&bundle_context, difference, subscriptions));
        own.into_iter().for_each(|message| publish_message(&bundle_context, message, subscriptions));
        if rewritten {
            publish_touched(&linked, subscriptions);
        }
        bundle.fingerprints = Some(fingerprints);
    }
    // Files were opened to complete rows; keeping them open would hide that a log was replaced.
    sources.recent_records.tidy();
    sources.bundles.forget(now);
}

/// Sends the running calls and the requested number of last calls to a new subscriber.
pub(super) fn send_initial(sources: &mut WatchedSources, now: &Now, subscription: &Subscription, last: usize) {
    let WatchedSources { bundles, recent_records, keep, .. } = &mut *sources;
    let mut order: Vec<(Option<Time>, u32)> = bundles.iter().map(|(number, bundle)| (bundle.last(), number)).collect();
    order.sort_unstable_by(|a, b| b.cmp(a));
    let mut newest: BinaryHeap<RankedCall> = BinaryHeap::new();
    let mut shown: Vec<RankedCall> = Vec::new();
    let mut running = 0;
    for (time, number) in order {
        let Some(bundle) = bundles.get(number) else { continue };
        let lives = bundle.may_live(now);
        // Bundles come by their last record, so nothing in this one is newer than the calls found already.
        let old = last == 0 || (newest.len() >= last && newest.peek().is_some_and(|oldest| oldest.time > time));
        if old && !lives {
            continue;
        }
        // A bundle that is loaded only to look for its last calls is unloaded right away, or one subscriber would load
        // everything.
        let rests = bundle.unloaded && !lives;
        bundles.load(number);
        let Some(bundle) = bundles.get_mut(number) else { continue };
        let linked = bundle.linker.link();
        let asked = MatchContext { linked: &linked, disk: &*recent_records, now, threads: 1, keep: keep.as_ref() };
        let repeats = repeats(&linked);
        for call in matching::calls(&asked, &subscription.filter, false) {
            let time = linked.record(call.id).order;
            let ranked = || {
                let again = repeats.get(&call.id).copied().unwrap_or(0);
                Some(RankedCall { time, number: call.number, news: call_news(&linked, call, again, now, &*recent_records)? })
            };
            let row = linked.call_row(call, now, false);
            // Compared before it is made: most calls are too old, and making one reads its log.
            let rank: CallRank<'_> = (time, row.agent, row.session, call.number);
            if row.status == Status::Running {
                running += 1;
                shown.extend(ranked());
            } else if last > 0 && (newest.len() < last || newest.peek().is_some_and(|oldest| oldest.rank() < rank)) {
                newest.extend(ranked());
                if newest.len() > last {
                    newest.pop();
                }
            }
        }
        // A live bundle may change by time alone, and without fingerprints that would not be noticed.
        if lives && bundle.fingerprints.is_none() {
            let fingerprints = RowFingerprints::of(&linked, now);
            drop(linked);
            bundle.fingerprints = Some(fingerprints);
        }
        if rests {
            bundles.unload_if_idle(number, now);
        }
    }
    recent_records.tidy();
    // Running calls count among the requested number.
    let mut past = newest.into_vec();
    past.sort();
    past.truncate(last.saturating_sub(shown.len()));
    shown.extend(past);
    send_ranked(subscription, shown, running);
}

/// Sends calls, the oldest first, and how many of them run.
fn send_ranked(subscription: &Subscription, mut calls: Vec<RankedCall>, running: usize) {
    calls.sort();
    for ranked in calls.into_iter().rev() {
        subscription.sender.send(&Arc::new(ChangeEvent::Here { call: ranked.news }));
    }
    subscription.sender.send(&Arc::new(ChangeEvent::Begun { running }));
}

/// How often the id of a call was used before in its session, for calls where it was.
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

/// The order of calls: by time, and among calls of one moment by session and number, so that it never depends on which log was read first.
type CallRank<'n> = (Option<Time>, &'n str, &'n str, CallNumber);

/// A call by its rank, the newest first.
#[derive(Debug)]
struct RankedCall {
    time: Option<Time>,
    number: CallNumber,
    news: CallNews,
}

impl RankedCall {
    fn rank(&self) -> CallRank<'_> {
        (self.time, &self.news.agent, &self.news.session, self.number)
    }
}

impl Ord for RankedCall {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.rank().cmp(&self.rank())
    }
}

impl PartialOrd for RankedCall {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedCall {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for RankedCall {}

/// Sends a change to the subscribers that want it. It is not even made if there are none.
fn send(subscriptions: &[Subscription], wants: impl Fn(&Subscription) -> bool, make: impl FnOnce() -> Option<ChangeEvent>) {
    let mut wanting = subscriptions.iter().filter(|subscription| wants(subscription)).peekable();
    if wanting.peek().is_none() {
        return;
    }
    let Some(change) = make().map(Arc::new) else { return };
    wanting.for_each(|subscription| subscription.sender.send(&change));
}

fn publish_difference(bundle_context: &LinkedBundle<'_>, difference: RowDifference<'_>, subscriptions: &[Subscription]) {
    let MatchContext { linked, disk, now, .. } = bundle_context.asked;
    match difference {
        RowDifference::Requested(call, again) => {
            let news = || Some(ChangeEvent::Requested { call: call_news(linked, call, again, now, disk)? });
            send(subscriptions, |subscription| subscription.takes(bundle_context, call), news);
        }
        RowDifference::Updated(call, again, before) => {
            let news = || Some(ChangeEvent::Updated { call: call_news(linked, call, again, now, disk)?, before });
            send(subscriptions, |subscription| subscription.takes(bundle_context, call), news);
        }
        RowDifference::Session(index) => {
            let Some(row) = linked.session_row(index, now) else { return };
            send(subscriptions, |subscription| subscription.knows(bundle_context, &row, Item::Session), || session_news(&row));
        }
        // The rows are gone, so no filter can be applied to them: every subscriber learns of it.
        RowDifference::Lost(agent, session, call, again) => {
            send(subscriptions, |_| true, || Some(ChangeEvent::Lost { agent, session, call, again }));
        }
        RowDifference::Gone(agent, session) => send(subscriptions, |_| true, || Some(ChangeEvent::Gone { agent, session })),
    }
}

fn publish_message(bundle_context: &LinkedBundle<'_>, said: &NewMessage, subscriptions: &[Subscription]) {
    let MatchContext { linked, now, .. } = bundle_context.asked;
    // The log may have been removed between reading the message and publishing it.
    let Some((place, source)) = linked.sources.iter().enumerate().find(|(_, source)| source.path == said.file) else { return };
    let names = &source.summary.names;
    // Records of some agents name no session; then it is the one that the log named last.
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
    send(subscriptions, |subscription| subscription.knows(bundle_context, &row, Item::Message(said.time)), message);
}

/// Reports all sessions of a bundle as touched. No filter applies, because a filter selects rows and not bytes.
fn publish_touched(linked: &Linked<'_>, subscriptions: &[Subscription]) {
    for own in &linked.sessions {
        let touched = || Some(ChangeEvent::Touched { agent: own.agent.into(), session: own.id.clone() });
        send(subscriptions, |subscription| subscription.touched, touched);
    }
}

/// The current state of a session, for pages that show it.
pub(super) fn session_snapshot(sources: &mut WatchedSources, now: &Now, agent: &str, session: &str) -> Option<WatchedSession> {
    let number = sources.bundles.of_session(agent, session)?;
    sources.bundles.load(number);
    let bundle = sources.bundles.get_mut(number)?;
    let linker = Arc::clone(&bundle.linker);
    let pulse = bundle.fingerprints.get_or_insert_with(|| RowFingerprints::of(&linker.link(), now)).pulse(agent, session, now);
    let of_log = |source: &Source| version::of_log(&source.path, source.modified, sources.stamp(&source.path), source.summary.tally.bytes);
    // All logs of the bundle, as in the catalogue, so that both compute the same version.
    let logs = linker.sources().map(of_log);
    let (short, project) = sources.bundles.names_of(number, agent, session);
    let version = version::of_session(version::sum(logs), short, project, pulse);
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

/// A call as subscribers receive it.
fn call_news(linked: &Linked<'_>, call: &LinkedCall, again: u32, now: &Now, disk: &dyn ReadLogs) -> Option<CallNews> {
    let mut row = linked.call_row(call, now, false);
    let record = linked.record(call.id);
    let command = load::complete_at(disk, &mut row, record).ok().flatten();
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
