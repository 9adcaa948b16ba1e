//! The net change to one file for a reviewer: its hunks with the calls that made each, what is unchanged between them, and what the logs
//! do not have.
//!
//! ```text
//! src/report/csv.rs   edited ×3   +38 −2   turns 2, 5
//! @@ 12–19 fn write_row                     #14 #17
//! 12     −  old line
//!     12 +  new line
//! ⋯ 20 unchanged lines
//! ```

use crate::block::DiffHunk;
use crate::changes::{self, ChangeKind};
use crate::diff::{self, LineCounts};
use crate::limits::Elided;
use crate::pieces::{self, notice};
use crate::{Block, Limits};
use tooltrail_model::changes::blame::{LineEvidence, line_evidence, renamed_evidence};
use tooltrail_model::changes::net::{FileNet, ListedFile, NetPart};
use tooltrail_model::changes::unified::{self, PatchNames};
use tooltrail_model::changes::{FileText, Step, Strength};
use tooltrail_model::patch::{Hunk, PatchLine};
use tooltrail_model::transcript::Level;

/// The most characters of the line that says where a hunk is.
const CONTEXT: usize = 80;

mod spaces;

pub use spaces::without_space_changes;

/// Facts about the net change to one file.
#[derive(Clone, Debug)]
pub struct ReviewFacts {
    /// Kind of the change.
    pub kind: ChangeKind,
    /// The path, as it is shown.
    pub path: String,
    /// The new path of a renamed file.
    pub to: Option<String>,
    /// Added and removed lines.
    pub counts: LineCounts,
    /// Whether the diff is incomplete.
    pub gap: bool,
    /// The weakest evidence for it.
    pub strength: Option<Strength>,
    /// The calls that made it, by their places in the transcript.
    pub calls: Vec<usize>,
}

impl ReviewFacts {
    /// Facts about a listed file.
    pub fn of(listed: ListedFile<'_>, names: &PatchNames<'_>) -> Self {
        let (path, to) = match listed {
            ListedFile::File(file) => (&file.path, None),
            ListedFile::Renamed { old, new, .. } => (&old.path, Some((names.path)(&new.path))),
        };
        ReviewFacts {
            kind: changes::fate(listed),
            path: (names.path)(path),
            to,
            counts: changes::of(listed),
            gap: listed.has_gap(),
            strength: changes::strength(listed),
            calls: changes::by(listed),
        }
    }

    /// The path by which the file is known afterwards.
    pub fn last_path(&self) -> &str {
        self.to.as_deref().unwrap_or(&self.path)
    }
}

/// How a file is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct ReviewOptions {
    /// Limits for all of its hunks together.
    pub limits: Limits,
    /// Number of lines of hunks that are left out at the beginning.
    pub skip: usize,
    /// Whether changes of white space alone are left out.
    pub ignore_space: bool,
}

/// A part of a file's change.
#[derive(Clone, Debug)]
pub enum ReviewPart {
    /// A remark, or a text whose change is not known.
    Block(Block),
    /// A hunk.
    Hunk(ReviewHunk),
    /// Unchanged lines between two hunks.
    Unchanged(UnchangedLines),
}

/// A hunk, and what proves it.
#[derive(Clone, Debug)]
pub struct ReviewHunk {
    /// Its lines.
    pub hunk: DiffHunk,
    /// The calls that made it.
    pub calls: Vec<usize>,
}

/// Unchanged lines that the logs have, by their numbers in the text after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnchangedLines {
    /// Place of the part in the file's net change.
    pub part: usize,
    /// Number of the first line in the text before.
    pub old: u32,
    /// Number of the first line in the text after.
    pub new: u32,
    /// Number of lines.
    pub count: u32,
    /// The call by which they are known, if another than those that changed the file.
    pub known_from: Option<usize>,
}

/// A file for review.
#[derive(Clone, Debug, Default)]
pub struct FileReview {
    /// Its parts, in order.
    pub parts: Vec<ReviewPart>,
    /// Remark on lines that are not shown.
    pub elided: Option<Elided>,
    /// Whether only white space changed, which is left out.
    pub only_space: bool,
}

/// Steps of a group of files, and which of their calls count.
#[derive(Clone, Copy)]
pub struct ReviewSteps<'s> {
    /// The steps.
    pub steps: &'s [Step],
    /// Whether a call counts.
    pub takes: &'s dyn Fn(usize) -> bool,
}

// Not derived: a function has no `Debug`.
impl std::fmt::Debug for ReviewSteps<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReviewSteps").field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl FileReview {
    /// The review of a listed file.
    pub fn of(listed: ListedFile<'_>, from: ReviewSteps<'_>, names: &PatchNames<'_>, options: &ReviewOptions) -> Self {
        let mut builder = ReviewBuilder::new(listed.path(), names, options);
        match listed {
            ListedFile::File(file) => builder.file(file, &line_evidence(from.steps, from.takes, file)),
            ListedFile::Renamed { before, after, new, .. } => {
                let evidence = renamed_evidence(before, from.steps, from.takes, new);
                builder.between((before, after), 0, &evidence, &changes::by(listed), "Renamed without changes.");
            }
        }
        builder.end()
    }
}

