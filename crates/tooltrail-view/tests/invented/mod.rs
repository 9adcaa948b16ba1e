//! An invented session: every status, every kind of message, a subagent, and blocks of every kind.
#![allow(dead_code, unreachable_pub, clippy::indexing_slicing, reason = "each test uses a part of it; a panic is the report")]

use std::collections::BTreeMap;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::detail::{Detail, Detailed, Shell};
use tooltrail_model::event::{InputFrom, Origin};
use tooltrail_model::row::{CallRow, CallRowOrigin, Place, SessionRow, VERSION};
use tooltrail_model::transcript::{
    CallEntry, Entry, EntryKind, HookStory, Level, LoggedResult, Part, Spot, Story, SubagentCalls, Thread, Transcript, Turn,
};
use tooltrail_model::usage::Tokens;
use tooltrail_model::{At, Kind, Reason, Span, Status};
use tooltrail_view::block::{CodeBlock, Diff, DiffHunk, DiffLine, DiffSign, PageLink, QuestionItem, Terminal, TodoEntry, TodoProgress};
use tooltrail_view::limits::{Elided, ElidedUnit};
use tooltrail_view::line::{Ansi, Class, Color, lines};
use tooltrail_view::{Block, Book, Line, Loaded};

/// A session that lies in memory. The line of an entry's spot is its place among `pages`.
pub struct Invented<'a> {
    transcript: Transcript<'a>,
    pages: Vec<Loaded<'a>>,
    calls: Vec<Story<'a>>,
}

impl Invented<'_> {
    /// Lets a call have printed this, and nothing else say why it failed.
    pub fn print(&mut self, call: usize, text: &str) {
        let Some(told) = self.calls.get_mut(call).map(|story| &mut story.told) else { return };
        told.error = None;
        if let Detail::Shell(shell) = &mut told.detail {
            shell.stdout = Some(text.to_owned());
        }
    }
}

impl Book for Invented<'_> {
    fn transcript(&self) -> &Transcript<'_> {
        &self.transcript
    }

    fn open(&self, entry: &Entry) -> Loaded<'_> {
        match entry.what {
            EntryKind::Call(index) => self.call(index),
            _ => self.pages.get(entry.spot.at.line as usize).cloned().unwrap_or(Loaded::Gone("no such page".into())),
        }
    }

    fn call(&self, index: usize) -> Loaded<'_> {
        self.calls.get(index).map_or(Loaded::Gone("no such call".into()), |story| Loaded::Call(Box::new(story.clone())))
    }
}

/// Builds a session.
pub struct Builder<'a> {
    book: Invented<'a>,
    text: &'a str,
}

impl<'a> Builder<'a> {
    /// A session in which every free text is this one.
    pub fn new(text: &'a str) -> Self {
        let session = SessionRow {
            v: VERSION,
            inner_calls: 0,
            agent: "claude",
            session: "3f2a91c4",
            title: Some(text),
            project: Some(text),
            branch: Some(text),
            started_at: "2026-03-04T10:00:00.000Z".parse().ok(),
            last_at: "2026-03-04T10:12:04.000Z".parse().ok(),
            state: Some("ended"),
            state_reason: None,
            turns: 2,
            calls: Status::ALL.len() as u64,
            by_status: Status::ALL.iter().map(|status| (*status, 1)).collect::<BTreeMap<_, _>>(),
            models: vec![text],
            usage: Tokens { input: 1_204, output: 5_600, cache_read: 187_000, ..Tokens::default() },
            files: vec!["log.jsonl"],
            short: "3f2a",
        };
        let turns = [text, "also add docs"].map(|head| Turn {
            head: head.to_owned(),
            time: "2026-03-04T10:06:00.000Z".parse().ok(),
            ..Turn::default()
        });
        let transcript = Transcript {
            session,
            calls: Vec::new(),
            turns: turns.into(),
            threads: vec![Thread::default(), Thread::default(), Thread::default()],
            hooks: Vec::new(),
            copied_from: None,
            settings: Default::default(),
            objections: Vec::new(),
        };
        Builder { book: Invented { transcript, pages: Vec::new(), calls: Vec::new() }, text }
    }

    /// The same with so many turns.
    pub fn with_turns(mut self, turns: usize) -> Self {
        self.book.transcript.turns = (0..turns).map(|turn| Turn { head: format!("turn {turn}"), ..Turn::default() }).collect();
        self
    }

