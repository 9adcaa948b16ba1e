//! Markdown: a heading per turn, a line per call, bodies where they matter. No HTML, no pictures, nothing that acts.
//!
//! `text.rs` makes words safe, `blocks.rs` writes bodies, `digest.rs` the digest, `verdict.rs` the verdict; `pr.rs` is
//! another document: a session for a pull request.

mod blocks;
mod digest;
pub mod pr;
mod text;
mod verdict;

use super::brief::{self, Folds};
use super::walk::{self, Walk};
use crate::head::{count, counted, look, look_of, outcome, took};
use crate::messages::{MessageAuthor, MessageView, message};
use crate::verdict::VerdictStrip;
use crate::{Block, Limits, call as view, settings};
use std::io::{self, Write};
pub(super) use text::prose;
use text::{code, escape};
use tooltrail_model::Kind;
use tooltrail_model::book::{Book, Loaded, Selection};
use tooltrail_model::session_verdict::SessionVerdict;
use tooltrail_model::transcript::{Entry, Story};

/// Options of the Markdown export.
#[derive(Clone, Debug, Default)]
pub struct MarkdownOptions {
    /// Part of the session to render.
    pub selection: Selection,
    /// Calls to show in full.
    pub bodies: ShownBodies,
}

/// Selection of the calls that are shown in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShownBodies {
    /// All of them.
    All,
    /// Failures and edits.
    #[default]
    Telling,
    /// None.
    None,
}

/// Limits of a body: enough to see what happened, little enough for a comment.
const TELLING: Limits = Limits { lines: 60, bytes: 32 * 1024, head: 10, highlight: false };

/// Writes a session.
pub fn session(book: &dyn Book, options: &MarkdownOptions, out: &mut dyn Write) -> io::Result<()> {
    let doc = Doc { out, prefix: Vec::new(), blank: true, unfold: options.bodies == ShownBodies::All };
    let mut show =
        MarkdownWriter { book, options, doc, walk: Walk::new(book.transcript()), bullet: '-', folds: Folds::default(), headed: None };
    show.title()?;
    let digest = tooltrail_model::digest::of(book, &options.selection);
    show.doc.verdict(&VerdictStrip::of(&SessionVerdict::of(&digest)))?;
    show.doc.digest(&crate::digest::rows(&digest, book.transcript()))?;
    show.thread(0)?;
    // Asked for after the main conversation, because walking it claims the subagents that its calls started.
    for thread in show.walk.left(&options.selection) {
        let agent = book.transcript().threads.get(thread).and_then(|thread| thread.agent.as_deref());
        let title = agent.map_or_else(|| "Another conversation".to_owned(), |agent| format!("Subagent {}", escape(agent)));
        show.doc.heading(2, &title)?;
        show.thread(thread)?;
    }
    Ok(())
}

/// Writes one call, with all that its view shows.
pub fn call(story: &Story<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut doc = Doc { out, prefix: Vec::new(), blank: true, unfold: true };
    doc.line(&call_line(story))?;
    doc.gap()?;
    doc.blocks(&view::body(story, &Limits { highlight: false, ..Limits::PAGE }), 0)
}

/// Writes blocks on their own.
pub fn blocks(blocks: &[Block], out: &mut dyn Write) -> io::Result<()> {
    Doc { out, prefix: Vec::new(), blank: true, unfold: true }.blocks(blocks, 0)
}

/// A document being written. Lines within a list or a quote have a prefix.
struct Doc<'o> {
    out: &'o mut dyn Write,
    prefix: Vec<&'static str>,
    blank: bool,
    /// Whether sections that a page would fold are written.
    unfold: bool,
}

impl Doc<'_> {
    /// Writes a line.
    fn line(&mut self, text: &str) -> io::Result<()> {
        let prefix: String = self.prefix.concat();
        self.blank = false;
        // Trailing spaces would be a line break in Markdown.
        writeln!(self.out, "{}", format!("{prefix}{text}").trim_end())
    }

    /// Writes lines.
    fn lines(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| self.line(line))
    }

    /// Writes an empty line, unless one was just written.
    fn gap(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.blank, true) {
            let prefix: String = self.prefix.concat();
            // The prefix must stay, or the empty line would end the quote or the list.
            writeln!(self.out, "{}", prefix.trim_end())?;
        }
        Ok(())
    }

    fn heading(&mut self, level: usize, text: &str) -> io::Result<()> {
        self.gap()?;
        self.line(&format!("{} {text}", "#".repeat(level)))?;
        self.gap()
    }
}

