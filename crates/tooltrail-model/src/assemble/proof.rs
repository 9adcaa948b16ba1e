//! Proof of how the calls in a script ended, from what it printed.

use crate::event::{ScriptEnd, ScriptOutput};
use crate::script::Script;
use crate::verdict::{LoggedOutcome, Signals};

/// Proof of how a call in a script ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InnerProof {
    /// Exit code.
    pub(super) exit_code: Option<i64>,
    /// The background task that it became.
    pub(super) session: Option<Box<str>>,
    /// Whether it worked, where there is no exit code.
    pub(super) worked: Option<bool>,
}

impl InnerProof {
    pub(super) fn is_some(&self) -> bool {
        *self != InnerProof::default()
    }

    pub(super) fn signals(&self) -> Signals {
        let outcome = match (self.exit_code, self.worked) {
            (Some(0), _) | (None, Some(true)) => LoggedOutcome::Worked,
            (Some(_), _) | (None, Some(false)) => LoggedOutcome::Error,
            (None, None) => LoggedOutcome::Nothing,
        };
        let backgrounded = self.session.is_some() && self.exit_code.is_none();
        Signals { outcome, exit_field: self.exit_code, backgrounded, ..Signals::default() }
    }
}

/// Reads the output of a script, record by record.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    script: Script,
    exits: Vec<bool>,
    calls: Vec<InnerProof>,
}

impl Proof {
    pub(super) fn new(script: Script, exits: Vec<bool>) -> Self {
        let calls = vec![InnerProof::default(); script.calls.len()];
        Proof { script, exits, calls }
    }

    /// Takes what a record says that it printed.
    pub(super) fn printed(&mut self, output: &ScriptOutput) {
        if output.end != Some(ScriptEnd::Completed) {
            return;
        }
        for ((call, exits), known) in self.script.calls.iter().zip(&self.exits).zip(&mut self.calls) {
            // Every other tool throws when it fails.
            if call.once && !call.caught && !exits {
                known.worked = Some(true);
            }
        }
    }

    /// What is proved of each call.
    pub(super) fn calls(&self) -> &[InnerProof] {
        &self.calls
    }
}
