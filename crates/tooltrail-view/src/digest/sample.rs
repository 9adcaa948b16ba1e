//! A digest made by hand, and a transcript for it.

use crate::{Book, Loaded};
use tooltrail_model::changes::Strength;
use tooltrail_model::digest::{
    ChangeSummary, ChangedFile, CheckRun, Cited, Digest, DigestHook, Quote, RunOutcome, Shipped, TimeBreakdown, UnresolvedCall,
};
use tooltrail_model::row::{SessionRow, VERSION};
use tooltrail_model::transcript::{CallEntry, Entry, Spot, Transcript};
use tooltrail_model::{Kind, Reason, Status};

/// A session whose calls are known, but cannot be opened. Each call's number is its index plus one.
pub(crate) struct Bare(Transcript<'static>);

impl Book for Bare {
    fn transcript(&self) -> &Transcript<'_> {
        &self.0
    }

    fn open(&self, _: &Entry) -> Loaded<'_> {
        Loaded::Gone("nothing to open".into())
    }

    fn call(&self, _: usize) -> Loaded<'_> {
        Loaded::Gone("nothing to open".into())
    }
}

impl Bare {
    /// Gives a call to another session.
    pub(crate) fn of_another_session(&mut self, index: usize) {
        self.0.calls.get_mut(index).into_iter().for_each(|call| call.row.session = "77aa");
    }
}

