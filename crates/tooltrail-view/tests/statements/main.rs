//! What the descriptions of the two log formats state, statement by statement and in their order. Each is a case: a small log of our own
//! that is shaped like the statement, and what rows, views and `check` have to say about it.
//!
//! | file | statements about |
//! |---|---|
//! | `lifecycle` | the life of a call: request, hooks, result, parallel calls |
//! | `pairing` | the same document, on: the other agent's items, pairing, missing results, formats of tools |
//! | `matching` | results in their calls: pairing, pictures, answers, views of tools |
//! | `structured` | the structured companion of a result, tool by tool |
//! | `envelope` | the fields of records, messages, blocks and tokens |

#![allow(clippy::unwrap_used, clippy::expect_used)] // a panic is the report

mod envelope;
mod harness;
mod lifecycle;
mod matching;
mod pairing;
mod structured;
#[path = "../support/mod.rs"]
mod support;

use harness::hold;

#[test]
fn the_life_of_a_call() {
    hold(&lifecycle::cases());
}

#[test]
fn pairing_and_missing_results() {
    hold(&pairing::cases());
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