    /// The session as it is.
    pub fn done(self) -> Invented<'a> {
        self.book
    }

    fn entry(&mut self, thread: usize, what: EntryKind, turn: usize, line: usize) {
        let spot = Spot { source: 0, at: At { line: line as u64, span: Span::default() } };
        let time = "2026-03-04T10:00:03.000Z".parse().ok();
        let entry = Entry { spot, part: 0, time, what, turn: Some(turn), abandoned: false, lines: 1 };
        self.book.transcript.threads[thread].entries.push(entry);
    }

    /// Adds a message.
    pub fn say(mut self, thread: usize, turn: usize, what: EntryKind, part: Part) -> Self {
        let line = self.book.pages.len();
        self.book.pages.push(Loaded::Part(part));
        self.entry(thread, what, turn, line);
        self
    }

    /// The last message was taken back.
    pub fn taken_back(mut self) -> Self {
        self.book.transcript.threads.iter_mut().filter_map(|thread| thread.entries.last_mut()).for_each(|entry| entry.abandoned = true);
        self
    }

    /// Adds a command.
    pub fn run(mut self, thread: usize, turn: usize, status: Status, reason: Option<Reason>, starts: &[usize]) -> Self {
        let index = self.book.calls.len();
        let text = self.text;
        let row = call_row(index, status, reason, text);
        let shell = Shell { command: text.to_owned(), stdout: Some(format!("{text}\nsecond\n{text}")), ..Shell::default() };
        let told = Detailed { detail: Detail::Shell(shell), error: Some(text.to_owned()), ..Detailed::default() };
        let answer = LoggedResult { seen: vec![Content::text(text)], produced: None, feedback: Some(text.to_owned()) };
        let nested = SubagentCalls { threads: starts.to_vec(), calls: 1, ..SubagentCalls::default() };
        for &started in starts {
            self.book.transcript.threads[started].started_by = Some(index);
            self.book.transcript.threads[started].agent = Some(text.to_owned());
        }
        self.book.transcript.calls.push(CallEntry {
            row: row.clone(),
            number: (index as u32 + 1).into(),
            request: Spot::default(),
            result: None,
            ends: Vec::new(),
            hooks: Vec::new(),
            progress: None,
            hooked: Vec::new(),
            time: None,
            threads: starts.to_vec(),
            turn: Some(turn),
        });
        self.book.calls.push(Story {
            row,
            number: (index as u32 + 1).into(),
            told,
            command: tooltrail_shell::understand(text),
            input: serde_json::json!({"command": text}),
            program: None,
            requested: Some(serde_json::json!({"command": text, "old": text})),
            answer: Some(answer),
            side: None,
            hooks: vec![HookStory { name: Some(text.to_owned()), texts: vec![(text.to_owned(), text.to_owned())], ..HookStory::default() }],
            progress: None,
            tokens: None,
            tier: None,
            message: Default::default(),
            polls: Default::default(),
            nested,
        });
        self.entry(thread, EntryKind::Call(index), turn, index);
        self
    }
}

fn call_row<'a>(index: usize, status: Status, reason: Option<Reason>, text: &'a str) -> CallRow<'a> {
    let place = Place { file: "log.jsonl", line: index as u64 + 1, row: None };
    CallRow {
        v: VERSION,
        agent: "claude",
        session: "3f2a91c4",
        agent_id: None,
        r#ref: format!("3f2a:{}", index + 1),
        call: text,
        tool: text,
        server: None,
        kind: Kind::Shell,
        status,
        reason,
        evidence: place,
        requested_at: None,
        completed_at: None,
        duration_ms: Some(1_900),
        run_ms: None,
        exit_code: (reason == Some(Reason::ExitCode)).then_some(101),
        exit_of: None,
        masked: Vec::new(),
        purpose: None,
        is_error: None,
        input_bytes: 1,
        result_bytes: None,
        model: Some(text),
        message: Some(if index % 4 < 2 { "msg_1" } else { "msg_2" }),
        parallel: 2,
        parent_call: None,
        child_session: None,
        background: None,
        hooks: Vec::new(),
        request: place,
        result: None,
        cwd: Some(text),
        sidechain: false,
        copy_of: None,
        about: None,
        unwrapped: None,
        inner: None,
        origin: CallRowOrigin::Log,
        input_from: InputFrom::Request,
        failed_by: None,
        command: None,
        path: None,
        alias: None,
        replacement: None,
        polls: None,
        may_wait: false,
    }
}

/// A session with a call of every status, a message of every kind, a subagent that claims to have started itself, and a conversation
/// that nobody started.
pub fn session(text: &str) -> Invented<'_> {
    let own = || text.to_owned();
    let mut builder = Builder::new(text)
        .say(0, 0, EntryKind::Prompt, Part::Prompt { origin: Origin::Human, text: own() })
        .say(0, 0, EntryKind::Thinking, Part::Thinking(own()))
        .say(0, 0, EntryKind::Text, Part::Text(own()));
    for (status, reason) in STATUSES {
        builder = builder.run(0, 0, *status, *reason, &[]);
    }
    builder
        .say(0, 1, EntryKind::Prompt, Part::Prompt { origin: Origin::Human, text: own() })
        .run(0, 1, Status::Succeeded, None, &[1])
        .run(1, 1, Status::Failed, Some(Reason::ToolError), &[1])
        .say(1, 1, EntryKind::Text, Part::Text(own()))
        .say(0, 1, EntryKind::Command, Part::Command { line: own(), output: Some(own()) })
        .say(0, 1, EntryKind::Media, Part::Media(Content::Image(image(text))))
        .say(0, 1, EntryKind::Folded, Part::Folded { label: own(), text: own() })
        .say(0, 1, EntryKind::Notice, Part::Notice { level: Level::Error, title: own(), text: Some(own()) })
        .say(0, 1, EntryKind::Boundary, Part::Boundary { title: own(), facts: vec![(own(), own())] })
        .say(0, 1, EntryKind::Hook, Part::Hook(HookStory { name: Some(own()), ..HookStory::default() }))
        .say(0, 1, EntryKind::Unknown, Part::Unknown { name: own(), value: serde_json::json!({ text: [text] }) })
        .say(2, 1, EntryKind::Text, Part::Text(own()))
        .done()
}

