//! Terminal text: width-aware, with colours, links where they are supported.
//!
//! Colours are always written; whoever prints takes them out where nobody wants them. A session is an overview: a line per call,
//! failures opened. One call is shown in full. `paint.rs` writes rows, `wrap.rs` fits them, `blocks.rs` and `prose.rs` show bodies,
//! `heads.rs` has the lines that stand above them, `amounts.rs` what a session amounts to.

mod amounts;
mod blocks;
mod heads;
mod paint;
mod prose;
mod wrap;

use super::brief::{self, Folds};
use super::walk::{self, Walk};
use crate::messages::{Message, Who, message};
use crate::{Block, Limits, call as view, digest};
use paint::{ACCENT, BAD, DIM, PLAIN, Page, Row};
use std::io::{self, Write};
use tooltrail_model::book::{Book, Loaded, Selection};
use tooltrail_model::transcript::{Entry, Story, What};
use wrap::Fold;

/// How it is written.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which part of the session.
    pub selection: Selection,
    /// How many columns there are.
    pub width: usize,
    /// Whether links may be written as such.
    pub links: bool,
    /// Whether every call is shown in full, rather than failures only.
    pub all: bool,
    /// Where the reader is; times are those of Greenwich where it is not known.
    pub zone: Option<jiff::tz::TimeZone>,
}

/// The most rows of a failure that an overview shows.
const GLIMPSE: usize = 12;

/// What an overview makes of a body: its end tells more than its beginning.
const BRIEF: Limits = Limits { lines: 10, bytes: 16 * 1024, head: 3, highlight: true };

/// Writes a session.
pub fn session(book: &dyn Book, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut show = Show::new(book, options, out);
    show.title()?;
    show.digest(&digest::rows(&tooltrail_model::digest::of(book, &options.selection), book.transcript()))?;
    show.thread(0)?;
    for thread in show.walk.left(&options.selection) {
        show.page.gap()?;
        show.page.put(&show.stray(thread), Fold::Cut)?;
        show.thread(thread)?;
    }
    Ok(())
}

/// Writes one call in full, with its life.
pub fn call(book: &dyn Book, index: usize, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut show = Show::new(book, options, out);
    match book.call(index) {
        Loaded::Call(story) => show.whole(&story),
        Loaded::Part(part) => show.message(&message(&part, &Limits::WHOLE), true),
        Loaded::Gone(why) => show.gone(&why),
    }
}

/// Writes blocks on their own.
pub fn blocks(book: &dyn Book, blocks: &[Block], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    Show::new(book, options, out).blocks(blocks)
}

/// A session on its way to a page.
struct Show<'b, 'o> {
    book: &'b dyn Book,
    options: &'b Options,
    page: Page<'o>,
    walk: Walk<'b>,
    /// Bodies are shown whole: rows go on, sections are open, subagents stand where they belong.
    full: bool,
    /// Folded messages that are not written yet.
    folds: Folds,
    /// The prompt of the turn, where all of it stands in the heading.
    headed: Option<String>,
}

impl<'b, 'o> Show<'b, 'o> {
    fn new(book: &'b dyn Book, options: &'b Options, out: &'o mut dyn Write) -> Self {
        let page = Page::new(out, options.width, options.links);
        Show { book, options, page, walk: Walk::new(book.transcript()), full: options.all, folds: Folds::default(), headed: None }
    }

    /// A conversation, turn by turn; only the main one has turns.
    fn thread(&mut self, index: usize) -> io::Result<()> {
        let Some(thread) = self.walk.enter(index) else { return Ok(()) };
        let takes = |entry: &&Entry| walk::takes(self.book.transcript(), thread, entry, &self.options.selection);
        let entries: Vec<&Entry> = thread.entries.iter().filter(takes).collect();
        let mut turn = None;
        for (place, entry) in entries.iter().enumerate() {
            if index == 0 && entry.turn != turn {
                turn = entry.turn;
                self.turn(turn)?;
            }
            let mark = walk::bracket(self.book.transcript(), &entries, place);
            self.entry(entry, thread.started_by.is_some(), mark)?;
        }
        self.release()?;
        self.walk.leave();
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, nested: bool, mark: walk::Bracket) -> io::Result<()> {
        match self.book.open(entry) {
            Loaded::Call(story) => self.story(&story, mark),
            Loaded::Part(part) => {
                // Of a subagent's conversation an overview shows the calls; its task and its answer stand in the call that started it.
                if nested && !self.full && matches!(entry.what, What::Prompt | What::Text | What::Thinking | What::Folded) {
                    return Ok(());
                }
                let limits = if self.full { Limits::WHOLE } else { Limits::PAGE };
                let mut message = message(&part, &limits);
                if brief::is_taken_back(self.book.transcript(), entry) {
                    message = brief::taken_back(message);
                }
                self.message(&message, self.full)
            }
            Loaded::Gone(why) => self.gone(&why),
        }
    }

