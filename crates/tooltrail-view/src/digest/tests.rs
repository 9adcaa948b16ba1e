//! Texts of a digest, fact by fact.

use super::sample::{bare, cited, digest, file, run, usual};
use super::*;
use crate::Book;
use tooltrail_model::reported::Reported;

/// The facts of a row, with their signs.
fn told(digest: &Digest, book: &dyn Book, label: &str) -> Vec<String> {
    let found = rows(digest, book.transcript()).into_iter().find(|row| row.label == label);
    let text = |fact: &DigestFact| fact.sign.map(|(sign, _)| format!("{sign} ")).unwrap_or_default() + &fact.text();
    found.map(|row| row.facts.iter().map(text).collect()).unwrap_or_default()
}

#[test]
fn a_digest_reads_like_this() {
    let all = digest("");
    let texts = |row: &DigestRow| {
        let lines: Vec<String> = told(&all, &usual(), row.label);
        format!("{}\n  {}\n", row.label, lines.join("\n  "))
    };
    let text: String = rows(&all, usual().transcript()).iter().map(texts).collect();
    insta::with_settings!({ snapshot_path => "../../tests/snapshots" }, { insta::assert_snapshot!("digest", text) });
}

#[test]
fn times_are_for_comparing() {
    let shown = [0, 120, 949, 950, 59_499, 59_500, 3_569_999, 3_840_000].map(|millis| about(millis).replace('\u{a0}', " "));
    assert_eq!(shown, ["0.1 s", "0.1 s", "0.9 s", "1 s", "59 s", "1 m", "59 m", "1 h 04 m"]);
}

#[test]
fn what_has_nothing_to_say_has_no_row() {
    assert_eq!(rows(&Digest::default(), usual().transcript()), []);
}

#[test]
fn a_run_says_what_its_own_exit_code_says_and_no_more() {
    let book = usual();
    let proof = |run: CheckRun| told(&Digest { test: Some(run), ..Digest::default() }, &book, "Checks").join(" | ");
    assert_eq!(proof(run(RunOutcome::Passed, 0, 2)), "✓ #2 cargo test passed · no edits since");
    assert_eq!(proof(run(RunOutcome::Passed, 1, 2)), "✓ #2 cargo test passed · 1 edit since");
    assert_eq!(proof(run(RunOutcome::Failed, 3, 4)), "✗ #4 cargo test failed · 3 edits since");
    assert_eq!(proof(run(RunOutcome::Masked, 0, 2)), "! #2 cargo test: its exit code is unknown · no edits since");
    let by = |number| CheckRun { exit_of: Some("tail -5".into()), ..run(RunOutcome::Masked, 0, number) };
    assert_eq!(proof(by(2)), "! #2 cargo test: the success came from tail -5; its own exit code is unknown · no edits since");
    assert_eq!(
        proof(CheckRun { exit_code: Some(101), ..by(4) }),
        "! #4 cargo test: exit 101 came from tail -5; its own exit code is unknown · no edits since"
    );
    assert_eq!(
        proof(run(RunOutcome::Unknown, 0, 2)),
        "? #2 cargo test: the command line succeeded; the log does not say whether this command ran · no edits since"
    );
    assert_eq!(
        proof(run(RunOutcome::Unknown, 0, 4)),
        "? #4 cargo test: the command line failed; the log does not say which command · no edits since"
    );
    let shells = CheckRun { commands_after: 2, ..run(RunOutcome::Passed, 0, 2) };
    assert_eq!(proof(shells), "✓ #2 cargo test passed · no edits since, but 2 commands that may have changed files");
    assert_eq!(proof(run(RunOutcome::Unknown, 0, 7)), "? #7 cargo test: no result: the log ends · no edits since");
    let hinted = CheckRun { hint: Some("FAILED\n  a".into()), ..run(RunOutcome::Passed, 0, 2) };
    assert!(proof(hinted.clone()).ends_with(" | hint: the output says “FAILED a”"));
    assert!(!proof(CheckRun { outcome: RunOutcome::Failed, ..hinted.clone() }).contains("hint"));
    let reported = |outcome, text: &str| Some(Reported { outcome, text: text.into() });
    let passed = CheckRun { reported: reported(ReportedOutcome::Passed, "41 passed"), ..run(RunOutcome::Masked, 0, 2) };
    assert!(proof(passed).ends_with(" | output says “41 passed”"));
    // The line that sums up a failed run says more than a hint.
    let failed = CheckRun { reported: reported(ReportedOutcome::Failed, "1 failed"), ..hinted };
    assert!(proof(failed).ends_with(" | output says “1 failed”"));
}

