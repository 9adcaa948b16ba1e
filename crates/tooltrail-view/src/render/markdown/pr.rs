//! A session for a pull request: digest, prompts and answers, changes, open problems; the rest folded.
//!
//! Forges act on more than Markdown: names in a description notify people, numbers mention issues and `fixes` closes them.
//! So words from a log are either code or `inert`, and the only HTML is our own `<details>`. The text stays within
//! [`PullRequestOptions::most`] characters: where there is too much, diffs go first, then lists of calls, then answers, then prompts; the end says what
//! was left out.

mod turns;

use super::Doc;
use super::blocks::printed;
use super::text::{code, fence, inert};
use crate::cut::short;
use crate::digest::{self, DigestFact, DigestRow};
use crate::head::{count, counted, look, look_of, outcome, took};
use crate::line::{Class, neutral};
use crate::render::words;
use crate::verdict::VerdictStrip;
use crate::{Block, Book, Limits, Loaded, Selection, call as view, settings};
use std::io::{self, Write};
use tooltrail_model::digest::{Digest, UnresolvedCall};
use tooltrail_model::session_verdict::SessionVerdict;
use tooltrail_model::transcript::{Story, Transcript};
use turns::{TurnSummary, asked, turns};

/// Options of the export for a pull request.
#[derive(Clone, Debug, Default)]
pub struct PullRequestOptions {
    /// Part of the session to render.
    pub selection: Selection,
    /// Remark at the end: what was redacted.
    pub note: Option<String>,
    /// The most characters, between [`LEAST`] and [`MOST`]; [`USUAL`] if not given.
    pub most: Option<usize>,
}

/// The most characters that are possible. Forges accept slightly more.
pub const MOST: usize = 60_000;
/// The most characters if nothing else is asked for: about what people read in a description.
pub const USUAL: usize = 8_000;
/// The least limit: the head and the remarks at the end need some space.
pub const LEAST: usize = 2_000;
/// Characters reserved for headings and for the remarks at the end.
const SPARE: usize = 1_000;
/// Shares of all characters: the list of open problems gets at most a quarter, the list of files an eighth, the digest half.
const OPEN: usize = 4;
const FILES: usize = 8;
const DIGEST: usize = 2;
/// Lengths that prompts and answers are shortened to, step by step.
const PROMPTS: &[usize] = &[1_000, 300, 100, 40];
const ANSWERS: &[usize] = &[600, 200, 80];
/// The most characters of a title or of a call's subject, and of a name.
const TITLE: usize = 160;
const NAME: usize = 80;
/// Limits of a changed file.
pub const CHANGE: Limits = Limits { lines: 200, bytes: 12_000, head: 20, highlight: false };
/// Limits of a failed call's message.
const MESSAGE: Limits = Limits { lines: 12, bytes: 1_200, head: 4, highlight: false };
/// With less space than this no more content is tried.
const TIGHT: usize = 300;

/// Writes a session. `changes`: a section for each file that changed, within [`CHANGE`].
pub fn session(
    book: &dyn Book,
    changes: &mut dyn Iterator<Item = Block>,
    options: &PullRequestOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let digest = tooltrail_model::digest::of(book, &options.selection);
    let limit = options.most.unwrap_or(USUAL).clamp(LEAST, MOST);
    let mut pull = Pull { book, options, digest: &digest, limit, left: limit - SPARE, gone: Vec::new() };
    out.write_all(pull.text(changes)?.as_bytes())
}

/// A description being written.
struct Pull<'b> {
    book: &'b dyn Book,
    options: &'b PullRequestOptions,
    digest: &'b Digest,
    /// The most characters of all of it.
    limit: usize,
    /// Number of characters that still fit.
    left: usize,
    /// Parts that were left out.
    gone: Vec<String>,
}

