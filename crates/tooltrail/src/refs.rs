//! REFs: the short names of sessions and calls on the command line, and the logs that have to be read to resolve them.
//!
//! A session by its id or a beginning of it, a call by its id or as `3f2a:41`, the newest session (`newest` has those), a log file, or
//! `FILE:LINE` or `FILE:TABLE:KEY` as evidence is printed. docs/refs.md is the reference for people.

mod newest;

use crate::catalogue::Ready;
use crate::table::printable;
use anyhow::bail;
use newest::NewestSession;
use std::path::{Path, PathBuf};
use tooltrail_catalog::store::SessionListing;
use tooltrail_model::Time;
use tooltrail_model::link::{Linked, LinkedCall, Now};
use tooltrail_model::position::{file_of, split_record};
use tooltrail_model::row::{CallNumber, SessionRow};
use tooltrail_model::visible::neutral_path;
use tooltrail_view::head::ago;

/// A parsed REF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// Everything in a file or directory.
    File(PathBuf),
    /// The call on a line of a file.
    Line(PathBuf, u64),
    /// Whatever a row of a database holds.
    Row(PathBuf, String),
    /// The newest session, or a call of it.
    Newest(NewestSession),
    /// A session or call, by name.
    Name(String),
}

/// The sessions or the call that a REF resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Sessions: a single one, or all of a file.
    Sessions(Vec<usize>),
    /// A call: its session, and its number there.
    Call(usize, CallNumber),
}

impl Reference {
    /// Reads a REF.
    pub(crate) fn parse(text: &str) -> Self {
        // Before paths: a file that happens to be called `last` is still there as `./last`.
        if let Some(newest) = NewestSession::parse(text) {
            return Reference::Newest(newest);
        }
        // From the right: a path may contain colons, as on Windows. `3f2a:41` has the same form, but `3f2a` is no path.
        if let Some((file, mark)) = split_record(text)
            && is_path(file)
        {
            return match mark.parse() {
                Ok(line) => Reference::Line(PathBuf::from(file), line),
                Err(_) => Reference::Row(PathBuf::from(file), mark.to_owned()),
            };
        }
        if is_path(text) { Reference::File(PathBuf::from(text)) } else { Reference::Name(text.to_owned()) }
    }

    /// The files to read; none means the agents' own places.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        match self {
            Reference::File(path) | Reference::Line(path, _) | Reference::Row(path, _) => vec![path.clone()],
            Reference::Newest(_) | Reference::Name(_) => Vec::new(),
        }
    }

    /// The bundle of logs that a named session or call is in, according to the catalogue; `None` if the name is unknown.
    pub(crate) fn bundle(&self, ready: &Ready) -> anyhow::Result<Option<i64>> {
        let listing = ready.list()?;
        let rows = listing.rows();
        let session = match self {
            Reference::Newest(newest) => newest.listed(ready, &listing, &rows)?,
            // Sessions first: they are in memory, while calls have to be queried.
            Reference::Name(name) => {
                match among(&rows, &listing, name.rsplit_once(':').map_or(name, |(first, _)| first), ready.now.time)? {
                    Some(index) => Some(index),
                    None => ready.library.catalogue().session_of_call(&listing, name)?,
                }
            }
            Reference::File(_) | Reference::Line(..) | Reference::Row(..) => None,
        };
        let Some(session) = session else { return Ok(None) };
        if listing.is_gone(session) {
            bail!(
                "the logs of session `{}` are gone: the agent deleted them; `tooltrail list is:gone` shows what the index has",
                printable(rows[session].short)
            );
        }
        Ok(listing.bundle(session))
    }

    /// Resolves the REF among the logs that were read.
    pub(crate) fn find(&self, linked: &Linked<'_>, now: &Now) -> anyhow::Result<Target> {
        match self {
            Reference::File(path) => whole(linked, path),
            Reference::Line(path, line) => on_line(linked, now, path, *line),
            Reference::Row(path, row) => in_row(linked, now, path, row),
            Reference::Newest(newest) => newest.find(linked, now),
            Reference::Name(name) => named(linked, now, name),
        }
    }
}

/// True if a word names a file rather than a session or a search term: by its beginning or ending, or because the file exists.
pub(crate) fn is_path(text: &str) -> bool {
    // `c:9` may be a call; only `C:\\` or `C:/` is a drive.
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic() && text.len() > 2;
    let begins = ["/", "./", "../", "~"].iter().any(|start| text.starts_with(start)) || text == "." || text == "..";
    let ends = [".jsonl", ".json", ".zst"].iter().any(|end| text.ends_with(end));
    begins || ends || (drive && matches!(text.as_bytes()[2], b'\\' | b'/')) || (!text.is_empty() && Path::new(text).exists())
}

