//! `/s/{session}/changes`: the net changes that a session made to files, for review: a tree of the files, and for each file its hunks with
//! the calls that made them.
//!
//! The first files come with the page; the others are links, which the page's script fetches (`/s/{session}/changes/{number}`) when the
//! reader scrolls near. `?file=` shows one file, a piece at a time, `?q=` filters by path, `?spaces=hide` leaves out changes of white space.

mod files;
mod tree;

use super::session;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::open_sessions::{ChangeIndex, IndexedFile, SessionReader};
use crate::request::{PageRequest, encoded};
use maud::{Markup, html};
use tooltrail_model::Kind;
use tooltrail_model::book::Book;
use tooltrail_view::head::{count, counted};
use tooltrail_view::render::html::window::{SessionPageRequest, Tab};

/// Style sheets and script of the page.
pub(super) const ASSETS: &[&str] = &["session.css", "review.css", "review.js"];
/// Keys of the page.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("j k", "next, previous file"),
    ("n p", "next, previous hunk"),
    ("v", "mark the file as viewed"),
    ("o", "fold or unfold the file"),
    ("s", "side by side or unified"),
    ("f", "filter files"),
];

/// The most files of a page.
const FILES: usize = 150;
/// Size of the page up to which it brings files along.
const MUCH: usize = 120_000;

/// The page.
pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    session::tab(app, request, Tab::Changes, |reader, at, request| ReviewPage::new(reader, at, request).draw())
}

/// The changes of one file, or unchanged lines of it, for the page's script.
pub(crate) fn part(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    session::part(app, request, |reader, at, request| {
        let page = ReviewPage::new(reader, at, request);
        let number = session::number(request, "number");
        let Some(file) = page.index.files.get(number) else { return html! { p.di { "No such file." } } };
        match &page.fill {
            Some(lines) => page.filled(file, lines),
            None => page.content(number, file, 0),
        }
    })
}

/// The page, being drawn.
struct ReviewPage<'p, 'r> {
    reader: &'p SessionReader<'r>,
    at: &'p SessionPageRequest<'p>,
    index: &'p ChangeIndex,
    /// The file that is shown alone.
    only: Option<usize>,
    /// Its lines that are left out at the beginning.
    from: usize,
    /// Unchanged lines that are filled in, as `part.old.new.count`.
    fill: Option<String>,
    /// The file that the page begins with.
    first: usize,
    /// Part of paths, in small letters.
    filter: String,
    /// Whether changes of white space alone are left out.
    hide_spaces: bool,
}

impl<'p, 'r> ReviewPage<'p, 'r> {
    fn new(reader: &'p SessionReader<'r>, at: &'p SessionPageRequest<'p>, request: &PageRequest) -> Self {
        ReviewPage {
            reader,
            at,
            index: reader.changes(),
            // A text that is no number is beyond every list, and the page says that there is no such file.
            only: request.get("file").map(|_| request.number("file").unwrap_or(usize::MAX)),
            from: request.number("from").unwrap_or(0),
            fill: request.get("fill").map(str::to_owned),
            first: request.number("first").unwrap_or(0),
            filter: request.get("q").unwrap_or_default().trim().to_lowercase(),
            hide_spaces: request.get("spaces") == Some("hide"),
        }
    }

    /// An address of this page, with these parameters and those that links keep.
    fn address(&self, own: &[(&str, String)]) -> String {
        let filter = (!self.filter.is_empty()).then(|| ("q", self.filter.clone()));
        let spaces = self.hide_spaces.then(|| ("spaces", "hide".to_owned()));
        // A parameter of the link replaces the kept one. An empty one only removes it.
        let kept = [filter, spaces].into_iter().flatten().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
        let all = own.iter().cloned().chain(kept).filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = all.map(|(name, value)| format!("{name}={}", encoded(&value))).collect();
        format!("?{}", query.join("&"))
    }

    /// Files that the filter leaves, with their numbers.
    fn files(&self) -> Vec<(usize, &'p IndexedFile)> {
        let fits = |file: &IndexedFile| {
            // A renamed file is found by either of its names.
            let paths = [Some(&file.facts.path), file.facts.to.as_ref()];
            self.filter.is_empty() || paths.into_iter().flatten().any(|path| path.to_lowercase().contains(&self.filter))
        };
        self.index.files.iter().enumerate().filter(|(_, file)| fits(file)).collect()
    }

