//! Packing: chunks of a large page are compressed, and unpacked by the page when the reader scrolls near them.
//!
//! Chunks are drawn on all cores and written in order. Small pages are written as they are: chunks are held back until there are more
//! bytes than a browser takes in at once, and from then on everything is packed.

use super::plan::{Chunk, PagePlan, PlanRow};
use super::rows::{ChunkRenderer, fill, section};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::GzEncoder};
use maud::{Markup, PreEscaped, html};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// A page with more bytes than this in its rows is packed.
const HELD: usize = 5_000_000;
/// Most chunks that a thread may be ahead.
const AHEAD: usize = 4;

/// Runs jobs on all cores and takes their results in order. A thread that stops, for whatever reason, ends it with an
/// error.
pub(super) fn in_order<T: Send>(
    jobs: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> io::Result<()>,
) -> io::Result<()> {
    let threads = thread::available_parallelism().map_or(1, usize::from).clamp(1, jobs.max(1));
    thread::scope(|scope| {
        let lanes: Vec<Receiver<T>> = (0..threads)
            // Each thread has its own lane, so results need no sorting: job n is always in lane n modulo threads.
            .map(|lane| {
                // Bounded, because otherwise fast threads would pile up a whole session in memory.
                let (send, receive) = sync_channel(AHEAD);
                let work = &work;
                // Sending fails once the receiver is gone, which happens when writing failed.
                scope.spawn(move || (lane..jobs).step_by(threads).all(|job| send.send(work(job)).is_ok()));
                receive
            })
            .collect();
        for job in 0..jobs {
            let made = lanes.get(job % threads).and_then(|lane| lane.recv().ok());
            take(job, made.ok_or_else(|| io::Error::other("a part of the page could not be drawn"))?)?;
        }
        Ok(())
    })
}

/// Writes all rows without packing any, a part of the page at a time.
pub(super) fn plain(rows: &ChunkRenderer<'_>, heading: &dyn Fn(&Chunk) -> Markup, out: &mut dyn Write) -> io::Result<()> {
    let roots = rows.plan.roots();
    let work = |job: usize| roots.get(job).map(|&chunk| (chunk, rows.whole(chunk)));
    in_order(roots.len(), work, |_, made| {
        let Some((index, html)) = made else { return Ok(()) };
        let above = rows.plan.chunks.get(index).map(heading).unwrap_or_default();
        write!(out, "{}{}", above.0, section(&html))
    })
}

/// Writes all rows, packed if there is much of it.
pub(super) fn auto(rows: &ChunkRenderer<'_>, heading: &dyn Fn(&Chunk) -> Markup, out: &mut dyn Write) -> io::Result<()> {
    // Shared with the workers: once set, they compress themselves, which is the slow part.
    let packing = AtomicBool::new(false);
    let mut held: Vec<String> = Vec::new();
    let mut bytes = 0;
    let work = |job: usize| {
        let html = rows.chunk(job);
        if packing.load(Ordering::Relaxed) { DrawnChunk::Packed(packed(rows.plan, job, &html)) } else { DrawnChunk::Plain(html) }
    };
    // A worker may have drawn a chunk before the switch was set: that chunk arrives plain and is packed on this thread.
    in_order(rows.plan.chunks.len(), work, |job, made| match made {
        DrawnChunk::Plain(html) if !packing.load(Ordering::Relaxed) => {
            bytes += html.len();
            held.push(html);
            // Small pages stay readable in any editor and need no script.
            if bytes <= HELD {
                return Ok(());
            }
            packing.store(true, Ordering::Relaxed);
            out.write_all(NOTE.as_bytes())?;
            held.drain(..).enumerate().try_for_each(|(job, html)| put(rows.plan, job, &packed(rows.plan, job, &html), heading, out))
        }
        DrawnChunk::Plain(html) => put(rows.plan, job, &packed(rows.plan, job, &html), heading, out),
        DrawnChunk::Packed(html) => put(rows.plan, job, &html, heading, out),
    })?;
    // Reached with chunks left only if the page stayed small.
    for index in rows.plan.roots() {
        let (Some(chunk), Some(html)) = (rows.plan.chunks.get(index), held.get(index)) else { continue };
        write!(out, "{}{}", heading(chunk).0, section(&unfold(rows.plan, &held, html)))?;
    }
    Ok(())
}

