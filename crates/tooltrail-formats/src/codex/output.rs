//! The output of a call in all encodings: text with lines in front, JSON in a string, a JSON object, a list of texts, nothing. A scan asks
//! how the call ended ([`outcome`]), a reader for the content that the model saw ([`open`]).

use super::content::{self, Element};
use super::header::{self, Header};
use super::markers::{self, Meaning};
use crate::served;
use crate::value::Payloads;
use memchr::memmem::Finder;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::LazyLock;
use tooltrail_model::content::Content;
use tooltrail_model::event::{Child, Hook, TaskState};
use tooltrail_model::verdict::{LoggedOutcome, Marker, ServedWords, Signals};
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// How much of a text is decoded; the informative lines come first.
const HEAD: usize = 1024;
/// How much is decoded where the command is in front of them.
const LONG_HEAD: usize = 1 << 20;

/// The outcome of a call, by its output.
#[derive(Debug, Default)]
pub(super) struct OutputOutcome<'r> {
    pub(super) signals: Signals,
    pub(super) run_ms: Option<u64>,
    /// The background task the call became.
    pub(super) task: Option<Cow<'r, str>>,
    /// News of the task that the call asked about.
    pub(super) polled: Option<(TaskState, Option<i64>)>,
    /// News of agents by name.
    pub(super) agents: Vec<(Cow<'r, str>, TaskState)>,
    pub(super) child: Option<Child<'r>>,
    pub(super) hook: Option<Hook<'r>>,
    pub(super) truncated: bool,
}

