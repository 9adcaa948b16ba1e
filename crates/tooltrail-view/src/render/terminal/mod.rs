//! Terminal text: width-aware, with colours, links where they are supported.
//!
//! Colours are always written; the caller strips them where they are unwanted. A session is an overview: a line per call,
//! failures opened. One call is shown in full. `paint.rs` writes rows, `wrap.rs` fits them, `blocks.rs` and `prose.rs` show bodies,
//! `heads.rs` has the lines above them, `amounts.rs` the digest, `verdict.rs` the verdict.

mod amounts;
mod blocks;
mod heads;
mod paint;
mod prose;
mod verdict;
mod wrap;

use super::brief::{self, Folds};
use super::walk::{self, Walk};
use crate::messages::{MessageAuthor, MessageView, message};
use crate::verdict::VerdictStrip;
use crate::{Block, Limits, call as view, digest};
use paint::{ACCENT, BAD, DIM, PLAIN, StyledRow, TerminalPage};
use std::io::{self, Write};
use tooltrail_model::book::{Book, Loaded, Selection};
use tooltrail_model::session_verdict::SessionVerdict;
use tooltrail_model::transcript::{Entry, EntryKind, Story};
use wrap::Fold;

/// Options of the terminal output.
#[derive(Clone, Debug, Default)]
pub struct TerminalOptions {
    /// Part of the session to render.
    pub selection: Selection,
    /// Width in columns.
    pub width: usize,
    /// Whether links may be written as such.
    pub links: bool,
    /// Whether every call is shown in full, rather than failures only.
    pub all: bool,
    /// Time zone of the reader; UTC where it is unknown.
    pub zone: Option<jiff::tz::TimeZone>,
}

/// The most rows of a failure that an overview shows.
const GLIMPSE: usize = 12;

/// Limits of a body in an overview: its end matters more than its beginning.
const BRIEF: Limits = Limits { lines: 10, bytes: 16 * 1024, head: 3, highlight: true };

/// Writes a session.
pub fn session(book: &dyn Book, options: &TerminalOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut show = TerminalWriter::new(book, options, out);
    show.title()?;
    let digest = tooltrail_model::digest::of(book, &options.selection);
    show.verdict(&VerdictStrip::of(&SessionVerdict::of(&digest)))?;
    show.digest(&digest::rows(&digest, book.transcript()))?;
    show.thread(0)?;
    // Asked for after the main conversation, because walking it claims the subagents that its calls started.
    for thread in show.walk.left(&options.selection) {
        show.page.gap()?;
        show.page.put(&show.stray(thread), Fold::Cut)?;
        show.thread(thread)?;
    }
    Ok(())
}

/// Writes one call in full, with its life.
pub fn call(book: &dyn Book, index: usize, options: &TerminalOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut show = TerminalWriter::new(book, options, out);
    match book.call(index) {
        Loaded::Call(story) => show.whole(&story),
        Loaded::Part(part) => show.message(&message(&part, &Limits::WHOLE), true),
        Loaded::Gone(why) => show.gone(&why),
    }
}

/// Writes blocks on their own.
pub fn blocks(book: &dyn Book, blocks: &[Block], options: &TerminalOptions, out: &mut dyn Write) -> io::Result<()> {
    TerminalWriter::new(book, options, out).blocks(blocks)
}

/// A session being written to the terminal.
struct TerminalWriter<'b, 'o> {
    book: &'b dyn Book,
    options: &'b TerminalOptions,
    page: TerminalPage<'o>,
    walk: Walk<'b>,
    /// Whether bodies are shown in full: rows wrap, sections are open, subagents stand at their place.
    full: bool,
    /// Folded messages that are not written yet.
    folds: Folds,
    /// Prompt of the turn, if the heading contains all of it.
    headed: Option<String>,
}

impl<'b, 'o> TerminalWriter<'b, 'o> {
    fn new(book: &'b dyn Book, options: &'b TerminalOptions, out: &'o mut dyn Write) -> Self {
        let page = TerminalPage::new(out, options.width, options.links);
        TerminalWriter { book, options, page, walk: Walk::new(book.transcript()), full: options.all, folds: Folds::default(), headed: None }
    }

