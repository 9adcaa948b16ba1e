//! `board`: the running sessions, as a table that is updated live.

use crate::cli::LogArgs;
use crate::commands::tail;
use crate::filters::SelectArgs;
use crate::out::{self, BOLD, DIM};
use crate::pager::PagedOutput;
use crate::running::{self, RunningSession};
use crate::screen::{self, Screen};
use crate::{keeping, logs, table};
use anyhow::Context;
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::library::Library;
use tooltrail_catalog::matching::MatchContext;
use tooltrail_catalog::watch::{ChangeEvent, NextChange, SubscribeOptions, Subscriber, Watcher};
use tooltrail_formats::disk::Disk;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linked, Now};

const EXAMPLES: &str = "\
Examples:
  tooltrail board                       all running sessions
  tooltrail board project:.             only those of this project
  tooltrail board agent:codex
  tooltrail board --once                print the table once and exit
  tooltrail board --notify              ring when a session starts to wait for you
  tooltrail board --json | jq -r 'select(.state == \"waiting\") | .title'

Sessions that wait for you come first; ended sessions are left out. The arrow keys select a session, Enter shows it, o opens the page of the
running server, n turns notifications on and off, q or Ctrl-C quits.";

/// Interval at which durations are redrawn.
const TICK: Duration = Duration::from_secs(1);
/// Interval at which keys and a new size of the terminal are noticed.
const LOOK: Duration = Duration::from_millis(50);
/// Time for which changes are collected before they are drawn.
const GATHER: Duration = Duration::from_millis(40);

/// Arguments of `board`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BoardArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Print the table once and exit
    #[arg(long)]
    once: bool,
    /// Ring the terminal's bell, and show a notification where the terminal can, when a session begins to wait for you
    #[arg(long)]
    notify: bool,
}

/// Agent and id of a session.
type Key = (String, String);

pub(crate) fn run(args: &LogArgs, own: &BoardArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    let mut board = Board {
        args,
        own,
        filter,
        sessions: BTreeMap::new(),
        disk: Disk::default(),
        keep: keeping::keep(args),
        selected: None,
        rings: own.notify,
    };
    let drawn = !args.json && std::io::stdout().is_terminal();
    // The demo does not change, and plain text cannot be redrawn, so both are printed once.
    if own.once || args.demo || !(drawn || args.json) {
        board.begin()?;
        return board.print();
    }
    // Subscribed before the sessions are read for the first time, so that no change in between is lost.
    let watcher = tail::watcher(args, &own.select.paths())?;
    let subscriber = watcher.subscribe(SubscribeOptions { touched: true, ..SubscribeOptions::default() });
    end_on_signal(&watcher)?;
    board.begin()?;
    match drawn {
        true => board.draw(&watcher, &subscriber),
        false => board.tell(&watcher, &subscriber),
    }?;
    watcher.finish().context("the watcher failed; start the command again, and please report this with the messages above")?;
    Ok(ExitCode::SUCCESS)
}

/// Handles Ctrl-C: the first ends the watcher, and with it the loops below; the second exits at once.
fn end_on_signal(watcher: &Watcher) -> anyhow::Result<()> {
    let (end, asked) = (watcher.end(), AtomicBool::new(false));
    let stop = move || {
        if asked.swap(true, Ordering::Relaxed) {
            screen::give_back();
            std::process::exit(0);
        }
        end.now();
    };
    ctrlc::set_handler(stop).context("cannot handle Ctrl-C")
}

/// Result of a key.
enum Pressed {
    Nothing,
    Quit,
    /// Another command takes the terminal until it ends.
    Run(Vec<String>),
}

/// The running sessions, and everything needed to update them.
struct Board<'a> {
    args: &'a LogArgs,
    own: &'a BoardArgs,
    filter: Filter,
    sessions: BTreeMap<Key, RunningSession>,
    disk: Disk,
    keep: Option<Keep>,
    /// The session that the user has selected.
    selected: Option<Key>,
    /// Whether it rings when a session begins to wait for the user.
    rings: bool,
}

