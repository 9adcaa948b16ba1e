//! Values of expressions.

use crate::conditions;
use crate::literals::{self, source};
use crate::scan;
use crate::values::{Closure, DEEPEST_VALUE, Known};
use crate::walk::{Reader, children};
use serde_json::Value;
use std::rc::Rc;
use tooltrail_model::script::{Condition, Piece, ResultPart, member};
use tree_sitter::Node;

/// Most alternatives of a text.
// Each test of a result that a text depends on may double its alternatives.
const MOST_SIDES: usize = 8;

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
            // A definition runs nothing: the body is followed where the function is called.
            "arrow_function" | "function_expression" => self.closure(node),
            "binary_expression" => self.binary(node),
            "ternary_expression" => self.ternary(node),
            "unary_expression" => self.unary(node),
            "assignment_expression" => self.assignment(node),
            "update_expression" => self.update(node),
            "sequence_expression" => children(node).into_iter().fold(Known::Undefined, |_, part| self.value(part)),
            "regex" | "this" | "super" | "meta_property" => Known::Unknown,
            // A constructor may call the functions that it is given, as `new Promise` does.
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

    pub(crate) fn name(&mut self, name: &str) -> Known {
        if self.blind {
            // A scanned part runs at an unknown time, when names may have other values.
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
        // From here on the program runs only if none of these failed; without `await`, a failure would not stop it.
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
            // Whoever gets hold of a tool may call it unseen.
            Known::Tools | Known::Tool(_) => self.script.complete = false,
            // The same goes for printing: the list of texts may lack some from here on.
            Known::Global(name) if &**name == "text" => self.loosen(),
            Known::Function(at) => {
                if let Some(Closure { node, .. }) = self.closures.get(*at).copied() {
                    scan::scan(self, node.child_by_field_name("body").unwrap_or(node));
                }
            }
            // Nested ones as well: what they hold is forgotten with them.
            Known::Heap(at) => scan::spoil(self, *at).iter().for_each(|held| self.leak(held)),
            Known::Promise(inner, _) | Known::Method(inner, _) => self.leak(inner),
            Known::Either(_, _, both) => {
                self.leak(&both.0);
                self.leak(&both.1);
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
        if left.sides() * right.sides() > MOST_SIDES || self.depth > DEEPEST_VALUE || !self.spend(left.bytes() + right.bytes()) {
            return Known::Text(Rc::new(vec![Piece::Unknown]));
        }
        // Each alternative becomes a whole text, because the output is compared with whole texts.
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
            // These members are absent in known states, so `r.exit_code ?? …` tests how the command ended.
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
        // It may not have run, so the values that it assigns are unknown afterwards.
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
            // No result tells later which of the two it was.
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
            // A member of something: from there the value may be called or changed under other names.
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
