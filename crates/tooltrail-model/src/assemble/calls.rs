//! Pairing: every result finds its call, whatever the order, and every call without one remembers what came instead.

use super::nameless::Nameless;
use super::{Assembler, ThreadIndex, hash, hooks};
use crate::event::{Call, CallProgress, CallResult, HookOutcome, Id, Nested, Refusal, TaskNews, TaskState};
use crate::issue::IssueCode;
use crate::position::At;
use crate::summary::{CallRecord, ChildRecord, Ending, HookRecord, LooseHook, Orphan, ResultRecord, TaskRecord};
use crate::text::Name;
use crate::verdict::{self, Denial, LoggedOutcome, Marker, Sequel};
use crate::{Kind, Map, Set};

/// The calls of a source by id and by conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct CallTable {
    /// Origin of each call.
    made: Vec<CallOrigin>,
    /// By the hash of the id.
    latest: Map<u64, usize>,
    /// For a call whose id was used before: the call before it.
    earlier: Map<usize, usize>,
    /// Results that came before their call.
    early: Map<Box<str>, Vec<(Name, ResultRecord)>>,
    /// Hooks that came before their call.
    early_hooks: Map<Box<str>, Vec<LooseHook>>,
    /// Calls without a result and without a sequel, by conversation.
    waiting: Map<ThreadIndex, Vec<usize>>,
    /// The message that all of them are known to belong to, by conversation.
    speaking: Map<ThreadIndex, Id>,
    /// Number of calls of a message, by the hash of its id.
    messages: Map<u64, u32>,
    /// Calls that were interrupted just now, by conversation.
    stopped: Map<ThreadIndex, Vec<usize>>,
    nested: Map<Box<str>, usize>,
    /// Calls that became a background task, by conversation and task: the last one for each.
    launched: Map<(ThreadIndex, Box<str>), Name>,
    /// Tasks whose name both a command and a script went on with, so that it proves nothing.
    pub(super) ambiguous: Set<(ThreadIndex, Box<str>)>,
    /// Calls and results without ids, in their order.
    nameless: Nameless,
}

/// Message and record of a call, needed only while its source is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallOrigin {
    /// The message.
    message: Option<Id>,
    /// The record.
    node: Option<Id>,
}

impl CallOrigin {
    pub(super) fn of(call: &Call<'_>) -> Self {
        CallOrigin { message: call.message_id, node: call.node }
    }
}

impl CallTable {
    /// Number of entries that belong to no call of the source yet.
    pub(super) fn extra(&self) -> usize {
        5 * self.early_hooks.len() + self.launched.len() + self.ambiguous.len() + self.earlier.len()
    }

    /// Number of calls whose id was used before.
    pub(super) fn reused(&self) -> usize {
        self.earlier.len()
    }

    pub(super) fn latest(&self, id: &str) -> Option<usize> {
        self.latest_by(hash(id))
    }

    /// Index of the latest call by the hash of its id.
    pub(super) fn latest_by(&self, key: u64) -> Option<usize> {
        self.latest.get(&key).copied()
    }

    /// Registers the id that a call got later.
    pub(super) fn named(&mut self, key: u64, index: usize) {
        self.latest.insert(key, index);
    }

    pub(super) fn expect(&mut self, calls: usize) {
        self.made.reserve(calls);
        self.latest.reserve(calls);
        self.messages.reserve(calls);
    }

    /// Notes that a call became a background task.
    pub(super) fn became_task(&mut self, within: ThreadIndex, task: &str, call: Name) -> Option<Name> {
        self.launched.insert((within, task.into()), call)
    }

    /// The call that became a background task.
    pub(super) fn of_task(&self, within: ThreadIndex, task: &str) -> Option<Name> {
        self.launched.get(&(within, task.into())).copied()
    }

    pub(super) fn early_hook(&mut self, id: &str, hook: LooseHook) {
        self.early_hooks.entry(id.into()).or_default().push(hook);
    }

    /// The calls with an id, the latest first. Limited, because a hostile log could use one id for all its calls.
    fn all(&self, id: &str) -> impl Iterator<Item = usize> {
        self.all_by(hash(id))
    }

    /// The calls with an id, by the hash of the id.
    fn all_by(&self, key: u64) -> impl Iterator<Item = usize> {
        std::iter::successors(self.latest_by(key), |index| self.earlier.get(index).copied()).take(64)
    }
}

