//! The newest session as a REF: `last`, `last:all`, `.` and `project:NAME`, or a call of it.
//!
//! `last` is the newest session of this directory's project, so that a command does not show or publish the session of another
//! repository. Where the project has none, it is the newest of all.

use super::{Target, numbered};
use crate::catalogue::Ready;
use crate::filters;
use anyhow::bail;
use std::cmp::Reverse;
use tooltrail_catalog::store::SessionListing;
use tooltrail_model::filter::ProjectPattern;
use tooltrail_model::link::{Linked, LinkedCall, Now};
use tooltrail_model::row::{CallNumber, SessionRow};
use tooltrail_model::{Status, Time};

/// The newest session of some, or a call of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewestSession {
    among: SessionScope,
    /// The call: a number, `last` or `failed`.
    call: Option<String>,
}

/// The sessions of which the newest is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SessionScope {
    /// Those of this directory's project, or all if it has none.
    Here,
    /// All of them.
    All,
    /// Those of a project, as the filter term `project:` takes them.
    Project(String),
}

impl NewestSession {
    /// Reads `last`, `last:all`, `.` or `project:NAME`, each perhaps with a call behind it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let newest = |among: SessionScope, call: &str| Some(NewestSession { among, call: (!call.is_empty()).then(|| call.to_owned()) });
        let behind = |name: &str| match text.strip_prefix(name)? {
            "" => Some(""),
            rest => rest.strip_prefix(':').filter(|call| !call.is_empty()),
        };
        if let Some(call) = behind("last:all") {
            return newest(SessionScope::All, call);
        }
        if let Some(call) = behind("last") {
            return newest(SessionScope::Here, call);
        }
        if let Some(call) = behind(".") {
            return newest(SessionScope::Project(".".to_owned()), call);
        }
        let project = text.strip_prefix("project:").filter(|project| !project.is_empty())?;
        // A path may contain colons, so only what can be a call is taken for one.
        let is_call = |call: &str| matches!(call, "last" | "failed") || CallNumber::read(call).is_some();
        match project.rsplit_once(':').filter(|(project, call)| !project.is_empty() && is_call(call)) {
            Some((project, call)) => newest(SessionScope::Project(project.to_owned()), call),
            None => newest(SessionScope::Project(project.to_owned()), ""),
        }
    }

    /// The projects to try, one after the other; `None` for all.
    fn scopes(&self) -> anyhow::Result<Vec<Option<Vec<ProjectPattern>>>> {
        Ok(match &self.among {
            SessionScope::All => vec![None],
            // A directory that no session names, such as one whose name is not UTF-8, has no project.
            SessionScope::Here => vec![Some(filters::projects(".").unwrap_or_default()), None],
            SessionScope::Project(name) => vec![Some(filters::projects(name)?)],
        })
    }

    /// The session, according to the catalogue.
    pub(super) fn listed(&self, ready: &Ready, listing: &SessionListing, rows: &[SessionRow<'_>]) -> anyhow::Result<Option<usize>> {
        for scope in self.scopes()? {
            let is_there = |index: usize| !listing.is_gone(index) && rows.get(index).is_some_and(|row| fits(&scope, row.project));
            let found = match self.call.as_deref() {
                Some("failed") => ready.library.catalogue().last_failed(listing, &is_there)?,
                _ => (0..rows.len()).filter(|&index| is_there(index)).max_by_key(|&index| (rows[index].last_at, index)),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The session or call, among linked logs.
    pub(super) fn find(&self, linked: &Linked<'_>, now: &Now) -> anyhow::Result<Target> {
        for scope in self.scopes()? {
            let project = |session: usize| linked.sessions.get(session).and_then(|session| session.project.as_deref());
            let takes = |session: usize| session < linked.sessions.len() && fits(&scope, project(session));
            if self.call.as_deref() == Some("failed") {
                if let Some(target) = last_failed(linked, now, &takes) {
                    return Ok(target);
                }
                continue;
            }
            let newest = (0..linked.sessions.len()).filter(|&session| takes(session)).max_by_key(|&session| linked.sessions[session].last);
            match (newest, &self.call) {
                (Some(session), Some(call)) => return numbered(linked, session, call),
                (Some(session), None) => return Ok(Target::Sessions(vec![session])),
                (None, _) => {}
            }
        }
        match (&self.among, self.call.as_deref()) {
            (SessionScope::Project(name), Some("failed")) => bail!("no call failed in project `{}`", crate::table::printable(name)),
            (SessionScope::Project(name), _) if name == "." => {
                bail!("no session of this directory's project; `tooltrail list` shows sessions, and `./` means the logs in this directory")
            }
            (SessionScope::Project(name), _) => {
                bail!("no session of project `{}`; `tooltrail stats --by project` lists projects", crate::table::printable(name))
            }
            (_, Some("failed")) => bail!("no call failed in these logs"),
            _ => bail!("there is no session in these logs"),
        }
    }
}

/// Whether a project is one of a scope.
fn fits(scope: &Option<Vec<ProjectPattern>>, project: Option<&str>) -> bool {
    let Some(patterns) = scope else { return true };
    project.is_some_and(|project| patterns.iter().any(|pattern| pattern.fits(project)))
}

/// The newest failed call of some sessions.
fn last_failed(linked: &Linked<'_>, now: &Now, takes: &dyn Fn(usize) -> bool) -> Option<Target> {
    let mut calls: Vec<&LinkedCall> = linked.calls.iter().filter(|call| call.copy_of.is_none() && takes(call.session)).collect();
    // Newest first, so that only as many rows are made as it takes to find a failed call.
    calls.sort_by_key(|call| Reverse(linked.record(call.id).time.unwrap_or(Time::UNIX_EPOCH)));
    let found = calls.into_iter().find(|call| linked.call_row(call, now, false).status == Status::Failed)?;
    Some(Target::Call(found.session, found.number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_session_has_several_names() {
        let project = |name: &str| SessionScope::Project(name.to_owned());
        let cases = [
            ("last", SessionScope::Here, None),
            ("last:41", SessionScope::Here, Some("41")),
            ("last:failed", SessionScope::Here, Some("failed")),
            ("last:all", SessionScope::All, None),
            ("last:all:3", SessionScope::All, Some("3")),
            (".", project("."), None),
            (".:last", project("."), Some("last")),
            ("project:.", project("."), None),
            ("project:api:7", project("api"), Some("7")),
            ("project:C:\\src\\api", project("C:\\src\\api"), None),
        ];
        for (text, among, call) in cases {
            let expected = NewestSession { among, call: call.map(str::to_owned) };
            assert_eq!(NewestSession::parse(text), Some(expected), "{text}");
        }
        for text in ["lasting", "..", "./", ".git", "project:", "3f2a:41", "last:"] {
            assert_eq!(NewestSession::parse(text), None, "{text}");
        }
    }
}
