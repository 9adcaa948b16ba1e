//! Folding: all effects of a session's calls become one digest.

use super::call_effect::{CallEffect, RanCommand, RepeatKey};
use super::{ChangeSummary, ChangedFile, CheckRun, Cited, Digest, DigestHook, Quote, RunOutcome, Shipped, UnresolvedCall};
use crate::book::{Book, Loaded, Selection};
use crate::command::{CommandOutcome, Purpose};
use crate::event::Origin;
use crate::position::file_of;
use crate::transcript::{Entry, EntryKind, HookObjection, Part};
use crate::{Reason, Status};
use std::collections::HashMap;

/// The longest quote, in characters.
const QUOTE: usize = 600;

/// Digest of effects, without quotes, state and times, which come from elsewhere.
pub(super) fn digest(effects: &[CallEffect]) -> Digest {
    let with = |status: Status| effects.iter().filter(|effect| effect.status == status).map(open).collect();
    Digest {
        changed: changed(effects),
        shipped: effects.iter().flat_map(shipped).collect(),
        test: last_run(effects, Purpose::Test),
        build: last_run(effects, Purpose::Build),
        lint: last_run(effects, Purpose::Lint),
        failures: failures(effects),
        rejected: with(Status::Rejected),
        blocked: with(Status::Blocked),
        unanswered: with(Status::Unanswered),
        scripts: effects.iter().filter(|effect| effect.scripted).count() as u64,
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

fn shipped(effect: &CallEffect) -> impl Iterator<Item = Shipped> {
    let all = effect.ran.iter().flat_map(|ran| &ran.shipped);
    all.map(|(what, which)| Shipped { what: what.clone(), which: which.clone(), cited: effect.cited.clone() })
}

fn changed(effects: &[CallEffect]) -> ChangeSummary {
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for effect in effects {
        for (path, lines) in &effect.changes {
            let place = *places.entry(path).or_insert_with(|| {
                files.push(ChangedFile { path: path.clone(), lines: Some((0, 0)), calls: Vec::new() });
                files.len() - 1
            });
            let Some(file) = files.get_mut(place) else { continue };
            // A single unknown number makes the sum unknown.
            file.lines = file.lines.zip(*lines).map(|(sum, more)| (sum.0 + more.0, sum.1 + more.1));
            // A call may change one file several times.
            if file.calls.last() != Some(&effect.cited) {
                file.calls.push(effect.cited.clone());
            }
        }
    }
    // Which files a command changed is unknown, so commands are listed separately.
    let commands = effects.iter().filter(|effect| may_change(effect));
    ChangeSummary { files, commands: commands.map(|effect| effect.cited.clone()).collect() }
}

/// True if a call ran a command that may have changed files. A command that cannot be parsed may have.
fn may_change(effect: &CallEffect) -> bool {
    let writes = |ran: &RanCommand| ran.line.as_ref().is_none_or(|line| line.may_change_files);
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
    Some(CheckRun {
        command: command.to_owned(),
        outcome,
        // Otherwise the exit code is the run's own, and neither a command nor a hint has to explain it.
        exit_of: ran.exit_of.clone().filter(|_| masked),
        exit_code: effect.exit_code,
        hint: ran.hint.clone().filter(|_| masked),
        // Changes after the run show whether its outcome still holds.
        edits_after: later.iter().filter(|effect| !effect.changes.is_empty()).count() as u64,
        commands_after: later.iter().filter(|effect| may_change(effect)).count() as u64,
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
    let failed = |effect: &CallEffect| matches!(effect.status, Status::Failed | Status::TimedOut) && !found_nothing(effect);
    let failed = effects.iter().enumerate().filter(|(_, effect)| failed(effect));
    let left: Vec<(usize, &CallEffect)> =
        failed.filter(|(place, effect)| succeeded.get(&effect.repeat_key).is_none_or(|later| later < place)).collect();
    // Repeated failures are listed once, at their last occurrence.
    let mut last: HashMap<&RepeatKey, usize> = HashMap::new();
    last.extend(left.iter().map(|(place, effect)| (&effect.repeat_key, *place)));
    left.into_iter().filter(|(place, effect)| last.get(&effect.repeat_key) == Some(place)).map(|(_, effect)| open(effect)).collect()
}

/// True if a command only reports by its exit code that it found nothing, or a difference.
fn found_nothing(effect: &CallEffect) -> bool {
    let Some(RanCommand { line: Some(line), exit_of: Some(text), .. }) = &effect.ran else { return false };
    let command = line.commands.iter().find(|command| command.text == *text);
    let looks =
        |family: &str| matches!(family, "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "diff" | "cmp" | "test" | "[" | "pgrep");
    // These programs end with 1 for a negative answer, and with a higher code for an error.
    effect.exit_code == Some(1) && command.is_some_and(|command| looks(&command.family))
}

/// True if a success proves that the essential commands themselves succeeded.
fn vouches(effect: &CallEffect) -> bool {
    let (RepeatKey::Commands(commands), Some(RanCommand { line: Some(line), outcomes, .. })) = (&effect.repeat_key, &effect.ran) else {
        return true;
    };
    let proven = |text: &String| {
        line.commands.iter().zip(outcomes).any(|(command, outcome)| command.text == *text && *outcome == CommandOutcome::Succeeded)
    };
    commands.iter().all(proven)
}

/// Objections of hooks that refused no call.
pub(super) fn objections(book: &dyn Book, selection: &Selection) -> Vec<DigestHook> {
    let transcript = book.transcript();
    let selected = transcript.objections.iter().filter(|objection| selection.takes_turn(objection.turn));
    let told = selected.map(|HookObjection { hook, call, spot, .. }| {
        let cited = call.and_then(|index| Some((index, transcript.calls.get(index)?))).map(|(index, entry)| Cited {
            r#ref: entry.row.r#ref.clone(),
            call: entry.row.call.to_owned(),
            number: entry.number,
            index,
            ..Cited::default()
        });
        DigestHook {
            event: hook.event.clone(),
            by: hook.command.clone().or_else(|| hook.name.clone()),
            why: hook.reason.clone(),
            r#ref: cited.as_ref().map(|cited| cited.r#ref.clone()),
            file: book.file(spot.source).map(file_of).unwrap_or_default().to_owned(),
            line: book.row(*spot).is_none().then_some(spot.at.line),
            cited,
        }
    });
    told.collect()
}

/// Last prompt of the person, and the model's answer to it.
pub(super) fn quotes(book: &dyn Book, selection: &Selection) -> (Option<Quote>, Option<Quote>) {
    let transcript = book.transcript();
    let Some(main) = transcript.threads.first() else { return (None, None) };
    let entries: Vec<(usize, &Entry)> =
        main.entries.iter().enumerate().filter(|(_, entry)| !entry.abandoned && selection.takes(entry)).collect();
    // A command counts as a prompt where it began a turn.
    let begins = super::beginnings(transcript);
    let asked = entries.iter().rev().find_map(|&(place, entry)| match entry.what {
        EntryKind::Prompt => asked(book, entry).map(|text| (place, quote(book, entry, &text))),
        EntryKind::Command if begins.contains(&place) => asked(book, entry).map(|text| (place, quote(book, entry, &text))),
        _ => None,
    });
    // Only a text after the prompt can be an answer to it.
    let after = asked.as_ref().map_or(0, |(place, _)| *place);
    let texts = entries.iter().rev().take_while(|(place, _)| *place >= after).filter(|(_, entry)| entry.what == EntryKind::Text);
    let said = texts.map(|(_, entry)| entry).find_map(|entry| match book.open(entry) {
        Loaded::Part(Part::Text(text)) if !text.trim().is_empty() => Some(quote(book, entry, &text)),
        _ => None,
    });
    (asked.map(|(_, quote)| quote), said)
}

/// Text of a prompt.
fn asked(book: &dyn Book, entry: &Entry) -> Option<String> {
    match book.open(entry) {
        // Prompts of other agents and of programs are not the person's.
        Loaded::Part(Part::Prompt { origin: Origin::Human | Origin::Queued, text }) => Some(text),
        Loaded::Part(Part::Command { line, .. }) => Some(line),
        _ => None,
    }
}

fn quote(book: &dyn Book, entry: &Entry, text: &str) -> Quote {
    let text = text.trim();
    let end = text.char_indices().nth(QUOTE).map(|(end, _)| end);
    let row = book.row(entry.spot);
    let address = book.file(entry.spot.source).unwrap_or_default();
    Quote {
        text: text[..end.unwrap_or(text.len())].to_owned(),
        cut: end.is_some(),
        at: entry.time.map(|time| time.to_string()),
        // The address of a database's session names the session too, which is no part of the file.
        file: if row.is_some() { file_of(address) } else { address }.to_owned(),
        line: row.is_none().then_some(entry.spot.at.line),
        row: row.map(str::to_owned),
    }
}
