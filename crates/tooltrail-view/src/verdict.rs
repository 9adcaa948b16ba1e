//! The verdict on a session as a strip of parts that every output shows in its own way, and as cells for tables.
//!
//! ```text
//! Tests ✗ agent says “All tests pass” · output says “41 passed; 1 failed” · exit code masked by tail -6
//! Unresolved 2   Changed +41 −7 in 4 files   Commit a1b2c3d   2 h 10 m
//! ```
//!
//! The model decides; here its verdict gets signs and words. A colour never stands alone: each state has a sign and a word of its own.

mod cells;
mod gaps;

pub use cells::{VerdictCell, VerdictCells};
pub use gaps::gap_text;

use crate::cut::one_line;
use crate::digest::Proof;
use crate::head::{self, Tone, counted, took};
use tooltrail_model::Time;
use tooltrail_model::changes::net::NetSize;
use tooltrail_model::digest::{Cited, Shipped};
use tooltrail_model::reported::ReportedOutcome;
use tooltrail_model::session_verdict::{
    CheckKind, CheckState, CheckVerdict, ClaimStanding, JudgedClaim, JudgedRun, SessionVerdict, VerdictColor,
};

/// The most characters of a quoted line, and of a command.
const QUOTED: usize = 90;
const COMMAND: usize = 60;
/// The most commits that are named.
const NAMED: usize = 2;

/// A verdict in words: two lines of parts.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictStrip {
    /// Its colour.
    pub state: VerdictColor,
    /// What contradicts the agent's words, and the tests.
    pub first: Vec<VerdictPart>,
    /// Everything else.
    pub second: Vec<VerdictPart>,
}

/// A part of the strip.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictPart {
    /// The label, such as `Tests`; empty where the text says it.
    pub label: &'static str,
    /// A sign, one column wide; empty for a part without a state.
    pub sign: &'static str,
    /// Its colour.
    pub tone: Tone,
    /// The words.
    pub text: String,
    /// The call that proves it.
    pub proof: Option<Proof>,
    /// The view of the session that shows it, as the end of an address.
    pub view: Option<&'static str>,
    /// The command that ran.
    pub command: Option<String>,
    /// When it ran.
    pub at: Option<Time>,
}

impl VerdictPart {
    fn new(label: &'static str, (sign, tone): (&'static str, Tone), text: String) -> Self {
        VerdictPart { label, sign, tone, text, proof: None, view: None, command: None, at: None }
    }

    fn proved(self, cited: Option<&Cited>) -> Self {
        VerdictPart { proof: cited.map(proof), ..self }
    }

    /// The whole part as plain text: `Tests ✗ failed`.
    pub fn said(&self) -> String {
        [self.label, self.sign, &self.text].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl VerdictStrip {
    /// The strip of a verdict.
    pub fn of(verdict: &SessionVerdict) -> Self {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (kind, check) in verdict.checks() {
            let claims: Vec<&JudgedClaim> = verdict.claims.iter().filter(|claim| claim.check == kind).collect();
            // Tests are always told; of the others only what ran or was claimed.
            let told = kind == CheckKind::Test || check.run.is_some() || !claims.is_empty();
            let part = told.then(|| check_part(kind, check, &claims));
            if kind == CheckKind::Test || !claims.is_empty() { first.extend(part) } else { second.extend(part) }
        }
        // A contradicted claim stands before everything else.
        first.sort_by_key(|part: &VerdictPart| part.tone != Tone::Error);
        if let Some(last) = verdict.unresolved.last() {
            let number = head::count(verdict.unresolved.len() as u64);
            second.push(VerdictPart::new("Unresolved", ("", Tone::Error), number).proved(Some(last)));
        }
        second.extend(
            verdict
                .changed
                .map(|size| VerdictPart { view: Some("/changes"), ..VerdictPart::new("Changed", ("", Tone::Neutral), size_text(size)) }),
        );
        second.extend(shipped("Commit", "Commits", &verdict.commits));
        second.extend(shipped("PR", "PRs", &verdict.pull_requests));
        second.extend(
            (verdict.duration_ms > 0)
                .then(|| VerdictPart { view: Some("/waterfall"), ..VerdictPart::new("", ("", Tone::Muted), took(verdict.duration_ms)) }),
        );
        VerdictStrip { state: verdict.state, first, second }
    }

    /// All parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &VerdictPart> {
        self.first.iter().chain(&self.second)
    }
}

/// The tone of a colour.
pub fn tone(color: VerdictColor) -> Tone {
    match color {
        VerdictColor::Red => Tone::Error,
        VerdictColor::Amber => Tone::Stopped,
        VerdictColor::Green => Tone::Ok,
        VerdictColor::Grey => Tone::Muted,
    }
}

/// The sign of a check.
fn sign(check: &CheckVerdict) -> &'static str {
    match check.state {
        CheckState::Passed => "✓",
        CheckState::Failed => "✗",
        CheckState::Reported if check.reports_failure() => "✗",
        CheckState::Reported | CheckState::Stale | CheckState::Unproven => "!",
        CheckState::Unknown => "?",
        CheckState::None => "–",
    }
}

/// The name of a kind of check.
fn label(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::Test => "Tests",
        CheckKind::Build => "Build",
        CheckKind::Lint => "Lint",
    }
}

