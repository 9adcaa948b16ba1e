//! Progress records in full: what a call had done so far.

use super::super::content::text;
use super::super::progress::ProgressData;
use super::super::record::ClaudeRecord;
use crate::payloads::spaced;
use crate::value::{self, Payloads};
use serde_json::Value;
use tooltrail_model::transcript::ProgressStory;

/// The state of the call that a record reports progress of, redacted if asked for.
pub(in super::super) fn progress(record: &ClaudeRecord<'_>, payloads: Payloads<'_>) -> Option<ProgressStory> {
    let read = ProgressData::read(record)?;
    let data = value::read(record.slice(record.data.as_ref()?));
    let said = |key: &str| text(&data, key).filter(|text| !text.trim().is_empty()).map(str::to_owned);
    // `output` has the last lines alone.
    let output = said("fullOutput").or_else(|| said("output")).map(|output| payloads.decoded(output));
    let note = note(&data).map(|note| payloads.decoded(note));
    Some(ProgressStory { output, note, elapsed_ms: read.elapsed, limit_ms: read.limit })
}

/// The activity in a few words.
fn note(data: &Value) -> Option<String> {
    match text(data, "type")? {
        "waiting_for_task" => Some(format!("waits for a background task: {}", text(data, "taskDescription")?)),
        "query_update" => Some(format!("searches for “{}”", text(data, "query")?)),
        "search_results_received" => {
            let query = text(data, "query").map(|query| format!(" for “{query}”")).unwrap_or_default();
            Some(format!("search results{query}: {}", data.get("resultCount")?.as_u64()?))
        }
        "mcp_progress" => {
            let message = text(data, "progressMessage").or(text(data, "message"));
            // A failure is the status of the call.
            let state = text(data, "status")
                .filter(|status| *status != "failed")
                .map(|status| format!("the MCP server reports: {}", spaced(status)));
            message.map(str::to_owned).or(state)
        }
        _ => None,
    }
}
