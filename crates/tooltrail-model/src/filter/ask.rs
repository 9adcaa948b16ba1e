//! The evaluator: decides whether a filter matches a call, a message or a session. There is no other; anything that selects
//! earlier, such as a database, only saves work.

use super::{Filter, Has, Is, NamePattern, Test, content};
use crate::book::Loaded;
use crate::link::State;
use crate::row::{CallRow, SessionRow};
use crate::{Kind, Status, Time};

/// Result of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A match.
    Yes,
    /// No match.
    No,
    /// Undecided until more is read.
    Open,
}

impl From<Option<bool>> for Answer {
    fn from(holds: Option<bool>) -> Self {
        match holds {
            Some(true) => Answer::Yes,
            Some(false) => Answer::No,
            None => Answer::Open,
        }
    }
}

/// Subject of a filter.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A call.
    Call(&'a CallRow<'a>),
    /// A message, and its time.
    Message(Option<Time>),
    /// The session itself.
    Session,
}

/// State of a session's logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    /// Whether a copy of them is kept.
    pub kept: bool,
    /// Whether the agent has deleted them.
    pub gone: bool,
}

/// Knowledge about a subject so far.
#[derive(Clone, Copy, Debug)]
pub struct SubjectFacts<'a> {
    /// The session it is in.
    pub session: &'a SessionRow<'a>,
    /// State of the session's logs.
    pub keeping: Keeping,
    /// The subject.
    pub item: Item<'a>,
    /// Whether the row contains what follows from the call's command: its purpose, and masked exit codes.
    pub told: bool,
    /// Texts of the filter that it contains, a bit for each, if that was determined: [`Filter::find`].
    pub texts: Option<u64>,
    /// Facts from the content of a call, if it was opened before.
    pub content: Option<ContentFacts<'a>>,
    /// The call or message itself, if it has been opened.
    pub opened: Option<&'a Loaded<'a>>,
}

/// Facts from the content of a call that terms ask for, as a store keeps them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentFacts<'a> {
    /// The whole command, of a call that runs one.
    pub command: Option<&'a str>,
    /// The files that it is about ([`content::files`]).
    pub files: &'a [String],
    /// Whether it contains an image ([`content::has_image`]).
    pub has_image: bool,
}

/// A possible match that can be opened if necessary.
pub trait Subject {
    /// The session it is in.
    fn session(&self) -> &SessionRow<'_>;

    /// State of the session's logs.
    fn keeping(&self) -> Keeping {
        Keeping::default()
    }

    /// The subject itself.
    fn item(&self) -> Item<'_>;

    /// The row of a call, including what follows from its command; `None` for anything else.
    fn told(&self) -> Option<&CallRow<'_>>;

    /// Texts of a filter that the call or message contains, a bit for each: [`Filter::find`] on each of its
    /// [`super::texts`].
    fn texts(&self, filter: &Filter) -> u64;

    /// The call or message, opened; `None` for a session.
    fn open(&self) -> Option<&Loaded<'_>>;
}

impl Filter {
    /// Decides by rows alone; `Open` where a text has to be looked at.
    pub fn ask(&self, known: &SubjectFacts<'_>) -> Answer {
        let mut answer = Answer::Yes;
        for (term, bit) in self.numbered() {
            match Answer::from(term.test.holds(known, bit).map(|holds| holds != term.not)) {
                Answer::Yes => {}
                // One term that fails is enough, even if others are still open.
                Answer::No => return Answer::No,
                Answer::Open => answer = Answer::Open,
            }
        }
        answer
    }

    /// Whether it matches. It is opened only if nothing else decides.
    pub fn takes(&self, subject: &dyn Subject) -> bool {
        decide(self, subject, |known| self.ask(known))
    }
}

impl Filter {
    /// Whether anything in a session may match, as far as its row says: `false` only if nothing can. For callers that have
    /// the row before its contents.
    pub fn may_take(&self, session: &SessionRow<'_>) -> bool {
        // A negated term may hold for a single call whatever the session's row says.
        self.terms.iter().all(|term| term.not || term.test.may_hold(session))
    }
}

