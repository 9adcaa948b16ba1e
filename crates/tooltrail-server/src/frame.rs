//! The frame of all pages: the bar at the top, the palette, the list of keys, the error page.

use crate::answer::Trouble;
use crate::app_state::{AppState, DefaultTheme};
use crate::assets;
use crate::filter_form::ticked;
use crate::pages::home;
use crate::snapshot::CatalogueSnapshot;
use axum::http::StatusCode;
use maud::{DOCTYPE, Markup, html};
use tooltrail_formats::error::ErrorChain;
use tooltrail_view::line::neutral;

/// A page to be framed.
pub(crate) struct FramedPage<'a> {
    /// Title of the tab.
    pub(crate) title: &'a str,
    /// Path of the link in the bar that is marked as current.
    pub(crate) here: &'a str,
    /// Style sheets and scripts of its own, by their plain names.
    pub(crate) assets: &'a [&'a str],
    /// Whether it has keys of its own, and the frame leaves them alone.
    pub(crate) own_keys: bool,
    /// Keys that it has beside those of the frame.
    pub(crate) keys: &'a [(&'a str, &'a str)],
    /// The session that it is about.
    pub(crate) session: Option<&'a str>,
    /// Changes after which the page reloads: of `lists` of sessions, or of its `session`.
    pub(crate) follows: Option<&'static str>,
    /// Selector of the part that is reloaded; without it the whole page is.
    pub(crate) part: Option<&'static str>,
    /// Snapshot that the page is made of. If it is out of date already, the page reloads soon.
    pub(crate) snapshot: Option<&'a CatalogueSnapshot>,
    /// Skip links beside the one to the page itself: an anchor and its name.
    pub(crate) skips: &'a [(&'a str, &'a str)],
    /// Whether there will be more in a moment. Without scripts the page then reloads by itself.
    pub(crate) again: bool,
}

impl FramedPage<'_> {
    /// A page without anything special.
    pub(crate) const fn plain(title: &str) -> FramedPage<'_> {
        FramedPage {
            title,
            here: "",
            assets: &[],
            own_keys: false,
            keys: &[],
            session: None,
            follows: None,
            part: None,
            snapshot: None,
            skips: &[],
            again: false,
        }
    }
}

/// The links of the bar.
const LINKS: &[(&str, &str)] =
    &[("/", "Home"), ("/sessions", "Sessions"), ("/calls", "Calls"), ("/failures", "Failures"), ("/search", "Search")];

/// The keys of pages that have rows.
pub(crate) const ROW_KEYS: &[(&str, &str)] = &[("j k", "next, previous row"), ("Enter", "open the row")];

/// The keys of all pages but those that have their own.
pub(crate) const KEYS: &[(&str, &str)] = &[
    ("/", "search all sessions"),
    ("Ctrl K", "go to a session, page or command"),
    ("g h", "home"),
    ("g l", "running sessions"),
    ("g s", "sessions"),
    ("g c", "calls"),
    ("g f", "failures"),
    ("t", "theme: auto, light, dark"),
    ("?", "these keys"),
    ("Esc", "close, leave"),
];

/// The keys of the palette.
const PALETTE_KEYS: &[(&str, &str)] = &[("↑  ↓", "choose"), ("Enter", "go"), ("Ctrl Enter", "in a new tab"), ("Esc", "close")];

/// A whole page.
pub(crate) fn page(app: &AppState, page: &FramedPage<'_>, main: &Markup) -> Markup {
    let live = app.is_live();
    // Live pages get this number from their script; without one it is put into the page.
    let needs = if live { None } else { app.latest_snapshot().map(|snapshot| home::needs(&snapshot)) };
    // The page names style sheets and scripts in one list.
    let own = |extension: &'static str| page.assets.iter().filter(move |name| name.ends_with(extension)).copied();
    html! {
        (DOCTYPE)
        html lang="en" data-root=(app.setup.root) data-usual-theme=(app.setup.theme.word()) data-keys=[page.own_keys.then_some("own")] data-session=[page.session]
            data-live=[live.then(|| app.to("/events"))] data-worker=[live.then(|| assets::address("worker.js"))] data-again=[page.follows] data-part=[page.part] data-old=[(live && page.snapshot.is_some_and(|snapshot| app.is_old(snapshot))).then_some("")] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if page.again { noscript { meta http-equiv="refresh" content="2"; } }
                title { @if let Some(needs) = needs.filter(|needs| *needs > 0) { "(" (needs) ") " } (neutral(page.title)) " · tooltrail" }
                link rel="icon" href="data:,";
                @for name in ["blocks.css", "frame.css", "palette.css"].into_iter().chain(own(".css")) { link rel="stylesheet" href=(assets::address(name)); }
                // In the head and without `defer`: the theme is set before the first paint, so that a dark page does
                // not flash white.
                @for name in ["frame.js", "palette.js"].into_iter().chain(live.then_some("live.js")).chain(own(".js")) { script src=(assets::address(name)) {} }
            }
            body {
                a.skip href="#main" { "Skip to the page" }
                @for (place, name) in page.skips { a.skip href={ "#" (place) } { "Skip to the " (name) } }
                (bar(app, page, needs))
                @if app.setup.demo { (banner(app)) }
                @if let Some(problem) = app.problem() {
                    div.notice.error role="alert" { span.sign aria-hidden="true" { "!" } span { "This page may be out of date: " (neutral(&problem)) } }
                }
                (main)
                footer.foot { p { "tooltrail " (env!("CARGO_PKG_VERSION")) " reads the logs of coding agents on this machine. No data leaves it." } }
                // The transcript has a dialog of its own, with the same id.
                @if !page.own_keys { (keys(app, page.keys)) }
                (palette(app))
            }
        }
    }
}