impl Pull<'_> {
    /// All of it. Important parts take their space first; their order in the text is different.
    fn text(&mut self, changes: &mut dyn Iterator<Item = Block>) -> io::Result<String> {
        // Order of importance, not of appearance: each part shrinks `left` for the next.
        let head = self.keep(self.head()?);
        let open = self.open()?;
        let files = self.files()?;
        let turns = self.turns()?;
        let calls = self.calls()?;
        let diffs = self.diffs(changes)?;
        let foot = self.foot()?;
        // Order of appearance.
        Ok([head, turns, files, diffs, open, calls, foot].concat())
    }

    /// Title, facts and digest, with as many facts in each row of the digest as there is space for.
    fn head(&self) -> io::Result<String> {
        let transcript = self.book.transcript();
        let title = drawn(|doc| head(doc, self.digest, transcript))?;
        let space = (self.limit / DIGEST).saturating_sub(size(&title));
        let mut rows = shortened(self.digest, transcript);
        let mut text = drawn(|doc| doc.digest(&rows))?;
        for facts in [8, 4, 2, 1] {
            if size(&text) <= space {
                break;
            }
            rows.iter_mut().for_each(|row| row.facts.truncate(facts));
            text = drawn(|doc| doc.digest(&rows))?;
        }
        // Single facts may still be long; what proves most stands first.
        while size(&text) > space && rows.pop().is_some() {
            text = drawn(|doc| doc.digest(&rows))?;
        }
        Ok(title + &text)
    }

    /// Takes the space of a text.
    fn keep(&mut self, text: String) -> String {
        self.left = self.left.saturating_sub(size(&text));
        text
    }

    /// Prompts and answers, turn by turn.
    fn turns(&mut self) -> io::Result<String> {
        let turns = turns(self.book, &self.options.selection);
        if turns.is_empty() {
            return Ok(String::new());
        }
        let title = "### Prompts\n\n";
        let items = |prompt: usize, answer: usize| turns.iter().map(|turn| asked(turn, prompt, answer)).collect::<String>();
        // Prompts of all turns matter more than answers of a few, so prompts are fitted first, without answers.
        let mut tries = PROMPTS.iter().map(|&prompt| (prompt, items(prompt, 0)));
        let space = self.left.saturating_sub(title.len());
        let Some((prompt, mut text)) = tries.find(|(_, text)| size(text) <= space) else {
            let text = format!("{title}{}", self.first_turns(&turns));
            return Ok(self.keep(text));
        };
        // Shortening by one step is what a description should look like anyway.
        if prompt < PROMPTS[0] {
            self.gone.push("the ends of prompts".into());
        }
        let answered = ANSWERS.iter().map(|&answer| (answer, items(prompt, answer))).find(|(_, text)| size(text) <= space);
        match answered {
            Some((answer, with)) => {
                text = with;
                self.gone.extend((answer < ANSWERS[0]).then(|| "the ends of answers".into()));
            }
            None => self.gone.push("answers".into()),
        }
        Ok(self.keep(format!("{title}{text}")))
    }

    /// As many turns as there is space for, with the shortest prompts.
    fn first_turns(&mut self, turns: &[TurnSummary]) -> String {
        let shortest = PROMPTS.last().copied().unwrap_or_default();
        let (mut text, mut shown) = (String::new(), 0);
        // `TIGHT` is left for the remark on what is missing.
        let mut space = self.left.saturating_sub(TIGHT);
        for item in turns.iter().map(|turn| asked(turn, shortest, 0)) {
            let Some(rest) = space.checked_sub(size(&item)) else { break };
            (space, shown) = (rest, shown + 1);
            text.push_str(&item);
        }
        self.gone.push(format!("answers, the ends of prompts and {}", counted((turns.len() - shown) as u64, "turn")));
        text
    }

    /// List of changed files.
    fn files(&mut self) -> io::Result<String> {
        let (changed, limit) = (&self.digest.changed, self.limit);
        if changed.files.is_empty() {
            return Ok(String::new());
        }
        let facts = digest::files(changed, self.book.transcript());
        let text = drawn(|doc| {
            doc.heading(3, "Changes")?;
            // A budget of its own, so that a session with thousands of files leaves space for the rest.
            let mut space = limit / FILES;
            for (place, fact) in facts.iter().enumerate() {
                let item = format!("- {}", super::digest::words(fact));
                let Some(rest) = space.checked_sub(size(&item)) else {
                    doc.line(&format!("- and {} more", count((facts.len() - place) as u64)))?;
                    break;
                };
                space = rest;
                doc.line(&item)?;
            }
            Ok(())
        })?;
        Ok(self.keep(text))
    }

    /// Diffs of the changed files, folded.
    fn diffs(&mut self, changes: &mut dyn Iterator<Item = Block>) -> io::Result<String> {
        let (mut text, mut all, mut missing) = (String::new(), 0, 0);
        for change in changes {
            all += 1;
            // Not even drawn once there is no space: drawing a diff is the expensive part.
            let change = if self.left > TIGHT { drawn(|doc| fenced(doc, std::slice::from_ref(&change)))? } else { String::new() };
            // A large diff is skipped, but smaller ones after it may still fit.
            if change.is_empty() || size(&change) > self.left {
                missing += 1;
            } else {
                text.push_str(&self.keep(change));
            }
        }
        if missing > 0 {
            self.gone.push(format!("the diffs of {} of {}", count(missing), counted(all, "file")));
        }
        Ok(folded("Diffs", &text))
    }

    /// Open problems: failures, refusals, calls without a result.
    fn open(&mut self) -> io::Result<String> {
        let (digest, limit) = (self.digest, self.limit);
        let all: Vec<&UnresolvedCall> =
            [&digest.failures, &digest.rejected, &digest.blocked, &digest.unanswered].into_iter().flatten().collect();
        if all.is_empty() {
            return Ok(String::new());
        }
        let facts = digest::left_open(&all, self.book.transcript());
        let text = drawn(|doc| {
            doc.heading(3, "Unresolved failures")?;
            let mut space = limit / OPEN;
            for (place, (open, fact)) in all.iter().zip(&facts).enumerate() {
                // Drawn on its own first, because its size decides whether it is written.
                let item = drawn(|doc| item(doc, &super::digest::words(fact), &message(self.book, open.cited.index, &fact.text())))?;
                let Some(rest) = space.checked_sub(size(&item)) else {
                    return doc.line(&format!("- and {} more", count((all.len() - place) as u64)));
                };
                space = rest;
                doc.lines(&item)?;
            }
            Ok(())
        })?;
        Ok(self.keep(text))
    }

    /// All calls, folded.
    fn calls(&mut self) -> io::Result<String> {
        let transcript = self.book.transcript();
        let (mut text, mut turn, mut missing, mut all) = (String::new(), None, 0, 0);
        for (index, call) in transcript.calls.iter().enumerate().filter(|(_, call)| self.options.selection.takes_turn(call.turn)) {
            // As elsewhere, calls in scripts are listed below theirs and not counted.
            let counts = u64::from(!call.row.is_inner());
            all += counts;
            // Still counted, so that the summary and the remark have the right numbers.
            if self.left < TIGHT {
                missing += counts;
                continue;
            }
            let mut item = String::new();
            // A heading only before the first call of a turn that is written.
            if call.turn.is_some() && call.turn != turn {
                turn = call.turn;
                let head = turn.and_then(|turn| transcript.turns.get(turn)).map(|turn| inert(&short(&turn.head, NAME))).unwrap_or_default();
                item = format!("\n**{}.** {head}\n\n", turn.map_or(0, |turn| turn + 1));
            }
            item += &format!("- {}\n", call_line(self.book, index));
            text.push_str(&self.keep(item));
        }
        if missing > 0 {
            self.gone.push(format!("{} of {}", counted(missing, "call"), count(all)));
        }
        Ok(folded(&if all == 1 { "1 call".to_owned() } else { format!("All {}", counted(all, "call")) }, &text))
    }

    /// Origin of the text, and what was left out of it.
    fn foot(&self) -> io::Result<String> {
        let session = &self.book.transcript().session;
        let first = self.book.transcript().calls.iter().find(|call| self.options.selection.takes_turn(call.turn));
        // A real reference as example; without calls the session itself can be shown.
        let call = first.map_or(session.short, |call| &call.row.r#ref);
        drawn(|doc| {
            doc.gap()?;
            if !self.gone.is_empty() {
                let limit = count(self.limit as u64);
                doc.line(&format!("*Left out to stay under {limit} characters: {}.*", self.gone.join("; ")))?;
                doc.gap()?;
            }
            let note = self.options.note.as_deref().map(|note| format!(" {}", inert(note))).unwrap_or_default();
            let names = format!("{} names a call: {}", code(call), code(&format!("tooltrail show {call}")));
            doc.line(&format!("*Written by tooltrail from the session's log. {names}.{note}*"))
        })
    }
}