/// A session being written as a document.
struct MarkdownWriter<'b, 'o> {
    book: &'b dyn Book,
    options: &'b MarkdownOptions,
    doc: Doc<'o>,
    walk: Walk<'b>,
    /// Bullet for lists of calls: a different one than that of the list which the text before them ends with.
    bullet: char,
    /// Folded messages that are not written yet.
    folds: Folds,
    /// Prompt of the turn, if the heading contains all of it.
    headed: Option<String>,
}

impl MarkdownWriter<'_, '_> {
    fn title(&mut self) -> io::Result<()> {
        let transcript = self.book.transcript();
        let session = &transcript.session;
        self.doc.heading(1, &escape(session.title.unwrap_or("Untitled session")))?;
        // Paths and branches as code: they are full of characters that Markdown would act on.
        let mut facts: Vec<String> = [session.project, session.branch].into_iter().flatten().map(code).collect();
        facts.push(escape(&settings::agent(transcript)));
        facts.extend(session.models.iter().map(|model| escape(model)));
        facts.extend(session.started_at.map(|time| format!("{} UTC", escape(&time.timestamp().strftime("%Y-%m-%d %H:%M").to_string()))));
        facts.push(counted(session.turns, "turn"));
        facts.push(counted(session.calls, "call"));
        let statuses = session.by_status.iter().map(|(status, number)| format!("{} {}", look(*status).glyph, count(*number)));
        facts.push(statuses.collect::<Vec<_>>().join(" "));
        facts.push(format!("{} tokens out", count(session.usage.output)));
        facts.extend(settings::server_tools(transcript.settings.server_tools).map(|tools| format!("{tools} by the API")));
        facts.extend(settings::permissions(&transcript.settings).map(|modes| format!("permission mode: {}", escape(&modes))));
        // A session without calls has an empty list of statuses.
        facts.retain(|fact| !fact.is_empty());
        self.doc.line(&facts.join(" · "))
    }

    /// A conversation; the main one has a heading per turn.
    fn thread(&mut self, index: usize) -> io::Result<()> {
        let Some(thread) = self.walk.enter(index) else { return Ok(()) };
        let transcript = self.book.transcript();
        let mut turn = None;
        for entry in thread.entries.iter().filter(|entry| walk::takes(transcript, thread, entry, &self.options.selection)) {
            // Entries before the first prompt have no turn and need no heading.
            if index == 0 && entry.turn != turn {
                turn = entry.turn;
                self.turn(turn)?;
            }
            self.entry(entry, thread.started_by.is_some())?;
        }
        // Folded notes at the end of a subagent must not move into its parent.
        self.release()?;
        self.walk.leave();
        Ok(())
    }

    fn turn(&mut self, turn: Option<usize>) -> io::Result<()> {
        self.release()?;
        self.folds.turn();
        let Some(turn) = turn else { return Ok(()) };
        let known = self.book.transcript().turns.get(turn);
        self.headed = known.map(|turn| turn.head.clone());
        let head = known.map(|turn| escape(&turn.head)).unwrap_or_default();
        let abandoned = if known.is_some_and(|turn| turn.abandoned) { " (abandoned)" } else { "" };
        // The heading ended the list that the other bullet was needed for.
        self.bullet = '-';
        self.doc.heading(2, &format!("{}. {head}{abandoned}", turn + 1))
    }

    fn entry(&mut self, entry: &Entry, nested: bool) -> io::Result<()> {
        match self.book.open(entry) {
            Loaded::Call(story) => self.story(&story),
            // A subagent's task and answer are part of the call that started it.
            Loaded::Part(_) if nested => Ok(()),
            Loaded::Part(part) if brief::is_taken_back(self.book.transcript(), entry) => {
                self.message(&brief::taken_back(message(&part, &Limits::WHOLE)))
            }
            Loaded::Part(part) => self.message(&message(&part, &Limits::WHOLE)),
            Loaded::Gone(why) => {
                self.release()?;
                self.doc.gap()?;
                self.doc.line(&format!("> **gone** {}", escape(&why)))?;
                self.doc.gap()
            }
        }
    }

