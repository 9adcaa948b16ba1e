//! What the descriptions of the two log formats state, statement by statement and in their order. Each is a case: a small log of our own
//! that is shaped like the statement, and what rows, views and `check` have to say about it.
//!
//! | file | statements about |
//! |---|---|
//! | `lifecycle` | the life of a call: request, hooks, result, parallel calls, the other agent's items, missing results |
//! | `matching` | results in their calls: pairing, pictures, answers, views of tools |
//! | `structured` | the structured companion of a result, tool by tool |
//! | `hooks_and_settings` | hooks in order, calls without a result, fields that say how the agent was set |
//! | `envelope` | the fields of records, messages, blocks and tokens |

#![allow(clippy::unwrap_used, clippy::expect_used)] // a panic is the report

mod envelope;
mod harness;
mod hooks_and_settings;
mod lifecycle;
mod matching;
mod structured;
#[path = "../support/mod.rs"]
mod support;

use harness::hold;

#[test]
fn the_life_of_a_call() {
    hold(&lifecycle::cases());
}

#[test]
fn results_in_their_calls() {
    hold(&matching::cases());
}

#[test]
fn structured_results() {
    hold(&structured::cases());
}

#[test]
fn records_and_messages() {
    hold(&envelope::cases());
}

#[test]
fn hooks_missing_results_and_settings() {
    hold(&hooks_and_settings::cases());
}
