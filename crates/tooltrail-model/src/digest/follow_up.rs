//! What followed each failure in its session: whether the same was tried again, and with which outcome.
//!
//! Two calls are the same if their [`RepeatKey`] is: the same essential commands, another change of the same file, or the same tool with the
//! same input. Only a proven success counts: behind a pipe that hides its exit code, a command has not succeeded.

use super::call_effect::{CallEffect, RepeatKey};
use super::fold::vouches;
use crate::Status;
use crate::row::CallNumber;
use crate::status::words;
use std::collections::HashMap;

words! {
    /// What followed a failure in its session.
    FollowUp {
        /// The same call succeeded later.
        Resolved => "resolved",
        /// The same call was made again, and none of its later runs is known to have succeeded.
        Retried => "retried",
        /// The same call was not made again, and others followed.
        MovedOn => "moved_on",
        /// No call followed.
        Stopped => "stopped",
    }
}

impl FollowUp {
    /// Whether the failure was left as it was.
    pub fn is_unresolved(self) -> bool {
        self != FollowUp::Resolved
    }
}

/// The failed and refused calls among some effects, each with what followed. `last` is the last call of the session.
pub(super) fn follow_ups(effects: &[CallEffect], last: Option<CallNumber>) -> Vec<(CallNumber, FollowUp)> {
    let (mut tried, mut succeeded): (HashMap<&RepeatKey, usize>, HashMap<&RepeatKey, usize>) = Default::default();
    for (place, effect) in effects.iter().enumerate() {
        // The last place of a key is enough: if any try comes later than a failure, this one does.
        tried.insert(&effect.repeat_key, place);
        if effect.status == Status::Succeeded && vouches(effect) {
            succeeded.insert(&effect.repeat_key, place);
        }
    }
    let later =
        |map: &HashMap<&RepeatKey, usize>, place: usize, effect: &CallEffect| map.get(&effect.repeat_key).is_some_and(|at| *at > place);
    let failed = effects.iter().enumerate().filter(|(_, effect)| is_failure(effect));
    let followed = failed.map(|(place, effect)| {
        let follow_up = match () {
            () if later(&succeeded, place, effect) => FollowUp::Resolved,
            () if later(&tried, place, effect) => FollowUp::Retried,
            // Calls that matter to no digest are not among the effects, so the numbers decide.
            () if last.is_some_and(|last| last > effect.cited.number) => FollowUp::MovedOn,
            () => FollowUp::Stopped,
        };
        (effect.cited.number, follow_up)
    });
    followed.collect()
}

/// True if a call failed, ran out of time or was refused, and did not just answer no.
fn is_failure(effect: &CallEffect) -> bool {
    match effect.status {
        Status::Failed | Status::TimedOut => !effect.answers_no,
        Status::Blocked | Status::Rejected => true,
        _ => false,
    }
}
