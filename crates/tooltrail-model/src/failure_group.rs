//! Failure groups: the message of a failure without what differs from run to run, so that equal failures can be counted together.
//!
//! A pure function of one line. Paths, addresses, numbers, hashes and quoted names become placeholders; error codes (`E0425`, `TS2304`)
//! and all other words stay, because they say what kind of failure it is.

use crate::failure_hint::failure_hint;
use crate::text::{headline, without_escapes};
use crate::visible::neutral;
use serde_json::Value;
use std::iter::Peekable;
use std::str::Chars;

/// The longest line of an error that is kept, in characters.
const LINE: usize = 240;
/// The longest group, in characters.
const GROUP: usize = 160;
/// The bytes of a message that are looked at: its cause stands at its beginning or its end.
const LOOKED: usize = 64 * 1024;
/// The most characters between two quotation marks that are one quoted name.
const QUOTED: usize = 160;

/// How Python begins to show where an exception came from.
const TRACEBACK: &str = "Traceback (most recent call last):";

const PATH: &str = "<path>";
const NUMBER: &str = "<n>";
const HASH: &str = "<hash>";
const ADDRESS: &str = "<url>";

/// The line of an error message that says best what went wrong: the one in which a known tool names the failure, else the first.
/// Control characters are visible, and it is cut where it is long. `None` for a message without any text.
pub fn error_line(message: &str) -> Option<String> {
    let inner = member(message);
    let message = inner.as_deref().unwrap_or(message);
    let hint = failure_hint(message).filter(|line| !line.starts_with(TRACEBACK)).or_else(|| raised(message));
    // Most of a long message is output; its first line is near its beginning.
    let head = message.get(..message.floor_char_boundary(LOOKED)).unwrap_or_default();
    let line = hint.unwrap_or_else(|| first_line(head));
    let line = clipped(&neutral(line.trim()), LINE);
    (!line.is_empty()).then_some(line)
}

/// The message in a result that is a JSON object: that of its error, or else its output.
fn member(message: &str) -> Option<String> {
    const NAMES: [&str; 5] = ["error", "message", "stderr", "output", "stdout"];
    // Most messages are text, and a long object is an answer of a service rather than a message.
    let text = message.trim();
    if !text.starts_with('{') || text.len() > LOOKED {
        return None;
    }
    let object: Value = serde_json::from_str(text).ok()?;
    let said = |value: &Value| value.as_str().or_else(|| value.get("message")?.as_str()).map(str::trim).map(str::to_owned);
    NAMES.iter().find_map(|name| said(object.get(name)?).filter(|text| !text.is_empty()))
}

/// The exception of a Python traceback, which stands behind its frames.
fn raised(message: &str) -> Option<String> {
    let head = message.get(..message.floor_char_boundary(LOOKED)).unwrap_or_default();
    // The last traceback is that of the exception that ended the program.
    let (_, frames) = head.rsplit_once(TRACEBACK)?;
    let line = frames.lines().skip(1).find(|line| !line.starts_with([' ', '\t']) && !line.trim().is_empty())?;
    Some(without_escapes(line.trim()).into_owned())
}

/// The first line with any text. Bytes that act in terminals are shown by the caller, and escape sequences are left out.
fn first_line(text: &str) -> String {
    let plain = without_escapes(text);
    let line = plain.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    headline(&clipped(&neutral(line), LINE), LINE)
}

/// The group of a failure, from the line that [`error_line`] gives.
pub fn failure_group(line: &str) -> String {
    let words: Vec<String> = without_quoted(line).split_whitespace().map(folded).collect();
    let mut group = String::new();
    for word in &words {
        // `<n> <n>` and `<path> <path>` say no more than one of them, and lists of them differ in length.
        if is_placeholder(word) && group.ends_with(word.as_str()) {
            continue;
        }
        if !group.is_empty() {
            group.push(' ');
        }
        group.push_str(word);
    }
    clipped(&group, GROUP)
}

fn is_placeholder(word: &str) -> bool {
    matches!(word, PATH | NUMBER | HASH | ADDRESS)
}

fn clipped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some(_) => text.chars().take(limit.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// A line with `…` for everything between quotation marks.
fn without_quoted(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        out.push(letter);
        // An apostrophe inside of a word quotes nothing.
        let opens = !before.is_alphanumeric();
        if let Some(end) = closing(letter).filter(|_| opens)
            && skip_quoted(&mut letters, end)
        {
            out.push('…');
            out.push(end);
            before = end;
            continue;
        }
        before = letter;
    }
    out
}

/// The mark that ends what a quotation mark begins.
fn closing(letter: char) -> Option<char> {
    match letter {
        '"' | '\'' | '`' => Some(letter),
        '‘' => Some('’'),
        '“' => Some('”'),
        '«' => Some('»'),
        _ => None,
    }
}

