//! Cells: the verdict in the columns of a table, short enough to be read downwards.

use super::{label, lines_text, reported_word, sign, state_words, tone};
use crate::head::{Tone, count, counted};
use tooltrail_model::session_verdict::{CheckKind, CheckState, CheckVerdict, ClaimStanding, SessionVerdict, VerdictColor};

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictCell {
    /// What it says; empty for nothing.
    pub text: String,
    /// The same as a sentence.
    pub title: String,
    /// Its colour.
    pub tone: Tone,
}

/// The verdict in four columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictCells {
    /// Tests, and any other check that failed.
    pub tests: VerdictCell,
    /// Number of unresolved failures.
    pub unresolved: VerdictCell,
    /// Added and removed lines.
    pub lines: VerdictCell,
    /// Number of commits and pull requests.
    pub commits: VerdictCell,
}

impl VerdictCells {
    /// The cells of a verdict.
    pub fn of(verdict: &SessionVerdict) -> Self {
        let unresolved = verdict.unresolved.len() as u64;
        let lines = verdict.changed.map(lines_text).unwrap_or_default();
        let files = verdict.changed.map(|size| counted(size.files, "file")).unwrap_or_default();
        let (commits, requests) = (verdict.commits.len() as u64, verdict.pull_requests.len() as u64);
        let shipped = [(commits, "commit"), (requests, "PR")].into_iter().filter(|(number, _)| *number > 0);
        let short: Vec<String> =
            shipped.clone().map(|(number, word)| if word == "PR" { counted(number, word) } else { count(number) }).collect();
        let long: Vec<String> = shipped.map(|(number, word)| counted(number, word)).collect();
        VerdictCells {
            tests: tests(verdict),
            unresolved: VerdictCell {
                text: if unresolved > 0 { count(unresolved) } else { String::new() },
                title: if unresolved > 0 { counted(unresolved, "unresolved failure") } else { String::new() },
                tone: Tone::Error,
            },
            lines: VerdictCell {
                title: if files.is_empty() { files } else { format!("{lines} in {files}") },
                text: lines,
                tone: Tone::Neutral,
            },
            commits: VerdictCell { text: short.join(", "), title: long.join(", "), tone: Tone::Neutral },
        }
    }
}

/// Tests in a few words, with a claim that does not hold, and any other check that failed.
fn tests(verdict: &SessionVerdict) -> VerdictCell {
    let claimed = verdict.claims.iter().map(|claim| claim.standing).min();
    let (mut text, mut color) = (short(&verdict.test), verdict.test.color());
    // A claim that the log does not bear out says more than the state of the tests.
    match claimed {
        Some(ClaimStanding::Contradicted) => (text, color) = ("✗ false claim".to_owned(), VerdictColor::Red),
        Some(ClaimStanding::Unproven) if color != VerdictColor::Red => (text, color) = ("! unproven claim".to_owned(), VerdictColor::Amber),
        _ => {}
    }
    let others = [(CheckKind::Build, &verdict.build), (CheckKind::Lint, &verdict.lint)];
    let failed: Vec<String> = others
        .into_iter()
        .filter(|(_, check)| check.color() == VerdictColor::Red)
        .map(|(kind, _)| format!("{} ✗", label(kind).to_lowercase()))
        .collect();
    if !failed.is_empty() {
        // The number of edits gives way to what is worse.
        let tests = text.split(',').next().unwrap_or_default().to_owned();
        text = std::iter::once(tests).filter(|text| !text.is_empty()).chain(failed).collect::<Vec<_>>().join(" · ");
        color = VerdictColor::Red;
    }
    // Whoever points at the cell reads all of it.
    let claims = verdict.claims.iter().map(|claim| format!("Agent says “{}”", claim.claim.text));
    let told = |(kind, check): (CheckKind, &CheckVerdict)| format!("{}: {}", label(kind), state_words(kind, check).join(" · "));
    let ran = verdict.checks().into_iter().filter(|(kind, check)| *kind == CheckKind::Test || check.run.is_some()).map(told);
    VerdictCell { text, title: claims.chain(ran).collect::<Vec<_>>().join(". "), tone: tone(color) }
}

/// A check in a sign and a word; nothing where it did not run.
fn short(check: &CheckVerdict) -> String {
    let run = check.run.as_ref();
    let word = match check.state {
        CheckState::Passed => "passed".to_owned(),
        CheckState::Failed => "failed".to_owned(),
        CheckState::Reported => format!("says {}", check.reported().map_or("", reported_word)),
        CheckState::Stale => format!("stale, {}", counted(run.map_or(0, |run| run.edits_after), "edit")),
        CheckState::Unproven => "unproven".to_owned(),
        CheckState::Unknown if run.is_some() => "unknown".to_owned(),
        CheckState::Unknown | CheckState::None => return String::new(),
    };
    format!("{} {word}", sign(check))
}
