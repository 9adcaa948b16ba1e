//! What is wrong with a question, as JSON: a code for programs, a sentence for people, and the parameter that it is about.

use crate::answer::{Trouble, headed};
use crate::open_sessions::OpenError;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use tooltrail_catalog::store;
use tooltrail_formats::error::ErrorChain;
use tooltrail_model::filter::Mistake;
use tooltrail_model::row::{SessionRow, VERSION};
use tooltrail_view::line::neutral;
use tracing::warn;

/// Codes of faults, each with its status.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident => $word:literal $status:ident,)+) => {
        /// What is wrong, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Code { $($(#[$doc])* $code,)+ }

        impl Code {
            /// All of them.
            pub(super) const ALL: &[Code] = &[$(Code::$code,)+];

            /// Its word.
            pub(super) fn word(self) -> &'static str {
                match self { $(Code::$code => $word,)+ }
            }

            /// The status of the answer.
            pub(super) fn status(self) -> StatusCode {
                match self { $(Code::$code => StatusCode::$status,)+ }
            }
        }
    };
}

codes! {
    /// A parameter that the path does not take.
    UnknownParameter => "unknown_parameter" BAD_REQUEST,
    /// A parameter that is given twice.
    RepeatedParameter => "repeated_parameter" BAD_REQUEST,
    /// A value that means nothing.
    BadValue => "bad_value" BAD_REQUEST,
    /// A filter that means nothing.
    BadFilter => "bad_filter" BAD_REQUEST,
    /// A cursor that is not one of this question.
    BadCursor => "bad_cursor" BAD_REQUEST,
    /// A search without a text to look for.
    NoText => "no_text" BAD_REQUEST,
    /// Too many pages: what comes before would have to be repeated in every address.
    TooFar => "too_far" BAD_REQUEST,
    /// There is no such path.
    NotFound => "not_found" NOT_FOUND,
    /// There is no such session.
    NoSuchSession => "no_such_session" NOT_FOUND,
    /// Several sessions could be meant.
    AmbiguousSession => "ambiguous_session" NOT_FOUND,
    /// There is no such call.
    NoSuchCall => "no_such_call" NOT_FOUND,
    /// The log has been deleted since.
    LogGone => "log_gone" NOT_FOUND,
    /// Only GET and HEAD are answered.
    MethodNotAllowed => "method_not_allowed" METHOD_NOT_ALLOWED,
    /// Too much is asked at once.
    Busy => "busy" TOO_MANY_REQUESTS,
    /// The logs are still being read.
    StillReading => "still_reading" SERVICE_UNAVAILABLE,
    /// Something went wrong here.
    Broken => "broken" INTERNAL_SERVER_ERROR,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Fault {
    code: Code,
    message: String,
    /// The parameter that it is about.
    parameter: Option<String>,
    /// What else helps; mostly nothing.
    hint: Option<Box<Hint>>,
}

/// What else helps.
#[derive(Debug, Default)]
struct Hint {
    /// Where in the parameter, in characters.
    at: Option<[usize; 2]>,
    /// What was probably meant.
    suggestion: Option<String>,
    /// What could be meant.
    candidates: Vec<Candidate>,
}

/// A session that could be meant.
#[derive(Debug, Serialize)]
struct Candidate {
    session: String,
    title: Option<String>,
}

/// How it is told.
#[derive(Serialize)]
struct Told<'a> {
    v: u32,
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: &'static str,
    message: &'a str,
    parameter: Option<&'a str>,
    at: Option<[usize; 2]>,
    suggestion: Option<&'a str>,
    candidates: &'a [Candidate],
}

/// How many sessions are named that could be meant.
const CANDIDATES: usize = 10;

impl Fault {
    /// A fault that is about no parameter.
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Fault { code, message: message.into(), parameter: None, hint: None }
    }

    /// A fault in a parameter.
    pub(super) fn about(code: Code, parameter: impl Into<String>, message: impl Into<String>) -> Self {
        Fault { parameter: Some(parameter.into()), ..Fault::new(code, message) }
    }

    /// A filter that means nothing: where, and what was probably meant.
    pub(super) fn filter(mistake: &Mistake) -> Self {
        let part = |range: std::ops::Range<usize>| mistake.query.get(range).unwrap_or_default();
        let (before, wrong, after) = (part(0..mistake.at.start), part(mistake.at.clone()), part(mistake.at.end..mistake.query.len()));
        let start = before.chars().count();
        let message = format!("This filter means nothing: {}.", neutral(&mistake.message));
        let hint = Hint {
            at: Some([start, start + wrong.chars().count()]),
            suggestion: mistake.suggestion.as_ref().map(|right| format!("{before}{right}{after}")),
            candidates: Vec::new(),
        };
        Fault { hint: Some(Box::new(hint)), ..Fault::about(Code::BadFilter, "q", message) }
    }

    /// A name that several sessions have.
    pub(super) fn ambiguous<'a>(name: &str, sessions: impl ExactSizeIterator<Item = &'a SessionRow<'a>>) -> Self {
        let message = format!("`{}` could be any of {} sessions.", neutral(name), sessions.len());
        let candidate = |row: &SessionRow<'_>| Candidate { session: row.session.to_owned(), title: row.title.map(str::to_owned) };
        let candidates = sessions.take(CANDIDATES).map(candidate).collect();
        let hint = Hint { candidates, ..Hint::default() };
        Fault { hint: Some(Box::new(hint)), ..Fault::about(Code::AmbiguousSession, "id", message) }
    }

    /// As a response.
    pub(super) fn response(&self) -> Response {
        let error = Error {
            code: self.code.word(),
            message: &self.message,
            parameter: self.parameter.as_deref(),
            at: self.hint.as_ref().and_then(|hint| hint.at),
            suggestion: self.hint.as_ref().and_then(|hint| hint.suggestion.as_deref()),
            candidates: self.hint.as_ref().map(|hint| hint.candidates.as_slice()).unwrap_or_default(),
        };
        let mut body = serde_json::to_vec(&Told { v: VERSION, error }).unwrap_or_default();
        body.push(b'\n');
        let mut response = headed(self.code.status(), "application/json", "no-store", Body::from(body));
        let also = match self.code {
            Code::StillReading | Code::Busy => Some((header::RETRY_AFTER, "1")),
            Code::MethodNotAllowed => Some((header::ALLOW, "GET, HEAD")),
            _ => None,
        };
        if let Some((name, value)) = also {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

impl From<Trouble> for Fault {
    fn from(trouble: Trouble) -> Self {
        let code = match &trouble {
            Trouble::Missing(_) => Code::LogGone,
            Trouble::Wrong(_) => Code::BadValue,
            Trouble::Changed(_) | Trouble::Later(_) => Code::StillReading,
            Trouble::Broken(_) | Trouble::Store(_) => Code::Broken,
            Trouble::Open(error) => match **error {
                OpenError::Gone => Code::LogGone,
                OpenError::Busy | OpenError::Thread(_) => Code::StillReading,
                OpenError::Missing | OpenError::Catalogue(_) => Code::Broken,
            },
        };
        let message = ErrorChain(&trouble).to_string();
        if code == Code::Broken {
            warn!(error = %message, "cannot answer a program");
        }
        Fault::new(code, message)
    }
}

impl From<store::CatalogueError> for Fault {
    fn from(error: store::CatalogueError) -> Self {
        Fault::from(Trouble::from(error))
    }
}

/// What is said to who wants to change something.
pub(crate) fn refused_method() -> Response {
    Fault::new(Code::MethodNotAllowed, "Nothing can be changed here: only GET is answered.").response()
}
