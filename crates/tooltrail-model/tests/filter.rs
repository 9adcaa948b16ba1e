//! The filter language: what each term takes, what each mistake says, and that a filter written down means the same.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, where a panic is the report

use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use tooltrail_model::book::Loaded;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::detail::{Detail, Detailed, Edit, Shell};
use tooltrail_model::event::{HookOutcome, InputFrom, Origin};
use tooltrail_model::filter::{Answer, Filter, Item, Keeping, Setting, Spelling, Subject, SubjectFacts, Within, argument, parse, texts};
use tooltrail_model::row::{CallRow, CallRowOrigin, HookRow, Place, SessionRow, VERSION};
use tooltrail_model::transcript::{LoggedResult, Part, Story, SubagentCalls};
use tooltrail_model::{Kind, Reason, Status, Time};

fn setting() -> Setting<'static> {
    Setting {
        here: Some("/srv/shop/api"),
        home: Some("/home/ada"),
        now: "2026-03-04T12:00:00Z".parse().unwrap(),
        zone: jiff::tz::TimeZone::fixed(jiff::tz::offset(1)),
        agents: &["claude", "codex"],
        words: Spelling::default(),
        apart: false,
    }
}

fn filter(query: &str) -> Filter {
    parse(query, &setting()).unwrap_or_else(|mistake| panic!("{mistake}"))
}

fn session() -> SessionRow<'static> {
    SessionRow {
        agent: "claude",
        session: "3f2a91c4",
        project: Some("/srv/shop"),
        branch: Some("fix/cart"),
        started_at: "2026-03-01T08:00:00.000Z".parse().ok(),
        last_at: "2026-03-03T20:00:00.000Z".parse().ok(),
        state: Some("asks"),
        by_status: BTreeMap::from([(Status::Failed, 1), (Status::Succeeded, 1)]),
        models: vec!["claude-opus-4-8", "claude-haiku-4-5"],
        ..SessionRow::default()
    }
}

fn row(tool: &'static str, kind: Kind, status: Status) -> CallRow<'static> {
    let place = Place { file: "log.jsonl", line: 1, row: None };
    CallRow {
        v: VERSION,
        agent: "claude",
        session: "3f2a91c4",
        agent_id: None,
        r#ref: "3f2a:1".into(),
        call: "toolu_1",
        tool,
        server: None,
        kind,
        status,
        reason: None,
        evidence: place,
        requested_at: "2026-03-03T10:00:00.000Z".parse().ok(),
        completed_at: None,
        duration_ms: None,
        run_ms: None,
        exit_code: None,
        exit_of: None,
        masked: Vec::new(),
        purpose: None,
        is_error: None,
        input_bytes: 0,
        result_bytes: None,
        model: Some("claude-opus-4-8"),
        message: None,
        parallel: 1,
        parent_call: None,
        child_session: None,
        background: None,
        hooks: Vec::new(),
        request: place,
        result: None,
        cwd: None,
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
        polls: None,
        replacement: None,
        may_wait: false,
    }
}

fn story(row: CallRow<'static>, detail: Detail, input: serde_json::Value, seen: Vec<Content>) -> Loaded<'static> {
    Loaded::Call(Box::new(Story {
        row,
        number: 1.into(),
        program: None,
        told: Detailed { detail, ..Detailed::default() },
        command: None,
        input,
        requested: None,
        answer: Some(LoggedResult { seen, ..LoggedResult::default() }),
        side: None,
        hooks: Vec::new(),
        tokens: None,
        tier: None,
        message: Default::default(),
        progress: None,
        nested: SubagentCalls::default(),
        polls: tooltrail_model::transcript::CallPolls::default(),
    }))
}

/// Something to ask about, that remembers whether it was opened.
struct Thing {
    session: SessionRow<'static>,
    row: Option<CallRow<'static>>,
    told: Option<CallRow<'static>>,
    time: Option<Time>,
    loaded: Option<Loaded<'static>>,
    opened: Cell<bool>,
}

impl Subject for Thing {
    fn session(&self) -> &SessionRow<'_> {
        &self.session
    }

    fn keeping(&self) -> Keeping {
        Keeping { kept: true, gone: false }
    }

    fn item(&self) -> Item<'_> {
        match &self.row {
            Some(row) => Item::Call(row),
            None if self.loaded.is_some() => Item::Message(self.time),
            None => Item::Session,
        }
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        self.told.as_ref()
    }

    fn texts(&self, filter: &Filter) -> u64 {
        self.opened.set(true);
        let all = match &self.loaded {
            Some(Loaded::Call(story)) => {
                let result = story.answer.clone().map(texts::result).unwrap_or_default();
                texts::input(story.input.clone()).into_iter().chain(result).collect()
            }
            Some(Loaded::Part(part)) => texts::message(part.clone()),
            _ => Vec::new(),
        };
        all.iter().filter_map(|text| filter.find(&text.text, &mut || true)).fold(0, |bits, (more, _)| bits | more)
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        self.opened.set(true);
        self.loaded.as_ref()
    }
}

