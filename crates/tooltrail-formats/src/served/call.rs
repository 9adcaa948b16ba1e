//! A call that is being read: the fields of its input for the reader to take, and the text of its result.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// The result of a call, as far as a reader needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedAnswer<'v> {
    /// The text that the model saw.
    pub(crate) text: &'v str,
    /// Whether there is a result.
    pub(crate) answered: bool,
    /// Whether it did not succeed.
    pub(crate) failed: bool,
    /// Whether it ran, however it ended.
    pub(crate) ran: bool,
}

/// A call that is being read.
pub(super) struct ServedCall<'v> {
    /// The tool, as its server names it.
    pub(super) name: &'v str,
    input: Map<String, Value>,
    /// The result.
    pub(super) answer: ServedAnswer<'v>,
    /// Whether the text of a failure is the tool's own output.
    pub(super) printed: bool,
}

impl<'v> ServedCall<'v> {
    pub(super) fn new(name: &'v str, input: &Value, answer: ServedAnswer<'v>) -> Self {
        ServedCall { name, input: input.as_object().cloned().unwrap_or_default(), answer, printed: false }
    }

    /// The fields that were not taken, without nulls.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.input.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    /// Takes the first of some fields that can be read; one that cannot stays.
    fn take<T>(&mut self, names: &[&str], read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let (name, found) = names.iter().find_map(|name| Some((*name, read(self.input.get(*name)?)?)))?;
        // Keeps the order of the others, in which they are shown.
        self.input.shift_remove(name);
        Some(found)
    }

    /// A text.
    pub(super) fn text(&mut self, names: &[&str]) -> Option<String> {
        self.take(names, |value| value.as_str().map(str::to_owned))
    }

    /// A text, or a number that stands for one.
    pub(super) fn id(&mut self, names: &[&str]) -> Option<String> {
        self.take(names, |value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    /// A number that is not negative.
    pub(super) fn number(&mut self, names: &[&str]) -> Option<u64> {
        self.take(names, Value::as_u64)
    }

    /// Whether a flag is set.
    pub(super) fn flag(&mut self, names: &[&str]) -> bool {
        self.take(names, Value::as_bool).unwrap_or(false)
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, names: &[&str]) -> Option<Vec<String>> {
        self.take(names, |value| value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect())
    }

    /// A list of objects.
    pub(super) fn objects(&mut self, names: &[&str]) -> Option<Vec<Map<String, Value>>> {
        self.take(names, |value| value.as_array()?.iter().map(|item| item.as_object().cloned()).collect())
    }

    /// A field that stays.
    pub(super) fn peek(&self, name: &str) -> Option<&Value> {
        self.input.get(name)
    }

    /// The text that the model saw, if it is an answer and not the message of a failure.
    pub(super) fn told(&self) -> Option<Cow<'v, str>> {
        let text = self.answer.text;
        (self.answer.answered && !self.answer.failed && !text.is_empty()).then_some(Cow::Borrowed(text))
    }
}
