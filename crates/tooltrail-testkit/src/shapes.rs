//! Records in every shape that an agent is known to write, invented, and lines that are no records.
//!
//! Together the lines of [`CLAUDE`] are one log: calls with results, without, refused, interrupted, moved to the
//! background, a subagent reported in progress records. Tests shuffle, cut and damage it; no text in it is from a real
//! session.

/// A Claude Code log, line by line.
pub const CLAUDE: &[&str] = &[
    r#"{"type":"summary","summary":"Parser rewrite","leafUuid":"a9"}"#,
    r#"{"type":"file-history-snapshot","messageId":"u1","isSnapshotUpdate":false,"snapshot":{"messageId":"u1","timestamp":"2026-03-04T10:00:00.000Z","trackedFileBackups":{}}}"#,
    r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","timestamp":"2026-03-04T10:00:00.000Z","isSidechain":false,"cwd":"/srv/app","gitBranch":"main","version":"2.1.250","message":{"role":"user","content":"fix the pärser 🚢"}}"#,
    r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","timestamp":"2026-03-04T10:00:03.000Z","requestId":"req_1","message":{"id":"msg_1","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cargo test","description":"Run \"tests\""}}],"usage":{"input_tokens":4,"output_tokens":9,"cache_creation_input_tokens":1800,"cache_read_input_tokens":52000,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":1800}}}}"#,
    r#"{"type":"progress","uuid":"q1","parentUuid":"a1","toolUseID":"toolu_1","parentToolUseID":"toolu_1","timestamp":"2026-03-04T10:00:04.000Z","sessionId":"s1","data":{"type":"hook_progress","hookEvent":"PreToolUse","hookName":"PreToolUse:Bash","command":"guard.sh"}}"#,
    r#"{"type":"progress","uuid":"q2","parentUuid":"a1","toolUseID":"bash-progress-0","parentToolUseID":"toolu_1","timestamp":"2026-03-04T10:00:05.000Z","sessionId":"s1","data":{"type":"bash_progress","output":"a","fullOutput":"a","elapsedTimeSeconds":2,"totalLines":1}}"#,
    r#"{"parentUuid":"a1","isSidechain":false,"cwd":"/srv/app","sessionId":"s1","version":"2.1.250","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"Exit code 101\nerror","is_error":true}]},"uuid":"u2","timestamp":"2026-03-04T10:00:09.000Z","toolUseResult":"Error: Exit code 101\nerror","sourceToolAssistantUUID":"a1"}"#,
    r#"{"type":"assistant","uuid":"a2","parentUuid":"u2","sessionId":"s1","timestamp":"2026-03-04T10:00:10.000Z","message":{"id":"msg_2","role":"assistant","model":"claude-opus-4-8","content":[{"type":"thinking","thinking":"","signature":"x"},{"type":"text","text":"Looking."},{"type":"tool_use","id":"toolu_2","name":"Read","input":{"file_path":"/srv/app/a.rs"}},{"type":"tool_use","id":"toolu_3","name":"mcp__github__search_issues","input":{"q":[1,2.5,-3e2,null,true]}}]}}"#,
    r#"{"type":"user","uuid":"u3","parentUuid":"a2","sessionId":"s1","timestamp":"2026-03-04T10:00:11.250Z","toolUseResult":{"type":"text","file":{"filePath":"/srv/app/a.rs","content":"fn main() {}\n","numLines":1}},"message":{"role":"user","content":[{"tool_use_id":"toolu_2","type":"tool_result","content":[{"type":"text","text":"1→fn main() {}"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}}"#,
    r#"{"type":"user","uuid":"u4","parentUuid":"a2","sessionId":"s1","timestamp":"2026-03-04T10:00:12.000Z","toolDenialKind":"user-rejected","userFeedback":"use rg","message":{"role":"user","content":[{"tool_use_id":"toolu_3","type":"tool_result","content":"The user doesn't want to proceed with this tool use.","is_error":true}]}}"#,
    r#"{"type":"user","uuid":"u5","parentUuid":"u4","sessionId":"s1","timestamp":"2026-03-04T10:00:12.500Z","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#,
    r#"{"type":"assistant","uuid":"a3","parentUuid":"u5","sessionId":"s1","timestamp":"2026-03-04T10:00:13.000Z","message":{"id":"msg_3","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_4","name":"Task","input":{"prompt":"find the bug","subagent_type":"scout"}}]}}"#,
    r#"{"type":"progress","uuid":"q3","parentUuid":"a3","toolUseID":"agent_msg_9","parentToolUseID":"toolu_4","timestamp":"2026-03-04T10:00:14.000Z","sessionId":"s1","data":{"type":"agent_progress","agentId":"a0123","prompt":"find the bug","message":{"type":"assistant","timestamp":"2026-03-04T10:00:14.000Z","message":{"id":"msg_n1","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"tool_use","id":"toolu_n1","name":"Grep","input":{"pattern":"bug"}}]}}}}"#,
    r#"{"type":"progress","uuid":"q4","parentUuid":"a3","toolUseID":"agent_msg_9","parentToolUseID":"toolu_4","timestamp":"2026-03-04T10:00:15.000Z","sessionId":"s1","data":{"type":"agent_progress","agentId":"a0123","prompt":"","message":{"type":"user","timestamp":"2026-03-04T10:00:15.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_n1","content":"found"}]}}}}"#,
    r#"{"type":"user","uuid":"u6","parentUuid":"a3","sessionId":"s1","timestamp":"2026-03-04T10:00:20.000Z","toolUseResult":{"status":"completed","agentId":"a0123","totalDurationMs":5000,"content":[{"type":"text","text":"it is in b.rs"}]},"message":{"role":"user","content":[{"tool_use_id":"toolu_4","type":"tool_result","content":[{"type":"text","text":"it is in b.rs"}]}]}}"#,
    r#"{"type":"user","uuid":"k1","parentUuid":null,"sessionId":"s1","isSidechain":true,"timestamp":"2026-03-04T10:00:14.000Z","message":{"role":"user","content":"find the bug"}}"#,
    r#"{"type":"assistant","uuid":"k2","parentUuid":"k1","sessionId":"s1","isSidechain":true,"timestamp":"2026-03-04T10:00:15.000Z","message":{"id":"msg_k","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"tool_use","id":"toolu_k","name":"Glob","input":{"pattern":"**/*.rs"}}]}}"#,
    r#"{"type":"assistant","uuid":"a4","parentUuid":"u6","sessionId":"s1","timestamp":"2026-03-04T10:00:21.000Z","requestId":"req_4","message":{"id":"msg_4","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_5","name":"Bash","input":{"command":"sleep 100","run_in_background":true}}]}}"#,
    r#"{"type":"user","uuid":"u7","parentUuid":"a4","sessionId":"s1","timestamp":"2026-03-04T10:00:22.000Z","toolUseResult":{"stdout":"","stderr":"","interrupted":false,"backgroundTaskId":"b1"},"message":{"role":"user","content":[{"tool_use_id":"toolu_5","type":"tool_result","content":"Command running in background with ID: b1. Output"}]}}"#,
    r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-04T10:00:23.000Z","sessionId":"s1","content":"<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>toolu_5</tool-use-id>\n<status>completed</status>\n<summary>Background command \"sleep\" completed (exit code 0)</summary>\n</task-notification>"}"#,
    r#"{"type":"attachment","uuid":"t1","parentUuid":"u7","timestamp":"2026-03-04T10:00:24.000Z","sessionId":"s1","attachment":{"type":"hook_success","hookName":"PostToolUse:Bash","hookEvent":"PostToolUse","toolUseID":"toolu_5","content":"","stdout":"{\"decision\":\"approve\"}","stderr":"","exitCode":0,"command":"fmt.sh","durationMs":31}}"#,
    r#"{"type":"attachment","uuid":"t2","parentUuid":"u7","timestamp":"2026-03-04T10:00:24.500Z","sessionId":"s1","attachment":{"type":"hook_blocking_error","hookName":"PreToolUse:Write","hookEvent":"PreToolUse","toolUseID":"toolu_6","blockingError":{"blockingError":"[guard.sh]: no","command":"guard.sh"}}}"#,
    r#"{"type":"assistant","uuid":"a5","parentUuid":"t1","sessionId":"s1","timestamp":"2026-03-04T10:00:25.000Z","message":{"id":"msg_5","role":"assistant","model":"claude-opus-4-8","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"t","url":"https://example.com"}]},{"type":"tool_use","id":"toolu_6","name":"Write","input":{"file_path":"b.rs","content":"\ttabs\\and\"quotes\""}}]}}"#,
    r#"{"type":"system","subtype":"api_error","level":"error","error":{"status":529},"uuid":"y1","parentUuid":"a5","sessionId":"s1","timestamp":"2026-03-04T10:00:26.000Z"}"#,
    r#"{"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"lint.sh","durationMs":40}],"hookErrors":[],"preventedContinuation":false,"stopReason":"","toolUseID":"tu9","uuid":"y2","parentUuid":"a5","sessionId":"s1"}"#,
    r#"{"type":"system","content":"PreToolUse:Bash [cat | jq '.a[0]'] failed with non-blocking status code 1: no","level":"warning","toolUseID":"toolu_5","uuid":"y3","parentUuid":"a5","sessionId":"s1","timestamp":"2026-03-04T10:00:27.000Z"}"#,
    r#"{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"y4","parentUuid":null,"logicalParentUuid":"a5","compactMetadata":{"trigger":"auto","preTokens":155000},"sessionId":"s1","timestamp":"2026-03-04T10:00:28.000Z"}"#,
    r#"{"type":"user","uuid":"u8","parentUuid":"y4","sessionId":"s1","timestamp":"2026-03-04T10:00:29.000Z","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"This session is being continued from a previous conversation"}}"#,
    r#"{"type":"user","uuid":"u9","parentUuid":"u8","sessionId":"s1","timestamp":"2026-03-04T10:00:30.000Z","message":{"role":"user","content":"<command-name>/review</command-name>\n<command-args>-v</command-args>"}}"#,
    // A title is escaped here, because a reader must decode it before comparing.
    r#"{"type":"ai-title","aiTitle":"A title\u0020by the model","sessionId":"s1"}"#,
    r#"{"type":"custom-title","customTitle":"my run","sessionId":"s1"}"#,
    r#"{"type":"worktree-state","sessionId":"s1","worktreeSession":{"originalCwd":"/srv/app","worktreePath":"/srv/app-wt"}}"#,
    // Unknown types and records without one must be tolerated.
    r#"{"type":"marble","sessionId":"s1","unknown":{"deep":[[[{"x":1}]]]}}"#,
    r#"{"uuid":"z1","sessionId":"s1","note":"a record without a type"}"#,
    r#"{"type":"assistant","uuid":"a6","parentUuid":"u9","sessionId":"s1","timestamp":"2026-03-04T10:00:40.000Z","message":{"id":"msg_6","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_7","name":"Edit","input":{"file_path":"a.rs","old_string":"a","new_string":"b"}}]}}"#,
    // Clocks go backwards: this result is stamped before its call.
    r#"{"type":"user","uuid":"u10","parentUuid":"a6","sessionId":"s1","timestamp":"2026-03-04T10:00:39.000Z","toolUseResult":{"filePath":"a.rs","structuredPatch":[{"oldStart":1,"lines":["-a","+b"]}]},"message":{"role":"user","content":[{"tool_use_id":"toolu_7","type":"tool_result","content":"stamped before its call"}]}}"#,
    r#"{"type":"user","uuid":"u11","parentUuid":"a0","sessionId":"s1","timestamp":"2026-03-04T10:00:41.000Z","message":{"role":"user","content":[{"tool_use_id":"toolu_lost","type":"tool_result","content":"a result without its call"}]}}"#,
    r#"{"type":"assistant","uuid":"a7","parentUuid":"u10","sessionId":"s1","timestamp":"2026-03-04T10:00:50.000Z","message":{"id":"msg_7","role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_8","name":"Bash","input":{"command":"never answered"}}]}}"#,
];

