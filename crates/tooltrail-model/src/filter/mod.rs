//! The filter language: selects calls, messages and sessions. One language for the command line, URLs and the API.
//!
//! A query is a list of terms, and all of them must hold: `tool:Bash status:failed not:command:git "permission denied"`.
//! `lex` splits it into words, `keys` lists the keys, `values`, `names` and `times` read the values, `either` joins terms
//! with `OR` between them, `contradiction` finds terms that exclude each other, `mistake` describes mistakes and where they
//! are. `argument` prepares an argument of a command line. `ask` is the only evaluator, `texts` defines the searched texts, `content` the other
//! properties of an opened call or message, `render` writes a filter as a query again. docs/filter.md is the reference for
//! people.
//!
//! Nothing is opened unless a term needs it: most terms are decided by rows alone ([`Filter::ask`]), and [`Filter::takes`]
//! opens a [`Subject`] only when those leave it undecided.

mod argument;
mod ask;
pub mod content;
mod contradiction;
mod either;
mod keys;
mod lex;
mod mistake;
mod names;
mod parse;
mod pattern;
mod render;
pub mod texts;
mod times;
mod values;
mod within;

pub use argument::argument;
pub use ask::{Answer, ContentFacts, Item, Keeping, Subject, SubjectFacts};
pub use keys::{key_names, key_values};
pub use mistake::Mistake;
pub use names::{Fit, NamePattern, ProjectPattern};
pub use parse::{LONGEST, is_term, parse};
pub use pattern::{Pattern, Spelling};
pub use render::quoted;
pub use values::NumberRange;
pub use within::Within;

use crate::command::Purpose;
use crate::status::words;
use crate::{Kind, Reason, Status, Time};

/// Settings of the person who asks, which a query may refer to.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// The current directory, which `.` means.
    pub here: Option<&'a str>,
    /// The home directory, which `~` means.
    pub home: Option<&'a str>,
    /// The moment that `7d` is counted back from.
    pub now: Time,
    /// The time zone that days begin in.
    pub zone: jiff::tz::TimeZone,
    /// The agents there are.
    pub agents: &'a [&'a str],
    /// Meaning of words without a key.
    pub words: Spelling,
    /// Whether each term may hold in another place, as [`Within`] decides, so that terms that exclude each other may both hold.
    pub apart: bool,
}

/// A parsed query. Without any term it matches everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    terms: Vec<Term>,
}

impl Filter {
    /// The terms, all of which must hold.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The filter with only some of its terms, which matches the same and more.
    pub fn only(&self, keep: impl Fn(&Test) -> bool) -> Filter {
        Filter { terms: self.terms.iter().filter(|term| keep(&term.test)).cloned().collect() }
    }

    /// Texts that a call or message must contain.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        // A text beside another kind of term, as in `timeout OR status:failed`, need not occur.
        self.terms.iter().filter(|term| !term.not).filter_map(|term| term.test.text())
    }

    /// All texts of the filter, in order; `true` for those that must not occur.
    pub fn texts(&self) -> impl Iterator<Item = (bool, &Pattern)> {
        self.terms.iter().flat_map(|term| term.test.each().iter().filter_map(Test::text).map(|pattern| (term.not, pattern)))
    }

    /// Texts of the filter that occur in a text, a bit for each; and where the first of them begins. A regular expression may take long on a
    /// long text, so `go_on` is asked now and then whether to look further.
    pub fn find(&self, text: &str, go_on: &mut dyn FnMut() -> bool) -> Option<(u64, usize)> {
        let mut found = None;
        for (number, (_, pattern)) in self.texts().enumerate() {
            if let Some(start) = pattern.find(text, go_on) {
                let (bits, first) = found.unwrap_or((0, usize::MAX));
                // A query has at most 50 terms, so there are bits enough.
                found = Some((bits | 1 << number, start.min(first)));
            }
        }
        found
    }

    /// The terms, each with the bit of its first text; 0 for terms without one.
    fn numbered(&self) -> impl Iterator<Item = (&Term, u64)> {
        let mut next = 1;
        self.terms.iter().map(move |term| {
            let texts = term.test.each().iter().filter(|test| matches!(test, Test::Text(_))).count();
            let bit = if texts > 0 { next } else { 0 };
            // Only texts take a bit, in order, as `find` numbers them.
            next <<= texts;
            (term, bit)
        })
    }

    /// Whether it contains texts, required or forbidden.
    pub fn asks_texts(&self) -> bool {
        self.texts().next().is_some()
    }

    /// Whether messages can match: a text is searched, and no term applies to calls only.
    pub fn asks_messages(&self) -> bool {
        // A negated term about calls holds for every message.
        self.patterns().next().is_some() && self.terms.iter().all(|term| term.not || !term.test.is_of_calls())
    }

    /// Earliest and latest time that terms allow.
    pub fn times(&self) -> (Option<Time>, Option<Time>) {
        let (mut since, mut until) = (None, None);
        // Negated bounds are left out: the period may be wider than needed, never narrower.
        for term in self.terms.iter().filter(|term| !term.not) {
            match term.test {
                Test::Since(time) => since = since.max(Some(time)),
                Test::Until(time) => until = Some(until.map_or(time, |known: Time| known.min(time))),
                _ => {}
            }
        }
        (since, until)
    }

    /// Whether a term asks for the content of calls: their commands, files or images. Rows alone do not decide it.
    pub fn asks_content(&self) -> bool {
        self.terms.iter().any(|term| term.test.asks_content())
    }

    /// Whether it depends on the state of logs.
    pub fn asks_keeping(&self) -> bool {
        let asks = |test: &Test| matches!(test, Test::Is(all) if all.iter().any(|is| matches!(is, Is::Kept | Is::Gone)));
        self.terms.iter().any(|term| term.test.each().iter().any(asks))
    }

    /// Whether it selects sessions whose logs are gone.
    pub fn asks_gone(&self) -> bool {
        let asks = |test: &Test| matches!(test, Test::Is(all) if all.contains(&Is::Gone));
        self.terms.iter().any(|term| !term.not && term.test.each().iter().any(asks))
    }

    /// Whether sessions themselves can match: no term is about a call or a text.
    pub fn asks_sessions(&self) -> bool {
        self.terms.iter().all(|term| term.test.is_of_sessions())
    }
}

