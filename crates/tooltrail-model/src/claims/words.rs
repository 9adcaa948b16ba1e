//! Words: an answer in Markdown taken apart into sentences, and those into words with their places.

/// A sentence.
#[derive(Debug)]
pub(super) struct ClaimSentence {
    /// Its words.
    pub(super) words: Vec<ClaimWord>,
    /// Whether it ends with a question mark.
    pub(super) asks: bool,
}

/// A word of a sentence.
#[derive(Debug)]
pub(super) struct ClaimWord {
    /// The word in lower case.
    pub(super) text: String,
    /// Where it begins in the answer.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// The piece of code in the line that it stands in.
    pub(super) code: Option<usize>,
    /// Whether a comma or the like follows.
    pub(super) ends_clause: bool,
}

impl ClaimWord {
    /// A word of a line that begins at `from`, behind so many backticks.
    fn new(line: &str, from: usize, place: std::ops::Range<usize>, ticks: usize) -> Self {
        let text = line.get(place.clone()).unwrap_or_default().replace('’', "'").to_lowercase();
        let code = (ticks % 2 == 1).then_some(ticks);
        ClaimWord { text, start: from + place.start, end: from + place.end, code, ends_clause: false }
    }

    /// Whether it is a number, or a fraction of equal numbers.
    pub(super) fn is_number(&self) -> bool {
        self.fraction().map_or_else(|| is_number(&self.text), |(part, whole)| part == whole)
    }

    /// Whether it is a fraction smaller than one: `40/41`.
    pub(super) fn is_partial(&self) -> bool {
        self.fraction().is_some_and(|(part, whole)| part != whole)
    }

    fn fraction(&self) -> Option<(&str, &str)> {
        self.text.split_once('/').filter(|(part, whole)| is_number(part) && is_number(whole))
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

/// The sentences of an answer, without code blocks, quotes and tables.
pub(super) fn sentences(answer: &str) -> Vec<ClaimSentence> {
    let (mut found, mut fenced, mut at) = (Vec::new(), false, 0);
    for line in answer.split_inclusive('\n') {
        let text = line.trim();
        let fence = text.starts_with("```") || text.starts_with("~~~");
        fenced ^= fence;
        if !fenced && !fence && !text.starts_with(['>', '|']) {
            split(answer, at, at + line.len(), &mut found);
        }
        at += line.len();
    }
    found.retain(|sentence| !sentence.words.is_empty());
    found
}

/// Takes a line apart.
fn split(answer: &str, from: usize, to: usize, found: &mut Vec<ClaimSentence>) {
    let line = answer.get(from..to).unwrap_or_default();
    let mut words: Vec<ClaimWord> = Vec::new();
    let (mut word, mut ticks): (Option<usize>, usize) = (None, 0);
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let inner = next.is_some_and(|next| next.is_alphanumeric());
        // A dot, a slash or a dash within a word belongs to it: `1.5`, `41/41`, `type-check`, `./gradlew`.
        let joins = match letter {
            '.' => {
                inner || matches!(next, Some('/' | '.')) || word.is_some() && line.get(..at).is_some_and(|before| before.ends_with(".."))
            }
            '/' | '\'' | '’' | '-' | '_' => inner && (word.is_some() || letter == '/') || letter == '/' && next == Some('.'),
            ',' => inner && word.is_some() && next.is_some_and(|next| next.is_ascii_digit()),
            _ => letter.is_alphanumeric(),
        };
        if joins {
            word.get_or_insert(at);
            continue;
        }
        if let Some(start) = word.take() {
            words.push(ClaimWord::new(line, from, start..at, ticks));
        }
        ticks += usize::from(letter == '`');
        match letter {
            ',' | ':' | '—' | '–' | '(' | ')' | '→' => {
                words.iter_mut().next_back().into_iter().for_each(|last| last.ends_clause = true)
            }
            '.' | '!' | '?' | ';' => found.push(ClaimSentence { words: std::mem::take(&mut words), asks: letter == '?' }),
            _ => {}
        }
    }
    if let Some(start) = word {
        words.push(ClaimWord::new(line, from, start..line.len(), ticks));
    }
    found.push(ClaimSentence { words, asks: false });
}
