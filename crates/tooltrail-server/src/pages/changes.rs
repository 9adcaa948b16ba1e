//! `/s/{session}/changes`: what a session changed in files, all in all.

use super::session;
use crate::answer::{Answer, Trouble};
use crate::asked::Asked;
use crate::rooms::Room;
use crate::site::Site;
use maud::{Markup, html};
use tooltrail_formats::changes::told::{Paths, Which, groups, with_names};
use tooltrail_view::diff::Counts;
use tooltrail_view::head::{count, counted};
use tooltrail_view::render::html::block;
use tooltrail_view::render::html::window::Tab;
use tooltrail_view::{Block, Limits, changes};

/// What is shown of a file before anybody asks for more.
const SHORT: Limits = Limits { lines: 400, bytes: 200 * 1024, head: 400, highlight: true };
/// Everything, within what a browser bears.
const WHOLE: Limits = Limits { lines: 20_000, bytes: 4 << 20, head: 20_000, highlight: true };
/// The most files whose changes are shown.
const FILES: usize = 500;

/// What a session changed.
pub(crate) fn page(site: &Site, asked: &Asked) -> Result<Answer, Trouble> {
    session::tab(site, asked, Tab::Changes, |room, asked| drawn(room, asked.get("all").is_some()))
}

fn drawn(room: &Room<'_>, whole: bool) -> Markup {
    let limits = if whole { &WHOLE } else { &SHORT };
    let (mut sections, mut gaps, mut counts): (Vec<Block>, u64, Counts) = (Vec::new(), 0, Counts::default());
    with_names(room.book, Paths::Shown, None, |names| {
        groups(room.book, &Which::default(), None, |groups| {
            for group in groups {
                gaps += changes::gaps(&group);
                counts = counts.and(changes::counts(&group));
                sections.extend(changes::blocks(&group, names, limits));
            }
        });
    });
    if sections.is_empty() {
        return html! { p { "No edit that succeeded changed a file. Commands may have: the transcript lists them." } };
    }
    let files = sections.len();
    html! {
        p.sum {
            b { (counted(files as u64, "file")) } " changed "
            span.ok { "+" (count(counts.added)) } " " span.no { "−" (count(counts.removed)) }
            @if gaps > 0 { span.di { " · " (count(gaps)) " with gaps: what the logs do not tell" } }
            @if !whole { " · " a href="?all=1" { "Show everything" } }
        }
        div.changes { @for section in sections.iter().take(FILES) { (block(section)) } }
        @if files > FILES { p.di { "and " (counted((files - FILES) as u64, "file")) " more: export the patch to see them" } }
    }
}
