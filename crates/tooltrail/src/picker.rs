//! A picker: choose a session from a list by typing parts of its title, with a preview of it.

use crate::catalogue::Ready;
use crate::cli::LogArgs;
use crate::logs;
use crate::out::{BOLD, DIM};
use crate::refs::Reference;
use crate::screen::{self, PressedKey, Screen};
use crate::table::{self, Align, fit, printable};
use anstyle::Style;
use anyhow::bail;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::Duration;
use tooltrail_catalog::library::Library;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::Time;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::digest;
use tooltrail_model::row::SessionRow;
use tooltrail_view::digest as view;
use tooltrail_view::head::ago;

/// Interval at which keys are read.
const LOOK: Duration = Duration::from_millis(30);
/// The most lines of the preview.
const PREVIEW: usize = 10;

/// A session to choose from.
struct SessionChoice {
    /// Its whole id.
    id: String,
    /// Its place in the listing.
    place: usize,
    /// What is shown, and what is searched.
    line: String,
    last: Option<Time>,
}

/// The REF that is meant: the one given, or with `--pick` the one that the user chooses. `None` if the user leaves without choosing.
pub(crate) fn reference(args: &LogArgs, wanted: &str, pick: bool) -> anyhow::Result<Option<Reference>> {
    if !pick {
        return Ok(Some(Reference::parse(wanted)));
    }
    if args.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() || !std::io::stdout().is_terminal() {
        bail!("--pick needs a terminal; name a session instead, `tooltrail list` shows them");
    }
    let Some(ready) = logs::if_stored(args, &[])? else {
        bail!("--pick chooses from the index; leave out --demo and --no-cache");
    };
    Ok(choose(args, &ready)?.map(Reference::Name))
}

fn choose(args: &LogArgs, ready: &Ready) -> anyhow::Result<Option<String>> {
    let listing = ready.list()?;
    let rows = listing.rows();
    let mut choices: Vec<SessionChoice> =
        (0..rows.len()).filter(|&place| !listing.is_gone(place)).map(|place| choice(&rows[place], place)).collect();
    choices.sort_by_key(|choice| Reverse(choice.last));
    if choices.is_empty() {
        bail!("no agent's logs found\n{}", logs::where_to_look(&ready.looked));
    }
    let mut previews: HashMap<usize, Vec<String>> = HashMap::new();
    let (mut typed, mut selected) = (String::new(), 0_usize);
    let mut screen = Screen::open(&args.color)?;
    loop {
        let found = matching(&choices, &typed);
        selected = selected.min(found.len().saturating_sub(1));
        let preview = found.get(selected).map(|choice| {
            previews.entry(choice.place).or_insert_with(|| preview(ready, listing.bundle(choice.place), &rows[choice.place])).as_slice()
        });
        screen.draw(&picture(&found, &typed, selected, preview.unwrap_or_default(), ready.now.time))?;
        let keys = screen::pressed();
        if keys.is_empty() {
            std::thread::sleep(LOOK);
        }
        for key in keys {
            match key {
                PressedKey::Enter => return Ok(found.get(selected).map(|choice| choice.id.clone())),
                PressedKey::Escape => return Ok(None),
                PressedKey::Down => selected = selected.saturating_add(1),
                PressedKey::Up => selected = selected.saturating_sub(1),
                PressedKey::PageDown => selected = selected.saturating_add(10),
                PressedKey::PageUp => selected = selected.saturating_sub(10),
                PressedKey::Backspace => drop(typed.pop()),
                // Another text has another best match.
                PressedKey::Sign(sign) if typed.len() < 200 => {
                    typed.push(sign);
                    selected = 0;
                }
                PressedKey::Sign(_) => {}
            }
        }
    }
}

fn choice(row: &SessionRow<'_>, place: usize) -> SessionChoice {
    let project = row.project.and_then(|path| path.rsplit(['/', '\\']).find(|part| !part.is_empty())).unwrap_or("");
    let line = format!("{}  {}  {}", row.short, project, row.title.unwrap_or("(no title)"));
    SessionChoice { id: row.session.to_owned(), place, line: printable(&line), last: row.last_at }
}

