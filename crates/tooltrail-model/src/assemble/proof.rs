//! Proof of how the calls in a script ended, from what it printed.

use crate::event::{ScriptOutput, ScriptTool};
use crate::position::At;
use crate::script::{CallProof, Script, ScriptRun};
use crate::verdict::{LoggedOutcome, Signals};
use std::sync::Arc;

/// Proof of how a call in a script ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InnerProof {
    /// Exit code.
    pub(super) exit_code: Option<i64>,
    /// Whether it went on in the background.
    pub(super) goes_on: bool,
    /// The background task that it became.
    pub(super) session: Option<Box<str>>,
    /// Whether it worked, where there is no exit code.
    pub(super) worked: Option<bool>,
}

impl InnerProof {
    fn of(proof: &CallProof) -> Self {
        let session = proof.session.map(|session| session.to_string().into_boxed_str());
        InnerProof { exit_code: proof.exit_code, goes_on: proof.goes_on, session, worked: proof.worked }
    }

    pub(super) fn is_some(&self) -> bool {
        *self != InnerProof::default()
    }

    pub(super) fn signals(&self) -> Signals {
        let outcome = match (self.exit_code, self.worked) {
            (Some(0), _) | (None, Some(true)) => LoggedOutcome::Worked,
            (Some(_), _) | (None, Some(false)) => LoggedOutcome::Error,
            (None, None) => LoggedOutcome::Nothing,
        };
        let backgrounded = (self.goes_on || self.session.is_some()) && self.exit_code.is_none();
        Signals { outcome, exit_field: self.exit_code, backgrounded, ..Signals::default() }
    }
}

/// Reads the output of a script, record by record. The program is kept, because its prints decide what its output means.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    script: Arc<Script>,
    run: ScriptRun,
    /// The records that were read.
    records: Vec<At>,
}

impl Proof {
    pub(super) fn new(script: Script, tools: &[ScriptTool]) -> Self {
        let run = ScriptRun::new(&script, |call| tools.iter().any(|tool| tool.exits && tool.tool == call.tool));
        Proof { script: Arc::new(script), run, records: Vec::new() }
    }

    /// Takes what a record says that it printed.
    pub(super) fn printed(&mut self, at: At, output: &ScriptOutput) {
        let record = self.records.len();
        self.records.push(at);
        for text in &output.texts {
            self.run.push(&self.script, record, text);
        }
        if let Some(end) = output.end {
            self.run.finish(&self.script, record, end);
        }
    }

    /// What is proved of each call, and the record that proves it.
    pub(super) fn calls(&self) -> Vec<(InnerProof, Option<At>)> {
        let known = self.run.proofs(&self.script).into_iter();
        let record = |proof: &CallProof| self.records.get(proof.proved_by?).copied();
        known.map(|proof| (InnerProof::of(&proof), record(&proof))).collect()
    }
}
