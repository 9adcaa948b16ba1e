//! Addresses that the page of a call leads to.

use crate::request::encoded;

/// Makes addresses of these pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallLinks {
    /// What all of them begin with.
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
        format!("{}#{}", self.session(session), encoded(call))
    }

    /// A search.
    pub(super) fn search(self, query: &str) -> String {
        format!("{}/search?q={}", self.root, encoded(query))
    }
}
