//! A home directory that is watched, and a subscriber that remembers what it was told; with the records that logs are made of.

use crate::support::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tooltrail_catalog::watch::{ChangeEvent, LogLocations, NextChange, SubscribeOptions, Subscriber, WatchOptions, Watcher};
use tooltrail_formats::Places;
use tooltrail_formats::find;
use tooltrail_model::Now;

/// How long a change may take here at most. Machines that run tests are slow; docs/performance.md has how long it takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A home directory that is watched at a moment that stands still, unless it is moved.
pub(crate) struct Scene {
    pub(crate) home: tempfile::TempDir,
    pub(crate) cache: tempfile::TempDir,
    /// Whether a catalogue is made before somebody subscribes.
    pub(crate) seeded: bool,
    pub(crate) now: Arc<Mutex<Now>>,
    pub(crate) watcher: Watcher,
}

impl Scene {
    pub(crate) fn new(options: WatchOptions) -> Self {
        Scene::at(tempfile::tempdir().unwrap(), options, later())
    }

    pub(crate) fn at(home: tempfile::TempDir, options: WatchOptions, now: Now) -> Self {
        let cache = tempfile::tempdir().unwrap();
        // Whether a seed is wanted is what the options say; where it is, they cannot know.
        let seeded = options.seed.is_some();
        let options = WatchOptions { seed: options.seed.map(|_| cache.path().join("catalogue.db")), ..options };
        let ground = LogLocations::Places(vec![Places { home: Some(home.path().to_owned()), ..Places::default() }]);
        let now = Arc::new(Mutex::new(now));
        let clock = Arc::clone(&now);
        let watcher = Watcher::start(ground, options, Arc::new(move || clock.lock().unwrap().clone())).unwrap();
        Scene { home, cache, seeded, now, watcher }
    }

    pub(crate) fn places(&self) -> [Places; 1] {
        [Places { home: Some(self.home.path().to_owned()), ..Places::default() }]
    }

    /// Subscribes, with a catalogue that says what the logs say if one is wanted.
    pub(crate) fn subscribe(&self, wish: SubscribeOptions) -> Subscriber {
        self.prepare();
        self.watcher.subscribe(wish)
    }

    fn prepare(&self) {
        if self.seeded {
            self.refresh();
        }
    }

    /// Makes the catalogue say what the logs say now, as another process would.
    pub(crate) fn refresh(&self) {
        refreshed(&mut open(self.cache.path()), &find::in_places(&self.places()));
    }

    pub(crate) fn projects(&self) -> PathBuf {
        self.home.path().join(".claude/projects")
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        let path = self.projects().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// What a fresh scan says.
    pub(crate) fn fresh(&self) -> Rows {
        let (mut calls, mut sessions) = direct(&scanned(&find::in_places(&self.places())), &self.now.lock().unwrap());
        calls.sort();
        sessions.sort();
        (calls, sessions)
    }
}

/// The rows of calls and of sessions, sorted.
pub(crate) type Rows = (Vec<String>, Vec<String>);

/// What a subscriber knows.
pub(crate) struct Mirror {
    pub(crate) subscriber: Subscriber,
    pub(crate) calls: BTreeMap<(String, String, String, u32), String>,
    pub(crate) sessions: BTreeMap<(String, String), String>,
    pub(crate) messages: Vec<(String, u64)>,
}

impl Mirror {
    /// Subscribes, and takes what is there.
    pub(crate) fn new(scene: &Scene) -> Self {
        scene.prepare();
        Mirror::as_it_is(scene)
    }

    /// The same, whatever the catalogue says.
    pub(crate) fn as_it_is(scene: &Scene) -> Self {
        let subscriber = scene.watcher.subscribe(SubscribeOptions { last: usize::MAX, ..SubscribeOptions::default() });
        let mut mirror = Mirror { subscriber, calls: BTreeMap::new(), sessions: BTreeMap::new(), messages: Vec::new() };
        while !matches!(*mirror.take(PATIENCE).expect("a beginning"), ChangeEvent::Begun { .. }) {}
        for row in scene.fresh().1 {
            let fields: Value = serde_json::from_str(&row).unwrap();
            mirror.sessions.insert((text(&fields, "agent"), text(&fields, "session")), row);
        }
        mirror
    }

