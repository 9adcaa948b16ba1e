//! Parses a query into a filter, or a mistake.

use super::keys::{self, KEYS, TermReader};
use super::lex::{self, WordPart};
use super::mistake::{Mistake, nearest};
use super::render::quoted;
use super::{Filter, Pattern, Setting, Spelling, Term, Test, contradiction, either};

/// The longest query, in bytes. It may come from an untrusted URL.
pub const LONGEST: usize = 4096;

/// The most terms. Each may be a regular expression, which takes memory.
const MOST: usize = 50;

/// Whether a word can only be a term, whatever it ends in: `file:package.json`, `"a phrase"`.
pub fn is_term(word: &str) -> bool {
    let term = word.trim_start_matches(['-', '!']);
    let key = term.find([':', '<', '>']).and_then(|end| term.get(..end));
    // `not` is written like a key, but has no value of its own and is not in the list.
    let known = |key: &str| KEYS.iter().map(|key| key.name).chain(["not"]).any(|name| name.eq_ignore_ascii_case(key));
    term.starts_with('"') || key.is_some_and(known)
}

/// Parses a query.
pub fn parse(query: &str, setting: &Setting<'_>) -> Result<Filter, Mistake> {
    if query.len() > LONGEST {
        // Only the excess is marked, beginning at a whole character.
        let start = query.floor_char_boundary(LONGEST);
        return Err(Mistake::new(query, start..query.len(), format!("a filter has at most {LONGEST} bytes; leave out what is here")));
    }
    let words = lex::words(query)?;
    if let Some(word) = words.get(MOST) {
        return Err(Mistake::new(query, word.piece().at, format!("a filter has at most {MOST} terms; leave out what begins here")));
    }
    let terms = either::terms(query, &words, &|word| Parser { query, setting }.term(word, false))?;
    contradiction::check(query, &terms, setting)?;
    Ok(Filter { terms: terms.into_iter().map(|(term, _)| term).collect() })
}

/// Whether a path is absolute.
pub(super) fn is_absolute(path: &str) -> bool {
    let mut signs = path.chars();
    let first = signs.next();
    let drive =
        first.is_some_and(|letter| letter.is_ascii_alphabetic()) && signs.next() == Some(':') && matches!(signs.next(), Some('/' | '\\'));
    matches!(first, Some('/' | '\\')) || drive
}

struct Parser<'q> {
    query: &'q str,
    setting: &'q Setting<'q>,
}

impl Parser<'_> {
    fn term(&self, mut word: WordPart<'_>, mut not: bool) -> Result<Term, Mistake> {
        // A loop instead of recursion: a query may negate a term thousands of times.
        loop {
            let negated = (word.has(0, '-') || word.has(0, '!')) && self.goes_on(&word.from(1));
            if negated {
                not = !not;
                word = word.from(1);
                continue;
            }
            let Some((key, sign)) = key(&word) else { return Ok(Term { not, test: self.text(&word)? }) };
            let name = word.to(key).text();
            let value = word.from(key + 1);
            if name.eq_ignore_ascii_case("not") && sign == ':' {
                if value.letters.is_empty() {
                    return Err(self.mistake(&word, "`not:` needs a term, as in `not:tool:Bash`"));
                }
                not = !not;
                word = value;
                continue;
            }
            let test = match KEYS.iter().find(|key| key.name.eq_ignore_ascii_case(&name)) {
                Some(key) => {
                    (key.read)(&TermReader { query: self.query, setting: self.setting, key: key.name, sign, value, word: word.clone() })?
                }
                // An unknown key is probably a typo, unless what follows looks like ordinary text.
                None if sign == ':' && !is_text(&value) => return Err(self.unknown(&word, key, &name)),
                None => self.text(&word)?,
            };
            return Ok(Term { not, test });
        }
    }

    /// Whether a `-` or `!` is followed by a term: `--release` and `!=` are words.
    fn goes_on(&self, rest: &WordPart<'_>) -> bool {
        rest.letters.first().is_some_and(|letter| letter.quoted || letter.sign.is_alphanumeric())
    }

    fn text(&self, word: &WordPart<'_>) -> Result<Test, Mistake> {
        let text = word.text();
        if text.is_empty() {
            return Err(self.mistake(word, "there is nothing between the quotes"));
        }
        let Spelling { regex, cased } = self.setting.words;
        // Quotes make a text literal, even where words are regular expressions.
        if regex && word.letters.iter().all(|letter| !letter.quoted) {
            return keys::regular(&text, cased).map_err(|why| self.mistake(word, why));
        }
        let pattern = Pattern::new(&text, Spelling { regex: false, cased });
        pattern.map(Test::Text).map_err(|_| self.mistake(word, "this text is too long"))
    }

    fn unknown(&self, word: &WordPart<'_>, key: usize, name: &str) -> Mistake {
        let at = word.to(key + 1);
        let known = KEYS.iter().map(|key| key.name).chain(["not"]);
        match nearest(name, known) {
            Some(near) => self.mistake(&at, format!("unknown filter `{name}:`")).suggest(format!("{near}:")),
            None => {
                let text = quoted(&word.text());
                let message = format!(
                    "unknown filter `{name}:`; the filters are {}; quote a text that contains a colon",
                    keys::listed(KEYS.iter().map(|key| key.name))
                );
                self.mistake(&at, message).suggest(text)
            }
        }
    }

    fn mistake(&self, piece: &WordPart<'_>, message: impl Into<String>) -> Mistake {
        Mistake::new(self.query, piece.at.clone(), message)
    }
}

/// End of a word's key, and the sign behind it.
fn key(word: &WordPart<'_>) -> Option<(usize, char)> {
    let is_name = |letter: &&lex::Letter| !letter.quoted && (letter.sign.is_ascii_alphabetic() || letter.sign == '_');
    let length = word.letters.iter().take_while(is_name).count();
    let sign = word.letters.get(length).filter(|letter| !letter.quoted)?.sign;
    (length > 0 && matches!(sign, ':' | '>' | '<')).then_some((length, sign))
}

/// Whether the value shows that no key stands before it: `std::fs`, `https://…`, `C:\…`.
fn is_text(value: &WordPart<'_>) -> bool {
    value.has(0, ':') || value.has(0, '\\') || value.has(0, '/')
}
