//! Changes of files: invented histories whose truth is known, the agent's own copies, and real logs.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)] // helpers of tests, where a panic is the report

mod applier;
mod backups;
mod claude;
mod codex;
mod corpus;
mod histories;
mod moves;
mod observed;
mod shells;
mod world;
