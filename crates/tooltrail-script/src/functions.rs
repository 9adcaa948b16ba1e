//! Calls: of tools, of functions that the program defines, and of the few functions of the language that matter.

use crate::scan;
use crate::values::{Closure, HeapValue, Known};
use crate::walk::{Floating, Flow, Reader, children};
use serde_json::Value;
use std::rc::Rc;
use tooltrail_model::script::{Piece, States, member};
use tree_sitter::Node;

/// Most elements of a list for which a function is followed.
// The body is followed once for each element, so a long list would use up the steps of the whole program.
const MOST_ELEMENTS: usize = 200;

/// Methods that leave what they belong to as it was.
// A method that is missing here makes its object unknown: less is proved then, and nothing false.
pub(crate) const HARMLESS: &[&str] = &[
    "map",
    "forEach",
    "join",
    "filter",
    "find",
    "findIndex",
    "some",
    "every",
    "slice",
    "includes",
    "indexOf",
    "entries",
    "keys",
    "values",
    "concat",
    "flat",
    "flatMap",
    "reduce",
    "trim",
    "toString",
    "split",
    "replace",
    "match",
    "test",
    "startsWith",
    "endsWith",
    "then",
    "catch",
    "stringify",
    "raw",
];

impl<'t> Reader<'t> {
    /// A function of the program.
    pub(crate) fn closure(&mut self, node: Node<'t>) -> Known {
        self.closures.push(Closure { node, scope: self.scope });
        Known::Function(self.closures.len() - 1)
    }

    pub(crate) fn call_expression(&mut self, node: Node<'t>) -> Known {
        let Some(function) = node.child_by_field_name("function") else { return Known::Unknown };
        // Before the arguments, as the language does: calls and prints are listed in the order in which they happen.
        let callee = self.value(function);
        let Some(list) = node.child_by_field_name("arguments") else { return Known::Unknown };
        // A tag may return anything; `String.raw` is the only one whose result is known.
        if list.kind() == "template_string" {
            let raw = matches!(&callee, Known::Method(object, name) if &**name == "raw" && is_global(object, "String"));
            let text = self.template(list, raw);
            return if raw { text } else { Known::Unknown };
        }
        let (mut arguments, mut spread) = (Vec::new(), false);
        for argument in children(list) {
            if argument.kind() != "spread_element" {
                arguments.push(self.value(argument));
                continue;
            }
            let value = argument.named_child(0).map_or(Known::Unknown, |inner| self.value(inner));
            match self.elements(&value) {
                Some(elements) => arguments.extend(elements),
                // It may have any length, so the place of every argument behind it is unknown.
                None => spread = true,
            }
        }
        // `f?.()` calls nothing where `f` is missing, so only known callees are followed there.
        if node.child_by_field_name("optional_chain").is_some()
            && !matches!(callee, Known::Tool(_) | Known::Function(_) | Known::Method(..))
        {
            return self.unknown_call(&callee, &arguments);
        }
        match callee {
            Known::Tool(name) => self.tool_call(&name, node, &arguments, spread),
            Known::Function(at) if !spread => self.inlined(at, &arguments),
            Known::Global(name) if !spread => self.global(&name, &arguments),
            Known::Method(object, name) if !spread => self.method(&object, &name, &arguments),
            callee => self.unknown_call(&callee, &arguments),
        }
    }

    fn unknown_call(&mut self, callee: &Known, arguments: &[Known]) -> Known {
        // What is not followed may call and change whatever it can reach.
        self.leak(callee);
        for argument in arguments {
            self.leak(argument);
        }
        Known::Unknown
    }

    fn tool_call(&mut self, name: &str, node: Node<'t>, arguments: &[Known], spread: bool) -> Known {
        use tooltrail_model::script::Argument;
        let argument = match arguments.first() {
            _ if spread => Argument::Computed,
            None => Argument::Missing,
            Some(first) => self.plain_argument(first),
        };
        // The scan that reads blindly lists the calls itself, as uncertain ones.
        if self.blind {
            return Known::Unknown;
        }
        match self.call(name, node, argument, true) {
            Some(call) => Known::Promise(Rc::new(Known::Result(call)), Rc::new(vec![call])),
            None => Known::Unknown,
        }
    }

