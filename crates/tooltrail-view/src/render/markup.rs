//! How Markdown is read, the same way in every output.

use comrak::Options;

/// What agents write: GitHub's Markdown.
pub(super) fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options
}
