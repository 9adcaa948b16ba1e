//! Watching: whatever happens to logs, and however the watcher learns of it, what subscribers were told is what the logs say.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a panic is the report

mod support;

use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use support::*;
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::watch::{Change, Ground, Next, Options, Subscriber, Watcher, Wish};
use tooltrail_formats::Places;
use tooltrail_formats::find;
use tooltrail_formats::follow::SEAM;
use tooltrail_formats::scan::Progress;
use tooltrail_model::filter::{self, Filter, Setting, Spelling};
use tooltrail_model::link::Live;
use tooltrail_model::{Now, Time};

/// How long a change may take here at most. Machines that run tests are slow; docs/performance.md has how long it takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home directory that is watched at a moment that stands still, unless it is moved.
struct Scene {
    home: tempfile::TempDir,
    cache: tempfile::TempDir,
    /// Whether a catalogue is made before somebody subscribes.
    seeded: bool,
    now: Arc<Mutex<Now>>,
    watcher: Watcher,
}

impl Scene {
    fn new(options: Options) -> Self {
        Scene::at(tempfile::tempdir().unwrap(), options, later())
    }

    fn at(home: tempfile::TempDir, options: Options, now: Now) -> Self {
        let cache = tempfile::tempdir().unwrap();
        // Whether a seed is wanted is what the options say; where it is, they cannot know.
        let seeded = options.seed.is_some();
        let options = Options { seed: options.seed.map(|_| cache.path().join("catalogue.db")), ..options };
        let ground = Ground::Places(vec![Places { home: Some(home.path().to_owned()), ..Places::default() }]);
        let now = Arc::new(Mutex::new(now));
        let clock = Arc::clone(&now);
        let watcher = Watcher::start(ground, options, Arc::new(move || clock.lock().unwrap().clone()), None).unwrap();
        Scene { home, cache, seeded, now, watcher }
    }

    fn places(&self) -> [Places; 1] {
        [Places { home: Some(self.home.path().to_owned()), ..Places::default() }]
    }

    /// Makes the catalogue say what the logs say now, as another process would.
    fn refresh(&self) {
        refreshed(&mut open(self.cache.path()), &find::in_places(&self.places()));
    }

    fn projects(&self) -> PathBuf {
        self.home.path().join(".claude/projects")
    }

    fn log(&self, name: &str) -> PathBuf {
        let path = self.projects().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// What a fresh scan says.
    fn fresh(&self) -> Rows {
        let (mut calls, mut sessions) = direct(&scanned(&find::in_places(&self.places())), &self.now.lock().unwrap());
        calls.sort();
        sessions.sort();
        (calls, sessions)
    }
}

/// The rows of calls and of sessions, sorted.
type Rows = (Vec<String>, Vec<String>);

/// What a subscriber knows.
struct Mirror {
    subscriber: Subscriber,
    calls: BTreeMap<(String, String, String, u32), String>,
    sessions: BTreeMap<(String, String), String>,
    messages: Vec<(String, u64)>,
}

impl Mirror {
    /// Subscribes, and takes what is there.
    fn new(scene: &Scene) -> Self {
        if scene.seeded {
            scene.refresh();
        }
        Mirror::as_it_is(scene)
    }

    /// The same, whatever the catalogue says.
    fn as_it_is(scene: &Scene) -> Self {
        let subscriber = scene.watcher.subscribe(Wish { last: usize::MAX, ..Wish::default() });
        let mut mirror = Mirror { subscriber, calls: BTreeMap::new(), sessions: BTreeMap::new(), messages: Vec::new() };
        while !matches!(*mirror.take(PATIENCE).expect("a beginning"), Change::Begun { .. }) {}
        for row in scene.fresh().1 {
            let fields: Value = serde_json::from_str(&row).unwrap();
            mirror.sessions.insert((text(&fields, "agent"), text(&fields, "session")), row);
        }
        mirror
    }

