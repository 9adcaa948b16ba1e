//! Terms about the content of calls (`file:`, `command:`, `has:image`), decided by what is stored of it.
//!
//! Nearly all calls are excluded before their rows are read. What is left is decided by the one evaluator, with its row.

use super::stored::CatalogueQuery;
use crate::Set;
use crate::store::details::{CallContent, SessionContent};
use crate::store::{CatalogueError, is_cut};
use tooltrail_model::filter::{ContentFacts, Filter, Has, NamePattern, Test};
use tooltrail_model::row::CallRow;

/// The stored content of a session, for a filter that asks for it.
pub(super) struct ContentFilter<'f> {
    filter: &'f Filter,
    content: SessionContent,
}

impl<'f> ContentFilter<'f> {
    /// The content of a session; `None` if the filter asks for none, or if it is not stored.
    pub(super) fn new(query: &CatalogueQuery<'_>, filter: &'f Filter, session: usize) -> Option<Self> {
        let key = query.listing.detail_key(session).filter(|_| filter.asks_content())?;
        Some(ContentFilter { filter, content: query.library.details.content(key)? })
    }

    /// The facts of a call; `None` if its content is not known.
    pub(super) fn facts<'c>(&'c self, call: i64, row: &'c CallRow<'_>) -> Option<ContentFacts<'c>> {
        let stored = self.content.of(call)?;
        let command = stored.command.as_deref().or(row.command.as_deref());
        Some(ContentFacts { command, files: &stored.files, has_image: stored.has_image })
    }

    /// The calls that terms about content leave, in order; `None` if no such term excludes any.
    pub(super) fn candidates(&self, query: &CatalogueQuery<'_>, session: usize) -> Result<Option<Vec<i64>>, CatalogueError> {
        let mut left: Option<Set<i64>> = None;
        for term in self.filter.terms().iter().filter(|term| !term.not) {
            let found = match &term.test {
                Test::File(names) => self.with(|facts| facts.files.iter().any(|path| fits(names, path))),
                Test::Command(names) => self.with_command(query, session, names)?,
                Test::Has(all) if all.iter().all(|has| *has == Has::Image) => self.with(|facts| facts.has_image),
                _ => continue,
            };
            left = Some(match left {
                Some(before) => before.into_iter().filter(|call| found.contains(call)).collect(),
                None => found,
            });
        }
        Ok(left.map(|left| {
            let mut left: Vec<i64> = left.into_iter().collect();
            left.sort_unstable();
            left
        }))
    }

    /// The calls whose stored content meets a condition, and those whose content is not known.
    fn with(&self, holds: impl Fn(&CallContent) -> bool) -> Set<i64> {
        self.content.each().filter(|(_, facts)| !facts.known || holds(facts)).map(|(call, _)| call).collect()
    }

    fn with_command(&self, query: &CatalogueQuery<'_>, session: usize, names: &[NamePattern]) -> Result<Set<i64>, CatalogueError> {
        let mut found = self.with(|facts| facts.command.as_deref().is_some_and(|command| fits(names, command)));
        query.listing.each_command(&query.library.catalogue(), session, |call, command| {
            // Of a cut command the rest may fit; the whole of it is stored beside the row.
            if !is_cut(command) && fits(names, command) {
                found.insert(call);
            }
        })?;
        Ok(found)
    }
}

fn fits(names: &[NamePattern], text: &str) -> bool {
    names.iter().any(|name| name.fits(text))
}
