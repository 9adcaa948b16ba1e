//! JSON: the session, its messages and calls, with their views. One document, written as it goes, an entry a line.
//!
//! ```text
//! {"v":1,"session":{…},"settings":{…},"verdict":{…},"digest":{…},"turns":[…],"entries":[
//! {"type":"prompt","at":{"file":"…","line":3},"time":"…","turn":1,…,"text":"…"},
//! {"type":"call",…,"call":{as in `calls --json`},"input":{…},"seen":[…],"produced":{…},…}
//! ]}
//! ```

use super::walk;
use crate::messages::{MessageView, message};
use crate::{Block, Head, Limits, call as view};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::Formatter;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tooltrail_model::book::{Book, Loaded, Selection};
use tooltrail_model::content::Content;
use tooltrail_model::event::{HookOutcome, Origin};
use tooltrail_model::position::file_of;
use tooltrail_model::row::{CallNumber, CallRow, VERSION};
use tooltrail_model::session_verdict::SessionVerdict;
use tooltrail_model::transcript::{
    Entry, EntryKind, HookStory, Level, Part, PermissionChange, ProgressStory, SessionSettings, SideFile, Story, Thread, Turn,
};
use tooltrail_model::usage::Tokens;
use tooltrail_model::visible::is_active;

/// Options of the JSON export.
#[derive(Clone, Debug, Default)]
pub struct JsonOptions {
    /// Part of the session to render.
    pub selection: Selection,
    /// Whether the blocks of each view are written too.
    pub views: bool,
}

/// Writes a session.
pub fn session(book: &dyn Book, options: &JsonOptions, out: &mut dyn Write) -> io::Result<()> {
    let transcript = book.transcript();
    let turns: Vec<TurnRow<'_>> = transcript.turns.iter().enumerate().map(TurnRow::new).collect();
    out.write_all(format!("{{\"v\":{VERSION},\"session\":").as_bytes())?;
    write_value(&transcript.session, out)?;
    out.write_all(b",\"settings\":")?;
    write_value(&SettingsRow::new(&transcript.settings), out)?;
    let digest = tooltrail_model::digest::of(book, &options.selection);
    out.write_all(b",\"verdict\":")?;
    write_value(&SessionVerdict::of(&digest), out)?;
    out.write_all(b",\"digest\":")?;
    write_value(&digest, out)?;
    out.write_all(b",\"turns\":")?;
    write_value(&turns, out)?;
    // Written piece by piece: a session may be larger than memory allows for one value.
    out.write_all(b",\"entries\":[")?;
    let mut files = Files { book, known: BTreeMap::new() };
    let mut first = true;
    for (index, thread) in transcript.threads.iter().enumerate() {
        for entry in thread.entries.iter().filter(|entry| walk::takes(transcript, thread, entry, &options.selection)) {
            // Commas go before entries, so the last entry needs no special case.
            out.write_all(if std::mem::take(&mut first) { b"\n" } else { b",\n" })?;
            let place = EntryPlace { index, thread, entry, file: files.of(entry.spot.source) };
            write_value(&EntryRow::new(book, options.views, &place, &book.open(entry)), out)?;
        }
    }
    out.write_all(b"\n]}\n")
}

/// Writes one call, as its entry of the session.
pub fn call(book: &dyn Book, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let transcript = book.transcript();
    let entries =
        transcript.threads.iter().enumerate().flat_map(|(at, thread)| thread.entries.iter().map(move |entry| (at, thread, entry)));
    // A call may be referred to by several entries where logs overlap; one is enough.
    let found = entries.filter(|(_, _, entry)| entry.what == EntryKind::Call(index)).map(|(index, thread, entry)| EntryPlace {
        index,
        thread,
        entry,
        file: book.file(entry.spot.source),
    });
    for place in found.take(1) {
        write_value(&EntryRow::new(book, true, &place, &book.call(index)), out)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Paths of sources, each looked up once.
struct Files<'a> {
    book: &'a dyn Book,
    known: BTreeMap<usize, Option<&'a str>>,
}

impl<'a> Files<'a> {
    fn of(&mut self, source: usize) -> Option<&'a str> {
        *self.known.entry(source).or_insert_with(|| self.book.file(source))
    }
}

