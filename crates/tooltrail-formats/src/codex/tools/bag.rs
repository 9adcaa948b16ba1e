//! The fields of an object, taken out one by one. Fields that no reader takes are the rest.

use super::super::content::str_of;
use serde_json::{Map, Value};

/// Fields that wait to be taken.
#[derive(Default)]
pub(super) struct Bag(Map<String, Value>);

impl Bag {
    /// The fields of a value; none if it is no object.
    pub(super) fn of(value: Option<&Value>) -> Self {
        Bag(value.and_then(Value::as_object).cloned().unwrap_or_default())
    }

    /// The fields that were not taken, without nulls.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.0.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    /// Whether a field is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A field, left where it is.
    pub(super) fn peek(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// A field of any sort.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        // `shift_remove` keeps the order of the others, in which they are shown.
        self.0.shift_remove(key).filter(|value| !value.is_null())
    }

    /// Drops fields that repeat something known.
    pub(super) fn drop(&mut self, keys: &[&str]) {
        self.0.retain(|key, _| !keys.contains(&key.as_str()));
    }

    /// Puts a field among the rest.
    pub(super) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// Takes a field that can be read as something; one that cannot stays.
    fn read<T>(&mut self, key: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let found = read(self.0.get(key)?)?;
        self.0.shift_remove(key);
        Some(found)
    }

    /// The first of some fields that is text and not empty.
    pub(super) fn text(&mut self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.read(key, |value| value.as_str().map(str::to_owned)).filter(|text| !text.is_empty()))
    }

    /// Text, or a number as text: ids are either.
    pub(super) fn id(&mut self, keys: &[&str]) -> Option<String> {
        let text = |value: &Value| value.as_str().map(str::to_owned).or_else(|| value.as_i64().map(|id| id.to_string()));
        keys.iter().find_map(|key| self.read(key, text)).filter(|id| !id.is_empty())
    }

    /// A whole number.
    pub(super) fn number(&mut self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| self.read(key, Value::as_u64))
    }

    /// A whole number that may be below zero.
    pub(super) fn signed(&mut self, key: &str) -> Option<i64> {
        self.read(key, Value::as_i64)
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.read(key, Value::as_bool)
    }

    /// A list; nothing if it is none.
    pub(super) fn list(&mut self, keys: &[&str]) -> Vec<Value> {
        keys.iter().find_map(|key| self.read(key, |value| value.as_array().cloned())).unwrap_or_default()
    }

    /// The texts of a list.
    pub(super) fn texts(&mut self, keys: &[&str]) -> Vec<String> {
        self.list(keys).iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }
}

/// A field of a value that is text, owned.
pub(super) fn text_in(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| str_of(value, key)).map(str::to_owned)
}