    /// Takes the next change.
    fn take(&mut self, patience: Duration) -> Option<Arc<Change>> {
        let Next::Change(change) = self.subscriber.next_within(patience) else { return None };
        match &*change {
            Change::Here { call } | Change::Requested { call } => {
                let key = (call.agent.to_string(), call.session.to_string(), call.call.to_string(), call.again);
                assert!(self.calls.insert(key, call.row.to_string()).is_none(), "told twice: {}", call.row);
            }
            Change::Updated { call, .. } => {
                let key = (call.agent.to_string(), call.session.to_string(), call.call.to_string(), call.again);
                assert!(self.calls.insert(key, call.row.to_string()).is_some(), "never told of: {}", call.row);
            }
            Change::Lost { agent, session, call, again } => {
                let key = (agent.to_string(), session.to_string(), call.to_string(), *again);
                // Of what belongs to no session nobody knows the session.
                if !session.is_empty() {
                    assert!(self.calls.remove(&key).is_some(), "never told of: {key:?}");
                }
            }
            Change::Session { session } => {
                let key = (session.agent.to_string(), session.session.to_string());
                self.sessions.insert(key, session.row.to_string());
            }
            Change::Gone { agent, session } => {
                assert!(self.sessions.remove(&(agent.to_string(), session.to_string())).is_some(), "{agent} {session}");
            }
            Change::Message(message) => self.messages.push((message.file.to_string(), message.line)),
            Change::Begun { .. } | Change::Touched { .. } => {}
            Change::Lagged { missing } => panic!("{missing} changes are missing"),
        }
        Some(change)
    }

    fn rows(&self) -> Rows {
        let mut rows: Rows = (self.calls.values().cloned().collect(), self.sessions.values().cloned().collect());
        rows.0.sort();
        rows.1.sort();
        rows
    }

    /// Waits until it knows what a fresh scan says.
    fn catch_up(&mut self, scene: &Scene, what: &str) {
        let fresh = scene.fresh();
        let start = Instant::now();
        while self.rows() != fresh {
            if start.elapsed() > PATIENCE {
                same(what, &self.rows().0, &fresh.0);
                same(what, &self.rows().1, &fresh.1);
                unreachable!("rows differ");
            }
            self.take(Duration::from_millis(20));
        }
    }
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

/// With a poll that is quick enough for tests.
fn quick() -> Options {
    Options { scan: options(), poll: Duration::from_millis(50), ..Options::default() }
}

fn polled() -> Options {
    Options { events: false, ..quick() }
}

/// Each of these without a seed and with one.
fn both<const N: usize>(all: [Options; N]) -> Vec<Options> {
    all.into_iter().flat_map(|options| [options.clone(), seeded(options)]).collect()
}

/// With a catalogue that says what the logs say when somebody first subscribes.
fn seeded(options: Options) -> Options {
    Options { seed: Some(PathBuf::new()), ..options }
}

fn evented() -> Options {
    Options { poll: Duration::from_secs(3600), ..quick() }
}

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn stamp(second: u32) -> String {
    format!("2026-03-04T10:{:02}:{:02}.000Z", second / 60, second % 60)
}

fn prompt(session: &str, number: u32) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{session}-p{number}\",\"sessionId\":\"{session}\",\"timestamp\":\"{}\",\"cwd\":\"/srv/app\",\"message\":{{\"role\":\"user\",\"content\":\"do {number}\"}}}}\n",
        stamp(number)
    )
}

fn request(session: &str, number: u32) -> String {
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"{session}-a{number}\",\"sessionId\":\"{session}\",\"timestamp\":\"{}\",\"message\":{{\"id\":\"msg_{session}_{number}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_{session}_{number}\",\"name\":\"Bash\",\"input\":{{\"command\":\"cargo test {number} | tail -3\"}}}}]}}}}\n",
        stamp(number)
    )
}

fn result(session: &str, number: u32) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{session}-r{number}\",\"parentUuid\":\"{session}-a{number}\",\"sessionId\":\"{session}\",\"timestamp\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{session}_{number}\",\"content\":\"ok\"}}]}}}}\n",
        stamp(number + 1)
    )
}

