//! The pages, one file each. To add one: a file here, and a line in `PAGES`.
//!
//! A page is a function from what was asked to an answer. It asks the site for a moment, the moment for rows, and a room for what is in a
//! session; every address in it is made by `Site::to`.

mod call;
mod help;
mod home;
mod progress;
mod search;
mod sessions;

use crate::answer::{Answer, Trouble};
use crate::asked::Asked;
use crate::site::Site;

/// Makes a page.
pub(crate) type Handler = fn(&Site, &Asked) -> Result<Answer, Trouble>;

/// All pages, by their paths.
pub(crate) const PAGES: &[(&str, Handler)] = &[
    ("/", home::page),
    ("/c/{call}", call::page),
    ("/help", help::page),
    ("/progress", progress::page),
    ("/search", search::page),
    ("/search/counts", search::counts),
    ("/sessions", sessions::page),
    ("/sessions/tests", sessions::tests),
];
