//! Gaps: what `tooltrail verify` misses, each as a sentence with its evidence.

use super::COMMAND;
use crate::cut::one_line;
use crate::head::counted;
use tooltrail_model::session_verdict::CheckKind;
use tooltrail_model::session_verdict::policy::{GapKind, NeedReason, VerifyGap};

/// The most characters of a quoted line.
const QUOTED: usize = 120;

/// A gap as a sentence: ``cargo test` ran before 3 edits: #41, last edit #47``.
pub fn gap_text(gap: &VerifyGap) -> String {
    let Some(run) = &gap.run else { return missing(gap) };
    let command = format!("`{}`", one_line(&run.command, COMMAND));
    let own = || {
        format!(
            "its own exit code was not recorded{}",
            run.exit_of.as_ref().map(|of| format!(" (that of `{}` was)", one_line(of, COMMAND))).unwrap_or_default()
        )
    };
    let output = run.reported.as_ref().map(|reported| one_line(&reported.text, QUOTED)).unwrap_or_default();
    let said = match gap.gap {
        GapKind::Failed => format!("{command} failed{}", run.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default()),
        GapKind::ReportedFailed => format!("{command} says “{output}”; {}", own()),
        GapKind::ReportedOnly => format!("{command} says “{output}”, but {}", own()),
        GapKind::Masked => format!("{command} ran, but {}", own()),
        GapKind::Unknown => format!("{command} ran, but its outcome was not recorded"),
        GapKind::Stale => format!("{command} ran before {}", counted(gap.edits, "edit")),
        GapKind::Script => format!("{command} ran before {} that may have edited files", counted(run.scripts_after, "script")),
        GapKind::NotRun | GapKind::NotListed => missing(gap),
    };
    // The evidence comes last, so that it can be copied from the end of the line.
    let edit = gap.last_edit.as_ref().map(|edit| format!(", last edit #{}", edit.number)).unwrap_or_default();
    format!("{said}: #{}{edit}", run.cited.number)
}

/// A check that did not run.
fn missing(gap: &VerifyGap) -> String {
    let (what, run, is) = match gap.check {
        CheckKind::Test => ("tests", "test run", "they"),
        CheckKind::Build => ("build", "build", "it"),
        CheckKind::Lint => ("linter", "linter run", "it"),
    };
    let why = match gap.needed {
        NeedReason::Required => ", and the policy requires it".to_owned(),
        NeedReason::Edited => ", but files were edited".to_owned(),
        NeedReason::Claimed => format!(", but the agent says that {is} passed"),
        NeedReason::Ran => String::new(),
    };
    match gap.gap {
        GapKind::NotListed => format!("no {run} is in the log{why}; scripts whose calls are not all known may have run some"),
        _ => format!("no {what} ran{why}"),
    }
}
