//! Queries: the texts of a filter, and the fields to search for them.

use super::prefilter::Prefilter;
use tooltrail_model::filter::Filter;
use tooltrail_model::filter::texts::Field;

/// A filter whose texts are searched for.
#[derive(Debug)]
pub struct Query {
    filter: Filter,
    fields: Vec<Field>,
    /// Which lines are worth decoding.
    prefilter: Prefilter,
    /// Which logs are worth reading, where that excludes more: everything that is selected contains this text, so a bundle without it need
    /// not be read for the other texts.
    lead: Option<Prefilter>,
    snippets: bool,
    /// How many lines a snippet has before and after that of the match; `None` for a piece of a line.
    context: Option<usize>,
    pictures: bool,
}

impl Query {
    /// Looks for the texts of a filter in some fields; in any, where none is named.
    pub fn new(filter: Filter, fields: &[Field]) -> Self {
        let prefilter = Prefilter::new(filter.texts().map(|(_, pattern)| pattern));
        // The longest text is usually the rarest, so it excludes the most logs.
        let longest = filter.patterns().max_by_key(|pattern| pattern.source().len());
        let lead = longest.filter(|_| filter.texts().count() > 1).map(|pattern| Prefilter::new(std::iter::once(pattern)));
        // A lead that lets every log pass would only cost time.
        let lead = lead.filter(|lead| !lead.is_open());
        Query { filter, fields: fields.to_vec(), prefilter, lead, snippets: true, context: None, pictures: false }
    }

    /// A query without snippets, to find which calls and messages contain the texts.
    pub(crate) fn unseen(filter: Filter) -> Self {
        Query { snippets: false, ..Query::new(filter, &[]) }
    }

    /// This query, with messages that contain an image but none of the texts. Any line may be one, so nothing is filtered out beforehand.
    pub(crate) fn with_pictures(self) -> Self {
        Query { prefilter: Prefilter::default(), lead: None, pictures: true, ..self }
    }

    /// This query, with so many whole lines before and after the match in each snippet.
    pub fn with_context(self, lines: usize) -> Self {
        Query { context: Some(lines), ..self }
    }

    /// How many lines a snippet has around that of the match.
    pub(super) fn context(&self) -> Option<usize> {
        self.context
    }

    /// The filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Which lines are worth decoding.
    pub(super) fn prefilter(&self) -> &Prefilter {
        &self.prefilter
    }

    /// Which logs are worth reading; `true` if this is all that is looked for.
    pub(super) fn lead(&self) -> (&Prefilter, bool) {
        self.lead.as_ref().map_or((&self.prefilter, true), |lead| (lead, false))
    }

    /// This query without a lead, for callers that need every text of each log, even where the lead does not occur.
    pub(crate) fn with_each(self) -> Self {
        Query { lead: None, ..self }
    }

    /// Whether what was found will be shown.
    pub(super) fn shows(&self) -> bool {
        self.snippets
    }

    /// Whether images are requested.
    pub(super) fn pictures(&self) -> bool {
        self.pictures
    }

    /// Whether a field is requested. The files of a call are a part of its input.
    pub(super) fn wants(&self, field: Field) -> bool {
        self.fields.is_empty() || self.fields.contains(&field) || (field == Field::Path && self.fields.contains(&Field::Input))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tooltrail_model::filter::{self, Setting, Spelling};

    /// A filter as people write it.
    pub(in crate::texts) fn parsed(query: &str, words: Spelling) -> Filter {
        let (now, zone) = ("2026-01-01T00:00:00Z".parse().unwrap(), jiff::tz::TimeZone::UTC);
        filter::parse(query, &Setting { here: None, home: None, now, zone, agents: &[], words, apart: false }).unwrap()
    }

    #[test]
    fn a_file_is_a_part_of_the_input() {
        let query = Query::new(Filter::default(), &[Field::Input]);
        assert!(query.wants(Field::Path) && query.wants(Field::Input) && !query.wants(Field::Result));
    }
}
