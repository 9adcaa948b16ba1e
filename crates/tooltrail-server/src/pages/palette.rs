//! `/palette`: targets for the command palette: sessions and projects, and within a session its turns and changed files. The script
//! asks with every letter, and adds the commands of its page.

use super::session::Visit;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::changed::File;
use crate::request::{PageRequest, encoded};
use crate::session_table::project_address;
use crate::words::{self, LocalClock, ProjectTerms};
use serde_json::{Value, json};
use std::cmp::Reverse;
use tooltrail_catalog::queries::{ProjectCount, Store};
use tooltrail_model::book::Book;
use tooltrail_model::digest;
use tooltrail_model::row::SessionRow;
use tooltrail_model::transcript::Transcript;
use tooltrail_view::head::counted;
use tooltrail_view::place;

/// Limits on sessions, projects, turns and files.
const SESSIONS: usize = 8;
const PROJECTS: usize = 4;
const TURNS: usize = 6;
const FILES: usize = 6;
/// Longest query.
const LONGEST: usize = 200;
/// Longest text that is compared, and longest text that is shown.
const TEXT: usize = 300;
const SHOWN: usize = 120;

pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let query: String = request.word("q").unwrap_or_default().chars().take(LONGEST).collect();
    let wanted = PaletteQuery::new(&query);
    let told = match request.word("session") {
        None => json!({ "sessions": sessions(app, &wanted)?, "project_pages": projects(app, &wanted)? }),
        Some(session) => within(app, session, &wanted)?,
    };
    Ok(PageResponse::Text("application/json", told.to_string()))
}

/// The sessions that match best; equal ones with the latest activity first.
fn sessions(app: &AppState, wanted: &PaletteQuery) -> Result<Vec<Value>, Trouble> {
    let snapshot = app.snapshot()?;
    let rows = snapshot.rows();
    let clock = LocalClock::at(snapshot.now.time);
    // Ids are included, so that a pasted id finds its session.
    let text = |row: &SessionRow<'_>| {
        let [title, project, branch] = [row.title, row.project.map(words::last_part), row.branch].map(Option::unwrap_or_default);
        format!("{} {project} {branch} {} {}", words::title(Some(title)), row.agent, row.session)
    };
    let there = rows.iter().enumerate().filter(|(place, _)| !snapshot.listing.is_gone(*place)).map(|(_, row)| row);
    let mut fit: Vec<(u32, &SessionRow<'_>)> = there.filter_map(|row| Some((wanted.score(&text(row))?, row))).collect();
    fit.sort_by_key(|(score, row)| (Reverse(*score), Reverse(row.last_at)));
    let told = |row: &SessionRow<'_>| {
        let when = row.last_at.map(|last| clock.moment(last));
        let project = row.project.map(|path| words::cut(words::last_part(path), 60));
        let state = words::state(row);
        let about: Vec<String> = [project, when, (!state.glyph.is_empty()).then(|| state.word.to_owned())].into_iter().flatten().collect();
        json!({ "title": words::cut(&words::title(row.title), SHOWN), "about": about.join(" · "), "to": app.to(&format!("/s/{}", encoded(row.session))) })
    };
    Ok(fit.iter().take(SESSIONS).map(|(_, row)| told(row)).collect())
}

/// The projects that match best; equal ones with the latest activity first. Without a query there are none: home lists them.
fn projects(app: &AppState, wanted: &PaletteQuery) -> Result<Vec<Value>, Trouble> {
    if wanted.words.is_empty() {
        return Ok(Vec::new());
    }
    let snapshot = app.snapshot()?;
    let rows = snapshot.rows();
    let clock = LocalClock::at(snapshot.now.time);
    let terms = ProjectTerms::of(rows.iter().filter_map(|row| row.project));
    let home = app.machine.home_in_logs();
    let all = snapshot.catalogued(&rows, app.threads()).projects()?;
    let named = all.iter().filter_map(|count| Some((count, count.project.as_deref()?)));
    let mut fit: Vec<(u32, &ProjectCount, &str)> =
        named.filter_map(|(count, path)| Some((wanted.score(&format!("{} {path}", words::last_part(path)))?, count, path))).collect();
    // The store gives the latest first, and sorting keeps that order.
    fit.sort_by_key(|(score, _, _)| Reverse(*score));
    let told = |(_, count, path): &(u32, &ProjectCount, &str)| {
        let when = count.last_at.map(|last| clock.moment(last));
        let place = words::cut(&words::tilde(path, home.as_deref()), 60);
        let about: Vec<String> = [Some(place), Some(counted(count.sessions, "session")), when].into_iter().flatten().collect();
        json!({ "title": words::cut(words::last_part(path), SHOWN), "about": about.join(" · "), "to": project_address(app, &terms, path) })
    };
    Ok(fit.iter().take(PROJECTS).map(told).collect())
}

/// Turns of a session, and the files that it changed.
fn within(app: &AppState, session: &str, wanted: &PaletteQuery) -> Result<Value, Trouble> {
    let name = ("session".to_owned(), session.to_owned());
    let visit = Visit::new(app, &PageRequest { names: vec![name], ..PageRequest::default() })?;
    let base = app.to(&format!("/s/{}", encoded(&visit.session)));
    Ok(visit.open(app)?.with(|reader| {
        let transcript = reader.book().transcript();
        let files = app.changed.of(&visit.session, reader.version, || changed(reader.book()));
        json!({ "turns": turns(transcript, &base, wanted), "files": named(&files, &base, wanted) })
    }))
}

