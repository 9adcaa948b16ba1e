//! Style sheets and scripts of pages. They are compiled into the program and served under addresses that change with their
//! content, so that browsers may cache them forever.

use std::sync::LazyLock;
use tooltrail_view::render::html;
use xxhash_rust::xxh3::xxh3_64;

/// A file.
pub(crate) struct Asset {
    /// Name in addresses, with a hash of the content.
    name: String,
    /// Its type.
    pub(crate) kind: &'static str,
    /// Content.
    pub(crate) text: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// The script of the waterfall: one function around its parts.
const WATERFALL: &str = concat!(
    include_str!("../assets/waterfall/begin.js"),
    include_str!("../assets/waterfall/data.js"),
    include_str!("../assets/waterfall/scale.js"),
    include_str!("../assets/waterfall/draw.js"),
    include_str!("../assets/waterfall/rows.js"),
    include_str!("../assets/waterfall/main.js"),
    "});\n})();\n"
);

/// The files, by their plain names. To add a file, add a line here.
static ASSETS: LazyLock<Vec<(&'static str, Asset)>> = LazyLock::new(|| {
    let asset = |plain: &'static str, kind, text: &'static str| {
        // The hash makes a new version a new address: browsers never ask whether a cached file is still good.
        let (stem, extension) = plain.rsplit_once('.').unwrap_or((plain, ""));
        (plain, Asset { name: format!("{stem}-{:016x}.{extension}", xxh3_64(text.as_bytes())), kind, text })
    };
    vec![
        asset("blocks.css", CSS, html::style()),
        asset("call.css", CSS, include_str!("../assets/call.css")),
        asset("call.js", JS, include_str!("../assets/call.js")),
        asset("calls.css", CSS, include_str!("../assets/calls.css")),
        asset("calls.js", JS, include_str!("../assets/calls.js")),
        asset("failures.css", CSS, include_str!("../assets/failures.css")),
        asset("frame.css", CSS, include_str!("../assets/frame.css")),
        asset("frame.js", JS, include_str!("../assets/frame.js")),
        asset("palette.css", CSS, include_str!("../assets/palette.css")),
        asset("palette.js", JS, include_str!("../assets/palette.js")),
        asset("project.css", CSS, include_str!("../assets/project.css")),
        asset("review.css", CSS, include_str!("../assets/review.css")),
        asset("review.js", JS, include_str!("../assets/review.js")),
        asset("session.css", CSS, html::assets::session_style()),
        asset("session.js", JS, html::assets::SESSION_SCRIPT),
        asset("live.js", JS, include_str!("../assets/live.js")),
        asset("worker.js", JS, include_str!("../assets/worker.js")),
        asset("lists.css", CSS, include_str!("../assets/lists.css")),
        asset("lists.js", JS, include_str!("../assets/lists.js")),
        asset("waterfall.css", CSS, include_str!("../assets/waterfall.css")),
        asset("waterfall.js", JS, WATERFALL),
    ]
});

/// The file that an address names.
pub(crate) fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().map(|(_, asset)| asset).find(|asset| asset.name == name)
}

/// The address of a file, by its plain name.
pub(crate) fn address(plain: &str) -> String {
    let found = ASSETS.iter().find(|(name, _)| *name == plain);
    // A typing error in a page, which its tests find. A release serves the page without the file rather than not at all.
    debug_assert!(found.is_some(), "{plain} is not listed");
    format!("/assets/{}", found.map_or("", |(_, asset)| asset.name.as_str()))
}
