//! Words for failures of all sessions, the same on pages and in the terminal.

use tooltrail_model::digest::FollowUp;

/// What followed a failure, in two words.
pub fn follow_up_word(follow_up: FollowUp) -> &'static str {
    match follow_up {
        FollowUp::Resolved => "succeeded later",
        FollowUp::Retried => "retried, unresolved",
        FollowUp::MovedOn => "not retried",
        FollowUp::Stopped => "last call",
    }
}

/// What followed a failure, as a sentence.
pub fn follow_up_sentence(follow_up: FollowUp) -> &'static str {
    match follow_up {
        FollowUp::Resolved => "The same command, another change of the same file, or the same input succeeded later in the session",
        FollowUp::Retried => "The same was tried again, and no later try is known to have succeeded",
        FollowUp::MovedOn => "The same was not tried again; the agent went on with something else",
        FollowUp::Stopped => "No call followed in the session",
    }
}
