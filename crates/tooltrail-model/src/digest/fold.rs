//! Folding: all effects of a session's calls become one digest.

use super::call_effect::{CallEffect, RanCommand, RepeatKey};
use super::{ChangeSummary, ChangedFile, CheckRun, Digest, LaterEdit, RunOutcome, UnresolvedCall, shipped};
use crate::changes::ChangedPath;
use crate::command::{CommandOutcome, Purpose};
use crate::{Reason, Status};
use std::collections::{HashMap, HashSet};

/// Digest of effects, without quotes, state and times, which come from elsewhere.
pub(super) fn digest(effects: &[CallEffect]) -> Digest {
    let with = |status: Status| effects.iter().filter(|effect| effect.status == status).map(open).collect();
    Digest {
        changed: changed(effects),
        edited: edited(effects),
        shipped: shipped::of_session(effects),
        test: last_run(effects, Purpose::Test),
        build: last_run(effects, Purpose::Build),
        lint: last_run(effects, Purpose::Lint),
        failures: failures(effects),
        rejected: with(Status::Rejected),
        blocked: with(Status::Blocked),
        unanswered: with(Status::Unanswered),
        scripts: effects.iter().filter(|effect| effect.scripted).count() as u64,
        scripts_incomplete: effects.iter().filter(|effect| effect.incomplete).count() as u64,
        ..Digest::default()
    }
}

fn open(effect: &CallEffect) -> UnresolvedCall {
    UnresolvedCall {
        status: effect.status,
        reason: effect.reason,
        exit_code: effect.exit_code,
        tool: effect.tool.clone(),
        what: effect.what.clone(),
        by: effect.by.clone(),
        why: effect.why.clone(),
        cited: effect.cited.clone(),
    }
}

fn changed(effects: &[CallEffect]) -> ChangeSummary {
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for effect in effects {
        for ChangedPath { path, lines, strength, only_known } in &effect.changes {
            // A deletion that needs no file counts only for a file that there was.
            if *only_known && !places.contains_key(path.as_str()) {
                continue;
            }
            let place = *places.entry(path).or_insert_with(|| {
                files.push(ChangedFile { path: path.clone(), lines: Some((0, 0)), calls: Vec::new(), strength: *strength });
                files.len() - 1
            });
            let Some(file) = files.get_mut(place) else { continue };
            // A single unknown number makes the sum unknown.
            file.lines = file.lines.zip(*lines).map(|(sum, more)| (sum.0 + more.0, sum.1 + more.1));
            file.strength = file.strength.max(*strength);
            // A call may change one file several times.
            if file.calls.last() != Some(&effect.cited) {
                file.calls.push(effect.cited.clone());
            }
        }
    }
    // Commands that may have changed other files than those.
    let commands = effects.iter().filter(|effect| may_change(effect));
    ChangeSummary { files, commands: commands.map(|effect| effect.cited.clone()).collect(), net: None }
}

/// Files whose change needs a check, each once.
fn edited(effects: &[CallEffect]) -> Vec<String> {
    // A set of its own keeps a session of thousands of edits from being searched for each of them.
    let mut seen: HashSet<&str> = HashSet::new();
    effects.iter().flat_map(|effect| &effect.edits).filter(|path| seen.insert(path)).cloned().collect()
}

/// True if a call ran a command that may have changed files. A command that cannot be parsed may have.
fn may_change(effect: &CallEffect) -> bool {
    let writes = |ran: &RanCommand| !ran.accounted && ran.line.as_ref().is_none_or(|line| line.may_change_files);
    started(effect) && effect.ran.as_ref().is_some_and(writes)
}

/// True if a call started to run, according to the log.
fn started(effect: &CallEffect) -> bool {
    let refused = matches!(effect.status, Status::Rejected | Status::Blocked | Status::Cancelled | Status::Unanswered);
    !refused && !matches!(effect.reason, Some(Reason::InvalidInput | Reason::UnknownTool | Reason::Precondition))
}

