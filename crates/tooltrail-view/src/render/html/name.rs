//! Names of calls and anchors in addresses.

use std::fmt::Write;
use tooltrail_model::transcript::{CallEntry, Transcript};

/// The name of a call in an address: its id, or `session:number` where that is not its own. Spell it with [`encoded`].
pub fn call_name(transcript: &Transcript<'_>, call: usize) -> Option<String> {
    let entry = transcript.calls.get(call)?;
    let shared = transcript.calls.iter().filter(|other| other.row.call == entry.row.call).nth(1).is_some();
    Some(name(entry, shared))
}

/// The name of a call, where it is known whether another one has its id too.
pub(super) fn name(call: &CallEntry<'_>, shared: bool) -> String {
    // A copy has the id of its original, which is a call of another session. A call without an id is named after its line, which is no
    // name beyond its log.
    let numbered = shared || call.row.copy_of.is_some() || call.row.call.is_empty() || call.row.call.starts_with("line-");
    if numbered { format!("{}:{}", call.row.session, call.number) } else { call.row.call.to_owned() }
}

/// A text as a part of a path, a value of a query or an anchor spells it.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => out.push(char::from(byte)),
            // Everything else is percent-encoded byte by byte, which is right for UTF-8 too.
            _ => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}