/// One condition, perhaps negated.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Whether it is negated.
    pub not: bool,
    /// The condition.
    pub test: Test,
}

/// A condition on a call, a message or a session. Of several values one must match.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The tool, as the log names it.
    Tool(Vec<NamePattern>),
    /// The MCP server.
    Server(Vec<NamePattern>),
    /// Kind of tool.
    Kind(Vec<Kind>),
    /// Status of the call.
    Status(Vec<Status>),
    /// Reason of the status.
    Reason(Vec<Reason>),
    /// The agent.
    Agent(Vec<NamePattern>),
    /// The project.
    Project(Vec<ProjectPattern>),
    /// The branch.
    Branch(Vec<NamePattern>),
    /// The model.
    Model(Vec<NamePattern>),
    /// The session, by the beginning of its id.
    Session(Vec<NamePattern>),
    /// A file that the call is about.
    File(Vec<NamePattern>),
    /// Words of the command line.
    Command(Vec<NamePattern>),
    /// Purpose of the command.
    Purpose(Vec<Purpose>),
    /// A hook that ran for the call, by its event, name or command.
    Hook(Vec<NamePattern>),
    /// The exit code.
    Exit(Vec<NumberRange<i64>>),
    /// Duration in milliseconds.
    Took(Vec<NumberRange<u64>>),
    /// At this moment or later.
    Since(Time),
    /// Before this moment.
    Until(Time),
    /// A property that it has.
    Has(Vec<Has>),
    /// A state that it is in.
    Is(Vec<Is>),
    /// A text that it contains.
    Text(Pattern),
    /// One of several conditions, none of which is of this kind.
    Any(Vec<Test>),
}

impl Test {
    /// The conditions of which one must hold: several of [`Test::Any`], else itself.
    pub fn each(&self) -> &[Test] {
        if let Test::Any(all) = self { all } else { std::slice::from_ref(self) }
    }

    /// The text that it searches, if it does.
    fn text(&self) -> Option<&Pattern> {
        if let Test::Text(pattern) = self { Some(pattern) } else { None }
    }

    /// Whether a session alone can answer it.
    fn is_of_sessions(&self) -> bool {
        match self {
            Test::Text(_) | Test::Has(_) => false,
            Test::Any(all) => all.iter().any(Test::is_of_sessions),
            test => !test.is_of_calls(),
        }
    }

    /// Whether it asks for the content of a call: its command, its files, its images.
    pub fn asks_content(&self) -> bool {
        match self {
            Test::File(_) | Test::Command(_) => true,
            Test::Has(all) => all.contains(&Has::Image),
            _ => false,
        }
    }

    /// Whether it applies to calls only.
    fn is_of_calls(&self) -> bool {
        match self {
            Test::Tool(_) | Test::Server(_) | Test::Kind(_) | Test::Status(_) | Test::Reason(_) | Test::File(_) | Test::Command(_) => true,
            Test::Purpose(_) | Test::Hook(_) | Test::Exit(_) | Test::Took(_) => true,
            // A message may contain a picture; every other property is of calls.
            Test::Has(all) => !all.contains(&Has::Image),
            Test::Agent(_) | Test::Project(_) | Test::Branch(_) | Test::Model(_) | Test::Session(_) => false,
            Test::Since(_) | Test::Until(_) | Test::Is(_) | Test::Text(_) => false,
            Test::Any(all) => all.iter().all(Test::is_of_calls),
        }
    }
}

words! {
    /// Properties of a call or message.
    Has {
        /// Hooks ran for the call.
        Hooks => "hooks",
        /// A picture in its result, or in the message.
        Image => "image",
        /// The call started a subagent.
        Subagent => "subagent",
        /// The call went on in the background.
        Background => "background",
        /// The call changed a file, and the log does not say that it failed.
        Diff => "diff",
        /// The call ran a command whose own exit code was not recorded.
        Masked => "masked",
    }
}

words! {
    /// States of a call or a session. All but `failed` apply to sessions, and so to everything in them.
    Is {
        /// The call failed; for a session: one of its calls did.
        Failed => "failed",
        /// The session has not ended.
        Live => "live",
        /// The session waits for the person to answer or to allow something.
        Waiting => "waiting",
        /// A copy of the session's logs is kept.
        Kept => "kept",
        /// The agent has deleted the session's logs.
        Gone => "gone",
    }
}
