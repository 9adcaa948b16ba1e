//! A script: a program that calls other tools.
//!
//! ```text
//! ƒ exec   cargo test; cargo clippy; cat src/lib.rs      3 calls 1✗   14.3 s  ✗ exit 101
//!   ├ its calls
//!   ▸ program
//!   what it printed
//! ```

use super::{ToolView, title};
use crate::head::{count, counted};
use crate::pieces::{code, notice, section, terminal};
use crate::{Block, Class, Head, Limits, Line};
use tooltrail_model::content::words;
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::{Level, Story};

/// Label of the section with the text of a program.
pub(crate) const PROGRAM: &str = "program";

/// View of scripts.
pub(super) struct ScriptView;

impl ToolView for ScriptView {
    fn name(&self) -> &'static str {
        "script"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Script(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        Head { icon: "ƒ", name: call.row.tool.into(), title: title(call), facts: facts(call).into_iter().collect() }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Script(script) = &call.told.detail else { return Vec::new() };
        let text = call.input.as_str().unwrap_or_default();
        let block = |thread: usize| {
            let made = call.nested.of(thread);
            Block::Nested { thread, calls: made.calls, failed: made.failed }
        };
        let mut body: Vec<Block> = call.nested.threads.iter().map(|&thread| block(thread)).collect();
        body.extend((!text.is_empty()).then(|| section(PROGRAM, false, vec![program(text, limits)])));
        body.extend((!script.complete && !text.is_empty()).then(|| notice(Level::Info, "The script may have made other calls too.")));
        let printed = call.answer.as_ref().map(|answer| words(&answer.seen)).filter(|text| !text.trim().is_empty());
        body.extend(printed.map(|text| section("output", true, vec![Block::Terminal(terminal(&text, limits))])));
        body
    }
}

/// The text of a program, in the one language that agents write them in.
fn program(text: &str, limits: &Limits) -> Block {
    Block::Code(code("javascript", None, text, limits))
}

/// The number of calls in it, and of those that failed.
fn facts(call: &Story<'_>) -> Option<Line> {
    let inner = call.row.inner?;
    let some = if inner.complete { "" } else { "at least " };
    let line = Line::from(format!("{some}{}", counted(inner.calls, "call")));
    Some(if inner.failed > 0 { line.with(Class::Bad, &format!(" {}✗", count(inner.failed))) } else { line })
}

/// The program of a call that is the only one of a script.
pub(crate) fn around(call: &Story<'_>, limits: &Limits) -> Option<Block> {
    call.row.unwrapped?;
    Some(section("script", false, vec![program(call.program.as_deref()?, limits)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use serde_json::Value;
    use tooltrail_model::detail::{InnerDetail, ScriptDetail, Shell};
    use tooltrail_model::row::InnerCalls;
    use tooltrail_model::{Kind, Status};

    #[test]
    fn a_script_is_named_by_its_calls() {
        let inner = |command: &str| InnerDetail {
            tool: "exec_command".into(),
            input: Value::Null,
            detail: Detail::Shell(Shell { command: command.into(), ..Shell::default() }),
        };
        let script = ScriptDetail { calls: vec![inner("cargo test"), inner("cargo clippy")], complete: false };
        let mut call = story("exec", Kind::Script, Status::Failed, Detail::Script(script));
        call.input = Value::from("const r = await tools.exec_command({cmd: x});");
        call.row.inner = Some(InnerCalls { calls: 2, failed: 1, complete: false, ..InnerCalls::default() });
        assert_eq!(head(&call), "ƒ | exec | cargo test · cargo clippy … | at least 2 calls 1✗");
        assert!(body(&call).contains("may have made other calls"), "{}", body(&call));
    }
}