/// The choices that contain the letters of each typed word in order, the best first; where equal, the newest.
fn matching<'c>(choices: &'c [SessionChoice], typed: &str) -> Vec<&'c SessionChoice> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let score = |choice: &SessionChoice| words.iter().map(|word| score(&choice.line.to_lowercase(), word)).sum::<Option<usize>>();
    let mut found: Vec<(usize, &SessionChoice)> = choices.iter().filter_map(|choice| Some((score(choice)?, choice))).collect();
    found.sort_by_key(|(score, _)| *score);
    found.into_iter().map(|(_, choice)| choice).collect()
}

/// How far apart the letters of a word stand in a text; 0 where they follow each other, `None` where they are not there.
fn score(text: &str, word: &str) -> Option<usize> {
    if text.contains(word) {
        return Some(0);
    }
    let (mut rest, mut gaps) = (text, 0);
    for (number, letter) in word.chars().enumerate() {
        let at = rest.find(letter)?;
        // What stands before the first letter does not matter.
        gaps += if number == 0 { 1 } else { at };
        rest = &rest[at + letter.len_utf8()..];
    }
    Some(gaps)
}

/// What a session amounts to, in a few lines.
fn preview(ready: &Ready, bundle: Option<i64>, row: &SessionRow<'_>) -> Vec<String> {
    let facts = [row.project.unwrap_or(""), row.branch.unwrap_or(""), row.agent];
    let facts = facts.iter().filter(|fact| !fact.is_empty()).copied().collect::<Vec<_>>().join(" · ");
    let mut lines = vec![format!("{facts} · {} · {}", table::counted(row.turns, "turn"), table::counted(row.calls, "call"))];
    let Some(linker) = bundle.and_then(|bundle| ready.library.open(bundle).ok()) else { return lines };
    let linked = linker.link();
    let place = linked.session_with_id(row.agent, row.session);
    if let Some(place) = place {
        let book = SessionBook::outline(&linked, &[place], &ready.now, ready.library.disk());
        let digest = digest::of(&book, &Selection::default());
        for row in view::rows(&digest, book.transcript()) {
            let facts: Vec<String> = row.facts.iter().take(3).map(|fact| fact.text()).collect();
            lines.push(format!("{:<9} {}", row.label, facts.join(" · ")));
        }
    }
    lines.iter().map(|line| printable(line)).collect()
}

fn picture(found: &[&SessionChoice], typed: &str, selected: usize, preview: &[String], now: Time) -> String {
    let (width, height) = screen::size();
    let below = preview.len().min(PREVIEW).min(height / 3);
    // The line for typing, a rule, the preview and the keys.
    let space = height.saturating_sub(below + 3).max(1);
    let first = (selected + 1).saturating_sub(space);
    let cut = |text: &str| fit(text, width, Align::Fill, true);
    let mut lines = vec![format!("{BOLD}{}{BOLD:#}", cut(&format!("> {typed}▏")))];
    for (place, choice) in found.iter().enumerate().skip(first).take(space) {
        let age = choice.last.map(|last| format!("{} ago", ago(last, now))).unwrap_or_default();
        let style = if place == selected { Style::new().invert() } else { Style::new() };
        lines.push(format!("{style}{}{style:#}", cut(&format!("{age:>9}  {}", choice.line))));
    }
    lines.resize(space + 1, String::new());
    lines.push(format!("{DIM}{}{DIM:#}", "─".repeat(width)));
    lines.extend(preview.iter().take(below).map(|line| cut(line)));
    lines.push(format!(
        "{DIM}{}{DIM:#}",
        cut(&format!("{} · type to find · ↑↓ select · Enter choose · Esc leave", table::counted(found.len() as u64, "session")))
    ));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_found_and_close_ones_come_first() {
        let choice = |line: &str| SessionChoice { id: line.to_owned(), place: 0, line: line.to_owned(), last: None };
        let choices = ["Fix the flaky retry", "Retry of fixtures", "Release notes", "f r t y"].map(choice);
        let found = |typed: &str| matching(&choices, typed).iter().map(|choice| choice.id.as_str()).collect::<Vec<_>>();
        assert_eq!(found("retry fix"), ["Fix the flaky retry", "Retry of fixtures"]);
        assert_eq!(found("rtry"), ["Fix the flaky retry", "Retry of fixtures"]);
        assert_eq!(found("flky"), ["Fix the flaky retry"]);
        assert_eq!(found("frty"), ["f r t y", "Fix the flaky retry"]);
        assert_eq!((found("zebra").len(), found("").len()), (0, 4));
    }
}