    /// Follows a function of the program with its arguments.
    pub(crate) fn inlined(&mut self, at: usize, arguments: &[Known]) -> Known {
        let Some(Closure { node, scope }) = self.closures.get(at).copied() else { return Known::Unknown };
        let Some(body) = node.child_by_field_name("body") else { return Known::Unknown };
        let is_async = node.child(0).is_some_and(|first| first.kind() == "async");
        // A generator runs when its values are asked for, which is not followed.
        if self.blind || node.kind().starts_with("generator") || !self.enter(node) {
            return Known::Unknown;
        }
        let outer = self.open(scope);
        self.parameters(node, arguments);
        let (first, length, prints) = (self.script.calls.len(), self.path.len(), self.script.prints.len());
        // `promised` takes back what this function awaits itself, and has to tell it from what was awaited before.
        let awaited = self.awaited.clone();
        // Both are about one function: a `return` in this one does not end its caller.
        let (returned, nested) = (self.returned, std::mem::take(&mut self.nested));
        self.inlining += 1;
        let floating = std::mem::take(&mut self.floating);
        let flow = if body.kind() == "statement_block" { self.block(body) } else { Flow::Return(self.value(body)) };
        self.path.truncate(length);
        self.scope = outer;
        self.depth -= 1;
        self.inlining -= 1;
        self.floating.splice(..0, floating);
        let early = self.returned && !returned;
        (self.returned, self.nested) = (returned, nested);
        let value = match flow {
            // Another `return` may have given another value.
            Flow::Return(_) | Flow::Next if early => Known::Unknown,
            Flow::Return(value) => value,
            Flow::Next => Known::Undefined,
            Flow::Exit | Flow::Throw => {
                self.doubt();
                Known::Unknown
            }
        };
        if !is_async {
            return value;
        }
        self.promised(value, first, prints, &awaited)
    }

    /// Promise of an asynchronous function: what it awaited is awaited only if somebody awaits the promise.
    fn promised(&mut self, value: Known, first: usize, prints: usize, awaited: &[bool]) -> Known {
        let mut calls: Vec<usize> = Vec::new();
        for (call, now) in self.awaited.iter_mut().enumerate() {
            let before = awaited.get(call).copied().unwrap_or(false);
            if *now && !before {
                calls.push(call);
                *now = false;
            }
        }
        if self.script.calls.len() > first && self.script.prints.len() > prints {
            let (prints, calls) = (prints..self.script.prints.len(), first..self.script.calls.len());
            self.floating.push(Floating { prints, calls });
        }
        let inner = match value {
            // A promise that is returned from an asynchronous function is awaited together with it.
            Known::Promise(inner, more) => {
                calls.extend(more.iter());
                (*inner).clone()
            }
            other => other,
        };
        Known::Promise(Rc::new(inner), Rc::new(calls))
    }

    fn parameters(&mut self, node: Node<'t>, arguments: &[Known]) {
        if let Some(parameter) = node.child_by_field_name("parameter") {
            self.bind(parameter, arguments.first().cloned().unwrap_or(Known::Undefined));
            return;
        }
        for (at, parameter) in node.child_by_field_name("parameters").map(children).unwrap_or_default().into_iter().enumerate() {
            let given = arguments.get(at).cloned().unwrap_or(Known::Undefined);
            match parameter.kind() {
                "assignment_pattern" => {
                    // A default stands in for `undefined` alone; `null` is a value.
                    let value = match (given.is_nothing(), parameter.child_by_field_name("right")) {
                        (Some(true), Some(default)) if matches!(given, Known::Undefined) => self.value(default),
                        (Some(_), _) => given,
                        // It may be `undefined` or not, so it may be the default or not.
                        _ => Known::Unknown,
                    };
                    if let Some(name) = parameter.child_by_field_name("left") {
                        self.bind(name, value);
                    }
                }
                "rest_pattern" => {
                    let rest = self.hold(HeapValue::Array(arguments.get(at..).unwrap_or_default().to_vec()));
                    if let Some(name) = parameter.named_child(0) {
                        self.bind(name, rest);
                    }
                }
                _ => self.bind(parameter, given),
            }
        }
    }