/// A Codex log, line by line.
pub const CODEX: &[&str] = &[
    r#"{"timestamp":"2026-07-02T09:00:00.000Z","type":"session_meta","payload":{"id":"0197-a","timestamp":"2026-07-02T09:00:00.000Z","cwd":"/srv/app","originator":"codex-tui","cli_version":"0.145.0","source":"cli"}}"#,
    r#"{"timestamp":"2026-07-02T09:00:01.000Z","type":"turn_context","payload":{"turn_id":"t1","cwd":"/srv/app","approval_policy":"on-request","model":"gpt-5.6"}}"#,
    r#"{"timestamp":"2026-07-02T09:00:02.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}"#,
    r#"{"timestamp":"2026-07-02T09:00:03.000Z","type":"response_item","payload":{"type":"function_call","id":"f1","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"workdir\":\"/srv/app\"}","call_id":"call_1"}}"#,
    r#"{"timestamp":"2026-07-02T09:00:04.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"Chunk ID: 1a2b3c\nWall time: 0.0512 seconds\nProcess exited with code 0\nOutput:\na.rs\n"}}"#,
    r#"{"timestamp":"2026-07-02T09:00:05.000Z","type":"response_item","payload":{"type":"custom_tool_call","id":"c1","status":"completed","call_id":"call_2","name":"apply_patch","input":"*** Begin Patch\n*** End Patch\n"}}"#,
    r#"{"timestamp":"2026-07-02T09:00:06.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"call_2","output":"{\"output\":\"Success\",\"metadata\":{\"exit_code\":1}}"}}"#,
    r#"{"timestamp":"2026-07-02T09:00:07.000Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"call_3","status":"completed","action":{"type":"exec","command":["bash","-lc","ls"]}}}"#,
    r#"{"timestamp":"2026-07-02T09:00:08.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":900}}}}"#,
    r#"{"timestamp":"2026-07-02T09:00:09.000Z","type":"compacted","payload":{"message":"","replacement_history":[]}}"#,
];