impl Board<'_> {
    /// Reads the running sessions from scratch.
    fn begin(&mut self) -> anyhow::Result<()> {
        self.sessions.clear();
        let Some(ready) = logs::if_stored(self.args, &self.own.select.paths())? else {
            let logs = logs::read(self.args, &self.own.select.paths(), false)?;
            let linked = logs.link();
            for session in 0..linked.sessions.len() {
                let found = RunningSession::of(&logs.asked(&linked), session, &self.filter);
                self.sessions.extend(found.filter(RunningSession::is_alive).map(|found| (found.key.clone(), found)));
            }
            return Ok(());
        };
        // The stored state singles out the few sessions that run; only their bundles are opened.
        let listing = ready.list()?;
        let rows = listing.rows();
        for (place, row) in rows.iter().enumerate().filter(|(_, row)| row.state.is_some_and(|state| state != "ended")) {
            let Some(bundle) = listing.bundle(place) else { continue };
            let linker = ready.library.open(bundle)?;
            self.take(&(row.agent.to_owned(), row.session.to_owned()), &linker.link(), &ready.now);
        }
        Ok(())
    }

    /// Updates a session from linked logs; returns it if its row has changed.
    fn take(&mut self, key: &Key, linked: &Linked<'_>, now: &Now) -> Option<RunningSession> {
        let place = linked.sessions.iter().position(|session| session.agent == key.0 && *session.id == *key.1);
        let asked = MatchContext { linked, disk: &self.disk, now, threads: 1, keep: self.keep.as_ref() };
        let found = place.and_then(|place| RunningSession::of(&asked, place, &self.filter));
        let before = match &found {
            Some(found) if found.is_alive() => self.sessions.insert(key.clone(), found.clone()),
            _ => self.sessions.remove(key),
        };
        // An ended session is reported once: it was in the table before, and now is not.
        found.filter(|found| before.as_ref().map_or(found.is_alive(), |before| before.row != found.row))
    }

    /// Waits for changes and applies them; returns the changed sessions, or `None` once the watcher has ended.
    fn follow(&mut self, watcher: &Watcher, subscriber: &Subscriber, wait: Duration) -> anyhow::Result<Option<Vec<RunningSession>>> {
        let (mut touched, mut anew, mut wait, start) = (BTreeSet::new(), false, wait, Instant::now());
        loop {
            match subscriber.next_within(wait) {
                NextChange::Quiet => break,
                NextChange::Ended => return Ok(None),
                NextChange::Change(change) => anew |= note(&change, &mut touched),
            }
            // Agents write several records at once, and one redraw for all of them is enough.
            wait = GATHER.saturating_sub(start.elapsed()).min(GATHER / 2);
            if start.elapsed() > GATHER && wait.is_zero() {
                break;
            }
        }
        // After lost messages nothing is known about the changes, so everything is read again and compared.
        let before = anew.then(|| self.sessions.clone());
        if let Some(before) = before {
            self.begin()?;
            let is_new = |found: &&RunningSession| before.get(&found.key).is_none_or(|before| before.row != found.row);
            return Ok(Some(self.sessions.values().filter(is_new).cloned().collect()));
        }
        let mut changed = Vec::new();
        for key in touched {
            match watcher.session(&key.0, &key.1) {
                Some(held) => changed.extend(self.take(&key, &held.linker.link(), &held.now)),
                None => drop(self.sessions.remove(&key)),
            }
        }
        Ok(Some(changed))
    }

    /// Draws the table on the terminal until the user ends it.
    fn draw(&mut self, watcher: &Watcher, subscriber: &Subscriber) -> anyhow::Result<()> {
        let mut screen = Screen::open(&self.args.color)?;
        let mut drawn = Instant::now();
        screen.draw(&self.picture()?)?;
        let mut waiting = self.waiting();
        while let Some(changed) = self.follow(watcher, subscriber, LOOK)? {
            let keys = screen::pressed();
            for key in &keys {
                match self.press(*key) {
                    Pressed::Nothing => {}
                    Pressed::Quit => return Ok(()),
                    Pressed::Run(arguments) => {
                        drop(screen);
                        self.run(&arguments)?;
                        screen = Screen::open(&self.args.color)?;
                    }
                }
            }
            let now = self.waiting();
            if self.rings
                && let Some(session) = now.iter().find(|key| !waiting.contains(*key)).and_then(|key| self.sessions.get(key))
            {
                screen::notify(&format!("{} waits for you", session.name()))?;
            }
            waiting = now;
            if !keys.is_empty() || !changed.is_empty() || screen.is_resized() || drawn.elapsed() >= TICK {
                screen.draw(&self.picture()?)?;
                drawn = Instant::now();
            }
        }
        Ok(())
    }

    /// The sessions that wait for the user.
    fn waiting(&self) -> BTreeSet<Key> {
        self.sessions.values().filter(|session| session.needs_you()).map(|session| session.key.clone()).collect()
    }

    /// Acts on a key.
    fn press(&mut self, key: screen::PressedKey) -> Pressed {
        use screen::PressedKey;
        let keys: Vec<(String, String)> = self.sorted().iter().map(|session| session.key.clone()).collect();
        let place = self.selected.as_ref().and_then(|selected| keys.iter().position(|key| key == selected));
        let to = |place: usize| keys.get(place.min(keys.len().saturating_sub(1))).cloned();
        match key {
            PressedKey::Sign('q' | 'Q') => return Pressed::Quit,
            PressedKey::Sign('n') => self.rings = !self.rings,
            PressedKey::Sign('o') => return Pressed::Run(vec!["open".to_owned()]),
            PressedKey::Escape => self.selected = None,
            PressedKey::Down | PressedKey::Sign('j') => self.selected = to(place.map_or(0, |place| place + 1)),
            PressedKey::Up | PressedKey::Sign('k') => self.selected = to(place.map_or(keys.len(), |place| place.saturating_sub(1))),
            PressedKey::PageDown => self.selected = to(place.map_or(0, |place| place + 10)),
            PressedKey::PageUp => self.selected = to(place.map_or(0, |place| place.saturating_sub(10))),
            // The whole id: a short name may have become ambiguous since.
            PressedKey::Enter => {
                return self.selected.as_ref().map_or(Pressed::Nothing, |(_, id)| Pressed::Run(vec!["show".to_owned(), id.clone()]));
            }
            PressedKey::Backspace | PressedKey::Sign(_) => {}
        }
        Pressed::Nothing
    }

    /// Runs another command of this program on the same logs, and waits until the user has read what it says.
    fn run(&self, arguments: &[String]) -> anyhow::Result<()> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = std::process::Command::new(program);
        command.args(arguments).args(self.args.root.iter().flat_map(|root| [OsStr::new("--root"), root.as_os_str()]));
        command.args(self.args.no_cache.then_some("--no-cache"));
        // Without `F`, which the pager is given otherwise: it would end at once where a session fits the screen.
        command.env("LESS", "RX");
        let outcome = command.status().context("cannot run this program again")?;
        let is_paged = arguments.first().is_some_and(|name| name == "show")
            && outcome.success()
            && !self.args.no_pager
            && std::env::var_os("PAGER").is_none_or(|pager| pager.to_string_lossy().starts_with("less"));
        if !is_paged {
            out::remark(&"Enter goes back to the board");
            while screen::pressed().is_empty() {
                std::thread::sleep(LOOK);
            }
        }
        Ok(())
    }

    /// Prints a JSON row whenever a session changes.
    fn tell(&mut self, watcher: &Watcher, subscriber: &Subscriber) -> anyhow::Result<()> {
        // The reader gets the present state first, then changes of it.
        let mut out = std::io::stdout().lock();
        for session in self.sorted() {
            writeln!(out, "{}", session.row)?;
        }
        out.flush()?;
        while let Some(changed) = self.follow(watcher, subscriber, TICK)? {
            for session in &changed {
                writeln!(out, "{}", session.row)?;
            }
            out.flush()?;
            // A closed pipe is noticed at the next write, and in a quiet session that may be hours away.
            if out::is_closed() {
                break;
            }
        }
        Ok(())
    }

    /// Prints the running sessions once.
    fn print(&self) -> anyhow::Result<ExitCode> {
        if self.args.json {
            let mut out = std::io::stdout().lock();
            self.sorted().iter().try_for_each(|session| writeln!(out, "{}", session.row))?;
            out.flush()?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = PagedOutput::open(self.args);
        if self.sessions.is_empty() {
            out.note(&self.nothing())?;
        } else {
            let width = table::terminal_width().filter(|_| std::io::stdout().is_terminal());
            running::table(self.sorted(), logs::asked_at(self.args), width, None).print(&mut out, width)?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn nothing(&self) -> &'static str {
        if self.filter.is_empty() { "no sessions are running" } else { "no matching sessions are running" }
    }

    fn sorted(&self) -> Vec<&RunningSession> {
        let mut sessions: Vec<&RunningSession> = self.sessions.values().collect();
        sessions.sort_by(|one, other| one.order().cmp(&other.order()));
        sessions
    }

    /// The picture for the terminal: as many sessions as fit, and the number of the others.
    fn picture(&self) -> anyhow::Result<String> {
        let (width, height) = screen::size();
        if self.sessions.is_empty() {
            return Ok(format!("{}; waiting for the next, press q or Ctrl-C to quit\n", self.nothing()));
        }
        let sorted = self.sorted();
        let place = self.selected.as_ref().and_then(|selected| sorted.iter().position(|session| session.key == *selected));
        // Three lines are taken by the summary, the names of columns and the keys; if sessions are left out, a fourth one says how many.
        let space = height.saturating_sub(3);
        let shown = if sorted.len() <= space { sorted.len() } else { space.saturating_sub(1) };
        // The selected session is always among those that are shown.
        let first = place.map_or(0, |place| (place + 1).saturating_sub(shown));
        let bell = if self.rings { "on" } else { "off" };
        let mut picture = format!("{BOLD}{}{BOLD:#}\n", running::summary(sorted.iter().copied())).into_bytes();
        let rows = sorted.iter().copied().skip(first).take(shown);
        let marked = place.map(|place| place - first);
        running::table(rows, logs::asked_at(self.args), Some(width), marked).print(&mut picture, Some(width))?;
        if shown < sorted.len() {
            writeln!(picture, "{DIM}and {} more{DIM:#}", sorted.len() - shown)?;
        }
        writeln!(
            picture,
            "{DIM}{}{DIM:#}",
            table::fit(&format!("↑↓ select · Enter show · o open page · n notify ({bell}) · q quit"), width, table::Align::Fill, true)
        )?;
        Ok(String::from_utf8_lossy(&picture).into_owned())
    }
}

/// Notes the session of a change; true if everything has to be read again.
fn note(change: &ChangeEvent, touched: &mut BTreeSet<Key>) -> bool {
    let key = |agent: &str, session: &str| (agent.to_owned(), session.to_owned());
    touched.insert(match change {
        // Changes before the first message, or during a lag, were not delivered.
        ChangeEvent::Begun { .. } | ChangeEvent::Lagged { .. } => return true,
        ChangeEvent::Here { call } | ChangeEvent::Requested { call } | ChangeEvent::Updated { call, .. } => key(&call.agent, &call.session),
        ChangeEvent::Session { session } => key(&session.agent, &session.session),
        ChangeEvent::Message(message) => key(&message.agent, &message.session),
        ChangeEvent::Lost { agent, session, .. } | ChangeEvent::Gone { agent, session } | ChangeEvent::Touched { agent, session } => {
            key(agent, session)
        }
    });
    false
}