/// Goes behind the end of what is quoted; nothing happens where it does not end, or is empty.
fn skip_quoted(letters: &mut Peekable<Chars<'_>>, end: char) -> bool {
    let mut ahead = letters.clone();
    for taken in 0..QUOTED {
        match ahead.next() {
            // A quote in a word is an apostrophe: the quoted text goes on.
            Some(letter) if letter == end && (end != '\'' || ahead.peek().is_none_or(|next| !next.is_alphanumeric())) => {
                *letters = ahead;
                return taken > 0;
            }
            Some(_) => {}
            None => return false,
        }
    }
    false
}

/// A word without what differs from run to run; punctuation around it stays.
fn folded(word: &str) -> String {
    let is_edge =
        |letter: char| matches!(letter, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | ':' | '.' | '!' | '?' | '=' | '"');
    let core = word.trim_end_matches(is_edge);
    // Opening marks only: a path may begin with a dot.
    let core = core.trim_start_matches(|letter: char| is_edge(letter) && letter != '.');
    let start = word.find(core).unwrap_or(0);
    let (head, tail) = (word.get(..start).unwrap_or_default(), word.get(start + core.len()..).unwrap_or_default());
    // `key=value` and `key:value` are told apart by their key, so only the value is folded.
    if let Some((key, value)) = core.split_once('=')
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
    {
        return format!("{head}{key}={}{tail}", placeholder(value).unwrap_or_else(|| numbers(value)));
    }
    let Some(place) = placeholder(core) else { return format!("{head}{}{tail}", numbers(core)) };
    // `a.cs(3,4)` and `test_a.py::test_b[3]` are one place: a bracket that opens in it also closes in it.
    let tail = [('(', ')'), ('[', ']')].into_iter().fold(tail, |tail, (open, close)| {
        let is_open = core.matches(open).count() > core.matches(close).count();
        tail.strip_prefix(close).filter(|_| is_open).unwrap_or(tail)
    });
    format!("{head}{place}{tail}")
}

/// The placeholder for a whole word, if it is an address, a path or a hash.
fn placeholder(word: &str) -> Option<String> {
    if word.contains("://") {
        return Some(ADDRESS.to_owned());
    }
    if is_path(word) {
        return Some(PATH.to_owned());
    }
    is_hash(word).then(|| HASH.to_owned())
}

/// Whether a word names a file: it has a slash between or before other letters, or it is a file name with a line number.
fn is_path(word: &str) -> bool {
    let letters = word.chars().any(char::is_alphanumeric);
    // Logs may come from Windows, whatever system reads them.
    let drive = word.get(1..3) == Some(":\\") || word.get(1..3) == Some(":/");
    // `and/or`, `n/a` and `1/3` are no paths; with two parts, one of them has to look like a file or a directory.
    let slashes = word.matches(['/', '\\']).count();
    let rooted = word.starts_with(['/', '~']) || word.starts_with("./") || word.starts_with("../");
    if letters && (drive || (rooted && slashes > 0) || slashes > 1) {
        return true;
    }
    let name = word.split(':').next().unwrap_or_default();
    let has_line = word.len() > name.len() && word[name.len()..].chars().all(|letter| letter == ':' || letter.is_ascii_digit());
    let is_file = is_file_name(name.rsplit(['/', '\\']).next().unwrap_or_default());
    letters && is_file && (slashes > 0 || has_line)
}