/// Unchanged lines of a file, for a reader who asks for them: each with its number in the text after.
pub fn unchanged(listed: ListedFile<'_>, lines: UnchangedLines) -> Vec<(u32, String)> {
    let after = match listed {
        ListedFile::File(file) => match file.parts.get(lines.part) {
            Some(NetPart::Net { after, .. }) => after,
            _ => return Vec::new(),
        },
        ListedFile::Renamed { after, .. } => after,
    };
    let text = after.as_text().unwrap_or_default();
    let skip = usize::try_from(lines.new.saturating_sub(1)).unwrap_or(usize::MAX);
    let taken = text.split_terminator('\n').skip(skip).take(usize::try_from(lines.count).unwrap_or(usize::MAX));
    (lines.new..).zip(taken.map(str::to_owned)).collect()
}

struct ReviewBuilder<'a> {
    /// The path by which the language is known.
    path: &'a str,
    names: &'a PatchNames<'a>,
    options: &'a ReviewOptions,
    parts: Vec<ReviewPart>,
    /// Lines and bytes that may still be shown.
    budget: Limits,
    skip: usize,
    shown: usize,
    total: usize,
    /// Whether changes of white space were left out.
    spaces: bool,
    /// Whether it is said that only hunks are known.
    partial: bool,
}

impl<'a> ReviewBuilder<'a> {
    fn new(path: &'a str, names: &'a PatchNames<'a>, options: &'a ReviewOptions) -> Self {
        let (budget, skip) = (options.limits, options.skip);
        ReviewBuilder { path, names, options, parts: Vec::new(), budget, skip, shown: 0, total: 0, spaces: false, partial: false }
    }

    fn end(self) -> FileReview {
        let elided = Elided { shown: self.shown as u64, total: self.total as u64, unit: crate::limits::ElidedUnit::Lines, kept: true };
        let only_space = self.spaces && !self.parts.iter().any(|part| matches!(part, ReviewPart::Hunk(_)));
        FileReview { parts: self.parts, elided: (self.shown < self.total).then_some(elided), only_space }
    }

    fn say(&mut self, level: Level, text: &str) {
        self.parts.push(ReviewPart::Block(notice(level, text)));
    }

    fn file(&mut self, file: &FileNet, evidence: &[LineEvidence]) {
        let none = LineEvidence::default();
        if let Some(from) = &file.moved_from {
            self.say(Level::Info, &format!("Renamed from {}.", (self.names.path)(from)));
        }
        for (place, part) in file.parts.iter().enumerate() {
            match part {
                NetPart::Net { before, after, by } => {
                    let same = if before == after { "No net change." } else { "The file is empty." };
                    self.between((before, after), place, evidence.get(place).unwrap_or(&none), by, same);
                }
                NetPart::Outside { before, after, by, last, next } => {
                    let texts = (before, after);
                    let blocks = changes::outside(&file.path, texts, by, (*last, *next), self.names, &self.options.limits);
                    self.parts.extend(blocks.into_iter().map(ReviewPart::Block));
                }
                NetPart::Pieces { hunks, after, moved, by } => {
                    // One remark is enough for hunks: each of them is shown, and cites its call.
                    if hunks.is_empty() || *moved {
                        self.say(Level::Warning, &format!("{} {}.", (self.names.call)(*by), unified::missing(after, *moved)));
                    } else if !std::mem::replace(&mut self.partial, true) {
                        self.say(Level::Warning, "The logs do not have all of this file's text, only these hunks.");
                    }
                    match after.as_text().filter(|_| hunks.is_empty()) {
                        Some(text) => self.parts.push(ReviewPart::Block(pieces::file(&file.path, Some(1), text, &self.options.limits))),
                        None => self.hunks(hunks, |_| vec![*by], None),
                    }
                }
            }
        }
        if let Some(to) = &file.moved_to {
            self.say(Level::Info, &format!("Renamed to {}.", (self.names.path)(to)));
        }
    }

    /// The difference of two texts. `same` is the remark where there is none, `by` the calls where those of a hunk are not known.
    fn between(&mut self, (before, after): (&FileText, &FileText), place: usize, evidence: &LineEvidence, by: &[usize], same: &str) {
        let text = |known: &FileText| known.as_text().unwrap_or_default().to_owned();
        let hunks = unified::hunks(&text(before), &text(after));
        if hunks.is_empty() {
            return self.say(Level::Info, same);
        }
        let calls = |hunk: &Hunk| Some(evidence.of_hunk(hunk)).filter(|calls| !calls.is_empty()).unwrap_or_else(|| by.to_vec());
        let old = text(before);
        let hunks: Vec<Hunk> = hunks.into_iter().map(|hunk| with_context(hunk, &old)).collect();
        // A file that is new or gone has no unchanged lines.
        let lines = text(after).split_terminator('\n').count();
        let known = before.as_text().is_some() && after.as_text().is_some();
        self.hunks(&hunks, calls, known.then_some((place, lines, evidence.known_from)));
        if let Some(remark) = changes::ending_remark(&hunks, before, after) {
            self.say(Level::Info, remark);
        }
    }

