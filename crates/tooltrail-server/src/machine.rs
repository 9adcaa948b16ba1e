//! What the pages have to know about the machine they are served from. The command line tells it, since it alone looks at the environment.

use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::watch::LogLocations;
use tooltrail_formats::find::Search;
use tooltrail_model::link::Now;
use tooltrail_model::row::SessionRow;

/// What will become of logs.
pub trait Fates {
    /// What to say about a session that its agent will delete soon: `gone in 3 days`.
    fn note(&self, session: &SessionRow<'_>) -> Option<String>;

    /// What to do about so many of them.
    fn advice(&self, sessions: u64) -> String;
}

/// A machine with logs on it. Where nothing is said, nothing is kept, nobody is known, and all is done here.
pub trait Machine: Send + Sync {
    /// The logs that are there now.
    fn search(&self) -> Search;

    /// The moment of asking.
    fn now(&self) -> Now;

    /// Where logs are watched; nothing where they do not change.
    fn ground(&self) -> Option<LogLocations> {
        None
    }

    /// What is kept of logs that are gone.
    fn keep(&self) -> Option<Keep> {
        None
    }

    /// Fills a catalogue that is not there yet in a process of its own, so that all the memory this takes goes with it. Tells how many
    /// bytes were read; whether it was done. What was not is done here.
    fn fill(&self, told: &dyn Fn(u64)) -> bool {
        let _ = told;
        false
    }

    /// Told after the catalogue has been made equal to the logs.
    fn refreshed(&self, search: &Search) {
        let _ = search;
    }

    /// What will become of logs, where agents delete them. To be asked for once a page: it looks at what is kept and at what agents are
    /// set to.
    fn fates(&self) -> Option<Box<dyn Fates>> {
        None
    }

    /// The directory in which the server was started, for `project:.`.
    fn here(&self) -> Option<String> {
        None
    }

    /// The person's home directory.
    fn home(&self) -> Option<String> {
        None
    }

    /// The home directory that paths in the logs mean, where it is known: logs of another machine lie in a home of their own.
    fn home_in_logs(&self) -> Option<String> {
        None
    }

    /// The person's name on this machine, which is taken out of what is shared.
    fn user(&self) -> Option<String> {
        None
    }
}