/// Whether a name has a short ending of letters: `main.rs`.
fn is_file_name(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    // A longer ending is a word after a full stop; one that begins with a digit belongs to a number.
    let fits = (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !stem.is_empty() && fits && ending.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
}

/// Whether a word is a hash or an id: seven or more hexadecimal digits, also in groups, some of them numbers and most of it no word.
fn is_hash(word: &str) -> bool {
    let body = word.strip_prefix("0x").unwrap_or(word);
    let groups = body.split('-').all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    let hex = body.bytes().filter(u8::is_ascii_hexdigit).count();
    // Without digits it may be a word (`deadbeef`), and of digits alone it is a number.
    groups && hex >= 7 && digits > 0 && (digits < hex || word.starts_with("0x") || body.contains('-'))
}

/// A word with its numbers replaced. Digits that follow a letter belong to a name or a code and stay.
fn numbers(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        if !letter.is_ascii_digit() || before.is_alphanumeric() || before == '_' {
            out.push(letter);
            before = letter;
            continue;
        }
        // Times, versions and spans are one number: `10:32:05`, `1.2.3`, `3-7`.
        let joins = |letter: char| matches!(letter, '.' | ',' | ':' | '-' | '/' | '_' | '+' | 'T');
        loop {
            let mut ahead = letters.clone();
            match ahead.next() {
                Some(next) if next.is_ascii_digit() => letters = ahead,
                Some(next) if joins(next) && ahead.peek().is_some_and(char::is_ascii_digit) => letters = ahead,
                _ => break,
            }
        }
        out.push_str(NUMBER);
        before = '>';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_found_in_tracebacks_and_objects() {
        let line = |message: &str| error_line(message).unwrap_or_default();
        let traced = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    run()\n  File \"a.py\", line 1, in run\n    raise ValueError(\"no rows\")\nValueError: no rows\n";
        assert_eq!(line(traced), "ValueError: no rows");
        let again = format!(
            "{traced}\nDuring handling of the above exception, another exception occurred:\n\n{}",
            traced.replace("no rows", "empty")
        );
        assert_eq!(line(&again), "ValueError: empty");
        // One that was cut has only its first line.
        assert_eq!(line("Traceback (most recent call last):\n  File \"a.py\""), "Traceback (most recent call last):");
        assert_eq!(
            line(r#"{"output":"cat: a.txt: No such file or directory\n","metadata":{"exit_code":1}}"#),
            "cat: a.txt: No such file or directory"
        );
        assert_eq!(line(r#"{"error":{"code":404,"message":"no such issue"},"output":""}"#), "no such issue");
        assert_eq!(line(r#"{"rows":[1,2]}"#), r#"{"rows":[1,2]}"#);
        assert_eq!(line("{not json"), "{not json");
    }

    #[test]
    fn what_differs_from_run_to_run_is_folded() {
        for (line, group) in [
            ("error[E0425]: cannot find value `total` in this scope", "error[E0425]: cannot find value `…` in this scope"),
            ("error TS2304: Cannot find name 'Foo'.", "error TS2304: Cannot find name '…'."),
            ("File does not exist: /srv/app/src/main.rs", "File does not exist: <path>"),
            ("bash: line 1: ./run.sh: No such file or directory", "bash: line <n>: <path>: No such file or directory"),
            ("src/main.rs:10:5: error: expected one of", "<path>: error: expected one of"),
            ("main.c:7: undefined reference to `f'", "<path>: undefined reference to `f'"),
            ("can't open file 'C:\\a b\\c.py': [Errno 2]", "can't open file '…': [Errno <n>]"),
            ("C:\\work\\app\\a.cs(3,4): broken", "<path>: broken"),
            ("fatal: bad object 3f2a9c1d", "fatal: bad object <hash>"),
            ("no row 550e8400-e29b-41d4-a716-446655440000 here", "no row <hash> here"),
            ("crashed at 0x00007fff", "crashed at <hash>"),
            ("2 failed, 3 passed in 0.52s", "<n> failed, <n> passed in <n>s"),
            ("Exit code 101", "Exit code <n>"),
            ("timeout after 120000ms at 2026-03-04T10:00:09.5", "timeout after <n>ms at <n>"),
            ("GET https://example.org/a?b=1 said 404", "GET <url> said <n>"),
            ("FAILED tests/test_a.py::test_b[3] - AssertionError", "FAILED <path> - AssertionError"),
            ("it doesn't work, I don't know", "it doesn't work, I don't know"),
            ("and/or of 1/3 or n/a", "and/or of <n> or n/a"),
            ("retry=3 id=3f2a9c1d path=/a/b", "retry=<n> id=<hash> path=<path>"),
            ("utf8 x86 sha256 v2 stay", "utf8 x86 sha256 v2 stay"),
            ("  spaces\t are   one ", "spaces are one"),
            ("1 2 3 items", "<n> items"),
            ("deadbeef is a word, 1234567 a number", "deadbeef is a word, <n> a number"),
            ("String to replace not found in file.", "String to replace not found in file."),
            ("\"unterminated and long", "\"unterminated and long"),
            ("", ""),
        ] {
            assert_eq!(failure_group(line), group, "{line}");
        }
    }

    #[test]
    fn a_group_is_its_own_group_and_bounded() {
        for line in ["a 12 /x/y `b`", &"word ".repeat(500), &"/a/b ".repeat(500), &"'".repeat(5000), "é「…」\u{202e}", &"9:".repeat(4000)]
        {
            let group = failure_group(line);
            assert!(group.chars().count() <= GROUP, "{group}");
            if !group.ends_with('…') {
                assert_eq!(failure_group(&group), group, "{line}");
            }
        }
    }

    #[test]
    fn the_line_that_tells_is_taken() {
        let cargo = "   Compiling app v0.1.0\nerror[E0308]: mismatched types\n  --> src/a.rs:1:2\nerror: could not compile `app`\n";
        assert_eq!(error_line(cargo).as_deref(), Some("error: could not compile `app`"));
        assert_eq!(error_line("\n\n  File does not exist.\nmore").as_deref(), Some("File does not exist."));
        assert_eq!(error_line("\u{1b}[31mbad\u{1b}[0m\u{7}").as_deref(), Some("bad␇"));
        assert_eq!(error_line(" \n\t\n"), None);
        assert_eq!(error_line(&"x".repeat(100_000)).map(|line| line.chars().count()), Some(LINE));
    }
}
