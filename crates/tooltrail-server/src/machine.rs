//! Interface to the machine that pages are served from. The command line implements it, because it alone looks at the
//! environment.

use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::watch::LogLocations;
use tooltrail_formats::find::Search;
use tooltrail_model::link::Now;
use tooltrail_model::row::SessionRow;

/// Forecast of which logs their agents will delete.
pub trait LogRetention {
    /// A note on a session that its agent will delete soon: `gone in 3 days`.
    fn note(&self, session: &SessionRow<'_>) -> Option<String>;

    /// Advice on how to keep so many sessions.
    fn advice(&self, sessions: u64) -> String;
}

/// A machine with logs on it. By default nothing is kept, no home directory or user is known, and logs do not change.
pub trait Machine: Send + Sync {
    /// The logs that are there now.
    fn search(&self) -> Search;

    /// The current time, with the signs of running agents.
    fn now(&self) -> Now;

    /// Directories in which logs are watched; `None` where they do not change.
    fn ground(&self) -> Option<LogLocations> {
        None
    }

    /// Copies of logs that their agents have deleted.
    fn keep(&self) -> Option<Keep> {
        None
    }

    /// Makes the catalogue equal to the logs in a process of its own, whose memory is freed when it ends. Reports the bytes read so
    /// far to `told`. Gives whether it was done; if not, the server does it itself.
    fn fill(&self, told: &dyn Fn(u64)) -> bool {
        // Without a second process there is nothing to report.
        let _ = told;
        false
    }

    /// Makes the details of sessions that are missing in a process of its own. Gives whether it was done; if not, the server does it itself.
    fn fill_details(&self) -> bool {
        false
    }

    /// Called after the catalogue has been made equal to the logs.
    fn refreshed(&self, search: &Search) {
        let _ = search;
    }

    /// Forecast of deletions, where agents delete logs. Ask once per page: it reads the agents' settings and the list of kept
    /// logs.
    fn fates(&self) -> Option<Box<dyn LogRetention>> {
        None
    }

    /// The directory in which the server was started, for `project:.`.
    fn here(&self) -> Option<String> {
        None
    }

    /// The user's home directory.
    fn home(&self) -> Option<String> {
        None
    }

    /// The home directory that paths in the logs mean, where it is known: logs of another machine lie in a home of their own.
    fn home_in_logs(&self) -> Option<String> {
        None
    }

    /// The user's name on this machine, which is redacted from shared text.
    fn user(&self) -> Option<String> {
        None
    }
}