/// All sessions of a file, the main one first.
fn whole(linked: &Linked<'_>, path: &Path) -> anyhow::Result<Target> {
    if linked.sessions.is_empty() {
        bail!("no session in `{}`; `tooltrail check {}` lists its issues", neutral_path(path), neutral_path(path));
    }
    let mut calls = vec![0_u64; linked.sessions.len()];
    for call in &linked.calls {
        if let Some(count) = calls.get_mut(call.session) {
            *count += 1;
        }
    }
    // A log may contain records of several sessions, as after a fork. The main one is usually in the file's name, else it has the
    // most calls.
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut sessions: Vec<usize> = (0..linked.sessions.len()).collect();
    sessions.sort_by_key(|&index| (!stem.contains(&*linked.sessions[index].id), std::cmp::Reverse(calls[index]), index));
    Ok(Target::Sessions(sessions))
}

/// The call whose request, result, hook or other evidence is on a line.
fn on_line(linked: &Linked<'_>, now: &Now, path: &Path, line: u64) -> anyhow::Result<Target> {
    // The index has absolute paths, and a shell does not expand `~` in `FILE:LINE`.
    let path = crate::logs::expanded(&[path.to_owned()]).pop().unwrap_or_default();
    let is_file = |file: &str| Path::new(file) == path;
    let is_source = |source: usize| linked.sources.get(source).is_some_and(|source| is_file(&source.path));
    let ranks = |call: &&LinkedCall| {
        let record = linked.record(call.id);
        let here = is_source(call.id.source());
        let result = linked.result_spot(call).is_some_and(|(source, at)| is_source(source) && at.line == line);
        let hook = here && record.hooks.iter().any(|hook| hook.at.line == line);
        // Making a row is costly, so this is only tried on calls that nothing cheaper matches.
        let proof = || {
            let row = linked.call_row(call, now, false);
            let places = [Some(row.evidence), row.background.map(|task| task.evidence)];
            places.into_iter().flatten().any(|place| place.line == line && is_file(place.file))
        };
        match () {
            () if here && record.at.line == line => Some(0),
            () if result => Some(1),
            () if hook => Some(2),
            () => proof().then_some(3),
        }
    };
    // A line with several calls belongs first to the one requested there, then to the one that ended there.
    let found = linked.calls.iter().filter_map(|call| ranks(&call).map(|rank| (rank, call))).min_by_key(|(rank, _)| *rank);
    match found {
        Some((_, call)) if call.session < linked.sessions.len() => Ok(Target::Call(call.session, call.number)),
        _ => bail!("no call on line {line} of `{}`; `tooltrail show {}` shows the whole session", neutral_path(&path), neutral_path(&path)),
    }
}

/// The call that a row of a database tells of.
fn in_row(linked: &Linked<'_>, now: &Now, path: &Path, row: &str) -> anyhow::Result<Target> {
    let file = crate::logs::expanded(&[path.to_owned()]).pop().unwrap_or_default();
    let own = linked.sources.iter().filter(|source| Path::new(file_of(&source.path)) == file);
    match own.filter_map(|source| Some((source, source.summary.rows.find(row)?))).next() {
        Some((source, record)) => on_line(linked, now, Path::new(&*source.path), record),
        None => {
            bail!("no row `{}` in `{}`; `tooltrail list {}` shows its sessions", printable(row), neutral_path(path), neutral_path(path))
        }
    }
}

fn named(linked: &Linked<'_>, now: &Now, name: &str) -> anyhow::Result<Target> {
    let (session, call) = match name.rsplit_once(':') {
        Some((session, call)) => (session, Some(call)),
        None => (name, None),
    };
    // Before the colon is interpreted: ids of calls are free text, and some contain one.
    let by_id = || linked.calls.iter().find(|call| call.copy_of.is_none() && linked.is_called(call.id, name));
    if let Some(call) = by_id().filter(|call| call.session < linked.sessions.len()) {
        return Ok(Target::Call(call.session, call.number));
    }
    let Some(session) = one(linked, session, now.time)? else {
        bail!("no session or call `{name}`; `tooltrail list` shows sessions, `tooltrail calls` shows calls");
    };
    match call {
        Some(call) => numbered(linked, session, call),
        None => Ok(Target::Sessions(vec![session])),
    }
}