    /// Takes the next change.
    pub(crate) fn take(&mut self, patience: Duration) -> Option<Arc<ChangeEvent>> {
        let NextChange::Change(change) = self.subscriber.next_within(patience) else { return None };
        match &*change {
            ChangeEvent::Here { call } | ChangeEvent::Requested { call } => {
                let key = (call.agent.to_string(), call.session.to_string(), call.call.to_string(), call.again);
                assert!(self.calls.insert(key, call.row.to_string()).is_none(), "told twice: {}", call.row);
            }
            ChangeEvent::Updated { call, .. } => {
                let key = (call.agent.to_string(), call.session.to_string(), call.call.to_string(), call.again);
                assert!(self.calls.insert(key, call.row.to_string()).is_some(), "never told of: {}", call.row);
            }
            ChangeEvent::Lost { agent, session, call, again } => {
                let key = (agent.to_string(), session.to_string(), call.to_string(), *again);
                // Of what belongs to no session nobody knows the session.
                if !session.is_empty() {
                    assert!(self.calls.remove(&key).is_some(), "never told of: {key:?}");
                }
            }
            ChangeEvent::Session { session } => {
                let key = (session.agent.to_string(), session.session.to_string());
                self.sessions.insert(key, session.row.to_string());
            }
            ChangeEvent::Gone { agent, session } => {
                assert!(self.sessions.remove(&(agent.to_string(), session.to_string())).is_some(), "{agent} {session}");
            }
            ChangeEvent::Message(message) => self.messages.push((message.file.to_string(), message.line.unwrap_or_default())),
            ChangeEvent::Begun { .. } | ChangeEvent::Touched { .. } => {}
            ChangeEvent::Lagged { missing } => panic!("{missing} changes are missing"),
        }
        Some(change)
    }

    pub(crate) fn rows(&self) -> Rows {
        let mut rows: Rows = (self.calls.values().cloned().collect(), self.sessions.values().cloned().collect());
        rows.0.sort();
        rows.1.sort();
        rows
    }

    /// Waits until it knows what a fresh scan says.
    pub(crate) fn catch_up(&mut self, scene: &Scene, what: &str) {
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

pub(crate) fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

/// With a poll that is quick enough for tests.
pub(crate) fn quick() -> WatchOptions {
    WatchOptions { scan: options(), poll: Duration::from_millis(50), ..WatchOptions::default() }
}

pub(crate) fn polled() -> WatchOptions {
    WatchOptions { events: false, ..quick() }
}

/// Each of these without a seed and with one.
pub(crate) fn both<const N: usize>(all: [WatchOptions; N]) -> Vec<WatchOptions> {
    all.into_iter().flat_map(|options| [options.clone(), seeded(options)]).collect()
}

/// With a catalogue that says what the logs say when somebody first subscribes.
pub(crate) fn seeded(options: WatchOptions) -> WatchOptions {
    WatchOptions { seed: Some(PathBuf::new()), ..options }
}

pub(crate) fn evented() -> WatchOptions {
    WatchOptions { poll: Duration::from_secs(3600), ..quick() }
}

pub(crate) fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

pub(crate) fn stamp(second: u32) -> String {
    format!("2026-03-04T10:{:02}:{:02}.000Z", second / 60, second % 60)
}

pub(crate) fn prompt(session: &str, number: u32) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{session}-p{number}\",\"sessionId\":\"{session}\",\"timestamp\":\"{}\",\"cwd\":\"/srv/app\",\"message\":{{\"role\":\"user\",\"content\":\"do {number}\"}}}}\n",
        stamp(number)
    )
}

pub(crate) fn request(session: &str, number: u32) -> String {
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"{session}-a{number}\",\"sessionId\":\"{session}\",\"timestamp\":\"{}\",\"message\":{{\"id\":\"msg_{session}_{number}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_{session}_{number}\",\"name\":\"Bash\",\"input\":{{\"command\":\"cargo test {number} | tail -3\"}}}}]}}}}\n",
        stamp(number)
    )
}

pub(crate) fn result(session: &str, number: u32) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{session}-r{number}\",\"parentUuid\":\"{session}-a{number}\",\"sessionId\":\"{session}\",\"timestamp\":\"{}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{session}_{number}\",\"content\":\"ok\"}}]}}}}\n",
        stamp(number + 1)
    )
}

/// A record that no row tells of.
pub(crate) fn thought(session: &str, number: u32) -> String {
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"{session}-t{number}\",\"sessionId\":\"{session}\",\"timestamp\":\"{}\",\"message\":{{\"id\":\"msg_{session}_t\",\"role\":\"assistant\",\"content\":[{{\"type\":\"thinking\",\"thinking\":\"hm\"}}]}}}}\n",
        stamp(0)
    )
}
