//! The verdict on a session: is it really done? Computed from its digest and from what its last answer claims.
//!
//! Checks are green only by their own exit code and with no edit since; weaker evidence is amber, never green. A claim stands in a verdict
//! only where the log contradicts it or cannot show it. [`policy`] decides whether a verdict is good enough for `tooltrail verify`.

pub mod policy;

use crate::changes::net::NetSize;
use crate::claims::{Claim, ClaimSubject};
use crate::digest::{CheckRun, Cited, Digest, RunOutcome, Shipped};
use crate::reported::{Reported, ReportedOutcome};
use crate::status::words;
use serde::{Deserialize, Serialize};

words! {
    /// The verdict in a colour.
    VerdictColor {
        /// Something failed.
        Red => "red",
        /// Something is not proved.
        Amber => "amber",
        /// Tests passed, and nothing speaks against it.
        Green => "green",
        /// There is nothing to judge.
        Grey => "grey",
    }
}

words! {
    /// The reason for the colour of a verdict, the strongest first.
    VerdictReason {
        /// The last answer claims success, and the log shows a failure.
        ClaimContradicted => "claim_contradicted",
        /// A check failed.
        CheckFailed => "check_failed",
        /// The output of a check says that it failed.
        ReportedFailed => "reported_failed",
        /// The last answer claims success, and the log cannot show it.
        ClaimUnproven => "claim_unproven",
        /// Files were edited after a check.
        Stale => "stale",
        /// The exit code of a check was not recorded.
        Unproven => "unproven",
        /// Only its output says that a check passed.
        Reported => "reported",
        /// A check ran, and its outcome is unknown.
        Unknown => "unknown",
        /// Tests passed.
        Passed => "passed",
        /// No tests ran.
        NoTests => "no_tests",
    }
}

words! {
    /// A kind of check.
    CheckKind {
        /// Tests.
        Test => "test",
        /// Compilers and bundlers.
        Build => "build",
        /// Linters and type checkers.
        Lint => "lint",
    }
}

words! {
    /// The state of a check.
    CheckState {
        /// Its own exit code says that it passed, and nothing was edited since.
        Passed => "passed",
        /// Its own exit code says that it failed.
        Failed => "failed",
        /// Only its output says how it ended.
        Reported => "reported",
        /// Files were edited after it.
        Stale => "stale",
        /// The exit code of another command hides its own, or a script after it may have edited files.
        Unproven => "unproven",
        /// Its outcome was not recorded; or none is listed, and scripts may have run some.
        Unknown => "unknown",
        /// It did not run.
        None => "none",
    }
}

words! {
    /// What a claim is worth.
    ClaimStanding {
        /// The log shows a failure.
        Contradicted => "contradicted",
        /// The log cannot show it.
        Unproven => "unproven",
    }
}

/// The verdict on a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionVerdict {
    /// Its state, as a colour.
    pub state: VerdictColor,
    /// The reason for it.
    pub reason: VerdictReason,
    /// Claims of the last answer that the log contradicts or cannot show.
    pub claims: Vec<JudgedClaim>,
    /// Tests.
    pub test: CheckVerdict,
    /// Builds.
    pub build: CheckVerdict,
    /// Linters.
    pub lint: CheckVerdict,
    /// Calls that failed and did not succeed later.
    pub unresolved: Vec<Cited>,
    /// The size of the net change; `None` where nothing changed or the numbers are unknown.
    pub changed: Option<NetSize>,
    /// Whether an edit changed a file.
    pub edited: bool,
    /// Commits.
    pub commits: Vec<Shipped>,
    /// Pull requests.
    pub pull_requests: Vec<Shipped>,
    /// Number of scripts that may have made calls that are not listed.
    pub scripts_incomplete: u64,
    /// From the first to the last record.
    pub duration_ms: u64,
}

/// The verdict on the last run of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckVerdict {
    /// Its state.
    pub state: CheckState,
    /// The last run; `None` where there was none.
    #[serde(flatten)]
    pub run: Option<JudgedRun>,
}

/// The last run of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedRun {
    /// The command.
    pub command: String,
    /// Its outcome when it ran.
    pub outcome: RunOutcome,
    /// What its output says, where its own exit code was not recorded.
    pub reported: Option<Reported>,
    /// The command whose exit code was recorded instead.
    pub exit_of: Option<String>,
    /// The exit code that was recorded.
    pub exit_code: Option<i64>,
    /// Number of calls after it that edited files.
    pub edits_after: u64,
    /// The last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_edit: Option<Cited>,
    /// Number of commands after it that may have changed files.
    pub commands_after: u64,
    /// Number of scripts after it that may have edited files.
    pub scripts_after: u64,
    /// When it ran.
    pub at: Option<String>,
    /// The call.
    #[serde(flatten)]
    pub cited: Cited,
}

