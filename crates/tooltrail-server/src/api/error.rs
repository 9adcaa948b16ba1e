//! Errors of the API as JSON: a code for programs, a sentence for people, and the parameter at fault.

use crate::answer::{Trouble, headed};
use crate::filter_form::sentence;
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

/// Error codes with their words and statuses, in one list so that none can be forgotten.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident => $word:literal $status:ident,)+) => {
        /// Error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Code { $($(#[$doc])* $code,)+ }

        impl Code {
            /// All codes.
            pub(super) const ALL: &[Code] = &[$(Code::$code,)+];

            /// The code as text.
            pub(super) fn word(self) -> &'static str {
                match self { $(Code::$code => $word,)+ }
            }

            /// HTTP status of the response.
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
    /// An invalid value.
    BadValue => "bad_value" BAD_REQUEST,
    /// An invalid filter.
    BadFilter => "bad_filter" BAD_REQUEST,
    /// A cursor that does not belong to this request.
    BadCursor => "bad_cursor" BAD_REQUEST,
    /// A search without a text to look for.
    NoText => "no_text" BAD_REQUEST,
    /// Too many pages: the cursor would not fit into an address.
    TooFar => "too_far" BAD_REQUEST,
    /// The request comes from another user, or has no valid credential.
    NotAllowed => "unauthorized" UNAUTHORIZED,
    /// There is no such path.
    NotFound => "not_found" NOT_FOUND,
    /// There is no such session.
    NoSuchSession => "no_such_session" NOT_FOUND,
    /// An ambiguous name of a session.
    AmbiguousSession => "ambiguous_session" NOT_FOUND,
    /// There is no such call.
    NoSuchCall => "no_such_call" NOT_FOUND,
    /// The log has been deleted since.
    LogGone => "log_gone" NOT_FOUND,
    /// Only GET and HEAD are answered.
    MethodNotAllowed => "method_not_allowed" METHOD_NOT_ALLOWED,
    /// Too many requests at once.
    Busy => "busy" TOO_MANY_REQUESTS,
    /// The search took too long and was stopped.
    TimedOut => "timed_out" SERVICE_UNAVAILABLE,
    /// The logs are still being read.
    StillReading => "still_reading" SERVICE_UNAVAILABLE,
    /// Internal error.
    Broken => "broken" INTERNAL_SERVER_ERROR,
}

/// An error of the API.
#[derive(Debug)]
pub(super) struct ApiError {
    code: Code,
    message: String,
    /// The parameter that it is about.
    parameter: Option<String>,
    /// Further help; boxed because most errors have none and results should stay small.
    hint: Option<Box<Hint>>,
}

/// Further help with an error.
#[derive(Debug, Default)]
struct Hint {
    /// Range of characters in the parameter.
    at: Option<[usize; 2]>,
    /// Likely intended value.
    suggestion: Option<String>,
    /// Sessions that fit an ambiguous name.
    candidates: Vec<Candidate>,
}

/// A session that fits an ambiguous name.
#[derive(Debug, Serialize)]
struct Candidate {
    session: String,
    title: Option<String>,
}

/// JSON of an error response.
#[derive(Serialize)]
struct ErrorBody<'a> {
    v: u32,
    error: ErrorFields<'a>,
}

#[derive(Serialize)]
struct ErrorFields<'a> {
    code: &'static str,
    message: &'a str,
    parameter: Option<&'a str>,
    at: Option<[usize; 2]>,
    suggestion: Option<&'a str>,
    candidates: &'a [Candidate],
}

/// Limit on the sessions that are listed for an ambiguous name.
const CANDIDATES: usize = 10;

