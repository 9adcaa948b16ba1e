//! Settings that records state: the permission mode, and why a message ended.

use super::message::ClaudeMessage;
use super::record::ClaudeRecord;
use tooltrail_model::transcript::{Level, PermissionMode};
use tooltrail_skim::Raw;

/// The permission mode that a record states.
pub(super) fn permission(record: &ClaudeRecord<'_>) -> Option<PermissionMode> {
    let mode = record.rare_text(|rare| rare.permission_mode).filter(|mode| !mode.is_empty())?;
    Some(PermissionMode { words: words(&mode), usual: mode == "default" })
}

/// `accept edits` for `acceptEdits`.
fn words(mode: &str) -> String {
    let mut words = String::with_capacity(mode.len() + 2);
    for letter in mode.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// Why a message ended early; `None` where the model ended it as usual.
pub(super) fn stopped(message: &ClaudeMessage<'_>) -> Option<(Level, &'static str)> {
    match &*message.stop_reason.map(Raw::text)? {
        "max_tokens" => Some((Level::Warning, "answer cut off: it reached the output limit (max_tokens)")),
        "model_context_window_exceeded" => Some((Level::Warning, "answer cut off: the context window is full")),
        "refusal" => Some((Level::Warning, "the model refused to answer (refusal)")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_spelled_as_words() {
        let table = [("acceptEdits", "accept edits"), ("plan", "plan"), ("bypassPermissions", "bypass permissions"), ("Auto", "auto")];
        for (mode, expected) in table {
            assert_eq!(words(mode), expected);
        }
    }
}
