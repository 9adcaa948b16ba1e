//! Commands understood: which simple commands a command line runs, whose exit code the recorded one is, whose nobody recorded, and
//! what they are for.
//!
//! Read with a real shell parser. What it cannot read is unknown, and said to be.

mod purpose;
mod script;

pub use purpose::Purpose;
pub use script::{Script, Simple, read};