#[test]
fn an_append_is_told_and_only_the_new_bytes_are_read() {
    for options in both([evented(), polled()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        let mut mirror = Mirror::new(&scene);
        // The first change of a log that was quiet reads it whole.
        append(&log, &prompt("s1", 1));
        mirror.catch_up(&scene, "the first append");
        let (mut read, mut new) = (scene.watcher.bytes_read(), 0);
        for number in 2..12 {
            for line in [request("s1", number), result("s1", number)] {
                append(&log, &line);
                new += line.len() as u64;
                mirror.catch_up(&scene, "an append");
            }
        }
        read = scene.watcher.bytes_read() - read;
        assert!(read >= new && read <= new + 20 * SEAM as u64, "{read} bytes were read for {new}");
        assert_eq!(mirror.calls.len(), 10);
        assert!(mirror.calls.values().all(|row| row.contains("\"masked\":[\"cargo test")), "commands are understood");
        assert_eq!(mirror.messages, [(log.to_string_lossy().into_owned(), 2)], "what was said");
    }
}

#[test]
fn a_call_is_told_when_it_is_requested_and_when_it_ends() {
    for options in both([evented()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        let mut mirror = Mirror::new(&scene);
        append(&log, &request("s1", 1));
        mirror.catch_up(&scene, "requested");
        append(&log, &result("s1", 1));
        let ended = loop {
            let change = mirror.take(PATIENCE).expect("the end of the call");
            if let Change::Updated { call, before } = &*change {
                break (
                    call.status.word(),
                    before.word(),
                    call.what.clone(),
                    call.project.clone(),
                    serde_json::to_value(&*change).unwrap(),
                );
            }
        };
        assert_eq!(
            (ended.0, ended.1, ended.2.as_deref(), ended.3.as_deref()),
            ("succeeded", "unanswered", Some("cargo test 1 | tail -3"), Some("/srv/app"))
        );
        assert_eq!(ended.4["change"], "updated");
        assert_eq!(ended.4["before"], "unanswered");
        assert_eq!(ended.4["call"]["call"], "toolu_s1_1");
        assert_eq!(ended.4["call"]["v"], 1);
    }
}

#[test]
fn directories_that_come_later_are_noticed() {
    for options in both([quick(), polled()]) {
        let scene = Scene::new(options);
        let mut mirror = Mirror::new(&scene);
        assert!(mirror.calls.is_empty());
        append(&scene.log("-srv-app/s1.jsonl"), &(prompt("s1", 0) + &request("s1", 1)));
        mirror.catch_up(&scene, "a new place");
        let side = scene.log("-srv-app/s1/subagents/agent-a1.jsonl");
        append(&side, &request("s1", 2));
        mirror.catch_up(&scene, "a subagent");
        append(&side, &result("s1", 2));
        mirror.catch_up(&scene, "a subagent's log that grows");
        fs::write(side.with_extension("meta.json"), "{\"toolUseId\":\"toolu_s1_1\"}").unwrap();
        mirror.catch_up(&scene, "a file beside it");
        assert!(mirror.calls.values().any(|row| row.contains("\"parent_call\":\"toolu_s1_1\"")));
        append(&scene.log("-srv-app/s12.jsonl"), &(prompt("s12", 0) + &request("s12", 1)));
        mirror.catch_up(&scene, "a session with a like name");
        // Of two ids that begin alike the short names are longer.
        for id in ["alike-1", "alike-2"] {
            append(&scene.log(&format!("-srv-app/{id}.jsonl")), &(prompt(id, 0) + &request(id, 1)));
            mirror.catch_up(&scene, id);
        }
        fs::remove_dir_all(scene.projects().join("-srv-app/s1")).unwrap();
        mirror.catch_up(&scene, "a directory goes");
        fs::remove_dir_all(scene.home.path().join(".claude")).unwrap();
        mirror.catch_up(&scene, "everything goes");
        append(&scene.log("-srv-app/s1.jsonl"), &(prompt("s1", 0) + &request("s1", 1)));
        mirror.catch_up(&scene, "it comes back");
    }
}

#[test]
fn time_alone_changes_rows_and_no_log_is_read() {
    for options in both([polled()]) {
        let home = tempfile::tempdir().unwrap();
        let log = home.path().join(".claude/projects/-srv-app/s1.jsonl");
        fs::create_dir_all(log.parent().unwrap()).unwrap();
        append(&log, &(prompt("s1", 0) + &request("s1", 10)));
        let start = time("2026-03-04T10:00:11Z");
        let written = SystemTime::UNIX_EPOCH + Duration::from_micros(start.as_microsecond().cast_unsigned());
        File::options().append(true).open(&log).unwrap().set_modified(written).unwrap();
        let scene = Scene::at(home, options, Now::at(start));
        let mut mirror = Mirror::new(&scene);
        let status = |mirror: &Mirror| text(&serde_json::from_str(mirror.calls.values().next().unwrap()).unwrap(), "status");
        assert_eq!(status(&mirror), "running");
        let read = scene.watcher.bytes_read();
        let move_on = |now: Now| *scene.now.lock().unwrap() = now;
        move_on(Now::at(time("2026-03-04T11:00:00Z")));
        mirror.catch_up(&scene, "quiet for too long");
        assert_eq!(status(&mirror), "unanswered");
        let mut listed = Now::at(time("2026-03-04T11:00:00Z"));
        listed.live.insert("s1".into(), Live::Waiting);
        move_on(listed);
        mirror.catch_up(&scene, "listed by its agent");
        assert_eq!(status(&mirror), "running");
        assert!(scene.watcher.bytes_read() - read < 2000, "only the request is read again");
    }
}

#[test]
fn a_filter_decides_what_is_told() {
    for options in both([evented()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        let subscribe = |query: &str| scene.watcher.subscribe(Wish { filter: parsed(query), ..Wish::default() });
        let all = [("status:succeeded", 1), ("tool:Read", 0), ("command:cargo", 2), ("\"test 3 |\"", 2), ("masked", 0), ("has:masked", 1)];
        let subscribers: Vec<_> = all.iter().map(|(query, _)| subscribe(query)).collect();
        let begun = |subscriber: &Subscriber| matches!(subscriber.next_within(PATIENCE), Next::Change(change) if matches!(*change, Change::Begun { .. }));
        assert!(subscribers.iter().all(begun));
        let mut mirror = Mirror::new(&scene);
        for line in [request("s1", 3), result("s1", 3)] {
            append(&log, &line);
            mirror.catch_up(&scene, "filters");
        }
        for ((query, count), subscriber) in all.iter().zip(subscribers) {
            let mut told = 0;
            while let Next::Change(change) = subscriber.next_within(Duration::ZERO) {
                told += usize::from(matches!(*change, Change::Requested { .. } | Change::Updated { .. }));
            }
            assert_eq!(told, *count, "{query}");
        }
    }
}

#[test]
fn a_text_is_looked_for_only_in_what_changed() {
    for options in both([evented()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        (10..1010).for_each(|number| append(&log, &(request("s1", number) + &result("s1", number))));
        let size = fs::metadata(&log).unwrap().len();
        let subscriber = scene.watcher.subscribe(Wish { filter: parsed("\"test 200\" ok"), ..Wish::default() });
        assert!(matches!(subscriber.next_within(PATIENCE), Next::Change(change) if matches!(*change, Change::Begun { .. })));
        let mut read = 0;
        for number in 2000..2010 {
            append(&log, &(request("s1", number) + &request("s1", number + 100) + &result("s1", number)));
            let told = loop {
                let Next::Change(change) = subscriber.next_within(PATIENCE) else { panic!("call {number} is not told") };
                if let Change::Requested { call } | Change::Updated { call, .. } = &*change {
                    break call.call.to_string();
                }
            };
            assert_eq!(told, format!("toolu_s1_{number}"));
            // The first change reads the log whole once more, to follow it.
            read = if number == 2000 { scene.watcher.bytes_read() } else { read };
        }
        read = scene.watcher.bytes_read() - read;
        assert!(read < size, "{read} bytes were read for ten calls, and the log has {size}");
    }
}

#[test]
fn what_is_kept_can_be_asked_about() {
    let home = tempfile::tempdir().unwrap();
    let keep = Keep::of(&home.path().join("data"), &[]);
    let ground = Ground::Places(vec![Places { home: Some(home.path().to_owned()), kept: Some(keep.files()), ..Places::default() }]);
    let log = home.path().join(".claude/projects/-srv-app/s1.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    append(&log, &(prompt("s1", 0) + &request("s1", 1)));
    let places = [Places { home: Some(home.path().to_owned()), ..Places::default() }];
    keep.now(&find::in_places(&places), 1, clock(), &Progress::default()).unwrap();
    let watcher = Watcher::start(ground, Options { keep: Some(keep), ..polled() }, Arc::new(later), None).unwrap();
    let here = |query: &str| {
        let subscriber = watcher.subscribe(Wish { filter: parsed(query), last: 9, ..Wish::default() });
        let is_here = |next: &Next| matches!(next, Next::Change(change) if matches!(**change, Change::Here { .. }));
        is_here(&subscriber.next_within(PATIENCE))
    };
    assert!(here("is:kept") && !here("is:gone") && !here("not:is:kept"));
    fs::remove_file(&log).unwrap();
    let start = Instant::now();
    while !here("is:gone") {
        assert!(start.elapsed() < PATIENCE, "the copy of a log that is gone is not known as such");
    }
}

#[test]
fn a_watcher_that_breaks_down_says_so() {
    let ground = || Ground::Places(Vec::new());
    let whole = Watcher::start(ground(), quick(), Arc::new(later), None).unwrap();
    assert!(matches!(whole.subscribe(Wish::default()).next_within(PATIENCE), Next::Change(_)));
    whole.finish().unwrap();
    let broken = Watcher::start(ground(), quick(), Arc::new(|| panic!("a clock that does not work, for a test")), None).unwrap();
    assert!(matches!(broken.subscribe(Wish::default()).next_within(PATIENCE), Next::Ended));
    assert!(broken.finish().is_err());
}

fn parsed(query: &str) -> Filter {
    let setting = Setting {
        here: None,
        home: None,
        now: Time::UNIX_EPOCH,
        zone: jiff::tz::TimeZone::UTC,
        agents: &["claude", "codex"],
        words: Spelling::default(),
    };
    filter::parse(query, &setting).unwrap()
}

/// A record that no row tells of.
fn thought(session: &str, number: u32) -> String {
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"{session}-t{number}\",\"sessionId\":\"{session}\",\"timestamp\":\"{}\",\"message\":{{\"id\":\"msg_{session}_t\",\"role\":\"assistant\",\"content\":[{{\"type\":\"thinking\",\"thinking\":\"hm\"}}]}}}}\n",
        stamp(0)
    )
}

#[test]
fn a_session_can_be_had_as_it_is_now() {
    for options in both([evented(), polled()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        append(&scene.log("-srv-app/s2.jsonl"), &prompt("s2", 0));
        assert!(scene.watcher.session("claude", "s1").is_none(), "nobody is subscribed");
        let mut mirror = Mirror::new(&scene);
        let session = |name: &str| scene.watcher.session("claude", name);
        assert!(session("s3").is_none() && scene.watcher.session("codex", "s1").is_none());
        let (other, mut held) = (session("s2").unwrap(), session("s1").unwrap());
        assert_eq!(held.version, session("s1").unwrap().version);
        for line in [thought("s1", 1), request("s1", 1), result("s1", 1)] {
            append(&log, &line);
            // Nothing is waited for: whoever asks has what was written before.
            let now = session("s1").unwrap();
            assert_ne!(held.version, now.version, "{line}");
            assert_eq!(now.linker.sources().next().unwrap().summary.tally.bytes, fs::metadata(&log).unwrap().len());
            let mut rows = direct(&now.linker, &now.now);
            rows.0.retain(|row| !scene.fresh().0.contains(row));
            rows.1.retain(|row| !scene.fresh().1.contains(row));
            assert_eq!(rows, (Vec::new(), Vec::new()));
            assert_ne!(held.linker.sources().next().unwrap().summary.tally.bytes, fs::metadata(&log).unwrap().len(), "it stays as it was");
            held = now;
        }
        append(&scene.log("-srv-app/s1/subagents/agent-a1.jsonl"), &request("s1", 2));
        mirror.catch_up(&scene, "a subagent");
        let now = session("s1").unwrap();
        assert!(now.version != held.version && now.linker.sources().count() == 2);
        scene.now.lock().unwrap().live.insert("s1".into(), Live::Waiting);
        assert_ne!(session("s1").unwrap().version, now.version, "it is alive");
        mirror.catch_up(&scene, "what somebody has asked for is told as well");
        scene.now.lock().unwrap().live.clear();
        assert_eq!(session("s1").unwrap().version, now.version, "it is as it was");
        assert_eq!(session("s2").unwrap().version, other.version, "another session");
        scene.watcher.end().now();
        assert!(session("s1").is_none());
    }
}

#[test]
fn other_bytes_are_told_to_those_who_ask() {
    for options in both([evented()]) {
        let scene = Scene::new(options);
        let [log, other] = ["s1", "s2"].map(|name| scene.log(&format!("-srv-app/{name}.jsonl")));
        append(&log, &prompt("s1", 0));
        append(&other, &prompt("s2", 0));
        let subscribe = |query: &str, touched| scene.watcher.subscribe(Wish { filter: parsed(query), touched, ..Wish::default() });
        let wishes = [("", true, 2), ("", false, 0), ("status:failed", true, 2)];
        let subscribers = wishes.map(|(query, touched, _)| subscribe(query, touched));
        let mut mirror = Mirror::new(&scene);
        append(&log, &thought("s1", 1));
        scene.watcher.session("claude", "s1").unwrap();
        append(&other, &request("s2", 1));
        mirror.catch_up(&scene, "a call");
        // Time alone gives nothing other bytes.
        scene.now.lock().unwrap().live.insert("s1".into(), Live::Running);
        scene.watcher.session("claude", "s1").unwrap();
        for ((query, _, count), subscriber) in wishes.iter().zip(subscribers) {
            let mut told = Vec::new();
            while let Next::Change(change) = subscriber.next_within(Duration::ZERO) {
                if matches!(*change, Change::Touched { .. }) {
                    told.push(serde_json::to_string(&*change).unwrap());
                }
            }
            let all = ["s1", "s2"].map(|name| format!("{{\"change\":\"touched\",\"agent\":\"claude\",\"session\":\"{name}\"}}"));
            assert_eq!(told, all[2 - count..], "{query}");
        }
    }
}

#[test]
fn with_nobody_subscribed_nothing_happens() {
    for options in both([quick()]) {
        let scene = Scene::new(options);
        let log = scene.log("-srv-app/s1.jsonl");
        append(&log, &prompt("s1", 0));
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(scene.watcher.bytes_read(), 0);
        drop(Mirror::new(&scene));
        std::thread::sleep(Duration::from_millis(200));
        let read = scene.watcher.bytes_read();
        append(&log, &request("s1", 1));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(scene.watcher.bytes_read(), read);
        // Whoever comes later is told what is there then.
        let mut mirror = Mirror::new(&scene);
        assert_eq!(mirror.calls.len(), 1);
        mirror.catch_up(&scene, "after a pause");
    }
}

#[test]
fn the_catalogue_is_kept_up_with_the_logs() {
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = home.path().join("s1.jsonl");
    append(&log, &prompt("s1", 0));
    let ground = Ground::Paths(vec![home.path().to_owned()]);
    let watcher = Watcher::start(ground, quick(), Arc::new(later), Some(open(cache.path()))).unwrap();
    let subscriber = watcher.subscribe(Wish::default());
    assert!(matches!(subscriber.next_within(PATIENCE), Next::Change(_)));
    append(&log, &request("s1", 1));
    let start = Instant::now();
    while kept_calls(&open(cache.path()), &later()).is_empty() {
        assert!(start.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(start.elapsed() > Duration::from_secs(1), "only when it has been quiet for a moment");
}

#[test]
fn the_end_of_the_watcher_is_the_end_of_its_subscriptions() {
    for options in both([quick()]) {
        let scene = Scene::new(options);
        let mirror = Mirror::new(&scene);
        drop(scene.watcher);
        assert!(matches!(mirror.subscriber.next_within(PATIENCE), Next::Ended));
    }
}

/// How long a line takes to its subscriber while other logs lie beside it, how much is read for it, and what doing nothing costs.
///
/// `TOOLTRAIL_HOME=DIR cargo test --release -p tooltrail-catalog --test watch -- --ignored figures --nocapture`, where DIR is laid out like
/// a home directory and may be written to.
#[test]
#[ignore = "prints figures"]
#[allow(clippy::print_stdout)]
fn figures() {
    let Some(home) = std::env::var_os("TOOLTRAIL_HOME").map(PathBuf::from) else { return };
    let places = [Places { home: Some(home.clone()), ..Places::default() }];
    let mut files = find::in_places(&places).files;
    files.sort_by_key(|found| found.size);
    let largest = files.last().unwrap().path.clone();
    println!(
        "{} logs, {} bytes, the largest {}",
        files.len(),
        files.iter().map(|found| found.size).sum::<u64>(),
        files.last().unwrap().size
    );
    let log = home.join(".claude/projects/-srv-figures/figures.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, prompt("figures", 0)).unwrap();
    for (name, events, log, count) in
        [("events", true, &log, 50), ("events, the largest log", true, &largest, 50), ("no events", false, &log, 5)]
    {
        let clock = Arc::new(|| Now::at(jiff::Timestamp::now().into()));
        let options = Options { events, ..Options::default() };
        let start = Instant::now();
        let watcher = Watcher::start(Ground::Places(places.to_vec()), options, clock, None).unwrap();
        let subscriber = watcher.subscribe(Wish { last: 10, ..Wish::default() });
        while !matches!(subscriber.next_within(PATIENCE), Next::Change(change) if matches!(*change, Change::Begun { .. })) {}
        println!("{name}: begun after {:.0?}, {} bytes read", start.elapsed(), watcher.bytes_read());
        let session = format!("fig{}", start.elapsed().as_nanos());
        let told = |line: &str, id: &str| {
            let start = Instant::now();
            append(log, line);
            loop {
                let Next::Change(change) = subscriber.next_within(PATIENCE) else { panic!("never told") };
                match &*change {
                    Change::Requested { call } | Change::Updated { call, .. } if *call.call == *id => return start.elapsed(),
                    _ => {}
                }
            }
        };
        told(&request(&session, 1), &format!("toolu_{session}_1"));
        // A new session may give others new short names; that is over before anything is counted.
        std::thread::sleep(Duration::from_secs(1));
        let (read, cpu) = (watcher.bytes_read(), processor_time());
        let (mut times, mut new) = (Vec::new(), 0);
        for number in 2..2 + count {
            let line = request(&session, number);
            new += line.len() as u64;
            times.push(told(&line, &format!("toolu_{session}_{number}")));
            std::thread::sleep(Duration::from_millis(50));
        }
        times.sort();
        let (read, cpu) = (watcher.bytes_read() - read, (processor_time() - cpu) / count);
        println!(
            "{name}: median {:.1?}, worst {:.1?}, {read} bytes read for {new}, {cpu:.1?} of processor time each",
            times[times.len() / 2],
            times.last().unwrap()
        );
        let (read, cpu) = (watcher.bytes_read(), processor_time());
        std::thread::sleep(Duration::from_secs(20));
        println!("{name}: 20 s of nothing: {} bytes read, {:.1?} of processor time", watcher.bytes_read() - read, processor_time() - cpu);
    }
}

/// The processor time of this process, where the system tells it.
fn processor_time() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let run = tasks.filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok()?.split(' ').next()?.parse::<u64>().ok());
    Duration::from_nanos(run.sum())
}

/// Something that happens to the logs. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Edit {
    Append(usize, usize),
    Half(usize, usize),
    Truncate(usize, u8),
    Replace(usize, usize),
    Rewrite(usize, usize),
    Rename(usize, u8),
    Delete(usize),
    Add(usize, u8),
    Side(usize, usize),
    Title(usize, u8),
    /// Another process makes the catalogue say what the logs say.
    Refresh,
    /// Wait until everything has been told.
    Settle,
}

fn edit() -> impl Strategy<Value = Edit> {
    let which = any::<usize>;
    prop_oneof![
        4 => (which(), which()).prop_map(|(file, line)| Edit::Append(file, line)),
        2 => (which(), which()).prop_map(|(file, line)| Edit::Half(file, line)),
        1 => (which(), any::<u8>()).prop_map(|(file, part)| Edit::Truncate(file, part)),
        1 => (which(), which()).prop_map(|(file, with)| Edit::Replace(file, with)),
        1 => (which(), which()).prop_map(|(file, with)| Edit::Rewrite(file, with)),
        1 => (which(), any::<u8>()).prop_map(|(file, name)| Edit::Rename(file, name)),
        1 => which().prop_map(Edit::Delete),
        2 => (which(), any::<u8>()).prop_map(|(with, name)| Edit::Add(with, name)),
        1 => (which(), which()).prop_map(|(file, with)| Edit::Side(file, with)),
        1 => (which(), any::<u8>()).prop_map(|(file, title)| Edit::Title(file, title)),
        2 => Just(Edit::Refresh),
        4 => Just(Edit::Settle),
    ]
}

/// The contents that logs are made of.
fn pool() -> Vec<Vec<u8>> {
    find::in_paths(&[demo()]).files.iter().map(|found| fs::read(&found.path).unwrap()).collect()
}

fn pick<T>(all: &[T], number: usize) -> Option<&T> {
    all.get(number.checked_rem(all.len())?)
}

fn line(pool: &[Vec<u8>], number: usize) -> &[u8] {
    let lines: Vec<&[u8]> = pick(pool, number).unwrap().split_inclusive(|&byte| byte == b'\n').collect();
    pick(&lines, number / 7).unwrap()
}

fn apply(edit: &Edit, scene: &Scene, pool: &[Vec<u8>]) {
    let files: Vec<PathBuf> = find::in_paths(&[scene.home.path().to_owned()]).files.into_iter().map(|found| found.path).collect();
    let file = |number: &usize| pick(&files, *number);
    let add = |path: &Path, bytes: &[u8]| {
        OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
    };
    match edit {
        Edit::Append(number, with) => file(number).into_iter().for_each(|path| add(path, line(pool, *with))),
        Edit::Half(number, with) => {
            let line = line(pool, *with);
            file(number).into_iter().for_each(|path| add(path, &line[..with % line.len()]));
        }
        Edit::Truncate(number, part) => {
            let Some(path) = file(number) else { return };
            let length = fs::metadata(path).unwrap().len();
            File::options().write(true).open(path).unwrap().set_len(length * u64::from(*part) / 256).unwrap();
        }
        Edit::Replace(number, with) => {
            let (Some(path), Some(content)) = (file(number), pick(pool, *with)) else { return };
            fs::write(path.with_extension("new"), content).unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        }
        Edit::Rewrite(number, with) => file(number).into_iter().for_each(|path| fs::write(path, pick(pool, *with).unwrap()).unwrap()),
        Edit::Rename(number, name) => {
            let target = scene.log(&format!("moved/{name}.jsonl"));
            file(number).into_iter().for_each(|path| fs::rename(path, &target).unwrap());
        }
        Edit::Delete(number) => file(number).into_iter().for_each(|path| fs::remove_file(path).unwrap()),
        Edit::Add(with, name) => fs::write(scene.log(&format!("added/{name}.jsonl")), pick(pool, *with).unwrap()).unwrap(),
        Edit::Side(number, with) => {
            let Some(path) = file(number) else { return };
            let side = path.with_extension("").join("subagents");
            fs::create_dir_all(&side).unwrap();
            fs::write(side.join(format!("agent-a{}.jsonl", with % 5)), pick(pool, *with).unwrap()).unwrap();
        }
        Edit::Title(number, title) => {
            let Some(path) = file(number) else { return };
            fs::create_dir_all(path.with_extension("")).unwrap();
            fs::write(path.with_extension("").join("custom-title.json"), format!("{{\"customTitle\":\"t{title}\"}}")).unwrap();
        }
        Edit::Refresh => scene.refresh(),
        Edit::Settle => {}
    }
    // Two changes in one tick of the file system's clock cannot be told apart by anybody.
    std::thread::sleep(Duration::from_millis(12));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_is_told(
        before in prop::collection::vec(edit(), 0..4),
        edits in prop::collection::vec(edit(), 1..14),
        events in any::<bool>(),
        seed in any::<bool>(),
    ) {
        let options = Options { events, ..quick() };
        let scene = Scene::new(if seed { seeded(options) } else { options });
        let pool = pool();
        (0..pool.len()).step_by(4).for_each(|number| apply(&Edit::Add(number, u8::try_from(number).unwrap()), &scene, &pool));
        if seed {
            scene.refresh();
        }
        // The catalogue may be older than the logs.
        before.iter().for_each(|edit| apply(edit, &scene, &pool));
        let mut mirror = Mirror::as_it_is(&scene);
        for edit in &edits {
            apply(edit, &scene, &pool);
            if matches!(edit, Edit::Settle) {
                mirror.catch_up(&scene, "in between");
            }
        }
        mirror.catch_up(&scene, "at the end");
    }
}