impl Assembler {
    pub(super) fn call(&mut self, call: &mut Call<'_>) {
        self.count(0);
        if let Some(nested) = &call.nested {
            return self.nested_call(call, nested);
        }
        let mut record = self.call_record(call);
        let script = call.script.as_deref().map(|script| self.scripted(&mut record, script));
        self.owner.answered();
        // Before the call itself is added: the model goes on, which settles the calls that were open until now.
        self.goes_on();
        self.spoke(call.message_id);
        self.talk.answered();
        // Without a message id the call may belong to another message than the calls before it.
        if call.message_id.is_none() {
            self.calls.speaking.remove(&self.here.within);
        }
        self.ends_with(Ending::Busy);
        let index = self.add_call(record, CallOrigin::of(call));
        if let Some(script) = script {
            self.script_begins(index, script, call.script.take());
        }
        if call.unnamed {
            self.calls.nameless.call(self.here.within, index);
        }
        self.calls.waiting.entry(self.here.within).or_default().push(index);
    }

    /// Adds a call that a parent's progress record reports. It may be reported again.
    fn nested_call(&mut self, call: &Call<'_>, nested: &Nested<'_>) {
        if self.calls.nested.contains_key(call.id.as_ref()) {
            return;
        }
        let mut record = self.call_record(call);
        record.agent = nested.agent.as_deref().map(|agent| self.out.names.of(agent));
        record.sidechain = true;
        if let Some(parent) = nested.parent.as_deref() {
            record.rare_mut().parent = Some(parent.into());
        }
        self.calls.nested.insert(call.id.as_ref().into(), self.out.nested.len());
        self.out.nested.push(record);
    }

    /// Adds a call, with the results and hooks that came before it.
    pub(super) fn add_call(&mut self, mut record: CallRecord, made: CallOrigin) -> usize {
        let index = self.out.calls.len();
        let before = self.calls.latest.insert(record.key, index);
        if let Some(before) = before {
            self.calls.earlier.insert(index, before);
        }
        if let Some(message) = made.message {
            // A copy of a call in the same message is not another call beside it.
            let copy = before.is_some_and(|before| self.calls.made[before].message == Some(message));
            *self.calls.messages.entry(message).or_default() += u32::from(!copy);
        }
        let id = self.out.names.text(record.id);
        for hook in self.calls.early_hooks.remove(id).unwrap_or_default() {
            hooks::add(&mut record.hooks, hook.hook);
        }
        let early = self.calls.early.remove(id).unwrap_or_default();
        self.calls.made.push(made);
        self.out.calls.push(record);
        for (_, result) in early {
            self.attach(index, result);
        }
        index
    }

    pub(super) fn call_record(&mut self, call: &Call<'_>) -> CallRecord {
        self.session(self.here.session);
        let names = &mut self.out.names;
        let model = call.model.as_deref().map(|model| names.of(model)).or(self.model);
        // Calls of one message follow each other, so the name is probably known.
        let before = self.out.calls.last().and_then(|call| call.message);
        let message = call.message.as_deref().map(|message| match before {
            // Message ids are compared before they are stored: most calls repeat the one before.
            Some(before) if names.is(before, message.as_bytes()) => before,
            _ => names.add(message),
        });
        let mut record = CallRecord {
            id: names.add(&call.id),
            key: hash(&call.id),
            unnamed: call.unnamed,
            tool: names.of(&call.tool),
            server: call.server.as_deref().map(|server| names.of(server)),
            kind: call.kind,
            at: self.here.at,
            time: self.here.time,
            order: self.here.time.or(self.time),
            session: self.here.session,
            agent: self.here.agent,
            sidechain: self.here.sidechain,
            within: self.here.within,
            // Calls of subagents have no turn of their own.
            turn: self.out.turns.len().checked_sub(1).and_then(|turn| u32::try_from(turn).ok()).filter(|_| !self.here.sidechain),
            cwd: self.cwd,
            model,
            message,
            has_request: call.has_request,
            approval: self.approval,
            parallel: 1,
            digest: call.digest,
            input: call.input,
            result: None,
            hooks: Vec::new(),
            sequel: None,
            abandoned: false,
            rare: None,
        };
        // Rare fields are boxed together: most calls have none of them.
        if call.prompt.is_some() || call.task.is_some() {
            let polls = call.task.as_deref().and_then(|task| self.polled(record.within, task));
            let rare = record.rare_mut();
            (rare.prompt, rare.task) = (call.prompt, call.task.as_deref().map(Into::into));
            rare.polls = polls;
        }
        record
    }

