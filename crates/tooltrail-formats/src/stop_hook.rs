//! The input of a hook that an agent runs before it stops: a JSON object on standard input.
//!
//! The agents whose hooks tooltrail knows share one spelling: `transcript_path` names the log, `stop_hook_active` says that a hook has
//! kept the agent going already, and newer versions add `last_assistant_message`, which may not be in the log yet.

use serde_json::Value;
use std::path::PathBuf;

/// What an agent tells a hook before it stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopHook {
    /// The log of the session.
    pub log: PathBuf,
    /// Whether a hook has kept the agent going since the last prompt.
    pub again: bool,
    /// The last answer of the model.
    pub said: Option<String>,
}

impl StopHook {
    /// Reads the input of a hook; `None` where it names no log.
    pub fn read(input: &[u8]) -> Option<Self> {
        let input: Value = serde_json::from_slice(input).ok()?;
        let log = input.get("transcript_path")?.as_str().filter(|path| !path.is_empty())?.into();
        let again = input.get("stop_hook_active").and_then(Value::as_bool).unwrap_or_default();
        let said = input.get("last_assistant_message").and_then(Value::as_str).map(str::to_owned);
        Some(StopHook { log, again, said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_names_the_log() {
        let read = |text: &str| StopHook::read(text.as_bytes());
        let old = read(r#"{"session_id":"s","transcript_path":"/h/s.jsonl","hook_event_name":"Stop","stop_hook_active":true}"#).unwrap();
        assert_eq!((old.log.to_str(), old.again, old.said), (Some("/h/s.jsonl"), true, None));
        let new = read(r#"{"transcript_path":"/h/s.jsonl","stop_hook_active":false,"last_assistant_message":"Done."}"#).unwrap();
        assert_eq!((new.again, new.said.as_deref()), (false, Some("Done.")));
        for wrong in ["", "[]", "{}", r#"{"transcript_path":4}"#] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