impl ApiError {
    /// An error that concerns no parameter.
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        ApiError { code, message: message.into(), parameter: None, hint: None }
    }

    /// An error in a parameter.
    pub(super) fn about(code: Code, parameter: impl Into<String>, message: impl Into<String>) -> Self {
        ApiError { parameter: Some(parameter.into()), ..ApiError::new(code, message) }
    }

    /// An error in a filter, with its position and a suggestion.
    pub(super) fn filter(mistake: &Mistake) -> Self {
        let part = |range: std::ops::Range<usize>| mistake.query.get(range).unwrap_or_default();
        let (before, wrong, after) = (part(0..mistake.at.start), part(mistake.at.clone()), part(mistake.at.end..mistake.query.len()));
        // Filters are parsed by bytes, but clients of other languages count characters.
        let start = before.chars().count();
        // The message may quote the filter, which comes from outside.
        let message = sentence(&neutral(&mistake.message));
        let hint = Hint {
            at: Some([start, start + wrong.chars().count()]),
            suggestion: mistake.suggestion.as_ref().map(|right| format!("{before}{right}{after}")),
            candidates: Vec::new(),
        };
        ApiError { hint: Some(Box::new(hint)), ..ApiError::about(Code::BadFilter, "q", message) }
    }

    /// An error for a name that several sessions fit.
    pub(super) fn ambiguous<'a>(name: &str, sessions: impl ExactSizeIterator<Item = &'a SessionRow<'a>>) -> Self {
        let message = format!("`{}` matches {} sessions.", neutral(name), sessions.len());
        let candidate = |row: &SessionRow<'_>| Candidate { session: row.session.to_owned(), title: row.title.map(str::to_owned) };
        // A single letter may fit thousands of sessions.
        let candidates = sessions.take(CANDIDATES).map(candidate).collect();
        let hint = Hint { candidates, ..Hint::default() };
        ApiError { hint: Some(Box::new(hint)), ..ApiError::about(Code::AmbiguousSession, "id", message) }
    }

    /// HTTP response.
    pub(super) fn response(&self) -> Response {
        let error = ErrorFields {
            code: self.code.word(),
            message: &self.message,
            parameter: self.parameter.as_deref(),
            at: self.hint.as_ref().and_then(|hint| hint.at),
            suggestion: self.hint.as_ref().and_then(|hint| hint.suggestion.as_deref()),
            candidates: self.hint.as_ref().map(|hint| hint.candidates.as_slice()).unwrap_or_default(),
        };
        let mut body = serde_json::to_vec(&ErrorBody { v: VERSION, error }).unwrap_or_default();
        body.push(b'\n');
        let mut response = headed(self.code.status(), "application/json", "no-store", Body::from(body));
        // Headers that HTTP recommends or demands with these statuses.
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

impl From<Trouble> for ApiError {
    fn from(trouble: Trouble) -> Self {
        let code = match &trouble {
            Trouble::Missing(_) => Code::LogGone,
            Trouble::Wrong(_) => Code::BadValue,
            // Both pass by themselves: the client should ask again.
            Trouble::Changed(_) | Trouble::Later(_) => Code::StillReading,
            Trouble::Broken(_) | Trouble::Store(_) => Code::Broken,
            Trouble::Open(error) => match **error {
                OpenError::Gone => Code::LogGone,
                OpenError::Busy | OpenError::Thread(_) => Code::StillReading,
                OpenError::Missing | OpenError::Catalogue(_) => Code::Broken,
            },
        };
        let message = ErrorChain(&trouble).to_string();
        // Only internal errors are logged; the others are the client's, who has the message.
        if code == Code::Broken {
            warn!(error = %message, "cannot answer a program");
        }
        ApiError::new(code, message)
    }
}

impl From<store::CatalogueError> for ApiError {
    fn from(error: store::CatalogueError) -> Self {
        ApiError::from(Trouble::from(error))
    }
}

/// Response to methods other than GET and HEAD.
pub(crate) fn refused_method() -> Response {
    ApiError::new(Code::MethodNotAllowed, "The server is read-only and answers GET requests only.").response()
}

/// Response to requests of other users, and to those without a valid credential.
pub(crate) fn refused_access(message: &str) -> Response {
    ApiError::new(Code::NotAllowed, message).response()
}