    fn global(&mut self, name: &str, arguments: &[Known]) -> Known {
        match (name, arguments) {
            ("text", [value, ..]) => {
                self.print(value);
                Known::Undefined
            }
            ("text", []) => {
                self.print(&Known::Unknown);
                Known::Undefined
            }
            // A notice is an output of its own, which is not followed.
            ("notify", _) => {
                self.loosen();
                Known::Undefined
            }
            ("image" | "audio" | "generatedImage" | "yield_control", _) => Known::Undefined,
            // As a statement it ends the program (`effect`); within an expression it may or may not have run.
            ("exit", _) => {
                self.doubt();
                Known::Undefined
            }
            ("String", [value]) => {
                let text = self.joined(Known::text(""), value.clone());
                // The text of an object depends on its methods, which are not followed.
                if matches!(value, Known::Heap(_) | Known::Result(_)) { Known::Unknown } else { text }
            }
            ("store", _) => Known::Undefined,
            _ => self.unknown_call(&Known::Unknown, arguments),
        }
    }

    fn method(&mut self, object: &Known, name: &str, arguments: &[Known]) -> Known {
        match (object, name) {
            (Known::Global(global), "stringify") if &**global == "JSON" => self.stringify(arguments),
            (Known::Global(global), "all") if &**global == "Promise" => self.all(arguments.first()),
            (Known::Global(global), "allSettled") if &**global == "Promise" => self.settled(arguments.first()),
            (Known::Global(global), "resolve") if &**global == "Promise" => match arguments.first().cloned().unwrap_or(Known::Undefined) {
                promise @ Known::Promise(..) => promise,
                value => Known::Promise(Rc::new(value), Rc::new(Vec::new())),
            },
            (Known::Global(global), "log" | "info" | "warn" | "error" | "debug") if &**global == "console" => Known::Undefined,
            (Known::Global(global), "entries" | "values" | "keys") if &**global == "Object" => self.listed(name, arguments),
            (Known::Heap(_), _) => self.list_method(object, name, arguments),
            (Known::Literal(Value::String(text)), "trim") => Known::text(text.trim()),
            _ => {
                if let Known::Promise(_, calls) = object {
                    // `.then` and `.catch` hand the result on; an error may stop there.
                    for call in calls.iter() {
                        if let Some(call) = self.script.calls.get_mut(*call) {
                            call.caught = true;
                        }
                    }
                }
                self.unknown_call(object, arguments)
            }
        }
    }

    fn stringify(&mut self, arguments: &[Known]) -> Known {
        // A replacer may leave out anything.
        if arguments.get(1).is_some_and(|replacer| replacer.is_nothing() != Some(true)) {
            arguments.iter().for_each(|argument| self.leak(argument));
            return Known::Text(Rc::new(vec![Piece::Unknown]));
        }
        let Some(value) = arguments.first() else { return Known::Undefined };
        if let (None, Some(literal)) = (arguments.get(2), self.literal(value, 0)) {
            return Known::text(literal.to_string());
        }
        let piece = self.piece(value, &Vec::new(), 0).unwrap_or(Piece::Unknown);
        let piece = match (value, piece) {
            (Known::Heap(_) | Known::Result(_), piece) => piece,
            _ => Piece::Unknown,
        };
        Known::Text(Rc::new(vec![piece]))
    }

    /// `Promise.all`.
    fn all(&mut self, list: Option<&Known>) -> Known {
        let Some(elements) = list.and_then(|list| self.elements(list)) else {
            list.cloned().iter().for_each(|list| self.leak(list));
            return Known::Unknown;
        };
        let (mut values, mut calls) = (Vec::new(), Vec::new());
        for element in elements {
            values.push(match element {
                Known::Promise(inner, more) => {
                    calls.extend(more.iter());
                    (*inner).clone()
                }
                other => other,
            });
        }
        let list = self.hold(HeapValue::Array(values));
        Known::Promise(Rc::new(list), Rc::new(calls))
    }

    /// `Promise.allSettled`, which never throws.
    fn settled(&mut self, list: Option<&Known>) -> Known {
        let Known::Promise(inner, calls) = self.all(list) else { return Known::Unknown };
        for call in calls.iter() {
            if let Some(call) = self.script.calls.get_mut(*call) {
                call.caught = true;
            }
        }
        let mut wrapped = Vec::new();
        for value in self.elements(&inner).unwrap_or_default() {
            // A rejected call has a `reason` in place of the value: other members are possible.
            let members = vec![(Rc::from("status"), Known::Unknown), (Rc::from("value"), value)];
            wrapped.push(self.hold(HeapValue::Object(members, true)));
        }
        let list = self.hold(HeapValue::Array(wrapped));
        Known::Promise(Rc::new(list), calls)
    }

