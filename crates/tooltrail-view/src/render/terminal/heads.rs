//! The lines above things: a session's title, a turn's heading, a call in one line.
//!
//! ```text
//! ── 2 ─ also add docs ────────────────────────────── 14:06 ──
//!   $ Bash     cargo test -p parser    42 lines     1.9 s  ✗ exit 101
//! ```

use super::TerminalWriter;
use super::paint::{ACCENT, BAD, BOLD, DIM, PLAIN, StyledRow, WARN, tone_style};
use super::wrap::{Fold, columns, cut, cut_middle};
use crate::Head;
use crate::head::{count, counted, look, look_of, outcome, took, why};
use crate::line::neutral;
use crate::messages::{MessageAuthor, MessageView};
use crate::settings;
use crate::why::is_doubtful;
use std::io;
use tooltrail_model::row::{CallRow, SessionRow};
use tooltrail_model::transcript::Story;
use tooltrail_model::{Kind, Reason, Time};

impl TerminalWriter<'_, '_> {
    /// Facts about the session in a few lines.
    pub(super) fn title(&mut self) -> io::Result<()> {
        let book = self.book;
        let transcript = book.transcript();
        let session = &transcript.session;
        self.page.put(&StyledRow::of(BOLD, session.title.unwrap_or("untitled session")), Fold::Words)?;
        let agent = settings::agent(transcript);
        let agent = [agent.as_str()].into_iter().chain(session.models.iter().copied()).collect::<Vec<_>>().join(", ");
        // Each of them may be missing, depending on the agent.
        let place = [session.project, session.branch, Some(agent.as_str())];
        let place: Vec<&str> = place.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        self.page.put(&StyledRow::of(DIM, &place.join(" · ")), Fold::Words)?;
        self.page.put(&self.numbers(session), Fold::Words)?;
        let usage = session.usage;
        // The log's numbers may be anything, so sums must not overflow.
        let cached = usage.cache_read.saturating_add(usage.cache_write_5m).saturating_add(usage.cache_write_1h);
        if usage.input.saturating_add(usage.output).saturating_add(cached) > 0 {
            let server = settings::server_tools(transcript.settings.server_tools).map(|tools| format!(" · {tools} by the API"));
            let words = format!("tokens: {} in, {} out, {} cached", count(usage.input), count(usage.output), count(cached));
            self.page.put(&StyledRow::of(DIM, &(words + &server.unwrap_or_default())), Fold::Words)?;
        }
        if let Some(modes) = settings::permissions(&transcript.settings) {
            self.page.put(&StyledRow::of(DIM, &format!("permission mode: {}", neutral(&modes))), Fold::Words)?;
        }
        Ok(())
    }

    /// Start, duration, and outcomes of the calls.
    fn numbers(&self, session: &SessionRow<'_>) -> StyledRow {
        let (start, end) = (session.started_at, session.last_at);
        let mut facts = Vec::new();
        if let Some(start) = start {
            facts.push(self.clock(start, "%Y-%m-%d %H:%M"));
        }
        if let (Some(start), Some(end)) = (start, end) {
            // A clock that went backwards counts as no time.
            facts.push(took(u64::try_from(start.micros_until(end) / 1000).unwrap_or(0)));
        }
        facts.push(counted(session.turns, "turn"));
        facts.push(counted(session.calls, "call"));
        let mut row = StyledRow::of(DIM, &facts.join(" · "));
        for (status, number) in &session.by_status {
            let look = look(*status);
            row.push(tone_style(look.tone), &format!("  {} {}", look.glyph, count(*number)));
        }
        row
    }

    /// A time in the reader's time zone.
    pub(super) fn clock(&self, time: Time, format: &str) -> String {
        let zone = self.options.zone.clone().unwrap_or(jiff::tz::TimeZone::UTC);
        // A time that no calendar has must not fail the whole output.
        jiff::fmt::strtime::format(format, &time.timestamp().to_zoned(zone)).unwrap_or_default()
    }

