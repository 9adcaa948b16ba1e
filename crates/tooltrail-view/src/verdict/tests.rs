//! The words of verdicts: each state, each cell, each gap.

use super::*;
use crate::digest::sample::{cited, digest, run};
use tooltrail_model::claims::{Claim, ClaimSubject};
use tooltrail_model::digest::{CheckRun, Digest, Quote, RunOutcome};
use tooltrail_model::reported::Reported;
use tooltrail_model::session_verdict::policy::{Verification, VerifyPolicy};

fn verdict(run: Option<CheckRun>, claim: Option<&str>) -> SessionVerdict {
    let claims = claim.map(|text| Claim { about: ClaimSubject::Test, text: text.into() }).into_iter().collect();
    SessionVerdict::of(&Digest { test: run, claims, said: Some(Quote::default()), ..Digest::default() })
}

fn said(verdict: &SessionVerdict) -> String {
    let strip = VerdictStrip::of(verdict);
    strip.parts().map(VerdictPart::said).collect::<Vec<_>>().join(" | ")
}

fn says(outcome: ReportedOutcome, text: &str) -> CheckRun {
    let reported = Some(Reported { outcome, text: text.into() });
    CheckRun { reported, exit_of: Some("tail -6".into()), ..run(RunOutcome::Masked, 0, 3) }
}

#[test]
fn each_state_has_a_sign_and_a_word() {
    let tests = |run: Option<CheckRun>, claim: Option<&str>| said(&verdict(run, claim));
    let passed = run(RunOutcome::Passed, 0, 3);
    assert_eq!(tests(Some(passed.clone()), None), "Tests ✓ passed");
    // A claim that the log bears out is not mentioned.
    assert_eq!(tests(Some(passed), Some("All tests pass")), "Tests ✓ passed");
    assert_eq!(tests(Some(run(RunOutcome::Passed, 3, 3)), None), "Tests ! stale: 3 edits since");
    assert_eq!(tests(Some(CheckRun { exit_code: Some(101), ..run(RunOutcome::Failed, 0, 3) }), None), "Tests ✗ failed (exit 101)");
    assert_eq!(tests(Some(run(RunOutcome::Failed, 1, 3)), None), "Tests ✗ failed · 1 edit since");
    assert_eq!(tests(Some(run(RunOutcome::Masked, 0, 3)), None), "Tests ! exit code masked");
    assert_eq!(tests(Some(run(RunOutcome::Unknown, 0, 3)), None), "Tests ? outcome not recorded");
    assert_eq!(tests(None, None), "Tests – no tests ran");
    assert_eq!(tests(None, Some("All tests pass")), "Tests ! agent says “All tests pass” · no tests ran");
    let failed = "Tests ✗ agent says “All tests pass” · output says “1 failed” · exit code masked by tail -6";
    assert_eq!(tests(Some(says(ReportedOutcome::Failed, "1 failed")), Some("All tests pass")), failed);
    let passed = "Tests ! output says “41 passed” · exit code masked by tail -6";
    assert_eq!(tests(Some(says(ReportedOutcome::Passed, "41 passed")), Some("All tests pass")), passed);
    let hidden = SessionVerdict::of(&Digest { scripts_incomplete: 1, ..Digest::default() });
    assert_eq!(said(&hidden), "Tests ? unknown: scripts may have run some");
}

#[test]
fn the_strip_has_two_lines_and_every_part_its_proof() {
    let strip = VerdictStrip::of(&SessionVerdict::of(&digest("")));
    let line = |parts: &[VerdictPart]| parts.iter().map(VerdictPart::said).collect::<Vec<_>>().join(" | ");
    assert_eq!(line(&strip.first), "Tests ! stale: 2 edits since · exit code masked by tail -5");
    let second =
        "Build ✓ passed | Lint ✗ failed · 1 edit since | Unresolved 1 | Changed +1,128 −44 in 3 files | Commit 9f3c2ab | PR #4 | 12 m 04 s";
    assert_eq!(line(&strip.second), second);
    assert!(strip.parts().filter(|part| !part.label.is_empty()).all(|part| part.proof.is_some() || part.view.is_some()));
}

#[test]
fn cells_are_short_and_read_downwards() {
    let cell = |run: Option<CheckRun>, claim: Option<&str>| VerdictCells::of(&verdict(run, claim)).tests.text;
    assert_eq!(cell(Some(run(RunOutcome::Passed, 0, 3)), None), "✓ passed");
    assert_eq!(cell(Some(run(RunOutcome::Passed, 1, 3)), None), "! stale, 1 edit");
    assert_eq!(cell(Some(says(ReportedOutcome::Failed, "1 failed")), None), "✗ says failed");
    assert_eq!(cell(Some(says(ReportedOutcome::Passed, "41 passed")), Some("x")), "! says passed");
    assert_eq!(cell(Some(says(ReportedOutcome::Failed, "1 failed")), Some("x")), "✗ false claim");
    assert_eq!(cell(None, Some("x")), "! unproven claim");
    assert_eq!(cell(None, None), "");
    let all = VerdictCells::of(&SessionVerdict::of(&digest("")));
    let texts = [&all.tests, &all.unresolved, &all.lines, &all.commits].map(|cell| cell.text.as_str());
    assert_eq!(texts, ["! stale · lint ✗", "1", "+1,128 −44", "1, 1 PR"]);
    assert_eq!(all.lines.title, "+1,128 −44 in 3 files");
}

#[test]
fn gaps_name_the_command_and_the_evidence() {
    let gaps = |run: Option<CheckRun>, claims: Vec<Claim>| {
        let digest = Digest { test: run, claims, said: Some(Quote::default()), ..Digest::default() };
        let all = Verification::of(&digest, &SessionVerdict::of(&digest), &VerifyPolicy::default());
        all.gaps.iter().map(gap_text).collect::<Vec<_>>()
    };
    let edits = |number: u32| {
        let edit = |number| tooltrail_model::digest::LaterEdit { cited: cited(number), paths: vec!["/srv/app/a.rs".into()] };
        CheckRun { edits: (1..=number).map(edit).collect(), ..run(RunOutcome::Passed, u64::from(number), 1) }
    };
    assert_eq!(gaps(Some(edits(3)), Vec::new()), ["`cargo test` ran before 3 edits: #1, last edit #3"]);
    assert_eq!(
        gaps(Some(CheckRun { exit_code: Some(101), ..run(RunOutcome::Failed, 0, 3) }), Vec::new()),
        ["`cargo test` failed with exit code 101: #3"]
    );
    let own = "its own exit code was not recorded (that of `tail -6` was)";
    assert_eq!(gaps(Some(says(ReportedOutcome::Failed, "1 failed")), Vec::new()), [format!("`cargo test` says “1 failed”; {own}: #3")]);
    assert_eq!(
        gaps(Some(says(ReportedOutcome::Passed, "41 passed")), Vec::new()),
        [format!("`cargo test` says “41 passed”, but {own}: #3")]
    );
    let claim = vec![Claim { about: ClaimSubject::Test, text: "All tests pass".into() }];
    assert_eq!(gaps(None, claim), ["no tests ran, but the agent says that they passed"]);
}
