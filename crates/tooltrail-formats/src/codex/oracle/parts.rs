//! What a record holds for a reader: words, thoughts, calls, and what happened beside them.
//!
//! The items of the conversation say everything once. Events and completed items mostly say it again (`echo`), or add how a call
//! ended; only some tell of things of their own.

use super::Opened;
use super::content::{image, list, printed};
use super::opened::{Entry, Sort, str_of};
use super::prompt;
use serde_json::Value;
use tooltrail_model::content::Content;
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{Level, Part, Parts};

/// The parts of a record, in order.
pub(super) fn read(record: Opened<'_>) -> Parts {
    let entry = Entry::of(record);
    let (echo, parts) = match entry.sort {
        Sort::Item => item(&entry),
        Sort::Event => event(&entry),
        Sort::Completed => completed(&entry),
        Sort::Compacted => (false, compacted(&entry)),
        Sort::Letter => (true, letter(&entry)),
        Sort::Silent => (false, Vec::new()),
        Sort::Unknown => (false, vec![unknown(&entry)]),
    };
    Parts { time: entry.time, echo, voice: Some(voice(&entry)), parts, ..Parts::default() }
}

/// Who repeats a message. Each says it once, so that one who says it again means a second message.
fn voice(entry: &Entry<'_>) -> &'static str {
    match entry.sort {
        Sort::Event if matches!(entry.kind, "task_complete" | "turn_complete") => "end of a turn",
        Sort::Event => "event",
        Sort::Completed => "completed item",
        Sort::Letter => "letter",
        _ => "item",
    }
}

fn unknown(entry: &Entry<'_>) -> Part {
    let name = if entry.kind.is_empty() { "?" } else { entry.kind };
    Part::Unknown { name: name.to_owned(), value: entry.body.clone() }
}

/// An item of the conversation. Only a summed-up history is told elsewhere as well.
fn item(entry: &Entry<'_>) -> (bool, Vec<Part>) {
    let parts = match entry.kind {
        "message" => message(entry),
        "reasoning" => vec![Part::Thinking(thoughts(entry, &["summary", "content"]))],
        "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" | "web_search_call" | "image_generation_call" => {
            vec![Part::Call(entry.id())]
        }
        "function_call_output" | "function_call_result" | "custom_tool_call_output" | "local_shell_call_output" => {
            entry.named().map(|id| Part::Result(id.to_owned())).into_iter().collect()
        }
        "tool_search_output" => vec![Part::Result(entry.id())],
        "agent_message" => letter(entry),
        "compaction" | "compaction_summary" | "context_compaction" => return (true, vec![boundary(Vec::new())]),
        "ghost_snapshot" => Vec::new(),
        _ if entry.is_new_call() => vec![Part::Call(entry.id())],
        _ if entry.is_new_output() => vec![Part::Result(entry.id())],
        _ => vec![unknown(entry)],
    };
    (false, parts)
}

fn message(entry: &Entry<'_>) -> Vec<Part> {
    let content = entry.field("content").map(list).unwrap_or_default();
    match entry.text("role") {
        Some("user") => said(content),
        Some("assistant") => content.into_iter().map(|one| words_or(one, Part::Text)).collect(),
        role => {
            let role = role.unwrap_or("message");
            let folded = |text: String| Part::Folded { label: prompt::label(&text).unwrap_or_else(|| role.to_owned()), text };
            content.into_iter().map(|one| words_or(one, folded)).collect()
        }
    }
}

/// Words as one part, anything else as it is.
fn words_or(content: Content, part: impl Fn(String) -> Part) -> Part {
    match content {
        Content::Text { text } => part(text),
        other => Part::Media(other),
    }
}

/// What reaches the model in the person's name.
fn said(content: Vec<Content>) -> Vec<Part> {
    let mut parts = Vec::new();
    for one in content {
        match one {
            // A picture stands between tags that only name it.
            Content::Text { text } if prompt::is_image_tag(&text) => {}
            Content::Text { text } => parts.extend(prompt::parts(text)),
            other => parts.push(Part::Media(other)),
        }
    }
    parts
}

/// Thoughts in several lists of texts, one below the other. Nothing where they are only there encrypted.
fn thoughts(entry: &Entry<'_>, keys: &[&str]) -> String {
    let lists = keys.iter().filter_map(|key| entry.field(key));
    let texts: Vec<String> =
        lists.flat_map(list).filter_map(|one| one.as_text().map(str::to_owned)).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

/// A message from one agent to another.
fn letter(entry: &Entry<'_>) -> Vec<Part> {
    let content = entry.field("content").map(list).unwrap_or_default();
    let (words, other): (Vec<_>, Vec<_>) = content.into_iter().partition(|one| one.as_text().is_some());
    let text = printed(&words);
    let words = (!text.is_empty()).then_some(Part::Prompt { origin: Origin::Agent, text });
    // What is there only encrypted is nothing to read.
    let other = other.into_iter().filter(|one| !matches!(one, Content::Other { value } if value.get("encrypted_content").is_some()));
    words.into_iter().chain(other.map(Part::Media)).collect()
}

fn boundary(facts: Vec<(String, String)>) -> Part {
    Part::Boundary { title: "History summed up".to_owned(), facts }
}

/// The history that replaces the old one is no news; only the summary is to be read.
fn compacted(entry: &Entry<'_>) -> Vec<Part> {
    let kept = entry.field("replacement_history").and_then(Value::as_array).map(|items| ("kept items", items.len().to_string()));
    let window = entry.field("window_number").map(|window| ("window", window.to_string()));
    let facts = window.into_iter().chain(kept).map(|(name, value)| (name.to_owned(), value)).collect();
    let summary = entry.text("message").map(|text| Part::Folded { label: "summary".to_owned(), text: text.to_owned() });
    std::iter::once(boundary(facts)).chain(summary).collect()
}

/// Something beside the conversation.
fn event(entry: &Entry<'_>) -> (bool, Vec<Part>) {
    let own = |part: Part| (false, vec![part]);
    match entry.kind {
        "user_message" => (true, shown(entry)),
        "agent_message" => (true, entry.text("message").map(|text| Part::Text(text.to_owned())).into_iter().collect()),
        "agent_reasoning" | "agent_reasoning_raw_content" => {
            (true, entry.text("text").map(|text| Part::Thinking(text.to_owned())).into_iter().collect())
        }
        "task_complete" | "turn_complete" => {
            (true, entry.text("last_agent_message").map(|text| Part::Text(text.to_owned())).into_iter().collect())
        }
        "context_compacted" => (true, vec![boundary(Vec::new())]),
        "turn_aborted" => own(aborted(entry)),
        "error" => own(notice(Level::Error, "Error", text(entry, &["message"]))),
        "stream_error" => own(notice(Level::Warning, "Stream error", text(entry, &["message", "additional_details"]))),
        "warning" | "guardian_warning" => own(notice(Level::Warning, "Warning", text(entry, &["message"]))),
        "deprecation_notice" => own(notice(Level::Warning, "Deprecated", text(entry, &["summary", "details"]))),
        "background_event" => own(notice(Level::Info, "In the background", text(entry, &["message"]))),
        "model_reroute" => own(notice(Level::Info, "Another model", text(entry, &["from_model", "to_model", "reason"]))),
        "guardian_assessment" => own(notice(Level::Info, "Automatic review", text(entry, &["status", "risk_level", "rationale"]))),
        "undo_completed" => own(notice(Level::Info, "Undone", text(entry, &["message"]))),
        "thread_rolled_back" => own(rolled_back(entry)),
        "thread_goal_updated" => own(notice(Level::Info, "Goal", goal(entry))),
        "entered_review_mode" => own(notice(Level::Info, "Review begins", text(entry, &["user_facing_hint"]))),
        "exited_review_mode" => own(notice(Level::Info, "Review ends", review(entry))),
        // Numbers, settings, and what other records tell better.
        "token_count"
        | "task_started"
        | "turn_started"
        | "thread_settings_applied"
        | "sub_agent_activity"
        | "dynamic_tool_call_request"
        | "thread_name_updated"
        | "session_configured" => (false, Vec::new()),
        _ if entry.is_end() => own(Part::End(entry.id())),
        _ if entry.is_by_hand() => (true, by_hand(entry)),
        _ => own(unknown(entry)),
    }
}

/// The person's message as it was shown to them.
fn shown(entry: &Entry<'_>) -> Vec<Part> {
    let mut parts = entry.text("message").map(|text| prompt::parts(text.to_owned())).unwrap_or_default();
    for key in ["images", "local_images"] {
        let found = entry.field(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        parts.extend(found.map(|address| Part::Media(Content::Image(image(address)))));
    }
    parts
}

fn notice(level: Level, title: &str, text: Option<String>) -> Part {
    Part::Notice { level, title: title.to_owned(), text }
}

/// Some fields that are text, one below the other.
fn text(entry: &Entry<'_>, keys: &[&str]) -> Option<String> {
    let texts: Vec<&str> = keys.iter().filter_map(|key| entry.text(key)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn aborted(entry: &Entry<'_>) -> Part {
    let reason = entry.text("reason").filter(|&reason| reason != "interrupted");
    let title = if reason.is_some() { "Turn ended" } else { "Interrupted" };
    notice(Level::Warning, title, reason.map(|reason| reason.replace('_', " ")))
}

fn rolled_back(entry: &Entry<'_>) -> Part {
    let turns = entry.field("num_turns").and_then(Value::as_u64).unwrap_or(1);
    let title = if turns == 1 { "Took back the last turn".to_owned() } else { format!("Took back the last {turns} turns") };
    notice(Level::Info, &title, None)
}

fn goal(entry: &Entry<'_>) -> Option<String> {
    let goal = entry.field("goal")?;
    let texts: Vec<&str> = ["objective", "status"].iter().filter_map(|key| str_of(goal, key)).collect();
    Some(texts.join("\n"))
}

/// What a review found: in the words that were shown, or in its own.
fn review(entry: &Entry<'_>) -> Option<String> {
    let output = entry.field("review_output");
    let found = output.and_then(|output| str_of(output, "overall_explanation")).or_else(|| entry.text("review"));
    found.map(str::to_owned)
}

/// A command that the person ran by hand.
fn by_hand(entry: &Entry<'_>) -> Vec<Part> {
    let line = entry.field("command").map(crate::codex::tools::shell::line).unwrap_or_default();
    let output = entry.text("aggregated_output").or_else(|| entry.text("stdout")).map(str::to_owned);
    vec![Part::Command { line: format!("!{line}"), output }]
}

/// A completed item of a paginated log. Most repeat an item of the conversation.
fn completed(entry: &Entry<'_>) -> (bool, Vec<Part>) {
    let parts = match entry.kind {
        "UserMessage" => said(entry.field("content").or(entry.field("text")).map(list).unwrap_or_default()),
        "AgentMessage" => {
            let content = entry.field("content").or(entry.field("text")).map(list).unwrap_or_default();
            content.into_iter().map(|one| words_or(one, Part::Text)).collect()
        }
        "Plan" => entry.text("text").map(|text| Part::Text(text.to_owned())).into_iter().collect(),
        "Reasoning" => {
            let text = thoughts(entry, &["summary_text", "summary", "raw_content", "content"]);
            (!text.is_empty()).then_some(Part::Thinking(text)).into_iter().collect()
        }
        "HookPrompt" => hook_prompt(entry),
        "ContextCompaction" => vec![boundary(Vec::new())],
        "EnteredReviewMode" => vec![notice(Level::Info, "Review begins", text(entry, &["review"]))],
        "ExitedReviewMode" => vec![notice(Level::Info, "Review ends", review(entry))],
        "SubAgentActivity" => Vec::new(),
        _ if entry.is_by_hand() => by_hand(entry),
        _ if entry.is_end() => return (false, vec![Part::End(entry.id())]),
        _ => return (false, vec![unknown(entry)]),
    };
    (true, parts)
}

/// What a hook asks the model, in the person's name.
fn hook_prompt(entry: &Entry<'_>) -> Vec<Part> {
    let fragments = entry.field("fragments").and_then(Value::as_array).into_iter().flatten();
    let texts = fragments.filter_map(|fragment| str_of(fragment, "text"));
    texts.map(|text| Part::Folded { label: "hook prompt".to_owned(), text: text.to_owned() }).collect()
}
