//! `board`: the sessions that run, as a table that follows them.

use crate::cli::LogArgs;
use crate::commands::tail;
use crate::filters::SelectArgs;
use crate::out::{self, BOLD, DIM};
use crate::running::{self, Running};
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
  tooltrail board                       what runs now, and what needs me
  tooltrail board project:.             only what runs here
  tooltrail board agent:codex
  tooltrail board --once                print it once and end
  tooltrail board --json | jq -r 'select(.state == \"waiting\") | .title'

Sessions that wait for somebody come first; those that have ended are left out. q or Ctrl-C ends it.";

/// How often ages are drawn anew.
const TICK: Duration = Duration::from_secs(1);
/// How often it is looked whether the terminal has another size, or nobody reads any more.
const LOOK: Duration = Duration::from_millis(200);
/// How long changes are gathered before they are drawn.
const GATHER: Duration = Duration::from_millis(40);

/// Arguments of `board`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BoardArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Print what runs now, and end
    #[arg(long)]
    once: bool,
}

/// Agent and id of a session.
type Key = (String, String);

pub(crate) fn run(args: &LogArgs, own: &BoardArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    let mut board = Board { args, own, filter, sessions: BTreeMap::new(), shelf: Disk::default(), keep: keeping::keep(args) };
    let drawn = !args.json && std::io::stdout().is_terminal();
    // What does not change needs not be followed.
    if own.once || args.demo || !(drawn || args.json) {
        board.begin()?;
        return board.print();
    }
    let watcher = tail::watcher(args, &own.select.paths())?;
    let subscriber = watcher.subscribe(SubscribeOptions { touched: true, ..SubscribeOptions::default() });
    end_on_signal(&watcher)?;
    board.begin()?;
    match drawn {
        true => board.draw(&watcher, &subscriber),
        false => board.tell(&watcher, &subscriber),
    }?;
    watcher.finish().context("nothing more can be followed; start it again, and please report this with what it said")?;
    Ok(ExitCode::SUCCESS)
}

/// The first Ctrl-C ends the watcher, and with it everything; the second one does not wait.
fn end_on_signal(watcher: &Watcher) -> anyhow::Result<()> {
    let (end, asked) = (watcher.end(), AtomicBool::new(false));
    let stop = move || {
        if asked.swap(true, Ordering::Relaxed) {
            screen::give_back();
            std::process::exit(0);
        }
        end.now();
    };
    ctrlc::set_handler(stop).context("cannot listen for Ctrl-C")
}

/// What runs.
struct Board<'a> {
    args: &'a LogArgs,
    own: &'a BoardArgs,
    filter: Filter,
    sessions: BTreeMap<Key, Running>,
    shelf: Disk,
    keep: Option<Keep>,
}

impl Board<'_> {
    /// Finds out what runs now.
    fn begin(&mut self) -> anyhow::Result<()> {
        self.sessions.clear();
        let Some(ready) = logs::if_stored(self.args, &self.own.select.paths())? else {
            let logs = logs::read(self.args, &self.own.select.paths(), false)?;
            let linked = logs.link();
            for session in 0..linked.sessions.len() {
                let found = Running::of(&logs.asked(&linked), session, &self.filter);
                self.sessions.extend(found.filter(Running::is_alive).map(|found| (found.key.clone(), found)));
            }
            return Ok(());
        };
        let listing = ready.list()?;
        let rows = listing.rows();
        for (place, row) in rows.iter().enumerate().filter(|(_, row)| row.state.is_some_and(|state| state != "ended")) {
            let Some(bundle) = listing.bundle(place) else { continue };
            let linker = ready.library.open(bundle)?;
            self.take(&(row.agent.to_owned(), row.session.to_owned()), &linker.link(), &ready.now);
        }
        Ok(())
    }

    /// Takes in a session as linked logs have it; tells whether it is not as it was.
    fn take(&mut self, key: &Key, linked: &Linked<'_>, now: &Now) -> Option<Running> {
        let place = linked.sessions.iter().position(|session| session.agent == key.0 && *session.id == *key.1);
        let asked = MatchContext { linked, shelf: &self.shelf, now, threads: 1, keep: self.keep.as_ref() };
        let found = place.and_then(|place| Running::of(&asked, place, &self.filter));
        let before = match &found {
            Some(found) if found.is_alive() => self.sessions.insert(key.clone(), found.clone()),
            _ => self.sessions.remove(key),
        };
        // One that has ended is told of once.
        found.filter(|found| before.as_ref().map_or(found.is_alive(), |before| before.row != found.row))
    }

    /// Waits for changes, takes them in, and gives the sessions that are not as they were. Nothing when it is over.
    fn follow(&mut self, watcher: &Watcher, subscriber: &Subscriber, wait: Duration) -> anyhow::Result<Option<Vec<Running>>> {
        let (mut touched, mut anew, mut wait, start) = (BTreeSet::new(), false, wait, Instant::now());
        loop {
            match subscriber.next_within(wait) {
                NextChange::Quiet => break,
                NextChange::Ended => return Ok(None),
                NextChange::Change(change) => anew |= note(&change, &mut touched),
            }
            // Agents write several records at once.
            wait = GATHER.saturating_sub(start.elapsed()).min(GATHER / 2);
            if start.elapsed() > GATHER && wait.is_zero() {
                break;
            }
        }
        let before = anew.then(|| self.sessions.clone());
        if let Some(before) = before {
            self.begin()?;
            let is_new = |found: &&Running| before.get(&found.key).is_none_or(|before| before.row != found.row);
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

    /// Draws what runs on the terminal until it is over.
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

    /// Prints a row whenever a session is not as it was.
    fn tell(&mut self, watcher: &Watcher, subscriber: &Subscriber) -> anyhow::Result<()> {
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
            // Whoever read this has seen enough, and there may be no next line that would tell.
            if out::is_closed() {
                break;
            }
        }
        Ok(())
    }

    /// Prints what runs, once.
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
        if self.filter.is_empty() { "no session runs now" } else { "no such session runs now" }
    }

    fn sorted(&self) -> Vec<&Running> {
        let mut sessions: Vec<&Running> = self.sessions.values().collect();
        sessions.sort_by(|one, other| one.order().cmp(&other.order()));
        sessions
    }

    /// What the terminal shows: as many sessions as there is room for, and how many more there are.
    fn picture(&self) -> anyhow::Result<String> {
        let (width, height) = screen::size();
        if self.sessions.is_empty() {
            return Ok(format!("{}; waiting for one, q or Ctrl-C ends\n", self.nothing()));
        }
        let sorted = self.sorted();
        // A line on top, one for the columns, and one for those that are left out.
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

/// Notes the session of a change; tells whether everything has to be looked at.
fn note(change: &ChangeEvent, touched: &mut BTreeSet<Key>) -> bool {
    let key = |agent: &str, session: &str| (agent.to_owned(), session.to_owned());
    touched.insert(match change {
        // What was written before that was told to nobody.
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