    /// A call: an item of a list, with its body and its subagents' calls within.
    fn story(&mut self, story: &Story<'_>) -> io::Result<()> {
        self.release()?;
        let line = format!("{} {}", self.bullet, call_line(story));
        self.doc.line(&line)?;
        // Two spaces: everything until the pop is part of the item.
        self.doc.prefix.push("  ");
        // Within the item a new list begins, so the usual bullet is free again.
        let bullet = std::mem::replace(&mut self.bullet, '-');
        if self.opens(story) {
            let limits = if self.options.bodies == ShownBodies::All { Limits { highlight: false, ..Limits::PAGE } } else { TELLING };
            let body = view::body(story, &limits);
            let telling = self.options.bodies == ShownBodies::Telling;
            // Only overviews drop what the line already shows.
            let body = if telling { brief::body(&view::head(story), story.row.kind, true, body) } else { body };
            self.doc.blocks(&body, 0)?;
            self.doc.gap()?;
        }
        for &thread in &story.nested.threads {
            self.thread(thread)?;
        }
        self.bullet = bullet;
        self.doc.prefix.pop();
        Ok(())
    }

    /// Writes the folded messages that were kept.
    fn release(&mut self) -> io::Result<()> {
        for folded in self.folds.release() {
            let label = Some(escape(&folded.label)).filter(|label| !label.trim().is_empty());
            let words = label.map(|label| format!("*{}* ", label.trim())).unwrap_or_default() + &escape(&folded.gist);
            self.doc.gap()?;
            self.doc.line(words.trim_end())?;
            self.bullet = '-';
            self.doc.gap()?;
        }
        Ok(())
    }

    fn opens(&self, story: &Story<'_>) -> bool {
        let edits = matches!(story.row.kind, Kind::Edit | Kind::Write);
        match self.options.bodies {
            ShownBodies::All => true,
            ShownBodies::Telling => edits || walk::opens(story),
            ShownBodies::None => false,
        }
    }

    fn message(&mut self, message: &MessageView) -> io::Result<()> {
        if message.folded {
            self.folds.hold(message);
            return Ok(());
        }
        self.release()?;
        // Taken only once: a prompt repeated later in the turn is shown.
        if self.headed.take_if(|head| brief::repeats(message, head)).is_some() {
            return Ok(());
        }
        self.doc.gap()?;
        // The model's own text is the document's main text; everything else is quoted.
        let quoted = message.who != MessageAuthor::Model;
        if quoted {
            self.doc.prefix.push("> ");
        }
        if !matches!(message.who, MessageAuthor::Person | MessageAuthor::Model) && !message.label.is_empty() {
            self.doc.line(&format!("**{}**", escape(&message.label.text())))?;
        }
        if message.body.is_empty() && !message.gist.is_empty() {
            self.doc.gap()?;
            self.doc.line(&escape(&message.gist.text()))?;
        }
        self.doc.blocks(&message.body, 0)?;
        if quoted {
            self.doc.prefix.pop();
        }
        // A quote ends its own list, so only unquoted text can run into ours.
        self.bullet = if !quoted && ends_in_dashes(&message.body) { '*' } else { '-' };
        // Forces the empty line even after a body that wrote nothing.
        self.doc.blank = false;
        self.doc.gap()
    }
}

/// A call in one line: sign, name, subject, outcome, and the reference that other commands take.
fn call_line(story: &Story<'_>) -> String {
    let (row, head) = (&story.row, view::head(story));
    let mut out = format!("{} **{}** {}", look_of(row).glyph, escape(&head.name.text()), code(&head.title.text()));
    let facts: Vec<String> = head.facts.iter().map(|fact| escape(&fact.text())).collect();
    let outcome = outcome(row);
    let told = [Some(outcome).filter(|words| !words.is_empty()), row.duration_ms.map(took)];
    let told: Vec<String> = told.into_iter().flatten().chain(facts).collect();
    if !told.is_empty() {
        out = format!("{} — {}", out.trim_end(), told.join(", "));
    }
    format!("{} ({})", out.trim_end(), code(&row.r#ref))
}

/// Whether a message ends in a list that a list of calls would merge with.
fn ends_in_dashes(body: &[Block]) -> bool {
    matches!(body.last(), Some(Block::Markdown { text, .. }) if prose(text).bullet == Some(b'-'))
}