/// Text drawn into memory. It begins with an empty line.
fn drawn(draw: impl FnOnce(&mut Doc<'_>) -> io::Result<()>) -> io::Result<String> {
    let mut out = Vec::new();
    draw(&mut Doc { out: &mut out, prefix: Vec::new(), blank: false, unfold: true })?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Number of characters, which is what forges limit.
fn size(text: &str) -> usize {
    text.chars().count()
}

/// A folded part. The summary is always our own text: text from a log would be HTML there.
fn folded(summary: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    // The empty lines are needed, or the text inside would not be read as Markdown.
    format!("\n<details>\n<summary>{summary}</summary>\n\n{}\n\n</details>\n", text.trim_matches('\n'))
}

/// Title and facts of the session.
fn head(doc: &mut Doc<'_>, digest: &Digest, transcript: &Transcript<'_>) -> io::Result<()> {
    let session = &transcript.session;
    let first = transcript.turns.iter().map(|turn| turn.head.as_str()).find(|head| !head.is_empty());
    let title = session.title.or(first).unwrap_or("Untitled session");
    // Nothing stands before the title, so no empty line is wanted.
    doc.blank = true;
    doc.heading(2, &inert(&short(&words(title), TITLE)))?;
    let mut facts = vec![inert(&short(&settings::agent(transcript), NAME))];
    // Names of models come from the log and may be anything, hence the limits.
    facts.extend(session.models.iter().take(3).map(|model| inert(&short(model, NAME))));
    facts.extend(session.branch.map(|branch| code(&short(branch, NAME))));
    facts.extend(session.started_at.map(|time| format!("{} UTC", inert(&time.timestamp().strftime("%Y-%m-%d %H:%M").to_string()))));
    facts.push(counted(session.turns, "turn"));
    facts.push(counted(session.calls, "call"));
    let statuses = session.by_status.iter().map(|(status, number)| format!("{} {}", look(*status).glyph, count(*number)));
    facts.push(statuses.collect::<Vec<_>>().join(" "));
    facts.extend(settings::permissions(&transcript.settings).map(|modes| format!("permission mode: {}", inert(&short(&modes, TITLE)))));
    facts.retain(|fact| !fact.is_empty());
    doc.verdict(&VerdictStrip::of(&SessionVerdict::of(digest)))?;
    doc.line(&facts.join(" · "))
}

/// The labels of prompts and answers in a digest.
const PROMPTS_AND_ANSWER: [&str; 4] = ["Prompt", "First prompt", "Last prompt", "Last answer"];

/// Digest without parts that follow at length, and without the state, which is outdated when the text is read.
fn shortened(digest: &Digest, transcript: &Transcript<'_>) -> Vec<DigestRow> {
    let mut rows = digest::rows(digest, transcript);
    // With a single turn, its prompt and answer stand right below.
    rows.retain(|row| row.label != "State" && (transcript.turns.len() > 1 || !PROMPTS_AND_ANSWER.contains(&row.label)));
    for row in &mut rows {
        match row.label {
            "Changes" => row.facts.truncate(1),
            "Unresolved failures" => row.facts = vec![DigestFact::of(Class::Plain, &open_counts(digest))],
            _ => {}
        }
    }
    rows
}

/// Number of open problems: `5 failed, 1 rejected`.
fn open_counts(digest: &Digest) -> String {
    let sorts = [
        (&digest.failures, "failed"),
        (&digest.rejected, "rejected"),
        (&digest.blocked, "blocked"),
        (&digest.unanswered, "without a result"),
    ];
    let told = sorts.iter().filter(|(sort, _)| !sort.is_empty()).map(|(sort, word)| format!("{} {word}", count(sort.len() as u64)));
    told.collect::<Vec<_>>().join(", ")
}

/// Changes: code in fences, file names above it, and remarks where something is missing.
fn fenced(doc: &mut Doc<'_>, blocks: &[Block]) -> io::Result<()> {
    for block in blocks {
        doc.gap()?;
        match block {
            Block::Diff(_) | Block::Code(_) => doc.blocks(std::slice::from_ref(block), 0)?,
            Block::Notice { text, .. } => doc.line(&format!("*{}*", inert(&text.text())))?,
            Block::Section { label, body, .. } => {
                doc.line(&super::digest::line(label))?;
                fenced(doc, body)?;
            }
            // Views of changes contain no other blocks; one that did could not be made inert here.
            _ => {}
        }
    }
    Ok(())
}

/// Message of a failed call, line by line; nothing where the fact already contains it.
fn message(book: &dyn Book, index: usize, fact: &str) -> Vec<String> {
    let Loaded::Call(story) = book.call(index) else { return Vec::new() };
    if !super::walk::opens(&story) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    match crate::outcome::error(&story) {
        Some(error) => {
            lines.extend(error.lines().map(|line| short(&neutral(line), TITLE)));
            let skipped = lines.len().saturating_sub(MESSAGE.lines);
            // The cause stands first in a tool's error, and last in a program's output: the middle goes.
            if skipped > 0 {
                lines.splice(MESSAGE.head..MESSAGE.head + skipped, [format!("… {}", counted(skipped as u64, "line"))]);
            }
        }
        // The view has cut it, and says so.
        None => {
            for block in view::body(&story, &MESSAGE) {
                let Block::Terminal(terminal) = block else { continue };
                lines.extend(printed(&terminal).iter().map(|line| short(line, TITLE)));
            }
        }
    }
    if lines.iter().all(|line| fact.contains(line.trim())) { Vec::new() } else { lines }
}

/// An item of a list with lines below it.
fn item(doc: &mut Doc<'_>, words: &str, lines: &[String]) -> io::Result<()> {
    doc.line(&format!("- {words}"))?;
    if lines.is_empty() {
        return Ok(());
    }
    let fence = fence(lines.iter().map(String::as_str));
    doc.line("")?;
    doc.line(&format!("  {fence}text"))?;
    lines.iter().try_for_each(|line| doc.line(&format!("  {line}")))?;
    doc.line(&format!("  {fence}"))
}

/// A call as its tool and its subject.
fn title(story: &Story<'_>) -> String {
    let head = view::head(story);
    format!("**{}** {}", inert(&short(&head.name.text(), NAME)), code(&short(&head.title.text(), TITLE))).trim_end().to_owned()
}

/// A call in one line.
fn call_line(book: &dyn Book, index: usize) -> String {
    let Loaded::Call(story) = book.call(index) else { return "*gone*".to_owned() };
    let row = &story.row;
    let told = [Some(outcome(row)).filter(|words| !words.is_empty()), row.duration_ms.map(took)];
    let told = told.into_iter().flatten().map(|fact| format!(", {fact}")).collect::<String>();
    format!("{} {} {}{told}", look_of(row).glyph, code(&row.r#ref), title(&story))
}
