//! One printed text held against one item of the output: what the item says about results.
//!
//! An item is a sequence of literal texts and holes. The text of a command is a hole that may hold anything, also what looks like another
//! part of the item. So the places where each piece may begin are collected from the front and from the back, and a hole says something
//! only if it has one value wherever it may stand.

use super::{Piece, ResultPart, member};
use serde_json::Value;

/// Something that an item says about a call's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// It ended with this exit code.
    Exit(i64),
    /// It goes on in this session.
    Session(i64),
    /// It goes on in the background.
    Background,
    /// It has ended.
    Ended,
    /// It has no output.
    Empty,
    /// It has some output.
    Output,
}

/// Longest item that is compared piece by piece, in bytes.
const LONGEST: usize = 256 * 1024;
/// Most pieces of a print that is compared.
const MOST_PIECES: usize = 64;
/// Most pairs of beginning and end that are looked at for one piece.
const MOST_PAIRS: usize = 4096;
/// Most places at which a JSON text or a number is looked for.
const MOST_PLACES: usize = 64;

/// How a text was cut by the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Not at all.
    Whole,
    /// Somewhere inside.
    Inside,
    /// It may be the beginning and the end of several items that were joined, or of one.
    Joined,
    /// Whole items are missing.
    Omitted,
}

impl Cut {
    /// How an item was cut.
    pub(super) fn of(item: &str) -> Self {
        if item.starts_with(HEADER) {
            Self::Joined
        } else if item.starts_with("[omitted ") {
            Self::Omitted
        } else if item.contains(MARK) {
            Self::Inside
        } else {
            Self::Whole
        }
    }
}

/// Beginning of a text that was cut.
const HEADER: &str = "Warning: truncated output";
/// Text that stands for what was cut out, behind a number.
const MARK: &str = " tokens truncated…";