/// The last run of a kind, and what came after it.
fn last_run(effects: &[CallEffect], purpose: Purpose) -> Option<CheckRun> {
    let place = effects.iter().rposition(|effect| started(effect) && runs(effect, purpose).next().is_some())?;
    let (effect, later) = (effects.get(place)?, effects.get(place + 1..)?);
    let ran = effect.ran.as_ref()?;
    // If one line has several runs, the least certain outcome is reported.
    let (outcome, command) = runs(effect, purpose).max_by_key(|(outcome, _)| doubt(*outcome))?;
    let masked = outcome == RunOutcome::Masked;
    let open = masked || outcome == RunOutcome::Unknown;
    // Changes after the run show whether its outcome still holds.
    let edited = later.iter().filter(|effect| !effect.edits.is_empty());
    let edits: Vec<LaterEdit> = edited.map(|effect| LaterEdit { cited: effect.cited.clone(), paths: effect.edits.clone() }).collect();
    Some(CheckRun {
        command: command.to_owned(),
        outcome,
        // Otherwise the exit code is the run's own, and neither a command nor a hint has to explain it.
        exit_of: ran.exit_of.clone().filter(|_| masked),
        exit_code: effect.exit_code,
        hint: ran.hint.clone().filter(|_| masked),
        reported: ran.reported.iter().find(|(known, _)| *known == purpose).map(|(_, reported)| reported.clone()).filter(|_| open),
        edits_after: edits.len() as u64,
        edits,
        commands_after: later.iter().filter(|effect| may_change(effect)).count() as u64,
        scripts_after: later.iter().filter(|effect| effect.incomplete).count() as u64,
        at: effect.at.map(|at| at.to_string()),
        cited: effect.cited.clone(),
    })
}

/// Commands of a call with a purpose, with their outcomes.
fn runs(effect: &CallEffect, purpose: Purpose) -> impl Iterator<Item = (RunOutcome, &str)> {
    let known = effect.ran.iter().filter_map(|ran| Some((ran.line.as_ref()?, &ran.outcomes)));
    let all = known.flat_map(|(line, outcomes)| line.commands.iter().zip(outcomes));
    all.filter(move |(command, _)| command.purpose == Some(purpose)).map(|(command, outcome)| {
        let outcome = match outcome {
            CommandOutcome::Succeeded => RunOutcome::Passed,
            CommandOutcome::Failed => RunOutcome::Failed,
            CommandOutcome::Masked => RunOutcome::Masked,
            CommandOutcome::Unknown => RunOutcome::Unknown,
        };
        (outcome, command.text.as_str())
    })
}

/// Rank of an outcome by how much it speaks against trusting the others.
fn doubt(outcome: RunOutcome) -> u8 {
    match outcome {
        RunOutcome::Passed => 0,
        RunOutcome::Unknown => 1,
        RunOutcome::Masked => 2,
        RunOutcome::Failed => 3,
    }
}

/// Calls that failed without a later success of the same call.
fn failures(effects: &[CallEffect]) -> Vec<UnresolvedCall> {
    let mut succeeded: HashMap<&RepeatKey, usize> = HashMap::new();
    for (place, effect) in effects.iter().enumerate() {
        // A masked success does not prove that the failure was fixed.
        if effect.status == Status::Succeeded && vouches(effect) {
            succeeded.insert(&effect.repeat_key, place);
        }
    }
    let failed = |effect: &CallEffect| matches!(effect.status, Status::Failed | Status::TimedOut) && !effect.answers_no;
    let failed = effects.iter().enumerate().filter(|(_, effect)| failed(effect));
    let left: Vec<(usize, &CallEffect)> =
        failed.filter(|(place, effect)| succeeded.get(&effect.repeat_key).is_none_or(|later| later < place)).collect();
    // Repeated failures are listed once, at their last occurrence.
    let mut last: HashMap<&RepeatKey, usize> = HashMap::new();
    last.extend(left.iter().map(|(place, effect)| (&effect.repeat_key, *place)));
    left.into_iter().filter(|(place, effect)| last.get(&effect.repeat_key) == Some(place)).map(|(_, effect)| open(effect)).collect()
}

/// True if a success proves that the essential commands themselves succeeded.
pub(super) fn vouches(effect: &CallEffect) -> bool {
    let (RepeatKey::Commands(commands), Some(RanCommand { line: Some(line), outcomes, .. })) = (&effect.repeat_key, &effect.ran) else {
        return true;
    };
    let proven = |text: &String| {
        line.commands.iter().zip(outcomes).any(|(command, outcome)| command.text == *text && *outcome == CommandOutcome::Succeeded)
    };
    commands.iter().all(proven)
}
