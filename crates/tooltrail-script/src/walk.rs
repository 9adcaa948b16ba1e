//! Statements of a program, in the order in which it runs them.

use crate::syntax;
use crate::values::{Closure, HeapValue, Known, Scope};
use crate::{literals, scan};
use std::cell::Cell;
use std::rc::Rc;
use tooltrail_model::script::{Argument, Condition, Script, ScriptCall};
use tree_sitter::{Node, Tree};

/// Deepest nesting of statements and expressions that is followed, functions included.
// Following is recursive: without a limit, a hostile program would use up the stack.
const DEEPEST: usize = 60;
/// Most statements and expressions that are followed.
// A function is followed anew at each call, so a few lines that call one another twice would take practically forever.
const MOST_STEPS: usize = 100_000;
/// Most calls that are listed.
const MOST_CALLS: usize = 1_000;
/// Most prints that are listed.
const MOST_PRINTS: usize = 1_000;

/// Most bytes of values that are put together: a short program can double a text many times.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// What a program does as far as it was followed.
pub(crate) struct Reader<'t> {
    pub(crate) program: &'t str,
    pub(crate) script: Script,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) scope: usize,
    pub(crate) heap: Vec<HeapValue>,
    pub(crate) closures: Vec<Closure<'t>>,
    /// Conditions on which the present statement runs.
    pub(crate) path: Vec<Condition>,
    /// Whether the present statement surely runs.
    pub(crate) certain: bool,
    /// Whether the program may have ended before the present statement, otherwise than by an error.
    doubted: bool,
    /// Whether the present function may have returned.
    pub(crate) returned: bool,
    /// Number of statements around the present one, in its function, behind which a condition no longer holds.
    pub(crate) nested: usize,
    /// Whether the order or number of prints is no longer known.
    loose: bool,
    /// Number of handlers that would catch an error of the present statement.
    pub(crate) caught: usize,
    /// Asynchronous functions that were called and are not yet awaited.
    pub(crate) floating: Vec<Floating>,
    /// Whether values of names are not known, as in a function that is only scanned.
    pub(crate) blind: bool,
    /// Calls whose end the program waits for.
    pub(crate) awaited: Vec<bool>,
    pub(crate) choices: usize,
    pub(crate) depth: usize,
    /// Number of functions of the program around the present statement.
    pub(crate) inlining: usize,
    steps: usize,
    /// Bytes of values that were put together.
    spent: Cell<usize>,
}

/// An asynchronous function that was called: what it prints may come later.
pub(crate) struct Floating {
    /// Its prints.
    pub(crate) prints: std::ops::Range<usize>,
    /// Its calls.
    pub(crate) calls: std::ops::Range<usize>,
}