/// What an item says, if it is what these pieces print; `None` if it cannot be.
pub(super) fn findings(pieces: &[Piece], item: &str) -> Option<Vec<(usize, Finding)>> {
    let mut found = Vec::new();
    if pieces.len() > MOST_PIECES || item.len() > LONGEST {
        return Some(found);
    }
    let reached = reached(pieces, item)?;
    // A cut may have joined the text of one result with that of another.
    if Cut::of(item) != Cut::Whole && calls(pieces) > 1 {
        return Some(found);
    }
    for (at, piece) in pieces.iter().enumerate() {
        let (Some(from), Some(to)) = (reached.get(at), reached.get(at + 1)) else { continue };
        if !says(piece) || from.len().saturating_mul(to.len()) > MOST_PAIRS {
            continue;
        }
        let mut values: Vec<Vec<(usize, Finding)>> = Vec::new();
        for place in from {
            let stops = if is_any(piece, item, *place) { None } else { Some(ends(piece, item, *place)) };
            for end in to.iter().filter(|end| stops.as_ref().map_or(*end >= place, |stops| stops.contains(end))) {
                let value = value(piece, item.get(*place..*end).unwrap_or_default());
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        if let [value] = values.as_slice() {
            found.extend(value.iter().copied());
        }
    }
    Some(found)
}

/// Number of calls of whose results something is printed; parts of one result count once.
fn calls(pieces: &[Piece]) -> usize {
    let (mut known, mut open): (Vec<usize>, Vec<&Piece>) = (Vec::new(), pieces.iter().collect());
    while let Some(piece) = open.pop() {
        match piece {
            Piece::Result { call, .. } if !known.contains(call) => known.push(*call),
            Piece::Object(members) => open.extend(members.iter().map(|(_, member)| member)),
            Piece::Array(elements) => open.extend(elements),
            _ => {}
        }
    }
    known.len()
}

/// Whether a piece may say something of its own.
fn says(piece: &Piece) -> bool {
    !matches!(piece, Piece::Literal(_) | Piece::Unknown)
}

/// Per piece, the places at which it may begin so that all pieces fit; the last are those at which the item ends. Nothing where there are
/// too many to look at, `None` where there are none.
fn reached(pieces: &[Piece], item: &str) -> Option<Vec<Vec<usize>>> {
    let mut forward = vec![vec![0]];
    for piece in pieces {
        let from = forward.last()?;
        let first = from.iter().find(|place| is_any(piece, item, **place));
        let mut to: Vec<usize> = match first {
            Some(first) => (*first..=item.len()).collect(),
            None if from.len() > MOST_PLACES && !matches!(piece, Piece::Literal(_)) => return Some(Vec::new()),
            None => from.iter().flat_map(|place| ends(piece, item, *place)).collect(),
        };
        to.sort_unstable();
        to.dedup();
        if to.is_empty() {
            return None;
        }
        forward.push(to);
    }
    forward.last_mut()?.retain(|place| *place == item.len());
    for at in (0..pieces.len()).rev() {
        let (before, after) = forward.split_at_mut(at + 1);
        let (Some(from), Some(to), Some(piece)) = (before.last_mut(), after.first(), pieces.get(at)) else { return None };
        let last = *to.last()?;
        from.retain(|place| {
            if is_any(piece, item, *place) {
                *place <= last
            } else {
                ends(piece, item, *place).iter().any(|end| to.binary_search(end).is_ok())
            }
        });
    }
    forward.iter().all(|places| !places.is_empty()).then_some(forward)
}

/// Whether a piece may be any text from here on.
fn is_any(piece: &Piece, item: &str, place: usize) -> bool {
    match piece {
        Piece::Unknown => true,
        Piece::Result { part: ResultPart::Member(name), .. } => name != member::EXIT_CODE && name != member::SESSION,
        // A result that is a text is printed as it is.
        Piece::Result { part: ResultPart::Whole, .. } => !item.get(place..).is_some_and(|rest| rest.starts_with('{')),
        _ => false,
    }
}

/// Places at which a piece may end that begins here.
fn ends(piece: &Piece, item: &str, place: usize) -> Vec<usize> {
    let Some(rest) = item.get(place..) else { return Vec::new() };
    match piece {
        Piece::Literal(text) => rest.starts_with(text.as_str()).then_some(place + text.len()).into_iter().collect(),
        Piece::Result { part: ResultPart::Member(name), .. } if name == member::EXIT_CODE || name == member::SESSION => {
            if rest.starts_with("undefined") {
                return vec![place + "undefined".len()];
            }
            let sign = usize::from(rest.starts_with('-'));
            let digits = rest.bytes().skip(sign).take_while(u8::is_ascii_digit).take(18).count();
            (1..=digits).map(|count| place + sign + count).collect()
        }
        Piece::Result { part: ResultPart::Whole, .. } => json_end(rest).map(|end| place + end).into_iter().chain([item.len()]).collect(),
        Piece::Object(_) | Piece::Array(_) => json_end(rest).map(|end| place + end).into_iter().collect(),
        Piece::Result { .. } | Piece::Unknown => (place..=item.len()).collect(),
    }
}

/// Length of the JSON value at the beginning of a text.
fn json_end(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// What a piece says with this text.
fn value(piece: &Piece, text: &str) -> Vec<(usize, Finding)> {
    let mut found = Vec::new();
    match piece {
        Piece::Result { call, part: ResultPart::Member(name) } if name == member::OUTPUT => {
            found.push((*call, if text.is_empty() { Finding::Empty } else { Finding::Output }));
        }
        Piece::Result { call, part: ResultPart::Member(name) } if name == member::EXIT_CODE => {
            found.push((*call, text.parse().map_or(Finding::Background, Finding::Exit)));
        }
        Piece::Result { call, part: ResultPart::Member(name) } if name == member::SESSION => {
            found.push((*call, text.parse().map_or(Finding::Ended, Finding::Session)));
        }
        Piece::Result { part: ResultPart::Whole, .. } | Piece::Object(_) | Piece::Array(_) => {
            if let Ok(json) = serde_json::from_str::<Value>(text) {
                in_json(piece, &json, &mut found);
            }
        }
        _ => {}
    }
    found
}

/// What pieces of a JSON text say with this value.
fn in_json(piece: &Piece, json: &Value, found: &mut Vec<(usize, Finding)>) {
    let mut open = vec![(piece, Some(json))];
    while let Some((piece, json)) = open.pop() {
        match (piece, json) {
            (Piece::Object(members), Some(Value::Object(json))) => open.extend(members.iter().map(|(name, piece)| (piece, json.get(name)))),
            (Piece::Array(elements), Some(Value::Array(json))) if elements.len() == json.len() => {
                open.extend(elements.iter().zip(json.iter().map(Some)));
            }
            (Piece::Result { call, part: ResultPart::Whole }, Some(json)) => found.extend(in_result(*call, json)),
            (Piece::Result { call, part: ResultPart::Member(name) }, json) => found.extend(in_member(*call, name, json)),
            _ => {}
        }
    }
}

/// What a whole result says.
fn in_result(call: usize, json: &Value) -> Option<(usize, Finding)> {
    let exit = json.get(member::EXIT_CODE).and_then(Value::as_i64).map(Finding::Exit);
    exit.or_else(|| json.get(member::SESSION).and_then(Value::as_i64).map(Finding::Session)).map(|finding| (call, finding))
}

/// What a member of a result says, which JSON leaves out where it is undefined.
fn in_member(call: usize, name: &str, json: Option<&Value>) -> Option<(usize, Finding)> {
    let finding = match (name, json) {
        (member::EXIT_CODE, Some(json)) => Finding::Exit(json.as_i64()?),
        (member::EXIT_CODE, None) => Finding::Background,
        (member::SESSION, Some(json)) => Finding::Session(json.as_i64()?),
        (member::SESSION, None) => Finding::Ended,
        _ => return None,
    };
    Some((call, finding))
}
