//! Private keys in PEM, SSH, PGP and PuTTY format: whole, in part, on one line, escaped, quoted, numbered.

use crate::lines;
use crate::spot::{Take, TriggerSpot, holds_folded};
use crate::values::{filler, letters_and_digits, random};

/// The most bytes of a key that are looked at.
const BODY: usize = 64 << 10;
const DASHES: &[u8] = b"-----";
/// The largest gap between two lines of a key: line numbers, diff signs and file names may stand between them.
const GAP: usize = 48;
/// The fewest characters of base64 that make a key; documentation shows headers with less between them.
const LEAST: usize = 16;

/// A private key that begins here, the whole block. Its lines may be escaped, quoted or numbered, and its end cut off.
pub(crate) fn private_key(spot: TriggerSpot<'_>) -> Option<Take> {
    let body = key_label(spot, spot.end)?;
    let rest = spot.bytes(body, spot.text.len().min(body + BODY));
    let close = rest.windows(DASHES.len()).position(|window| window == DASHES).map(|at| body + at);
    // In a diff a removed line begins with one more dash.
    let close = close.map(|at| if spot.byte(at + DASHES.len()) == Some(b'-') { at + 1 } else { at });
    // Any five dashes may end the search, but only a real footer ends the key.
    let end = close.filter(|at| spot.bytes(*at, at + 9) == b"-----END ").map(|at| {
        let label = spot.run(at + 9, 48, is_label);
        spot.run(label, DASHES.len(), |byte| byte == b'-')
    });
    let to = end.unwrap_or_else(|| key_lines(spot, body, close.unwrap_or(body + rest.len())));
    has_key(spot.bytes(body, to)).then(|| Take::mark(spot.at, to))
}

/// The end of a private key whose beginning is missing, as `tail` or the last hunk of a patch shows it: searched backwards
/// over its runs.
pub(crate) fn key_tail(spot: TriggerSpot<'_>) -> Option<Take> {
    let to = key_label(spot, spot.end)?;
    let before = spot.before(spot.at, BODY);
    // Not beyond another header or footer: that would be another key.
    let body = before.windows(DASHES.len()).rposition(|window| window == DASHES).map_or(before, |at| &before[at + DASHES.len()..]);
    let (mut at, mut from) = (body.len(), None);
    // Lines of a key are equally long, but for the last one.
    let mut width = 0;
    for run in body.rsplit(|byte| !is_base64(*byte)) {
        let begin = at - run.len();
        let run = without_escape(body, begin, run);
        let near = from.unwrap_or(body.len()).saturating_sub(at) <= GAP;
        // The first line may be cut too, and the last is as long as what was left.
        let cut = begin == 0 && from.is_some() && random(run);
        let line = run.len() >= 24 && !filler(run) || width > 0 && run.len() == width || from.is_none() && is_last(run);
        if near && (line || cut) {
            from = Some(at - run.len());
            width = if width == 0 && run.len() >= 8 && from.is_some() && run.len() >= LEAST { run.len() } else { width };
        } else if !near {
            break;
        }
        at = begin.saturating_sub(1);
    }
    let from = from?;
    has_key(&body[from..]).then(|| Take::mark(spot.at - body.len() + from, to))
}

/// The last line of a key, which may be short: padded, or drawn by chance.
fn is_last(run: &[u8]) -> bool {
    run.len() >= 4 && (run.ends_with(b"=") || letters_and_digits(run) && run.iter().any(u8::is_ascii_uppercase))
}

/// A run without the letter of the `\n` before it.
fn without_escape<'t>(body: &'t [u8], begin: usize, run: &'t [u8]) -> &'t [u8] {
    match run {
        [b'n' | b'r', rest @ ..] if begin > 0 && body.get(begin - 1) == Some(&b'\\') => rest,
        _ => run,
    }
}

/// End of the label that begins here, with its dashes; `None` if it is not that of a private key.
fn key_label(spot: TriggerSpot<'_>, from: usize) -> Option<usize> {
    let label = spot.run(from, 48, is_label);
    let end = label + DASHES.len();
    (holds_folded(spot.bytes(from, label), b"PRIVATE KEY") && spot.bytes(label, end) == DASHES).then_some(end)
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

/// End of the base64 of a key whose footer is missing: its runs, and the rest of a line where the text is cut.
fn key_lines(spot: TriggerSpot<'_>, from: usize, most: usize) -> usize {
    let (mut at, mut end, mut inside) = (from, from, true);
    let mut width = 0;
    while at < most && at <= end + GAP {
        let next = spot.run(at, most - at, is_base64);
        let run = without_escape(spot.text, at, spot.bytes(at, next));
        let header = at > 0 && spot.byte(next) == Some(b':');
        if run.len() >= 24
            || inside && next == most
            || width > 0 && run.len() == width
            || inside && run.len() >= 8 && random_line(run) && !header
        {
            width = if width == 0 { run.len() } else { width };
            (end, inside) = (next, true);
        } else if inside && width > 0 && run.len() >= 4 && run.len() < width && is_last(run) {
            // The short last line.
            (end, inside) = (next, false);
        } else {
            // Between lines there may be line numbers, or the letter of `\n`.
            inside &= run.iter().all(u8::is_ascii_digit) || matches!(run, b"n" | b"r");
        }
        at = next + 1;
    }
    end
}

/// Whether a short line could be drawn by chance: capitals, small letters or digits mixed.
fn random_line(run: &[u8]) -> bool {
    let kinds = [run.iter().any(u8::is_ascii_uppercase), run.iter().any(u8::is_ascii_lowercase), run.iter().any(u8::is_ascii_digit)];
    let inner = run.iter().skip(1).any(u8::is_ascii_uppercase);
    kinds.iter().filter(|kind| **kind).count() >= 2 && inner
}

// Documentation shows headers without a key; those stay.
fn has_key(body: &[u8]) -> bool {
    let runs = || body.split(|byte| !is_base64(*byte)).filter(|run| run.len() >= 6 && !filler(run));
    runs().any(|run| run.len() >= 24) || runs().filter(|run| random_line(run)).map(<[u8]>::len).sum::<usize>() >= LEAST
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// The private lines of a key in PuTTY's format, with the checksum below.
pub(crate) fn putty(spot: TriggerSpot<'_>) -> Option<Take> {
    const MOST: usize = 200;
    let count = spot.run(spot.end, 8, |byte| byte == b' ' || byte.is_ascii_digit());
    let lines: usize = std::str::from_utf8(spot.bytes(spot.end, count)).ok()?.trim().parse().ok()?;
    let (mut at, mut from, mut end) = (count, None, count);
    for _ in 0..lines.min(MOST) {
        let start = lines::skip(spot, spot.run(at, 16, |byte| matches!(byte, b'"' | b',')));
        let next = spot.run(start, 128, is_base64);
        if next < start + 4 {
            break;
        }
        from = from.or(Some(start));
        (at, end) = (next, next);
    }
    from.map(|from| Take::mark(from, end))
}
