//! Logs that unpack to far more than they are, or hold millions of tiny records, are read up to a limit, say so, and take little memory.
//! A test program of its own, because it looks at the most memory that its process ever held.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use tooltrail_formats::find;
use tooltrail_formats::follow::Follower;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::Summary;

/// Makes the line of a number.
type LineMaker = Box<dyn FnMut(u64) -> String>;

/// What the process may hold at most, in kilobytes.
const MOST: u64 = 300_000;
/// More records than fit.
const MANY: u64 = 20_000_000;

/// The most memory that this process ever held, in kilobytes; nothing where the system does not tell.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Lines made one after the other, none of them kept.
struct Endless<F> {
    line: F,
    next: u64,
    held: Vec<u8>,
    taken: usize,
}

impl<F: FnMut(u64) -> String> Read for Endless<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.held.len() {
            if self.next == MANY {
                return Ok(0);
            }
            (self.held, self.taken) = ((self.line)(self.next).into_bytes(), 0);
            self.next += 1;
        }
        let count = (&self.held[self.taken..]).read(out)?;
        self.taken += count;
        Ok(count)
    }
}

fn read(input: impl Read, options: &Options) -> Summary {
    scan::read(Path::new("/nowhere/.claude/projects/p/s1.jsonl"), input, options, &mut Buffer::default(), &Turns::default())
}

fn call(id: &str, number: u64) -> String {
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"u{number}\",\"sessionId\":\"s1\",\"message\":{{\"id\":\"m{number}\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Bash\",\"input\":{{}}}}]}}}}\n"
    )
}

/// One after the other, because they share the memory that is looked at.
#[test]
fn logs_are_read_up_to_limits() {
    millions_of_records_are_read_up_to_a_limit_in_bounded_memory();
    a_log_without_end_is_read_up_to_a_limit();
    a_followed_log_stops_where_a_scan_does();
    of_too_many_logs_the_newest_are_read();
}

fn millions_of_records_are_read_up_to_a_limit_in_bounded_memory() {
    let options = Options { threads: 1, ..Options::default() };
    let block = r#"{"type":"tool_use","id":"a","name":"B"}"#;
    let packed = format!(r#"{{"type":"assistant","sessionId":"s1","message":{{"content":[{}]}}}}"#, vec![block; 1000].join(",")) + "\n";
    let user = |number: u64, session: u64, content: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"sessionId\":\"s{session}\",\"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n"
        )
    };
    let result = |number: u64| format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{number}\",\"content\":\"ok\"}}]");
    let kinds: Vec<(&str, LineMaker)> = vec![
        ("calls in one message", Box::new(move |_| packed.clone())),
        ("one id again and again", Box::new(|number| call("a", number))),
        ("calls", Box::new(|number| call(&format!("t{number}"), number))),
        ("lines that are no records", Box::new(|_| "x\n".repeat(1000))),
        (
            "answers",
            Box::new(|number| {
                format!(
                    "{{\"type\":\"assistant\",\"uuid\":\"u{number}\",\"sessionId\":\"s1\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"so\"}}]}}}}\n"
                )
            }),
        ),
        ("prompts", Box::new(move |number| user(number, 1, &format!("\"go {number}\"")))),
        ("sessions", Box::new(move |number| user(number, number, "\"go\""))),
        ("results without calls", Box::new(move |number| user(number, 1, &result(number)))),
        ("types of records", Box::new(|number| format!("{{\"type\":\"t{number}\"}}\n"))),
        ("empty lines", Box::new(|_| "\n".repeat(1000))),
    ];
    for (kind, line) in kinds {
        let summary = read(Endless { line, next: 0, held: Vec::new(), taken: 0 }, &options);
        let text = summary.limit().unwrap_or_else(|| panic!("{kind} were read to their end")).to_owned();
        assert!(text.contains("--max-kept"), "{kind}: {text}");
        assert!(summary.tally.bytes > 100_000, "{kind}: {} bytes", summary.tally.bytes);
        println!("{kind}: {} lines, {} calls; at most {} MB", summary.tally.lines, summary.calls.len(), peak().unwrap_or(0) / 1000);
        if let Some(peak) = peak() {
            assert!(peak < MOST, "{} MB after {kind}", peak / 1000);
        }
    }
    // What fits is far more than anybody's log has.
    let most = read(Endless { line: |number| call(&format!("t{number}"), number), next: 0, held: Vec::new(), taken: 0 }, &options);
    assert!(most.calls.len() > 150_000, "{}", most.calls.len());
}

fn a_log_without_end_is_read_up_to_a_limit() {
    let options = Options { threads: 1, max_log: 4 << 20, ..Options::default() };
    let first = call("a", 1);
    // A line that never ends is cut off before it; lines that never end are cut off between two.
    let long = format!("{{\"x\":\"{}\"}}\n", "y".repeat(200));
    for rest in [&b"\0"[..], long.as_bytes()] {
        let rest: Vec<u8> = rest.repeat((16 << 20) / rest.len());
        let summary = read(first.as_bytes().chain(&rest[..]), &options);
        let text = summary.limit().unwrap();
        assert!(text.contains("is longer than 4 MB") && text.contains("--max-log"), "{text}");
        assert_eq!(summary.calls.len(), 1);
        assert!(summary.tally.bytes <= 4 << 20);
        assert!(summary.tally.unparsed == 0 && summary.issues.len() == 1, "{:?}", summary.issues);
    }
    assert_eq!(read(first.as_bytes(), &options).limit(), None);
}

fn a_followed_log_stops_where_a_scan_does() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s1.jsonl");
    let options = Options { threads: 1, max_kept: 8 << 20, ..Options::default() };
    let scanned = || {
        let files = find::in_paths(std::slice::from_ref(&path)).files;
        let (linker, _) = scan::scan(&files, &options, &Progress::default());
        format!("{:?}", linker.into_sources().next().unwrap().summary)
    };
    let mut follower = Follower::new(&path, &options);
    let mut bytes = 0;
    for part in 0..4_u64 {
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        for number in part * 8000..(part + 1) * 8000 {
            file.write_all(call(&format!("t{number}"), number).as_bytes()).unwrap();
        }
        drop(file);
        let followed = follower.follow(&mut Buffer::default(), &mut |_, _| {}).unwrap();
        assert_eq!(followed.source.summary.limit().is_some(), part > 0, "part {part}");
        assert_eq!(format!("{:?}", followed.source.summary), scanned(), "part {part}");
        // Once it is full, a log that grows is not read again.
        if part > 1 {
            assert!(follower.bytes() - bytes < 2 << 20, "{}", follower.bytes() - bytes);
        }
        bytes = follower.bytes();
    }
}

fn of_too_many_logs_the_newest_are_read() {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..10_u64 {
        let path = directory.path().join(format!("f{number}.jsonl"));
        fs::write(&path, call("a", number)).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + number);
        OpenOptions::new().append(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    let paths = [directory.path().to_owned()];
    let search = find::in_paths(&paths).limit(4);
    let names: Vec<_> = search.files.iter().filter_map(|found| found.path.file_name()?.to_str()).collect();
    assert_eq!(names, ["f6.jsonl", "f7.jsonl", "f8.jsonl", "f9.jsonl"]);
    let problem = &search.problems[0];
    assert_eq!((search.problems.len(), problem.path.as_path()), (1, directory.path()));
    assert!(problem.error.to_string().contains("only the newest 4 of 10 logs are read"), "{}", problem.error);
    let all = find::in_paths(&paths).limit(10);
    assert_eq!((all.files.len(), all.problems.len()), (10, 0));
}