fn turns(transcript: &Transcript<'_>, base: &str, wanted: &PaletteQuery) -> Vec<Value> {
    // Counted in one pass over the calls instead of one per turn.
    let mut calls = vec![0u64; transcript.turns.len()];
    for turn in transcript.calls.iter().filter_map(|call| call.turn) {
        calls.get_mut(turn).into_iter().for_each(|number| *number += 1);
    }
    let mut fit: Vec<(u32, usize, &str)> = Vec::new();
    for (place, turn) in transcript.turns.iter().enumerate() {
        // A turn can be found by its number too.
        let score = wanted.score(&format!("{} {}", place + 1, words::title(Some(&turn.head))));
        fit.extend(score.map(|score| (score, place, turn.head.as_str())));
    }
    fit.sort_by_key(|(score, place, _)| (Reverse(*score), *place));
    let told = |(_, place, head): &(u32, usize, &str)| {
        let number = calls.get(*place).copied().unwrap_or_default();
        let about = if number > 0 { counted(number, "call") } else { String::new() };
        json!({ "title": format!("{}  {}", place + 1, words::cut(&words::title(Some(head)), SHOWN)), "about": about, "to": format!("{base}#turn-{}", place + 1) })
    };
    fit.iter().take(TURNS).map(told).collect()
}

fn changed(book: &dyn Book) -> Vec<File> {
    let transcript = book.transcript();
    let (calls, project) = (&transcript.calls, transcript.session.project.unwrap_or_default());
    let files = digest::of(book, &Default::default()).changed.files;
    let last = |file: &digest::ChangedFile| Some(calls.get(file.calls.last()?.index)?.row.call.to_owned());
    files.iter().filter_map(|file| Some((within_project(project, &file.path).to_owned(), last(file)?))).collect()
}

/// A path relative to the project, or as it is if it lies elsewhere.
fn within_project<'p>(project: &str, path: &'p str) -> &'p str {
    place::within(project, path).unwrap_or(path)
}

fn named(files: &[File], base: &str, wanted: &PaletteQuery) -> Vec<Value> {
    let mut fit: Vec<(u32, &File)> = files.iter().filter_map(|file| Some((wanted.score(&file.0)?, file))).collect();
    // Stable: equal files stay in the order of the digest.
    fit.sort_by_key(|(score, _)| Reverse(*score));
    let told = |(_, (path, call)): &(u32, &File)| {
        let name = words::last_part(path);
        let folder = path.strip_suffix(name).unwrap_or_default();
        json!({ "title": words::cut(name, SHOWN), "about": words::cut(folder, SHOWN), "to": format!("{base}#{}", encoded(call)) })
    };
    fit.iter().take(FILES).map(told).collect()
}

/// The query: words that all have to match.
struct PaletteQuery {
    words: Vec<String>,
}

impl PaletteQuery {
    fn new(query: &str) -> Self {
        PaletteQuery { words: query.split_whitespace().map(str::to_lowercase).collect() }
    }

    /// Score of a text; `None` if it does not match. Without words everything scores 0.
    fn score(&self, text: &str) -> Option<u32> {
        let text: String = text.chars().take(TEXT).flat_map(char::to_lowercase).collect();
        self.words.iter().map(|word| fits(&text, word)).sum()
    }
}

/// Score of a word in a text: at its beginning, at the beginning of a word, anywhere, or letter by letter close
/// together.
fn fits(text: &str, word: &str) -> Option<u32> {
    let begins = |at: usize| text.get(..at).and_then(|before| before.chars().next_back()).is_none_or(|letter| !letter.is_alphanumeric());
    let mut found = text.match_indices(word).map(|(at, _)| at).peekable();
    match found.peek() {
        Some(0) => return Some(100),
        Some(_) => return Some(if found.any(begins) { 80 } else { 50 }),
        None => {}
    }
    // Nearly every text contains any two letters in order.
    if word.chars().count() < 3 {
        return None;
    }
    let (mut gaps, mut rest) = (0, text);
    for (place, letter) in word.chars().enumerate() {
        let (before, after) = rest.split_once(letter)?;
        gaps += if place == 0 { 0 } else { before.chars().count() };
        rest = after;
    }
    // Letters that are scattered widely match by chance.
    (gaps <= word.len()).then(|| 30u32.saturating_sub(u32::try_from(gaps).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_fit_better_than_letters() {
        let score = |query: &str| PaletteQuery::new(query).score("Fix the Retry-Scheduler orbit main");
        let by_fit = ["fix", "retry", "sched", "chedul", "rtry"].map(|query| score(query).expect("it fits"));
        assert!(by_fit.is_sorted_by(|one, next| one >= next) && by_fit[0] > by_fit[3] && by_fit[3] > by_fit[4], "{by_fit:?}");
        assert_eq!(score("orbit fix"), Some(180));
        assert_eq!([score(""), score("nowhere"), score("fix nowhere"), score("xf"), score("xyz")], [Some(0), None, None, None, None]);
    }

    #[test]
    fn letters_in_any_script_do_no_harm() {
        assert!(PaletteQuery::new("ÄRGER").score("kein Ärger hier").is_some());
        assert!(PaletteQuery::new("\u{130}x\u{202e}").score("\u{130}\u{202e}").is_none());
    }
}
