//! Rows: linked calls, sessions and sources as the commands print them.

use super::{CallId, CallList, Linked, LinkedCall, LinkedSession, Now, OpenCalls, UnsettledCall, UnsettledSession};
use crate::event::{Approval, HookOutcome, InputFrom, TaskState};
use crate::issue::{Issue, IssueCode};
use crate::position::{At, split_address};
use crate::row::{Background, CallRow, CallRowOrigin, CheckRow, HookRow, InnerCalls, Place, SessionRow, VERSION};
use crate::summary::{CallRecord, HookRecord, ResultRecord};
use crate::verdict::{self, Circumstances, LoggedOutcome, Sequel, Verdict};
use crate::{Status, Time};
use std::collections::BTreeMap;

/// Outcome of a call, with the record that proves it.
pub(super) struct Judged<'a> {
    pub(super) verdict: Verdict,
    pub(super) source: usize,
    pub(super) evidence: At,
    pub(super) result: Option<(usize, &'a ResultRecord)>,
    pub(super) completed: Option<Time>,
    pub(super) duration_ms: Option<u64>,
}

impl<'a> Linked<'a> {
    /// Determines the outcome of a call; without a time, as if its session had ended. `alone` limits it to its own source.
    pub(super) fn judge(&self, call: &LinkedCall, now: Option<&Now>, alone: bool) -> Judged<'a> {
        let record = self.record(call.id);
        let Some((source, result)) = self.result(call, alone) else {
            let life = self.life(call, now);
            let (verdict, evidence) = verdict::without_result(self.sequel(call), life);
            return Judged { verdict, source: call.id.source(), evidence, result: None, completed: None, duration_ms: None };
        };
        let refused = |hook: &HookRecord| hook.may_refuse() && hook.outcome == Some(HookOutcome::Blocked);
        let served = record.server.is_some();
        let hook_blocked = record.hooks.iter().any(refused);
        let around = Circumstances { hook_blocked, feedback: result.feedback, handover: result.handover, served };
        let verdict = verdict::with_result(record.kind, &result.signals, around);
        // A copy whose request has another time got new timestamps; its times say nothing about the original.
        let same_clock = match call.foreign_result {
            Some(super::Foreign::Copy(copy)) if source != call.id.source() => self.record(copy).time == record.time,
            _ => true,
        };
        let completed = result.time.filter(|_| same_clock);
        // A record that is both request and result does not show when the call was made, and a rewritten history not when anything was.
        let sole = result.sole || result.rewritten || (!result.timed && source == call.id.source() && result.at == record.at);
        let started = record.time.filter(|_| !sole);
        let duration_ms = started.zip(completed).and_then(|(start, end)| millis(start, end));
        // What a script printed later may prove more than its result.
        let evidence = record.rare().evidence.filter(|_| source == call.id.source()).unwrap_or(result.at);
        Judged { verdict, source, evidence, result: Some((source, result)), completed, duration_ms }
    }

    /// The event after a call that explains a missing result.
    fn sequel(&self, call: &LinkedCall) -> Sequel {
        let end = || Sequel::Ends(self.sources[call.id.source()].summary.end);
        self.record(call.id).sequel.as_deref().copied().unwrap_or_else(end)
    }

    /// The rows of `calls`. With `copies`, every copy has its own row with only what its own source says.
    pub fn call_rows<'s>(&'s self, now: &'s Now, copies: bool) -> impl Iterator<Item = CallRow<'s>> {
        self.calls.iter().filter(move |call| copies || call.copy_of.is_none()).map(move |call| self.call_row(call, now, copies))
    }

    /// A record of a source, as it is printed.
    pub fn place(&self, source: usize, at: At) -> Place<'_> {
        let own = self.sources[source];
        Place { file: &own.path, line: at.line, row: own.summary.rows.get(at.line) }
    }

    fn request_place(&self, call: CallId) -> Place<'_> {
        self.place(call.source(), self.record(call).at)
    }

    /// One call as a row.
    pub fn call_row<'s>(&'s self, call: &LinkedCall, now: &Now, alone: bool) -> CallRow<'s> {
        self.open_call(call, alone).settle(|| self.pulse(call.session, now))
    }

    /// One call as a row, without what depends on the time.
    pub fn open_call<'s>(&'s self, call: &LinkedCall, alone: bool) -> UnsettledCall<'s> {
        let ended = self.ended_row(call, alone);
        let may_run = ended.result.is_none() && self.sequel(call).is_open();
        // A task that was last seen running is reported as running until its session is known to have ended.
        let may_go_on = ended.background.as_ref().is_some_and(|task| task.state == TaskState::Running);
        let chance = if may_run || may_go_on { self.chance(call) } else { None };
        let mut open = UnsettledCall { row: ended, chance: chance.filter(|_| may_run), background: may_go_on && chance.is_some() };
        // The row is as of an ended session; settling it makes the task run again if the session is alive.
        if may_go_on && let Some(task) = &mut open.row.background {
            task.state = TaskState::Unknown;
        }
        open
    }

    /// One call as a row, as if its session had ended; only a background task may still be running.
    fn ended_row<'s>(&'s self, call: &LinkedCall, alone: bool) -> CallRow<'s> {
        let (source, record) = (call.id.source(), self.record(call.id));
        let names = &self.sources[source].summary.names;
        let judged = self.judge(call, None, alone);
        let result = judged.result.map(|(_, result)| result);
        let (agent, session) = (self.agent_of(source), self.session_text(call.id));
        let (input_from, replacement) = input_from(record, result, &judged.verdict);
        CallRow {
            v: VERSION,
            agent,
            // A copy alone keeps the name that its own file uses, which may not be that of the root session.
            session: if alone { names.text(record.session) } else { session },
            agent_id: names.opt(record.agent),
            r#ref: format!("{}:{}", self.sessions.get(call.session).map_or("", |session| &session.short), call.number),
            call: names.text(record.id),
            tool: names.text(record.tool),
            server: names.opt(record.server),
            kind: record.kind,
            status: judged.verdict.status,
            reason: judged.verdict.reason,
            evidence: self.place(judged.source, judged.evidence),
            requested_at: record.time,
            completed_at: judged.completed,
            duration_ms: judged.duration_ms,
            // Progress counts only once there is a result: until then its time is not the final one.
            run_ms: result.and_then(|result| result.run_ms.or(record.rare().progress_ms)),
            exit_code: result.and_then(|result| stated_code(record, result)),
            // Filled in later from the command itself, which needs the record to be read.
            exit_of: None,
            masked: Vec::new(),
            purpose: None,
            is_error: result.map(|result| result.signals.outcome == LoggedOutcome::Error),
            input_bytes: record.input.len(),
            result_bytes: result.filter(|_| record.rare().inner.is_none_or(|inner| inner.told)).map(|result| result.bytes),
            model: names.opt(record.model),
            message: names.opt(record.message),
            parallel: record.parallel,
            parent_call: record.rare().parent.as_deref().or_else(|| self.agents.parent(source, record.within)),
            child_session: self.agents.child(agent, session, names.text(record.id)).or_else(|| named_child(result)),
            background: self.background(call, record, judged.result, alone),
            hooks: record.hooks.iter().map(|hook| self.hook_row(source, hook)).collect(),
            request: self.request_place(call.id),
            result: judged.result.map(|(source, result)| self.place(source, result.at)),
            cwd: names.opt(record.cwd),
            sidechain: record.sidechain,
            copy_of: call.copy_of.map(|original| self.request_place(original)),
            about: None,
            unwrapped: record.rare().script.as_ref().and_then(|script| script.alone).map(|tool| names.text(tool)),
            inner: self.inner_calls(call, alone),
            origin: if call.id.is_inner() { CallRowOrigin::Script } else { CallRowOrigin::Log },
            input_from,
            replacement,
            failed_by: record.rare().script.as_ref().and_then(|script| script.failed_by),
            command: None,
            path: None,
            alias: record.rare().alias.as_deref(),
            polls: record.rare().polls.as_deref(),
            may_wait: may_wait(record, judged.duration_ms, result),
        }
    }

    /// The outcomes of the calls of a script that makes several, or may do so.
    fn inner_calls(&self, call: &LinkedCall, alone: bool) -> Option<InnerCalls> {
        let script = self.record(call.id).rare().script.as_deref().filter(|script| script.alone.is_none())?;
        let mut counts = InnerCalls { complete: script.complete, ..InnerCalls::default() };
        for index in script.calls.clone() {
            let id = CallId::new(call.id.source(), CallList::Inner, index as usize);
            counts.calls += 1;
            let inner = LinkedCall { id, copy_of: None, ..*call };
            match self.judge(&inner, None, alone).verdict.status {
                Status::Succeeded => counts.succeeded += 1,
                Status::Failed => counts.failed += 1,
                _ => counts.unknown += 1,
            }
        }
        Some(counts)
    }

    fn hook_row<'s>(&'s self, source: usize, hook: &'s HookRecord) -> HookRow<'s> {
        let names = &self.sources[source].summary.names;
        HookRow {
            event: names.opt(hook.event),
            name: names.opt(hook.name),
            command: names.opt(hook.command),
            outcome: hook.outcome.unwrap_or(HookOutcome::Unknown),
            exit_code: hook.exit_code,
            duration_ms: hook.duration_ms,
            evidence: self.place(source, hook.at),
        }
    }

    fn background<'s>(
        &'s self,
        call: &LinkedCall,
        record: &'s CallRecord,
        result: Option<(usize, &'s ResultRecord)>,
        alone: bool,
    ) -> Option<Background<'s>> {
        let source = call.id.source();
        let session = self.session_text(call.id);
        let id = result.and_then(|(_, result)| result.background.as_deref());
        let own = self.sources[source].summary.names.text(record.id);
        let news = self.tasks.last(self.agent_of(source), session, own, id, alone.then_some(source));
        // A later report may not even have a name.
        let goes_on = result.is_some_and(|(_, result)| result.signals.backgrounded);
        if id.is_none() && news.is_none() && !goes_on {
            return None;
        }
        // Without news the task was started and, as far as the logs say, still runs.
        let Some(news) = news else {
            let state = TaskState::Running;
            let (source, at) = result.map_or((source, record.at), |(source, result)| (source, record.rare().evidence.unwrap_or(result.at)));
            return Some(Background { id, state, exit_code: None, ended_at: None, evidence: self.place(source, at) });
        };
        let state = news.record.state;
        // The time of the last news is an end only if the news is about one.
        let ended = !matches!(state, TaskState::Running | TaskState::Unknown);
        Some(Background {
            id: id.or(news.record.id.as_deref()),
            state,
            exit_code: news.record.exit_code,
            ended_at: news.record.time.filter(|_| ended),
            evidence: self.place(news.source, news.record.at),
        })
    }

    /// The rows of `list`, by start.
    pub fn session_rows<'s>(&'s self, now: &Now) -> Vec<SessionRow<'s>> {
        (0..self.sessions.len()).filter_map(|session| self.session_row(session, now)).collect()
    }

    /// One session as a row, by its place in [`Linked::sessions`].
    pub fn session_row<'s>(&'s self, session: usize, now: &Now) -> Option<SessionRow<'s>> {
        Some(self.open_session(session)?.settle(self.pulse(session, now)))
    }

    /// One session as a row, without what depends on the time.
    pub fn open_session<'s>(&'s self, session: usize) -> Option<UnsettledSession<'s>> {
        let own = self.sessions.get(session)?;
        let mut row = described(self, own);
        let mut calls = OpenCalls::default();
        for call in self.calls_of(session).iter().filter(|call| call.copy_of.is_none()) {
            if call.id.is_inner() {
                row.inner_calls += 1;
                continue;
            }
            // As if the session had ended. Calls that may still run are counted apart, until the time is known.
            let judged = self.judge(call, None, false);
            row.calls += 1;
            *row.by_status.entry(judged.verdict.status).or_default() += 1;
            let may_run = judged.result.is_none() && self.sequel(call).is_open();
            if let Some(chance) = may_run.then(|| self.chance(call)).flatten() {
                calls.take(self.record(call.id).kind, chance);
            }
        }
        Some(UnsettledSession { row, calls, ending: own.ending.map(|ended| ended.what) })
    }

    /// The rows of `check`, by path.
    pub fn check_rows<'s>(&'s self, now: &'s Now) -> Vec<CheckRow<'s>> {
        let mut rows: Vec<CheckRow<'_>> = self.sources.iter().map(|source| check_row(source)).collect();
        // Calls that a file only reports for a subagent are not that file's to answer.
        for call in self.calls.iter().filter(|call| call.id.is_own() && !self.is_streamed(call)) {
            let record = self.record(call.id);
            let row = &mut rows[call.id.source()];
            row.calls += 1;
            // Each file is checked alone: a result in another file does not make this one complete.
            let paired = self.result(call, true).is_some();
            row.paired += u64::from(paired);
            row.duplicate_results += record.rare().others.len() as u64;
            if paired {
                continue;
            }
            row.unanswered += 1;
            let verdict = self.judge(call, Some(now), true).verdict;
            // A call that is still running is not a problem of the log.
            if verdict.status != Status::Running {
                let names = &self.sources[call.id.source()].summary.names;
                let (id, tool) = (names.text(record.id).to_owned(), names.text(record.tool));
                let why = verdict.reason.map_or("", |reason| reason.word());
                let text = format!("no result for {tool}: {} ({why})", verdict.status.word());
                row.issues.push(Issue { code: IssueCode::UnansweredCall, line: record.at.line, row: None, call: Some(id), text });
            }
        }
        for (row, source) in rows.iter_mut().zip(&self.sources) {
            // The last line of a log that is being written is torn until it is complete.
            if now.is_fresh(source.modified, source.summary.last) {
                row.issues.retain(|issue| issue.code != IssueCode::TornTail);
            }
            // Issues of unanswered calls were added behind those that reading found.
            row.issues.sort_by_key(|issue| issue.line);
            row.issues.iter_mut().for_each(|issue| issue.row = source.summary.rows.get(issue.line).map(str::to_owned));
        }
        rows
    }
}

