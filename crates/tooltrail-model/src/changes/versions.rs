//! Versions of one file: every known text, in order of time, and gaps between them.

use super::{FileText, How, Step, Strength};

/// A row of a file's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryRow {
    /// A text, or that the file did not exist.
    Version(Version),
    /// A gap.
    Gap(Gap),
}

/// A text that the file had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its number, counted from 1.
    pub number: usize,
    /// The text; never unknown.
    pub known: FileText,
    /// Source of the text.
    pub how: How,
    /// Whether it rests on an earlier text; see [`Step::replayed`].
    pub replayed: bool,
    /// The first call or backup with this text; see `Deed::by`.
    pub by: usize,
    /// Further ones with the same text.
    pub again: Vec<usize>,
    /// Strength of the evidence, where a change made it.
    pub strength: Option<Strength>,
}

/// A gap between two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// The file changed outside of the logs before this call or backup.
    Outside(usize),
    /// This call changed it by this evidence, and the result is unknown.
    Unknown(usize, Strength),
}

/// The versions of one file, from its steps.
pub fn versions(steps: &[Step]) -> Vec<HistoryRow> {
    let mut list = VersionList::default();
    for step in steps {
        if step.outside {
            list.entries.push(HistoryRow::Gap(Gap::Outside(step.by)));
            // A text after the gap is a version again, even if it equals the one before.
            list.now = FileText::Unknown;
        }
        // The text before a change may be a version that no other step has.
        if step.changes {
            list.add(&step.before, How::Before, false, step.by, None);
        }
        match step.after {
            FileText::Unknown if step.changes => list.entries.push(HistoryRow::Gap(Gap::Unknown(step.by, step.strength))),
            _ => list.add(&step.after, step.how, step.replayed, step.by, step.changes.then_some(step.strength)),
        }
        list.now = step.after.clone();
    }
    list.entries
}

#[derive(Default)]
struct VersionList {
    entries: Vec<HistoryRow>,
    now: FileText,
    count: usize,
}

impl VersionList {
    /// Adds a text, unless it is the current one.
    fn add(&mut self, known: &FileText, how: How, replayed: bool, by: usize, strength: Option<Strength>) {
        // A missing file before anything is known about it is not a version.
        if *known == FileText::Unknown || (*known == FileText::Absent && self.count == 0) {
            return;
        }
        if *known == self.now {
            // A text before a change only confirms the version; it is not another occurrence of it.
            if let Some(HistoryRow::Version(last)) = self.entries.last_mut()
                && how != How::Before
            {
                last.again.push(by);
                // Seeing the text directly once is enough; then it rests on no other.
                last.replayed &= replayed;
            }
            return;
        }
        self.count += 1;
        let known = known.clone();
        self.now = known.clone();
        self.entries.push(HistoryRow::Version(Version { number: self.count, known, how, replayed, by, again: Vec::new(), strength }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Deed, Did, replay};
    use super::*;
    use crate::detail::{Edit, Replacement, Write};

    #[test]
    fn versions_are_told_once_and_gaps_between_them() {
        let edit = |old: &str, new: &str, original: Option<&str>| {
            let replacements = vec![Replacement { old: old.into(), new: new.into(), all: false }];
            Did::Edited(Edit { replacements, original: original.map(Into::into), ..Edit::default() })
        };
        let saw = |text: &str| Did::Saw(FileText::text(text), How::Read);
        let write = |text: &str| Did::Wrote(Write { content: text.into(), new: Some(true), ..Write::default() });
        let dids = [edit("a", "b", Some("a")), saw("b"), edit("b", "c", None), saw("x"), edit("y", "z", None), write("w")];
        let steps = replay(dids.into_iter().enumerate().map(|(by, did)| Deed { by, path: "f".into(), did }));
        let entries = versions(&steps);
        let told = entries.iter().map(|entry| match entry {
            HistoryRow::Version(version) => {
                let text = version.known.as_text().unwrap_or("-");
                format!("{} {text} {}{} {:?}", version.number, version.how.word(), if version.replayed { "~" } else { "" }, version.again)
            }
            HistoryRow::Gap(gap) => format!("{gap:?}"),
        });
        let expected = [
            "1 a before []",
            "2 b edited [1]",
            "3 c edited~ []",
            "Outside(3)",
            "4 x read []",
            "Outside(4)",
            "Unknown(4, Edited)",
            "5 - before []",
            "6 w written []",
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
}
