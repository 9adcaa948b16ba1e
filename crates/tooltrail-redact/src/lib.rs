//! Redaction: keys, tokens, passwords, addresses and names are removed from exports.
//!
//! Every string of an export passes through [`Redactor::text`], megabytes of output included. So the text is read once, for the few
//! letters a secret of each kind begins with or is named by (`finder.rs`); only there the exact rules look (`rules.rs` lists them).
//! Rules look a bounded way back and ahead, so the time is linear in the text whatever it holds. They look at the text as a reader sees
//! it (`view.rs`), and what they find is cut in the text as it is. `known.rs` numbers the secrets, so that the same value has the same
//! label throughout an export.
//!
//! Redaction is best effort, not a guarantee: a password that looks like a word cannot be recognised without a name. See
//! docs/redaction.md.

mod address;
mod assign;
mod base64;
mod calls;
mod commands;
mod finder;
mod headers;
mod judge;
mod keys;
mod known;
mod lines;
mod mnemonics;
mod name;
mod names;
mod paths;
mod redactor;
mod rules;
mod site;
mod spot;
#[cfg(test)]
mod tests;
mod tokens;
mod url;
mod value;
mod values;
mod view;

pub use redactor::{Finding, Redactor};
