//! The files that a session changed, without their texts: what the page of changes lists, kept as long as the session is open.
//!
//! Finding out which calls changed which files opens many calls; a single file is quickly replayed again when a page shows it.

use tooltrail_formats::changes::ChangeGroups;
use tooltrail_formats::changes::report::{CallSelection, PathStyle, with_names};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Book;
use tooltrail_model::changes::net::{FileNet, ListedFile, NetPart, NetSize, listed, net, sizes};
use tooltrail_model::changes::unified::PatchNames;
use tooltrail_model::changes::{FileText, Step};
use tooltrail_model::patch::PatchLine;
use tooltrail_view::review::{ReviewFacts, ReviewSteps};
use xxhash_rust::xxh3::Xxh3;

/// Files in the order in which they are listed: by directory, those of the project's own directory last.
pub struct ChangeIndex {
    groups: ChangeGroups,
    /// The files.
    pub files: Vec<IndexedFile>,
    /// The size of all changes.
    pub size: NetSize,
}

/// A changed file.
pub struct IndexedFile {
    group: usize,
    /// Its place in the group.
    place: usize,
    /// Facts about it.
    pub facts: ReviewFacts,
    /// Hash of the change: a reader who has seen it need not see it again.
    pub hash: u64,
}

impl IndexedFile {
    /// The directory that it is listed in; empty for the project's own.
    pub fn directory(&self) -> &str {
        self.facts.last_path().rsplit_once('/').map_or("", |(directory, _)| directory)
    }
}

impl ChangeIndex {
    /// Finds out what changed.
    pub fn read(book: &SessionBook<'_>) -> Self {
        let groups = ChangeGroups::read(book);
        let mut index = ChangeIndex { groups, files: Vec::new(), size: NetSize::default() };
        with_names(book, PathStyle::Shown, None, |names| {
            let mut all = Vec::new();
            for group in 0..index.groups.len() {
                let (_, files) = index.group(book, group);
                all.extend(sizes(&files));
                let indexed = listed(&files).into_iter().enumerate().map(|(place, listed)| IndexedFile {
                    group,
                    place,
                    facts: ReviewFacts::of(listed, names),
                    hash: hash(listed),
                });
                index.files.extend(indexed);
            }
            index.size = NetSize::of(&all);
        });
        index.files.sort_by(|one, other| {
            let key = |file: &IndexedFile| (file.directory().is_empty(), file.directory().to_owned(), file.facts.last_path().to_owned());
            key(one).cmp(&key(other))
        });
        index
    }

    /// The steps of a group, and what they amount to.
    fn group(&self, book: &SessionBook<'_>, group: usize) -> (Vec<Step>, Vec<FileNet>) {
        let which = CallSelection::default();
        let steps = self.groups.steps(book, group);
        let files = net(&steps, |by| which.takes(book, by));
        (steps, files)
    }

    /// Shows a file, with the steps that changed it. `None` if its log is not what it was.
    pub fn show<T>(
        &self,
        book: &SessionBook<'_>,
        file: &IndexedFile,
        show: impl FnOnce(ListedFile<'_>, ReviewSteps<'_>, &PatchNames<'_>) -> T,
    ) -> Option<T> {
        let which = CallSelection::default();
        let (steps, files) = self.group(book, file.group);
        let shown = listed(&files).get(file.place).copied()?;
        let takes = |by: usize| which.takes(book, by);
        // Numbers identify calls within one session.
        let number = |by: usize| book.transcript().calls.get(by).map(|call| format!("#{}", call.number)).unwrap_or_default();
        Some(with_names(book, PathStyle::Shown, None, |names| {
            let names = PatchNames { path: names.path, left_out: names.left_out, call: &number, place: names.place, whole: names.whole };
            show(shown, ReviewSteps { steps: &steps, takes: &takes }, &names)
        }))
    }
}

/// Hash of a file's change: its names and its texts.
fn hash(listed: ListedFile<'_>) -> u64 {
    let mut hash = Xxh3::new();
    let mut add = |text: &str| {
        hash.update(&text.len().to_le_bytes());
        hash.update(text.as_bytes());
    };
    let known = |text: &FileText| match text {
        FileText::Unknown => "?".to_owned(),
        FileText::Absent => "-".to_owned(),
        FileText::Text(text) => format!("={text}"),
    };
    add(listed.path());
    let files = match listed {
        ListedFile::File(file) => vec![file],
        ListedFile::Renamed { old, new, .. } => vec![old, new],
    };
    for part in files.iter().flat_map(|file| &file.parts) {
        match part {
            NetPart::Net { before, after, .. } | NetPart::Outside { before, after, .. } => {
                add(&known(before));
                add(&known(after));
            }
            NetPart::Pieces { hunks, after, .. } => {
                add(&known(after));
                for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
                    let (PatchLine::Same(text) | PatchLine::Added(text) | PatchLine::Removed(text)) = line;
                    add(text);
                }
            }
        }
    }
    hash.digest()
}
