//! The web page: every project, session and call on this machine, served to this machine.
//!
//! A [`Site`] knows what is there: `fresh` keeps a [`moment::Moment`] of the catalogue up to date while somebody asks, `rooms` holds the
//! sessions that are open. `pages/` has one file per page; each is a function from what was asked to what is answered, drawn with the
//! views that exports use. `api/` answers programs. `guard` decides who may ask at all. [`server`] puts it on a socket; `work` has pages
//! and answers made on threads, `pipe` writes what is sent meanwhile. Nothing here reads the environment or prints: what the machine is
//! like is told by a [`Machine`].

pub mod answer;
mod api;
pub mod asked;
mod asking;
mod assets;
mod called;
mod changed;
mod feed;
mod frame;
mod fresh;
pub mod guard;
mod hits;
mod hub;
mod keyed;
mod listed;
mod machine;
pub mod moment;
mod pages;
pub mod pipe;
pub mod rooms;
pub mod server;
mod site;
mod stream;
mod tested;
mod words;
mod work;

pub use guard::Guard;
pub use machine::{Fates, Machine};
pub use server::serve;
pub use site::{Setup, Site};