/// A claim that the log does not bear out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedClaim {
    /// The claim.
    #[serde(flatten)]
    pub claim: Claim,
    /// What it is worth.
    pub standing: ClaimStanding,
    /// The check that speaks against it, or that does not show it.
    pub check: CheckKind,
    /// When it was made.
    pub at: Option<String>,
    /// Log that contains it.
    pub file: String,
    /// Line of the record; `None` for a row of a database.
    pub line: Option<u64>,
    /// Row of a database, by table and key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

impl SessionVerdict {
    /// The verdict that a digest amounts to.
    pub fn of(digest: &Digest) -> Self {
        let check = |run: &Option<CheckRun>| CheckVerdict::of(run.as_ref(), digest.scripts.max(digest.scripts_incomplete) > 0);
        let shipped = |what: &str| digest.shipped.iter().filter(|one| one.what == what).cloned().collect();
        let mut verdict = SessionVerdict {
            state: VerdictColor::Grey,
            reason: VerdictReason::NoTests,
            claims: Vec::new(),
            test: check(&digest.test),
            build: check(&digest.build),
            lint: check(&digest.lint),
            unresolved: digest.failures.iter().map(|failure| failure.cited.clone()).collect(),
            // A session without changes shows nothing rather than zeros.
            changed: digest.changed.size().filter(|size| size.files > 0),
            edited: !digest.edited.is_empty(),
            commits: shipped("commit"),
            pull_requests: shipped("pull_request"),
            scripts_incomplete: digest.scripts_incomplete,
            duration_ms: digest.time.wall_ms,
        };
        verdict.claims = digest.claims.iter().filter_map(|claim| verdict.judged(claim, digest)).collect();
        // What is shown to be false comes before what is not shown.
        verdict.claims.sort_by_key(|claim| claim.standing);
        verdict.reason = verdict.reason();
        verdict.state = verdict.reason.color();
        verdict
    }

    /// The checks with their kinds, in the order in which they are shown.
    pub fn checks(&self) -> [(CheckKind, &CheckVerdict); 3] {
        [(CheckKind::Test, &self.test), (CheckKind::Build, &self.build), (CheckKind::Lint, &self.lint)]
    }

    /// The check of a kind.
    pub fn check(&self, kind: CheckKind) -> &CheckVerdict {
        match kind {
            CheckKind::Test => &self.test,
            CheckKind::Build => &self.build,
            CheckKind::Lint => &self.lint,
        }
    }

    /// A claim, unless the log bears it out.
    fn judged(&self, claim: &Claim, digest: &Digest) -> Option<JudgedClaim> {
        let kinds: Vec<CheckKind> = match claim.about {
            ClaimSubject::Test => vec![CheckKind::Test],
            ClaimSubject::Build => vec![CheckKind::Build],
            ClaimSubject::Lint => vec![CheckKind::Lint],
            // A check that did not run is not meant, unless none ran.
            ClaimSubject::Checks => {
                let ran: Vec<CheckKind> =
                    self.checks().into_iter().filter(|(_, check)| check.run.is_some()).map(|(kind, _)| kind).collect();
                if ran.is_empty() { vec![CheckKind::Test] } else { ran }
            }
        };
        let worst = kinds.into_iter().filter_map(|kind| Some((self.check(kind).doubt()?, kind))).min_by_key(|(standing, _)| *standing);
        let (standing, check) = worst?;
        let said = digest.said.as_ref()?;
        let (at, file, line, row) = (said.at.clone(), said.file.clone(), said.line, said.row.clone());
        Some(JudgedClaim { claim: claim.clone(), standing, check, at, file, line, row })
    }

    fn reason(&self) -> VerdictReason {
        let claimed = |standing: ClaimStanding| self.claims.iter().any(|claim| claim.standing == standing);
        let any = |is: fn(&CheckVerdict) -> bool| self.checks().iter().any(|(_, check)| is(check));
        // In the order of the documented table: the first that holds is told.
        let found = [
            (claimed(ClaimStanding::Contradicted), VerdictReason::ClaimContradicted),
            (any(|check| check.state == CheckState::Failed), VerdictReason::CheckFailed),
            (any(CheckVerdict::reports_failure), VerdictReason::ReportedFailed),
            (claimed(ClaimStanding::Unproven), VerdictReason::ClaimUnproven),
            (any(|check| check.state == CheckState::Stale), VerdictReason::Stale),
            (any(|check| check.state == CheckState::Unproven), VerdictReason::Unproven),
            (any(|check| check.state == CheckState::Reported), VerdictReason::Reported),
            (any(|check| check.state == CheckState::Unknown && check.run.is_some()), VerdictReason::Unknown),
            (self.test.state == CheckState::Passed, VerdictReason::Passed),
        ];
        found.into_iter().find(|(holds, _)| *holds).map_or(VerdictReason::NoTests, |(_, reason)| reason)
    }
}

