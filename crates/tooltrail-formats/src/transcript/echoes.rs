//! Repetitions in a log. Codex writes a message as an item of the conversation and again as an event, or only as events; Claude Code writes
//! a prompt that waited into its queue and again where it was taken up. Each is shown once, and none is lost: a person who says something
//! twice is shown twice, because every repetition is matched with exactly one original.

use super::build::PendingEntry;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Drops entries that only repeat another record. A turn that begins with a repetition begins with its original.
pub(super) fn left_out(mut entries: Vec<PendingEntry>) -> Vec<PendingEntry> {
    let mut kept: Vec<bool> = entries.iter().map(|found| found.echo.is_none()).collect();
    let originals = entries.iter().filter(|found| found.echo.is_none());
    let pieces: HashSet<u64> = originals.flat_map(|found| found.paragraphs.iter().copied()).collect();
    let mut shown = places(&entries, None);
    // Voice by voice: an event that is kept because it repeats nothing is an original for the voices that come later.
    for voice in voices(&entries) {
        for (text, echoes) in places(&entries, Some(voice)) {
            let shown = shown.entry(text).or_default();
            let (repeats, own) = matched(&entries, shown, echoes, voice);
            for (echo, original) in repeats {
                // The turn may have been noted at the line of the repetition.
                entries[original].begins = entries[original].begins.or(entries[echo].begins);
            }
            for at in own {
                let paragraphs = &entries[at].paragraphs;
                // A thought that was written in pieces elsewhere is a repetition, although no single record equals it.
                if paragraphs.is_empty() || !paragraphs.iter().all(|piece| pieces.contains(piece)) {
                    kept[at] = true;
                    shown.insert(at);
                }
            }
        }
        // Pictures and the like have no text to compare, so they follow the words beside them; decided once those are.
        for at in 0..entries.len() {
            if entries[at].echo == Some(voice) && entries[at].text == 0 {
                kept[at] = companion(&entries, &kept, at);
            }
        }
    }
    let mut kept = kept.into_iter();
    entries.retain(|_| kept.next().unwrap_or(true));
    entries
}

/// The positions of each text, among the entries of one voice, or among originals.
fn places(entries: &[PendingEntry], voice: Option<&'static str>) -> HashMap<u64, BTreeSet<usize>> {
    let mut places: HashMap<u64, BTreeSet<usize>> = HashMap::new();
    for (at, found) in entries.iter().enumerate().filter(|(_, found)| found.echo == voice && found.text != 0) {
        places.entry(found.text).or_default().insert(at);
    }
    places
}

/// Matches records with the same words. Returns the repetitions, each with its original, and the records left over.
fn matched(
    entries: &[PendingEntry],
    shown: &BTreeSet<usize>,
    mut echoes: BTreeSet<usize>,
    voice: &str,
) -> (Vec<(usize, usize)>, Vec<usize>) {
    // Some voices split what another has in one record, or repeat at will: these match any original.
    let loose = echoes.first().is_some_and(|at| !entries[*at].paragraphs.is_empty());
    if loose || voice == ANY {
        // A prompt waits before it is taken up: the same words put into the queue afterwards are another prompt.
        let original = |at: usize| if loose { nearest(shown, at) } else { shown.range(at..).next().copied() };
        let first = echoes.iter().copied().find(|at| original(*at).is_none());
        let repeats = echoes.iter().filter_map(|&at| Some((at, original(at).or(first)?))).filter(|(at, original)| at != original);
        return (repeats.collect(), first.into_iter().collect());
    }
    let mut repeats = Vec::new();
    // From the originals' side, each takes the nearest repetition: a second repetition of the same voice is a second message.
    for &original in shown {
        if let Some(echo) = nearest(&echoes, original) {
            echoes.remove(&echo);
            repeats.push((echo, original));
        }
    }
    (repeats, echoes.into_iter().collect())
}

/// The voice of records that may be repeated by any number of others.
pub(super) const ANY: &str = "";

