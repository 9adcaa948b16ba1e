//! A session whose every field attacks whoever reads it: in a page, in a terminal, in Markdown, and by way of a file beside it.

use crate::driver::{address, ask, tooltrail, with_browser};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// Fields that make a record a record; everything else is filled with attacks.
const STRUCTURE: &[&str] = &[
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "sessionId",
    "timestamp",
    "id",
    "tool_use_id",
    "toolUseID",
    "parentToolUseID",
    "sourceToolUseID",
    "role",
    "call_id",
    "media_type",
    "data",
    "base64",
    "hookEvent",
    "agentId",
    "namespace",
    "isSidechain",
    "operation",
    "retrieval_status",
    "mode",
    "arguments",
    "image_url",
];

/// Everything that has ever run in a page or a terminal that did not expect it.
pub(crate) fn attack(port: u16) -> String {
    let host = format!("http://127.0.0.1:{port}");
    format!(
        "\"'><img src={host}/img onerror=window.pwned=1><script>window.pwned=2</script></script><script src={host}/js></script>\
         <a href=\"javascript:window.pwned=3\">a</a> [b](javascript:window.pwned=4) ![c]({host}/md.png) <svg onload=window.pwned=5>\
         <iframe src={host}/frame></iframe><style>@import url({host}/css)</style><link rel=stylesheet href={host}/link>\
         <details open ontoggle=window.pwned=6>d</details> [e]: {host}/ref <base href={host}> <meta http-equiv=refresh content=0;url={host}/m>\
         \u{1b}]0;pwned\u{7}\u{1b}[31mred\u{1b}[2J\u{1b}]8;;{host}/osc\u{7}link\u{1b}]8;;\u{7}\u{9b}1m\r\u{8}\u{202e}evil\u{2066}\n```\n# heading\n<b>bold</b>\n"
    )
}

fn poison(value: &mut Value, attack: &str) {
    match value {
        Value::String(text) => text.push_str(attack),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, attack)),
        Value::Object(map) => {
            map.iter_mut().filter(|(key, _)| !STRUCTURE.contains(&key.as_str())).for_each(|(_, value)| poison(value, attack));
        }
        _ => {}
    }
}

/// The fixtures of all tools, with an attack in every field.
pub(crate) fn logs(folder: &Path, port: u16) -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/tools");
    let mut written = Vec::new();
    for tool in std::fs::read_dir(fixtures).expect("the fixtures of the tools").flatten() {
        for file in std::fs::read_dir(tool.path())
            .into_iter()
            .flatten()
            .flatten()
            .filter(|file| file.file_name().to_string_lossy().ends_with(".jsonl"))
        {
            let text = std::fs::read_to_string(file.path()).expect("a fixture is text");
            let mut out = String::new();
            for line in text.lines() {
                let Ok(mut record) = serde_json::from_str::<Value>(line) else { continue };
                poison(&mut record, &attack(port));
                out.push_str(&format!("{record}\n"));
            }
            let path = folder.join(format!("{}-{}", tool.file_name().to_string_lossy(), file.file_name().to_string_lossy()));
            std::fs::write(&path, out).expect("the attack is written");
            written.push(path);
        }
    }
    assert!(written.len() > 20, "only {} fixtures", written.len());
    written.push(outside(folder, port));
    written
}

