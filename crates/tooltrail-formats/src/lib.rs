//! How each agent writes its logs, and the scan that reads all of them.
//!
//! A [`Format`] knows one agent: where its logs lie, how to recognise one, and how to decode a record into events. Decoding
//! needs no history; assembling is the model's. To add an agent, add a folder here and a line to [`FORMATS`].
//! The folders [`changes`], [`transcript`] and `served` are not agents: they work on the records of any of them.

pub mod changes;
mod claude_code;
mod codex;
mod database;
pub mod disk;
pub mod error;
pub mod find;
pub mod follow;
mod format;
pub mod frames;
mod joined;
pub mod lines;
pub mod listing;
pub mod load;
pub mod mend;
pub mod mirror;
mod open;
mod opencode;
mod payloads;
#[cfg(test)]
mod reads;
pub mod records;
pub mod retention;
pub mod saved;
pub mod scan;
mod served;
pub mod stop_hook;
mod time;
mod titles;
pub mod transcript;
pub mod value;
mod worktrees;

pub use database::{PrivateCopy, Queries};
pub use format::{Decode, DetailRequest, Format, LogFiles, OpenRecords, Places, Record, Registered, SessionTitle, Sink, TypedRecord};

/// All agents whose logs can be read. The first that recognises a file has it.
pub static FORMATS: &[&dyn Format] = &[&claude_code::ClaudeCode, &codex::Codex, &opencode::OpenCode];

/// The format of an agent, by its name in output.
pub fn format_of(agent: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.agent() == agent)
}
