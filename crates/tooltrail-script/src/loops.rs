//! Loops whose rounds are known.

use crate::syntax::visit;
use crate::values::Known;
use crate::walk::{Flow, Reader, children};
use std::ops::ControlFlow;
use tree_sitter::Node;

/// Most rounds of a loop that are followed.
const MOST_ROUNDS: usize = 200;

impl<'t> Reader<'t> {
    /// Follows a loop that counts to a known end.
    pub(crate) fn counted(&mut self, node: Node<'t>) -> Flow {
        let parts = [node.child_by_field_name("condition"), node.child_by_field_name("body"), node.child_by_field_name("increment")];
        let ([Some(condition), Some(body), Some(increment)], Some(start)) = (parts, node.child_by_field_name("initializer")) else {
            return self.passed_over(node);
        };
        self.cost(body);
        if Self::leaves(body) || start.kind() != "lexical_declaration" {
            return self.passed_over(node);
        }
        let outer = self.open(self.scope);
        self.statement(start);
        let mut rounds = 0;
        let flow = loop {
            let goes_on = self.value(condition).truth();
            rounds += 1;
            if goes_on.is_none() || rounds > MOST_ROUNDS {
                break self.passed_over(node);
            }
            if goes_on == Some(false) {
                break Flow::Next;
            }
            let flow = self.statement(body);
            if !matches!(flow, Flow::Next) {
                break flow;
            }
            self.value(increment);
        };
        self.scope = outer;
        flow
    }

    /// Follows `for (const name of list)` where the list is known.
    pub(crate) fn each(&mut self, node: Node<'t>) -> Flow {
        let list = node.child_by_field_name("right").map_or(Known::Unknown, |list| self.value(list));
        let of = node.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "of");
        let awaits = children(node).iter().any(|child| child.kind() == "await");
        let (elements, body) = (self.elements(&list), node.child_by_field_name("body"));
        let (Some(elements), Some(block)) = (elements.filter(|_| of && !awaits), body) else {
            return self.passed_over(body.unwrap_or(node));
        };
        self.cost(block);
        if Self::leaves(block) || node.child_by_field_name("kind").is_none() {
            return self.passed_over(body.unwrap_or(node));
        }
        for element in elements {
            let outer = self.open(self.scope);
            if let Some(name) = node.child_by_field_name("left") {
                self.bind(name, element);
            }
            let flow = self.statement(block);
            self.scope = outer;
            if !matches!(flow, Flow::Next) {
                return flow;
            }
        }
        Flow::Next
    }

    /// Whether anything below a node leaves a loop or function early.
    fn leaves(node: Node<'t>) -> bool {
        let mut found = false;
        visit(node, |node| {
            found |= matches!(node.kind(), "break_statement" | "continue_statement" | "return_statement" | "yield_expression");
            if node.kind().contains("function") { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found
    }
}
