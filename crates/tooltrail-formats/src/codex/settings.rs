//! Settings that records state: the version of the program, and what it may do without asking.

use super::record::{CodexRecord, RecordClass};
use crate::value;
use serde_json::Value;
use tooltrail_model::transcript::PermissionMode;

/// Version and permission mode, as far as the record states them: the header of a log has the first, the context of a turn the second.
pub(super) fn of(record: &CodexRecord<'_>) -> (Option<String>, Option<PermissionMode>) {
    match record.class {
        // Later headers are copies of other logs, or repeat this one.
        RecordClass::Session if record.at.line == 1 => (version(&value::read(record.body().own())), None),
        RecordClass::Context => (None, permission(&value::read(record.body().own()))),
        _ => (None, None),
    }
}

fn version(header: &Value) -> Option<String> {
    // Older headers have the fields of the session in an object of their own.
    let version = header.get("cli_version").or_else(|| header.pointer("/meta/cli_version"))?;
    version.as_str().filter(|version| !version.is_empty()).map(str::to_owned)
}

/// `approval never with sandbox danger-full-access`: when it asks, and what the sandbox allows.
fn permission(context: &Value) -> Option<PermissionMode> {
    let asks = context.get("approval_policy")?.as_str()?;
    let sandbox = context.get("sandbox_policy");
    // A word in old logs, then an object with `mode`, then one with `type`.
    let named = |policy: &Value| policy.as_str().or_else(|| policy.get("type")?.as_str()).map(str::to_owned);
    let sandbox = sandbox.and_then(|policy| named(policy).or_else(|| Some(policy.get("mode")?.as_str()?.to_owned())));
    let usual = asks == "on-request" && sandbox.as_deref().is_none_or(|sandbox| matches!(sandbox, "workspace-write" | "read-only"));
    let words = [Some(format!("approval {asks}")), sandbox.map(|sandbox| format!("sandbox {sandbox}"))];
    Some(PermissionMode { words: words.into_iter().flatten().collect::<Vec<_>>().join(" with "), usual })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn modes_say_when_it_asks_and_what_the_sandbox_allows() {
        let table = [
            (
                json!({"approval_policy": "never", "sandbox_policy": {"type": "danger-full-access"}}),
                "approval never with sandbox danger-full-access",
                false,
            ),
            (
                json!({"approval_policy": "on-request", "sandbox_policy": {"mode": "read-only"}}),
                "approval on-request with sandbox read-only",
                true,
            ),
            (json!({"approval_policy": "on-failure"}), "approval on-failure", false),
        ];
        for (context, words, usual) in table {
            assert_eq!(permission(&context), Some(PermissionMode { words: words.into(), usual }));
        }
        assert_eq!(permission(&json!({"model": "gpt-5"})), None);
        assert_eq!(version(&json!({"cli_version": "0.147.0"})).as_deref(), Some("0.147.0"));
    }
}
