//! A page's request: the parts of its address, taken apart once.

pub use tooltrail_view::render::html::encoded;

/// The parts of a request that pages look at.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    /// The path below the root of these pages.
    pub path: String,
    /// Values of the names in a page's path: `session` in `/s/{session}`.
    pub names: Vec<(String, String)>,
    /// The query: names and values in their order.
    pub query: Vec<(String, String)>,
}

impl PageRequest {
    /// Value of a name in the path.
    pub fn name(&self, name: &str) -> &str {
        find(&self.names, name).unwrap_or_default()
    }

    /// A value of the query, where there is one.
    pub fn get(&self, name: &str) -> Option<&str> {
        find(&self.query, name)
    }

    /// A value of the query without spaces around it; `None` if nothing is left.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|word| !word.is_empty())
    }

    /// A value of the query as a number.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.word(name)?.parse().ok()
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    // The first of several wins, as in most servers.
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