/// The voices of records that repeat others, in the order in which they are first heard.
fn voices(entries: &[PendingEntry]) -> Vec<&'static str> {
    let mut voices: Vec<&'static str> = Vec::new();
    for voice in entries.iter().filter_map(|found| found.echo) {
        if !voices.contains(&voice) {
            voices.push(voice);
        }
    }
    voices
}

/// Whether an entry without words is kept: as its record's words are, or alone if no similar entry is near.
fn companion(entries: &[PendingEntry], kept: &[bool], at: usize) -> bool {
    let spot = entries[at].entry.spot;
    // Parts of a record are neighbours, so its beginning is the last place with another spot.
    let start = entries[..at].iter().rposition(|found| found.entry.spot != spot).map_or(0, |before| before + 1);
    match (start..at).find(|&other| entries[other].text != 0) {
        Some(words) => kept[words],
        None => {
            const NEAR: usize = 4;
            let alike = |other: &usize| kept[*other] && entries[*other].entry.what == entries[at].entry.what;
            !(at.saturating_sub(NEAR)..(at + NEAR).min(entries.len())).filter(|other| *other != at).any(|other| alike(&other))
        }
    }
}

/// The place that is nearest to another; of two, the earlier.
fn nearest(places: &BTreeSet<usize>, at: usize) -> Option<usize> {
    let before = places.range(..at).next_back().copied();
    let after = places.range(at..).next().copied();
    match (before, after) {
        (Some(before), Some(after)) if after - at < at - before => Some(after),
        (before, after) => before.or(after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tooltrail_model::transcript::{Entry, EntryKind, Spot};

    /// Test helper: records as letters; a mark in front of a letter names the voice that repeats it.
    fn shown(records: &[&str]) -> Vec<usize> {
        let found = |(at, record): (usize, &&str)| {
            let (voice, words) = record.split_at(record.len() - 1);
            let echo = match voice {
                "" => None,
                "e" => Some("event"),
                "i" => Some("item"),
                _ => Some(ANY),
            };
            let spot = Spot { source: at, ..Spot::default() };
            let entry = Entry {
                spot,
                part: 0,
                time: None,
                what: if words == "." { EntryKind::Media } else { EntryKind::Prompt },
                turn: None,
                abandoned: false,
                lines: 1,
            };
            let text = words.bytes().next().map_or(0, |byte| if byte == b'.' { 0 } else { u64::from(byte) });
            PendingEntry { entry, order: None, text, paragraphs: Vec::new(), echo, head: String::new(), begins: None, half: None }
        };
        left_out(records.iter().enumerate().map(found).collect()).iter().map(|found| found.entry.spot.source).collect()
    }

    #[test]
    fn every_message_is_shown_once_and_none_is_lost() {
        // An item, and an event before or behind it.
        assert_eq!(shown(&["ea", "a", "b", "eb", "ec"]), [1, 2, 4]);
        // The same words twice are two messages, as items and events or as events alone.
        assert_eq!(shown(&["a", "ea", "x", "a", "ea"]), [0, 2, 3]);
        assert_eq!(shown(&["ea", "ia", "x", "ea", "ia"]), [0, 2, 3]);
        // An item is missing: the event that nothing stands for is shown, in its place.
        assert_eq!(shown(&["ea", "x", "y", "a", "ea"]), [0, 1, 2, 3]);
        // What waited in a queue may be put there more than once.
        assert_eq!(shown(&["qa", "qa", "a", "qb"]), [2, 3]);
        // What is put there after it was taken up is said once more.
        assert_eq!(shown(&["qa", "a", "x", "qa", "qa"]), [1, 2, 3]);
    }

    #[test]
    fn what_has_no_words_is_lost_only_where_it_is_shown() {
        assert_eq!(shown(&["x", "e.", "y", "z", "w", "v", "."]), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(shown(&[".", "e."]), [0]);
    }
}