    pub(super) fn result_record(&self, result: &CallResult<'_>) -> ResultRecord {
        ResultRecord {
            at: self.here.at,
            time: result.time.or(self.here.time),
            signals: result.signals,
            bytes: result.content.len(),
            run_ms: result.run_ms,
            feedback: result.feedback.as_deref().is_some_and(|text| !text.trim().is_empty()),
            background: result.background.as_deref().map(Into::into),
            child: result.child.as_ref().map(|child| {
                let (sure, alias, detached) = (child.sure, child.alias, child.detached);
                Box::new(ChildRecord { agent: child.agent.as_ref().into(), sure, alias, detached })
            }),
            synthetic: result.synthetic,
            timed: result.time.is_some(),
            sole: result.sole,
            truncated: result.truncated,
            input_edited: result.input_edited,
            handover: false,
            rewritten: false,
        }
    }

    pub(super) fn result(&mut self, result: &mut CallResult<'_>) {
        self.count_result(result);
        self.talk.answered();
        if let Some(time) = result.time {
            self.lasts_until(time);
        }
        let record = self.result_record(result);
        let id = result.call.as_ref();
        // A nested result never replaces another: progress records repeat it.
        if result.nested.is_some() {
            if let Some(call) = self.calls.nested.get(id).and_then(|&index| self.out.nested.get_mut(index)) {
                call.result.get_or_insert(record);
            }
            return;
        }
        self.ends_with(Ending::Told);
        let node = result.node;
        // The call may follow later in the file; until then the result waits under its id.
        let Some(index) = self.choose(id, node) else {
            if let Some(hook) = &result.hook {
                let hook = hooks::record(hook, &self.here, &mut self.out.names);
                self.calls.early_hook(id, LooseHook { session: self.here.session, turn: None, hook });
            }
            self.calls.early.entry(id.into()).or_default().push((self.here.session, record));
            if result.unnamed {
                self.calls.nameless.result(self.here.within, id);
            }
            return;
        };
        if let Some(hook) = &result.hook {
            let hook = hooks::record(hook, &self.here, &mut self.out.names);
            hooks::add(&mut self.out.calls[index].hooks, hook);
        }
        self.attach(index, record);
        if let Some(output) = result.output.take() {
            self.script_printed(index, *output);
        }
    }

    /// The call that a result answers. Where an id was used more than once, the record it hangs on decides, then its
    /// conversation, then whether there is a result already.
    fn choose(&self, id: &str, node: Option<u64>) -> Option<usize> {
        let latest = self.calls.latest(id)?;
        // The common case: the id is unique.
        if !self.calls.earlier.contains_key(&latest) {
            return Some(latest);
        }
        let calls = &self.out.calls;
        let named = |&index: &usize| node.is_some() && self.calls.made[index].node == node;
        let thread = |&index: &usize| calls[index].within == self.here.within;
        let open = |&index: &usize| calls[index].result.is_none();
        let mut all = self.calls.all(id);
        let by_node = all.find(named);
        let mut all = self.calls.all(id);
        let by_thread = all.find(|index| thread(index) && open(index));
        let mut all = self.calls.all(id);
        by_node.or(by_thread).or_else(|| all.find(open)).or(Some(latest))
    }

    /// The call that something at a position refers to, by the hash of its id: of several calls the last one before the
    /// position, else the first one after it.
    pub(super) fn before(&self, key: u64, at: At) -> Option<usize> {
        let calls = &self.out.calls;
        let before = self.calls.all_by(key).find(|&index| calls[index].at <= at);
        before.or_else(|| self.calls.all_by(key).last())
    }

