//! Net changes to files: a section for each file with its diff, and remarks where the logs have a gap.
//!
//! ```text
//! src/parser.rs  +8 −3  3f2a:12 3f2a:15
//!   119     −     let x = [1];
//!       119 +     let x = [2];
//!   Changed outside this session between 3f2a:12 and 3f2a:15.
//! ```

use crate::diff::LineCounts;
use crate::line::{Class, Line};
use crate::pieces::{changes, notice};
use crate::{Block, Limits, pieces};
use serde::Serialize;
use tooltrail_model::changes::net::{FileNet, ListedFile, NetPart, listed};
use tooltrail_model::changes::unified::{self, PatchNames};
use tooltrail_model::changes::{FileText, Strength};
use tooltrail_model::patch::Hunk;
use tooltrail_model::row::VERSION;
use tooltrail_model::transcript::Level;

/// Net change to a file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Created.
    Added,
    /// Deleted.
    Deleted,
    /// Renamed.
    Renamed,
    /// Edited.
    Modified,
    /// Changed and changed back.
    ChangedBack,
    /// Changed, but the logs do not have all of its text.
    Partial,
}

/// A changed file as JSON; docs/json.md documents the fields.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct ChangeRow {
    pub v: u32,
    pub session: String,
    pub path: String,
    pub moved_from: Option<String>,
    pub moved_to: Option<String>,
    pub fate: ChangeKind,
    pub added: u64,
    pub removed: u64,
    pub calls: Vec<String>,
    pub strength: Option<Strength>,
    pub evidence: Vec<ChangeEvidenceRow>,
    pub parts: Vec<PartRow>,
}

/// Evidence for a change of a file by one call, as JSON.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct ChangeEvidenceRow {
    pub r#ref: String,
    pub strength: Strength,
    pub file: String,
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

/// A part of a change, as JSON.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct PartRow {
    pub part: &'static str,
    pub calls: Vec<String>,
    pub between: Option<[String; 2]>,
    pub diff: Option<String>,
}

/// Changed files as sections.
pub fn blocks(files: &[FileNet], names: &PatchNames<'_>, limits: &Limits) -> Vec<Block> {
    listed(files).into_iter().map(|listed| section(listed, names, limits)).collect()
}

/// Added and removed lines of all listed files, without changes from outside.
pub fn counts(files: &[FileNet]) -> LineCounts {
    listed(files).into_iter().map(of).fold(LineCounts::default(), LineCounts::and)
}

/// Changed files as JSON.
pub fn rows(files: &[FileNet], session: &str, names: &PatchNames<'_>) -> Vec<ChangeRow> {
    listed(files).into_iter().map(|listed| row(listed, session, names)).collect()
}

/// Number of files with a gap: a change from outside, or a text that the logs do not have.
pub fn gaps(files: &[FileNet]) -> u64 {
    listed(files).iter().filter(|listed| listed.has_gap()).count() as u64
}

fn text(known: &FileText) -> &str {
    known.as_text().unwrap_or_default()
}

pub(crate) fn of(listed: ListedFile<'_>) -> LineCounts {
    let (added, removed) = listed.lines();
    LineCounts { added, removed }
}

pub(crate) fn fate(listed: ListedFile<'_>) -> ChangeKind {
    // A rename wins over everything else, even if the text changed too.
    let ListedFile::File(file) = listed else { return ChangeKind::Renamed };
    if file.is_back() {
        return ChangeKind::ChangedBack;
    }
    match file.ends() {
        Some((FileText::Absent, FileText::Text(_))) => ChangeKind::Added,
        Some((_, FileText::Absent)) => ChangeKind::Deleted,
        Some(_) => ChangeKind::Modified,
        // The text is unknown, but that the file is gone is known.
        None if matches!(file.parts.last(), Some(NetPart::Pieces { after: FileText::Absent, .. })) => ChangeKind::Deleted,
        None => ChangeKind::Partial,
    }
}

