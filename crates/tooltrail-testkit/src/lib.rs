//! Development only: helpers of tests and benches that the program must not contain.
//!
//! - [`agent`] writes a session record by record, as an agent at work does;
//! - [`corpus`] writes large made-up logs, the same bytes for the same plan;
//! - [`hostile`] makes inputs that a careless reader would try to hold in memory;
//! - [`mutate`] rewrites a log line so that it looks different and means the same;
//! - [`mangle`] damages a log line so that it means nothing, or something else;
//! - [`secrets`] lists invented secrets in the places where real ones stand, and lines that only look like them;
//! - [`shapes`] lists records in every shape that an agent writes, and lines that are no records;
//! - [`readers`] hand out bytes in pieces, or break off in the middle;
//! - [`floor`] is the least work a reader can do, for benches to compare with.

pub mod agent;
pub mod corpus;
pub mod floor;
pub mod hostile;
pub mod mangle;
pub mod mutate;
pub mod readers;
pub mod rng;
pub mod secrets;
pub mod shapes;
pub mod size;

mod json;