    pub(super) fn attach(&mut self, index: usize, mut new: ResultRecord) {
        // Any tool may name an agent; only tools that start agents set one to work.
        if self.out.calls[index].kind == Kind::Subagent
            && let Some(child) = new.child.as_ref().filter(|child| child.detached)
        {
            new.background = new.background.take().or_else(|| Some(child.agent.clone()));
        }
        // Any command may print that a process was started; only a server's shell means the one that it runs.
        let call = &self.out.calls[index];
        if new.signals.served.launched {
            let launches = call.kind == Kind::Shell && call.server.is_some();
            if !launches {
                (new.background, new.signals.backgrounded) = (None, false);
            }
        }
        // Asking about a task does not make the call that task.
        if new.background.is_some() && new.background == self.out.calls[index].rare().task {
            (new.background, new.signals.backgrounded) = (None, false);
        }
        // A call that stops a task, or waits for it, is not stopped itself.
        if self.out.calls[index].kind == Kind::Task && new.signals.marker == Some(Marker::Stopped) {
            (new.signals.outcome, new.signals.marker) = (LoggedOutcome::Worked, None);
        }
        if let Some(task) = &new.background {
            let (within, id, is_script) = (call.within, call.id, call.rare().script.is_some());
            self.goes_on_as(within, task, id, is_script);
        }
        let stopped =
            new.signals.denial == Some(Denial::Interrupted) || matches!(new.signals.marker, Some(Marker::Interrupted | Marker::Stopped));
        let call = &mut self.out.calls[index];
        if stopped {
            self.calls.stopped.entry(call.within).or_default().push(index);
        }
        match &mut call.result {
            None => call.result = Some(new),
            // An agent that stopped a tool writes a result in its name; if the real one comes as well, that one counts.
            Some(old) if old.synthetic && !new.synthetic => {
                let old = std::mem::replace(old, new);
                call.rare_mut().others.push(old);
            }
            Some(_) => call.rare_mut().others.push(new),
        }
    }

    /// Notes an event that open calls of this conversation remember. Calls of `message` stay open.
    pub(super) fn sequel(&mut self, sequel: fn(At) -> Sequel, message: Option<Id>) {
        self.steered = None;
        self.sequel_from(self.here.at, sequel, message);
    }

    /// Notes that the model goes on after it was steered: calls that were open before stay without a result.
    pub(super) fn goes_on(&mut self) {
        if let Some(at) = self.steered.take() {
            self.sequel_from(at, Sequel::MovedOn, None);
        }
    }

    fn sequel_from(&mut self, at: At, sequel: fn(At) -> Sequel, message: Option<Id>) {
        self.calls.stopped.remove(&self.here.within);
        // Another block of the message that is already speaking: nothing has changed for its calls.
        let speaking = match message {
            Some(message) => self.calls.speaking.insert(self.here.within, message),
            None => self.calls.speaking.remove(&self.here.within),
        };
        if message.is_some() && speaking == message {
            return;
        }
        let Some(waiting) = self.calls.waiting.get_mut(&self.here.within) else { return };
        let (calls, made) = (&mut self.out.calls, &self.calls.made);
        waiting.retain(|&index| {
            let call = &mut calls[index];
            if call.result.is_some() {
                return false;
            }
            // Calls of the message that speaks now are still being made.
            if message.is_some() && made[index].message == message {
                return true;
            }
            call.sequel.get_or_insert_with(|| Box::new(sequel(at)));
            false
        });
    }

    /// Ends the turn that this record follows: its open calls get no result. A record that comes late, about an earlier
    /// turn, does not affect the calls that are open now.
    pub(super) fn turn_over(&mut self) {
        let (at, within) = (self.here.at, self.here.within);
        // Only the main conversation has turns.
        let Some(node) = self.here.node.filter(|_| !self.here.sidechain) else { return };
        let Some(waiting) = self.calls.waiting.get_mut(&within) else { return };
        let (calls, made) = (&mut self.out.calls, &self.calls.made);
        waiting.retain(|&index| calls[index].result.is_none());
        if waiting.is_empty() {
            return;
        }
        let turn: Set<Id> = self.chain.turn_before(node).collect();
        let before = waiting.len();
        waiting.retain(|&index| {
            let over = made[index].node.is_some_and(|node| turn.contains(&node));
            if over {
                calls[index].sequel.get_or_insert_with(|| Box::new(Sequel::MovedOn(at)));
            }
            !over
        });
        // At least one call waited, so the conversation ends here unless more follows.
        if waiting.len() < before {
            self.ends_with(Ending::Spoke);
        }
    }

