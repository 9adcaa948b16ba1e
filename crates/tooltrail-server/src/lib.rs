//! The web page: every project, session and call on this machine, served to this machine.
//!
//! An [`AppState`] holds everything that handlers share: `fresh` keeps a [`snapshot::CatalogueSnapshot`] of the catalogue up to
//! date while requests arrive, `open_sessions` keeps the sessions that are open. `pages/` has one file per page; each is a
//! function from a request to a response, drawn with the views that exports use. `api/` answers programs. `guard` decides which
//! requests are let in, and `access` knows whose they are. [`server`] puts all of it on a socket; `work` runs handlers on threads, `pipe` writes bodies while they
//! are sent. Nothing here reads the environment or prints: a [`Machine`] describes the machine.

mod access;
pub mod answer;
mod api;
mod app_state;
mod assets;
mod call_rows;
mod changed;
mod chart;
mod details;
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
mod patient;
pub mod pipe;
pub mod request;
pub mod server;
mod session_table;
pub mod snapshot;
mod stream;
mod tested;
mod words;
mod work;

// The whole interface of the crate for the command line; the public modules are for tests and for the types in these signatures.
pub use access::{Admission, Peer};
pub use app_state::{AppState, DefaultTheme, SEARCH_PATIENCE, Setup};
pub use guard::Guard;
pub use machine::{LogRetention, Machine};
pub use server::serve;
