//! A shell call taken apart: the files that its command changed, by its own words and by what the agent saw.
//!
//! `tooltrail_shell::files` says what the words of a command do if it succeeds. Here the outcome of the call decides which of that happened:
//! a command that may not have run makes the text of its files uncertain and changes nothing.

use super::absolute;
use super::effects::FileEffect;
use super::paths::last;
use crate::codex::patch;
use std::borrow::Cow;
use tooltrail_model::Status;
use tooltrail_model::changes::{
    Certainty, ChangedPath, Did, FedText, FileOp, FileText, How, ShellChange, ShellFiles, Strength, is_scratch,
};
use tooltrail_model::detail::{Detail, Detailed, Shell};
use tooltrail_model::patch::{FileChange, FilePatch, Hunk, PatchLine};
use tooltrail_model::row::CallRow;

/// Words of messages that a program prints when it could not do something to a file.
const COMPLAINTS: &[&str] = &[
    "no such file",
    "permission denied",
    "is a directory",
    "not a directory",
    "file exists",
    "read-only file system",
    "no space left",
    "not permitted",
    "cannot ",
    "can't ",
];
/// Words that stand for left-out output.
const CUTS: &[&str] = &["truncated", "omitted"];

/// Adds to the detail of a call what its command changed, given its outcome.
pub(crate) fn fill(row: &CallRow<'_>, told: &mut Detailed) {
    let saved = told.saved.is_some();
    let Detail::Shell(shell) = &mut told.detail else { return };
    let files = understood(row, shell);
    shell.accounted = settled(row, shell) && files.as_ref().is_some_and(|files| files.complete);
    let effects = files.map(|files| effects(row, shell, files, saved)).unwrap_or_else(|| observed_alone(row, shell));
    shell.changed = effects.iter().filter_map(changed).collect();
}

/// The effects of a shell call on files.
pub(super) fn of(row: &CallRow<'_>, shell: &Shell, saved: bool) -> Vec<FileEffect> {
    match understood(row, shell) {
        Some(files) => effects(row, shell, files, saved),
        None => observed_alone(row, shell),
    }
}

/// The effects that the words of a command tell.
fn understood(row: &CallRow<'_>, shell: &Shell) -> Option<ShellFiles> {
    // Another language, whose words mean something else.
    let posix = !row.tool.eq_ignore_ascii_case("powershell");
    if posix { tooltrail_shell::files(&shell.command) } else { None }
}

/// Whether a command ran to its end and succeeded.
fn settled(row: &CallRow<'_>, shell: &Shell) -> bool {
    let ended = row.background.is_none() && !shell.background && shell.task.is_none() && !shell.interrupted;
    row.status == Status::Succeeded && ended && row.exit_code.is_none_or(|code| code == 0)
}

fn observed_alone(row: &CallRow<'_>, shell: &Shell) -> Vec<FileEffect> {
    effects(row, shell, ShellFiles::default(), false)
}

fn effects(row: &CallRow<'_>, shell: &Shell, files: ShellFiles, saved: bool) -> Vec<FileEffect> {
    let directory = match shell.cwd.as_deref() {
        Some(own) => Some(absolute(own, row.cwd)),
        None => row.cwd.map(str::to_owned),
    };
    let place = CommandPlace { directory: directory.as_deref(), settled: settled(row, shell), said: said(shell), saved };
    // A call that never ran, as far as the log says, left every file as it was.
    if matches!(row.status, Status::Rejected | Status::Blocked | Status::Cancelled) {
        return Vec::new();
    }
    let mut all: Vec<FileEffect> = Vec::new();
    let mut fed = files.fed.iter().peekable();
    for (at, effect) in files.effects.into_iter().enumerate() {
        while let Some(text) = fed.next_if(|text| text.place <= at) {
            all.extend(place.patched(text));
        }
        let did = if place.trusts(effect.certainty, &effect.path) { place.did(&effect.path, effect.op) } else { Did::Doubted };
        add(&mut all, FileEffect { path: place.path(&effect.path), did });
    }
    fed.for_each(|text| all.extend(place.patched(text)));
    all.extend(files.prints.filter(|_| place.settled).and_then(|path| place.printed(&path, shell)));
    if place.settled {
        place.observe(&mut all, shell);
    }
    all
}

/// Circumstances of a command.
struct CommandPlace<'c> {
    directory: Option<&'c str>,
    /// Whether it ran to its end and succeeded.
    settled: bool,
    /// Its output, in lower case.
    said: String,
    /// Its output is elsewhere.
    saved: bool,
}

