//! The keys of a session's pages, as a dialog.

use maud::{Markup, html};

/// The keys that all of them have.
const KEYS: &[(&str, &str)] = &[
    ("j k", "next, previous row"),
    ("J K", "next, previous prompt"),
    ("Enter o", "expand or collapse"),
    ("O", "expand or collapse all in the turn"),
    ("e E", "next, previous problem"),
    ("d", "next edit"),
    ("g g  G", "start, end"),
    ("/", "find"),
    ("n N", "next, previous match"),
    ("c", "copy the command, path or change"),
    ("y", "copy a link to the row"),
    ("t", "theme"),
    ("Esc", "close, leave"),
];

/// The dialog. `more`: keys that only this page has; `below`: what stands under them.
pub(super) fn dialog(more: &[(&str, &str)], below: &Markup) -> Markup {
    html! {
        dialog #tt-help aria-labelledby="tt-help-title" {
            header { h2 id="tt-help-title" { "Keys" } button #tt-help-close type="button" aria-label="Close" { "✕" } }
            // `g g` is two strokes, so each word of the first column becomes a key of its own.
            dl { @for (keys, what) in KEYS.iter().chain(more) { div { dt { @for key in keys.split_whitespace() { kbd { (key) } } } dd { (what) } } } }
            label.tick { input #tt-keys type="checkbox" checked autocomplete="off"; span { "Enable single-key shortcuts" } }
            (below)
        }
    }
}
