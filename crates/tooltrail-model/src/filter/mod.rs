//! The filter language: which calls, messages and sessions somebody wants to see. One for the command line, URLs and the API.
//!
//! A query is a list of terms, and all of them must hold: `tool:Bash status:failed not:command:git "permission denied"`. `lex` cuts it
//! into words, `keys` is the list of what can be asked, `values`, `names` and `times` read what stands after the colon, `mistake` says what
//! is wrong with a query and where. `ask` is the one evaluator, `texts` what it looks for words in, `content` what else it looks at in a
//! call or message that had to be opened, `render` writes a filter down again. docs/filter.md is the reference for people.
//!
//! Nothing is opened unless a term asks for it: most terms are decided by rows alone ([`Filter::ask`]), and [`Filter::takes`] opens a
//! [`Subject`] only when those have left it in doubt.

mod ask;
pub mod content;
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

pub use ask::{Answer, Item, Keeping, Known, Subject};
pub use mistake::Mistake;
pub use names::{Fit, Name, Place};
pub use parse::{LONGEST, is_term, parse};
pub use pattern::{Pattern, Spelling};
pub use render::quoted;
pub use values::Span;
pub use within::Within;

use crate::command::Purpose;
use crate::status::words;
use crate::{Kind, Reason, Status, Time};

/// What the one who asks knows, and a query may refer to.
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
    /// What words without a key are.
    pub words: Spelling,
}

/// What somebody wants to see. Without any term: everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    terms: Vec<Term>,
}

impl Filter {
    /// The terms, all of which must hold.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Whether it takes everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The same with only some of its terms: it takes whatever this one takes, and more.
    pub fn only(&self, keep: impl Fn(&Test) -> bool) -> Filter {
        Filter { terms: self.terms.iter().filter(|term| keep(&term.test)).cloned().collect() }
    }

    /// The texts that are looked for: each has to be in a call or message, for it to be taken.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.texts().filter(|(not, _)| !not).map(|(_, pattern)| pattern)
    }

    /// All texts that are asked about, in order; `true` for those that must not be there.
    pub fn texts(&self) -> impl Iterator<Item = (bool, &Pattern)> {
        self.terms.iter().filter_map(|term| if let Test::Text(pattern) = &term.test { Some((term.not, pattern)) } else { None })
    }

    /// Which of the texts that are asked about are in a text, a bit for each; and where the first of them begins.
    pub fn find(&self, text: &str) -> Option<(u64, usize)> {
        let mut found = None;
        for (number, (_, pattern)) in self.texts().enumerate() {
            if let Some(hit) = pattern.regex().find(text) {
                let (bits, first) = found.unwrap_or((0, usize::MAX));
                found = Some((bits | 1 << number, hit.start().min(first)));
            }
        }
        found
    }

    /// The terms, each with the bit of the text that it asks about; none for other terms.
    fn numbered(&self) -> impl Iterator<Item = (&Term, u64)> {
        let mut next = 1;
        self.terms.iter().map(move |term| {
            let bit = if matches!(term.test, Test::Text(_)) { next } else { 0 };
            next <<= u32::from(bit != 0);
            (term, bit)
        })
    }

    /// Whether texts are asked about, there or not there.
    pub fn asks_texts(&self) -> bool {
        self.texts().next().is_some()
    }

    /// Whether messages are asked about: a text is looked for, and nothing that only a call has.
    pub fn asks_messages(&self) -> bool {
        self.patterns().next().is_some() && self.terms.iter().all(|term| term.not || !term.test.is_of_calls())
    }

    /// The moment since which something must have happened, and the one before which, where terms say so.
    pub fn times(&self) -> (Option<Time>, Option<Time>) {
        let (mut since, mut until) = (None, None);
        for term in self.terms.iter().filter(|term| !term.not) {
            match term.test {
                Test::Since(time) => since = since.max(Some(time)),
                Test::Until(time) => until = Some(until.map_or(time, |known: Time| known.min(time))),
                _ => {}
            }
        }
        (since, until)
    }

    /// Whether it asks what became of logs.
    pub fn asks_keeping(&self) -> bool {
        self.terms.iter().any(|term| matches!(&term.test, Test::Is(all) if all.iter().any(|is| matches!(is, Is::Kept | Is::Gone))))
    }

    /// Whether it asks for sessions whose logs are gone.
    pub fn asks_gone(&self) -> bool {
        self.terms.iter().any(|term| matches!(&term.test, Test::Is(all) if !term.not && all.contains(&Is::Gone)))
    }

    /// Whether sessions themselves are asked about: no term is about a call or a text.
    pub fn asks_sessions(&self) -> bool {
        self.terms.iter().all(|term| term.test.is_of_sessions())
    }
}

/// One thing that must hold, or must not.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// It must not.
    pub not: bool,
    /// The thing.
    pub test: Test,
}

/// Something that holds for a call, a message or a session, or does not. Of several values one must fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The tool, as the log names it.
    Tool(Vec<Name>),
    /// The MCP server.
    Server(Vec<Name>),
    /// The family of the tool.
    Kind(Vec<Kind>),
    /// What became of the call.
    Status(Vec<Status>),
    /// Why.
    Reason(Vec<Reason>),
    /// The agent.
    Agent(Vec<Name>),
    /// The project.
    Project(Vec<Place>),
    /// The branch.
    Branch(Vec<Name>),
    /// The model.
    Model(Vec<Name>),
    /// The session, by the beginning of its id.
    Session(Vec<Name>),
    /// A file that the call is about.
    File(Vec<Name>),
    /// Words of the command line.
    Command(Vec<Name>),
    /// What the command is for.
    Purpose(Vec<Purpose>),
    /// A hook that ran for the call, by its event, name or command.
    Hook(Vec<Name>),
    /// The exit code.
    Exit(Vec<Span<i64>>),
    /// How long it took, in milliseconds.
    Took(Vec<Span<u64>>),
    /// At this moment or later.
    Since(Time),
    /// Before this moment.
    Until(Time),
    /// Something that it has.
    Has(Vec<Has>),
    /// Something that it is.
    Is(Vec<Is>),
    /// A text that is in it.
    Text(Pattern),
}

impl Test {
    /// Whether a session alone can answer it.
    fn is_of_sessions(&self) -> bool {
        let texts = matches!(self, Test::Text(_) | Test::Has(_));
        !texts && !self.is_of_calls()
    }

    /// Whether it holds for nothing but calls.
    fn is_of_calls(&self) -> bool {
        match self {
            Test::Tool(_) | Test::Server(_) | Test::Kind(_) | Test::Status(_) | Test::Reason(_) | Test::File(_) | Test::Command(_) => true,
            Test::Purpose(_) | Test::Hook(_) | Test::Exit(_) | Test::Took(_) => true,
            Test::Has(all) => !all.contains(&Has::Image),
            Test::Agent(_) | Test::Project(_) | Test::Branch(_) | Test::Model(_) | Test::Session(_) => false,
            Test::Since(_) | Test::Until(_) | Test::Is(_) | Test::Text(_) => false,
        }
    }
}

words! {
    /// What a call or message may have.
    Has {
        /// Hooks ran for the call.
        Hooks => "hooks",
        /// A picture in its result, or in the message.
        Image => "image",
        /// The call started a subagent.
        Subagent => "subagent",
        /// The call went on in the background.
        Background => "background",
        /// The call changed a file, and the log does not say that it failed to.
        Diff => "diff",
        /// The call ran a command whose own outcome nobody recorded.
        Masked => "masked",
    }
}

words! {
    /// What a call or a session may be. All but `failed` are said of sessions, and so of everything in them.
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
