//! Filtering by the keys of calls, before any row is read. Keys alone decide many filters, and leave few rows to read for others.

use super::stored::CatalogueQuery;
use crate::store::{CallKey, CallKeys, CatalogueError, Figure, ListedCall};
use tooltrail_model::command::Purpose;
use tooltrail_model::event::InputFrom;
use tooltrail_model::filter::{Answer, Filter, Item, SubjectFacts, Test};
use tooltrail_model::row::{CallRow, CallRowOrigin, Place, SessionRow, VERSION};
use tooltrail_model::{Kind, Status};

/// A filter and the keys of all calls.
pub(super) struct KeyFilter<'k> {
    keys: &'k CallKeys,
    /// The terms that keys and sessions decide.
    quick: Filter,
    /// Whether those are all.
    decides: bool,
    /// Whether the filter has terms about time.
    timed: bool,
}

/// Rows are read one by one if fewer than one in so many calls of a session remain; otherwise all rows of the session are read.
const FEW: usize = 8;

impl<'k> KeyFilter<'k> {
    pub(super) fn new(filter: &Filter, keys: &'k CallKeys) -> Self {
        let quick = filter.only(is_quick);
        let is_time = |test: &Test| matches!(test, Test::Since(_) | Test::Until(_));
        let timed = filter.terms().iter().any(|term| term.test.each().iter().any(is_time));
        KeyFilter { keys, decides: quick.terms().len() == filter.terms().len(), quick, timed }
    }

    /// Passes on the calls of a session that the filter selects, or may select.
    pub(super) fn ask_calls(
        &self,
        context: &CatalogueQuery<'_>,
        filter: &Filter,
        session: usize,
        mut take: impl FnMut(Answer, ListedCall),
    ) -> Result<(), CatalogueError> {
        let Some(row) = context.rows.get(session) else { return Ok(()) };
        // What is stored of the content of calls excludes more of them than keys do.
        if filter.asks_content() {
            return context.ask_calls(filter, session, take);
        }
        let keeping = context.keeping(filter, session);
        let ask = |filter: &Filter, call: &CallRow<'_>| {
            filter.ask(&SubjectFacts {
                session: row,
                keeping,
                item: Item::Call(call),
                told: true,
                texts: None,
                content: None,
                opened: None,
            })
        };
        let own = self.keys.of_session(session);
        let mut call = blank(row);
        let mut likely = Vec::new();
        for key in own {
            self.fill(&mut call, key);
            // A term that the key leaves open keeps the call: the row decides.
            if ask(&self.quick, &call) != Answer::No {
                likely.push(key.listed(session));
            }
        }
        if self.decides {
            // The quick terms are all terms here, and a key answers each of them with yes or no.
            likely.into_iter().for_each(|listed| take(Answer::Yes, listed));
        } else if likely.len().saturating_mul(FEW) < own.len() {
            let catalogue = context.library.catalogue();
            for listed in likely {
                context.listing.one_call(&catalogue, listed, |listed, call, _| take(ask(filter, &call), listed))?;
            }
        } else {
            context.ask_calls(filter, session, take)?;
        }
        Ok(())
    }

    /// Copies a key into a row, which is reused for all keys of a session.
    fn fill<'a>(&'a self, call: &mut CallRow<'a>, key: &CallKey) {
        let figure = |figure| key.figure(figure).and_then(|number| u64::try_from(number).ok());
        call.tool = self.keys.tools().get(self.keys.tool(key)).map_or("", |name| name);
        call.unwrapped = self.keys.unwrapped(key);
        call.model = self.keys.model(key);
        (call.kind, call.status, call.purpose) = (key.kind, key.status, key.purpose.map(Purpose::word));
        (call.duration_ms, call.exit_code) = (figure(Figure::Took), key.figure(Figure::Exit));
        // Making a time from a number is not free, and most filters need none.
        if self.timed {
            call.requested_at = key.requested();
        }
    }
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