#[test]
fn files_without_tests_say_so() {
    let files = vec![file("/srv/app/a.rs", None, &[1])];
    let changed = Digest { changed: ChangeSummary { files, commands: Vec::new(), net: None }, ..Digest::default() };
    assert_eq!(told(&changed, &usual(), "Checks"), ["no test, build or lint runs"]);
    let scripted = Digest { scripts: 2, ..changed.clone() };
    let told_so = "no test, build or lint runs outside 2 scripts, whose commands are not checked";
    assert_eq!(told(&scripted, &usual(), "Checks"), [told_so]);
    let built = Digest { build: Some(run(RunOutcome::Passed, 0, 2)), ..changed };
    assert_eq!(told(&built, &usual(), "Checks").first().map(String::as_str), Some("no test runs"));
    assert_eq!(told(&built, &usual(), "Changes"), ["a.rs #1"]);
}

#[test]
fn weaker_evidence_of_a_change_is_named() {
    let by_shell = |strength, lines| {
        let changed = ChangedFile { strength, ..file("a.rs", lines, &[1]) };
        Digest { changed: ChangeSummary { files: vec![changed], commands: Vec::new(), net: None }, ..digest("") }
    };
    let weaker = |strength, lines| told(&by_shell(strength, lines), &usual(), "Changes");
    assert_eq!(weaker(Strength::Observed, Some((2, 1))), ["a.rs +2 −1 · changed while the command ran #1"]);
    assert_eq!(weaker(Strength::Touched, Some((0, 0))), ["a.rs · by shell command #1"]);
    assert_eq!(weaker(Strength::Written, Some((2, 0))), ["a.rs +2 −0 #1"]);
}

#[test]
fn commands_that_may_have_changed_something_are_named() {
    let commands = ChangeSummary { files: Vec::new(), commands: (1..=5).map(cited).collect(), net: None };
    let digest = Digest { changed: commands, ..Digest::default() };
    assert_eq!(told(&digest, &usual(), "Changes"), ["no edits · 5 commands may have changed files #1 #2 #3 and 2 more"]);
    assert_eq!(told(&digest, &usual(), "Checks"), Vec::<String>::new());
}

#[test]
fn long_lists_are_cut() {
    let files = |number: usize| (0..number).map(|at| file(&format!("/srv/app/{at}.rs"), Some((1, 0)), &[1])).collect();
    let many = |number| Digest { changed: ChangeSummary { files: files(number), commands: Vec::new(), net: None }, ..Digest::default() };
    let (nine, ten) = (told(&many(9), &usual(), "Changes"), told(&many(10), &usual(), "Changes"));
    assert_eq!((nine.len(), nine.last().map(String::as_str)), (10, Some("8.rs +1 −0 #1")));
    assert_eq!((ten.len(), ten.last().map(String::as_str)), (10, Some("and 2 more")));
    let one = digest("").failures;
    let failed = Digest { failures: one.iter().cycle().take(20).cloned().collect(), ..Digest::default() };
    assert_eq!(told(&failed, &usual(), "Unresolved failures").last().map(String::as_str), Some("and 14 more failed"));
    let commit = |number| Shipped { what: "commit".into(), which: Some(format!("c{number}")), cited: cited(number) };
    let shipped =
        |number| told(&Digest { shipped: (1..=number).map(commit).collect(), ..Digest::default() }, &usual(), "Commits and PRs").join("");
    assert_eq!((shipped(2), shipped(5)), ("2 commits: c1 #1, c2 #2".into(), "5 commits, latest: c3 #3, c4 #4, c5 #5".into()));
}

#[test]
fn what_is_said_is_one_line_and_not_long() {
    let quote = |text: &str, cut| Quote { text: text.into(), cut, ..Quote::default() };
    let asked = |quote| told(&Digest { asked: Some(quote), ..Digest::default() }, &usual(), "Prompt").join("|");
    assert_eq!(asked(quote("# A\n\nb\u{1b}[2J", false)), "A · b␛[2J");
    assert_eq!(asked(quote("go on", true)), "go on …");
    // The first prompt is told apart from the last one, unless they are the same.
    let first = |text: &str| Digest { asked_first: Some(quote(text, false)), asked: Some(quote("go on", false)), ..Digest::default() };
    assert_eq!(told(&first("begin"), &usual(), "First prompt"), ["begin"]);
    assert_eq!(told(&first("begin"), &usual(), "Last prompt"), ["go on"]);
    assert_eq!(told(&first("go on"), &usual(), "Prompt"), ["go on"]);
    let long = asked(quote(&"word ".repeat(100), true));
    assert!(long.chars().count() < 210 && long.ends_with("word …") && !long.ends_with("… …"), "{long}");
}

#[test]
fn calls_of_several_sessions_have_their_full_names() {
    let mut book = bare(&[("Bash", Kind::Shell, Status::Succeeded, None), ("Bash", Kind::Shell, Status::TimedOut, Some(Reason::Timeout))]);
    let unknown = Digest { test: Some(run(RunOutcome::Unknown, 0, 2)), ..Digest::default() };
    assert_eq!(told(&unknown, &book, "Checks"), ["? #2 cargo test: timed out · no edits since"]);
    book.of_another_session(1);
    assert_eq!(told(&unknown, &book, "Checks"), ["? 3f2a:2 cargo test: timed out · no edits since"]);
}