impl CommandPlace<'_> {
    fn path(&self, path: &str) -> String {
        absolute(path, self.directory)
    }

    /// Whether a simple command surely ran and succeeded.
    fn trusts(&self, certainty: Certainty, path: &str) -> bool {
        let name = last(path).to_lowercase();
        let about = |line: &str| line.contains(&name) || line.contains("cd:") || line.starts_with("mkdir:");
        let complains = |line: &str| about(line) && COMPLAINTS.iter().any(|words| line.contains(words));
        let cut = || self.saved || CUTS.iter().any(|word| self.said.contains(word));
        let quiet = || !cut() && !self.said.lines().any(complains);
        self.settled && (certainty == Certainty::Proven || (certainty == Certainty::Ran && quiet()))
    }

    /// The statement about a file that a command surely changed.
    fn did(&self, path: &str, op: FileOp) -> Did {
        if op == FileOp::Doubt {
            return Did::Doubted;
        }
        let mut op = op;
        match &mut op {
            FileOp::Move { to } => *to = self.path(to),
            FileOp::Copy { from } => *from = self.path(from),
            FileOp::Patch(patch) => patch.moved_to = patch.moved_to.take().map(|to| self.path(&to)),
            _ => {}
        }
        let whole = self.path(path);
        // A project may itself lie in a temporary directory.
        let own = self.directory.is_some_and(|directory| whole.starts_with(directory));
        ran(ShellChange { op: Some(op), observed: None, arrival: None, counts: own || !is_scratch(&whole) })
    }

    /// The changes of a patch that is fed to a program which only agents have.
    fn patched(&self, fed: &FedText) -> Vec<FileEffect> {
        let proven = self.settled && fed.certainty == Certainty::Proven && fed.words.is_empty();
        let path = |path: &str| self.path(&if fed.directory.is_empty() { path.to_owned() } else { absolute(path, Some(&fed.directory)) });
        let file = |mut file: FilePatch| {
            file.moved_to = file.moved_to.map(|to| path(&to));
            let to = file.moved_to.clone().filter(|_| !proven);
            let own = FileEffect { path: path(&file.path), did: if proven { Did::Patched(file) } else { Did::Doubted } };
            std::iter::once(own).chain(to.map(|path| FileEffect { path, did: Did::Doubted }))
        };
        patch::parse(&fed.text).into_iter().filter(|file| !file.path.is_empty()).flat_map(file).collect()
    }

    /// A file whose text was printed as a whole.
    fn printed(&self, path: &str, shell: &Shell) -> Option<FileEffect> {
        let text = shell.stdout.as_deref().filter(|text| !text.is_empty())?;
        let whole = !self.saved && shell.stderr.is_none() && !CUTS.iter().any(|word| self.said.contains(word));
        whole.then(|| FileEffect { path: self.path(path), did: seen(text) })
    }

    /// Adds what the agent saw.
    fn observe(&self, all: &mut Vec<FileEffect>, shell: &Shell) {
        let Some(observed) = &shell.observed else { return };
        let known = observed.files.iter().map(Cow::Borrowed);
        let nothing =
            |path: &String| FilePatch { path: path.clone(), moved_to: None, change: FileChange::Update, hunks: Vec::new(), content: None };
        for patch in known.chain(observed.others.iter().map(|path| Cow::Owned(nothing(path)))) {
            let path = self.path(&patch.path);
            let mut own = all.iter_mut().filter(|effect| effect.paths().any(|own| own == path));
            match (own.next(), own.next()) {
                (Some(FileEffect { did: did @ Did::Doubted, .. }), None) => {
                    *did = ran(ShellChange { op: None, observed: Some(patch.into_owned()), arrival: None, counts: true });
                }
                (Some(FileEffect { path: own, did: Did::Ran(change) }), None) if *own == path => {
                    change.observed = Some(patch.into_owned());
                    change.counts = true;
                }
                (Some(FileEffect { did: Did::Ran(change), .. }), None) if !matches!(change.op, Some(FileOp::Copy { .. })) => {
                    change.arrival = Some(patch.into_owned());
                }
                // The commands copied it or changed it in several ways; what they say is more than what was seen.
                (Some(_), _) => {}
                (None, _) => {
                    let did = ran(ShellChange { op: None, observed: Some(patch.into_owned()), arrival: None, counts: true });
                    all.push(FileEffect { path, did });
                }
            }
        }
    }
}

fn ran(change: ShellChange) -> Did {
    Did::Ran(Box::new(change))
}

/// The output of a command, in lower case.
fn said(shell: &Shell) -> String {
    let texts = shell.stderr.iter().chain(&shell.stdout);
    texts.map(|text| text.to_lowercase()).collect::<Vec<_>>().join("\n")
}

