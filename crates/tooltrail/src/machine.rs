//! This machine, as the server's pages see it: which logs are there, what time it is, who is sitting at it.

use crate::cli::LogArgs;
use crate::keeping::Fates;
use crate::{demo, filling, keeping, logs};
use std::path::{Path, PathBuf};
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::watch::LogLocations;
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::{Places, Registered};
use tooltrail_model::link::Now;
use tooltrail_server::Machine;
use tracing::warn;

/// The logs that the arguments name.
pub(crate) struct Named {
    args: LogArgs,
}

impl Named {
    pub(crate) fn new(args: &LogArgs) -> Self {
        Named { args: args.clone() }
    }
}

impl Machine for Named {
    fn search(&self) -> Search {
        // Arguments that name no directory were refused at the start; one that has gone since is an empty place.
        find::in_places(&logs::places(&self.args).unwrap_or_default())
    }

    fn now(&self) -> Now {
        logs::now_in(&self.args, &logs::places(&self.args).unwrap_or_default())
    }

    fn ground(&self) -> Option<LogLocations> {
        let places = logs::places(&self.args).inspect_err(|error| warn!(error = %format_args!("{error:#}"), "nothing to watch"));
        Some(LogLocations::Places(places.ok()?))
    }

    fn keep(&self) -> Option<Keep> {
        keeping::keep(&self.args)
    }

    fn fill(&self, told: &dyn Fn(u64)) -> bool {
        // What is not kept is not filled by somebody else.
        let fill =
            || filling::elsewhere(&self.args, told).inspect_err(|error| warn!(%error, "no process of its own to fill the catalogue"));
        !self.args.no_cache && fill().unwrap_or(false)
    }

    fn refreshed(&self, search: &Search) {
        keeping::after_refresh(&self.args, search);
    }

    fn fates(&self) -> Option<Box<dyn tooltrail_server::Fates>> {
        Fates::new(&self.args).map(|fates| Box::new(fates) as Box<dyn tooltrail_server::Fates>)
    }

    fn here(&self) -> Option<String> {
        text(std::env::current_dir().ok()?)
    }

    fn home(&self) -> Option<String> {
        text(crate::directories::home()?)
    }

    fn home_in_logs(&self) -> Option<String> {
        if self.args.root.is_empty() { self.home() } else { None }
    }

    fn user(&self) -> Option<String> {
        std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok()
    }
}

/// The demo, laid into a directory.
pub(crate) struct Demo {
    home: PathBuf,
    running: Vec<Registered>,
    alive: std::time::Duration,
}

impl Demo {
    /// Lays it there.
    pub(crate) fn lay(home: &Path, args: &LogArgs) -> std::io::Result<Self> {
        let running = demo::lay(home, &logs::options(args, false))?;
        Ok(Demo { home: home.to_owned(), running, alive: args.alive })
    }
}

impl Machine for Demo {
    fn search(&self) -> Search {
        find::in_places(&[Places { home: Some(self.home.clone()), ..Places::default() }])
    }

    fn now(&self) -> Now {
        let mut now = Now::at(demo::now());
        now.patience = self.alive;
        now.live.extend(self.running.iter().map(|entry| (entry.session.as_str().into(), entry.live)));
        now
    }

    fn home(&self) -> Option<String> {
        text(self.home.clone())
    }
}

fn text(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok().filter(|path| !path.is_empty())
}
