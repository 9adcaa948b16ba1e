//! A count of how often each record is read, for the tests that hold it to once per depth.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

static READS: LazyLock<Mutex<HashMap<Vec<u8>, usize>>> = LazyLock::new(Mutex::default);

/// Counts one reading of a record.
pub(crate) fn note(record: &[u8]) {
    *READS.lock().unwrap_or_else(PoisonError::into_inner).entry(record.to_vec()).or_default() += 1;
}

/// How often a record was read since this was asked last. Tests use records that no other test has.
pub(crate) fn take(record: &[u8]) -> usize {
    READS.lock().unwrap_or_else(PoisonError::into_inner).remove(record).unwrap_or_default()
}

mod tests {
    use super::take;
    use crate::disk::{Disk, ReadLogs};
    use crate::scan::{Options, Progress, scan};
    use crate::transcript::{RecordIndexCache, SessionBook};
    use crate::{find, load};
    use tooltrail_model::book::{Book, Loaded};
    use tooltrail_model::transcript::EntryKind;
    use tooltrail_model::{Now, Time};

    /// A session with a prompt, a call with a hook, its result, and the last words.
    const CLAUDE: [&str; 5] = [
        r#"{"type":"user","uuid":"reads1","timestamp":"2026-03-04T10:00:00.000Z","sessionId":"reads","message":{"content":"go"}}"#,
        r#"{"type":"assistant","uuid":"reads2","parentUuid":"reads1","timestamp":"2026-03-04T10:00:01.000Z","sessionId":"reads","message":{"id":"m1","content":[{"type":"tool_use","id":"toolu_reads","name":"Bash","input":{"command":"ls"}}]}}"#,
        r#"{"type":"attachment","uuid":"reads3","parentUuid":"reads2","timestamp":"2026-03-04T10:00:02.000Z","sessionId":"reads","attachment":{"type":"hook_success","hookName":"PreToolUse:Bash","hookEvent":"PreToolUse","toolUseID":"toolu_reads","command":"guard","exitCode":0,"stdout":"fine","stderr":""}}"#,
        r#"{"type":"user","uuid":"reads4","parentUuid":"reads3","timestamp":"2026-03-04T10:00:03.000Z","sessionId":"reads","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_reads","content":"a"}]},"toolUseResult":{"stdout":"a"}}"#,
        r#"{"type":"assistant","uuid":"reads5","parentUuid":"reads4","timestamp":"2026-03-04T10:00:04.000Z","sessionId":"reads","message":{"id":"m2","content":[{"type":"text","text":"done"}]}}"#,
    ];

    /// Checks the same of Codex, which keeps no records of hooks.
    const CODEX: [&str; 5] = [
        r#"{"timestamp":"2026-03-04T10:00:00.000Z","type":"session_meta","payload":{"id":"reads-codex","timestamp":"2026-03-04T10:00:00.000Z","cwd":"/srv"}}"#,
        r#"{"timestamp":"2026-03-04T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go on reading"}]}}"#,
        r#"{"timestamp":"2026-03-04T10:00:02.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"call_reads"}}"#,
        r#"{"timestamp":"2026-03-04T10:00:03.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_reads","output":"a"}}"#,
        r#"{"timestamp":"2026-03-04T10:00:04.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"read"}]}}"#,
    ];

    /// Checks the same of OpenCode, whose call and result are one record.
    const OPENCODE: [&str; 5] = [
        r#"{"row":"session:ses_reads","id":"ses_reads","directory":"/srv","title":"Read","time":{"created":1772618400000}}"#,
        r#"{"row":"message:msg_reads","id":"msg_reads","sessionID":"ses_reads","role":"user","time":{"created":1772618401000}}"#,
        r#"{"row":"part:prt_reads1","id":"prt_reads1","messageID":"msg_reads","sessionID":"ses_reads","role":"user","type":"text","text":"go"}"#,
        r#"{"row":"part:prt_reads2","id":"prt_reads2","messageID":"msg_reads2","sessionID":"ses_reads","role":"assistant","type":"tool","callID":"call_reads_open","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a","metadata":{"exit":0},"time":{"start":1772618402000,"end":1772618403000}}}"#,
        r#"{"row":"part:prt_reads3","id":"prt_reads3","messageID":"msg_reads2","sessionID":"ses_reads","role":"assistant","type":"text","text":"done","time":{"start":1772618404000}}"#,
    ];

    #[test]
    fn records_of_opencode_are_read_once_per_depth() {
        each_is_read_once("opencode", OPENCODE, [0, 0, 0, 1, 0], [0, 0, 0, 1, 0]);
    }

    #[test]
    fn records_of_claude_code_are_read_once_per_depth() {
        each_is_read_once("claude", CLAUDE, [0, 1, 1, 1, 0], [0, 1, 0, 0, 0]);
    }

    #[test]
    fn records_of_codex_are_read_once_per_depth() {
        each_is_read_once("codex", CODEX, [0, 0, 1, 1, 0], [0, 0, 1, 0, 0]);
    }

    /// Reads a log at every depth. `call` names the records of its call, `request` the one that requests it.
    fn each_is_read_once(name: &str, log: [&str; 5], call: [usize; 5], request: [usize; 5]) {
        let counts = || log.map(|record| take(record.as_bytes()));
        let path = std::env::temp_dir().join(format!("tooltrail-reads-{name}-{}.jsonl", std::process::id()));
        std::fs::write(&path, log.map(|line| format!("{line}\n")).concat()).unwrap();
        let search = find::in_paths(std::slice::from_ref(&path));
        let (linker, _) = scan(&search.files, &Options::default(), &Progress::default());
        assert_eq!(counts(), [1; 5], "by a scan");
        let linked = linker.link();
        let now = Now::at("2026-03-05T10:00:00Z".parse::<Time>().unwrap());
        let (disk, notes) = (Disk::default(), RecordIndexCache::default());
        let book = SessionBook::read(&linked, &[0], &now, &disk, None);
        assert_eq!(counts(), [1; 5], "by the index of a transcript");
        assert!(matches!(book.call(0), Loaded::Call(story) if story.answer.is_some()));
        assert_eq!(counts(), call, "by opening a call");
        let text = book.transcript().threads[0].entries.iter().find(|entry| entry.what == EntryKind::Text).unwrap();
        assert!(matches!(book.open(text), Loaded::Part(_)));
        assert_eq!(counts(), [0, 0, 0, 0, 1], "by opening a message");
        let first = &linked.calls[0];
        let (row, at) = (linked.call_row(first, &now, false), linked.record(first.id).at);
        let bytes = disk.bytes(row.request.file, at.span).unwrap();
        assert_eq!(load::about(load::InputRecords { request: &bytes, line: at.line, replacement: None }, &row).as_deref(), Some("ls"));
        assert_eq!(counts(), request, "for a table");
        SessionBook::read_on(&linked, 0, &now, &disk, &notes);
        SessionBook::read_on(&linked, 0, &now, &disk, &notes);
        assert_eq!(counts(), [1; 5], "by an index that is kept");
        std::fs::remove_file(&path).unwrap();
    }
}