    /// The heading of a turn.
    pub(super) fn turn(&mut self, turn: Option<usize>) -> io::Result<()> {
        self.release()?;
        self.folds.turn();
        let book = self.book;
        let known = turn.and_then(|turn| book.transcript().turns.get(turn));
        let number = turn.map_or_else(String::new, |turn| format!(" {} ─", turn + 1));
        let head = known.map_or("before the first prompt", |turn| turn.head.as_str());
        let clock = known.and_then(|turn| turn.time).map(|time| format!(" {} ──", self.clock(time, "%H:%M"))).unwrap_or_default();
        let abandoned = if known.is_some_and(|turn| turn.abandoned) { " (abandoned)" } else { "" };
        // Four for the lines at both ends, two for the spaces around the title.
        let fixed = 4 + columns(&number) + columns(&clock) + columns(abandoned);
        let width = self.page.inner();
        let title = cut(&StyledRow::of(BOLD, &neutral(head)), width.saturating_sub(fixed + 2));
        let whole = columns(&neutral(head)) <= width.saturating_sub(fixed + 2);
        // Where the heading shows all of the prompt, the prompt itself is left out below.
        self.headed = known.filter(|_| whole).map(|turn| turn.head.clone());
        let mut row = StyledRow::of(DIM, &format!("──{number} "));
        row.append(title);
        row.push(WARN, abandoned);
        row.push(DIM, " ");
        // The rule fills whatever the title leaves.
        let rest = width.saturating_sub(row.columns() + columns(&clock));
        row.push(DIM, &format!("{}{clock}", "─".repeat(rest)));
        self.page.gap()?;
        self.page.put(&row, Fold::Cut)?;
        self.page.gap()
    }

    /// A call in one line.
    pub(super) fn call_line(&self, head: &Head, story: &Story<'_>, mark: &str) -> StyledRow {
        let (width, row) = (self.page.inner(), &story.row);
        // Calls of subagents are indented, but keep the columns of the others: the full width decides.
        let wide = self.page.width() >= 120;
        let right = right(row, is_doubtful(story), wide);
        let mut line = StyledRow::of(DIM, mark)
            .with(DIM, &format!("{:>3} ", number(row)))
            .with(tone_style(look_of(row).tone), icon(head))
            .with(PLAIN, " ");
        // Names of MCP tools can be very long; a third of the line is the most they get.
        line.append(cut(&StyledRow::line(BOLD, &head.name), (width / 3).min(28)));
        line.pad(if wide { 20 } else { 16 });
        line.push(PLAIN, " ");
        let space = width.saturating_sub(line.columns() + right.columns() + 2);
        // Facts get at most half, because the subject matters more.
        let facts = facts(head, space / 2);
        let title = space.saturating_sub(facts.columns() + 2);
        // Subjects of these kinds are paths, whose end matters most.
        let middle = matches!(row.kind, Kind::Read | Kind::Write | Kind::Edit | Kind::List | Kind::Image);
        let words = StyledRow::line(PLAIN, &head.title);
        line.append(if middle { cut_middle(&words, title) } else { cut(&words, title) });
        line.pad(width.saturating_sub(right.columns() + facts.columns() + 2));
        line.append(facts);
        line.push(PLAIN, "  ");
        line.append(right);
        line
    }