/// Position of an entry: its thread, its record and the file.
struct EntryPlace<'a> {
    index: usize,
    thread: &'a Thread,
    entry: &'a Entry,
    file: Option<&'a str>,
}

/// A turn, as written to JSON.
#[derive(Serialize)]
struct TurnRow<'a> {
    turn: usize,
    head: &'a str,
    time: Option<String>,
    abandoned: bool,
}

impl<'a> TurnRow<'a> {
    fn new((place, turn): (usize, &'a Turn)) -> Self {
        // Turns count from 1 in all outputs.
        TurnRow { turn: place + 1, head: &turn.head, time: turn.time.map(|time| time.to_string()), abandoned: turn.abandoned }
    }
}

/// An entry, as written to JSON. The order of fields is part of the contract.
#[derive(Serialize)]
struct EntryRow<'a> {
    r#type: &'static str,
    at: RecordPlace<'a>,
    time: Option<String>,
    turn: Option<usize>,
    agent_id: Option<&'a str>,
    thread: usize,
    started_by: Option<&'a str>,
    abandoned: bool,
    #[serde(flatten)]
    what: WhatRow<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<ViewRow>,
}

/// Position of a record, as written to JSON.
#[derive(Serialize)]
struct RecordPlace<'a> {
    file: Option<&'a str>,
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<&'a str>,
}

/// Content of an entry, by its type.
#[derive(Serialize)]
#[serde(untagged)]
enum WhatRow<'a> {
    Prompt { origin: &'static str, text: &'a str },
    Command { line: &'a str, output: Option<&'a str> },
    Text { text: &'a str },
    Media { content: &'a Content },
    Id { id: &'a str },
    Folded { label: &'a str, text: &'a str },
    Notice { level: Level, title: &'a str, text: Option<&'a str> },
    Boundary { title: &'a str, facts: Vec<NamedValue<'a>> },
    Hook { hook: FullHookRow<'a> },
    Unknown { name: &'a str, value: &'a Value },
    Gone { why: &'a str },
    // Boxed, because it is many times larger than the others.
    Call(Box<StoryRow<'a>>),
}

/// A name with its value; an object rather than a pair, so that consumers read it by name.
#[derive(Serialize)]
struct NamedValue<'a> {
    name: &'a str,
    value: &'a str,
}

/// A call with everything that belongs to it.
#[derive(Serialize)]
struct StoryRow<'a> {
    call: &'a CallRow<'a>,
    number: CallNumber,
    input: &'a Value,
    requested_input: Option<&'a Value>,
    seen: Option<&'a [Content]>,
    produced: Option<&'a Value>,
    feedback: Option<&'a str>,
    error: Option<&'a str>,
    side: Option<SideRow<'a>>,
    hooks: Vec<FullHookRow<'a>>,
    progress: Option<ProgressRow<'a>>,
    tokens: Option<Tokens>,
    tier: Option<&'a str>,
    request_id: Option<&'a str>,
    stopped: Option<&'a str>,
    threads: &'a [usize],
}

/// An output that was saved beside the log.
#[derive(Serialize)]
struct SideRow<'a> {
    path: &'a str,
    bytes: u64,
    cut: bool,
    text: Option<&'a str>,
    problem: Option<&'a str>,
}

/// State of a call without a result at its last progress.
#[derive(Serialize)]
struct ProgressRow<'a> {
    output: Option<&'a str>,
    note: Option<&'a str>,
    elapsed_ms: Option<u64>,
    limit_ms: Option<u64>,
}

impl<'a> ProgressRow<'a> {
    fn new(progress: &'a ProgressStory) -> Self {
        let (output, note) = (progress.output.as_deref(), progress.note.as_deref());
        ProgressRow { output, note, elapsed_ms: progress.elapsed_ms, limit_ms: progress.limit_ms }
    }
}

/// Settings of the agent during the session.
#[derive(Serialize)]
struct SettingsRow<'a> {
    versions: &'a [String],
    permissions: Vec<PermissionRow<'a>>,
    web_searches: u64,
    web_fetches: u64,
}