/// A call whose output was saved to a place that is none of our business, under a name and an id that attack.
fn outside(folder: &Path, port: u16) -> PathBuf {
    std::fs::write(folder.join("secret.txt"), "OUTSIDE-THE-TREE").expect("a secret");
    std::fs::create_dir_all(folder.join("evil/tool-results")).expect("a directory");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.join("secret.txt"), folder.join("evil/tool-results/linked.txt")).expect("a link");
    let id = format!("toolu_{}", attack(port));
    let mut lines = String::new();
    for (number, path) in
        ["/etc/passwd", "../../secret.txt", "../secret.txt", "linked.txt", "/nowhere/tool-results/../../secret.txt"].iter().enumerate()
    {
        let call = format!("{id}{number}");
        let at = format!("2026-03-04T10:00:0{number}.000Z");
        let asked = json!({"type":"assistant","uuid":format!("a{number}"),"parentUuid":null,"sessionId":"evil","timestamp":at,"cwd":"/srv","message":{"id":format!("m{number}"),"role":"assistant","model":"m","content":[{"type":"tool_use","id":call,"name":"Bash","input":{"command":"cat"}}]}});
        let saved = format!(
            "<persisted-output>\nOutput too large (80.4KB). Full output saved to: {path}\n\nPreview (first 2KB):\nx\n</persisted-output>"
        );
        let got = json!({"type":"user","uuid":format!("u{number}"),"parentUuid":format!("a{number}"),"sessionId":"evil","timestamp":at,"toolUseResult":{"stdout":"x","stderr":"","interrupted":false,"isImage":false,"persistedOutputPath":path,"persistedOutputSize":9},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":call,"content":saved}]}});
        lines.push_str(&format!("{asked}\n{got}\n"));
    }
    let path = folder.join("evil.jsonl");
    std::fs::write(&path, lines).expect("the attack is written");
    path
}

/// What must hold in every page, whatever was in the log.
const INNOCENT: &str = "
    for (const details of document.querySelectorAll('details')) details.open = true;
    const bad = [];
    if (window.pwned !== undefined) bad.push('a script ran: ' + window.pwned);
    for (const link of document.querySelectorAll('[href]'))
        if (!/^(https?:|mailto:|#)/.test(link.getAttribute('href'))) bad.push('link ' + link.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('[src]'))
        if (!/^data:image\\/(png|jpeg|gif|webp);base64,/.test(element.getAttribute('src'))) bad.push('source ' + element.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('iframe, object, embed, base, link, form, video, audio'))
        bad.push('element ' + element.outerHTML.slice(0, 200));
    for (const element of document.querySelectorAll('*'))
        for (const name of element.getAttributeNames()) if (name.startsWith('on')) bad.push('handler ' + element.outerHTML.slice(0, 200));
    for (const entry of performance.getEntriesByType('resource')) bad.push('request ' + entry.name);
    return bad;";

#[test]
fn a_hostile_session_does_nothing_in_a_browser() {
    let folder = tempfile::tempdir().expect("a directory");
    // Whoever asks for anything is noticed here.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener that does not wait");
    let port = listener.local_addr().expect("its address").port();
    let logs = logs(folder.path(), port);
    with_browser(|client| async move {
        for log in &logs {
            for plain in [false, true] {
                let page = log.with_extension(if plain { "plain.html" } else { "html" });
                let (from, to) = (log.to_string_lossy(), page.to_string_lossy());
                let mut arguments = vec!["export", "--no-redact", &*from, "-o", &*to];
                arguments.extend(plain.then_some("--plain"));
                tooltrail(&arguments);
                let text = std::fs::read_to_string(&page).expect("a page");
                assert!(!text.contains("OUTSIDE-THE-TREE") && !text.contains("root:x:"), "{from}: a file outside the session was read");
                client.goto(&address(&page)).await.expect("the page opens");
                let bad = ask(&client, INNOCENT).await;
                assert_eq!(bad, json!([]), "{from} (plain: {plain})");
                if plain {
                    assert_eq!(ask(&client, "return document.scripts.length").await, json!(0), "{from}: a plain page has no scripts");
                }
            }
        }
    });
    assert!(listener.accept().is_err(), "a page asked for something");
}

/// The check would notice an attack: a page that does what no page of ours may do.
#[test]
fn a_page_that_attacks_is_noticed() {
    let folder = tempfile::tempdir().expect("a directory");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let page = folder.path().join("attack.html");
    std::fs::write(&page, format!("<meta charset=utf-8><p>{}", attack(port).replace("<meta http-equiv=refresh", "<meta name=x")))
        .expect("a page");
    // Whoever asks gets nothing, but at once: a page waits for its style sheets.
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = asked.clone();
    std::thread::spawn(move || {
        for visit in listener.incoming() {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            drop(visit);
        }
    });
    with_browser(|client| async move {
        client.goto(&address(&page)).await.expect("the page opens");
        let bad = ask(&client, INNOCENT).await.to_string();
        for noticed in ["a script ran", "link <a href=\\\"javascript:", "source <img", "element <iframe", "handler <svg", "request http"] {
            assert!(bad.contains(noticed), "{noticed} is not in {bad}");
        }
    });
    assert!(asked.load(std::sync::atomic::Ordering::Relaxed) > 0);
    assert!(acts("a\u{1b}]0;x\u{7}").is_some() && acts("a\rb").is_some() && acts("\u{1b}[1;31mred\u{1b}[0m\n").is_none());
}

/// Whether a terminal would do anything but show this text in colours.
fn acts(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter.is_control() && letter != '\n') {
        let tail = &rest[at..];
        let style = tail
            .strip_prefix("\u{1b}[")
            .and_then(|tail| tail.find(|letter: char| !letter.is_ascii_digit() && letter != ';').map(|end| &tail[end..]));
        match style.and_then(|tail| tail.strip_prefix('m')) {
            Some(next) => rest = next,
            None => return Some(tail.chars().take(40).collect()),
        }
    }
    None
}

#[test]
fn a_hostile_session_does_nothing_in_a_terminal() {
    let folder = tempfile::tempdir().expect("a directory");
    for log in logs(folder.path(), 9) {
        let log = log.to_string_lossy();
        let shown = tooltrail(&["show", &log, "--all", "--color", "always", "--no-pager"]).stdout;
        let shown = String::from_utf8(shown).expect("text");
        assert_eq!(acts(&shown), None, "{log}");
        assert!(shown.contains("pwned") || log.ends_with("evil.jsonl"), "{log}: the attack is shown, as text");
        let markdown =
            String::from_utf8(tooltrail(&["export", &log, "--to", "md", "--bodies", "all", "--no-redact"]).stdout).expect("text");
        assert!(
            !markdown.contains(|letter: char| letter.is_control() && letter != '\n' && letter != '\t'),
            "{log}: a control character in Markdown"
        );
        assert!(!markdown.contains("OUTSIDE-THE-TREE"));
    }
}
