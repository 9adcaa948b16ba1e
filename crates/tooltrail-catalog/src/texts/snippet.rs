//! The piece of a text around a match.

use super::Query;

/// How many characters a snippet has at most.
const LENGTH: usize = 160;
/// How much is looked at behind a snippet, for matches that begin in it.
const BEHIND: usize = 64 * 1024;
/// How many of them stand before the first match.
const BEFORE: usize = 48;
/// How many characters of whole lines are shown before the first match, and how many behind its beginning.
const LONGEST: usize = 8_000;

/// The text around the first match, word for word, and where in it the terms are found: `[start, end)` in characters.
pub(super) fn snippet(query: &Query, text: &str, first: usize) -> (String, Vec<[usize; 2]>) {
    let (start, end) = match query.context() {
        Some(lines) => around(text, first, lines),
        None => piece(text, first),
    };
    let shown = &text[start..end];
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (_, pattern) in query.filter().texts() {
        // Searched in more than the snippet: anchors and word boundaries must mean the same as in the search. But not to the end of a text of
        // megabytes, for one match more that is not shown.
        let hits = pattern
            .regex()
            .find_iter(&text[..text.floor_char_boundary(end.saturating_add(BEHIND))])
            .take_while(|hit| hit.start() < end || hit.start() == first);
        // A long match is cut like the text around it.
        spans.extend(hits.map(|hit| (hit.start() - start, hit.end().min(end) - start)));
    }
    spans.sort_unstable();
    (shown.to_owned(), characters(shown, &merged(spans)))
}

/// Where the piece of a line begins and ends.
fn piece(text: &str, first: usize) -> (usize, usize) {
    // Positions are byte offsets of characters, so that no cut falls inside one.
    let start = text[..first].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    (start, text[start..].char_indices().nth(LENGTH).map_or(text.len(), |(at, _)| start + at))
}

/// Where the line of the match and some lines before and after it begin and end.
fn around(text: &str, first: usize, lines: usize) -> (usize, usize) {
    // A line may be as long as the log, so both sides are cut at so many characters.
    let least = text[..first].char_indices().rev().nth(LONGEST - 1).map_or(0, |(at, _)| at);
    let most = text[first..].char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| first + at);
    let before = text[least..first].rmatch_indices('\n').nth(lines).map_or(least, |(at, _)| least + at + 1);
    let after = text[first..most].match_indices('\n').nth(lines).map_or(most, |(at, _)| first + at);
    (before, after)
}

/// Spans without those that overlap: what two terms find together is one match.
fn merged(spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (start, end) in spans {
        match out.last_mut() {
            Some(last) if start < last.1 || (start, end) == *last => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}

/// Places in bytes as places in characters. The spans are in order.
fn characters(text: &str, spans: &[(usize, usize)]) -> Vec<[usize; 2]> {
    let (mut at, mut count) = (0, 0);
    let mut place = |byte: usize| {
        count += text[at..byte].chars().count();
        at = byte;
        count
    };
    spans.iter().map(|&(start, end)| [place(start), place(end)]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::query::tests::parsed;
    use super::*;
    use tooltrail_model::filter::Spelling;

    fn cut(query: &str, text: &str) -> (String, Vec<[usize; 2]>) {
        let query = Query::new(parsed(query, Spelling { regex: true, cased: false }), &[]);
        let (_, first) = query.filter().find(text, &mut || true).unwrap();
        snippet(&query, text, first)
    }

    #[test]
    fn matches_are_counted_in_characters() {
        assert_eq!(cut("née a", "🦀 Née a"), ("🦀 Née a".to_owned(), vec![[2, 5], [6, 7]]));
        assert_eq!(cut("abc bcd", "xabcdx"), ("xabcdx".to_owned(), vec![[1, 5]]));
    }

    #[test]
    fn whole_lines_around_a_match_are_shown() {
        let around = |text: &str, lines: usize| {
            let query = Query::new(parsed("needle", Spelling::default()), &[]).with_context(lines);
            let (_, first) = query.filter().find(text, &mut || true).unwrap();
            snippet(&query, text, first)
        };
        let text = "one\ntwo\na needle é\nfour\nfive\n";
        assert_eq!(around(text, 0), ("a needle é".to_owned(), vec![[2, 8]]));
        assert_eq!(around(text, 1), ("two\na needle é\nfour".to_owned(), vec![[6, 12]]));
        assert_eq!(around(text, 9).0, text);
        let long = format!("{}needle{}", "é".repeat(LONGEST + 9), "b".repeat(LONGEST + 9));
        assert_eq!((around(&long, 1).0.chars().count(), around(&long, 1).1), (2 * LONGEST, vec![[LONGEST, LONGEST + 6]]));
    }

    #[test]
    fn long_texts_and_long_matches_are_cut() {
        let text = format!("{}needle{}needle", "é".repeat(300), "b".repeat(300));
        let (shown, matches) = cut("needle", &text);
        assert_eq!((shown.chars().count(), matches), (LENGTH, vec![[BEFORE, BEFORE + 6]]));
        assert!(text.contains(&shown));
        let (shown, matches) = cut("(?s)x.*", &format!("{}x{}", "a".repeat(100), "é".repeat(1000)));
        assert_eq!((shown.chars().count(), matches), (LENGTH, vec![[BEFORE, LENGTH]]));
        assert_eq!(cut("$", "a"), ("a".to_owned(), vec![[1, 1]]));
        assert_eq!(cut("^", ""), (String::new(), vec![[0, 0]]));
    }
}