/// A permission mode, and the turn in which it was first seen.
#[derive(Serialize)]
struct PermissionRow<'a> {
    mode: &'a str,
    turn: Option<usize>,
}

impl<'a> SettingsRow<'a> {
    fn new(settings: &'a SessionSettings) -> Self {
        let mode = |change: &'a PermissionChange| PermissionRow { mode: &change.mode.words, turn: change.turn.map(|turn| turn + 1) };
        let [web_searches, web_fetches] = settings.server_tools;
        SettingsRow {
            versions: &settings.versions,
            permissions: settings.permissions.iter().map(mode).collect(),
            web_searches,
            web_fetches,
        }
    }
}

/// A hook with its texts.
#[derive(Serialize)]
struct FullHookRow<'a> {
    call: Option<&'a str>,
    event: Option<&'a str>,
    name: Option<&'a str>,
    command: Option<&'a str>,
    outcome: Option<HookOutcome>,
    exit_code: Option<i64>,
    duration_ms: Option<u64>,
    reason: Option<&'a str>,
    texts: Vec<NamedValue<'a>>,
}

/// An entry as it is shown: head and blocks, or a message.
#[derive(Serialize)]
#[serde(untagged)]
enum ViewRow {
    Call { head: Head, body: Vec<Block> },
    Message(MessageView),
}

impl<'a> RecordPlace<'a> {
    fn new(book: &'a dyn Book, place: &EntryPlace<'a>) -> Self {
        let spot = place.entry.spot;
        match book.row(spot) {
            Some(row) => RecordPlace { file: place.file.map(file_of), line: None, row: Some(row) },
            None => RecordPlace { file: place.file, line: Some(spot.at.line), row: None },
        }
    }
}

impl<'a> EntryRow<'a> {
    fn new(book: &'a dyn Book, views: bool, place: &EntryPlace<'a>, loaded: &'a Loaded<'a>) -> Self {
        let entry = place.entry;
        let (r#type, what) = match loaded {
            Loaded::Call(story) => ("call", WhatRow::Call(Box::new(StoryRow::new(story)))),
            Loaded::Part(part) => part_row(part),
            Loaded::Gone(why) => ("gone", WhatRow::Gone { why }),
        };
        // A subagent's entries name the call that started them, so that consumers can put them together.
        let starter = place.thread.started_by.and_then(|call| book.transcript().calls.get(call));
        EntryRow {
            r#type,
            at: RecordPlace::new(book, place),
            time: entry.time.map(|time| time.to_string()),
            turn: entry.turn.map(|turn| turn.saturating_add(1)),
            agent_id: place.thread.agent.as_deref(),
            thread: place.index,
            started_by: starter.map(|call| call.row.r#ref.as_str()),
            abandoned: entry.abandoned,
            what,
            view: views.then(|| view_row(loaded)).flatten(),
        }
    }
}

/// The view of an entry; a record that is gone has none.
fn view_row(loaded: &Loaded<'_>) -> Option<ViewRow> {
    match loaded {
        Loaded::Call(story) => Some(ViewRow::Call { head: view::head(story), body: view::body(story, &Limits::PAGE) }),
        Loaded::Part(part) => Some(ViewRow::Message(message(part, &Limits::PAGE))),
        Loaded::Gone(_) => None,
    }
}

/// A message as the name of its type and its content.
fn part_row(part: &Part) -> (&'static str, WhatRow<'_>) {
    match part {
        Part::Prompt { origin, text } => ("prompt", WhatRow::Prompt { origin: origin_word(*origin), text }),
        Part::Command { line, output } => ("command", WhatRow::Command { line, output: output.as_deref() }),
        Part::Text(text) => ("text", WhatRow::Text { text }),
        Part::Thinking(text) => ("thinking", WhatRow::Text { text }),
        Part::Media(content) => ("media", WhatRow::Media { content }),
        Part::Call(id) => ("call_id", WhatRow::Id { id }),
        Part::Result(id) => ("result_id", WhatRow::Id { id }),
        Part::End(id) => ("end_id", WhatRow::Id { id }),
        Part::Folded { label, text } => ("folded", WhatRow::Folded { label, text }),
        Part::Notice { level, title, text } => ("notice", WhatRow::Notice { level: *level, title, text: text.as_deref() }),
        Part::Boundary { title, facts } => ("boundary", WhatRow::Boundary { title, facts: pairs(facts) }),
        Part::Hook(hook) => ("hook", WhatRow::Hook { hook: FullHookRow::new(hook) }),
        Part::Unknown { name, value } => ("unknown", WhatRow::Unknown { name, value }),
    }
}

fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Human => "human",
        Origin::Command | Origin::Local => "command",
        Origin::Queued => "queued",
        Origin::Agent => "agent",
        Origin::Program => "program",
    }
}