    /// One call: its line, its outcome in words, and its reference.
    pub(super) fn call_title(&mut self, story: &Story<'_>) -> io::Result<()> {
        let row = &story.row;
        let head = crate::call::head(story);
        let mut title = StyledRow::of(tone_style(look_of(row).tone), icon(&head)).with(PLAIN, " ");
        title.push_line(BOLD, &head.name);
        title.push(PLAIN, "  ");
        title.push_line(PLAIN, &head.title);
        // A command or an input follows below in full.
        let fold = if matches!(row.kind, Kind::Shell | Kind::Mcp | Kind::Other) { Fold::Cut } else { Fold::Words };
        self.page.hang(&StyledRow::default(), &StyledRow::of(PLAIN, "  "), &title, fold)?;
        let look = look_of(row);
        let mut status = StyledRow::of(tone_style(look.tone), &format!("{} {}", look.glyph, look.word));
        let exit = row.exit_code.map(|code| format!("exit {code}"));
        // The exit code stands either as the reason or among the facts, never twice.
        let by_exit = row.reason == Some(Reason::ExitCode) && exit.is_some();
        // Some statuses have a word that is their reason.
        if let Some(reason) = row.reason.filter(|reason| why(*reason) != look.word) {
            status.push(PLAIN, &format!(": {}", exit.as_deref().filter(|_| by_exit).unwrap_or(why(reason))));
        }
        let mut facts: Vec<String> = head.facts.iter().map(crate::Line::text).collect();
        let exit = exit.filter(|exit| !by_exit && !facts.contains(exit));
        facts.extend([exit, row.duration_ms.map(took), Some(row.r#ref.clone())].into_iter().flatten());
        status.push(DIM, &format!("  {}", facts.join(" · ")));
        self.page.put(&status, Fold::Words)
    }

    /// Heading of a conversation that no shown call started.
    pub(super) fn stray(&self, thread: usize) -> StyledRow {
        let agent = self.book.transcript().threads.get(thread).and_then(|thread| thread.agent.as_deref());
        let title = agent.map_or_else(|| "another conversation".to_owned(), |agent| format!("subagent {agent}"));
        let mut row = StyledRow::of(DIM, "── ").with(BOLD, &title).with(DIM, " ");
        let rest = self.page.inner().saturating_sub(row.columns());
        row.push(DIM, &"─".repeat(rest));
        row
    }
}

/// The number of a call in its session, as digests cite it: `#3`.
fn number(row: &CallRow<'_>) -> String {
    row.r#ref.rsplit_once(':').map(|(_, number)| format!("#{number}")).unwrap_or_default()
}

/// Duration and outcome; the columns are the same for all calls unless an outcome needs more.
fn right(row: &CallRow<'_>, doubtful: bool, wide: bool) -> StyledRow {
    let look = look_of(row);
    // The success is not that of the test or build in the command: marked as in the table of `calls`.
    let doubt = if doubtful { "?" } else { "" };
    let duration = row.duration_ms.map(took).unwrap_or_default();
    let mut words = outcome(row);
    // On a narrow terminal the word alone is shown; the reason would push the subject out.
    if !wide && columns(&words) > 16 {
        words = look.word.to_owned();
    }
    // Padded to a column, so that durations align from row to row.
    let column: usize = if wide { 32 } else { 9 };
    let mut out = StyledRow::of(DIM, &format!("{duration:>9}")).with(tone_style(look.tone), &format!("  {}{doubt} {words}", look.glyph));
    out.pad(9 + 4 + column);
    out
}

/// Icon of a tool. Terminals disagree on the width of some icons; those are replaced to keep the columns.
fn icon(head: &Head) -> &'static str {
    if columns(head.icon) == 1 { head.icon } else { "≡" }
}

/// As many facts as fit.
fn facts(head: &Head, space: usize) -> StyledRow {
    let mut out = StyledRow::default();
    for fact in &head.facts {
        let mut next = StyledRow::of(DIM, if out.is_empty() { "" } else { " · " });
        next.push_line(DIM, fact);
        // Facts are in order of importance, so the first that does not fit ends the list.
        if out.columns() + next.columns() > space {
            break;
        }
        out.append(next);
    }
    out
}

/// Label above a message; prompts and the model's own text need none.
pub(super) fn label(message: &MessageView) -> StyledRow {
    match message.who {
        MessageAuthor::Person | MessageAuthor::Model if !message.folded => StyledRow::default(),
        MessageAuthor::Trouble => StyledRow::line(BAD, &message.label),
        MessageAuthor::Person | MessageAuthor::Agent => StyledRow::line(ACCENT, &message.label),
        _ => StyledRow::line(DIM, &message.label),
    }
}