/// An output as a log carries it.
enum Carrier<'r> {
    /// A text with lines in front that report the outcome, or JSON in a string.
    Text(Raw<'r>),
    /// A JSON object.
    Object(&'r [u8]),
    /// A list of content items. Its first text reports the outcome.
    List(&'r [u8]),
    /// A number, a truth, nothing.
    Other(&'r [u8]),
}

impl<'r> Carrier<'r> {
    fn of(raw: &'r [u8]) -> Self {
        let mut skim = Skim::new(raw);
        match skim.peek() {
            Some(Type::String) => skim.string().map_or(Carrier::Other(raw), Carrier::Text),
            Some(Type::Object) => Carrier::Object(raw),
            Some(Type::Array) => Carrier::List(raw),
            _ => Carrier::Other(raw),
        }
    }
}

/// Reads how a call ended from its raw output.
pub(super) fn outcome(raw: &[u8]) -> OutputOutcome<'_> {
    let mut out = match Carrier::of(raw) {
        Carrier::Text(said) => text(said),
        Carrier::Object(bytes) => json(bytes),
        Carrier::List(bytes) => content::texts(bytes).first().map(|said| text(*said)).unwrap_or_default(),
        Carrier::Other(_) => OutputOutcome::default(),
    };
    // A command of the agent's own has said how it ended.
    if out.signals.exit_field.is_none() && !out.signals.backgrounded {
        out.signals.served = served_words(raw);
    }
    if let (None, Some(task)) = (&out.task, launched(raw, &out)) {
        (out.task, out.signals.backgrounded) = (Some(Cow::Owned(task)), true);
    }
    if let (None, Some(code)) = (&out.polled, out.signals.served.exit) {
        out.polled = Some((state(code), Some(code)));
    }
    // Searched in the raw bytes: the remark may stand anywhere in a long output.
    out.truncated |= is_truncated(raw);
    out
}

/// The statements of a server's tool in an output. Its text stands behind the lines that the agent puts in front, in a list of content or
/// by itself.
fn served_words(raw: &[u8]) -> ServedWords {
    said_by_server(raw, |first, last| served::said(&first.head(HEAD), &last.tail(HEAD))).unwrap_or_default()
}

/// The process that a server's tool says it started.
fn launched(raw: &[u8], out: &OutputOutcome<'_>) -> Option<String> {
    if !out.signals.served.launched {
        return None;
    }
    said_by_server(raw, |first, _| served::task(&first.head(HEAD)).map(str::to_owned))?
}

/// Reads the first and the last text of a server's tool, if they can say something.
fn said_by_server<T>(raw: &[u8], read: impl Fn(Raw<'_>, Raw<'_>) -> T) -> Option<T> {
    let ends = |texts: &[Raw<'_>]| {
        let (first, last) = (*texts.first()?, *texts.last()?);
        (served::tells(first.bytes()) || served::tells(last.bytes())).then(|| read(first, last))
    };
    let texts = content::texts(raw);
    let first = *texts.first()?;
    if first.head("Wall time: ".len()) != "Wall time: " {
        return ends(&texts);
    }
    // Few outputs have these lines, which are those of servers' tools.
    let whole = first.text();
    let body = header::read(&whole).body.trim_start();
    if body.is_empty() {
        return ends(texts.get(1..)?);
    }
    if content::is_content_list(body) {
        return ends(&content::texts(body.as_bytes()));
    }
    let quoted = serde_json::to_vec(body).ok()?;
    ends(&[Skim::new(&quoted).string()?])
}

/// Opens a raw output: the content that the model saw, without the agent's wrapping, and the metadata of the wrapping.
pub(super) fn open(raw: &[u8], payloads: Payloads<'_>) -> (Vec<Content>, Option<Value>) {
    match Carrier::of(raw) {
        Carrier::Text(said) => {
            let text = said.text();
            let wrapped = content::is_object(&text).then(|| unwrapped(text.as_bytes(), payloads)).flatten();
            wrapped.unwrap_or_else(|| (untimed(vec![Element::Text(said)], payloads), None))
        }
        Carrier::Object(bytes) => unwrapped(bytes, payloads).unwrap_or_else(|| (content::open(bytes, payloads), None)),
        Carrier::List(bytes) => (untimed(content::elements(bytes), payloads), None),
        Carrier::Other(bytes) => (content::open(bytes, payloads), None),
    }
}

/// The output and the metadata in `{"output":…,"metadata":{…}}`.
fn unwrapped(bytes: &[u8], payloads: Payloads<'_>) -> Option<(Vec<Content>, Option<Value>)> {
    let members = Members::read(bytes).ok()?;
    let (output, metadata) = (members.output?, members.metadata.filter(|metadata| metadata.starts_with(b"{"))?);
    Some((content::open(output, payloads), Some(payloads.value(metadata))))
}

/// Opens content without the `Wall time: 1.2 seconds\nOutput:` in front of an MCP server's answer. The text behind it may be a list of
/// content, as JSON.
fn untimed(elements: Vec<Element<'_>>, payloads: Payloads<'_>) -> Vec<Content> {
    let first = elements.first().and_then(Element::text);
    // Other headers report how a command ended, and are read where the call is put into neutral form.
    let header = first.as_deref().map(header::read).filter(Header::is_time_alone);
    let Some(header) = header else { return elements.iter().map(|one| one.open(payloads)).collect() };
    let mut seen = if content::is_content_list(header.body) {
        content::open(header.body.as_bytes(), payloads)
    } else if header.body.is_empty() && elements.len() > 1 {
        Vec::new()
    } else {
        vec![Content::text(payloads.decoded(header.body.to_owned()))]
    };
    seen.extend(elements.iter().skip(1).map(|one| one.open(payloads)));
    seen
}

/// The outcome by a text.
fn text<'r>(raw: Raw<'r>) -> OutputOutcome<'r> {
    let mut head = raw.head(HEAD);
    if head.trim_start().starts_with('{') {
        return quick(raw, &head).unwrap_or_else(|| json(raw.text().as_bytes()));
    }
    // The command stands in front, and may be long.
    if ["Command: ", "exec_command failed for `"].iter().any(|start| head.starts_with(start)) {
        head = raw.head(LONG_HEAD);
    }
    words(&head)
}

/// The usual case of JSON in a string without decoding all of it: a long output in front, the outcome behind it, and success.
///
/// A quote inside the output is escaped, so `","metadata":{` without a backslash before it ends the output.
fn quick<'r>(raw: Raw<'r>, head: &str) -> Option<OutputOutcome<'r>> {
    const END: &str = "\",\"metadata\":{";
    let tail = raw.tail(160);
    let at = tail.rfind(END).filter(|&at| at > 0 && tail.as_bytes()[at - 1] != b'\\')?;
    // Only the end is parsed, with an empty output in front.
    let out = json(format!("{{\"output\":\"{}", &tail[at..]).as_bytes());
    // Anything but success is read in full, because the output may say more.
    let worked = head.starts_with("{\"output\":\"") && out.signals.exit_field == Some(0);
    worked.then_some(out)
}

/// A text, from its beginning.
fn words<'r>(head: &str) -> OutputOutcome<'r> {
    let header = header::read(head);
    let mut out = OutputOutcome { run_ms: header.run_ms, truncated: header.truncated, ..OutputOutcome::default() };
    if let Some(code) = header.exit_code {
        ended(&mut out, code, header.body);
        out.polled = header.ended.then(|| (state(code), Some(code)));
        return out;
    }
    if let Some(task) = header.running {
        out.signals.backgrounded = true;
        out.task = Some(Cow::Owned(task.to_owned()));
        out.polled = Some((TaskState::Running, None));
        return out;
    }
    mean(&mut out, head, &header);
    out
}

