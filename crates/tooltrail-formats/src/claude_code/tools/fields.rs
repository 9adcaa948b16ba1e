//! The fields of an object, taken one by one. Fields that no reader takes are left over and shown as they are.

use serde_json::{Map, Value};

/// An object whose fields are taken.
#[derive(Debug, Default)]
pub(super) struct FieldTaker<'v> {
    map: Option<&'v Map<String, Value>>,
    taken: Vec<&'static str>,
    /// The leftovers of objects inside it.
    inner: Map<String, Value>,
}

impl<'v> FieldTaker<'v> {
    /// The fields of a value; none where it is no object.
    pub(super) fn of(value: Option<&'v Value>) -> Self {
        FieldTaker { map: value.and_then(Value::as_object), ..FieldTaker::default() }
    }

    /// Whether there is an object at all.
    pub(super) fn exist(&self) -> bool {
        self.map.is_some()
    }

    /// Looks at a field without taking it.
    pub(super) fn peek(&self, key: &str) -> Option<&'v Value> {
        // A null says nothing, and is neither taken nor left over.
        self.map?.get(key).filter(|value| !value.is_null())
    }

    /// Takes a field if it can be read; otherwise it is left over.
    pub(super) fn take<T>(&mut self, key: &'static str, read: impl FnOnce(&'v Value) -> Option<T>) -> Option<T> {
        let found = read(self.peek(key)?)?;
        // Only a field that could be read counts as taken; otherwise the reader of the page would never see it.
        self.taken.push(key);
        Some(found)
    }

    /// A text.
    pub(super) fn text(&mut self, key: &'static str) -> Option<&'v str> {
        self.take(key, Value::as_str)
    }

    /// A text of its own.
    pub(super) fn string(&mut self, key: &'static str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    /// A text, or a number that stands for one.
    pub(super) fn name(&mut self, key: &'static str) -> Option<String> {
        self.take(key, name)
    }

    /// A number that is not negative.
    pub(super) fn number(&mut self, key: &'static str) -> Option<u64> {
        self.take(key, number)
    }

    /// A number.
    pub(super) fn code(&mut self, key: &'static str) -> Option<i64> {
        self.take(key, Value::as_i64)
    }

    /// Whether a flag is set.
    pub(super) fn flag(&mut self, key: &'static str) -> bool {
        self.take(key, flag).unwrap_or(false)
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        self.take(key, texts)
    }

    /// Takes fields that need not be shown: they repeat what stands elsewhere.
    pub(super) fn drop(&mut self, keys: &[&'static str]) {
        self.taken.extend(keys);
    }

    /// Takes from an object inside this one; what is left of that is left of this.
    pub(super) fn within<T>(&mut self, key: &'static str, read: impl FnOnce(&mut FieldTaker<'v>) -> T) -> Option<T> {
        let value = self.peek(key).filter(|value| value.is_object())?;
        let mut inner = FieldTaker::of(Some(value));
        let out = read(&mut inner);
        let rest = inner.rest();
        if !rest.is_empty() {
            self.inner.insert(key.to_owned(), Value::Object(rest));
        }
        // Taken as a whole, also where parts are left: those are in `inner`.
        self.taken.push(key);
        Some(out)
    }

    /// The fields that no reader took.
    pub(super) fn rest(self) -> Map<String, Value> {
        let fields = self.map.into_iter().flatten();
        let left = fields.filter(|(key, value)| !value.is_null() && !self.taken.contains(&key.as_str()));
        let mut rest: Map<String, Value> = left.map(|(key, value)| (key.clone(), value.clone())).collect();
        rest.extend(self.inner);
        rest
    }
}

/// A text, or a number that stands for one.
pub(super) fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A number that is not negative. Models write some of them as texts.
fn number(value: &Value) -> Option<u64> {
    let whole = |number: f64| (number >= 0.0 && number < u64::MAX as f64).then_some(number as u64);
    // Beyond the range of `u64` a float would saturate without a word.
    value.as_u64().or_else(|| value.as_f64().and_then(whole)).or_else(|| value.as_str()?.trim().parse().ok())
}

/// A flag. Models write some of them as texts.
fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A list of texts.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_nobody_took_is_left() {
        let value = json!({"a": "x", "b": 1, "c": null, "d": {"e": 1, "f": 2}, "g": [1]});
        let mut fields = FieldTaker::of(Some(&value));
        assert_eq!(fields.text("a"), Some("x"));
        assert_eq!(fields.text("b"), None, "a number is no text and stays");
        assert_eq!(fields.within("d", |inner| inner.number("e")), Some(Some(1)));
        assert_eq!(Value::Object(fields.rest()), json!({"b": 1, "g": [1], "d": {"f": 2}}));
        assert!(FieldTaker::of(Some(&json!("text"))).rest().is_empty());
    }
}