    /// A conversation, turn by turn; only the main one has turns.
    fn thread(&mut self, index: usize) -> io::Result<()> {
        let Some(thread) = self.walk.enter(index) else { return Ok(()) };
        let takes = |entry: &&Entry| walk::takes(self.book.transcript(), thread, entry, &self.options.selection);
        // Collected, because a bracket needs the entries before and after.
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
        // Notes at the end of a subagent must not move into its parent.
        self.release()?;
        self.walk.leave();
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, nested: bool, mark: walk::Bracket) -> io::Result<()> {
        match self.book.open(entry) {
            Loaded::Call(story) => self.story(&story, mark),
            Loaded::Part(part) => {
                // An overview shows only the calls of a subagent; its task and answer are part of the call that started it.
                if nested
                    && !self.full
                    && matches!(entry.what, EntryKind::Prompt | EntryKind::Text | EntryKind::Thinking | EntryKind::Folded)
                {
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
        let line = self.call_line(&head, story, mark.signs().0);
        self.page.put(&line, Fold::Cut)?;
        // Compared with the finished line, since only that knows how much was cut.
        let whole = line.text().contains(&head.title.text());
        self.page.enter(StyledRow::of(DIM, mark.signs().1));
        if self.full {
            self.page.enter(StyledRow::of(DIM, "  │ "));
            self.blocks(&view::body(story, &Limits::PAGE))?;
            self.page.leave();
        } else if walk::opens(story) {
            self.glimpse(story, brief::body(&head, story.row.kind, whole, view::body(story, &BRIEF)))?;
        }
        self.nested(story)?;
        self.page.leave();
        Ok(())
    }

    /// First rows of a body.
    fn glimpse(&mut self, story: &Story<'_>, body: Vec<Block>) -> io::Result<()> {
        self.page.enter(StyledRow::of(DIM, "  │ "));
        self.page.limit(GLIMPSE);
        self.blocks(&body)?;
        // The remark comes after the limit ended, so it is always written.
        let more = self.page.unlimit();
        if more > 0 {
            let words = format!("… {}: ", crate::head::counted(more, "more line"));
            let command = format!("tooltrail show {}", story.row.r#ref);
            self.page.put(&StyledRow::of(DIM, &words).with(ACCENT, &command), Fold::Cut)?;
        }
        self.page.leave();
        Ok(())
    }

    /// Conversations of a call's subagents, below it.
    fn nested(&mut self, story: &Story<'_>) -> io::Result<()> {
        for &thread in &story.nested.threads {
            self.below(thread)?;
        }
        Ok(())
    }

    /// A subagent's conversation, below the call that started it.
    fn below(&mut self, thread: usize) -> io::Result<()> {
        // Checked first: otherwise the sign would be left for the next row.
        if !self.walk.can_enter(thread) {
            return Ok(());
        }
        self.page.enter_with(StyledRow::of(DIM, "↳ "));
        self.thread(thread)?;
        self.page.leave();
        Ok(())
    }

    /// One call with everything that is known about it.
    fn whole(&mut self, story: &Story<'_>) -> io::Result<()> {
        // Every nested body is shown in full too.
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

    fn message(&mut self, message: &MessageView, open: bool) -> io::Result<()> {
        if message.folded && !open {
            self.folds.hold(message);
            return Ok(());
        }
        self.release()?;
        // Taken only once: a prompt repeated later in the turn is shown.
        if self.headed.take_if(|head| brief::repeats(message, head)).is_some() {
            return Ok(());
        }
        self.page.gap()?;
        match message.who {
            MessageAuthor::Person => self.page.enter(StyledRow::of(ACCENT, "▌ ")),
            MessageAuthor::Agent => self.page.enter(StyledRow::of(DIM, "▌ ")),
            MessageAuthor::Thought | MessageAuthor::Program => self.page.enter(StyledRow::of(DIM, "┆ ")),
            MessageAuthor::Trouble => self.page.enter(StyledRow::of(BAD, "! ")),
            MessageAuthor::Event => self.page.enter(StyledRow::of(DIM, "· ")),
            // An empty margin, so that `leave` below matches for every speaker.
            MessageAuthor::Model => self.page.enter(StyledRow::default()),
        }
        let label = heads::label(message);
        if !label.is_empty() {
            self.page.put(&label, Fold::Words)?;
        }
        if message.body.is_empty() && !message.gist.is_empty() {
            self.page.put(&StyledRow::line(PLAIN, &message.gist), Fold::Words)?;
        }
        self.blocks(&message.body)?;
        self.page.leave();
        self.page.gap()
    }

    /// Writes the folded messages that were kept.
    fn release(&mut self) -> io::Result<()> {
        let margin = StyledRow::of(DIM, "  ┆ ");
        for folded in self.folds.release() {
            // Lists of names wrap; a message's beginning is cut, because it is only a hint.
            let names = folded.gist.is_empty();
            let words = if names { folded.label } else { format!("{}: {}", folded.label, folded.gist) };
            self.page.hang(&margin, &margin, &StyledRow::of(DIM, &words), if names { Fold::Words } else { Fold::Cut })?;
        }
        Ok(())
    }

    /// Remark for a record that cannot be read any more.
    fn gone(&mut self, why: &str) -> io::Result<()> {
        self.release()?;
        self.page.put(&StyledRow::of(BAD, "! ").with(DIM, why), Fold::Words)
    }
}