/// A command that ended with a code.
fn ended(out: &mut OutputOutcome<'_>, code: i64, body: &str) {
    out.signals.exit_field = Some(code);
    out.signals.outcome = if code == 0 { LoggedOutcome::Worked } else { LoggedOutcome::Error };
    // A command that timed out has an exit code as well; its output begins with the reason.
    if code != 0 && markers::of(body) == Some(Meaning::Known(Marker::Timeout)) {
        out.signals.marker = Some(Marker::Timeout);
    }
}

/// A text without an exit code.
fn mean(out: &mut OutputOutcome<'_>, head: &str, header: &Header<'_>) {
    let Some((meaning, said)) = markers::of(head).map(|meaning| (meaning, head)).or_else(|| Some((markers::of(header.body)?, header.body)))
    else {
        return;
    };
    out.signals.outcome = if meaning == Meaning::Worked { LoggedOutcome::Worked } else { LoggedOutcome::Error };
    if let Meaning::Known(marker) = meaning {
        out.signals.marker = Some(marker);
    }
    out.signals.exit_field = markers::sandbox_exit(said);
    out.run_ms = markers::aborted_after(said).or(out.run_ms);
    out.hook = markers::hook(said.trim_start());
    // The end of a script is the end of the task that a later call waited for.
    out.polled = match said.trim_start() {
        text if text.starts_with("Script completed") => Some((TaskState::Completed, None)),
        text if text.starts_with("Script failed") => Some((TaskState::Failed, None)),
        text if text.starts_with("Script terminated") => Some((TaskState::Stopped, None)),
        _ => None,
    };
}

/// The members of an output that is a JSON object: `{"output":"…","metadata":{"exit_code":0,"duration_seconds":0.1}}`, or the answer of an
/// agent's tool. Each is its raw JSON.
#[derive(Default)]
struct Members<'b> {
    output: Option<&'b [u8]>,
    metadata: Option<&'b [u8]>,
    agent_id: Option<&'b [u8]>,
    task_name: Option<&'b [u8]>,
    status: Option<&'b [u8]>,
    agents: Option<&'b [u8]>,
}

impl<'b> Members<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, Torn> {
        let mut members = Members::default();
        Skim::new(bytes).object(|key, value| {
            let slot = match key.as_bytes() {
                b"output" => &mut members.output,
                b"metadata" => &mut members.metadata,
                b"agent_id" => &mut members.agent_id,
                b"task_name" => &mut members.task_name,
                b"status" => &mut members.status,
                b"agents" => &mut members.agents,
                _ => return Ok(()),
            };
            let span = value.skip()?;
            *slot = Some(value.slice(span));
            Ok(())
        })?;
        Ok(members)
    }
}

/// The outcome by an output that is a JSON object.
fn json<'r>(bytes: &[u8]) -> OutputOutcome<'r> {
    let Ok(members) = Members::read(bytes) else {
        // The beginning of something, or no JSON at all.
        return words(&String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]));
    };
    let mut out = OutputOutcome::default();
    let mut code = None;
    let _ = Skim::new(members.metadata.unwrap_or_default()).object(|key, value| {
        match key.as_bytes() {
            b"exit_code" => code = value.int().and_then(|code| i64::try_from(code).ok()),
            b"duration_seconds" => out.run_ms = value.float().filter(|s| s.is_finite() && *s >= 0.0).map(|s| (s * 1000.0).round() as u64),
            _ => {}
        }
        Ok(())
    });
    // Answers of agents' tools are few and short, so they are decoded whole.
    let string = |raw: Option<&[u8]>| Skim::new(raw?).string().map(|text| text.text().into_owned());
    let body = members.output.and_then(|raw| Skim::new(raw).string()).map(|text| text.head(HEAD).into_owned()).unwrap_or_default();
    match code {
        Some(code) => ended(&mut out, code, &body),
        None if !body.is_empty() => {
            let inner = words(&body);
            (out.signals, out.run_ms) = (inner.signals, inner.run_ms.or(out.run_ms));
        }
        None => {}
    }
    let _ = Skim::new(members.status.unwrap_or_default()).object(|key, value| {
        out.agents.push((Cow::Owned(key.text().into_owned()), agent_state(value)));
        Ok(())
    });
    let _ = Skim::new(members.agents.unwrap_or_default()).array(|agent| {
        out.agents.extend(listed(agent)?);
        Ok(())
    });
    let child = |agent: String, alias| Child { agent: Cow::Owned(agent), sure: false, alias, detached: true };
    let path = string(members.task_name).filter(|path| path.starts_with('/'));
    out.child = string(members.agent_id).map(|agent| child(agent, false)).or_else(|| path.map(|path| child(path, true)));
    out
}