    /// Notes a handover of the session: calls that were interrupted just now were interrupted by it.
    pub(super) fn handover(&mut self) {
        for index in self.calls.stopped.remove(&self.here.within).unwrap_or_default() {
            if let Some(result) = &mut self.out.calls[index].result {
                result.handover = true;
            }
        }
        self.sequel(Sequel::Handover, None);
    }

    /// Notes that a damaged line seems to contain the result of a call.
    pub(super) fn damaged(&mut self, id: &str, at: At) {
        if let Some(index) = self.calls.latest(id) {
            let call = &mut self.out.calls[index];
            call.sequel.get_or_insert_with(|| Box::new(Sequel::Truncated(at)));
        }
    }

    pub(super) fn progress(&mut self, progress: &CallProgress<'_>) {
        let Some(index) = self.calls.latest(&progress.call) else { return };
        let at = self.here.at;
        let call = &mut self.out.calls[index];
        // After a result its progress is of no interest, except for the time it took.
        if let Some(run_ms) = progress.run_ms {
            call.rare_mut().progress_ms = Some(run_ms);
        }
        if call.result.is_some() {
            return;
        }
        let rare = call.rare_mut();
        rare.progress = Some(at);
        // The first record that proves an end is its evidence.
        rare.proof = rare.proof.or_else(|| verdict::progress_end(progress.signs, at));
    }

    /// Notes a refusal that a record other than the result reports.
    pub(super) fn refusal(&mut self, refusal: &Refusal<'_>) {
        let by_id = refusal.call.as_deref().and_then(|id| self.calls.latest(id));
        let open = |&&index: &&usize| self.out.calls[index].result.is_none() && self.calls.made[index].node == refusal.node;
        // A record may name only the record of the call; of several calls there, it is unknown which one is meant.
        let by_node = || {
            let waiting = self.calls.waiting.get(&self.here.within).filter(|_| refusal.node.is_some())?;
            let mut calls = waiting.iter().filter(open);
            calls.next().copied().filter(|_| calls.next().is_none())
        };
        let Some(index) = by_id.or_else(|| by_node().filter(|_| refusal.call.is_none())) else { return };
        let at = self.here.at;
        self.out.calls[index].rare_mut().proof.get_or_insert(Sequel::Refused(at, refusal.denial));
    }

    pub(super) fn task(&mut self, news: TaskNews<'_>) {
        self.count(news.id.as_deref().map_or(0, str::len) + news.call.as_deref().map_or(0, str::len));
        let mut id: Option<Box<str>> = news.id.as_deref().map(Into::into);
        if let Some(poll) = news.poll.as_deref() {
            // Any tool may print such words; only the answer of a tool that asks about tasks is news.
            let Some(call) = self.calls.latest(poll).map(|index| &self.out.calls[index]) else { return };
            // The end of a script is not the end of what it asked about; its output says that.
            if call.kind != Kind::Task || call.rare().script.is_some() {
                return;
            }
            // A list of all tasks also contains those that ended long ago; only the first report counts.
            let same = |known: &&TaskRecord| known.id.is_some() && known.id == id && known.session == self.here.session;
            let known = || self.out.tasks.iter().rev().take(64).find(same).map(|known| known.state);
            if call.rare().task.is_none() && news.state != TaskState::Running && known() == Some(news.state) {
                return;
            }
            id = id.or_else(|| call.rare().task.clone());
        }
        // Task ids may be reused; a report refers to the last call that got the id.
        let launched = id.as_ref().and_then(|id| self.calls.launched.get(&(self.here.within, id.clone())));
        let launched = launched.map(|&id| self.out.names.text(id).into());
        let claimed = || id.as_deref().filter(|_| news.call.is_none()).and_then(|id| self.call_of_run(id));
        let launched = launched.or_else(claimed);
        self.out.tasks.push(TaskRecord {
            session: self.here.session,
            call: news.call.as_deref().map(Into::into).or(launched),
            id,
            state: news.state,
            exit_code: news.exit_code,
            at: self.here.at,
            time: self.here.time,
            copied: self.owner.may_be_copy(),
        });
    }

