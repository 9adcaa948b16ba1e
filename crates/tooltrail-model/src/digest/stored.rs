//! A digest as text, for a store: the facts that its JSON has, and those that only programs need.
//!
//! Two things are not kept, because they may change while the logs stay the same: the state of the session, and its short name in the
//! references of calls. Whoever reads a digest back supplies both.

use super::{CheckRun, Cited, Digest, LaterEdit};
use crate::claims::Claim;
use crate::row::CallNumber;
use serde::{Deserialize, Serialize};

/// The text of a digest with the fields that its JSON leaves out.
#[derive(Serialize, Deserialize)]
struct StoredDigest<D> {
    digest: D,
    scripts: u64,
    may_wait: bool,
    claims: Vec<Claim>,
    edited: Vec<String>,
    /// Calls that changed files after the last test, build and lint run.
    later_edits: [Vec<LaterEdit>; 3],
}

impl Digest {
    /// Writes the digest as text.
    pub fn to_stored(&self) -> String {
        let edits = |run: &Option<CheckRun>| run.as_ref().map(|run| run.edits.clone()).unwrap_or_default();
        let stored = StoredDigest {
            digest: self,
            scripts: self.scripts,
            may_wait: self.time.may_wait,
            claims: self.claims.clone(),
            edited: self.edited.clone(),
            later_edits: [edits(&self.test), edits(&self.build), edits(&self.lint)],
        };
        // Texts and numbers only; they cannot fail to be written.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads the text of [`Digest::to_stored`] for a session of this short name; `None` for any other text. The places of calls in a
    /// transcript ([`Cited::index`]) and the state are not known.
    pub fn of_stored(text: &str, short: &str) -> Option<Digest> {
        let stored = serde_json::from_str::<StoredDigest<Digest>>(text).ok()?;
        let mut digest = stored.digest;
        (digest.scripts, digest.time.may_wait) = (stored.scripts, stored.may_wait);
        (digest.claims, digest.edited) = (stored.claims, stored.edited);
        let runs = [&mut digest.test, &mut digest.build, &mut digest.lint];
        for (run, edits) in runs.into_iter().zip(stored.later_edits) {
            run.iter_mut().for_each(|run| run.edits.clone_from(&edits));
        }
        digest.each_cited(&mut |cited| {
            cited.number = number(&cited.r#ref).unwrap_or_default();
            cited.r#ref = renamed(&cited.r#ref, short);
        });
        for hook in &mut digest.hooks {
            hook.r#ref = hook.r#ref.as_deref().map(|name| renamed(name, short));
        }
        Some(digest)
    }

    /// Passes on all calls that prove something.
    fn each_cited(&mut self, each: &mut dyn FnMut(&mut Cited)) {
        let changed = self.changed.files.iter_mut().flat_map(|file| &mut file.calls).chain(&mut self.changed.commands);
        changed.for_each(&mut *each);
        self.shipped.iter_mut().map(|shipped| &mut shipped.cited).for_each(&mut *each);
        let runs = [&mut self.test, &mut self.build, &mut self.lint];
        for run in runs.into_iter().flatten() {
            each(&mut run.cited);
            run.edits.iter_mut().map(|edit| &mut edit.cited).for_each(&mut *each);
        }
        let open = [&mut self.failures, &mut self.rejected, &mut self.blocked, &mut self.unanswered];
        open.into_iter().flatten().map(|call| &mut call.cited).for_each(&mut *each);
    }
}

/// The number of a call in its reference.
fn number(reference: &str) -> Option<CallNumber> {
    CallNumber::read(reference.rsplit_once(':')?.1)
}

/// A reference with another name of its session.
fn renamed(reference: &str, short: &str) -> String {
    reference.rsplit_once(':').map_or_else(|| reference.to_owned(), |(_, number)| format!("{short}:{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::ClaimSubject;
    use crate::digest::{ChangedFile, CheckRun, DigestHook, Quote, RunOutcome, Shipped, UnresolvedCall};
    use crate::reported::{Reported, ReportedOutcome};
    use crate::{Reason, Status};

    fn cited(text: &str) -> Cited {
        Cited { r#ref: text.to_owned(), call: "toolu".to_owned(), number: number(text).unwrap(), file: "/l".to_owned(), ..Cited::default() }
    }

    /// A digest with something of every kind.
    fn whole(short: &str) -> Digest {
        let cited = |number: &str| cited(&format!("{short}:{number}"));
        let open = |number: &str| UnresolvedCall {
            status: Status::Failed,
            reason: Some(Reason::ExitCode),
            exit_code: Some(1),
            tool: "Bash".to_owned(),
            what: "make".to_owned(),
            by: None,
            why: Some("é\u{1b}".to_owned()),
            cited: cited(number),
        };
        let run = CheckRun {
            command: "cargo test".to_owned(),
            outcome: RunOutcome::Masked,
            exit_of: Some("tail".to_owned()),
            exit_code: Some(0),
            hint: None,
            reported: Some(Reported { outcome: ReportedOutcome::Failed, text: "1 failed".to_owned() }),
            edits_after: 2,
            edits: vec![LaterEdit { cited: cited("7"), paths: vec!["a.rs".to_owned()] }],
            commands_after: 3,
            scripts_after: 1,
            at: None,
            cited: cited("5"),
        };
        let mut digest = Digest {
            asked: Some(Quote {
                text: "do".to_owned(),
                cut: true,
                at: None,
                file: "/l".to_owned(),
                line: None,
                row: Some("m/1".to_owned()),
            }),
            shipped: vec![Shipped { what: "commit".to_owned(), which: None, cited: cited("6") }],
            claims: vec![Claim { about: ClaimSubject::Test, text: "All tests pass".to_owned() }],
            edited: vec!["a.rs".to_owned()],
            test: Some(run.clone()),
            build: Some(run.clone()),
            lint: Some(run),
            failures: vec![open("7")],
            rejected: vec![open("8")],
            blocked: vec![open("9")],
            unanswered: vec![open("10.2")],
            hooks: vec![DigestHook { r#ref: Some(format!("{short}:3")), file: "/l".to_owned(), line: Some(3), ..DigestHook::default() }],
            scripts: 4,
            scripts_incomplete: 1,
            ..Digest::default()
        };
        digest.changed.commands = vec![cited("2")];
        digest.changed.files = vec![ChangedFile {
            path: "/a".to_owned(),
            lines: Some((1, 2)),
            calls: vec![cited("1")],
            strength: crate::changes::Strength::Observed,
        }];
        (digest.time.wall_ms, digest.time.may_wait) = (9, true);
        digest
    }

    #[test]
    fn a_digest_comes_back_under_the_name_that_its_session_has_now() {
        let digest = whole("ab");
        assert_eq!(Digest::of_stored(&digest.to_stored(), "ab"), Some(digest.clone()));
        assert_eq!(Digest::of_stored(&digest.to_stored(), "abcd"), Some(whole("abcd")));
        let live = Digest { state: Some("working"), state_reason: Some("running"), ..digest.clone() };
        assert_eq!(Digest::of_stored(&live.to_stored(), "ab"), Some(digest), "the state is that of another moment");
        for damaged in ["", "{}", "[1]", "{\"digest\":{},\"scripts\":1}"] {
            assert_eq!(Digest::of_stored(damaged, "ab"), None);
        }
    }
}
