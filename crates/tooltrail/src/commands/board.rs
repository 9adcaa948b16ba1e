//! `board`: the running sessions, as a table that is updated live.

use crate::cli::LogArgs;
use crate::commands::tail;
use crate::filters::SelectArgs;
use crate::out::{self, BOLD, DIM};
use crate::running::{self, RunningSession};
use crate::screen::{self, Screen};
use crate::{keeping, logs, table};
use anyhow::Context;
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::library::Library;
use tooltrail_catalog::matching::MatchContext;
use tooltrail_catalog::watch::{ChangeEvent, NextChange, SubscribeOptions, Subscriber, Watcher};
use tooltrail_formats::shelf::Disk;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linked, Now};

const EXAMPLES: &str = "\
Examples:
  tooltrail board                       all running sessions
  tooltrail board project:.             only those of this project
  tooltrail board agent:codex
  tooltrail board --once                print the table once and exit
  tooltrail board --json | jq -r 'select(.state == \"waiting\") | .title'

Sessions that wait for you come first; ended sessions are left out. Press q or Ctrl-C to quit.";

/// Interval at which durations are redrawn.
const TICK: Duration = Duration::from_secs(1);
/// Interval at which a new size of the terminal is noticed.
const LOOK: Duration = Duration::from_millis(200);
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
}

/// Agent and id of a session.
type Key = (String, String);

pub(crate) fn run(args: &LogArgs, own: &BoardArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    let mut board = Board { args, own, filter, sessions: BTreeMap::new(), shelf: Disk::default(), keep: keeping::keep(args) };
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

/// The running sessions, and everything needed to update them.
struct Board<'a> {
    args: &'a LogArgs,
    own: &'a BoardArgs,
    filter: Filter,
    sessions: BTreeMap<Key, RunningSession>,
    shelf: Disk,
    keep: Option<Keep>,
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
        let asked = MatchContext { linked, shelf: &self.shelf, now, threads: 1, keep: self.keep.as_ref() };
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
        let end = watcher.end();
        screen::on_quit(move || end.now());
        let mut drawn = Instant::now();
        screen.draw(&self.picture()?)?;
        while let Some(changed) = self.follow(watcher, subscriber, LOOK)? {
            if !changed.is_empty() || screen.is_resized() || drawn.elapsed() >= TICK {
                screen.draw(&self.picture()?)?;
                drawn = Instant::now();
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
        let mut out = out::stdout(self.args.color.as_str());
        if self.sessions.is_empty() {
            writeln!(out, "{}", self.nothing())?;
        } else {
            let width = table::terminal_width().filter(|_| std::io::stdout().is_terminal());
            running::table(self.sorted(), logs::asked_at(self.args), width).print(&mut out, width)?;
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
        // Two lines are taken by the summary and the names of columns; if sessions are left out, a third one says how many.
        let room = height.saturating_sub(2);
        let shown = if sorted.len() <= room { sorted.len() } else { room.saturating_sub(1) };
        let mut picture = format!("{BOLD}{}{BOLD:#}\n", running::summary(sorted.iter().copied())).into_bytes();
        running::table(sorted.iter().copied().take(shown), logs::asked_at(self.args), Some(width)).print(&mut picture, Some(width))?;
        if shown < sorted.len() {
            writeln!(picture, "{DIM}and {} more{DIM:#}", sorted.len() - shown)?;
        }
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