fn call(row: CallRow<'static>, detail: Detail, input: serde_json::Value, seen: Vec<Content>) -> Thing {
    let mut told = row.clone();
    // As the command of the one shell call below is understood.
    if matches!(detail, Detail::Shell(_)) {
        (told.purpose, told.masked) = (Some("test"), vec!["cargo test".to_owned()]);
    }
    let loaded = story(row.clone(), detail, input, seen);
    Thing { session: session(), told: Some(told), row: Some(row), time: None, loaded: Some(loaded), opened: Cell::new(false) }
}

/// A test that failed behind a pipe, an edit, a prompt, and their session.
fn things() -> [(&'static str, Thing); 4] {
    let mut test = row("Bash", Kind::Shell, Status::Failed);
    test.reason = Some(Reason::ExitCode);
    test.exit_code = Some(101);
    test.duration_ms = Some(6_000);
    let (event, name) = (Some("PreToolUse"), Some("PreToolUse:Bash"));
    let (exit_code, duration_ms) = (None, None);
    test.hooks = vec![HookRow {
        event,
        name,
        command: Some("~/bin/guard.sh"),
        outcome: HookOutcome::Ok,
        exit_code,
        duration_ms,
        evidence: test.request,
    }];
    let command = "cd api && cargo test 2>&1 | tail -5";
    let input = serde_json::json!({"command": command, "description": "Run the Straße tests"});
    let seen = vec![Content::text("test cart ... FAILED\nerror: Zugriff verweigert\n日本語のテスト"), Content::Image(Image::default())];
    let shell = Detail::Shell(Shell { command: command.into(), ..Shell::default() });
    let mut edit = row("mcp__files__edit", Kind::Edit, Status::Succeeded);
    (edit.server, edit.model, edit.child_session) = (Some("files"), Some("claude-haiku-4-5"), Some("a1"));
    (edit.duration_ms, edit.requested_at) = (Some(120), "2026-03-01T22:59:59.000Z".parse().ok());
    let path = "/srv/shop/api/src/cart/[id].ts";
    let changed = Detail::Edit(Edit { path: path.into(), ..Edit::default() });
    let prompt = Loaded::Part(Part::Prompt { origin: Origin::Human, text: "please fix the CART".into() });
    let bare = |loaded: Option<Loaded<'static>>| Thing {
        session: session(),
        row: None,
        told: None,
        time: "2026-03-02T00:00:00Z".parse().ok(),
        loaded,
        opened: Cell::new(false),
    };
    [
        ("test", call(test, shell, input, seen)),
        ("edit", call(edit, changed, serde_json::json!({"file_path": path, "new": ["a", {"b": "cart \"x\""}]}), vec![Content::text("ok")])),
        ("prompt", bare(Some(prompt))),
        ("session", bare(None)),
    ]
}

