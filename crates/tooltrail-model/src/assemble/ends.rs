//! Ends: some logs tell how a call ended in a record of its own, beside the result or where there is none.
//!
//! An end may come before the request, so ends wait until everything was read. One that no request answers to is a call itself:
//! there is no other record of it.

use super::Assembler;
use super::calls::Made;
use crate::event::{End, TaskState};
use crate::summary::{CallRecord, ResultRecord, TaskRecord};
use crate::text::Names;
use crate::verdict::Said;

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
        for Ended { call, made, mut result } in std::mem::take(&mut self.ends) {
            let Some(index) = self.calls.latest_by(call.key) else {
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
