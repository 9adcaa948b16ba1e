//! Filtering by the keys of calls, before any row is read. Keys alone decide many filters, and leave few rows to read for others.

use super::stored::CatalogueQuery;
use crate::queries::{ColumnTest, column_tests};
use crate::store::{CallKey, CatalogueError, Figure, KeyReader, ListedCall};
use tooltrail_model::command::Purpose;
use tooltrail_model::event::InputFrom;
use tooltrail_model::filter::{Answer, Filter, Item, Keeping, SubjectFacts, Test};
use tooltrail_model::row::{CallRow, CallRowOrigin, Place, SessionRow, VERSION};
use tooltrail_model::{Kind, Status};

/// A filter on the keys of calls, which are read session by session.
pub(crate) struct KeyFilter<'f> {
    filter: &'f Filter,
    reader: KeyReader,
    /// The terms that keys and sessions decide.
    quick: Filter,
    /// Whether those are all.
    decides: bool,
    /// Whether the filter has terms about time.
    timed: bool,
    /// Tests of columns, which exclude most calls before their keys are made.
    tests: Vec<ColumnTest>,
}

/// Rows are read one by one if fewer than one in so many calls of a session remain; otherwise all rows of the session are read.
const FEW: usize = 8;

impl<'f> KeyFilter<'f> {
    pub(crate) fn new(filter: &'f Filter) -> Self {
        let quick = filter.only(is_quick);
        let is_time = |test: &Test| matches!(test, Test::Since(_) | Test::Until(_));
        let timed = filter.terms().iter().any(|term| term.test.each().iter().any(is_time));
        let decides = quick.terms().len() == filter.terms().len();
        KeyFilter { filter, reader: KeyReader::default(), decides, quick, timed, tests: column_tests(filter) }
    }

    /// Whether keys and sessions decide all terms, so that no row has to be read.
    pub(crate) fn decides(&self) -> bool {
        self.decides
    }

    /// The names in the keys read so far.
    pub(crate) fn names(&self) -> &KeyReader {
        &self.reader
    }

    /// The names, once no more keys are read.
    pub(crate) fn into_names(self) -> KeyReader {
        self.reader
    }

    /// The keys of a session's calls that the filter selects, or may select, and the number of calls that were considered.
    pub(crate) fn likely(&mut self, context: &CatalogueQuery<'_>, session: usize) -> Result<(Vec<CallKey>, usize), CatalogueError> {
        let Some(row) = context.rows.get(session) else { return Ok(Default::default()) };
        let mut keys = self.reader.read_where(&context.library.catalogue(), context.listing, session, &self.tests)?;
        let all = keys.len();
        if self.quick.is_empty() {
            return Ok((keys, all));
        }
        let keeping = context.keeping(self.filter, session);
        let mut call = blank(row);
        // A term that the key leaves open keeps the call: the row decides.
        keys.retain(|key| {
            self.fill(&mut call, key);
            self.quick.ask(&facts(row, keeping, &call)) != Answer::No
        });
        Ok((keys, all))
    }

    /// Passes on the calls of a session that the filter selects, or may select.
    pub(super) fn ask_calls(
        &mut self,
        context: &CatalogueQuery<'_>,
        session: usize,
        mut take: impl FnMut(Answer, ListedCall),
    ) -> Result<(), CatalogueError> {
        let filter = self.filter;
        // What is stored of the content of calls excludes more of them than keys do, and keys exclude nothing without a term of theirs.
        if filter.asks_content() || self.quick.is_empty() {
            return context.ask_calls(filter, session, take);
        }
        let Some(row) = context.rows.get(session) else { return Ok(()) };
        let (likely, all) = self.likely(context, session)?;
        let likely = likely.iter().map(|key| key.listed(session));
        if self.decides {
            // The quick terms are all terms here, and a key answers each of them with yes or no.
            likely.for_each(|listed| take(Answer::Yes, listed));
        } else if likely.len().saturating_mul(FEW) < all {
            let (catalogue, keeping) = (context.library.catalogue(), context.keeping(filter, session));
            for listed in likely {
                let mut ask = |listed, call: CallRow<'_>, _| take(filter.ask(&facts(row, keeping, &call)), listed);
                context.listing.one_call(&catalogue, listed, &mut ask)?;
            }
        } else if likely.len() > 0 {
            context.ask_calls(filter, session, take)?;
        }
        Ok(())
    }

    /// Copies a key into a row, which is reused for all keys of a session.
    fn fill<'a>(&'a self, call: &mut CallRow<'a>, key: &CallKey) {
        let figure = |figure| key.figure(figure).and_then(|number| u64::try_from(number).ok());
        let tool = |tool: usize| self.reader.tools().get(tool).map(|name| &**name);
        call.tool = tool(self.reader.tool(key)).unwrap_or_default();
        call.unwrapped = self.reader.unwrapped(key).and_then(tool);
        call.model = self.reader.model(key);
        (call.kind, call.status, call.purpose) = (key.kind, key.status, key.purpose.map(Purpose::word));
        (call.duration_ms, call.exit_code) = (figure(Figure::Took), key.figure(Figure::Exit));
        // Making a time from a number is not free, and most filters need none.
        if self.timed {
            call.requested_at = key.requested();
        }
    }
}

/// What is known of a call by its row.
fn facts<'a>(session: &'a SessionRow<'a>, keeping: Keeping, call: &'a CallRow<'a>) -> SubjectFacts<'a> {
    SubjectFacts { session, keeping, item: Item::Call(call), told: true, texts: None, content: None, opened: None }
}

/// Whether keys and sessions decide a test.
fn is_quick(test: &Test) -> bool {
    // No wildcard: a new test must be sorted into one of the two groups.
    match test {
        Test::Tool(_) | Test::Kind(_) | Test::Status(_) | Test::Exit(_) | Test::Took(_) => true,
        Test::Agent(_) | Test::Project(_) | Test::Branch(_) | Test::Session(_) | Test::Is(_) => true,
        Test::Model(_) | Test::Purpose(_) | Test::Since(_) | Test::Until(_) => true,
        Test::Server(_) | Test::Reason(_) | Test::File(_) | Test::Command(_) | Test::Hook(_) | Test::Has(_) | Test::Text(_) => false,
        Test::Any(all) => all.iter().all(is_quick),
    }
}

/// A row without any values except its agent and session.
fn blank<'a>(session: &SessionRow<'a>) -> CallRow<'a> {
    let nowhere = Place { file: "", line: 0, row: None };
    CallRow {
        v: VERSION,
        agent: session.agent,
        session: session.session,
        agent_id: None,
        r#ref: String::new(),
        call: "",
        tool: "",
        server: None,
        kind: Kind::Other,
        status: Status::Answered,
        reason: None,
        evidence: nowhere,
        requested_at: None,
        completed_at: None,
        duration_ms: None,
        run_ms: None,
        exit_code: None,
        exit_of: None,
        masked: Vec::new(),
        purpose: None,
        is_error: None,
        input_bytes: 0,
        result_bytes: None,
        model: None,
        message: None,
        parallel: 0,
        parent_call: None,
        child_session: None,
        background: None,
        hooks: Vec::new(),
        request: nowhere,
        result: None,
        cwd: None,
        sidechain: false,
        copy_of: None,
        about: None,
        unwrapped: None,
        inner: None,
        origin: CallRowOrigin::Log,
        input_from: InputFrom::Request,
        failed_by: None,
        command: None,
        path: None,
        alias: None,
        replacement: None,
        polls: None,
        may_wait: false,
    }
}