/// What takes what. What needs nothing opened has a `.` before it.
const TABLE: &[(&str, &str)] = &[
    ("", ". test edit prompt session"),
    ("tool:Bash", ". test"),
    ("tool:bash", ". test"),
    ("tool:Bas", "."),
    ("tool:mcp__*", ". edit"),
    ("tool:\"mcp__*\"", "."),
    ("tool:Ba?h,Read", ". test"),
    ("not:tool:Bash", ". edit prompt session"),
    ("!tool:Bash", ". edit prompt session"),
    ("-tool:Bash", ". edit prompt session"),
    ("not:not:tool:Bash", ". test"),
    ("not:-tool:Bash", ". test"),
    ("server:files", ". edit"),
    ("kind:shell", ". test"),
    ("kind:shell,edit", ". test edit"),
    ("status:failed", ". test"),
    ("STATUS:Failed", ". test"),
    ("reason:exit_code", ". test"),
    ("agent:claude", ". test edit prompt session"),
    ("agent:codex", "."),
    ("agent:c*", ". test edit prompt session"),
    ("project:shop", ". test edit prompt session"),
    ("project:srv/shop", ". test edit prompt session"),
    ("project:srv", "."),
    ("project:/srv", ". test edit prompt session"),
    ("project:/srv/sho", "."),
    ("project:.", ". test edit prompt session"),
    ("project:..", ". test edit prompt session"),
    ("project:~/shop", "."),
    ("project:s*", ". test edit prompt session"),
    ("branch:fix/cart", ". test edit prompt session"),
    ("branch:fix/*", ". test edit prompt session"),
    ("branch:fix", "."),
    ("model:opus", ". test prompt session"),
    ("model:haiku", ". edit prompt session"),
    ("session:3f2a", ". test edit prompt session"),
    ("session:f2a", "."),
    ("hook:guard", ". test"),
    ("hook:pretooluse", ". test"),
    ("exit:nonzero", ". test"),
    ("exit:101", ". test"),
    ("exit:0", "."),
    ("exit>0", ". test"),
    ("exit<=101", ". test"),
    ("exit:>101", "."),
    ("exit:1..", ". test"),
    ("exit:..-1,101", ". test"),
    ("took:5s..", ". test"),
    ("took:..2s", ". edit"),
    ("took:6s..6s", ". test"),
    ("took:1s..5s", "."),
    ("took>6s", "."),
    ("took>=6s", ". test"),
    ("took<6s", ". edit"),
    ("took:0.1s..0.2s", ". edit"),
    ("since:2026-03-02", ". test prompt session"),
    ("since:2d", ". test session"),
    ("since:yesterday", ". test session"),
    ("since:today", "."),
    ("since:2026", ". test edit prompt session"),
    ("since:2026-03-02T00:59", ". test prompt session"),
    ("since:2026-03-02T00:00:00Z", ". test prompt session"),
    ("until:2026-03-01", ". edit session"),
    ("until:2026-02", "."),
    ("until:2026-03", ". test edit prompt session"),
    ("until:36h", ". edit prompt session"),
    ("has:hooks", ". test"),
    ("has:subagent", ". edit"),
    ("has:background", "."),
    ("has:diff", ". edit"),
    ("has:masked", ". test"),
    ("has:image", "test"),
    ("purpose:test", ". test"),
    ("purpose:build", "."),
    ("is:failed", ". test session"),
    ("is:live", ". test edit prompt session"),
    ("is:waiting", ". test edit prompt session"),
    ("is:kept", ". test edit prompt session"),
    ("is:gone", "."),
    ("command:cargo", "test"),
    ("command:\"cargo test\"", "test"),
    ("command:carg", ""),
    ("command:-5", "test"),
    ("command:2>&1", "test"),
    ("file:src", "edit"),
    ("file:src/**", "edit"),
    ("file:src/*", "edit"),
    ("file:src/*.ts", ""),
    ("file:**/*.ts", "edit"),
    ("file:*.ts", "edit"),
    ("file:*.rs,*.ts", "edit"),
    ("file:[id].ts", "edit"),
    ("file:SRC/Cart", "edit"),
    ("file:./src", "edit"),
    ("file:/srv/shop", "edit"),
    ("file:shop/api/src/cart/?id?.ts", "edit"),
    ("file:srv/sho", ""),
    ("file:/", "edit"),
    ("cart", "test edit prompt"),
    ("\"cart ...\"", "test"),
    ("\"cart \\\"x\\\"\"", "edit"),
    ("STRASSE", ""),
    ("STRAßE", "test"),
    ("日本語", "test"),
    ("verweigert", "test"),
    ("not:cart", "session"),
    ("not:verweigert", "edit prompt session"),
    ("cart verweigert", "test"),
    ("cart please", "prompt"),
    ("re:^error:", "test"),
    ("re:^test.*failed$", "test"),
    ("re:\"cart\\s+\\.\"", "test"),
    ("case:cart", "test edit"),
    ("case:CART", "prompt"),
    ("not:case:CART", "test edit session"),
    ("case:\"the CART\"", "prompt"),
    ("case:re:^E", ""),
    ("case:re:F.*D$", "test"),
    ("case:\"re:F\"", ""),
    ("std::fs", ""),
    ("https://x", ""),
    ("--release", ""),
    ("Vec<u8>", ""),
    ("3f2a:41", ""),
    ("tool:Bash status:succeeded", "."),
    ("tool:Bash cart", "test"),
    ("tool:Read cart", "."),
    ("status:failed OR status:blocked", ". test"),
    ("tool:Bash OR server:files", ". test edit"),
    ("tool:Bash OR server:files model:opus", ". test"),
    ("model:haiku tool:Bash OR kind:edit", ". edit"),
    ("tool:Read OR project:shop", ". test edit prompt session"),
    ("is:failed OR is:gone", ". test session"),
    ("verweigert OR please", "test prompt"),
    ("case:CART OR verweigert", "test prompt"),
    ("re:f.x OR verweigert", "test prompt"),
    ("verweigert OR kind:edit", "test edit"),
    ("please OR agent:codex cart", "prompt"),
    ("command:cargo OR file:src", "test edit"),
    ("\"OR\"", "test"),
];

