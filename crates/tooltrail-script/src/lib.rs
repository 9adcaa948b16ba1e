//! Programs in which a model calls tools, understood: which calls, with which arguments, and what the program prints of their results.
//!
//! ```
//! use tooltrail_model::script::Argument;
//!
//! let script = tooltrail_script::read("const r = await tools.exec_command({cmd: 'cargo test'}); text(r.output);");
//! assert!(script.complete && script.prints_known);
//! assert_eq!(script.calls[0].tool, "exec_command");
//! assert_eq!(script.calls[0].argument, Argument::Literal(serde_json::json!({"cmd": "cargo test"})));
//! // How often a condition holds is not in the text.
//! assert!(!tooltrail_script::read("if (await ready()) await tools.deploy({})").complete);
//! ```
//!
//! How a text becomes a [`Script`]:
//!
//! 1. `syntax` makes the tree with `tree-sitter`, within limits that are counted, not timed: the same text gives the same answer everywhere.
//! 2. `walk` and `expressions` go through the statements as the program would, with the few values of `values` that matter here: literals, results
//!    of calls and their members, lists and objects of them, functions. What they do not know is `values::Known::Unknown` and stays it.
//! 3. `scan` goes flat through what is not followed (loops, callbacks): its calls are listed as uncertain.
//! 4. `prints` makes pieces of the values that the program prints.
//!
//! Nothing is executed. Depth and steps are bounded, whatever the text.

mod binding;
mod conditions;
mod expressions;
mod functions;
mod literals;
mod loops;
mod objects;
mod prints;
mod scan;
mod syntax;
mod values;
mod walk;

use tooltrail_model::script::Script;

/// Reads a program.
pub fn read(program: &str) -> Script {
    let Some(tree) = syntax::parse(program) else { return Script::default() };
    walk::Reader::new(program).read(&tree)
}
