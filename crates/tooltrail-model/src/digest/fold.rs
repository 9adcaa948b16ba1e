//! Folding: all effects of a session's calls become one digest.

use super::deed::{Deed, Ran, Same};
use super::{Changed, ChangedFile, Digest, Open, Outcome, Quote, Run, Shipped};
use crate::book::{Book, Loaded, Selection};
use crate::command::{CommandOutcome, Purpose};
use crate::event::Origin;
use crate::transcript::{Entry, Part, What};
use crate::{Reason, Status};
use std::collections::HashMap;

/// The longest quote, in characters.
const QUOTE: usize = 600;

/// Digest of effects, without quotes, state and times, which come from elsewhere.
pub(super) fn digest(deeds: &[Deed]) -> Digest {
    let with = |status: Status| deeds.iter().filter(|deed| deed.status == status).map(open).collect();
    Digest {
        changed: changed(deeds),
        shipped: deeds.iter().flat_map(shipped).collect(),
        test: last_run(deeds, Purpose::Test),
        build: last_run(deeds, Purpose::Build),
        lint: last_run(deeds, Purpose::Lint),
        failures: failures(deeds),
        rejected: with(Status::Rejected),
        blocked: with(Status::Blocked),
        unanswered: with(Status::Unanswered),
        scripts: deeds.iter().filter(|deed| deed.scripted).count() as u64,
        ..Digest::default()
    }
}

fn open(deed: &Deed) -> Open {
    Open {
        status: deed.status,
        reason: deed.reason,
        exit_code: deed.exit_code,
        tool: deed.tool.clone(),
        what: deed.what.clone(),
        by: deed.by.clone(),
        why: deed.why.clone(),
        cited: deed.cited.clone(),
    }
}

fn shipped(deed: &Deed) -> impl Iterator<Item = Shipped> {
    let all = deed.ran.iter().flat_map(|ran| &ran.shipped);
    all.map(|(what, which)| Shipped { what: what.clone(), which: which.clone(), cited: deed.cited.clone() })
}

fn changed(deeds: &[Deed]) -> Changed {
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for deed in deeds {
        for (path, lines) in &deed.changes {
            let place = *places.entry(path).or_insert_with(|| {
                files.push(ChangedFile { path: path.clone(), lines: Some((0, 0)), calls: Vec::new() });
                files.len() - 1
            });
            let Some(file) = files.get_mut(place) else { continue };
            // A single unknown number makes the sum unknown.
            file.lines = file.lines.zip(*lines).map(|(sum, more)| (sum.0 + more.0, sum.1 + more.1));
            // A call may change one file several times.
            if file.calls.last() != Some(&deed.cited) {
                file.calls.push(deed.cited.clone());
            }
        }
    }
    // Which files a command changed is unknown, so commands are listed separately.
    let commands = deeds.iter().filter(|deed| may_change(deed));
    Changed { files, commands: commands.map(|deed| deed.cited.clone()).collect() }
}

/// Whether a call ran a command that may have changed files. A command that is not understood may.
fn may_change(deed: &Deed) -> bool {
    let writes = |ran: &Ran| ran.line.as_ref().is_none_or(|line| line.may_change_files);
    started(deed) && deed.ran.as_ref().is_some_and(writes)
}

/// Whether a call started to do something, as far as the log says.
fn started(deed: &Deed) -> bool {
    let refused = matches!(deed.status, Status::Rejected | Status::Blocked | Status::Cancelled | Status::Unanswered);
    !refused && !matches!(deed.reason, Some(Reason::InvalidInput | Reason::UnknownTool | Reason::Precondition))
}

/// The last run of a kind, and what came after it.
fn last_run(deeds: &[Deed], purpose: Purpose) -> Option<Run> {
    let place = deeds.iter().rposition(|deed| started(deed) && runs(deed, purpose).next().is_some())?;
    let (deed, later) = (deeds.get(place)?, deeds.get(place + 1..)?);
    let ran = deed.ran.as_ref()?;
    // Of several runs the least certain one speaks for all.
    let (outcome, command) = runs(deed, purpose).max_by_key(|(outcome, _)| doubt(*outcome))?;
    let masked = outcome == Outcome::Masked;
    Some(Run {
        command: command.to_owned(),
        outcome,
        // Otherwise the exit code is the run's own, and neither a command nor a hint has to explain it.
        exit_of: ran.exit_of.clone().filter(|_| masked),
        exit_code: deed.exit_code,
        hint: ran.hint.clone().filter(|_| masked),
        // Changes after the run show whether its outcome still holds.
        edits_after: later.iter().filter(|deed| !deed.changes.is_empty()).count() as u64,
        commands_after: later.iter().filter(|deed| may_change(deed)).count() as u64,
        cited: deed.cited.clone(),
    })
}

