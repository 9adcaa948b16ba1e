//! Verdicts and policies as tables: a digest, and what it amounts to.

use super::policy::{GapKind, NeedReason, Verification, VerifyPolicy};
use super::*;
use crate::digest::{LaterEdit, Quote};
use crate::filter::NamePattern;
use crate::row::CallNumber;

fn cited(number: u32) -> Cited {
    Cited { r#ref: format!("3f2a:{number}"), number: CallNumber::from(number), ..Cited::default() }
}

fn run(outcome: RunOutcome, reported: Option<ReportedOutcome>) -> CheckRun {
    CheckRun {
        command: "cargo test".into(),
        outcome,
        exit_of: (outcome == RunOutcome::Masked).then(|| "tail -6".into()),
        exit_code: None,
        hint: None,
        reported: reported.map(|outcome| Reported { outcome, text: "1 failed".into() }),
        edits_after: 0,
        edits: Vec::new(),
        commands_after: 0,
        scripts_after: 0,
        at: None,
        cited: cited(4),
    }
}

/// The run, with edits of these files after it.
fn edited(run: CheckRun, paths: &[&str]) -> CheckRun {
    let edits: Vec<LaterEdit> =
        paths.iter().zip(5..).map(|(path, number)| LaterEdit { cited: cited(number), paths: vec![(*path).to_owned()] }).collect();
    CheckRun { edits_after: edits.len() as u64, edits, ..run }
}

fn tested(run: CheckRun) -> Digest {
    Digest { test: Some(run), ..Digest::default() }
}

fn claiming(digest: Digest, about: ClaimSubject) -> Digest {
    let claims = vec![Claim { about, text: "All tests pass".into() }];
    Digest { claims, said: Some(Quote { text: "Done. All tests pass.".into(), line: Some(9), ..Quote::default() }), ..digest }
}

fn changed(path: &str) -> Digest {
    Digest { edited: vec![path.into()], ..Digest::default() }
}

#[test]
fn only_an_own_exit_code_without_later_edits_is_green() {
    use ReportedOutcome as Says;
    use RunOutcome::{Failed, Masked, Passed, Unknown};
    for (outcome, says, edits, state, color) in [
        (Passed, None, 0, CheckState::Passed, VerdictColor::Green),
        (Passed, None, 2, CheckState::Stale, VerdictColor::Amber),
        (Failed, None, 0, CheckState::Failed, VerdictColor::Red),
        (Failed, None, 2, CheckState::Failed, VerdictColor::Red),
        (Masked, None, 0, CheckState::Unproven, VerdictColor::Amber),
        (Masked, None, 1, CheckState::Stale, VerdictColor::Amber),
        (Masked, Some(Says::Passed), 0, CheckState::Reported, VerdictColor::Amber),
        (Masked, Some(Says::Passed), 1, CheckState::Stale, VerdictColor::Amber),
        (Masked, Some(Says::Failed), 0, CheckState::Reported, VerdictColor::Red),
        (Masked, Some(Says::Failed), 3, CheckState::Reported, VerdictColor::Red),
        (Unknown, Some(Says::Passed), 0, CheckState::Reported, VerdictColor::Amber),
        (Unknown, None, 0, CheckState::Unknown, VerdictColor::Grey),
    ] {
        let run = edited(run(outcome, says), &["a.rs", "b.rs", "c.rs"][..edits]);
        let verdict = SessionVerdict::of(&tested(run));
        assert_eq!((verdict.test.state, verdict.state), (state, color), "{outcome:?} {says:?} {edits}");
    }
    let script = SessionVerdict::of(&tested(CheckRun { scripts_after: 1, ..run(Passed, None) }));
    assert_eq!((script.test.state, script.state), (CheckState::Unproven, VerdictColor::Amber));
}

#[test]
fn nothing_is_called_none_where_scripts_may_have_run_it() {
    let none = SessionVerdict::of(&Digest::default());
    assert_eq!((none.test.state, none.state, none.reason), (CheckState::None, VerdictColor::Grey, VerdictReason::NoTests));
    let hidden = SessionVerdict::of(&Digest { scripts_incomplete: 1, ..Digest::default() });
    assert!(hidden.checks().iter().all(|(_, check)| check.state == CheckState::Unknown));
}

#[test]
fn claims_stand_where_the_log_does_not_bear_them_out() {
    use RunOutcome::{Failed, Masked, Passed};
    let told = |digest: Digest| {
        let verdict = SessionVerdict::of(&claiming(digest, ClaimSubject::Test));
        (verdict.claims.first().map(|claim| claim.standing), verdict.state)
    };
    let (contradicted, unproven) = (Some(ClaimStanding::Contradicted), Some(ClaimStanding::Unproven));
    assert_eq!(told(tested(run(Passed, None))), (None, VerdictColor::Green));
    assert_eq!(told(tested(run(Failed, None))), (contradicted, VerdictColor::Red));
    assert_eq!(told(tested(run(Masked, Some(ReportedOutcome::Failed)))), (contradicted, VerdictColor::Red));
    // Its output bears it out, which is amber all the same.
    assert_eq!(told(tested(run(Masked, Some(ReportedOutcome::Passed)))), (None, VerdictColor::Amber));
    assert_eq!(told(tested(run(Masked, None))), (unproven, VerdictColor::Amber));
    assert_eq!(told(tested(edited(run(Passed, None), &["a.rs"]))), (unproven, VerdictColor::Amber));
    assert_eq!(told(Digest::default()), (unproven, VerdictColor::Amber));
    // "All checks" are those that ran.
    let all = |digest| SessionVerdict::of(&claiming(digest, ClaimSubject::Checks)).claims.len();
    let linted = |outcome| Digest { lint: Some(run(outcome, None)), ..tested(run(Passed, None)) };
    assert_eq!((all(linted(Passed)), all(linted(Failed)), all(Digest::default())), (0, 1, 1));
}

#[test]
fn a_verdict_is_kept_as_json_and_read_back() {
    let digest = claiming(tested(edited(run(RunOutcome::Masked, None), &["a.rs"])), ClaimSubject::Test);
    for digest in [digest, Digest::default()] {
        let verdict = SessionVerdict::of(&digest);
        let text = serde_json::to_string(&verdict).unwrap();
        let back: SessionVerdict = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
        assert_eq!((back.state, back.test.state), (verdict.state, verdict.test.state));
    }
}

/// The gaps of a session as words.
fn gaps(digest: &Digest, policy: &VerifyPolicy) -> Vec<(CheckKind, NeedReason, GapKind, u64)> {
    let all = Verification::of(digest, &SessionVerdict::of(digest), policy);
    assert_eq!(all.passed(), all.gaps.is_empty());
    all.gaps.into_iter().map(|gap| (gap.check, gap.needed, gap.gap, gap.edits)).collect()
}

#[test]
fn the_default_policy_needs_what_the_session_gives_a_reason_for() {
    use CheckKind::{Lint, Test};
    use NeedReason::{Claimed, Edited, Ran};
    let policy = VerifyPolicy::default();
    assert_eq!(gaps(&Digest::default(), &policy), []);
    assert_eq!(gaps(&changed("/srv/a.rs"), &policy), [(Test, Edited, GapKind::NotRun, 0)]);
    let scripted = Digest { scripts_incomplete: 1, ..changed("/srv/a.rs") };
    assert_eq!(gaps(&scripted, &policy), [(Test, Edited, GapKind::NotListed, 0)]);
    assert_eq!(gaps(&claiming(Digest::default(), ClaimSubject::Lint), &policy), [(Lint, Claimed, GapKind::NotRun, 0)]);
    let passed = run(RunOutcome::Passed, None);
    assert_eq!(gaps(&tested(passed.clone()), &policy), []);
    assert_eq!(gaps(&tested(edited(passed.clone(), &["a.rs", "b.rs"])), &policy), [(Test, Ran, GapKind::Stale, 2)]);
    assert_eq!(gaps(&tested(CheckRun { scripts_after: 2, ..passed.clone() }), &policy), [(Test, Ran, GapKind::Script, 0)]);
    assert_eq!(gaps(&tested(run(RunOutcome::Failed, None)), &policy), [(Test, Ran, GapKind::Failed, 0)]);
    assert_eq!(gaps(&tested(run(RunOutcome::Unknown, None)), &policy), [(Test, Ran, GapKind::Unknown, 0)]);
    let both = edited(run(RunOutcome::Masked, None), &["a.rs"]);
    assert_eq!(gaps(&tested(both), &policy), [(Test, Ran, GapKind::Masked, 1), (Test, Ran, GapKind::Stale, 1)]);
    let linted = Digest { lint: Some(run(RunOutcome::Failed, None)), ..tested(passed) };
    assert_eq!(gaps(&linted, &policy), [(Lint, Ran, GapKind::Failed, 0)]);
}

#[test]
fn a_policy_names_checks_accepts_reports_and_ignores_files() {
    use CheckKind::{Build, Test};
    let named = VerifyPolicy { require: Some(vec![Build]), ..VerifyPolicy::default() };
    // Tests are not asked about, and a build only where something was edited.
    assert_eq!(gaps(&tested(run(RunOutcome::Failed, None)), &named), []);
    assert_eq!(gaps(&changed("/srv/a.rs"), &named), [(Build, NeedReason::Required, GapKind::NotRun, 0)]);
    let says = tested(run(RunOutcome::Masked, Some(ReportedOutcome::Passed)));
    assert_eq!(gaps(&says, &VerifyPolicy::default()), [(Test, NeedReason::Ran, GapKind::ReportedOnly, 0)]);
    let reported = VerifyPolicy { reported: true, ..VerifyPolicy::default() };
    assert_eq!(gaps(&says, &reported), []);
    let fails = tested(run(RunOutcome::Masked, Some(ReportedOutcome::Failed)));
    assert_eq!(gaps(&fails, &reported), [(Test, NeedReason::Ran, GapKind::ReportedFailed, 0)]);
    let documents = VerifyPolicy { ignore: vec![NamePattern::path("*.md").unwrap()], ..VerifyPolicy::default() };
    assert_eq!(gaps(&changed("/srv/README.md"), &documents), []);
    let mixed = tested(edited(run(RunOutcome::Passed, None), &["/srv/README.md", "/srv/a.rs"]));
    assert_eq!(gaps(&mixed, &documents), [(Test, NeedReason::Ran, GapKind::Stale, 1)]);
    assert_eq!(gaps(&tested(edited(run(RunOutcome::Passed, None), &["/srv/README.md"])), &documents), []);
}
