//! Quotes: the person's first and last prompt, and the model's answer.

use super::Quote;
use crate::book::{Book, Loaded, Selection};
use crate::claims::{self, Claim};
use crate::event::Origin;
use crate::position::file_of;
use crate::transcript::{Entry, EntryKind, Part, Spot};
use std::collections::HashSet;

/// The longest quote, in characters.
const QUOTE: usize = 600;

/// Words of a session that its digest quotes.
#[derive(Debug, Default)]
pub(super) struct Quotes {
    /// The first prompt of the person.
    pub(super) asked_first: Option<Quote>,
    /// The last one.
    pub(super) asked: Option<Quote>,
    /// The model's last words after it.
    pub(super) said: Option<Quote>,
    /// What those words claim about tests, builds and linters.
    pub(super) claims: Vec<Claim>,
}

/// An entry, and its place in its conversation.
type PlacedEntry<'t> = (usize, &'t Entry);

/// Finds the quotes of a session, or of a part of it.
pub(super) fn of(book: &dyn Book, selection: &Selection) -> Quotes {
    let transcript = book.transcript();
    let Some(main) = transcript.threads.first() else { return Quotes::default() };
    let entries: Vec<PlacedEntry<'_>> =
        main.entries.iter().enumerate().filter(|(_, entry)| !entry.abandoned && selection.takes(entry)).collect();
    let begins = super::beginnings(transcript);
    let records: HashSet<Spot> = begins.iter().filter_map(|place| main.entries.get(*place)).map(|entry| entry.spot).collect();
    let asks = |&(place, entry): &PlacedEntry<'_>| match entry.what {
        // A prompt that the person took back begins no turn. Where no turn is known, any prompt counts.
        EntryKind::Prompt => records.is_empty() || records.contains(&entry.spot),
        EntryKind::Command => begins.contains(&place),
        _ => false,
    };
    let prompts: Vec<PlacedEntry<'_>> = entries.iter().copied().filter(asks).collect();
    let quoted = |(place, entry): PlacedEntry<'_>| Some((place, quote(book, entry, &asked(book, entry, &prompts)?)));
    let last = prompts.iter().rev().copied().find_map(quoted);
    // Only a text after the prompt can be an answer to it.
    let after = last.as_ref().map_or(0, |(place, _)| *place);
    let texts = entries.iter().rev().take_while(|(place, _)| *place >= after).filter(|(_, entry)| entry.what == EntryKind::Text);
    let said = texts.map(|(_, entry)| entry).find_map(|entry| match book.open(entry) {
        // Claims are looked for in all of the text, of which a quote may have the beginning only.
        Loaded::Part(Part::Text(text)) if !text.trim().is_empty() => Some((quote(book, entry, &text), claims::find(&text))),
        _ => None,
    });
    let (said, claims) = said.map_or((None, Vec::new()), |(said, claims)| (Some(said), claims));
    let asked_first = prompts.iter().copied().find_map(quoted).map(|(_, quote)| quote);
    Quotes { asked_first, asked: last.map(|(_, quote)| quote), said, claims }
}

/// The words of a prompt, with those of the same record: one message may consist of several texts. `None` if there are none.
fn asked(book: &dyn Book, entry: &Entry, prompts: &[PlacedEntry<'_>]) -> Option<String> {
    let same = prompts.iter().filter(|(_, other)| other.spot == entry.spot);
    let texts: Vec<String> = same.filter_map(|(_, entry)| words(book, entry)).collect();
    Some(texts.join("\n")).filter(|text| !text.is_empty())
}

/// The person's words of an entry.
fn words(book: &dyn Book, entry: &Entry) -> Option<String> {
    let text = match book.open(entry) {
        // Prompts of other agents and of programs are not the person's.
        Loaded::Part(Part::Prompt { origin: Origin::Human | Origin::Queued, text }) => text,
        Loaded::Part(Part::Command { line, .. }) => line,
        _ => return None,
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn quote(book: &dyn Book, entry: &Entry, text: &str) -> Quote {
    let text = text.trim();
    let end = text.char_indices().nth(QUOTE).map(|(end, _)| end);
    let row = book.row(entry.spot);
    let address = book.file(entry.spot.source).unwrap_or_default();
    Quote {
        text: text[..end.unwrap_or(text.len())].to_owned(),
        cut: end.is_some(),
        at: entry.time.map(|time| time.to_string()),
        // The address of a database's session names the session too, which is no part of the file.
        file: if row.is_some() { file_of(address) } else { address }.to_owned(),
        line: row.is_none().then_some(entry.spot.at.line),
        row: row.map(str::to_owned),
    }
}
