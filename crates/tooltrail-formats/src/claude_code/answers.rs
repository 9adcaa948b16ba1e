//! A call for a reader: its input and its result, taken from the records that hold them.

use super::content::contents;
use super::markers;
use super::message::{ClaudeMessage, ContentBlock};
use super::outcome::ResultOutcome;
use super::progress::ProgressData;
use super::record::ClaudeRecord;
use super::settings;
use crate::value::{self, Payloads};
use tooltrail_model::content::words;
use tooltrail_model::transcript::{LoggedRequest, LoggedResult, MessageFacts};
use tooltrail_model::verdict::Marker;
use tooltrail_skim::Raw;

/// The input of a call, with the tokens of its message.
pub(super) fn request(record: &ClaudeRecord<'_>, call: &str, payloads: Payloads<'_>) -> Option<LoggedRequest> {
    if let Some(block) = requesting(record, &record.message, call) {
        return Some(asked(record, &record.message, block, (0, record.request), payloads));
    }
    // A subagent without a log of its own appears only in progress records of its parent.
    let nested = ProgressData::read(record)?.nested.filter(|nested| nested.assistant)?;
    let block = requesting(record, &nested.message, call)?;
    Some(asked(record, &nested.message, block, (nested.base, nested.request), payloads))
}

/// The block of a message that requests a call.
fn requesting<'m, 'r>(record: &ClaudeRecord<'r>, message: &'m ClaudeMessage<'r>, call: &str) -> Option<&'m ContentBlock<'r>> {
    message.content.blocks().find(|block| message.call_id(block, record.record.at.line).as_deref() == Some(call))
}

/// The block of a message that answers a call.
fn answering<'m, 'r>(record: &ClaudeRecord<'r>, message: &'m ClaudeMessage<'r>, call: &str) -> Option<&'m ContentBlock<'r>> {
    let line = record.record.at.line;
    let named = message.content.blocks().find(|block| message.result_id(block, line).as_deref() == Some(call));
    // A call and a result without ids are named after different lines.
    named.or_else(|| message.sole_unnamed_result().filter(|_| call.starts_with("line-")))
}

fn asked(
    record: &ClaudeRecord<'_>,
    message: &ClaudeMessage<'_>,
    block: &ContentBlock<'_>,
    (base, request): (usize, Option<Raw<'_>>),
    payloads: Payloads<'_>,
) -> LoggedRequest {
    // Spans of a nested message are counted from its own start.
    let input = block.input.as_ref().map(|(span, _)| payloads.value(record.slice(&(base + span.start..base + span.end))));
    let usage = message.usage.as_ref();
    LoggedRequest {
        program: None,
        input: input.unwrap_or_default(),
        tokens: usage.map(|usage| usage.tokens),
        tier: usage.and_then(|usage| usage.tier).map(|tier| tier.text().into_owned()),
        message: MessageFacts {
            request: request.map(|request| request.text().into_owned()),
            stopped: settings::stopped(message).map(|(_, words)| words.to_owned()),
            server_tools: usage.map(|usage| usage.server_tools).unwrap_or_default(),
            by_service: block.kind.is_some_and(|kind| kind != *"tool_use"),
        },
    }
}

/// The result of a call: the content that the model saw, the tool's own output, and a person's words on refusing.
pub(super) fn result(record: &ClaudeRecord<'_>, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
    let mut answered = if let Some(block) = answering(record, &record.message, call) {
        let mut answered = seen(record, block, 0);
        answered.feedback = record.feedback.map(|said| said.text().into_owned()).or(answered.feedback);
        // The structured companion belongs to one result; with several in a record, it is not clear to which.
        let structured = record.structured.as_ref().filter(|_| record.message.content.results() == 1);
        let produced = structured.map(|structured| record.slice(&structured.span)).filter(|bytes| *bytes != b"null");
        answered.produced = produced.map(value::read);
        answered
    } else {
        let nested = ProgressData::read(record)?.nested?;
        seen(record, answering(record, &nested.message, call)?, nested.base)
    };
    // Redacted last: markers and feedback are recognised in the original text.
    payloads.answer(&mut answered);
    Some(answered)
}

/// The content that the model saw of a result, as the log has it.
fn seen(record: &ClaudeRecord<'_>, block: &ContentBlock<'_>, base: usize) -> LoggedResult {
    let content = block.result.span.as_ref().map(|span| value::read(record.slice(&(base + span.start..base + span.end))));
    let seen = content.as_ref().map(contents).unwrap_or_default();
    // Only a refusal has feedback; elsewhere the same words would be the tool's output.
    let rejected = ResultOutcome::of(block, None, None).signals.marker == Some(Marker::RejectedWithFeedback);
    let feedback = if rejected { markers::feedback(&words(&seen)).map(str::to_owned) } else { None };
    LoggedResult { seen, produced: None, feedback }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;
    use serde_json::{Value, json};
    use tooltrail_model::At;
    use tooltrail_model::usage::Tokens;

    fn with<T>(record: &Value, take: impl FnOnce(&ClaudeRecord<'_>) -> T) -> T {
        let bytes = record.to_string().into_bytes();
        let record = Record { at: At { line: 1, ..At::default() }, bytes: &bytes };
        take(&ClaudeRecord::read(record).unwrap())
    }

    #[test]
    fn what_the_tool_produced_belongs_to_one_result_only() {
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        let one = json!({"message": {"content": [result("a")]}, "toolUseResult": {"stdout": "ok"}});
        let two = json!({"message": {"content": [result("a"), result("b")]}, "toolUseResult": {"stdout": "ok"}});
        let answered = |record: &Value, id: &str| with(record, |record| super::result(record, id, Payloads::default()));
        assert!(answered(&one, "a").unwrap_or_default().produced.is_some());
        assert!(answered(&two, "a").unwrap_or_default().produced.is_none());
        assert!(answered(&one, "b").is_none());
    }

    #[test]
    fn calls_of_subagents_are_found_in_progress() {
        let call = json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}});
        let usage = json!({"input_tokens": 1, "cache_creation_input_tokens": 9, "cache_creation": {"ephemeral_1h_input_tokens": 4}});
        let inner = json!({"type": "assistant", "message": {"content": [call], "usage": usage}});
        let record = json!({"type": "progress", "data": {"message": inner}});
        let asked = with(&record, |record| request(record, "a", Payloads::default())).unwrap_or_default();
        assert_eq!(asked.input, json!({"command": "ls"}));
        assert_eq!(asked.tokens, Some(Tokens { input: 1, cache_write_5m: 5, cache_write_1h: 4, ..Tokens::default() }));
    }
}
