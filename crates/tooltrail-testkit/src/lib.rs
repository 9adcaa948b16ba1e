//! Development only: what tests and benches need and the program must not carry.
//!
//! - [`corpus`] writes large made-up logs, the same bytes for the same plan;
//! - [`hostile`] makes inputs that a careless reader would try to hold in memory;
//! - [`mutate`] rewrites a log line so that it looks different and means the same;
//! - [`floor`] is the least work a reader can do, for benches to compare with.

pub mod corpus;
pub mod floor;
pub mod hostile;
pub mod mutate;
pub mod size;

mod json;
mod rng;
