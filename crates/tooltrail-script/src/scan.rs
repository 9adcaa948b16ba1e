//! Parts of a program that are not followed: their calls are listed as uncertain, and what they may change is forgotten.

use crate::functions::HARMLESS;
use crate::literals::source;
use crate::syntax::visit;
use crate::values::{HeapValue, Known};
use crate::walk::Reader;
use std::ops::ControlFlow;
use tooltrail_model::script::Argument;
use tree_sitter::Node;

/// Functions by which a program prints, and names by which it may do anything.
const OUTPUTS: &[&str] = &["text", "notify", "globalThis", "eval"];

/// Lists the calls below a node as uncertain.
pub(crate) fn scan<'t>(reader: &mut Reader<'t>, node: Node<'t>) {
    let (mut calls, mut names) = (Vec::new(), Vec::new());
    visit(node, |node| {
        match node.kind() {
            "call_expression" => calls.push(node),
            "identifier" | "shorthand_property_identifier" => names.push(node),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    for name in names {
        let name = source(name, reader.program);
        match reader.lookup(name) {
            None if OUTPUTS.contains(&name) => reader.loosen(),
            None if name == "exit" => reader.doubt(),
            None if name == "tools" => reader.script.complete = false,
            Some(Known::Tools | Known::Tool(_) | Known::Function(_) | Known::Global(_)) => {
                reader.script.complete = false;
                reader.loosen();
            }
            _ => {}
        }
    }
    for call in calls {
        let Some(tool) = tool(reader, call) else { continue };
        let argument = call.child_by_field_name("arguments").map_or(Argument::Missing, |list| blind(reader, list));
        let caught = std::mem::replace(&mut reader.caught, 1);
        reader.call(&tool, call, argument, false);
        reader.caught = caught;
    }
    forget(reader, node);
}

/// Name of the tool that an expression calls by `tools.NAME` or by a name that stands for it.
fn tool(reader: &Reader<'_>, call: Node<'_>) -> Option<String> {
    let function = call.child_by_field_name("function")?;
    if function.kind() == "identifier" {
        return match reader.lookup(source(function, reader.program)) {
            Some(Known::Tool(name)) => Some(name.to_string()),
            _ => None,
        };
    }
    let object = source(function.child_by_field_name("object")?, reader.program);
    if !(object == "tools" && reader.lookup(object).is_none() || matches!(reader.lookup(object), Some(Known::Tools))) {
        return None;
    }
    match function.kind() {
        "member_expression" => Some(source(function.child_by_field_name("property")?, reader.program).to_owned()),
        "subscript_expression" => {
            let index = function.child_by_field_name("index").filter(|index| index.kind() == "string")?;
            crate::literals::string(index, reader.program)
        }
        _ => None,
    }
}

/// Argument of a call that is only scanned: names have no values there.
fn blind<'t>(reader: &mut Reader<'t>, list: Node<'t>) -> Argument {
    let blind = std::mem::replace(&mut reader.blind, true);
    let (calls, certain) = (reader.script.calls.len(), reader.certain);
    let argument = reader.argument(list);
    reader.script.calls.truncate(calls);
    reader.awaited.truncate(calls);
    (reader.blind, reader.certain) = (blind, certain);
    argument
}

/// Forgets the values of names and objects that a part of the program may change.
pub(crate) fn forget<'t>(reader: &mut Reader<'t>, node: Node<'t>) {
    reader.cost(node);
    let mut changed = Vec::new();
    visit(node, |node| {
        let target = match node.kind() {
            "assignment_expression" | "augmented_assignment_expression" => node.child_by_field_name("left"),
            "update_expression" => node.child_by_field_name("argument"),
            "unary_expression" if node.child(0).is_some_and(|operator| operator.kind() == "delete") => node.child_by_field_name("argument"),
            "for_in_statement" if node.child_by_field_name("kind").is_none() => node.child_by_field_name("left"),
            // Methods may change what they belong to, functions what they are given.
            "call_expression" => {
                let function = node.child_by_field_name("function");
                let method = function.and_then(|function| function.child_by_field_name("property"));
                let harmless = |name: Node<'_>| HARMLESS.contains(&source(name, reader.program));
                let known = function.map_or("", |function| source(function, reader.program));
                if known != "text" && known != "String" && !known.starts_with("tools.") && known != "JSON.stringify" {
                    changed.extend(node.child_by_field_name("arguments").map(|arguments| (arguments, false)));
                }
                function.filter(|_| method.is_some_and(|method| !harmless(method)))
            }
            _ => None,
        };
        changed.extend(target.map(|target| (target, node.kind() != "call_expression")));
        ControlFlow::Continue(())
    });
    for (target, assigned) in changed {
        let direct = target.kind() == "identifier" || target.kind().ends_with("_pattern");
        let mut names = Vec::new();
        visit(target, |node| {
            if matches!(node.kind(), "identifier" | "shorthand_property_identifier_pattern" | "shorthand_property_identifier") {
                names.push(node);
            }
            ControlFlow::Continue(())
        });
        for name in names {
            let name = source(name, reader.program);
            match reader.lookup(name) {
                // What it held may still be called from there.
                Some(Known::Heap(at)) => spoil(reader, at).iter().for_each(|held| reader.leak(held)),
                // What a result has after that is not what the tool returned.
                Some(Known::Result(_)) if assigned && !direct => reader.loosen(),
                _ => {}
            }
            if assigned && direct && reader.lookup(name).is_some() {
                reader.assign(name, Known::Unknown);
            }
        }
    }
}

/// Forgets what an array or object holds, and all that it leads to. Gives what was forgotten, without arrays and objects.
pub(crate) fn spoil(reader: &mut Reader<'_>, at: usize) -> Vec<Known> {
    let (mut open, mut forgotten) = (vec![at], Vec::new());
    while let Some(at) = open.pop() {
        let Some(value) = reader.heap.get_mut(at) else { continue };
        let held: Vec<Known> = match std::mem::replace(value, HeapValue::Opaque) {
            HeapValue::Array(elements) => elements,
            HeapValue::Object(members, _) => members.into_iter().map(|(_, member)| member).collect(),
            HeapValue::Opaque => Vec::new(),
        };
        for value in held {
            if let Known::Heap(at) = value { open.push(at) } else { forgotten.push(value) }
        }
    }
    forgotten
}

/// Whether a part of the program may end it.
pub(crate) fn ends(program: &str, node: Node<'_>) -> bool {
    let mut found = false;
    visit(node, |node| {
        found |=
            matches!(node.kind(), "return_statement" | "throw_statement") || node.kind() == "identifier" && source(node, program) == "exit";
        ControlFlow::Continue(())
    });
    found
}