/// Commands of a call with a purpose, with their outcomes.
fn runs(deed: &Deed, purpose: Purpose) -> impl Iterator<Item = (Outcome, &str)> {
    let known = deed.ran.iter().filter_map(|ran| Some((ran.line.as_ref()?, &ran.outcomes)));
    let all = known.flat_map(|(line, outcomes)| line.commands.iter().zip(outcomes));
    all.filter(move |(command, _)| command.purpose == Some(purpose)).map(|(command, outcome)| {
        let outcome = match outcome {
            CommandOutcome::Succeeded => Outcome::Passed,
            CommandOutcome::Failed => Outcome::Failed,
            CommandOutcome::Masked => Outcome::Masked,
            CommandOutcome::Unknown => Outcome::Unknown,
        };
        (outcome, command.text.as_str())
    })
}

/// Rank of an outcome by how much it speaks against trusting the others.
fn doubt(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::Unknown => 1,
        Outcome::Masked => 2,
        Outcome::Failed => 3,
    }
}

/// Calls that failed without a later success of the same call.
fn failures(deeds: &[Deed]) -> Vec<Open> {
    let mut succeeded: HashMap<&Same, usize> = HashMap::new();
    for (place, deed) in deeds.iter().enumerate() {
        // A masked success does not prove that the failure was fixed.
        if deed.status == Status::Succeeded && vouches(deed) {
            succeeded.insert(&deed.same, place);
        }
    }
    let failed = |deed: &Deed| matches!(deed.status, Status::Failed | Status::TimedOut) && !found_nothing(deed);
    let failed = deeds.iter().enumerate().filter(|(_, deed)| failed(deed));
    let left: Vec<(usize, &Deed)> = failed.filter(|(place, deed)| succeeded.get(&deed.same).is_none_or(|later| later < place)).collect();
    // Repeated failures are listed once, at their last occurrence.
    let mut last: HashMap<&Same, usize> = HashMap::new();
    last.extend(left.iter().map(|(place, deed)| (&deed.same, *place)));
    left.into_iter().filter(|(place, deed)| last.get(&deed.same) == Some(place)).map(|(_, deed)| open(deed)).collect()
}

/// Whether a command only reports by its exit code that it found nothing, or a difference.
fn found_nothing(deed: &Deed) -> bool {
    let Some(Ran { line: Some(line), exit_of: Some(text), .. }) = &deed.ran else { return false };
    let command = line.commands.iter().find(|command| command.text == *text);
    let looks =
        |family: &str| matches!(family, "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "diff" | "cmp" | "test" | "[" | "pgrep");
    // These programs end with 1 for a negative answer, and with a higher code for an error.
    deed.exit_code == Some(1) && command.is_some_and(|command| looks(&command.family))
}

/// Whether a success proves that the commands themselves succeeded.
fn vouches(deed: &Deed) -> bool {
    let (Same::Commands(commands), Some(Ran { line: Some(line), outcomes, .. })) = (&deed.same, &deed.ran) else { return true };
    let proven = |text: &String| {
        line.commands.iter().zip(outcomes).any(|(command, outcome)| command.text == *text && *outcome == CommandOutcome::Succeeded)
    };
    commands.iter().all(proven)
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
        What::Prompt => asked(book, entry).map(|text| (place, quote(book, entry, &text))),
        What::Command if begins.contains(&place) => asked(book, entry).map(|text| (place, quote(book, entry, &text))),
        _ => None,
    });
    // Only a text after the prompt can be an answer to it.
    let after = asked.as_ref().map_or(0, |(place, _)| *place);
    let texts = entries.iter().rev().take_while(|(place, _)| *place >= after).filter(|(_, entry)| entry.what == What::Text);
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
    Quote {
        text: text[..end.unwrap_or(text.len())].to_owned(),
        cut: end.is_some(),
        at: entry.time.map(|time| time.to_string()),
        file: book.file(entry.spot.source).unwrap_or_default().to_owned(),
        line: entry.spot.at.line,
    }
}
