//! Calls made by hand, for the tests of the views of commands and files.

use crate::block::{DiffHunk, DiffLine, DiffSign};
use crate::line::Line;
use crate::{Block, Head, Limits, call};
use serde_json::Value;
use tooltrail_model::detail::{Detail, Detailed};
use tooltrail_model::event::InputFrom;
use tooltrail_model::row::{CallRow, CallRowOrigin, Place, VERSION};
use tooltrail_model::transcript::{Story, SubagentCalls};
use tooltrail_model::{Kind, Status};

/// A call.
pub(crate) fn story(tool: &'static str, kind: Kind, status: Status, detail: Detail) -> Story<'static> {
    Story {
        row: row(tool, kind, status),
        number: 1.into(),
        told: Detailed { detail, ..Detailed::default() },
        command: None,
        input: Value::Null,
        program: None,
        requested: None,
        answer: None,
        side: None,
        hooks: Vec::new(),
        progress: None,
        tokens: None,
        tier: None,
        message: Default::default(),
        nested: SubagentCalls::default(),
        polls: tooltrail_model::transcript::CallPolls::default(),
    }
}

/// The row of such a call.
fn row(tool: &'static str, kind: Kind, status: Status) -> CallRow<'static> {
    let place = Place { file: "log.jsonl", line: 1, row: None };
    CallRow {
        v: VERSION,
        agent: "claude-code",
        session: "s1",
        agent_id: None,
        r#ref: "s1#1".into(),
        call: "c1",
        tool,
        server: None,
        kind,
        status,
        reason: None,
        evidence: place,
        requested_at: None,
        completed_at: None,
        duration_ms: None,
        run_ms: None,
        exit_code: None,
        exit_of: None,
        masked: Vec::new(),
        purpose: None,
        is_error: None,
        input_bytes: 0,
        result_bytes: None,
        model: None,
        message: None,
        parallel: 1,
        parent_call: None,
        child_session: None,
        background: None,
        hooks: Vec::new(),
        request: place,
        result: None,
        cwd: Some("/srv/app"),
        sidechain: false,
        copy_of: None,
        about: None,
        unwrapped: None,
        inner: None,
        origin: CallRowOrigin::Log,
        input_from: InputFrom::Request,
        failed_by: None,
        command: None,
        path: None,
        alias: None,
        replacement: None,
        polls: None,
        may_wait: false,
    }
}

/// The head of a call in one text: `$ | Bash | ls | 2 lines, background b1`.
pub(crate) fn head(story: &Story<'_>) -> String {
    let Head { icon, name, title, facts } = call::head(story);
    let facts: Vec<String> = facts.iter().map(Line::text).collect();
    format!("{icon} | {} | {} | {}", name.text(), title.text(), facts.join(", "))
}

/// The body that a call's own view makes, as an indented sketch.
pub(crate) fn body(story: &Story<'_>) -> String {
    let lines = sketch(&crate::tools::of(story).body(story, &Limits::PAGE));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn sketch(blocks: &[Block]) -> Vec<String> {
    let listed = |sign: &str, lines: &[Line]| lines.iter().map(|line| format!("{sign} {}", line.text())).collect::<Vec<_>>();
    let mut out = Vec::new();
    for block in blocks {
        match block {
            Block::Code(code) => {
                let first = code.first.map_or("-".into(), |first| first.to_string());
                out.push(format!("code {} {first}", code.language.as_deref().unwrap_or("-")));
                out.extend(listed("|", &code.lines));
            }
            Block::Diff(diff) => out.extend(diff.hunks.iter().flat_map(hunk)),
            Block::Terminal(terminal) => {
                out.push("terminal".into());
                out.extend(listed("$", &terminal.command));
                out.extend(listed("|", &terminal.lines));
            }
            Block::Markdown { text, .. } => out.push(format!("markdown {text}")),
            Block::Image { alt, .. } => out.push(format!("image {}", alt.text())),
            Block::Fields { fields } => out.extend(fields.iter().map(|(name, value)| format!("{}: {}", name.text(), value.text()))),
            Block::Notice { level, text } => out.push(format!("{level:?} {}", text.text())),
            Block::Section { label, open, body } => {
                out.push(format!("section {}{}", label.text(), if *open { "" } else { " (folded)" }));
                out.extend(sketch(body).iter().map(|line| format!("  {line}")));
            }
            other => out.push(format!("{other:?}")),
        }
    }
    out
}

fn hunk(hunk: &DiffHunk) -> Vec<String> {
    let number = |number: Option<u32>| number.map_or("·".to_owned(), |number| number.to_string());
    let line = |line: &DiffLine| {
        let sign = match line.sign {
            DiffSign::Same => ' ',
            DiffSign::Added => '+',
            DiffSign::Removed => '-',
        };
        format!("{} {} {sign}{}", number(line.old), number(line.new), line.line.text())
    };
    std::iter::once("hunk".to_owned()).chain(hunk.lines.iter().map(line)).collect()
}