/// Shown above a packed page where it cannot be unpacked.
const NOTE: &str = "<noscript><p class=\"notice warning\"><span>This page is packed and needs JavaScript to show its rows. \
    An export with <code>--plain</code> does not.</span></p></noscript>";

/// A chunk that was made.
enum DrawnChunk {
    Plain(String),
    Packed(Markup),
}

/// A chunk with the conversations in it.
fn unfold(plan: &PagePlan, held: &[String], html: &str) -> String {
    fill(html, &mut |thread| {
        let chunks = plan.of_thread.get(thread).map_or(&[][..], |chunks| chunks);
        chunks.iter().filter_map(|&chunk| held.get(chunk)).map(|html| section(&unfold(plan, held, html))).collect()
    })
}

fn put(plan: &PagePlan, index: usize, html: &Markup, heading: &dyn Fn(&Chunk) -> Markup, out: &mut dyn Write) -> io::Result<()> {
    let above = plan.chunks.get(index).map(heading).unwrap_or_default();
    write!(out, "{}{}", above.0, html.0)
}

/// A packed chunk: a place of about the right height that holds what links lead to, and the rows in it. A nested one has its place
/// inside another pack, so only its rows are here.
fn packed(plan: &PagePlan, index: usize, rows: &str) -> Markup {
    let Some(chunk) = plan.chunks.get(index) else { return html! {} };
    let rows = fill(rows, &mut |thread| {
        let chunks = plan.of_thread.get(thread).map_or(&[][..], |chunks| chunks);
        chunks.iter().filter_map(|&index| plan.chunks.get(index).map(|chunk| place(index, chunk, &html! {}).0)).collect()
    });
    // The first chunk stays unpacked, so that it can be read while the rest arrives.
    if index == 0 {
        return PreEscaped(section(&rows));
    }
    let content = html! {
        @for row in &chunk.rows { (anchor(plan, row)) }
        script type="application/gzip" data-for=(index) { (PreEscaped(squeezed(&rows))) }
    };
    match chunk.inside {
        None => place(index, chunk, &content),
        Some(call) => {
            html! { div.store hidden data-in=(plan.anchors.get(call).map_or("", |anchor| anchor)) data-for=(index) { (content) } }
        }
    }
}

/// Placeholder of a packed chunk.
fn place(index: usize, chunk: &Chunk, content: &Markup) -> Markup {
    html! {
        // The height keeps the scroll bar steady until the rows are unpacked.
        section.rows.packed data-pack=(index) data-rows=(chunk.rows.len()) data-bad=(chunk.bad) data-height=(chunk.height) aria-busy="true" {
            p.wait { (chunk.rows.len()) " rows" }
            (content)
        }
    }
}

/// Anchors of a row that keep its links working until it is unpacked.
fn anchor(plan: &PagePlan, row: &PlanRow) -> Markup {
    html! {
        @if let PlanRow::Entry { begins: Some(turn), .. } = row { a id={ "turn-" (turn + 1) } {} }
        @if let Some(anchor) = row.call().and_then(|call| plan.anchors.get(call)) { a id=(anchor) {} }
    }
}

/// Compressed, and spelled so that it can stand in a page.
fn squeezed(text: &str) -> String {
    // Every chunk is packed while the export waits, so the slowest levels are not worth their few percent.
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::new(7));
    // Writing to memory does not fail.
    _ = encoder.write_all(text.as_bytes());
    STANDARD.encode(encoder.finish().unwrap_or_default())
}