/// The call of a session with a number, or its last one.
fn numbered(linked: &Linked<'_>, session: usize, call: &str) -> anyhow::Result<Target> {
    let own = || linked.calls.iter().filter(|call| call.session == session);
    let number = match call {
        // The last call of the log, not the last one in a script.
        "last" => own().map(|call| call.number).filter(|number| number.inner == 0).max(),
        call => CallNumber::read(call).filter(|number| own().any(|call| call.number == *number)),
    };
    match number {
        Some(number) => Ok(Target::Call(session, number)),
        None => {
            let most = own().map(|call| call.number.call).max().unwrap_or(0);
            bail!("session `{}` has no call `{}`; it has {most}", printable(&linked.sessions[session].short), printable(call));
        }
    }
}

/// The session of the catalogue whose id begins with a name. Sessions with logs take precedence over deleted ones.
fn among(rows: &[SessionRow<'_>], listing: &SessionListing, name: &str, now: Time) -> anyhow::Result<Option<usize>> {
    match listing.sessions_named(rows, name).as_slice() {
        [] => Ok(None),
        [index] => Ok(Some(*index)),
        several => {
            let candidate =
                |&index: &usize| MatchingSession { short: rows[index].short, title: rows[index].title, last: rows[index].last_at };
            bail!("{}", ambiguous(name, several.iter().map(candidate).collect(), now))
        }
    }
}

/// A session that an ambiguous name may mean.
struct MatchingSession<'a> {
    short: &'a str,
    title: Option<&'a str>,
    last: Option<Time>,
}

/// Error message for a name that fits several sessions: their short names and titles, the newest first.
fn ambiguous(name: &str, mut sessions: Vec<MatchingSession<'_>>, now: Time) -> String {
    const SHOWN: usize = 10;
    sessions.sort_by_key(|candidate| std::cmp::Reverse(candidate.last));
    let age = |candidate: &MatchingSession<'_>| candidate.last.map(|last| format!("{} ago", ago(last, now))).unwrap_or_default();
    let width = |of: &dyn Fn(&MatchingSession<'_>) -> usize| sessions.iter().take(SHOWN).map(of).max().unwrap_or(0);
    let short = width(&|candidate| printable(candidate.short).chars().count());
    let aged = width(&|candidate| age(candidate).chars().count());
    let line = |candidate: &MatchingSession<'_>| {
        let title: String = printable(candidate.title.unwrap_or("(no title)")).chars().take(60).collect();
        format!("{:short$}  {:aged$}  {title}", printable(candidate.short), age(candidate))
    };
    let shown: Vec<String> = sessions.iter().take(SHOWN).map(line).collect();
    let more = if sessions.len() > SHOWN { format!("\n  and {} more", sessions.len() - SHOWN) } else { String::new() };
    format!("`{}` matches {} sessions:\n  {}{more}", printable(name), sessions.len(), shown.join("\n  "))
}

/// The session of linked logs whose id begins with a name.
fn one(linked: &Linked<'_>, name: &str, now: Time) -> anyhow::Result<Option<usize>> {
    // An empty name would be the beginning of every id.
    if name.is_empty() {
        return Ok(None);
    }
    // An id may be the beginning of another one; written in full it is not ambiguous.
    let exact = linked.sessions.iter().position(|session| *session.id == *name);
    let fits: Vec<usize> = (0..linked.sessions.len()).filter(|&index| linked.sessions[index].id.starts_with(name)).collect();
    match (exact, fits.as_slice()) {
        (Some(index), _) => Ok(Some(index)),
        (None, []) => Ok(None),
        (None, [index]) => Ok(Some(*index)),
        (None, several) => {
            let candidate = |&index: &usize| {
                let session = &linked.sessions[index];
                MatchingSession { short: &session.short, title: session.title.as_deref(), last: session.last }
            };
            bail!("{}", ambiguous(name, several.iter().map(candidate).collect(), now))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_told_apart() {
        for path in ["/a/b", "./x", "../x", "~/x", "log.jsonl", "a.json", "a.jsonl.zst", "C:\\logs\\a", ".."] {
            assert!(matches!(Reference::parse(path), Reference::File(_)), "{path}");
        }
        for name in ["3f2a", "lasting", "3f2a:41", "toolu_01X", "c:9", "no-such-file"] {
            assert!(matches!(Reference::parse(name), Reference::Name(_)), "{name}");
        }
        assert_eq!(Reference::parse("/a/b.jsonl:42"), Reference::Line(PathBuf::from("/a/b.jsonl"), 42));
        let row = Reference::Row(PathBuf::from("/a/opencode.db"), "part:prt_1".to_owned());
        assert_eq!(Reference::parse("/a/opencode.db:part:prt_1"), row);
        assert_eq!(Reference::parse("log.jsonl:7"), Reference::Line(PathBuf::from("log.jsonl"), 7));
    }
}
