//! The pages, one file each. To add a page, add a file here and a line to `PAGES`.
//!
//! A page is a function from a request to a response. It takes a snapshot from the state, rows from the snapshot, and
//! details from an open session; all its addresses are made by `AppState::to`.

mod call;
mod calls;
mod changes;
mod export;
pub(super) mod failures;
mod find;
mod help;
pub(crate) mod home;
mod palette;
mod progress;
mod project;
mod raw;
mod search;
mod session;
mod sessions;
mod waterfall;

use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::request::PageRequest;

/// Handler of a page.
pub(crate) type Handler = fn(&AppState, &PageRequest) -> Result<PageResponse, Trouble>;

/// All pages, by their paths.
pub(crate) const PAGES: &[(&str, Handler)] = &[
    ("/", home::page),
    ("/s/{session}", session::page),
    ("/s/{session}/live", session::live),
    ("/s/{session}/rows/{section}", session::rows),
    ("/s/{session}/body/{call}", session::body),
    ("/s/{session}/text/{section}/{row}", session::text),
    ("/s/{session}/turns/{group}", session::turns),
    ("/s/{session}/digest", session::digest),
    ("/s/{session}/where", session::way),
    ("/s/{session}/find", find::page),
    ("/s/{session}/waterfall", waterfall::page),
    ("/s/{session}/waterfall.json", waterfall::data),
    ("/s/{session}/waterfall/call/{call}", waterfall::call),
    ("/s/{session}/waterfall/row/{call}", waterfall::row),
    ("/s/{session}/waterfall/titles/{section}", waterfall::titles),
    ("/s/{session}/changes", changes::page),
    ("/s/{session}/changes/{number}", changes::part),
    ("/s/{session}/raw", raw::page),
    // Fixed names win over this pattern in the router, wherever they stand.
    ("/s/{session}/{file}", export::page),
    ("/c/{call}", call::page),
    ("/p/{project}", project::page),
    ("/failures", failures::page),
    ("/calls", calls::page),
    ("/calls/counts", calls::counts),
    ("/calls.csv", calls::csv),
    ("/calls.jsonl", calls::jsonl),
    ("/help", help::page),
    ("/now", home::now),
    ("/palette", palette::page),
    ("/progress", progress::page),
    ("/search", search::page),
    ("/search/counts", search::counts),
    ("/sessions", sessions::page),
    ("/sessions/tests", sessions::tests),
];