impl Linked<'_> {
    /// Whether a call is the same as another one of its source, logged before its input was complete.
    fn is_streamed(&self, call: &LinkedCall) -> bool {
        let whole = call.copy_of.filter(|whole| whole.source == call.id.source);
        whole.is_some_and(|whole| self.record(whole).digest != self.record(call.id).digest)
    }
}

/// The subagent that a result surely names.
fn named_child(result: Option<&ResultRecord>) -> Option<&str> {
    result?.child.as_ref().filter(|child| child.sure).map(|child| &*child.agent)
}

/// The exit code that a result states.
fn stated_code(record: &CallRecord, result: &ResultRecord) -> Option<i64> {
    verdict::exit_code(record.kind, &result.signals.of_tool(record.kind, record.server.is_some()))
}

/// Whether the duration of a call may include waiting for the person's approval. Without the agent's settings it may; a run time that the
/// tool reports tells the two apart.
fn may_wait(record: &CallRecord, duration_ms: Option<u64>, result: Option<&ResultRecord>) -> bool {
    let reported = result.and_then(|result| result.run_ms).is_some_and(|run| run > 0);
    duration_ms.is_some() && !reported && record.approval.unwrap_or(Approval::Any).may_wait(record.kind)
}

/// Origin of the input that a call ran with, and the record that has it where a hook replaced it. Hooks run in the order of the log, and
/// the last replacement counts. A call that was blocked ran with no input at all.
fn input_from(record: &CallRecord, result: Option<&ResultRecord>, verdict: &Verdict) -> (InputFrom, Option<At>) {
    if verdict.status == Status::Blocked {
        return (InputFrom::Request, None);
    }
    let replacement = record.hooks.iter().filter_map(HookRecord::replaced_input).max();
    match replacement {
        _ if result.is_some_and(|result| result.input_edited) => (InputFrom::User, replacement),
        Some(_) => (InputFrom::Hook, replacement),
        None => (InputFrom::Request, None),
    }
}