/// Decides with as little knowledge as possible, then with more.
pub(super) fn decide(filter: &Filter, subject: &dyn Subject, ask: impl Fn(&SubjectFacts<'_>) -> Answer) -> bool {
    let known = SubjectFacts {
        session: subject.session(),
        keeping: subject.keeping(),
        item: subject.item(),
        told: false,
        texts: None,
        content: None,
        opened: None,
    };
    match ask(&known) {
        Answer::Yes => return true,
        Answer::No => return false,
        Answer::Open => {}
    }
    // Parsing the command comes second: it is far cheaper than searching texts.
    let item = if let Item::Call(_) = known.item { subject.told().map_or(known.item, Item::Call) } else { known.item };
    let told = SubjectFacts { item, told: true, ..known };
    match ask(&told) {
        Answer::Yes => return true,
        Answer::No => return false,
        Answer::Open => {}
    }
    // Then texts, which are read in bulk; opening the call itself is the last resort.
    let searched = SubjectFacts { texts: Some(subject.texts(filter)), ..told };
    match ask(&searched) {
        Answer::Yes => return true,
        Answer::No => return false,
        Answer::Open => {}
    }
    // A record that cannot be opened decides like an empty one.
    let gone = Loaded::Gone(String::new());
    ask(&SubjectFacts { opened: Some(subject.open().unwrap_or(&gone)), ..searched }) == Answer::Yes
}

impl Test {
    /// Whether it may hold for anything in a session.
    fn may_hold(&self, session: &SessionRow<'_>) -> bool {
        match self {
            Test::Agent(names) => fits(names, session.agent),
            Test::Project(places) => session.project.is_some_and(|project| places.iter().any(|place| place.fits(project))),
            Test::Branch(names) => session.branch.is_some_and(|branch| fits(names, branch)),
            Test::Session(names) => fits(names, session.session),
            Test::Status(statuses) => statuses.iter().any(|status| session.by_status.get(status).is_some_and(|count| *count > 0)),
            // A session without times may still contain calls that have them.
            Test::Since(moment) => session.last_at.is_none_or(|time| time >= *moment),
            Test::Until(moment) => session.started_at.is_none_or(|time| time < *moment),
            Test::Any(all) => all.iter().any(|test| test.may_hold(session)),
            _ => true,
        }
    }

    /// Whether it holds; `None` where more has to be known. `bit` is that of the first text it searches.
    pub(super) fn holds(&self, known: &SubjectFacts<'_>, bit: u64) -> Option<bool> {
        let session = known.session;
        let call = if let Item::Call(row) = known.item { Some(row) } else { None };
        // Terms about calls never hold for messages and sessions.
        let of_call = |holds: &dyn Fn(&CallRow<'_>) -> bool| Some(call.is_some_and(holds));
        match self {
            Test::Tool(names) => of_call(&|call| fits(names, call.tool) || call.unwrapped.is_some_and(|tool| fits(names, tool))),
            Test::Server(names) => of_call(&|call| call.server.is_some_and(|server| fits(names, server))),
            Test::Kind(kinds) => of_call(&|call| kinds.contains(&call.kind)),
            Test::Status(statuses) => of_call(&|call| statuses.contains(&call.status)),
            Test::Reason(reasons) => of_call(&|call| call.reason.is_some_and(|reason| reasons.contains(&reason))),
            Test::Hook(names) => of_call(&|call| {
                let texts = call.hooks.iter().flat_map(|hook| [hook.event, hook.name, hook.command]);
                texts.flatten().any(|text| fits(names, text))
            }),
            Test::Exit(spans) => of_call(&|call| call.exit_code.is_some_and(|code| spans.iter().any(|span| span.has(code)))),
            Test::Took(spans) => of_call(&|call| call.duration_ms.is_some_and(|took| spans.iter().any(|span| span.has(took)))),
            Test::Agent(names) => Some(fits(names, call.map_or(session.agent, |call| call.agent))),
            Test::Project(places) => Some(session.project.is_some_and(|project| places.iter().any(|place| place.fits(project)))),
            Test::Branch(names) => Some(session.branch.is_some_and(|branch| fits(names, branch))),
            Test::Model(names) => Some(match call {
                Some(call) => call.model.is_some_and(|model| fits(names, model)),
                None => session.models.iter().any(|model| fits(names, model)),
            }),
            Test::Session(names) => Some(fits(names, call.map_or(session.session, |call| call.session))),
            Test::Since(moment) => Some(time(known, session.last_at).is_some_and(|time| time >= *moment)),
            Test::Until(moment) => Some(time(known, session.started_at).is_some_and(|time| time < *moment)),
            Test::Is(all) => Some(all.iter().any(|is| is.of(known, call))),
            Test::Has(all) => any(all.iter().map(|has| has.of(known, call))),
            Test::Purpose(purposes) => commanded(known, call, &|call| purposes.iter().any(|purpose| call.purpose == Some(purpose.word()))),
            // Rows do not contain the command; its record has to be opened.
            Test::Command(names) if call.is_some_and(|call| call.kind == Kind::Shell) => match known.content {
                Some(content) => Some(content.command.is_some_and(|command| fits(names, command))),
                None => known.opened.map(|opened| content::command(opened).is_some_and(|command| fits(names, command))),
            },
            Test::Command(_) => Some(false),
            Test::File(names) if call.is_some() => match known.content {
                Some(content) => Some(content.files.iter().any(|path| fits(names, path))),
                None => known.opened.map(|opened| {
                    let mut found = false;
                    content::files(opened, &mut |path| found |= fits(names, path));
                    found
                }),
            },
            Test::File(_) => Some(false),
            // A session has no text of its own, only those of its calls and messages.
            Test::Text(_) if matches!(known.item, Item::Session) => Some(false),
            Test::Text(_) => known.texts.map(|texts| texts & bit != 0),
            Test::Any(all) => {
                let mut next = bit;
                any(all.iter().map(|test| {
                    let own = next;
                    // Texts have one bit each, in order, as [`Filter::find`] numbers them.
                    next <<= u32::from(matches!(test, Test::Text(_)));
                    test.holds(known, own)
                }))
            }
        }
    }
}

fn fits(names: &[NamePattern], text: &str) -> bool {
    names.iter().any(|name| name.fits(text))
}

/// Time of a call or message; for a session the given one.
fn time(known: &SubjectFacts<'_>, of_session: Option<Time>) -> Option<Time> {
    match known.item {
        Item::Call(call) => call.requested_at,
        Item::Message(time) => time,
        Item::Session => of_session,
    }
}

/// Decides by something that only the command shows.
fn commanded(known: &SubjectFacts<'_>, call: Option<&CallRow<'_>>, holds: &dyn Fn(&CallRow<'_>) -> bool) -> Option<bool> {
    match call.filter(|call| call.kind == Kind::Shell) {
        None => Some(false),
        Some(call) => known.told.then(|| holds(call)),
    }
}

/// Whether any holds; open where one of them may.
fn any(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut answer = Some(false);
    for one in all {
        match one {
            Some(true) => return one,
            Some(false) => {}
            None => answer = None,
        }
    }
    answer
}

impl Has {
    fn of(self, known: &SubjectFacts<'_>, call: Option<&CallRow<'_>>) -> Option<bool> {
        let of_call = |holds: &dyn Fn(&CallRow<'_>) -> bool| Some(call.is_some_and(holds));
        match self {
            Has::Hooks => of_call(&|call| !call.hooks.is_empty()),
            Has::Subagent => of_call(&|call| call.child_session.is_some()),
            Has::Background => of_call(&|call| call.background.is_some()),
            Has::Diff => of_call(&|call| {
                matches!(call.kind, Kind::Edit | Kind::Write) && matches!(call.status, Status::Succeeded | Status::Answered)
            }),
            Has::Masked => commanded(known, call, &|call| !call.masked.is_empty()),
            Has::Image if matches!(known.item, Item::Session) => Some(false),
            Has::Image => match known.content.filter(|_| call.is_some()) {
                Some(content) => Some(content.has_image),
                None => known.opened.map(content::has_image),
            },
        }
    }
}

impl Is {
    fn of(self, known: &SubjectFacts<'_>, call: Option<&CallRow<'_>>) -> bool {
        let session = known.session;
        let state = |states: &[State]| states.iter().any(|state| session.state == Some(state.word()));
        match (self, known.item) {
            (Is::Failed, Item::Session) => session.by_status.get(&Status::Failed).is_some_and(|count| *count > 0),
            (Is::Failed, _) => call.is_some_and(|call| call.status == Status::Failed),
            (Is::Live, _) => session.state.is_some() && !state(&[State::Ended]),
            (Is::Waiting, _) => state(&[State::Asks, State::Waiting]),
            (Is::Kept, _) => known.keeping.kept,
            (Is::Gone, _) => known.keeping.gone,
        }
    }
}