    fn draw(&self) -> Result<Markup, Trouble> {
        if self.index.files.is_empty() {
            return Ok(html! {
                p { "No successful edit changed a file. " a href={ (self.at.base) "?show=shell" } { "Commands" } " may have changed files." }
            });
        }
        let files = self.files();
        let shown = match self.only {
            None => files.get(self.first.min(files.len())..).unwrap_or_default().iter().take(FILES).copied().collect(),
            // From all files: their numbers count all of them, and a filter in the address must not change which one is meant.
            Some(only) => match self.index.files.get(only) {
                Some(file) => vec![(only, file)],
                None => {
                    let total = counted(self.index.files.len() as u64, "file");
                    return Err(Trouble::Missing(format!("No such file: this session changed {total}.")));
                }
            },
        };
        // On the page of one file, the tree is the way to the others.
        let tree = self.tree(if self.only.is_some() { &files } else { &shown });
        Ok(html! {
            div.review {
                nav.tree #tt-tree aria-label="Changed files" tabindex="-1" { (self.sum()) (self.filter_form()) (tree) }
                div.changed-files #tt-files tabindex="-1" data-base={ (self.at.base) "/changes/" } data-v={ (format!("{:x}", self.at.version)) } data-spaces=[self.hide_spaces.then_some("hide")] {
                    (self.toolbar())
                    @if shown.is_empty() { p.di { "No changed file matches this filter. " a href=(self.address(&[("q", String::new())])) { "All files" } } }
                    (self.sections(&shown, tree.0.len()))
                    @if self.only.is_none() { (self.pages(files.len())) }
                }
            }
        })
    }

    /// The sum of all changes.
    fn sum(&self) -> Markup {
        let size = &self.index.size;
        html! {
            p.sum {
                b { (counted(size.files, "file")) } " "
                span.ok { "+" (count(size.added)) } " " span.no { "−" (count(size.removed)) }
                span.seen data-total=(size.files) role="status" {}
                @if size.incomplete > 0 { span.di title="The logs do not have all of the text" { " · ~ " (count(size.incomplete)) " with an incomplete diff" } }
                @if !self.whole() { span.di { " · " a href={ (self.at.base) "?show=shell" } { "commands" } " may have changed more" } }
            }
        }
    }

    /// Whether edits are all that can have changed a file: no command ran, and no script may have made calls that are not listed.
    fn whole(&self) -> bool {
        let calls = &self.reader.book().transcript().calls;
        calls.iter().all(|call| call.row.kind != Kind::Shell && call.row.inner.is_none_or(|inner| inner.complete))
    }

    fn filter_form(&self) -> Markup {
        html! {
            form.filter role="search" method="get" {
                label.vh for="tt-filter" { "Filter files" }
                input #tt-filter type="search" name="q" value=(self.filter) placeholder="Filter files  f" autocomplete="off" spellcheck="false";
                // A form sends only its own fields, and a filter must not bring changes of white space back.
                @if self.hide_spaces { input type="hidden" name="spaces" value="hide"; }
            }
        }
    }

    fn toolbar(&self) -> Markup {
        let (value, label) = if self.hide_spaces { ("", "Show whitespace changes") } else { ("hide", "Hide whitespace changes") };
        let own = |value: &str| {
            let file = self.only.map(|only| ("file", only.to_string()));
            self.address(&file.into_iter().chain([("spaces", value.to_owned())]).collect::<Vec<_>>())
        };
        html! {
            div.looks role="toolbar" aria-label="View" {
                label.tick { input #tt-split type="checkbox" autocomplete="off"; span { "Side by side" } }
                // An empty value leaves the parameter out, and so turns it off.
                a.look href=(own(value)) { (label) }
                @if self.only.is_some() { a.look href=(self.address(&[])) { "All files" } }
            }
        }
    }

    /// Links to the files before and after those of this page.
    fn pages(&self, total: usize) -> Markup {
        if total <= FILES {
            return html! {};
        }
        let (first, last) = (self.first + 1, (self.first + FILES).min(total));
        let to = |first: usize| self.address(&[("first", first.to_string())]);
        html! {
            nav.pages aria-label="More files" {
                @if self.first > 0 { a rel="prev" href=(to(self.first.saturating_sub(FILES))) { "← previous files" } }
                span.di { (count(first as u64)) "–" (count(last as u64)) " of " (counted(total as u64, "file")) }
                @if last < total { a rel="next" href=(to(last)) { "next files →" } }
            }
        }
    }
}
