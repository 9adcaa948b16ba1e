//! Values of expressions.

use crate::conditions;
use crate::literals::{self, source};
use crate::scan;
use crate::values::{Closure, HeapValue, Known, MemberList};
use crate::walk::{Reader, children};
use serde_json::Value;
use std::rc::Rc;
use tooltrail_model::script::{Argument, Condition, Piece, ResultPart, member};
use tree_sitter::Node;

/// Most alternatives of a text.
const MOST_SIDES: usize = 8;
/// Deepest nesting of an argument.
const DEEPEST: usize = 40;

impl<'t> Reader<'t> {
    /// Value of an expression, whose calls and prints are noted.
    pub(crate) fn value(&mut self, node: Node<'t>) -> Known {
        if !self.enter(node) {
            return Known::Unknown;
        }
        let value = self.evaluated(node);
        self.depth -= 1;
        value
    }

    fn evaluated(&mut self, node: Node<'t>) -> Known {
        match node.kind() {
            "parenthesized_expression" => node.named_child(0).map_or(Known::Unknown, |inner| self.value(inner)),
            "await_expression" => {
                let value = node.named_child(0).map_or(Known::Unknown, |inner| self.value(inner));
                self.waited(value)
            }
            "string" => literals::string(node, self.program).map_or(Known::Unknown, Known::text),
            "template_string" => self.template(node, false),
            "number" => literals::number(source(node, self.program)).map_or(Known::Unknown, Known::Literal),
            "true" => Known::Literal(Value::Bool(true)),
            "false" => Known::Literal(Value::Bool(false)),
            "null" => Known::Literal(Value::Null),
            "undefined" => Known::Undefined,
            "identifier" => self.name(source(node, self.program)),
            "member_expression" => self.member_expression(node),
            "subscript_expression" => self.subscript(node),
            "object" => self.object(node),
            "array" => self.array(node),
            "call_expression" => self.call_expression(node),
            "arrow_function" | "function_expression" => self.closure(node),
            "binary_expression" => self.binary(node),
            "ternary_expression" => self.ternary(node),
            "unary_expression" => self.unary(node),
            "assignment_expression" => self.assignment(node),
            "update_expression" => self.update(node),
            "sequence_expression" => children(node).into_iter().fold(Known::Undefined, |_, part| self.value(part)),
            "regex" | "this" | "super" | "meta_property" => Known::Unknown,
            "new_expression" => {
                for argument in node.child_by_field_name("arguments").map(children).unwrap_or_default() {
                    let value = self.value(argument);
                    self.leak(&value);
                }
                Known::Unknown
            }
            _ => {
                scan::scan(self, node);
                Known::Unknown
            }
        }
    }

    fn name(&mut self, name: &str) -> Known {
        if self.blind {
            return if name == "tools" { Known::Tools } else { Known::Unknown };
        }
        match self.lookup(name) {
            Some(value) => value,
            None if name == "tools" => Known::Tools,
            None if name == "undefined" => Known::Undefined,
            None => Known::Global(Rc::from(name)),
        }
    }

    /// Value that a promise gives when it is awaited.
    pub(crate) fn waited(&mut self, value: Known) -> Known {
        let Known::Promise(inner, calls) = value else { return value };
        self.settle(&calls);
        for call in calls.iter() {
            if let Some(awaited) = self.awaited.get_mut(*call) {
                *awaited = true;
            }
        }
        (*inner).clone()
    }

    /// A value goes where it is not followed: what it may call is uncertain.
    pub(crate) fn leak(&mut self, value: &Known) {
        match value {
            Known::Tools | Known::Tool(_) => self.script.complete = false,
            Known::Global(name) if &**name == "text" => self.loosen(),
            Known::Function(at) => {
                if let Some(Closure { node, .. }) = self.closures.get(*at).copied() {
                    scan::scan(self, node.child_by_field_name("body").unwrap_or(node));
                }
            }
            Known::Heap(at) => {
                let held = match self.heap.get(*at) {
                    Some(HeapValue::Array(elements)) => elements.clone(),
                    Some(HeapValue::Object(members, _)) => members.iter().map(|(_, member)| member.clone()).collect(),
                    _ => Vec::new(),
                };
                scan::spoil(self, *at);
                for value in held.iter().filter(|value| !matches!(value, Known::Heap(_))) {
                    self.leak(value);
                }
            }
            _ => {}
        }
    }

