//! What happens to logs: one thing at a time, told by numbers so that any list of them makes sense.

use crate::support::demo;
use proptest::prelude::*;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tooltrail_formats::find;

/// Something that happens to the logs. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// A line of some log is added to a log, as an agent does it.
    Append(usize, usize),
    /// So many parts of 256 are left.
    Truncate(usize, u8),
    /// Another file takes its place.
    Replace(usize, usize),
    /// A file of the same size and time, with one byte that is another, takes its place.
    Swap(usize, usize),
    /// One byte is overwritten where it stands.
    Overwrite(usize, usize),
    /// It gets another name.
    Rename(usize, u8),
    /// It is moved to another project under its own name.
    Move(usize, u8),
    Delete(usize),
    /// It is put away, to come back.
    Away(usize),
    /// What was put away comes back.
    Back,
    /// A log of the demo, where it belongs.
    Add(usize),
    /// The same under another name: a copy, if the other one is there.
    Copy(usize, u8),
    /// The small file beside a log is written.
    Beside(usize, u8),
    /// The small file beside a log is removed.
    Bare(usize),
    /// A log that repeats what two others tell: the beginning of one, the end of the other.
    Join(usize, usize, u8),
    /// All such logs are removed.
    Part,
    /// A log that gives a record of another one a title.
    Summary(usize, u8),
    /// A file that is no agent's log.
    Foreign(u8),
    /// The catalogue is closed and opened again.
    Reopen,
    /// The catalogue is refreshed in the middle.
    Refresh,
}

/// Any of them.
pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let which = any::<usize>;
    let byte = any::<u8>;
    prop_oneof![
        4 => (which(), which()).prop_map(|(file, line)| Edit::Append(file, line)),
        2 => (which(), byte()).prop_map(|(file, part)| Edit::Truncate(file, part)),
        2 => (which(), which()).prop_map(|(file, with)| Edit::Replace(file, with)),
        2 => (which(), which()).prop_map(|(file, at)| Edit::Swap(file, at)),
        1 => (which(), which()).prop_map(|(file, at)| Edit::Overwrite(file, at)),
        1 => (which(), byte()).prop_map(|(file, name)| Edit::Rename(file, name)),
        2 => (which(), byte()).prop_map(|(file, project)| Edit::Move(file, project)),
        2 => which().prop_map(Edit::Delete),
        1 => which().prop_map(Edit::Away),
        1 => Just(Edit::Back),
        2 => which().prop_map(Edit::Add),
        2 => (which(), byte()).prop_map(|(with, name)| Edit::Copy(with, name)),
        2 => (which(), byte()).prop_map(|(file, text)| Edit::Beside(file, text)),
        1 => which().prop_map(Edit::Bare),
        3 => (which(), which(), byte()).prop_map(|(one, other, name)| Edit::Join(one, other, name)),
        1 => Just(Edit::Part),
        2 => (which(), byte()).prop_map(|(file, title)| Edit::Summary(file, title)),
        1 => byte().prop_map(Edit::Foreign),
        1 => Just(Edit::Reopen),
        5 => Just(Edit::Refresh),
    ]
}

/// Logs that things happen to.
pub(crate) struct World {
    home: tempfile::TempDir,
    /// Where logs are that were put away.
    away: tempfile::TempDir,
    /// The logs of the demo: where they belong, and what they hold.
    pool: Vec<(PathBuf, Vec<u8>)>,
}

impl World {
    /// Every so-many-th log of the demo.
    pub(crate) fn new(step: usize) -> Self {
        let pool = find::in_paths(&[demo()]).files.into_iter();
        let pool = pool.map(|found| (found.path.strip_prefix(demo()).unwrap().to_owned(), fs::read(&found.path).unwrap())).collect();
        let world = World { home: tempfile::tempdir().unwrap(), away: tempfile::tempdir().unwrap(), pool };
        (0..world.pool.len()).step_by(step).for_each(|number| world.apply(&Edit::Add(number)));
        world
    }

    pub(crate) fn root(&self) -> &Path {
        self.home.path()
    }

    /// The logs that are there.
    pub(crate) fn logs(&self) -> Vec<PathBuf> {
        logs(self.root())
    }

    /// A log of the demo: where it belongs, and what it holds.
    fn demo(&self, number: usize) -> (PathBuf, &[u8]) {
        let (path, content) = pick(&self.pool, number).unwrap();
        (self.root().join(path), content)
    }

    /// The path of a log of this name in a directory of its own.
    fn named(&self, directory: &str, name: u8) -> PathBuf {
        self.root().join(format!("projects/{directory}/{name}.jsonl"))
    }