/// Every status with a reason it may have.
pub const STATUSES: &[(Status, Option<Reason>)] = &[
    (Status::Succeeded, None),
    (Status::Failed, Some(Reason::ExitCode)),
    (Status::Answered, Some(Reason::NoOutcomeRecorded)),
    (Status::Rejected, Some(Reason::UserFeedback)),
    (Status::Blocked, Some(Reason::PermissionRule)),
    (Status::Cancelled, Some(Reason::SiblingFailed)),
    (Status::Interrupted, Some(Reason::User)),
    (Status::TimedOut, Some(Reason::Timeout)),
    (Status::Running, Some(Reason::AwaitingResult)),
    (Status::Unanswered, Some(Reason::LogEnds)),
];

fn image(text: &str) -> Image {
    Image { media: text.to_owned(), data: None, source: Some(text.to_owned()), size: Some((640, 480)), bytes: Some(12_345) }
}

/// A block of every kind, made of these texts: one for words, one for Markdown.
pub fn every_block(text: &str, markdown: &str) -> Vec<Block> {
    let line = || Line::from(text);
    let elided = |unit| Some(Elided { shown: 20, total: 300, unit, kept: true });
    let question = |multiple| QuestionItem {
        header: Some(line()),
        text: line(),
        multiple,
        options: vec![(line(), Some(line()), true), (line(), None, false)],
        free: vec![line()],
        unanswered: Some(line()),
    };
    let todo = |state| TodoEntry { state, text: line(), change: Some(line()) };
    let diff_line = |sign, old, new| DiffLine { sign, old, new, line: line().with(Class::Inserted, text), colors: None };
    let colours = Ansi { fg: Some(Color::Index(1)), bg: Some(Color::Rgb(1, 2, 3)), bold: true, ..Ansi::default() };
    vec![
        Block::Notice { level: Level::Error, text: line() },
        Block::Notice { level: Level::Info, text: line() },
        Block::Code(CodeBlock {
            language: Some(text.to_owned()),
            first: Some(9),
            lines: [lines(Class::Keyword, text), lines(Class::Plain, "let x = [1];\n\nend")].concat(),
            elided: elided(ElidedUnit::Lines),
            unapplied: false,
        }),
        Block::Diff(Diff {
            path: Some(line()),
            hunks: vec![
                DiffHunk {
                    context: Some(line()),
                    lines: vec![
                        diff_line(DiffSign::Same, Some(118), Some(118)),
                        diff_line(DiffSign::Removed, Some(119), None),
                        diff_line(DiffSign::Added, None, Some(119)),
                    ],
                },
                DiffHunk { context: None, lines: vec![diff_line(DiffSign::Added, None, None)] },
            ],
            elided: None,
            ..Diff::default()
        }),
        Block::Terminal(Terminal {
            command: lines(Class::Plain, text),
            lines: vec![Line::of(Class::Ansi(colours), text), line(), "last".into()],
            gap: Some(1),
            elided: elided(ElidedUnit::Lines),
        }),
        Block::Markdown { text: tooltrail_view::line::neutral_text(markdown).into_owned(), elided: elided(ElidedUnit::Bytes) },
        Block::Image { image: image(text), alt: line() },
        Block::Table { head: vec![line(), "n".into()], rows: vec![vec![line(), "1".into()], vec![line()]], elided: None },
        Block::Fields { fields: vec![(line(), line()), ("cwd".into(), "/srv/orbit".into())] },
        Block::Todos { items: [TodoProgress::Open, TodoProgress::Active, TodoProgress::Done, TodoProgress::Dropped].map(todo).into() },
        Block::Questions { questions: vec![question(false), question(true)] },
        Block::Links {
            links: vec![
                PageLink {
                    title: line(),
                    url: Some("https://example.org/a?b=c".into()),
                    place: "example.org".into(),
                    snippet: Some(line()),
                },
                PageLink { title: line(), url: Some(text.to_owned()), place: line(), snippet: None },
            ],
        },
        Block::Files { groups: vec![(line(), vec![line(), "mod.rs".into(), "wrap.rs".into()])], elided: elided(ElidedUnit::Items) },
        Block::Json { lines: lines(Class::Plain, "{\n    \"a\": 1\n}"), elided: None },
        Block::Nested { thread: 1, calls: 12, failed: 1 },
        Block::Section { label: line(), open: false, body: vec![Block::Markdown { text: "within".into(), elided: None }] },
    ]
}
