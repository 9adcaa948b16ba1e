//! Tokens: running totals (`token_count`), and records of single responses (`token_usage_record`, since version 0.150).
//!
//! A response is usually reported by both; the model counts it once. What is claimed about records of responses rests on public parsers.

use super::facts::FactSink;
use super::fields::{FieldSpan, PayloadFields};
use super::record::CodexRecord;
use crate::value;
use std::ops::Range;
use tooltrail_model::Fact;
use tooltrail_model::event::{Id, Meter, ResponseUsage};
use tooltrail_model::usage::Tokens;
use tooltrail_skim::Raw;

/// Emits the tokens of a response. The sums over its turn and its thread, which stand beside them, are no further tokens.
pub(super) fn response(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let body = record.body();
    let (Some(response), Some(tokens)) = (id(body, body.response_id), tokens(body.raw(body.usage))) else { return };
    let model = body.string(body.model).map(Raw::decoded_bytes);
    emit(Fact::Response(ResponseUsage { thread: id(body, body.thread_id), response, model, tokens }));
}

/// Emits which response summed up the history. The record of its tokens, which is repeated here, is no new usage.
pub(super) fn summarised(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let body = record.body();
    if let Some(id) = id(body, body.compaction_response_id) {
        emit(Fact::SummarisedBy(id));
    }
}

/// The fingerprint of an id.
fn id(body: &PayloadFields<'_>, place: FieldSpan) -> Option<Id> {
    body.string(place).filter(|id| !id.is_empty()).map(Raw::digest)
}

/// Emits the token counts. `info` is null where an event only reports limits.
pub(super) fn meter(event: &PayloadFields<'_>, emit: &mut FactSink<'_>) {
    let (mut total, mut last) = (None, None);
    let _ = event.skim(event.info).object(|key, value| {
        let slot: &mut Option<Range<usize>> = match key.as_bytes() {
            b"total_token_usage" => &mut total,
            b"last_token_usage" => &mut last,
            _ => return Ok(()),
        };
        *slot = Some(value.skip()?);
        Ok(())
    });
    let raw = event.raw(event.info);
    let at = |place: Option<Range<usize>>| tokens(raw.get(place?)?);
    let meter = Meter { total: at(total), last: at(last) };
    if meter.total.is_some() || meter.last.is_some() {
        emit(Fact::Meter(meter));
    }
}

/// Input includes what came from the cache, and output the thinking.
fn tokens(bytes: &[u8]) -> Option<Tokens> {
    let (mut input, mut cached, mut out, mut any) = (0, 0, 0, false);
    let _ = tooltrail_skim::Skim::new(bytes).object(|key, value| {
        let slot = match key.as_bytes() {
            b"input_tokens" => &mut input,
            b"cached_input_tokens" => &mut cached,
            b"output_tokens" => &mut out,
            _ => return Ok(()),
        };
        any = true;
        *slot = value::tokens(value);
        Ok(())
    });
    // Subtracted, because the model counts cached input apart.
    any.then(|| Tokens { input: u64::saturating_sub(input, cached), output: out, cache_read: cached, ..Tokens::default() })
}
