//! Commands understood: which simple commands a command line runs, whose exit code the recorded one is, whose nobody recorded, and
//! what they are for.
//!
//! Read with a real shell parser. What it cannot read is unknown, and said to be.

mod effect;
mod hint;
mod outcome;
mod plain;
mod purpose;
mod script;
mod words;

pub use hint::hint;
pub use purpose::Purpose;
pub use script::{Fate, Script, Simple, read};

use crate::row::CallRow;
use crate::{Reason, Status};

/// Adds to the row of a call what its command tells about its outcome; gives the command back as it was read.
pub fn tell(row: &mut CallRow<'_>, command: &str) -> Option<Script> {
    // What it runs is another language.
    if row.tool.eq_ignore_ascii_case("powershell") {
        return None;
    }
    let script = read(command)?;
    row.purpose = script.purpose().map(Purpose::word);
    let worked = row.status == Status::Succeeded;
    let failed = row.status == Status::Failed && matches!(row.reason, Some(Reason::ExitCode | Reason::ToolError));
    if !worked && !failed && row.status != Status::Answered {
        return Some(script);
    }
    row.masked = script.masked().into_iter().map(str::to_owned).collect();
    // What went on in the background had not ended when the call was answered.
    let success = row.exit_code.map(|code| code == 0).or((worked || failed).then_some(worked));
    if let Some(success) = success.filter(|_| row.background.is_none()) {
        row.exit_of = script.exit_of(success).map(str::to_owned);
    }
    Some(script)
}
