//! The policy of `tooltrail verify`: which checks a session needs, and what is missing in the evidence for them.
//!
//! By default a check is needed where the session gives a reason: files were edited (tests), it ran, or the last answer claims that it
//! passed. Builds and linters are not needed otherwise: many projects have none, and then nothing could ever satisfy the policy.

use super::{CheckKind, CheckState, CheckVerdict, JudgedRun, SessionVerdict};
use crate::claims::ClaimSubject;
use crate::digest::{CheckRun, Cited, Digest, RunOutcome};
use crate::filter::NamePattern;
use crate::reported::ReportedOutcome;
use crate::status::words;
use serde::Serialize;

/// What `verify` asks of a session.
#[derive(Clone, Debug, Default)]
pub struct VerifyPolicy {
    /// The checks that each session with edits needs; `None` for those that it gives a reason for.
    pub require: Option<Vec<CheckKind>>,
    /// Whether a success that only the output reports is enough.
    pub reported: bool,
    /// Files whose edits need no check.
    pub ignore: Vec<NamePattern>,
}

words! {
    /// What is missing in the evidence for a check.
    GapKind {
        /// The check failed.
        Failed => "failed",
        /// Its output says that it failed.
        ReportedFailed => "reported_failed",
        /// Its output says that it passed; its exit code was not recorded.
        ReportedOnly => "reported_only",
        /// The exit code of another command hides its own.
        Masked => "masked",
        /// Its outcome was not recorded.
        Unknown => "unknown",
        /// Files were edited after it.
        Stale => "stale",
        /// A script ran after it, and not all of its calls are known.
        Script => "script",
        /// It did not run.
        NotRun => "not_run",
        /// None is listed, and a script may have run some.
        NotListed => "not_listed",
    }
}

words! {
    /// The reason why a check is needed.
    NeedReason {
        /// The policy names it.
        Required => "required",
        /// Files were edited.
        Edited => "edited",
        /// It ran.
        Ran => "ran",
        /// The last answer claims that it passed.
        Claimed => "claimed",
    }
}

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerifyGap {
    /// The check.
    pub check: CheckKind,
    /// Why it is needed.
    pub needed: NeedReason,
    /// What is missing.
    pub gap: GapKind,
    /// Number of edits after the check.
    pub edits: u64,
    /// The last run; `None` where there was none.
    pub run: Option<JudgedRun>,
    /// The last edit after it.
    pub last_edit: Option<Cited>,
}

/// Whether a session has the evidence that a policy asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// What is missing; nothing if the session passes.
    pub gaps: Vec<VerifyGap>,
    /// The checks that were needed.
    pub needed: Vec<CheckKind>,
}

impl Verification {
    /// Verifies a session.
    pub fn of(digest: &Digest, verdict: &SessionVerdict, policy: &VerifyPolicy) -> Self {
        let all = verdict.checks().into_iter().filter_map(|(kind, check)| Some((kind, check, policy.needs(kind, check, digest)?)));
        let all: Vec<(CheckKind, &CheckVerdict, NeedReason)> = all.collect();
        let needed = all.iter().map(|(kind, ..)| *kind).collect();
        let gaps = all.into_iter().flat_map(|(kind, check, needed)| policy.gaps(kind, check, needed, digest)).collect();
        Verification { gaps, needed }
    }

    /// Whether nothing is missing.
    pub fn passed(&self) -> bool {
        self.gaps.is_empty()
    }
}

impl VerifyPolicy {
    /// Why a session needs a check; `None` if it does not.
    fn needs(&self, kind: CheckKind, check: &CheckVerdict, digest: &Digest) -> Option<NeedReason> {
        let edited = || digest.edited.iter().any(|path| !self.ignores(path));
        let claimed = || {
            let subject = match kind {
                CheckKind::Test => ClaimSubject::Test,
                CheckKind::Build => ClaimSubject::Build,
                CheckKind::Lint => ClaimSubject::Lint,
            };
            digest.claims.iter().any(|claim| claim.about == subject)
        };
        match &self.require {
            // A list is the whole policy: what it does not name is not looked at.
            Some(required) if !required.contains(&kind) => None,
            Some(_) if edited() => Some(NeedReason::Required),
            _ if check.run.is_some() => Some(NeedReason::Ran),
            _ if claimed() => Some(NeedReason::Claimed),
            None if kind == CheckKind::Test && edited() => Some(NeedReason::Edited),
            _ => None,
        }
    }

    fn ignores(&self, path: &str) -> bool {
        self.ignore.iter().any(|pattern| pattern.fits(path))
    }

    /// What is missing in the evidence for a check.
    fn gaps(&self, check: CheckKind, verdict: &CheckVerdict, needed: NeedReason, digest: &Digest) -> Vec<VerifyGap> {
        let gap = |gap: GapKind, edits: u64, last_edit: Option<Cited>| VerifyGap {
            check,
            needed,
            gap,
            edits,
            run: verdict.run.clone(),
            last_edit,
        };
        // Without a run there is one gap; with one there may be several, such as a masked outcome and later edits.
        let Some(run) = &verdict.run else {
            let kind = if verdict.state == CheckState::Unknown { GapKind::NotListed } else { GapKind::NotRun };
            return vec![gap(kind, 0, None)];
        };
        let own = match check {
            CheckKind::Test => &digest.test,
            CheckKind::Build => &digest.build,
            CheckKind::Lint => &digest.lint,
        };
        let (edits, last) = self.edits_after(own.as_ref());
        let mut gaps: Vec<VerifyGap> = self.outcome_gap(run).map(|kind| gap(kind, edits, None)).into_iter().collect();
        if edits > 0 {
            gaps.push(gap(GapKind::Stale, edits, last));
        }
        if run.scripts_after > 0 {
            gaps.push(gap(GapKind::Script, edits, None));
        }
        gaps
    }

    /// What is missing in the outcome of a run.
    fn outcome_gap(&self, run: &JudgedRun) -> Option<GapKind> {
        match (run.outcome, run.reported.as_ref().map(|reported| reported.outcome)) {
            (RunOutcome::Passed, _) => None,
            (RunOutcome::Failed, _) => Some(GapKind::Failed),
            (_, Some(ReportedOutcome::Failed)) => Some(GapKind::ReportedFailed),
            (_, Some(ReportedOutcome::Passed)) => (!self.reported).then_some(GapKind::ReportedOnly),
            (RunOutcome::Masked, None) => Some(GapKind::Masked),
            (RunOutcome::Unknown, None) => Some(GapKind::Unknown),
        }
    }

    /// Number of edits after a run that count, and the last of them.
    fn edits_after(&self, run: Option<&CheckRun>) -> (u64, Option<Cited>) {
        let edits = run.into_iter().flat_map(|run| &run.edits);
        let counted: Vec<&Cited> = edits.filter(|edit| edit.paths.iter().any(|path| !self.ignores(path))).map(|edit| &edit.cited).collect();
        (counted.len() as u64, counted.last().map(|cited| (*cited).clone()))
    }
}