/// Words for the change to the file; nothing for an ordinary edit.
pub(crate) fn words(fate: ChangeKind) -> Option<&'static str> {
    match fate {
        ChangeKind::Added => Some("new file"),
        ChangeKind::Deleted => Some("deleted"),
        ChangeKind::ChangedBack => Some("no net change"),
        ChangeKind::Renamed | ChangeKind::Modified | ChangeKind::Partial => None,
    }
}

/// Calls that made the changes, each once.
fn calls(listed: ListedFile<'_>, names: &PatchNames<'_>) -> Vec<String> {
    by(listed).into_iter().map(|by| (names.call)(by)).collect()
}

/// Indexes of the calls that made the changes.
pub(crate) fn by(listed: ListedFile<'_>) -> Vec<usize> {
    let mut all = match listed {
        ListedFile::File(file) => file.by(),
        ListedFile::Renamed { old, new, .. } => [old.by(), new.by()].concat(),
    };
    all.sort_unstable();
    all.dedup();
    all
}

fn section(listed: ListedFile<'_>, names: &PatchNames<'_>, limits: &Limits) -> Block {
    let (file, to) = match listed {
        ListedFile::File(file) => (file, None),
        ListedFile::Renamed { old, new, .. } => (old, Some(&new.path)),
    };
    let mut label = Line::of(Class::Path, &(names.path)(&file.path));
    if let Some(to) = to {
        label = label.with(Class::Plain, " → ").with(Class::Path, &(names.path)(to));
    }
    let counts = of(listed);
    if counts != LineCounts::default() {
        label.push(Class::Plain, "  ");
        // Runs are copied one by one to keep their classes.
        counts.line(true).runs().iter().for_each(|run| label.push(run.class, run.text()));
    }
    if let Some(words) = words(fate(listed)) {
        label.push(Class::Dim, &format!(" · {words}"));
    }
    // A change that is in no log is worth a word here, before the gap is explained below.
    let is_unknown = |part: &NetPart| matches!(part, NetPart::Pieces { hunks, .. } if hunks.is_empty());
    let unknown = matches!(listed, ListedFile::File(file) if file.parts.iter().any(is_unknown));
    if let Some(words) = strength(listed).and_then(Strength::label) {
        label.push(Class::Dim, &format!(" · {words}{}", if unknown { ", text unknown" } else { "" }));
    }
    label.push(Class::Dim, &format!("  {}", calls(listed, names).join(" ")));
    let body = match listed {
        ListedFile::File(file) => parts(file, names, limits),
        ListedFile::Renamed { new, before, after, .. } => between(&new.path, before, after, limits, "Renamed without changes."),
    };
    Block::Section { label, open: true, body }
}

/// Parts of a file's history, in order.
fn parts(file: &FileNet, names: &PatchNames<'_>, limits: &Limits) -> Vec<Block> {
    let mut out = Vec::new();
    if let Some(from) = &file.moved_from {
        out.push(notice(Level::Info, format!("Renamed from {}.", (names.path)(from)).as_str()));
    }
    for part in &file.parts {
        match part {
            NetPart::Net { before, after, .. } => {
                // Without hunks the two texts are equal, or both are empty.
                let same = if before == after { "No net change." } else { "The file is empty." };
                out.extend(between(&file.path, before, after, limits, same));
            }
            NetPart::Outside { before, after, by, last, next } => {
                out.extend(outside(&file.path, (before, after), by, (*last, *next), names, limits))
            }
            NetPart::Pieces { hunks, after, moved, by } => {
                out.push(notice(Level::Warning, format!("{} {}.", (names.call)(*by), unified::missing(after, *moved)).as_str()));
                // The text after is the best there is if the change itself is unknown.
                match after.as_text().filter(|_| hunks.is_empty()) {
                    Some(text) => out.push(pieces::file(&file.path, Some(1), text, limits)),
                    None => out.extend((!hunks.is_empty()).then(|| changes(&file.path, hunks, limits))),
                }
            }
        }
    }
    if let Some(to) = &file.moved_to {
        out.push(notice(Level::Info, format!("Renamed to {}.", (names.path)(to)).as_str()));
    }
    out
}

