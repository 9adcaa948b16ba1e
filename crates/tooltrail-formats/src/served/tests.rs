//! Every spelling with the input that its server takes, and inputs that only look like one.

use super::*;
use serde_json::json;
use tooltrail_model::detail::ReadGot;

fn family(tool: &str, input: &Value) -> Option<Kind> {
    let (server, name) = split(tool, None)?;
    kind(server, name, input.to_string().as_bytes())
}

fn told(tool: &str, input: &Value, text: &str) -> Option<Detail> {
    let (server, name) = split(tool, None)?;
    detail(server, name, input, ServedAnswer { text, answered: true, failed: false, ran: true }).map(|read| read.detail)
}

#[test]
fn a_name_of_a_server_is_listed_once() {
    let mut all: Vec<(&str, &[&str])> = TOOLS.iter().flat_map(|tool| tool.names.iter().map(|name| (*name, tool.servers))).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    for name in TOOLS.iter().flat_map(|tool| tool.names) {
        assert!(name.len() <= LONGEST && name.bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'_'), "{name}");
        assert!(named(name).next().is_some(), "{name}");
    }
}

#[test]
fn every_spelling_has_its_family() {
    let (path, command) = (json!({"path": "/srv/a"}), json!({"command": "cargo test"}));
    let table = [
        ("mcp__acp__Bash", &command, Kind::Shell),
        ("mcp__desktop-commander__start_process", &command, Kind::Shell),
        ("mcp__desktop-commander__execute_command", &command, Kind::Shell),
        ("mcp__shell__run_command", &command, Kind::Shell),
        ("mcp__shell__shell_execute", &json!({"command": ["cargo", "test"]}), Kind::Shell),
        ("mcp__shell__execute-command", &command, Kind::Shell),
        ("mcp__serena__execute_shell_command", &command, Kind::Shell),
        ("mcp__jetbrains__execute_terminal_command", &command, Kind::Shell),
        ("mcp__git__git_status", &json!({"repo_path": "/srv/a"}), Kind::Shell),
        ("mcp__git__git_commit", &json!({"repo_path": "/srv/a", "message": "x"}), Kind::Shell),
        ("mcp__git__git_diff", &json!({"repo_path": "/srv/a", "target": "main"}), Kind::Shell),
        ("mcp__git__git_add", &json!({"repo_path": "/srv/a", "files": ["a"]}), Kind::Shell),
        ("mcp__desktop-commander__read_process_output", &json!({"pid": 1}), Kind::Task),
        ("mcp__desktop-commander__interact_with_process", &json!({"pid": 1, "input": "x"}), Kind::Task),
        ("mcp__desktop-commander__force_terminate", &json!({"pid": 1}), Kind::Task),
        ("mcp__acp__BashOutput", &json!({"bash_id": "t1"}), Kind::Task),
        ("mcp__acp__KillShell", &json!({"shell_id": "t1"}), Kind::Task),
        ("mcp__acp__Read", &json!({"file_path": "/srv/a"}), Kind::Read),
        ("mcp__acp__read", &json!({"abs_path": "/srv/a"}), Kind::Read),
        ("mcp__filesystem__read_file", &path, Kind::Read),
        ("mcp__filesystem__read_text_file", &path, Kind::Read),
        ("mcp__filesystem__read_multiple_files", &json!({"paths": ["/srv/a"]}), Kind::Read),
        ("mcp__text-editor__get_text_file_contents", &json!({"files": [{"file_path": "/srv/a"}]}), Kind::Read),
        ("mcp__acp__Write", &json!({"file_path": "/srv/a", "content": "x"}), Kind::Write),
        ("mcp__filesystem__write_file", &json!({"path": "/srv/a", "content": ""}), Kind::Write),
        ("mcp__filesystem__create_directory", &path, Kind::Write),
        ("mcp__acp__Edit", &json!({"file_path": "/srv/a", "old_string": "a", "new_string": "b"}), Kind::Edit),
        ("mcp__acp__multi-edit", &json!({"file_path": "/srv/a", "edits": []}), Kind::Edit),
        ("mcp__desktop-commander__edit_block", &json!({"file_path": "/srv/a", "old_string": "a", "new_string": ""}), Kind::Edit),
        ("mcp__filesystem__edit_file", &json!({"path": "/srv/a", "edits": [{"oldText": "a", "newText": "b"}]}), Kind::Edit),
        ("mcp__filesystem__move_file", &json!({"source": "/srv/a", "destination": "/srv/b"}), Kind::Edit),
        ("mcp__text-editor__edit_text_file_contents", &json!({"files": [{"path": "/srv/a"}]}), Kind::Edit),
        ("mcp__serena__replace_symbol_body", &json!({"relative_path": "a.rs", "name_path": "f", "body": "x"}), Kind::Edit),
        ("mcp__filesystem__list_directory", &path, Kind::List),
        ("mcp__filesystem__directory_tree", &path, Kind::List),
        ("mcp__filesystem__search_files", &json!({"path": "/srv", "pattern": "*.rs"}), Kind::Search),
        ("mcp__desktop-commander__search_code", &json!({"path": "/srv", "pattern": "fn main"}), Kind::Search),
        ("mcp__desktop-commander__start_search", &json!({"path": "/srv", "pattern": "x", "searchType": "content"}), Kind::Search),
    ];
    for (tool, input, kind) in table {
        assert_eq!(family(tool, input), Some(kind), "{tool} {input}");
        let (server, name) = split(tool, None).unwrap_or_default();
        // A scan and a reader agree on what is read.
        let has_form = !matches!(name, "read_multiple_files" | "get_text_file_contents" | "create_directory");
        assert_eq!(told(tool, input, "x").is_some(), has_form, "{tool}");
        let without_mark = format!("{server}_{name}");
        assert_eq!(joined(&without_mark, input.to_string().as_bytes()), Some((server, name, kind)));
    }
}

