//! Addresses that a call's page links to.

use crate::request::encoded;

/// Builder of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallLinks {
    /// Prefix of all addresses.
    pub(super) root: &'static str,
}

impl CallLinks {
    /// The page of a call.
    pub(super) fn call(self, name: &str) -> String {
        format!("{}/c/{}", self.root, encoded(name))
    }

    /// A call in another form: `md`, `json`, `jsonl`.
    pub(super) fn form(self, name: &str, form: &str) -> String {
        format!("{}.{form}", self.call(name))
    }

    /// A session.
    pub(super) fn session(self, session: &str) -> String {
        format!("{}/s/{}", self.root, encoded(session))
    }

    /// The row of a call in its session.
    pub(super) fn row(self, session: &str, call: &str) -> String {
        // The script of the session's page fetches the section that contains the anchor.
        format!("{}#{}", self.session(session), encoded(call))
    }

    /// A search.
    pub(super) fn search(self, query: &str) -> String {
        format!("{}/search?q={}", self.root, encoded(query))
    }
}
