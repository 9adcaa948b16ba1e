//! Worktrees: directories in which agents and their managers check a repository out once more, recognised by their paths alone.
//!
//! A session in a worktree belongs to the repository. No path is ever looked up on the disk: a log may be anybody's. Where the path does not
//! say where the repository's own checkout lies, its worktrees share a stand-in that ends with the repository's name, so that they are one
//! project and a filter by that name finds them together with the checkout. Where the logs know the repository's address, and exactly one
//! directory of that name with that address, the model replaces the stand-in by that directory (`link/checkouts.rs`).
//!
//! | worktree | project |
//! |---|---|
//! | `REPO/.claude/worktrees/NAME`, `REPO/.worktrees/NAME`, `REPO/.conductor/NAME` | `REPO` |
//! | `BASE/worktrees/REPO/NAME/REPO` | `BASE/REPO` |
//! | `BASE/worktrees/REPO/NAME`, `conductor/workspaces/REPO/NAME` | stand-in `BASE/worktrees/REPO` |
//! | `HOME/.codex/worktrees/HASH/REPO` | stand-in `HOME/.codex/worktrees/OWNER/REPO` by the repository's address, else without the owner |

use std::borrow::Cow;
use std::ops::Range;
use tooltrail_model::event::DirectoryPlace;

/// Hidden directories inside a repository that hold its worktrees.
const INSIDE: &[&[u8]] = &[b".worktrees", b".worktree", b".conductor"];

/// A worktree: where its root ends in a path, and its project.
struct Worktree<'p> {
    root: usize,
    project: Cow<'p, [u8]>,
    /// The name of the checkout's directory, where the path does not say where that lies and the project is a stand-in.
    checkout: Option<Range<usize>>,
}

/// The place of a directory among worktrees and checkouts. `address` is the repository's own, where the log has it.
pub(crate) fn place<'p>(directory: &'p [u8], address: Option<&[u8]>) -> DirectoryPlace<'p> {
    let found = worktree(directory, address);
    let is_guess = found.as_ref().is_some_and(|found| !directory.starts_with(&found.project));
    let stand_in = found.as_ref().and_then(|found| found.checkout.clone());
    let project = found.map(|found| found.project);
    let own = project.as_deref().unwrap_or(directory);
    let name = stand_in.clone().map_or_else(|| parts(own).last().map(|part| &own[part.clone()]), |name| directory.get(name));
    // A place that the path only suggests is no proof of a checkout.
    let known = stand_in.is_some() || !is_guess;
    let repository = name.filter(|_| known).zip(owned(address)).map(|(name, owned)| [&*owned, b":", name].concat());
    DirectoryPlace { repository, project, stand_in: stand_in.is_some() }
}

/// The root of the worktree that a file lies in, if it is one of this project.
pub(crate) fn root<'p>(path: &'p str, project: Option<&str>) -> Option<&'p str> {
    let found = worktree(path.as_bytes(), None)?;
    // A stand-in for a project has the name of its checkout; the model may know that by its whole path.
    let name = found.checkout.and_then(|checkout| path.get(checkout));
    let named = |project: &str| name.is_some() && project.rsplit(['/', '\\']).next() == name;
    let own = project.is_none_or(|project| *found.project == *project.as_bytes() || named(project));
    path.get(..found.root).filter(|root| own && root.len() < path.len())
}

fn worktree<'p>(path: &'p [u8], address: Option<&[u8]>) -> Option<Worktree<'p>> {
    let parts = parts(path);
    let word = |at: usize| parts.get(at).map(|part| &path[part.clone()]);
    let end = |at: usize| parts.get(at).map(|part| part.end);
    // The last one: a repository inside a worktree may have worktrees of its own.
    (0..parts.len()).rev().find_map(|at| {
        let before = at.checked_sub(1);
        match word(at)? {
            b"worktrees" if before.and_then(word) == Some(b".claude") => {
                word(at + 1)?;
                let base = end(before?.checked_sub(1)?)?;
                Some(Worktree { root: end(at + 1)?, project: in_main(&path[..base]), checkout: None })
            }
            b"worktrees" if before.and_then(word) == Some(b".codex") => {
                let name = owned(address).unwrap_or_else(|| word(at + 2).unwrap_or_default().to_vec());
                let project = [&path[..end(at)?], &path[end(at)?..parts.get(at + 1)?.start], &name].concat();
                Some(Worktree { root: end(at + 2)?, project: Cow::Owned(project), checkout: parts.get(at + 2).cloned() })
            }
            // Below a home directory it is a place for worktrees of all repositories.
            inside if INSIDE.contains(&inside) && before.is_some_and(|base| !is_home(path, &parts[..=base])) => {
                Some(Worktree { root: end(at + 1)?, project: in_main(&path[..end(before?)?]), checkout: None })
            }
            b"worktrees" | b".worktrees" => central(path, &parts, at),
            b"workspaces" if before.and_then(word) == Some(b"conductor") => central(path, &parts, at),
            _ => None,
        }
    })
}

