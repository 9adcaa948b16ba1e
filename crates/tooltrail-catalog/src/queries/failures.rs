//! Failures of all sessions, grouped by their message: what is asked, and what is answered.
//!
//! A failure is a call that failed, timed out, or was blocked or rejected. A command that only answers no (`grep` without a match) is none,
//! and a script that failed by a call in it is told by that call. docs/failures.md has the rules.

use super::{CallCursor, StoredCallRow};
use jiff::tz::TimeZone;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;
use tooltrail_model::digest::FollowUp;
use tooltrail_model::filter::Filter;
use tooltrail_model::row::{VERSION, time_as_text};
use tooltrail_model::{Status, Time};

/// Which failures are asked for.
#[derive(Clone, Copy, Debug)]
pub struct FailureQuery<'q> {
    /// The calls among which they are.
    pub filter: &'q Filter,
    /// Only those that no later success resolved.
    pub unresolved: bool,
    /// The time zone of days.
    pub zone: &'q TimeZone,
    /// How long logs may be read for the failures of sessions that are live, which are not stored.
    pub patience: Duration,
}

/// Place of a group in the list of groups: the most frequent ones come first, of equally frequent ones those that failed last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupCursor {
    /// Number of its failures.
    pub count: u64,
    /// Time of the last one.
    pub last: Option<Time>,
    /// Its message.
    pub group: String,
}

/// The failures that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureReport {
    /// A page of the groups, the most frequent first.
    pub groups: Vec<FailureGroup>,
    /// Whether more groups follow.
    pub has_more: bool,
    /// Number of all groups.
    pub all_groups: u64,
    /// All failures as one group, whose message is empty.
    pub total: FailureGroup,
    /// The projects with failures, by how many they have.
    pub projects: Vec<(String, u64)>,
    /// Number of sessions with failures that are not known yet, because their logs still have to be read.
    pub pending: u64,
}

/// Failures with the same message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureGroup {
    /// The message, without what differs from run to run.
    pub group: String,
    /// Number of failures.
    pub count: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of failures by status.
    pub by_status: BTreeMap<Status, u64>,
    /// The tools, by how often each failed.
    pub tools: Vec<(String, u64)>,
    /// Number of failures by day.
    pub days: BTreeMap<String, u64>,
    /// Number of failures by what followed.
    pub follow_ups: BTreeMap<FollowUp, u64>,
    /// Time of the first one.
    pub first: Option<Time>,
    /// Time of the last one.
    pub last: Option<Time>,
    /// Reference of the last one.
    pub example: String,
    /// Error line of the last one.
    pub error: Option<String>,
}

impl GroupCursor {
    /// What the list is sorted by.
    pub(super) fn key(&self) -> (Reverse<u64>, Reverse<Option<Time>>, &str) {
        // No two groups have the same message, so no two share a place, and no page repeats or skips one.
        (Reverse(self.count), Reverse(self.last), &self.group)
    }
}

impl FailureGroup {
    /// What lists are sorted by.
    pub(super) fn key(&self) -> (Reverse<u64>, Reverse<Option<Time>>, &str) {
        (Reverse(self.count), Reverse(self.last), &self.group)
    }

    /// Its place.
    pub fn cursor(&self) -> GroupCursor {
        GroupCursor { count: self.count, last: self.last, group: self.group.clone() }
    }

    /// Number of failures that no later success resolved.
    pub fn unresolved(&self) -> u64 {
        self.follow_ups.iter().filter(|(follow_up, _)| follow_up.is_unresolved()).map(|(_, count)| count).sum()
    }

    /// The group as commands and the API print it.
    pub fn row(&self) -> FailureRow<'_> {
        FailureRow {
            v: VERSION,
            failure: &self.group,
            calls: self.count,
            sessions: self.sessions,
            by_status: &self.by_status,
            by_tool: self.tools.iter().map(|(tool, count)| (tool.as_str(), *count)).collect(),
            by_day: &self.days,
            by_follow_up: &self.follow_ups,
            unresolved: self.unresolved(),
            first_at: self.first,
            last_at: self.last,
            example: &self.example,
            error: self.error.as_deref(),
        }
    }
}

/// A group of failures as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct FailureRow<'g> {
    /// Version of this format.
    pub v: u32,
    /// The message, without what differs from run to run.
    pub failure: &'g str,
    /// Number of calls.
    pub calls: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of calls by status.
    pub by_status: &'g BTreeMap<Status, u64>,
    /// Number of calls by tool.
    pub by_tool: BTreeMap<&'g str, u64>,
    /// Number of calls by day.
    pub by_day: &'g BTreeMap<String, u64>,
    /// Number of calls by what followed.
    pub by_follow_up: &'g BTreeMap<FollowUp, u64>,
    /// Number of calls that no later success resolved.
    pub unresolved: u64,
    /// Time of the first one.
    #[serde(serialize_with = "time_as_text")]
    pub first_at: Option<Time>,
    /// Time of the last one.
    #[serde(serialize_with = "time_as_text")]
    pub last_at: Option<Time>,
    /// Reference of the last one.
    pub example: &'g str,
    /// Error line of the last one.
    pub error: Option<&'g str>,
}

/// A failed call of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedCall {
    /// The call.
    pub call: StoredCallRow,
    /// When it was requested.
    pub time: Option<Time>,
    /// What followed.
    pub follow_up: FollowUp,
}

impl GroupedCall {
    /// Its place in the list.
    pub fn cursor(&self) -> &CallCursor {
        &self.call.cursor
    }
}
