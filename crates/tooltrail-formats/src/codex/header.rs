//! The lines in front of a command's output: exit code, run time, whether it goes on.
//!
//! `Exit code: 0`, `Wall time: 0.1 seconds`, `Process exited with code 0`, `Process running with session ID 7`, `Chunk ID: x` …, up
//! to the line `Output:`. Each may be missing. They count only at the very start, or behind a `Command:` in front, because what
//! follows is the command's own words, and may look the same.

use super::markers::{millis, number};

/// The parsed lines in front of an output.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Header<'t> {
    pub(super) exit_code: Option<i64>,
    pub(super) run_ms: Option<u64>,
    /// The task that the command became, if it goes on.
    pub(super) running: Option<&'t str>,
    /// Whether it came from a shell that can go on, so that its end may be the end of a task.
    pub(super) ended: bool,
    /// The output was cut.
    pub(super) truncated: bool,
    /// The text behind them.
    pub(super) body: &'t str,
    /// How many lines were understood.
    lines: usize,
    /// Whether the line `Output:` was reached.
    whole: bool,
}

impl Header<'_> {
    /// Whether the lines are whole and have nothing but the time: the header of an MCP server's answer.
    pub(super) fn is_time_alone(&self) -> bool {
        self.whole && self.lines == 1 && self.run_ms.is_some()
    }
}

/// How the lines may begin, the usual one first.
const BEGINNINGS: &[&str] =
    &["\nChunk ID: ", "\nWall time: ", "\nExit code: ", "\nProcess exited with code ", "\nProcess running with session ID "];

/// How many places behind a `Command:` are tried; a long script could offer as many as it has lines.
const TRIES: usize = 64;

/// Reads the lines in front of an output.
pub(super) fn read(text: &str) -> Header<'_> {
    let header = at(text);
    if header.lines > 0 || !text.starts_with("Command: ") {
        return header;
    }
    // The first of these beginnings that occurs counts; a command may contain lines that look like the others.
    let mut behind = BEGINNINGS.iter().filter_map(|beginning| {
        let starts = text.match_indices(beginning).map(|(start, _)| &text[start + 1..]);
        starts.take(TRIES).map(at).find(|header| header.whole)
    });
    behind.next().unwrap_or(header)
}

fn at(text: &str) -> Header<'_> {
    let mut header = Header { body: text, ..Header::default() };
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        // Windows line ends.
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.trim_end() == "Output:" {
            // A lone `Output:` is a word of the command's own.
            header.whole = header.lines > 0;
            header.body = if header.whole { after } else { text };
            break;
        }
        // The first line that is not understood is the command's own.
        if !understand(line, &mut header) {
            break;
        }
        header.lines += 1;
        header.body = after;
        rest = after;
    }
    header
}

fn understand<'t>(line: &'t str, header: &mut Header<'t>) -> bool {
    if let Some(code) = line.strip_prefix("Exit code: ") {
        header.exit_code = whole_number(code);
        return header.exit_code.is_some();
    }
    if let Some(code) = line.strip_prefix("Process exited with code ") {
        (header.exit_code, header.ended) = (whole_number(code), true);
        return header.exit_code.is_some();
    }
    if let Some(time) = line.strip_prefix("Wall time: ").or(line.strip_prefix("Wall time ")) {
        let time = time.strip_suffix(" seconds").and_then(millis);
        header.run_ms = time.or(header.run_ms);
        return time.is_some();
    }
    let running = line.strip_prefix("Process running with session ID ").or(line.strip_prefix("Script running with cell ID "));
    if let Some(id) = running {
        header.running = Some(id.trim()).filter(|id| !id.is_empty());
        return header.running.is_some();
    }
    if line.starts_with("Warning: truncated output (original token count: ") {
        header.truncated = true;
        return true;
    }
    if let Some(script) = line.strip_prefix("Script ") {
        // The meaning of the text says it again; here it only must not end the lines.
        return header.lines == 0 && matches!(script, "completed" | "failed" | "terminated");
    }
    ["Chunk ID: ", "Original token count: ", "Total output lines: "].iter().any(|start| line.starts_with(start))
}

fn whole_number(text: &str) -> Option<i64> {
    let text = text.trim_end();
    number(text).filter(|_| text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_times_are_read() {
        let freeform = read("Exit code: 2\nWall time: 0.1 seconds\nTotal output lines: 9\nOutput:\nmore");
        assert_eq!((freeform.exit_code, freeform.run_ms, freeform.body), (Some(2), Some(100), "more"));
        let unified = read("Chunk ID: 1a\nWall time: 0.0512 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\na\n");
        assert_eq!((unified.exit_code, unified.run_ms, unified.ended), (Some(0), Some(51), true));
        let running = read("Chunk ID: 1a\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n");
        assert_eq!((running.exit_code, running.running), (None, Some("7")));
        let script = read("Script completed\nWall time 1.2 seconds\nOutput:\n");
        assert_eq!(script.run_ms, Some(1200));
        let cell = read("Script running with cell ID 4\nWall time 10.0 seconds\nOutput:\n");
        assert_eq!(cell.running, Some("4"));
        let aborted = read("Wall time: 3.2 seconds\naborted by user");
        assert_eq!((aborted.run_ms, aborted.body), (Some(3200), "aborted by user"));
    }

    #[test]
    fn headers_count_only_in_front() {
        assert_eq!(read("text\nExit code: 1\nOutput:\n").exit_code, None);
        assert_eq!(read("Output:\nExit code: 1\n").exit_code, None);
        assert_eq!(read("Exit code: 0\nOutput:\nExit code: 1\n").exit_code, Some(0));
        assert_eq!(read("Exit code: unknown\nWall time: 1 seconds\n").exit_code, None);
        let behind =
            "Command: cat <<E\nExit code: 9\nOutput:\nE\nChunk ID: x\nWall time: 2.0 seconds\nProcess exited with code 3\nOutput:\nx";
        assert_eq!(read(behind).exit_code, Some(3));
        assert_eq!(read("Command: echo\nnothing follows").exit_code, None);
        assert_eq!(read(&format!("Command: {}", "\nChunk ID: ".repeat(100_000))).exit_code, None);
    }
}