#[test]
fn every_term_takes_what_it_should() {
    for (query, expected) in TABLE {
        let filter = filter(query);
        let things = things();
        let taken: Vec<&str> = things.iter().filter(|(_, thing)| filter.takes(thing)).map(|(name, _)| *name).collect();
        let unopened = things.iter().all(|(_, thing)| !thing.opened.get());
        let found = format!("{}{}", if unopened { ". " } else { "" }, taken.join(" "));
        assert_eq!(found.trim(), *expected, "{query}");
    }
}

#[test]
fn rows_alone_leave_texts_open() {
    let things = things();
    let (_, test) = &things[0];
    let ask = |query: &str, told: bool| {
        filter(query).ask(&SubjectFacts {
            session: &test.session,
            keeping: Keeping::default(),
            item: test.item(),
            told,
            content: None,
            texts: None,
            opened: None,
        })
    };
    assert_eq!(ask("tool:Bash", false), Answer::Yes);
    assert_eq!(ask("tool:Bash cart", false), Answer::Open);
    assert_eq!(ask("tool:Read cart", false), Answer::No);
    assert_eq!(ask("purpose:test", false), Answer::Open);
    // The row was not told: its purpose is not that.
    assert_eq!(ask("purpose:test", true), Answer::No);
}

#[test]
fn what_a_search_needs_is_told_apart() {
    let asked = filter("not:tool:Bash \"a phrase\" not:word re:x.y");
    let told: Vec<(&str, bool)> = asked.patterns().map(|pattern| (pattern.source(), pattern.is_literal())).collect();
    assert_eq!(told, [("a phrase", true), ("x.y", false)]);
    assert_eq!(asked.texts().filter(|(not, _)| *not).map(|(_, pattern)| pattern.source()).collect::<Vec<_>>(), ["word"]);
    // The bits of texts are told apart by their order among texts.
    assert_eq!(asked.find("xy x-Y a PHRASE", &mut || true), Some((0b101, 3)));
    assert_eq!(asked.find("WORD", &mut || true), Some((0b010, 0)));
    assert_eq!(asked.find("a b", &mut || true), None);
    assert!(asked.asks_texts() && asked.asks_messages() && !asked.asks_sessions());
    // No message is a call, and nothing is said of messages where no text is looked for.
    assert!(!filter("tool:Bash word").asks_messages() && !filter("not:word").asks_messages());
    assert!(filter("project:. is:live").asks_sessions() && !filter("project:. has:image").asks_sessions());
}

#[test]
fn alternatives_are_one_test_where_they_can_be() {
    assert_eq!(filter("status:failed OR status:blocked"), filter("status:failed,blocked"));
    assert_eq!(filter("exit:1 OR exit:3..4"), filter("exit:1,3..4"));
    assert_eq!(filter("a.b OR \"c d\" OR re:e+"), filter("re:\"a\\.b|c d|(?:e+)\""));
    // A flag in one alternative does not hold for the next.
    let texts = filter("re:(?-i)A OR b");
    assert!(texts.find("A", &mut || true).is_some() && texts.find("B", &mut || true).is_some() && texts.find("a", &mut || true).is_none());
    let cased = filter("case:A OR b");
    assert!(cased.find("A", &mut || true).is_some() && cased.find("B", &mut || true).is_some() && cased.find("a", &mut || true).is_none());
    // A text beside another kind of term need not occur, so a search may not rely on it.
    let mixed = filter("word x OR tool:Bash OR y");
    assert_eq!(mixed.patterns().map(|pattern| pattern.source()).collect::<Vec<_>>(), ["word"]);
    assert_eq!(mixed.texts().map(|(_, pattern)| pattern.source()).collect::<Vec<_>>(), ["word", "x", "y"]);
    assert_eq!(mixed.find("y x", &mut || true), Some((0b110, 0)));
}