/// Calls of these kinds with these outcomes.
pub(crate) fn bare(calls: &[(&'static str, Kind, Status, Option<Reason>)]) -> Bare {
    let entry = |(place, &(tool, kind, status, reason)): (usize, &(&'static str, Kind, Status, Option<Reason>))| {
        let mut row = crate::sample::story(tool, kind, status, tooltrail_model::detail::Detail::Other).row;
        row.reason = reason;
        row.exit_code = (reason == Some(Reason::ExitCode)).then_some(101);
        let (ends, hooks, threads) = (Vec::new(), Vec::new(), Vec::new());
        CallEntry {
            row,
            number: (place as u32 + 1).into(),
            request: Spot::default(),
            result: None,
            ends,
            hooks,
            progress: None,
            hooked: Vec::new(),
            time: None,
            threads,
            turn: None,
        }
    };
    let session = SessionRow {
        v: VERSION,
        agent: "claude",
        session: "3f2a",
        title: Some("a session"),
        project: Some("/srv/app"),
        branch: None,
        started_at: None,
        last_at: None,
        state: None,
        state_reason: None,
        turns: 0,
        calls: calls.len() as u64,
        inner_calls: 0,
        by_status: Default::default(),
        models: Vec::new(),
        usage: Default::default(),
        files: Vec::new(),
        short: "3f2a",
    };
    Bare(Transcript {
        session,
        calls: calls.iter().enumerate().map(entry).collect(),
        turns: Vec::new(),
        threads: Vec::new(),
        hooks: Vec::new(),
        copied_from: None,
        settings: Default::default(),
        objections: Vec::new(),
    })
}

/// The calls that [`digest`] refers to.
pub(crate) fn usual() -> Bare {
    use Kind::{Edit, Shell};
    bare(&[
        ("Edit", Edit, Status::Succeeded, None),
        ("Bash", Shell, Status::Succeeded, None),
        ("Bash", Shell, Status::Succeeded, None),
        ("Bash", Shell, Status::Failed, Some(Reason::ExitCode)),
        ("Edit", Edit, Status::Rejected, Some(Reason::UserFeedback)),
        ("Bash", Shell, Status::Blocked, Some(Reason::Hook)),
        ("Bash", Shell, Status::Unanswered, Some(Reason::LogEnds)),
        ("Bash", Shell, Status::Succeeded, None),
    ])
}

/// The call with a number.
pub(crate) fn cited(number: u32) -> Cited {
    let r#ref = format!("3f2a:{number}");
    Cited {
        r#ref,
        call: format!("toolu_{number}"),
        number: number.into(),
        index: number as usize - 1,
        file: "a.jsonl".into(),
        line: Some(7),
        row: None,
    }
}

/// A test run.
pub(crate) fn run(outcome: RunOutcome, edits_after: u64, number: u32) -> CheckRun {
    CheckRun {
        command: "cargo test".into(),
        outcome,
        exit_of: None,
        exit_code: None,
        hint: None,
        reported: None,
        edits_after,
        edits: Vec::new(),
        scripts_after: 0,
        at: None,
        commands_after: 0,
        cited: cited(number),
    }
}

/// A changed file.
pub(crate) fn file(path: &str, lines: Option<(u64, u64)>, calls: &[u32]) -> ChangedFile {
    ChangedFile { path: path.into(), lines, calls: calls.iter().map(|call| cited(*call)).collect(), strength: Strength::Edited }
}

/// A hook that objected to a call, and one that objected at the end of a turn.
fn hooks() -> Vec<DigestHook> {
    let hook = |event: &str, by: &str, why: &str, cited| DigestHook {
        event: Some(event.into()),
        by: Some(by.into()),
        why: Some(why.into()),
        cited,
        ..DigestHook::default()
    };
    vec![hook("PostToolUse", "lint.sh", "line too long", Some(cited(1))), hook("Stop", "Stop", "run the tests", None)]
}

/// A digest with every kind of fact, and `x` in every free text.
pub(crate) fn digest(x: &str) -> Digest {
    let quote = |text: &str| Some(Quote { text: format!("{text}{x}"), ..Quote::default() });
    let open = |status, tool: &str, what: &str, why: &str, number| {
        vec![UnresolvedCall {
            status,
            reason: None,
            exit_code: None,
            tool: tool.into(),
            what: format!("{what}{x}"),
            // Only a blocked call names who blocked it.
            by: Some(format!("guard.sh{x}")).filter(|_| status == Status::Blocked),
            why: Some(format!("{why}{x}")),
            cited: cited(number),
        }]
    };
    let hint = Some(format!("test result: FAILED{x}"));
    Digest {
        state: Some("your_turn"),
        state_reason: Some("answered"),
        asked_first: quote("why is the build red?"),
        asked: quote("**fix** the flaky test"),
        said: quote("## Done\n\nThe tests pass; `parse` keeps no state any more."),
        claims: Vec::new(),
        edited: vec!["/srv/app/src/parser.rs".into()],
        changed: ChangeSummary {
            files: vec![
                file(&format!("/srv/app/src/parser.rs{x}"), Some((80, 9)), &[1, 2, 3, 4, 5]),
                file("/srv/app/src/lib.rs", Some((1_048, 35)), &[1]),
                file("/etc/hosts", Some((0, 0)), &[]),
            ],
            commands: vec![cited(2), cited(8)],
            net: None,
        },
        shipped: vec![
            Shipped { what: "commit".into(), which: Some(format!("9f3c2ab{x}")), cited: cited(8) },
            Shipped { what: "pull_request".into(), which: Some("https://example.org/o/r/pull/4".into()), cited: cited(8) },
        ],
        test: Some(CheckRun { exit_of: Some(format!("tail -5{x}")), hint, ..run(RunOutcome::Masked, 2, 2) }),
        build: Some(CheckRun { command: format!("cargo build{x}"), ..run(RunOutcome::Passed, 0, 3) }),
        lint: Some(CheckRun { command: "cargo clippy".into(), ..run(RunOutcome::Failed, 1, 4) }),
        failures: open(Status::Failed, "Bash", "cargo clippy", "error: unused variable", 4),
        rejected: open(Status::Rejected, "Edit", "src/main.rs", "not this file", 5),
        blocked: open(Status::Blocked, "Bash", "rm -rf build", "not in here", 6),
        unanswered: open(Status::Unanswered, "Bash", "sleep 600", "", 7),
        hooks: hooks(),
        scripts: 0,
        scripts_incomplete: 0,
        time: TimeBreakdown {
            wall_ms: 724_000,
            model_ms: 301_000,
            tools_ms: 240_500,
            hooks_ms: 0,
            person_ms: 120_000,
            unknown_ms: 62_500,
            may_wait: true,
        },
    }
}
