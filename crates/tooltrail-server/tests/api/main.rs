//! The API, asked in process: what it answers, what it refuses, and that its OpenAPI document is true of both.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::print_stdout, dead_code)] // helpers of tests, where a panic is the report

mod answers;
mod asking;
mod driven;
mod events;
mod fits;
mod pages;
mod schema;
#[path = "../support/mod.rs"]
mod support;
