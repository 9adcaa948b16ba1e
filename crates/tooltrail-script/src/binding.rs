//! Names that patterns give to values, and arguments of calls.

use crate::literals::source;
use crate::scan;
use crate::values::{DEEPEST_VALUE, HeapValue, Known};
use crate::walk::{Reader, children};
use serde_json::Value;
use std::rc::Rc;
use tooltrail_model::script::Argument;
use tree_sitter::Node;

impl<'t> Reader<'t> {
    /// Gives the names of a pattern their values.
    pub(crate) fn bind(&mut self, pattern: Node<'t>, value: Known) {
        match pattern.kind() {
            "identifier" => self.declare(source(pattern, self.program), value),
            "object_pattern" => {
                for child in children(pattern) {
                    match child.kind() {
                        "shorthand_property_identifier_pattern" => {
                            let name = source(child, self.program);
                            let member = self.member(&value, name);
                            self.declare(name, plain(member));
                        }
                        "pair_pattern" => {
                            let key = child.child_by_field_name("key").and_then(|key| self.key(key));
                            let member = key.map_or(Known::Unknown, |key| plain(self.member(&value, &key)));
                            if let Some(inner) = child.child_by_field_name("value") {
                                self.bound(inner, member);
                            }
                        }
                        _ => self.unbound(child),
                    }
                }
            }
            "array_pattern" => self.bind_array(pattern, &value),
            _ => self.unbound(pattern),
        }
    }

    fn bind_array(&mut self, pattern: Node<'t>, value: &Known) {
        let elements = self.elements(value);
        let mut at = 0;
        // Holes count, so commas are counted instead of children.
        for child in pattern.children(&mut pattern.walk()) {
            match child.kind() {
                "," => at += 1,
                "rest_pattern" => self.unbound(child),
                _ if child.is_named() && child.kind() != "comment" => {
                    let element = elements.as_ref().map_or(Known::Unknown, |known| known.get(at).cloned().unwrap_or(Known::Undefined));
                    self.bound(child, element);
                }
                _ => {}
            }
        }
    }

    /// Binds a pattern within a pattern.
    fn bound(&mut self, pattern: Node<'t>, value: Known) {
        if self.enter(pattern) {
            self.bind(pattern, value);
            self.depth -= 1;
        }
    }

    /// Declares the names of a pattern that is not followed.
    fn unbound(&mut self, pattern: Node<'t>) {
        let mut names = Vec::new();
        crate::syntax::visit(pattern, |node| {
            if matches!(node.kind(), "identifier" | "shorthand_property_identifier_pattern") {
                names.push(node);
            }
            std::ops::ControlFlow::Continue(())
        });
        for name in names {
            self.declare(source(name, self.program), Known::Unknown);
        }
        scan::scan(self, pattern);
    }

    /// Argument of a call, from the list of its arguments.
    pub(crate) fn argument(&mut self, list: Node<'t>) -> Argument {
        let mut values = Vec::new();
        for argument in if list.kind() == "arguments" { children(list) } else { vec![list] } {
            values.push(self.value(argument));
        }
        let Some(first) = values.first() else { return Argument::Missing };
        self.plain_argument(first)
    }

    pub(crate) fn plain_argument(&self, value: &Known) -> Argument {
        if let Some(literal) = self.literal(value, 0) {
            return Argument::Literal(literal);
        }
        match self.members(value) {
            Some((members, _)) => {
                let literal = |(name, value): (Rc<str>, Known)| Some((name.to_string(), self.literal(&value, 1)?));
                Argument::Partly(members.into_iter().filter_map(literal).collect())
            }
            None => Argument::Computed,
        }
    }

    /// The literal that a value is.
    pub(crate) fn literal(&self, value: &Known, depth: usize) -> Option<Value> {
        let bytes = if let Known::Literal(Value::String(text)) = value { text.len() } else { 8 };
        if depth > DEEPEST_VALUE || !self.spend(bytes) {
            return None;
        }
        match value {
            Known::Literal(literal) => Some(literal.clone()),
            Known::Heap(at) => match self.heap.get(*at)? {
                HeapValue::Array(elements) => {
                    let literal = |element: &Known| {
                        if matches!(element, Known::Undefined) { Some(Value::Null) } else { self.literal(element, depth + 1) }
                    };
                    elements.iter().map(literal).collect::<Option<Vec<_>>>().map(Value::Array)
                }
                HeapValue::Object(members, false) => {
                    let given = members.iter().filter(|(_, value)| !matches!(value, Known::Undefined));
                    given
                        .map(|(name, value)| Some((name.to_string(), self.literal(value, depth + 1)?)))
                        .collect::<Option<_>>()
                        .map(Value::Object)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// A member that is read, not called.
fn plain(value: Known) -> Known {
    if let Known::Method(..) = value { Known::Unknown } else { value }
}
