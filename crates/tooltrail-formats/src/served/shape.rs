//! The shape of an input: which fields it has, and of which sort. Read from the log's bytes in a scan, and from a value when a call is opened.

use serde_json::Value;
use tooltrail_skim::{Skim, Type};

/// The most fields of an input that are looked at.
const FIELDS: usize = 64;

/// Fields by which a tool is about files or a shell that are not on this machine: a repository on a service, another host, a container.
const ELSEWHERE: &[&str] = &[
    "owner",
    "repo",
    "repository",
    "repo_id",
    "project_id",
    "projectId",
    "workspace_id",
    "workspaceId",
    "sandbox_id",
    "sandboxId",
    "host",
    "hostname",
    "bucket",
    "container",
    "container_id",
    "connection",
    "connection_id",
    "connectionName",
    "drive_id",
    "instance_id",
    "vm",
];

/// Flags by which a change is only shown.
const ONLY_SHOWN: &[&str] = &["dryRun", "dry_run"];

/// A field that an input must have, under one of several names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    /// A text.
    Text(&'static [&'static str]),
    /// A list.
    List(&'static [&'static str]),
    /// A text, or a list of its words.
    TextOrList(&'static [&'static str]),
    /// A value of any sort but null.
    Any(&'static [&'static str]),
}

/// The fields of an input.
#[derive(Clone, Debug, Default)]
pub(super) struct InputShape {
    fields: Vec<(Box<str>, Sort)>,
    /// A change is only to be shown.
    only_shown: bool,
}

/// The sort of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Text,
    List,
    Other,
}

impl InputShape {
    /// The shape of an input as the log has it: an object, or a text that holds one.
    pub(super) fn of_json(json: &[u8]) -> Self {
        let mut skim = Skim::new(json);
        if let Some(text) = skim.string() {
            return InputShape::of_object(text.text().trim().as_bytes());
        }
        InputShape::of_object(json)
    }

    fn of_object(json: &[u8]) -> Self {
        let mut shape = InputShape::default();
        // An input that breaks off keeps the fields before.
        let _ = Skim::new(json).object(|key, value| {
            let key = key.text();
            let sort = match value.peek() {
                Some(Type::String) => Sort::Text,
                Some(Type::Array) => Sort::List,
                Some(Type::Null) | None => return Ok(()),
                Some(_) => Sort::Other,
            };
            if ONLY_SHOWN.contains(&&*key) {
                shape.only_shown |= value.bool() == Some(true);
            }
            shape.add(&key, sort);
            Ok(())
        });
        shape
    }

    /// The shape of an opened input.
    pub(super) fn of(input: &Value) -> Self {
        let mut shape = InputShape::default();
        for (key, value) in input.as_object().into_iter().flatten() {
            let sort = match value {
                Value::Null => continue,
                Value::String(_) => Sort::Text,
                Value::Array(_) => Sort::List,
                _ => Sort::Other,
            };
            shape.only_shown |= ONLY_SHOWN.contains(&key.as_str()) && *value == Value::Bool(true);
            shape.add(key, sort);
        }
        shape
    }

    fn add(&mut self, key: &str, sort: Sort) {
        if self.fields.len() < FIELDS {
            self.fields.push((key.into(), sort));
        }
    }

    /// Whether the input is about another machine, or changes nothing.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.only_shown || self.fields.iter().any(|(key, _)| ELSEWHERE.contains(&&**key))
    }

    /// Whether the input has a field that a tool needs.
    pub(super) fn meets(&self, need: &Need) -> bool {
        let has = |names: &[&str], sorts: &[Sort]| self.fields.iter().any(|(key, sort)| names.contains(&&**key) && sorts.contains(sort));
        match need {
            Need::Text(names) => has(names, &[Sort::Text]),
            Need::List(names) => has(names, &[Sort::List]),
            Need::TextOrList(names) => has(names, &[Sort::Text, Sort::List]),
            Need::Any(names) => has(names, &[Sort::Text, Sort::List, Sort::Other]),
        }
    }
}