    /// Does what is told, as far as there is something to do it to.
    pub(crate) fn apply(&self, edit: &Edit) {
        let logs = self.logs();
        let file = |number: usize| pick(&logs, number);
        match *edit {
            Edit::Add(with) => {
                let (path, content) = self.demo(with);
                put(&path, content);
            }
            Edit::Copy(with, name) => put(&self.named("added", name), self.demo(with).1),
            Edit::Foreign(name) => put(&self.named("foreign", name), b"{\"hello\":\"world\"}\n"),
            Edit::Join(one, other, name) => put(&self.named("forks", name), &joined(self.demo(one).1, self.demo(other).1)),
            Edit::Part => drop(fs::remove_dir_all(self.root().join("projects/forks"))),
            Edit::Back => {
                for path in self::logs(self.away.path()) {
                    give(&path, &self.root().join(path.strip_prefix(self.away.path()).unwrap()));
                }
            }
            Edit::Append(number, line) => {
                if let Some(path) = file(number) {
                    append(path, pick(&lines(self.demo(line).1), line / 7).unwrap());
                }
            }
            Edit::Replace(number, with) => {
                if let Some(path) = file(number) {
                    replace(path, self.demo(with).1);
                }
            }
            Edit::Truncate(number, _)
            | Edit::Swap(number, _)
            | Edit::Overwrite(number, _)
            | Edit::Rename(number, _)
            | Edit::Move(number, _)
            | Edit::Delete(number)
            | Edit::Away(number)
            | Edit::Beside(number, _)
            | Edit::Bare(number)
            | Edit::Summary(number, _) => {
                if let Some(path) = file(number) {
                    self.change(edit, path);
                }
            }
            Edit::Reopen | Edit::Refresh => {}
        }
    }

    /// Does what is told to one log.
    fn change(&self, edit: &Edit, path: &Path) {
        match *edit {
            Edit::Truncate(_, part) => {
                let length = fs::metadata(path).unwrap().len();
                File::options().write(true).open(path).unwrap().set_len(length * u64::from(part) / 256).unwrap();
            }
            Edit::Swap(_, at) => {
                let time = fs::metadata(path).unwrap().modified().unwrap();
                replace(path, &with_a_letter(path, at));
                File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
            }
            Edit::Overwrite(_, at) => fs::write(path, with_a_letter(path, at)).unwrap(),
            Edit::Rename(_, name) => give(path, &self.named("renamed", name)),
            Edit::Move(_, project) => {
                give(path, &self.root().join(format!("projects/-srv-{}", project % 3)).join(path.file_name().unwrap()));
            }
            Edit::Delete(_) => fs::remove_file(path).unwrap(),
            Edit::Away(_) => give(path, &self.away.path().join(path.strip_prefix(self.root()).unwrap())),
            Edit::Beside(_, number) => {
                // Names the call that started a subagent, and gives a session a title.
                let above = path.ancestors().nth(2).map(|session| session.with_extension("jsonl")).filter(|session| session.is_file());
                let call = text_after(above.as_deref().unwrap_or(path), "\"tool_use\",\"id\":\"", number).unwrap_or_default();
                let call = format!("{{\"toolUseId\":\"{call}\"}}");
                let title = format!("{{\"customTitle\":\"t{number}\"}}");
                let is_agent = path.file_name().unwrap().to_string_lossy().starts_with("agent-");
                put(&beside(path), if is_agent { call } else { title }.as_bytes());
            }
            Edit::Bare(_) => drop(fs::remove_file(beside(path))),
            Edit::Summary(_, title) => {
                let leaf = text_after(path, "\"uuid\":\"", title).unwrap_or_default();
                let record = format!("{{\"type\":\"summary\",\"summary\":\"title {title}\",\"leafUuid\":\"{leaf}\"}}\n");
                put(&self.named("summaries", title), record.as_bytes());
            }
            _ => {}
        }
    }
}

fn logs(root: &Path) -> Vec<PathBuf> {
    find::in_paths(&[root.to_owned()]).files.into_iter().map(|found| found.path).collect()
}

fn pick<T>(all: &[T], number: usize) -> Option<&T> {
    all.get(number.checked_rem(all.len())?)
}

/// The lines of a log, with their ends.
pub(crate) fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|&byte| byte == b'\n').collect()
}

fn put(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Adds to a log.
pub(crate) fn append(path: &Path, bytes: &[u8]) {
    std::io::Write::write_all(&mut File::options().append(true).open(path).unwrap(), bytes).unwrap();
}

/// Puts another file in the place of a log.
pub(crate) fn replace(path: &Path, content: &[u8]) {
    let new = path.with_extension("new");
    fs::write(&new, content).unwrap();
    fs::rename(new, path).unwrap();
}

fn give(path: &Path, other: &Path) {
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::rename(path, other).unwrap();
}

fn beside(path: &Path) -> PathBuf {
    tooltrail_formats::FORMATS.iter().flat_map(|format| format.sidecars(path)).next().unwrap()
}

/// What a log holds, with one letter instead of what was there.
fn with_a_letter(path: &Path, at: usize) -> Vec<u8> {
    let mut all = fs::read(path).unwrap();
    if let Some(index) = at.checked_rem(all.len()) {
        all[index] = b'x';
    }
    all
}

/// The beginning of one log and the end of another.
fn joined(one: &[u8], other: &[u8]) -> Vec<u8> {
    let (one, other) = (lines(one), lines(other));
    [one[..one.len() * 2 / 3].concat(), other[other.len() / 3..].concat()].concat()
}

/// One of the texts in a log that stand after a key.
fn text_after(path: &Path, key: &str, number: u8) -> Option<String> {
    let content = fs::read(path).unwrap();
    let text = String::from_utf8_lossy(&content);
    let all: Vec<&str> = text.split(key).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    pick(&all, usize::from(number)).map(|text| (*text).to_owned())
}
