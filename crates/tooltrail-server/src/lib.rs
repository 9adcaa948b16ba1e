//! The web page: every project, session and call on this machine, served to this machine.
//!
//! An [`AppState`] knows what is there: `fresh` keeps a [`snapshot::Snapshot`] of the catalogue up to date while somebody asks, `open_sessions` keeps the
//! sessions that are open. `pages/` has one file per page; each is a function from what was asked to what is answered, drawn with the
//! views that exports use. `api/` answers programs. `guard` decides who may ask at all. [`server`] puts it on a socket; `work` has pages
//! and answers made on threads, `pipe` writes what is sent meanwhile. Nothing here reads the environment or prints: what the machine is
//! like is told by a [`Machine`].

pub mod answer;
mod api;
mod app_state;
mod assets;
mod call_rows;
mod changed;
mod feed;
mod filter_cache;
mod filter_form;
mod frame;
mod fresh;
pub mod guard;
mod hits;
mod hub;
mod machine;
pub mod open_sessions;
mod pages;
pub mod pipe;
pub mod request;
pub mod server;
mod session_table;
pub mod snapshot;
mod stream;
mod tested;
mod words;
mod work;

pub use app_state::{AppState, Setup};
pub use guard::Guard;
pub use machine::{LogRetention, Machine};
pub use server::serve;