/// The text of a file, as it was printed. Where the log cuts off the last line feed, it cannot be known to the byte.
fn seen(text: &str) -> Did {
    if text.ends_with('\n') { Did::Saw(FileText::text(text), How::Read) } else { Did::Printed(text.to_owned()) }
}

/// Adds an effect; several texts that one command line puts into a file are one change.
fn add(all: &mut Vec<FileEffect>, new: FileEffect) {
    let last = all.iter_mut().rev().find(|effect| effect.paths().any(|path| path == new.path));
    let Some(last) = last.filter(|last| last.path == new.path) else { return all.push(new) };
    match folded(&last.did, &new.did) {
        Some(did) => last.did = did,
        None => all.push(new),
    }
}

/// Two effects on a file as one.
fn folded(first: &Did, second: &Did) -> Option<Did> {
    let ran = |change: &ShellChange, op: FileOp| Some(self::ran(ShellChange { op: Some(op), ..change.clone() }));
    let Did::Ran(change) = first else {
        return match (first, second) {
            (Did::Doubted, Did::Doubted) => Some(Did::Doubted),
            // A text at the end of an unknown one.
            (Did::Doubted, Did::Ran(change)) if matches!(change.op, Some(FileOp::Append(_) | FileOp::Touch)) => ran(change, FileOp::Touch),
            (Did::Doubted, Did::Ran(change)) if matches!(change.op, Some(FileOp::Write(_))) => Some(Did::Ran(change.clone())),
            _ => None,
        };
    };
    let (op, next) = (change.op.as_ref()?, if let Did::Ran(next) = second { next.op.as_ref()? } else { &FileOp::Doubt });
    if !matches!(second, Did::Ran(_) | Did::Doubted) {
        return None;
    }
    match (op, next) {
        (FileOp::Write(text), FileOp::Append(more)) => ran(change, FileOp::Write(format!("{text}{more}"))),
        (FileOp::Append(text), FileOp::Append(more)) => ran(change, FileOp::Append(format!("{text}{more}"))),
        (FileOp::Write(_) | FileOp::Append(_) | FileOp::Touch | FileOp::Create, FileOp::Write(text)) => {
            ran(change, FileOp::Write(text.clone()))
        }
        (FileOp::Write(_) | FileOp::Append(_) | FileOp::Touch, FileOp::Touch | FileOp::Doubt) => ran(change, FileOp::Touch),
        (FileOp::Touch, FileOp::Append(_)) => ran(change, FileOp::Touch),
        (FileOp::Write(_) | FileOp::Append(_), FileOp::Create) => ran(change, op.clone()),
        // What a command line writes and deletes may never have been there before.
        (FileOp::Write(_) | FileOp::Append(_) | FileOp::Touch, FileOp::Remove { .. }) => ran(change, FileOp::Remove { force: true }),
        _ => None,
    }
}

/// A change for a digest.
fn changed(effect: &FileEffect) -> Option<ChangedPath> {
    if !effect.did.changes() {
        return None;
    }
    let counted = |path: &str, lines, strength| Some(ChangedPath { path: path.to_owned(), lines, strength, only_known: false });
    let Did::Ran(change) = &effect.did else {
        let Did::Patched(patch) = &effect.did else { return None };
        return counted(patch.moved_to.as_deref().unwrap_or(&effect.path), Some(count(&patch.hunks)), Strength::Edited);
    };
    let strength = change.strength();
    let seen = change.observed.as_ref().map(|patch| &patch.hunks).filter(|hunks| !hunks.is_empty()).map(|hunks| count(hunks));
    match &change.op {
        Some(FileOp::Move { to }) => counted(to, Some((0, 0)), strength),
        Some(FileOp::Patch(patch)) => counted(patch.moved_to.as_deref().unwrap_or(&effect.path), Some(count(&patch.hunks)), strength),
        Some(FileOp::Append(text)) => counted(&effect.path, seen.or(Some((text.lines().count() as u64, 0))), strength),
        // A file that is there already keeps its text.
        Some(FileOp::Create) if change.observed.is_none() => None,
        Some(FileOp::Remove { force: true }) if change.observed.is_none() => {
            Some(ChangedPath { path: effect.path.clone(), lines: None, strength, only_known: true })
        }
        _ => counted(&effect.path, seen, strength),
    }
}

/// Added and removed lines.
fn count(hunks: &[Hunk]) -> (u64, u64) {
    let lines = || hunks.iter().flat_map(|hunk| &hunk.lines);
    let added = lines().filter(|line| matches!(line, PatchLine::Added(_))).count();
    let removed = lines().filter(|line| matches!(line, PatchLine::Removed(_))).count();
    (added as u64, removed as u64)
}