impl VerdictReason {
    /// The colour that it stands for.
    pub fn color(self) -> VerdictColor {
        match self {
            VerdictReason::ClaimContradicted | VerdictReason::CheckFailed | VerdictReason::ReportedFailed => VerdictColor::Red,
            VerdictReason::ClaimUnproven | VerdictReason::Stale | VerdictReason::Unproven | VerdictReason::Reported => VerdictColor::Amber,
            VerdictReason::Passed => VerdictColor::Green,
            VerdictReason::Unknown | VerdictReason::NoTests => VerdictColor::Grey,
        }
    }
}

impl CheckVerdict {
    /// The verdict on a run. `hidden`: scripts may have run checks that are not listed.
    fn of(run: Option<&CheckRun>, hidden: bool) -> Self {
        let state = match run {
            None if hidden => CheckState::Unknown,
            None => CheckState::None,
            Some(run) => state_of(run),
        };
        let judged = |run: &CheckRun| JudgedRun {
            command: run.command.clone(),
            outcome: run.outcome,
            reported: run.reported.clone(),
            exit_of: run.exit_of.clone(),
            exit_code: run.exit_code,
            edits_after: run.edits_after,
            last_edit: run.edits.last().map(|edit| edit.cited.clone()),
            commands_after: run.commands_after,
            scripts_after: run.scripts_after,
            at: run.at.clone(),
            cited: run.cited.clone(),
        };
        CheckVerdict { state, run: run.map(judged) }
    }

    /// Whether its output says that it failed, where its exit code says nothing.
    pub fn reports_failure(&self) -> bool {
        self.state == CheckState::Reported && self.reported() == Some(ReportedOutcome::Failed)
    }

    /// The outcome that its output reports.
    pub fn reported(&self) -> Option<ReportedOutcome> {
        self.run.as_ref()?.reported.as_ref().map(|reported| reported.outcome)
    }

    /// The colour of its state.
    pub fn color(&self) -> VerdictColor {
        match self.state {
            CheckState::Passed => VerdictColor::Green,
            CheckState::Failed => VerdictColor::Red,
            CheckState::Reported if self.reports_failure() => VerdictColor::Red,
            CheckState::Reported | CheckState::Stale | CheckState::Unproven => VerdictColor::Amber,
            CheckState::Unknown | CheckState::None => VerdictColor::Grey,
        }
    }

    /// What it makes of a claim that it passed; `None` where it bears the claim out, if only by its output.
    fn doubt(&self) -> Option<ClaimStanding> {
        match self.state {
            CheckState::Passed => None,
            CheckState::Failed => Some(ClaimStanding::Contradicted),
            CheckState::Reported if self.reports_failure() => Some(ClaimStanding::Contradicted),
            // Weak evidence, but evidence: the check itself stays amber.
            CheckState::Reported => None,
            CheckState::Stale | CheckState::Unproven | CheckState::Unknown | CheckState::None => Some(ClaimStanding::Unproven),
        }
    }
}

/// The state of a run.
fn state_of(run: &CheckRun) -> CheckState {
    let reported = run.reported.as_ref().map(|reported| reported.outcome);
    match (run.outcome, reported) {
        // A failure stays one until a later run shows otherwise.
        (RunOutcome::Failed, _) => CheckState::Failed,
        (RunOutcome::Masked | RunOutcome::Unknown, Some(ReportedOutcome::Failed)) => CheckState::Reported,
        _ if run.edits_after > 0 => CheckState::Stale,
        _ if run.scripts_after > 0 && run.outcome != RunOutcome::Unknown => CheckState::Unproven,
        (RunOutcome::Passed, _) => CheckState::Passed,
        (_, Some(ReportedOutcome::Passed)) => CheckState::Reported,
        (RunOutcome::Masked, None) => CheckState::Unproven,
        (RunOutcome::Unknown, None) => CheckState::Unknown,
    }
}

#[cfg(test)]
mod tests;