    /// Gives every call its sequel and its number of siblings, and lists inconsistencies.
    pub(super) fn settle_calls(&mut self) {
        self.pair_nameless();
        for (call, made) in self.out.calls.iter_mut().zip(&self.calls.made) {
            let count = made.message.and_then(|message| self.calls.messages.get(&message));
            call.parallel = count.copied().unwrap_or(1);
        }
        let end = self.torn_tail.map_or(Sequel::Ends(self.out.end), Sequel::Truncated);
        for call in self.out.nested.iter_mut().filter(|call| call.result.is_none()) {
            // Once its parent has a result, a subagent is not running any more.
            let parent = call.rare().parent.as_deref().and_then(|parent| self.calls.latest(parent));
            let answered = parent.and_then(|parent| self.out.calls[parent].result.as_ref());
            call.sequel = Some(Box::new(answered.map_or(end, |result| Sequel::MovedOn(result.at))));
        }
        // A refusal by a hook explains a missing result better than anything that came later.
        for call in self.out.calls.iter_mut().filter(|call| call.result.is_none()) {
            let refused = |hook: &&HookRecord| hook.may_refuse() && hook.outcome == Some(HookOutcome::Blocked);
            let blocked = call.hooks.iter().find(refused).map(|hook| Box::new(Sequel::Blocked(hook.at)));
            let weak = call.sequel.as_deref().is_none_or(|sequel| sequel.is_weak());
            let proof = call.rare().proof.filter(|_| weak).map(Box::new);
            call.sequel = blocked.or(proof).or(call.sequel.take()).or_else(|| Some(Box::new(end)));
        }
        for call in self.out.calls.iter_mut().filter(|call| call.result.is_some()) {
            if let Some(rare) = call.rare.as_deref_mut() {
                (rare.progress, rare.proof) = (None, None);
            }
        }
        self.out.hooks.extend(std::mem::take(&mut self.calls.early_hooks).into_values().flatten());
        self.out.hooks.sort_by_key(|loose| loose.hook.at);
        let early = std::mem::take(&mut self.calls.early);
        for (call, results) in early {
            let orphans = results.into_iter().map(|(session, result)| Orphan { call: call.clone(), session, result });
            self.out.orphans.extend(orphans);
        }
        // Sorted, because maps have no order and summaries must be equal for equal sources.
        self.out.orphans.sort_by(|a, b| (a.result.at, &a.call).cmp(&(b.result.at, &b.call)));
        self.call_issues();
    }

    /// Pairs calls and results that have no ids, where it is clear which belong together.
    fn pair_nameless(&mut self) {
        for (index, id) in std::mem::take(&mut self.calls.nameless).pairs() {
            if self.out.calls[index].result.is_some() {
                continue;
            }
            for hook in self.calls.early_hooks.remove(&*id).unwrap_or_default() {
                hooks::add(&mut self.out.calls[index].hooks, hook.hook);
            }
            for (_, result) in self.calls.early.remove(&*id).unwrap_or_default() {
                self.attach(index, result);
            }
        }
    }

    fn call_issues(&mut self) {
        let mut found = Vec::new();
        let mut issue = |code, line, call: &str, text: String| {
            found.push(crate::issue::Issue { code, line, row: None, call: Some(call.to_owned()), text });
        };
        for (index, call) in self.out.calls.iter().enumerate() {
            let (id, tool) = (self.out.names.text(call.id), self.out.names.text(call.tool));
            if let Some(before) = self.calls.earlier.get(&index).map(|&before| &self.out.calls[before])
                // The same call logged twice is a copy, not a reused id; so is one whose input was logged while it streamed in.
                && (before.tool, before.digest) != (call.tool, call.digest)
                && !before.streams_into(call)
            {
                let text = format!("the id was used before, for another call, on line {}", before.at.line);
                issue(IssueCode::ReusedId, call.at.line, id, text);
            }
            if let Some(result) = &call.result
                && result.time.zip(call.time).is_some_and(|(end, start)| end < start)
            {
                let text = format!("the result of {tool} is stamped before its request; no duration is given");
                issue(IssueCode::ResultBeforeCall, result.at.line, id, text);
            }
            for other in &call.rare().others {
                let text = format!("another result for the {tool} call of line {}", call.at.line);
                issue(IssueCode::DuplicateResult, other.at.line, id, text);
            }
        }
        for orphan in &self.out.orphans {
            issue(IssueCode::OrphanResult, orphan.result.at.line, &orphan.call, "a result whose call is not in this file".to_owned());
        }
        self.out.issues.extend(found);
        self.out.issues.sort_by_key(|issue| issue.line);
    }
}