/// Difference of two texts. `same` is the remark where there is none.
fn between(path: &str, before: &FileText, after: &FileText, limits: &Limits, same: &str) -> Vec<Block> {
    let hunks = unified::hunks(text(before), text(after));
    if hunks.is_empty() {
        return vec![notice(Level::Info, same)];
    }
    let mut out = vec![changes(path, &hunks, limits)];
    out.extend(ending_remark(&hunks, before, after).map(|remark| notice(Level::Info, remark)));
    out
}

/// Remark on a line feed at the end that came or went.
pub(crate) fn ending_remark(hunks: &[Hunk], before: &FileText, after: &FileText) -> Option<&'static str> {
    // A missing line feed at the end is invisible in a diff, so a remark says it.
    let ends = |unended: fn(&Hunk) -> bool| hunks.last().is_some_and(unended);
    let (old, new) = (ends(|hunk| hunk.old_unended), ends(|hunk| hunk.new_unended));
    let remark = match (old, new) {
        (false, true) => Some("No newline at end of file any more."),
        (true, false) if after.as_text().is_some() => Some("Newline added at end of file."),
        _ => None,
    };
    // A new file without one needs no remark: nothing was lost.
    remark.filter(|_| before.as_text().is_some_and(|text| !text.is_empty()))
}

/// A change from outside the session.
pub(crate) fn outside(
    path: &str,
    texts: (&FileText, &FileText),
    by: &[usize],
    around: (usize, usize),
    names: &PatchNames<'_>,
    limits: &Limits,
) -> Vec<Block> {
    let (last, next) = ((names.call)(around.0), (names.call)(around.1));
    let who = if by.is_empty() {
        format!("Changed outside {} between {last} and {next}", names.whole)
    } else {
        let others: Vec<String> = by.iter().map(|by| (names.call)(*by)).collect();
        format!("Changed by {} between {last} and {next}", others.join(", "))
    };
    if !texts.0.is_known() || !texts.1.is_known() {
        return vec![notice(Level::Warning, format!("{who}; the logs do not contain the change.").as_str())];
    }
    // In a section of its own, so that it is not taken for the session's own change.
    let body = between(path, texts.0, texts.1, limits, "The file is empty.");
    vec![Block::Section { label: Line::of(Class::Bad, &format!("! {who}:")), open: true, body }]
}

fn row(listed: ListedFile<'_>, session: &str, names: &PatchNames<'_>) -> ChangeRow {
    let (path, moved_from, moved_to) = match listed {
        ListedFile::File(file) => (&file.path, file.moved_from.clone(), file.moved_to.clone()),
        // As in Git, a renamed file is listed under its new path.
        ListedFile::Renamed { old, new, .. } => (&new.path, Some(old.path.clone()), None),
    };
    let counts = of(listed);
    let parts = match listed {
        ListedFile::File(file) => file.parts.iter().map(|part| part_row(part, file, names)).collect(),
        ListedFile::Renamed { old, new, before, after } => {
            let diff = diff(before, after, &(names.path)(&old.path), &(names.path)(&new.path));
            vec![PartRow { part: "net", calls: calls(listed, names), between: None, diff }]
        }
    };
    ChangeRow {
        v: VERSION,
        session: session.to_owned(),
        path: path.clone(),
        moved_from,
        moved_to,
        fate: fate(listed),
        added: counts.added,
        removed: counts.removed,
        calls: calls(listed, names),
        strength: strength(listed),
        evidence: evidence(listed, names),
        parts,
    }
}