fn bar(app: &AppState, page: &FramedPage<'_>, needs: Option<usize>) -> Markup {
    html! {
        header.frame {
            a.logo href=(app.to("/")) { "tooltrail" }
            nav aria-label="Pages" {
                @for (path, name) in LINKS { a href=(app.to(path)) aria-current=[(*path == page.here).then_some("page")] { (name) } }
            }
            @let needs = needs.filter(|needs| *needs > 0);
            // Present even when hidden: the script shows it when the first session waits.
            a #tt-needs href={ (app.to("/")) "#now" } hidden[needs.is_none()] { @if let Some(needs) = needs { (needs) (if needs == 1 { " waits for you" } else { " wait for you" }) } }
            span #tt-link role="status" hidden { "Connection lost, reconnecting" }
            // The search page has its own box, and two with the same id would be invalid.
            @if page.here != "/search" {
                search { form action=(app.to("/search")) {
                    label.vh for="tt-search" { "Search all sessions" }
                    input #tt-search type="search" name="q" placeholder="Search all sessions" autocomplete="off" spellcheck="false" aria-keyshortcuts="/";
                    kbd aria-hidden="true" { "/" }
                } }
            }
            button.go #tt-go type="button" aria-keyshortcuts="Control+K Meta+K" title="Go to a session, page or command (Ctrl K)" { span { "Go to" } kbd aria-hidden="true" { "Ctrl K" } }
            (theme(app.setup.theme))
            a.help href=(app.to("/help")) title="Keys and help" aria-label="Keys and help" { "?" }
        }
    }
}

/// Choice of theme. The style sheet looks at the radio buttons directly, so it works without a script.
fn theme(usual: DefaultTheme) -> Markup {
    let titles =
        [(DefaultTheme::Auto, "Auto", "Same as the system"), (DefaultTheme::Light, "Light", "Light"), (DefaultTheme::Dark, "Dark", "Dark")];
    html! {
        fieldset.theme {
            legend.vh { "Theme" }
            @for (theme, name, title) in titles {
                label title=(title) { input id={ "tt-" (theme.word()) } type="radio" name="tt-theme" value=(theme.word()) checked[theme == usual] autocomplete="off"; span { (name) } }
            }
        }
    }
}

fn banner(app: &AppState) -> Markup {
    html! {
        p.demo role="note" {
            b { "Demo" } " Sample sessions at a fixed time. "
            @if !app.setup.root.is_empty() { a href="/" { "Back to your sessions" } }
        }
    }
}

/// The dialog with the keys; only a script opens it.
fn keys(app: &AppState, own: &[(&str, &str)]) -> Markup {
    html! {
        dialog #tt-help aria-labelledby="tt-help-title" {
            header { h2 id="tt-help-title" { "Keys" } button #tt-help-close type="button" aria-label="Close" { "✕" } }
            (key_list(own))
            div.of-rows { (key_list(ROW_KEYS)) }
            (key_list(KEYS))
            label.tick { input #tt-keys type="checkbox" checked autocomplete="off"; span { "Enable single-key shortcuts" } }
            p { a href=(app.to("/help")) { "More help: filter syntax, status icons, log locations" } }
        }
    }
}

/// The dialog with places to go to; only a script opens it, and fills it.
fn palette(app: &AppState) -> Markup {
    html! {
        dialog #tt-palette aria-label="Go to" data-from=(app.to("/palette")) {
            input #tt-palette-q type="text" role="combobox" aria-label="Session, turn, file or command" aria-expanded="true" aria-controls="tt-palette-list" aria-autocomplete="list" placeholder="Session, turn, file, command or any text" autocomplete="off" spellcheck="false" autocapitalize="off" enterkeyhint="go";
            div #tt-palette-list role="listbox" aria-label="Results" {}
            p.hint.di aria-hidden="true" { @for (keys, what) in PALETTE_KEYS { span { @for key in keys.split("  ") { kbd { (key) } " " } (what) } } }
            p.vh #tt-palette-say role="status" {}
        }
    }
}

/// Keys as a list.
pub(crate) fn key_list(keys: &[(&str, &str)]) -> Markup {
    html! { @if !keys.is_empty() { dl.keys { @for (keys, what) in keys { div { dt { @for key in keys.split_whitespace() { kbd { (key) } } } dd { (what) } } } } } }
}

/// The error page.
pub(crate) fn trouble(app: &AppState, trouble: &Trouble) -> Markup {
    let title = if trouble.status() == StatusCode::NOT_FOUND { "Not found" } else { "Page unavailable" };
    let main = html! {
        main #main.lists.narrow {
            h1 { (title) }
            p { (ticked(&ErrorChain(trouble).to_string())) }
            p { a href=(app.to("/")) { "Home" } " · " a href=(app.to("/sessions")) { "All sessions" } }
        }
    };
    page(app, &FramedPage { assets: &["lists.css"], ..FramedPage::plain(title) }, &main)
}
