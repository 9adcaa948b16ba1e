//! The frame that all pages have: the bar at the top, the way to other pages, what is wrong.

use crate::answer::Trouble;
use crate::assets;
use crate::site::Site;
use maud::{DOCTYPE, Markup, html};
use tooltrail_view::line::neutral;

/// A page to be framed.
pub(crate) struct Page<'a> {
    /// What the tab is called.
    pub(crate) title: &'a str,
    /// Which link of the bar leads here.
    pub(crate) here: &'a str,
    /// What stands in the search box.
    pub(crate) query: &'a str,
    /// Style sheets and scripts of its own, by their plain names.
    pub(crate) assets: &'a [&'a str],
    /// Whether it has keys of its own, and the frame leaves them alone.
    pub(crate) own_keys: bool,
}

impl Page<'_> {
    /// A page without anything special.
    pub(crate) const fn plain(title: &str) -> Page<'_> {
        Page { title, here: "", query: "", assets: &[], own_keys: false }
    }
}

/// The links of the bar.
const LINKS: &[(&str, &str)] = &[("/", "Home"), ("/sessions", "Sessions"), ("/search", "Search")];

/// A whole page.
pub(crate) fn page(site: &Site, page: &Page<'_>, main: &Markup) -> Markup {
    let own = |extension: &'static str| page.assets.iter().filter(move |name| name.ends_with(extension)).copied();
    html! {
        (DOCTYPE)
        html lang="en" data-root=(site.setup.root) data-keys=[page.own_keys.then_some("own")] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (neutral(page.title)) " · tooltrail" }
                link rel="icon" href="data:,";
                @for name in ["blocks.css", "frame.css"].into_iter().chain(own(".css")) { link rel="stylesheet" href=(assets::address(name)); }
                // Before the first paint, for the theme.
                @for name in ["frame.js"].into_iter().chain(own(".js")) { script src=(assets::address(name)) {} }
            }
            body {
                a.skip href="#main" { "Skip to the page" }
                (bar(site, page))
                @if site.setup.demo { p.demo role="note" { "Demo: these sessions are invented, and its clock stands still. " @if !site.setup.root.is_empty() { a href="/" { "Back to your own" } } } }
                (main)
            }
        }
    }
}

fn bar(site: &Site, page: &Page<'_>) -> Markup {
    html! {
        header.frame {
            a.logo href=(site.to("/")) { "tooltrail" }
            nav aria-label="Pages" {
                @for (path, name) in LINKS { a href=(site.to(path)) aria-current=[(*path == page.here).then_some("page")] { (name) } }
            }
            search { form action=(site.to("/search")) {
                label.vh for="tt-search" { "Search all sessions" }
                input #tt-search type="search" name="q" value=(page.query) placeholder="Search all sessions" autocomplete="off" spellcheck="false";
            } }
            a.help href=(site.to("/help")) title="Keys and help" aria-label="Keys and help" { "?" }
        }
    }
}

/// A page that says what is wrong.
pub(crate) fn trouble(site: &Site, trouble: &Trouble) -> Markup {
    let title = if matches!(trouble, Trouble::Missing(_)) { "Not here" } else { "That did not work" };
    let main = html! {
        main #main.narrow {
            h1 { (title) }
            p { (neutral(&trouble.to_string())) }
            p { a href=(site.to("/")) { "Home" } " · " a href=(site.to("/sessions")) { "All sessions" } }
        }
    };
    page(site, &Page::plain(title), &main)
}
