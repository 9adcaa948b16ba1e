//! The machine as the server sees it: its logs, its clock, and its user. One implementation for real logs, one for the demo.

use crate::cli::LogArgs;
use crate::filling::FillStep;
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

/// The machine with the logs that the arguments name.
pub(crate) struct NamedLogs {
    args: LogArgs,
}

impl NamedLogs {
    pub(crate) fn new(args: &LogArgs) -> Self {
        NamedLogs { args: args.clone() }
    }

    fn elsewhere(&self, step: FillStep, told: &dyn Fn(u64)) -> bool {
        // With `--no-cache` the catalogue is a temporary file of this process, which no other process can fill.
        let fill = || filling::elsewhere(&self.args, step, told).inspect_err(|error| warn!(%error, "no separate process for the index"));
        !self.args.no_cache && fill().unwrap_or(false)
    }
}

impl Machine for NamedLogs {
    fn search(&self) -> Search {
        // Arguments that name no directory were refused at the start; one that has gone since is an empty place.
        find::in_places(&logs::places(&self.args).unwrap_or_default()).limit(find::MAX_LOGS)
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
        self.elsewhere(FillStep::Logs, told)
    }

    fn fill_details(&self) -> bool {
        self.elsewhere(FillStep::Details, &|_| {})
    }

    fn refreshed(&self, search: &Search) {
        keeping::after_refresh(&self.args, search);
    }

    fn fates(&self) -> Option<Box<dyn tooltrail_server::LogRetention>> {
        Fates::new(&self.args).map(|fates| Box::new(fates) as Box<dyn tooltrail_server::LogRetention>)
    }

    fn here(&self) -> Option<String> {
        text(std::env::current_dir().ok()?)
    }

    fn home(&self) -> Option<String> {
        text(crate::directories::home()?)
    }

    fn home_in_logs(&self) -> Option<String> {
        // Under `--root` the logs come from other homes, and this one would shorten the wrong paths.
        if self.args.root.is_empty() { self.home() } else { None }
    }

    fn user(&self) -> Option<String> {
        std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok()
    }
}

/// The machine of the demo, whose logs are files in a scratch directory.
pub(crate) struct DemoMachine {
    home: PathBuf,
    running: Vec<Registered>,
    alive: std::time::Duration,
}

impl DemoMachine {
    /// Writes the logs of the demo into a directory.
    pub(crate) fn lay(home: &Path, args: &LogArgs) -> std::io::Result<Self> {
        let running = demo::lay(home, &args.options(false))?;
        Ok(DemoMachine { home: home.to_owned(), running, alive: args.alive })
    }
}

impl Machine for DemoMachine {
    fn search(&self) -> Search {
        find::in_places(&[Places { home: Some(self.home.clone()), ..Places::default() }])
    }

    fn now(&self) -> Now {
        // The clock stands still, so the running sessions of the demo never end.
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