    /// Hunks, with the unchanged lines between them where these are known: the part, its number of lines, and how it is known.
    fn hunks(&mut self, hunks: &[Hunk], calls: impl Fn(&Hunk) -> Vec<usize>, known: Option<(usize, usize, Option<usize>)>) {
        let all: Vec<Hunk> = hunks
            .iter()
            .flat_map(|hunk| if self.options.ignore_space { without_space_changes(hunk) } else { vec![hunk.clone()] })
            .collect();
        self.spaces |= all.iter().map(|hunk| hunk.lines.len()).sum::<usize>() < hunks.iter().map(|hunk| hunk.lines.len()).sum();
        let (mut old, mut new) = (1, 1);
        for hunk in &all {
            // Also for hunks that are not shown: the remark on left-out lines names the number of all.
            self.total += hunk.lines.len();
            if let (Some(known), Some(hunk_old), Some(hunk_new)) = (known, hunk.old_start, hunk.new_start) {
                let (part, _, known_from) = known;
                self.unchanged(UnchangedLines { part, old, new, count: hunk_new.saturating_sub(new), known_from });
                let count =
                    |side: fn(&PatchLine) -> bool| u32::try_from(hunk.lines.iter().filter(|line| !side(line)).count()).unwrap_or(u32::MAX);
                old = hunk_old.saturating_add(count(|line| matches!(line, PatchLine::Added(_))));
                new = hunk_new.saturating_add(count(|line| matches!(line, PatchLine::Removed(_))));
            }
            self.hunk(hunk, calls(hunk));
        }
        if let Some((part, lines, known_from)) = known {
            let count = u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1).saturating_sub(new);
            self.unchanged(UnchangedLines { part, old, new, count, known_from });
        }
    }

    fn unchanged(&mut self, lines: UnchangedLines) {
        // Between hunks that are not shown nothing is to be filled in.
        if lines.count > 0 && self.skip == 0 && self.budget.lines > 0 {
            self.parts.push(ReviewPart::Unchanged(lines));
        }
    }

    fn hunk(&mut self, hunk: &Hunk, calls: Vec<usize>) {
        let skipped = self.skip.min(hunk.lines.len());
        self.skip -= skipped;
        if skipped == hunk.lines.len() || self.budget.lines == 0 {
            return;
        }
        let rest = after_lines(hunk, skipped);
        let mut diff = diff::block(std::slice::from_ref(&rest), &self.budget);
        if self.options.limits.highlight {
            diff::color(&mut diff, self.path);
        }
        let lines = diff.hunks.first().map_or(0, |hunk| hunk.lines.len());
        self.shown += lines;
        // Nothing is shown behind a gap.
        self.budget.lines = if diff.elided.is_some() { 0 } else { self.budget.lines.saturating_sub(lines) };
        let bytes: usize = diff.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| line.line.text().len() + 1).sum();
        self.budget.bytes = self.budget.bytes.saturating_sub(bytes);
        self.parts.extend(
            diff.hunks
                .into_iter()
                .filter(|hunk| !hunk.lines.is_empty())
                .map(|hunk| ReviewPart::Hunk(ReviewHunk { hunk, calls: calls.clone() })),
        );
    }
}

/// A hunk with the last line before it that begins something, as Git finds it: one that begins with a letter, `_` or `$`.
fn with_context(mut hunk: Hunk, old: &str) -> Hunk {
    let before = usize::try_from(hunk.old_start.unwrap_or(1)).unwrap_or(1).saturating_sub(1);
    let lines: Vec<&str> = old.split_terminator('\n').take(before).collect();
    let begins = |line: &&&str| line.starts_with(|letter: char| letter.is_alphabetic() || matches!(letter, '_' | '$'));
    if let Some(line) = lines.iter().rev().find(begins) {
        hunk.context = vec![line.chars().take(CONTEXT).collect()];
    }
    hunk
}

/// The rest of a hunk behind some of its lines, with the numbers that it has there.
fn after_lines(hunk: &Hunk, count: usize) -> Hunk {
    let (left, rest) = hunk.lines.split_at(count.min(hunk.lines.len()));
    let gone = |added: bool| {
        let other = |line: &&PatchLine| if added { matches!(line, PatchLine::Removed(_)) } else { matches!(line, PatchLine::Added(_)) };
        u32::try_from(left.iter().filter(|line| !other(line)).count()).unwrap_or(u32::MAX)
    };
    Hunk {
        old_start: hunk.old_start.map(|start| start.saturating_add(gone(false))),
        new_start: hunk.new_start.map(|start| start.saturating_add(gone(true))),
        lines: rest.to_vec(),
        ..hunk.clone()
    }
}

#[cfg(test)]
mod tests;