#[test]
fn terms_that_exclude_each_other_may_hold_in_different_places() {
    let query = "status:failed status:succeeded";
    assert!(parse(query, &setting()).is_err());
    assert!(parse(query, &Setting { apart: true, ..setting() }).is_ok());
    // Somewhere and nowhere is still a contradiction.
    assert!(parse("tool:Bash not:tool:Bash", &Setting { apart: true, ..setting() }).is_err());
    for query in ["status:failed status:failed,blocked", "not:status:failed status:blocked", "not:status:failed not:status:blocked"] {
        assert!(parse(query, &setting()).is_ok(), "{query}");
    }
    for query in
        ["exit:1..5 exit:3", "took:1s.. took:..1s", "agent:c* agent:codex", "since:2026-03-02 until:2026-03-02", "has:image has:diff"]
    {
        assert!(parse(query, &setting()).is_ok(), "{query}");
    }
}

#[test]
fn a_value_runs_to_the_next_term_of_its_argument() {
    let read = |text: &str| argument(text);
    for (argument, query) in [
        ("command:git push", "command:git\" \"push"),
        ("command:git push status:failed", "command:git\" \"push status:failed"),
        ("not:command:git  push -f OR word two", "not:command:git\"  \"push\" \"-f OR word two"),
        ("tool:Bash project:my shop,your shop branch:a b", "tool:Bash project:my\" \"shop,your\" \"shop branch:a\" \"b"),
        ("-file:my docs/*.md \"a phrase\" c", "-file:my\" \"docs/*.md \"a phrase\" c"),
        ("command:\"git push\" now", "command:\"git push\" now"),
        ("tool:Bash word", "tool:Bash word"),
        ("command: git", "command: git"),
        ("command:a \"not closed", "command:a \"not closed"),
    ] {
        assert_eq!(read(argument), query);
    }
    assert_eq!(filter(&read("command:cargo test kind:shell")), filter("command:\"cargo test\" kind:shell"));
    assert_eq!(filter(&read("file:my src/*.ts")), filter("file:my\" src\"/*.ts"));
}

#[test]
fn words_may_be_expressions_and_case_may_count() {
    let spelled = |query: &str, regex: bool, cased: bool| parse(query, &Setting { words: Spelling { regex, cased }, ..setting() });
    assert_eq!(spelled("^a.b$ \"a.b\" tool:x.y", true, false).unwrap(), filter("re:^a.b$ \"a.b\" tool:x.y"));
    assert_eq!(spelled("A re:B \"C d\" case:E", false, true).unwrap(), filter("case:A case:re:B case:\"C d\" case:E"));
    assert_eq!(spelled("not:a+ case:b+", true, true).unwrap(), filter("not:case:re:a+ case:re:b+"));
    let mistake = spelled("tool:Bash a(b", true, false).unwrap_err();
    assert_eq!((mistake.at, mistake.message.as_str()), (10..13, "invalid regular expression: unclosed group"));
}

#[test]
fn within_a_session_each_term_has_its_own_place() {
    let holds = |query: &str| {
        let filter = filter(query);
        let mut within = Within::new(&filter);
        things().iter().for_each(|(_, thing)| within.take(thing));
        within.holds()
    };
    assert!(holds("tool:Bash server:files please"));
    assert!(!holds("tool:Bash not:server:files"));
    assert!(holds("not:tool:Read"));
    assert!(!holds("not:please"));
    assert!(!holds("tool:Bash tool:Read"));
}

/// A query that means nothing, and what is said about it.
const MISTAKES: &str = include_str!("filter_mistakes.txt");

#[test]
fn mistakes_say_where_and_what_instead() {
    let queries = MISTAKES.split("\n\n").filter_map(|case| case.lines().nth(1)).map(|line| line.get(2..).unwrap_or_default());
    let said: Vec<String> = queries
        .map(|query| parse(query, &setting()).map_or_else(|mistake| mistake.to_string(), |_| format!("\n  {query}\n  no mistake")))
        .collect();
    assert!(said.len() > 40);
    let said = said.join("\n\n") + "\n";
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/filter_mistakes.txt"), &said).unwrap();
    } else {
        assert_eq!(said, MISTAKES, "INSTA_UPDATE=always writes the file anew");
    }
}

