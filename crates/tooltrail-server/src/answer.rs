//! Responses of pages: a page, a text, a download, another address, or an error.

use crate::open_sessions::OpenError;
use crate::pipe::{PipeReader, stream};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::Markup;
use std::sync::Arc;
use tooltrail_catalog::store;

/// Response of a page's handler.
pub enum PageResponse {
    /// A page, or a part of one.
    Html(Markup),
    /// A part of a page that never changes under its address.
    Lasting(Markup),
    /// A text of a type.
    Text(&'static str, String),
    /// A file to be saved under a name, written while it is sent.
    File(&'static str, String, PipeReader),
    /// Another address.
    Elsewhere(String),
}

/// Error of a page's handler.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// Not found, with advice.
    #[error("{0}")]
    Missing(String),
    /// The request is invalid.
    #[error("{0}")]
    Wrong(String),
    /// The session has changed since the page was made.
    #[error("{0}")]
    Changed(String),
    /// Temporarily unavailable: the client should try again.
    #[error("{0}")]
    Later(String),
    /// Internal error.
    #[error("{0}")]
    Broken(String),
    /// The catalogue cannot be read.
    #[error(transparent)]
    Store(#[from] store::CatalogueError),
    /// The session cannot be opened. Shared, because requests that waited for the same opening get the same error.
    #[error(transparent)]
    Open(#[from] Arc<OpenError>),
}

impl From<OpenError> for Trouble {
    fn from(error: OpenError) -> Self {
        Trouble::Open(Arc::new(error))
    }
}

impl Trouble {
    /// HTTP status of the error.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Trouble::Missing(_) => StatusCode::NOT_FOUND,
            Trouble::Wrong(_) => StatusCode::BAD_REQUEST,
            // Scripts fetch the current state on this status, and ask again.
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

impl PageResponse {
    /// HTTP response.
    pub(crate) fn response(self, status: StatusCode) -> Response {
        const HTML: &str = "text/html; charset=utf-8";
        let (kind, cache, body) = match self {
            // Pages show live data and private text: a browser must not keep them on disk or show an old one after
            // "back".
            PageResponse::Html(page) => (HTML, "no-store", Body::from(page.into_string())),
            // The address has the session's version in it, so the part can never change; `private` keeps shared proxies
            // out.
            PageResponse::Lasting(part) => (HTML, "private, max-age=86400, immutable", Body::from(part.into_string())),
            PageResponse::Text(kind, text) => (kind, "no-store", Body::from(text)),
            PageResponse::File(kind, name, written) => {
                let mut response = headed(status, kind, "no-store", stream(written));
                // Cannot fail: names are constants, or consist of letters, digits and hyphens.
                if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
                    response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
                }
                return response;
            }
            PageResponse::Elsewhere(address) => {
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

/// A response with content type and caching rules.
pub(crate) fn headed(status: StatusCode, kind: &'static str, cache: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    response
}