/// The weakest evidence for any of a file's changes.
pub(crate) fn strength(listed: ListedFile<'_>) -> Option<Strength> {
    match listed {
        ListedFile::File(file) => file.strength(),
        ListedFile::Renamed { old, new, .. } => old.strength().max(new.strength()),
    }
}

/// The evidence of each call.
fn evidence(listed: ListedFile<'_>, names: &PatchNames<'_>) -> Vec<ChangeEvidenceRow> {
    let mut all = match listed {
        ListedFile::File(file) => file.evidence.clone(),
        ListedFile::Renamed { old, new, .. } => [&*old.evidence, &*new.evidence].concat(),
    };
    all.sort_unstable();
    all.dedup();
    let row = |(by, strength): (usize, Strength)| {
        let place = (names.place)(by).unwrap_or_default();
        ChangeEvidenceRow { r#ref: (names.call)(by), strength, file: place.file, line: place.line, row: place.row }
    };
    all.into_iter().map(row).collect()
}

fn diff(before: &FileText, after: &FileText, old: &str, new: &str) -> Option<String> {
    let mut out = String::new();
    unified::diff(&mut out, before, after, old, new);
    Some(out).filter(|text| !text.is_empty())
}

fn part_row(part: &NetPart, file: &FileNet, names: &PatchNames<'_>) -> PartRow {
    let path = (names.path)(&file.path);
    let cite = |by: &[usize]| by.iter().map(|by| (names.call)(*by)).collect::<Vec<_>>();
    match part {
        NetPart::Net { before, after, by } => {
            PartRow { part: "net", calls: cite(by), between: None, diff: diff(before, after, &path, &path) }
        }
        NetPart::Outside { before, after, by, last, next } => {
            let between = Some([(names.call)(*last), (names.call)(*next)]);
            PartRow { part: "outside", calls: cite(by), between, diff: diff(before, after, &path, &path) }
        }
        NetPart::Pieces { hunks, by, .. } => {
            let pieces = unified::pieces(hunks);
            PartRow { part: "pieces", calls: cite(&[*by]), between: None, diff: Some(pieces).filter(|text| !text.is_empty()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(before: FileText, after: FileText, by: &[usize]) -> NetPart {
        NetPart::Net { before, after, by: by.to_vec() }
    }

    fn file(path: &str, parts: Vec<NetPart>) -> FileNet {
        FileNet { path: path.to_owned(), moved_from: None, moved_to: None, parts, evidence: Vec::new() }
    }

    fn label(files: &[FileNet]) -> Vec<String> {
        let names =
            PatchNames { path: &str::to_owned, left_out: &|_| None, call: &|by| format!("#{by}"), place: &|_| None, whole: "this session" };
        let label = |block: Block| if let Block::Section { label, .. } = block { label.text() } else { String::new() };
        blocks(files, &names, &Limits::PAGE).into_iter().map(label).collect()
    }

    #[test]
    fn a_file_is_told_in_a_line() {
        let (one, two) = (FileText::text("a\nb\n"), FileText::text("a\nc\nd\n"));
        assert_eq!(label(&[file("x", vec![net(one.clone(), two.clone(), &[1, 2])])]), ["x  +2 −1  #1 #2"]);
        assert_eq!(label(&[file("x", vec![net(FileText::Absent, one.clone(), &[1])])]), ["x  +2 −0 · new file  #1"]);
        assert_eq!(label(&[file("x", vec![net(one.clone(), FileText::Absent, &[1])])]), ["x  +0 −2 · deleted  #1"]);
        assert_eq!(label(&[file("x", vec![net(one.clone(), one.clone(), &[1, 2])])]), ["x · no net change  #1 #2"]);
        let old = FileNet { moved_to: Some("y".into()), ..file("x", vec![net(one, FileText::Absent, &[3])]) };
        let new = FileNet { moved_from: Some("x".into()), ..file("y", vec![net(FileText::Absent, two, &[3])]) };
        assert_eq!(label(&[old, new]), ["x → y  +2 −1  #3"]);
    }

    #[test]
    fn weaker_evidence_is_named() {
        let pieces = NetPart::Pieces { hunks: Vec::new(), after: FileText::Unknown, moved: false, by: 1 };
        let told = |part: &NetPart, strength| label(&[FileNet { evidence: vec![(1, strength)], ..file("x", vec![part.clone()]) }]);
        assert_eq!(told(&pieces, Strength::Touched), ["x · by shell command, text unknown  #1"]);
        assert_eq!(told(&pieces, Strength::Observed), ["x · changed while the command ran, text unknown  #1"]);
        let known = net(FileText::text("a\n"), FileText::text("b\n"), &[1]);
        assert_eq!(told(&known, Strength::Observed), ["x  +1 −1 · changed while the command ran  #1"]);
        // A diff without the rest of the file is known all the same.
        let (one, two) = (FileText::text("a\n"), FileText::text("b\n"));
        let hunks = unified::hunks(one.as_text().unwrap_or_default(), two.as_text().unwrap_or_default());
        let pieces = NetPart::Pieces { hunks, after: FileText::Unknown, moved: false, by: 1 };
        assert_eq!(told(&pieces, Strength::Observed), ["x  +1 −1 · changed while the command ran  #1"]);
        assert_eq!(told(&known, Strength::Written), ["x  +1 −1  #1"]);
    }

    #[test]
    fn gaps_are_told_where_they_are() {
        let text = |text: &str| FileText::text(text);
        let outside = |after: FileText| NetPart::Outside { before: text("b"), after, by: Vec::new(), last: 1, next: 2 };
        let pieces = NetPart::Pieces { hunks: Vec::new(), after: FileText::Unknown, moved: false, by: 2 };
        let told = |parts: Vec<NetPart>| {
            let names = PatchNames {
                path: &str::to_owned,
                left_out: &|_| None,
                call: &|by| format!("#{by}"),
                place: &|_| None,
                whole: "this session",
            };
            let files = [file("x", parts)];
            let Some(Block::Section { body, .. }) = blocks(&files, &names, &Limits::PAGE).pop() else { return Vec::new() };
            let word = |block: &Block| match block {
                Block::Notice { text, .. } | Block::Section { label: text, .. } => text.text(),
                _ => "diff".to_owned(),
            };
            body.iter().map(word).collect::<Vec<_>>()
        };
        let both = told(vec![net(text("a"), text("b"), &[1]), outside(text("c")), net(text("c"), text("d"), &[2])]);
        assert_eq!(both, ["diff", "! Changed outside this session between #1 and #2:", "diff"]);
        let unknown = told(vec![net(text("a"), text("b"), &[1]), outside(FileText::Unknown), pieces]);
        let words = "Changed outside this session between #1 and #2; the logs do not contain the change.";
        assert_eq!(unknown, ["diff", words, "#2 changed it; the logs do not have all of its text."]);
        let pieces = || NetPart::Pieces { hunks: Vec::new(), after: FileText::Unknown, moved: false, by: 2 };
        assert_eq!(gaps(&[file("x", vec![pieces(), pieces()]), file("y", vec![pieces()]), file("z", Vec::new())]), 2);
        // A rename has no gap, even of a text that the logs do not have.
        let moved = |after: FileText| vec![NetPart::Pieces { hunks: Vec::new(), after, moved: true, by: 2 }];
        let old = FileNet { moved_to: Some("y".into()), ..file("x", moved(FileText::Absent)) };
        let new = FileNet { moved_from: Some("x".into()), ..file("y", moved(FileText::Unknown)) };
        assert_eq!(gaps(&[old.clone(), new.clone()]), 0);
        assert_eq!((label(&[old.clone(), new]), gaps(&[old])), (vec!["x → y  #2".to_owned()], 1));
        assert_eq!(told(vec![net(text("a\n"), text("a"), &[1])]), ["diff", "No newline at end of file any more."]);
    }
}