fn pairs(pairs: &[(String, String)]) -> Vec<NamedValue<'_>> {
    pairs.iter().map(|(name, value)| NamedValue { name, value }).collect()
}

impl<'a> StoryRow<'a> {
    fn new(story: &'a Story<'a>) -> Self {
        let answer = story.answer.as_ref();
        StoryRow {
            call: &story.row,
            number: story.number,
            input: &story.input,
            requested_input: story.requested.as_ref(),
            seen: answer.map(|answer| answer.seen.as_slice()),
            produced: answer.and_then(|answer| answer.produced.as_ref()),
            feedback: answer.and_then(|answer| answer.feedback.as_deref()),
            error: story.told.error.as_deref(),
            side: story.side.as_ref().map(SideRow::new),
            hooks: story.hooks.iter().map(FullHookRow::new).collect(),
            progress: story.progress.as_ref().map(ProgressRow::new),
            tokens: story.tokens,
            tier: story.tier.as_deref(),
            request_id: story.message.request.as_deref(),
            stopped: story.message.stopped.as_deref(),
            threads: &story.nested.threads,
        }
    }
}

impl<'a> SideRow<'a> {
    fn new(side: &'a SideFile) -> Self {
        // Either the text or the problem is set, so that consumers need no third state.
        let (text, problem) = match &side.text {
            Ok(text) => (Some(text.as_str()), None),
            Err(problem) => (None, Some(problem.as_str())),
        };
        SideRow { path: &side.path, bytes: side.bytes, cut: side.cut, text, problem }
    }
}

impl<'a> FullHookRow<'a> {
    fn new(hook: &'a HookStory) -> Self {
        FullHookRow {
            call: hook.call.as_deref(),
            event: hook.event.as_deref(),
            name: hook.name.as_deref(),
            command: hook.command.as_deref(),
            outcome: hook.outcome,
            exit_code: hook.exit_code,
            duration_ms: hook.duration_ms,
            reason: hook.reason.as_deref(),
            texts: pairs(&hook.texts),
        }
    }
}

/// Writes a value.
fn write_value(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(out, Quiet)).map_err(io::Error::from)
}

/// JSON that can be printed: characters that a terminal might act on are spelled as escapes, which mean the same.
struct Quiet;

impl Formatter for Quiet {
    // C0 controls are escaped by serde_json itself; what is left are DEL, C1, line separators and turns of direction.
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, letter)) = rest.char_indices().find(|(_, letter)| is_active(*letter)) {
            // `at` comes from `char_indices`, so both slices end on characters.
            writer.write_all(&rest.as_bytes()[..at])?;
            write!(writer, "\\u{:04x}", letter as u32)?;
            rest = &rest[at + letter.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}