/// A session's row without its calls.
fn described<'s>(linked: &'s Linked<'_>, session: &'s LinkedSession) -> SessionRow<'s> {
    SessionRow {
        v: VERSION,
        agent: session.agent,
        session: &session.id,
        title: session.title.as_deref(),
        project: session.project.as_deref(),
        branch: session.branch.as_deref(),
        started_at: session.first,
        last_at: session.last,
        state: None,
        state_reason: None,
        turns: session.turns,
        calls: 0,
        by_status: BTreeMap::new(),
        inner_calls: 0,
        models: session.models.iter().map(|model| &**model).collect(),
        usage: session.usage,
        files: session.sources.iter().map(|&source| &*linked.sources[source].path).collect(),
        short: &session.short,
    }
}

fn check_row(source: &super::Source) -> CheckRow<'_> {
    let summary = &source.summary;
    let (file, part) = if summary.rows.is_empty() { (&*source.path, None) } else { split_address(&source.path) };
    CheckRow {
        v: VERSION,
        agent: summary.agent,
        file,
        part,
        bytes: summary.tally.bytes,
        lines: summary.tally.lines,
        blank: summary.tally.blank,
        records: summary.tally.records.iter().map(|(name, count)| (&**name, *count)).collect(),
        unparsed: summary.tally.unparsed,
        unknown_records: summary.tally.unknown_records,
        calls: 0,
        paired: 0,
        unanswered: 0,
        orphan_results: summary.orphans.len() as u64,
        duplicate_results: 0,
        issues: summary.issues.clone(),
    }
}

/// Duration between two times; `None` where the clock went backwards.
fn millis(start: Time, end: Time) -> Option<u64> {
    // From millisecond to millisecond, as the log shows them.
    u64::try_from(end.as_millisecond() - start.as_millisecond()).ok().filter(|_| end >= start)
}