    /// A call: its line, its body where it is opened, and what its subagents did.
    fn story(&mut self, story: &Story<'_>, mark: walk::Bracket) -> io::Result<()> {
        self.release()?;
        let head = view::head(story);
        let line = self.call_line(&head, &story.row, mark.signs().0);
        self.page.put(&line, Fold::Cut)?;
        let whole = line.text().contains(&head.title.text());
        self.page.enter(Row::of(DIM, mark.signs().1));
        if self.full {
            self.page.enter(Row::of(DIM, "  │ "));
            self.blocks(&view::body(story, &Limits::PAGE))?;
            self.page.leave();
        } else if walk::opens(story.row.status) {
            self.glimpse(story, brief::body(&head, story.row.kind, whole, view::body(story, &BRIEF)))?;
        }
        self.nested(story)?;
        self.page.leave();
        Ok(())
    }

    /// The first rows of a body.
    fn glimpse(&mut self, story: &Story<'_>, body: Vec<Block>) -> io::Result<()> {
        self.page.enter(Row::of(DIM, "  │ "));
        self.page.limit(GLIMPSE);
        self.blocks(&body)?;
        let more = self.page.unlimit();
        if more > 0 {
            let words = format!("… {}: ", crate::head::counted(more, "more line"));
            let command = format!("tooltrail show {}", story.row.r#ref);
            self.page.put(&Row::of(DIM, &words).with(ACCENT, &command), Fold::Cut)?;
        }
        self.page.leave();
        Ok(())
    }

    /// What the subagents of a call did, below it.
    fn nested(&mut self, story: &Story<'_>) -> io::Result<()> {
        for &thread in &story.nested.threads {
            self.below(thread)?;
        }
        Ok(())
    }

    /// A subagent's conversation, below the call that started it.
    fn below(&mut self, thread: usize) -> io::Result<()> {
        if !self.walk.can_enter(thread) {
            return Ok(());
        }
        self.page.enter_with(Row::of(DIM, "↳ "));
        self.thread(thread)?;
        self.page.leave();
        Ok(())
    }

    /// One call with everything that is known about it.
    fn whole(&mut self, story: &Story<'_>) -> io::Result<()> {
        self.full = true;
        self.call_title(story)?;
        let life = view::life(story);
        if !life.is_empty() {
            self.page.gap()?;
            self.blocks(&life)?;
        }
        let body = view::body(story, &Limits::WHOLE);
        if !body.is_empty() {
            self.page.gap()?;
            self.blocks(&body)?;
        }
        Ok(())
    }

    fn message(&mut self, message: &Message, open: bool) -> io::Result<()> {
        if message.folded && !open {
            self.folds.hold(message);
            return Ok(());
        }
        self.release()?;
        if self.headed.take_if(|head| brief::repeats(message, head)).is_some() {
            return Ok(());
        }
        self.page.gap()?;
        match message.who {
            Who::Person => self.page.enter(Row::of(ACCENT, "▌ ")),
            Who::Agent => self.page.enter(Row::of(DIM, "▌ ")),
            Who::Thought | Who::Program => self.page.enter(Row::of(DIM, "┆ ")),
            Who::Trouble => self.page.enter(Row::of(BAD, "! ")),
            Who::Event => self.page.enter(Row::of(DIM, "· ")),
            Who::Model => self.page.enter(Row::default()),
        }
        let label = heads::label(message);
        if !label.is_empty() {
            self.page.put(&label, Fold::Words)?;
        }
        if message.body.is_empty() && !message.gist.is_empty() {
            self.page.put(&Row::line(PLAIN, &message.gist), Fold::Words)?;
        }
        self.blocks(&message.body)?;
        self.page.leave();
        self.page.gap()
    }

    /// Writes the folded messages that were kept.
    fn release(&mut self) -> io::Result<()> {
        let margin = Row::of(DIM, "  ┆ ");
        for folded in self.folds.release() {
            let names = folded.gist.is_empty();
            let words = if names { folded.label } else { format!("{}: {}", folded.label, folded.gist) };
            self.page.hang(&margin, &margin, &Row::of(DIM, &words), if names { Fold::Words } else { Fold::Cut })?;
        }
        Ok(())
    }

    /// Something that cannot be read any more.
    fn gone(&mut self, why: &str) -> io::Result<()> {
        self.release()?;
        self.page.put(&Row::of(BAD, "! ").with(DIM, why), Fold::Words)
    }
}
