//! Ends: some logs tell how a call ended in a record of its own, beside the result or where there is none.
//!
//! An end may come before the request, so ends wait until everything was read. One that no request answers to is a call itself:
//! there is no other record of it. Where the request has no id, what was asked tells which end is its own.

use super::Assembler;
use super::calls::Made;
use crate::event::{End, TaskState};
use crate::summary::{CallRecord, ResultRecord, TaskRecord};
use crate::text::Names;
use crate::verdict::Said;
use crate::{Map, Set};

/// How many requests and ends without a partner are tried. The two are written one after the other.
const TRIES: usize = 64;

/// A call as its end tells it.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    call: CallRecord,
    made: Made,
    result: ResultRecord,
}

impl Assembler {
    pub(super) fn end(&mut self, end: &End<'_>) {
        let call = self.call_record(&end.call);
        let result = self.result_record(&end.result);
        self.ends.push(Ended { call, made: Made::of(&end.call), result });
    }

    /// Gives every end to its call.
    pub(super) fn settle_ends(&mut self) {
        let ends = std::mem::take(&mut self.ends);
        let nameless = self.nameless(&ends);
        for (number, Ended { call, made, mut result }) in ends.into_iter().enumerate() {
            if let Some(&index) = nameless.get(&number) {
                self.give_name(index, &call);
            }
            let Some(index) = self.before(call.key, call.at) else {
                result.sole = true;
                let index = self.add_call(call, made);
                self.attach(index, result);
                continue;
            };
            let known = &mut self.out.calls[index];
            known.rare_mut().ends.push(result.at);
            match &mut known.result {
                None => known.result = Some(result),
                Some(old) if old.signals.backgrounded && old.at < result.at => {
                    let news = end_of_task(known, &self.out.names, &result);
                    self.out.tasks.push(news);
                }
                Some(old) => supply(old, result),
            }
        }
    }

    /// The requests without an id that ends with an id belong to, by the number of the end: those that ask for the same, in the same
    /// turn, the nearest first.
    fn nameless(&self, ends: &[Ended]) -> Map<usize, usize> {
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
        for request in requests {
            if let Some(end) = take(&mut open_ends, |&end| ends[end].is_end_of(&calls[request])) {
                pairs.insert(end, request);
            }
        }
        pairs
    }

    /// A request gets the id that its end knows.
    fn give_name(&mut self, index: usize, end: &CallRecord) {
        let call = &mut self.out.calls[index];
        (call.id, call.key, call.unnamed) = (end.id, end.key, end.unnamed);
        self.calls.named(end.key, index);
    }
}

impl Ended {
    /// Whether this is the end of a request that has no id. One that does not say what it asks for stands right beside its end.
    fn is_end_of(&self, request: &CallRecord) -> bool {
        let end = &self.call;
        let same = (end.tool, end.turn, end.within) == (request.tool, request.turn, request.within);
        let silent = request.input_bytes == 0 && request.at.line.abs_diff(end.at.line) == 1;
        same && (silent || (request.input_bytes > 0 && request.digest == end.digest))
    }
}

/// Takes out the last one that fits.
fn take(open: &mut Vec<usize>, fits: impl Fn(&usize) -> bool) -> Option<usize> {
    let at = open.iter().rev().take(TRIES).position(fits)?;
    Some(open.remove(open.len() - 1 - at))
}

/// Adds to a result what the end of the call tells beyond it. What the model was told decides where both say something.
fn supply(result: &mut ResultRecord, end: ResultRecord) {
    let (told, more) = (&mut result.signals, end.signals);
    if told.outcome == Said::Nothing && told.marker.is_none() {
        told.outcome = more.outcome;
        told.marker = more.marker;
    }
    told.exit_field = more.exit_field.or(told.exit_field);
    told.denial = told.denial.or(more.denial);
    result.run_ms = end.run_ms.or(result.run_ms);
    result.child = result.child.take().or(end.child);
}

/// The end of a call that had been answered while its work went on is news of that work.
fn end_of_task(call: &CallRecord, names: &Names, end: &ResultRecord) -> TaskRecord {
    let state = match end.signals.outcome {
        Said::Worked => TaskState::Completed,
        Said::Error => TaskState::Failed,
        Said::Nothing => TaskState::Unknown,
    };
    TaskRecord {
        session: call.session,
        id: None,
        call: Some(names.text(call.id).into()),
        state,
        exit_code: end.signals.exit_field,
        at: end.at,
        time: end.time,
    }
}