/// A worktree in a place that has those of several repositories, each in a directory of its own.
fn central<'p>(path: &'p [u8], parts: &[Range<usize>], at: usize) -> Option<Worktree<'p>> {
    let (repository, name) = (parts.get(at + 1)?, parts.get(at + 2)?);
    let word = |part: &Range<usize>| &path[part.clone()];
    match (at.checked_sub(1).and_then(|base| parts.get(base)), parts.get(at + 3)) {
        // The repository's name once more: the place lies beside the checkouts, which have that name as well.
        (Some(base), Some(again)) if word(again) == word(repository) && !word(base).starts_with(b".") => {
            let project = [&path[..base.end], &path[base.end..parts[at].start], word(repository)].concat();
            Some(Worktree { root: again.end, project: Cow::Owned(project), checkout: None })
        }
        (_, again) => {
            let root = again.filter(|again| word(again) == word(repository)).unwrap_or(name).end;
            Some(Worktree { root, project: Cow::Borrowed(&path[..repository.end]), checkout: Some(repository.clone()) })
        }
    }
}

/// A directory of a repository; if that is in a worktree itself, the same place in the repository of that one.
fn in_main(path: &[u8]) -> Cow<'_, [u8]> {
    match worktree(path, None) {
        // Each step makes the path shorter, so this ends.
        Some(outer) if outer.root <= path.len() && outer.project.len() < outer.root => {
            Cow::Owned([&*outer.project, &path[outer.root..]].concat())
        }
        _ => Cow::Borrowed(path),
    }
}

/// The places of a path's parts.
fn parts(path: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = memchr::memchr2_iter(b'/', b'\\', path).chain([path.len()]);
    let all = ends.map(|end| std::mem::replace(&mut start, end + 1)..end);
    all.filter(|part| !part.is_empty()).collect()
}

/// Whether a path is a home directory: `/home/ada`, `/Users/ada`, `/root`, `C:\Users\ada`, or a shortened `~`.
fn is_home(path: &[u8], parts: &[Range<usize>]) -> bool {
    let words: Vec<&[u8]> = parts.iter().map(|part| &path[part.clone()]).collect();
    match words.as_slice() {
        [b"root" | b"~"] | [b"home" | b"Users", _] => true,
        [drive, b"Users", _] => drive.ends_with(b":"),
        _ => false,
    }
}

