//! What only a real browser can tell: exported pages and those of the server, opened in Chromium.
//!
//! `cargo xtask test` installs Chromium and its driver where they are missing. Without them these tests fail and say so: a check
//! that is skipped is no check.

#![allow(clippy::expect_used)] // helpers of tests, where a panic is the report

mod access;
mod call;
mod calls;
mod changes;
mod driver;
mod export;
mod failures;
mod figures;
mod hostile;
mod lists;
mod live;
mod palette;
mod server;
mod session;
mod strangers;
mod waterfall;
