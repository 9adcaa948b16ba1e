//! A home of invented logs, and the changes made to them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::dice::Dice;

/// Directory of the projects' logs.
const PROJECTS: &str = ".claude/projects";

/// A home, with copies of its logs as they were generated.
pub(super) struct SoakHome {
    pub(super) path: PathBuf,
    spare: PathBuf,
    /// Size of the logs when they were generated.
    size: u64,
}

impl SoakHome {
    /// Takes a home that has just been filled. `spare` is where copies of its logs are kept.
    pub(super) fn new(path: PathBuf, spare: PathBuf) -> io::Result<Self> {
        let logs = logs(&path)?;
        for log in &logs {
            put(&moved(log, &path, &spare), &fs::read(log)?)?;
        }
        let size = total(&logs);
        Ok(SoakHome { path, spare, size })
    }

    /// Changes the logs at random; returns a description.
    pub(super) fn change(&self, dice: &mut Dice) -> io::Result<String> {
        // Common changes are listed twice, to be drawn more often.
        const ALL: &[LogChange] = &[append, append, truncate, replace, shift, delete, delete, add, add, copy];
        let logs = logs(&self.path)?;
        // The logs must neither vanish nor fill the disk.
        let change = match total(&logs) {
            size if size * 2 < self.size => add,
            size if size > self.size * 2 => delete,
            _ => *dice.pick(ALL).unwrap_or(&(append as LogChange)),
        };
        let Some(log) = dice.pick(&logs) else { return add(self, Path::new(""), dice) };
        change(self, log, dice)
    }

    /// A generated log, and the path where it belongs.
    fn spare(&self, dice: &mut Dice) -> io::Result<(PathBuf, Vec<u8>)> {
        let spares = logs(&self.spare)?;
        let spare = dice.pick(&spares).ok_or_else(|| io::Error::other("no logs were made"))?;
        Ok((moved(spare, &self.spare, &self.path), fs::read(spare)?))
    }
}

/// A change to a log.
type LogChange = fn(&SoakHome, &Path, &mut Dice) -> io::Result<String>;

/// Appends some lines of another log, the last of which may be torn.
fn append(home: &SoakHome, log: &Path, dice: &mut Dice) -> io::Result<String> {
    let (_, content) = home.spare(dice)?;
    let lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
    let start = dice.below(lines.len());
    let end = (start + 1 + dice.below(20)).min(lines.len());
    let mut more = lines[start..end].concat();
    // A torn line is what a crash in the middle of a write leaves.
    if dice.below(4) == 0 {
        more.truncate(more.len() - more.len().min(40));
    }
    File::options().append(true).open(log)?.write_all(&more)?;
    Ok(format!("append {} bytes to {}", more.len(), log.display()))
}

fn truncate(_: &SoakHome, log: &Path, dice: &mut Dice) -> io::Result<String> {
    let file = File::options().write(true).open(log)?;
    let length = file.metadata()?.len() * dice.below(1000) as u64 / 1000;
    file.set_len(length)?;
    Ok(format!("cut {} to {length} bytes", log.display()))
}

/// Replaces the log by another file.
fn replace(home: &SoakHome, log: &Path, dice: &mut Dice) -> io::Result<String> {
    let (other, content) = home.spare(dice)?;
    // By renaming, so that the log becomes another file with another number.
    let new = log.with_extension("new");
    fs::write(&new, content)?;
    fs::rename(new, log)?;
    Ok(format!("replace {} by {}", log.display(), other.display()))
}

/// Moves the log to another project.
fn shift(home: &SoakHome, log: &Path, dice: &mut Dice) -> io::Result<String> {
    let other = home.path.join(PROJECTS).join(format!("-moved-{}", dice.below(3))).join(log.file_name().unwrap_or_default());
    if let Some(directory) = other.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::rename(log, &other)?;
    Ok(format!("move {} to {}", log.display(), other.display()))
}

fn delete(_: &SoakHome, log: &Path, _: &mut Dice) -> io::Result<String> {
    fs::remove_file(log)?;
    Ok(format!("delete {}", log.display()))
}

/// Adds a generated log, new or again.
fn add(home: &SoakHome, _: &Path, dice: &mut Dice) -> io::Result<String> {
    let (path, content) = home.spare(dice)?;
    put(&path, &content)?;
    Ok(format!("add {}", path.display()))
}

/// Copies a log to another name, like a fork.
fn copy(home: &SoakHome, log: &Path, dice: &mut Dice) -> io::Result<String> {
    let name = format!("copy-{}.jsonl", dice.below(10));
    let other = home.path.join(PROJECTS).join("-copies").join(name);
    put(&other, &fs::read(log)?)?;
    Ok(format!("copy {} to {}", log.display(), other.display()))
}

fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path, content)
}

/// Path of a file of one directory in another.
fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    path.strip_prefix(from).map_or_else(|_| path.to_owned(), |path| to.join(path))
}

/// The logs below a directory, sorted.
fn logs(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut open, mut found) = (vec![directory.to_owned()], Vec::new());
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                found.push(path);
            }
        }
    }
    // The order of a directory differs between systems, but a seed must give the same run.
    found.sort();
    Ok(found)
}

fn total(logs: &[PathBuf]) -> u64 {
    logs.iter().filter_map(|log| fs::metadata(log).ok()).map(|meta| meta.len()).sum()
}