    /// Text of a template; raw ones keep their backslashes.
    pub(crate) fn template(&mut self, node: Node<'t>, raw: bool) -> Known {
        let mut text = Known::text("");
        let mut end = node.start_byte() + 1;
        for hole in children(node).into_iter().filter(|child| child.kind() == "template_substitution") {
            text = self.joined(text, fixed(self.program, end, hole.start_byte(), raw));
            let value = hole.named_child(0).map_or(Known::Unknown, |inner| self.value(inner));
            text = self.joined(text, value);
            end = hole.end_byte();
        }
        self.joined(text, fixed(self.program, end, node.end_byte().saturating_sub(1), raw))
    }

    /// Two values as one text.
    pub(crate) fn joined(&mut self, left: Known, right: Known) -> Known {
        if left.sides() * right.sides() > MOST_SIDES || self.depth > DEEPEST || !self.spend(left.bytes() + right.bytes()) {
            return Known::Text(Rc::new(vec![Piece::Unknown]));
        }
        if let Known::Either(call, states, both) = left {
            let (one, other) = (*both).clone();
            self.depth += 1;
            let both = (self.joined(one, right.clone()), self.joined(other, right));
            self.depth -= 1;
            return Known::either(call, states, both.0, both.1);
        }
        if let Known::Either(call, states, both) = right {
            let (one, other) = (*both).clone();
            self.depth += 1;
            let both = (self.joined(left.clone(), one), self.joined(left, other));
            self.depth -= 1;
            return Known::either(call, states, both.0, both.1);
        }
        if let (Known::Literal(Value::String(left)), Known::Literal(right)) = (&left, &right)
            && let Some(right) = literals::shown(right)
        {
            return Known::text(format!("{left}{right}"));
        }
        let mut pieces: Vec<Piece> = self.in_text(&left);
        for piece in self.in_text(&right) {
            match (pieces.last_mut(), piece) {
                (Some(Piece::Literal(text)), Piece::Literal(more)) => text.push_str(&more),
                (Some(Piece::Unknown), Piece::Unknown) => {}
                (_, piece) => pieces.push(piece),
            }
        }
        pieces.retain(|piece| !matches!(piece, Piece::Literal(text) if text.is_empty()));
        Known::Text(Rc::new(pieces))
    }

    fn binary(&mut self, node: Node<'t>) -> Known {
        // Sums of many texts nest to the left: their parts are collected, not followed into.
        let (mut right, mut left) = (Vec::new(), node);
        while left.kind() == "binary_expression" && self.operator(left) == "+" {
            right.extend(left.child_by_field_name("right"));
            let Some(next) = left.child_by_field_name("left") else { return Known::Unknown };
            left = next;
        }
        if right.is_empty() {
            return self.compared(node);
        }
        let mut sum = self.value(left);
        for part in right.into_iter().rev() {
            let part = self.value(part);
            sum = match (&sum, &part) {
                (Known::Literal(Value::Number(one)), Known::Literal(Value::Number(other))) => {
                    let total = one.as_f64().zip(other.as_f64()).map(|(one, other)| one + other);
                    total.and_then(literals::float).map_or(Known::Unknown, Known::Literal)
                }
                // Of two unknown values, `+` may be that of numbers.
                _ if is_text(&sum) || is_text(&part) => self.joined(sum, part),
                _ => Known::Unknown,
            };
        }
        sum
    }