/// How a statement ends.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    /// The next statement follows.
    Next,
    /// The function returns.
    Return(Known),
    /// The program ends well.
    Exit,
    /// It throws.
    Throw,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(program: &'t str) -> Self {
        Self {
            program,
            script: Script { complete: true, prints_known: true, ..Script::default() },
            scopes: vec![Scope::default()],
            scope: 0,
            heap: Vec::new(),
            closures: Vec::new(),
            path: Vec::new(),
            certain: true,
            doubted: false,
            returned: false,
            nested: 0,
            loose: false,
            caught: 0,
            floating: Vec::new(),
            blind: false,
            awaited: Vec::new(),
            choices: 0,
            depth: 0,
            inlining: 0,
            steps: 0,
            spent: Cell::new(0),
        }
    }

    /// Reads the whole program.
    pub(crate) fn read(mut self, tree: &'t Tree) -> Script {
        let root = tree.root_node();
        if root.has_error() || syntax::is_deep(tree) {
            // A tree with errors may put statements in the wrong place; following it would prove what the program never did.
            scan::scan(&mut self, root);
            self.script.complete = false;
            self.loosen();
        } else {
            self.block(root);
        }
        self.scatter();
        self.script.prints_known = !self.loose;
        // The error of a call that nobody waits for does not end the program.
        for (call, awaited) in self.script.calls.iter_mut().zip(&self.awaited) {
            call.caught |= !awaited;
        }
        self.script
    }

    /// Nothing that is printed from here on is known.
    pub(crate) fn loosen(&mut self) {
        self.loose = true;
    }

    /// Asynchronous functions were awaited. Prints of one that was awaited at once are in order, those of several run into each other.
    pub(crate) fn settle(&mut self, awaited: &[usize]) {
        if !self.floating.iter().all(|function| awaited.iter().any(|call| function.calls.contains(call))) {
            // Others still run beside these, so the order stays open until they are awaited too.
            return;
        }
        if let [function] = self.floating.as_slice()
            && function.prints.end == self.script.prints.len()
        {
            // Nothing was printed since it returned its promise: awaiting it now is the same as awaiting it at once.
            self.floating.clear();
        }
        self.scatter();
    }

    /// Prints of functions that nobody waited for may come at any time.
    fn scatter(&mut self) {
        if let Some(first) = self.floating.iter().map(|function| function.prints.start).min() {
            self.script.prints.truncate(first);
            self.floating.clear();
            self.loosen();
        }
    }

    /// Whether prints can no longer be listed.
    pub(crate) fn is_loose(&mut self) -> bool {
        self.loose |= self.script.prints.len() >= MOST_PRINTS;
        self.loose
    }

    /// Takes note of a call; `None` where there are too many.
    pub(crate) fn call(&mut self, tool: &str, node: Node<'t>, argument: Argument, once: bool) -> Option<usize> {
        if self.script.calls.len() >= MOST_CALLS {
            self.script.complete = false;
            return None;
        }
        let once = once && self.certain && !self.doubted && !self.returned;
        // `complete` promises that each listed call runs exactly once; one that may not run breaks that for the whole script.
        self.script.complete &= once;
        self.script.calls.push(ScriptCall { tool: tool.to_owned(), span: node.byte_range(), argument, once, caught: self.caught > 0 });
        // By the same numbers as `calls`: a scan that takes back calls cuts both.
        self.awaited.push(false);
        Some(self.script.calls.len() - 1)
    }

    /// Counts a step; false where the limits are reached, and then the node is only scanned.
    pub(crate) fn enter(&mut self, node: Node<'t>) -> bool {
        self.steps += 1;
        if self.depth >= DEEPEST || self.steps > MOST_STEPS {
            // Past the limit of steps, one scan of everything would follow another.
            if self.steps <= MOST_STEPS * 2 {
                self.steps += node.descendant_count();
                scan::scan(self, node);
            }
            self.script.complete = false;
            self.loosen();
            return false;
        }
        self.depth += 1;
        true
    }

    /// Counts the steps of looking through everything below a node.
    pub(crate) fn cost(&mut self, node: Node<'t>) {
        self.steps = self.steps.saturating_add(node.descendant_count());
    }

    /// Counts the bytes of a value that is put together; false where there are too many.
    pub(crate) fn spend(&self, bytes: usize) -> bool {
        self.spent.set(self.spent.get().saturating_add(bytes + 1));
        self.spent.get() <= MOST_BYTES
    }

    /// Opens a scope, and returns the one around it.
    pub(crate) fn open(&mut self, parent: usize) -> usize {
        self.scopes.push(Scope { parent: Some(parent), ..Scope::default() });
        std::mem::replace(&mut self.scope, self.scopes.len() - 1)
    }

    /// Declares a name in the present scope.
    pub(crate) fn declare(&mut self, name: &str, value: Known) {
        if let Some(scope) = self.scopes.get_mut(self.scope) {
            scope.names.insert(Rc::from(name), value);
        }
    }

    /// Value of a name.
    pub(crate) fn lookup(&self, name: &str) -> Option<Known> {
        let mut at = Some(self.scope);
        while let Some(scope) = at.and_then(|at| self.scopes.get(at)) {
            if let Some(value) = scope.names.get(name) {
                return Some(value.clone());
            }
            at = scope.parent;
        }
        None
    }

    /// Gives a name that is declared somewhere a new value.
    pub(crate) fn assign(&mut self, name: &str, value: Known) {
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            let Some(scope) = self.scopes.get_mut(scope) else { return };
            if let Some(known) = scope.names.get_mut(name) {
                *known = value;
                return;
            }
            at = scope.parent;
        }
        // Declared nowhere: a name of the whole program, as in JavaScript without strict mode.
        if let Some(scope) = self.scopes.first_mut() {
            scope.names.insert(Rc::from(name), value);
        }
    }

    /// Follows statements one after the other, in a scope that is open.
    pub(crate) fn block(&mut self, node: Node<'t>) -> Flow {
        let statements = children(node);
        // Functions first, since JavaScript hoists them: a statement may call one that is declared further down.
        for statement in statements.iter().filter(|statement| statement.kind().ends_with("function_declaration")) {
            if let Some(name) = statement.child_by_field_name("name") {
                let function = self.closure(*statement);
                self.declare(literals::source(name, self.program), function);
            }
        }
        for statement in statements {
            match self.statement(statement) {
                Flow::Next => {}
                end => return end,
            }
        }
        Flow::Next
    }

    /// Follows one statement.
    pub(crate) fn statement(&mut self, node: Node<'t>) -> Flow {
        if !self.enter(node) {
            return Flow::Next;
        }
        let flow = self.followed(node);
        self.depth -= 1;
        flow
    }

    fn followed(&mut self, node: Node<'t>) -> Flow {
        match node.kind() {
            "expression_statement" => match node.named_child(0) {
                Some(expression) => self.effect(expression),
                None => Flow::Next,
            },
            "lexical_declaration" | "variable_declaration" => {
                for declarator in children(node).into_iter().filter(|child| child.kind() == "variable_declarator") {
                    let value = declarator.child_by_field_name("value").map_or(Known::Undefined, |value| self.value(value));
                    if let Some(name) = declarator.child_by_field_name("name") {
                        self.bind(name, value);
                    }
                }
                Flow::Next
            }
            "statement_block" => {
                let outer = self.open(self.scope);
                let flow = self.block(node);
                self.scope = outer;
                flow
            }
            "if_statement" => self.branches(node),
            "for_in_statement" => self.each(node),
            "for_statement" => self.counted(node),
            "try_statement" => self.attempt(node),
            "return_statement" => {
                let value = node.named_child(0).map_or(Known::Undefined, |value| self.value(value));
                Flow::Return(value)
            }
            "throw_statement" => {
                if let Some(value) = node.named_child(0) {
                    self.value(value);
                }
                Flow::Throw
            }
            "empty_statement" | "comment" | "hash_bang_line" | "function_declaration" | "generator_function_declaration" => Flow::Next,
            // Jumps are not followed: any statement behind one may have been skipped.
            "labeled_statement" | "break_statement" | "continue_statement" => {
                scan::scan(self, node);
                self.doubt();
                Flow::Next
            }
            _ => self.passed_over(node),
        }
    }

    /// Scans a statement that is not followed.
    pub(crate) fn passed_over(&mut self, node: Node<'t>) -> Flow {
        scan::scan(self, node);
        if scan::ends(self.program, node) {
            self.doubt();
        }
        Flow::Next
    }

    /// The rest of the program may not run, or in another order.
    pub(crate) fn doubt(&mut self) {
        self.doubted = true;
        self.loosen();
    }

    /// Follows an expression that is a statement: one that may end the program.
    fn effect(&mut self, node: Node<'t>) -> Flow {
        let call = if node.kind() == "await_expression" { node.named_child(0).unwrap_or(node) } else { node };
        let name = call.child_by_field_name("function").map(|function| literals::source(function, self.program));
        // A program may define an `exit` of its own, which ends nothing.
        if call.kind() == "call_expression" && name == Some("exit") && self.lookup("exit").is_none() {
            return Flow::Exit;
        }
        self.value(node);
        Flow::Next
    }

    /// Follows the sides of an `if`.
    fn branches(&mut self, node: Node<'t>) -> Flow {
        let condition = node.child_by_field_name("condition").map_or(Known::Unknown, |condition| self.value(condition));
        let sides = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")];
        if let Some(truth) = condition.truth() {
            return sides[usize::from(!truth)].map_or(Flow::Next, |side| self.side(side));
        }
        let conditions = self.condition(&condition);
        let (certain, length) = (self.certain, self.path.len());
        let mut ends = Vec::new();
        for (side, condition) in sides.into_iter().zip(conditions) {
            let Some(side) = side else {
                // Even without an `else`, the program goes on only where the condition fails: `merge` has to know.
                ends.push((condition, Flow::Next));
                continue;
            };
            self.certain = false;
            self.nested += 1;
            self.path.push(condition);
            let flow = self.side(side);
            self.path.truncate(length);
            self.nested -= 1;
            ends.push((condition, flow));
        }
        self.certain = certain;
        // Either side may have run, so the values that one of them assigns are unknown from here on.
        for side in sides.into_iter().flatten() {
            scan::forget(self, side);
        }
        self.merge(ends)
    }

    /// Goes on behind an `if` of which a side may have ended the function or the program.
    fn merge(&mut self, mut ends: Vec<(Condition, Flow)>) -> Flow {
        let ended = ends.iter().filter(|(_, flow)| !matches!(flow, Flow::Next)).count();
        if ended == 0 {
            return Flow::Next;
        }
        if ended == ends.len() {
            // Each side may end in a way of its own: neither the value nor what follows at the caller is certain.
            self.doubt();
            return ends
                .pop()
                .map_or(Flow::Next, |(_, flow)| if matches!(flow, Flow::Return(_)) { Flow::Return(Known::Unknown) } else { flow });
        }
        for (_, flow) in &ends {
            match flow {
                // An error ends the program otherwise than at its end.
                Flow::Throw if self.caught == 0 => {}
                Flow::Return(_) if self.nested == 0 => self.returned = true,
                // Inside another statement, the path cannot keep the condition on which the rest of the function runs.
                Flow::Return(_) => {
                    self.returned = true;
                    self.loosen();
                }
                Flow::Next => {}
                Flow::Exit if self.nested == 0 && self.inlining == 0 => self.stopped(),
                Flow::Throw | Flow::Exit => self.doubt(),
            }
        }
        if let Some((condition, _)) = ends.iter().find(|(_, flow)| matches!(flow, Flow::Next))
            && self.nested == 0
        {
            // The rest of the function runs only where this side was taken.
            self.path.push(*condition);
        }
        Flow::Next
    }

    /// The program may have ended here, on a condition that the path has.
    fn stopped(&mut self) {
        self.doubted = true;
    }

    fn side(&mut self, node: Node<'t>) -> Flow {
        if node.kind() == "else_clause" {
            return node.named_child(0).map_or(Flow::Next, |statement| self.statement(statement));
        }
        self.statement(node)
    }

    /// Follows `try`.
    fn attempt(&mut self, node: Node<'t>) -> Flow {
        let handler = node.child_by_field_name("handler");
        let (certain, length) = (self.certain, self.path.len());
        if let Some(body) = node.child_by_field_name("body") {
            // `try` with `finally` alone lets errors through; only `catch` keeps one from ending the program.
            self.caught += usize::from(handler.is_some());
            self.nested += 1;
            if handler.is_some() {
                // The first call runs for sure; behind it, an error may have led elsewhere.
                self.tried(body);
            } else if !matches!(self.statement(body), Flow::Next) {
                self.doubt();
            }
            self.nested -= 1;
            self.caught -= usize::from(handler.is_some());
            self.path.truncate(length);
            scan::forget(self, body);
        }
        if let Some(body) = handler.and_then(|handler| handler.child_by_field_name("body")) {
            self.certain = false;
            let outer = self.open(self.scope);
            if let Some(name) = handler.and_then(|handler| handler.child_by_field_name("parameter")) {
                self.bind(name, Known::Unknown);
            }
            // The handler runs if something fails, which the text does not tell.
            let choice = self.choice();
            self.path.push(choice);
            self.nested += 1;
            let flow = self.statement(body);
            self.nested -= 1;
            self.path.truncate(length);
            self.scope = outer;
            scan::forget(self, body);
            self.certain = certain;
            if !matches!(flow, Flow::Next | Flow::Throw) {
                self.doubt();
            }
        }
        if let Some(body) = node.child_by_field_name("finalizer").and_then(|finalizer| finalizer.child_by_field_name("body")) {
            self.statement(body);
        }
        Flow::Next
    }

    /// Follows the statements of a `try` block: from the first that may throw, each may be the last.
    fn tried(&mut self, body: Node<'t>) {
        let certain = self.certain;
        let outer = self.open(self.scope);
        for statement in children(body) {
            let before = self.script.calls.len();
            let choice = self.choice();
            self.path.push(choice);
            let flow = self.statement(statement);
            if self.script.calls.len() > before || !self.certain {
                self.certain = false;
            }
            if !matches!(flow, Flow::Next) {
                self.doubt();
                break;
            }
        }
        self.scope = outer;
        self.certain = certain;
    }

    /// A condition that the text does not tell.
    pub(crate) fn choice(&mut self) -> Condition {
        self.choices += 1;
        Condition::Choice { choice: self.choices, holds: true }
    }
}

/// Named children of a node, without comments.
pub(crate) fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children(&mut node.walk()).filter(|child| child.kind() != "comment").collect()
}
