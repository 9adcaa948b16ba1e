//! What is answered: a page, a text, a download, another address, or that there is no such thing.

use crate::open_sessions::OpenError;
use crate::pipe::{Written, stream};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::Markup;
use std::sync::Arc;
use tooltrail_catalog::store;

/// An answer.
pub enum Answer {
    /// A page, or a part of one.
    Html(Markup),
    /// A part of a page that never changes under its address.
    Lasting(Markup),
    /// A text of a type.
    Text(&'static str, String),
    /// A file to be saved under a name, written while it is sent.
    File(&'static str, String, Written),
    /// Another address.
    Elsewhere(String),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// There is no such thing; what to do about it.
    #[error("{0}")]
    Missing(String),
    /// The question means nothing.
    #[error("{0}")]
    Wrong(String),
    /// The session is not what it was when the page was made.
    #[error("{0}")]
    Changed(String),
    /// Not yet, or not now: ask again.
    #[error("{0}")]
    Later(String),
    /// It is there, and something went wrong here.
    #[error("{0}")]
    Broken(String),
    /// The catalogue cannot be asked.
    #[error(transparent)]
    Store(#[from] store::CatalogueError),
    /// The session cannot be opened; requests that waited for the same opening are told the same.
    #[error(transparent)]
    Open(#[from] Arc<OpenError>),
}

impl From<OpenError> for Trouble {
    fn from(error: OpenError) -> Self {
        Trouble::Open(Arc::new(error))
    }
}

impl Trouble {
    /// Its number.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Trouble::Missing(_) => StatusCode::NOT_FOUND,
            Trouble::Wrong(_) => StatusCode::BAD_REQUEST,
            Trouble::Changed(_) => StatusCode::CONFLICT,
            Trouble::Later(_) => StatusCode::SERVICE_UNAVAILABLE,
            Trouble::Broken(_) | Trouble::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Trouble::Open(error) => match **error {
                OpenError::Gone => StatusCode::NOT_FOUND,
                OpenError::Busy | OpenError::Thread(_) => StatusCode::SERVICE_UNAVAILABLE,
                OpenError::Missing | OpenError::Catalogue(_) => StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
    }
}

impl Answer {
    /// As a response.
    pub(crate) fn response(self, status: StatusCode) -> Response {
        const HTML: &str = "text/html; charset=utf-8";
        let (kind, cache, body) = match self {
            Answer::Html(page) => (HTML, "no-store", Body::from(page.into_string())),
            Answer::Lasting(part) => (HTML, "private, max-age=86400, immutable", Body::from(part.into_string())),
            Answer::Text(kind, text) => (kind, "no-store", Body::from(text)),
            Answer::File(kind, name, written) => {
                let mut response = headed(status, kind, "no-store", stream(written));
                // The name is ours, or made of letters and digits.
                if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
                    response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
                }
                return response;
            }
            Answer::Elsewhere(address) => {
                let mut response = headed(StatusCode::SEE_OTHER, HTML, "no-store", Body::empty());
                if let Ok(value) = HeaderValue::from_str(&address) {
                    response.headers_mut().insert(header::LOCATION, value);
                }
                return response;
            }
        };
        headed(status, kind, cache, body)
    }
}

/// A response with the headers that all have.
pub(crate) fn headed(status: StatusCode, kind: &'static str, cache: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    response
}