    fn operator(&self, node: Node<'t>) -> &'t str {
        node.child_by_field_name("operator").map_or("", |operator| source(operator, self.program))
    }

    fn compared(&mut self, node: Node<'t>) -> Known {
        let operator = self.operator(node);
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return Known::Unknown;
        };
        let left = self.value(left);
        match operator {
            "&&" | "||" | "??" => self.short(operator, &left, right),
            "===" | "==" => conditions::equal(&left, &self.value(right), operator == "==="),
            "!==" | "!=" => conditions::not(&conditions::equal(&left, &self.value(right), operator == "!==")),
            _ => smaller(operator, &left, &self.value(right)),
        }
    }

    /// `&&`, `||` and `??`, whose right side may not be evaluated.
    fn short(&mut self, operator: &str, left: &Known, right: Node<'t>) -> Known {
        let decided = match operator {
            "&&" => left.truth(),
            "||" => left.truth().map(|truth| !truth),
            _ => left.is_nothing(),
        };
        match decided {
            Some(true) => return self.value(right),
            Some(false) => return left.clone(),
            None => {}
        }
        let exit = matches!(left, Known::Part(_, name) if &**name == member::EXIT_CODE || &**name == member::SESSION);
        let condition = match (operator, left) {
            ("??", Known::Part(..)) if exit => {
                let Known::Test(call, states) = conditions::not(&conditions::equal(left, &Known::Undefined, true)) else {
                    return Known::Unknown;
                };
                [Condition::Result { call, states: states.others() }; 2]
            }
            ("&&", _) => self.condition(left),
            _ => {
                let [holds, fails] = self.condition(left);
                [fails, holds]
            }
        };
        let side = self.guarded(right, condition[0]);
        let tested = conditions::both(left, &side, operator == "&&");
        if !matches!(tested, Known::Unknown) {
            return tested;
        }
        match (condition[0], operator) {
            (Condition::Result { call, states }, _) => Known::either(call, states, side, left.clone()),
            _ => Known::Unknown,
        }
    }

    /// Value of an expression that is evaluated on a condition.
    fn guarded(&mut self, node: Node<'t>, condition: Condition) -> Known {
        let certain = std::mem::replace(&mut self.certain, false);
        let length = self.path.len();
        self.path.push(condition);
        self.nested += 1;
        let value = self.value(node);
        self.nested -= 1;
        self.path.truncate(length);
        self.certain = certain;
        scan::forget(self, node);
        value
    }