/// A check, behind the claims about it.
fn check_part(kind: CheckKind, check: &CheckVerdict, claims: &[&JudgedClaim]) -> VerdictPart {
    let run = check.run.as_ref();
    let mut words: Vec<String> = claims.iter().map(|claim| format!("agent says “{}”", one_line(&claim.claim.text, QUOTED))).collect();
    words.extend(state_words(kind, check));
    // The sign is that of the worst: a claim may stand over a check that did not even run.
    let contradicted = claims.iter().any(|claim| claim.standing == ClaimStanding::Contradicted);
    let (sign, tone) = match (contradicted, claims.is_empty()) {
        (true, _) => ("✗", Tone::Error),
        (false, false) if check.color() == VerdictColor::Grey => ("!", Tone::Stopped),
        _ => (sign(check), tone(check.color())),
    };
    VerdictPart {
        command: run.map(|run| one_line(&run.command, COMMAND)),
        at: run.and_then(|run| run.at.as_deref()?.parse().ok()),
        ..VerdictPart::new(label(kind), (sign, tone), words.join(" · ")).proved(run.map(|run| &run.cited))
    }
}

/// The state of a check in words.
fn state_words(kind: CheckKind, check: &CheckVerdict) -> Vec<String> {
    let Some(run) = &check.run else {
        let none = match kind {
            CheckKind::Test => "no tests ran",
            CheckKind::Build => "no build ran",
            CheckKind::Lint => "no linter ran",
        };
        return vec![if check.state == CheckState::Unknown { "unknown: scripts may have run some".to_owned() } else { none.to_owned() }];
    };
    let edits = |run: &JudgedRun| format!("{} since", counted(run.edits_after, "edit"));
    // The state comes first, then what the output says, then why the exit code does not count.
    let mut words = match check.state {
        CheckState::Passed => vec!["passed".to_owned()],
        CheckState::Failed => vec![run.exit_code.map_or("failed".to_owned(), |code| format!("failed (exit {code})"))],
        CheckState::Stale => vec![format!("stale: {}", edits(run))],
        CheckState::Reported => Vec::new(),
        CheckState::Unproven if run.scripts_after > 0 => vec!["unproven: a script after it may have edited files".to_owned()],
        CheckState::Unproven => Vec::new(),
        CheckState::Unknown | CheckState::None => vec!["outcome not recorded".to_owned()],
    };
    if let Some(reported) = &run.reported {
        words.push(format!("output says “{}”", one_line(&reported.text, QUOTED)));
    }
    if matches!(check.state, CheckState::Reported | CheckState::Unproven | CheckState::Stale)
        && let Some(masked) = masked(run)
    {
        words.push(masked);
    }
    if run.edits_after > 0 && check.state != CheckState::Stale {
        words.push(edits(run));
    }
    words
}

/// Which command hides the exit code of a run.
fn masked(run: &JudgedRun) -> Option<String> {
    use tooltrail_model::digest::RunOutcome::{Masked, Unknown};
    match (run.outcome, &run.exit_of) {
        (Masked, Some(other)) => Some(format!("exit code masked by {}", one_line(other, COMMAND))),
        (Masked, None) => Some("exit code masked".to_owned()),
        (Unknown, _) => Some("exit code not recorded".to_owned()),
        _ => None,
    }
}

/// The size of a change: `+41 −7 in 4 files`.
fn size_text(size: NetSize) -> String {
    let gap = if size.incomplete > 0 { ", diff incomplete" } else { "" };
    format!("{} in {}{gap}", lines_text(size), counted(size.files, "file"))
}

/// Added and removed lines: `+41 −7`.
fn lines_text(size: NetSize) -> String {
    format!("+{} −{}", head::count(size.added), head::count(size.removed))
}

/// Commits or pull requests: the last ones by name.
fn shipped(one: &'static str, several: &'static str, all: &[Shipped]) -> Option<VerdictPart> {
    let last = all.last()?;
    let names: Vec<String> = all.iter().skip(all.len().saturating_sub(NAMED)).filter_map(short_name).collect();
    let text = match (all.len(), names.is_empty()) {
        (number, true) => head::count(number as u64),
        (number, false) if number <= NAMED => names.join(", "),
        (number, false) => format!("{}, last {}", head::count(number as u64), names.last().map_or("", String::as_str)),
    };
    Some(
        VerdictPart::new(if all.len() == 1 && !names.is_empty() { one } else { several }, ("", Tone::Neutral), text)
            .proved(Some(&last.cited)),
    )
}

/// The short name of a commit or pull request: seven digits of a hash, `#12`.
fn short_name(one: &Shipped) -> Option<String> {
    let which = one.which.as_deref().map(str::trim).filter(|which| !which.is_empty())?;
    if which.len() > 7 && which.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return which.get(..7).map(str::to_owned);
    }
    // The address of a pull request ends with its number.
    let number = which.trim_end_matches('/').rsplit('/').next().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    Some(number.filter(|number| !number.is_empty()).map_or_else(|| one_line(which, COMMAND), |number| format!("#{number}")))
}

/// A call that proves something.
fn proof(cited: &Cited) -> Proof {
    Proof { name: format!("#{}", cited.number), r#ref: cited.r#ref.clone(), index: cited.index }
}

/// The outcome that a check's output reports, in a word.
fn reported_word(outcome: ReportedOutcome) -> &'static str {
    match outcome {
        ReportedOutcome::Passed => "passed",
        ReportedOutcome::Failed => "failed",
    }
}

#[cfg(test)]
mod tests;
