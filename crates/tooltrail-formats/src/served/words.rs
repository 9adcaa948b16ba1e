//! The words in which servers' tools report how a command ended, that a process was started, and that a file was not changed.
//!
//! The beginning of a text is the server's; a statement at its end counts only as a whole line, because the output in front may hold
//! anything. A result that is a JSON object states the exit code in a member of its own.

use aho_corasick::AhoCorasick;
use std::sync::LazyLock;
use tooltrail_model::verdict::ServedWords;

/// How a line begins that states an exit code, in lower case; the number follows.
const CODES: &[&str] = &[
    "exited with code ",
    "exit code: ",
    "exit code ",
    "exit_code: ",
    "exitcode: ",
    "exit status: ",
    "exit status ",
    "return code: ",
    "returncode: ",
    "process exited with code ",
    "process exited with exit code ",
    "process completed with exit code ",
    "process finished with exit code ",
    "command exited with code ",
    "command exited with exit code ",
    "command completed with exit code ",
    "command finished with exit code ",
];

/// Beginnings that are the server's only at the start of a text: programs print such lines at their end as well.
const HEADS: &[&str] = &[
    "command failed with exit code ",
    "command failed with code ",
    "command failed (exit code ",
    "execution failed (exit code ",
    "error executing command: exit code ",
];

/// Members of an object that state an exit code.
const MEMBERS: &[&str] = &["\"exit_code\":", "\"exitCode\":", "\"exitcode\":", "\"returncode\":", "\"return_code\":", "\"returnCode\":"];

/// How the report of a change begins that was not made, without being marked as an error.
const UNCHANGED: &[&str] = &[
    "Error:",
    "Writing file failed: ",
    "Search content not found in ",
    "Exact match not found, but found a similar text",
    "Empty search strings are not allowed",
];

/// How the report of a file begins that was not read.
const UNREAD: &str = "Reading file failed: ";

/// How the report of a process begins that goes on; its name follows.
const LAUNCHED: &[&str] = &["Process started with PID ", "Command started with PID ", "Command started in background with id: "];

/// The longest line that states an exit code.
const LINE: usize = 160;

/// What the beginning of a result that states something contains, in raw text. Any letter may be written as an escape.
const IN_HEAD: [&str; 11] =
    ["\\u", "xit", "xpected ", "code ", "code:", "ailed: ", "PID ", "in background", "rror:", "earch ", "xact match"];

/// How it begins otherwise.
const AT_HEAD: [&[u8]; 4] = [b"Killed. ", b"Timed out. ", b"Interrupted by", b"Tool cancelled"];

/// What its end contains.
const IN_TAIL: [&str; 3] = ["\\u", "code", "xit status"];

/// Whether the raw text of a result may hold any of this, by its first and last bytes. A scan asks for every result, so it is quick and
/// may say yes too often.
pub(crate) fn tells(raw: &[u8]) -> bool {
    // One search for all words: a search for each would take longer to prepare than to run.
    static HEAD: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(IN_HEAD).ok());
    static TAIL: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(IN_TAIL).ok());
    if raw.first() == Some(&b'{') {
        return true;
    }
    let head = &raw[..raw.len().min(LINE)];
    let tail = &raw[raw.len().saturating_sub(LINE)..];
    let found = |words: &Option<AhoCorasick>, part: &[u8]| words.as_ref().is_none_or(|words| words.is_match(part));
    found(&HEAD, head) || found(&TAIL, tail) || AT_HEAD.iter().any(|word| head.starts_with(word))
}

/// The statements in the text of a result, by its beginning and its end.
pub(crate) fn said(head: &str, tail: &str) -> ServedWords {
    let (stopped, timed_out, rest) = endings(head);
    let object = rest.trim_start().starts_with('{');
    let exit = if object { member(head).or_else(|| member(tail)) } else { first(rest).or_else(|| last(tail)) };
    let expected = head.strip_prefix("Expected ").is_some_and(|rest| rest.contains(" occurrences but found "));
    let hashed = object && (head.contains("\"result\": \"error\"") || head.contains("\"result\":\"error\""));
    ServedWords {
        exit,
        timed_out,
        stopped,
        launched: task(head).is_some(),
        unchanged: expected || hashed || UNCHANGED.iter().any(|beginning| head.starts_with(beginning)),
        unread: head.starts_with(UNREAD),
    }
}

/// What stands in front of the exit code: `Killed. `, `Timed out. `, `Interrupted by the user. `.
fn endings(head: &str) -> (bool, bool, &str) {
    for (beginning, timed_out) in [("Killed. ", false), ("Timed out. ", true), ("Interrupted by the user. ", false)] {
        if let Some(rest) = head.strip_prefix(beginning) {
            return (!timed_out, timed_out, rest);
        }
    }
    (head.starts_with("Tool cancelled by user"), false, head)
}

/// The exit code that the first line states.
fn first(text: &str) -> Option<i64> {
    let line = text.trim_start().lines().next()?;
    let line = &*bare(line)?;
    let (code, rest) = CODES.iter().chain(HEADS).find_map(|beginning| number(line.strip_prefix(beginning)?))?;
    // Not part of a word or a longer number: `exit code 1st`.
    (!rest.starts_with(|next: char| next.is_ascii_alphanumeric())).then_some(code)
}