#[test]
fn inputs_of_another_shape_stay_calls_of_a_server() {
    let table = [
        ("mcp__drive__read_file", json!({"file_id": "x"})),
        ("mcp__drive__read_file", json!({})),
        ("mcp__drive__search_files", json!({"query": "plan"})),
        ("mcp__github__create_or_update_file", json!({"owner": "a", "repo": "b", "path": "x", "content": "y"})),
        ("mcp__github__search_code", json!({"query": "fn main"})),
        ("mcp__forge__write_file", json!({"repo": "b", "path": "x", "content": "y"})),
        ("mcp__ssh__execute_command", json!({"host": "db1", "command": "ls"})),
        ("mcp__game__run_command", json!({"verb": "jump"})),
        ("mcp__notes__read", json!({"path": "inbox"})),
        ("mcp__notes__write", json!({"path": "inbox", "content": "x"})),
        ("mcp__notes__edit_file", json!({"path": "inbox"})),
        ("mcp__filesystem__edit_file", json!({"path": "/srv/a", "edits": [], "dryRun": true})),
        ("mcp__filesystem__write_file", json!({"path": "/srv/a", "content": {"a": 1}})),
        ("mcp__filesystem__read_file", json!({"path": null})),
        ("mcp__desktop-commander__read_process_output", json!({})),
        ("mcp__git__git_status", json!({})),
        ("mcp__other__a_name_that_is_longer_than_any_in_the_table", json!({"path": "/srv/a"})),
    ];
    for (tool, input) in table {
        assert_eq!(family(tool, &input), None, "{tool} {input}");
    }
    assert_eq!(kind("filesystem", "read_file", br#""{\"path\":\"/srv/a\"}""#), Some(Kind::Read), "arguments in a text");
    assert_eq!(kind("filesystem", "read_file", br#"{"path":"/srv/a","#), Some(Kind::Read), "an input that breaks off");
    assert_eq!(split("mcp__a__b__c", None), Some(("a", "b__c")));
    assert_eq!(split("mcp__a__b__c", Some("a__b")), Some(("a__b", "c")));
    assert_eq!(split("mcp____x", None), None);
}

#[test]
fn commands_keep_their_output_without_the_words_of_the_server() {
    let Some(Detail::Shell(shell)) = told(
        "mcp__acp__Bash",
        &json!({"command": "cargo test", "description": "Run the tests"}),
        "Exited with code 101.Final output:\n\ntest result: FAILED\n",
    ) else {
        panic!("no shell")
    };
    assert_eq!((shell.command.as_str(), shell.stdout.as_deref()), ("cargo test", Some("test result: FAILED\n")));
    let words = json!({"command": ["git", "commit", "-m", "it's done"], "directory": "/srv"});
    let Some(Detail::Shell(shell)) = told("mcp__shell__shell_execute", &words, "{\"stdout\":\"a\",\"stderr\":\"b\",\"exit_code\":1}")
    else {
        panic!("no shell")
    };
    assert_eq!((shell.command.as_str(), shell.cwd.as_deref()), (r"git commit -m 'it'\''s done'", Some("/srv")));
    assert_eq!((shell.stdout.as_deref(), shell.stderr.as_deref()), (Some("a"), Some("b")));
    let commit = json!({"repo_path": "/srv/a", "message": "fix the gate"});
    let Some(Detail::Shell(shell)) = told("mcp__git__git_commit", &commit, "Changes committed successfully with hash 9f3c2ab") else {
        panic!("no shell")
    };
    assert_eq!(shell.command, "git commit -m 'fix the gate'");
    assert_eq!(shell.git, [("commit".to_owned(), "9f3c2ab".to_owned())]);
}

#[test]
fn files_are_read_and_changed_without_remarks() {
    let read = |tool: &str, input: &Value, text: &str| match told(tool, input, text) {
        Some(Detail::Read(read)) => read.got,
        _ => ReadGot::Nothing,
    };
    let text = "[Reading 2 lines from start (total: 2 lines, 0 remaining)]\n\na\nb";
    match read("mcp__dc__read_file", &json!({"path": "/srv/a"}), text) {
        ReadGot::Text { text, first, total } => assert_eq!((text.as_str(), first, total), ("a\nb", 1, Some(2))),
        other => panic!("{other:?}"),
    }
    match read("mcp__acp__Read", &json!({"file_path": "/srv/a", "offset": 7}), "a\nb\n\n<file-read-info>Read lines 7-9.</file-read-info>") {
        ReadGot::Text { text, first, total } => assert_eq!((text.as_str(), first, total), ("a\nb", 7, None)),
        other => panic!("{other:?}"),
    }
    let diff = "```diff\nIndex: /srv/a\n===\n--- /srv/a\toriginal\n+++ /srv/a\tmodified\n@@ -1,1 +1,1 @@\n-a\n+b\n```\n\n";
    let edits = json!({"path": "/srv/a", "edits": [{"oldText": "a", "newText": "b"}]});
    match told("mcp__filesystem__edit_file", &edits, diff) {
        Some(Detail::Edit(edit)) => {
            assert_eq!((edit.path.as_str(), edit.replacements.len(), edit.hunks.len()), ("/srv/a", 1, 1));
            assert_eq!(edit.hunks[0].lines.len(), 2);
        }
        other => panic!("{other:?}"),
    }
    match told("mcp__dc__write_file", &json!({"path": "/srv/a", "content": "x", "mode": "append"}), "ok") {
        Some(Detail::Write(write)) => assert!(write.appended),
        other => panic!("{other:?}"),
    }
}
