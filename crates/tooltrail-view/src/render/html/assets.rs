//! Style sheets and scripts, put together from their parts: what an exported page holds, and what a server serves.
//!
//! A script is one function around its parts, so that parts share names and nothing else does. The theme comes first, before anything is
//! painted; the rest waits for the document.

use std::sync::LazyLock;

/// Puts a script together: parts that all pages share, and those of one.
macro_rules! script {
    ($($page:literal),+) => {
        // Order matters: the theme runs before the body is parsed, so a page never flashes in the wrong colours.
        concat!(
            "(() => {\n'use strict';\n",
            include_str!("assets/js/theme.js"),
            "document.addEventListener('DOMContentLoaded', () => {\n",
            include_str!("assets/js/rows.js"),
            include_str!("assets/js/find.js"),
            include_str!("assets/js/copy.js"),
            $(include_str!($page),)+
            include_str!("assets/js/keys.js"),
            // Last: it starts what the parts before it define.
            include_str!("assets/js/begin.js"),
            "});\n})();\n"
        )
    };
}

/// The script of an exported page.
pub(super) const EXPORT_SCRIPT: &str = script!("assets/js/export.js");

/// The script of a session's page on a server.
pub const SESSION_SCRIPT: &str = script!("assets/js/session.js", "assets/js/grow.js", "assets/js/minimap.js");

static STYLE: LazyLock<String> = LazyLock::new(|| {
    let parts =
        [include_str!("assets/look.css"), include_str!("assets/controls.css"), include_str!("assets/rows.css"), &super::palette::css()];
    parts.concat()
});

// Chip rules are generated: they list every kind and status, which a hand-written sheet would soon miss.
static SESSION: LazyLock<String> =
    LazyLock::new(|| format!("{}{}{}", include_str!("assets/page.css"), include_str!("assets/session.css"), super::window::chip_style()));

static EXPORT: LazyLock<String> =
    LazyLock::new(|| format!("{}{}{}", style(), include_str!("assets/page.css"), include_str!("assets/export.css")));

/// The style of rows and blocks, and the colours and letters that all pages have.
pub fn style() -> &'static str {
    &STYLE
}

/// Style of a session's page on a server, to be served beside [`style`].
pub fn session_style() -> &'static str {
    &SESSION
}

/// The style of an exported page, all of it.
pub(super) fn export_style() -> &'static str {
    &EXPORT
}