/// Lines that are no records, or barely.
pub const ODD: &[&[u8]] = &[
    b"",
    b" \t\r",
    b"null",
    b"[]",
    b"[{\"type\":\"user\"}]",
    b"42",
    b"\"text\"",
    b"{}",
    b"{",
    b"}",
    b"{}{}",
    b"{\"type\":\"user\"}{\"type\":\"user\"}",
    b"{\"type\":\"us",
    b"\0\0\0\0",
    b"\xef\xbb\xbf{\"type\":\"user\"}",
    b"\xff\xfe",
    b"{\"type\":\"\xff\"}",
    b"{\"type\":7}",
    b"{\"type\":\"user\",\"message\":[1 2]}",
    b"{\"a\":NaN,\"b\":1e999,\"c\":\"\\ud83d\",\"d\":\"\\q\"}",
    b"junk {\"type\":\"user\",\"sessionId\":\"s1\"}",
];

/// Every line above, as bytes.
pub fn all() -> Vec<Vec<u8>> {
    // Both agents and broken lines in one list: fuzzers mix them freely.
    let records = CLAUDE.iter().chain(CODEX).map(|line| line.as_bytes());
    records.chain(ODD.iter().copied()).map(<[u8]>::to_vec).collect()
}

/// Lines as a log, each ended by a line feed.
pub fn log<L: AsRef<[u8]>>(lines: &[L]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.as_ref().iter().copied().chain([b'\n'])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_json_objects() {
        for line in CLAUDE.iter().chain(CODEX) {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(value.is_object(), "{line}");
        }
        assert_eq!(log(&["a", ""]), b"a\n\n");
        assert_eq!(all().len(), CLAUDE.len() + CODEX.len() + ODD.len());
    }
}