#[test]
fn hostile_queries_are_refused_in_one_line() {
    let mistake = parse("\u{1b}[31m status:\u{1b}]0;x\u{7}\u{202e}\r\n tool:a", &setting()).unwrap_err().to_string();
    assert!(mistake.chars().all(|letter| letter == '\n' || (!letter.is_control() && letter != '\u{202e}')), "{mistake:?}");
    assert_eq!(mistake.lines().count(), 3, "{mistake:?}");
    assert!(parse(&"a".repeat(4097), &setting()).unwrap_err().message.contains("4096 bytes"));
    assert!(parse(&"a ".repeat(51), &setting()).unwrap_err().message.contains("50 terms"));
    assert!(parse(&"a ".repeat(50), &setting()).is_ok() && parse(r"re:\w{40}", &setting()).is_ok());
    assert!(parse("re:((((a{1000}){1000}){1000}){1000})", &setting()).unwrap_err().message.contains("too large"));
    let deep = format!("re:{}{}", "(".repeat(1000), ")".repeat(1000));
    assert!(parse(&deep, &setting()).is_err());
    // However often it is turned around.
    assert!(parse(&format!("{}tool:x", "not:".repeat(1000)), &setting()).is_ok());
}

#[test]
fn a_filter_written_down_means_the_same() {
    for (query, _) in TABLE {
        let filter = filter(query);
        let written = filter.to_string();
        assert_eq!(parse(&written, &setting()).as_ref(), Ok(&filter), "{query} was written {written}");
    }
    let written = [
        ("took:1500ms..1m", "took:1500ms..1m"),
        ("took>=90s", "took:90s.."),
        ("-exit:nonzero", "not:exit:..-1,1.."),
        ("exit:2", "exit:2"),
        ("since:1d", "since:2026-03-03T12:00:00.000Z"),
        ("until:2026-03-01", "until:2026-03-01T23:00:00.000Z"),
        ("project:.", "project:/srv/shop/api"),
        ("file:./*.rs", "file:/srv/shop/api/*.rs"),
        ("\"a b\" \"a\" \"x:y\"", "\"a b\" a \"x:y\""),
        ("Status:FAILED,blocked", "status:failed,blocked"),
    ];
    for (query, expected) in written {
        assert_eq!(filter(query).to_string(), expected);
    }
}

fn queries() -> impl Strategy<Value = String> {
    let pieces = [
        "tool:",
        "status:",
        "failed",
        "took:",
        "took>",
        "exit:",
        "exit<",
        "30s",
        "..",
        "-",
        "!",
        "not:",
        "\"",
        "\\",
        "\\\"",
        " ",
        ",",
        "*",
        "?",
        "**/",
        "/",
        "~",
        ".",
        "project:",
        "file:",
        "command:",
        "re:",
        "case:",
        "since:",
        "until:",
        "2026-03-01",
        "7d",
        "has:",
        "is:",
        "a",
        "B",
        "ß",
        "日",
        "\u{301}",
        ":",
        "<",
        ">",
        "=",
        "(",
        "[",
        "\t",
        "0",
        "9",
        "model:",
        "hook:",
        "session:",
        "branch:",
        "agent:",
        "claude",
        "image",
        " OR ",
    ];
    let piece = prop_oneof![8 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_query_is_a_filter_that_can_be_written_or_a_mistake_within_it(query in queries()) {
        match parse(&query, &setting()) {
            Ok(filter) => {
                let written = filter.to_string();
                let again = parse(&written, &setting());
                prop_assert_eq!(again.as_ref(), Ok(&filter), "{} was written {}", query, written);
                for (_, thing) in things() {
                    let _ = filter.takes(&thing);
                }
            }
            Err(mistake) => {
                prop_assert!(mistake.query.get(mistake.at.clone()).is_some(), "{:?}", mistake);
                prop_assert!(mistake.to_string().lines().count() == 3);
            }
        }
    }

    #[test]
    fn an_argument_without_running_values_is_the_query_that_it_was(query in queries()) {
        const RUNNING: [&str; 4] = ["command:", "project:", "branch:", "file:"];
        let query = RUNNING.iter().fold(query, |query, key| query.replace(key, "tool:"));
        prop_assume!(!RUNNING.iter().any(|key| query.to_lowercase().contains(key)));
        prop_assert_eq!(argument(&query), query);
    }

    #[test]
    fn any_text_can_be_quoted(text in any::<String>()) {
        prop_assume!(!text.is_empty() && text.len() < 2000);
        let filter = parse(&tooltrail_model::filter::quoted(&text), &setting()).map_err(|mistake| TestCaseError::fail(mistake.to_string()))?;
        prop_assert_eq!(filter.patterns().map(|pattern| pattern.source()).collect::<Vec<_>>(), [text.as_str()]);
    }
}
