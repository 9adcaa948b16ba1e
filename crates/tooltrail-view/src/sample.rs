//! Calls made by hand, for tests.

use crate::texts::walk;
use crate::{Block, Line};
use serde_json::Value;
use tooltrail_model::content::Content;
use tooltrail_model::detail::{Detail, Detailed};
use tooltrail_model::event::InputFrom;
use tooltrail_model::row::{CallRow, CallRowOrigin, Place, VERSION};
use tooltrail_model::transcript::{LoggedResult, Story, SubagentCalls};
use tooltrail_model::{Kind, Status};

/// A call of this tool, without a result.
pub(crate) fn story(tool: &'static str, kind: Kind, status: Status, detail: Detail) -> Story<'static> {
    Story {
        row: row(tool, kind, status),
        number: (1).into(),
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

/// The call with this text as its result.
pub(crate) fn answered(mut call: Story<'static>, seen: &str) -> Story<'static> {
    call.answer = Some(LoggedResult { seen: vec![Content::text(seen)], ..LoggedResult::default() });
    call
}

/// A call that worked.
pub(crate) fn worked(tool: &'static str, kind: Kind, detail: Detail) -> Story<'static> {
    answered(story(tool, kind, Status::Succeeded, detail), "done")
}

/// Words of blocks, a line each, including names of sections.
pub(crate) fn text_of(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Section { label, body, .. } => text.push_str(&format!("{}\n{}", label.text(), text_of(body))),
            other => walk(std::slice::from_ref(other), &mut |line| text.push_str(&format!("{line}\n"))),
        }
    }
    text
}

/// Facts as text.
pub(crate) fn facts(lines: &[Line]) -> Vec<String> {
    lines.iter().map(Line::text).collect()
}

fn row(tool: &'static str, kind: Kind, status: Status) -> CallRow<'static> {
    let place = |line| Place { file: "/logs/a.jsonl", line, row: None };
    // Line 42 is evidence, line 40 the request: tests rely on the difference.
    CallRow {
        v: VERSION,
        agent: "claude",
        session: "3f2a",
        agent_id: None,
        r#ref: "3f2a:1".to_owned(),
        call: "toolu_1",
        tool,
        server: None,
        kind,
        status,
        reason: None,
        evidence: place(42),
        requested_at: "2026-03-04T10:00:03.000Z".parse().ok(),
        completed_at: None,
        duration_ms: None,
        run_ms: None,
        exit_code: None,
        exit_of: None,
        masked: Vec::new(),
        purpose: None,
        is_error: None,
        input_bytes: 2,
        result_bytes: None,
        model: Some("model-1"),
        message: Some("msg_1"),
        parallel: 1,
        parent_call: None,
        child_session: None,
        background: None,
        hooks: Vec::new(),
        request: place(40),
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