/// `owner/name` at the end of a repository's address: `https://github.com/acme/api.git`, `git@github.com:acme/api`.
fn owned(address: Option<&[u8]>) -> Option<Vec<u8>> {
    let address = address?;
    let address = address.strip_suffix(b"/").unwrap_or(address);
    let address = address.strip_suffix(b".git").unwrap_or(address);
    let mut parts = address.rsplit(|byte| matches!(byte, b'/' | b':')).filter(|part| !part.is_empty());
    let (name, owner) = (parts.next()?, parts.next()?);
    Some([owner, b"/", name].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(directory: &str, address: Option<&str>) -> Option<String> {
        place(directory.as_bytes(), address.map(str::as_bytes)).project.map(|found| String::from_utf8_lossy(&found).into_owned())
    }

    #[test]
    fn worktrees_belong_to_their_repository() {
        for (directory, address, wanted) in [
            ("/srv/app/.claude/worktrees/agile-otter", None, "/srv/app"),
            ("/srv/app/.claude/worktrees/agile-otter/web", None, "/srv/app"),
            (r"C:\src\app\.claude\worktrees\x", None, r"C:\src\app"),
            ("/srv/app/.worktrees/17", None, "/srv/app"),
            ("/srv/app/.worktrees/17/src", None, "/srv/app"),
            ("/srv/app/.conductor/hangzhou", None, "/srv/app"),
            ("/srv/app/.conductor/hangzhou/lib/engine/.conductor/boise", None, "/srv/app/lib/engine"),
            ("/home/ada/.worktrees/app/fix", None, "/home/ada/.worktrees/app"),
            ("/home/ada/.cursor/worktrees/app/k3f", None, "/home/ada/.cursor/worktrees/app"),
            ("/home/ada/code/worktrees/app/warm-orbit/app", None, "/home/ada/code/app"),
            ("/home/ada/code/worktrees/app/warm-orbit", None, "/home/ada/code/worktrees/app"),
            ("/Users/ada/conductor/workspaces/app/lusaka", None, "/Users/ada/conductor/workspaces/app"),
            ("/Users/ada/.codex/worktrees/090e/app", Some("https://example.org/acme/app.git"), "/Users/ada/.codex/worktrees/acme/app"),
            ("/Users/ada/.codex/worktrees/747c/app/src", Some("git@example.org:acme/app"), "/Users/ada/.codex/worktrees/acme/app"),
            ("/Users/ada/.codex/worktrees/d185/app", None, "/Users/ada/.codex/worktrees/app"),
        ] {
            assert_eq!(project(directory, address).as_deref(), Some(wanted), "{directory}");
        }
    }

    #[test]
    fn other_directories_are_what_they_are() {
        for directory in [
            "/srv/app",
            "/srv/app/worktrees/fix",
            "/srv/worktrees",
            "/srv/app/.claude/worktrees",
            "/srv/app/.worktrees",
            "/srv/app.worktrees/x/y",
            "/home/ada/.claude",
            "/home/ada/work/app",
            "/workspaces/app/web",
            ".claude/worktrees/x",
            "",
            "/",
        ] {
            assert_eq!(project(directory, Some("https://example.org/acme/app")), None, "{directory}");
        }
    }

    #[test]
    fn worktrees_and_checkouts_share_a_name() {
        let of = |directory: &str, address: Option<&str>| {
            let place = place(directory.as_bytes(), address.map(str::as_bytes));
            (place.repository.map(|name| String::from_utf8(name).unwrap()), place.stand_in)
        };
        let (https, ssh) = (Some("https://example.org/acme/api.git"), Some("git@example.org:acme/api"));
        let name = Some("acme/api:app".to_owned());
        for (directory, address, wanted) in [
            ("/Users/ada/src/app", https, (name.clone(), false)),
            ("/Users/ada/src/app/", ssh, (name.clone(), false)),
            ("/Users/ada/.codex/worktrees/090e/app", https, (name.clone(), true)),
            ("/Users/ada/.codex/worktrees/747c/app/src", ssh, (name.clone(), true)),
            (r"C:\Users\ada\.codex\worktrees\747c\app", ssh, (name.clone(), true)),
            ("/Users/ada/conductor/workspaces/app/lusaka", https, (name.clone(), true)),
            ("/src/worktrees/app/fix", https, (name.clone(), true)),
            // The path says where the checkout lies.
            ("/Users/ada/src/app/.worktrees/17/web", https, (name.clone(), false)),
            ("/src/worktrees/app/fix/app", https, (None, false)),
            ("/Users/ada/src/app/web", https, (Some("acme/api:web".to_owned()), false)),
            ("/Users/ada/src/app", None, (None, false)),
            ("/Users/ada/.codex/worktrees/090e/app", None, (None, true)),
            ("/", https, (None, false)),
        ] {
            assert_eq!(of(directory, address), wanted, "{directory}");
        }
    }

    #[test]
    fn a_file_is_found_in_its_worktree() {
        assert_eq!(root("/srv/app/.worktrees/17/src/a.rs", None), Some("/srv/app/.worktrees/17"));
        assert_eq!(root("/Users/ada/.codex/worktrees/090e/app/src/a.rs", None), Some("/Users/ada/.codex/worktrees/090e/app"));
        assert_eq!(root("~/.codex/worktrees/090e/app/src/a.rs", None), Some("~/.codex/worktrees/090e/app"));
        assert_eq!(root("/srv/app/src/a.rs", None), None);
        // That of another project is outside.
        assert_eq!(root("/srv/app/.worktrees/17/src/a.rs", Some("/srv/app")), Some("/srv/app/.worktrees/17"));
        assert_eq!(root("/srv/app/.worktrees/17/src/a.rs", Some("/srv/web")), None);
    }
}
