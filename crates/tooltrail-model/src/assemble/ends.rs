//! Ends: some logs record the end of a call separately, beside the result or instead of it.
//!
//! An end may come before the request, so ends wait until everything was read. An end without a request becomes a call
//! itself: there is no other record of it. Where the request has no id, its input shows which end belongs to it.

use super::Assembler;
use super::calls::CallOrigin;
use super::scripts::ScriptedEnd;
use crate::event::{End, TaskState};
use crate::summary::{CallRecord, ResultRecord, TaskRecord};
use crate::text::Names;
use crate::verdict::{LoggedOutcome, ServedWords};
use crate::{Map, Set};

/// Number of unpaired requests and ends that are tried. The two are written close together.
const TRIES: usize = 64;

/// A call as its end describes it.
#[derive(Clone, Debug)]
pub(super) struct EndedCall {
    call: CallRecord,
    made: CallOrigin,
    result: ResultRecord,
    /// Whether the record may be a copy from another log.
    copied: bool,
}

impl Assembler {
    pub(super) fn end(&mut self, end: End<'_>) {
        let mut call = self.call_record(&end.call);
        let result = self.result_record(&end.result);
        if end.by_script {
            match self.made_by_script(&call, &result, end.subject) {
                ScriptedEnd::Known => return,
                ScriptedEnd::New(script) => call.rare_mut().parent = Some(script),
                ScriptedEnd::None => {}
            }
        }
        self.ends.push(EndedCall { call, made: CallOrigin::of(&end.call), result, copied: self.owner.may_be_copy() });
    }

    /// Gives every end to its call.
    pub(super) fn settle_ends(&mut self) {
        let ends = std::mem::take(&mut self.ends);
        let nameless = self.nameless(&ends);
        for (number, EndedCall { call, made, mut result, copied }) in ends.into_iter().enumerate() {
            if let Some(&index) = nameless.get(&number) {
                self.give_name(index, &call);
            }
            let Some(index) = self.before(call.key, call.at) else {
                // No request: this record is all there is, so its time says nothing about when the call was made.
                result.sole = true;
                let index = self.add_call(call, made);
                self.attach(index, result);
                continue;
            };
            let known = &mut self.out.calls[index];
            known.rare_mut().ends.push(result.at);
            match &mut known.result {
                None => known.result = Some(result),
                // The call was answered while its work went on: this is the end of that work.
                Some(old) if old.signals.backgrounded && old.at < result.at => {
                    let news = end_of_task(known, &self.out.names, &result);
                    self.out.tasks.push(TaskRecord { copied, ..news });
                }
                Some(old) => supply(old, result),
            }
        }
    }

    /// Requests without an id that belong to ends with an id, by the number of the end: those with the same input in the
    /// same turn, the nearest first.
    fn nameless(&self, ends: &[EndedCall]) -> Map<usize, usize> {
        let calls = &self.out.calls;
        let mut requests = (0..calls.len()).filter(|&index| calls[index].unnamed).peekable();
        let mut pairs = Map::default();
        if requests.peek().is_none() {
            return pairs;
        }
        let mut known = Set::default();
        let (mut open_requests, mut open_ends) = (Vec::new(), Vec::new());
        for (number, end) in ends.iter().enumerate() {
            // One call may have several ends; the first one finds the request.
            if self.calls.latest_by(end.call.key).is_some() || !known.insert(end.call.key) {
                continue;
            }
            // Requests up to here may belong to an earlier end that is still open.
            while let Some(request) = requests.next_if(|&request| calls[request].at < end.call.at) {
                match take(&mut open_ends, |&end: &usize| ends[end].is_end_of(&calls[request])) {
                    Some(end) => drop(pairs.insert(end, request)),
                    None => open_requests.push(request),
                }
            }
            match take(&mut open_requests, |&request| end.is_end_of(&calls[request])) {
                Some(request) => drop(pairs.insert(number, request)),
                None => open_ends.push(number),
            }
        }
        // Requests after the last end.
        for request in requests {
            if let Some(end) = take(&mut open_ends, |&end| ends[end].is_end_of(&calls[request])) {
                pairs.insert(end, request);
            }
        }
        pairs
    }

    /// Gives a request the id that its end knows.
    fn give_name(&mut self, index: usize, end: &CallRecord) {
        let call = &mut self.out.calls[index];
        (call.id, call.key, call.unnamed) = (end.id, end.key, end.unnamed);
        self.calls.named(end.key, index);
    }
}

impl EndedCall {
    /// Whether this is the end of a request without an id. A request without input must stand directly beside its end.
    fn is_end_of(&self, request: &CallRecord) -> bool {
        let end = &self.call;
        let same = (end.tool, end.turn, end.within) == (request.tool, request.turn, request.within);
        let silent = request.input.is_empty() && request.at.line.abs_diff(end.at.line) == 1;
        same && (silent || (!request.input.is_empty() && request.digest == end.digest))
    }
}

/// Removes and returns the last entry that fits.
fn take(open: &mut Vec<usize>, fits: impl Fn(&usize) -> bool) -> Option<usize> {
    let at = open.iter().rev().take(TRIES).position(fits)?;
    Some(open.remove(open.len() - 1 - at))
}

/// Adds to a result what the end of the call says beyond it. Where both say something, the text for the model decides.
fn supply(result: &mut ResultRecord, end: ResultRecord) {
    let (told, more) = (&mut result.signals, end.signals);
    if told.outcome == LoggedOutcome::Nothing && told.marker.is_none() {
        told.outcome = more.outcome;
        told.marker = more.marker;
    }
    // An exit code in a field of its own is more reliable than one found in a text.
    told.exit_field = more.exit_field.or(told.exit_field);
    told.denial = told.denial.or(more.denial);
    if told.served == ServedWords::default() {
        told.served = more.served;
    }
    result.run_ms = end.run_ms.or(result.run_ms);
    result.child = result.child.take().or(end.child);
}

/// News of a task: the end of a call that had been answered while its work went on.
fn end_of_task(call: &CallRecord, names: &Names, end: &ResultRecord) -> TaskRecord {
    let state = match end.signals.outcome {
        LoggedOutcome::Worked => TaskState::Completed,
        LoggedOutcome::Error => TaskState::Failed,
        LoggedOutcome::Nothing => TaskState::Unknown,
    };
    TaskRecord {
        session: call.session,
        id: None,
        call: Some(names.text(call.id).into()),
        state,
        exit_code: end.signals.exit_field,
        at: end.at,
        time: end.time,
        copied: false,
    }
}