/// An agent in a list of them: `{"agent_name":"/root/scout","agent_status":"running"}`. `None` where its state is missing.
fn listed<'r>(agent: &mut Skim<'_>) -> Result<Option<(Cow<'r, str>, TaskState)>, Torn> {
    let (mut name, mut state) = (None, TaskState::Unknown);
    agent.object(|key, value| {
        match key.as_bytes() {
            b"agent_name" => name = value.string().map(|name| Cow::Owned(name.text().into_owned())),
            b"agent_status" => state = agent_state(value),
            _ => {}
        }
        Ok(())
    })?;
    Ok(name.filter(|_| state != TaskState::Unknown).map(|name| (name, state)))
}

fn state(code: i64) -> TaskState {
    if code == 0 { TaskState::Completed } else { TaskState::Failed }
}

/// An agent's state: a word, or an object whose key is the word.
pub(super) fn agent_state(value: &mut Skim<'_>) -> TaskState {
    let mut word = value.string().map(|word| word.text().into_owned());
    let _ = value.object(|key, _| {
        word = Some(key.text().into_owned());
        Ok(())
    });
    match word.as_deref() {
        Some("pending_init" | "running") => TaskState::Running,
        Some("completed") => TaskState::Completed,
        Some("errored") => TaskState::Failed,
        Some("interrupted" | "shutdown") => TaskState::Stopped,
        _ => TaskState::Unknown,
    }
}

/// Whether a text says that part of it was left out: `…12 tokens truncated…`, `[... omitted 3 of 9 lines ...]`.
fn is_truncated(raw: &[u8]) -> bool {
    static CUT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"s truncated"));
    static OMITTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"[... omitted "));
    let cut = CUT.find_iter(raw).any(|at| {
        let (before, after) = (&raw[..at + 1], raw.get(at + b"s truncated".len()..).unwrap_or_default());
        let counted = before.ends_with(b" tokens") || before.ends_with(b" chars");
        counted && (after.starts_with("…".as_bytes()) || after.starts_with(b"\\u2026"))
    });
    let digit = |at: usize| raw.get(at + b"[... omitted ".len()).is_some_and(u8::is_ascii_digit);
    cut || OMITTED.find_iter(raw).any(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Evidence = (LoggedOutcome, Option<Marker>, Option<i64>);

    fn signals(text: &str) -> Evidence {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        let raw = Skim::new(quoted.as_bytes()).string();
        let signals = raw.map(super::text).unwrap_or_default().signals;
        (signals.outcome, signals.marker, signals.exit_field)
    }

    #[test]
    fn every_encoding_tells_how_it_ended() {
        let table: &[(&str, Evidence)] = &[
            (r#"{"output":"a","metadata":{"exit_code":0,"duration_seconds":0.1}}"#, (LoggedOutcome::Worked, None, Some(0))),
            (r#"{"output":"{\"metadata\":{\"exit_code\":1}}","metadata":{"exit_code":0}}"#, (LoggedOutcome::Worked, None, Some(0))),
            (
                r#"{"output":"command timed out after 9 milliseconds\n","metadata":{"exit_code":124}}"#,
                (LoggedOutcome::Error, Some(Marker::Timeout), Some(124)),
            ),
            ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\naborted by user", (LoggedOutcome::Error, None, Some(1))),
            ("Wall time: 3.2 seconds\naborted by user", (LoggedOutcome::Error, Some(Marker::Interrupted), None)),
            ("Wall time: 1.2 seconds\nOutput:\nrows", (LoggedOutcome::Nothing, None, None)),
            (
                "failed in sandbox X with execution error: sandbox denied exec error, exit code: 1, stdout: ",
                (LoggedOutcome::Error, Some(Marker::Sandbox), Some(1)),
            ),
            ("{\"broken\":", (LoggedOutcome::Nothing, None, None)),
            ("plain words", (LoggedOutcome::Nothing, None, None)),
        ];
        for (text, expected) in table {
            assert_eq!(&signals(text), expected, "{text}");
        }
    }

    #[test]
    fn cuts_are_seen_in_either_spelling() {
        assert!(is_truncated("a …12 tokens truncated… b".as_bytes()));
        assert!(is_truncated(b"a \\u202612 tokens truncated\\u2026 b"));
        assert!(is_truncated(b"[... omitted 3 of 9 lines ...]"));
        assert!(!is_truncated(b"the file was truncated to 0 bytes"));
    }
}
