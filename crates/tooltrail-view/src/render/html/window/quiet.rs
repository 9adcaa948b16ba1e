//! Quiet rows: runs of rows that tell little, of which a page shows one line until the reader opens it. Hooks, withheld thinking and texts
//! that the agent injected are quiet in pairs already; reads and searches that worked are from four on. Failures, edits and questions
//! never are.

use super::super::plan::{Chunk, PlanRow};
use crate::head::{counted, took};
use maud::{Markup, html};
use tooltrail_model::transcript::{CallEntry, EntryKind, Transcript};
use tooltrail_model::{Kind, Status};

/// Number of reads and searches from which a run of them is folded.
const READS: usize = 4;
/// Number of other quiet rows from which a run of them is folded.
const NOISE: usize = 2;

/// A run of quiet rows of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QuietRun {
    /// Their places in the section, in order.
    pub(super) rows: Vec<usize>,
    /// What they are, with numbers: `6 reads, 2 searches · 0.4 s`.
    pub(super) words: String,
}

/// A kind of quiet row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuietKind {
    Read,
    Search,
    Hook,
    Thought,
    Injected,
}

impl QuietKind {
    const ALL: [QuietKind; 5] = [QuietKind::Read, QuietKind::Search, QuietKind::Hook, QuietKind::Thought, QuietKind::Injected];

    fn words(self, number: usize) -> String {
        let number = number as u64;
        match self {
            QuietKind::Read => counted(number, "read"),
            QuietKind::Search if number == 1 => "1 search".to_owned(),
            QuietKind::Search => format!("{} searches", crate::head::count(number)),
            QuietKind::Hook => counted(number, "hook"),
            QuietKind::Thought if number == 1 => "1 withheld thought".to_owned(),
            QuietKind::Thought => format!("{} withheld thoughts", crate::head::count(number)),
            QuietKind::Injected => counted(number, "injected text"),
        }
    }

    fn is_call(self) -> bool {
        matches!(self, QuietKind::Read | QuietKind::Search)
    }
}

/// The runs of a section, in order.
pub(super) fn runs(transcript: &Transcript<'_>, chunk: &Chunk) -> Vec<QuietRun> {
    let kinds: Vec<Option<QuietKind>> = chunk.rows.iter().map(|row| kind(transcript, chunk, row)).collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut start = 0;
    for run in kinds.chunk_by(|one, next| one.is_some() == next.is_some()) {
        let rows = start..start + run.len();
        start = rows.end;
        if run.first().is_none_or(Option::is_none) {
            continue;
        }
        if run.iter().flatten().filter(|kind| kind.is_call()).count() >= READS {
            found.push(rows.collect());
            continue;
        }
        // Too few reads to be folded: what is between them still may be.
        let is_noise = |kind: &Option<QuietKind>| kind.is_some_and(|kind| !kind.is_call());
        let mut at = rows.start;
        for part in run.chunk_by(|one, next| is_noise(one) == is_noise(next)) {
            let rows = at..at + part.len();
            at = rows.end;
            if part.len() >= NOISE && part.first().is_some_and(is_noise) {
                found.push(rows.collect());
            }
        }
    }
    found.extend(lone_thoughts(chunk, &kinds, &found));
    found.sort_unstable();
    found.into_iter().map(|rows| told(transcript, chunk, rows, &kinds)).collect()
}

/// Withheld thoughts that stand alone between calls, as far as no message comes between them.
fn lone_thoughts(chunk: &Chunk, kinds: &[Option<QuietKind>], found: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut stretches: Vec<Vec<usize>> = vec![Vec::new()];
    for (at, row) in chunk.rows.iter().enumerate() {
        let kind = kinds.get(at).copied().flatten();
        if kind == Some(QuietKind::Thought) && !found.iter().any(|run| run.binary_search(&at).is_ok()) {
            stretches.last_mut().into_iter().for_each(|stretch| stretch.push(at));
        } else if row.call().is_none() && kind.is_none() {
            stretches.push(Vec::new());
        }
    }
    stretches.retain(|stretch| stretch.len() >= NOISE);
    stretches
}

/// A run in words.
fn told(transcript: &Transcript<'_>, chunk: &Chunk, rows: Vec<usize>, kinds: &[Option<QuietKind>]) -> QuietRun {
    let number = |kind: QuietKind| rows.iter().filter(|at| kinds.get(**at) == Some(&Some(kind))).count();
    let words: Vec<String> = QuietKind::ALL
        .into_iter()
        .map(|kind| (kind, number(kind)))
        .filter(|(_, number)| *number > 0)
        .map(|(kind, number)| kind.words(number))
        .collect();
    let calls = rows.iter().filter_map(|at| chunk.rows.get(*at)?.call());
    let time: u64 = calls.filter_map(|call| transcript.calls.get(call)?.row.duration_ms).sum();
    let time = if time > 0 { format!(" · {}", took(time)) } else { String::new() };
    QuietRun { rows, words: format!("{}{time}", words.join(", ")) }
}

/// Kind of a row, if it is quiet.
fn kind(transcript: &Transcript<'_>, chunk: &Chunk, row: &PlanRow) -> Option<QuietKind> {
    if let Some(call) = row.call() {
        return call_kind(transcript.calls.get(call)?);
    }
    let PlanRow::Entry { entry, begins: None, .. } = row else { return None };
    let entry = transcript.threads.get(chunk.thread?)?.entries.get(*entry)?;
    match entry.what {
        EntryKind::Hook => Some(QuietKind::Hook),
        EntryKind::Folded => Some(QuietKind::Injected),
        // A thought that can be read has lines; of a withheld one only the fact is logged.
        EntryKind::Thinking if entry.lines == 0 => Some(QuietKind::Thought),
        _ => None,
    }
}

fn call_kind(call: &CallEntry<'_>) -> Option<QuietKind> {
    let row = &call.row;
    // Hooks and copies are marked on their rows, and a fold would hide the marks.
    let plain = matches!(row.status, Status::Succeeded | Status::Answered) && row.hooks.is_empty() && row.copy_of.is_none();
    match row.kind {
        _ if !plain || !call.threads.is_empty() => None,
        Kind::Read => Some(QuietKind::Read),
        Kind::Search | Kind::List => Some(QuietKind::Search),
        _ => None,
    }
}

/// The line in place of a run. Without a script the rows stand there instead.
pub(super) fn line(run: &QuietRun, id: &str) -> Markup {
    html! { button.quiet type="button" id=(id) aria-expanded="false" data-rows=(run.rows.len()) { (run.words) } }
}