    /// `Object.entries` and its like, of an object of which every member is known.
    fn listed(&mut self, name: &str, arguments: &[Known]) -> Known {
        let Some((members, false)) = arguments.first().and_then(|object| self.members(object)) else {
            return self.unknown_call(&Known::Unknown, arguments);
        };
        // Names that are numbers come first, whatever their place.
        if members.iter().any(|(name, _)| name.bytes().all(|byte| byte.is_ascii_digit())) {
            return Known::Unknown;
        }
        let mut list = Vec::new();
        for (key, value) in members {
            let key = Known::text(&*key);
            list.push(match name {
                "keys" => key,
                "values" => value,
                _ => self.hold(HeapValue::Array(vec![key, value])),
            });
        }
        self.hold(HeapValue::Array(list))
    }

    fn list_method(&mut self, object: &Known, name: &str, arguments: &[Known]) -> Known {
        let Some(elements) = self.elements(object).filter(|elements| elements.len() <= MOST_ELEMENTS) else {
            return self.unknown_call(object, arguments);
        };
        match (name, arguments) {
            ("map" | "forEach", [Known::Function(function), ..]) => {
                let mut values = Vec::new();
                for (at, element) in elements.into_iter().enumerate() {
                    values.push(self.inlined(*function, &[element, Known::Literal(Value::from(at)), object.clone()]));
                }
                if name == "map" { self.hold(HeapValue::Array(values)) } else { Known::Undefined }
            }
            ("push", _) => {
                if let Known::Heap(at) = object
                    && let Some(HeapValue::Array(list)) = self.heap.get_mut(*at)
                {
                    list.extend(arguments.iter().cloned());
                    if list.len() > MOST_ELEMENTS {
                        // Too long to follow. An unknown list proves nothing, a shortened one would prove what is wrong.
                        scan::spoil(self, *at).iter().for_each(|held| self.leak(held));
                    }
                }
                Known::Unknown
            }
            ("join", _) => {
                let Some(between) = arguments.first().map_or(Some(","), Known::as_text).map(str::to_owned) else { return Known::Unknown };
                let mut text = Known::text("");
                for (at, element) in elements.into_iter().enumerate() {
                    if at > 0 {
                        text = self.joined(text, Known::text(between.as_str()));
                    }
                    text = self.joined(text, in_list(element));
                }
                text
            }
            ("entries", []) => {
                let mut pairs = Vec::new();
                for (at, element) in elements.into_iter().enumerate() {
                    pairs.push(self.hold(HeapValue::Array(vec![Known::Literal(Value::from(at)), element])));
                }
                self.hold(HeapValue::Array(pairs))
            }
            ("concat", _) => {
                let mut all = elements;
                for argument in arguments {
                    match (self.elements(argument), argument) {
                        (Some(more), _) => all.extend(more),
                        // A plain value is added as an element; of anything else it is unknown whether it is a list.
                        (None, Known::Literal(_) | Known::Result(_)) => all.push(argument.clone()),
                        _ => return Known::Unknown,
                    }
                }
                self.hold(HeapValue::Array(all))
            }
            // These change nothing, and may call what they are given.
            (name, _) if HARMLESS.contains(&name) => self.unknown_call(&Known::Unknown, arguments),
            _ => self.unknown_call(object, arguments),
        }
    }
}

/// An element as `join` writes it: what is not there leaves no text.
fn in_list(element: Known) -> Known {
    let states = match &element {
        Known::Undefined | Known::Literal(Value::Null) => return Known::text(""),
        // Each of the two members is absent in the states of the other, and `join` writes nothing there.
        Known::Part(_, name) if &**name == member::EXIT_CODE => States::ENDED,
        Known::Part(_, name) if &**name == member::SESSION => States::BACKGROUND,
        _ => return element,
    };
    let Known::Part(call, _) = element else { return element };
    Known::either(call, states, element, Known::text(""))
}

fn is_global(value: &Known, name: &str) -> bool {
    matches!(value, Known::Global(global) if &**global == name)
}