/// The exit code that the last line states, if it says nothing else but how long it took.
fn last(text: &str) -> Option<i64> {
    let line = &*bare(text.trim_end().lines().next_back()?)?;
    let (code, rest) = CODES.iter().find_map(|beginning| number(line.strip_prefix(beginning)?))?;
    let rest = rest.trim_start_matches([']', ')', '.', ' ']);
    (rest.is_empty() || rest.starts_with("(runtime: ")).then_some(code)
}

/// A line in lower case, without signs in front: `✅ `, `[`, `❌ `, `**`.
fn bare(line: &str) -> Option<String> {
    let line = line.trim_start_matches(|sign: char| !sign.is_alphanumeric());
    // A line that an editor would break is no statement.
    let short: String = line.chars().take(LINE).collect();
    (!short.is_empty()).then(|| short.to_lowercase())
}

/// The number at the start of a text, and what follows it.
fn number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The exit code in a member of an object. Inside of a text the quotes of its name would be escaped.
fn member(json: &str) -> Option<i64> {
    let at = |name: &&str| {
        let (at, own) = (json.rfind(*name)?, name.len());
        let escaped = json[..at].ends_with('\\');
        let (code, rest) = number(json[at + own..].trim_start())?;
        let ends = rest.trim_start().starts_with([',', '}']) || rest.is_empty();
        (!escaped && ends).then_some(code)
    };
    MEMBERS.iter().find_map(at)
}

/// The process that a text says was started, and goes on.
pub(crate) fn task(head: &str) -> Option<&str> {
    let rest = LAUNCHED.iter().find_map(|beginning| head.strip_prefix(beginning))?;
    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_').unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

/// The output behind the lines that a server puts in front.
pub(super) fn output(text: &str) -> &str {
    if let Some((_, rest)) = task(text).and_then(|_| text.split_once('\n')) {
        return rest.strip_prefix("Initial output:\n").unwrap_or(rest);
    }
    let (.., rest) = endings(text);
    // `Exited with code 1.Signal `Hangup: 1`. Final output:`
    let head = rest.lines().next().unwrap_or_default();
    if let Some(at) = ["Final output:", "New output:"].iter().find_map(|mark| Some(head.find(mark)? + mark.len())) {
        return rest[at..].strip_prefix("\n\n").unwrap_or(&rest[at..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_read_from_the_words_of_servers() {
        let table = [
            ("Exited with code 1.Signal `Hangup: 1`. Final output:\n\nboom", Some(1)),
            ("Exited with code 0.Final output:\n\n\n", Some(0)),
            ("Timed out. Exited with code 143.Final output:\n\n", Some(143)),
            ("[Reading 3 new lines (total: 9 lines)]\n\nx\n\u{2705} Process completed with exit code 2 (runtime: 4.10s)", Some(2)),
            ("Exit code: 1\nstdout:\nx", Some(1)),
            ("**Exit Code: 127**\nnot found", Some(127)),
            ("Command failed with exit code 2: cargo test\nerror", Some(2)),
            ("\u{274c} Command failed (exit code 3)\nx", Some(3)),
            ("some output\n[exit code: 4]", Some(4)),
            ("some output\nExit code: 5\n", Some(5)),
            ("{\"stdout\":\"\",\"exit_code\":6}", Some(6)),
            ("{\n  \"exitCode\": 7,\n  \"stdout\": \"x\"\n}", Some(7)),
            // The command's own words, in a text of the object.
            ("{\"stdout\":\"{\\\"exit_code\\\":1}\"}", None),
            // A program says so in the middle of its output, or of a line.
            ("building\nexit code 1\ndone", None),
            ("x\nnpm ERR! Exit status 1", None),
            ("x\nerror Command failed with exit code 1.", None),
            ("exit code 1st of many", None),
            ("Exit code one", None),
            ("", None),
        ];
        for (text, code) in table {
            assert_eq!(said(text, text).exit, code, "{text}");
            assert!(code.is_none() || tells(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn other_statements_are_read() {
        let words = |text: &str| said(text, text);
        assert!(words("Timed out. New output:\n\nx").timed_out);
        assert!(words("Killed. Exited with code 1.Final output:\n\nx").stopped);
        assert_eq!(task("Process started with PID 42 (shell: /bin/sh)\nInitial output:\nx"), Some("42"));
        assert_eq!(task("Command started in background with id: term-1"), Some("term-1"));
        assert_eq!(task("x Process started with PID 42"), None);
        assert!(words("Expected 1 occurrences but found 3 in /srv/a.rs. Double check").unchanged);
        assert!(words("Search content not found in /srv/a.rs. The closest match").unchanged);
        assert!(!words("Successfully applied 1 edit to /srv/a.rs").unchanged);
        assert!(words("Reading file failed: no such file").unread);
        assert_eq!(output("Exited with code 0.Final output:\n\na\nb\n\n"), "a\nb\n\n");
        assert_eq!(output("Process started with PID 4 (shell: sh)\nInitial output:\nx\n"), "x\n");
        assert_eq!(output("plain\nNew output: x"), "plain\nNew output: x");
    }
}