    fn ternary(&mut self, node: Node<'t>) -> Known {
        let condition = node.child_by_field_name("condition").map_or(Known::Unknown, |condition| self.value(condition));
        let (Some(yes), Some(no)) = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative")) else {
            return Known::Unknown;
        };
        if let Some(truth) = condition.truth() {
            return self.value(if truth { yes } else { no });
        }
        let [holds, fails] = self.condition(&condition);
        let (yes, no) = (self.guarded(yes, holds), self.guarded(no, fails));
        // `typeof r === "string" ? r : JSON.stringify(r)` is how a whole result is printed in any case.
        if let Some(whole) = same_whole(&yes, &no) {
            return whole;
        }
        match holds {
            Condition::Result { call, states } => Known::either(call, states, yes, no),
            Condition::Choice { .. } => Known::Unknown,
        }
    }

    fn unary(&mut self, node: Node<'t>) -> Known {
        let value = node.child_by_field_name("argument").map_or(Known::Unknown, |argument| self.value(argument));
        match (self.operator(node), &value) {
            ("!", value) => conditions::not(value),
            ("-", Known::Literal(Value::Number(number))) => {
                number.as_f64().map(|number| -number).and_then(literals::float).map_or(Known::Unknown, Known::Literal)
            }
            ("+", Known::Literal(Value::Number(_))) => value,
            ("void", _) => Known::Undefined,
            ("delete", _) => {
                scan::forget(self, node);
                Known::Unknown
            }
            _ => Known::Unknown,
        }
    }

    fn assignment(&mut self, node: Node<'t>) -> Known {
        let value = node.child_by_field_name("right").map_or(Known::Unknown, |right| self.value(right));
        let Some(left) = node.child_by_field_name("left") else { return value };
        if left.kind() == "identifier" {
            let name = source(left, self.program);
            self.assign(name, value.clone());
        } else {
            self.leak(&value);
            scan::forget(self, node);
        }
        value
    }

    /// `i++` and `i--`, as counting loops have them.
    fn update(&mut self, node: Node<'t>) -> Known {
        let name = node.child_by_field_name("argument").filter(|argument| argument.kind() == "identifier");
        let name = name.map(|name| source(name, self.program));
        let step = if self.operator(node) == "++" { 1 } else { -1 };
        match name.and_then(|name| Some((name, self.lookup(name)?))) {
            Some((name, Known::Literal(Value::Number(number)))) if number.is_i64() => {
                let next = number
                    .as_i64()
                    .and_then(|number| number.checked_add(step))
                    .map_or(Known::Unknown, |next| Known::Literal(Value::from(next)));
                self.assign(name, next);
            }
            _ => scan::forget(self, node),
        }
        Known::Unknown
    }

    fn object(&mut self, node: Node<'t>) -> Known {
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

    fn key(&mut self, node: Node<'t>) -> Option<Rc<str>> {
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

    fn array(&mut self, node: Node<'t>) -> Known {
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

    fn member_expression(&mut self, node: Node<'t>) -> Known {
        let object = node.child_by_field_name("object").map_or(Known::Unknown, |object| self.value(object));
        let name = node.child_by_field_name("property").map_or("", |property| source(property, self.program));
        self.member(&object, name)
    }

    fn subscript(&mut self, node: Node<'t>) -> Known {
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
                if self.depth > DEEPEST {
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
        for index in 0..pattern.child_count() {
            let Some(child) = pattern.child(index) else { continue };
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
        if depth > DEEPEST || !self.spend(bytes) {
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

/// The text of a whole result, if one of two values is that and the other the result.
fn same_whole(one: &Known, other: &Known) -> Option<Known> {
    let ((Known::Result(call), Known::Text(pieces)) | (Known::Text(pieces), Known::Result(call))) = (one, other) else { return None };
    let whole = Piece::Result { call: *call, part: ResultPart::Whole };
    (pieces.as_slice() == [whole]).then(|| Known::Text(Rc::clone(pieces)))
}

/// Comparison of two numbers by size.
fn smaller(operator: &str, left: &Known, right: &Known) -> Known {
    let (Known::Literal(Value::Number(left)), Known::Literal(Value::Number(right))) = (left, right) else { return Known::Unknown };
    let Some(order) = left.as_f64().zip(right.as_f64()).and_then(|(left, right)| left.partial_cmp(&right)) else { return Known::Unknown };
    let truth = match operator {
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        _ => return Known::Unknown,
    };
    Known::Literal(Value::Bool(truth))
}

/// Sets a member of an object: the last one counts, at the place of the first.
fn put(members: &mut MemberList, name: Rc<str>, value: Known) {
    match members.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => *known = value,
        None => members.push((name, value)),
    }
}

/// A member that is read, not called.
fn plain(value: Known) -> Known {
    if let Known::Method(..) = value { Known::Unknown } else { value }
}

/// Whether a value is surely a text.
fn is_text(value: &Known) -> bool {
    match value {
        Known::Text(_) => true,
        Known::Either(_, _, both) => is_text(&both.0) && is_text(&both.1),
        Known::Part(_, name) => &**name == member::OUTPUT,
        _ => value.as_text().is_some(),
    }
}

/// Fixed part of a template.
fn fixed(program: &str, from: usize, to: usize, raw: bool) -> Known {
    let text = program.get(from..to).unwrap_or_default();
    // Line ends within templates are all the same.
    let text = text.replace("\r\n", "\n");
    if raw { Known::text(text) } else { literals::unescape(&text).map_or(Known::Unknown, Known::text) }
}
