//! Objects, arrays and their members.

use crate::literals::{self, source};
use crate::scan;
use crate::values::{DEEPEST_VALUE, HeapValue, Known, MemberList};
use crate::walk::{Reader, children};
use serde_json::Value;
use std::rc::Rc;
use tooltrail_model::script::member;
use tree_sitter::Node;

impl<'t> Reader<'t> {
    pub(crate) fn object(&mut self, node: Node<'t>) -> Known {
        let (mut members, mut open): (MemberList, bool) = (Vec::new(), false);
        for child in children(node) {
            let (name, value) = match child.kind() {
                "pair" => {
                    let value = child.child_by_field_name("value").map_or(Known::Unknown, |value| self.value(value));
                    (child.child_by_field_name("key").and_then(|key| self.key(key)), value)
                }
                "shorthand_property_identifier" => {
                    let name = source(child, self.program);
                    (Some(Rc::from(name)), self.name(name))
                }
                "spread_element" => {
                    let value = child.named_child(0).map_or(Known::Unknown, |inner| self.value(inner));
                    match self.members(&value) {
                        None if matches!(value, Known::Result(_)) => {
                            open = true;
                            members.iter_mut().for_each(|(_, value)| *value = Known::Unknown);
                            for name in [member::EXIT_CODE, member::SESSION, member::OUTPUT] {
                                let part = self.member(&value, name);
                                put(&mut members, Rc::from(name), part);
                            }
                        }
                        Some((spread, more)) => {
                            open |= more;
                            spread.into_iter().for_each(|(name, value)| put(&mut members, name, value));
                        }
                        None => {
                            open = true;
                            // Whatever was given before may have another value now.
                            members.iter_mut().for_each(|(_, value)| *value = Known::Unknown);
                        }
                    }
                    continue;
                }
                _ => {
                    scan::scan(self, child);
                    open = true;
                    continue;
                }
            };
            match name {
                Some(name) => put(&mut members, name, value),
                None => {
                    open = true;
                    members.iter_mut().for_each(|(_, value)| *value = Known::Unknown);
                }
            }
        }
        self.hold(HeapValue::Object(members, open))
    }

    pub(crate) fn members(&self, value: &Known) -> Option<(MemberList, bool)> {
        let Known::Heap(at) = value else { return None };
        match self.heap.get(*at) {
            Some(HeapValue::Object(members, open)) => Some((members.clone(), *open)),
            _ => None,
        }
    }

    pub(crate) fn key(&mut self, node: Node<'t>) -> Option<Rc<str>> {
        match node.kind() {
            "property_identifier" => Some(Rc::from(source(node, self.program))),
            "string" => literals::string(node, self.program).map(Rc::from),
            "number" => literals::number(source(node, self.program)).and_then(|number| literals::shown(&number)).map(Rc::from),
            "computed_property_name" => {
                let value = self.value(node.named_child(0)?);
                value.as_text().map(Rc::from)
            }
            _ => None,
        }
    }

    pub(crate) fn array(&mut self, node: Node<'t>) -> Known {
        let mut elements = Vec::new();
        for child in children(node) {
            if child.kind() != "spread_element" {
                elements.push(self.value(child));
                continue;
            }
            let value = child.named_child(0).map_or(Known::Unknown, |inner| self.value(inner));
            let Some(spread) = self.elements(&value) else { return self.hold(HeapValue::Opaque) };
            elements.extend(spread);
            if !self.spend(elements.len() * 16) {
                return self.hold(HeapValue::Opaque);
            }
        }
        self.hold(HeapValue::Array(elements))
    }

    /// Elements of a known array.
    pub(crate) fn elements(&self, value: &Known) -> Option<Vec<Known>> {
        let Known::Heap(at) = value else { return None };
        if let Some(HeapValue::Array(elements)) = self.heap.get(*at) { Some(elements.clone()) } else { None }
    }

    /// Puts an array or object on the heap.
    pub(crate) fn hold(&mut self, value: HeapValue) -> Known {
        self.heap.push(value);
        Known::Heap(self.heap.len() - 1)
    }

    pub(crate) fn member_expression(&mut self, node: Node<'t>) -> Known {
        let object = node.child_by_field_name("object").map_or(Known::Unknown, |object| self.value(object));
        let name = node.child_by_field_name("property").map_or("", |property| source(property, self.program));
        self.member(&object, name)
    }

    pub(crate) fn subscript(&mut self, node: Node<'t>) -> Known {
        let object = node.child_by_field_name("object").map_or(Known::Unknown, |object| self.value(object));
        let index = node.child_by_field_name("index").map_or(Known::Unknown, |index| self.value(index));
        match &index {
            Known::Literal(Value::String(name)) => self.member(&object, name),
            Known::Literal(Value::Number(at)) => {
                let at = at.as_u64().and_then(|at| usize::try_from(at).ok());
                let Known::Heap(list) = object else { return Known::Unknown };
                match (self.heap.get(list), at) {
                    (Some(HeapValue::Array(elements)), Some(at)) => elements.get(at).cloned().unwrap_or(Known::Undefined),
                    _ => Known::Unknown,
                }
            }
            _ => {
                self.leak(&object);
                Known::Unknown
            }
        }
    }

    /// Member of a value.
    pub(crate) fn member(&mut self, object: &Known, name: &str) -> Known {
        match object {
            Known::Tools => Known::Tool(Rc::from(name)),
            Known::Result(call) => Known::Part(*call, Rc::from(name)),
            Known::Heap(at) => match self.heap.get(*at) {
                Some(HeapValue::Array(elements)) if name == "length" => Known::Literal(Value::from(elements.len())),
                Some(HeapValue::Object(members, open)) => match members.iter().find(|(known, _)| &**known == name) {
                    Some((_, value)) => value.clone(),
                    None if *open => Known::Unknown,
                    None => Known::Method(Rc::new(object.clone()), Rc::from(name)),
                },
                _ => Known::Method(Rc::new(object.clone()), Rc::from(name)),
            },
            Known::Either(call, states, both) => {
                let (one, other) = (both.0.clone(), both.1.clone());
                if self.depth > DEEPEST_VALUE {
                    return Known::Unknown;
                }
                self.depth += 1;
                let both = (self.member(&one, name), self.member(&other, name));
                self.depth -= 1;
                Known::either(*call, *states, both.0, both.1)
            }
            Known::Method(..) => Known::Unknown,
            _ => Known::Method(Rc::new(object.clone()), Rc::from(name)),
        }
    }
}

/// Sets a member of an object: the last one counts, at the place of the first.
fn put(members: &mut MemberList, name: Rc<str>, value: Known) {
    match members.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => *known = value,
        None => members.push((name, value)),
    }
}
